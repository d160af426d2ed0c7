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

Section Spectrum.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h w x y γ β : 'cV[R]_d) (ε c : R).

(* J1 = 0 *)
Theorem eps_eigen_shift ε z : J ε z *m ones = 0.
Proof.
by rewrite J_mul centred_ones (dotC _ ones) dot_ones_centred mul0r scale0r subr0 scaler0.
Qed.

(* Jv = ε/(q + ε)^(3/2) v *)
Theorem eps_eigen_radial ε z : 0 < variance z + ε ->
  J ε z *m centred z = (ε / √(variance z + ε) ^+ 3) *: centred z.
Proof.
move=> q0; rewrite J_mul centredK dot_variance -[X in X - _]scale1r -scalerBl scalerA; congr (_ *: _).
rewrite cubeK ?(ltW q0) //; move: (sqrt_neq0 q0) (lt0r_neq0 q0); move: (√_) => r r0 qn.
by field; rewrite r0 qn d1_neq0.
Qed.

(* Jw = (q + ε)^(−1/2) w for every w orthogonal to 1 and v; for v ≠ 0 these w, the rows that K spans,
   fill a space of d − 2 dimensions *)
Theorem eps_eigen_orthogonal ε z :
  (forall w, ⟨ones, w⟩ = 0 -> ⟨centred z, w⟩ = 0 -> J ε z *m w = (√(variance z + ε))^-1 *: w)
  /\ (centred z != 0 -> exists K : 'M[R]_d,
        (forall w, (w^T <= K)%MS <-> ⟨ones, w⟩ = 0 /\ ⟨centred z, w⟩ = 0) /\ \rank K = (d - 2)%N).
Proof.
split=> [w w1 wv|v0].
  by rewrite J_mul wv mul0r scale0r subr0 centred_id // mean_dot w1 mul0r.
set B := row_mx ones (centred z); exists (kermx B); split=> [w|].
  rewrite (sameP sub_kermxP eqP) mul_mx_row -row_mx0.
  have E (a : 'cV[R]_d) : w^T *m a = (⟨a, w⟩)%:M by rewrite [LHS]mx11_scalar dotC dotE.
  rewrite !E; split=> [/eqP/eq_row_mx[/matrixP/(_ 0 0) + /matrixP/(_ 0 0)]|[-> ->]].
    by rewrite !mxE !mulr1n.
  by apply/eqP; congr row_mx; apply/matrixP => i j; rewrite !ord1 !mxE mulr1n.
rewrite mxrank_ker; congr (_ - _)%N; apply/eqP; rewrite eqn_leq rank_leq_col /=.
have BB : B^T *m B = block_mx (d%:R)%:M 0 0 (d%:R * variance z)%:M.
  rewrite /B tr_row_mx mul_col_row; have E (a b : 'cV[R]_d) : a^T *m b = (⟨a, b⟩)%:M by rewrite [LHS]mx11_scalar dotE.
  by rewrite !E dot_ones_ones dot_variance (dotC _ ones) dot_ones_centred !raddf0.
have : B^T *m B \in unitmx.
  rewrite BB unitmxE det_ublock !det_scalar1 unitfE.
  by apply: mulf_neq0; rewrite ?d_neq0 // mulf_neq0 ?d_neq0 // variance_eq0.
by rewrite -row_free_unit -row_leq_rank => /leq_trans; apply; exact: mxrankM_maxr.
Qed.

(* at a constant input J = P/√ε, so Jw = w/√ε for every centred w *)
Theorem eps_jacobian_constant ε c :
  J ε (c *: ones) = (√ε)^-1 *: P :> 'M[R]_d
  /\ forall w, mean w = 0 -> J ε (c *: ones) *m w = (√ε)^-1 *: w.
Proof.
have JP : J ε (c *: ones) = (√ε)^-1 *: P :> 'M[R]_d.
  by rewrite /J centred_const variance_const add0r mul0mx scaler0 subr0.
by split=> // w w0; rewrite JP -scalemxAl P_mul centred_id.
Qed.

(* ‖Jh‖² = (‖Ph‖² − ⟨v, h⟩² (q + 2ε)/(d (q + ε)²))/(q + ε) *)
Lemma J_sqr ε z h : 0 < variance z + ε ->
  ⟨J ε z *m h, J ε z *m h⟩
  = (⟨centred h, centred h⟩ - ⟨centred z, h⟩ ^+ 2 * (variance z + ε + ε) / (d%:R * (variance z + ε) ^+ 2))
    / (variance z + ε).
Proof.
move=> q0; rewrite J_mul dotZl dotZr dot_sub !dotZl !dotZr (dot_variance z) (dotC (centred h) (centred z)) (dot_centred2 z h).
have rn := sqrt_neq0 q0; have := sqrK (ltW q0); move: rn; set r := √_ => rn rr.
have qE : variance z = r ^+ 2 - ε by rewrite rr addrK.
by rewrite qE subrK; field; rewrite rn d1_neq0.
Qed.
Lemma J_bound ε z h : 0 <= ε -> 0 < variance z + ε -> ‖J ε z *m h‖ <= (√(variance z + ε))^-1 * ‖h‖.
Proof.
move=> e0 q0; rewrite norm_le_norm ?invr_ge0 ?sqrtr_ge0 // J_sqr // exprVn sqrK ?(ltW q0) // mulrC.
rewrite ler_wpmul2l ?invr_ge0 ?(ltW q0) // ler_subl_addr; apply: ler_paddr.
  apply: divr_ge0; last by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
  by rewrite mulr_ge0 ?sqr_ge0 // addr_ge0 // ltW.
exact: dot_centred_le.
Qed.
Lemma inv_root_le ε z : 0 < ε -> (√(variance z + ε))^-1 <= (√ε)^-1.
Proof. by move=> e0; rewrite lef_pinv ?posrE ?root_gt0 ?sqrt_gt0 // ler_wsqrtr // ler_addr variance_ge0. Qed.

(* ‖J(z)‖₂ ≤ ε^(−1/2) for every z *)
Theorem eps_norm_bound ε z : 0 < ε -> operator_bound (J ε z) (√ε)^-1.
Proof.
move=> e0 h; apply: le_trans (J_bound h (ltW e0) (variance_eps z e0)) _.
by rewrite ler_wpmul2r ?norm_ge0 // inv_root_le.
Qed.

(* ‖u(x) − u(y)‖² r s = ‖Px − Py‖² − d (r − s)² (1 + ε/(r s)) with the roots r and s of q + ε at x and y *)
Lemma two_point_identity ε x y : 0 < variance x + ε -> 0 < variance y + ε ->
  let r := √(variance x + ε) in let s := √(variance y + ε) in
  ⟨core ε x - core ε y, core ε x - core ε y⟩ * (r * s)
  = ⟨centred (x - y), centred (x - y)⟩ - d%:R * (r - s) ^+ 2 * (1 + ε / (r * s)).
Proof.
move=> qx qy r s; rewrite /core -/r -/s centredB (dot_sub (centred x)) (dot_sub (_ *: _)) !dotZl !dotZr !dot_variance.
have rn : r != 0 by rewrite sqrt_neq0.
have sn : s != 0 by rewrite sqrt_neq0.
have -> : variance x = r ^+ 2 - ε by rewrite sqrK ?(ltW qx) // addrK.
have -> : variance y = s ^+ 2 - ε by rewrite sqrK ?(ltW qy) // addrK.
by field; rewrite rn sn.
Qed.

(* ‖u(z') − u(z)‖ ≤ ‖z' − z‖/√ε *)
Theorem eps_lipschitz ε : 0 < ε -> lipschitz (@core R d ε) (√ε)^-1.
Proof.
move=> e0 x y; rewrite norm_le_norm ?invr_ge0 ?sqrtr_ge0 // exprVn sqrK ?(ltW e0) //.
have := two_point_identity (variance_eps x e0) (variance_eps y e0) => /=; set r := √_; set s := √_ => E.
have r0 : 0 < r := root_gt0 x e0. have s0 : 0 < s := root_gt0 y e0. have rs := mulr_gt0 r0 s0.
have : ⟨core ε x - core ε y, core ε x - core ε y⟩ * (r * s) <= ⟨x - y, x - y⟩.
  rewrite E ler_subl_addr; apply: ler_paddr; last exact: dot_centred_le.
  apply: mulr_ge0; first by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
  by rewrite addr_ge0 ?ler01 // divr_ge0 // ltW.
move=> H; rewrite -(ler_pmul2l e0) mulVKf ?gt_eqF // mulrC; apply: le_trans H.
rewrite ler_wpmul2l ?dot_ge0 //; have eE : ε = √ε * √ε by rewrite -expr2 sqrK ?(ltW e0).
by rewrite {1}eE ler_pmul ?sqrtr_ge0 // ler_wsqrtr // ler_addr variance_ge0.
Qed.
End Spectrum.
