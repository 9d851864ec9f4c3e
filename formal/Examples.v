(** * The test positions of docs/rules.md

    Each line states the rules, the rows, the pit, the seeds stored, the rows after the move as their owners see them,
    and who moves next. *)

From Coq Require Import List.
From Kalah Require Import Definitions.
Import ListNotations.

Inductive next_player := Same | Other | Nobody.

(** The stored seeds, the rows after the move, and the next player. *)
Definition result (R : rules) (mine theirs : row) (pit : nat) : nat * row * row * next_player :=
  let o := play R (Position mine theirs) (pit - 1) in
  (stored o, own (after o), other (after o),
   if over (after o) then Nobody else if again o then Same else Other).

(** Last seed on seeds: the turn ends. *)
Example position_1 : result empty_capture [1; 1; 1] [1; 1; 1] 1 = (0, [0; 2; 1], [1; 1; 1], Other).
Proof. reflexivity. Qed.

(** Last seed in the store: again. *)
Example position_2 : result standard [1; 2; 1] [1; 1; 1] 2 = (1, [1; 0; 2], [1; 1; 1], Same).
Proof. reflexivity. Qed.

(** The turn ends. *)
Example position_3 : result single_move [1; 2; 1] [1; 1; 1] 2 = (1, [1; 0; 2], [1; 1; 1], Other).
Proof. reflexivity. Qed.

(** The other store gets nothing. *)
Example position_4 : result standard [1; 1; 5] [1; 0; 2] 3 = (1, [2; 1; 0], [2; 1; 3], Other).
Proof. reflexivity. Qed.

(** Other player's empty pit: no capture. *)
Example position_5 : result standard [1; 1; 3] [1; 0; 2] 3 = (1, [1; 1; 0], [2; 1; 2], Other).
Proof. reflexivity. Qed.

(** A capture. *)
Example position_6 : result standard [1; 0; 1] [0; 3; 1] 1 = (4, [0; 0; 1], [0; 0; 1], Other).
Proof. reflexivity. Qed.

(** Opposite pit empty: captures the last seed. *)
Example position_7 : result empty_capture [1; 0; 1] [1; 0; 3] 1 = (1, [0; 0; 1], [1; 0; 3], Other).
Proof. reflexivity. Qed.

(** It stays. *)
Example position_8 : result standard [1; 0; 1] [1; 0; 3] 1 = (0, [0; 1; 1], [1; 0; 3], Other).
Proof. reflexivity. Qed.

(** Captures it. *)
Example position_9 : result single_move [1; 0; 1] [1; 0; 3] 1 = (1, [0; 0; 1], [1; 0; 3], Other).
Proof. reflexivity. Qed.

(** One lap, captures a seed of this sowing. *)
Example position_10 : result standard [7; 1; 1] [1; 1; 0] 1 = (3, [0; 2; 2], [2; 2; 0], Other).
Proof. reflexivity. Qed.

(** Pit 2 got a seed in the first lap. *)
Example position_11 : result empty_capture [8; 0; 1] [1; 1; 1] 1 = (1, [1; 2; 2], [2; 2; 2], Other).
Proof. reflexivity. Qed.

(** Two laps and a seed. *)
Example position_12 : result empty_capture [15; 0; 0] [0; 0; 1] 1 = (2, [2; 3; 2], [2; 2; 3], Other).
Proof. reflexivity. Qed.

(** Own row empty only on the way. *)
Example position_13 : result standard [0; 0; 6] [1; 2; 1] 3 = (5, [1; 0; 0], [2; 0; 2], Other).
Proof. reflexivity. Qed.

(** Last seed in the store, own row empty. *)
Example position_14 : result standard [0; 0; 1] [2; 0; 1] 3 = (1, [0; 0; 0], [2; 0; 1], Nobody).
Proof. reflexivity. Qed.

(** The other player keeps the rest. *)
Example position_15 : result standard [0; 0; 3] [1; 1; 0] 3 = (1, [0; 0; 0], [2; 2; 0], Nobody).
Proof. reflexivity. Qed.

(** Capture empties the other row. *)
Example position_16 : result standard [1; 0; 1] [0; 3; 0] 1 = (4, [0; 0; 1], [0; 0; 0], Nobody).
Proof. reflexivity. Qed.

(** Capture with the row's only seed. *)
Example position_17 : result standard [0; 0; 5] [1; 1; 2] 3 = (5, [0; 0; 0], [2; 2; 0], Nobody).
Proof. reflexivity. Qed.

(** Capture empties both rows. *)
Example position_18 : result empty_capture [1; 0; 0] [0; 3; 0] 1 = (4, [0; 0; 0], [0; 0; 0], Nobody).
Proof. reflexivity. Qed.

(** Capturing the last seed empties the own row. *)
Example position_19 : result empty_capture [1; 0; 0] [0; 0; 1] 1 = (1, [0; 0; 0], [0; 0; 1], Nobody).
Proof. reflexivity. Qed.

(** The game goes on. *)
Example position_20 : result standard [1; 0; 0] [0; 0; 1] 1 = (0, [0; 1; 0], [0; 0; 1], Other).
Proof. reflexivity. Qed.
