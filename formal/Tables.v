(** * Tables

    A table gives a number for each position. [check_layer] compares the numbers of a layer with those of one ply. If
    it returns true for the layers up to [n], all these numbers are scores. The table may be any function, so nothing is
    assumed about the program that reads a file. *)

From Coq Require Import Arith List Bool Lia.
From Kalah Require Import Definitions Moves Score.
Import ListNotations.

(** ** The moves of a position *)

(** Moves of the pits from [i] on, which hold the seeds of [rest]. *)
Fixpoint moves_from (R : rules) (m : nat) (p : position) (i : nat) (rest : row) : list outcome :=
  match rest with
  | [] => []
  | h :: rest => if h =? 0 then moves_from R m p (S i) rest else move R m i h p :: moves_from R m p (S i) rest
  end.

Definition moves (R : rules) (m : nat) (p : position) : list outcome := moves_from R m p 0 (own p).

Lemma moves_from_legal R p : well_formed p -> forall rest before, own p = before ++ rest ->
  moves_from R (length (own p)) p (length before) rest =
  map (play R p) (filter (fun i => 0 <? nth i (own p) 0) (seq (length before) (length rest))).
Proof.
  intros Hw. induction rest as [|h rest IH]; intros before E; [reflexivity|].
  cbn [moves_from length seq filter].
  assert (Hh : nth (length before) (own p) 0 = h).
  { rewrite E, app_nth2, Nat.sub_diag by lia. reflexivity. }
  assert (Hi : length before < length (own p)) by (rewrite E, app_length; simpl; lia).
  specialize (IH (before ++ [h])). rewrite app_length in IH. cbn [length] in IH. rewrite Nat.add_1_r in IH.
  rewrite IH by (rewrite <- app_assoc; exact E). rewrite Hh.
  destruct (Nat.eqb_spec h 0) as [->|]; [reflexivity|].
  destruct (Nat.ltb_spec 0 h); [|lia]. cbn [map]. f_equal. rewrite play_is_move by assumption. rewrite Hh. reflexivity.
Qed.

Lemma moves_legal R m p : well_formed p -> length (own p) = m -> moves R m p = map (play R p) (legal p).
Proof. intros Hw <-. exact (moves_from_legal R p Hw (own p) [] eq_refl). Qed.

(** ** One ply *)

Fixpoint is_empty (r : row) : bool :=
  match r with
  | [] => true
  | s :: rest => (s =? 0) && is_empty rest
  end.

Lemma is_empty_sum r : is_empty r = (sum r =? 0).
Proof. induction r as [|[|s] r IH]; simpl; auto. Qed.

(** The score of [p] by the table [t] of positions with seeds in both rows. *)
Definition look_up (t : position -> nat) (p : position) : nat :=
  if is_empty (own p) || is_empty (other p) then sum (own p) else t p.

Lemma look_up_over t p : look_up t p = if over p then sum (own p) else t p.
Proof. unfold look_up, over. rewrite !is_empty_sum. reflexivity. Qed.

(** As [worth], of a move in a position with [n] seeds in play. *)
Definition worth_of (n : nat) (f : position -> nat) (o : outcome) : nat :=
  stored o + (if again o then f (after o) else n - stored o - f (swap (after o))).

(** The largest [g] of the moves of the pits from [i] on, which hold the seeds of [rest]. *)
Fixpoint best_from (R : rules) (m : nat) (p : position) (g : outcome -> nat) (i : nat) (rest : row) : nat :=
  match rest with
  | [] => 0
  | h :: rest =>
      if h =? 0 then best_from R m p g (S i) rest
      else Nat.max (g (move R m i h p)) (best_from R m p g (S i) rest)
  end.

Lemma best_from_moves R m p g : forall rest i, best_from R m p g i rest = maximum (map g (moves_from R m p i rest)).
Proof.
  induction rest as [|h rest IH]; intros i; simpl; [reflexivity|]. destruct (h =? 0); simpl; rewrite IH; reflexivity.
Qed.

(** The score of the best move in a position with [n] seeds in play, by the scores [f] after the moves. *)
Definition best (R : rules) (m n : nat) (f : position -> nat) (p : position) : nat :=
  best_from R m p (worth_of n f) 0 (own p).

Lemma best_is_step R m f p : well_formed p -> length (own p) = m -> over p = false ->
  best R m (seeds p) f p = step R f p.
Proof.
  intros Hw Hm Ho. unfold best, step. rewrite best_from_moves. fold (moves R m p).
  rewrite (moves_legal R m p Hw Hm), Ho, map_map. f_equal. apply map_ext_in. intros i Hi.
  apply legal_spec in Hi. pose proof (play_seeds R p i Hw (proj1 Hi)) as Hs. unfold worth_of, worth.
  replace (seeds p - stored (play R p i)) with (seeds (after (play R p i))) by lia. reflexivity.
Qed.

(** ** All rows *)

(** The rows of [m] pits with [k] seeds, each followed by [tail]. *)
Fixpoint rows_before (tail : row) (m k : nat) : list row :=
  match m with
  | 0 => if k =? 0 then [tail] else []
  | S m => if m =? 0 then [k :: tail] else flat_map (fun s => rows_before (s :: tail) m (k - s)) (seq 0 (S k))
  end.

(** The rows of [m] pits with [k] seeds. *)
Definition all_rows (m k : nat) : list row := rows_before [] m k.

Lemma rows_before_complete r : forall tail, In (r ++ tail) (rows_before tail (length r) (sum r)).
Proof.
  induction r as [|s r IH] using rev_ind; intros tail; [left; reflexivity|].
  rewrite app_length, sum_app. cbn [length sum]. rewrite Nat.add_1_r, Nat.add_0_r. cbn [rows_before].
  destruct (Nat.eqb_spec (length r) 0) as [E|E].
  - destruct r; [left; reflexivity|discriminate].
  - apply in_flat_map. exists s. split; [apply in_seq; lia|].
    replace (sum r + s - s) with (sum r) by lia. rewrite <- app_assoc. apply IH.
Qed.

Lemma all_rows_complete r : In r (all_rows (length r) (sum r)).
Proof. pose proof (rows_before_complete r []) as H. rewrite app_nil_r in H. exact H. Qed.

(** ** The checker *)

Definition check_position (R : rules) (m n : nat) (t : position -> nat) (p : position) : bool :=
  t p =? best R m n (look_up t) p.

(** Checks all positions with [n] seeds in play and seeds in both rows of [m] pits. *)
Definition check_layer (R : rules) (m : nat) (t : position -> nat) (n : nat) : bool :=
  forallb (fun k =>
    let theirs := all_rows m (n - k) in
    forallb (fun mine => forallb (fun r => check_position R m n t (Position mine r)) theirs) (all_rows m k))
    (seq 1 (n - 1)).

Definition check_table (R : rules) (m : nat) (t : position -> nat) (n : nat) : bool :=
  forallb (check_layer R m t) (seq 0 (S n)).

Lemma check_layer_position R m t p : check_layer R m t (seeds p) = true -> well_formed p ->
  length (own p) = m -> over p = false -> t p = best R m (seeds p) (look_up t) p.
Proof.
  intros Hc Hw Hm Ho. unfold over in Ho. apply orb_false_iff in Ho. rewrite !Nat.eqb_neq in Ho. destruct Ho as [H1 H2].
  unfold check_layer in Hc. rewrite forallb_forall in Hc. specialize (Hc (sum (own p))).
  rewrite forallb_forall in Hc. unfold well_formed in Hw.
  specialize (Hc ltac:(apply in_seq; unfold seeds; lia) (own p)). rewrite <- Hm in Hc at 1.
  specialize (Hc (all_rows_complete _)). rewrite forallb_forall in Hc. specialize (Hc (other p)).
  replace (seeds p - sum (own p)) with (sum (other p)) in Hc by (unfold seeds; lia).
  rewrite <- Hm, Hw in Hc at 1. specialize (Hc (all_rows_complete _)).
  apply Nat.eqb_eq in Hc. destruct p. exact Hc.
Qed.

(** If all layers up to [n] seeds are checked, each number of the table for up to [n] seeds is a score. *)
Theorem tables_correct R m t n : (forall k, k <= n -> check_layer R m t k = true) ->
  forall p, length (own p) = m -> length (other p) = m -> seeds p <= n -> look_up t p = score R p.
Proof.
  intros Hc.
  apply (measure_induction (fun p => length (own p) = m -> length (other p) = m -> seeds p <= n ->
    look_up t p = score R p)).
  intros p IH Hm Hm' Hn. assert (Hw : well_formed p) by (unfold well_formed; lia).
  rewrite score_equation by assumption. rewrite look_up_over. destruct (over p) eqn:Ho.
  - unfold step. rewrite Ho. reflexivity.
  - rewrite (check_layer_position R m t p) by auto. rewrite best_is_step by assumption.
    apply step_ext. intros i Hi. pose proof (play_well_formed R p i) as [Hw1 Hw2].
    apply IH; [apply successor_measure; assumption|lia|unfold well_formed in Hw1; lia|].
    apply legal_spec in Hi. pose proof (successor_seeds R p i Hw (proj1 Hi)). lia.
Qed.

Corollary check_table_correct R m t n : check_table R m t n = true ->
  forall p, length (own p) = m -> length (other p) = m -> over p = false -> seeds p <= n -> t p = score R p.
Proof.
  intros Hc p Hm Hm' Ho Hn. unfold check_table in Hc. rewrite forallb_forall in Hc.
  rewrite <- (tables_correct R m t n); auto.
  - rewrite look_up_over, Ho. reflexivity.
  - intros k Hk. apply Hc. apply in_seq. lia.
Qed.
