(* The statements of the page "Why it works". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon shift_invariance geometry.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* at d = 2 the centred vectors are a line *)
Lemma multiple_two (R : rcfType) m (z g : 'cV[R]_m.+1) : m.+1 = 2%N -> centred z != 0 ->
  exists c, centred g = c *: centred z.
Proof.
move=> [m1]; move: z g; rewrite m1 => z g; rewrite (centred_two g) (centred_two z) scaler_eq0 negb_or => /andP[s0 _].
by exists ((g 0 0 - g 1 0) / 2 / ((z 0 0 - z 1 0) / 2)); rewrite scalerA divfK.
Qed.

Section Gradients.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z g w : 'cV[R]_d) (ε c : R).

(* τ = q/(q + ε), r = 1/√(q + ε), a = mean(ĝ ⊙ u) and dz = Jĝ, where ĝ is γ ⊙ g, the gradient by the core *)
Definition share ε z : R := variance z / (variance z + ε).
Definition inv_root ε z : R := (√(variance z + ε))^-1.
Definition along ε z g : R := mean (g ⊙ core ε z).
Definition input_gradient ε z g : 'cV[R]_d := J ε z *m g.


Lemma inv_root_gt0 ε z : 0 < variance z + ε -> 0 < inv_root ε z.
Proof. by move=> q0; rewrite invr_gt0 sqrt_gt0. Qed.
Lemma share_ge0 ε z : 0 < variance z + ε -> 0 <= share ε z.
Proof. by move=> q0; rewrite divr_ge0 ?variance_ge0 ?(ltW q0). Qed.
Lemma share_le1 ε z : 0 <= ε -> 0 < variance z + ε -> share ε z <= 1.
Proof. by move=> e0 q0; rewrite ler_pdivr_mulr // mul1r ler_addl. Qed.
Lemma dot_along ε z g : ⟨P *m g, core ε z⟩ = d%:R * along ε z g.
Proof.
rewrite P_mul dot_centred centred_core /along /mean mulrC divfK ?d_neq0 //.
by apply: eq_bigr => i _; rewrite hadamardE.
Qed.
Lemma dot_share ε z : 0 < variance z + ε -> ⟨core ε z, core ε z⟩ = d%:R * share ε z.
Proof. by move=> q0; rewrite -sqr_norm sqr_norm_core // /share mulrA. Qed.
(* dz = r (Pĝ − a u) *)
Lemma input_gradientE ε z g : 0 < variance z + ε ->
  input_gradient ε z g = inv_root ε z *: (P *m g - along ε z g *: core ε z).
Proof.
move=> q0; rewrite /input_gradient J_mul P_mul -/(inv_root ε z); congr (_ *: (_ - _)); rewrite scalerA; congr (_ *: _).
have -> : ⟨centred z, g⟩ = √(variance z + ε) * (d%:R * along ε z g).
  by rewrite -(core_root q0) dotZl -dot_along P_mul dot_centred centred_core dotC.
move: (√_) (sqrt_neq0 q0) (sqrK (ltW q0)) => s sn <-; move: (d%:R : R) (d_neq0 R n) (along ε z g) => D Dn b.
by field; rewrite Dn sn.
Qed.
Lemma sqr_input_gradient ε z g : 0 < variance z + ε -> ‖input_gradient ε z g‖ ^+ 2
  = inv_root ε z ^+ 2 * (‖P *m g‖ ^+ 2 - d%:R * along ε z g ^+ 2 * (2 - share ε z)).
Proof.
move=> q0; have A := dot_along ε z g; have B := dot_share q0; rewrite input_gradientE //.
move: (core ε z) A B => w A B; rewrite !sqr_norm dotZl dotZr dot_sub !dotZr !dotZl A B.
by move: (⟨_, _⟩) => k; ring.
Qed.
(* how far Pĝ is from the line of u *)
Lemma gap ε z g : 0 < variance z + ε -> 0 < variance z ->
  share ε z * ‖P *m g‖ ^+ 2 - d%:R * along ε z g ^+ 2
  = share ε z * ‖P *m g - (along ε z g / share ε z) *: core ε z‖ ^+ 2.
Proof.
move=> q0 qp; have tn : share ε z != 0 by rewrite mulf_neq0 ?invr_eq0 ?gt_eqF.
have A := dot_along ε z g; have B := dot_share q0; move: (core ε z) A B => w A B.
by rewrite !sqr_norm dot_sub !dotZr !dotZl A B; move: (⟨_, _⟩) => k; field.
Qed.
Lemma gap_ge0 ε z g : 0 < variance z + ε -> d%:R * along ε z g ^+ 2 <= share ε z * ‖P *m g‖ ^+ 2.
Proof.
move=> q0; rewrite -subr_ge0; have := variance_ge0 z; rewrite le_eqVlt => /orP[/eqP q00|qp].
  have u0 : core ε z = 0 by apply/eqP; rewrite scaler_eq0 -variance_eq0 -q00 eqxx orbT.
  have a0 : along ε z g = 0 by rewrite /along u0 hadamard0 mean0.
  by rewrite a0 expr0n /= mulr0 subr0 mulr_ge0 ?share_ge0 ?sqr_ge0.
by rewrite gap // mulr_ge0 ?share_ge0 ?sqr_ge0.
Qed.
Lemma gap_eq0 ε z g : 0 < variance z + ε -> 0 < variance z ->
  d%:R * along ε z g ^+ 2 = share ε z * ‖P *m g‖ ^+ 2 <-> exists c, P *m g = c *: centred z.
Proof.
move=> q0 qp; have tn : share ε z != 0 by rewrite mulf_neq0 ?invr_eq0 ?gt_eqF.
have rn := lt0r_neq0 (inv_root_gt0 q0); split=> [H|[c cE]].
  have := gap g q0 qp; rewrite -H subrr => /esym/eqP.
  rewrite mulf_eq0 (negPf tn) sqrf_eq0 norm_eq0 subr_eq0 => /eqP ->.
  by exists (along ε z g / share ε z * inv_root ε z); rewrite /core scalerA.
have uE : P *m g = (c / inv_root ε z) *: core ε z by rewrite cE /core scalerA divfK.
have aE : along ε z g = c / inv_root ε z * share ε z.
  by apply: (mulfI (d_neq0 R n)); rewrite -dot_along uE dotZl dot_share // mulrCA.
by apply/eqP; rewrite eq_sym -subr_eq0 gap // uE aE mulfK // subrr norm0 expr0n /= mulr0.
Qed.

(* ‖dz‖² = r² (‖Pĝ‖² − d a² (2 − τ)) and ‖Pĝ‖² = ‖ĝ‖² − d mean(ĝ)²; (1 − τ) r ‖Pĝ‖ ≤ ‖dz‖ ≤ r ‖Pĝ‖ ≤ r ‖ĝ‖. For q > 0 the
   first is an equality if and only if Pĝ is a multiple of v, always at d = 2; the second if and only if a = 0; the third if
   and only if mean(ĝ) = 0 *)
Theorem why_length ε z g : 0 <= ε -> 0 < variance z + ε ->
  let r := inv_root ε z in let τ := share ε z in let a := along ε z g in let dz := input_gradient ε z g in
  [/\ ‖dz‖ ^+ 2 = r ^+ 2 * (‖P *m g‖ ^+ 2 - d%:R * a ^+ 2 * (2 - τ)),
      ‖P *m g‖ ^+ 2 = ‖g‖ ^+ 2 - d%:R * mean g ^+ 2,
      [/\ (1 - τ) * r * ‖P *m g‖ <= ‖dz‖, ‖dz‖ <= r * ‖P *m g‖ & r * ‖P *m g‖ <= r * ‖g‖]
    & 0 < variance z ->
      [/\ (1 - τ) * r * ‖P *m g‖ = ‖dz‖ <-> exists c, P *m g = c *: centred z,
          d = 2%N -> exists c, P *m g = c *: centred z,
          ‖dz‖ = r * ‖P *m g‖ <-> a = 0 & r * ‖P *m g‖ = r * ‖g‖ <-> mean g = 0]].
Proof.
move=> e0 q0; have S := sqr_input_gradient g q0; have r0 := inv_root_gt0 q0; have t0 := share_ge0 q0.
have t1 := share_le1 e0 q0.
have G := gap_ge0 g q0; have GE := gap_eq0 g q0.
move=> r τ a dz; rewrite -/r -/τ -/a -/dz in S r0 t0 t1 G GE.
have t2 : 0 < 2 - τ by rewrite subr_gt0 (le_lt_trans t1) // ltr1n.
have d0 := d_gt0 R n; have w0 := norm_ge0 (P *m g).
have Pyth : ‖P *m g‖ ^+ 2 = ‖g‖ ^+ 2 - d%:R * mean g ^+ 2 by rewrite !sqr_norm P_mul (pythagoras g) addrK.
have low : ‖dz‖ ^+ 2 - ((1 - τ) * r * ‖P *m g‖) ^+ 2 = r ^+ 2 * (2 - τ) * (τ * ‖P *m g‖ ^+ 2 - d%:R * a ^+ 2).
  by rewrite S; ring.
have l0 : 0 <= (1 - τ) * r * ‖P *m g‖ by rewrite !mulr_ge0 ?subr_ge0 ?(ltW r0).
have rw0 : 0 <= r * ‖P *m g‖ by rewrite mulr_ge0 ?(ltW r0).
have k0 : 0 < r ^+ 2 * (2 - τ) by rewrite mulr_gt0 ?exprn_gt0.
split=> //.
  split.
  - by apply: ler_of_sqr (norm_ge0 _) _; rewrite -subr_ge0 low mulr_ge0 ?(ltW k0) // subr_ge0.
  - apply: (ler_of_sqr rw0); rewrite S [X in _ <= X]exprMn; apply: ler_wpmul2l; first exact: sqr_ge0.
    by rewrite ler_subl_addr ler_addl; apply: mulr_ge0 (ltW t2); apply: mulr_ge0 (sqr_ge0 _); apply: ltW.
  - by rewrite ler_pmul2l // P_mul norm_centred_le.
move=> qp; split.
- rewrite -(GE qp); split=> H.
    by move: low; rewrite H subrr => /esym/eqP; rewrite mulf_eq0 (gt_eqF k0) /= subr_eq0 => /eqP.
  by apply: eqr_of_sqr (norm_ge0 _) _ => //; apply/eqP; rewrite eq_sym -subr_eq0 low H subrr mulr0.
- by move=> d2; rewrite P_mul; apply: multiple_two => //; rewrite -variance_gt0.
- have up : (r * ‖P *m g‖) ^+ 2 - ‖dz‖ ^+ 2 = r ^+ 2 * (2 - τ) * (d%:R * a ^+ 2) by rewrite S; ring.
  split=> [H|a0].
    move: up; rewrite H subrr => /esym/eqP; rewrite mulf_eq0 (gt_eqF k0) /= mulf_eq0 (gt_eqF d0) sqrf_eq0 => /eqP //.
  apply: eqr_of_sqr (norm_ge0 _) rw0 _; apply/eqP; rewrite eq_sym -subr_eq0 up a0 expr0n /= !mulr0 //.
- have drop : (r * ‖g‖) ^+ 2 - (r * ‖P *m g‖) ^+ 2 = r ^+ 2 * (d%:R * mean g ^+ 2).
    by rewrite [in LHS]exprMn [in X in _ - X]exprMn Pyth; ring.
  split=> [H|m0]; last by rewrite P_mul centred_id.
  move: drop; rewrite H subrr => /esym/eqP; rewrite mulf_eq0 sqrf_eq0 (gt_eqF r0) /= mulf_eq0 (gt_eqF d0) sqrf_eq0 => /eqP //.
Qed.

(* ⟨dz, rĝ⟩ = r² (‖Pĝ‖² − d a²) ≥ (1 − τ) r² ‖Pĝ‖² ≥ 0. So to first order a step of z along −rĝ never raises the loss. At ε = 0
   it leaves it as it is if and only if Pĝ is a multiple of v; ⟨rĝ, v⟩ = d a and ⟨rĝ, 1⟩ = d r mean(ĝ) *)
Theorem why_detached_descent ε z g : 0 <= ε -> 0 < variance z + ε ->
  let r := inv_root ε z in let τ := share ε z in let a := along ε z g in let dz := input_gradient ε z g in
  [/\ ⟨dz, r *: g⟩ = r ^+ 2 * (‖P *m g‖ ^+ 2 - d%:R * a ^+ 2),
      (1 - τ) * r ^+ 2 * ‖P *m g‖ ^+ 2 <= ⟨dz, r *: g⟩ /\ 0 <= (1 - τ) * r ^+ 2 * ‖P *m g‖ ^+ 2,
      forall ℓ, is_gradient ℓ z dz -> is_slope (fun t => ℓ (z + t *: - (r *: g))) 0 (- ⟨dz, r *: g⟩),
      ε = 0 -> (⟨dz, r *: g⟩ = 0 <-> exists c, P *m g = c *: centred z)
    & ⟨r *: g, centred z⟩ = d%:R * a /\ ⟨r *: g, ones⟩ = d%:R * r * mean g].
Proof.
move=> e0 q0; have D := input_gradientE g q0; have r0 := inv_root_gt0 q0; have t0 := share_ge0 q0.
have t1 := share_le1 e0 q0.
have G := gap_ge0 g q0; have GE := gap_eq0 g q0; have A := dot_along ε z g.
move=> r τ a dz; rewrite -/r -/τ -/a -/dz in D r0 t0 t1 G GE A.
have E : ⟨dz, r *: g⟩ = r ^+ 2 * (‖P *m g‖ ^+ 2 - d%:R * a ^+ 2).
  rewrite D dotZl dotZr dotBl dotZl sqr_norm.
  have -> : ⟨core ε z, g⟩ = d%:R * a by rewrite -A P_mul dot_centred centred_core dotC.
  by rewrite P_mul dot_centred2; move: (⟨_, _⟩) => k; ring.
split=> //.
- split; last by apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0 (sqr_ge0 _); rewrite subr_ge0.
  rewrite E -subr_ge0 [X in 0 <= X](_ : _ = r ^+ 2 * (τ * ‖P *m g‖ ^+ 2 - d%:R * a ^+ 2)); last by ring.
  by apply: mulr_ge0 (sqr_ge0 _) _; rewrite subr_ge0.
- move=> ℓ /gradient_derivative H; rewrite -dotNr dotE.
  by apply: slope_ext (derivative_line (- (r *: g)) 0 H) => t; rewrite mxE mulr1n.
- move=> ε0; have qp : 0 < variance z by move: q0; rewrite ε0 addr0.
  rewrite -(GE qp) E; have -> : τ = 1 by rewrite /τ /share ε0 addr0 divff // gt_eqF.
  rewrite mul1r; split=> [/eqP|->]; last by rewrite subrr mulr0.
  by rewrite mulf_eq0 sqrf_eq0 (gt_eqF r0) /= subr_eq0 eq_sym => /eqP.
- split; last by rewrite dotZl dotC dot_ones_mean mulrCA mulrA.
  rewrite dotZl -A P_mul dot_centred centred_core dotZr -/r dotC.
  by [].
Qed.
End Gradients.
