(* The statements of the page "Neighbours". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon gain shift_invariance.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* ---- without the centring ---- *)
Section RMSNorm.
Variables (R : rcfType) (d : nat).
Implicit Types (z γ : 'cV[R]_d) (ε : R).

(* m = (1/d) Σ z_i², the mean square *)
Definition mean_square z : R := (\sum_i z i 0 ^+ 2) / d%:R.

(* n_ε(z) = z / √(m + ε) *)
Definition rms ε z : 'cV[R]_d := (√(mean_square z + ε))^-1 *: z.

(* γ ⊙ n_ε(z), RMSNorm with a gain *)
Definition rms_norm ε γ z : 'cV[R]_d := γ ⊙ rms ε z.

(* R = (m + ε)^(−1/2) (I − z zᵀ / (d (m + ε))); that it is the derivative of n is the theorem rms_jacobian *)
Definition rms_J ε z : 'M[R]_d :=
  (√(mean_square z + ε))^-1 *: (1%:M - (d%:R * (mean_square z + ε))^-1 *: (z *m z^T)).
End RMSNorm.

Section RMSFacts.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z w h x y γ : 'cV[R]_d) (ε c t : R).

Lemma mean_square_dot z : mean_square z = ⟨z, z⟩ / d%:R. Proof. by []. Qed.
Lemma mean_square_ge0 z : 0 <= mean_square z.
Proof. by rewrite mean_square_dot divr_ge0 ?dot_ge0 ?ler0n. Qed.
Lemma mean_square_gt0 z : (0 < mean_square z) = (z != 0).
Proof. by rewrite mean_square_dot pmulr_lgt0 ?invr_gt0 ?ltr0n // lt_def dot_eq0 dot_ge0 andbT. Qed.
Lemma dot_mean_square z : ⟨z, z⟩ = d%:R * mean_square z.
Proof. by rewrite mean_square_dot mulrC divfK ?d_neq0. Qed.
Lemma mean_square_centred z : mean_square (centred z) = variance z. Proof. by []. Qed.
Lemma mean_square_sum z : mean_square z = mean z ^+ 2 + variance z.
Proof. by rewrite mean_square_dot pythagoras dot_variance; field; rewrite d1_neq0. Qed.

(* For ε > 0, or ε = 0 and z ≠ 0, n_ε(z) = z/√(m + ε) with m = ‖z‖²/d; with a gain the output is γ ⊙ n_ε(z) *)
Theorem rms_definition ε γ z : 0 < ε \/ ε = 0 /\ z != 0 ->
  [/\ mean_square z = ‖z‖ ^+ 2 / d%:R, 0 < √(mean_square z + ε),
      rms ε z = (√(mean_square z + ε))^-1 *: z
    & forall i, rms_norm ε γ z i 0 = γ i 0 * (z i 0 / √(mean_square z + ε))].
Proof.
move=> H; split=> //; first by rewrite sqr_norm.
  rewrite sqrt_gt0 //; case: H => [e0|[-> z0]]; last by rewrite addr0 mean_square_gt0.
  by rewrite ltr_paddl ?mean_square_ge0.
by move=> i; rewrite hadamardE mxE [_ * z i 0]mulrC.
Qed.

(* n_ε(Pz) = u_ε(z). In general m = μ² + q and n = (μ1 + √(q + ε) u)/√(μ² + q + ε); the two agree if and only if μ = 0 *)
Theorem rms_centred ε z : 0 < variance z + ε ->
  [/\ rms ε (P *m z) = core ε z,
      mean_square z = mean z ^+ 2 + variance z,
      rms ε z = (√(mean z ^+ 2 + variance z + ε))^-1 *: (mean z *: ones + √(variance z + ε) *: core ε z)
    & rms ε z = core ε z <-> mean z = 0].
Proof.
move=> q0; have E1 : rms ε (P *m z) = core ε z by rewrite P_mul.
have E3 : rms ε z = (√(mean z ^+ 2 + variance z + ε))^-1 *: (mean z *: ones + √(variance z + ε) *: core ε z).
  by rewrite core_root // [_ *: ones + _]addrC centred_add_mean /rms mean_square_sum.
split=> //; first exact: mean_square_sum.
split=> [H|m0]; last by rewrite -E1 P_mul centred_id.
have := congr1 (@mean R d) H; rewrite mean_core /rms meanZ => /eqP.
have M0 : 0 < mean_square z + ε by rewrite mean_square_sum -addrA ltr_paddl ?sqr_ge0.
by rewrite mulf_eq0 invr_eq0 (negPf (sqrt_neq0 M0)) => /eqP.
Qed.

Lemma rms_J_mul ε z h : rms_J ε z *m h
  = (√(mean_square z + ε))^-1 *: (h - (⟨z, h⟩ / (d%:R * (mean_square z + ε))) *: z).
Proof. by rewrite -scalemxAl mulmxBl mul1mx -scalemxAl outer_mul scalerA (mulrC _^-1 ⟨_, _⟩). Qed.

Lemma gradient_mean_square ε z : is_gradient (fun x => mean_square x + ε) z ((2 / d%:R) *: z).
Proof.
apply: (@gradient_square _ _ _ _ _ d%:R^-1) => h; rewrite !mean_square_dot dot_add dotZl.
rewrite (_ : _ - _ - _ = ⟨h, h⟩ / d%:R); last by field; rewrite d1_neq0.
by rewrite ger0_norm ?divr_ge0 ?dot_ge0 ?ler0n // mulrC sqr_norm.
Qed.

Lemma rms_J_bound ε z h : 0 < ε -> ‖rms_J ε z *m h‖ <= (√ε)^-1 * ‖h‖.
Proof.
move=> e0; have q0 : 0 < mean_square z + ε by rewrite ltr_paddl ?mean_square_ge0.
rewrite norm_le_norm ?invr_ge0 ?sqrtr_ge0 // exprVn sqrK ?(ltW e0) // rms_J_mul.
have -> : forall r : R, r != 0 -> r ^+ 2 = mean_square z + ε ->
  ⟨r^-1 *: (h - (⟨z, h⟩ / (d%:R * (mean_square z + ε))) *: z), r^-1 *: (h - (⟨z, h⟩ / (d%:R * (mean_square z + ε))) *: z)⟩
  = (mean_square z + ε)^-1 * (⟨h, h⟩ - ⟨z, h⟩ ^+ 2 * (mean_square z + ε + ε) / (d%:R * (mean_square z + ε) ^+ 2)).
- move=> r r0 rr; rewrite dotZl dotZr dot_sub !dotZl !dotZr (dotC h z) (dot_mean_square z).
  have -> : mean_square z = r ^+ 2 - ε by rewrite rr addrK.
  by rewrite subrK; field; rewrite r0 d1_neq0.
- apply: ler_pmul; rewrite ?invr_ge0 ?(ltW q0) //.
  + rewrite subr_ge0 ler_pdivr_mulr ?mulr_gt0 ?ltr0n ?exprn_gt0 //.
    have := cauchy_schwarz_sqr z h; rewrite dot_mean_square => H.
    apply: (@le_trans _ _ (d%:R * mean_square z * ⟨h, h⟩ * (mean_square z + ε + ε))).
      by rewrite ler_wpmul2r // addr_ge0 ?(ltW q0) ?(ltW e0).
    rewrite -subr_ge0 (_ : _ - _ = ⟨h, h⟩ * d%:R * ε ^+ 2); last by ring.
    by apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0 (dot_ge0 _) (ler0n _ _).
  + by rewrite lef_pinv ?posrE // ler_addr mean_square_ge0.
  + rewrite ler_subl_addr ler_addl; apply: divr_ge0; last exact: mulr_ge0 (ler0n _ _) (sqr_ge0 _).
    exact: mulr_ge0 (sqr_ge0 _) (addr_ge0 (ltW q0) (ltW e0)).
- by rewrite sqrt_neq0.
- by rewrite sqrK // ltW.
Qed.

(* For m + ε > 0 the Jacobian of n_ε at z is R. It multiplies z by ε/(m + ε)^(3/2) and every w orthogonal to z by
   1/√(m + ε); at z = 0 it is I/√ε; ‖R‖₂ ≤ 1/√ε for ε > 0 *)
Theorem rms_jacobian ε z : 0 < mean_square z + ε ->
  [/\ is_derivative (rms ε) z (rms_J ε z),
      rms_J ε z *m z = (ε / √(mean_square z + ε) ^+ 3) *: z,
      forall w, ⟨z, w⟩ = 0 -> rms_J ε z *m w = (√(mean_square z + ε))^-1 *: w,
      rms_J ε 0 = (√ε)^-1 *: 1%:M :> 'M[R]_d
    & 0 < ε -> operator_bound (rms_J ε z) (√ε)^-1].
Proof.
move=> q0; split.
- set r := √(mean_square z + ε); have r0 : r != 0 by rewrite sqrt_neq0.
  have rr : mean_square z + ε = r ^+ 2 by rewrite sqrK ?(ltW q0).
  have step := gradient_slope (slope_inv_sqrt q0) (gradient_mean_square ε z).
  have id' : is_derivative (fun x : 'cV[R]_d => x) z 1%:M.
    by apply: derivative_ext (derivative_affine 1%:M 0 z) => x; rewrite addr0 mul1mx.
  have := derivative_scale step id'.
  suff -> : rms_J ε z = (√(mean_square z + ε))^-1 *: 1%:M
      + z *m (- (2 * (mean_square z + ε) * √(mean_square z + ε))^-1 *: (2 / d%:R *: z))^T by [].
  rewrite /rms_J -/r rr; move: (1%:M : 'M[R]_d) => Q; apply/matrixP => i j.
  by rewrite !mxE !big_ord1 !mxE /=; field; rewrite r0 d1_neq0.
- rewrite rms_J_mul dot_mean_square -[X in X - _]scale1r -scalerBl scalerA; congr (_ *: _).
  rewrite cubeK ?(ltW q0) //; move: (sqrt_neq0 q0) (lt0r_neq0 q0); move: (√_) => r r0 qn.
  by field; rewrite r0 qn d1_neq0.
- by move=> w w0; rewrite rms_J_mul w0 mul0r scale0r subr0.
- by rewrite /rms_J mean_square_dot dot0l mul0r add0r mul0mx scaler0 subr0.
- by move=> e0 h; apply: rms_J_bound.
Qed.

(* ‖n(x) − n(y)‖² r s = ‖x − y‖² − d (r − s)² (1 + ε/(r s)) with the roots r and s of m + ε at x and y *)
Lemma rms_two_points ε x y : 0 < mean_square x + ε -> 0 < mean_square y + ε ->
  let r := √(mean_square x + ε) in let s := √(mean_square y + ε) in
  ⟨rms ε x - rms ε y, rms ε x - rms ε y⟩ * (r * s) = ⟨x - y, x - y⟩ - d%:R * (r - s) ^+ 2 * (1 + ε / (r * s)).
Proof.
move=> qx qy r s; rewrite /rms -/r -/s (dot_sub x) (dot_sub (_ *: _)) !dotZl !dotZr !dot_mean_square.
have rn : r != 0 by rewrite sqrt_neq0.
have sn : s != 0 by rewrite sqrt_neq0.
have -> : mean_square x = r ^+ 2 - ε by rewrite sqrK ?(ltW qx) // addrK.
have -> : mean_square y = s ^+ 2 - ε by rewrite sqrK ?(ltW qy) // addrK.
by field; rewrite rn sn.
Qed.
Lemma rms_contracts ε : 0 < ε -> lipschitz (@rms R d ε) (√ε)^-1.
Proof.
move=> e0 x y; rewrite norm_le_norm ?invr_ge0 ?sqrtr_ge0 // exprVn sqrK ?(ltW e0) //.
have m0 (w : 'cV[R]_d) : 0 < mean_square w + ε by rewrite ltr_paddl ?mean_square_ge0.
have := rms_two_points (m0 x) (m0 y) => /=; set r := √_; set s := √_ => E.
have r0 : 0 < r by rewrite sqrt_gt0.
have s0 : 0 < s by rewrite sqrt_gt0.
have rs := mulr_gt0 r0 s0.
have : ⟨rms ε x - rms ε y, rms ε x - rms ε y⟩ * (r * s) <= ⟨x - y, x - y⟩.
  rewrite E ler_subl_addr ler_addl; apply: mulr_ge0; first by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
  by rewrite addr_ge0 ?ler01 // divr_ge0 // ltW.
move=> H; rewrite -(ler_pmul2l e0) mulVKf ?gt_eqF // mulrC; apply: le_trans H.
rewrite ler_wpmul2l ?dot_ge0 //; have eE : ε = √ε * √ε by rewrite -expr2 sqrK ?(ltW e0).
by rewrite {1}eE ler_pmul ?sqrtr_ge0 // ler_wsqrtr // ler_addr mean_square_ge0.
Qed.

Lemma max_abs_entry γ : exists k, max_abs γ = `|γ k 0|.
Proof.
have H : max_abs γ = 0 \/ exists k, max_abs γ = `|γ k 0|.
  rewrite /max_abs; elim/big_rec: _ => [|i x _ IH]; first by left.
  have [xi|xi] := leP x `|γ i 0|; first by right; exists i.
  by case: IH => [x0|[k xk]]; [left|right; exists k].
case: H => // H; exists 0; apply/eqP; rewrite eq_le H normr_ge0 /= -H.
exact: max_abs_ge.
Qed.

(* For ε > 0 and every d ≥ 1 the least Lipschitz constant of γ ⊙ n_ε is max_i |γ_i|/√ε *)
Theorem rms_lipschitz ε γ : 0 < ε -> best_lipschitz (rms_norm ε γ) (max_abs γ / √ε).
Proof.
move=> e0; have s0 := sqrt_gt0 e0; split=> [x y|c Hc].
  rewrite /rms_norm -hadamardBr; apply: le_trans (norm_hadamard _ _) _.
  by rewrite -mulrA ler_wpmul2l ?max_abs_ge0 //; apply: rms_contracts.
have [k ->] := max_abs_entry γ; set a := `|γ k 0|.
apply/ler_addgt0Pr => η η0; have a1 : 0 < a + 1 by rewrite ltr_paddl ?normr_ge0.
have [q q0 H] := inv_root_near e0 (divr_gt0 η0 a1).
set e : 'cV[R]_d := delta_mx k 0; have ee : ⟨e, e⟩ = 1.
  rewrite /dot (bigD1 k) //= big1 => [|j jk]; first by rewrite !mxE !eqxx mulr1 addr0.
  by rewrite !mxE (negPf jk) mulr0.
have ne : ‖e‖ = 1 by rewrite /norm ee sqrtr1.
have t0 : 0 < √(q * d%:R) by rewrite sqrt_gt0 // mulr_gt0 ?ltr0n.
have := Hc (√(q * d%:R) *: e) 0; rewrite subr0 normZ ne mulr1 (gtr0_norm t0).
have -> : rms_norm ε γ 0 = 0 by rewrite /rms_norm /rms scaler0 hadamard0.
rewrite subr0 /rms_norm /rms (_ : mean_square _ = q); last first.
  rewrite mean_square_dot dotZl dotZr ee mulr1 -expr2 sqrK ?mulfK ?d_neq0 //.
  by rewrite mulr_ge0 ?ler0n // ltW.
rewrite scalerA hadamardZr normZ ger0_norm ?mulr_ge0 ?invr_ge0 ?sqrtr_ge0 //.
have -> : γ ⊙ e = γ k 0 *: e.
  by apply/vecP => i; rewrite !mxE eqxx andbT; case: eqP => [->|_]; rewrite ?mulr0.
rewrite normZ ne mulr1 -/a mulrAC ler_pmul2r // => Hca.
have := H q (ltW q0) (lexx q); rewrite ler_subl_addr => H1.
have a0 : 0 <= a by rewrite normr_ge0.
apply: le_trans (ler_wpmul2l a0 H1) _; rewrite mulrDr; apply: ler_add; first by rewrite mulrC.
by rewrite mulrA ler_pdivr_mulr // mulrC ler_pmul2l // ler_addl ler01.
Qed.
End RMSFacts.

(* ---- before or after the block ---- *)
Section Blocks.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (x γ β : 'cV[R]_d) (F : 'cV[R]_d -> 'cV[R]_d) (ε c : R).

(* x ↦ LN(x + F(x)) *)
Definition post_norm ε γ β F x : 'cV[R]_d := layer_norm ε γ β (x + F x).
(* x ↦ x + F(LN(x)) *)
Definition pre_norm ε γ β F x : 'cV[R]_d := x + F (layer_norm ε γ β x).

(* A post-norm block maps x to LN(x + F(x)), a pre-norm block to x + F(LN(x)) *)
Theorem pre_post ε γ β F x :
  post_norm ε γ β F x = γ ⊙ core ε (x + F x) + β /\ pre_norm ε γ β F x = x + F (γ ⊙ core ε x + β).
Proof. by []. Qed.

Lemma derivative_add_id F x DF : is_derivative F x DF -> is_derivative (fun x => x + F x) x (1%:M + DF).
Proof.
move=> FD η /FD[δ δ0 H]; exists δ => // h /H; rewrite mulmxDl mul1mx.
rewrite (_ : x + h + F (x + h) - (x + F x) - (h + DF *m h) = F (x + h) - F x - DF *m h) //.
by move: (F _) (F x) (DF *m h) => p q r; apply/vecP => i; rewrite !mxE /=; ring.
Qed.

(* For ε > 0 the Jacobians of the blocks are diag(γ) J (I + DF), J at x + F(x) and DF at x, and I + DF diag(γ) J, J at x and
   DF at LN(x). A pre-norm block passes a common shift on, for every F; a post-norm block with γ = 1 and β = 0 has outputs
   of mean 0 and of length below √d, for every F *)
Theorem pre_post_jacobian ε γ β F x : 0 < ε ->
  [/\ forall DF, is_derivative F x DF ->
        is_derivative (post_norm ε γ β F) x (diag γ *m J ε (x + F x) *m (1%:M + DF)),
      forall DF, is_derivative F (layer_norm ε γ β x) DF ->
        is_derivative (pre_norm ε γ β F) x (1%:M + DF *m (diag γ *m J ε x)),
      forall c, pre_norm ε γ β F (x + c *: ones) = pre_norm ε γ β F x + c *: ones
    & mean (post_norm ε ones 0 F x) = 0 /\ ‖post_norm ε ones 0 F x‖ < √d%:R].
Proof.
move=> e0; split=> [DF FD|DF FD|c|].
- have q0 := variance_eps (x + F x) e0.
  exact: (@derivative_comp _ _ _ _ (layer_norm ε γ β) (fun x => x + F x) _ _ _
    (proj1 (gain_input_jacobian γ β q0)) (derivative_add_id FD)).
- have q0 := variance_eps x e0.
  apply: (@derivative_add_id (fun x => F (layer_norm ε γ β x))).
  exact: (@derivative_comp _ _ _ _ F (layer_norm ε γ β) _ _ _ FD (proj1 (gain_input_jacobian γ β q0))).
- by rewrite /pre_norm /layer_norm core_shift addrAC.
- rewrite /post_norm /layer_norm hadamard_ones addr0 mean_core; split=> //.
  rewrite /norm ltr_sqrt ?ltr0n // -(centred_core ε) dot_variance (variance_core (variance_eps _ e0)).
  by rewrite -[ltRHS]mulr1 ltr_pmul2l ?ltr0n // ltr_pdivr_mulr ?variance_eps // mul1r ltr_addl.
Qed.
End Blocks.

(* ---- batch normalization ---- *)
Section Batch.
Variables (R : rcfType) (n k : nat).
Notation d := n.+1.
Implicit Types (z γ β b μ q : 'cV[R]_d) (W : 'M[R]_(d, k)) (x : 'cV[R]_k) (ε : R).

(* batch normalization with a stored mean μ̄_c and variance q̄_c for each channel *)
Definition batch_stored ε γ β μ q z : 'cV[R]_d := \col_c (γ c 0 * ((z c 0 - μ c 0) / √(q c 0 + ε)) + β c 0).
(* batch normalization in training: channel c of all samples, the columns of Z, is centred and divided by its root *)
Definition batch_norm N ε γ β (Z : 'M[R]_(d, N)) : 'M[R]_(d, N) :=
  \matrix_(c, s) (γ c 0 * core ε (row c Z)^T s 0 + β c 0).

(* With stored statistics, batch normalization after z = Wx + b is the affine map
   y_c = γ_c/√(q̄_c + ε) (Wx)_c + γ_c (b_c − μ̄_c)/√(q̄_c + ε) + β_c, so it folds into W and b. Layer normalization with d ≥ 2 is
   no affine map for any gain other than 0 *)
Theorem batch_fold ε γ β μ q W b :
  [/\ forall x c, batch_stored ε γ β μ q (W *m x + b) c 0
        = γ c 0 / √(q c 0 + ε) * (W *m x) c 0 + γ c 0 * (b c 0 - μ c 0) / √(q c 0 + ε) + β c 0,
      let s : 'cV[R]_d := \col_c (γ c 0 / √(q c 0 + ε)) in
      forall x, batch_stored ε γ β μ q (W *m x + b) = (diag s *m W) *m x + (s ⊙ (b - μ) + β)
    & 0 <= ε -> (1 < d)%N -> γ != 0 ->
      ~ exists (A : 'M[R]_d) (a : 'cV[R]_d), forall z, 0 < variance z + ε -> layer_norm ε γ β z = A *m z + a].
Proof.
split=> [x c|s x|e0 d1 γ0 [A [a H]]].
- by rewrite !mxE; move: (\sum_j _) => t; rewrite /=; move: (√_)^-1 => r; ring.
- apply/vecP => c; rewrite -mulmxA diag_mul; move: (W *m x) => w; rewrite /s !mxE /=; move: (√_)^-1 => r; ring.
have [i gi] : exists i, γ i 0 != 0.
  apply/existsP; rewrite -[[exists i, _]]negbK negb_exists; apply: contra γ0 => /forallP g.
  by apply/eqP/vecP => i; rewrite [RHS]mxE; apply/eqP; have := g i; rewrite negbK.
have [j ji] : exists j : 'I_d, j != i.
  have [i0|i0] := eqVneq i ord0; last by exists ord0; rewrite eq_sym.
  by exists (Ordinal d1); rewrite i0.
set e : 'cV[R]_d := delta_mx i 0 - delta_mx j 0.
have sum_delta (l : 'I_d) : \sum_o (delta_mx l 0 : 'cV[R]_d) o 0 = 1.
  by rewrite (bigD1 l) //= big1 => [|o ol]; rewrite !mxE ?eqxx ?addr0 // (negPf ol).
have m0 : mean e = 0 by rewrite meanB /mean !sum_delta subrr.
have ei : e i 0 = 1 by rewrite !mxE !eqxx eq_sym (negPf ji) subr0.
have p0 : 0 < variance e.
  by rewrite variance_gt0 centred_id //; apply/eqP => /vecP/(_ i)/eqP; rewrite ei mxE oner_eq0.
have at_t t : t != 0 -> γ i 0 * (t / √(t ^+ 2 * variance e + ε)) + β i 0 = t * (A *m e) i 0 + a i 0.
  move=> t0; have q0 : 0 < variance (t *: e) + ε.
    by rewrite varianceZ ltr_paddr // mulr_gt0 // lt_def sqr_ge0 sqrf_eq0 t0.
  have := congr1 (fun y : 'cV[R]_d => y i 0) (H _ q0).
  rewrite layer_normE coreE varianceZ centredZ (centred_id m0) -scalemxAr => E.
  by move: E; move: (A *m e) => w; rewrite !mxE -/(e i 0) => E; rewrite -E; move: ei; rewrite !mxE => ->; rewrite mulr1.
have t1 := at_t 1 (oner_neq0 _); have := at_t (-1); rewrite oppr_eq0 oner_eq0 sqrrN => /(_ isT) tN.
have := at_t 2; rewrite pnatr_eq0 => /(_ isT) t2.
have ab : a i 0 = β i 0.
  have : 2 * a i 0 = 2 * β i 0.
    rewrite (_ : 2 * a i 0 = (1 * (A *m e) i 0 + a i 0) + (-1 * (A *m e) i 0 + a i 0)); last by ring.
    by rewrite -t1 -tN; set r := _^-1; ring.
  by apply: mulfI; rewrite pnatr_eq0.
move: t1 t2; rewrite ab => /addIr; rewrite !mul1r expr1n mul1r => t1 /addIr; rewrite -t1.
rewrite (mulrCA 2).
have two : 2 != 0 :> R by rewrite pnatr_eq0.
move=> /(mulfI gi)/(mulfI two)/invr_inj/(congr1 (fun r => r ^+ 2)).
rewrite !sqrK; last 2 first.
- by rewrite addr_ge0 ?(ltW p0).
- by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 ?(ltW p0).
move/addIr/eqP; rewrite -subr_eq0 (_ : _ - _ = 3 * variance e); last by ring.
by rewrite mulf_eq0 pnatr_eq0 (gt_eqF p0).
Qed.
End Batch.

Section BatchBias.
Variables (R : rcfType) (n k : nat).
Notation d := n.+1.
Implicit Types (γ β b : 'cV[R]_d) (W : 'M[R]_(d, k)) (x : 'cV[R]_k) (ε c : R).

(* In z = Wx + b before batch normalization in training, for the inputs that are the columns of X, replacing b by any b'
   changes no output. Before layer normalization (ε > 0, no gain 0) this is so for b' − b = c1 only, for every x *)
Theorem batch_bias N ε γ β W b b' (X : 'M[R]_(k, N.+1)) :
  batch_norm ε γ β (\matrix_(c, s) (W *m col s X + b') c 0) = batch_norm ε γ β (\matrix_(c, s) (W *m col s X + b) c 0)
  /\ (0 < ε -> (forall i, γ i 0 != 0) -> forall x,
      layer_norm ε γ β (W *m x + b') = layer_norm ε γ β (W *m x + b) <-> exists c, b' - b = c *: ones).
Proof.
split.
  apply/matrixP => c s; rewrite [LHS]mxE [RHS]mxE; congr (_ * _ + _).
  have E (e : 'cV[R]_d) : (row c (\matrix_(c, s) (W *m col s X + e) c 0))^T = (row c (W *m X))^T + e c 0 *: ones.
    apply/vecP => t; rewrite !mxE mulr1; congr (_ + _); apply: eq_bigr => j _; by rewrite !mxE.
  by rewrite (E b) (E b') !core_shift.
move=> e0 g0 x; have bE : W *m x + b' = W *m x + b + (b' - b) by rewrite -addrA [b + _]addrC subrK.
split=> [H|[c bc]]; last by rewrite bE bc /layer_norm core_shift.
have uu : core ε (W *m x + b') = core ε (W *m x + b).
  apply/vecP => i; have := congr1 (fun y : 'cV[R]_d => y i 0) H.
  by rewrite !layer_normE => /addIr/(mulfI (g0 i)).
apply/centred_eq0; move/(core_inj e0): uu; rewrite bE [LHS]centredD -[RHS]addr0; exact: addrI.
Qed.
End BatchBias.

(* ---- scaling the weights ---- *)
Section Scaling.
Variables (R : rcfType) (n k : nat).
Notation d := n.+1.
Implicit Types (z b : 'cV[R]_d) (W : 'M[R]_(d, k)) (x r : 'cV[R]_k) (ε α δ : R).

Lemma core_sign ε α z : α != 0 -> core ε (α *: z) = Num.sg α *: core (ε / α ^+ 2) z.
Proof.
move=> a0; rewrite /core varianceZ centredZ !scalerA; congr (_ *: _).
rewrite (_ : α ^+ 2 * variance z + ε = α ^+ 2 * (variance z + ε / α ^+ 2)); last by field.
rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr invfM [LHS]mulrC mulrA; congr (_ * _).
by rewrite {1}[α]numEsg mulfK ?normr_eq0.
Qed.
Lemma core_near_zero ε z : 0 < variance z -> 0 <= ε ->
  core 0 z - core ε z = ((√(variance z))^-1 - (√(variance z + ε))^-1) *: centred z.
Proof. by move=> q0 e0; rewrite /core addr0 -scalerBl. Qed.

(* For α ≠ 0 and ε > 0, u_ε(αz) = sign(α) u_{ε/α²}(z). As |α| → ∞ with q > 0 it tends to sign(α) v/√q, the core at
   ε = 0 up to sign, and stays away from u_ε(z) *)
Theorem scale_sign ε z : 0 < ε ->
  (forall α, α != 0 -> core ε (α *: z) = Num.sg α *: core (ε / α ^+ 2) z)
  /\ (0 < variance z ->
      [/\ core 0 z = (√(variance z))^-1 *: centred z,
          forall η, 0 < η -> exists t0, forall α, t0 <= `|α| -> ‖core ε (α *: z) - Num.sg α *: core 0 z‖ <= η
        & exists2 η, 0 < η & exists t0, forall α, t0 <= `|α| -> η <= ‖core ε (α *: z) - core ε z‖]).
Proof.
move=> e0; split=> [α|q0]; first exact: core_sign.
have v0 : 0 < ‖centred z‖ by rewrite norm_gt0 -variance_gt0.
have lim η : 0 < η -> exists2 t0, 0 < t0 & forall α, t0 <= `|α| -> ‖core ε (α *: z) - Num.sg α *: core 0 z‖ <= η.
  move=> η0; have [p p0 H] := inv_root_near q0 (divr_gt0 η0 v0).
  exists (Num.max 1 (ε / p)); first by rewrite lt_maxr ltr01.
  move=> α; rewrite le_maxl => /andP[a1 ap]; have an : α != 0 by rewrite -normr_gt0 (lt_le_trans ltr01).
  have a2 : 0 < α ^+ 2 by rewrite lt_def sqr_ge0 sqrf_eq0 an.
  have ea : 0 <= ε / α ^+ 2 := ltW (divr_gt0 e0 a2).
  rewrite core_sign // -scalerBr normZ normr_sg an mul1r norm_sub core_near_zero // normZ.
  rewrite -ler_pdivl_mulr // ger0_norm.
    rewrite ler_subl_addr -ler_subl_addl [variance z + _]addrC; apply: H => //; rewrite ler_pdivr_mulr // mulrC -ler_pdivr_mulr //.
    by apply: le_trans ap _; rewrite -real_normK ?num_real // expr2 ler_pmulr // (lt_le_trans ltr01).
  by rewrite subr_ge0 lef_pinv ?posrE ?sqrt_gt0 ?ltr_paddr // ler_wsqrtr // ler_addl.
split; first by rewrite /core addr0.
  by move=> η /lim[t0 _ H]; exists t0.
have D0 : 0 < ‖core 0 z‖ - ‖core ε z‖.
  rewrite subr_gt0 /core !normZ ltr_pmul2r // addr0 !ger0_norm ?invr_ge0 ?sqrtr_ge0 //.
  by rewrite ltf_pinv ?posrE ?sqrt_gt0 ?addr_gt0 // ltr_sqrt ?addr_gt0 // ltr_addl.
exists ((‖core 0 z‖ - ‖core ε z‖) / 2); first by rewrite divr_gt0 ?ltr0n.
have [t0 t00 H] := lim _ (divr_gt0 D0 (ltr0n _ 2)); exists t0 => α at0.
have an : α != 0 by rewrite -normr_gt0 (lt_le_trans t00).
have := H α at0; have := norm_triangle_sub (Num.sg α *: core 0 z) (core ε z).
rewrite normZ normr_sg an mul1r => H1 H2.
have H3 : ‖Num.sg α *: core 0 z - core ε z‖ <= ‖core ε (α *: z) - Num.sg α *: core 0 z‖ + ‖core ε (α *: z) - core ε z‖.
  rewrite [X in _ <= X + _]norm_sub; apply: le_trans (norm_triangle _ _).
  by rewrite addrA subrK.
rewrite {1}(_ : _ / 2 = (‖core 0 z‖ - ‖core ε z‖) - (‖core 0 z‖ - ‖core ε z‖) / 2); last by field.
rewrite ler_subl_addl; apply: le_trans H1 (le_trans H3 _).
by rewrite ler_add2r.
Qed.

(* Let z = Wx + b and δ > 0. Replacing (W, b) by (δW, δb) is replacing ε by ε/δ²; the core stays the same if ε becomes
   δ²ε at the same time; with ε > 0 fixed it changes wherever q > 0, unless δ = 1. W → W + 1rᵀ changes nothing *)
Theorem weight_scaling ε δ W b x r : 0 < δ -> 0 <= ε -> 0 < variance (W *m x + b) + ε ->
  [/\ core ε ((δ *: W) *m x + δ *: b) = core (ε / δ ^+ 2) (W *m x + b),
      core (δ ^+ 2 * ε) ((δ *: W) *m x + δ *: b) = core ε (W *m x + b),
      0 < ε -> 0 < variance (W *m x + b) -> (core ε ((δ *: W) *m x + δ *: b) = core ε (W *m x + b) <-> δ = 1)
    & core ε ((W + ones *m r^T) *m x + b) = core ε (W *m x + b)].
Proof.
move=> d0 e0 q0; have -> : (δ *: W) *m x + δ *: b = δ *: (W *m x + b) by rewrite scalerDr scalemxAl.
have [E1 E2 E3] := eps_scaling d0 e0 q0; split=> // [|e1 q1|].
- rewrite core_sign ?gt_eqF // gtr0_sg // scale1r; congr (core _ _).
  by rewrite mulrAC divff ?mul1r // expf_neq0 // gt_eqF.
- exact: E3.
- by rewrite mulmxDl outer_mul addrAC core_shift.
Qed.
End Scaling.

(* ---- into the layers around it ---- *)
(* σ(t) = t/√(t² + ε): the core of the centred vectors t a with ‖a‖² = d is σ(t) a *)
Definition sigma (R : rcfType) (ε t : R) : R := t / √(t ^+ 2 + ε).

Section Sigma.
Variable R : rcfType.
Implicit Types (ε t : R).
Lemma sigmaN ε t : sigma ε (- t) = - sigma ε t. Proof. by rewrite /sigma sqrrN mulNr. Qed.
Lemma sigma0 ε : sigma ε 0 = 0. Proof. by rewrite /sigma mul0r. Qed.
Lemma sigma_root ε t : 0 < ε -> 0 < t ^+ 2 + ε. Proof. by move=> e0; rewrite ltr_paddl ?sqr_ge0. Qed.
Lemma sigma_sqr ε t : 0 < ε -> sigma ε t ^+ 2 = t ^+ 2 / (t ^+ 2 + ε).
Proof. by move=> e0; rewrite /sigma expr_div_n sqrK // ltW // sigma_root. Qed.
(* every number between −1 and 1 is a value of σ *)
Lemma sigma_onto ε y : 0 < ε -> y ^+ 2 < 1 -> exists t, sigma ε t = y.
Proof.
move=> e0 y1; have m0 : 0 < 1 - y ^+ 2 by rewrite subr_gt0.
have r0 := sqrt_gt0 m0; have s0 := sqrt_gt0 e0; exists (y * √ε / √(1 - y ^+ 2)).
rewrite /sigma (_ : _ ^+ 2 + ε = (√ε / √(1 - y ^+ 2)) ^+ 2).
  by rewrite sqrtr_sqr ger0_norm ?divr_ge0 ?ltW //; field; rewrite !gt_eqF.
rewrite !expr_div_n exprMn !sqrK ?ltW //; field; rewrite gt_eqF //.
Qed.
Lemma sigma_limit ε η : 0 < ε -> 0 < η -> exists2 T, 0 < T & forall t, T <= t -> `|sigma ε t - 1| <= η.
Proof.
move=> e0 η0; exists (Num.max 1 (ε / η)); first by rewrite lt_maxr ltr01.
move=> t; rewrite le_maxl => /andP[t1 tη]; have t0 : 0 < t := lt_le_trans ltr01 t1.
have r0 : 0 < √(t ^+ 2 + ε) by rewrite sqrt_gt0 // sigma_root.
have tr : t <= √(t ^+ 2 + ε).
  by apply: ler_of_sqr; rewrite ?sqrtr_ge0 // sqrK ?ler_addl ltW // sigma_root.
have := sqrK (ltW (sigma_root t e0)); rewrite /sigma; move: (√_) r0 tr => r r0 tr rr.
rewrite distrC ger0_norm; last by rewrite subr_ge0 ler_pdivr_mulr ?mul1r.
rewrite (_ : 1 - t / r = (r - t) / r); last by field; rewrite gt_eqF.
rewrite ler_pdivr_mulr // -(ler_pmul2r (addr_gt0 r0 t0)) -subr_sqr rr addrC addKr.
rewrite ler_pdivr_mulr // in tη; apply: le_trans tη _; rewrite mulrC -mulrA ler_pmul2l //.
apply: le_trans tr _; rewrite ler_pmulr // (le_trans t1) // ler_addr ltW //.
Qed.
End Sigma.

Section Fold.
Variables (R : rcfType) (n m k : nat).
Notation d := n.+1.
Implicit Types (z u γ β b : 'cV[R]_d) (A : 'M[R]_(m, d)) (c : 'cV[R]_m) (W : 'M[R]_(d, k)) (x : 'cV[R]_k) (ε : R).

(* r(t) = max(0, t) in each coordinate *)
Definition relu l (x : 'cV[R]_l) : 'cV[R]_l := \col_i Num.max 0 (x i 0).

Lemma core_pair ε (t : R) : core ε (vec [:: t; - t] : 'cV[R]_2) = sigma ε t *: (vec [:: 1; -1] : 'cV[R]_2).
Proof.
set z : 'cV[R]_2 := vec [:: t; - t]; have m0 : mean z = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have q : variance z = t ^+ 2 by rewrite /variance centred_id // !big_ord_recl big_ord0 !mxE /=; field.
apply/vecP; case=> [[|[|j]] //= i]; rewrite coreE q centred_id // /sigma !mxE /=; by rewrite ?mulr1 ?mulrN1 ?mulNr.
Qed.

(* A (γ ⊙ u + β) + c = (A diag(γ)) u + (Aβ + c). If γ_i = 0, column i of A diag(γ) is 0, and A cannot be had back: there
   is another A' with the same folded matrix and constant. Through a nonlinearity the parameters do not fold: with
   r(t) = max(0, t), d = 2, ε > 0 and β = (1/2, 0) there are no A' and c' with r(u_1 + β_1) = A' r(u) + c' for all u *)
Theorem fold A c γ β :
  [/\ forall u, A *m (γ ⊙ u + β) + c = (A *m diag γ) *m u + (A *m β + c),
      forall i, γ i 0 = 0 -> col i (A *m diag γ) = 0
        /\ (forall j : 'I_m, exists A' c', [/\ A' <> A, A' *m diag γ = A *m diag γ & A' *m β + c' = A *m β + c])
    & forall ε, 0 < ε -> let β' : 'cV[R]_2 := vec [:: 1 / 2; 0] in
      ~ exists (A' : 'rV[R]_2) (c' : R), forall z : 'cV[R]_2,
          Num.max 0 (core ε z 0 0 + β' 0 0) = (A' *m relu (core ε z)) 0 0 + c'].
Proof.
split=> [u|i g0|ε e0 β' [A' [c' H]]].
- by rewrite mulmxDr -mulmxA diag_mul addrA.
- have dg (B : 'M[R]_(m, d)) l j : (B *m diag γ) l j = B l j * γ j 0 by rewrite mul_mx_diag !mxE.
  split=> [|j]; first by apply/matrixP => l o; rewrite mxE dg g0 mulr0 mxE.
  exists (A + delta_mx j i), (c - delta_mx j i *m β); split.
  + move/matrixP/(_ j i); rewrite !mxE !eqxx -[RHS]addr0 => /addrI/eqP.
    by rewrite oner_eq0.
  + apply/matrixP => l o; rewrite !dg !mxE mulrDl; case: (l == j) => /=; last by rewrite mul0r addr0.
    by case: eqP => [->|_]; rewrite ?g0 ?mulr0 ?mul0r addr0.
  + by rewrite mulmxDl addrAC addrA subrK.
- have core_at y : y ^+ 2 < 1 -> exists z : 'cV[R]_2, core ε z = vec [:: y; - y].
    move=> /(sigma_onto e0)[t tE]; exists (vec [:: t; - t]); rewrite core_pair tE.
    by apply/vecP; case=> [[|[|j]] //= i]; rewrite !mxE /=; ring.
  have at_t y : 0 <= y -> y < 1 -> Num.max 0 (1 / 2 - y) = A' 0 1 * y + c'.
    move=> y0 y1; have [|z zE] := core_at (- y).
      by rewrite sqrrN expr2 -[ltRHS]mulr1 ltr_pmul.
    have := H z; rewrite zE !mxE !big_ord_recl big_ord0 !mxE /= opprK addr0 addrC => ->.
    rewrite (_ : Num.max 0 (- y) = 0) ?mulr0 ?add0r; last by apply/max_idPl; rewrite oppr_le0.
    by congr (A' _ _ * _ + _); [apply: val_inj|apply/max_idPr].
  have q4 (a : nat) : 0 <= a%:R / 4 :> R by rewrite divr_ge0 ?ler0n.
  have p4 (a : nat) : (a < 4)%N -> a%:R / 4 < 1 :> R by move=> a4; rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat.
  have := at_t _ (q4 3%N) (p4 3%N isT); have := at_t _ (q4 2%N) (p4 2%N isT); have := at_t _ (q4 1%N) (p4 1%N isT).
  have -> : 1 / 2 - 1%:R / 4 = 1 / 4 :> R by field.
  have -> : 1 / 2 - 2 / 4 = 0 :> R by field.
  have -> : 1 / 2 - 3 / 4 = - (1 / 4) :> R by field.
  have q1 : 0 <= 1 / 4 :> R := q4 1%N.
  rewrite maxxx (max_idPr q1) (max_idPl _) ?oppr_le0 //.
  move=> E1 E2 E3; have : 1 / 4 = 0 :> R.
    rewrite E1 (_ : A' 0 1 * (1 / 4) + c' = 2 * (A' 0 1 * (2 / 4) + c') - (A' 0 1 * (3 / 4) + c')); last by field.
    by rewrite -E2 -E3; ring.
  by move/eqP; rewrite mul1r invr_eq0 pnatr_eq0.
Qed.
End Fold.

Section FoldCentre.
Variables (R : rcfType) (n m k : nat).
Notation d := n.+1.
Implicit Types (z γ b : 'cV[R]_d) (A : 'M[R]_(m, d)) (W : 'M[R]_(d, k)) (x : 'cV[R]_k) (ε : R).

(* u_ε(Wx + b) = n_ε(PWx + Pb) for every x and ε. After the layer (A diag(γ)) u = (A diag(γ) P) u for every core u *)
Theorem fold_centre W b A γ :
  (forall ε x, core ε (W *m x + b) = rms ε (P *m W *m x + P *m b))
  /\ forall ε z, (A *m diag γ) *m core ε z = (A *m diag γ *m P) *m core ε z.
Proof.
split=> [ε x|ε z]; last by rewrite -[in RHS]mulmxA P_mul centred_core.
by rewrite -mulmxA -mulmxDr P_mul.
Qed.
End FoldCentre.

Section FoldBack.
Variables (R : rcfType) (n k : nat).
Notation d := n.+2.
Implicit Types (z a γ β b : 'cV[R]_d) (W : 'M[R]_(d, k)) (x : 'cV[R]_k) (ε g c κ : R).

(* d(1 − …): the length of a core stays below √d *)
Lemma dot_core_lt ε z : 0 < ε -> ⟨core ε z, core ε z⟩ < d%:R.
Proof.
move=> e0; rewrite -{1 2}(centred_core ε z) dot_variance (variance_core (variance_eps z e0)).
rewrite -[ltRHS]mulr1 ltr_pmul2l ?ltr0n // ltr_pdivr_mulr ?variance_eps // mul1r ltr_addl //.
Qed.
Lemma norm_core_lt ε z : 0 < ε -> ‖core ε z‖ < √d%:R.
Proof. by move=> e0; rewrite /norm ltr_sqrt ?ltr0n // dot_core_lt. Qed.
(* every centred vector shorter than √d is a core *)
Lemma core_onto ε y : 0 < ε -> mean y = 0 -> ⟨y, y⟩ < d%:R -> exists z, core ε z = y :> 'cV[R]_d.
Proof.
move=> e0 y0 yd; set p := 1 - ⟨y, y⟩ / d%:R.
have p0 : 0 < p by rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n // mul1r.
exists (√(ε / p) *: y); have ep := divr_gt0 e0 p0.
rewrite /core varianceZ variance_dot centredZ !centred_id // sqrK ?(ltW ep) // scalerA.
rewrite (_ : _ * _ + ε = ε / p); first by rewrite mulVf ?scale1r ?sqrt_neq0.
by rewrite -(subKr 1 (⟨y, y⟩ / d%:R)) -/p; field; rewrite gt_eqF.
Qed.
Lemma core_line ε a t : mean a = 0 -> ⟨a, a⟩ = d%:R -> core ε (t *: a) = sigma ε t *: a.
Proof.
move=> a0 aa; rewrite /core varianceZ variance_dot centredZ !centred_id // aa divff ?d_neq0 // mulr1.
by rewrite scalerA /sigma mulrC.
Qed.

Lemma sign_cases (A : R) : A != 0 -> Num.sg A = 1 \/ Num.sg A = -1.
Proof. by case: sgrP => // _ _; [left|right]. Qed.
(* σ(At + B) = g σ(t) + κ for all t is possible only with κ = 0 and g = ±1, unless g = 0 *)
Lemma sigma_rigid ε (A B : R) g κ : 0 < ε -> g != 0 ->
  (forall t, sigma ε (A * t + B) = g * sigma ε t + κ) -> κ = 0 /\ (g = 1 \/ g = -1).
Proof.
move=> e0 g0 H; have A0 : A != 0.
  apply/eqP => A0; have E1 := H 0; have := H 1; rewrite A0 !mul0r in E1 *.
  rewrite E1 sigma0 mulr0 add0r -[LHS]add0r => /addIr/esym/eqP; rewrite mulf_eq0 (negPf g0) /=.
  by rewrite /sigma mul1r invr_eq0 gt_eqF // sqrt_gt0 // sigma_root.
(* at infinity σ(At + B) tends to the sign of A *)
have far η : 0 < η -> exists T, forall t, T <= t ->
    `|sigma ε (A * t + B) - Num.sg A| <= η /\ `|sigma ε (A * - t + B) + Num.sg A| <= η.
  move=> /(sigma_limit e0)[T T0 HT]; exists ((T + `|B|) / `|A|) => t.
  have a0 : 0 < `|A| by rewrite normr_gt0.
  rewrite ler_pdivr_mulr // => tT.
  have key B' : `|B'| = `|B| -> `|sigma ε (A * t + B') - Num.sg A| <= η.
    move=> BB; have [s1|s1] := sign_cases A0.
    - rewrite s1 HT // {1}[A]numEsg s1 mul1r mulrC -ler_subl_addr; apply: le_trans _ tT.
      by rewrite ler_add2l -BB -normrN ler_norm.
    - have := HT (- (A * t + B')); rewrite sigmaN s1 -opprD normrN opprK; apply.
      rewrite {1}[A]numEsg s1 mulN1r mulNr opprD opprK mulrC -ler_subl_addr opprK; apply: le_trans _ tT.
      by rewrite ler_add2l -BB ler_norm.
  split; first exact: key.
  rewrite (_ : A * - t + B = - (A * t - B)); last by ring.
  by rewrite sigmaN addrC distrC; apply: key (normrN B).
have small (x c : R) : 0 <= c -> (forall η, 0 < η -> `|x| <= c * η) -> x = 0.
  move=> c0 Hx; apply/eqP; rewrite -normr_le0; apply/ler_addgt0Pr => η η0; rewrite add0r.
  have c1 : 0 < c + 1 by rewrite ltr_paddl ?ltr01.
  apply: le_trans (Hx _ (divr_gt0 η0 c1)) _; rewrite mulrA ler_pdivr_mulr // mulrC ler_pmul2l //.
  by rewrite ler_addl ler01.
have κ0 : κ = 0.
  apply: (small _ 1 ler01) => η η0; have [T HT] := far η η0; have [] := HT T (lexx T).
  rewrite !H sigmaN => H1 H2.
  have -> : κ = ((g * sigma ε T + κ - Num.sg A) + (g * - sigma ε T + κ + Num.sg A)) / 2 by field.
  rewrite normrM (ger0_norm (_ : 0 <= 2^-1)) ?invr_ge0 ?ler0n // ler_pdivr_mulr ?ltr0n //.
  by apply: le_trans (ler_norm_add _ _) _; rewrite mul1r mulr_natr mulr2n ler_add.
split=> //; suff gA : g = Num.sg A.
  by rewrite gA; apply: sign_cases.
apply/eqP; rewrite -subr_eq0; apply/eqP; apply: (small _ (1 + `|g|)).
  by rewrite addr_ge0 ?ler01 ?normr_ge0.
move=> η η0; have [T HT] := far η η0; have [T' _ HT'] := sigma_limit e0 η0.
set t := Num.max T T'; have tT : T <= t by rewrite le_maxr lexx.
have tT' : T' <= t by rewrite le_maxr lexx orbT.
have [H1 _] := HT t tT; have H2 := HT' t tT'; rewrite H κ0 addr0 in H1.
have -> : g - Num.sg A = (g * sigma ε t - Num.sg A) - g * (sigma ε t - 1) by ring.
apply: le_trans (ler_norm_sub _ _) _; rewrite mulrDl mul1r normrM.
by apply: ler_add => //; rewrite ler_wpmul2l ?normr_ge0.
Qed.

(* A core has mean 0 and a length below √d: an output with another mean or a length of √d or more is no core, as (1, 0, 1)
   of the example. Let PW have the rank d − 1: for ε > 0 some W' and b' with u_ε(W'x + b') = γ ⊙ u_ε(Wx + b) + β for
   all x exist if and only if β = 0 and all gains are 1 or all are −1, or the output is one core, the same for every x:
   γ = 0, the entries of β add up to 0 and ‖β‖ < √d. For γ = −1, W' = −W and b' = −b do it, for every W and b *)
Theorem fold_back ε W b γ β : 0 < ε ->
  [/\ forall z, mean (layer_norm ε γ β z) <> 0 \/ √d%:R <= ‖layer_norm ε γ β z‖ ->
        forall z' : 'cV[R]_d, core ε z' <> layer_norm ε γ β z,
      forall z' : 'cV[R]_3, core 2 z' <> layer_norm 2 (vec [:: 2; 0; -1]) 0 (vec [:: 1; 1; -2]),
      \rank (P *m W) = d.-1 ->
        (exists W' b', forall x, core ε (W' *m x + b') = layer_norm ε γ β (W *m x + b))
        <-> (γ = ones \/ γ = - ones) /\ β = 0 \/ [/\ γ = 0, mean β = 0 & ‖β‖ < √d%:R]
    & forall x, core ε ((- W) *m x + - b) = layer_norm ε (- ones) 0 (W *m x + b)].
Proof.
move=> e0; have coreN z : core ε (- z) = layer_norm ε (- ones) 0 z.
  rewrite /layer_norm addr0 hadamardC -[- ones]scaleN1r hadamardZr hadamardC hadamard_ones.
  by rewrite -scaleN1r core_sign ?oppr_eq0 ?oner_eq0 // sgrN1 sqrrN expr1n divr1.
have W_N x : core ε ((- W) *m x + - b) = layer_norm ε (- ones) 0 (W *m x + b).
  by rewrite mulNmx -opprD coreN.
split=> //.
- move=> z H z' E; case: H; rewrite -E ?mean_core //.
  by rewrite leNgt norm_core_lt.
- have [_ _ _ ->] := gain_example R => z' E; have := mean_core 2 z'; rewrite E.
  have -> : mean (vec [:: 1; 0; 1] : 'cV[R]_3) = 2 / 3 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
  by move/eqP; rewrite mulf_eq0 invr_eq0 !pnatr_eq0.
move=> rW.
have onto z : exists x, centred (W *m x + b) = centred z.
  have PP : (W^T *m P <= (P : 'M[R]_d))%MS by rewrite submxMl.
  have rP : (\rank (P : 'M[R]_d) <= d.-1)%N.
    rewrite -ltnS ltn_neqAle rank_leq_row andbT; apply/negP => PF.
    have PU : (P : 'M[R]_d) \in unitmx by rewrite -row_free_unit.
    have := mulKmx PU (ones : 'cV[R]_d); rewrite P_mul centred_ones mulmx0 => /matrixP/(_ 0 0)/eqP.
    by rewrite !mxE eq_sym oner_eq0.
  have rWP : \rank (W^T *m P) = d.-1 by rewrite -mxrank_tr trmx_mul trmxK P_tr.
  have : ((P : 'M[R]_d) <= W^T *m P)%MS.
    by rewrite -(geq_leqif (mxrank_leqif_sup PP)) rWP.
  move=> /(submx_trans (submxMl (z - b)^T P)) /submxP[D DE]; exists D^T.
  have := congr1 trmx DE; rewrite !trmx_mul !trmxK P_tr -mulmxA !P_mul centredB => E.
  by rewrite centredD -E subrK.
have core_of z : exists x, core ε (W *m x + b) = core ε z.
  by have [x xE] := onto z; exists x; rewrite /core !variance_dot xE.
split=> [[W' [b' H]]|[[γ1 ->]|[-> β0 βd]]]; last first.
- have [|z zE] := core_onto e0 β0; first by move: βd; rewrite /norm ltr_sqrt ?ltr0n.
  exists 0, z => x; rewrite mul0mx add0r zE /layer_norm hadamardC hadamard0 add0r //.
- case: γ1 => ->; last by exists (- W), (- b).
  by exists W, b => x; rewrite /layer_norm hadamard_ones addr0.
have core_y z : exists z', core ε z' = γ ⊙ core ε z + β.
  by have [x <-] := core_of z; exists (W' *m x + b'); rewrite H.
have β0 : mean β = 0.
  by have [z' E] := core_y 0; rewrite -(mean_core ε z') E /core centred0 scaler0 hadamard0 add0r.
have [g γg] : exists g, γ = g *: ones.
  have [_ [G _] _] := gain_moments γ (ltW e0); apply: G => z _.
  have [z' E] := core_y z; have := mean_core ε z'; rewrite E meanD β0 addr0 //.
have yE z : γ ⊙ core ε z + β = g *: core ε z + β by rewrite γg hadamardC hadamardZr hadamardC hadamard_ones.
have [g0|g0] := eqVneq g 0.
  right; split=> //; first by rewrite γg g0 scale0r.
  by have [z' E] := core_y 0; rewrite -(_ : core ε z' = β) ?norm_core_lt // E yE g0 scale0r add0r.
left; have [a [a0 aa [κ βκ]]] : exists a : 'cV[R]_d, [/\ mean a = 0, ⟨a, a⟩ = d%:R & exists κ, β = κ *: a].
  have sd : 0 < √(d%:R : R) by rewrite sqrtr_gt0 ltr0n.
  have [bz|bn] := eqVneq β 0.
    have [h h0 hl] := centred_step n sd; exists h; split=> //; last by exists 0; rewrite scale0r.
    by rewrite -sqr_norm hl sqrK ?ler0n.
  have bl : 0 < ‖β‖ by rewrite norm_gt0.
  exists ((√d%:R / ‖β‖) *: β); split; first by rewrite meanZ β0 mulr0.
    rewrite dotZl dotZr -sqr_norm (_ : _ * (_ * _) = √d%:R ^+ 2); last by field; rewrite gt_eqF.
    by rewrite sqrK ?ler0n.
  exists (‖β‖ / √d%:R); rewrite scalerA (_ : _ * _ = 1) ?scale1r //; field; rewrite !gt_eqF //.
have [x0 x0E] := onto 0; have [x1 x1E] := onto a.
set V0 := centred (W' *m x0 + b'); set V1 := centred (W' *m x1 + b').
have line t : exists2 V : 'cV[R]_d, centred V = t *: (V1 - V0) + V0 & core ε V = (g * sigma ε t + κ) *: a.
  exists (W' *m (x0 + t *: (x1 - x0)) + b').
    rewrite mulmxDr -scalemxAr mulmxBr /V0 /V1 !centredD centredZ centredB.
    move: (centred _) (centred _) (centred _) => p q r; apply/vecP => i; rewrite !mxE /=; ring.
  rewrite H /layer_norm yE (_ : core ε _ = sigma ε t *: a).
    by rewrite βκ scalerA scalerDl.
  rewrite -core_line //; suff E : centred (W *m (x0 + t *: (x1 - x0)) + b) = centred (t *: a).
    by rewrite /core !variance_dot E.
  rewrite (_ : _ + b = (1 - t) *: (W *m x0 + b) + t *: (W *m x1 + b)).
    by rewrite centredD !centredZ x0E x1E centred0 scaler0 add0r.
  rewrite mulmxDr -scalemxAr mulmxBr; move: (W *m x0) (W *m x1) => p q; apply/vecP => i; rewrite !mxE /=; ring.
have along V y : core ε V = y *: a -> exists c, centred V = c *: a.
  by move=> E; exists (√(variance V + ε) * y); rewrite -scalerA -E core_root // variance_eps.
have an : a != 0 by rewrite -dot_eq0 aa d_neq0.
have [B BE] : exists B, V0 = B *: a.
  have [V VE VY] := line 0; rewrite scale0r add0r in VE; rewrite -VE; exact: along VY.
have [A AE] : exists A, V1 = A *: a.
  have [V VE VY] := line 1; rewrite scale1r subrK in VE; rewrite -VE; exact: along VY.
have [t|κ0 g1] := @sigma_rigid ε (A - B) B g κ e0 g0.
  have [V VE VY] := line t; have : core ε V = sigma ε ((A - B) * t + B) *: a.
    rewrite -core_line //; suff E : centred V = centred (((A - B) * t + B) *: a) by rewrite /core !variance_dot E.
    by rewrite VE BE AE -scalerBl scalerA -scalerDl centredZ (centred_id a0) mulrC.
  by rewrite VY => /eqP; rewrite -subr_eq0 -scalerBl scaler_eq0 (negPf an) orbF subr_eq0 => /eqP ->.
split; last by rewrite βκ κ0 scale0r.
by case: g1 => g1; [left|right]; rewrite γg g1 ?scale1r ?scaleN1r.
Qed.
End FoldBack.

(* ---- the gradient along the weights ---- *)
Section WeightRadial.
Variables (R : rcfType) (n k : nat).
Notation d := n.+1.
Implicit Types (z γ β b g : 'cV[R]_d) (W : 'M[R]_(d, k)) (x : 'cV[R]_k) (ε η : R).

(* ⟨A, B⟩, the sum of the products of all entries, column by column *)
Definition dot_entries (A B : 'M[R]_(d, k)) : R := \sum_j ⟨col j A, col j B⟩.

Lemma dot_entries_outer a x W : dot_entries (a *m x^T) W = ⟨a, W *m x⟩.
Proof.
rewrite /dot_entries /dot exchange_big; apply: eq_bigr => i _ /=; rewrite mxE mulr_sumr.
by apply: eq_bigr => j _; rewrite !mxE big_ord1 !mxE -mulrA (mulrC (x j 0)).
Qed.
Lemma dot_entries_step W (G : 'M[R]_(d, k)) η :
  dot_entries (W - η *: G) (W - η *: G) = dot_entries W W - 2 * η * dot_entries G W + η ^+ 2 * dot_entries G G.
Proof.
rewrite /dot_entries !mulr_sumr -sumrN -!big_split; apply: eq_bigr => j _ /=.
by rewrite linearB /= linearZ /= dot_sub !dotZl !dotZr (dotC (col j G)); ring.
Qed.

(* z = Wx + b, g = ∂ℓ/∂y, ĝ = γ ⊙ g and dz = Jĝ: then ∂ℓ/∂W = dz xᵀ, ∂ℓ/∂b = dz, and
   ⟨∂ℓ/∂W, W⟩ + ⟨∂ℓ/∂b, b⟩ = ε/(q + ε)^(3/2) ⟨ĝ, v⟩. At ε = 0 it is 0, and a step against the gradient with the learning
   rate η adds η² times the squared length of the gradient to the squared length of (W, b) *)
Theorem weight_radial ε γ β W b x (ℓ : 'cV[R]_d -> R) g :
  let z := W *m x + b in let dz := J ε z *m (γ ⊙ g) in let dW := dz *m x^T in
  0 < variance z + ε -> is_gradient ℓ (layer_norm ε γ β z) g ->
  [/\ is_gradient_positions (fun W => ℓ (layer_norm ε γ β (W *m x + b))) W dW,
      is_gradient (fun b => ℓ (layer_norm ε γ β (W *m x + b))) b dz,
      dot_entries dW W + ⟨dz, b⟩ = ε / √(variance z + ε) ^+ 3 * ⟨γ ⊙ g, centred z⟩
    & ε = 0 -> dot_entries dW W + ⟨dz, b⟩ = 0 /\ forall η,
        dot_entries (W - η *: dW) (W - η *: dW) + ⟨b - η *: dz, b - η *: dz⟩
        = dot_entries W W + ⟨b, b⟩ + η ^+ 2 * (dot_entries dW dW + ⟨dz, dz⟩)].
Proof.
move=> z dz dW q0 ℓg.
have Dy : is_gradient (fun z => ℓ (layer_norm ε γ β z)) z dz.
  have := gradient_comp ℓg (proj1 (gain_input_jacobian γ β q0)).
  by rewrite trmx_mul diag_tr J_tr -mulmxA diag_mul.
have radial : dot_entries dW W + ⟨dz, b⟩ = ε / √(variance z + ε) ^+ 3 * ⟨γ ⊙ g, centred z⟩.
  rewrite dot_entries_outer -dotDr -/z dot_mulmx J_tr -{2}(centred_add_mean z) mulmxDr -scalemxAr.
  by rewrite eps_eigen_shift scaler0 addr0 eps_eigen_radial // dotZr.
split=> //.
- move=> η η0; have x1 : 0 < ‖x‖ + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
  have [δ δ0 Hδ] := Dy (η / (‖x‖ + 1)) (divr_gt0 η0 x1).
  have col_step (H : 'M[R]_(d, k)) : ‖H *m x‖ <= (‖x‖ + 1) * \sum_j ‖col j H‖.
    have -> : H *m x = \sum_j x j 0 *: col j H.
      apply/vecP => i; rewrite summxE mxE; apply: eq_bigr => j _; by rewrite !mxE mulrC.
    apply: (@le_trans _ _ (\sum_j ‖x j 0 *: col j H‖)).
      elim/big_rec2: _ => [|j s v _ IH]; first by rewrite norm0.
      by apply: le_trans (norm_triangle _ _) _; rewrite ler_add2l.
    rewrite mulr_sumr; apply: ler_sum => j _; rewrite normZ ler_wpmul2r ?norm_ge0 //.
    by apply: le_trans (norm_entry x j) _; rewrite ler_addl ler01.
  have k1 : 0 < k%:R + 1 :> R by rewrite ltr_paddl ?ler0n ?ltr01.
  have xk : 0 < (‖x‖ + 1) * (k%:R + 1) by rewrite mulr_gt0.
  exists (δ / ((‖x‖ + 1) * (k%:R + 1))); first exact: divr_gt0.
  move=> H HH; have S0 : 0 <= \sum_j ‖col j H‖ by apply: sumr_ge0 => j _; apply: norm_ge0.
  have Hx : ‖H *m x‖ <= δ.
    apply: le_trans (col_step H) _; rewrite mulrC -ler_pdivl_mulr //.
    apply: (@le_trans _ _ (k%:R * (δ / ((‖x‖ + 1) * (k%:R + 1))))).
      rewrite mulr_natl -[X in _ *+ X]card_ord -sumr_const; apply: ler_sum => j _; exact: HH.
    rewrite (_ : δ / (‖x‖ + 1) = (k%:R + 1) * (δ / ((‖x‖ + 1) * (k%:R + 1)))); last by field; rewrite !gt_eqF.
    by rewrite ler_wpmul2r ?ler_addl ?ler01 // ltW // divr_gt0.
  have := Hδ _ Hx; rewrite (_ : z + H *m x = (W + H) *m x + b); last by rewrite mulmxDl addrAC.
  rewrite -[\sum_k0 _]/(dot_entries dW H) dot_entries_outer => Hl; apply: le_trans Hl _.
  have ηx : 0 <= η / (‖x‖ + 1) by rewrite ltW // divr_gt0.
  apply: le_trans (ler_wpmul2l ηx (col_step H)) _; by rewrite mulrA divfK // gt_eqF.
- move=> η /Dy[δ δ0 H]; exists δ => // h /H; rewrite /z addrA; exact.
- move=> e0; have r0 : dot_entries dW W + ⟨dz, b⟩ = 0 by rewrite radial e0 mul0r mul0r.
  split=> // η; rewrite dot_entries_step dot_sub !dotZl !dotZr (dotC b dz).
  have -> : ⟨dz, b⟩ = - dot_entries dW W by apply/eqP; rewrite -addr_eq0 addrC r0.
  ring.
Qed.
End WeightRadial.

(* ---- weight decay ---- *)
Section Decay.
Variable R : rcfType.

(* R has no infinitely large numbers; the real numbers are such a field *)
Definition archimedean := forall x : R, exists k : nat, x < k%:R.

(* the sequence s(k) tends to l as k → ∞ *)
Definition sequence_tends (s : nat -> R) (l : R) := forall η, 0 < η -> exists k0, forall k, (k0 <= k)%N -> `|s k - l| <= η.

Lemma bernoulli (h : R) k : 0 <= h -> 1 + k%:R * h <= (1 + h) ^+ k.
Proof.
move=> h0; elim: k => [|k IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; have h1 : 0 <= 1 + h by rewrite addr_ge0 ?ler01.
apply: le_trans (ler_wpmul2l h1 IH); rewrite -subr_ge0.
rewrite (_ : _ - _ = k%:R * h ^+ 2); first by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
by rewrite mulrSr; ring.
Qed.
Lemma power_tends (r : R) : archimedean -> 0 <= r -> r < 1 -> sequence_tends (fun k => r ^+ k) 0.
Proof.
move=> arch r0 r1 η η0; have [->|rn] := eqVneq r 0.
  by exists 1%N => -[|k] // _; rewrite exprS mul0r subr0 normr0 ltW.
have {r0} r0 : 0 < r by rewrite lt_def rn.
set h := r^-1 - 1; have h0 : 0 < h by rewrite subr_gt0 invf_gt1.
have [k0 H] := arch ((η * h)^-1); exists k0 => k kk.
have rh : r^-1 = 1 + h by rewrite /h addrC subrK.
have hk : 0 < (1 + h) ^+ k by rewrite exprn_gt0 // -rh invr_gt0.
rewrite /= subr0 ger0_norm ?exprn_ge0 ?(ltW r0) // (_ : r ^+ k = ((1 + h) ^+ k)^-1); last by rewrite -exprVn -rh invrK.
suff H1 : η^-1 <= (1 + h) ^+ k by rewrite -(ler_pmul2r hk) mulVf ?gt_eqF // -[leLHS](mulfV (lt0r_neq0 η0)) ler_pmul2l.
apply: le_trans (bernoulli k (ltW h0)); apply: ler_paddl (ler01) _.
rewrite -ler_pdivr_mulr // -invfM; apply: le_trans (ltW H) _; by rewrite ler_nat.
Qed.
Lemma tends_scale (s : nat -> R) l c a : sequence_tends s l -> sequence_tends (fun k => a + s k * c) (a + l * c).
Proof.
move=> sl η η0; have c1 : 0 < `|c| + 1 by rewrite ltr_paddl ?normr_ge0.
have [k0 H] := sl _ (divr_gt0 η0 c1); exists k0 => k /H sk.
rewrite (_ : _ - _ = (s k - l) * c); last by ring.
rewrite normrM; apply: le_trans (ler_wpmul2r (normr_ge0 c) sk) _.
by rewrite mulrAC ler_pdivr_mulr // ler_pmul2l // ler_addl ler01.
Qed.

(* one step of decay: the stored number is multiplied by 1 − ηλ *)
Definition decay (η λ s : R) : R := (1 - η * λ) * s.

Lemma iter_decay η λ s k : iter k (decay η λ) s = (1 - η * λ) ^+ k * s.
Proof. by elim: k => [|k IH]; rewrite ?mul1r //= IH /decay exprS mulrA. Qed.

(* k steps turn a stored gain γ into (1 − ηλ)^k γ, which tends to 0 for 0 < ηλ < 1; if γ − 1 is stored, the gain is
   1 + (1 − ηλ)^k (γ − 1), which tends to 1; the bias is multiplied by (1 − ηλ)^k. Ten steps with ηλ = 0.01 turn the
   gain 1 into 0.99^10, which is 0.904382 to six digits; a gain 1 stored as 0 stays, and so does a bias 0 *)
Theorem decay_gain η λ γ β :
  [/\ forall k, iter k (decay η λ) γ = (1 - η * λ) ^+ k * γ
        /\ 1 + iter k (decay η λ) (γ - 1) = 1 + (1 - η * λ) ^+ k * (γ - 1)
        /\ iter k (decay η λ) β = (1 - η * λ) ^+ k * β,
      archimedean -> 0 < η * λ -> η * λ < 1 ->
        sequence_tends (fun k => iter k (decay η λ) γ) 0 /\ sequence_tends (fun k => 1 + iter k (decay η λ) (γ - 1)) 1,
      η * λ = 1 / 100 -> iter 10 (decay η λ) 1 = (99 / 100) ^+ 10,
      `|(99 / 100) ^+ 10 - (904 * 10 ^+ 3 + 382) / 10 ^+ 6| < 1 / (2 * 10 ^+ 6) :> R
    & forall k, 1 + iter k (decay η λ) (1 - 1) = 1 /\ iter k (decay η λ) 0 = 0].
Proof.
split.
- by move=> k; rewrite !iter_decay.
- move=> arch l0 l1; have r0 : 0 <= 1 - η * λ by rewrite subr_ge0 ltW.
  have r1 : 1 - η * λ < 1 by rewrite ltr_subl_addr ltr_addl.
  have T := power_tends arch r0 r1; split=> η' η'0.
    have [k0 H] := tends_scale γ 0 T η'0; exists k0 => k /H; rewrite mul0r addr0 add0r iter_decay //.
  have [k0 H] := tends_scale (γ - 1) 1 T η'0; exists k0 => k /H; rewrite mul0r addr0 iter_decay //.
- by move=> ηλ; rewrite iter_decay ηλ mulr1; congr (_ ^+ _); field.
- rewrite (_ : _ - _ = (7 * 10 ^+ 12 + 500 * 10 ^+ 9 + 880 * 10 ^+ 6 + 449 * 10 ^+ 3 + 1) / 10 ^+ 20); last by field.
  rewrite ger0_norm; last by rewrite divr_ge0 ?exprn_ge0 ?addr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n ?ler01.
  rewrite -subr_gt0 (_ : _ - _ = (42 * 10 ^+ 12 + 499 * 10 ^+ 9 + 119 * 10 ^+ 6 + 550 * 10 ^+ 3 + 999) / 10 ^+ 20); last by field.
  have t b : 0 < (10 : R) ^+ b by rewrite exprn_gt0 ?ltr0n.
  have e (a b : nat) : (0 < a)%N -> 0 < a%:R * 10 ^+ b :> R by move=> a0; apply: mulr_gt0 => //; rewrite ltr0n.
  apply: divr_gt0 => //; apply: addr_gt0; last by rewrite ltr0n.
  by apply: addr_gt0 (e _ _ _) => //; apply: addr_gt0 (e _ _ _) => //; apply: addr_gt0; apply: e.
- by move=> k; rewrite subrr !iter_decay !mulr0 addr0.
Qed.
End Decay.

Section DecayBalance.
Variables (R : rcfType) (n m : nat).
Notation d := n.+1.
Implicit Types (u γ β : 'cV[R]_d) (A : 'M[R]_(m, d)) (c : R).

(* ‖A‖, the root of the sum of the squared entries *)
Definition frobenius A : R := √(\sum_i \sum_j A i j ^+ 2).

(* For c ≠ 0 the parameters (cγ, cβ, A/c) give the same function as (γ, β, A). If ‖γ‖² + ‖β‖² = s² > 0 and A ≠ 0, the sum
   of squares c²s² + ‖A‖²/c² is least at c² = ‖A‖/s, and is 2s‖A‖ there *)
Theorem decay_balance γ β A :
  (forall c u, c != 0 -> (c^-1 *: A) *m ((c *: γ) ⊙ u + c *: β) = A *m (γ ⊙ u + β))
  /\ forall s, 0 < s -> ‖γ‖ ^+ 2 + ‖β‖ ^+ 2 = s ^+ 2 -> A != 0 ->
     let cost c := ‖c *: γ‖ ^+ 2 + ‖c *: β‖ ^+ 2 + frobenius (c^-1 *: A) ^+ 2 in
     0 < frobenius A / s /\ forall c, c != 0 ->
       [/\ cost c = c ^+ 2 * s ^+ 2 + frobenius A ^+ 2 / c ^+ 2, 2 * s * frobenius A <= cost c
         & cost c = 2 * s * frobenius A <-> c ^+ 2 = frobenius A / s].
Proof.
split=> [c u c0|s s0 sE A0 cost].
  rewrite (_ : (c *: γ) ⊙ u + c *: β = c *: (γ ⊙ u + β)); last by rewrite hadamardC hadamardZr scalerDr hadamardC.
  by rewrite -scalemxAl -scalemxAr scalerA mulVf ?scale1r.
have S0 : 0 <= \sum_i \sum_j A i j ^+ 2 by apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; rewrite sqr_ge0.
have F0 : 0 < frobenius A.
  rewrite sqrt_gt0 // lt_def S0 andbT; apply: contraNneq A0 => A0; apply/eqP/matrixP => i j; rewrite mxE.
  have r0 i' : 0 <= \sum_j A i' j ^+ 2 by apply: sumr_ge0 => j' _; rewrite sqr_ge0.
  have Ai : \sum_j A i j ^+ 2 = 0 by apply: (psumr_eq0P (fun i' _ => r0 i') A0).
  by apply/eqP; rewrite -sqrf_eq0; apply/eqP; apply: (psumr_eq0P (fun j' _ => sqr_ge0 (A i j')) Ai).
split=> [|c c0]; first exact: divr_gt0.
have E : cost c = c ^+ 2 * s ^+ 2 + frobenius A ^+ 2 / c ^+ 2.
  rewrite /cost !normZ !exprMn -mulrDr sE real_normK ?num_real //; congr (_ + _).
  rewrite /frobenius !sqrK // ?mulr_suml; last by apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; rewrite sqr_ge0.
  by apply: eq_bigr => i _; rewrite mulr_suml; apply: eq_bigr => j _; rewrite mxE exprMn exprVn mulrC.
have D : cost c - 2 * s * frobenius A = (c * s - frobenius A / c) ^+ 2 by rewrite E; field.
split=> //; first by rewrite -subr_ge0 D sqr_ge0.
have sn : s != 0 by rewrite gt_eqF.
split=> [H|H].
  have /eqP := D; rewrite H subrr eq_sym sqrf_eq0 subr_eq0 => /eqP cs.
  apply: (canRL (mulfK sn)); have := congr1 (fun x => x * c) cs; rewrite divfK // => <-; ring.
apply/eqP; rewrite -subr_eq0 D sqrf_eq0 subr_eq0; apply/eqP/(mulIf c0); rewrite divfK //.
rewrite mulrAC -expr2 H divfK //.
Qed.
End DecayBalance.

(* ---- normalizing more than once ---- *)
Section Repeat.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z w : 'cV[R]_d) (ε : R).

(* s_k = 1 + ε + … + ε^(k−1) *)
Definition power_sum ε k : R := \sum_(j < k) ε ^+ j.
(* ε^k + s_k q *)
Definition repeat_square ε k z : R := ε ^+ k + power_sum ε k * variance z.

Lemma power_sum_ge0 ε k : 0 <= ε -> 0 <= power_sum ε k.
Proof. by move=> e0; apply: sumr_ge0 => j _; rewrite exprn_ge0. Qed.
Lemma power_sumS ε k : power_sum ε k.+1 = 1 + ε * power_sum ε k.
Proof.
by rewrite /power_sum big_ord_recl expr0 mulr_sumr; congr (_ + _); apply: eq_bigr => j _; rewrite -exprS.
Qed.
Lemma repeat_square_gt0 ε k z : 0 < ε -> 0 < repeat_square ε k z.
Proof. by move=> e0; rewrite ltr_paddr ?exprn_gt0 // mulr_ge0 ?variance_ge0 ?power_sum_ge0 ?ltW. Qed.

Lemma repeat_core ε k z : 0 < ε -> iter k.+1 (core ε) z = (√(repeat_square ε k.+1 z))^-1 *: centred z.
Proof.
move=> e0; elim: k => [|k IH].
  by rewrite /= /core /repeat_square power_sumS /power_sum big_ord0 mulr0 addr0 mul1r expr1 addrC.
rewrite iterS IH; set Q := repeat_square ε k.+1 z; have Q0 : 0 < Q := repeat_square_gt0 k.+1 z e0.
rewrite /core varianceZ variance_centred centredZ centredK scalerA -invfM exprVn sqrK ?(ltW Q0) // -sqrtrM; last first.
  by rewrite addr_ge0 ?(ltW e0) // mulr_ge0 ?variance_ge0 // invr_ge0 ltW.
have -> : (Q^-1 * variance z + ε) * Q = variance z + ε * Q by rewrite mulrDl mulrAC mulVf ?gt_eqF // mul1r.
congr ((√_)^-1 *: _); rewrite /Q /repeat_square (power_sumS ε k.+1) (exprS ε k.+1).
by move: (ε ^+ k.+1) (power_sum ε k.+1) (variance z) => p s q; ring.
Qed.

(* For ε > 0 the core of the core of …, k ≥ 1 times, is v/√(ε^k + s_k q). Its derivative at z multiplies v ≠ 0 by
   ε^k/(ε^k + s_k q)^(3/2) and every w orthogonal to 1 and v by 1/√(ε^k + s_k q). As k → ∞ with q > 0, the variance tends to
   1 − ε for ε < 1 and to 0 for ε ≥ 1. At ε = 0 normalizing twice is normalizing once *)
Theorem post_repeat :
  [/\ forall ε k z, 0 < ε -> (0 < k)%N -> iter k (core ε) z = (√(repeat_square ε k z))^-1 *: centred z,
      forall ε k z, 0 < ε -> (0 < k)%N -> exists2 A, is_derivative (iter k (core ε)) z A
        & A *m centred z = (ε ^+ k / √(repeat_square ε k z) ^+ 3) *: centred z
          /\ forall w, ⟨ones, w⟩ = 0 -> ⟨centred z, w⟩ = 0 -> A *m w = (√(repeat_square ε k z))^-1 *: w,
      forall ε z, archimedean R -> 0 < variance z -> 0 < ε ->
        (ε < 1 -> sequence_tends (fun k => variance (iter k (core ε) z)) (1 - ε))
        /\ (1 <= ε -> sequence_tends (fun k => variance (iter k (core ε) z)) 0)
    & forall z, 0 < variance z -> core 0 (core 0 z) = core 0 z].
Proof.
split.
- by move=> ε [|k] z // e0 _; apply: repeat_core.
- move=> ε [|k] z // e0 _; set s := power_sum ε k.+1; set Q := repeat_square ε k.+1 z.
  have Q0 : 0 < Q := repeat_square_gt0 k.+1 z e0; have s0 : 0 < s.
    by rewrite /s power_sumS ltr_paddr ?ltr01 // mulr_ge0 ?(ltW e0) ?power_sum_ge0 ?(ltW e0).
  have r0 := sqrt_gt0 s0; pose e := ε ^+ k.+1 / s; have ep : 0 < e by rewrite divr_gt0 ?exprn_gt0.
  have QE (x : 'cV[R]_d) : repeat_square ε k.+1 x = s * (variance x + e).
    by rewrite /repeat_square -/s /e mulrDr [s * (_ / s)]mulrC divfK ?gt_eqF // addrC.
  (* the k-fold core is a multiple of the core with the epsilon ε^k/s_k *)
  have E (x : 'cV[R]_d) : iter k.+1 (core ε) x = (√s)^-1%:M *m core e x + 0.
    by rewrite addr0 mul_scalar_mx repeat_core // QE sqrtrM ?(ltW s0) // invfM /core scalerA.
  have q0 := variance_eps z ep; exists ((√s)^-1%:M *m J e z).
    apply: derivative_ext (derivative_comp (derivative_affine (√s)^-1%:M 0 _) (proj1 (eps_jacobian q0))) => x.
    by rewrite E.
  have rq := sqrt_gt0 q0; have ss := sqrK (ltW s0); have qq := sqrK (ltW q0).
  rewrite /Q QE sqrtrM ?(ltW s0) //; split=> [|w w1 wv]; rewrite -mulmxA mul_scalar_mx J_mul; last first.
    by rewrite wv mul0r scale0r subr0 centred_id ?mean_dot ?w1 ?mul0r // scalerA invfM.
  rewrite centredK dot_variance -[X in X - _]scale1r -scalerBl !scalerA; congr (_ *: _).
  have -> : 1 - d%:R * variance z / (d%:R * (variance z + e)) = e / (variance z + e).
    by move: (d%:R : R) (d_neq0 R n) => D Dn; field; rewrite Dn gt_eqF.
  have -> : ε ^+ k.+1 = s * e by rewrite /e mulrC divfK ?gt_eqF.
  move: (√s) (lt0r_neq0 r0) ss (√(variance z + e)) (lt0r_neq0 rq) qq => a an ss' b bn qq; rewrite -qq -ss'.
  by move: (e) => t; field; rewrite an bn.
- move=> ε z arch q0 e0; set q := variance z.
  have var k : variance (iter k.+1 (core ε) z) = q / repeat_square ε k.+1 z.
    have Q0 := repeat_square_gt0 k.+1 z e0.
    by rewrite repeat_core // varianceZ variance_centred exprVn sqrK ?(ltW Q0) // mulrC.
  split=> [e1|e1] η η0.
    have de : 0 < 1 - ε by rewrite subr_gt0.
    have geo k : (1 - ε) * power_sum ε k = 1 - ε ^+ k.
      elim: k => [|k IH]; first by rewrite /power_sum big_ord0 mulr0 expr0 subrr.
      by rewrite power_sumS mulrDr mulr1 mulrCA IH exprS; ring.
    set c := `|q - (1 - ε)| / q; have c0 : 0 <= c by rewrite divr_ge0 ?normr_ge0 ?ltW.
    have c1 : 0 < c + 1 by rewrite ltr_paddl ?ltr01.
    have [k0 H] := power_tends arch (ltW e0) e1 (divr_gt0 η0 c1).
    exists k0.+1 => -[|k] // kk; rewrite var; have := H k.+1 (ltnW kk); rewrite /= subr0 ger0_norm ?exprn_ge0 ?(ltW e0) //.
    set Q := repeat_square ε k.+1 z; set p := ε ^+ k.+1; have p0 : 0 <= p by rewrite exprn_ge0 ?ltW.
    have Q0 : 0 < Q := repeat_square_gt0 k.+1 z e0 => pη.
    have qQ : q <= Q.
      rewrite /Q /repeat_square power_sumS mulrDl mul1r addrCA ler_addl addr_ge0 ?exprn_ge0 ?(ltW e0) //.
      by rewrite mulr_ge0 ?variance_ge0 // mulr_ge0 ?power_sum_ge0 ?(ltW e0).
    have QE : (1 - ε) * Q = (1 - ε) * p + (1 - p) * q by rewrite /Q /repeat_square -/p -/q mulrDr mulrA geo.
    have -> : q / Q - (1 - ε) = p * (q - (1 - ε)) / Q.
      apply: (mulIf (lt0r_neq0 Q0)); rewrite mulrBl !divfK ?gt_eqF // QE; ring.
    rewrite !normrM (ger0_norm p0) [X in _ * X]gtr0_norm ?invr_gt0 //.
    apply: (@le_trans _ _ (p * c)).
      by rewrite -mulrA ler_wpmul2l // ler_wpmul2l // lef_pinv ?posrE.
    by apply: le_trans (ler_wpmul2r c0 pη) _; rewrite mulrAC ler_pdivr_mulr // ler_pmul2l // ler_addl ler01.
  have [k0 H] := arch η^-1; exists k0.+1 => -[|k] // kk; rewrite var subr0.
  set Q := repeat_square ε k.+1 z; have Q0 : 0 < Q := repeat_square_gt0 k.+1 z e0.
  have sk : k.+1%:R <= power_sum ε k.+1.
    rewrite -[X in X%:R]card_ord -sumr_const; apply: ler_sum => j _; exact: exprn_ege1.
  have k1 : 0 < k.+1%:R :> R by rewrite ltr0n.
  rewrite (gtr0_norm (divr_gt0 q0 Q0)) ler_pdivr_mulr //.
  apply: (@le_trans _ _ (η * (k.+1%:R * q))); last first.
    by rewrite ler_pmul2l // /Q /repeat_square ler_paddl ?exprn_ge0 ?(ltW e0) // ler_pmul2r.
  rewrite mulrA ler_pemull ?(ltW q0) // -ler_pdivr_mull // mulr1; apply: le_trans (ltW H) _.
  by rewrite ler_nat ltnW.
- move=> z q0; rewrite /core !addr0 varianceZ variance_centred centredZ centredK.
  by rewrite exprVn sqrK ?(ltW q0) // mulVf ?gt_eqF // sqrtr1 invr1 scale1r.
Qed.
End Repeat.
