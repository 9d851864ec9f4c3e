(** * Moves in closed form

    A sowing of [h] seeds drops [share L h d] of them on the place at distance [d], on a circle of [L] places. This
    gives moves as maps of lists, the conservation of seeds, and the descent of the measure. *)

From Coq Require Import Arith List Bool Lia.
From Kalah Require Import Definitions.
Import ListNotations.

(** ** Sowing on a circle *)

Definition share (L h d : nat) : nat :=
  if h <=? d then 0 else if h <=? d + L then 1 else (h + (L - 1 - d)) / L.

(** Places from [at_] to [place], not counting the first; a full circle back to [at_] itself is [2 * m]. *)
Definition distance (m at_ place : nat) : nat :=
  if at_ <? place then place - at_ - 1 else place + 2 * m - at_.

Lemma share_div L h d : d < L -> share L h d = (h + (L - 1 - d)) / L.
Proof.
  intros. unfold share.
  destruct (Nat.leb_spec h d); [symmetry; apply Nat.div_small; lia|].
  destruct (Nat.leb_spec h (d + L)); [|reflexivity].
  apply Nat.div_unique with (r := h - 1 - d); lia.
Qed.

Lemma share_0 L d : share L 0 d = 0.
Proof. reflexivity. Qed.

Lemma share_S_first L h : 0 < L -> share L (S h) 0 = S (share L h (L - 1)).
Proof.
  intros. rewrite !share_div by lia.
  replace (S h + (L - 1 - 0)) with (h + 1 * L) by lia.
  replace (h + (L - 1 - (L - 1))) with h by lia.
  rewrite Nat.div_add by lia. lia.
Qed.

Lemma share_S_next L h d : S d < L -> share L (S h) (S d) = share L h d.
Proof. intros. rewrite !share_div by lia. f_equal. lia. Qed.

Lemma sow_board m : forall h at_ b place, at_ <= 2 * m -> place <= 2 * m ->
  snd (sow m h at_ b) place = b place + share (2 * m + 1) h (distance m at_ place).
Proof.
  induction h as [|h IH]; intros at_ b place Hat Hplace.
  - rewrite share_0. simpl. lia.
  - cbn [sow]. set (after := next m at_).
    assert (Hafter : after <= 2 * m) by (unfold after, next; destruct (Nat.eqb_spec at_ (2 * m)); lia).
    rewrite IH by assumption. unfold put.
    destruct (Nat.eqb_spec place after) as [->|Hne].
    + replace (distance m at_ after) with 0.
      2: { unfold after, next, distance. destruct (Nat.eqb_spec at_ (2 * m)).
           - subst. destruct (Nat.ltb_spec (2 * m) 0); lia.
           - destruct (Nat.ltb_spec at_ (S at_)); lia. }
      replace (distance m after after) with (2 * m).
      2: { unfold distance. destruct (Nat.ltb_spec after after); lia. }
      rewrite share_S_first by lia. replace (2 * m + 1 - 1) with (2 * m) by lia. lia.
    + replace (distance m at_ place) with (S (distance m after place)).
      2: { unfold after, next, distance in *. destruct (Nat.eqb_spec at_ (2 * m));
           repeat match goal with |- context [?a <? ?b] => destruct (Nat.ltb_spec a b) end; lia. }
      rewrite share_S_next; [reflexivity|].
      unfold after, next, distance in *. destruct (Nat.eqb_spec at_ (2 * m));
        repeat match goal with |- context [?a <? ?b] => destruct (Nat.ltb_spec a b) end; lia.
Qed.

Lemma sow_last m : forall h at_ b, at_ <= 2 * m -> fst (sow m h at_ b) = (at_ + h) mod (2 * m + 1).
Proof.
  induction h as [|h IH]; intros at_ b Hat.
  - simpl sow. cbn [fst]. rewrite Nat.add_0_r. rewrite Nat.mod_small; lia.
  - cbn [sow]. rewrite IH; unfold next; destruct (Nat.eqb_spec at_ (2 * m)) as [->|]; try lia.
    + replace (2 * m + S h) with (h + 1 * (2 * m + 1)) by lia. rewrite Nat.mod_add by lia. reflexivity.
    + f_equal. lia.
Qed.

(** ** Conservation of seeds *)

Lemma sum_app a b : sum (a ++ b) = sum a + sum b.
Proof. induction a; simpl; lia. Qed.

Definition total (b : board) (n : nat) : nat := sum (map b (seq 0 n)).

Lemma total_S b n : total b (S n) = total b n + b n.
Proof. unfold total. rewrite seq_S, map_app, sum_app. simpl. lia. Qed.

Lemma total_put b at_ v n : total (put b at_ v) n + (if at_ <? n then b at_ else 0)
  = total b n + (if at_ <? n then v else 0).
Proof.
  induction n as [|n IH]; [reflexivity|]. rewrite !total_S.
  unfold put at 2. destruct (Nat.eqb_spec n at_) as [->|].
  - destruct (Nat.ltb_spec at_ at_); [lia|]. destruct (Nat.ltb_spec at_ (S at_)); lia.
  - destruct (Nat.ltb_spec at_ n), (Nat.ltb_spec at_ (S n)); lia.
Qed.

Lemma total_put_in b at_ v n : at_ < n -> total (put b at_ v) n + b at_ = total b n + v.
Proof. intros. pose proof (total_put b at_ v n). destruct (Nat.ltb_spec at_ n); lia. Qed.

Lemma total_sow m : forall h at_ b, at_ <= 2 * m ->
  total (snd (sow m h at_ b)) (2 * m + 1) = total b (2 * m + 1) + h.
Proof.
  induction h as [|h IH]; intros; cbn [sow]; [simpl; lia|].
  assert (next m at_ <= 2 * m) by (unfold next; destruct (Nat.eqb_spec at_ (2 * m)); lia).
  rewrite IH by assumption.
  pose proof (total_put_in b (next m at_) (b (next m at_) + 1) (2 * m + 1)). lia.
Qed.

Lemma map_nth_seq r : forall k (f : board), (forall i, i < length r -> f (k + i) = nth i r 0) ->
  map f (seq k (length r)) = r.
Proof.
  induction r as [|s r IH]; intros k f Hf; [reflexivity|]. simpl. f_equal.
  - specialize (Hf 0). simpl in Hf. rewrite Nat.add_0_r in Hf. apply Hf. lia.
  - apply IH. intros i Hi. specialize (Hf (S i)). simpl in Hf.
    replace (S k + i) with (k + S i) by lia. apply Hf. lia.
Qed.

Lemma total_split m b :
  total b (2 * m + 1) = sum (map b (seq 0 m)) + b m + sum (map b (seq (m + 1) m)).
Proof.
  unfold total. replace (2 * m + 1) with (m + (1 + m)) by lia.
  rewrite seq_app, map_app, sum_app, seq_app, map_app, sum_app. simpl. rewrite (Nat.add_1_r m). lia.
Qed.

Lemma board_of_own p i : i < length (own p) -> board_of p i = nth i (own p) 0.
Proof. intros. unfold board_of. rewrite app_nth1 by assumption. reflexivity. Qed.

Lemma board_of_store p : board_of p (length (own p)) = 0.
Proof. unfold board_of. rewrite app_nth2 by lia. rewrite Nat.sub_diag. reflexivity. Qed.

Lemma board_of_other p i : board_of p (length (own p) + 1 + i) = nth i (other p) 0.
Proof.
  unfold board_of. rewrite app_nth2 by lia.
  replace (length (own p) + 1 + i - length (own p)) with (S i) by lia. reflexivity.
Qed.

Lemma total_board_of p : well_formed p -> total (board_of p) (2 * length (own p) + 1) = seeds p.
Proof.
  intros Hw. unfold well_formed in Hw. rewrite total_split, board_of_store. unfold seeds.
  rewrite map_nth_seq by (intros; rewrite board_of_own; auto).
  rewrite (map_ext_in _ (fun at_ => nth (at_ - (length (own p) + 1)) (other p) 0)).
  - rewrite Hw, map_nth_seq; [lia|]. intros. f_equal. lia.
  - intros at_ Hat. apply in_seq in Hat. rewrite <- board_of_other. f_equal. lia.
Qed.

Lemma opposite_range m at_ : at_ < m -> m < opposite m at_ <= 2 * m.
Proof. unfold opposite. lia. Qed.

Lemma total_capture m last b : last < m -> total (capture_at m last b) (2 * m + 1) = total b (2 * m + 1).
Proof.
  intros Hl. pose proof (opposite_range m last Hl) as Ho. unfold capture_at.
  set (b1 := put b m (b m + b last + b (opposite m last))).
  set (b2 := put b1 last 0).
  pose proof (total_put_in b2 (opposite m last) 0 (2 * m + 1)).
  pose proof (total_put_in b1 last 0 (2 * m + 1)) as H1. fold b2 in H1.
  pose proof (total_put_in b m (b m + b last + b (opposite m last)) (2 * m + 1)) as H2. fold b1 in H2.
  assert (b2 (opposite m last) = b (opposite m last)).
  { unfold b2, b1, put. destruct (Nat.eqb_spec (opposite m last) last); [lia|].
    destruct (Nat.eqb_spec (opposite m last) m); [lia|]. reflexivity. }
  assert (b1 last = b last).
  { unfold b1, put. destruct (Nat.eqb_spec last m); [lia|]. reflexivity. }
  lia.
Qed.

Lemma is_capture_own R m last b : is_capture R m last b = true -> last < m /\ b last = 1.
Proof.
  unfold is_capture. rewrite !andb_true_iff. intros [[H1 H2] _].
  apply Nat.ltb_lt in H1. apply Nat.eqb_eq in H2. auto.
Qed.

(** Every seed in play before a move is in play or stored after it. *)
Lemma play_seeds R p i : well_formed p -> i < length (own p) ->
  stored (play R p i) + seeds (after (play R p i)) = seeds p.
Proof.
  intros Hw Hi. unfold play. set (m := length (own p)) in *.
  set (start := board_of p). set (h := start i).
  pose proof (total_sow m h i (put start i 0) ltac:(lia)) as Hs.
  destruct (sow m h i (put start i 0)) as [last sown]. cbn [snd] in Hs. cbn [stored after].
  set (final := if is_capture R m last sown then capture_at m last sown else sown).
  assert (Hf : total final (2 * m + 1) = total sown (2 * m + 1)).
  { unfold final. destruct (is_capture R m last sown) eqn:E; [|reflexivity].
    apply is_capture_own in E. apply total_capture. tauto. }
  pose proof (total_put_in start i 0 (2 * m + 1) ltac:(lia)) as Hp.
  pose proof (total_board_of p Hw) as Hb. fold m in Hb. fold start in Hb.
  rewrite total_split in Hf. unfold seeds in *. cbn [own other] in *. unfold h in *. lia.
Qed.

Lemma play_length R p i : length (own (after (play R p i))) = length (own p)
  /\ length (other (after (play R p i))) = length (own p).
Proof.
  unfold play. destruct (sow _ _ _ _). cbn [after own other]. rewrite !map_length, !seq_length. auto.
Qed.

Lemma legal_spec p i : In i (legal p) <-> i < length (own p) /\ 0 < nth i (own p) 0.
Proof.
  unfold legal. rewrite filter_In, in_seq, Nat.ltb_lt. split; intros [? ?]; split; lia.
Qed.

(** ** Moves as maps of lists *)

(** The other player's row after sowing; [d] is the distance of the first pit of [r]. *)
Fixpoint add_from (L h d : nat) (r : row) : row :=
  match r with
  | [] => []
  | s :: rest => if h <=? d then r else s + share L h d :: add_from L h (S d) rest
  end.

(** The mover's row after sowing from pit [i]; [d] is the distance of the first pit of [r]. *)
Fixpoint add_own (L h i d : nat) (r : row) : row :=
  match r with
  | [] => []
  | s :: rest =>
      if i =? 0 then share L h d :: add_from L h 0 rest
      else s + share L h d :: add_own L h (i - 1) (S d) rest
  end.

Fixpoint set_nth (k v : nat) (r : row) : row :=
  match r with
  | [] => []
  | s :: rest => if k =? 0 then v :: rest else s :: set_nth (k - 1) v rest
  end.

Fixpoint get (k : nat) (r : row) : nat :=
  match r with
  | [] => 0
  | s :: rest => if k =? 0 then s else get (k - 1) rest
  end.

Lemma get_nth r : forall k, get k r = nth k r 0.
Proof. induction r; intros [|k]; simpl; auto. rewrite Nat.sub_0_r. auto. Qed.

Lemma add_from_nothing L h r d : h <= d -> add_from L h d r = r.
Proof. intros. destruct r; [reflexivity|]. simpl. destruct (Nat.leb_spec h d); [reflexivity|lia]. Qed.

Lemma add_from_length L h r : forall d, length (add_from L h d r) = length r.
Proof. induction r; simpl; intros; auto. destruct (h <=? d); simpl; auto. Qed.

Lemma add_own_length L h r : forall i d, length (add_own L h i d r) = length r.
Proof. induction r; intros [|i] d; simpl; auto. rewrite add_from_length. auto. Qed.

Lemma set_nth_length r : forall k v, length (set_nth k v r) = length r.
Proof. induction r; intros [|k] v; simpl; auto. Qed.

Lemma add_from_nth L h r : forall d j, j < length r -> nth j (add_from L h d r) 0 = nth j r 0 + share L h (d + j).
Proof.
  induction r as [|s r IH]; intros d j Hj; [simpl in Hj; lia|].
  destruct (Nat.le_gt_cases h d).
  - rewrite add_from_nothing by assumption. unfold share. destruct (Nat.leb_spec h (d + j)); lia.
  - simpl in *. destruct (Nat.leb_spec h d); [lia|]. destruct j as [|j].
    + rewrite Nat.add_0_r. reflexivity.
    + cbn [nth]. rewrite IH by lia. do 2 f_equal. lia.
Qed.

Lemma add_own_nth L h r : forall i d j, j < length r -> i < length r ->
  nth j (add_own L h i d r) 0 =
  (if j =? i then 0 else nth j r 0) + share L h (if i <? j then j - i - 1 else d + j).
Proof.
  induction r as [|s r IH]; intros i d j Hj Hi; simpl in Hj, Hi; [lia|].
  destruct i as [|i]; destruct j as [|j]; cbn [add_own Nat.eqb nth]; rewrite ?Nat.sub_succ, ?Nat.sub_0_r.
  - rewrite Nat.add_0_r. reflexivity.
  - rewrite add_from_nth by lia. simpl Nat.eqb. destruct (Nat.ltb_spec 0 (S j)); [|lia].
    do 2 f_equal; lia.
  - simpl Nat.eqb. destruct (Nat.ltb_spec (S i) 0); [lia|]. rewrite Nat.add_0_r. reflexivity.
  - rewrite IH by lia. simpl Nat.eqb. change (S i <? S j) with (i <? j).
    destruct (Nat.ltb_spec i j); do 2 f_equal; lia.
Qed.

Lemma set_nth_nth r : forall k v j, j < length r -> nth j (set_nth k v r) 0 = if j =? k then v else nth j r 0.
Proof.
  induction r as [|s r IH]; intros [|k] v [|j] Hj; simpl in *; try lia; auto.
  rewrite Nat.sub_0_r. apply IH. lia.
Qed.

Lemma map_seq_nth (f : board) k n j : j < n -> nth j (map f (seq k n)) 0 = f (k + j).
Proof.
  intros. rewrite (nth_indep _ 0 (f 0)) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by lia. reflexivity.
Qed.

Lemma list_eq (a b : row) : length a = length b -> (forall j, j < length a -> nth j a 0 = nth j b 0) -> a = b.
Proof. intros. apply nth_ext with (d := 0) (d' := 0); auto. Qed.

(** The move of the [h] seeds in pit [i], in closed form, for rows of [m] pits. *)
Definition move (R : rules) (m i h : nat) (p : position) : outcome :=
  let L := 2 * m + 1 in
  let own' := add_own L h i (2 * m - i) (own p) in
  let store := share L h (m - 1 - i) in
  let other' := add_from L h (m - i) (other p) in
  let last := if i + h <? L then i + h else (i + h) mod L in
  if (last <? m) && (get last own' =? 1) &&
     match captures R with Always => true | OppositeSeeds => 0 <? get (m - 1 - last) other' end
  then Outcome (store + 1 + get (m - 1 - last) other') false
         (Position (set_nth last 0 own') (set_nth (m - 1 - last) 0 other'))
  else Outcome store ((last =? m) && moves_again R) (Position own' other').

Lemma play_is_move R p i : well_formed p -> i < length (own p) ->
  play R p i = move R (length (own p)) i (nth i (own p) 0) p.
Proof.
  intros Hw Hi. unfold play, move. set (m := length (own p)) in *. set (L := 2 * m + 1).
  rewrite board_of_own by assumption. set (h := nth i (own p) 0).
  replace (if i + h <? L then i + h else (i + h) mod L) with ((i + h) mod L)
    by (destruct (Nat.ltb_spec (i + h) L); [apply Nat.mod_small; assumption|reflexivity]).
  rewrite !get_nth.
  pose proof (sow_board m h i (put (board_of p) i 0)) as Hb.
  pose proof (sow_last m h i (put (board_of p) i 0) ltac:(lia)) as Hl.
  destruct (sow m h i (put (board_of p) i 0)) as [last sown]. cbn [fst snd] in *.
  fold L in Hl. rewrite <- Hl. fold L in Hb.
  set (own' := add_own L h i (2 * m - i) (own p)). set (other' := add_from L h (m - i) (other p)).
  assert (Hown : forall j, j < m -> sown j = nth j own' 0).
  { intros j Hj. rewrite Hb by lia. unfold own'. rewrite add_own_nth by lia. unfold put, distance.
    destruct (Nat.eqb_spec j i); destruct (Nat.ltb_spec i j); try lia;
      try rewrite board_of_own by lia; f_equal; f_equal; lia. }
  assert (Hother : forall j, j < m -> sown (m + 1 + j) = nth j other' 0).
  { intros j Hj. rewrite Hb by lia. unfold other'. rewrite add_from_nth by (rewrite <- Hw; fold m; lia).
    unfold put, distance. destruct (Nat.eqb_spec (m + 1 + j) i); [lia|].
    destruct (Nat.ltb_spec i (m + 1 + j)); [|lia]. unfold m at 1. rewrite board_of_other.
    f_equal; f_equal; lia. }
  assert (Hstore : sown m = share L h (m - 1 - i)).
  { rewrite Hb by lia. unfold put, distance. destruct (Nat.eqb_spec m i); [lia|].
    destruct (Nat.ltb_spec i m); [|lia]. unfold m at 1. rewrite board_of_store.
    simpl. f_equal; lia. }
  assert (Hlen : length own' = m) by (unfold own'; rewrite add_own_length; reflexivity).
  assert (Hlen2 : length other' = m) by (unfold other'; rewrite add_from_length; symmetry; exact Hw).
  assert (Hmap1 : map sown (seq 0 m) = own').
  { rewrite <- Hlen. apply map_nth_seq. intros j Hj. apply Hown. lia. }
  assert (Hmap2 : map sown (seq (m + 1) m) = other').
  { rewrite <- Hlen2 at 2. apply map_nth_seq. intros j Hj. apply Hother. lia. }
  unfold is_capture.
  destruct (Nat.ltb_spec last m) as [Hlast|Hlast]; cbn [andb].
  2: { rewrite Hstore, Hmap1, Hmap2. reflexivity. }
  rewrite <- (Hown last) by assumption.
  assert (Hopp : sown (opposite m last) = nth (m - 1 - last) other' 0).
  { rewrite <- Hother by lia. f_equal. unfold opposite. lia. }
  rewrite <- Hopp.
  destruct (Nat.eqb_spec (sown last) 1) as [H1|H1]; cbn [andb].
  2: { rewrite Hstore, Hmap1, Hmap2. reflexivity. }
  assert (Hneq : (last =? m) = false) by (apply Nat.eqb_neq; lia). rewrite Hneq. cbn [andb].
  assert (Hcap : Outcome (capture_at m last sown m) false
     (Position (map (capture_at m last sown) (seq 0 m)) (map (capture_at m last sown) (seq (m + 1) m)))
   = Outcome (share L h (m - 1 - i) + 1 + sown (opposite m last)) false
      (Position (set_nth last 0 own') (set_nth (m - 1 - last) 0 other'))).
  { pose proof (opposite_range m last Hlast). f_equal; [|f_equal].
    - unfold capture_at, put. destruct (Nat.eqb_spec m (opposite m last)); [lia|].
      destruct (Nat.eqb_spec m last); [lia|]. rewrite Nat.eqb_refl, Hstore, H1. reflexivity.
    - apply list_eq; [rewrite map_length, seq_length, set_nth_length; lia|].
      rewrite map_length, seq_length. intros j Hj. rewrite map_seq_nth by lia.
      rewrite set_nth_nth by lia. simpl. unfold capture_at, put.
      destruct (Nat.eqb_spec j (opposite m last)); [lia|].
      destruct (Nat.eqb_spec j last); [reflexivity|].
      destruct (Nat.eqb_spec j m); [lia|]. apply Hown; assumption.
    - apply list_eq; [rewrite map_length, seq_length, set_nth_length; lia|].
      rewrite map_length, seq_length. intros j Hj. rewrite map_seq_nth by lia.
      rewrite set_nth_nth by lia. unfold capture_at, put, opposite.
      destruct (Nat.eqb_spec (m + 1 + j) (2 * m - last)); destruct (Nat.eqb_spec j (m - 1 - last)); try lia.
      destruct (Nat.eqb_spec (m + 1 + j) last); [lia|].
      destruct (Nat.eqb_spec (m + 1 + j) m); [lia|]. apply Hother; assumption. }
  destruct (captures R); [exact Hcap|].
  destruct (0 <? sown (opposite m last)); [exact Hcap|].
  rewrite Hstore, Hmap1, Hmap2. reflexivity.
Qed.

(** ** Descent *)

Lemma potential_bound r : potential r <= length r * sum r.
Proof. induction r as [|s r IH]; simpl; nia. Qed.

Lemma add_from_potential L : forall h r d, d <= h -> h <= d + length r -> length r <= L ->
  potential (add_from L h d r) + (h - d) <= potential r + (h - d) * length r.
Proof.
  intros h r. induction r as [|s r IH]; intros d Hd Hh HL.
  - simpl in *. lia.
  - destruct (Nat.eq_dec d h) as [->|]; [rewrite add_from_nothing by lia; lia|].
    simpl in *. destruct (Nat.leb_spec h d); [lia|]. simpl. rewrite add_from_length. unfold share at 1.
    destruct (Nat.leb_spec h d); [lia|]. destruct (Nat.leb_spec h (d + L)); [|lia].
    specialize (IH (S d) ltac:(lia) ltac:(lia) ltac:(lia)).
    replace (h - d) with (S (h - S d)) by lia. nia.
Qed.

(** A move that stores nothing and captures nothing moves seeds forward in the mover's row. *)
Lemma add_own_potential L h r : forall i d, i < length r -> h = nth i r 0 -> 0 < h -> i + h < length r ->
  h <= d -> d + i < L -> length r <= L ->
  potential (add_own L h i d r) < potential r.
Proof.
  induction r as [|s r IH]; intros i d Hi Hh H0 Hlen Hd HL HL2; simpl in *; [lia|].
  destruct i as [|i]; simpl in *.
  - subst s. rewrite add_from_length. unfold share. destruct (Nat.leb_spec h d); [|lia].
    pose proof (add_from_potential L h r 0 ltac:(lia) ltac:(lia) ltac:(lia)) as Hp.
    rewrite Nat.sub_0_r in Hp. lia.
  - rewrite add_own_length. unfold share at 1. destruct (Nat.leb_spec h d); [|lia].
    specialize (IH i (S d)). rewrite Nat.add_0_r, Nat.sub_0_r.
    assert (potential (add_own L h i (S d) r) < potential r) by (apply IH; lia). lia.
Qed.

Lemma measure_swap p : well_formed p -> measure (swap p) = measure p.
Proof. intros Hw. unfold measure, seeds, swap. simpl. rewrite <- Hw. rewrite (Nat.add_comm (sum (other p))). lia. Qed.

(** Each legal move lowers the measure. *)
Lemma play_measure R p i : well_formed p -> In i (legal p) -> measure (after (play R p i)) < measure p.
Proof.
  intros Hw Hl. apply legal_spec in Hl. destruct Hl as [Hi Hh].
  pose proof (play_seeds R p i Hw Hi) as Hs. pose proof (play_length R p i) as [Hl1 Hl2].
  destruct (Nat.eq_dec (stored (play R p i)) 0) as [H0|H0].
  - unfold measure. rewrite Hl1. replace (seeds (after (play R p i))) with (seeds p) by lia.
    enough (potential (own (after (play R p i))) + potential (other (after (play R p i)))
      < potential (own p) + potential (other p)) by lia.
    clear Hs Hl1 Hl2. rewrite play_is_move in * by assumption. unfold move in *.
    set (m := length (own p)) in *. set (h := nth i (own p) 0) in *.
    destruct (_ && _ && _); cbn [stored] in H0; [lia|]. cbn [after own other].
    assert (h <= m - 1 - i).
    { revert H0. unfold share. destruct (Nat.leb_spec h (m - 1 - i)); [lia|].
      destruct (Nat.leb_spec h (m - 1 - i + (2 * m + 1))); [discriminate|]. intros. exfalso.
      assert (1 <= (h + (2 * m + 1 - 1 - (m - 1 - i))) / (2 * m + 1)) by (apply Nat.div_le_lower_bound; lia). lia. }
    rewrite add_from_nothing by lia.
    enough (potential (add_own (2 * m + 1) h i (2 * m - i) (own p)) < potential (own p)) by lia.
    apply add_own_potential; fold m; fold h; lia.
  - unfold measure. rewrite Hl1.
    pose proof (potential_bound (own (after (play R p i)))) as P1.
    pose proof (potential_bound (other (after (play R p i)))) as P2.
    rewrite Hl1 in P1. rewrite Hl2 in P2. unfold seeds at 1 2. unfold seeds in Hs at 1.
    set (s := sum (own (after (play R p i)))) in *. set (t := sum (other (after (play R p i)))) in *.
    set (m := length (own p)) in *.
    set (n := s + t) in *. assert (n < seeds p) by lia. assert (n * n + n < seeds p * seeds p) by nia.
    assert (m * (n * n + n) < m * (seeds p * seeds p)) by (apply Nat.mul_lt_mono_pos_l; lia).
    replace (m * (n * n + n)) with (m * (n * n) + m * s + m * t) in * by (unfold n; ring). lia.
Qed.
