(** * Certificates without searches

    A certificate is a list of claims: bounds of the scores of positions. [check_claims] derives each bound in one ply,
    from ends of games, verified tables and other claims. If it returns true, all claims are true. *)

From Coq Require Import Arith List Bool Lia ZArith.
From Kalah Require Import Definitions Moves Score Tables Rows.
Import ListNotations.

Record claim := Claim { about : position; lower : nat; upper : nat }.

(** A claim is true if its bounds hold. *)
Definition holds (R : rules) (c : claim) : Prop := lower c <= score R (about c) <= upper c.

Fixpoint same_row (a b : row) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => (x =? y) && same_row a b
  | _, _ => false
  end.

Lemma same_row_eq a : forall b, same_row a b = true -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  rewrite andb_true_iff, Nat.eqb_eq. intros [-> H]. f_equal. auto.
Qed.

Section Check.

Variable R : rules.
Variable m : nat.

(** A table that is right up to [n] seeds. *)
Variable t : position -> nat.
Variable n : nat.

(** The claims have the numbers 0 to [count - 1]. [find] guesses the number of a claim about a position; a wrong guess
    is found. *)
Variable claims : nat -> claim.
Variable count : nat.
Variable find : position -> nat.

(** The bounds of a position without a table that claim [c] gives. *)
Definition claimed (p : position) : nat * nat :=
  let k := find p in
  if k <? count then
    let c := claims k in
    if same_row (own (about c)) (own p) && same_row (other (about c)) (other p) then (lower c, upper c)
    else (0, seeds p)
  else (0, seeds p).

Definition bounds (p : position) : nat * nat :=
  if over p then (sum (own p), sum (own p))
  else if seeds p <=? n then let s := t p in (s, s)
  else claimed p.

(** Least and most seeds that the mover collects by a move, by the bounds of the position after it. *)
Definition worth_least (o : outcome) : nat :=
  stored o + (if again o then fst (bounds (after o)) else seeds (after o) - snd (bounds (swap (after o)))).

Definition worth_most (o : outcome) : nat :=
  stored o + (if again o then snd (bounds (after o)) else seeds (after o) - fst (bounds (swap (after o)))).

(** True if the bounds of [c] follow in one ply. *)
Definition check_claim (c : claim) : bool :=
  let p := about c in
  let outcomes := moves R m p in
  (length (own p) =? m) && (length (other p) =? m) && negb (over p) &&
  ((lower c =? 0) || existsb (fun o => lower c <=? worth_least o) outcomes) &&
  ((seeds p <=? upper c) || forallb (fun o => worth_most o <=? upper c) outcomes).

(** True if the bounds of [c] are those of its position, or follow in one ply. *)
Definition check_statement (c : claim) : bool :=
  let p := about c in
  (length (own p) =? m) && (length (other p) =? m) &&
  (let b := bounds p in (lower c <=? fst b) && (snd b <=? upper c) || check_claim c).

(** Checks the claims 0 to [k - 1]. *)
Fixpoint check_claims (k : nat) : bool :=
  match k with
  | 0 => true
  | S k => if check_claim (claims k) then check_claims k else false
  end.

Lemma check_claims_each k : check_claims k = true -> forall i, i < k -> check_claim (claims i) = true.
Proof.
  induction k as [|k IH]; simpl; intros H i Hi; [lia|].
  destruct (check_claim (claims k)) eqn:E; [|discriminate].
  destruct (Nat.eq_dec i k) as [->|]; [assumption|]. apply IH; [assumption|lia].
Qed.

(** Checks those of the claims 0 to [k - 1] whose number is [part] modulo [parts]. *)
Fixpoint check_claims_part (parts part k : nat) : bool :=
  match k with
  | 0 => true
  | S k =>
      if (if k mod parts =? part then check_claim (claims k) else true) then check_claims_part parts part k else false
  end.

(** If the claims of each part are checked, all are. *)
Theorem parts_check_claims parts k : 0 < parts ->
  (forall part, part < parts -> check_claims_part parts part k = true) -> check_claims k = true.
Proof.
  intros H0. induction k as [|k IH]; intros Hc; [reflexivity|]. cbn [check_claims check_claims_part] in *.
  pose proof (Hc (k mod parts) ltac:(apply Nat.mod_upper_bound; lia)) as Hk. rewrite Nat.eqb_refl in Hk.
  destruct (check_claim (claims k)); [|discriminate]. apply IH. intros part Hp. specialize (Hc part Hp).
  destruct (k mod parts =? part); exact Hc.
Qed.

Hypothesis table_right : forall p, length (own p) = m -> length (other p) = m -> seeds p <= n ->
  look_up t p = score R p.

Definition bounded (p : position) : Prop := fst (bounds p) <= score R p <= snd (bounds p).

(** A checked claim is true if the bounds of the positions after its moves are. *)
Lemma check_claim_step c : check_claim c = true ->
  (forall i, In i (legal (about c)) -> bounded (successor (play R (about c) i))) -> holds R c.
Proof.
  unfold check_claim. set (p := about c).
  rewrite !andb_true_iff, !orb_true_iff, !Nat.eqb_eq, !Nat.leb_le, negb_true_iff.
  intros [[[[Hm Hm'] Ho] Hl] Hu] IH.
  assert (Hw : well_formed p) by (unfold well_formed; lia).
  unfold holds. fold p. rewrite moves_legal in Hl, Hu by assumption.
  assert (Hb : forall i, In i (legal p) ->
    worth_least (play R p i) <= worth (score R) (play R p i) <= worth_most (play R p i)).
  { intros i Hi. specialize (IH i Hi). unfold worth_least, worth_most, worth, bounded, successor in *.
    destruct (again (play R p i)); lia. }
  split.
  - destruct Hl as [Hl|Hl]; [lia|]. rewrite existsb_exists in Hl. destruct Hl as [o [Hin Hle]].
    apply in_map_iff in Hin. destruct Hin as [i [<- Hi]]. apply Nat.leb_le in Hle.
    rewrite score_equation by assumption. unfold step. rewrite Ho.
    specialize (Hb i Hi). pose proof (maximum_in (map (fun pit => worth (score R) (play R p pit)) (legal p))
      (worth (score R) (play R p i))) as Hmax.
    assert (In (worth (score R) (play R p i)) (map (fun pit => worth (score R) (play R p pit)) (legal p)))
      by (apply (in_map (fun pit => worth (score R) (play R p pit))); assumption).
    specialize (Hmax H). lia.
  - destruct Hu as [Hu|Hu]; [pose proof (score_bound R p Hw); lia|].
    rewrite forallb_forall in Hu. rewrite score_equation by assumption. unfold step. rewrite Ho.
    apply maximum_le. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- Hi]].
    specialize (Hu (play R p i) (in_map _ _ _ Hi)). apply Nat.leb_le in Hu. specialize (Hb i Hi). lia.
Qed.

Hypothesis checked : check_claims count = true.

Lemma all_bounded : forall p, length (own p) = m -> length (other p) = m -> bounded p.
Proof.
  apply (measure_induction (fun p => length (own p) = m -> length (other p) = m -> bounded p)).
  intros p IH Hm Hm'. assert (Hw : well_formed p) by (unfold well_formed; lia).
  unfold bounded, bounds. pose proof (table_right p Hm Hm') as Ht. rewrite look_up_over in Ht.
  destruct (over p) eqn:Ho.
  - rewrite score_equation by assumption. unfold step. rewrite Ho. simpl. lia.
  - destruct (Nat.leb_spec (seeds p) n) as [Hn|Hn]; [rewrite (Ht Hn); simpl; lia|].
    unfold claimed. pose proof (score_bound R p Hw) as Hb.
    destruct (Nat.ltb_spec (find p) count) as [Hk|]; [|simpl; lia].
    destruct (same_row (own (about (claims (find p)))) (own p)) eqn:E1; [|simpl; lia].
    destruct (same_row (other (about (claims (find p)))) (other p)) eqn:E2; [|simpl; lia].
    apply same_row_eq in E1. apply same_row_eq in E2. simpl.
    assert (Ep : about (claims (find p)) = p)
      by (destruct p, (about (claims (find _))); simpl in *; subst; reflexivity).
    pose proof (check_claim_step (claims (find p)) (check_claims_each count checked _ Hk)) as Hc.
    unfold holds in Hc. rewrite Ep in Hc. apply Hc. intros i Hi.
    pose proof (play_well_formed R p i) as [Hw1 Hw2].
    apply IH; [apply successor_measure; assumption|lia|unfold well_formed in Hw1; lia].
Qed.

(** A statement that follows from the checked claims is true. *)
Lemma statement_correct c : check_statement c = true -> holds R c.
Proof.
  unfold check_statement. rewrite !andb_true_iff, orb_true_iff, andb_true_iff, !Nat.eqb_eq, !Nat.leb_le.
  intros [[Hm Hm'] [Hb|Hc]].
  - pose proof (all_bounded (about c) Hm Hm') as Ha. unfold bounded in Ha. unfold holds. lia.
  - apply check_claim_step; [assumption|]. intros i Hi.
    pose proof (play_well_formed R (about c) i) as [Hw1 Hw2]. unfold well_formed in Hw1. apply all_bounded; lia.
Qed.

End Check.

(** If the layers of a table up to [n] seeds and all claims are checked, then a statement that follows from them is
    true. *)
Theorem certificate_correct R m t n claims count find statement :
  (forall k, k <= n -> check_layer R m t k = true) ->
  check_claims R m t n claims count find count = true ->
  check_statement R m t n claims count find statement = true ->
  holds R statement.
Proof.
  intros Ht Hc Hs. eapply statement_correct; eauto. intros. apply (tables_correct R m t n); auto.
Qed.

(** The same for values: whatever function [v] gives each game its value, the bounds hold with the seeds in the
    stores. *)
Theorem certificate_value R m t n claims count find statement :
  (forall k, k <= n -> check_layer R m t k = true) ->
  check_claims R m t n claims count find count = true ->
  check_statement R m t n claims count find statement = true ->
  forall v, is_value R v -> forall g, rows g = about statement ->
  (2 * Z.of_nat (lower statement) - Z.of_nat (seeds (rows g)) + Z.of_nat (own_store g) - Z.of_nat (other_store g)
     <= v g <=
   2 * Z.of_nat (upper statement) - Z.of_nat (seeds (rows g)) + Z.of_nat (own_store g) - Z.of_nat (other_store g))%Z.
Proof.
  intros Ht Hc Hs v Hv g Hg. pose proof (certificate_correct _ _ _ _ _ _ _ _ Ht Hc Hs) as Hh.
  unfold holds in Hh. rewrite <- Hg in Hh.
  assert (Hw : well_formed (rows g)).
  { unfold check_statement in Hs. rewrite !andb_true_iff, !Nat.eqb_eq in Hs. rewrite Hg. unfold well_formed. lia. }
  rewrite (value_unique R v Hv g Hw). unfold value. lia.
Qed.

(** What the theorems ask of tables and claims, if these are checked in parts. *)
Theorem parts_join R m rank look n claims count find size parts :
  let t := numbered rank look in
  0 < parts ->
  (forall part, part < parts -> forall k, k <= n -> check_part R m rank look size parts part k = true) ->
  (forall part, part < parts -> check_claims_part R m t n claims count find parts part count = true) ->
  (forall k, k <= n -> check_layer R m t k = true) /\ check_claims R m t n claims count find count = true.
Proof.
  intros t H0 Ht Hc. split.
  - intros k Hk. apply (parts_check_layer R m rank look size parts); auto.
  - apply (parts_check_claims R m t n claims count find parts); auto.
Qed.

(** The value of a game for the player who was to move first in an opening, who is to move in [g] if [same]. *)
Definition for_first (same : bool) (z : Z) : Z := if same then z else (- z)%Z.

(** Bounds of an opening: [statement] is about the position after its moves [pits] from the game [g]. If the other
    player is to move there, the bounds change places and signs. *)
Theorem opening_value R m t n claims count find statement :
  (forall k, k <= n -> check_layer R m t k = true) ->
  check_claims R m t n claims count find count = true ->
  check_statement R m t n claims count find statement = true ->
  forall v, is_value R v -> forall g pits g' same, after_moves R g true pits = Some (g', same) ->
  rows g' = about statement ->
  let bound score :=
    (2 * Z.of_nat score - Z.of_nat (seeds (rows g')) + Z.of_nat (own_store g') - Z.of_nat (other_store g'))%Z in
  (for_first same (bound (if same then lower statement else upper statement))
     <= for_first same (v g') <=
   for_first same (bound (if same then upper statement else lower statement)))%Z.
Proof.
  intros Ht Hc Hs v Hv g pits g' same _ Hg bound.
  pose proof (certificate_value _ _ _ _ _ _ _ _ Ht Hc Hs v Hv g' Hg) as Hb.
  unfold for_first, bound. destruct same; lia.
Qed.

(** ** Rules of docs/certificates.md *)

(** A lower bound [s] needs of the position after a move: at least [s] less the stored seeds after an again-move, at
    most the seeds in play less [s] after another move. *)
Theorem lower_bound_needs R p i s : well_formed p -> In i (legal p) -> s <= seeds p ->
  let o := play R p i in
  s <= worth (score R) o <->
  (if again o then s - stored o <= score R (after o) else score R (swap (after o)) <= seeds p - s).
Proof.
  intros Hw Hi Hs o. apply legal_spec in Hi. pose proof (successor_seeds R p i Hw (proj1 Hi)) as Hn.
  pose proof (score_bound R _ (proj1 (play_well_formed R p i))) as Hb. fold o in Hn, Hb.
  unfold worth, successor in *. destruct (again o); rewrite ?seeds_swap in *; lia.
Qed.

(** An upper bound [s] needs at most [s] less the stored seeds, and fails if more are stored, after an again-move; at
    least the seeds in play less [s] after another move. *)
Theorem upper_bound_needs R p i s : well_formed p -> In i (legal p) -> s <= seeds p ->
  let o := play R p i in
  worth (score R) o <= s <->
  (if again o then stored o <= s /\ score R (after o) <= s - stored o else seeds p - s <= score R (swap (after o))).
Proof.
  intros Hw Hi Hs o. apply legal_spec in Hi. pose proof (successor_seeds R p i Hw (proj1 Hi)) as Hn.
  pose proof (score_bound R _ (proj1 (play_well_formed R p i))) as Hb. fold o in Hn, Hb.
  unfold worth, successor in *. destruct (again o); rewrite ?seeds_swap in *; lia.
Qed.

(** The value of a game if the mover collects nothing more. *)
Definition least (g : game) : Z := (Z.of_nat (own_store g) - Z.of_nat (other_store g) - Z.of_nat (seeds (rows g)))%Z.

(** Bounds of the value are bounds of the score, rounded up or down. *)
Theorem value_at_least R g v : (v <= value R g <-> (v - least g + 1) / 2 <= Z.of_nat (score R (rows g)))%Z.
Proof. unfold value, least. Z.to_euclidean_division_equations. lia. Qed.

Theorem value_at_most R g v : (value R g <= v <-> Z.of_nat (score R (rows g)) <= (v - least g) / 2)%Z.
Proof. unfold value, least. Z.to_euclidean_division_equations. lia. Qed.
