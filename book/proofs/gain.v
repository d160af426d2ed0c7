(* The statements of the page "Gain". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon geometry.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Example.
Variable R : rcfType.

(* For z = (1, 1, −2) and ε = 2: μ = 0, q = 2, u = (1/2, 1/2, −1); with γ = (2, 0, −1) and β = 0 the output is (1, 0, 1) *)
Theorem gain_example : let z : 'cV[R]_3 := vec [:: 1; 1; -2] in
  [/\ mean z = 0, variance z = 2, core 2 z = vec [:: 1 / 2; 1 / 2; -1]
    & layer_norm 2 (vec [:: 2; 0; -1]) 0 z = vec [:: 1; 0; 1]].
Proof.
move=> z; have m : mean z = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have q : variance z = 2 by rewrite /variance centred_id // !big_ord_recl big_ord0 !mxE /=; field.
have r : √(variance z + 2) = 2 by apply: sqrt_eq; rewrite ?ler0n // q; ring.
have u : core 2 z = vec [:: 1 / 2; 1 / 2; -1].
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite coreE r centred_id // !mxE /=; field.
split=> //; by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite layer_normE u !mxE /=; field.
Qed.
End Example.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z γ β g : 'cV[R]_d) (ε c : R).

(* the gain multiplies the core coordinate by coordinate, whatever its entries are *)
Theorem gain_multiplier ε γ z i : (γ ⊙ core ε z) i 0 = γ i 0 * core ε z i 0.
Proof. exact: hadamardE. Qed.

(* If γ_i < 0 and u_i ≠ 0, then γ_i u_i has the sign opposite to that of u_i *)
Theorem gain_sign ε γ z i : γ i 0 < 0 -> core ε z i 0 != 0 ->
  Num.sg (γ i 0 * core ε z i 0) = - Num.sg (core ε z i 0) /\ γ i 0 * core ε z i 0 != 0.
Proof. by move=> g0 u0; rewrite sgrM (ltr0_sg g0) mulN1r mulf_neq0 // lt_eqF. Qed.

Lemma mean_hadamard x y : mean (x ⊙ y : 'cV[R]_d) = ⟨x, y⟩ / d%:R.
Proof. by congr (_ / _); apply: eq_bigr => i _; rewrite hadamardE. Qed.

(* γ ⊙ u has the mean (1/d) Σ (γ_i − mean γ) u_i; it vanishes for every core if and only if all gains are equal;
   in the example the output (1, 0, 1) has the mean 2/3 and the variance 2/9 *)
Theorem gain_moments ε γ : 0 <= ε ->
  [/\ forall z, mean (γ ⊙ core ε z) = (\sum_i (γ i 0 - mean γ) * core ε z i 0) / d%:R,
      (forall z, 0 < variance z + ε -> mean (γ ⊙ core ε z) = 0) <-> exists c, γ = c *: ones
    & let y := layer_norm 2 (vec [:: 2; 0; -1]) 0 (vec [:: 1; 1; -2]) : 'cV[R]_3 in
      mean y = 2 / 3 /\ variance y = 2 / 9].
Proof.
move=> e0; split.
- move=> z; rewrite mean_hadamard -{1}(centred_core ε z) -dot_centred; congr (_ / _).
  by apply: eq_bigr => i _; rewrite centredE.
- split=> [H|[c ->] z _]; last first.
    by rewrite hadamardC hadamardZr hadamardC hadamard_ones meanZ mean_core mulr0.
  apply/centred_eq0/eqP; rewrite -variance_eq0; apply/negPn/negP => v0.
  have q0 : 0 < variance γ by rewrite lt_def v0 variance_ge0.
  have r0 : 0 < (√(variance γ + ε))^-1 by rewrite invr_gt0 sqrt_gt0 // ltr_paddr.
  have := H γ (ltr_paddr e0 q0); rewrite mean_hadamard dotZr dotC -dot_centred2 dot_variance => H0.
  have := divr_gt0 (mulr_gt0 r0 (mulr_gt0 (d_gt0 R n) q0)) (d_gt0 R n).
  by rewrite H0 ltxx.
- have [_ _ _ ->] := gain_example R; rewrite /=.
  have m : mean (vec [:: 1; 0; 1] : 'cV[R]_3) = 2 / 3 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
  by split=> //; rewrite /variance !big_ord_recl big_ord0 !centredE m !mxE /=; field.
Qed.

(* the derivative of y by γ is diag(u) *)
Lemma derivative_gain ε γ β z : is_derivative (fun g => layer_norm ε g β z) γ (diag (core ε z)).
Proof. by apply: derivative_ext (derivative_affine (diag (core ε z)) β γ) => g; rewrite diag_mul hadamardC. Qed.

(* ∂ℓ/∂γ = g ⊙ u; a gain shared by several positions receives the sum; for ℓ = ½‖y‖² in the example it is (1/2, 0, −1) *)
Theorem gain_gradient ε γ β :
  [/\ forall z (ℓ : 'cV[R]_d -> R) g, is_gradient ℓ (layer_norm ε γ β z) g ->
        is_gradient (fun g => ℓ (layer_norm ε g β z)) γ (g ⊙ core ε z),
      forall N (Z : 'M[R]_(d, N)) (ℓ : 'M[R]_(d, N) -> R) G,
        is_gradient_positions ℓ (at_positions (layer_norm ε γ β) Z) G ->
        is_gradient (fun g => ℓ (at_positions (layer_norm ε g β) Z)) γ (\sum_k col k G ⊙ core ε (col k Z))
    & is_gradient (fun g : 'cV[R]_3 => ‖layer_norm 2 g 0 (vec [:: 1; 1; -2])‖ ^+ 2 / 2)
        (vec [:: 2; 0; -1]) (vec [:: 1 / 2; 0; -1])].
Proof.
have one m (a b z g : 'cV[R]_m.+1) e (ℓ : 'cV[R]_m.+1 -> R) : is_gradient ℓ (layer_norm e a b z) g ->
    is_gradient (fun g' : 'cV[R]_m.+1 => ℓ (layer_norm e g' b z)) a (g ⊙ core e z).
  move=> ℓg; have D : is_derivative (fun g' : 'cV[R]_m.+1 => layer_norm e g' b z) a (diag (core e z)).
    by apply: derivative_ext (derivative_affine (diag (core e z)) b a) => x; rewrite diag_mul hadamardC.
  have := @gradient_comp _ _ _ ℓ (fun g' : 'cV[R]_m.+1 => layer_norm e g' b z) _ _ _ ℓg D.
  by rewrite diag_tr diag_mul hadamardC.
split=> [z ℓ g|N Z ℓ G|]; first exact: one.
  move/(@gradient_positions _ _ _ _ _ (fun g => at_positions (layer_norm ε g β) Z) (fun k => diag (core ε (col k Z)))) => H.
  have := H; rewrite (eq_bigr (fun k => col k G ⊙ core ε (col k Z))) => [|k _]; last first.
    by rewrite diag_tr diag_mul hadamardC.
  apply=> h k; rewrite diag_mul !col_at_positions /layer_norm; move: (core _ _) => u.
  by apply/vecP => i; rewrite !mxE /=; ring.
have [_ _ u y] := gain_example R.
have -> : vec [:: 1 / 2; 0; -1] = vec [:: 1; 0; 1] ⊙ core 2 (vec [:: 1; 1; -2]) :> 'cV[R]_3.
  by rewrite u; apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite !mxE /=; ring.
apply: (one 2%N _ 0 (vec [:: 1; 1; -2]) _ 2 (fun y : 'cV[R]_3 => ‖y‖ ^+ 2 / 2)).
by rewrite y; apply: gradient_half_square.
Qed.

(* the derivative of y by z is diag(γ) J, row i of J times γ_i *)
Theorem gain_input_jacobian ε γ β z : 0 < variance z + ε ->
  is_derivative (layer_norm ε γ β) z (diag γ *m J ε z) /\ forall i j, (diag γ *m J ε z) i j = γ i 0 * J ε z i j.
Proof.
move=> q0; split=> [|i j]; last by rewrite mul_diag_mx !mxE.
apply: derivative_ext (derivative_comp (derivative_affine (diag γ) β _) (proj1 (eps_jacobian q0))) => x.
by rewrite diag_mul.
Qed.

(* If γ_i = 0 then y_i = β_i for every input; but ∂y_j/∂z_i = γ_j J_ji, which for j ≠ i is zero only where γ_j = 0 or
   1 + u_i u_j = 0 *)
Theorem gain_zero ε γ β i :
  (γ i 0 = 0 -> forall z, layer_norm ε γ β z i 0 = β i 0)
  /\ forall z j, 0 < variance z + ε ->
     is_slope (fun t => layer_norm ε γ β (z + t *: delta_mx i 0) j 0) 0 (γ j 0 * J ε z j i)
     /\ (j != i -> (γ j 0 * J ε z j i = 0 <-> γ j 0 = 0 \/ 1 + core ε z i 0 * core ε z j 0 = 0)).
Proof.
split=> [g0 z|z j q0]; first by rewrite layer_normE g0 mul0r add0r.
have [H E] := gain_input_jacobian γ β q0; split.
  have := derivative_line (delta_mx i 0) j H; rewrite -E.
  by rewrite (_ : (diag γ *m J ε z *m delta_mx i 0) j 0 = (diag γ *m J ε z) j i) // -colE mxE.
move=> ji; rewrite (proj2 (eps_jacobian q0)) (negPf ji) sub0r (mulrC (core ε z j 0)); split=> [/eqP|].
  rewrite mulf_eq0 mulf_eq0 invr_eq0 oppr_eq0 mulf_eq0 invr_eq0 (negPf (d_neq0 R n)) orbF.
  by rewrite (negPf (sqrt_neq0 q0)) => /orP[/eqP|/eqP]; [left|right].
by case=> ->; rewrite ?mul0r ?oppr0 ?mulr0.
Qed.
End Page.

Section Monotone.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (a b w γ β : 'cV[R]_d) (ε c : R).

(* For d ≥ 2 and ε > 0 the layer is monotone, ⟨y(a) − y(b), a − b⟩ ≥ 0 for all inputs, if and only if all gains are equal and
   not negative *)
Theorem gain_monotone ε γ β : 0 < ε ->
  (forall a b, 0 <= ⟨layer_norm ε γ β a - layer_norm ε γ β b, a - b⟩) <-> exists2 c, 0 <= c & γ = c *: ones.
Proof.
move=> e0; split=> [H|[c c0 ->] a b]; last first.
  rewrite /layer_norm opprD addrACA subrr addr0 ![(c *: ones) ⊙ _]hadamardC !hadamardZr ![_ ⊙ ones]hadamardC.
  rewrite !hadamard_ones -scalerBr dotZl mulr_ge0 //.
  have qa := variance_eps a e0; have qb := variance_eps b e0.
  have [-> _ _] := two_points (ltW e0) qa qb; have ra := root_gt0 a e0; have rb := root_gt0 b e0.
  apply: addr_ge0; first by rewrite mulr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n // addr_ge0 ?ltW.
  apply: divr_ge0; last by apply: ltW; rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n.
  by apply: mulr_ge0 (sqr_ge0 _); rewrite mulr_ge0 ?mulr_ge0 ?ler0n ?addr_ge0 ?(ltW e0) ?(ltW ra) ?(ltW rb).
have form h : 0 <= ⟨γ ⊙ centred h, h⟩.
  have := H h 0; rewrite subr0 /layer_norm opprD addrACA subrr addr0 -hadamardBr.
  have -> : core ε 0 = 0 :> 'cV[R]_d by rewrite /core centred0 scaler0.
  by rewrite subr0 hadamardZr dotZl pmulr_rge0 // invr_gt0 root_gt0.
have shift w (s : R) : mean w = 0 -> 0 <= ⟨γ ⊙ w, w⟩ + s * ⟨γ, w⟩.
  move=> mw; have := form (w + s *: ones); rewrite centred_shift (centred_id mw) dotDr dotZr.
  have -> // : ⟨γ ⊙ w, ones⟩ = ⟨γ, w⟩ by rewrite -dot_hadamard [γ ⊙ ones]hadamardC hadamard_ones dotC.
have flat w : mean w = 0 -> ⟨γ, w⟩ = 0.
  move=> mw; apply/eqP/negPn/negP => n0; have := shift w (- (⟨γ ⊙ w, w⟩ + 1) / ⟨γ, w⟩) mw.
  by rewrite divfK // opprD addrA subrr add0r oppr_ge0 ler10.
have [c cE] : exists c, γ = c *: ones.
  by apply/centred_eq0/eqP; rewrite -dot_eq0 dot_centred2 dotC flat ?mean_centred.
exists c => //; have [p0 pn] := pair_step_centred R m; have := shift _ 0 p0.
rewrite mul0r addr0 cE hadamardC hadamardZr hadamardC hadamard_ones dotZl pmulr_lge0 //.
by rewrite lt_def dot_eq0 pn dot_ge0.
Qed.
End Monotone.
