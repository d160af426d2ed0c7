(* The statements of the page "Epsilon". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Values.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z γ β : 'cV[R]_d) (ε a b c : R).

(* For z = (1, 2, 3), where q = 2/3, u_{1/3}(z) = (−1, 0, 1) and u_{4/3}(z) = (−1, 0, 1)/√2 *)
Theorem eps_example : let z : 'cV[R]_3 := vec [:: 1; 2; 3] in
  [/\ variance z = 2 / 3, core (1 / 3) z = vec [:: -1; 0; 1] & core (4 / 3) z = (√2)^-1 *: vec [:: -1; 0; 1]].
Proof.
move=> z; have v : centred z = vec [:: -1; 0; 1].
  have m : mean z = 2 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite centredE m !mxE /=; ring.
have q : variance z = 2 / 3 by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
split=> //; rewrite /core q v; last by congr (_^-1 *: _); congr (√_); field.
by rewrite (_ : _ + _ = 1) ?sqrtr1 ?invr1 ?scale1r //; field.
Qed.

(* At a constant input v = 0 and q = 0, and every ε > 0 makes the core 0 and the output β *)
Theorem eps_constant_input ε γ β c : 0 < ε ->
  [/\ centred (c *: ones) = 0 :> 'cV[R]_d, variance (c *: ones : 'cV[R]_d) = 0,
      core ε (c *: ones) = 0 :> 'cV[R]_d & layer_norm ε γ β (c *: ones) = β].
Proof.
have v0 : centred (c *: ones) = 0 :> 'cV[R]_d by rewrite centred_const.
by rewrite /layer_norm /core v0 variance_const scaler0 hadamard0 add0r.
Qed.

Lemma variance_core ε z : 0 < variance z + ε -> variance (core ε z) = variance z / (variance z + ε).
Proof. by move=> q0; rewrite /core varianceZ variance_centred exprVn sqrK ?(ltW q0) // mulrC. Qed.

(* The core has the variance q/(q + ε): near 1 for q ≫ ε, exactly 1/2 at q = ε, near 0 for q ≪ ε, never 1 *)
Theorem eps_variance ε z : 0 < ε ->
  [/\ variance (core ε z) = variance z / (variance z + ε),
      forall η, 0 < η -> ε <= η * variance z -> 1 - η <= variance (core ε z),
      variance z = ε -> variance (core ε z) = 1 / 2,
      forall η, 0 < η -> variance z <= η * ε -> variance (core ε z) <= η
    & variance (core ε z) < 1].
Proof.
move=> e0; have q0 := variance_eps z e0; rewrite variance_core //; have q1 := variance_ge0 z.
split=> // [η η0 H|->|η η0 H|].
- rewrite ler_pdivl_mulr // mulrBl mul1r ler_subl_addr ler_add2l (le_trans H) //.
  by rewrite ler_wpmul2l ?(ltW η0) // ler_addl ltW.
- by rewrite -mulr2n -mulr_natl; field; rewrite gt_eqF.
- by rewrite ler_pdivr_mulr // (le_trans H) // ler_wpmul2l ?(ltW η0) // ler_addr.
- by rewrite ltr_pdivr_mulr // mul1r ltr_addl.
Qed.

(* u = (1 − δ) v/√ε with δ = 1 − (1 + q/ε)^(−1/2), and 0 < δ < q/(2ε) for q > 0 *)
Theorem linear_regime ε z : 0 < ε ->
  let δ := 1 - (√(1 + variance z / ε))^-1 in
  core ε z = ((1 - δ) / √ε) *: centred z /\ (0 < variance z -> 0 < δ < variance z / (2 * ε)).
Proof.
move=> e0 δ; split.
  have x0 : 0 <= variance z / ε := divr_ge0 (variance_ge0 z) (ltW e0).
  rewrite /core /δ subKr -invfM -sqrtrM ?addr_ge0 ?ler01 //.
  by rewrite mulrDl mul1r divfK ?gt_eqF // addrC.
move=> q0; have x0 : 0 < variance z / ε by rewrite divr_gt0.
have -> : variance z / (2 * ε) = variance z / ε / 2 by field; rewrite gt_eqF.
have sE : variance z / ε = √(1 + variance z / ε) ^+ 2 - 1 by rewrite sqrK ?addr_ge0 ?ler01 ?(ltW x0) // addrAC subrr add0r.
have s1 : 1 < √(1 + variance z / ε) by rewrite -[X in X < _]sqrtr1 ltr_sqrt ?ltr_addl // ltr_paddr ?ltr01 ?ltW.
rewrite /δ {3}sE; move: (√_) s1 => s s1; have s0 : 0 < s := lt_trans ltr01 s1.
rewrite subr_gt0 invf_lt1 // s1 /= -subr_gt0.
rewrite [X in 0 < X](_ : _ = (s - 1) ^+ 2 * (s + 2) / (2 * s)); last by field; rewrite gt_eqF.
apply: divr_gt0; last by rewrite mulr_gt0 ?ltr0n.
by apply: mulr_gt0; rewrite ?exprn_gt0 ?subr_gt0 // addr_gt0 ?ltr0n.
Qed.

(* Equal gains c and equal biases b give the mean b and the variance c² q/(q + ε); for u = (−1, 0, 1) the gain
   (2, 1, 1) alone makes them −1/3 and 14/9, the bias (0, 3, 0) alone makes them 1 and 8/3 *)
Theorem eps_full_moments ε z b c : 0 < ε ->
  let y := layer_norm ε (c *: ones) (b *: ones) z in
  mean y = b /\ variance y = c ^+ 2 * (variance z / (variance z + ε)) /\
  forall x : 'cV[R]_3, core ε x = vec [:: -1; 0; 1] ->
    [/\ mean (core ε x) = 0, variance (core ε x) = 2 / 3,
        mean (layer_norm ε (vec [:: 2; 1; 1]) 0 x) = - (1 / 3) /\ variance (layer_norm ε (vec [:: 2; 1; 1]) 0 x) = 14 / 9
      & mean (layer_norm ε ones (vec [:: 0; 3; 0]) x) = 1 /\ variance (layer_norm ε ones (vec [:: 0; 3; 0]) x) = 8 / 3].
Proof.
move=> e0 y; have yE : y = c *: core ε z + b *: ones.
  by rewrite /y /layer_norm hadamardC hadamardZr hadamardC hadamard_ones.
split; first by rewrite yE mean_shift meanZ mean_core mulr0 add0r.
split; first by rewrite yE variance_shift varianceZ variance_core // variance_eps.
move=> x xE.
have moments (w : 'cV[R]_3) (m q : R) : mean w = m -> \sum_i (w i 0 - m) ^+ 2 = 3 * q -> mean w = m /\ variance w = q.
  move=> wm wq; split=> //; rewrite /variance; under eq_bigr do rewrite centredE wm.
  by rewrite wq; field.
have m3 (w : 'cV[R]_3) : mean w = (w 0 0 + w 1 0 + w (1 + 1) 0) / 3.
  by rewrite /mean !big_ord_recl big_ord0 addr0 addrA; congr ((_ + w _ _ + w _ _) / _); apply: val_inj.
have s3 (w : 'cV[R]_3) (m : R) : \sum_i (w i 0 - m) ^+ 2 = (w 0 0 - m) ^+ 2 + (w 1 0 - m) ^+ 2 + (w (1 + 1) 0 - m) ^+ 2.
  by rewrite !big_ord_recl big_ord0 addr0 addrA; congr (_ + (w _ _ - _) ^+ 2 + (w _ _ - _) ^+ 2); apply: val_inj.
split; first exact: mean_core.
- by apply: (proj2 (moments _ 0 _ _ _)); rewrite ?m3 ?s3 xE !mxE /=; field.
- by apply: moments; rewrite ?m3 ?s3 !layer_normE xE !mxE /=; field.
- by apply: moments; rewrite ?m3 ?s3 !layer_normE xE !mxE /=; field.
Qed.

(* different roots give different cores where v ≠ 0 *)
Lemma core_eps_inj z ε ε' : 0 < variance z -> 0 < variance z + ε -> 0 < variance z + ε' ->
  core ε z = core ε' z -> ε = ε'.
Proof.
move=> q0 qe qe' /eqP; rewrite -subr_eq0 -scalerBl scaler_eq0 -variance_eq0 (gt_eqF q0) orbF subr_eq0.
move/eqP/invr_inj => rr; have := congr1 (fun r => r ^+ 2) rr.
by rewrite !sqrK ?ltW // => /addrI.
Qed.

(* u_ε(az) = av/√(a²q + ε) = u_{ε/a²}(z); with q > 0 and ε > 0 this equals u_ε(z) only for a = 1 *)
Theorem eps_scaling ε z a : 0 < a -> 0 <= ε -> 0 < variance z + ε ->
  [/\ core ε (a *: z) = (a / √(a ^+ 2 * variance z + ε)) *: centred z,
      core ε (a *: z) = core (ε / a ^+ 2) z
    & 0 < variance z -> 0 < ε -> core ε (a *: z) = core ε z <-> a = 1].
Proof.
move=> a0 e0 q0; have an : a != 0 by rewrite gt_eqF.
have E1 : core ε (a *: z) = (a / √(a ^+ 2 * variance z + ε)) *: centred z.
  by rewrite /core varianceZ centredZ scalerA mulrC.
have E2 : core ε (a *: z) = core (ε / a ^+ 2) z.
  rewrite E1 /core (_ : a ^+ 2 * variance z + ε = a ^+ 2 * (variance z + ε / a ^+ 2)); last by field.
  by rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm ?(ltW a0) // invfM mulrA divff ?mul1r.
split=> // vq e1; rewrite E2; split=> [|->]; last by rewrite expr1n divr1.
move/(core_eps_inj vq (addr_gt0 vq (divr_gt0 e1 (exprn_gt0 2 a0))) q0).
move/(congr1 (fun x => x / ε)); rewrite mulrAC divff ?mul1r ?gt_eqF // => /eqP.
by rewrite invr_eq1 sqrf_eq1 => /orP[/eqP //|/eqP aN]; move: a0; rewrite aN ltr0N1.
Qed.

(* At ε = 0 and q > 0 the core is the same for every scale a > 0 *)
Theorem eps_scaling_unstabilised z a : 0 < variance z -> 0 < a -> core 0 (a *: z) = core 0 z.
Proof.
by move=> q0 a0; have [|_ -> _] := @eps_scaling 0 z a a0 (lexx 0); rewrite ?addr0 ?mul0r.
Qed.
End Values.

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

Section Bounds.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h w x y γ β : 'cV[R]_d) (ε c t : R).

(* in the difference of two outputs the bias cancels *)
Lemma layer_norm_sub ε γ β x y : layer_norm ε γ β x - layer_norm ε γ β y = γ ⊙ (core ε x - core ε y).
Proof. by rewrite /layer_norm opprD addrACA subrr addr0 -hadamardBr. Qed.

(* with fixed gain and bias the full layer is Lipschitz with the constant max_i |γ_i| ε^(−1/2) *)
Theorem eps_full_bound ε γ β : 0 < ε -> lipschitz (layer_norm ε γ β) (max_abs γ / √ε).
Proof.
move=> e0 x y; rewrite layer_norm_sub.
apply: le_trans (norm_hadamard _ _) _; rewrite -mulrA ler_wpmul2l ?max_abs_ge0 //.
exact: eps_lipschitz.
Qed.

(* from a constant input a centred step is amplified exactly (‖h‖²/d + ε)^(−1/2) times *)
Lemma core_from_constant ε c h : 0 < ε -> mean h = 0 ->
  ‖core ε (c *: ones + h) - core ε (c *: ones)‖ = ‖h‖ / √(‖h‖ ^+ 2 / d%:R + ε).
Proof.
move=> e0 h0; have -> : core ε (c *: ones) = 0 :> 'cV[R]_d by rewrite /core centred_const scaler0.
rewrite subr0 addrC core_shift /core variance_dot centred_id // sqr_norm normZ mulrC ger0_norm // invr_ge0.
exact: sqrtr_ge0.
Qed.

Lemma inv_root_near ε η : 0 < ε -> 0 < η ->
  exists2 q : R, 0 < q & forall q' : R, 0 <= q' -> q' <= q -> (√ε)^-1 - η <= (√(q' + ε))^-1.
Proof.
move=> e0 η0; have s0 := sqrt_gt0 e0.
exists (η * √ε ^+ 3) => [|q' q0 qη]; first by rewrite mulr_gt0 ?exprn_gt0.
set s := √ε in s0 qη *; set r := √(q' + ε).
have r0 : 0 < r by rewrite sqrt_gt0 // ltr_paddl.
have sr : s <= r by rewrite ler_wsqrtr // ler_addr.
have qE : q' = (r - s) * (r + s) by rewrite -subr_sqr !sqrK ?(ltW e0) ?addr_ge0 ?(ltW e0) // addrK.
rewrite ler_subl_addl -ler_subl_addr.
rewrite (_ : s^-1 - r^-1 = (r - s) / (r * s)); last by field; rewrite !gt_eqF.
rewrite ler_pdivr_mulr ?mulr_gt0 // -(ler_pmul2r (addr_gt0 r0 s0)) -qE; apply: le_trans qη _.
have ss := mulr_ge0 (ltW s0) (ltW s0).
rewrite -mulrA ler_wpmul2l ?(ltW η0) // exprSr expr2 ler_pmul ?(ltW s0) ?ler_addr ?(ltW r0) //.
by rewrite ler_wpmul2r ?(ltW s0).
Qed.
End Bounds.

Section Attained.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z h w : 'cV[R]_d) (ε c : R).

(* for d ≥ 2 there are centred vectors of every length *)
Definition pair_step : 'cV[R]_d := delta_mx 0 0 - delta_mx 1 0.
Lemma pair_step_centred : mean pair_step = 0 /\ pair_step != 0.
Proof.
have sum_delta (i : 'I_d) : \sum_j (delta_mx i 0 : 'cV[R]_d) j 0 = 1.
  by rewrite (bigD1 i) //= big1 => [|j ji]; rewrite !mxE ?eqxx ?addr0 // (negPf ji).
split; first by rewrite meanB /mean !sum_delta subrr.
by apply/eqP => /matrixP/(_ 0 0)/eqP; rewrite !mxE /= subr0 oner_eq0.
Qed.
Lemma centred_step l : 0 < l -> exists2 h : 'cV[R]_d, mean h = 0 & ‖h‖ = l.
Proof.
have [p0 pn] := pair_step_centred; have pp : 0 < ‖pair_step‖ by rewrite norm_gt0.
move=> l0; exists ((l / ‖pair_step‖) *: pair_step); first by rewrite meanZ p0 mulr0.
by rewrite normZ ger0_norm ?divfK ?gt_eqF // ltW // divr_gt0.
Qed.

(* for d ≥ 2 the norm at a constant input is ε^(−1/2), attained in every centred direction; a finite centred step from
   there is amplified (‖h‖²/d + ε)^(−1/2) times, which comes as close to ε^(−1/2) as one likes and stays below it;
   so no constant below ε^(−1/2) will do *)
Theorem eps_attained ε c : 0 < ε ->
  let amplification h := ‖core ε (c *: ones + h) - core ε (c *: ones)‖ / ‖h‖ in
  [/\ is_operator_norm (J ε (c *: ones : 'cV[R]_d)) (√ε)^-1,
      forall w, mean w = 0 -> ‖J ε (c *: ones) *m w‖ = (√ε)^-1 * ‖w‖,
      forall h, mean h = 0 -> h != 0 ->
        amplification h = (√(‖h‖ ^+ 2 / d%:R + ε))^-1 /\ amplification h < (√ε)^-1,
      forall η, 0 < η -> exists h, [/\ mean h = 0, h != 0 & (√ε)^-1 - η <= amplification h]
    & best_lipschitz (@core R d ε) (√ε)^-1].
Proof.
move=> e0 amplification; have s0 := sqrt_gt0 e0.
have Jw w : mean w = 0 -> ‖J ε (c *: ones) *m w‖ = (√ε)^-1 * ‖w‖.
  by move=> w0; rewrite (proj2 (eps_jacobian_constant m.+1 ε c) w w0) normZ ger0_norm // invr_ge0 ltW.
have amp h : mean h = 0 -> h != 0 -> amplification h = (√(‖h‖ ^+ 2 / d%:R + ε))^-1.
  by move=> h0 hn; rewrite /amplification core_from_constant // mulrAC divff ?mul1r ?norm_eq0.
have near η : 0 < η -> exists h, [/\ mean h = 0, h != 0 & (√ε)^-1 - η <= amplification h].
  move=> /(inv_root_near e0)[q q0 H].
  have l0 : 0 < √(q * d%:R) by rewrite sqrt_gt0 // mulr_gt0 ?ltr0n.
  have [h h0 hl] := centred_step l0; have hn : h != 0 by rewrite -norm_gt0 hl.
  exists h; split=> //; rewrite amp // H ?divr_ge0 ?sqr_ge0 ?ler0n // hl sqrK ?mulfK ?d_neq0 //.
  by rewrite mulr_ge0 ?ler0n // ltW.
split=> // [|h h0 hn|].
- split=> [|c' /(_ pair_step)]; first exact: eps_norm_bound.
  by have [p0 pn] := pair_step_centred; rewrite Jw // ler_pmul2r // norm_gt0.
- have hh : 0 < ‖h‖ ^+ 2 / d%:R by rewrite divr_gt0 ?exprn_gt0 ?norm_gt0 ?ltr0n.
  have he := addr_gt0 hh e0; split; rewrite amp //.
  by rewrite ltf_pinv ?posrE ?sqrt_gt0 // ltr_sqrt // ltr_addr.
- split; first exact: eps_lipschitz.
  move=> c' Hc'; apply/ler_addgt0Pr => η /near[h [h0 hn]]; rewrite ler_subl_addr => /le_trans; apply.
  rewrite ler_add2r ler_pdivr_mulr ?norm_gt0 //; have := Hc' (c *: ones + h) (c *: ones).
  by rewrite (_ : c *: ones + h - c *: ones = h) // addrAC subrr add0r.
Qed.
End Attained.

Section ByDimension.
Variable R : rcfType.
Implicit Types (ε : R).

(* ‖J‖₂ is 0 at d = 1, ε/(q + ε)^(3/2) at d = 2 and 1/√(q + ε) for d ≥ 3;
   at a constant input the last two are both 1/√ε *)
Theorem eps_norm_by_dimension ε : 0 <= ε ->
  [/\ forall z : 'cV[R]_1, J ε z = 0 /\ is_operator_norm (J ε z) 0,
      forall z : 'cV[R]_2, 0 < variance z + ε -> is_operator_norm (J ε z) (ε / √(variance z + ε) ^+ 3),
      forall n (z : 'cV[R]_(n.+3)), 0 < variance z + ε -> is_operator_norm (J ε z) (√(variance z + ε))^-1
    & forall n c, let z : 'cV[R]_(n.+1) := c *: ones in 0 < ε ->
        ε / √(variance z + ε) ^+ 3 = (√ε)^-1 /\ (√(variance z + ε))^-1 = (√ε)^-1].
Proof.
move=> e0; split.
- move=> z; have c0 (x : 'cV[R]_1) : centred x = 0.
    by apply/vecP => i; rewrite centredE /mean big_ord1 !ord1 divr1 subrr mxE.
  have J0 : J ε z = 0 by rewrite -[J ε z]mulmx1 J_mul !c0 scaler0 subr0 scaler0.
  split=> //; rewrite J0; split=> [h|c' /(_ ones)]; rewrite mul0mx norm0 ?mul0r //.
  rewrite pmulr_lge0 // norm_gt0; apply/eqP => /matrixP/(_ 0 0)/eqP.
  by rewrite !mxE oner_eq0.
- move=> z q0; set r := √_; have r0 : 0 < r by rewrite sqrt_gt0.
  have key h : ‖J ε z *m h‖ = ε / r ^+ 3 * ‖centred h‖.
    have c0 := divr_ge0 e0 (exprn_ge0 3 (ltW r0)).
    apply: (eqr_of_sqr (norm_ge0 _) (mulr_ge0 c0 (norm_ge0 _))); rewrite exprMn !sqr_norm J_sqr //.
    have two (x : 'cV[R]_2) : centred x = centred x 0 0 *: pair_step R 0.
      have := mean_centred x; rewrite mean_dot dot_ones !big_ord_recl big_ord0 addr0 => /eqP.
      rewrite mulf_eq0 invr_eq0 pnatr_eq0 orbF addr_eq0 => /eqP x01.
      move: (centred x) x01 => c x01; apply/vecP; case=> [[|[|k]] //= i]; rewrite !mxE /=.
        by rewrite subr0 mulr1; congr (c _ _); apply: val_inj.
      rewrite sub0r mulrN1 (_ : 0 = ord0) ?x01 ?opprK; last exact: val_inj.
      by congr (c _ _); apply: val_inj.
    have pp : ⟨pair_step R 0, pair_step R 0⟩ = 2 by rewrite /dot !big_ord_recl big_ord0 !mxE /=; ring.
    have [a za] : exists a, centred z = a *: pair_step R 0 by exists (centred z 0 0); apply: two.
    have [b hb] : exists b, centred h = b *: pair_step R 0 by exists (centred h 0 0); apply: two.
    have qa : variance z = a ^+ 2 by rewrite variance_dot za dotZl dotZr pp; field.
    have eE : ε = r ^+ 2 - a ^+ 2 by rewrite sqrK ?(ltW q0) // qa addrAC subrr add0r.
    have rr : variance z + ε = r ^+ 2 by rewrite qa eE addrCA subrr addr0.
    by rewrite -(dot_centred2 z h) za hb !dotZl !dotZr pp rr eE; field; rewrite gt_eqF.
  split=> [h|c' /(_ (pair_step R 0))].
    by rewrite key ler_wpmul2l ?norm_centred_le // divr_ge0 // exprn_ge0 ?(ltW r0).
  by have [p0 pn] := pair_step_centred R 0; rewrite key centred_id // ler_pmul2r // norm_gt0.
- move=> n z q0; set r := √_; have r0 : 0 < r by rewrite sqrt_gt0.
  split=> [h|c']; first exact: J_bound.
  have [w [w0 w1 wv]] : exists w, [/\ w != 0, ⟨ones, w⟩ = 0 & ⟨centred z, w⟩ = 0].
    have [v0|v0] := eqVneq (centred z) 0.
      have [p0 pn] := pair_step_centred R n.+1; exists (pair_step R n.+1); split=> //.
        by rewrite dot_ones_mean p0 mulr0.
      by rewrite v0 dot0l.
    have [K [KE Kr]] := proj2 (eps_eigen_orthogonal ε z) v0.
    have /rowV0Pn[w wK w0] : K != 0 by rewrite -mxrank_eq0 Kr.
    have wK' : (w^T^T <= K)%MS by rewrite trmxK.
    have [w1 wv] := proj1 (KE w^T) wK'.
    by exists w^T; split=> //; rewrite -trmx0 (inj_eq trmx_inj).
  move/(_ w); rewrite (proj1 (eps_eigen_orthogonal ε z) w w1 wv) normZ ler_pmul2r ?norm_gt0 //.
  by rewrite ger0_norm // invr_ge0 ltW.
- move=> n c z e1; rewrite variance_const add0r; split=> //.
  by rewrite cubeK // invfM mulrA divff ?mul1r ?gt_eqF.
Qed.
End ByDimension.

Section Family.
Variable R : rcfType.
Implicit Types (ε t : R).

(* For z = (−t, 0, t) the third core coordinate is h(t) = t/√(2t²/3 + ε) and its slope is ε/(2t²/3 + ε)^(3/2);
   h grows everywhere, is steepest at t = 0 with the slope 1/√ε, and tends to ±√(3/2) as t → ±∞ *)
Theorem eps_family ε : 0 < ε ->
  let h t := t / √(2 / 3 * t ^+ 2 + ε) in
  let h' t := ε / √(2 / 3 * t ^+ 2 + ε) ^+ 3 in
  [/\ forall t, core ε (vec [:: - t; 0; t]) ord_max 0 = h t /\ is_slope h t (h' t),
      forall t t', t < t' -> h t < h t',
      h' 0 = (√ε)^-1 /\ forall t, t != 0 -> h' t < h' 0,
      tends_at_infinity h (√(3 / 2))
    & tends_at_infinity (fun t => h (- t)) (- √(3 / 2))].
Proof.
move=> e0 h h'; have Q0 t : 0 < 2 / 3 * t ^+ 2 + ε.
  by rewrite ltr_paddl // mulr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n.
set Z := fun t => vec [:: - t; 0; t] : 'cV[R]_3.
have v t : centred (Z t) = Z t.
  by apply: centred_id; rewrite /mean !big_ord_recl big_ord0 !mxE /=; ring.
have q t : variance (Z t) = 2 / 3 * t ^+ 2.
  by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
have hE t : core ε (Z t) ord_max 0 = h t by rewrite coreE v q mxE.
have r0 t : 0 < √(2 / 3 * t ^+ 2 + ε) by rewrite sqrt_gt0.
have r2 t : √(2 / 3 * t ^+ 2 + ε) ^+ 2 = 2 / 3 * t ^+ 2 + ε by rewrite sqrK // ltW.
have slope t : is_slope h t (h' t).
  have q0 : 0 < variance (Z t) + ε by rewrite q.
  have := derivative_line (Z 1) ord_max (proj1 (eps_jacobian q0)).
  have -> : (J ε (Z t) *m Z 1) ord_max 0 = h' t.
    have dot1 : ⟨Z t, Z 1⟩ = 2 * t by rewrite /dot !big_ord_recl big_ord0 !mxE /=; ring.
    rewrite J_mul !v q dot1 !mxE /= /h'; move: (r0 t) (r2 t); move: (√_) => r r0' E.
    have eE : ε = r ^+ 2 - 2 / 3 * t ^+ 2 by rewrite E addrAC subrr add0r.
    by rewrite -E eE; field; rewrite gt_eqF.
  move=> H; apply: slope_shift; apply: slope_ext H => s; rewrite -hE; congr (core ε _ _ _).
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite !mxE /=; ring.
have mono t t' : t < t' -> h t < h t'.
  move=> tt; rewrite /h ltr_pdivr_mulr // mulrAC ltr_pdivl_mulr //.
  have sq (a b : R) : (a * √(2 / 3 * b ^+ 2 + ε)) ^+ 2 = 2 / 3 * (a * b) ^+ 2 + a ^+ 2 * ε.
    by rewrite exprMn r2; ring.
  have [t0|t0] := lerP 0 t.
    have t'0 : 0 < t' := le_lt_trans t0 tt.
    apply: ltr_of_sqr; first by rewrite mulr_ge0 ?ltW.
    by rewrite !sq (mulrC t) ltr_add2l ltr_pmul2r // ltr_pexpn2r ?nnegrE // ltW.
  have [t'0|t'0] := lerP 0 t'.
    by apply: (@lt_le_trans _ _ 0); rewrite ?nmulr_rlt0 // mulr_ge0 // ltW.
  rewrite -ltr_opp2 -!mulNr; apply: ltr_of_sqr; first by rewrite mulr_ge0 ?oppr_ge0 ?ltW.
  rewrite !sq !mulNr !sqrrN (mulrC t') ltr_add2l ltr_pmul2r // -(sqrrN t') -(sqrrN t).
  by rewrite ltr_pexpn2r ?nnegrE ?oppr_ge0 ?ltr_opp2 ?ltW.
have h'0 : h' 0 = (√ε)^-1.
  rewrite /h' expr0n /= mulr0 add0r cubeK ?ltW // invfM mulrA divff ?mul1r ?gt_eqF //.
have steep t : t != 0 -> h' t < h' 0.
  move=> tn; rewrite h'0 /h'; have s0 := sqrt_gt0 e0.
  rewrite ltr_pdivr_mulr ?exprn_gt0 // mulrC ltr_pdivl_mulr // -cubeK ?ltW //.
  rewrite ltr_pexpn2r ?nnegrE ?ltW // ltr_sqrt // ltr_addr mulr_gt0 ?divr_gt0 ?ltr0n //.
  by rewrite lt_def sqr_ge0 sqrf_eq0 tn.
set L := √(3 / 2); have L0 : 0 < L by rewrite sqrt_gt0 ?divr_gt0 ?ltr0n.
have L2 : L ^+ 2 = 3 / 2 by rewrite sqrK // divr_ge0 ?ler0n.
have lim η : 0 < η -> exists t0, forall t, t0 <= t -> `|h t - L| <= η.
  move=> η0; exists (Num.max 1 (9 / 4 * ε / (L * η))) => t; rewrite le_maxl => /andP[t1 tη].
  have t0 : 0 < t := lt_le_trans ltr01 t1.
  have h0 : 0 < h t by rewrite divr_gt0.
  have Lh : 0 < L + h t by rewrite addr_gt0.
  have E : L - h t = 3 / 2 * ε / (2 / 3 * t ^+ 2 + ε) / (L + h t).
    apply: (canRL (mulfK (lt0r_neq0 Lh))); rewrite -subr_sqr L2 /h expr_div_n r2.
    rewrite (_ : 3 / 2 * ε = 3 / 2 * (2 / 3 * t ^+ 2 + ε) - t ^+ 2); last by field.
    by rewrite mulrBl mulfK ?gt_eqF.
  have E0 : 0 <= 3 / 2 * ε / (2 / 3 * t ^+ 2 + ε) / (L + h t).
    by apply: divr_ge0 (ltW Lh); apply: divr_ge0 (ltW (Q0 t)); rewrite mulr_ge0 ?divr_ge0 ?ler0n ?(ltW e0).
  rewrite distrC E ger0_norm // ler_pdivr_mulr // ler_pdivr_mulr //.
  have H1 : 3 / 2 * ε <= η * L * (2 / 3 * t).
    rewrite ler_pdivr_mulr ?mulr_gt0 // in tη.
    have -> : 3 / 2 * ε = 2 / 3 * (9 / 4 * ε) by field.
    have -> : η * L * (2 / 3 * t) = 2 / 3 * (t * (L * η)) by ring.
    by rewrite ler_wpmul2l // divr_ge0 ?ler0n.
  have t23 : 0 <= 2 / 3 * t by rewrite mulr_ge0 ?divr_ge0 ?ler0n ?(ltW t0).
  apply: le_trans H1 _; apply: ler_pmul => //; first by rewrite mulr_ge0 ?(ltW η0) ?(ltW L0).
    by rewrite ler_wpmul2l ?(ltW η0) // ler_addl ltW.
  apply: ler_paddr (ltW e0) _; rewrite ler_wpmul2l ?divr_ge0 ?ler0n //.
  by rewrite expr2 ler_pmulr.
split; [by move=> t; split; [exact: hE|exact: slope]|exact: mono|by split|exact: lim|]; move=> η /lim[t0 H]; exists t0 => t /H Ht.
have -> : h (- t) = - h t by rewrite /h sqrrN mulNr.
by rewrite opprK addrC distrC.
Qed.
End Family.
