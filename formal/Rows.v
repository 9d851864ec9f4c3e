(** * Checking tables by rows, in parts

    [check_part] does the work of [check_layer] with the mover's row fixed, so that its sowings and the numbers of rows
    are computed once for all other rows. The frames of a layer may be divided into parts. *)

From Coq Require Import Arith List Bool Lia.
From Kalah Require Import Definitions Moves Score Tables.
Import ListNotations.

(** ** Rows after a move *)

(** One more seed in each of the first [c] pits. *)
Fixpoint spill (c : nat) (r : row) : row :=
  match r with
  | [] => []
  | s :: rest => if c =? 0 then r else s + 1 :: spill (c - 1) rest
  end.

Lemma spill_0 r : spill 0 r = r.
Proof. destruct r; reflexivity. Qed.

Lemma add_from_spill L h r : h <= L -> forall d, add_from L h d r = spill (h - d) r.
Proof.
  intros HL. induction r as [|s r IH]; intros d; [reflexivity|]. cbn [add_from spill].
  destruct (Nat.leb_spec h d); destruct (Nat.eqb_spec (h - d) 0); try lia; [reflexivity|].
  rewrite IH. unfold share. destruct (Nat.leb_spec h d); [lia|]. destruct (Nat.leb_spec h (d + L)); [|lia].
  do 2 f_equal. lia.
Qed.

Lemma spill_not_empty r : forall c, is_empty r = false -> is_empty (spill c r) = false.
Proof.
  induction r as [|s r IH]; intros c H; [discriminate|]. cbn [spill]. destruct (c =? 0); [assumption|].
  rewrite Nat.add_1_r. reflexivity.
Qed.

(** A row without the seeds of a pit: these seeds, true if no others are left, and the row's number. *)
Record without := Without { removed : nat; nothing : bool; remaining : nat }.

Fixpoint pick (k : nat) (l : list without) : without :=
  match l with
  | [] => Without 0 true 0
  | w :: rest => if k =? 0 then w else pick (k - 1) rest
  end.

Lemma pick_seq f : forall n first k, k < n -> pick k (map f (seq first n)) = f (first + k).
Proof.
  induction n as [|n IH]; intros first k Hk; [lia|]. cbn [seq map pick].
  destruct (Nat.eqb_spec k 0) as [->|]; [f_equal; lia|]. rewrite IH by lia. f_equal. lia.
Qed.

Lemma get_seq f : forall n first k, k < n -> get k (map f (seq first n)) = f (first + k).
Proof.
  induction n as [|n IH]; intros first k Hk; [lia|]. cbn [seq map get].
  destruct (Nat.eqb_spec k 0) as [->|]; [f_equal; lia|]. rewrite IH by lia. f_equal. lia.
Qed.

(** The other row, with the numbers of the rows that it can become: with seeds in its first pits (1, 2 and so on), and
    without those of a pit. *)
Record seen := Seen { pits : row; itself : nat; spilled : list nat; emptied : list without }.

(** A move of the mover's row, with the number [mine] of this row after it. [Slow] moves are computed for each other
    row. *)
Inductive plan :=
  | Slow (pit hand : nat)
  | Quiet (mine : nat)
  | Capture (opposite mine without : nat)
  | Store (mine : nat)
  | Spill (count mine : nat).

(** ** Rows by potential *)

Fixpoint with_potentials (rows : list row) (found : list (nat * row)) : list (nat * row) :=
  match rows with
  | [] => found
  | r :: rows => with_potentials rows ((potential r, r) :: found)
  end.

Fixpoint level (q : nat) (rows : list (nat * row)) : list row :=
  match rows with
  | [] => []
  | (p, r) :: rows => if p =? q then r :: level q rows else level q rows
  end.

(** The rows of [m] pits with [k] seeds, in levels of the same potential. *)
Definition levels (m k : nat) : list (list row) :=
  let rows := with_potentials (all_rows m k) [] in
  map (fun q => level q rows) (seq 0 (S (m * k))).

Lemma with_potentials_in r rows : forall found, In r rows \/ In (potential r, r) found ->
  In (potential r, r) (with_potentials rows found).
Proof.
  induction rows as [|r' rows IH]; intros found [H|H]; cbn [with_potentials]; try contradiction; auto.
  - apply IH. destruct H as [->|H]; [right; left; reflexivity|left; exact H].
  - apply IH. right. right. exact H.
Qed.

Lemma level_in q r rows : In (q, r) rows -> In r (level q rows).
Proof.
  induction rows as [|[p r'] rows IH]; intros H; [contradiction|]. cbn [level]. destruct H as [H|H].
  - injection H as -> ->. rewrite Nat.eqb_refl. left. reflexivity.
  - destruct (p =? q); [right|]; auto.
Qed.

Lemma levels_complete r : exists rows, In rows (levels (length r) (sum r)) /\ In r rows.
Proof.
  exists (level (potential r) (with_potentials (all_rows (length r) (sum r)) [])). split.
  - apply in_map_iff. eexists. split; [reflexivity|]. apply in_seq. pose proof (potential_bound r). lia.
  - apply level_in, with_potentials_in. left. apply all_rows_complete.
Qed.

(** ** The moves of a row *)

Section Rows.

Variable R : rules.
Variable m : nat.

(** A table that looks up the numbers of the mover's row and of the other row. *)
Variable number : row -> nat.
Variable look : nat -> nat -> nat.

Definition numbered (p : position) : nat := look (number (own p)) (number (other p)).

Definition see (r : row) : seen :=
  Seen r (number r) (map (fun c => number (spill c r)) (seq 1 m))
    (map (fun j => let rest := set_nth j 0 r in Without (get j r) (is_empty rest) (number rest)) (seq 0 m)).

(** The move of the [h] seeds in pit [i]. *)
Definition plan_of (mine : row) (i h : nat) : plan :=
  let last := i + h in
  let mine := add_own (2 * m + 1) h i (2 * m - i) mine in
  if (2 * m <? last) || is_empty mine then Slow i h
  else if last <? m then
    if get last mine =? 1 then
      let rest := set_nth last 0 mine in
      if is_empty rest then Slow i h else Capture (m - 1 - last) (number mine) (number rest)
    else Quiet (number mine)
  else if last =? m then Store (number mine)
  else Spill (last - m) (number mine).

(** As [worth_of]. *)
Definition worth_by (n : nat) (mine : row) (theirs : seen) (p : plan) : nat :=
  match p with
  | Slow i h => worth_of n (look_up numbered) (move R m i h (Position mine (pits theirs)))
  | Quiet a => n - look (itself theirs) a
  | Capture j a b =>
      let e := pick j (emptied theirs) in
      if match captures R with Always => true | OppositeSeeds => 0 <? removed e end
      then let s := 1 + removed e in s + (n - s - (if nothing e then 0 else look (remaining e) b))
      else n - look (itself theirs) a
  | Store a => 1 + (if moves_again R then look a (itself theirs) else n - 1 - look (itself theirs) a)
  | Spill c a => 1 + (n - 1 - look (get (c - 1) (spilled theirs)) a)
  end.

Lemma worth_by_plan n x y i h : length y = m -> is_empty y = false -> i < m -> 
  worth_by n x (see y) (plan_of x i h) = worth_of n (look_up numbered) (move R m i h (Position x y)).
Proof.
  intros Hy Hne Hi. unfold plan_of, move. cbn [own other].
  set (x' := add_own (2 * m + 1) h i (2 * m - i) x).
  destruct (Nat.ltb_spec (2 * m) (i + h)) as [|Hlast]; [reflexivity|]. cbn [orb].
  destruct (is_empty x') eqn:Ex; [reflexivity|].
  destruct (Nat.ltb_spec (i + h) (2 * m + 1)); [|lia].
  rewrite add_from_spill by lia.
  destruct (Nat.ltb_spec (i + h) m) as [Hm|Hm]; cbn [andb].
  - (* The last seed stays in the mover's row. *)
    replace (h - (m - i)) with 0 by lia. rewrite spill_0.
    assert (Hs : share (2 * m + 1) h (m - 1 - i) = 0).
    { unfold share. destruct (Nat.leb_spec h (m - 1 - i)); [reflexivity|lia]. }
    rewrite Hs. assert (Hq : (i + h =? m) = false) by (apply Nat.eqb_neq; lia). rewrite Hq. cbn [andb].
    assert (Hquiet : n - look (number y) (number x')
      = worth_of n (look_up numbered) (Outcome 0 false (Position x' y))).
    { unfold worth_of, look_up, numbered. cbn. rewrite Ex, Hne, Nat.sub_0_r. reflexivity. }
    destruct (get (i + h) x' =? 1) eqn:E1; cbn [andb]; [|exact Hquiet].
    destruct (is_empty (set_nth (i + h) 0 x')) eqn:Ex2.
    { cbn [worth_by pits see]. unfold move. cbn [own other]. fold x'.
      destruct (Nat.ltb_spec (i + h) (2 * m + 1)); [|lia].
      rewrite add_from_spill by lia. replace (h - (m - i)) with 0 by lia. rewrite spill_0, Hs, E1, Hq.
      destruct (Nat.ltb_spec (i + h) m); [reflexivity|lia]. }
    cbn [worth_by emptied itself see]. rewrite pick_seq by lia. cbn [Nat.add removed nothing remaining].
    set (j := m - 1 - (i + h)).
    assert (Hcap : S (get j y) + (n - S (get j y) -
        (if is_empty (set_nth j 0 y) then 0 else look (number (set_nth j 0 y)) (number (set_nth (i + h) 0 x'))))
      = worth_of n (look_up numbered)
          (Outcome (S (get j y)) false (Position (set_nth (i + h) 0 x') (set_nth j 0 y)))).
    { unfold worth_of, look_up, numbered. cbn [stored again after swap own other]. rewrite Ex2.
      destruct (is_empty (set_nth j 0 y)) eqn:Ey; cbn [orb]; [|reflexivity].
      rewrite is_empty_sum in Ey. apply Nat.eqb_eq in Ey. rewrite Ey. reflexivity. }
    destruct (captures R); [exact Hcap|]. destruct (0 <? get j y); [exact Hcap|exact Hquiet].
  - assert (Hs : share (2 * m + 1) h (m - 1 - i) = 1).
    { unfold share. destruct (Nat.leb_spec h (m - 1 - i)); [lia|].
      destruct (Nat.leb_spec h (m - 1 - i + (2 * m + 1))); [reflexivity|lia]. }
    rewrite Hs. destruct (Nat.eqb_spec (i + h) m) as [Hq|Hq]; cbn [andb].
    + (* It reaches the store. *)
      replace (h - (m - i)) with 0 by lia. rewrite spill_0.
      unfold worth_of, look_up, numbered. cbn. rewrite Ex, Hne. destruct (moves_again R); reflexivity.
    + (* It reaches the other row. *)
      cbn [worth_by spilled see]. rewrite get_seq by lia.
      replace (1 + (i + h - m - 1)) with (h - (m - i)) by lia.
      unfold worth_of, look_up, numbered. cbn [stored again after swap own other].
      rewrite Ex, spill_not_empty by assumption. reflexivity.
Qed.

Fixpoint plans_from (mine : row) (i : nat) (rest : row) : list plan :=
  match rest with
  | [] => []
  | h :: rest => if h =? 0 then plans_from mine (S i) rest else plan_of mine i h :: plans_from mine (S i) rest
  end.

(** As [best], by the plans of the mover's row. *)
Fixpoint best_by (n : nat) (mine : row) (theirs : seen) (plans : list plan) : nat :=
  match plans with
  | [] => 0
  | p :: plans => Nat.max (worth_by n mine theirs p) (best_by n mine theirs plans)
  end.

Lemma best_by_plans n x y : length y = m -> is_empty y = false -> forall rest i, i + length rest <= m ->
  best_by n x (see y) (plans_from x i rest) = best_from R m (Position x y) (worth_of n (look_up numbered)) i rest.
Proof.
  intros Hy Hne. induction rest as [|h rest IH]; intros i Hi; [reflexivity|]. simpl in Hi.
  cbn [plans_from best_from]. destruct (h =? 0); [apply IH; lia|].
  cbn [best_by]. rewrite worth_by_plan, IH by (assumption || lia). reflexivity.
Qed.

(** ** The checker *)

(** Checks the positions of [mine] against each row of [theirs], with [n] seeds in play. *)
Definition check_row (n : nat) (theirs : list seen) (mine : row) : bool :=
  let a := number mine in
  let plans := plans_from mine 0 mine in
  forallb (fun r => look a (itself r) =? best_by n mine r plans) theirs.

(** Checks the frame of [k] seeds in the mover's row, level by level, so that look-ups stay near each other. *)
Definition check_frame (n k : nat) : bool :=
  let mine := concat (levels m k) in
  forallb (fun rows => let theirs := map see rows in forallb (check_row n theirs) mine) (levels m (n - k)).

(** Checks those frames of a layer whose number is [part] modulo [parts]. *)
Definition check_part (parts part n : nat) : bool :=
  forallb (fun k => if k mod parts =? part then check_frame n k else true) (seq 1 (n - 1)).

Lemma check_frame_correct n k x y : check_frame n k = true -> length x = m -> length y = m ->
  sum x = k -> k + sum y = n -> is_empty y = false -> check_position R m n numbered (Position x y) = true.
Proof.
  intros Hc Hx Hy Hk Hn Hne. unfold check_frame in Hc. rewrite forallb_forall in Hc.
  destruct (levels_complete y) as [rows [Hrows Hin]]. rewrite Hy in Hrows.
  replace (sum y) with (n - k) in Hrows by lia. specialize (Hc rows Hrows). rewrite forallb_forall in Hc.
  assert (Hmine : In x (concat (levels m k))).
  { destruct (levels_complete x) as [rows' [Hrows' Hin']]. rewrite Hx, Hk in Hrows'.
    apply in_concat. eauto. }
  specialize (Hc x Hmine). unfold check_row in Hc. rewrite forallb_forall in Hc.
  specialize (Hc (see y) (in_map see _ _ Hin)). rewrite best_by_plans in Hc by (assumption || lia). exact Hc.
Qed.

Lemma rows_before_sound : forall l tail k r, In r (rows_before tail l k) ->
  exists r', r = r' ++ tail /\ length r' = l /\ sum r' = k.
Proof.
  induction l as [|l IH]; intros tail k r Hr; cbn [rows_before] in Hr.
  - destruct (Nat.eqb_spec k 0) as [->|]; [|contradiction]. destruct Hr as [<-|[]]. exists []. auto.
  - destruct (Nat.eqb_spec l 0) as [->|].
    + destruct Hr as [<-|[]]. exists [k]. simpl. auto.
    + apply in_flat_map in Hr. destruct Hr as [s [Hs Hr]]. apply in_seq in Hs.
      destruct (IH _ _ _ Hr) as [r' [-> [Hl Hk]]]. exists (r' ++ [s]).
      rewrite <- app_assoc, app_length, sum_app. simpl. repeat split; lia.
Qed.

Lemma all_rows_sound l k r : In r (all_rows l k) -> length r = l /\ sum r = k.
Proof. intros Hr. apply rows_before_sound in Hr. destruct Hr as [r' [-> H]]. rewrite app_nil_r. exact H. Qed.

(** If each part of a layer is checked, so is the layer, position by position. *)
Theorem parts_check_layer parts n : 0 < parts -> (forall part, part < parts -> check_part parts part n = true) ->
  check_layer R m numbered n = true.
Proof.
  intros H0 Hc. unfold check_layer. apply forallb_forall. intros k Hk. apply in_seq in Hk.
  apply forallb_forall. intros x Hx. apply forallb_forall. intros y Hy.
  apply all_rows_sound in Hx. apply all_rows_sound in Hy. destruct Hx as [Hx Hsx], Hy as [Hy Hsy].
  specialize (Hc (k mod parts) ltac:(apply Nat.mod_upper_bound; lia)). unfold check_part in Hc.
  rewrite forallb_forall in Hc. specialize (Hc k ltac:(apply in_seq; lia)). rewrite Nat.eqb_refl in Hc.
  apply (check_frame_correct n k); auto; try lia. rewrite is_empty_sum. apply Nat.eqb_neq. lia.
Qed.

End Rows.
