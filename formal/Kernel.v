(** * Kalah(4,3) by Coq's kernel alone

    The checker of certificates runs inside Coq, by [vm_compute], without extraction and without tables. [claims] is in a
    file that formal/build makes; nothing is assumed about it. *)

From Coq Require Import Arith List Bool Lia NArith ZArith FMapPositive.
From Kalah Require Import Definitions Tables Certificates Claims.
Import ListNotations.

Definition key (p : position) : positive :=
  N.succ_pos (fold_left (fun key s => (32 * key + N.of_nat s)%N) (own p ++ other p) 0%N).

(** Adds the numbers of claims, from [k] on, by the keys of their positions. *)
Fixpoint numbers (l : list claim) (k : nat) (found : PositiveMap.t nat) : PositiveMap.t nat :=
  match l with
  | [] => found
  | c :: rest => numbers rest (S k) (PositiveMap.add (key (about c)) k found)
  end.

Definition find (found : PositiveMap.t nat) (p : position) : nat :=
  match PositiveMap.find (key p) found with
  | Some k => k
  | None => length claims
  end.

Definition start : position := Position [3; 3; 3; 3] [3; 3; 3; 3].
Definition statement : claim := Claim start 16 16.
Definition no_table (p : position) : nat := 0.
Definition claim_at (k : nat) : claim := nth k claims statement.
Definition found : PositiveMap.t nat := numbers claims 0 (PositiveMap.empty nat).

Lemma claims_checked :
  check_claims empty_capture 4 no_table 0 claim_at (length claims) (find found) (length claims) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma statement_checked :
  check_statement empty_capture 4 no_table 0 claim_at (length claims) (find found) statement = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Theorem value_of_kalah_4_3 v : is_value empty_capture v -> v (Game 0 0 start) = 8%Z.
Proof.
  intros Hv. assert (Ht : forall k, k <= 0 -> check_layer empty_capture 4 no_table k = true)
    by (intros k Hk; replace k with 0 by lia; reflexivity).
  pose proof (certificate_value _ _ _ _ _ _ _ statement Ht claims_checked statement_checked v Hv (Game 0 0 start)
    eq_refl) as Hb.
  change (2 * 16 - 24 + 0 - 0 <= v (Game 0 0 start) <= 2 * 16 - 24 + 0 - 0)%Z in Hb. lia.
Qed.

Print Assumptions value_of_kalah_4_3.
