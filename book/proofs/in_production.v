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
