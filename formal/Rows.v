(** * Checking tables by rows, in parts

    [check_part] does the work of [check_layer] by blocks of the mover's rows and of the other rows, so that sowings and
    ranks of rows are computed once for a block. The frames of a layer may be divided into parts. *)

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

Lemma spill_sum r : forall c, c <= length r -> sum (spill c r) = sum r + c.
Proof.
  induction r as [|s r IH]; intros c Hc; simpl in Hc; cbn [spill sum]; [lia|].
  destruct (Nat.eqb_spec c 0) as [->|]; cbn [sum]; [lia|]. rewrite IH by lia. lia.
Qed.

Lemma set_nth_sum r : forall j, sum (set_nth j 0 r) + get j r = sum r.
Proof.
  induction r as [|s r IH]; intros j; [reflexivity|]. cbn [set_nth get sum].
  destruct (j =? 0); cbn [sum]; [lia|]. specialize (IH (j - 1)). lia.
Qed.

(** Element [k] of [l], or [default] if there is none. *)
Fixpoint pick {A} (k : nat) (l : list A) (default : A) : A :=
  match l with
  | [] => default
  | x :: rest => if k =? 0 then x else pick (k - 1) rest default
  end.

Lemma pick_seq {A} (f : nat -> A) default : forall n first k, k < n ->
  pick k (map f (seq first n)) default = f (first + k).
Proof.
  induction n as [|n IH]; intros first k Hk; [lia|]. cbn [seq map pick].
  destruct (Nat.eqb_spec k 0) as [->|]; [f_equal; lia|]. rewrite IH by lia. f_equal. lia.
Qed.

(** A list in blocks of [size] elements; the first has room for [room] more than those of [block]. *)
Fixpoint blocks {A} (size room : nat) (block l : list A) : list (list A) :=
  match l with
  | [] => [block]
  | x :: l => if room =? 0 then block :: blocks size (size - 1) [x] l else blocks size (room - 1) (x :: block) l
  end.

Lemma blocks_in {A} size (x : A) : forall l room block, In x block \/ In x l ->
  exists b, In b (blocks size room block l) /\ In x b.
Proof.
  induction l as [|y l IH]; intros room block H; cbn [blocks].
  - exists block. destruct H as [H|[]]. split; [left; reflexivity|exact H].
  - destruct (room =? 0).
    + destruct H as [H|H]; [exists block; split; [left; reflexivity|exact H]|].
      destruct (IH (size - 1) [y]) as [b [Hb Hx]]; [destruct H as [->|H]; [left; left; reflexivity|right; exact H]|].
      exists b. split; [right; exact Hb|exact Hx].
    + apply IH. destruct H as [H|[->|H]]; [left; right; exact H|left; left; reflexivity|right; exact H].
Qed.

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

(** A capture of the seeds of a pit: true if the rules allow it, the seeds that it stores, those in play after it, and
    the score of the other player after it, by the rank of the mover's row. *)
Record taken := Taken { allowed : bool; gain : nat; remaining : nat; reply : nat -> nat }.

(** The other row, with its rank. The functions give scores of the other player, by the rank of the mover's row: with
    these seeds, with seeds in the first pits (1, 2 and so on), and without those of a pit. *)
Record seen := Seen {
  pits : row; itself : nat; against : nat -> nat; spilled : list (nat -> nat); emptied : list taken }.

Definition no_score (b : nat) : nat := 0.
Definition no_capture : taken := Taken false 0 0 no_score.

(** The score of the mover's row against others, by their ranks, and the seeds that each move collects. *)
Record plan := Plan { score_against : nat -> nat; worths : list (seen -> nat) }.

Section Rows.

Variable R : rules.
Variable m : nat.

(** A table: a row's rank among the rows with as many seeds, and the score by the seeds of the mover's row and of the
    other row, and by their ranks. *)
Variable rank : row -> nat.
Variable look : nat -> nat -> nat -> nat -> nat.

Definition numbered (p : position) : nat :=
  look (sum (own p)) (sum (other p)) (rank (own p)) (rank (other p)).

(** The other row [r] of [l] seeds, for rows of [k] seeds. *)
Definition see (k l : nat) (r : row) : seen :=
  let b := rank r in
  Seen r b (look l k b) (map (fun c => look (l + c) (k - 1 - c) (rank (spill c r))) (seq 1 m))
    (map (fun j =>
      let rest := set_nth j 0 r in
      let gain := 1 + get j r in
      let allowed := match captures R with Always => true | OppositeSeeds => 0 <? get j r end in
      Taken allowed gain (k + l - gain) (if is_empty rest then no_score else look (sum rest) (k - 1) (rank rest)))
      (seq 0 m)).

(** As [worth_of], of the move of the [h] seeds in pit [i] of the row [mine] of [k] seeds, against rows of [l] seeds.
    Look-ups that are the same for all these rows are prepared before the row is known. *)
Definition worth_by (k l : nat) (mine : row) (i h : nat) : seen -> nat :=
  let n := k + l in
  let last := i + h in
  let sown := add_own (2 * m + 1) h i (2 * m - i) mine in
  let slow := fun theirs => worth_of n (look_up numbered) (move R m i h (Position mine (pits theirs))) in
  if (2 * m <? last) || is_empty sown then slow
  else
    let a := rank sown in
    if last <? m then
      if get last sown =? 1 then
        let rest := set_nth last 0 sown in
        if is_empty rest then slow
        else
          let opposite := m - 1 - last in
          let a' := rank rest in
          fun theirs =>
            let e := pick opposite (emptied theirs) no_capture in
            if allowed e then gain e + (remaining e - reply e a') else n - against theirs a
      else fun theirs => n - against theirs a
    else
      let n := n - 1 in
      if last =? m then
        if moves_again R then let score := look (k - 1) l a in fun theirs => 1 + score (itself theirs)
        else let score := look l (k - 1) in fun theirs => 1 + (n - score (itself theirs) a)
      else let count := last - m - 1 in fun theirs => 1 + (n - pick count (spilled theirs) no_score a).

Lemma worth_by_move k l x y i h : length x = m -> length y = m -> i < m -> h = nth i x 0 -> sum x = k -> sum y = l ->
  is_empty y = false ->
  worth_by k l x i h (see k l y) = worth_of (k + l) (look_up numbered) (move R m i h (Position x y)).
Proof.
  intros Hx Hy Hi Hh Hk Hl Hne.
  assert (Hs : stored (move R m i h (Position x y)) + seeds (after (move R m i h (Position x y))) = k + l).
  { assert (Hw : well_formed (Position x y)) by (unfold well_formed; simpl; lia).
    assert (Hi' : i < length (own (Position x y))) by (simpl; lia).
    pose proof (play_seeds R _ i Hw Hi') as Hs. rewrite play_is_move in Hs by assumption. cbn [own] in Hs.
    rewrite Hx, <- Hh in Hs. subst k l. exact Hs. }
  revert Hs. unfold worth_by, move. cbn [own other].
  set (x' := add_own (2 * m + 1) h i (2 * m - i) x).
  destruct (Nat.ltb_spec (2 * m) (i + h)) as [|Hlast]; [reflexivity|]. cbn [orb].
  destruct (is_empty x') eqn:Ex; [reflexivity|].
  destruct (Nat.ltb_spec (i + h) (2 * m + 1)); [|lia].
  rewrite add_from_spill by lia.
  destruct (Nat.ltb_spec (i + h) m) as [Hm|Hm]; cbn [andb].
  - (* The last seed stays in the mover's row. *)
    replace (h - (m - i)) with 0 by lia. rewrite spill_0.
    assert (Hsh : share (2 * m + 1) h (m - 1 - i) = 0).
    { unfold share. destruct (Nat.leb_spec h (m - 1 - i)); [reflexivity|lia]. }
    rewrite Hsh. assert (Hq : (i + h =? m) = false) by (apply Nat.eqb_neq; lia). rewrite Hq. cbn [andb].
    assert (Hquiet : sum x' + sum y = k + l -> k + l - look l k (rank y) (rank x')
      = worth_of (k + l) (look_up numbered) (Outcome 0 false (Position x' y))).
    { intros Hs. unfold worth_of, look_up, numbered. cbn. rewrite Ex, Hne, Nat.sub_0_r, Hl.
      replace (sum x') with k by lia. reflexivity. }
    destruct (get (i + h) x' =? 1) eqn:E1; cbn [andb]; [|exact Hquiet].
    destruct (is_empty (set_nth (i + h) 0 x')) eqn:Ex2.
    { intros _. cbn [pits see]. rewrite add_from_nothing by lia. reflexivity. }
    cbn [emptied against see]. rewrite pick_seq by lia. cbn [Nat.add allowed gain remaining reply].
    set (j := m - 1 - (i + h)). set (y' := set_nth j 0 y).
    pose proof (set_nth_sum y j) as Hj. fold y' in Hj.
    assert (Hcap : S (get j y) + (sum (set_nth (i + h) 0 x') + sum y') = k + l ->
      S (get j y) + (k + l - S (get j y) -
        (if is_empty y' then no_score else look (sum y') (k - 1) (rank y')) (rank (set_nth (i + h) 0 x')))
      = worth_of (k + l) (look_up numbered) (Outcome (S (get j y)) false (Position (set_nth (i + h) 0 x') y'))).
    { intros Hs. unfold worth_of, look_up, numbered. cbn [stored again after swap own other]. rewrite Ex2.
      destruct (is_empty y') eqn:Ey; cbn [orb].
      - rewrite is_empty_sum in Ey. apply Nat.eqb_eq in Ey. rewrite Ey. reflexivity.
      - replace (sum (set_nth (i + h) 0 x')) with (k - 1) by lia. reflexivity. }
    destruct (captures R); [exact Hcap|]. destruct (0 <? get j y); [exact Hcap|exact Hquiet].
  - assert (Hsh : share (2 * m + 1) h (m - 1 - i) = 1).
    { unfold share. destruct (Nat.leb_spec h (m - 1 - i)); [lia|].
      destruct (Nat.leb_spec h (m - 1 - i + (2 * m + 1))); [reflexivity|lia]. }
    rewrite Hsh. unfold seeds. cbn [stored after own other].
    destruct (Nat.eqb_spec (i + h) m) as [Hq|Hq]; cbn [andb].
    + (* It reaches the store. *)
      replace (h - (m - i)) with 0 by lia. rewrite spill_0. intros Hs.
      unfold worth_of, look_up, numbered. cbn [stored again after swap own other see itself].
      rewrite Ex, Hne. replace (sum x') with (k - 1) by lia. rewrite Hl. destruct (moves_again R); reflexivity.
    + (* It reaches the other row. *)
      cbn [spilled see]. rewrite pick_seq by lia.
      replace (1 + (i + h - m - 1)) with (h - (m - i)) by lia. set (c := h - (m - i)).
      rewrite spill_sum by (unfold c; lia). intros Hs.
      unfold worth_of, look_up, numbered. cbn [stored again after swap own other].
      rewrite Ex, spill_not_empty, spill_sum by (assumption || (unfold c; lia)). cbn [orb].
      replace (sum x') with (k - 1 - c) by lia. rewrite Hl. reflexivity.
Qed.

Fixpoint worths_from (k l : nat) (mine : row) (i : nat) (rest : row) : list (seen -> nat) :=
  match rest with
  | [] => []
  | h :: rest =>
      if h =? 0 then worths_from k l mine (S i) rest else worth_by k l mine i h :: worths_from k l mine (S i) rest
  end.

(** The largest of [most] and of the seeds that moves collect. *)
Fixpoint best_by (most : nat) (theirs : seen) (worths : list (seen -> nat)) : nat :=
  match worths with
  | [] => most
  | worth :: worths => best_by (Nat.max most (worth theirs)) theirs worths
  end.

Lemma best_by_moves k l x y : length x = m -> length y = m -> sum x = k -> sum y = l -> is_empty y = false ->
  forall rest before most, x = before ++ rest ->
  best_by most (see k l y) (worths_from k l x (length before) rest) =
  Nat.max most (best_from R m (Position x y) (worth_of (k + l) (look_up numbered)) (length before) rest).
Proof.
  intros Hx Hy Hk Hl Hne. induction rest as [|h rest IH]; intros before most E.
  { cbn [worths_from best_by best_from]. lia. }
  assert (Hlen : length (before ++ [h]) = S (length before)) by (rewrite app_length; simpl; lia).
  specialize (IH (before ++ [h])). rewrite Hlen in IH. rewrite <- app_assoc in IH.
  cbn [worths_from best_from]. destruct (h =? 0); [apply IH; exact E|].
  cbn [best_by]. rewrite IH by exact E. rewrite worth_by_move; auto; [lia| |].
  - rewrite <- Hx, E, app_length. simpl. lia.
  - rewrite E, app_nth2, Nat.sub_diag by lia. reflexivity.
Qed.

(** ** The checker *)

Definition plan_of (k l : nat) (mine : row) : plan := Plan (look k l (rank mine)) (worths_from k l mine 0 mine).

(** Checks the positions of a row against each row of [theirs]. *)
Fixpoint check_plan (score : nat -> nat) (worths : list (seen -> nat)) (theirs : list seen) : bool :=
  match theirs with
  | [] => true
  | r :: theirs => if score (itself r) =? best_by 0 r worths then check_plan score worths theirs else false
  end.

Lemma check_plan_in score worths y theirs : check_plan score worths theirs = true -> In y theirs ->
  score (itself y) = best_by 0 y worths.
Proof.
  induction theirs as [|r theirs IH]; intros Hc Hin; [contradiction|]. cbn [check_plan] in Hc.
  destruct (Nat.eqb_spec (score (itself r)) (best_by 0 r worths)); [|discriminate].
  destruct Hin as [->|Hin]; auto.
Qed.

(** The rows with [k] seeds in blocks of [size]. They are level by level, so that look-ups stay near each other. *)
Definition blocks_of_rows (size k : nat) : list (list row) := blocks size size [] (concat (levels m k)).

Lemma blocks_of_rows_complete size r : length r = m ->
  exists block, In block (blocks_of_rows size (sum r)) /\ In r block.
Proof.
  intros Hr. unfold blocks_of_rows. apply blocks_in. right. apply in_concat. rewrite <- Hr. apply levels_complete.
Qed.

(** Checks the frame of [k] seeds in the mover's row and [l] in the other row. *)
Definition check_frame (size k l : nat) : bool :=
  let others := blocks_of_rows size l in
  forallb (fun mine =>
    let plans := map (plan_of k l) mine in
    forallb (fun theirs =>
      let theirs := map (see k l) theirs in
      forallb (fun p => check_plan (score_against p) (worths p) theirs) plans) others)
    (blocks_of_rows size k).

(** Checks those frames of a layer whose number is [part] modulo [parts], in blocks of [size] rows. *)
Definition check_part (size parts part n : nat) : bool :=
  forallb (fun k => if k mod parts =? part then check_frame size k (n - k) else true) (seq 1 (n - 1)).

Lemma check_frame_correct size k l x y : check_frame size k l = true -> length x = m -> length y = m ->
  sum x = k -> sum y = l -> is_empty y = false -> check_position R m (k + l) numbered (Position x y) = true.
Proof.
  intros Hc Hx Hy Hk Hl Hne. unfold check_frame in Hc. rewrite forallb_forall in Hc.
  destruct (blocks_of_rows_complete size x Hx) as [mine [Hmine Hx']]. rewrite Hk in Hmine.
  destruct (blocks_of_rows_complete size y Hy) as [theirs [Htheirs Hy']]. rewrite Hl in Htheirs.
  specialize (Hc mine Hmine). rewrite forallb_forall in Hc. specialize (Hc theirs Htheirs).
  rewrite forallb_forall in Hc. specialize (Hc (plan_of k l x) (in_map (plan_of k l) _ _ Hx')).
  pose proof (check_plan_in _ _ _ _ Hc (in_map (see k l) _ _ Hy')) as He. cbn [plan_of score_against worths] in He.
  pose proof (best_by_moves k l x y Hx Hy Hk Hl Hne x [] 0 eq_refl) as Hb. cbn [length] in Hb.
  rewrite Hb, Nat.max_0_l in He. unfold check_position, best, numbered. cbn [own other] in *. rewrite Hk, Hl.
  apply Nat.eqb_eq. exact He.
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
Theorem parts_check_layer size parts n : 0 < parts ->
  (forall part, part < parts -> check_part size parts part n = true) -> check_layer R m numbered n = true.
Proof.
  intros H0 Hc. unfold check_layer. apply forallb_forall. intros k Hk. apply in_seq in Hk.
  apply forallb_forall. intros x Hx. apply forallb_forall. intros y Hy.
  apply all_rows_sound in Hx. apply all_rows_sound in Hy. destruct Hx as [Hx Hsx], Hy as [Hy Hsy].
  specialize (Hc (k mod parts) ltac:(apply Nat.mod_upper_bound; lia)). unfold check_part in Hc.
  rewrite forallb_forall in Hc. specialize (Hc k ltac:(apply in_seq; lia)). rewrite Nat.eqb_refl in Hc.
  pose proof (check_frame_correct size k (n - k) x y Hc Hx Hy Hsx Hsy) as Hp.
  replace (k + (n - k)) with n in Hp by lia. apply Hp. rewrite is_empty_sum. apply Nat.eqb_neq. lia.
Qed.

End Rows.
