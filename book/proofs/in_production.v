(* The statements of the page "In production". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Merge.
Variable R : rcfType.

(* M = Σ (z_i − μ)² *)
Definition squares d (z : 'cV[R]_d) : R := \sum_i (z i 0 - mean z) ^+ 2.

Lemma squares_ge0 d (z : 'cV[R]_d) : 0 <= squares z. Proof. by apply: sumr_ge0 => i _; rewrite sqr_ge0. Qed.
Lemma variance_squares d (z : 'cV[R]_d) : variance z = squares z / d%:R.
Proof. by congr (_ / _); apply: eq_bigr => i _; rewrite !mxE mulr1. Qed.
Lemma squaresE n (z : 'cV[R]_n.+1) : squares z = \sum_i z i 0 ^+ 2 - n.+1%:R * mean z ^+ 2.
Proof.
have -> : squares z = ⟨centred z, centred z⟩ by apply: eq_bigr => i _; rewrite centredE expr2.
have -> : \sum_i z i 0 ^+ 2 = ⟨z, z⟩ by apply: eq_bigr => i _; rewrite expr2.
by rewrite (pythagoras z) addrK.
Qed.
(* the parts a and b of a row, one after the other *)
Lemma sum_parts m n (f : R -> R) (a : 'cV[R]_m) (b : 'cV[R]_n) :
  \sum_i f (col_mx a b i 0) = \sum_i f (a i 0) + \sum_i f (b i 0).
Proof. by rewrite big_split_ord; congr (_ + _); apply: eq_bigr => i _; rewrite ?col_mxEu ?col_mxEd. Qed.
Lemma mean_parts m n (a : 'cV[R]_m.+1) (b : 'cV[R]_n.+1) :
  mean (col_mx a b) = (m.+1%:R * mean a + n.+1%:R * mean b) / (m.+1%:R + n.+1%:R).
Proof. by rewrite {1}/mean (sum_parts id) natrD -!sum_mean. Qed.
Lemma squares_parts m n (a : 'cV[R]_m.+1) (b : 'cV[R]_n.+1) :
  squares (col_mx a b) = \sum_i a i 0 ^+ 2 + \sum_i b i 0 ^+ 2 - (m.+1%:R + n.+1%:R) * mean (col_mx a b) ^+ 2.
Proof. by rewrite -natrD -(sum_parts (fun t => t ^+ 2)); apply: (@squaresE (m + n.+1)). Qed.

(* n entries have the mean μ and M = Σ (z_i − μ)², so that q = M/n. For the parts a and b of a row, with n_a, n_b ≥ 1 and
   δ = μ_b − μ_a: μ = μ_a + δ n_b/n and M = M_a + M_b + δ² n_a n_b/n, in any order and grouping, and no term of M is below
   0. With n_b = 1 it is Welford's recurrence: M_b = 0 and δ = z_n − μ_a *)
Theorem merge_moments m n k (a : 'cV[R]_m.+1) (b : 'cV[R]_n.+1) (c : 'cV[R]_k.+1) :
  let na := m.+1%:R in let nb := n.+1%:R in let δ := mean b - mean a in let z := col_mx a b in
  [/\ variance z = squares z / (na + nb),
      mean z = mean a + δ * (nb / (na + nb))
        /\ squares z = squares a + squares b + δ ^+ 2 * (na * nb / (na + nb)),
      [/\ 0 <= squares a, 0 <= squares b & 0 <= δ ^+ 2 * (na * nb / (na + nb))],
      [/\ mean (col_mx b a) = mean z, squares (col_mx b a) = squares z,
          mean (col_mx (col_mx a b) c) = mean (col_mx a (col_mx b c))
        & squares (col_mx (col_mx a b) c) = squares (col_mx a (col_mx b c))]
    & forall t : R, let w := col_mx a (const_mx t : 'cV[R]_1) in
        mean w = mean a + (t - mean a) / (na + 1)
        /\ squares w = squares a + (t - mean a) ^+ 2 * (na / (na + 1))].
Proof.
move=> na nb δ z; have [na0 nb0] : 0 < na :> R /\ 0 < nb :> R by rewrite !ltr0n.
have main p q (x : 'cV[R]_p.+1) (y : 'cV[R]_q.+1) : let N : R := p.+1%:R + q.+1%:R in
    mean (col_mx x y) = mean x + (mean y - mean x) * (q.+1%:R / N)
    /\ squares (col_mx x y) = squares x + squares y + (mean y - mean x) ^+ 2 * (p.+1%:R * q.+1%:R / N).
  move=> N; have N0 : N != 0 by rewrite gt_eqF // addr_gt0 ?ltr0n.
  rewrite squares_parts (squaresE x) (squaresE y) mean_parts -/N.
  move: N0; rewrite /N; move: (p.+1%:R : R) (q.+1%:R : R) (mean x) (mean y) => s t u v N0.
  split; first by field.
  by move: (\sum_i _) (\sum_i _) => e f; field.
have reorder p q (x : 'cV[R]_p) (y : 'cV[R]_q) f : \sum_i f (col_mx y x i 0) = \sum_i f (col_mx x y i 0) :> R.
  by rewrite !sum_parts addrC.
split=> //.
- by rewrite variance_squares natrD.
- exact: main.
- by rewrite !squares_ge0 mulr_ge0 ?sqr_ge0 // divr_ge0 ?mulr_ge0 ?addr_ge0 // ltW.
- have same p q (x : 'cV[R]_p) (y : 'cV[R]_q) : p = q -> (forall f, \sum_i f (x i 0) = \sum_i f (y i 0) :> R) ->
      mean x = mean y /\ squares x = squares y.
    move=> pq H; have E : mean x = mean y by rewrite /mean (H id) pq.
    by split=> //; rewrite /squares E (H (fun t => (t - mean y) ^+ 2)).
  have [E1 E2] := same _ _ (col_mx b a) z (addnC _ _) (reorder _ _ a b).
  have [E3 E4] := same _ _ (col_mx (col_mx a b) c) (col_mx a (col_mx b c)) (esym (addnA _ _ _))
    (fun f => etrans (etrans (sum_parts f _ c) (congr1 (fun t => t + _) (sum_parts f a b)))
      (esym (etrans (sum_parts f a _) (etrans (congr1 (fun t => _ + t) (sum_parts f b c)) (addrA _ _ _))))).
  by [].
- move=> t w; have [E1 E2] := main m 0%N a (const_mx t).
  have mt : mean (const_mx t : 'cV[R]_1) = t by rewrite /mean big_ord1 mxE divr1.
  have st : squares (const_mx t : 'cV[R]_1) = 0 by rewrite /squares big_ord1 mt mxE subrr expr0n.
  rewrite E1 E2 mt st addr0 mulr1; split=> //; by rewrite mul1r.
Qed.
End Merge.

Section Shards.
Variables (R : rcfType) (n k : nat).
Notation d := n.+1.
Notation K := k.+1.
Variables (z : 'cV[R]_d) (shard : 'I_d -> 'I_K).

(* entry i belongs to shard j = shard i, which has n_j entries, the mean μ_j and the variance q_j *)
Definition shard_size j : R := #|[pred i | shard i == j]|%:R.
Definition shard_mean j : R := (\sum_(i | shard i == j) z i 0) / shard_size j.
Definition shard_variance j : R := (\sum_(i | shard i == j) (z i 0 - shard_mean j) ^+ 2) / shard_size j.

(* q = (1/n) Σ n_j q_j + (1/n) Σ n_j (μ_j − μ)²; for shards of one size this is the mean of their variances plus the variance
   of their means *)
Theorem merge_shards :
  variance z = (\sum_j shard_size j * shard_variance j) / d%:R
    + (\sum_j shard_size j * (shard_mean j - mean z) ^+ 2) / d%:R
  /\ forall s : nat, (forall j, shard_size j = s%:R) ->
     variance z = mean (\col_j shard_variance j) + variance (\col_j shard_mean j).
Proof.
have sizes j (f : R) : \sum_(i | shard i == j) f = shard_size j * f.
  by rewrite sumr_const mulr_natl; congr (_ *+ _); apply: eq_card => i; rewrite inE.
have empty j (f : 'I_d -> R) : shard_size j = 0 -> \sum_(i | shard i == j) f i = 0.
  move/eqP; rewrite pnatr_eq0 => /eqP/card0_eq H; apply: big1 => i ij.
  by have := H i; rewrite inE ij.
have smean j : \sum_(i | shard i == j) z i 0 = shard_size j * shard_mean j.
  rewrite /shard_mean; have [n0|n0] := eqVneq (shard_size j) 0; first by rewrite n0 mul0r empty.
  by rewrite mulrC divfK.
have svar j : \sum_(i | shard i == j) (z i 0 - shard_mean j) ^+ 2 = shard_size j * shard_variance j.
  rewrite /shard_variance; have [n0|n0] := eqVneq (shard_size j) 0; first by rewrite n0 mul0r empty.
  by rewrite mulrC divfK.
have main : variance z = (\sum_j shard_size j * shard_variance j) / d%:R
    + (\sum_j shard_size j * (shard_mean j - mean z) ^+ 2) / d%:R.
  rewrite variance_squares -mulrDl -big_split /squares; congr (_ / _).
  rewrite (partition_big shard predT) //=; apply: eq_bigr => j _; rewrite -svar -sizes.
  pose c := 2 * (shard_mean j - mean z).
  rewrite (eq_bigr (fun i => ((z i 0 - shard_mean j) ^+ 2 + (shard_mean j - mean z) ^+ 2)
    + (c * z i 0 - c * shard_mean j))) => [|i _]; last by rewrite /c; ring.
  by rewrite big_split big_split sumrB -mulr_sumr smean !sizes /= (mulrCA c) subrr addr0.
split=> // s same; have d_s : d%:R = K%:R * s%:R :> R.
  have : \sum_(i < d) (1 : R) = d%:R by rewrite sumr_const card_ord.
  rewrite (partition_big shard predT) //= => <-; rewrite (eq_bigr (fun=> s%:R)) => [|j _]; last by rewrite sizes same mulr1.
  by rewrite sumr_const card_ord mulr_natl.
have s0 : s%:R != 0 :> R.
  by apply/eqP => s0; move: (d_neq0 R n); rewrite d_s s0 mulr0 eqxx.
have Kn := d_neq0 R k.
have cancel (f : 'I_K -> R) : (\sum_j shard_size j * f j) / d%:R = (\sum_j f j) / K%:R.
  rewrite (eq_bigr (fun j => s%:R * f j)) => [|j _]; last by rewrite same.
  by rewrite -mulr_sumr d_s [K%:R * _]mulrC -mulf_div divff // mul1r.
have column (f : 'I_K -> R) : \sum_j (\col_j f j : 'cV[R]_K) j 0 = \sum_j f j by apply: eq_bigr => j _; rewrite mxE.
have mm : mean (\col_j shard_mean j) = mean z.
  rewrite /mean column -cancel; congr (_ / _); rewrite [RHS](partition_big shard predT) //=.
  by apply: eq_bigr => j _; rewrite smean.
rewrite main !cancel variance_squares /squares mm /mean column; congr (_ + _ / _).
by apply: eq_bigr => j _; rewrite mxE.
Qed.
End Shards.

Section Kernels.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (x y z γ β : 'cV[R]_d) (ε ρ σ : R).

(* For z = x + y the means add up, and q(z) = q(x) + q(y) + 2 mean(Px ⊙ Py). No function of the means and variances of x and
   y gives q(z): for x = (1, −1) both y = (1, −1) and y = (−1, 1) have the mean 0 and the variance 1, and q(z) is 4 and 0 *)
Theorem prod_partial_sums :
  [/\ forall x y, mean (x + y) = mean x + mean y
        /\ variance (x + y) = variance x + variance y + 2 * mean (centred x ⊙ centred y),
      let x : 'cV[R]_2 := vec [:: 1; -1] in let y : 'cV[R]_2 := vec [:: -1; 1] in
      [/\ mean x = 0 /\ mean y = 0, variance x = 1 /\ variance y = 1, variance (x + x) = 4 & variance (x + y) = 0]
    & ~ exists f, forall x y : 'cV[R]_2, variance (x + y) = f (mean x) (variance x) (mean y) (variance y)].
Proof.
have E : let x : 'cV[R]_2 := vec [:: 1; -1] in let y : 'cV[R]_2 := vec [:: -1; 1] in
    [/\ mean x = 0 /\ mean y = 0, variance x = 1 /\ variance y = 1, variance (x + x) = 4 & variance (x + y) = 0].
  move=> x y; have yx : y = -1 *: x by apply/vecP; case=> [[|[|k]] //= i]; rewrite !mxE /=; ring.
  have mx : mean x = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; ring.
  have qx : variance x = 1 by rewrite /variance centred_id // !big_ord_recl big_ord0 !mxE /=; field.
  rewrite yx meanZ mx varianceZ qx -mulr2n -scaler_nat varianceZ qx scaleN1r subrr.
  rewrite -[X in variance X](scale0r ones) variance_const; split; [split|split| |] => //; ring.
split=> // [x y|[f H]]; last first.
  have [[mx my] [qx qy] q4 q0] := E; have := H (vec [:: 1; -1]) (vec [:: 1; -1]); rewrite q4.
  have := H (vec [:: 1; -1]) (vec [:: -1; 1]); rewrite q0 mx my qx qy => <- /eqP.
  by rewrite pnatr_eq0.
split; first exact: meanD.
rewrite !variance_dot centredD dot_add; set k := ⟨_, centred y⟩.
have -> : mean (centred x ⊙ centred y) = k / d%:R by congr (_ / _); apply: eq_bigr => i _; rewrite hadamardE.
by rewrite -mulr_natl; ring.
Qed.

(* Replace the root by one number σ > 0: the core becomes v/σ = (√(q + ε)/σ) u, which differs from u by
   |√(q + ε)/σ − 1| ‖u‖; the layer and the linear map behind it are one affine map *)
Theorem prod_frozen_root ε σ z : 0 < variance z + ε -> 0 < σ -> let ũ := σ^-1 *: centred z in
  [/\ ũ = (√(variance z + ε) / σ) *: core ε z,
      ‖ũ - core ε z‖ = `|√(variance z + ε) / σ - 1| * ‖core ε z‖
    & forall k (A : 'M[R]_(k, d)) c γ β,
        A *m (γ ⊙ ũ + β) + c = σ^-1 *: (A *m diag γ *m P *m z) + (A *m β + c)].
Proof.
move=> q0 s0 ũ; have uE : ũ = (√(variance z + ε) / σ) *: core ε z by rewrite mulrC -scalerA core_root.
split=> // [|k A c γ β]; first by rewrite uE -normZ scalerBl scale1r.
by rewrite mulmxDr /ũ hadamardZr -scalemxAr -!mulmxA P_mul diag_mul addrA.
Qed.

(* A kernel uses (1 + ρ) r with ρ > −1 in place of r = 1/√(q + ε). It returns (1 + ρ) u for the core and (1 + ρ)(y − β) + β for
   the output: the mean of the core stays 0, its direction stays, and each entry has the relative error |ρ|. It is the layer
   with ε' = (q + ε)/(1 + ρ)² − q at this row *)
Theorem prod_root ε ρ γ β z : 0 < variance z + ε -> -1 < ρ ->
  let r := (√(variance z + ε))^-1 in let w := ((1 + ρ) * r) *: centred z in
  [/\ w = (1 + ρ) *: core ε z /\ 0 < 1 + ρ, γ ⊙ w + β = (1 + ρ) *: (layer_norm ε γ β z - β) + β, mean w = 0,
      forall i, core ε z i 0 != 0 -> `|w i 0 - core ε z i 0| / `|core ε z i 0| = `|ρ|
    & let ε' := (variance z + ε) / (1 + ρ) ^+ 2 - variance z in
      0 < variance z + ε' /\ core ε' z = w /\ layer_norm ε' γ β z = γ ⊙ w + β].
Proof.
move=> q0 r1 r w; have p0 : 0 < 1 + ρ by rewrite -(ltr_add2l 1) subrr in r1.
have wE : w = (1 + ρ) *: core ε z by rewrite scalerA.
split=> //.
- by rewrite wE hadamardZr /layer_norm addrK.
- by rewrite /w meanZ mean_centred mulr0.
- move=> i u0; rewrite wE [_ i 0]mxE mulrDl mul1r addrAC subrr add0r normrM mulfK // normr_eq0.
  by [].
- move=> ε'; have QE : variance z + ε' = (variance z + ε) / (1 + ρ) ^+ 2 by rewrite /ε' addrC subrK.
  have Q0 : 0 < variance z + ε' by rewrite QE divr_gt0 ?exprn_gt0.
  have cE : core ε' z = w.
    rewrite /core QE (_ : √_ = √(variance z + ε) / (1 + ρ)); first by rewrite invf_div.
    apply: sqrt_eq; first by rewrite divr_ge0 ?sqrtr_ge0 // ltW.
    by rewrite expr_div_n sqrK // ltW.
  by rewrite /layer_norm cE.
Qed.
End Kernels.
