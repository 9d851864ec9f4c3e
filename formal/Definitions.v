(** * The game

    Positions, rules, moves and scores, as docs/rules.md states them. All other files prove statements about these
    definitions, so a referee has to read only this file and the theorems.

    There are no relays here, so the rule set [s-kalaha] is not covered. *)

From Coq Require Import Arith List Bool ZArith.
Import ListNotations.

(** ** Positions *)

(** A row holds the seeds of each pit, in its owner's sowing order. *)
Definition row := list nat.

(** The rows of the mover and of the other player. Stores are left out: a score counts seeds in play. *)
Record position := Position { own : row; other : row }.

(** Both rows have the same number of pits. *)
Definition well_formed (p : position) : Prop := length (own p) = length (other p).

Fixpoint sum (r : row) : nat :=
  match r with
  | [] => 0
  | s :: rest => s + sum rest
  end.

(** Seeds in play. *)
Definition seeds (p : position) : nat := sum (own p) + sum (other p).

(** The same pits, seen by the other player. *)
Definition swap (p : position) : position := Position (other p) (own p).

(** The game is over when either row is empty. *)
Definition over (p : position) : bool := (sum (own p) =? 0) || (sum (other p) =? 0).

(** ** Rule sets *)

Inductive capture := Always | OppositeSeeds.

Record rules := Rules { moves_again : bool; captures : capture }.

Definition empty_capture : rules := Rules true Always.
Definition standard : rules := Rules true OppositeSeeds.
Definition single_move : rules := Rules false Always.

(** ** Moves *)

(** Places in sowing order: the mover's pits are 0 to m - 1, the mover's store is m, and the other player's pits are
    m + 1 to 2 m. The place after the last one is 0. *)
Definition next (m at_ : nat) : nat := if at_ =? 2 * m then 0 else S at_.

(** The pit opposite the mover's pit [at_]. *)
Definition opposite (m at_ : nat) : nat := 2 * m - at_.

(** Seeds in each place. *)
Definition board := nat -> nat.

(** The store is empty before a move, so that it counts the seeds that the move stores. *)
Definition board_of (p : position) : board := fun at_ => nth at_ (own p ++ 0 :: other p) 0.

Definition put (b : board) (at_ n : nat) : board := fun place => if place =? at_ then n else b place.

(** Sows [hand] seeds one by one into the places after [at_]. Returns the place of the last seed, and the board. *)
Fixpoint sow (m hand at_ : nat) (b : board) : nat * board :=
  match hand with
  | 0 => (at_, b)
  | S hand => let after := next m at_ in sow m hand after (put b after (b after + 1))
  end.

(** True if a last seed in the place [last] captures: it lies alone in a pit of the mover, and the rules do not
    require seeds in the opposite pit, or that pit holds some. *)
Definition is_capture (R : rules) (m last : nat) (b : board) : bool :=
  (last <? m) && (b last =? 1) &&
  match captures R with
  | Always => true
  | OppositeSeeds => 0 <? b (opposite m last)
  end.

(** Moves the last seed and the seeds of the opposite pit into the store. *)
Definition capture_at (m last : nat) (b : board) : board :=
  put (put (put b m (b m + b last + b (opposite m last))) last 0) (opposite m last) 0.

(** Result of a move: the seeds that it stores, true if the same player moves again, and the rows after it, the
    mover's first. *)
Record outcome := Outcome { stored : nat; again : bool; after : position }.

(** Plays the mover's pit [pit]. *)
Definition play (R : rules) (p : position) (pit : nat) : outcome :=
  let m := length (own p) in
  let start := board_of p in
  let (last, sown) := sow m (start pit) pit (put start pit 0) in
  let final := if is_capture R m last sown then capture_at m last sown else sown in
  Outcome (final m) ((last =? m) && moves_again R)
    (Position (map final (seq 0 m)) (map final (seq (m + 1) m))).

(** The mover's pits that hold seeds. *)
Definition legal (p : position) : list nat :=
  filter (fun pit => 0 <? nth pit (own p) 0) (seq 0 (length (own p))).

(** ** Scores *)

Fixpoint maximum (l : list nat) : nat :=
  match l with
  | [] => 0
  | n :: rest => Nat.max n (maximum rest)
  end.

(** Seeds that the mover collects by a move, if [f] gives the seeds that a player to move collects after it. *)
Definition worth (f : position -> nat) (o : outcome) : nat :=
  stored o + (if again o then f (after o) else seeds (after o) - f (swap (after o))).

(** Seeds that the mover collects: at the end of the game those of their own row, otherwise those of the best move. *)
Definition step (R : rules) (f : position -> nat) (p : position) : nat :=
  if over p then sum (own p) else maximum (map (fun pit => worth f (play R p pit)) (legal p)).

(** The potential of a row: each seed counts its distance to the last pit. *)
Fixpoint potential (r : row) : nat :=
  match r with
  | [] => 0
  | s :: rest => s * length rest + potential rest
  end.

(** Upper bound of the number of moves of a game. A move that stores seeds lowers the first term by more than the
    second can rise. Any other move lowers the second. *)
Definition measure (p : position) : nat :=
  length (own p) * (seeds p * seeds p) + (potential (own p) + potential (other p)).

(** Seeds that the mover collects with best play by both, in games of fewer than [moves] moves. *)
Fixpoint score_within (R : rules) (moves : nat) : position -> nat :=
  match moves with
  | 0 => fun _ => 0
  | S moves => step R (score_within R moves)
  end.

(** The score of a position: the most seeds in play that the mover can still collect. Score.v proves that [score] is
    the only function with [score R p = step R (score R) p]. *)
Definition score (R : rules) (p : position) : nat := score_within R (S (measure p)) p.

(** ** Values *)

(** A position with the stores of the mover and of the other player. *)
Record game := Game { own_store : nat; other_store : nat; rows : position }.

(** The game after a move, seen by the player to move in it. *)
Definition continue (g : game) (o : outcome) : game :=
  if again o then Game (own_store g + stored o) (other_store g) (after o)
  else Game (other_store g) (own_store g + stored o) (swap (after o)).

(** Plays some of the mover's pits one after the other, each for the player to move. [same] is true if that is the
    player who was to move first. Gives the game after these moves, with [same] for it; nothing if a move is illegal or
    the game is over. *)
Fixpoint after_moves (R : rules) (g : game) (same : bool) (pits : list nat) : option (game * bool) :=
  match pits with
  | [] => Some (g, same)
  | pit :: pits =>
      if negb (over (rows g)) && (pit <? length (own (rows g))) && (0 <? nth pit (own (rows g)) 0)
      then let o := play R (rows g) pit in after_moves R (continue g o) (if again o then same else negb same) pits
      else None
  end.

(** The largest of some numbers, of which [first] is one. *)
Fixpoint largest (first : Z) (l : list Z) : Z :=
  match l with
  | [] => first
  | z :: rest => Z.max first (largest z rest)
  end.

Definition largest_of (l : list Z) : Z :=
  match l with
  | [] => 0%Z
  | z :: rest => largest z rest
  end.

(** [v] gives each game its value for the player to move: at the end the difference of the stores, to which each row
    goes by its owner; otherwise the value of the best move. *)
Definition is_value (R : rules) (v : game -> Z) : Prop :=
  forall g, well_formed (rows g) ->
  v g =
  (if over (rows g)
   then Z.of_nat (own_store g + sum (own (rows g))) - Z.of_nat (other_store g + sum (other (rows g)))
   else largest_of (map (fun pit => let o := play R (rows g) pit in
                                    if again o then v (continue g o) else - v (continue g o))
                        (legal (rows g))))%Z.
