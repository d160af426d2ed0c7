(* The statements of the page "Sharp bounds". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon bias geometry.
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

(* the amplification of every step is strictly below ε^(−1/2) *)
Lemma core_step_below ε x y : 0 < ε -> x != y -> ‖core ε x - core ε y‖ < (√ε)^-1 * ‖x - y‖.
Proof.
move=> e0 xy; have xp : 0 < ‖x - y‖ by rewrite norm_gt0 subr_eq0.
have s0 := sqrt_gt0 e0; have qx := variance_eps x e0; have qy := variance_eps y e0.
have [_ + _] := two_points (ltW e0) qx qy; set r := √(variance x + ε); set s := √(variance y + ε) => H.
have er : √ε <= r by rewrite ler_wsqrtr // ler_addr variance_ge0.
have es : √ε <= s by rewrite ler_wsqrtr // ler_addr variance_ge0.
have r0 : 0 < r := lt_le_trans s0 er; have s0' : 0 < s := lt_le_trans s0 es.
have [rs|] := ltrP (2 * √ε) (r + s).
  apply: le_lt_trans H _; rewrite ltr_pmul2r // ltr_pdivr_mulr ?addr_gt0 //.
  by rewrite mulrC ltr_pdivl_mulr.
rewrite mulr_natl mulr2n => rs; have re : r = √ε.
  by apply/le_anti; rewrite er andbT -(ler_add2r (√ε)); apply: le_trans rs; rewrite ler_add2l.
have se : s = √ε.
  by apply/le_anti; rewrite es andbT -(ler_add2l (√ε)); apply: le_trans rs; rewrite ler_add2r.
have zero (w : 'cV[R]_d) : √(variance w + ε) = √ε -> core ε w = 0.
  move=> ww; have := sqrK (ltW (variance_eps w e0)); rewrite ww sqrK ?(ltW e0) // => /(canLR (addrK _)).
  by rewrite subrr => /esym/eqP; rewrite variance_eq0 /core => /eqP ->; rewrite scaler0.
by rewrite !zero // subrr norm0 mulr_gt0 ?invr_gt0.
Qed.

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
have := @core_step_below ε (z + h) z e0; rewrite addrAC subrr add0r; apply.
by rewrite -subr_eq0 addrAC subrr add0r.
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
