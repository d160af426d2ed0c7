(* The statements of the page "Epsilon". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Jacobian.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h : 'cV[R]_d) (ε : R).

(* step 2: the gradient of q is (2/d) v, with the remainder q(z + h) − q(z) − (2/d) ⟨v, h⟩ = ‖Ph‖²/d *)
Lemma variance_add z h :
  variance (z + h) = variance z + 2 / d%:R * ⟨centred z, h⟩ + ⟨centred h, centred h⟩ / d%:R.
Proof. by rewrite !variance_dot centredD dot_add (dot_centred2 z h); field; rewrite d1_neq0. Qed.
Lemma gradient_variance ε z : is_gradient (fun x => variance x + ε) z ((2 / d%:R) *: centred z).
Proof.
apply: (@gradient_square _ _ _ _ _ d%:R^-1) => h; rewrite variance_add dotZl.
rewrite (_ : _ - _ - _ = ⟨centred h, centred h⟩ / d%:R); last by ring.
rewrite ger0_norm ?divr_ge0 ?dot_ge0 ?ler0n // mulrC ler_wpmul2l ?invr_ge0 ?ler0n //.
by rewrite -norm_le ?norm_ge0 // norm_centred_le.
Qed.

(* step 1: centring is linear, its derivative is P *)
Lemma derivative_centred z : is_derivative (@centred R d) z P.
Proof. by apply: derivative_ext (derivative_affine P 0 z) => x; rewrite addr0 P_mul. Qed.

(* If q + ε > 0, the core is differentiable at z with the derivative J; entry by entry,
   J_ij = (q + ε)^(−1/2) (δ_ij − (1 + u_i u_j)/d) *)
Theorem eps_jacobian ε z : 0 < variance z + ε ->
  is_derivative (core ε) z (J ε z) /\
  forall i j, J ε z i j
    = (√(variance z + ε))^-1 * ((i == j)%:R - (1 + core ε z i 0 * core ε z j 0) / d%:R).
Proof.
move=> q0; set r := √(variance z + ε); have r0 : r != 0 by rewrite sqrt_neq0.
have rr : variance z + ε = r ^+ 2 by rewrite sqrK ?(ltW q0).
split=> [|i j].
  have step3 := gradient_slope (slope_inv_sqrt q0) (gradient_variance ε z).
  have step4 := derivative_scale step3 (derivative_centred z).
  suff -> : J ε z = (√(variance z + ε))^-1 *: P
      + centred z *m (- (2 * (variance z + ε) * √(variance z + ε))^-1 *: (2 / d%:R *: centred z))^T by [].
  rewrite /J -/r rr; move: (P : 'M[R]_d) (centred z) => Q v; apply/matrixP => i j.
  by rewrite !mxE !big_ord1 !mxE /=; field; rewrite r0 d1_neq0.
rewrite /J /P !coreE -/r rr; move: (centred z) => v; rewrite !mxE !big_ord1 !mxE /=.
by case: (i == j); field; rewrite r0 d1_neq0.
Qed.
End Jacobian.
