(** * Scores and values

    [score] satisfies its equation, and no other function does. The value of a game follows from the score of its
    rows. *)

From Coq Require Import Arith List Bool Lia ZArith.
From Kalah Require Import Definitions Moves.
Import ListNotations.

(** The position that is scored after a move. *)
Definition successor (o : outcome) : position := if again o then after o else swap (after o).

Lemma play_well_formed R p i : well_formed (successor (play R p i))
  /\ length (own (successor (play R p i))) = length (own p).
Proof.
  pose proof (play_length R p i) as [H1 H2]. unfold well_formed, successor.
  destruct (again _); simpl; lia.
Qed.

Lemma seeds_swap p : seeds (swap p) = seeds p.
Proof. unfold seeds. simpl. lia. Qed.

Lemma successor_seeds R p i : well_formed p -> i < length (own p) ->
  stored (play R p i) + seeds (successor (play R p i)) = seeds p.
Proof.
  intros Hw Hi. rewrite <- (play_seeds R p i Hw Hi). unfold successor.
  destruct (again _); rewrite ?seeds_swap; reflexivity.
Qed.

Lemma successor_measure R p i : well_formed p -> In i (legal p) ->
  measure (successor (play R p i)) < measure p.
Proof.
  intros Hw Hi. pose proof (play_measure R p i Hw Hi). pose proof (play_length R p i) as [H1 H2].
  unfold successor. destruct (again _); [assumption|]. rewrite measure_swap by (unfold well_formed; lia). assumption.
Qed.

Lemma worth_ext f g o : f (successor o) = g (successor o) -> worth f o = worth g o.
Proof. unfold worth, successor. destruct (again o); intros ->; reflexivity. Qed.

Lemma step_ext R f g p : (forall i, In i (legal p) -> f (successor (play R p i)) = g (successor (play R p i))) ->
  step R f p = step R g p.
Proof.
  intros H. unfold step. destruct (over p); [reflexivity|]. f_equal. apply map_ext_in.
  intros i Hi. apply worth_ext. auto.
Qed.

Lemma score_within_enough R : forall n k p, well_formed p -> measure p < n -> measure p < k ->
  score_within R n p = score_within R k p.
Proof.
  induction n as [|n IH]; intros k p Hw Hn Hk; [lia|]. destruct k as [|k]; [lia|].
  simpl. apply step_ext. intros i Hi. pose proof (successor_measure R p i Hw Hi).
  apply IH; [apply play_well_formed|lia|lia].
Qed.

(** At the end of the game the score is the seeds of the mover's row, otherwise that of the best move. *)
Theorem score_equation R p : well_formed p -> score R p = step R (score R) p.
Proof.
  intros Hw. unfold score at 1. cbn [score_within]. apply step_ext. intros i Hi.
  pose proof (successor_measure R p i Hw Hi). unfold score.
  apply score_within_enough; [apply play_well_formed|lia|lia].
Qed.

Lemma measure_induction (P : position -> Prop) :
  (forall p, (forall q, measure q < measure p -> P q) -> P p) -> forall p, P p.
Proof.
  intros H. apply (well_founded_induction (Wf_nat.well_founded_ltof _ measure)). exact H.
Qed.

(** No other function satisfies the equation. *)
Theorem score_unique R f : (forall p, well_formed p -> f p = step R f p) ->
  forall p, well_formed p -> f p = score R p.
Proof.
  intros Hf. apply (measure_induction (fun p => well_formed p -> f p = score R p)).
  intros p IH Hw. rewrite Hf, score_equation by assumption. apply step_ext. intros i Hi.
  apply IH; [apply successor_measure; assumption|apply play_well_formed].
Qed.

Lemma maximum_le l n : (forall x, In x l -> x <= n) -> maximum l <= n.
Proof. induction l; simpl; intros; [lia|]. apply Nat.max_lub; auto. Qed.

Lemma maximum_in l x : In x l -> x <= maximum l.
Proof. induction l; simpl; intros []; subst; [lia|]. specialize (IHl H). lia. Qed.

Lemma worth_bound R f p i : well_formed p -> In i (legal p) ->
  f (successor (play R p i)) <= seeds (successor (play R p i)) -> worth f (play R p i) <= seeds p.
Proof.
  intros Hw Hi. apply legal_spec in Hi. destruct Hi as [Hi _]. pose proof (successor_seeds R p i Hw Hi) as Hs.
  unfold worth, successor in *. destruct (again _); rewrite ?seeds_swap in *; lia.
Qed.

(** Nobody collects more seeds than are in play. *)
Theorem score_bound R p : well_formed p -> score R p <= seeds p.
Proof.
  revert p. apply (measure_induction (fun p => well_formed p -> score R p <= seeds p)). intros p IH Hw.
  rewrite score_equation by assumption. unfold step. destruct (over p); [unfold seeds; lia|].
  apply maximum_le. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- Hi]].
  apply worth_bound; auto. apply IH; [apply successor_measure; assumption|apply play_well_formed].
Qed.

(** ** Values *)

Lemma legal_exists p : over p = false -> exists i, In i (legal p).
Proof.
  unfold over. rewrite orb_false_iff, Nat.eqb_neq. intros [H _].
  enough (exists i, i < length (own p) /\ 0 < nth i (own p) 0) as [i Hi].
  { exists i. apply legal_spec. exact Hi. }
  induction (own p) as [|s r IH]; [contradiction|]. destruct s as [|s].
  - destruct (IH H) as [i Hi]. exists (S i). simpl. lia.
  - exists 0. simpl. lia.
Qed.

(** The value of a game, by the score of its rows. *)
Definition value (R : rules) (g : game) : Z :=
  (2 * Z.of_nat (score R (rows g)) - Z.of_nat (seeds (rows g))
   + Z.of_nat (own_store g) - Z.of_nat (other_store g))%Z.

Lemma largest_map (f : nat -> Z) (w : nat -> nat) c : forall l first a,
  f first = (2 * Z.of_nat (w first) + c)%Z -> (forall i, In i l -> f i = 2 * Z.of_nat (w i) + c)%Z ->
  a = w first ->
  largest (f first) (map f l) = (2 * Z.of_nat (Nat.max a (maximum (map w l))) + c)%Z.
Proof.
  induction l as [|i l IH]; intros first a H1 H2 ->; cbn [map largest maximum].
  - rewrite Nat.max_0_r. assumption.
  - rewrite (IH i (w i)); [|apply H2; simpl; auto|intros; apply H2; simpl; auto|reflexivity].
    rewrite H1. lia.
Qed.

Lemma value_is_value R : is_value R (value R).
Proof.
  intros g Hw. set (p := rows g) in *. unfold value at 1. fold p. rewrite score_equation by assumption.
  unfold step. destruct (over p) eqn:Hover; [unfold seeds; lia|].
  pose proof (legal_exists p Hover) as [i0 Hi0].
  set (c := (- Z.of_nat (seeds p) + Z.of_nat (own_store g) - Z.of_nat (other_store g))%Z).
  set (w := fun i => worth (score R) (play R p i)).
  set (f := fun i => let o := play R p i in
      if again o then value R (continue g o) else (- value R (continue g o))%Z).
  assert (Hf : forall i, In i (legal p) -> (f i = 2 * Z.of_nat (w i) + c)%Z).
  { intros i Hi. pose proof Hi as Hi'. apply legal_spec in Hi'. destruct Hi' as [Hi' _].
    pose proof (successor_seeds R p i Hw Hi') as Hs.
    pose proof (score_bound R (successor (play R p i)) (proj1 (play_well_formed R p i))) as Hb.
    unfold f, w, worth, value, continue, successor, c in *.
    destruct (again (play R p i)); cbn [rows own_store other_store]; rewrite ?seeds_swap in *; lia. }
  destruct (legal p) as [|i l] eqn:El; [destruct Hi0|]. unfold largest_of. cbn [map].
  rewrite (largest_map f w c l i (w i)); [|apply Hf; simpl; auto|intros; apply Hf; simpl; auto|reflexivity].
  simpl maximum. unfold c. lia.
Qed.

(** The value of each game is its value by the score of its rows: 2 x score - seeds in play + the mover's store - the
    other store. *)
Theorem value_unique R v : is_value R v -> forall g, well_formed (rows g) -> v g = value R g.
Proof.
  intros Hv.
  enough (H : forall p, well_formed p -> forall g, rows g = p -> v g = value R g).
  { intros g Hw. eapply H; eauto. }
  apply (measure_induction (fun p => well_formed p -> forall g, rows g = p -> v g = value R g)).
  intros p IH Hw g <-. rewrite Hv, (value_is_value R) by assumption.
  destruct (over (rows g)); [reflexivity|]. f_equal. apply map_ext_in. intros i Hi.
  cbv zeta. enough (v (continue g (play R (rows g) i)) = value R (continue g (play R (rows g) i))) as -> by reflexivity.
  assert (Hr : rows (continue g (play R (rows g) i)) = successor (play R (rows g) i)).
  { unfold continue, successor. destruct (again _); reflexivity. }
  eapply IH; [apply successor_measure; eassumption| |exact Hr]. apply play_well_formed.
Qed.
