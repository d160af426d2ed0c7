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
