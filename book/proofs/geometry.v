(* The statements of the page "Geometry". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon shift_invariance.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* ---- slopes of products and of functions of functions ---- *)
Section Slopes.
Variable R : rcfType.
Implicit Types (f g : R -> R) (t s : R).

Lemma slope_near f g t s : (exists2 δ, 0 < δ & forall h : R, `|h| <= δ -> f (t + h) = g (t + h)) ->
  is_slope f t s -> is_slope g t s.
Proof.
move=> [δ δ0 fg] fs η /fs[δ' δ'0 H]; exists (Num.min δ δ'); first by rewrite lt_minr δ0.
have f0 : f t = g t by have := fg 0; rewrite addr0 normr0; apply; apply: ltW.
by move=> h; rewrite le_minr => /andP[h1 h2]; rewrite -fg // -f0; apply: H.
Qed.

Lemma slope_comp f g t s s' : is_slope g (f t) s' -> is_slope f t s -> is_slope (fun x => g (f x)) t (s' * s).
Proof.
move=> /slope_derivative gs /slope_derivative fs; apply/slope_derivative.
have := @derivative_comp R 1 1 1 (fun x => (g (x 0 0))%:M) (fun x => (f (x 0 0))%:M) t%:M s'%:M s%:M.
rewrite [(t%:M : 'cV[R]_1) 0 0]mxE mulr1n scalar_mxM => /(_ gs fs).
by apply: derivative_ext => x; rewrite [((f _)%:M : 'cV[R]_1) 0 0]mxE mulr1n.
Qed.

Lemma slope_mul f g t s s' :
  is_slope f t s -> is_slope g t s' -> is_slope (fun x => f x * g x) t (f t * s' + s * g t).
Proof.
move=> /slope_derivative fs /slope_derivative gs; apply/slope_derivative.
have fg : is_gradient (fun x : 'cV[R]_1 => f (x 0 0)) t%:M s%:M.
  by apply/gradient_derivative; rewrite tr_scalar_mx.
have := derivative_scale fg gs; rewrite tr_scalar_mx [(t%:M : 'cV[R]_1) 0 0]mxE mulr1n.
rewrite -scalar_mxM -mul_scalar_mx -scalar_mxM -raddfD (mulrC (g t)).
by apply: derivative_ext => x; rewrite -mul_scalar_mx -scalar_mxM.
Qed.

Lemma slope_affine (a b : R) t : is_slope (fun x => a * x + b) t a.
Proof.
move=> η η0; exists 1; rewrite ?ltr01 // => h _.
by rewrite (_ : _ - _ - _ = 0) ?normr0 ?mulr_ge0 ?(ltW η0) //; ring.
Qed.

Lemma sqrt_div (a b : R) : 0 <= a -> √(a / b) = √a / √b.
Proof.
move=> a0; rewrite sqrtrM //; congr (_ * _); case: (lerP 0 b) => b0.
  have bb := sqrtr_ge0 b; rewrite -{1}(sqrK b0) -exprVn sqrtr_sqr ger0_norm //.
  by rewrite invr_ge0.
by rewrite !ler0_sqrtr ?invr0 // ?invr_le0 ltW.
Qed.
End Slopes.

Section Ball.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z u a b : 'cV[R]_d) (ε c : R).

(* ‖u‖² = dq/(q + ε) *)
Lemma sqr_norm_core ε z : 0 < variance z + ε -> ‖core ε z‖ ^+ 2 = d%:R * variance z / (variance z + ε).
Proof.
by move=> q0; rewrite sqr_norm /core dotZl dotZr dot_variance mulrA -expr2 exprVn sqrK ?(ltW q0) // mulrC.
Qed.
Lemma core_share ε z : 0 < variance z + ε -> 1 - ‖core ε z‖ ^+ 2 / d%:R = ε / (variance z + ε).
Proof. by move=> q0; rewrite sqr_norm_core //; field; rewrite d1_neq0 gt_eqF. Qed.
Lemma norm_root_lt u : (‖u‖ < √d%:R) = (‖u‖ ^+ 2 / d%:R < 1).
Proof.
rewrite ltr_pdivr_mulr ?d_gt0 // mul1r -[X in _ = (_ < X)](@sqrK R d%:R) ?ler0n //.
by rewrite ltr_pexpn2r ?nnegrE ?norm_ge0 ?sqrtr_ge0.
Qed.
Lemma sum0_mean u : \sum_i u i 0 = 0 <-> mean u = 0.
Proof.
rewrite sum_mean; split=> [/eqP|->]; last by rewrite mulr0.
by rewrite mulf_eq0 (negPf (d_neq0 R n)) => /eqP.
Qed.

(* every vector of mean 0 inside the ball is the core of a multiple of itself *)
Lemma core_preimage ε u : 0 < ε -> mean u = 0 -> ‖u‖ ^+ 2 / d%:R < 1 ->
  core ε (√(ε / (1 - ‖u‖ ^+ 2 / d%:R)) *: u) = u.
Proof.
move=> e0 mu k1; have k0 : 0 < 1 - ‖u‖ ^+ 2 / d%:R by rewrite subr_gt0.
have uq : variance u = ‖u‖ ^+ 2 / d%:R by rewrite variance_dot centred_id // sqr_norm.
have x0 : 0 < ε / (1 - ‖u‖ ^+ 2 / d%:R) by rewrite divr_gt0.
rewrite /core varianceZ centredZ uq (centred_id mu) sqrK ?(ltW x0) // scalerA.
rewrite (_ : _ + ε = ε / (1 - ‖u‖ ^+ 2 / d%:R)) ?mulVf ?scale1r ?sqrt_neq0 //.
by move: (‖u‖ ^+ 2 / d%:R) k0 => k k0; field; rewrite gt_eqF.
Qed.

(* For ε > 0, ‖u‖² = dq/(q + ε), and the cores of all inputs are exactly the vectors with Σ u_i = 0 and ‖u‖ < √d; at
   ε = 0 the cores of all inputs with q > 0 are exactly those with Σ u_i = 0 and ‖u‖ = √d *)
Theorem open_ball :
  (forall ε, 0 < ε -> (forall z, ‖core ε z‖ ^+ 2 = d%:R * variance z / (variance z + ε))
     /\ forall u, (exists z, u = core ε z) <-> \sum_i u i 0 = 0 /\ ‖u‖ < √d%:R)
  /\ forall u, (exists2 z, 0 < variance z & u = core 0 z) <-> \sum_i u i 0 = 0 /\ ‖u‖ = √d%:R.
Proof.
split=> [ε e0|u].
  split=> [z|u]; first by rewrite sqr_norm_core ?variance_eps.
  split=> [[z ->]|[/sum0_mean u0]]; last first.
    by rewrite norm_root_lt => k1; exists (√(ε / (1 - ‖u‖ ^+ 2 / d%:R)) *: u); rewrite core_preimage.
  split; first by apply/sum0_mean/mean_core.
  by rewrite norm_root_lt -subr_gt0 core_share ?divr_gt0 ?variance_eps.
split=> [[z q0 ->]|[/sum0_mean u0 ud]].
  split; first by apply/sum0_mean/mean_core.
  have := @sqr_norm_core 0 z; rewrite addr0 mulfK ?gt_eqF // => /(_ q0) <-.
  by rewrite sqrtr_sqr ger0_norm ?norm_ge0.
have q1 : variance u = 1 by rewrite variance_dot centred_id // -sqr_norm ud sqrK ?ler0n // divff ?d_neq0.
by exists u; rewrite ?q1 ?ltr01 // /core q1 addr0 sqrtr1 invr1 scale1r centred_id.
Qed.

(* For ε > 0, v = u √(ε/(1 − ‖u‖²/d)); two inputs have the same core if and only if they differ by a common shift; for
   q > 0 a relative error δ in the length of u becomes, to first order, the relative error (q + ε)/ε δ in the length of
   v; at ε = 0 the vectors v and cv with c > 0 have the same core *)
Theorem invertible ε : 0 < ε ->
  let factor l := √(ε / (1 - l ^+ 2 / d%:R)) in
  [/\ forall z, centred z = factor (‖core ε z‖) *: core ε z,
      forall a b, core ε a = core ε b <-> exists c, b = a + c *: ones,
      forall z, 0 < variance z -> let l := ‖core ε z‖ in
        is_slope (fun δ => factor ((1 + δ) * l) * ((1 + δ) * l) / ‖centred z‖ - 1) 0 ((variance z + ε) / ε)
    & forall z c, 0 < variance z -> 0 < c -> core 0 (c *: centred z) = core 0 (centred z)].
Proof.
move=> e0 factor; have fE z : factor (‖core ε z‖) = √(variance z + ε).
  by rewrite /factor core_share ?variance_eps // invf_div mulrC divfK ?gt_eqF.
split=> [z|a b|z q0 l|z c q0 c0].
- by rewrite fE core_root ?variance_eps.
- split=> [/(core_inj e0) ab|[c ->]]; last by rewrite core_shift.
  exists (mean b - mean a); rewrite -{1}(centred_add_mean b) -{1}(centred_add_mean a) ab.
  by move: (centred b) (mean a) (mean b) => v x y; apply/vecP => i; rewrite !mxE /=; ring.
- have qe := variance_eps z e0; set k := variance z / (variance z + ε).
  have kE : 1 - k = ε / (variance z + ε) by rewrite /k; field; rewrite gt_eqF.
  have k1 : 0 < 1 - k by rewrite kE divr_gt0.
  have l2 : l ^+ 2 = k * d%:R by rewrite sqr_norm_core // -mulrA mulrC.
  have vl : ‖centred z‖ = √(variance z + ε) * l.
    by rewrite -{1}(core_root qe) normZ ger0_norm ?sqrtr_ge0.
  have l0 : l != 0.
    by rewrite norm_eq0 scaler_eq0 invr_eq0 negb_or sqrt_neq0 // -variance_gt0.
  have r0 := sqrt_neq0 qe.
  have H1 : is_slope (fun δ : R => 1 * δ + 1) 0 1 := slope_affine 1 1 0.
  pose N δ : R := - k * ((1 * δ + 1) * (1 * δ + 1)) + 1; have N0 : N 0 = 1 - k by rewrite /N; ring.
  have H2 : is_slope N 0 _ := slope_comp (slope_affine (- k) 1 _) (slope_mul H1 H1).
  have := slope_inv_sqrt k1; rewrite -N0 => HI.
  have H3 := slope_mul H1 (slope_comp HI H2); rewrite N0 in H3.
  have H4 := slope_comp (slope_affine (√(1 - k)) (- 1) _) H3.
  have -> : (variance z + ε) / ε = (1 - k)^-1 by rewrite kE invf_div.
  have rE := sqrK (ltW k1); have rn := sqrt_neq0 k1.
  move: H4; rewrite (_ : √(1 - k) * _ = (1 - k)^-1); last first.
    move: (√(1 - k)) rE rn => r rE rn; rewrite -rE (_ : k = 1 - r ^+ 2); last by rewrite rE; ring.
    by field; rewrite rn.
  apply: slope_ext => δ; rewrite /factor exprMn l2 sqrt_div ?(ltW e0) // vl.
  have -> : √(1 - k) = √ε / √(variance z + ε) by rewrite kE sqrt_div ?(ltW e0).
  have -> : 1 - (1 + δ) ^+ 2 * (k * d%:R) / d%:R = N δ.
    by rewrite /N; move: (k) => k'; field; rewrite d1_neq0.
  move: (√(N δ)) => w; move: (√(variance z + ε)) r0 => r rn0.
  have [->|w0] := eqVneq w 0; first by rewrite invr0; ring.
  by field; rewrite w0 rn0 l0.
- by apply: eps_scaling_unstabilised; rewrite // variance_centred.
Qed.
End Ball.

Section Gradient.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h a b g : 'cV[R]_d) (ε c : R).

(* With the roots r, s > 0 of two inputs a, b and ε ≥ 0: ⟨u(a) − u(b), a − b⟩ is (r + s)/2 times ‖u(a) − u(b)‖², plus
   dε(r + s)(r − s)²/(2r²s²); hence the amplification of the step from a to b is at most 2/(r + s), and for a centred
   step with r = s it is exactly 1/r *)
Theorem two_points ε a b : 0 <= ε -> 0 < variance a + ε -> 0 < variance b + ε ->
  let r := √(variance a + ε) in let s := √(variance b + ε) in let du := core ε a - core ε b in
  [/\ ⟨du, a - b⟩ = (r + s) / 2 * ‖du‖ ^+ 2 + d%:R * ε * (r + s) * (r - s) ^+ 2 / (2 * r ^+ 2 * s ^+ 2),
      ‖du‖ <= 2 / (r + s) * ‖a - b‖
    & mean (a - b) = 0 -> r = s -> ‖du‖ = r^-1 * ‖a - b‖].
Proof.
move=> e0 qa qb r s du; have r0 : 0 < r by rewrite sqrt_gt0.
have s0 : 0 < s by rewrite sqrt_gt0.
have rn : r != 0 by rewrite gt_eqF.
have sn : s != 0 by rewrite gt_eqF.
have rs : 0 < r + s by rewrite addr_gt0.
have E : ⟨du, a - b⟩ = (r + s) / 2 * ‖du‖ ^+ 2 + d%:R * ε * (r + s) * (r - s) ^+ 2 / (2 * r ^+ 2 * s ^+ 2).
  have duc : du = centred du by rewrite centredB !centred_core.
  have -> : ⟨du, a - b⟩ = ⟨du, r *: core ε a - s *: core ε b⟩.
    by rewrite !core_root // -centredB -dot_centred -duc.
  have ra : ⟨core ε a, core ε a⟩ = d%:R * (r ^+ 2 - ε) / r ^+ 2.
    by rewrite -sqr_norm sqr_norm_core // sqrK ?(ltW qa) // addrK.
  have sb : ⟨core ε b, core ε b⟩ = d%:R * (s ^+ 2 - ε) / s ^+ 2.
    by rewrite -sqr_norm sqr_norm_core // sqrK ?(ltW qb) // addrK.
  rewrite sqr_norm /du; move: (core ε a) (core ε b) ra sb => u w uu ww.
  rewrite dot_sub dotBl !dotBr !dotZr (dotC w u) uu ww.
  by field; rewrite rn sn.
split=> // [|m0 rs1]; last first.
  by rewrite /du /core -/r -/s -rs1 -scalerBr -centredB centred_id // normZ gtr0_norm ?invr_gt0.
have [->|du0] := eqVneq du 0; first by rewrite norm0 mulr_ge0 ?norm_ge0 ?divr_ge0 ?ler0n ?(ltW rs).
have dup : 0 < ‖du‖ by rewrite norm_gt0.
rewrite mulrAC ler_pdivl_mulr // -(ler_pmul2r dup).
rewrite (_ : ‖du‖ * (r + s) * ‖du‖ = 2 * ((r + s) / 2 * ‖du‖ ^+ 2)); last by field.
rewrite -[leRHS]mulrA ler_pmul2l ?ltr0n // [leRHS]mulrC; apply: le_trans (dot_le _ _); rewrite E ler_addl.
apply: divr_ge0; last by apply: ltW; rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n.
by apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0 (ltW rs); rewrite mulr_ge0 ?ler0n.
Qed.

(* 0 <= ⟨h, Jh⟩ *)
Lemma J_semidefinite ε z h : 0 <= ε -> 0 < variance z + ε -> 0 <= ⟨h, J ε z *m h⟩.
Proof.
move=> e0 q0; rewrite J_mul dotZr dotBr dotZr mulr_ge0 ?invr_ge0 ?sqrtr_ge0 // subr_ge0.
rewrite (dotC h (centred z)) (dotC h (centred h)) -(dot_centred2 h h) mulrAC -expr2 ler_pdivr_mulr ?mulr_gt0 ?ltr0n //.
rewrite -(dot_centred2 z h) mulrC; apply: le_trans (cauchy_schwarz_sqr _ _) _.
by rewrite dot_variance ler_wpmul2r ?dot_ge0 // ler_wpmul2l ?ler0n // ler_addl.
Qed.

(* the chord: q + ε at a weighted mean is at most the square of the weighted mean of the roots *)
Lemma variance_convex ε a b (t : R) : 0 <= ε -> 0 <= t -> t <= 1 ->
  √(variance ((1 - t) *: a + t *: b) + ε) <= (1 - t) * √(variance a + ε) + t * √(variance b + ε).
Proof.
move=> e0 t0 t1; have t10 : 0 <= 1 - t by rewrite subr_ge0.
have qa := addr_ge0 (variance_ge0 a) e0; have qb := addr_ge0 (variance_ge0 b) e0.
have ra := sqrtr_ge0 (variance a + ε); have rb := sqrtr_ge0 (variance b + ε).
apply: ler_of_sqr; first by rewrite addr_ge0 ?mulr_ge0.
pose k := ⟨centred a, centred b⟩ / d%:R.
have kE : variance ((1 - t) *: a + t *: b) = (1 - t) ^+ 2 * variance a + t ^+ 2 * variance b + 2 * (t * (1 - t)) * k.
  rewrite variance_dot centredD !centredZ dot_add !dotZl !dotZr !dot_variance /k.
  by field; rewrite d1_neq0.
have kr : k + ε <= √(variance a + ε) * √(variance b + ε).
  apply: ler_of_sqr; rewrite ?mulr_ge0 // exprMn !sqrK //.
  have : k ^+ 2 <= variance a * variance b.
    rewrite /k !variance_dot expr_div_n mulf_div -expr2 ler_wpmul2r ?invr_ge0 ?sqr_ge0 //.
    exact: cauchy_schwarz_sqr.
  have : 0 <= variance (a - b) by exact: variance_ge0.
  have -> : variance (a - b) = variance a + variance b - 2 * k.
    by rewrite variance_dot centredB dot_sub !dot_variance /k; field; rewrite d1_neq0.
  move=> H1 H2; rewrite -subr_ge0.
  rewrite (_ : _ - _ = (variance a * variance b - k ^+ 2) + ε * (variance a + variance b - 2 * k)); last by ring.
  by rewrite addr_ge0 ?mulr_ge0 // subr_ge0.
rewrite sqrK; last by rewrite addr_ge0 ?variance_ge0.
have aE : variance a = √(variance a + ε) ^+ 2 - ε by rewrite sqrK // addrK.
have bE : variance b = √(variance b + ε) ^+ 2 - ε by rewrite sqrK // addrK.
rewrite kE; move: kr aE bE; move: (√(variance a + ε)) (√(variance b + ε)) => r s kr -> ->; rewrite -subr_ge0.
rewrite (_ : _ - _ = 2 * (t * (1 - t)) * (r * s - (k + ε))); last by ring.
apply: mulr_ge0; last by rewrite subr_ge0.
by rewrite mulr_ge0 ?ler0n // mulr_ge0.
Qed.

(* For ε > 0 and φ(z) = d√(q + ε): u = ∇φ and φ is convex; so J is symmetric and positive semidefinite, the VJP of the
   core is the JVP, h ↦ Jh, and ⟨u(a) − u(b), a − b⟩ ≥ √ε ‖u(a) − u(b)‖² ≥ 0. For d ≥ 2 no larger constant will do *)
Theorem gradient_map ε : 0 < ε ->
  let φ z := d%:R * √(variance z + ε) in
  [/\ forall z, is_gradient φ z (core ε z),
      forall a b t, 0 <= t -> t <= 1 -> φ ((1 - t) *: a + t *: b) <= (1 - t) * φ a + t * φ b,
      forall z, [/\ (J ε z)^T = J ε z, forall h, 0 <= ⟨h, J ε z *m h⟩, is_derivative (core ε) z (J ε z)
        & forall ℓ g, is_gradient ℓ (core ε z) g -> is_gradient (fun x => ℓ (core ε x)) z (J ε z *m g)],
      forall a b, 0 <= √ε * ‖core ε a - core ε b‖ ^+ 2 <= ⟨core ε a - core ε b, a - b⟩
    & forall m c, (forall a b : 'cV[R]_m.+2, c * ‖core ε a - core ε b‖ ^+ 2 <= ⟨core ε a - core ε b, a - b⟩) ->
        c <= √ε].
Proof.
move=> e0 φ; split=> [z|a b t t0 t1|z|a b|m c H].
- have q0 := variance_eps z e0; have r0 := sqrt_neq0 q0.
  have H := gradient_slope (slope_comp (slope_affine d%:R 0 _) (slope_sqrt q0)) (gradient_variance ε z).
  rewrite (_ : core ε z = (d%:R * (2 * √(variance z + ε))^-1) *: (2 / d%:R *: centred z)).
    by apply: gradient_ext H => x; rewrite addr0.
  by rewrite scalerA /core; congr (_ *: _); field; rewrite r0 d1_neq0.
- rewrite /φ mulrCA (mulrCA t) -mulrDr ler_wpmul2l ?ler0n //.
  exact: variance_convex (ltW e0) t0 t1.
- have q0 := variance_eps z e0; have D := proj1 (eps_jacobian q0).
  split=> // [|h|ℓ g ℓg]; [exact: J_tr|exact: J_semidefinite (ltW e0) q0|].
  by have := gradient_comp ℓg D; rewrite J_tr.
- have qa := variance_eps a e0; have qb := variance_eps b e0.
  rewrite mulr_ge0 ?sqrtr_ge0 ?sqr_ge0 //=; have [-> _ _] := two_points (ltW e0) qa qb.
  have r0 : 0 < √(variance a + ε) := root_gt0 a e0. have s0 : 0 < √(variance b + ε) := root_gt0 b e0.
  have er : √ε <= √(variance a + ε) by rewrite ler_wsqrtr // ler_addr variance_ge0.
  have es : √ε <= √(variance b + ε) by rewrite ler_wsqrtr // ler_addr variance_ge0.
  apply: ler_paddr.
    apply: divr_ge0; last by apply: ltW; rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n.
    by apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0 (ltW (addr_gt0 r0 s0)); rewrite mulr_ge0 ?ler0n ?(ltW e0).
  by rewrite ler_wpmul2r ?sqr_ge0 // ler_pdivl_mulr ?ltr0n // mulr_natr mulr2n ler_add.
- apply/ler_addgt0Pr => η η0; have x0 : 0 < η ^+ 2 * m.+2%:R by rewrite mulr_gt0 ?exprn_gt0 ?ltr0n.
  have [h h0 hl] := @centred_step R m _ (sqrt_gt0 x0).
  have hp : h != 0 by rewrite -norm_gt0 hl sqrt_gt0.
  have qh : variance h = η ^+ 2.
    by rewrite variance_dot centred_id // -sqr_norm hl sqrK ?(ltW x0) // mulfK ?d_neq0.
  have := H h 0; have -> : core ε 0 = 0 :> 'cV[R]_m.+2 by rewrite /core centred0 scaler0.
  rewrite !subr0; have qe := variance_eps h e0.
  have -> : ⟨core ε h, h⟩ = √(variance h + ε) * ‖core ε h‖ ^+ 2.
    by rewrite -{2}(centred_id h0) -(core_root qe) dotZr sqr_norm.
  rewrite ler_pmul2r; last first.
    by rewrite exprn_gt0 // norm_gt0 scaler_eq0 invr_eq0 negb_or sqrt_neq0 //= centred_id.
  move/le_trans; apply; rewrite qh; apply: ler_of_sqr; first by rewrite addr_ge0 ?sqrtr_ge0 ?ltW.
  rewrite sqrK ?addr_ge0 ?sqr_ge0 ?(ltW e0) // sqrrD sqrK ?(ltW e0) // addrC ler_add2r ler_addl.
  by rewrite mulrn_wge0 // mulr_ge0 ?sqrtr_ge0 ?ltW.
Qed.
End Gradient.
