(* The statements of the page "Geometry". *)
From mathcomp Require Import all_ssreflect all_algebra all_fingroup ring.
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

Section Coordinate.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z u : 'cV[R]_d) (ε c t : R).

(* what u_i² lacks of (d − 1)/d ‖u‖² *)
Lemma coordinate_gap u i : mean u = 0 ->
  m.+1%:R / d%:R * ‖u‖ ^+ 2 - u i 0 ^+ 2 = m.+1%:R / d%:R * \sum_(j | j != i) (u j 0 + u i 0 / m.+1%:R) ^+ 2.
Proof.
move/sum0_mean => u0; have rest : \sum_(j | j != i) u j 0 = - u i 0.
  by move: u0; rewrite (bigD1 i) //= => /eqP; rewrite addrC addr_eq0 => /eqP.
have sq : ‖u‖ ^+ 2 = u i 0 ^+ 2 + \sum_(j | j != i) u j 0 ^+ 2.
  by rewrite sqr_norm /dot (bigD1 i) //= -expr2; congr (_ + _); apply: eq_bigr => j _; rewrite expr2.
have -> : \sum_(j | j != i) (u j 0 + u i 0 / m.+1%:R) ^+ 2
    = \sum_(j | j != i) u j 0 ^+ 2 - u i 0 ^+ 2 / m.+1%:R.
  pose c := u i 0 / m.+1%:R.
  rewrite (eq_bigr (fun j => (u j 0 ^+ 2 + (2 * c) * u j 0) + c ^+ 2)) => [|j _]; last by rewrite -/c; ring.
  rewrite !big_split /= -mulr_sumr rest.
  have -> : \sum_(j < d | j != i) c ^+ 2 = m.+1%:R * c ^+ 2.
    have := sumr_const (ordinal_finType d) (c ^+ 2); rewrite (bigD1 i) //= card_ord => /(canRL (addKr _)) ->.
    by rewrite mulrSr addrC addrK mulr_natl.
  by rewrite /c; field; rewrite d1_neq0.
rewrite sq; move: (\sum_(j | _) _) => S; field.
by rewrite d1_neq0 (_ : 2 + m%:R = d%:R) ?pnatr_eq0 // -natrD.
Qed.

(* u_i² ≤ (d − 1)/d ‖u‖², with equality exactly if the other entries are equal *)
Lemma coordinate_le u i : mean u = 0 -> u i 0 ^+ 2 <= m.+1%:R / d%:R * ‖u‖ ^+ 2.
Proof.
move=> u0; rewrite -subr_ge0 coordinate_gap // mulr_ge0 ?divr_ge0 ?ler0n //.
by apply: sumr_ge0 => j _; rewrite sqr_ge0.
Qed.
Lemma coordinate_eq u i : mean u = 0 ->
  u i 0 ^+ 2 = m.+1%:R / d%:R * ‖u‖ ^+ 2 <-> forall j k, j != i -> k != i -> u j 0 = u k 0.
Proof.
move=> u0; have E := coordinate_gap i u0.
have cn : m.+1%:R / d%:R != 0 :> R by rewrite mulf_neq0 ?invr_eq0 ?d_neq0.
split=> [H j k ji ki|H].
  move: E; rewrite -H subrr => /esym/eqP; rewrite mulf_eq0 (negPf cn) => /eqP S0.
  have zero l : l != i -> u l 0 = - (u i 0 / m.+1%:R).
    move=> li; apply/eqP; rewrite -addr_eq0 -sqrf_eq0; apply/eqP; move: l li.
    by apply: psumr_eq0P S0 => l _; rewrite sqr_ge0.
  by rewrite (zero _ ji) (zero _ ki).
apply/eqP; rewrite eq_sym -subr_eq0 E mulf_eq0; apply/orP; right; apply/eqP.
have rest : \sum_(j | j != i) u j 0 = - u i 0.
  by move/sum0_mean: u0; rewrite (bigD1 i) //= => /eqP; rewrite addrC addr_eq0 => /eqP.
apply: big1 => j ji; have := rest; rewrite (eq_bigr (fun=> u j 0)) => [|k ki]; last exact: H.
have -> : \sum_(k < d | k != i) u j 0 = m.+1%:R * u j 0.
  have := sumr_const (ordinal_finType d) (u j 0); rewrite (bigD1 i) //= card_ord => /(canRL (addKr _)) ->.
  by rewrite mulrSr addrC addrK mulr_natl.
move/(canRL (mulKf (d_neq0 R m))) => ->; by rewrite [X in _ + X]mulrC mulrN addNr expr0n.
Qed.

(* the spike te_i has the variance t²(d − 1)/d² *)
Lemma mean_delta i : mean (delta_mx i 0 : 'cV[R]_d) = d%:R^-1.
Proof.
rewrite /mean (bigD1 i) //= big1 => [|j ji]; rewrite !mxE ?eqxx ?addr0 ?mul1r //.
by rewrite (negPf ji).
Qed.
Lemma variance_delta i : variance (delta_mx i 0 : 'cV[R]_d) = m.+1%:R / d%:R ^+ 2.
Proof.
have dd : ⟨delta_mx i 0, delta_mx i 0 : 'cV[R]_d⟩ = 1.
  by rewrite /dot (bigD1 i) //= big1 => [|j ji]; rewrite !mxE ?eqxx ?mulr1 ?addr0 // (negPf ji) mulr0.
have := pythagoras (delta_mx i 0 : 'cV[R]_d); rewrite dd mean_delta dot_variance => /esym/(canRL (addrK _)) H.
have dn := d_neq0 R m.+1; apply: (mulfI dn); rewrite H.
have DE : d%:R = m.+1%:R + 1 :> R by rewrite mulrSr.
by move: dn; rewrite DE; move: (m.+1%:R) => M Mn; field; rewrite Mn.
Qed.
Lemma core_spike ε t (i : 'I_d) : core ε (t *: delta_mx i 0) i 0
  = t * (m.+1%:R / d%:R) / √(t ^+ 2 * (m.+1%:R / d%:R ^+ 2) + ε).
Proof.
rewrite coreE varianceZ variance_delta centredZ !mxE mean_delta !eqxx /= mulr1; congr (_ * _ / _).
have DE : d%:R = m.+1%:R + 1 :> R by rewrite mulrSr.
by have := d_neq0 R m.+1; rewrite DE; move: (m.+1%:R) => M Mn; field; rewrite Mn.
Qed.
End Coordinate.

Section TwoOne.
Variables (R : rcfType).
Implicit Types (ε : R).

Lemma centred_two (z : 'cV[R]_2) : centred z = ((z 0 0 - z 1 0) / 2) *: vec [:: 1; -1].
Proof.
have m : mean z = (z 0 0 + z 1 0) / 2.
  rewrite /mean !big_ord_recl big_ord0 addr0; congr ((_ + z _ _) / _); exact: val_inj.
apply/vecP; case=> [[|[|k]] //= i]; rewrite centredE m !mxE /=.
  by rewrite (_ : Ordinal i = 0); [field|apply: val_inj].
by rewrite (_ : Ordinal i = 1); [field|apply: val_inj].
Qed.
Lemma core_two ε (z : 'cV[R]_2) : let s := (z 0 0 - z 1 0) / 2 in
  variance z = s ^+ 2 /\ core ε z = (√(s ^+ 2 + ε))^-1 *: vec [:: s; - s].
Proof.
move=> s; have v : centred z = vec [:: s; - s].
  by rewrite centred_two -/s; apply/vecP; case=> [[|[|k]] //= i]; rewrite !mxE /=; ring.
have q : variance z = s ^+ 2 by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
by rewrite /core q v.
Qed.

Lemma dim_one (z : 'cV[R]_1) : centred z = 0.
Proof. by apply/vecP => i; rewrite centredE /mean big_ord1 !ord1 divr1 subrr mxE. Qed.
End TwoOne.

(* For d ≥ 2, u_i² ≤ (d − 1)/d ‖u‖², with equality if and only if the other coordinates of the input are equal; so
   |u_i| < √(d − 1) for ε > 0 and |u_i| ≤ √(d − 1) at ε = 0; the spike te_i approaches this bound as t → ∞ and attains
   it at ε = 0. At d = 2 the core is (s, −s)/√(s² + ε) with s = (z_1 − z_2)/2, and for ε → 0 it tends to the sign of s.
   At d = 1, for ε > 0, the core, J and the gradient by the gain are 0, and the output is β *)
Theorem largest_coordinate (R : rcfType) m (i : 'I_m.+2) : let d := m.+2 in
  [/\ forall (ε : R) (z : 'cV[R]_d), 0 < variance z + ε -> let u := core ε z in
        u i 0 ^+ 2 <= (d%:R - 1) / d%:R * ‖u‖ ^+ 2
        /\ (u i 0 ^+ 2 = (d%:R - 1) / d%:R * ‖u‖ ^+ 2 <-> forall j k, j != i -> k != i -> z j 0 = z k 0),
      (forall (ε : R) (z : 'cV[R]_d), 0 < ε -> `|core ε z i 0| < √(d%:R - 1))
      /\ (forall z : 'cV[R]_d, 0 < variance z -> `|core 0 z i 0| <= √(d%:R - 1)),
      (forall ε : R, 0 < ε -> tends_at_infinity (fun t => core ε (t *: delta_mx i 0) i 0) √(d%:R - 1))
      /\ (forall t : R, 0 < t -> core 0 (t *: delta_mx i 0) i 0 = √(d%:R - 1)),
      forall z : 'cV[R]_2, let s := (z 0 0 - z 1 0) / 2 in
        (forall ε, 0 < s ^+ 2 + ε -> core ε z = (√(s ^+ 2 + ε))^-1 *: vec [:: s; - s])
        /\ forall η, 0 < η -> exists2 δ, 0 < δ & forall ε, 0 < ε -> ε <= δ ->
             `|core ε z 0 0 - Num.sg (z 0 0 - z 1 0)| <= η /\ `|core ε z 1 0 + Num.sg (z 0 0 - z 1 0)| <= η
    & forall (ε : R) (z γ β : 'cV[R]_1), 0 < ε ->
        [/\ core ε z = 0, J ε z = 0, layer_norm ε γ β z = β
          & forall ℓ g, is_gradient ℓ (layer_norm ε γ β z) g -> is_gradient (fun γ => ℓ (layer_norm ε γ β z)) γ 0]].
Proof.
move=> d; have dE : d%:R - 1 = m.+1%:R :> R by rewrite /d mulrSr addrK.
have d0 : 0 < d%:R :> R := d_gt0 R m.+1.
have dm0 : 0 < m.+1%:R :> R by rewrite ltr0n.
rewrite dE; have bound (ε : R) (z : 'cV[R]_d) : 0 < variance z + ε ->
    core ε z i 0 ^+ 2 <= m.+1%:R * (variance z / (variance z + ε)).
  move=> q0; have := coordinate_le i (mean_core ε z); rewrite sqr_norm_core //.
  by rewrite -[d%:R * _ / _]mulrA mulrA divfK ?gt_eqF.
split.
- move=> ε z q0 u; split; first exact/coordinate_le/mean_core.
  rewrite (coordinate_eq i (mean_core ε z)); have r0 := sqrt_neq0 q0.
  split=> H j k ji ki; have := H j k ji ki; rewrite !coreE !centredE; last by move=> ->.
  by move/(divIf r0)/addIr.
- split=> [ε z e0|z q0].
    have q0 := variance_eps z e0; apply: ltr_of_sqr; first exact: sqrtr_ge0.
    rewrite sqrK ?ler0n // -normrX ger0_norm ?sqr_ge0 //; apply: le_lt_trans (bound ε z q0) _.
    by rewrite -[X in _ < X]mulr1 ltr_pmul2l // ltr_pdivr_mulr // mul1r ltr_addl.
  apply: ler_of_sqr; first exact: sqrtr_ge0.
  rewrite sqrK ?ler0n // -normrX ger0_norm ?sqr_ge0 //; have := bound 0 z.
  by rewrite addr0 divff ?gt_eqF // mulr1; apply.
- have spike (ε t : R) : 0 <= ε -> 0 < t -> core ε (t *: delta_mx i 0) i 0
      = √m.+1%:R * (√(1 + ε / (t ^+ 2 * (m.+1%:R / d%:R ^+ 2))))^-1.
    move=> e0 t0; set k := m.+1%:R / d%:R ^+ 2.
    have k0 : 0 < k by rewrite divr_gt0 ?exprn_gt0.
    have tk : 0 < t ^+ 2 * k by rewrite mulr_gt0 ?exprn_gt0.
    rewrite core_spike -/d -/k (_ : t ^+ 2 * k + ε = t ^+ 2 * k * (1 + ε / (t ^+ 2 * k))); last first.
      by rewrite mulrDr mulr1 [X in _ = _ + X]mulrC divfK ?gt_eqF.
    rewrite sqrtrM ?(ltW tk) // invfM mulrA; congr (_ / _).
    rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr gtr0_norm // /k sqrt_div ?ler0n // sqrtr_sqr gtr0_norm //.
    have rm := sqrt_neq0 dm0; rewrite -{1}(sqrK (ltW dm0)).
    move: (√_) rm (d%:R) (lt0r_neq0 d0) => r rm D Dn.
    by field; rewrite rm Dn gt_eqF.
  split=> [ε e0 η η0|t t0]; last by rewrite spike // mul0r addr0 sqrtr1 invr1 mulr1.
  have rm := sqrt_gt0 dm0; set k := m.+1%:R / d%:R ^+ 2 in spike *.
  have k0 : 0 < k by rewrite divr_gt0 ?exprn_gt0.
  set c := √m.+1%:R * ε / (η * k); have c0 : 0 < c := divr_gt0 (mulr_gt0 rm e0) (mulr_gt0 η0 k0).
  exists (1 + c) => t tc; have t1 : 1 <= t by apply: le_trans tc; rewrite ler_addl ltW.
  have t0 : 0 < t := lt_le_trans ltr01 t1; rewrite spike ?(ltW e0) //.
  have tk : 0 < t ^+ 2 * k by rewrite mulr_gt0 ?exprn_gt0.
  set x := ε / (t ^+ 2 * k); have x0 : 0 < x by rewrite divr_gt0.
  have s1 : 1 <= √(1 + x) by rewrite -{1}sqrtr1 ler_wsqrtr // ler_addl ltW.
  have s0 : 0 < √(1 + x) := lt_le_trans ltr01 s1.
  have sx : √(1 + x) <= 1 + x.
    apply: ler_of_sqr; first by rewrite addr_ge0 ?ler01 ?ltW.
    rewrite sqrK ?addr_ge0 ?ler01 ?(ltW x0) // expr2 -{1}(mulr1 (1 + x)) ler_pmul2l ?addr_gt0 ?ltr01 //.
    by rewrite ler_addl ltW.
  rewrite distrC -{1}(mulr1 (√m.+1%:R)) -mulrBr normrM gtr0_norm //.
  have i1 : (√(1 + x))^-1 <= 1 by rewrite invf_le1.
  rewrite ger0_norm ?subr_ge0 //; have H : 1 - (√(1 + x))^-1 <= x.
    rewrite ler_subl_addr -ler_subl_addl -(ler_pmul2r s0) mulVf ?gt_eqF //.
    have [x1|x1] := lerP x 1; last by apply: le_trans (@ler01 R); rewrite pmulr_lle0 // subr_le0 ltW.
    apply: le_trans (ler_wpmul2l _ sx) _; first by rewrite subr_ge0.
    by rewrite -subr_sqr expr1n ler_subl_addr ler_addl sqr_ge0.
  apply: le_trans (ler_wpmul2l (ltW rm) H) _.
  have -> : √m.+1%:R * x = η * (c / t ^+ 2).
    rewrite /x /c; move: (√m.+1%:R) (lt0r_neq0 rm) (k) (lt0r_neq0 k0) => r rn k' kn.
    by field; rewrite kn !gt_eqF.
  rewrite -[leRHS]mulr1 ler_pmul2l // ler_pdivr_mulr ?exprn_gt0 // mul1r; apply: (@le_trans _ _ t).
    by apply: le_trans tc; rewrite ler_addr ler01.
  by rewrite expr2 ler_pmulr.
- move=> z s; have [_ E] := core_two 0 z; split=> [ε _|η η0]; first by have [_ ->] := core_two ε z.
  have Ez ε : core ε z = (√(s ^+ 2 + ε))^-1 *: vec [:: s; - s] by have [_ ->] := core_two ε z.
  have sgE : Num.sg (z 0 0 - z 1 0) = Num.sg s by rewrite /s sgrM [Num.sg 2^-1]gtr0_sg ?mulr1 ?invr_gt0 ?ltr0n.
  have entry1 ε : core ε z 1 0 = - core ε z 0 0 by rewrite Ez !mxE /= mulrN.
  suff [δ δ0 H] : exists2 δ, 0 < δ & forall ε, 0 < ε -> ε <= δ -> `|core ε z 0 0 - Num.sg s| <= η.
    exists δ => // ε e0 eδ; rewrite entry1 sgE -{2}(opprK (Num.sg s)) -opprD normrN.
    by have := H ε e0 eδ.
  have [s0|s0] := eqVneq s 0.
    by exists 1; rewrite ?ltr01 // => ε _ _; rewrite Ez s0 !mxE /= mulr0 sgr0 subrr normr0 ltW.
  have a0 : 0 < `|s| by rewrite normr_gt0.
  have s20 : 0 < s ^+ 2 by rewrite lt_def sqrf_eq0 s0 sqr_ge0.
  exists (η * s ^+ 2) => [|ε e0 eη]; first by rewrite mulr_gt0.
  have Q0 : 0 < s ^+ 2 + ε by rewrite addr_gt0.
  set r := √(s ^+ 2 + ε); have r0 : 0 < r by rewrite sqrt_gt0.
  have r2 : r ^+ 2 = s ^+ 2 + ε by rewrite sqrK ?ltW.
  have sr : `|s| <= r by apply: ler_of_sqr; rewrite ?(ltW r0) // r2 -normrX ger0_norm ?sqr_ge0 // ler_addl ltW.
  rewrite Ez !mxE /= -/r {1}(numEsg s) -{2}(mul1r (Num.sg s)) mulrCA mulrC -mulrBl normrM normr_sg s0 mulr1.
  rewrite distrC ger0_norm; last by rewrite subr_ge0 mulrC ler_pdivr_mulr // mul1r.
  have -> : 1 - r^-1 * `|s| = (r ^+ 2 - `|s| ^+ 2) / (r * (r + `|s|)).
    by field; rewrite !gt_eqF ?addr_gt0.
  rewrite ler_pdivr_mulr ?mulr_gt0 ?addr_gt0 // r2 -normrX [X in _ - X]ger0_norm ?sqr_ge0 // addrC addKr.
  apply: le_trans eη _; rewrite ler_wpmul2l ?(ltW η0) // -(ger0_norm (sqr_ge0 s)) normrX expr2.
  by apply: ler_pmul => //; rewrite ler_addr ltW.
- move=> ε z γ β e0; have v0 := dim_one z; have u0 : core ε z = 0 by rewrite /core v0 scaler0.
  have yE γ' : layer_norm ε γ' β z = β by rewrite /layer_norm u0 hadamard0 add0r.
  split=> // [|ℓ g _].
    by rewrite -[J ε z]mulmx1; apply/matrixP => j k; rewrite J_mul !dim_one scaler0 subr0 scaler0.
  apply: (@gradient_ext _ _ (fun=> ℓ β)) => [γ'|]; first by rewrite yE.
  by move=> η η0; exists 1; rewrite ?ltr01 // => h _; rewrite subrr dot0l subrr normr0 mulr_ge0 ?norm_ge0 ?(ltW η0).
Qed.

Section Cores.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (a b h x y z : 'cV[R]_d) (Q : 'M[R]_d) (ε c : R).

Lemma matrix_ext m (A B : 'M[R]_(m, d)) : (forall h, A *m h = B *m h) -> A = B.
Proof.
by move=> H; apply/matrixP => i j; have /matrixP/(_ i 0) := H (delta_mx j 0); rewrite -!colE !mxE.
Qed.

(* For ε = 0 two inputs with q > 0 have the same core if and only if the one's centred vector is c > 0 times the other's *)
Theorem invertible_no_eps a b : 0 < variance a -> 0 < variance b ->
  core 0 a = core 0 b <-> exists2 c, 0 < c & centred b = c *: centred a.
Proof.
move=> qa qb; have [ra rb] : 0 < √(variance a) /\ 0 < √(variance b) by rewrite !sqrt_gt0.
rewrite /core !addr0; split=> [H|[c c0 H]].
  exists (√(variance b) / √(variance a)); first exact: divr_gt0.
  by rewrite -scalerA H scalerA mulfV ?scale1r ?gt_eqF.
have -> : variance b = c ^+ 2 * variance a by rewrite -(variance_centred b) H varianceZ variance_centred.
rewrite (sqrtrM _ (sqr_ge0 c)) sqrtr_sqr gtr0_norm // H scalerA invfM mulrAC mulVf ?gt_eqF // mul1r //.
Qed.

(* The amplification is 2/(r + s) if and only if a − b is centred and either r = s, or ε = 0 and u(a) = −u(b) *)
Theorem two_points_attained ε a b : 0 <= ε -> 0 < variance a + ε -> 0 < variance b + ε -> a <> b ->
  let r := √(variance a + ε) in let s := √(variance b + ε) in
  ‖core ε a - core ε b‖ / ‖a - b‖ = 2 / (r + s)
  <-> mean (a - b) = 0 /\ (r = s \/ ε = 0 /\ core ε a = - core ε b).
Proof.
move=> e0 qa qb ab r s; have [E _ same] := two_points e0 qa qb; rewrite -/r -/s in E same.
have r0 : 0 < r by rewrite sqrt_gt0.
have s0 : 0 < s by rewrite sqrt_gt0.
have rs : 0 < r + s by rewrite addr_gt0.
have h0 : 0 < ‖a - b‖ by rewrite norm_gt0 subr_eq0; apply/eqP.
have step : centred (a - b) = r *: core ε a - s *: core ε b by rewrite !core_root // centredB.
split=> [/(canRL (divfK (lt0r_neq0 h0))) H|[m0 [rs1|[e00 ua]]]]; last first.
- have hE : a - b = - ((r + s) *: core ε b).
    by rewrite -(centred_id m0) step ua scalerN -opprD -scalerDl.
  have u0 : core ε b != 0 by apply/eqP => u0; move: h0; rewrite hE u0 scaler0 oppr0 norm0 ltxx.
  rewrite hE ua -opprD !normN -mulr2n -scaler_nat; move: (core ε b) u0 => w w0.
  rewrite !normZ ger0_norm ?ler0n // (gtr0_norm rs).
  by rewrite -mulf_div divff ?mulr1 // norm_eq0.
- by rewrite same // mulfK ?gt_eqF // -rs1 -mulr2n -mulr_natl invfM mulrA mulfV ?mul1r ?pnatr_eq0.
set du := core ε a - core ε b in E H *; set h := a - b in E H h0 step *.
have hE : ‖h‖ = (r + s) / 2 * ‖du‖ by rewrite H; field; rewrite gt_eqF.
set rest := d%:R * ε * (r + s) * (r - s) ^+ 2 / (2 * r ^+ 2 * s ^+ 2) in E.
have rest0 : 0 <= rest.
  apply: divr_ge0; last by apply: ltW; rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n.
  by apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0 (ltW rs); rewrite mulr_ge0 ?ler0n.
have restE : rest = 0.
  apply/le_anti; rewrite rest0 andbT; have := dot_le du h.
  by rewrite E hE (_ : ‖du‖ * _ = (r + s) / 2 * ‖du‖ ^+ 2) ?ger_addl //; ring.
have hdu : h = ((r + s) / 2) *: du.
  apply/eqP; rewrite -subr_eq0 -dot_eq0 dot_sub dotZl !dotZr (dotC h) E restE addr0.
  by rewrite -!sqr_norm hE; apply/eqP; ring.
have m0 : mean h = 0 by rewrite hdu meanZ /du meanB !mean_core subrr mulr0.
split=> //; move/eqP: restE; rewrite mulf_eq0 invr_eq0 [X in _ || X]gt_eqF ?mulr_gt0 ?exprn_gt0 ?ltr0n // orbF.
rewrite mulf_eq0 sqrf_eq0 subr_eq0; case: (eqVneq r s) => [rs1 _|rs1]; first by left.
rewrite orbF mulf_eq0 (gt_eqF rs) orbF mulf_eq0 (negPf (d_neq0 R n)) => /eqP e00; right; split=> //.
have rsn : (r - s) / 2 != 0 by rewrite mulf_neq0 ?invr_eq0 ?pnatr_eq0 // subr_eq0.
move: step; rewrite centred_id // hdu /du; move: (core ε a) (core ε b) => u w step.
apply: (scalerI rsn); apply/vecP => i; have /vecP/(_ i) := step; rewrite !mxE; move: (u i 0) (w i 0) => p k H1.
have -> : (r - s) / 2 * p = (r - s) / 2 * - k + (r * p - s * k - (r + s) / 2 * (p - k)) by field.
by rewrite H1 subrr addr0.
Qed.

(* u_i − u_j = (z_i − z_j)/√(q + ε); so the coordinates of the core stand in the order of the input's, with the same ties,
   and ratios of differences stay; with one gain c > 0 and one bias the same holds of the output *)
Theorem order ε z : 0 < variance z + ε ->
  let same_order y := forall i j, (y i 0 <= y j 0) = (z i 0 <= z j 0) /\ (y i 0 = y j 0 <-> z i 0 = z j 0) in
  let same_ratios y := forall i j k l, z k 0 != z l 0 ->
    (y i 0 - y j 0) / (y k 0 - y l 0) = (z i 0 - z j 0) / (z k 0 - z l 0) in
  [/\ forall i j, core ε z i 0 - core ε z j 0 = (z i 0 - z j 0) / √(variance z + ε),
      same_order (core ε z) /\ same_ratios (core ε z)
    & forall c t, 0 < c -> let y := layer_norm ε (c *: ones) (t *: ones) z in same_order y /\ same_ratios y].
Proof.
move=> q0 same_order same_ratios; have r0 := sqrt_gt0 q0; set r := √(variance z + ε) in r0 *.
have E i j : core ε z i 0 - core ε z j 0 = (z i 0 - z j 0) / r.
  by rewrite !coreE !centredE -/r; field; rewrite gt_eqF.
suff main y c : 0 < c -> (forall i j, y i 0 - y j 0 = c * (z i 0 - z j 0)) -> same_order y /\ same_ratios y.
  split=> //; first by apply: (main _ r^-1) => [|i j]; rewrite ?invr_gt0 // E mulrC.
  move=> c t c0 y; apply: (main _ (c / r)) => [|i j]; first exact: divr_gt0.
  have yE k : y k 0 = c * core ε z k 0 + t.
    by rewrite layer_normE [(c *: ones) k 0]mxE [(t *: ones) k 0]mxE onesE !mulr1.
  by rewrite !yE opprD addrACA subrr addr0 -mulrBr E mulrA mulrAC.
move=> c0 H; split=> [i j|i j k l kl].
  split; first by rewrite -subr_le0 H pmulr_rle0 // subr_le0.
  split=> [ij|ij]; apply/eqP; rewrite -subr_eq0.
    by have := H i j; rewrite ij subrr => /esym/eqP; rewrite mulf_eq0 gt_eqF.
  by rewrite H ij subrr mulr0.
by rewrite !H; field; rewrite subr_eq0 kl gt_eqF.
Qed.

(* the correlation of two inputs *)
Definition corr a b : R := ⟨centred a, centred b⟩ / (‖centred a‖ * ‖centred b‖).

(* (1/d) ⟨u(a), u(b)⟩ = ρ √(q_a q_b / ((q_a + ε)(q_b + ε))); at ε = 0 it is ρ, and ‖u(a) − u(b)‖² = 2d (1 − ρ) *)
Theorem correlation ε a b : 0 <= ε -> 0 < variance a -> 0 < variance b -> let ρ := corr a b in
  [/\ ⟨core ε a, core ε b⟩ / d%:R
        = ρ * √(variance a * variance b / ((variance a + ε) * (variance b + ε))),
      ⟨core 0 a, core 0 b⟩ / d%:R = ρ
    & ‖core 0 a - core 0 b‖ ^+ 2 = 2 * d%:R * (1 - ρ)].
Proof.
move=> e0 qa qb ρ.
have main e : 0 <= e -> ⟨core e a, core e b⟩ / d%:R
    = ρ * √(variance a * variance b / ((variance a + e) * (variance b + e))).
  move=> {}e0; have [a0 b0] : 0 < variance a + e /\ 0 < variance b + e by rewrite !ltr_paddr.
  have len x : ‖centred x‖ = √d%:R * √(variance x) by rewrite /norm dot_variance sqrtrM ?ler0n.
  rewrite (sqrt_div _ (mulr_ge0 (ltW qa) (ltW qb))) (sqrtrM _ (ltW qa)) (sqrtrM _ (ltW a0)).
  rewrite /ρ /corr !len /core dotZl dotZr; have dd : d%:R = √d%:R ^+ 2 :> R by rewrite sqrK ?ler0n.
  have dn : √d%:R != 0 :> R by rewrite sqrt_neq0 ?ltr0n.
  rewrite [in LHS]dd; move: (√d%:R) dn (sqrt_neq0 qa) (sqrt_neq0 qb) (sqrt_neq0 a0) (sqrt_neq0 b0).
  move: (√(variance a)) (√(variance b)) (√(variance a + e)) (√(variance b + e)) => ? ? ? ? ? ? ? ? ? ?; field.
  by apply/and5P; split.
have E0 : ⟨core 0 a, core 0 b⟩ / d%:R = ρ.
  by rewrite main // !addr0 divff ?sqrtr1 ?mulr1 // mulf_neq0 // gt_eqF.
split=> //; first exact: main.
have one x : 0 < variance x -> ⟨core 0 x, core 0 x⟩ = d%:R.
  by move=> x0; rewrite -sqr_norm sqr_norm_core addr0 // mulfK // gt_eqF.
rewrite sqr_norm dot_sub !one // -E0; field.
by rewrite d1_neq0.
Qed.

(* Among all vectors of mean 0 and variance 1 the core at ε = 0 is the nearest to z, and the only one that is as near; the
   squared distance is dμ² + d(√q − 1)² *)
Theorem nearest_point z : 0 < variance z -> let u := core 0 z in
  [/\ u = (√(variance z))^-1 *: centred z, mean u = 0 /\ variance u = 1,
      forall x, mean x = 0 -> variance x = 1 -> ‖z - u‖ <= ‖z - x‖ /\ (‖z - x‖ = ‖z - u‖ -> x = u)
    & ‖z - u‖ ^+ 2 = d%:R * mean z ^+ 2 + d%:R * (√(variance z) - 1) ^+ 2].
Proof.
move=> q0 u; have r0 := sqrt_gt0 q0; have rr := sqrK (ltW q0).
have uE : u = (√(variance z))^-1 *: centred z by rewrite /u /core addr0.
have vu : centred z = √(variance z) *: u by rewrite uE scalerA mulfV ?scale1r ?gt_eqF.
have mu : mean u = 0 by exact: mean_core.
have qu : variance u = 1 by rewrite uE varianceZ variance_centred exprVn rr mulVf ?gt_eqF.
have len x : mean x = 0 -> variance x = 1 -> ⟨x, x⟩ = d%:R.
  by move=> m0 q1; rewrite -{1 2}(centred_id m0) dot_variance q1 mulr1.
have zx x : mean x = 0 -> ⟨z, x⟩ = √(variance z) * ⟨u, x⟩.
  by move=> m0; rewrite -{1}(centred_id m0) -dot_centred vu dotZl.
have zz : ⟨z, z⟩ = d%:R * variance z + d%:R * mean z ^+ 2 by rewrite pythagoras dot_variance.
have E x : mean x = 0 -> variance x = 1 -> ‖z - x‖ ^+ 2 = ‖z - u‖ ^+ 2 + √(variance z) * ⟨u - x, u - x⟩.
  move=> m0 q1; rewrite !sqr_norm !dot_sub (zx x m0) (zx u mu) (len x m0 q1) (len u mu qu).
  by move: (⟨z, z⟩) (⟨u, x⟩) => p k; ring.
split=> // [x m0 q1|].
  split=> [|H].
    apply: ler_of_sqr (norm_ge0 _) _; rewrite (E x) // ler_addl mulr_ge0 ?dot_ge0 //; exact: ltW.
  have := E x m0 q1; rewrite H => /eqP; rewrite -subr_eq0 opprD addrA subrr sub0r oppr_eq0.
  by rewrite mulf_eq0 gt_eqF //= dot_eq0 subr_eq0 => /eqP.
rewrite sqr_norm dot_sub zz (zx u mu) (len u mu qu) -{1}rr; by ring.
Qed.

(* For an orthogonal Q, u(Qz) = Q u(z) for all z if and only if Q1 = 1 or Q1 = −1. Permutations are among them, and −I *)
Theorem symmetry : let orthogonal Q := Q^T *m Q = 1%:M in
  [/\ forall ε Q, 0 < ε -> orthogonal Q ->
        (forall z, core ε (Q *m z) = Q *m core ε z) <-> Q *m ones = ones \/ Q *m ones = - ones,
      forall s : 'S_d, orthogonal (perm_mx s) /\ perm_mx s *m ones = ones :> 'cV[R]_d
    & orthogonal (- 1%:M) /\ - 1%:M *m ones = - ones :> 'cV[R]_d].
Proof.
move=> orthogonal; split.
- move=> ε Q e0 QQ; have keep x y : ⟨Q *m x, Q *m y⟩ = ⟨x, y⟩ by rewrite dot_mulmx mulmxA QQ mul1mx.
  split=> [H|H].
    have : core ε (Q *m ones) = 0 by rewrite H /core centred_ones scaler0 mulmx0.
    move/eqP; rewrite scaler_eq0 invr_eq0 (negPf (sqrt_neq0 (variance_eps _ e0))) => /eqP/centred_eq0[c cE].
    have := keep ones ones; rewrite cE dotZl dotZr dot_ones_ones mulrA -[RHS]mul1r => /(mulIf (d_neq0 R n))/eqP.
    by rewrite -expr2 sqrf_eq1 => /orP[]/eqP ->; [left|right]; rewrite ?scale1r ?scaleN1r.
  have [c cc cE] : exists2 c : R, c * c = 1 & Q *m ones = c *: ones.
    by case: H => ->; [exists 1|exists (-1)]; rewrite ?mulr1 ?scale1r ?mulrNN ?mulr1 ?scaleN1r.
  move=> z; have mQ : mean (Q *m z) = c * mean z.
    rewrite !mean_dot mulrA; congr (_ / _); rewrite -[ones in LHS]scale1r -cc -scalerA -cE dotZl keep //.
  have vQ : centred (Q *m z) = Q *m centred z.
    by rewrite /centred mulmxBr -scalemxAr cE mQ scalerA mulrC.
  by rewrite /core variance_dot vQ keep -variance_dot -scalemxAr.
- move=> s; split; first by rewrite /orthogonal tr_perm_mx -perm_mxM mulVg perm_mx1.
  apply/vecP => i; rewrite mxE (bigD1 (s i)) //= !mxE eqxx mul1r big1 ?addr0 // => j ji.
  by rewrite !mxE eq_sym (negPf ji) mul0r.
- by split; rewrite ?/orthogonal ?linearN /= ?trmx1 ?mulNmx ?mulmxN ?opprK ?mul1mx.
Qed.

(* J⁺ = √(q + ε) (P + v vᵀ/(dε)) *)
Definition J_plus ε z : 'M[R]_d :=
  √(variance z + ε) *: (P + (d%:R * ε)^-1 *: (centred z *m (centred z)^T)).

(* JJ⁺ = J⁺J = P and J⁺1 = 0; the smallest step that changes the core by the centred vector k, to first order, is J⁺k *)
Theorem jac_pseudoinverse ε z : 0 < ε ->
  [/\ J ε z *m J_plus ε z = P, J_plus ε z *m J ε z = P, J_plus ε z *m ones = 0
    & forall k : 'cV[R]_d, mean k = 0 -> J ε z *m (J_plus ε z *m k) = k
        /\ forall h, J ε z *m h = k -> ‖J_plus ε z *m k‖ <= ‖h‖ /\ (‖h‖ = ‖J_plus ε z *m k‖ -> h = J_plus ε z *m k)].
Proof.
move=> e0; have q0 := variance_eps z e0; set r := √(variance z + ε).
have rn : r != 0 := sqrt_neq0 q0. have en := lt0r_neq0 e0. have dn := d_neq0 R n. have qn := lt0r_neq0 q0.
set v := centred z; have vv : ⟨v, v⟩ = d%:R * variance z by exact: dot_variance.
have JpE h : J_plus ε z *m h = r *: (centred h + (⟨v, h⟩ / (d%:R * ε)) *: v).
  by rewrite -scalemxAl mulmxDl P_mul -scalemxAl outer_mul scalerA (mulrC _^-1 ⟨_, _⟩).
have vc h : ⟨v, centred h⟩ = ⟨v, h⟩ by exact: dot_centred2.
have J1 : J ε z *m J_plus ε z = P.
  apply: matrix_ext => h; rewrite -mulmxA JpE P_mul J_mul -/v -/r centredZ centredD centredZ !centredK dotZr dotDr dotZr vc vv.
  apply/vecP => i; rewrite !mxE /=; move: (⟨v, h⟩) ((_ : R) * 1) => k t.
  move: (variance z) qn => q qn; field; by rewrite rn en qn d1_neq0.
have J2 : J_plus ε z *m J ε z = P.
  have JpT : (J_plus ε z)^T = J_plus ε z by rewrite linearZ /= linearD /= P_tr linearZ /= trmx_mul trmxK.
  by rewrite -(trmxK (_ *m _)) trmx_mul JpT J_tr J1 P_tr.
have Jp1 : J_plus ε z *m ones = 0.
  by rewrite JpE centred_ones dotC dot_ones_centred mul0r scale0r addr0 scaler0.
split=> // k mk; have Jk : J ε z *m (J_plus ε z *m k) = k by rewrite mulmxA J1 P_mul centred_id.
split=> // h hk; have hc : J_plus ε z *m k = centred h by rewrite -hk mulmxA J2 P_mul.
rewrite hc norm_centred_le; split=> // H; have := pythagoras h.
rewrite -!sqr_norm H -[X in X = _]addr0 => /addrI/esym/eqP; rewrite mulf_eq0 (negPf dn) sqrf_eq0 => /eqP/centred_id.
exact: esym.
Qed.
End Cores.

(* det(I + a bᵀ) = 1 + ⟨b, a⟩ *)
Lemma det_one_plus (R : rcfType) k (a b : 'cV[R]_k) : \det (1%:M + a *m b^T) = 1 + ⟨b, a⟩.
Proof.
have E1 : block_mx 1%:M (- a) b^T 1%:M *m block_mx 1%:M a 0 1%:M = block_mx 1%:M 0 b^T (1 + ⟨b, a⟩)%:M.
  rewrite mulmx_block !mul1mx !mulmx1 !mulmx0 !addr0 subrr.
  by rewrite [b^T *m a]mx11_scalar -dotE -raddfD /= addrC.
have E2 : block_mx 1%:M a 0 1%:M *m block_mx 1%:M (- a) b^T 1%:M = block_mx (1%:M + a *m b^T) 0 b^T 1%:M.
  by rewrite mulmx_block !mul1mx !mul0mx !mulmx1 !add0r addNr.
have := congr1 determinant E1; rewrite det_mulmx det_ublock !det1 !mulr1 det_lblock det1 mul1r det_scalar1 => <-.
have := congr1 determinant E2; rewrite det_mulmx det_ublock !det1 !mul1r det_lblock det1 mulr1 => <-.
by [].
Qed.

(* at d = 2 the centred vectors are a line, and J multiplies them by ε/(q + ε)^(3/2) *)
Lemma J_two (R : rcfType) m ε (z w : 'cV[R]_m.+2) : m.+2 = 2%N -> 0 < variance z + ε -> mean w = 0 ->
  J ε z *m w = (ε / √(variance z + ε) ^+ 3) *: w.
Proof.
move=> [m0]; move: z w; rewrite m0 => z w q0 mw {m m0}.
have r0 := sqrt_neq0 q0; have rr := sqrK (ltW q0); set r := √_ in r0 rr *.
have vv := dot_variance z; rewrite J_mul -/r -rr (centred_id mw) -(centred_id mw) (centred_two w) (centred_two z).
rewrite (centred_two z) in vv; move: vv; move: (vec _) ((z 0 0 - _) / _) ((w 0 0 - _) / _) => p b a.
rewrite !dotZl !dotZr => vv; rewrite !scalerA -scalerBl !scalerA; congr (_ *: _).
have -> : ε = r ^+ 2 - variance z by rewrite rr addrC addKr.
have -> : variance z = b * (b * ⟨p, p⟩) / 2 by rewrite vv mulrAC divff ?mul1r ?pnatr_eq0.
by move: (⟨p, p⟩) => t; field.
Qed.

Section Determinant.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z h w : 'cV[R]_d) (ε c : R).

(* B is a basis of the centred vectors: d − 1 of them, independent *)
Definition centred_basis (B : 'M[R]_(d, d.-1)) : Prop := \rank B = d.-1 /\ forall j, mean (col j B) = 0.
(* x is an eigenvalue of A on the centred vectors *)
Definition centred_eigenvalue (A : 'M[R]_d) (x : R) : Prop := exists2 w, w != 0 & mean w = 0 /\ A *m w = x *: w.

(* Let q + ε > 0. On the centred vectors, a space of dimension d − 1, J has the determinant ε (q + ε)^(−(d+1)/2): that of the
   matrix M with JB = BM, for every basis B. For ε > 0 its largest eigenvalue there is (q + ε)/ε times its smallest one if
   d ≥ 3, and they are equal if d = 2 *)
Theorem jac_determinant ε z : 0 <= ε -> 0 < variance z + ε ->
  [/\ exists B, centred_basis B,
      forall B, centred_basis B -> exists2 M, J ε z *m B = B *m M & forall M', J ε z *m B = B *m M' -> M' = M,
      forall B M, centred_basis B -> J ε z *m B = B *m M -> \det M = ε / √(variance z + ε) ^+ d.+1
    & 0 < ε -> exists l s, [/\ centred_eigenvalue (J ε z) l, centred_eigenvalue (J ε z) s,
        forall x, centred_eigenvalue (J ε z) x -> s <= x <= l
        & ((2 < d)%N -> l = (variance z + ε) / ε * s) /\ (d = 2%N -> l = s)]].
Proof.
move=> e0 q0; have dn := d_neq0 R m.+1; set r := √(variance z + ε); have r0 : 0 < r := sqrt_gt0 q0.
have rr : r ^+ 2 = variance z + ε by rewrite sqrK // ltW.
set v := centred z; have vv : ⟨v, v⟩ = d%:R * variance z := dot_variance z.
have ones1 : \rank (ones : 'cV[R]_d) = 1%N.
  apply/eqP; rewrite eqn_leq rank_leq_col lt0n mxrank_eq0; apply/eqP => H.
  by have := dot_ones_ones R m.+1; rewrite H dot0l => /eqP; rewrite eq_sym (negPf dn).
have basis (B : 'M[R]_(d, d.-1)) : centred_basis B -> B^T *m ones = 0.
  move=> [_ B0]; apply/vecP => j; rewrite mxE (eq_bigr (fun i => (col j B) i 0)) => [|i _]; last by rewrite !mxE mulr1.
  by rewrite sum_mean B0 mulr0 mxE.
(* a matrix of centred columns is B times one *)
have span (B : 'M[R]_(d, d.-1)) k (A : 'M[R]_(d, k)) : centred_basis B -> A^T *m ones = 0 -> exists D, A = B *m D.
  move=> Bb /sub_kermxP A1; have /sub_kermxP B1 := basis B Bb.
  have /leqifP := mxrank_leqif_sup B1; rewrite mxrank_tr (proj1 Bb) mxrank_ker ones1 subn1 /=.
  case: ifP => [B2 _|_]; last by rewrite ltnn.
  have /submxP[D DE] := submx_trans A1 B2; exists D^T.
  by rewrite -[A]trmxK DE trmx_mul trmxK.
have inj (B : 'M[R]_(d, d.-1)) M M' : centred_basis B -> B *m M = B *m M' -> M = M' :> 'M[R]_d.-1.
  move=> [rB _] /(congr1 trmx); rewrite !trmx_mul => H; apply/trmx_inj/row_free_inj; last exact: H.
  by rewrite /row_free mxrank_tr rB.
have JB (B : 'M[R]_(d, d.-1)) : centred_basis B -> exists2 a, v = B *m a
    & J ε z *m B = B *m (r^-1 *: (1%:M + (- (d%:R * r ^+ 2)^-1 *: a) *m (B^T *m v)^T)).
  move=> Bb; have [|a va] := span B _ v Bb.
    by apply/vecP => i; rewrite ord1 -dotE dotC dot_ones_centred mxE.
  exists a => //; rewrite /J -/v -/r -rr -[in LHS]scalemxAl -[in RHS]scalemxAr; congr (r^-1 *: _).
  rewrite mulmxBl mulmxDr mulmx1 [(B^T *m v)^T]trmx_mul trmxK; congr (_ + _).
    rewrite /P mulmxBl mul1mx -scalemxAl -mulmxA -[ones^T *m B]trmxK trmx_mul trmxK (basis B Bb) trmx0 mulmx0.
    by rewrite scaler0 subr0.
  by rewrite -!scalemxAl -scalemxAr scaleNr !mulmxA -va.
have qE : variance z = r ^+ 2 - ε by rewrite rr addrK.
have rn := lt0r_neq0 r0.
have share (D : R) : D != 0 -> 1 - D * variance z / (D * r ^+ 2) = ε / r ^+ 2.
  by move=> Dn; rewrite qE; field; rewrite Dn rn.
have detM B M : centred_basis B -> J ε z *m B = B *m M -> \det M = ε / r ^+ d.+1.
  move=> Bb; have [a va ->] := JB B Bb => /(inj B _ _ Bb) <-.
  rewrite detZ det_one_plus dotZr dot_mulmx trmxK -va vv exprVn /= (_ : 1 + _ = ε / r ^+ 2).
    by rewrite mulrCA -invfM -exprD addn2.
  by rewrite mulNr [X in 1 - X]mulrC -(share d%:R).
have e1 : ε / r ^+ 3 = (ε / r ^+ 2) / r by rewrite exprSr invfM mulrA.
have range x : centred_eigenvalue (J ε z) x -> ε / r ^+ 3 <= x <= r^-1.
  move=> [w w0 [mw Jw]]; have ww : 0 < ⟨w, w⟩ by rewrite lt_def dot_eq0 w0 dot_ge0.
  have cs := cauchy_schwarz_sqr v w; rewrite vv in cs.
  have xE : x * ⟨w, w⟩ = r^-1 * (⟨w, w⟩ - ⟨v, w⟩ ^+ 2 / (d%:R * r ^+ 2)).
    by rewrite -dotZl -Jw J_mul -/v -/r -rr (centred_id mw) dotZl dotBl dotZl mulrAC -expr2.
  rewrite -[_ <= x](ler_pmul2r ww) -[x <= _](ler_pmul2r ww) xE e1; have D0 : 0 < d%:R * r ^+ 2 by rewrite mulr_gt0 ?ltr0n ?exprn_gt0.
  apply/andP; split; last first.
    by rewrite ler_pmul2l ?invr_gt0 // ler_subl_addr ler_addl divr_ge0 ?sqr_ge0 // ltW.
  rewrite [_ / r]mulrC -mulrA ler_pmul2l ?invr_gt0 // -(share d%:R) // mulrBl mul1r ler_add2l ler_opp2.
  by rewrite [X in _ <= X]mulrAC ler_pmul2r ?invr_gt0.
have [p0 pn] := pair_step_centred R m.
have small : centred_eigenvalue (J ε z) (ε / r ^+ 3).
  have [v0|v0] := eqVneq v 0; last first.
    exists v => //; split; first exact: mean_centred.
    rewrite J_mul -/v -/r centredK vv -rr -[X in X - _]scale1r -scalerBl scalerA; congr (_ *: _).
    by rewrite share // e1 mulrC.
  exists (pair_step R m) => //; split=> //.
  have q00 : variance z = 0 by apply/eqP; rewrite variance_eq0 -/v v0.
  rewrite J_mul -/v -/r v0 scaler0 subr0 (centred_id p0) e1 rr q00 add0r divff ?mul1r //.
  by move: q0; rewrite q00 add0r => /lt0r_neq0.
split.
- pose B := col_mx (const_mx (-1)) 1%:M : 'M[R]_(1 + d.-1, d.-1); exists B; split.
    have E : row_mx 0 1%:M *m B = 1%:M :> 'M[R]_d.-1 by rewrite mul_row_col mul0mx mul1mx add0r.
    by apply/eqP; rewrite eqn_leq rank_leq_col /=; have := mxrankM_maxr (row_mx 0 1%:M) B; rewrite E mxrank1.
  move=> j; have := @big_split_ord R 0 _ 1 d.-1 xpredT (fun i => col j B i 0); rewrite /mean => ->.
  rewrite big_ord1 mxE col_mxEu mxE (bigD1 j) //= mxE col_mxEd mxE eqxx big1 => [|i ij].
    by rewrite addr0 addNr mul0r.
  by rewrite mxE col_mxEd mxE (negPf ij).
- move=> B Bb; have [a _ E] := JB B Bb; eexists; first exact: E.
  by move=> M' H; apply: (inj B _ _ Bb); rewrite -H -E.
- by move=> B M Bb H; rewrite (detM B).
move=> ep; have en := lt0r_neq0 ep.
have big : (2 < d)%N -> centred_eigenvalue (J ε z) r^-1.
  move=> d2; have [v0|v0] := eqVneq v 0.
    exists (pair_step R m) => //; split=> //.
    by rewrite J_mul -/v -/r v0 scaler0 subr0 (centred_id p0).
  have [K [KE Kr]] := proj2 (eps_eigen_orthogonal ε z) v0.
  have /rowV0Pn[w wK w0] : K != 0 by rewrite -mxrank_eq0 Kr subn_eq0 -ltnNge.
  have wK' : (w^T^T <= K)%MS by rewrite trmxK.
  have [w1 wv] := proj1 (KE w^T) wK'.
  exists w^T; first by rewrite -trmx0 (inj_eq trmx_inj).
  split; first by move/eqP: w1; rewrite dot_ones_mean mulf_eq0 (negPf dn) => /eqP.
  exact: (proj1 (eps_eigen_orthogonal ε z) w^T w1 wv).
have two : d = 2%N -> forall x, centred_eigenvalue (J ε z) x -> x = ε / r ^+ 3.
  by move=> d2 x [w w0 [mw]]; rewrite (J_two d2 q0 mw) => /eqP; rewrite -subr_eq0 -scalerBl scaler_eq0 (negPf w0) orbF subr_eq0 => /eqP.
case: (ltnP 2 d) => d2.
  exists r^-1, (ε / r ^+ 3); split=> //; first exact: big.
  split=> // [_|H]; last by move: d2; rewrite H.
  by rewrite -rr !exprS; field; rewrite en gt_eqF.
exists (ε / r ^+ 3), (ε / r ^+ 3); have dd : d = 2%N by apply/eqP; rewrite eqn_leq d2.
by split=> // x /(two dd) ->; rewrite lexx.
Qed.
End Determinant.
