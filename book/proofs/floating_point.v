(* The facts of the page "Floating point", each proved for every format, every d and every row it names. *)
From Coq Require Import Reals List Permutation ZArith Lra Lia Psatz.
From Flocq Require Import Core FTZ Relative Sterbenz BinarySingleNaN.
From lnbook Require Import Floats.
Import ListNotations.
Open Scope R_scope.

Global Instance valid_ties (ties : Z -> bool) : Valid_rnd (Znearest ties) := valid_rnd_N ties.

(* ---- Sums ---- *)

Lemma sum_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> sum d x = sum d y.
Proof. induction d as [|d IH]; simpl; intros H; auto. rewrite IH, (H d); auto. Qed.

Lemma sum_add d x y : sum d (fun i => x i + y i) = sum d x + sum d y.
Proof. induction d as [|d IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_scal d c x : sum d (fun i => c * x i) = c * sum d x.
Proof. induction d as [|d IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_const d c : sum d (fun _ => c) = INR d * c.
Proof. induction d as [|d IH]; [simpl; ring|]. rewrite S_INR; simpl sum; rewrite IH; ring. Qed.

Lemma sum_le d x y : (forall i, (i < d)%nat -> x i <= y i) -> sum d x <= sum d y.
Proof.
induction d as [|d IH]; simpl; intros H; [lra|].
assert (x d <= y d) by auto. assert (sum d x <= sum d y) by auto. lra.
Qed.

Lemma sum_ge0 d x : (forall i, (i < d)%nat -> 0 <= x i) -> 0 <= sum d x.
Proof.
intros H. apply Rle_trans with (sum d (fun _ => 0)).
- rewrite sum_const; lra.
- now apply sum_le.
Qed.

Lemma sum_abs d x : Rabs (sum d x) <= sum d (fun i => Rabs (x i)).
Proof.
induction d as [|d IH]; simpl; [rewrite Rabs_R0; lra|].
eapply Rle_trans; [apply Rabs_triang|lra].
Qed.

Lemma sum_entry d x i : (forall j, (j < d)%nat -> 0 <= x j) -> (i < d)%nat -> x i <= sum d x.
Proof.
induction d as [|d IH]; simpl; intros H Hi; [lia|].
assert (0 <= sum d x) by (apply sum_ge0; auto).
assert (0 <= x d) by auto.
destruct (Nat.eq_dec i d) as [->|n]; [lra|].
assert (x i <= sum d x) by (apply IH; auto; lia). lra.
Qed.

Lemma largest_ge0 n x : 0 <= largest n x.
Proof. induction n; simpl; [lra|eapply Rle_trans; [exact IHn|apply Rmax_l]]. Qed.

Lemma largest_entry n x i : (i < n)%nat -> Rabs (x i) <= largest n x.
Proof.
induction n as [|n IH]; simpl; intros H; [lia|].
destruct (Nat.eq_dec i n) as [->|m]; [apply Rmax_r|].
eapply Rle_trans; [apply IH; lia|apply Rmax_l].
Qed.

Lemma largest_le n x c : 0 <= c -> (forall i, (i < n)%nat -> Rabs (x i) <= c) -> largest n x <= c.
Proof. induction n; simpl; intros c0 H; [lra|apply Rmax_lub; auto]. Qed.

(* ---- Means ---- *)

Lemma entries_pos d : (1 <= d)%nat -> 0 < INR d.
Proof. intros H; apply lt_0_INR; lia. Qed.

Section Means.
Variable d : nat.
Hypothesis d1 : (1 <= d)%nat.
Let dpos : 0 < INR d := entries_pos d d1.

Lemma mean_ext x y : (forall i, (i < d)%nat -> x i = y i) -> mean d x = mean d y.
Proof. intros H; unfold mean; now rewrite (sum_ext d x y H). Qed.

Lemma mean_plus x y : mean d (fun i => x i + y i) = mean d x + mean d y.
Proof. unfold mean; rewrite sum_add; field; lra. Qed.

Lemma mean_scal c x : mean d (fun i => c * x i) = c * mean d x.
Proof. unfold mean; rewrite sum_scal; field; lra. Qed.

Lemma mean_const c : mean d (fun _ => c) = c.
Proof. unfold mean; rewrite sum_const; field; lra. Qed.

Lemma mean_le x y : (forall i, (i < d)%nat -> x i <= y i) -> mean d x <= mean d y.
Proof.
intros H; unfold mean; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|now apply sum_le].
Qed.

Lemma mean_ge0 x : (forall i, (i < d)%nat -> 0 <= x i) -> 0 <= mean d x.
Proof.
intros H; rewrite <- (mean_const 0); now apply mean_le.
Qed.

Lemma mean_abs x : Rabs (mean d x) <= mean d (fun i => Rabs (x i)).
Proof.
unfold mean, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ INR d)).
- apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|apply sum_abs].
- left; now apply Rinv_0_lt_compat.
Qed.

Lemma mean_centred z : mean d (centred d z) = 0.
Proof.
unfold centred. rewrite (mean_ext _ (fun i => z i + - mean d z)) by (intros; ring).
rewrite mean_plus, mean_const; ring.
Qed.

(* mean((v + δ)²) = q + δ² *)
Lemma mean_shifted_squares z δ : mean d (fun i => (centred d z i + δ) ^ 2) = variance d z + δ ^ 2.
Proof.
rewrite (mean_ext _ (fun i => (centred d z i ^ 2 + 2 * δ * centred d z i) + δ ^ 2)) by (intros; ring).
rewrite !mean_plus, mean_scal, mean_const, mean_centred; unfold variance; ring.
Qed.

Lemma mean_squares z : mean d (fun i => z i ^ 2) = variance d z + mean d z ^ 2.
Proof.
rewrite <- mean_shifted_squares. apply mean_ext; intros; unfold centred; ring.
Qed.

Lemma variance_ge0 z : 0 <= variance d z.
Proof. apply mean_ge0; intros; apply pow2_ge_0. Qed.

(* the mean of |x| is at most the root of the mean of x² *)
Lemma mean_abs_root x : mean d (fun i => Rabs (x i)) <= sqrt (mean d (fun i => x i ^ 2)).
Proof.
set (a := fun i => Rabs (x i)).
rewrite (mean_ext (fun i => x i ^ 2) (fun i => a i ^ 2)).
- rewrite mean_squares. apply Rsqr_incr_0_var; [|apply sqrt_pos].
  rewrite Rsqr_sqrt.
  + pose proof (variance_ge0 a); unfold Rsqr; lra.
  + pose proof (variance_ge0 a); nra.
- intros; unfold a; now rewrite pow2_abs.
Qed.

Lemma κ_root z : 0 < variance d z -> κ d z * sqrt (variance d z) = sqrt (variance d z + mean d z ^ 2).
Proof.
intros q0; unfold κ. rewrite <- sqrt_mult_alt.
- f_equal; field; lra.
- assert (0 <= mean d z ^ 2 / variance d z).
  { apply Rmult_le_pos; [apply pow2_ge_0|left; now apply Rinv_0_lt_compat]. }
  lra.
Qed.

Lemma κ_square z : 0 < variance d z -> κ d z ^ 2 * variance d z = variance d z + mean d z ^ 2.
Proof.
intros q0; unfold κ. rewrite pow2_sqrt.
- field; lra.
- assert (0 <= mean d z ^ 2 / variance d z).
  { apply Rmult_le_pos; [apply pow2_ge_0|left; now apply Rinv_0_lt_compat]. }
  lra.
Qed.

Lemma root_largest z : sqrt (variance d z) <= largest d (centred d z).
Proof.
set (M := largest d (centred d z)).
assert (M0 : 0 <= M) by apply largest_ge0.
rewrite <- (sqrt_pow2 M) by auto. apply sqrt_le_1_alt.
rewrite <- (mean_const (M ^ 2)). apply mean_le; intros i Hi.
rewrite <- (pow2_abs (centred d z i)). apply pow_incr; split; [apply Rabs_pos|now apply largest_entry].
Qed.
End Means.

(* ---- θ and products of roundings ---- *)

Section Theta.
Variable η : R.
Hypothesis η0 : 0 <= η.

Lemma θ_ge0 n : INR n * η < 1 -> 0 <= θ η n.
Proof.
intros H. unfold θ. apply Rmult_le_pos; [apply Rmult_le_pos; auto; apply pos_INR|].
left; apply Rinv_0_lt_compat; lra.
Qed.

Lemma one_plus_θ n : INR n * η < 1 -> 1 + θ η n = / (1 - INR n * η).
Proof. intros H; unfold θ; field; lra. Qed.

Lemma small_sum j k : INR (j + k) * η < 1 -> INR j * η < 1 /\ INR k * η < 1.
Proof.
rewrite plus_INR. pose proof (pos_INR j). pose proof (pos_INR k). intros; split; nra.
Qed.

Lemma θ_product j k : INR (j + k) * η < 1 -> (1 + θ η j) * (1 + θ η k) <= 1 + θ η (j + k).
Proof.
intros H. destruct (small_sum j k H) as [Hj Hk].
rewrite !one_plus_θ by auto. rewrite <- Rinv_mult.
apply Rinv_le; [lra|]. rewrite plus_INR.
pose proof (pos_INR j); pose proof (pos_INR k).
assert (0 <= (INR j * η) * (INR k * η)) by (apply Rmult_le_pos; apply Rmult_le_pos; auto).
lra.
Qed.

Lemma θ_sum j k : INR (j + k) * η < 1 -> θ η j + θ η k <= θ η (j + k).
Proof.
intros H. destruct (small_sum j k H) as [Hj Hk]. pose proof (θ_product j k H).
pose proof (θ_ge0 j Hj). pose proof (θ_ge0 k Hk).
assert (0 <= θ η j * θ η k) by (apply Rmult_le_pos; auto). lra.
Qed.

Lemma θ_mono j k : (j <= k)%nat -> INR k * η < 1 -> θ η j <= θ η k.
Proof.
intros jk H. replace k with (j + (k - j))%nat in * by lia.
pose proof (θ_sum _ _ H). destruct (small_sum _ _ H) as [_ Hk].
pose proof (θ_ge0 _ Hk). lra.
Qed.

Lemma η_θ n : INR n * η < 1 -> INR n * η <= θ η n.
Proof.
intros H. unfold θ. pose proof (pos_INR n).
assert (0 <= INR n * η) by (apply Rmult_le_pos; auto).
apply Rmult_le_reg_r with (1 - INR n * η); [lra|].
replace (INR n * η / (1 - INR n * η) * (1 - INR n * η)) with (INR n * η) by (field; lra). nra.
Qed.

Lemma η_θ1 : INR 1 * η < 1 -> η <= θ η 1.
Proof. intros H. pose proof (η_θ 1 H). simpl in *; lra. Qed.

(* errors multiply *)
Lemma errors_compose α β a b :
  Rabs α <= a -> Rabs β <= b -> Rabs ((1 + α) * (1 + β) - 1) <= (1 + a) * (1 + b) - 1.
Proof.
intros Ha Hb. replace ((1 + α) * (1 + β) - 1) with (α + β + α * β) by ring.
eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
rewrite Rabs_mult. pose proof (Rabs_pos α). pose proof (Rabs_pos β). nra.
Qed.

Lemma θ_compose j k α β :
  INR (j + k) * η < 1 -> Rabs α <= θ η j -> Rabs β <= θ η k -> Rabs ((1 + α) * (1 + β) - 1) <= θ η (j + k).
Proof.
intros H Ha Hb. eapply Rle_trans; [apply errors_compose; eauto|]. pose proof (θ_product j k H). lra.
Qed.

Lemma θ_compose1 k α β :
  INR (k + 1) * η < 1 -> Rabs α <= θ η k -> Rabs β <= η -> Rabs ((1 + α) * (1 + β) - 1) <= θ η (k + 1).
Proof.
intros H Ha Hb. apply θ_compose; auto. eapply Rle_trans; [exact Hb|].
apply η_θ1. now destruct (small_sum _ _ H).
Qed.

Lemma product_bound n δ :
  INR n * η < 1 -> (forall i, (i < n)%nat -> Rabs (δ i) <= η) -> Rabs (product n δ - 1) <= θ η n.
Proof.
induction n as [|n IH]; intros H Hδ; simpl product.
- rewrite Rminus_eq_0, Rabs_R0. unfold θ; simpl; lra.
- replace (product n δ) with (1 + (product n δ - 1)) by ring.
  rewrite <- Nat.add_1_r in H |- *. apply θ_compose1; auto.
  apply IH; auto. now destruct (small_sum _ _ H).
Qed.
End Theta.

(* ---- Orders of addition ---- *)

Definition list_sum (l : list nat) (x : row) : R := fold_right (fun i s => x i + s) 0 l.

Lemma list_sum_app l m x : list_sum (l ++ m) x = list_sum l x + list_sum m x.
Proof. induction l as [|i l IH]; simpl; [ring|]. unfold list_sum in *; simpl; rewrite IH; ring. Qed.

Lemma list_sum_permutation l m x : Permutation l m -> list_sum l x = list_sum m x.
Proof. induction 1; unfold list_sum in *; simpl in *; lra. Qed.

Lemma list_sum_ext l x y : (forall i, In i l -> x i = y i) -> list_sum l x = list_sum l y.
Proof.
induction l as [|i l IH]; intros H; simpl; auto. unfold list_sum in *; simpl.
rewrite IH, (H i); auto; [now left|intros; apply H; now right].
Qed.

Lemma list_sum_scal l c x : list_sum l (fun i => c * x i) = c * list_sum l x.
Proof. induction l as [|i l IH]; unfold list_sum in *; simpl; [ring|rewrite IH; ring]. Qed.

Lemma list_sum_seq d x : list_sum (seq 0 d) x = sum d x.
Proof.
induction d as [|d IH]; [reflexivity|]. rewrite seq_S, list_sum_app, IH. unfold list_sum; simpl; ring.
Qed.

Lemma adds_up_sum d o x : adds_up d o -> list_sum (entries o) x = sum d x.
Proof. intros H. rewrite (list_sum_permutation _ _ _ H). apply list_sum_seq. Qed.

Lemma adds_up_once d o : adds_up d o -> NoDup (entries o).
Proof. intros H. apply (Permutation_NoDup (Permutation_sym H)), seq_NoDup. Qed.

Lemma once_in_two (l m : list nat) : NoDup (l ++ m) -> NoDup l /\ NoDup m /\ forall i, In i l -> ~ In i m.
Proof.
induction l as [|a l IH]; simpl; intros H; [repeat split; auto; constructor|].
inversion H as [|b k Ha Hlm]; subst. destruct (IH Hlm) as (Hl & Hm & Hd). repeat split; auto.
- constructor; auto. intros Hi; apply Ha, in_or_app; now left.
- intros i [->|Hi]; auto. intros Hj; apply Ha, in_or_app; now right.
Qed.

Lemma entries_not_empty o : (1 <= length (entries o))%nat.
Proof. induction o; simpl; [lia|]. rewrite app_length; lia. Qed.

Lemma adds_up_d1 d o : adds_up d o -> (1 <= d)%nat.
Proof.
intros H. pose proof (entries_not_empty o). rewrite (Permutation_length H), seq_length in *. lia.
Qed.

Lemma in_turn_adds_up d : (1 <= d)%nat -> adds_up d (in_turn d).
Proof.
unfold adds_up. induction d as [|[|d] IH]; intros H; [lia|simpl; auto|].
change (in_turn (S (S d))) with (plus (in_turn (S d)) (entry (S d))).
simpl entries. rewrite seq_S. apply Permutation_app; [apply IH; lia|simpl; auto].
Qed.

Lemma in_turn_additions d : additions (in_turn d) = (d - 1)%nat.
Proof.
induction d as [|[|d] IH]; auto.
change (in_turn (S (S d))) with (plus (in_turn (S d)) (entry (S d))).
change (S (max (additions (in_turn (S d))) 0) = (S (S d) - 1)%nat). rewrite IH. lia.
Qed.

Lemma pair_up_entries sums : flat_map entries (pair_up sums) = flat_map entries sums.
Proof.
revert sums. fix IH 1. intros [|s [|t rest]]; [reflexivity|reflexivity|]. simpl. rewrite IH, app_assoc. reflexivity.
Qed.

Lemma pair_up_length sums : length (pair_up sums) = Nat.div2 (S (length sums)).
Proof. revert sums. fix IH 1. intros [|s [|t rest]]; [reflexivity|reflexivity|]. simpl. rewrite IH. reflexivity. Qed.

Lemma pair_up_additions T sums :
  (forall s, In s sums -> (additions s <= T)%nat) -> forall s, In s (pair_up sums) -> (additions s <= S T)%nat.
Proof.
revert sums. fix IH 1. intros [|s [|t rest]] H u Hu; [destruct Hu| |].
- pose proof (H u Hu). lia.
- simpl in Hu. destruct Hu as [<-|Hu].
  + assert (additions s <= T)%nat by (apply H; now left).
    assert (additions t <= T)%nat by (apply H; right; now left). simpl; lia.
  + apply (IH rest); auto. intros v Hv; apply H. right; now right.
Qed.

Lemma times_pair_up n : forall T sums,
  (1 <= length sums <= 2 ^ n)%nat -> (forall s, In s sums -> (additions s <= T)%nat) ->
  exists s, times n pair_up sums = [s] /\ entries s = flat_map entries sums /\ (additions s <= T + n)%nat.
Proof.
induction n as [|n IH]; intros T sums Hl HT; simpl times.
- destruct sums as [|s [|t rest]]; simpl in Hl; try lia.
  exists s; split; auto; split; [simpl; now rewrite app_nil_r|]. rewrite Nat.add_0_r; apply HT; now left.
- destruct (IH (S T) (pair_up sums)) as (s & Hs & He & Ha).
  + rewrite pair_up_length. change (2 ^ S n)%nat with (2 ^ n + (2 ^ n + 0))%nat in Hl.
    pose proof (Nat.div2_odd (S (length sums))) as E. destruct (Nat.odd (S (length sums))); simpl Nat.b2n in E; lia.
  + now apply pair_up_additions.
  + exists s; split; auto; split; [now rewrite He, pair_up_entries|lia].
Qed.

Lemma flat_map_entry l : flat_map entries (map entry l) = l.
Proof. induction l; simpl; congruence. Qed.

Lemma in_pairs_adds_up d : (1 <= d)%nat -> adds_up d (in_pairs d) /\ (additions (in_pairs d) <= Nat.log2_up d)%nat.
Proof.
intros d1. destruct (times_pair_up (Nat.log2_up d) 0 (map entry (seq 0 d))) as (s & Hs & He & Ha).
- rewrite map_length, seq_length. split; auto.
  destruct (Nat.eq_dec d 1) as [->|n]; [simpl; lia|]. apply Nat.log2_up_spec; lia.
- intros s Hs. apply in_map_iff in Hs. destruct Hs as (i & <- & _). auto.
- unfold in_pairs, adds_up. rewrite Hs. simpl hd. rewrite He, flat_map_entry. split; auto.
Qed.

(* ---- Errors of computed sums and means, for any rounding that is off by a factor 1 + δ with |δ| ≤ η ---- *)

Section Model.
Variables (η : R) (fl : R -> R).
Hypothesis η0 : 0 <= η.
Hypothesis model : forall x, exists δ, Rabs δ <= η /\ fl x = x * (1 + δ).

Lemma fl_sum_errors o z :
  NoDup (entries o) -> INR (additions o) * η < 1 ->
  exists δ, (forall i, Rabs (δ i) <= θ η (additions o)) /\
            fl_sum fl o z = list_sum (entries o) (fun i => z i * (1 + δ i)).
Proof.
induction o as [i|s IHs t IHt]; intros Hd HT.
- exists (fun _ => 0). split; [intros; rewrite Rabs_R0; unfold θ; simpl; lra|unfold list_sum; simpl; ring].
- simpl entries in Hd. simpl additions in *. set (T := max (additions s) (additions t)) in *.
  assert (HT' : INR T * η < 1). { rewrite <- Nat.add_1_r in HT. now destruct (small_sum η η0 _ _ HT). }
  assert (Hs : (additions s <= T)%nat) by (unfold T; lia).
  assert (Ht : (additions t <= T)%nat) by (unfold T; lia).
  assert (small : forall n, (n <= T)%nat -> INR n * η < 1).
  { intros n Hn. apply le_INR in Hn. nra. }
  destruct IHs as (δs & Bs & Es); [apply (once_in_two _ _ Hd)|auto|].
  destruct IHt as (δt & Bt & Et); [apply (once_in_two _ _ Hd)|auto|].
  simpl fl_sum. rewrite Es, Et. destruct (model (list_sum (entries s) (fun i => z i * (1 + δs i)) +
    list_sum (entries t) (fun i => z i * (1 + δt i)))) as (ε & Bε & ->).
  set (δ := fun i => if in_dec Nat.eq_dec i (entries s) then δs i else δt i).
  exists (fun i => (1 + δ i) * (1 + ε) - 1). split.
  + intros i. rewrite <- Nat.add_1_r in HT |- *. apply θ_compose1; auto. unfold δ.
    destruct (in_dec Nat.eq_dec i (entries s)).
    * eapply Rle_trans; [apply Bs|apply θ_mono; auto].
    * eapply Rle_trans; [apply Bt|apply θ_mono; auto].
  + simpl entries. rewrite list_sum_app, Rmult_plus_distr_r. f_equal.
    * rewrite Rmult_comm, <- list_sum_scal. apply list_sum_ext; intros i Hi. unfold δ.
      destruct (in_dec Nat.eq_dec i (entries s)); [ring|easy].
    * rewrite Rmult_comm, <- list_sum_scal. apply list_sum_ext; intros i Hi. unfold δ.
      destruct (in_dec Nat.eq_dec i (entries s)) as [j|]; [|ring].
      exfalso. destruct (once_in_two _ _ Hd) as (_ & _ & H). now apply (H i).
Qed.

Section Mean.
Variables (d : nat) (o : order) (T : nat).
Hypothesis Ho : adds_up d o.
Hypothesis HT : (additions o <= T)%nat.
Hypothesis exact_d : fl (INR d) = INR d.
Let d1 : (1 <= d)%nat := adds_up_d1 d o Ho.

Lemma fl_mean_errors z :
  INR (T + 1) * η < 1 ->
  exists δ, (forall i, Rabs (δ i) <= θ η (T + 1)) /\ fl_mean fl d o z = mean d (fun i => z i * (1 + δ i)).
Proof.
intros H. destruct (small_sum η η0 _ _ H) as [H' _].
assert (HA : INR (additions o) * η < 1). { pose proof (le_INR _ _ HT). nra. }
destruct (fl_sum_errors o z (adds_up_once d o Ho) HA) as (δ & Bδ & E).
unfold fl_mean. rewrite exact_d, E, (adds_up_sum d o _ Ho).
destruct (model (sum d (fun i => z i * (1 + δ i)) / INR d)) as (ε & Bε & ->).
exists (fun i => (1 + δ i) * (1 + ε) - 1). split.
- intros i. apply θ_compose1; auto. eapply Rle_trans; [apply Bδ|]. apply θ_mono; auto.
- fold (mean d (fun i => z i * (1 + δ i))). rewrite Rmult_comm, <- mean_scal by auto.
  apply mean_ext; auto; intros; ring.
Qed.

(* |mean(x(1 + δ)) − mean(x)| ≤ θ mean|x| *)
Lemma mean_error_abs x δ c :
  (forall i, Rabs (δ i) <= c) ->
  Rabs (mean d (fun i => x i * (1 + δ i)) - mean d x) <= c * mean d (fun i => Rabs (x i)).
Proof.
intros H. replace (mean d (fun i => x i * (1 + δ i)) - mean d x) with (mean d (fun i => x i * δ i)).
- eapply Rle_trans; [now apply mean_abs|]. rewrite <- mean_scal by auto. apply mean_le; auto; intros i _.
  rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|auto].
- rewrite (mean_ext d (fun i => x i * (1 + δ i)) (fun i => x i + x i * δ i)) by (auto; intros; ring).
  rewrite mean_plus by auto; ring.
Qed.

Lemma fl_mean_error z :
  INR (T + 1) * η < 1 ->
  Rabs (fl_mean fl d o z - mean d z) <= θ η (T + 1) * mean d (fun i => Rabs (z i)) /\
  mean d (fun i => Rabs (z i)) <= sqrt (variance d z + mean d z ^ 2).
Proof.
intros H. destruct (fl_mean_errors z H) as (δ & Bδ & ->). split; [now apply mean_error_abs|].
rewrite <- mean_squares by auto. now apply mean_abs_root.
Qed.

(* a mean of numbers ≥ 0 with errors is the mean times 1 + θ *)
Lemma mean_nonnegative_errors x δ c :
  0 <= c -> (forall i, 0 <= x i) -> (forall i, Rabs (δ i) <= c) ->
  exists t, Rabs t <= c /\ mean d (fun i => x i * (1 + δ i)) = mean d x * (1 + t).
Proof.
intros c0 x0 H. pose proof (mean_error_abs x δ c H) as E.
rewrite (mean_ext d (fun i => Rabs (x i)) x) in E by (auto; intros; now apply Rabs_pos_eq).
set (m := mean d x) in *. set (m' := mean d (fun i => x i * (1 + δ i))) in *.
assert (m0 : 0 <= m) by (apply mean_ge0; auto).
destruct (Req_dec m 0) as [z|n].
- exists 0. rewrite Rabs_R0; split; auto. rewrite z in *. rewrite Rmult_0_r in E.
  rewrite Rmult_0_l, Rminus_0_r in *. destruct (Req_dec m' 0) as [|n]; auto. apply Rabs_pos_lt in n. lra.
- exists ((m' - m) / m). split; [|field; auto].
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ m)) by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_reg_r with m; [lra|]. rewrite Rmult_assoc, Rinv_l by auto. lra.
Qed.
End Mean.
End Model.

(* ---- The algorithms, for any rounding that is off by a factor 1 + δ with |δ| ≤ η ---- *)

Section Algorithms.
Variables (η : R) (fl : R -> R).
Hypothesis η0 : 0 <= η.
Hypothesis model : forall x, exists δ, Rabs δ <= η /\ fl x = x * (1 + δ).
Variables (d : nat) (o : order) (T : nat).
Hypothesis Ho : adds_up d o.
Hypothesis HT : (additions o <= T)%nat.
Hypothesis exact_d : fl (INR d) = INR d.
Let d1 : (1 <= d)%nat := adds_up_d1 d o Ho.

Lemma fl_off x : Rabs (fl x - x) <= η * Rabs x.
Proof.
destruct (model x) as (δ & B & ->). replace (x * (1 + δ) - x) with (δ * x) by ring.
rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|auto].
Qed.

Definition fl_factor x := (fl x - x) / x.

Lemma fl_factor_spec x : Rabs (fl_factor x) <= η /\ fl x = x * (1 + fl_factor x).
Proof.
unfold fl_factor. destruct (model x) as (δ & B & E). destruct (Req_dec x 0) as [->|n].
- rewrite E. replace (0 * (1 + δ)) with 0 by ring. unfold Rdiv.
  rewrite Rminus_0_r, Rmult_0_l, Rabs_R0. split; auto; ring.
- rewrite E. replace ((x * (1 + δ) - x) / x) with δ by (field; auto). auto.
Qed.

Lemma computed_one_pass z :
  INR (3 * T + 6) * η < 1 ->
  Rabs (fl_one_pass fl d o z - variance d z) <= θ η (3 * T + 6) * (variance d z + mean d z ^ 2).
Proof.
intros H. pose proof (variance_ge0 d d1 z) as q0. set (q := variance d z) in *. set (μ := mean d z).
set (RR := q + μ ^ 2). set (r := sqrt RR).
assert (RR0 : 0 <= RR) by (unfold RR; nra).
assert (r0 : 0 <= r) by apply sqrt_pos.
assert (rr : r * r = RR) by (apply sqrt_sqrt; auto).
assert (μr : Rabs μ <= r).
{ unfold r. rewrite <- (sqrt_Rsqr_abs μ). apply sqrt_le_1_alt. unfold RR, Rsqr; nra. }
assert (lt : forall n, (n <= 3 * T + 6)%nat -> INR n * η < 1).
{ intros n Hn. apply le_INR in Hn. nra. }
assert (l1 := lt (T + 1)%nat ltac:(lia)). assert (l2 := lt (T + 2)%nat ltac:(lia)).
assert (l3 := lt (2 * T + 3)%nat ltac:(lia)). assert (l5 := lt (3 * T + 5)%nat ltac:(lia)).
assert (l22 := lt (2 * T + 2)%nat ltac:(lia)). assert (l11 := lt 1%nat ltac:(lia)).
pose proof (η_θ1 η η0 l11) as ηθ.
unfold fl_one_pass.
(* the mean of the squares *)
assert (A : Rabs (fl_mean fl d o (fun i => fl (z i * z i)) - RR) <= θ η (T + 2) * RR).
{ destruct (fl_mean_errors η fl η0 model d o T Ho HT exact_d (fun i => fl (z i * z i)) l1) as (δ & B & ->).
  rewrite (mean_ext d _ (fun i => z i ^ 2 * (1 + ((1 + δ i) * (1 + fl_factor (z i * z i)) - 1)))).
  2: { intros i _. rewrite (proj2 (fl_factor_spec (z i * z i))) at 1. ring. }
  unfold RR, q, μ. rewrite <- (mean_squares d d1 z).
  rewrite (mean_ext d (fun i => z i ^ 2) (fun i => Rabs (z i ^ 2))) at 2.
  2: intros; rewrite Rabs_pos_eq; auto; apply pow2_ge_0.
  apply (mean_error_abs d o Ho). intros i.
  replace (T + 2)%nat with ((T + 1) + 1)%nat by lia. apply θ_compose1; auto.
  - replace ((T + 1) + 1)%nat with (T + 2)%nat by lia; auto.
  - apply fl_factor_spec. }
(* the square of the mean *)
destruct (fl_mean_error η fl η0 model d o T Ho HT exact_d z l1) as [E1 E2]. fold q μ RR r in E1, E2.
set (m := fl_mean fl d o z) in *.
pose proof (θ_ge0 η η0 _ l1) as t0. set (t := θ η (T + 1)) in *.
assert (E : Rabs (m - μ) <= t * r) by nra.
assert (B : Rabs (m * m - μ ^ 2) <= ((1 + t) * (1 + t) - 1) * RR).
{ replace (m * m - μ ^ 2) with ((m - μ) * (2 * μ + (m - μ))) by ring. rewrite Rabs_mult.
  assert (Rabs (2 * μ + (m - μ)) <= (2 + t) * r).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq 2) by lra. lra. }
  apply Rle_trans with ((t * r) * ((2 + t) * r)).
  - apply Rmult_le_compat; auto; apply Rabs_pos.
  - rewrite <- rr. right; ring. }
assert (C : Rabs (fl (m * m) - μ ^ 2) <= θ η (2 * T + 3) * RR).
{ apply Rle_trans with (((1 + t) * (1 + t) * (1 + η) - 1) * RR).
  - replace (fl (m * m) - μ ^ 2) with ((fl (m * m) - m * m) + (m * m - μ ^ 2)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (fl_off (m * m)).
    assert (Rabs (m * m) <= (1 + t) * (1 + t) * RR).
    { replace (m * m) with ((m * m - μ ^ 2) + μ ^ 2) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite (Rabs_pos_eq (μ ^ 2)) by apply pow2_ge_0. unfold RR in *; nra. }
    nra.
  - apply Rmult_le_compat_r; auto.
    assert (P1 : (1 + t) * (1 + t) <= 1 + θ η (2 * T + 2)).
    { unfold t. replace (2 * T + 2)%nat with ((T + 1) + (T + 1))%nat by lia. apply θ_product; auto.
      replace ((T + 1) + (T + 1))%nat with (2 * T + 2)%nat by lia; auto. }
    assert (P2 : (1 + θ η (2 * T + 2)) * (1 + θ η 1) <= 1 + θ η (2 * T + 3)).
    { replace (2 * T + 3)%nat with ((2 * T + 2) + 1)%nat by lia. apply θ_product; auto.
      replace ((2 * T + 2) + 1)%nat with (2 * T + 3)%nat by lia; auto. }
    nra. }
(* their difference *)
set (a := fl_mean fl d o (fun i => fl (z i * z i))) in *. set (b := fl (m * m)) in *.
assert (D : Rabs (a - b - q) <= θ η (3 * T + 5) * RR).
{ replace (a - b - q) with ((a - RR) - (b - μ ^ 2)) by (unfold RR; ring).
  assert (θ η (T + 2) + θ η (2 * T + 3) <= θ η (3 * T + 5)).
  { replace (3 * T + 5)%nat with ((T + 2) + (2 * T + 3))%nat by lia. apply θ_sum; auto.
    replace ((T + 2) + (2 * T + 3))%nat with (3 * T + 5)%nat by lia; auto. }
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. nra. }
pose proof (fl_off (a - b)) as F.
assert (G : Rabs (a - b) <= θ η (3 * T + 5) * RR + q).
{ replace (a - b) with ((a - b - q) + q) by ring. eapply Rle_trans; [apply Rabs_triang|].
  rewrite (Rabs_pos_eq q) by auto. lra. }
replace (fl (a - b) - q) with ((fl (a - b) - (a - b)) + (a - b - q)) by ring.
eapply Rle_trans; [apply Rabs_triang|].
assert (P : (1 + θ η (3 * T + 5)) * (1 + θ η 1) <= 1 + θ η (3 * T + 6)).
{ replace (3 * T + 6)%nat with ((3 * T + 5) + 1)%nat by lia. apply θ_product; auto.
  replace ((3 * T + 5) + 1)%nat with (3 * T + 6)%nat by lia; auto. }
assert (qR : q <= RR) by (unfold RR; nra).
pose proof (θ_ge0 η η0 _ l5).
apply Rle_trans with (((1 + θ η (3 * T + 5)) * (1 + η) - 1) * RR).
- nra.
- apply Rmult_le_compat_r; auto. nra.
Qed.

Lemma fl_centred_off z i :
  let δ := mean d z - fl_mean fl d o z in
  Rabs (fl_centred fl d o z i - (centred d z i + δ)) <= η * Rabs (centred d z i + δ).
Proof.
intros δ. unfold fl_centred. replace (centred d z i + δ) with (z i - fl_mean fl d o z).
- apply fl_off.
- unfold δ, centred; ring.
Qed.

Lemma mean_off z :
  INR (T + 1) * η < 1 -> Rabs (mean d z - fl_mean fl d o z) <= θ η (T + 1) * sqrt (variance d z + mean d z ^ 2).
Proof.
intros H. destruct (fl_mean_error η fl η0 model d o T Ho HT exact_d z H) as [E1 E2].
rewrite Rabs_minus_sym. pose proof (θ_ge0 η η0 _ H). nra.
Qed.

Lemma computed_two_pass z :
  INR (T + 4) * η < 1 ->
  let δ := mean d z - fl_mean fl d o z in
  exists t, Rabs t <= θ η (T + 4) /\ fl_two_pass fl d o z = (variance d z + δ ^ 2) * (1 + t).
Proof.
intros H δ.
assert (lt : forall n, (n <= T + 4)%nat -> INR n * η < 1).
{ intros n Hn. apply le_INR in Hn. nra. }
unfold fl_two_pass. set (w := fl_centred fl d o z).
destruct (fl_mean_errors η fl η0 model d o T Ho HT exact_d (fun i => fl (w i * w i)) (lt (T + 1)%nat ltac:(lia)))
  as (ε & B & ->).
set (x := fun i => centred d z i + δ).
set (α := fun i => (1 + ((1 + ((1 + ε i) * (1 + fl_factor (w i * w i)) - 1)) * (1 + fl_factor (x i)) - 1))
                   * (1 + fl_factor (x i)) - 1).
rewrite (mean_ext d _ (fun i => x i ^ 2 * (1 + α i))); auto.
2: { intros i _. rewrite (proj2 (fl_factor_spec (w i * w i))) at 1.
     assert (Hw : w i = x i * (1 + fl_factor (x i))).
     { rewrite <- (proj2 (fl_factor_spec (x i))). unfold w, fl_centred, x, δ, centred. f_equal; ring. }
     unfold α. rewrite Hw at 1 2. ring. }
rewrite <- (mean_shifted_squares d d1 z δ). fold x.
apply (mean_nonnegative_errors d o Ho).
- apply θ_ge0; auto.
- intros; apply pow2_ge_0.
- intros i. unfold α.
  replace (T + 4)%nat with (((T + 1) + 1 + 1) + 1)%nat by lia.
  apply θ_compose1; auto; [apply lt; lia| |apply fl_factor_spec].
  apply θ_compose1; auto; [apply lt; lia| |apply fl_factor_spec].
  apply θ_compose1; auto; [apply lt; lia|apply fl_factor_spec].
Qed.

Lemma computed_centred z i :
  let δ := mean d z - fl_mean fl d o z in
  Rabs (fl_centred fl d o z i - centred d z i) <= Rabs δ + η * Rabs (centred d z i + δ).
Proof.
intros δ. pose proof (fl_centred_off z i) as H. fold δ in H.
replace (fl_centred fl d o z i - centred d z i) with ((fl_centred fl d o z i - (centred d z i + δ)) + δ) by ring.
eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma κ_ge1 z : 0 < variance d z -> 1 <= κ d z.
Proof.
intros q0. unfold κ. rewrite <- sqrt_1 at 1. apply sqrt_le_1_alt.
assert (0 <= mean d z ^ 2 / variance d z).
{ apply Rmult_le_pos; [apply pow2_ge_0|left; now apply Rinv_0_lt_compat]. }
lra.
Qed.

Lemma computed_centred_norm z :
  INR (T + 2) * η < 1 -> 0 < variance d z ->
  norm d (fun i => fl_centred fl d o z i - centred d z i) <= θ η (T + 2) * κ d z * norm d (centred d z).
Proof.
intros H q0.
assert (l1 : INR (T + 1) * η < 1). { assert (INR (T + 1) <= INR (T + 2)) by (apply le_INR; lia). nra. }
assert (l11 : INR 1 * η < 1). { assert (INR 1 <= INR (T + 2)) by (apply le_INR; lia). nra. }
pose proof (mean_off z l1) as Hδ. rewrite <- κ_root in Hδ by auto. pose proof (computed_centred z) as Hc.
set (δ := mean d z - fl_mean fl d o z) in *. set (q := variance d z) in *.
assert (s0 : 0 <= sqrt q) by apply sqrt_pos.
assert (ss : sqrt q * sqrt q = q) by (apply sqrt_sqrt; lra).
pose proof (κ_ge1 z q0) as k1. set (k := κ d z) in *.
pose proof (θ_ge0 η η0 _ l1) as t0.
assert (P : (1 + θ η (T + 1)) * (1 + η) <= 1 + θ η (T + 2)).
{ pose proof (η_θ1 η η0 l11).
  assert ((1 + θ η (T + 1)) * (1 + θ η 1) <= 1 + θ η (T + 2)).
  { replace (T + 2)%nat with ((T + 1) + 1)%nat by lia. apply θ_product; auto.
    replace ((T + 1) + 1)%nat with (T + 2)%nat by lia; auto. }
  nra. }
set (t := θ η (T + 1)) in *. set (c := θ η (T + 2)) in *.
assert (dpos := entries_pos d d1).
assert (root : sqrt (q + δ ^ 2) <= (1 + t * k) * sqrt q).
{ rewrite <- (sqrt_pow2 ((1 + t * k) * sqrt q)) by (apply Rmult_le_pos; nra).
  apply sqrt_le_1_alt. pose proof (Rabs_pos δ). rewrite <- (pow2_abs δ). nra. }
assert (r0 := sqrt_pos (q + δ ^ 2)).
assert (rs : sqrt (q + δ ^ 2) * sqrt (q + δ ^ 2) = q + δ ^ 2) by (apply sqrt_sqrt; nra).
unfold norm. apply Rle_trans with (sqrt (INR d * (Rabs δ + η * sqrt (q + δ ^ 2)) ^ 2)).
- apply sqrt_le_1_alt.
  apply Rle_trans with (sum d (fun i => (Rabs δ + η * Rabs (centred d z i + δ)) ^ 2)).
  + apply sum_le; intros i _. rewrite <- pow2_abs. apply pow_incr; split; [apply Rabs_pos|apply Hc].
  + replace (sum d (fun i => (Rabs δ + η * Rabs (centred d z i + δ)) ^ 2))
      with (INR d * mean d (fun i => (Rabs δ + η * Rabs (centred d z i + δ)) ^ 2)) by (unfold mean; field; lra).
    apply Rmult_le_compat_l; [lra|].
    set (y := fun i => centred d z i + δ).
    rewrite (mean_ext d _ (fun i => (Rabs δ ^ 2 + (2 * Rabs δ * η) * Rabs (y i)) + η ^ 2 * y i ^ 2)); auto.
    2: { intros i _. fold (y i). rewrite <- (pow2_abs (y i)) at 1. ring. }
    rewrite !mean_plus, !mean_scal, mean_const by auto.
    assert (mean d (fun i => y i ^ 2) = q + δ ^ 2) as -> by (apply mean_shifted_squares; auto).
    pose proof (mean_abs_root d d1 y) as Hy.
    assert (mean d (fun i => y i ^ 2) = q + δ ^ 2) as E by (apply mean_shifted_squares; auto).
    rewrite E in Hy. pose proof (Rabs_pos δ).
    assert (0 <= 2 * Rabs δ * η) by (apply Rmult_le_pos; lra).
    replace ((Rabs δ + η * sqrt (q + δ ^ 2)) ^ 2) with
      (Rabs δ ^ 2 + 2 * Rabs δ * η * sqrt (q + δ ^ 2) + η ^ 2 * (sqrt (q + δ ^ 2) * sqrt (q + δ ^ 2))) by ring.
    rewrite rs. apply Rplus_le_compat_r, Rplus_le_compat_l, Rmult_le_compat_l; auto.
- rewrite sqrt_mult_alt by lra. rewrite sqrt_pow2 by (pose proof (Rabs_pos δ); nra).
  replace (sum d (fun i => centred d z i ^ 2)) with (INR d * q) by (unfold q, variance, mean; field; lra).
  rewrite sqrt_mult_alt by lra.
  assert (Rabs δ + η * sqrt (q + δ ^ 2) <= c * k * sqrt q).
  { apply Rle_trans with ((t * k + η * (1 + t * k)) * sqrt q).
    - assert (η * sqrt (q + δ ^ 2) <= η * ((1 + t * k) * sqrt q)) by (apply Rmult_le_compat_l; auto). nra.
    - apply Rmult_le_compat_r; auto. nra. }
  pose proof (sqrt_pos (INR d)). nra.
Qed.

Lemma computed_recentred z :
  INR (T + 1) * η < 1 -> η <= 1 / 8 -> 0 < variance d z -> θ η (T + 1) * κ d z <= 1 ->
  largest d (fun i => fl_centred fl d o (fl_centred fl d o z) i - centred d z i)
    <= 2 * θ η (T + 4) * largest d (centred d z).
Proof.
intros l1 η8 q0 tk.
pose proof (κ_ge1 z q0) as k1. pose proof (θ_ge0 η η0 _ l1) as t0.
assert (t1 : θ η (T + 1) <= 1) by nra.
assert (half : INR (T + 1) * η <= 1 / 2).
{ pose proof (one_plus_θ η _ l1) as E. assert (1 - INR (T + 1) * η > 0) by lra.
  assert ((1 + θ η (T + 1)) * (1 - INR (T + 1) * η) = 1) by (rewrite E; field; lra). nra. }
assert (l4 : INR (T + 4) * η < 1). { rewrite plus_INR in *. simpl in *. lra. }
assert (l3 : INR 3 * η < 1) by (simpl; lra).
assert (sum4 : 3 * η + θ η (T + 1) <= θ η (T + 4)).
{ assert (θ η (T + 1) + θ η 3 <= θ η (T + 4)).
  { replace (T + 4)%nat with ((T + 1) + 3)%nat by lia. apply θ_sum; auto.
    replace ((T + 1) + 3)%nat with (T + 4)%nat by lia; auto. }
  pose proof (η_θ η η0 3 l3). simpl in *; lra. }
pose proof (mean_off z l1) as Hδ. rewrite <- κ_root in Hδ by auto.
set (M := largest d (centred d z)).
assert (qM : sqrt (variance d z) <= M) by now apply root_largest.
assert (M0 : 0 <= M) by apply largest_ge0.
assert (s0 : 0 <= sqrt (variance d z)) by apply sqrt_pos.
pose proof (fun i => fl_centred_off z i) as Hc.
set (δ := mean d z - fl_mean fl d o z) in *.
assert (δq : Rabs δ <= sqrt (variance d z)) by nra.
set (c := fl_centred fl d o z) in *.
set (e := fun i => c i - (centred d z i + δ)).
assert (He : forall i, (i < d)%nat -> Rabs (e i) <= 2 * η * M).
{ intros i Hi. eapply Rle_trans; [apply Hc|].
  assert (Rabs (centred d z i + δ) <= 2 * M).
  { eapply Rle_trans; [apply Rabs_triang|]. pose proof (largest_entry d (centred d z) i Hi). fold M in H. lra. }
  nra. }
assert (mc : mean d c = δ + mean d e).
{ rewrite (mean_ext d c (fun i => (centred d z i + e i) + δ)); auto.
  - rewrite !mean_plus, mean_const, mean_centred by auto. ring.
  - intros; unfold e; ring. }
assert (me : Rabs (mean d e) <= 2 * η * M).
{ eapply Rle_trans; [now apply mean_abs|]. rewrite <- (mean_const d d1 (2 * η * M)). now apply mean_le. }
assert (mabs : mean d (fun i => Rabs (c i)) <= (1 + η) * (3 / 2 * M)).
{ apply Rle_trans with (mean d (fun i => (1 + η) * Rabs (centred d z i + δ))).
  - apply mean_le; auto; intros i _. replace (c i) with (e i + (centred d z i + δ)) by (unfold e; ring).
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (Hc i). unfold e. lra.
  - rewrite mean_scal by auto. apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [now apply (mean_abs_root d d1 (fun i => centred d z i + δ))|].
    rewrite mean_shifted_squares by auto.
    rewrite <- (sqrt_pow2 (3 / 2 * M)) by lra. apply sqrt_le_1_alt.
    assert (sqrt (variance d z) * sqrt (variance d z) = variance d z) by (apply sqrt_sqrt; lra).
    rewrite <- (pow2_abs δ). pose proof (Rabs_pos δ). nra. }
destruct (fl_mean_error η fl η0 model d o T Ho HT exact_d c l1) as [E1 _].
set (mu := fl_mean fl d o c) in *. set (t := θ η (T + 1)) in *.
assert (E2 : Rabs (mu - mean d c) <= t * ((1 + η) * (3 / 2 * M))) by nra.
apply largest_le.
{ assert (0 <= θ η (T + 4)) by (apply θ_ge0; auto). nra. }
intros i Hi. unfold fl_centred at 1. fold mu. change (fl_centred fl d o z i) with (c i).
set (x := c i - mu). set (E := (4 * η + t * (1 + η) * (3 / 2)) * M).
assert (Hx : Rabs (x - centred d z i) <= E).
{ replace (x - centred d z i) with (e i - mean d e - (mu - mean d c)) by (unfold x; rewrite mc; unfold e; ring).
  pose proof (Rabs_triang (e i - mean d e) (- (mu - mean d c))). pose proof (Rabs_triang (e i) (- mean d e)).
  rewrite Rabs_Ropp in *. pose proof (He i Hi). unfold Rminus in *. unfold E. lra. }
assert (Rx : Rabs x <= M + E).
{ replace x with (centred d z i + (x - centred d z i)) by ring. eapply Rle_trans; [apply Rabs_triang|].
  pose proof (largest_entry d (centred d z) i Hi). fold M in H. lra. }
pose proof (fl_off x) as F.
replace (fl x - centred d z i) with ((fl x - x) + (x - centred d z i)) by ring.
eapply Rle_trans; [apply Rabs_triang|].
apply Rle_trans with (E + η * (M + E)); [nra|].
unfold E. apply Rle_trans with ((6 * η + 2 * t) * M); [|nra].
replace ((4 * η + t * (1 + η) * (3 / 2)) * M + η * (M + (4 * η + t * (1 + η) * (3 / 2)) * M)) with
  ((5 * η + 4 * η * η + (3 / 2 * (1 + η) * (1 + η)) * t) * M) by ring.
apply Rmult_le_compat_r; auto. assert (η * η <= η / 8) by nra.
assert (3 / 2 * (1 + η) * (1 + η) <= 2) by nra. nra.
Qed.
End Algorithms.

(* ---- Rounding to the nearest number of p significant bits ---- *)

Notation "'2^' e" := (bpow radix2 e) (at level 30, format "2^ e").

(* small powers of two, as numbers *)
Ltac powers :=
  simpl Z.opp; change (2^0) with 1; change (2^1) with 2; change (2^2) with 4; change (2^3) with 8;
  change (2^(-1)) with (/ 2); change (2^(-2)) with (/ 4); change (2^(-3)) with (/ 8); simpl pair.

Section Nearest.
Variables (p : Z) (ties : Z -> bool).
Hypothesis p0 : (0 < p)%Z.
Local Instance p_positive : Prec_gt_0 p := p0.

Lemma η_pos : 0 < unit_roundoff p.
Proof. apply bpow_gt_0. Qed.

Lemma η_half : unit_roundoff p = / 2 * 2^(- p + 1).
Proof. unfold unit_roundoff. rewrite bpow_plus. powers. lra. Qed.

Lemma nearest_model x : exists δ, Rabs δ <= unit_roundoff p /\ nearest p ties x = x * (1 + δ).
Proof. rewrite η_half. apply (relative_error_N_FLX_ex radix2 p p0 ties x). Qed.

Lemma nearest_number x : number p x -> nearest p ties x = x.
Proof. intros H. apply round_generic; auto with typeclass_instances. Qed.

(* m·2^e with |m| ≤ 2^p is a number of the format *)
Lemma number_scaled m e : (Z.abs m <= 2 ^ p)%Z -> number p (IZR m * 2^e).
Proof.
intros H. destruct (Z.eq_dec (Z.abs m) (2 ^ p)) as [E|n].
- assert (F : number p (2^(p + e))) by (apply generic_format_bpow; unfold FLX_exp; lia).
  assert (G : IZR (2 ^ p) = 2^p) by (rewrite <- (IZR_Zpower radix2); [reflexivity|lia]).
  destruct (Z.abs_spec m) as [[_ A]|[_ A]].
  + rewrite <- A, E, G, <- bpow_plus. exact F.
  + replace (IZR m) with (- 2^p).
    * rewrite Ropp_mult_distr_l_reverse, <- bpow_plus. now apply generic_format_opp.
    * rewrite <- G, <- opp_IZR. f_equal; lia.
- apply generic_format_FLX. exists (Float radix2 m e); [reflexivity|].
  simpl. lia.
Qed.

Lemma number_integer m : (Z.abs m <= 2 ^ p)%Z -> number p (IZR m).
Proof. intros H. replace (IZR m) with (IZR m * 2^0) by (powers; ring). now apply number_scaled. Qed.

(* where the spacing is 2^e, x rounds to the integer nearest to x/2^e, times 2^e *)
Lemma nearest_value x e :
  2^(e + p - 1) <= Rabs x < 2^(e + p) -> nearest p ties x = IZR (Znearest ties (x * 2^(- e))) * 2^e.
Proof.
intros H. unfold nearest, round, scaled_mantissa, cexp. rewrite (mag_unique radix2 x (e + p)) by exact H.
unfold FLX_exp. replace (e + p - p)%Z with e by ring. reflexivity.
Qed.
End Nearest.

Lemma tie_to_even n : Z.even n = true -> Znearest to_even (IZR n + / 2) = n.
Proof.
intros H. unfold Znearest.
assert (F : Zfloor (IZR n + / 2) = n) by (apply Zfloor_imp; rewrite plus_IZR; lra).
rewrite F, Rcompare_Eq by ring. unfold to_even. now rewrite H.
Qed.

Lemma even_double n : Z.even (2 * n) = true.
Proof. now rewrite Z.even_mul. Qed.

(* x is already the number y = m·2^e of the format *)
Lemma nearest_is p ties x y m e :
  (0 < p)%Z -> (Z.abs m <= 2 ^ p)%Z -> x = y -> y = IZR m * 2^e -> nearest p ties x = y.
Proof. intros p0 H -> ->. apply nearest_number; auto. now apply number_scaled. Qed.

(* sums of two *)
Lemma fl_mean_two fl z : fl_mean fl 2 (in_turn 2) z = fl (fl (z 0%nat + z 1%nat) / fl 2).
Proof. unfold fl_mean. replace (INR 2) with 2 by (simpl; ring). reflexivity. Qed.

Lemma variance_two a b z : z 0%nat = a -> z 1%nat = b -> variance 2 z = ((b - a) / 2) ^ 2.
Proof. intros <- <-. unfold variance, centred, mean. simpl. field. Qed.

(* Powers of two of a format with an even number p = 2k of bits, k ≥ 2, by L = 2^(k−2) *)
Lemma one_pass_general (k : Z) : (2 <= k)%Z ->
  let z := pair (2^k) (2^k + 2) in
  variance 2 z = 1 /\ fl_one_pass (nearest (2 * k) to_even) 2 (in_turn 2) z = 2.
Proof.
intros Hk z. split.
- rewrite (variance_two (2^k) (2^k + 2)); auto. field.
- set (L := (2 ^ (k - 2))%Z).
  assert (L1 : (1 <= L)%Z) by (apply (Z.pow_le_mono_r 2 0 (k - 2)); lia).
  assert (P : (2 ^ (2 * k) = 16 * L * L)%Z).
  { unfold L. replace (2 * k)%Z with (4 + (k - 2) + (k - 2))%Z by ring. rewrite !Z.pow_add_r by lia. ring. }
  assert (LL : (L <= L * L)%Z) by nia.
  assert (N : 2^k = 4 * IZR L).
  { unfold L. change (2 ^ (k - 2))%Z with (Zpower radix2 (k - 2)). rewrite (IZR_Zpower radix2) by lia.
    change 4 with (2^2). rewrite <- bpow_plus. f_equal; ring. }
  assert (L1' : 1 <= IZR L) by now apply IZR_le.
  clearbody L. unfold fl_one_pass. rewrite !fl_mean_two. unfold z, pair.
  set (fl := nearest (2 * k) to_even). rewrite N. set (l := IZR L) in *.
  assert (is : forall x y m e, (Z.abs m <= 16 * L * L)%Z -> x = y -> y = IZR m * 2^e -> fl x = y).
  { intros x y m e H; apply nearest_is; [lia|now rewrite P]. }
  assert (two : fl 2 = 2) by (apply (is _ _ 1%Z 1%Z); [lia|auto|powers; ring]).
  rewrite two.
  rewrite (is (4 * l * (4 * l)) (16 * l * l) (16 * L * L)%Z 0%Z); try lia; try ring.
  2: { rewrite !mult_IZR; fold l; powers; ring. }
  rewrite (is ((4 * l + 2) * (4 * l + 2)) ((4 * l * l + 4 * l + 1) * 4) (4 * L * L + 4 * L + 1)%Z 2%Z);
    try lia; try ring.
  2: { rewrite !plus_IZR, !mult_IZR; fold l; powers; ring. }
  rewrite (is (16 * l * l + (4 * l * l + 4 * l + 1) * 4) ((8 * l * l + 4 * l + 1) * 4) (8 * L * L + 4 * L + 1)%Z 2%Z);
    try lia; try ring.
  2: { rewrite !plus_IZR, !mult_IZR; fold l; powers; ring. }
  rewrite (is ((8 * l * l + 4 * l + 1) * 4 / 2) ((8 * l * l + 4 * l + 1) * 2) (8 * L * L + 4 * L + 1)%Z 1%Z);
    try lia; try field.
  2: { rewrite !plus_IZR, !mult_IZR; fold l; powers; ring. }
  rewrite (is (4 * l + (4 * l + 2)) ((4 * l + 1) * 2) (4 * L + 1)%Z 1%Z);
    try lia; try ring.
  2: { rewrite !plus_IZR, !mult_IZR; fold l; powers; ring. }
  rewrite (is ((4 * l + 1) * 2 / 2) (4 * l + 1) (4 * L + 1)%Z 0%Z);
    try lia; try field.
  2: { rewrite !plus_IZR, !mult_IZR; fold l; powers; ring. }
  assert (sq : fl ((4 * l + 1) * (4 * l + 1)) = IZR (8 * L * L + 4 * L) * 2^1).
  { unfold fl. rewrite (nearest_value _ _ _ 1).
    - f_equal; f_equal. change (2^(- (1))) with (/ 2).
      replace ((4 * l + 1) * (4 * l + 1) * / 2) with (IZR (8 * L * L + 4 * L) + / 2).
      + apply tie_to_even. replace (8 * L * L + 4 * L)%Z with (2 * (4 * L * L + 2 * L))%Z by ring. apply even_double.
      + rewrite !plus_IZR, !mult_IZR; fold l; field.
    - assert (B : 2^(2 * k) = 16 * l * l).
      { replace (2 * k)%Z with (k + k)%Z by ring. rewrite bpow_plus, N. ring. }
      replace (1 + 2 * k - 1)%Z with (2 * k)%Z by ring. rewrite bpow_plus, B. change (2^1) with 2.
      rewrite Rabs_pos_eq by nra. nra. }
  rewrite sq. apply (is _ _ 1%Z 1%Z); [lia| |powers; ring].
  rewrite !plus_IZR, !mult_IZR; fold l; powers; ring.
Qed.

Ltac exactly x m e := rewrite (nearest_is _ _ x (IZR m * 2^e) m e); [|reflexivity|discriminate|powers; lra|reflexivity].

Lemma nearest_rounds p ties x m e :
  (0 < p)%Z -> 2^(e + p - 1) <= Rabs x < 2^(e + p) -> Rabs (x * 2^(- e) - IZR m) < / 2 ->
  nearest p ties x = IZR m * 2^e.
Proof. intros p0 H N. rewrite (nearest_value p ties x e H). now rewrite (Znearest_imp ties _ m N). Qed.

Ltac absolute :=
  try reflexivity; simpl Z.add; simpl Z.sub; powers;
  change (2^9) with 512; change (2^10) with 1024; change (2^11) with 2048;
  first [rewrite Rabs_pos_eq by lra; repeat split; lra | apply Rabs_def1; lra].

(* up to half the smallest positive number everything rounds to 0 *)
Lemma stored_as_zero (p emin : Z) x : (0 < p)%Z -> 0 <= x <= 2^(emin - 1) ->
  round radix2 (FLT_exp emin p) (Znearest to_even) x = 0.
Proof.
intros p0 Hx. assert (P : Prec_gt_0 p) by exact p0. destruct (Req_dec x 0) as [->|n].
{ apply round_0; auto with typeclass_instances. }
assert (E : cexp radix2 (FLT_exp emin p) x = emin).
{ unfold cexp, FLT_exp. assert (mag radix2 x <= emin)%Z; [|lia]. apply mag_le_bpow; auto.
  rewrite Rabs_pos_eq by lra. apply Rle_lt_trans with (2^(emin - 1)); [lra|apply bpow_lt; lia]. }
unfold round, scaled_mantissa. rewrite E. unfold F2R; cbn [Fnum Fexp].
assert (H : 0 <= x * 2^(- emin) <= / 2).
{ assert (2^(emin - 1) * 2^(- emin) = / 2).
  { rewrite <- bpow_plus. replace (emin - 1 + - emin)%Z with (-1)%Z by ring. reflexivity. }
  assert (0 < 2^(- emin)) by apply bpow_gt_0. nra. }
assert (Znearest to_even (x * 2^(- emin)) = 0%Z) as ->; [|apply Rmult_0_l].
destruct (Req_dec (x * 2^(- emin)) (/ 2)) as [e|m].
- rewrite e. replace (/ 2) with (IZR 0 + / 2) by ring. now apply tie_to_even.
- apply Znearest_imp. rewrite Rabs_pos_eq; lra.
Qed.

(* ---- The facts, in the order of the page ---- *)

(* p = 2k ≥ 4 bits: (2^k, 2^k + 2) has variance 1 and one-pass variance 2; (25, 26) has 1/4 and −4 in 8 bits. *)
Theorem one_pass_example :
  (forall k : Z, (2 <= k)%Z ->
     let z := pair (2^k) (2^k + 2) in
     variance 2 z = 1 /\ fl_one_pass (nearest (2 * k) to_even) 2 (in_turn 2) z = 2) /\
  variance 2 (pair 25 26) = 1 / 4 /\ fl_one_pass (nearest 8 to_even) 2 (in_turn 2) (pair 25 26) = -4.
Proof.
split; [exact one_pass_general|split].
- rewrite (variance_two 25 26); auto. field.
- unfold fl_one_pass. rewrite !fl_mean_two. unfold pair.
  rewrite (nearest_rounds 8 to_even (25 * 25) 156 2) by absolute.
  exactly (26 * 26) 169%Z 2%Z. exactly 2 1%Z 1%Z.
  replace (IZR 156 * 2^2 + IZR 169 * 2^2) with 1300 by (powers; ring).
  replace (nearest 8 to_even 1300) with 1296.
  2: { rewrite (nearest_value 8 _ _ 3) by absolute.
       replace (1300 * 2^(- (3))) with (IZR 162 + / 2) by (powers; lra).
       rewrite tie_to_even by reflexivity. powers; lra. }
  exactly (1296 / (1 * 2^1)) 81%Z 3%Z. exactly (25 + 26) 51%Z 0%Z.
  exactly (51 * 2^0 / (1 * 2^1)) 51%Z (-1)%Z.
  rewrite (nearest_rounds 8 to_even (51 * 2^(-1) * (51 * 2^(-1))) 163 2) by absolute.
  exactly (81 * 2^3 - 163 * 2^2) (-1)%Z 2%Z. powers; lra.
Qed.

(* p ≥ 2 bits: (2^p, 2^p + 2) has the computed mean 2^p and is centred to (0, 2), then to the exact (−1, 1). *)
Theorem two_pass_example (p : Z) : (2 <= p)%Z ->
  let fl := nearest p to_even in
  let z := pair (2^p) (2^p + 2) in
  let c := fl_centred fl 2 (in_turn 2) z in
  let c' := fl_centred fl 2 (in_turn 2) c in
  fl_mean fl 2 (in_turn 2) z = 2^p /\ (c 0%nat = 0 /\ c 1%nat = 2) /\ (c' 0%nat = -1 /\ c' 1%nat = 1) /\
  (centred 2 z 0%nat = -1 /\ centred 2 z 1%nat = 1).
Proof.
intros Hp fl z c c'.
set (K := (2 ^ (p - 2))%Z).
assert (K1 : (1 <= K)%Z) by (apply (Z.pow_le_mono_r 2 0 (p - 2)); lia).
assert (P : (2 ^ p = 4 * K)%Z).
{ unfold K. replace p with (2 + (p - 2))%Z at 1 by ring. rewrite Z.pow_add_r by lia. ring. }
assert (N : 2^p = 4 * IZR K).
{ unfold K. change (2 ^ (p - 2))%Z with (Zpower radix2 (p - 2)). rewrite (IZR_Zpower radix2) by lia.
  change 4 with (2^2). rewrite <- bpow_plus. f_equal; ring. }
assert (K1' : 1 <= IZR K) by now apply IZR_le.
clearbody K.
assert (two : fl 2 = 2) by (apply (nearest_is _ _ _ _ 1 1); [lia|rewrite P; lia|auto|powers; ring]).
assert (M : fl_mean fl 2 (in_turn 2) z = 2^p).
{ rewrite fl_mean_two, two. unfold z, pair.
  replace (fl (2^p + (2^p + 2))) with (IZR (2 * K) * 2^2).
  - apply (nearest_is _ _ _ _ K 2); [lia|rewrite P; lia| |rewrite N; powers; ring].
    rewrite N, mult_IZR. powers. field.
  - unfold fl. rewrite (nearest_value _ _ _ 2).
    + replace ((2^p + (2^p + 2)) * 2^(- (2))) with (IZR (2 * K) + / 2).
      * now rewrite tie_to_even by apply even_double.
      * rewrite N, mult_IZR. powers. field.
    + replace (2 + p - 1)%Z with (p + 1)%Z by ring. replace (2 + p)%Z with (p + 2)%Z by ring.
      rewrite !bpow_plus, N. powers. rewrite Rabs_pos_eq by lra. lra. }
assert (C0 : c 0%nat = 0).
{ unfold c, fl_centred. rewrite M. apply (nearest_is _ _ _ _ 0 0); try lia; unfold z, pair; powers; ring. }
assert (C1 : c 1%nat = 2).
{ unfold c, fl_centred. rewrite M. apply (nearest_is _ _ _ _ 1 1); try lia; unfold z, pair; powers; ring. }
assert (M' : fl_mean fl 2 (in_turn 2) c = 1).
{ rewrite fl_mean_two, two, C0, C1. replace (0 + 2) with 2 by ring. rewrite two.
  apply (nearest_is _ _ _ _ 1 0); try lia; try (powers; field). }
split; [exact M|]. split; [auto|]. split.
- assert (E : forall i, c' i = fl (c i - fl_mean fl 2 (in_turn 2) c)) by reflexivity. rewrite !E, M', C0, C1. split.
  + apply (nearest_is _ _ _ _ (-1) 0); try lia; powers; ring.
  + apply (nearest_is _ _ _ _ 1 0); try lia; powers; ring.
- unfold centred, mean, z, pair; simpl; split; field.
Qed.

(* ---- Formats of IEEE 754, with their infinities ---- *)

Section IEEE.
Variables (p emax : Z).
Context (p_gt_0 : Prec_gt_0 p) (p_lt_emax : Prec_lt_emax p emax).
Notation float := (binary_float p emax).
Local Instance valid_fexp : Valid_exp (SpecFloat.fexp p emax) := FLT_exp_valid (SpecFloat.emin p emax) p.

(* An operation rounded to nearest, short of over- and underflow, returns its exact result times 1 + δ, |δ| ≤ η. *)
Theorem float_model (m : mode) (x y z : float) :
  m = mode_NE \/ m = mode_NA -> is_finite x = true -> is_finite y = true -> is_finite z = true ->
  let within := in_range p emax m in
  let returns (r : float) exact :=
    is_finite r = true /\ exists δ, Rabs δ <= unit_roundoff p /\ B2R r = exact * (1 + δ) in
  (within (B2R x + B2R y) -> returns (Bplus m x y) (B2R x + B2R y)) /\
  (within (B2R x - B2R y) -> returns (Bminus m x y) (B2R x - B2R y)) /\
  (within (B2R x * B2R y) -> returns (Bmult m x y) (B2R x * B2R y)) /\
  (B2R y <> 0 -> within (B2R x / B2R y) -> returns (Bdiv m x y) (B2R x / B2R y)) /\
  (0 <= B2R x -> within (sqrt (B2R x)) -> returns (Bsqrt m x) (sqrt (B2R x))) /\
  (within (B2R x * B2R y + B2R z) -> returns (Bfma m x y z) (B2R x * B2R y + B2R z)).
Proof.
intros Hm Fx Fy Fz within returns.
assert (R : forall e, within e -> exists δ, Rabs δ <= unit_roundoff p /\
            round radix2 (SpecFloat.fexp p emax) (round_mode m) e = e * (1 + δ)).
{ intros e [H _]. assert (p0 : (0 < p)%Z) by exact p_gt_0.
  destruct H as [->|H].
  - exists 0. rewrite Rabs_R0, round_0 by auto with typeclass_instances. split; [left; apply bpow_gt_0|ring].
  - rewrite (η_half p). change (SpecFloat.fexp p emax) with (FLT_exp (SpecFloat.emin p emax) p).
    assert (G : 2^(SpecFloat.emin p emax + p - 1) <= Rabs e).
    { replace (SpecFloat.emin p emax + p - 1)%Z with (2 - emax)%Z by (unfold SpecFloat.emin; ring). auto. }
    destruct Hm as [-> | ->]; now apply (relative_error_N_FLT_ex radix2 _ p p0). }
split; [intros H|split; [intros H|split; [intros H|split; [intros Hy H|split; [intros Hx H|intros H]]]]];
  destruct (R _ H) as (δ & B & E); unfold returns.
- pose proof (Bplus_correct p emax _ _ m x y Fx Fy) as C. rewrite Rlt_bool_true in C by apply H.
  split; [easy|exists δ; split; auto; now rewrite <- E].
- pose proof (Bminus_correct p emax _ _ m x y Fx Fy) as C. rewrite Rlt_bool_true in C by apply H.
  split; [easy|exists δ; split; auto; now rewrite <- E].
- pose proof (Bmult_correct p emax _ _ m x y) as C. rewrite Rlt_bool_true, Fx, Fy in C by apply H.
  split; [easy|exists δ; split; auto; now rewrite <- E].
- pose proof (Bdiv_correct p emax _ _ m x y Hy) as C. rewrite Rlt_bool_true, Fx in C by apply H.
  split; [easy|exists δ; split; auto; now rewrite <- E].
- destruct (Bsqrt_correct p emax _ _ m x) as (C & F & _). split.
  + rewrite F. destruct x as [s|s| |[|] n e He]; try easy. exfalso. revert Hx. apply Rlt_not_le. now apply F2R_lt_0.
  + exists δ; split; auto. now rewrite <- E.
- pose proof (Bfma_correct p emax _ _ m x y z Fx Fy Fz) as C. cbv zeta in C. rewrite Rlt_bool_true in C by apply H.
  split; [easy|exists δ; split; auto; now rewrite <- E].
Qed.

End IEEE.

(* If nη < 1, Π(1 + δ_i) = 1 + θ, |θ| ≤ θ_n; if (j + k)η < 1, (1 + θ_j)(1 + θ_k) ≤ 1 + θ_(j+k). *)
Theorem rounding_products (η : R) : 0 <= η ->
  (forall n (δ : row), (forall i, (i < n)%nat -> Rabs (δ i) <= η) -> INR n * η < 1 ->
     exists t, product n δ = 1 + t /\ Rabs t <= θ η n) /\
  (forall j k, INR (j + k) * η < 1 ->
     (1 + θ η j) * (1 + θ η k) <= 1 + θ η (j + k) /\ θ η j + θ η k <= θ η (j + k)).
Proof.
intros η0. split.
- intros n δ Hδ H. exists (product n δ - 1). split; [ring|now apply product_bound].
- intros j k H. split; [now apply θ_product|now apply θ_sum].
Qed.

(* Numbers a, b of one sign within a factor of 2 of each other: a − b is a number, and computed exactly. *)
Theorem sterbenz (p emin : Z) (ties : Z -> bool) (a b : R) : (0 < p)%Z ->
  forall fexp, fexp = FLX_exp p \/ fexp = FLT_exp emin p ->
  generic_format radix2 fexp a -> generic_format radix2 fexp b ->
  b / 2 <= a <= 2 * b \/ 2 * b <= a <= b / 2 ->
  generic_format radix2 fexp (a - b) /\ round radix2 fexp (Znearest ties) (a - b) = a - b.
Proof.
intros p0 fexp E Fa Fb H.
assert (F : generic_format radix2 fexp (a - b)).
{ assert (P : Prec_gt_0 p) by exact p0.
  assert (G : forall x y, generic_format radix2 fexp x -> generic_format radix2 fexp y ->
    y / 2 <= x <= 2 * y -> generic_format radix2 fexp (x - y)).
  { destruct E as [-> | ->]; apply Sterbenz.sterbenz; auto with typeclass_instances. }
  destruct H as [H|H]; [now apply G|].
  replace (a - b) with (- (- a - - b)) by ring. apply generic_format_opp, G; try now apply generic_format_opp.
  lra. }
split; auto. apply round_generic; auto with typeclass_instances.
Qed.

(* without gradual underflow it fails: 3·2^emin/2 and 2^emin differ by less than the smallest number *)
Lemma sterbenz_needs_gradual_underflow (p emin : Z) : (2 <= p)%Z ->
  let fexp := FTZ_exp emin p in
  let b := 2^(emin + p - 1) in let a := 3 / 2 * b in
  generic_format radix2 fexp a /\ generic_format radix2 fexp b /\ b / 2 <= a <= 2 * b /\
  ~ generic_format radix2 fexp (a - b).
Proof.
intros p2 fexp b a. assert (b0 : 0 < b) by apply bpow_gt_0.
assert (P : Prec_gt_0 p) by (unfold Prec_gt_0; lia).
repeat split; try (unfold a; lra).
- apply generic_format_FTZ. exists (Float radix2 (3 * 2 ^ (p - 2)) emin).
  + unfold a, b, F2R. cbn [Fnum Fexp]. rewrite mult_IZR. change (2 ^ (p - 2))%Z with (Zpower radix2 (p - 2)).
    rewrite IZR_Zpower by lia. replace (emin + p - 1)%Z with ((p - 2) + emin + 1)%Z by ring.
    rewrite !bpow_plus. powers. field.
  + cbn [Fnum Fexp]. intros _. assert (1 <= 2 ^ (p - 2))%Z by (apply (Z.pow_le_mono_r 2 0); lia).
    assert (Z1 : (2 ^ (p - 1) = 2 ^ (p - 2) * 2)%Z)
      by (replace (p - 1)%Z with ((p - 2) + 1)%Z by ring; now rewrite Z.pow_add_r by lia).
    assert (Z2 : (2 ^ p = 2 ^ (p - 2) * 4)%Z)
      by (replace p with ((p - 2) + 2)%Z at 1 by ring; now rewrite Z.pow_add_r by lia).
    change (Zpower radix2) with (Z.pow 2). simpl radix_val. rewrite Z1, Z2. lia.
  + simpl; lia.
- apply generic_format_bpow. unfold fexp, FTZ_exp. case Zlt_bool_spec; lia.
- replace (a - b) with (2^(emin + p - 2)).
  + intros F. apply generic_format_bpow_inv' in F; auto with typeclass_instances.
    revert F. unfold fexp, FTZ_exp. case Zlt_bool_spec; lia.
  + unfold a, b. replace (emin + p - 1)%Z with ((emin + p - 2) + 1)%Z by ring. rewrite bpow_plus. powers. field.
Qed.

(* Storing z + c1 adds |e_i| ≤ η|z_i + c| and moves the core by at most 2‖Pe‖/(r + s); (0, 1) + 2^p becomes constant. *)
Theorem input_rounding :
  (forall (p : Z) (ties : Z -> bool) (d : nat) (z : row) (c ε : R), (0 < p)%Z -> (1 <= d)%nat ->
     let stored := fun i => nearest p ties (z i + c) in
     let e := fun i => stored i - (z i + c) in
     let r := sqrt (variance d z + ε) in let s := sqrt (variance d stored + ε) in
     0 <= ε -> 0 < r -> 0 < s ->
     (forall i, Rabs (e i) <= unit_roundoff p * Rabs (z i + c)) /\
     norm d (fun i => core d ε stored i - core d ε z i) <= 2 * norm d (centred d e) / (r + s)) /\
  (forall (p : Z) (ε : R), (2 <= p)%Z -> 0 < ε ->
     let z := pair 0 1 in
     let stored := fun i => nearest p to_even (z i + 2^p) in
     (stored 0%nat = 2^p /\ stored 1%nat = 2^p) /\
     (core 2 ε z 0%nat = - (1 / sqrt (1 + 4 * ε)) /\ core 2 ε z 1%nat = 1 / sqrt (1 + 4 * ε)) /\
     (core 2 ε stored 0%nat = 0 /\ core 2 ε stored 1%nat = 0)).
Proof.
split.
- intros p ties d z c ε p0 d1 stored e r s ε0 r0 s0. split.
  { intros i. unfold e, stored. destruct (nearest_model p ties p0 (z i + c)) as (δ & B & ->).
    replace ((z i + c) * (1 + δ) - (z i + c)) with (δ * (z i + c)) by ring. rewrite Rabs_mult.
    apply Rmult_le_compat_r; auto. apply Rabs_pos. }
  set (v := centred d z). set (w := centred d stored). set (D := centred d e).
  assert (W : forall i, w i = v i + D i).
  { intros i. unfold w, v, D, centred. assert (mean d stored = mean d z + c + mean d e) as ->; [|unfold e; ring].
    rewrite <- (mean_const d d1 c), <- !mean_plus by auto. apply mean_ext; auto. intros; unfold e; ring. }
  assert (N : 0 < INR d) by now apply entries_pos.
  set (A := sum d (fun i => v i ^ 2)). set (B := sum d (fun i => w i ^ 2)). set (C := sum d (fun i => v i * w i)).
  assert (qv : variance d z = A / INR d) by reflexivity. assert (qw : variance d stored = B / INR d) by reflexivity.
  assert (A0 : 0 <= A) by (apply sum_ge0; intros; apply pow2_ge_0).
  assert (B0 : 0 <= B) by (apply sum_ge0; intros; apply pow2_ge_0).
  assert (rr : r * r = A / INR d + ε).
  { unfold r. rewrite qv. apply sqrt_sqrt. apply Rplus_le_le_0_compat; auto. apply Rmult_le_pos; auto.
    left; now apply Rinv_0_lt_compat. }
  assert (ss : s * s = B / INR d + ε).
  { unfold s. rewrite qw. apply sqrt_sqrt. apply Rplus_le_le_0_compat; auto. apply Rmult_le_pos; auto.
    left; now apply Rinv_0_lt_compat. }
  assert (EA : A = INR d * (r * r) - INR d * ε) by (rewrite rr; field; lra).
  assert (EB : B = INR d * (s * s) - INR d * ε) by (rewrite ss; field; lra).
  assert (combination : forall a b, sum d (fun i => (a * v i + b * w i) ^ 2) = a ^ 2 * A + 2 * a * b * C + b ^ 2 * B).
  { intros a b. unfold A, B, C. rewrite <- !sum_scal, <- !sum_add. apply sum_ext; intros; ring. }
  assert (EU : sum d (fun i => (core d ε stored i - core d ε z i) ^ 2) =
    (/ r) ^ 2 * A - 2 * / r * / s * C + (/ s) ^ 2 * B).
  { rewrite (sum_ext d _ (fun i => (- / r * v i + / s * w i) ^ 2)).
    - rewrite combination. ring.
    - intros i _. unfold core. fold r s. unfold v, w, Rdiv. ring. }
  assert (ED : sum d (fun i => D i ^ 2) = A - 2 * C + B).
  { rewrite (sum_ext d _ (fun i => (- (1) * v i + 1 * w i) ^ 2)).
    - rewrite combination. ring.
    - intros i _. rewrite W. ring. }
  assert (tri : 0 <= s ^ 2 * A + 2 * s * r * C + r ^ 2 * B).
  { rewrite <- combination. apply sum_ge0; intros; apply pow2_ge_0. }
  unfold norm. rewrite EU, ED. fold D.
  set (n := INR d) in *.
  assert (rs : 0 < r * s) by nra.
  (* D² ≤ d (r + s)² *)
  assert (bound : A - 2 * C + B <= n * (r + s) ^ 2).
  { assert (- (2 * C) * (r * s) <= 2 * n * (r * s) * (r * s)).
    { rewrite EA, EB in tri. assert (0 <= n * ε) by (apply Rmult_le_pos; lra). nra. }
    assert (- (2 * C) <= 2 * n * (r * s)) by (apply Rmult_le_reg_r with (r * s); auto).
    assert (0 <= n * ε) by (apply Rmult_le_pos; lra). rewrite EA, EB. lra. }
  apply Rle_trans with (sqrt (4 * (A - 2 * C + B) / (r + s) ^ 2)).
  + apply sqrt_le_1_alt.
    set (X := A - 2 * C + B) in *.
    assert (EC : 2 * C = A + B - X) by (unfold X; ring).
    replace ((/ r) ^ 2 * A - 2 * / r * / s * C + (/ s) ^ 2 * B)
      with (((s * s) * A - (r * s) * (2 * C) + (r * r) * B) / (r * s) ^ 2) by (field; lra).
    rewrite EC. apply Rmult_le_reg_r with ((r * s) ^ 2 * (r + s) ^ 2); [apply Rmult_lt_0_compat; apply pow_lt; lra|].
    replace ((s * s * A - r * s * (A + B - X) + r * r * B) / (r * s) ^ 2 * ((r * s) ^ 2 * (r + s) ^ 2))
      with ((s * s * A - r * s * (A + B - X) + r * r * B) * (r + s) ^ 2) by (field; lra).
    replace (4 * X / (r + s) ^ 2 * ((r * s) ^ 2 * (r + s) ^ 2)) with (4 * X * (r * s) ^ 2) by (field; lra).
    replace (s * s * A - r * s * (A + B - X) + r * r * B)
      with (r * s * X - r * s * n * (r - s) ^ 2 - n * ε * (r - s) ^ 2) by (rewrite EA, EB; ring).
    assert (P1 : 0 <= n * ε * (r - s) ^ 2 * (r + s) ^ 2).
    { apply Rmult_le_pos; [apply Rmult_le_pos|]; try apply pow2_ge_0. apply Rmult_le_pos; lra. }
    assert (P2 : 0 <= (r * s) * ((r - s) ^ 2 * (n * (r + s) ^ 2 - X))).
    { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply pow2_ge_0|lra]. }
    replace ((r * s * X - r * s * n * (r - s) ^ 2 - n * ε * (r - s) ^ 2) * (r + s) ^ 2)
      with (4 * X * (r * s) ^ 2 - (r * s) * ((r - s) ^ 2 * (n * (r + s) ^ 2 - X))
            - n * ε * (r - s) ^ 2 * (r + s) ^ 2) by ring.
    lra.
  + assert (X0 : 0 <= A - 2 * C + B) by (rewrite <- ED; apply sum_ge0; intros; apply pow2_ge_0).
    right. apply sqrt_lem_1.
    * apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat, pow_lt. lra.
    * apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. apply Rmult_le_pos; [lra|apply sqrt_pos].
    * pose proof (sqrt_sqrt _ X0) as Q. set (x := sqrt (A - 2 * C + B)) in *. rewrite <- Q. field. lra.
- intros p ε p2 ε0 z stored.
  set (K := (2 ^ (p - 2))%Z).
  assert (B : 2^p = 4 * IZR K).
  { unfold K. change (2 ^ (p - 2))%Z with (Zpower radix2 (p - 2)). rewrite IZR_Zpower by lia.
    change 4 with (2^2). rewrite <- bpow_plus. f_equal; ring. }
  assert (P : (2 ^ p = 4 * K)%Z).
  { unfold K. replace p with (2 + (p - 2))%Z at 1 by ring. rewrite Z.pow_add_r by lia. reflexivity. }
  assert (K1 : (1 <= K)%Z) by (apply (Z.pow_le_mono_r 2 0); lia).
  assert (K1' : 1 <= IZR K) by now apply IZR_le.
  clearbody K.
  assert (S0 : stored 0%nat = 2^p).
  { unfold stored, z, pair. apply (nearest_is _ _ _ _ K 2); [lia|rewrite P; lia|ring|rewrite B; powers; ring]. }
  assert (S1 : stored 1%nat = 2^p).
  { unfold stored, z, pair. rewrite (nearest_value _ _ _ 1).
    - replace ((1 + 2^p) * 2^(- (1))) with (IZR (2 * K) + / 2).
      + rewrite tie_to_even by apply even_double. rewrite B, mult_IZR. powers. ring.
      + rewrite B, mult_IZR. powers. field.
    - replace (1 + p - 1)%Z with p by ring. rewrite bpow_plus, B. powers. rewrite Rabs_pos_eq; lra. }
  split; [auto|].
  assert (M : mean 2 stored = 2^p) by (unfold mean; simpl; rewrite S0, S1; field).
  assert (V : variance 2 z + ε = (1 + 4 * ε) / 2 ^ 2) by (rewrite (variance_two 0 1) by reflexivity; field).
  assert (R : sqrt (variance 2 z + ε) = sqrt (1 + 4 * ε) / 2).
  { rewrite V, sqrt_div, sqrt_pow2 by lra. reflexivity. }
  assert (0 < sqrt (1 + 4 * ε)) by (apply sqrt_lt_R0; lra).
  unfold core. rewrite R. unfold centred. rewrite M, S0, S1.
  assert (mean 2 z = / 2) as -> by (unfold mean, z, pair; simpl; field).
  unfold z, pair. split; split; try (field; lra); unfold Rdiv; ring.
Qed.

(* μ̂ is the mean of z_i(1 + δ_i), |δ_i| ≤ θ_(T+1), and off by at most θ_(T+1) mean|z| ≤ θ_(T+1) κ √q. *)
Theorem mean_error :
  (forall d, (1 <= d)%nat ->
     (adds_up d (in_turn d) /\ additions (in_turn d) = (d - 1)%nat) /\
     (adds_up d (in_pairs d) /\ (additions (in_pairs d) <= Nat.log2_up d)%nat)) /\
  forall (p : Z) (ties : Z -> bool) (d : nat) (o : order) (T : nat) (z : row),
  (0 < p)%Z -> number p (INR d) -> adds_up d o -> (additions o <= T)%nat ->
  let η := unit_roundoff p in let fl := nearest p ties in
  INR (T + 1) * η < 1 ->
  (exists δ : row, (forall i, Rabs (δ i) <= θ η (T + 1)) /\
     fl_mean fl d o z = mean d (fun i => z i * (1 + δ i))) /\
  Rabs (fl_mean fl d o z - mean d z) <= θ η (T + 1) * mean d (fun i => Rabs (z i)) /\
  (0 < variance d z ->
     θ η (T + 1) * mean d (fun i => Rabs (z i)) <= θ η (T + 1) * (κ d z * sqrt (variance d z))).
Proof.
split.
- intros d d1. split; [split; [now apply in_turn_adds_up|apply in_turn_additions]|now apply in_pairs_adds_up].
- intros p ties d o T z p0 Nd Ho HT η fl H.
  assert (η0 : 0 <= η) by (left; apply η_pos).
  assert (E : fl (INR d) = INR d) by now apply nearest_number.
  pose proof (nearest_model p ties p0) as model.
  split; [now apply (fl_mean_errors η fl)|].
  destruct (fl_mean_error η fl η0 model d o T Ho HT E z H) as [E1 E2]. split; auto.
  intros q0. rewrite κ_root by (auto; now apply (adds_up_d1 d o)).
  apply Rmult_le_compat_l; auto. now apply θ_ge0.
Qed.

(* mean(w²) = q + δ², and the core becomes √((q + ε)/(q + δ² + ε)) u + δ/√(q + δ² + ε) 1. *)
Theorem wrong_mean (d : nat) (z : row) (m δ ε : R) : (1 <= d)%nat -> m = mean d z - δ -> 0 < variance d z + ε ->
  let w := fun i => z i - m in
  let q := variance d z in
  (forall i, w i = centred d z i + δ) /\
  mean d (fun i => w i ^ 2) = q + δ ^ 2 /\
  forall i, w i / sqrt (mean d (fun i => w i ^ 2) + ε)
            = sqrt ((q + ε) / (q + δ ^ 2 + ε)) * core d ε z i + δ / sqrt (q + δ ^ 2 + ε).
Proof.
intros d1 -> qε w q.
assert (W : forall i, w i = centred d z i + δ) by (intros; unfold w, centred; ring).
assert (M : mean d (fun i => w i ^ 2) = q + δ ^ 2).
{ unfold q; rewrite <- (mean_shifted_squares d d1). apply mean_ext. intros; now rewrite W. }
split; auto. split; auto. intros i. rewrite M, W. unfold core. fold q in qε |- *.
assert (0 < q + δ ^ 2 + ε) by nra.
rewrite sqrt_div by lra.
assert (0 < sqrt (q + δ ^ 2 + ε)) by now apply sqrt_lt_R0.
assert (0 < sqrt (q + ε)) by now apply sqrt_lt_R0.
field; lra.
Qed.

(* The variance in one pass is off by at most θ_(3T+6) κ² q. *)
Theorem one_pass (p : Z) (ties : Z -> bool) (d : nat) (o : order) (T : nat) (z : row) :
  (0 < p)%Z -> number p (INR d) -> adds_up d o -> (additions o <= T)%nat ->
  let η := unit_roundoff p in let fl := nearest p ties in
  INR (3 * T + 6) * η < 1 -> 0 < variance d z ->
  Rabs (fl_one_pass fl d o z - variance d z) <= θ η (3 * T + 6) * κ d z ^ 2 * variance d z.
Proof.
intros p0 Nd Ho HT η fl H q0.
rewrite Rmult_assoc, κ_square by (auto; now apply (adds_up_d1 d o)).
apply computed_one_pass; auto.
- left; apply η_pos.
- now apply nearest_model.
- now apply nearest_number.
Qed.

(* Two passes: q̂ = (q + δ²)(1 + θ), |θ| ≤ θ_(T+4), |δ| ≤ θ_(T+1) κ √q, and ‖v̂ − v‖ ≤ θ_(T+2) κ ‖v‖. *)
Theorem two_pass (p : Z) (ties : Z -> bool) (d : nat) (o : order) (T : nat) (z : row) :
  (0 < p)%Z -> number p (INR d) -> adds_up d o -> (additions o <= T)%nat ->
  let η := unit_roundoff p in let fl := nearest p ties in
  INR (T + 4) * η < 1 -> 0 < variance d z ->
  let q := variance d z in let v := centred d z in
  let δ := mean d z - fl_mean fl d o z in
  let v' := fl_centred fl d o z in let q' := fl_two_pass fl d o z in
  Rabs δ <= θ η (T + 1) * κ d z * sqrt q /\
  (exists t, Rabs t <= θ η (T + 4) /\ q' = (q + δ ^ 2) * (1 + t)) /\
  (forall i, Rabs (v' i - v i) <= Rabs δ + η * Rabs (v i + δ)) /\
  Rabs (q' - q) <= (θ η (T + 4) + (1 + θ η (T + 4)) * θ η (T + 1) ^ 2 * κ d z ^ 2) * q /\
  norm d (fun i => v' i - v i) <= θ η (T + 2) * κ d z * norm d v.
Proof.
intros p0 Nd Ho HT η fl H q0 q v δ v' q'. fold q in q0.
assert (η0 : 0 <= η) by (left; apply η_pos).
assert (E : fl (INR d) = INR d) by now apply nearest_number.
pose proof (nearest_model p ties p0) as model. pose proof (adds_up_d1 d o Ho) as d1.
assert (lt : forall n, (n <= T + 4)%nat -> INR n * η < 1).
{ intros n Hn. apply le_INR in Hn. nra. }
assert (Hδ : Rabs δ <= θ η (T + 1) * κ d z * sqrt q).
{ rewrite Rmult_assoc. unfold q; rewrite κ_root by auto. apply mean_off; auto. apply lt; lia. }
destruct (computed_two_pass η fl η0 model d o T Ho HT E z H) as (t & Ht & Q).
fold δ q q' in Q.
split; auto. split; [now exists t|]. split; [intros i; apply (computed_centred η fl model)|].
split; [|apply computed_centred_norm; auto; apply lt; lia].
assert (D : δ ^ 2 <= θ η (T + 1) ^ 2 * κ d z ^ 2 * q).
{ assert (s : sqrt q * sqrt q = q) by (apply sqrt_sqrt; lra).
  replace (θ η (T + 1) ^ 2 * κ d z ^ 2 * q) with (θ η (T + 1) ^ 2 * κ d z ^ 2 * (sqrt q * sqrt q))
    by now rewrite s.
  replace (θ η (T + 1) ^ 2 * κ d z ^ 2 * (sqrt q * sqrt q)) with ((θ η (T + 1) * κ d z * sqrt q) ^ 2) by ring.
  rewrite <- (pow2_abs δ). apply pow_incr; split; [apply Rabs_pos|auto]. }
rewrite Q. replace ((q + δ ^ 2) * (1 + t) - q) with (t * q + (1 + t) * δ ^ 2) by ring.
pose proof (θ_ge0 η η0 _ H). pose proof (pow2_ge_0 δ).
eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq q), (Rabs_pos_eq (δ ^ 2)) by lra.
assert (Rabs (1 + t) <= 1 + θ η (T + 4)).
{ eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1; lra. }
assert (Rabs (1 + t) * δ ^ 2 <= (1 + θ η (T + 4)) * (θ η (T + 1) ^ 2 * κ d z ^ 2 * q)).
{ apply Rmult_le_compat; auto. apply Rabs_pos. }
nra.
Qed.

(* ---- Welford ---- *)

Lemma sum_from a b z : sum (a + b) z = sum a z + sum b (from a z).
Proof.
induction b as [|b IH]; [rewrite Nat.add_0_r; simpl; ring|].
rewrite Nat.add_succ_r. simpl. rewrite IH. unfold from; ring.
Qed.

Lemma sum_squared_deviations k z : (1 <= k)%nat ->
  sum k (fun i => (z i - mean k z) ^ 2) = sum k (fun i => z i ^ 2) - sum k z ^ 2 / INR k.
Proof.
intros k1. pose proof (entries_pos k k1) as K. pose proof (mean_squares k k1 z) as M.
replace (sum k (fun i => (z i - mean k z) ^ 2)) with (INR k * variance k z)
  by (unfold variance, centred, mean; field; lra).
replace (sum k (fun i => z i ^ 2)) with (INR k * mean k (fun i => z i ^ 2)) by (unfold mean; field; lra).
rewrite M. unfold mean. field. lra.
Qed.

Lemma welford_exact z k : (1 <= k)%nat ->
  welford_steps (fun x => x) z k = (mean k z, sum k (fun i => (z i - mean k z) ^ 2)).
Proof.
induction k as [|[|k] IH]; intros k1; [lia| |].
- simpl. f_equal; [unfold mean; simpl; field|unfold mean; simpl; field].
- change (welford_steps (fun x => x) z (S (S k))) with
    (let (m, M) := welford_steps (fun x => x) z (S k) in
     (m + (z (S k) - m) / INR (S (S k)), M + (z (S k) - m) * (z (S k) - (m + (z (S k) - m) / INR (S (S k)))))).
  rewrite IH by lia.
  assert (K : 0 < INR (S k)) by (apply entries_pos; lia). assert (E : INR (S (S k)) = INR (S k) + 1) by apply S_INR.
  f_equal.
  + unfold mean at 1 2 3. change (sum (S (S k)) z) with (sum (S k) z + z (S k)). rewrite E. field. lra.
  + rewrite !sum_squared_deviations by lia.
    change (sum (S (S k)) z) with (sum (S k) z + z (S k)).
    change (sum (S (S k)) (fun i => z i ^ 2)) with (sum (S k) (fun i => z i ^ 2) + z (S k) ^ 2).
    unfold mean. rewrite E. field. lra.
Qed.

Section Welford.
Variables (p emin : Z) (ties : Z -> bool) (fexp : Z -> Z).
Hypothesis p0 : (0 < p)%Z.
Hypothesis emin0 : (emin <= 0)%Z.
Hypothesis format : fexp = FLX_exp p \/ fexp = FLT_exp emin p.
Notation number := (generic_format radix2 fexp).
Notation fl := (round radix2 fexp (Znearest ties)).

Local Instance p_pos : Prec_gt_0 p := p0.
Local Instance valid_format : Valid_exp fexp.
Proof. destruct format as [-> | ->]; auto with typeclass_instances. Qed.

(* a difference of two numbers is 0 or of size 2^e at least, with 2^e a number *)
Lemma difference_power x y : number x -> number y -> x - y = 0 \/ number (2^(mag radix2 (x - y) - 1)).
Proof.
intros Fx Fy. destruct (Req_dec (x - y) 0) as [|n]; [now left|right]. apply generic_format_bpow.
destruct format as [-> | ->]; [unfold FLX_exp; lia|].
assert (B : 2^emin <= Rabs (x - y)).
{ apply generic_format_FIX_FLT in Fx; auto. apply generic_format_FIX_FLT in Fy; auto.
  apply FIX_format_generic in Fx. apply FIX_format_generic in Fy.
  destruct Fx as [[mx ex] Ex Hx]. destruct Fy as [[my ey] Ey Hy]. simpl in Hx, Hy. subst ex ey.
  assert (E : x - y = IZR (mx - my) * 2^emin).
  { rewrite Ex, Ey, minus_IZR. unfold F2R; simpl. ring. }
  rewrite E, Rabs_mult, (Rabs_pos_eq (2^emin)) by apply bpow_ge_0.
  rewrite <- (Rmult_1_l (2^emin)) at 1. apply Rmult_le_compat_r; [apply bpow_ge_0|].
  rewrite <- abs_IZR. apply IZR_le. assert (mx - my <> 0)%Z; [|lia]. intros Z0. apply n. rewrite E, Z0. ring. }
assert (emin < mag radix2 (x - y))%Z.
{ apply (lt_bpow radix2). eapply Rle_lt_trans; [exact B|]. apply bpow_mag_gt. }
unfold FLT_exp. lia.
Qed.

(* the step from m towards z does not go beyond z *)
Lemma welford_step m z k : number m -> number z -> (2 <= k)%nat ->
  let b := fl (z - m) in 0 <= b * fl (z - fl (m + fl (b / fl (INR k)))).
Proof.
intros Fm Fz k2 b. set (x := z - m) in *.
assert (two : number 2).
{ change 2 with (2^1). apply generic_format_bpow. destruct format as [-> | ->]; unfold FLX_exp, FLT_exp; lia. }
assert (K : 2 <= fl (INR k)).
{ apply round_ge_generic; auto with typeclass_instances. apply (le_INR 2) in k2. simpl in k2. lra. }
destruct (difference_power z m Fz Fm) as [E|F]; [fold x in E|fold x in F].
{ unfold b. rewrite E, round_0 by auto with typeclass_instances. lra. }
assert (x0 : x <> 0 \/ x = 0) by lra. destruct x0 as [x0|x0].
2: { unfold b. rewrite x0, round_0 by auto with typeclass_instances. lra. }
set (g := 2^(mag radix2 x - 1)) in *.
assert (gx : g <= Rabs x) by now apply bpow_mag_le.
assert (g0 : 0 < g) by apply bpow_gt_0.
assert (gg : 2^(mag radix2 x) = 2 * g).
{ unfold g. change 2 with (2^1). rewrite <- bpow_plus. f_equal; ring. }
assert (F2 : number (2 * g)).
{ rewrite <- gg. apply generic_format_bpow'; auto with typeclass_instances.
  pose proof (generic_format_bpow_inv' radix2 fexp _ F) as I.
  replace (mag radix2 x - 1 + 1)%Z with (mag radix2 x : Z) in I by ring.
  lia. }
assert (xg : Rabs x <= 2 * g) by (rewrite <- gg; left; apply bpow_mag_gt).
assert (bg : Rabs b <= 2 * g) by (apply abs_round_le_generic; auto with typeclass_instances).
set (t := fl (b / fl (INR k))).
assert (tg : Rabs t <= g).
{ apply abs_round_le_generic; auto with typeclass_instances. unfold Rdiv.
  rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (fl (INR k))) by lra.
  apply Rmult_le_reg_r with (fl (INR k)); [lra|]. rewrite Rmult_assoc, Rinv_l by lra. nra. }
assert (inv : 0 < / fl (INR k)) by (apply Rinv_0_lt_compat; lra).
destruct (Rle_lt_dec 0 x) as [s|s].
- rewrite (Rabs_pos_eq x) in gx by auto.
  assert (b0 : 0 <= b) by (apply round_ge_generic; auto with typeclass_instances; apply generic_format_0).
  assert (t0 : 0 <= t).
  { apply round_ge_generic; auto with typeclass_instances; [apply generic_format_0|]. apply Rmult_le_pos; lra. }
  rewrite Rabs_pos_eq in tg by auto.
  apply Rmult_le_pos; auto. apply round_ge_generic; auto with typeclass_instances; [apply generic_format_0|].
  assert (fl (m + t) <= z); [|lra]. apply round_le_generic; auto with typeclass_instances. unfold x in gx; lra.
- rewrite (Rabs_left x) in gx by auto.
  assert (b0 : b <= 0) by (apply round_le_generic; auto with typeclass_instances; [apply generic_format_0|lra]).
  assert (t0 : t <= 0).
  { apply round_le_generic; auto with typeclass_instances; [apply generic_format_0|]. unfold Rdiv. nra. }
  rewrite Rabs_left1 in tg by auto.
  assert (fl (z - fl (m + t)) <= 0).
  { apply round_le_generic; auto with typeclass_instances; [apply generic_format_0|].
    assert (z <= fl (m + t)); [|lra]. apply round_ge_generic; auto with typeclass_instances. unfold x in gx; lra. }
  nra.
Qed.

Lemma welford_grows z k : (forall i, (i < S k)%nat -> number (z i)) -> (1 <= k)%nat ->
  snd (welford_steps fl z k) <= snd (welford_steps fl z (S k)) /\ 0 <= snd (welford_steps fl z k).
Proof.
intros Fz k1.
assert (F : forall j, (1 <= j <= k)%nat -> number (fst (welford_steps fl z j)) /\ number (snd (welford_steps fl z j))).
{ induction j as [|[|j] IH]; intros Hj; [lia| |].
  - simpl. split; [apply Fz; lia|apply generic_format_0].
  - change (welford_steps fl z (S (S j))) with
      (let (m, M) := welford_steps fl z (S j) in let b := fl (z (S j) - m) in
       let m' := fl (m + fl (b / fl (INR (S (S j))))) in (m', fl (M + fl (b * fl (z (S j) - m'))))).
    destruct (welford_steps fl z (S j)) as [m M]. simpl fst; simpl snd.
    split; apply generic_format_round; auto with typeclass_instances. }
assert (grow : forall j, (1 <= j <= k)%nat -> snd (welford_steps fl z j) <= snd (welford_steps fl z (S j))).
{ intros j Hj. destruct (F j Hj) as [Fm FM]. destruct j as [|j]; [lia|].
  change (welford_steps fl z (S (S j))) with
    (let (m, M) := welford_steps fl z (S j) in let b := fl (z (S j) - m) in
     let m' := fl (m + fl (b / fl (INR (S (S j))))) in (m', fl (M + fl (b * fl (z (S j) - m'))))).
  destruct (welford_steps fl z (S j)) as [m M]. cbn [fst snd] in *. cbv zeta.
  apply round_ge_generic; auto with typeclass_instances.
  apply Rle_trans with (M + 0); [lra|apply Rplus_le_compat_l].
  apply round_ge_generic; auto with typeclass_instances; [apply generic_format_0|].
  refine (welford_step m (z (S j)) (S (S j)) Fm _ _); [apply Fz; lia|lia]. }
split; [apply grow; lia|].
assert (all : forall j, (1 <= j <= k)%nat -> 0 <= snd (welford_steps fl z j)).
{ induction j as [|[|j] IH]; intros Hj; [lia|simpl; lra|]. eapply Rle_trans; [apply IH; lia|]. apply grow; lia. }
apply all; lia.
Qed.
End Welford.

(* Steps and merged blocks give mean and variance on paper; as computed, M never decreases and is never negative. *)
Theorem welford :
  (forall (z : row) (k : nat), (1 <= k)%nat ->
     welford_steps (fun x => x) z k = (mean k z, sum k (fun i => (z i - mean k z) ^ 2)) /\
     sum k (fun i => (z i - mean k z) ^ 2) / INR k = variance k z) /\
  (forall (p emin : Z) (ties : Z -> bool) (fexp : Z -> Z) (z : row) (k : nat),
     (0 < p)%Z -> (emin <= 0)%Z -> fexp = FLX_exp p \/ fexp = FLT_exp emin p -> (1 <= k)%nat ->
     (forall i, (i < S k)%nat -> generic_format radix2 fexp (z i)) ->
     let fl := round radix2 fexp (Znearest ties) in
     snd (welford_steps fl z k) <= snd (welford_steps fl z (S k)) /\
     0 <= fl (snd (welford_steps fl z k) / fl (INR k))) /\
  (forall (z : row) (a b : nat), (1 <= a)%nat -> (1 <= b)%nat ->
     let m := mean a z in let m' := mean b (from a z) in
     mean (a + b) z = m + (m' - m) * (INR b / INR (a + b)) /\
     sum (a + b) (fun i => (z i - mean (a + b) z) ^ 2) =
       sum a (fun i => (z i - m) ^ 2) + sum b (fun i => (from a z i - m') ^ 2)
       + (m' - m) ^ 2 * (INR a * INR b / INR (a + b))) /\
  (forall (p emin : Z) (ties : Z -> bool) (fexp : Z -> Z) (M M' t : R),
     (0 < p)%Z -> fexp = FLX_exp p \/ fexp = FLT_exp emin p ->
     generic_format radix2 fexp M -> generic_format radix2 fexp M' -> 0 <= M -> 0 <= M' -> 0 <= t ->
     let fl := round radix2 fexp (Znearest ties) in
     M <= fl (fl (M + M') + t) /\ M' <= fl (fl (M + M') + t)).
Proof.
split; [|split; [|split]].
- intros z k k1. split; [now apply welford_exact|reflexivity].
- intros p emin ties fexp z k p0 e0 Hf k1 Fz fl.
  destruct (welford_grows p emin ties fexp p0 e0 Hf z k Fz k1) as [G N]. split; auto.
  assert (V := valid_format p emin fexp p0 Hf).
  apply round_ge_generic; auto with typeclass_instances; [apply generic_format_0|].
  assert (1 <= fl (INR k)).
  { apply round_ge_generic; auto with typeclass_instances.
    - change 1 with (2^0). apply generic_format_bpow. destruct Hf as [-> | ->]; unfold FLX_exp, FLT_exp; lia.
    - now apply (le_INR 1). }
  apply Rmult_le_pos; auto. left; apply Rinv_0_lt_compat; lra.
- intros z a b a1 b1 m m'.
  assert (A : 0 < INR a) by now apply entries_pos. assert (B : 0 < INR b) by now apply entries_pos.
  split.
  + unfold m, m', mean. rewrite sum_from, plus_INR. field. lra.
  + unfold m'. rewrite !sum_squared_deviations by lia. unfold m, mean. rewrite !sum_from, plus_INR.
    change (from a (fun i => z i ^ 2)) with (fun i => from a z i ^ 2). field. lra.
- intros p emin ties fexp M M' t p0 Hf FM FM' M0 M0' t0 fl.
  assert (V := valid_format p emin fexp p0 Hf).
  split; apply round_ge_generic; auto with typeclass_instances.
  + assert (M <= fl (M + M')); [|lra]. apply round_ge_generic; auto with typeclass_instances. lra.
  + assert (M' <= fl (M + M')); [|lra]. apply round_ge_generic; auto with typeclass_instances. lra.
Qed.

(* z r − m r is computed as (r(z − m) + ρ)(1 + δ), |ρ| ≤ ηr(|z| + |m|); an exact m and r can lose over 1.96 ηκ. *)
Theorem affine_form :
  (forall (p : Z) (ties : Z -> bool) (r m z : R), (0 < p)%Z -> number p r -> 0 <= r ->
     let η := unit_roundoff p in let fl := nearest p ties in
     (exists ρ δ, fl_affine fl r m z = (r * (z - m) + ρ) * (1 + δ) /\
        Rabs ρ <= η * r * (Rabs z + Rabs m) /\ Rabs δ <= η) /\
     (exists δ δ', fl (fl (z - m) * r) = (z - m) * r * (1 + δ) * (1 + δ') /\ Rabs δ <= η /\ Rabs δ' <= η)) /\
  (exists ε r, let z := pair 8230 8232 in let fl := nearest 24 to_even in
     0 < ε /\ number 24 r /\ r = / sqrt (variance 2 z + ε) /\ fl_mean fl 2 (in_turn 2) z = mean 2 z /\
     Rabs (fl_affine fl r (mean 2 z) (z 1%nat) - core 2 ε z 1%nat) >= 196 / 100 * unit_roundoff 24 * κ 2 z).
Proof.
split.
- intros p ties r m z p0 Fr r0 η fl.
  destruct (nearest_model p ties p0 (z * r)) as (δ1 & B1 & E1).
  destruct (nearest_model p ties p0 (m * r)) as (δ2 & B2 & E2).
  destruct (nearest_model p ties p0 (z - m)) as (δ3 & B3 & E3).
  destruct (nearest_model p ties p0 ((z - m) * (1 + δ3) * r)) as (δ4 & B4 & E4).
  fold fl in E1, E2, E3, E4. fold η in B1, B2, B3, B4.
  assert (P : Prec_gt_0 p) by exact p0.
  split.
  + unfold fl_affine. cbv zeta. assert (fl (1 * r) = r) as -> by (rewrite Rmult_1_l; now apply nearest_number).
    assert (fl (0 - fl (m * r)) = - fl (m * r)) as ->.
    { replace (0 - fl (m * r)) with (- fl (m * r)) by ring. apply nearest_number; auto.
      apply generic_format_opp, generic_format_round; auto with typeclass_instances. }
    rewrite E1, E2. destruct (nearest_model p ties p0 (z * r * (1 + δ1) + - (m * r * (1 + δ2)))) as (δ & B & E).
    exists (r * (z * δ1 - m * δ2)), δ. split; [|split; auto].
    * fold fl in E. rewrite E. f_equal. ring.
    * rewrite Rabs_mult, (Rabs_pos_eq r) by auto.
      assert (Rabs (z * δ1 - m * δ2) <= η * (Rabs z + Rabs m)).
      { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, !Rabs_mult.
        pose proof (Rabs_pos z). pose proof (Rabs_pos m). nra. }
      nra.
  + exists δ3, δ4. rewrite E3, E4. repeat split; auto; ring.
- set (r := IZR 16777010 * 2^(-24)). exists (/ (r * r) - 1), r. cbv zeta.
  set (z := pair 8230 8232).
  assert (Er : r = 16777010 / 16777216) by (unfold r; change (2^(-24)) with (/ 16777216); lra).
  assert (V : variance 2 z = 1) by (rewrite (variance_two 8230 8232) by reflexivity; field).
  assert (M : mean 2 z = 8231) by (unfold mean, z, pair; simpl; field).
  assert (r0 : 0 < r) by lra.
  assert (S : sqrt (variance 2 z + (/ (r * r) - 1)) = / r).
  { rewrite V. replace (1 + (/ (r * r) - 1)) with ((/ r) ^ 2) by (field; lra).
    apply sqrt_pow2. left; now apply Rinv_0_lt_compat. }
  assert (Fr : number 24 r) by (apply number_scaled; simpl; lia).
  assert (one : nearest 24 to_even 2 = 2) by (apply (nearest_is _ _ _ _ 1 1); [lia|simpl; lia|auto|powers; ring]).
  repeat split.
  + assert (r * r < 1) by (rewrite Er; lra). assert (1 < / (r * r)); [|lra].
    rewrite <- Rinv_1 at 1. apply Rinv_lt_contravar; [nra|auto].
  + exact Fr.
  + rewrite S, Rinv_inv. reflexivity.
  + rewrite fl_mean_two, one, M. unfold z, pair.
    rewrite (nearest_is _ _ (8230 + 8232) 16462 16462 0); [|lia|simpl; lia|lra|powers; lra].
    apply (nearest_is _ _ _ _ 8231 0); [lia|simpl; lia|field|powers; lra].
  + assert (K : κ 2 z <= 8232).
    { unfold κ. rewrite V, M. rewrite <- (sqrt_pow2 8232) by lra. apply sqrt_le_1_alt. lra. }
    assert (A : fl_affine (nearest 24 to_even) r (mean 2 z) (z 1%nat) = 1023 / 1024).
    { rewrite M. unfold fl_affine, z, pair. cbv zeta.
      assert (nearest 24 to_even (1 * r) = r) as -> by (rewrite Rmult_1_l; now apply nearest_number).
      assert (B : 2^13 = 8192 /\ 2^14 = 16384) by (split; reflexivity). destruct B as [B13 B14].
      assert (nearest 24 to_even (8232 * r) = IZR 8429464 * 2^(-10)) as ->.
      { apply nearest_rounds; [lia| |].
        - simpl Z.add. simpl Z.sub. rewrite B13, B14, Rabs_pos_eq; lra.
        - change (2^(- (-10))) with 1024. apply Rabs_def1; lra. }
      assert (nearest 24 to_even (8231 * r) = IZR 8428441 * 2^(-10)) as ->.
      { apply nearest_rounds; [lia| |].
        - simpl Z.add. simpl Z.sub. rewrite B13, B14, Rabs_pos_eq; lra.
        - change (2^(- (-10))) with 1024. apply Rabs_def1; lra. }
      change (2^(-10)) with (/ 1024).
      rewrite (nearest_is _ _ (0 - 8428441 * / 1024) (- 8428441 / 1024) (-8428441) (-10));
        [|lia|simpl; lia|lra|change (2^(-10)) with (/ 1024); lra].
      apply (nearest_is _ _ _ _ 1023 (-10)); [lia|simpl; lia|lra|change (2^(-10)) with (/ 1024); lra]. }
    rewrite A. revert K. generalize (κ 2 z). intros k K. unfold core, centred. rewrite S, M. unfold z, pair.
    replace ((8232 - 8231) / / r) with r by (field; lra).
    unfold unit_roundoff. change (2^(- (24))) with (/ 16777216).
    rewrite Rabs_left by lra. rewrite Er. lra.
Qed.

(* If θ_(T+1) κ ≤ 1 and η ≤ 1/8, centring twice is off by at most 2θ_(T+4) max|v| in every coordinate. *)
Theorem recentre_twice (p : Z) (ties : Z -> bool) (d : nat) (o : order) (T : nat) (z : row) :
  (0 < p)%Z -> number p (INR d) -> adds_up d o -> (additions o <= T)%nat ->
  let η := unit_roundoff p in let fl := nearest p ties in
  η <= 1 / 8 -> INR (T + 1) * η < 1 -> 0 < variance d z -> θ η (T + 1) * κ d z <= 1 ->
  let c := fl_centred fl d o z in
  largest d (fun i => fl_centred fl d o c i - centred d z i) <= 2 * θ η (T + 4) * largest d (centred d z).
Proof.
intros p0 Nd Ho HT η fl η8 H q0 tk c.
apply computed_recentred; auto.
- left; apply η_pos.
- now apply nearest_model.
- now apply nearest_number.
Qed.

Section Squares.
Variables (p emax : Z).
Context (p_gt_0 : Prec_gt_0 p) (p_lt_emax : Prec_lt_emax p emax).
Notation float := (binary_float p emax).
Local Instance valid_fexp' : Valid_exp (SpecFloat.fexp p emax) := FLT_exp_valid (SpecFloat.emin p emax) p.

Lemma square_overflows (a : float) h : emax = (2 * h)%Z -> is_finite a = true -> 2^h <= Rabs (B2R a) ->
  Bmult mode_NE a a = B754_infinity false.
Proof.
intros Eh Fa H. pose proof (Bmult_correct p emax _ _ mode_NE a a) as C.
rewrite Rlt_bool_false in C.
- rewrite Bool.xorb_nilpotent in C. destruct (Bmult mode_NE a a); simpl in C; try easy. now injection C as ->.
- apply Rle_trans with (round radix2 (SpecFloat.fexp p emax) (round_mode mode_NE) (B2R a * B2R a)); [|apply Rle_abs].
  apply round_ge_generic; auto with typeclass_instances.
  + apply generic_format_bpow. unfold SpecFloat.fexp, SpecFloat.emin.
    pose proof (prec_gt_0 p). pose proof (prec_lt_emax p emax). lia.
  + assert (E : 2^emax = 2^h * 2^h) by (rewrite <- bpow_plus; f_equal; lia). rewrite E. pose proof (bpow_gt_0 radix2 h).
    rewrite <- (Rabs_pos_eq (B2R a * B2R a)) by apply Rle_0_sqr. rewrite Rabs_mult. nra.
Qed.

Lemma square_underflows (a : float) : is_finite a = true -> Rabs (B2R a) <= sqrt (2^(SpecFloat.emin p emax - 1)) ->
  Bmult mode_NE a a = B754_zero false.
Proof.
intros Fa H.
assert (R : round radix2 (SpecFloat.fexp p emax) (round_mode mode_NE) (B2R a * B2R a) = 0).
{ apply (stored_as_zero p); [exact p_gt_0|]. split; [apply Rle_0_sqr|].
  rewrite <- (sqrt_sqrt (2^(SpecFloat.emin p emax - 1))) by apply bpow_ge_0.
  rewrite <- (Rabs_pos_eq (B2R a * B2R a)) by apply Rle_0_sqr. rewrite Rabs_mult.
  apply Rmult_le_compat; auto; apply Rabs_pos. }
pose proof (Bmult_correct p emax _ _ mode_NE a a) as C. rewrite R, Rabs_R0, Rlt_bool_true in C by apply bpow_gt_0.
destruct C as (C1 & C2 & C3). rewrite Fa in C2. simpl in C2. rewrite Bool.xorb_nilpotent in C3.
apply B2R_Bsign_inj; auto. apply C3. now destruct (Bmult mode_NE a a).
Qed.
End Squares.

(* Squares are ∞ from 2^8, 2^64, 2^64, 2^512 on, and 0 up to √2^(−25), √2^(−150). *)
Theorem square_range :
  (forall a : float16, is_finite a = true -> 2^8 <= Rabs (B2R a) -> Bmult mode_NE a a = B754_infinity false) /\
  (forall a : float32, is_finite a = true -> 2^64 <= Rabs (B2R a) -> Bmult mode_NE a a = B754_infinity false) /\
  (forall a : bfloat16, is_finite a = true -> 2^64 <= Rabs (B2R a) -> Bmult mode_NE a a = B754_infinity false) /\
  (forall a : float64, is_finite a = true -> 2^512 <= Rabs (B2R a) -> Bmult mode_NE a a = B754_infinity false) /\
  (forall a : float16, is_finite a = true -> 0 < Rabs (B2R a) <= sqrt (2^(-25)) ->
     Bmult mode_NE a a = B754_zero false) /\
  (forall a : float32, is_finite a = true -> 0 < Rabs (B2R a) <= sqrt (2^(-150)) ->
     Bmult mode_NE a a = B754_zero false).
Proof.
repeat split; intros a Fa H.
- now apply (square_overflows 11 16 _ _ a 8).
- now apply (square_overflows 24 128 _ _ a 64).
- now apply (square_overflows 8 128 _ _ a 64).
- now apply (square_overflows 53 1024 _ _ a 512).
- now apply (square_underflows 11 16).
- now apply (square_underflows 24 128).
Qed.

(* u = v'/√(mean(v'²) + ε/s²), |v'| ≤ 1, the sum from 1/d to 2; for S in [s, 2s) from 1/(4d) to 2. *)
Theorem scaled_statistics (d : nat) (z : row) (ε : R) : (1 <= d)%nat -> 0 <= ε ->
  let v := centred d z in
  let s := Rmax (largest d v) (sqrt ε) in
  let scaled S := mean d (fun i => (v i / S) ^ 2) + ε / S ^ 2 in
  0 < s ->
  (forall S i, 0 < S -> core d ε z i = v i / S / sqrt (scaled S)) /\
  (forall i, (i < d)%nat -> Rabs (v i / s) <= 1) /\
  1 / INR d <= scaled s <= 2 /\
  (forall S, s <= S < 2 * s ->
     (forall i, (i < d)%nat -> Rabs (v i / S) <= 1) /\ ε / S <= sqrt ε /\ ε / S / S <= 1 /\
     1 / (4 * INR d) <= scaled S <= 2) /\
  (forall (p : Z) (ties : Z -> bool) (k : Z) (x : R), (0 < p)%Z -> number p x ->
     number p (x / 2^k) /\ nearest p ties (x / 2^k) = x / 2^k).
Proof.
intros d1 ε0 v s scaled s0.
assert (N : 0 < INR d) by now apply entries_pos. assert (N1 : 1 <= INR d) by now apply (le_INR 1).
assert (vs : forall i, (i < d)%nat -> Rabs (v i) <= s).
{ intros i Hi. eapply Rle_trans; [now apply (largest_entry d v i)|apply Rmax_l]. }
assert (es : sqrt ε <= s) by apply Rmax_r.
assert (ee : sqrt ε * sqrt ε = ε) by now apply sqrt_sqrt.
assert (e0 := sqrt_pos ε).
assert (E : forall S, 0 < S -> scaled S = (variance d z + ε) / S ^ 2).
{ intros S S0. unfold scaled. rewrite (mean_ext d _ (fun i => / S ^ 2 * v i ^ 2)).
  - rewrite mean_scal by auto. unfold variance. fold v. field; lra.
  - intros; field; lra. }
assert (ratio : forall S i, s <= S -> (i < d)%nat -> Rabs (v i / S) <= 1).
{ intros S i HS Hi. unfold Rdiv. assert (0 < / S) by (apply Rinv_0_lt_compat; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by lra. apply Rmult_le_reg_r with S; [lra|].
  rewrite Rmult_assoc, Rinv_l by lra. pose proof (vs i Hi). lra. }
assert (top : forall S, s <= S -> scaled S <= 2).
{ intros S HS. unfold scaled. assert (mean d (fun i => (v i / S) ^ 2) <= 1).
  { rewrite <- (mean_const d d1 1). apply mean_le; auto; intros i Hi. rewrite <- pow2_abs.
    pose proof (ratio S i HS Hi). pose proof (Rabs_pos (v i / S)). nra. }
  assert (ε / S ^ 2 <= 1); [|lra]. apply Rmult_le_reg_r with (S ^ 2); [apply pow_lt; lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (apply pow_nonzero; lra). nra. }
assert (low : s ^ 2 / INR d <= variance d z + ε).
{ assert (L : forall n, (n <= d)%nat -> largest n v ^ 2 <= sum d (fun i => v i ^ 2)).
  { induction n as [|n IH]; intros Hn; simpl largest.
    - rewrite pow_ne_zero by lia. apply sum_ge0; intros; apply pow2_ge_0.
    - apply Rmax_case; [apply IH; lia|]. rewrite pow2_abs.
      apply (sum_entry d (fun i => v i ^ 2)); [intros; apply pow2_ge_0|lia]. }
  specialize (L d (le_n d)).
  assert (q : variance d z = sum d (fun i => v i ^ 2) / INR d) by reflexivity.
  assert (i0 : 0 < / INR d) by now apply Rinv_0_lt_compat.
  assert (i1 : / INR d <= 1) by (rewrite <- Rinv_1; apply Rinv_le; lra).
  unfold Rdiv in *. rewrite q. unfold s. apply Rmax_case.
  - apply Rle_trans with (sum d (fun i => v i ^ 2) * / INR d); [apply Rmult_le_compat_r; lra|lra].
  - assert (0 <= sum d (fun i => v i ^ 2)) by (apply sum_ge0; intros; apply pow2_ge_0).
    replace (sqrt ε ^ 2) with ε by (rewrite <- ee at 1; ring). nra. }
split; [|split; [|split; [|split]]].
- intros S i S0. rewrite E by auto. unfold core. fold v.
  assert (0 < variance d z + ε).
  { eapply Rlt_le_trans; [|exact low]. apply Rmult_lt_0_compat; [apply pow_lt; auto|now apply Rinv_0_lt_compat]. }
  rewrite sqrt_div_alt by (apply pow_lt; auto). rewrite sqrt_pow2 by lra.
  assert (0 < sqrt (variance d z + ε)) by now apply sqrt_lt_R0. field; lra.
- intros i Hi. apply ratio; auto. lra.
- split; [|apply top; lra]. rewrite E by auto. apply Rmult_le_reg_r with (s ^ 2); [apply pow_lt; auto|].
  replace ((variance d z + ε) / s ^ 2 * s ^ 2) with (variance d z + ε) by (field; lra).
  replace (1 / INR d * s ^ 2) with (s ^ 2 / INR d) by (field; lra). exact low.
- intros S [S1 S2]. split; [intros; now apply ratio|]. assert (S0 : 0 < S) by lra.
  assert (T1 : ε / S <= sqrt ε).
  { apply Rmult_le_reg_r with S; auto. replace (ε / S * S) with ε by (field; lra). nra. }
  split; auto. split.
  { apply Rmult_le_reg_r with S; auto. replace (ε / S / S * S) with (ε / S) by (field; lra). lra. }
  split; [|now apply top]. rewrite E by auto. apply Rmult_le_reg_r with (S ^ 2); [apply pow_lt; auto|].
  replace ((variance d z + ε) / S ^ 2 * S ^ 2) with (variance d z + ε) by (field; lra).
  eapply Rle_trans; [|exact low]. replace (1 / (4 * INR d) * S ^ 2) with (S ^ 2 / 4 / INR d) by (field; lra).
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. nra.
- intros p ties k x p0 Fx. assert (P : Prec_gt_0 p) by exact p0.
  assert (F : number p (x / 2^k)).
  { apply FLX_format_generic in Fx; auto. destruct Fx as [[m e] Ex Hx]. apply generic_format_FLX.
    exists (Float radix2 m (e - k)); [|exact Hx]. rewrite Ex. unfold F2R, Z.sub; cbn [Fnum Fexp].
    rewrite bpow_plus, bpow_opp. unfold Rdiv; ring. }
  split; auto. now apply nearest_number.
Qed.

(* an ε of at most ηq/2 is less than half a spacing *)
Lemma absorbed (p : Z) (ties : Z -> bool) (fexp : Z -> Z) (q ε : R) :
  Valid_exp fexp -> (forall e, e - p <= fexp e)%Z ->
  generic_format radix2 fexp q -> 0 < q -> 0 <= ε <= 1 / 2 * unit_roundoff p * q ->
  round radix2 fexp (Znearest ties) (q + ε) = q.
Proof.
intros V Hf Fq q0 Hε.
set (e := mag radix2 q : Z). set (ce := fexp e).
assert (be : 2^(e - 1) <= q < 2^e).
{ pose proof (bpow_mag_gt radix2 q). pose proof (bpow_mag_le radix2 q).
  rewrite Rabs_pos_eq in * by lra. unfold e; split; auto. apply H0; lra. }
set (m := Ztrunc (scaled_mantissa radix2 fexp q)).
assert (Em : q = IZR m * 2^ce) by exact Fq. clearbody m.
assert (c0 : 0 < 2^ce) by apply bpow_gt_0.
assert (cee : (ce < e)%Z).
{ assert (m0 : 0 < IZR m) by nra. apply lt_IZR in m0.
  assert (1 <= IZR m) by (apply IZR_le; lia). apply (lt_bpow radix2). nra. }
assert (mlt : (m <= 2 ^ (e - ce) - 1)%Z).
{ assert (m < 2 ^ (e - ce))%Z; [|lia]. apply lt_IZR. change (2 ^ (e - ce))%Z with (Zpower radix2 (e - ce)).
  rewrite IZR_Zpower by lia. apply Rmult_lt_reg_r with (2^ce); auto. rewrite <- Em, <- bpow_plus.
  replace (e - ce + ce)%Z with e by ring. apply be. }
assert (small : ε < / 2 * 2^ce).
{ assert (unit_roundoff p * 2^e <= 2^ce).
  { unfold unit_roundoff. rewrite <- bpow_plus. apply bpow_le. specialize (Hf e). unfold ce. lia. }
  assert (0 < unit_roundoff p) by apply bpow_gt_0. nra. }
assert (top : q + ε < 2^e).
{ apply IZR_le in mlt. rewrite minus_IZR in mlt. change (2 ^ (e - ce))%Z with (Zpower radix2 (e - ce)) in mlt.
  rewrite IZR_Zpower in mlt by lia. unfold Z.sub in mlt. rewrite bpow_plus in mlt.
  assert (2^(- ce) * 2^ce = 1) by (rewrite <- bpow_plus; replace (- ce + ce)%Z with 0%Z by ring; auto). nra. }
unfold round, scaled_mantissa, cexp. rewrite (mag_unique radix2 (q + ε) e) by (rewrite Rabs_pos_eq; lra).
fold ce. rewrite (Znearest_imp ties _ m).
- unfold F2R; cbn [Fnum Fexp]; now symmetry.
- rewrite Em, Rmult_plus_distr_r, Rmult_assoc, <- bpow_plus. replace (ce + - ce)%Z with 0%Z by ring.
  assert (0 < 2^(- ce)) by apply bpow_gt_0.
  assert (2^ce * 2^(- ce) = 1) by (rewrite <- bpow_plus; replace (ce + - ce)%Z with 0%Z by ring; auto).
  change (2^0) with 1. rewrite Rabs_pos_eq; nra.
Qed.

(* For a number q > 0 and 0 ≤ ε ≤ ηq/2, q + ε is computed as q; an ε ≤ 2^(−25) is 0 in float16. *)
Theorem eps_absorbed :
  (forall (p emin : Z) (ties : Z -> bool) (q ε : R), (0 < p)%Z -> 0 < q -> 0 <= ε <= 1 / 2 * unit_roundoff p * q ->
     (number p q -> nearest p ties (q + ε) = q) /\
     (generic_format radix2 (FLT_exp emin p) q -> round radix2 (FLT_exp emin p) (Znearest ties) (q + ε) = q)) /\
  (forall ε, 0 <= ε <= 2^(-25) -> round radix2 (FLT_exp (-24) 11) (Znearest to_even) ε = 0).
Proof.
split.
- intros p emin ties q ε p0 q0 Hε. assert (P : Prec_gt_0 p) by exact p0. split; intros F.
  + apply (absorbed p); auto with typeclass_instances. intros; unfold FLX_exp; lia.
  + apply (absorbed p); auto with typeclass_instances. intros; unfold FLT_exp; lia.
- intros ε Hε. apply (stored_as_zero 11 (-24)); [reflexivity|exact Hε].
Qed.

(* ---- Facts of other pages: "The backward pass" and "Conventions" ---- *)

(* p ≥ 2 bits, ties to even: adding ones to 0 counts up to 2^p and stays there: 256, 2048, 16 777 216. *)
Theorem sum_stalls :
  (forall (p : Z) (n : nat), (2 <= p)%Z -> fl_count (nearest p to_even) n = IZR (Z.min (Z.of_nat n) (2 ^ p))) /\
  (forall n, (256 <= n)%nat -> fl_count (nearest 8 to_even) n = 256) /\
  (forall n, (2048 <= n)%nat -> fl_count (nearest 11 to_even) n = 2048) /\
  (forall n, (16777216 <= Z.of_nat n)%Z -> fl_count (nearest 24 to_even) n = 16777216).
Proof.
assert (G : forall (p : Z) (n : nat), (2 <= p)%Z ->
  fl_count (nearest p to_even) n = IZR (Z.min (Z.of_nat n) (2 ^ p))).
{ intros p n p2. assert (P : (1 <= 2 ^ (p - 2))%Z) by (apply (Z.pow_le_mono_r 2 0); lia).
  assert (Q : (2 ^ p = 4 * 2 ^ (p - 2))%Z).
  { replace p with (2 + (p - 2))%Z at 1 by ring. rewrite Z.pow_add_r by lia. reflexivity. }
  induction n as [|n IH]; simpl fl_count.
  - rewrite Z.min_l by lia. reflexivity.
  - rewrite IH. destruct (Z_lt_le_dec (Z.of_nat n) (2 ^ p)) as [l|l].
    + rewrite !Z.min_l by lia. rewrite <- plus_IZR. replace (Z.of_nat n + 1)%Z with (Z.of_nat (S n)) by lia.
      apply nearest_number, number_integer; lia.
    + rewrite !Z.min_r by lia. set (K := (2 ^ (p - 2))%Z) in *.
      assert (B : 2^p = 4 * IZR K).
      { rewrite <- (mult_IZR 4), <- Q. symmetry. apply (IZR_Zpower radix2). lia. }
      assert (K1 : 1 <= IZR K) by now apply IZR_le.
      rewrite (nearest_value _ _ _ 1).
      * replace ((IZR (2 ^ p) + 1) * 2^(- (1))) with (IZR (2 * K) + / 2).
        -- rewrite tie_to_even by apply even_double. rewrite Q, !mult_IZR. powers. ring.
        -- rewrite Q, !mult_IZR. powers. field.
      * rewrite Q, mult_IZR. replace (1 + p - 1)%Z with p by ring. rewrite bpow_plus, B. powers.
        rewrite Rabs_pos_eq; lra. }
split; [exact G|]. repeat split; intros n Hn; rewrite G by lia; f_equal.
- change (2 ^ 8)%Z with 256%Z. lia.
- change (2 ^ 11)%Z with 2048%Z. lia.
- change (2 ^ 24)%Z with 16777216%Z. lia.
Qed.

(* A number that is +∞, or finite and without a minus sign *)
Definition nonnegative (x : float16) := x = B754_infinity false \/ (is_finite x = true /\ Bsign x = false).

Lemma nonnegative_plus x y : nonnegative x -> nonnegative y ->
  nonnegative (Bplus mode_NE x y) /\
  (x = B754_infinity false \/ y = B754_infinity false -> Bplus mode_NE x y = B754_infinity false).
Proof.
intros [->|[Fx Sx]] [->|[Fy Sy]].
- split; [now left|easy].
- split; [left|intros _]; now destruct y.
- split; [left|intros _]; now destruct x.
- split; [|intros [-> | ->]; easy].
  pose proof (Bplus_correct 11 16 _ _ mode_NE x y Fx Fy) as C. destruct (Rlt_bool _ _).
  + right. destruct C as (_ & F & S). split; auto. rewrite S, Sx, Sy.
    assert (0 <= B2R x) by (destruct x as [| | |[|] n e h]; try easy; simpl; try lra; now apply F2R_ge_0).
    assert (0 <= B2R y) by (destruct y as [| | |[|] n e h]; try easy; simpl; try lra; now apply F2R_ge_0).
    destruct (Rcompare_spec (B2R x + B2R y) 0); auto. lra.
  + left. destruct C as (C & _). rewrite Sx in C. destruct (Bplus mode_NE x y); simpl in C; try easy.
    now injection C as ->.
Qed.

Lemma nonnegative_square x : is_finite x = true -> nonnegative (Bmult mode_NE x x).
Proof.
intros Fx. pose proof (Bmult_correct 11 16 _ _ mode_NE x x) as C. destruct (Rlt_bool _ _).
- right. destruct C as (_ & F & S). rewrite Fx in F. split; auto. rewrite S; [apply Bool.xorb_nilpotent|].
  now destruct (Bmult mode_NE x x).
- left. rewrite Bool.xorb_nilpotent in C. destruct (Bmult mode_NE x x); simpl in C; try easy. now injection C as ->.
Qed.

Lemma nonnegative_sum o x : (forall i, In i (entries o) -> nonnegative (x i)) ->
  nonnegative (half_sum o x) /\
  ((exists i, In i (entries o) /\ x i = B754_infinity false) -> half_sum o x = B754_infinity false).
Proof.
induction o as [i|s IHs t IHt]; simpl; intros H.
- split; auto. intros (j & [<-|[]] & E); auto.
- destruct IHs as [Ns Is]; [intros; apply H, in_or_app; now left|].
  destruct IHt as [Nt It]; [intros; apply H, in_or_app; now right|].
  destruct (nonnegative_plus _ _ Ns Nt) as [N I]. split; auto.
  intros (i & Hi & E). apply I. apply in_app_or in Hi. destruct Hi as [Hi|Hi]; [left; apply Is|right; apply It]; eauto.
Qed.

(* If all v_i are finite in float16 and some |v_i| ≥ 256, the variance is ∞, the core 0 and the output the bias. *)
Theorem half_decomposed (d : nat) (o : order) (v γ β : nat -> float16) (dd ε : float16) :
  adds_up d o -> is_finite dd = true -> B2R dd = INR d -> is_finite ε = true ->
  (forall i, (i < d)%nat -> is_finite (v i) = true) ->
  (forall i, (i < d)%nat -> is_finite (γ i) = true /\ is_finite (β i) = true) ->
  (exists i, (i < d)%nat /\ 256 <= Rabs (B2R (v i))) ->
  let q := half_variance o dd v in
  let u i := Bdiv mode_NE (v i) (Bsqrt mode_NE (Bplus mode_NE q ε)) in
  q = B754_infinity false /\
  forall i, (i < d)%nat ->
    (is_finite (u i) = true /\ B2R (u i) = 0) /\
    let y := Bplus mode_NE (Bmult mode_NE (γ i) (u i)) (β i) in is_finite y = true /\ B2R y = B2R (β i).
Proof.
intros Ho Fd Ed Fε Fv Fγβ (j & Hj & Bj) q u.
assert (ind : forall i, In i (entries o) <-> (i < d)%nat).
{ intros i. split; intros H.
  - apply (Permutation_in _ Ho), in_seq in H. lia.
  - apply (Permutation_in _ (Permutation_sym Ho)), in_seq. lia. }
assert (Q : q = B754_infinity false).
{ unfold q, half_variance.
  destruct (nonnegative_sum o (fun i => Bmult mode_NE (v i) (v i))) as [_ I].
  - intros i Hi. apply nonnegative_square, Fv. now apply ind.
  - rewrite I.
    + assert (0 < B2R dd) by (rewrite Ed; apply entries_pos; now apply (adds_up_d1 d o)).
      destruct dd as [s|s| |[|] n e h]; simpl in H |- *; try easy; try lra.
      exfalso. apply (Rlt_asym _ _ H). now apply F2R_lt_0.
    + exists j. split; [now apply ind|]. apply (square_overflows 11 16 _ _ (v j) 8); auto. }
split; auto. intros i Hi.
assert (U : exists s, u i = B754_zero s).
{ unfold u. rewrite Q. specialize (Fv i Hi). destruct ε; try easy; destruct (v i); try easy; simpl; eauto. }
destruct U as (s & ->). split; [easy|]. destruct (Fγβ i Hi) as [Fγ Fβ].
assert (exists t, Bmult mode_NE (γ i) (B754_zero s) = B754_zero t) as (t & ->).
{ destruct (γ i); try easy; simpl; eauto. }
destruct (β i) as [b|b| |b n e h]; try easy. simpl. destruct (Bool.eqb t b); easy.
Qed.

