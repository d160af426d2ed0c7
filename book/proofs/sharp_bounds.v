(* The statements of the page "Sharp bounds". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon bias geometry sensitivity.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* ---- Lipschitz constants and derivatives ---- *)
Section Lipschitz.
Variables (R : rcfType) (m n : nat).
Implicit Types (f : 'cV[R]_n -> 'cV[R]_m) (A : 'M[R]_(m, n)) (z h : 'cV[R]_n) (c : R).

(* a Lipschitz constant of f bounds its derivative, everywhere *)
Lemma lipschitz_derivative f z A c : is_derivative f z A -> lipschitz f c -> operator_bound A c.
Proof.
move=> fA fc h; have [->|h0] := eqVneq h 0; first by rewrite mulmx0 !norm0 mulr0.
have hp : 0 < ‖h‖ by rewrite norm_gt0.
apply/ler_addgt0Pr => η η0; have [δ δ0 H] := fA (η / ‖h‖) (divr_gt0 η0 hp).
set t := δ / ‖h‖; have t0 : 0 < t by rewrite divr_gt0.
have tn : ‖t *: h‖ = t * ‖h‖ by rewrite normZ gtr0_norm.
have {}H : ‖f (z + t *: h) - f z - A *m (t *: h)‖ <= η / ‖h‖ * ‖t *: h‖.
  by apply: H; rewrite tn /t divfK ?gt_eqF.
rewrite -(ler_pmul2l t0) -{1}(gtr0_norm t0) -normZ scalemxAr.
have -> : A *m (t *: h) = (f (z + t *: h) - f z) - (f (z + t *: h) - f z - A *m (t *: h)) by rewrite opprB addrC subrK.
apply: le_trans (norm_triangle _ _) _; rewrite normN mulrDr; apply: ler_add.
  by apply: le_trans (fc _ _) _; rewrite [z + _]addrC addrK tn mulrCA.
by apply: le_trans H _; rewrite tn mulrCA divfK ?gt_eqF.
Qed.

(* if f has the constant c, and its derivative somewhere stretches a step c times, c is the least constant *)
Lemma best_from_derivative f z A h c : lipschitz f c -> is_derivative f z A -> h != 0 -> ‖A *m h‖ = c * ‖h‖ ->
  best_lipschitz f c.
Proof.
move=> fc fA h0 Ah; split=> // c' /(lipschitz_derivative fA)/(_ h); rewrite Ah ler_pmul2r //.
by rewrite norm_gt0.
Qed.
Lemma best_of_operator_norm f z A c : lipschitz f c -> is_derivative f z A -> is_operator_norm A c ->
  best_lipschitz f c.
Proof. by move=> fc fA [_ least]; split=> // c' /(lipschitz_derivative fA)/least. Qed.
Lemma best_unique f c c' : best_lipschitz f c -> best_lipschitz f c' -> c = c'.
Proof. by move=> [fc lc] [fc' lc']; apply/le_anti; rewrite lc // lc'. Qed.
Lemma operator_norm_unique A c c' : is_operator_norm A c -> is_operator_norm A c' -> c = c'.
Proof. by move=> [fc lc] [fc' lc']; apply/le_anti; rewrite lc // lc'. Qed.
End Lipschitz.

Section Page.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z h x y γ β : 'cV[R]_d) (ε c L N : R).

Lemma derivative_layer ε γ β z : 0 < variance z + ε -> is_derivative (layer_norm ε γ β) z (diag γ *m J ε z).
Proof. exact: (proj1 (bias_input_jacobian ε γ β β z z)). Qed.
Lemma operator_norm_ge0 (A : 'M[R]_d) c : operator_bound A c -> 0 <= c.
Proof.
move/(_ ones)/(le_trans (norm_ge0 _)); rewrite pmulr_lge0 // norm_gt0.
by rewrite -dot_eq0 dot_ones_ones d_neq0.
Qed.
Lemma layer_step ε γ β x y : layer_norm ε γ β x - layer_norm ε γ β y = diag γ *m P *m (core ε x - core ε y).
Proof. by rewrite layer_norm_sub -mulmxA P_mul diag_mul centredB !centred_core. Qed.

(* For d ≥ 2 and ε > 0 the least Lipschitz constant of the full layer is ‖diag(γ)P‖₂/√ε, the norm of the Jacobian at every
   constant input; if not all gains are 0, the amplification of every step is below it *)
Theorem sharp_lipschitz ε γ β c : 0 < ε -> is_operator_norm (diag γ *m P) c ->
  [/\ best_lipschitz (layer_norm ε γ β) (c / √ε),
      forall a : R, let z := a *: ones in
        is_derivative (layer_norm ε γ β) z (diag γ *m J ε z) /\ is_operator_norm (diag γ *m J ε z) (c / √ε)
    & γ != 0 -> forall z h, h != 0 -> ‖layer_norm ε γ β (z + h) - layer_norm ε γ β z‖ / ‖h‖ < c / √ε].
Proof.
move=> e0 [cA least]; have s0 := sqrt_gt0 e0; have si : 0 < (√ε)^-1 by rewrite invr_gt0.
have c0 := operator_norm_ge0 cA.
have lip : lipschitz (layer_norm ε γ β) (c / √ε).
  move=> x y; rewrite layer_step; apply: le_trans (cA _) _; rewrite -mulrA ler_wpmul2l //.
  exact: eps_lipschitz.
have at_constant (a : R) : let z := a *: ones in
    is_derivative (layer_norm ε γ β) z (diag γ *m J ε z) /\ is_operator_norm (diag γ *m J ε z) (c / √ε).
  move=> z; split; first by apply: derivative_layer; apply: variance_eps.
  rewrite (proj1 (eps_jacobian_constant m.+1 ε a)) -scalemxAr; split=> [h|c' H].
    by rewrite -scalemxAl normZ gtr0_norm // [leRHS]mulrAC [leRHS]mulrC ler_pmul2l.
  rewrite ler_pdivr_mulr //; apply: least => h; have := H h.
  by rewrite -scalemxAl normZ gtr0_norm // mulrC ler_pdivr_mulr // mulrAC.
have [D0 N0] := at_constant 0; split=> // [|γ0 z h h0]; first exact: best_of_operator_norm lip D0 N0.
have cp : 0 < c.
  rewrite lt_def c0 andbT; apply/eqP => cz; move/eqP: γ0; apply; apply/vecP => i; rewrite mxE.
  have [j ji] : exists j : 'I_d, j != i.
    by case: (eqVneq i 0) => [->|i0]; [exists 1|exists 0; rewrite eq_sym].
  pose p : 'cV[R]_d := delta_mx i 0 - delta_mx j 0.
  have pc : mean p = 0.
    rewrite meanB /mean; have S (k : 'I_d) : \sum_l (delta_mx k 0 : 'cV[R]_d) l 0 = 1.
      by rewrite (bigD1 k) //= big1 => [|l lk]; rewrite !mxE ?eqxx ?addr0 // (negPf lk).
    by rewrite !S subrr.
  have := cA p; rewrite cz mul0r -mulmxA P_mul centred_id // diag_mul.
  rewrite le_eqVlt ltNge norm_ge0 orbF norm_eq0 => /eqP/vecP/(_ i).
  by rewrite !mxE eqxx (eq_sym i j) (negPf ji) subr0 mulr1.
have hp : 0 < ‖h‖ by rewrite norm_gt0.
rewrite ltr_pdivr_mulr // layer_step; apply: le_lt_trans (cA _) _; rewrite -mulrA ltr_pmul2l //.
exact: core_step_lt.
Qed.

End Page.

Section Coordinates.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z h x y γ β : 'cV[R]_d) (ε c L N : R).

(* For d ≥ 2 the least constant with |y_i(a) − y_i(b)| ≤ L_i ‖a − b‖ is |γ_i| √((1 − 1/d)/ε) *)
Theorem sharp_coordinate ε γ β (i : 'I_d) : 0 < ε ->
  let bounds L := forall a b, `|layer_norm ε γ β a i 0 - layer_norm ε γ β b i 0| <= L * ‖a - b‖ in
  let L := `|γ i 0| * √((1 - d%:R^-1) / ε) in bounds L /\ forall L', bounds L' -> L <= L'.
Proof.
move=> e0 bounds L; have s0 := sqrt_gt0 e0; pose e : 'cV[R]_d := delta_mx i 0.
have dot_e x : ⟨e, x⟩ = x i 0.
  rewrite /dot (bigD1 i) //= big1 => [|j ji]; rewrite !mxE ?eqxx ?mul1r ?addr0 //.
  by rewrite (negPf ji) mul0r.
have me : mean e = d%:R^-1.
  by rewrite mean_dot dotC dot_e onesE mul1r.
have Pe : ⟨centred e, centred e⟩ = 1 - d%:R^-1.
  by rewrite dot_centred2 dotC dot_e centredE me /e mxE !eqxx.
have d1 : 0 < 1 - d%:R^-1 :> R by rewrite subr_gt0 invf_lt1 ?ltr1n ?ltr0n.
have nPe : ‖centred e‖ = √(1 - d%:R^-1) by rewrite /norm Pe.
have LE : L = `|γ i 0| * (‖centred e‖ * (√ε)^-1) by rewrite /L sqrt_div ?(ltW d1) // nPe.
have diff a b : `|layer_norm ε γ β a i 0 - layer_norm ε γ β b i 0| = `|γ i 0| * `|⟨centred e, core ε a - core ε b⟩|.
  rewrite dot_centred centredB !centred_core dot_e !layer_normE -normrM; congr (`|_|); rewrite !mxE; ring.
split=> [a b|L' H].
  rewrite diff LE -!mulrA ler_wpmul2l //; apply: le_trans (cauchy_schwarz _ _) _.
  by rewrite ler_wpmul2l ?norm_ge0 //; exact: eps_lipschitz.
apply/ler_addgt0Pr => η η0; have q0 : 0 < variance (0 : 'cV[R]_d) + ε by exact: variance_eps.
have p0 : 0 < ‖centred e‖ by rewrite nPe sqrt_gt0.
have := derivative_line (centred e) i (derivative_layer γ β q0).
have -> : (diag γ *m J ε 0 *m centred e) i 0 = γ i 0 * (√ε)^-1 * (1 - d%:R^-1).
  rewrite -mulmxA diag_mul hadamardE -(scale0r ones) (proj2 (eps_jacobian_constant m.+1 ε 0)) ?mean_centred //.
  by rewrite mxE centredE me /e mxE !eqxx mulrA.
set k := 1 - d%:R^-1 in d1 nPe Pe *; move/(_ (η * ‖centred e‖) (mulr_gt0 η0 p0)) => [δ δ0 /(_ δ)].
rewrite !add0r scale0r (gtr0_norm δ0) => /(_ (lexx _)) D.
have := H (δ *: centred e) 0; rewrite subr0 normZ (gtr0_norm δ0) => {}H.
have {}D : `|γ i 0 / √ε * k| * δ <= (L' + η) * (δ * ‖centred e‖).
  rewrite -{1}(gtr0_norm δ0) -normrM mulrDl.
  have -> : γ i 0 / √ε * k * δ = (layer_norm ε γ β (δ *: centred e) i 0 - layer_norm ε γ β 0 i 0)
     - (layer_norm ε γ β (δ *: centred e) i 0 - layer_norm ε γ β 0 i 0 - γ i 0 / √ε * k * δ).
    by rewrite opprB addrC subrK.
  apply: le_trans (ler_norm_sub _ _) (ler_add H _); apply: le_trans D _.
  by rewrite -mulrA (mulrC δ).
move: D; rewrite mulrCA [_ * δ]mulrC ler_pmul2l // normrM normrM (gtr0_norm d1) (gtr0_norm (_ : 0 < (√ε)^-1)) ?invr_gt0 //.
have -> : k = ‖centred e‖ * ‖centred e‖ by rewrite -expr2 nPe sqrK ?ltW.
by rewrite mulrA ler_pmul2r // LE mulrA mulrAC.
Qed.
End Coordinates.

Section Residual.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z h x y γ β : 'cV[R]_d) (ε c s L N : R).

Lemma residual_subtracted ε s x y : 0 < ε -> 0 <= s ->
  ‖(x + - s *: core ε x) - (y + - s *: core ε y)‖ <= Num.max 1 (s / √ε - 1) * ‖x - y‖.
Proof.
move=> e0 s0; have r0 := sqrt_gt0 e0; set M := Num.max _ _.
have M1 : 1 <= M by rewrite le_maxr lexx.
have M0 : 0 <= M := le_trans ler01 M1.
have [_ _ _ /(_ x y)/andP[_ co] _] := @gradient_map R m.+1 ε e0.
have lip := eps_lipschitz e0 x y; move: co lip; set U := core ε x - core ε y; set D := x - y => co lip.
have -> : x + - s *: core ε x - (y + - s *: core ε y) = D - s *: U.
  by rewrite /D /U; move: (core ε x) (core ε y) => a b; apply/vecP => i; rewrite !mxE /=; ring.
rewrite norm_le_norm // dot_sub dotZl !dotZr -!sqr_norm (dotC D U).
have U0 := sqr_ge0 (‖U‖); have D0 := sqr_ge0 (‖D‖).
have step : ‖D‖ ^+ 2 - (s * ⟨U, D⟩) *+ 2 + s * (s * ‖U‖ ^+ 2) <= ‖D‖ ^+ 2 + s * (s - 2 * √ε) * ‖U‖ ^+ 2.
  rewrite -subr_ge0; move: (⟨U, D⟩) (‖U‖ ^+ 2) (‖D‖ ^+ 2) (√ε) co => k b a r co.
  have -> : a + s * (s - 2 * r) * b - (a - (s * k) *+ 2 + s * (s * b)) = 2 * (s * (k - r * b)) by ring.
  by rewrite mulr_ge0 ?ler0n // mulr_ge0 // subr_ge0.
apply: le_trans step _; have [s2|s2] := lerP s (2 * √ε).
  apply: (@le_trans _ _ (‖D‖ ^+ 2)).
    by rewrite ger_addl mulr_le0_ge0 // mulr_ge0_le0 // subr_le0.
  by rewrite ler_pemull // exprn_ege1.
have UD : ‖U‖ ^+ 2 <= ‖D‖ ^+ 2 / ε.
  apply: (@le_trans _ _ (((√ε)^-1 * ‖D‖) ^+ 2)); last by rewrite exprMn exprVn sqrK ?(ltW e0) // mulrC.
  by rewrite ler_pexpn2r ?nnegrE ?norm_ge0 ?mulr_ge0 ?norm_ge0 ?invr_ge0 ?(ltW r0).
apply: (@le_trans _ _ (‖D‖ ^+ 2 + s * (s - 2 * √ε) * (‖D‖ ^+ 2 / ε))).
  by rewrite ler_add2l ler_wpmul2l // mulr_ge0 // subr_ge0 ltW.
have eE := sqrK (ltW e0); have rn : √ε != 0 by rewrite gt_eqF.
rewrite (_ : _ + _ = (s / √ε - 1) ^+ 2 * ‖D‖ ^+ 2); last first.
  by rewrite -[X in _ / X]eE; field; rewrite rn.
have sM : s / √ε - 1 <= M by rewrite le_maxr lexx orbT.
have s1 : 0 <= s / √ε - 1.
  by rewrite subr_ge0 ler_pdivl_mulr // mul1r (le_trans _ (ltW s2)) // ler_pemull ?(ltW r0) // ler1n.
by rewrite ler_wpmul2r // !expr2 ler_pmul.
Qed.

(* For d ≥ 2 and a number s, the least Lipschitz constant of z ↦ z + s u(z) is 1 + s/√ε if s ≥ 0, and the larger of 1 and
   |s|/√ε − 1 if s < 0 *)
Theorem sharp_residual ε s : 0 < ε ->
  let f z := z + s *: core ε z in
  (0 <= s -> best_lipschitz f (1 + s / √ε)) /\ (s < 0 -> best_lipschitz f (Num.max 1 (`|s| / √ε - 1))).
Proof.
move=> e0 f; have r0 := sqrt_gt0 e0; have [p0 pn] := pair_step_centred R m.
have q0 : 0 < variance (0 : 'cV[R]_d) + ε := variance_eps _ e0.
have Did : is_derivative (fun x : 'cV[R]_d => x) 0 1%:M.
  by apply: derivative_ext (derivative_affine 1%:M 0 0) => x; rewrite mul1mx addr0.
have Ds : is_derivative (fun x : 'cV[R]_d => s *: core ε x) 0 (s *: J ε 0).
  have := derivative_comp (derivative_affine s%:M 0 (core ε 0)) (proj1 (eps_jacobian q0)); rewrite mul_scalar_mx.
  by apply: derivative_ext => x; rewrite addr0 mul_scalar_mx.
have D : is_derivative f 0 (1%:M + s *: J ε 0) := derivative_add Did Ds.
have Dp : (1%:M + s *: J ε 0) *m pair_step R m = (1 + s / √ε) *: pair_step R m.
  rewrite mulmxDl mul1mx -scalemxAl -{1}(scale0r ones) (proj2 (eps_jacobian_constant m.+1 ε 0)) // scalerA.
  by rewrite scalerDl scale1r.
have D1 : (1%:M + s *: J ε (0 : 'cV[R]_d)) *m (ones : 'cV[R]_d) = ones.
  by rewrite mulmxDl mul1mx -scalemxAl eps_eigen_shift scaler0 addr0.
have on : ones != 0 :> 'cV[R]_d by rewrite -dot_eq0 dot_ones_ones d_neq0.
split=> s0.
  apply: best_from_derivative D pn _; last first.
    by rewrite Dp normZ ger0_norm // addr_ge0 ?ler01 // divr_ge0 // ltW.
  move=> x y; rewrite /f opprD addrACA -scalerBr; apply: le_trans (norm_triangle _ _) _.
  rewrite mulrDl mul1r ler_add2l normZ ger0_norm // -mulrA ler_wpmul2l //; exact: eps_lipschitz.
have lip : lipschitz f (Num.max 1 (`|s| / √ε - 1)).
  move=> x y; have := @residual_subtracted ε `|s| x y e0 (normr_ge0 s).
  by rewrite ltr0_norm // opprK.
have [small|big] := lerP (`|s| / √ε - 1) 1.
  by rewrite max_l // in lip *; apply: best_from_derivative lip D on _; rewrite D1 mul1r.
rewrite max_r ?(ltW big) // in lip *; apply: best_from_derivative lip D pn _.
move: big; rewrite (ltr0_norm s0) mulNr => big; rewrite Dp normZ ltr0_norm; first by rewrite opprD addrC.
by rewrite -oppr_gt0 opprD addrC; apply: lt_trans ltr01 big.
Qed.

Lemma norm_equal_gains k (γ : 'cV[R]_k) c (x : 'cV[R]_k) : 0 < c -> (forall i, `|γ i 0| = c) -> ‖γ ⊙ x‖ = c * ‖x‖.
Proof.
move=> c0 γc; have E : ⟨γ ⊙ x, γ ⊙ x⟩ = c ^+ 2 * ⟨x, x⟩.
  rewrite /dot mulr_sumr; apply: eq_bigr => i _; rewrite !hadamardE -(γc i) real_normK ?num_real //; ring.
by rewrite /norm E sqrtrM ?sqr_ge0 // sqrtr_sqr gtr0_norm.
Qed.
Lemma operator_norm_gains k (A : 'M[R]_k) (γ : 'cV[R]_k) c N : 0 < c -> (forall i, `|γ i 0| = c) -> is_operator_norm A N ->
  is_operator_norm (diag γ *m A) (c * N).
Proof.
move=> c0 γc [AN least]; split=> [h|N' H].
  by rewrite -mulmxA diag_mul (norm_equal_gains _ c0 γc) -mulrA ler_pmul2l.
rewrite mulrC -ler_pdivl_mulr //; apply: least => h.
by have := H h; rewrite -mulmxA diag_mul (norm_equal_gains _ c0 γc) mulrC -ler_pdivl_mulr // mulrAC.
Qed.
End Residual.

(* With gains of one size, |γ_i| = c > 0, the bound is √(1 + q/ε) times the actual norm of the Jacobian for d ≥ 3, and
   (1 + q/ε)^(3/2) times for d = 2 *)
Theorem sharp_typical (R : rcfType) (ε c : R) : 0 < ε -> 0 < c ->
  (forall m (γ β z : 'cV[R]_m.+3) L N, (forall i, `|γ i 0| = c) ->
     best_lipschitz (layer_norm ε γ β) L -> is_operator_norm (diag γ *m J ε z) N -> L = √(1 + variance z / ε) * N)
  /\ forall (γ β z : 'cV[R]_2) L N, (forall i, `|γ i 0| = c) ->
     best_lipschitz (layer_norm ε γ β) L -> is_operator_norm (diag γ *m J ε z) N ->
       L = √(1 + variance z / ε) ^+ 3 * N.
Proof.
move=> e0 c0; have s0 := sqrt_gt0 e0; have sn : √ε != 0 by rewrite gt_eqF.
have bound m (γ β : 'cV[R]_m.+2) L : (forall i, `|γ i 0| = c) -> best_lipschitz (layer_norm ε γ β) L -> L = c / √ε.
  move=> γc bL; apply: (best_unique bL); have [JN _ _ _ _] := eps_attained m 0 e0.
  have q0 : 0 < variance (0 *: ones : 'cV[R]_m.+2) + ε := variance_eps _ e0.
  apply: best_of_operator_norm (derivative_layer γ β q0) (operator_norm_gains c0 γc JN) => x y.
  by rewrite layer_norm_sub (norm_equal_gains _ c0 γc) -mulrA ler_pmul2l //; apply: eps_lipschitz.
have root m (z : 'cV[R]_m.+1) : √(1 + variance z / ε) = √(variance z + ε) / √ε.
  by rewrite -sqrt_div ?(ltW (variance_eps z e0)) //; congr (√_); field; rewrite gt_eqF.
have [_ N2 N3 _] := eps_norm_by_dimension (ltW e0).
split=> [m γ β z L N γc /(bound _ _ _ _ γc) -> HN|γ β z L N γc /(bound _ _ _ _ γc) -> HN].
  have q0 := variance_eps z e0; have rn := sqrt_neq0 q0.
  rewrite (operator_norm_unique HN (operator_norm_gains c0 γc (N3 _ _ q0))) root.
  by move: (√(variance z + ε)) rn => r rn; field; rewrite rn sn.
have q0 := variance_eps z e0; have rn := sqrt_neq0 q0.
rewrite (operator_norm_unique HN (operator_norm_gains c0 γc (N2 _ q0))) root.
have := sqrK (ltW e0); move: (√(variance z + ε)) rn (√ε) sn => r rn t tn <-.
by field; rewrite rn tn.
Qed.

(* For γ = (1, 2, 3) the exact constant is √(7/ε), while max |γ_i|/√ε is 3/√ε; at a constant input the Jacobian
   multiplies the direction (−1, −2, 3) by it *)
Lemma three_gains (R : rcfType) (h : 'cV[R]_3) : ‖vec [:: 1; 2; 3] ⊙ centred h‖ <= √7 * ‖h‖.
Proof.
have r7 : 0 <= √7 :> R := sqrtr_ge0 _.
apply: (@le_trans _ _ (√7 * ‖centred h‖)); last by rewrite ler_wpmul2l // norm_centred_le.
rewrite norm_le_norm // sqrK ?ler0n //; have := mean_centred h; move: (centred h) => w /sum0_mean.
rewrite /dot !big_ord_recl !big_ord0 !hadamardE !mxE /=.
move: (w _ 0) (w _ 0) (w _ 0) => a b c; rewrite !addr0 => s0.
have aE : a = - (c + b) by apply/eqP; rewrite -addr_eq0 addrC -addrA s0.
rewrite aE -subr_ge0 (_ : _ - _ = (2 * c - b) ^+ 2); last by ring.
exact: sqr_ge0.
Qed.
Theorem sharp_example (R : rcfType) (ε c : R) (β : 'cV[R]_3) : 0 < ε ->
  let γ : 'cV[R]_3 := vec [:: 1; 2; 3] in let h : 'cV[R]_3 := vec [:: -1; -2; 3] in
  [/\ best_lipschitz (layer_norm ε γ β) √(7 / ε), max_abs γ / √ε = 3 / √ε
    & is_derivative (layer_norm ε γ β) (c *: ones) (diag γ *m J ε (c *: ones))
      /\ ‖diag γ *m J ε (c *: ones) *m h‖ = √(7 / ε) * ‖h‖].
Proof.
move=> e0 γ h; have s0 := sqrt_gt0 e0; have si : 0 < (√ε)^-1 by rewrite invr_gt0.
have q0 : 0 < variance (c *: ones : 'cV[R]_3) + ε := variance_eps _ e0.
have LE : √(7 / ε) = √7 / √ε :> R by rewrite sqrt_div ?ler0n.
have mh : mean h = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have Jh : ‖diag γ *m J ε (c *: ones) *m h‖ = √(7 / ε) * ‖h‖.
  rewrite -mulmxA (proj2 (eps_jacobian_constant 2 ε c)) // -scalemxAr normZ gtr0_norm // LE mulrAC mulrC.
  congr (_ * _); rewrite diag_mul /norm -sqrtrM ?ler0n //; congr (√_).
  by rewrite /dot !big_ord_recl !big_ord0 !hadamardE !mxE /=; ring.
have hn : h != 0 by apply/eqP => /vecP/(_ 0)/eqP; rewrite !mxE /= oppr_eq0 oner_eq0.
have D := derivative_layer γ β q0.
split=> //; first apply: best_from_derivative D hn Jh => x y.
  rewrite LE layer_norm_sub (_ : core ε x - core ε y = centred (core ε x - core ε y)); last first.
    by rewrite centredB !centred_core.
  by apply: le_trans (three_gains _) _; rewrite -mulrA ler_wpmul2l ?sqrtr_ge0 //; apply: eps_lipschitz.
congr (_ / _); apply/le_anti/andP; split; last first.
  by have := max_abs_ge γ (lift 0 (lift 0 0)); rewrite mxE /= ger0_norm ?ler0n.
apply: max_abs_le => [|i]; first by rewrite ler0n.
by case: i => [[|[|[|k]]] //= i]; rewrite mxE /= ger0_norm ?ler0n ?ler_nat ?ler01 // -[X in X <= _]/(1%:R) ler_nat.
Qed.

(* ---- how far the Jacobian can be trusted ---- *)
Section TrustNumbers.
Variable R : rcfType.
Implicit Types (a b s t x y S : R).

Lemma quadratic_ge0 a b c y : 0 < a -> 0 <= 4 * a * c - b ^+ 2 -> 0 <= a * y ^+ 2 + b * y + c.
Proof.
move=> a0 D; have a4 : 0 < 4 * a by rewrite mulr_gt0 ?ltr0n.
rewrite -(pmulr_rge0 _ a4).
rewrite (_ : 4 * a * (a * y ^+ 2 + b * y + c) = (2 * a * y + b) ^+ 2 + (4 * a * c - b ^+ 2)); last by ring.
by rewrite addr_ge0 ?sqr_ge0.
Qed.

(* the polynomial inequality behind the constant; S stands for √5 √(1 + x²), and x = y = 1/2,
  S = 5/2 is the one equality *)
Lemma trust_polynomial x y S : 0 <= x -> 0 <= y -> 2 + x <= S -> S <= x ^+ 2 + 9 / 4 ->
  0 <= 24 / 25 * (1 + x ^+ 2) ^+ 2 * (1 + y ^+ 2)
     + S * (24 / 125 * (1 + x ^+ 2) * (1 + x * y) * (2 + y) - (x + y)) - x * (2 + y).
Proof.
move=> x0 y0 S1 S2; have x2 : 0 < 1 + x ^+ 2 by rewrite ltr_paddr ?sqr_ge0 ?ltr01.
have n (k : nat) : 0 <= k%:R :> R := ler0n _ _.
have pw k : 0 <= x ^+ k by rewrite exprn_ge0.
set br := _ - (x + y); have [br0|br0] := lerP 0 br.
  apply: (@le_trans _ _ (24 / 25 * (1 + x ^+ 2) ^+ 2 * (1 + y ^+ 2) + (2 + x) * br - x * (2 + y))); last first.
    by rewrite ler_add2r ler_add2l ler_wpmul2r.
  rewrite /br (_ : _ - _ = (24 / 125 * (1 + x ^+ 2) * (6 * x ^+ 2 + 2 * x + 5)) * y ^+ 2
     + ((2 + x) * (24 / 125 * (1 + x ^+ 2) * (1 + 2 * x) - 1) - x) * y
     + (24 / 25 * (1 + x ^+ 2) ^+ 2 + (2 + x) * (48 / 125 * (1 + x ^+ 2) - x) - 2 * x)); last by field.
  apply: quadratic_ge0.
    apply: mulr_gt0; first by rewrite mulr_gt0 ?divr_gt0 ?ltr0n.
    by rewrite ltr_paddl ?ltr0n // addr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n.
  rewrite (_ : _ - _ = 4 * (2 * x - 1) ^+ 2 * (4176 * x ^+ 6 + 2208 * 3 * x ^+ 5 + 2244 * 9 * x ^+ 4 + 2187 * 4 * x ^+ 3
     + 2971 * 9 * x ^+ 2 + 979 * 6 * x + 1429 * 11) / 5 ^+ 6); last by field.
  apply: divr_ge0; last by rewrite exprn_ge0 ?ler0n.
  by apply: mulr_ge0; [rewrite mulr_ge0 ?sqr_ge0 ?ler0n|rewrite !addr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n].
have x3 : x <= 3.
  rewrite leNgt; apply/negP => x3; move: br0; rewrite ltNge => /negP; apply; rewrite /br subr_ge0.
  have x9 : 10 <= 1 + x ^+ 2.
    by rewrite (_ : 10 = 1 + 3 ^+ 2); [rewrite ler_add2l ler_pexpn2r ?nnegrE ?ler0n ?(ltW x3)|ring].
  rewrite -subr_ge0 (_ : _ - _ = 24 / 125 * (1 + x ^+ 2) * x * y * (y + 2)
     + (48 / 125 * (x - 3) ^+ 2 + 163 / 125 * (x - 3) + 21 / 25) + (24 / 125 * (1 + x ^+ 2 - 10) + 115 / 125) * y);
       last by field.
  have q k : 0 <= k%:R / 125 :> R by rewrite divr_ge0 ?ler0n.
  have xs : 0 <= x - 3 by rewrite subr_ge0 ltW.
  apply: addr_ge0; [apply: addr_ge0|].
  - by do ?apply: mulr_ge0; rewrite ?addr_ge0 ?invr_ge0 ?ler0n ?ler01 ?sqr_ge0.
  - apply: addr_ge0; [apply: addr_ge0; apply: mulr_ge0; rewrite ?sqr_ge0 //; exact: q|by rewrite divr_ge0 ?ler0n].
  - apply: mulr_ge0 => //; apply: addr_ge0 (q 115%N); apply: mulr_ge0 (q 24%N) _; by rewrite subr_ge0.
apply: (@le_trans _ _ (24 / 25 * (1 + x ^+ 2) ^+ 2 * (1 + y ^+ 2) + (x ^+ 2 + 9 / 4) * br - x * (2 + y))); last first.
  by rewrite ler_add2r ler_add2l ler_wnmul2r // ltW.
rewrite /br (_ : _ - _ = (6 / 125 * (1 + x ^+ 2) * (4 * x ^+ 3 + 20 * x ^+ 2 + 9 * x + 20)) * y ^+ 2
     + ((x ^+ 2 + 9 / 4) * (24 / 125 * (1 + x ^+ 2) * (1 + 2 * x) - 1) - x) * y
     + (24 / 25 * (1 + x ^+ 2) ^+ 2 + (x ^+ 2 + 9 / 4) * (48 / 125 * (1 + x ^+ 2) - x) - 2 * x)); last by field.
apply: quadratic_ge0.
  apply: mulr_gt0; first by rewrite mulr_gt0 ?divr_gt0 ?ltr0n.
  by rewrite ltr_paddl ?ltr0n // !addr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n.
rewrite (_ : _ - _ = (2 * x - 1) ^+ 2 * (3072 * 3 * (5 - x) * x ^+ 7 + 2716 * 96 * x ^+ 6 + 3740 * 96 * x ^+ 5
   + 96 * (13 * 1000 + 99) * x ^+ 4 + 1648 * 330 * x ^+ 3 + (1795 * 1000 + 436) * x ^+ 2 + (283 * 1000 + 380) * x
   + (924 * 1000 + 759)) / (250 * 1000)); last by field.
have x5 : 0 <= 5 - x by rewrite subr_ge0 (le_trans x3) // ler_nat.
move: (5 - x) x5 => w w0.
have k (i j : nat) : 0 <= i%:R * 1000 + j%:R :> R by rewrite addr_ge0 ?mulr_ge0 ?ler0n.
apply: divr_ge0; last by rewrite mulr_ge0 ?ler0n.
apply: mulr_ge0; first exact: sqr_ge0.
have m (c : R) i : 0 <= c -> 0 <= c * x ^+ i by move=> c0; rewrite mulr_ge0.
have t2 (i j : nat) : 0 <= i%:R * j%:R :> R by rewrite mulr_ge0 ?ler0n.
apply: addr_ge0 (k _ _); apply: addr_ge0; last by rewrite mulr_ge0 ?k.
apply: addr_ge0; last exact/m/k.
apply: addr_ge0; last exact/m/t2.
apply: addr_ge0; last by apply: m; apply: mulr_ge0 (k _ _); rewrite ler0n.
apply: addr_ge0; last exact/m/t2.
by apply: addr_ge0; [apply: m; apply: mulr_ge0 (t2 _ _) w0|exact/m/t2].
Qed.

(* with s = √(1 + x²) and t = √(1 + y²): xt + ys + xs ≤ C s³ t (1 + st + xy) for C = 24/(25 √5) and x, y ≥ 0 *)
Lemma trust_one x y s t : 0 <= x -> 0 <= y -> 0 < s -> 0 < t -> s ^+ 2 = 1 + x ^+ 2 -> t ^+ 2 = 1 + y ^+ 2 ->
  x * t + y * s + x * s <= 24 / (25 * √5) * s ^+ 3 * t * (1 + s * t + x * y).
Proof.
move=> x0 y0 s0 t0 ss tt; set c := √5; have c2 : c ^+ 2 = 5 by rewrite sqrK ?ler0n.
have c0 : 0 < c by rewrite sqrtr_gt0 ltr0n.
set S := c * s; have S0 : 0 < S by rewrite mulr_gt0.
have S2 : S ^+ 2 = 5 * (1 + x ^+ 2) by rewrite exprMn c2 ss.
have S1 : 2 + x <= S.
  apply: ler_of_sqr (ltW S0) _; rewrite S2 -subr_ge0 (_ : _ - _ = (1 - 2 * x) ^+ 2) ?sqr_ge0 //; ring.
have S3 : S <= x ^+ 2 + 9 / 4.
  apply: ler_of_sqr; first by rewrite addr_ge0 ?sqr_ge0 ?divr_ge0 ?ler0n.
  by rewrite S2 -subr_ge0 (_ : _ - _ = (x ^+ 2 - 1 / 4) ^+ 2) ?sqr_ge0 //; field.
have ct : 2 + y <= c * t.
  apply: ler_of_sqr; first by rewrite mulr_ge0 ?ltW.
  rewrite exprMn c2 tt -subr_ge0 (_ : _ - _ = (1 - 2 * y) ^+ 2) ?sqr_ge0 //; ring.
have := trust_polynomial x0 y0 S1 S3; set F := (X in 0 <= X) => F0.
(* what t multiplies is positive *)
have k0 : 0 <= 24 / 125 * S * (1 + x ^+ 2) * (1 + x * y) - x.
  rewrite subr_ge0; apply: (@le_trans _ _ (24 / 125 * (2 + x) * (1 + x ^+ 2))); last first.
    apply: (@le_trans _ _ (24 / 125 * S * (1 + x ^+ 2))).
      by rewrite ler_wpmul2r ?addr_ge0 ?ler01 ?sqr_ge0 // ler_wpmul2l ?divr_ge0 ?ler0n.
    have x1 : 0 <= 1 + x ^+ 2 by rewrite addr_ge0 ?ler01 ?sqr_ge0.
    have c1 : 0 <= 24 / 125 * S by rewrite mulr_ge0 ?divr_ge0 ?ler0n ?(ltW S0).
    have y1 : 1 <= 1 + x * y by rewrite ler_addl mulr_ge0.
    exact: ler_pemulr (mulr_ge0 c1 x1) y1.
  rewrite -subr_ge0 (_ : _ - _ = 1 / 125 * (24 * x * (x - 1 / 2) ^+ 2 + 72 * (x - 3 / 4) ^+ 2 + x + 15 / 2));
    last by field.
  apply: mulr_ge0; first by rewrite divr_ge0 ?ler01 ?ler0n.
  apply: addr_ge0; last by rewrite divr_ge0 ?ler0n.
  apply: (addr_ge0 _ x0); apply: addr_ge0; apply: mulr_ge0 (sqr_ge0 _); rewrite ?mulr_ge0 ?ler0n //.
rewrite -(ler_pmul2l c0) -subr_ge0.
have -> : c * (24 / (25 * c) * s ^+ 3 * t * (1 + s * t + x * y)) - c * (x * t + y * s + x * s)
    = F + (24 / 125 * S * (1 + x ^+ 2) * (1 + x * y) - x) * (c * t - (2 + y)).
  have cn : c != 0 by rewrite gt_eqF.
  have -> : F + (24 / 125 * S * (1 + x ^+ 2) * (1 + x * y) - x) * (c * t - (2 + y))
      = 24 / 25 * s ^+ 4 * t ^+ 2 + 24 / 125 * c ^+ 2 * s ^+ 3 * t * (1 + x * y) - c * s * (x + y) - x * c * t.
    by rewrite /F -ss -tt /S; field.
  by rewrite c2; field.
by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
Qed.

(* where s and t are small, a and b are *)
Lemma trust_near s t : 1 <= s -> 1 <= t -> 576 / 3125 * t * s ^+ 2 * (t + 2 * s) < 1 ->
  (t + 2 * s) * (2 * (s ^+ 2 + t ^+ 2 - 2)) <= t * (s + t) ^+ 2.
Proof.
move=> s1 t1; set p := s - 1; set q := t - 1; have p0 : 0 <= p by rewrite subr_ge0.
have q0 : 0 <= q by rewrite subr_ge0.
have -> : s = 1 + p by rewrite addrC subrK.
have -> : t = 1 + q by rewrite addrC subrK.
move: p q p0 q0 => p q p0 q0 {s t s1 t1} W1.
have m (k i j : nat) : 0 <= k%:R * p ^+ i * q ^+ j by rewrite !mulr_ge0 ?exprn_ge0 ?ler0n.
have m1 (i j : nat) : 0 <= 1 * p ^+ i * q ^+ j by rewrite !mulr_ge0 ?exprn_ge0 ?ler01.
have k0 : 0 < 576 / 3125 :> R by rewrite divr_gt0 ?ltr0n.
set rest := 7 * p ^+ 2 * q ^+ 0 + 2 * p ^+ 3 * q ^+ 0 + 10 * p ^+ 1 * q ^+ 1 + 2 * p ^+ 1 * q ^+ 2 + 8 * p ^+ 2 * q ^+ 1
  + 1 * p ^+ 2 * q ^+ 2 + 2 * p ^+ 3 * q ^+ 1.
have rest0 : 0 <= rest by rewrite /rest; apply: (addr_ge0 _ (m _ _ _)); apply: (addr_ge0 _ (m1 _ _));
  do 4! apply: (addr_ge0 _ (m _ _ _)); exact: m.
have {}W1 : 3 + 8 * p + 4 * q + q ^+ 2 + rest < 3125 / 576.
  rewrite -(ltr_pmul2l k0); apply: le_lt_trans (lt_le_trans W1 _); rewrite le_eqVlt; apply/orP; left; apply/eqP.
    by rewrite /rest; field.
  by field.
have p1 : p <= 1.
  rewrite leNgt; apply/negP => p1; move: W1; apply/negP; rewrite -leNgt.
  rewrite -subr_ge0 (_ : _ - _ = 8 * (p - 1) + 4 * q ^+ 1 + 1 * q ^+ 2 + rest + 3211 / 576); last by field.
  apply: addr_ge0; last exact: divr_ge0 (ler0n _ _) (ler0n _ _).
  apply: (addr_ge0 _ rest0); apply: addr_ge0; last by rewrite mulr_ge0 ?ler01 ?sqr_ge0.
  by apply: addr_ge0; rewrite mulr_ge0 ?ler0n ?subr_ge0 ?expr1 // ltW.
have q9 : q <= 9 / 16.
  rewrite leNgt; apply/negP => q9; move: W1; apply/negP; rewrite -leNgt.
  rewrite -subr_ge0 (_ : _ - _ = (q - 9 / 16) * (q + 73 / 16) + 8 * p + rest + 325 / 2304); last by field.
  apply: addr_ge0; last exact: divr_ge0 (ler0n _ _) (ler0n _ _).
  apply: (addr_ge0 _ rest0); apply: addr_ge0; last by rewrite mulr_ge0 ?ler0n.
  apply: mulr_ge0; first by rewrite subr_ge0 ltW.
  by rewrite addr_ge0 ?divr_ge0 ?ler0n.
rewrite -subr_ge0 (_ : _ - _ = 3 / 2 * (3125 / 576 - (3 + 8 * p + 4 * q + q ^+ 2 + rest))
  + (3 * p ^+ 3 * q ^+ 1 + 3 * p ^+ 2 * q ^+ 2 / 2 + 11 * p ^+ 2 * q ^+ 1 + 1 * p ^+ 1 * q ^+ 2 + 9 * p ^+ 1 * q ^+ 1)
  + (p * (1 - p) * (p + 7 / 2) + p / 2)
  + (q * (9 / 16 - q) * (q + 65 / 16) + 73 / 256 * (9 / 16 - q) + 2477 / (3 * 4096))); last by rewrite /rest; field.
have d (i j : nat) : 0 <= i%:R / j%:R :> R by rewrite divr_ge0 ?ler0n.
have p1' : 0 <= 1 - p by rewrite subr_ge0.
have q9' : 0 <= 9 / 16 - q by rewrite subr_ge0.
apply: addr_ge0; first (apply: addr_ge0; first (apply: addr_ge0; first by apply: mulr_ge0 (d _ _) _;
  rewrite subr_ge0 ltW)).
- apply: (addr_ge0 _ (m _ _ _)); apply: (addr_ge0 _ (m1 _ _)); apply: (addr_ge0 _ (m _ _ _));
  apply: (addr_ge0 (m _ _ _)).
  by rewrite mulr_ge0 ?m ?invr_ge0 ?ler0n.
- apply: addr_ge0; last by rewrite mulr_ge0 ?invr_ge0 ?ler0n.
  by apply: mulr_ge0; [exact: mulr_ge0|exact: addr_ge0 p0 (d _ _)].
- apply: addr_ge0; last by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
  apply: addr_ge0; last exact: mulr_ge0 (d _ _) q9'.
  by apply: mulr_ge0; [exact: mulr_ge0|exact: addr_ge0 q0 (d _ _)].
Qed.

(* the numbers of the vector inequality: a = ‖x‖, b = ‖y‖, k = ⟨x, y⟩ and D = ‖y − x‖² *)
Lemma trust_numbers s t a b (k D : R) : 0 <= a -> 0 <= b -> 0 < s -> 0 < t -> s ^+ 2 = 1 + a ^+ 2 -> t ^+ 2 = 1 + b
  ^+ 2 ->
  k <= a * b -> D = s ^+ 2 + t ^+ 2 - 2 - 2 * k ->
  t * (2 * s ^+ 3 - (s ^+ 2 + 1) * t) * D ^+ 2
    + ((s ^+ 2 + 1) * t + 2 * s) * (t - s) ^+ 2 * (2 * t * D - (t + 2 * s) * (t - s) ^+ 2)
  <= 4 * (576 / 3125) * t ^+ 2 * s ^+ 6 * D ^+ 2.
Proof.
move=> a0 b0 s0 t0 ss tt kab DE; set E := (t - s) ^+ 2; set σ := s ^+ 2 + 1.
have s1 : 1 <= s by apply: ler_of_sqr (ltW s0) _; rewrite expr1n ss ler_addl sqr_ge0.
have t1 : 1 <= t by apply: ler_of_sqr (ltW t0) _; rewrite expr1n tt ler_addl sqr_ge0.
have ts0 : 0 < t + 2 * s by rewrite addr_gt0 ?mulr_gt0 ?ltr0n.
have σ0 : 0 < σ * t + 2 * s by rewrite addr_gt0 ?mulr_gt0 ?ltr0n // ltr_paddl ?sqr_ge0 ?ltr01.
have E0 : 0 <= E := sqr_ge0 _.
have dD : (b - a) ^+ 2 <= D.
  rewrite DE ss tt -subr_ge0.
  have -> : 1 + a ^+ 2 + (1 + b ^+ 2) - 2 - 2 * k - (b - a) ^+ 2 = 2 * (a * b - k) by ring.
  by rewrite mulr_ge0 ?ler0n ?subr_ge0.
have D0 : 0 <= D := le_trans (sqr_ge0 _) dD.
have [big|small] := lerP 1 (576 / 3125 * t * s ^+ 2 * (t + 2 * s)).
  rewrite -(ler_pmul2r ts0) -subr_ge0; set X0 := (X in 0 <= X).
  have -> : X0 = (σ * t + 2 * s) * (t * D - (t + 2 * s) * E) ^+ 2
    + 4 * t * s ^+ 4 * D ^+ 2 * (576 / 3125 * t * s ^+ 2 * (t + 2 * s) - 1).
    by rewrite /X0 /σ; field.
  apply: addr_ge0; first exact: mulr_ge0 (ltW σ0) (sqr_ge0 _).
  apply: mulr_ge0; last by rewrite subr_ge0.
  by rewrite !mulr_ge0 ?exprn_ge0 ?ler0n // ltW.
have near := trust_near s1 t1 small.
set τ := (a + b) / (s + t); have st0 : 0 < s + t := addr_gt0 s0 t0.
have st2 : 0 < (s + t) ^+ 2 by rewrite exprn_gt0.
have τt : (t + 2 * s) * τ ^+ 2 <= t.
  rewrite expr_div_n mulrA ler_pdivr_mulr //; apply: le_trans near; rewrite ler_pmul2l //.
  rewrite ss tt -subr_ge0.
  have -> : 2 * (1 + a ^+ 2 + (1 + b ^+ 2) - 2) - (a + b) ^+ 2 = (a - b) ^+ 2 by ring.
  exact: sqr_ge0.
have Eτ : E <= D * τ ^+ 2.
  rewrite expr_div_n mulrA ler_pdivl_mulr // (_ : E * _ = (b - a) ^+ 2 * (a + b) ^+ 2).
    by rewrite ler_wpmul2r ?sqr_ge0.
  rewrite /E -!exprMn; congr (_ ^+ 2); rewrite (_ : _ * _ = t ^+ 2 - s ^+ 2); last by ring.
  by rewrite ss tt; ring.
apply: (@le_trans _ _ (D ^+ 2 * (t * (2 * s ^+ 3 - σ * t) + (σ * t + 2 * s) * τ ^+ 2 * (2 * t - (t + 2 * s) * τ ^+
  2)))).
  rewrite -subr_ge0; set X0 := (X in 0 <= X).
  have -> : X0 = (σ * t + 2 * s) * ((D * τ ^+ 2 - E)
    * (2 * D * (t - (t + 2 * s) * τ ^+ 2) + (t + 2 * s) * (D * τ ^+ 2 - E))).
    by rewrite /X0 /σ; ring.
  apply: mulr_ge0 (ltW σ0) _; apply: mulr_ge0; first by rewrite subr_ge0.
  apply: addr_ge0; apply: mulr_ge0; rewrite ?mulr_ge0 ?ler0n ?subr_ge0 // ltW //.
rewrite [leRHS]mulrC ler_wpmul2l ?sqr_ge0 //.
set G := a * t + b * s + a * s; set H := 1 + s * t + a * b.
have H0 : 0 < H by rewrite ltr_paddr ?mulr_ge0 // addr_gt0 ?ltr01 ?mulr_gt0.
have -> : t * (2 * s ^+ 3 - σ * t) + (σ * t + 2 * s) * τ ^+ 2 * (2 * t - (t + 2 * s) * τ ^+ 2) = 4 * (G / H) ^+ 2.
  have [p [w [p0 w0 [sE aE tE bE]]]] : exists p w, [/\ 0 < p, 0 < w
      & [/\ s = (p + p^-1) / 2, a = (p - p^-1) / 2, t = (w + w^-1) / 2 & b = (w - w^-1) / 2]].
    have inv (x y : R) : 0 < x -> 0 <= y -> x ^+ 2 = 1 + y ^+ 2 -> (x + y)^-1 = x - y.
      move=> x0 y0 xx; have xy : x + y != 0 by rewrite gt_eqF // ltr_paddr.
      by apply: (mulfI xy); rewrite mulfV // mulrC -subr_sqr xx addrK.
    exists (s + a), (t + b); rewrite (inv s a) // (inv t b) //; split; [exact: ltr_paddr|exact: ltr_paddr|].
    by split; field.
  have [pn wn] : p != 0 /\ w != 0 by rewrite !gt_eqF.
  have pw : p * w + 1 != 0 by rewrite gt_eqF // ltr_paddr ?ler01 ?mulr_gt0.
  have pw' : p + w != 0 by rewrite gt_eqF ?addr_gt0.
  rewrite /σ /τ /G /H sE aE tE bE; move: p w pn wn pw pw' {p0 w0 sE aE tE bE} => p w pn wn pw pw'; field.
  apply/and4P; split=> //.
    have -> : p * 2 * (w * 2) + (p * p + 1) * (w * w + 1) + (p * p - 1) * (w * w - 1) = 2 * (p * w + 1) ^+ 2 by ring.
    by rewrite mulf_neq0 ?expf_neq0 ?pnatr_eq0.
  have -> : (p * p + 1) * w + (w * w + 1) * p = (p + w) * (p * w + 1) by ring.
  exact: mulf_neq0.
have five : √5 ^+ 2 = 5 :> R by rewrite sqrK ?ler0n.
have C0 : 0 <= 24 / (25 * √5) * s ^+ 3 * t :> R.
  by rewrite !mulr_ge0 ?invr_ge0 ?mulr_ge0 ?exprn_ge0 ?sqrtr_ge0 ?ler0n ?(ltW s0) ?(ltW t0).
have GH : G / H <= 24 / (25 * √5) * s ^+ 3 * t by rewrite ler_pdivr_mulr //; apply: trust_one.
have G0 : 0 <= G / H by rewrite divr_ge0 ?(ltW H0) // !addr_ge0 ?mulr_ge0 ?(ltW s0) ?(ltW t0).
apply: (@le_trans _ _ (4 * (24 / (25 * √5) * s ^+ 3 * t) ^+ 2)).
  by rewrite ler_wpmul2l ?ler0n // ler_pexpn2r ?nnegrE.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite !exprMn exprVn exprMn five; field.
Qed.
End TrustNumbers.

Section Trust.
Variables (R : rcfType) (m : nat).
Notation d := m.+1.
Implicit Types (z h x y v w : 'cV[R]_d) (ε c : R).

(* u(x) = x/√(1 + ‖x‖²) differs from its first-order prediction by at most C ‖y − x‖² *)
Lemma trust_vector x y (s t : R) : 0 < s -> 0 < t -> s ^+ 2 = 1 + ⟨x, x⟩ -> t ^+ 2 = 1 + ⟨y, y⟩ ->
  ‖t^-1 *: y - s^-1 *: x - s^-1 *: ((y - x) - (⟨x, y - x⟩ / s ^+ 2) *: x)‖ <= 24 / (25 * √5) * ‖y - x‖ ^+ 2.
Proof.
move=> s0 t0 ss tt; have sn : s != 0 by rewrite gt_eqF.
have tn : t != 0 by rewrite gt_eqF.
pose k := ⟨x, y⟩; pose D := s ^+ 2 + t ^+ 2 - 2 - 2 * k.
have DE : ‖y - x‖ ^+ 2 = D.
  by rewrite sqr_norm dot_sub (dotC y) /D /k ss tt; ring.
pose α := t^-1 - s^-1; pose β := (k - (s ^+ 2 - 1)) / s ^+ 3.
have -> : t^-1 *: y - s^-1 *: x - s^-1 *: ((y - x) - (⟨x, y - x⟩ / s ^+ 2) *: x) = α *: y + β *: x.
  have xx : ⟨x, x⟩ = s ^+ 2 - 1 by rewrite ss addrC addKr.
  rewrite dotBr -/k xx /α /β; apply/vecP => i; rewrite !mxE /=; move: (y i 0) (x i 0) (k : R) => p q l; by field;
    rewrite sn tn.
have five : √5 ^+ 2 = 5 :> R by rewrite sqrK ?ler0n.
have C0 : 0 <= 24 / (25 * √5) :> R by rewrite divr_ge0 ?mulr_ge0 ?sqrtr_ge0 ?ler0n.
rewrite DE; have D0 : 0 <= D by rewrite -DE sqr_ge0.
rewrite norm_le; last by rewrite mulr_ge0.
have -> : ⟨α *: y + β *: x, α *: y + β *: x⟩ = α ^+ 2 * (t ^+ 2 - 1) + 2 * α * β * k + β ^+ 2 * (s ^+ 2 - 1).
  by rewrite dot_add !dotZl !dotZr (dotC y x) -/k ss tt; ring.
have ts : 0 < 4 * t ^+ 2 * s ^+ 6 by rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n.
rewrite -(ler_pmul2r ts).
have := @trust_numbers R s t (‖x‖) (‖y‖) k D (norm_ge0 _) (norm_ge0 _) s0 t0.
rewrite !sqr_norm => /(_ ss tt (dot_le x y) erefl); set L := (X in X <= _); set M := (X in _ <= X).
have -> : (24 / (25 * √5) * D) ^+ 2 * (4 * t ^+ 2 * s ^+ 6) = M.
  by rewrite /M [in LHS]exprMn [in LHS]exprMn exprVn [in LHS]exprMn five; field.
move=> H; apply: le_trans _ H; rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /L /α /β /D.
by field; rewrite sn tn.
Qed.

(* the difference between the core after a step and its first-order prediction *)
Lemma trust_bound ε z h : 0 < ε ->
  ‖core ε (z + h) - core ε z - J ε z *m h‖ <= 24 / (25 * √5) * (‖centred h‖ ^+ 2 / (ε * √d%:R)).
Proof.
move=> e0; have qz := variance_eps z e0; have qy := variance_eps (z + h) e0.
have r0 := sqrt_gt0 e0; have rd : 0 < √(d%:R : R) by rewrite sqrtr_gt0 ltr0n.
set v := centred z; set w := centred h; pose c := √ε * √d%:R; have c0 : 0 < c by rewrite mulr_gt0.
have c2 : c ^+ 2 = ε * d%:R by rewrite exprMn !sqrK ?ler0n ?(ltW e0).
pose s := √(variance z + ε) / √ε; pose t := √(variance (z + h) + ε) / √ε.
have s0 : 0 < s by rewrite divr_gt0 ?sqrt_gt0.
have t0 : 0 < t by rewrite divr_gt0 ?sqrt_gt0.
have sq x : (√(variance x + ε) / √ε) ^+ 2 = 1 + ⟨c^-1 *: centred x, c^-1 *: centred x⟩.
  rewrite expr_div_n !sqrK ?(ltW e0) ?(ltW (variance_eps x e0)) // dotZl dotZr dot_variance mulrA -expr2 exprVn c2.
  by field; rewrite d1_neq0 gt_eqF.
have := trust_vector s0 t0 (sq z) (sq (z + h)); rewrite centredD -/v -/w.
have -> : c^-1 *: (v + w) - c^-1 *: v = c^-1 *: w by rewrite -scalerBr addrAC subrr add0r.
have -> : ‖c^-1 *: w‖ ^+ 2 = ‖w‖ ^+ 2 / (ε * d%:R).
  by rewrite !sqr_norm dotZl dotZr mulrA -expr2 exprVn c2 mulrC.
move=> H.
have -> : core ε (z + h) - core ε z - J ε z *m h = √d%:R *: (t^-1 *: (c^-1 *: (v + w)) - s^-1 *: (c^-1 *: v)
    - s^-1 *: (c^-1 *: w - (⟨c^-1 *: v, c^-1 *: w⟩ / s ^+ 2) *: (c^-1 *: v))).
  have dd : √d%:R ^+ 2 = d%:R :> R by rewrite sqrK ?ler0n.
  rewrite J_mul /core centredD -/v -/w dotZl dotZr (_ : ⟨v, w⟩ = ⟨v, h⟩); last exact: dot_centred2.
  have sE : √(variance z + ε) = s * √ε by rewrite divfK ?gt_eqF.
  have tE : √(variance (z + h) + ε) = t * √ε by rewrite divfK ?gt_eqF.
  have qE : variance z + ε = s ^+ 2 * ε by rewrite -[LHS](sqrK (ltW qz)) sE exprMn sqrK ?(ltW e0).
  have ee := sqrK (ltW e0); rewrite sE tE qE /c; clearbody s t; clear - r0 rd s0 t0 ee dd.
  have gen (e g k p q : R) : 0 < e -> 0 < g -> (t * e)^-1 * (p + q) - (s * e)^-1 * p
      - (s * e)^-1 * (q - k / (g ^+ 2 * (s ^+ 2 * e ^+ 2)) * p)
    = g * (t^-1 * ((e * g)^-1 * (p + q)) - s^-1 * ((e * g)^-1 * p)
      - s^-1 * ((e * g)^-1 * q - ((e * g)^-1 * ((e * g)^-1 * k)) / s ^+ 2 * ((e * g)^-1 * p))).
    by move=> e0 g0; field; rewrite !gt_eqF.
  apply/vecP => i; have := gen _ _ (⟨v, h⟩) (v i 0) (w i 0) r0 rd; rewrite ee dd => H.
  by rewrite !mxE; rewrite !mxE in H; exact: H.
rewrite normZ ger0_norm ?(ltW rd) //; apply: le_trans (ler_wpmul2l (ltW rd) H) _.
have dd : √d%:R ^+ 2 = d%:R :> R by rewrite sqrK ?ler0n.
have gen (e g f k : R) : e != 0 -> 0 < g -> f != 0 -> g * (24 / (25 * f) * (k / (e * g ^+ 2))) = 24 / (25 * f) * (k /
  (e * g)).
  by move=> en /lt0r_neq0 gn fn; field; rewrite ?en ?gn ?fn.
have := gen ε (√d%:R) (√5) (‖w‖ ^+ 2) (lt0r_neq0 e0) rd; rewrite dd => -> //.
by rewrite gt_eqF // sqrtr_gt0 ltr0n.
Qed.
End Trust.

Section Outside.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.

(* Let d ≥ 2, q_0 ≥ 0 and q_0 + ε > 0. Among the inputs whose variance is at least q_0, the least Lipschitz constant of the
   core is 1/√(q_0 + ε). If q_0 > 0, the step −2v from an input with the variance q_0 to its mirror image 2μ1 − z attains it *)
Theorem lipschitz_outside (ε q0 : R) : 0 <= ε -> 0 <= q0 -> 0 < q0 + ε ->
  let bounds L := forall a b : 'cV[R]_d, q0 <= variance a -> q0 <= variance b -> ‖core ε a - core ε b‖ <= L * ‖a - b‖ in
  [/\ bounds (√(q0 + ε))^-1, forall L, bounds L -> (√(q0 + ε))^-1 <= L
    & 0 < q0 -> forall z : 'cV[R]_d, variance z = q0 -> let w := (2 * mean z) *: ones - z in
        [/\ w = z - 2 *: centred z, variance w = q0, w <> z & ‖core ε w - core ε z‖ / ‖w - z‖ = (√(q0 + ε))^-1]].
Proof.
move=> e0 q00 Q0 bounds; have R0 := sqrt_gt0 Q0.
have upper : bounds (√(q0 + ε))^-1.
  move=> a b qa qb; have root (x : 'cV[R]_d) : q0 <= variance x -> 0 < variance x + ε /\ √(q0 + ε) <= √(variance x + ε).
    by move=> qx; rewrite ler_wsqrtr ?ler_add2r // (lt_le_trans Q0) ?ler_add2r.
  have [qa0 ra] := root a qa; have [qb0 rb] := root b qb.
  have [_ H _] := two_points e0 qa0 qb0; apply: le_trans H _; rewrite ler_wpmul2r ?norm_ge0 //.
  rewrite ler_pdivr_mulr ?addr_gt0 ?sqrt_gt0 // mulrC ler_pdivl_mulr // mulr_natl mulr2n; exact: ler_add.
have mirror (z : 'cV[R]_d) : 0 < q0 -> variance z = q0 -> let w := (2 * mean z) *: ones - z in
    [/\ w = z - 2 *: centred z, variance w = q0, w <> z & ‖core ε w - core ε z‖ / ‖w - z‖ = (√(q0 + ε))^-1].
  move=> qp qz w; have wE : w = z - 2 *: centred z.
    by apply/vecP => i; rewrite !mxE; ring.
  have qw : variance w = q0 by rewrite /w addrC variance_shift -scaleN1r varianceZ sqrrN expr1n mul1r.
  have wz : w - z = - (2 *: centred z) by rewrite wE addrAC subrr add0r.
  have vn : centred z != 0 by rewrite -variance_gt0 qz.
  have wzn : w - z != 0 by rewrite wz oppr_eq0 scaler_eq0 pnatr_eq0.
  split=> //; first by move/eqP; rewrite -subr_eq0 (negPf wzn).
  have [||_ _ same] := @two_points R m.+1 ε w z e0; rewrite ?qw ?qz //.
  rewrite same ?qw ?qz //; last by rewrite wz meanN meanZ mean_centred mulr0 oppr0.
  by rewrite mulfK // norm_eq0.
split=> // [L HL|qp z qz]; last exact: mirror.
have [q0p|] := ltrP 0 q0.
  have x0 : 0 < q0 * d%:R by rewrite mulr_gt0 ?ltr0n.
  have [z mz zl] := @centred_step R m _ (sqrt_gt0 x0).
  have qz : variance z = q0.
    by rewrite variance_dot centred_id // -sqr_norm zl sqrK ?(ltW x0) // mulfK ?d_neq0.
  have [_ qw wz E] := mirror z q0p qz; rewrite -E ler_pdivr_mulr ?HL ?qw ?qz //.
  by rewrite norm_gt0 subr_eq0; apply/eqP.
rewrite le_eqVlt ltNge q00 orbF => /eqP q0E; move: Q0 R0; rewrite q0E add0r => ep sp.
by have [_ _ _ _ [_ least]] := eps_attained m 0 ep; apply: least => a b; apply: HL; rewrite q0E variance_ge0.
Qed.
End Outside.
