(* The statements of the page "The backward pass". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon bias gain geometry.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h γ β g : 'cV[R]_d) (ε c : R).

(* r (x − mean(x) 1 − mean(x ⊙ u) u), where r = 1/√(q + ε) *)
Definition two_means ε z (x : 'cV[R]_d) : 'cV[R]_d :=
  (√(variance z + ε))^-1 *: (x - mean x *: ones - mean (x ⊙ core ε z) *: core ε z).

Lemma mean_hadamard (x y : 'cV[R]_d) : mean (x ⊙ y) = ⟨x, y⟩ / d%:R :> R.
Proof. by congr (_ / _); apply: eq_bigr => i _; rewrite hadamardE. Qed.
Lemma two_means_J ε z (x : 'cV[R]_d) : 0 < variance z + ε -> two_means ε z x = J ε z *m x.
Proof.
move=> q0; rewrite J_mul /two_means -/(centred x); congr (_ *: (_ - _)).
rewrite mean_hadamard /core dotZr scalerA (dotC x); congr (_ *: _).
rewrite -{3}(sqrK (ltW q0)); move: (√_) (sqrt_neq0 q0) => r r0.
by field; rewrite r0 d1_neq0.
Qed.
Lemma J_dot_centred ε z (x : 'cV[R]_d) : 0 < variance z + ε ->
  ⟨J ε z *m x, centred z⟩ = ε / √(variance z + ε) ^+ 3 * ⟨x, centred z⟩.
Proof. by move=> q0; rewrite dot_mulmx J_tr eps_eigen_radial // dotZr. Qed.
Lemma sum_J ε z (x : 'cV[R]_d) : \sum_i (J ε z *m x) i 0 = 0.
Proof. by rewrite -dot_ones dotC dot_mulmx J_tr eps_eigen_shift dot0r. Qed.

(* With ĝ = γ ⊙ g the gradient by the input is dz = Jĝ = r (ĝ − mean(ĝ) 1 − mean(ĝ ⊙ u) u), r = 1/√(q + ε); its entries
   add up to 0, and ⟨dz, v⟩ = ε/(q + ε)^(3/2) ⟨ĝ, v⟩ *)
Theorem vjp ε γ β z (ℓ : 'cV[R]_d -> R) g : 0 < variance z + ε -> is_gradient ℓ (layer_norm ε γ β z) g ->
  let ĝ := γ ⊙ g in let r := (√(variance z + ε))^-1 in let u := core ε z in
  let dz := r *: (ĝ - mean ĝ *: ones - mean (ĝ ⊙ u) *: u) in
  [/\ is_gradient (fun x => ℓ (layer_norm ε γ β x)) z dz, dz = J ε z *m ĝ, \sum_i dz i 0 = 0
    & ⟨dz, centred z⟩ = ε / √(variance z + ε) ^+ 3 * ⟨ĝ, centred z⟩].
Proof.
move=> q0 ℓg ĝ r u dz; have E : dz = J ε z *m ĝ := two_means_J ĝ q0.
split; rewrite ?E ?sum_J ?J_dot_centred //.
have := gradient_comp ℓg (proj1 (bias_input_jacobian ε γ β β z z) q0).
by rewrite trmx_mul J_tr diag_tr -mulmxA diag_mul.
Qed.

(* The first-order change of the output along h is γ ⊙ Jh = γ ⊙ r (h − mean(h) 1 − mean(h ⊙ u) u), and
   ⟨g, γ ⊙ Jh⟩ = ⟨J(γ ⊙ g), h⟩; the JVP and the VJP of the core are one map, J *)
Theorem jvp ε γ β z h : 0 < variance z + ε ->
  [/\ is_derivative (layer_norm ε γ β) z (diag γ *m J ε z) /\ diag γ *m J ε z *m h = γ ⊙ (J ε z *m h),
      γ ⊙ (J ε z *m h)
        = γ ⊙ ((√(variance z + ε))^-1 *: (h - mean h *: ones - mean (h ⊙ core ε z) *: core ε z)),
      forall g, ⟨g, γ ⊙ (J ε z *m h)⟩ = ⟨J ε z *m (γ ⊙ g), h⟩
    & is_derivative (core ε) z (J ε z)
      /\ forall ℓ g, is_gradient ℓ (core ε z) g -> is_gradient (fun x => ℓ (core ε x)) z (J ε z *m g)].
Proof.
move=> q0; have D := proj1 (eps_jacobian q0); split.
- by split; [exact: proj1 (bias_input_jacobian ε γ β β z z) q0|rewrite -mulmxA diag_mul].
- by rewrite -two_means_J.
- by move=> g; rewrite dot_hadamard dot_mulmx J_tr.
- by split=> // ℓ g ℓg; have := gradient_comp ℓg D; rewrite J_tr.
Qed.

(* Jx = 0 exactly if x is a multiple of 1 (ε > 0), or a combination of 1 and v (ε = 0) *)
Lemma J_kernel ε z (x : 'cV[R]_d) : 0 < ε -> J ε z *m x = 0 <-> exists c, x = c *: ones.
Proof.
move=> e0; have q0 := variance_eps z e0; have r0 := sqrt_neq0 q0.
split=> [J0|[c ->]]; last by rewrite -scalemxAr eps_eigen_shift scaler0.
apply/centred_eq0; have xv : ⟨x, centred z⟩ = 0.
  have := J_dot_centred x q0; rewrite J0 dot0l => /esym/eqP.
  by rewrite !mulf_eq0 invr_eq0 expf_eq0 (negPf r0) gt_eqF //= => /eqP.
move/eqP: J0; rewrite J_mul (dotC _ x) xv mul0r scale0r subr0 scaler_eq0 invr_eq0 (negPf r0).
by move/eqP.
Qed.
Lemma J_kernel0 z (x : 'cV[R]_d) : 0 < variance z -> J 0 z *m x = 0 <-> exists a b : R, x = a *: ones + b *: centred z.
Proof.
move=> q0; have q0' : 0 < variance z + 0 by rewrite addr0.
split=> [/eqP|[a [b ->]]].
  rewrite J_mul scaler_eq0 invr_eq0 (negPf (sqrt_neq0 q0')) /= subr_eq0 => /eqP H.
  by exists (mean x), (⟨centred z, x⟩ / (d%:R * (variance z + 0))); rewrite -H addrC centred_add_mean.
by rewrite mulmxDr -!scalemxAr eps_eigen_shift eps_eigen_radial // mul0r scale0r !scaler0 addr0.
Qed.

(* For ε > 0, dz = 0 if and only if ĝ is a multiple of 1; the gradient of Σ y_i by z is 0 if and only if all gains are
   equal; at ε = 0 (and q > 0), dz = 0 if and only if ĝ is a combination of 1 and v *)
Theorem vjp_kernel z γ β :
  (forall ε, 0 < ε ->
     (forall ℓ g dz, is_gradient ℓ (layer_norm ε γ β z) g -> is_gradient (fun x => ℓ (layer_norm ε γ β x)) z dz ->
        dz = 0 <-> exists c, γ ⊙ g = c *: ones)
     /\ (is_gradient (fun x => \sum_i layer_norm ε γ β x i 0) z 0 <-> forall i j, γ i 0 = γ j 0))
  /\ (0 < variance z ->
     forall ℓ g dz, is_gradient ℓ (layer_norm 0 γ β z) g -> is_gradient (fun x => ℓ (layer_norm 0 γ β x)) z dz ->
        dz = 0 <-> exists a b, γ ⊙ g = a *: ones + b *: centred z).
Proof.
split=> [ε e0|q0 ℓ g dz ℓg Hdz]; last first.
  have q0' : 0 < variance z + 0 by rewrite addr0.
  have [H E _ _] := vjp q0' ℓg; have -> : dz = J 0 z *m (γ ⊙ g) by rewrite -E; apply: gradient_unique Hdz H.
  exact: J_kernel0.
have q0 := variance_eps z e0.
have main ℓ g dz : is_gradient ℓ (layer_norm ε γ β z) g -> is_gradient (fun x => ℓ (layer_norm ε γ β x)) z dz ->
    dz = 0 <-> exists c, γ ⊙ g = c *: ones.
  move=> ℓg Hdz; have [H E _ _] := vjp q0 ℓg; have -> : dz = J ε z *m (γ ⊙ g) by rewrite -E; apply: gradient_unique Hdz H.
  exact: J_kernel.
split=> //; have sum_grad y : is_gradient (fun y => \sum_i y i 0) y (ones : 'cV[R]_d).
  apply: (@gradient_square _ _ _ _ _ 0) => h; rewrite -!dot_ones dotDr.
  by rewrite (_ : _ - _ = 0) ?normr0 ?mul0r //; ring.
have [H _ _ _] := vjp q0 (sum_grad (layer_norm ε γ β z)).
have K := main _ _ _ (sum_grad _) H; have γ1 : γ ⊙ ones = γ by rewrite hadamardC hadamard_ones.
rewrite γ1 in K H; split=> [H0|eq].
  have [c ->] := proj1 K (gradient_unique H H0); by move=> i j; rewrite !mxE.
have E := proj2 K; rewrite E in H => //; exists (γ 0 0); apply/vecP => i; rewrite !mxE mulr1; exact: eq.
Qed.

(* dz is a function of ĝ, u and the one number r; for ε > 0, r² = (1 − ‖u‖²/d)/ε; of an output without zero gains
   u = (y − β)/γ; if exactly one gain is 0, the lost coordinate of u is minus the sum of the others *)
Theorem vjp_store ε γ β z :
  [/\ exists dz : 'cV[R]_d -> 'cV[R]_d -> R -> 'cV[R]_d, forall z', 0 < variance z' + ε -> forall ℓ g,
        is_gradient ℓ (layer_norm ε γ β z') g ->
        is_gradient (fun x => ℓ (layer_norm ε γ β x)) z' (dz (γ ⊙ g) (core ε z') (√(variance z' + ε))^-1),
      0 < ε -> (√(variance z + ε))^-1 ^+ 2 = (1 - ‖core ε z‖ ^+ 2 / d%:R) / ε,
      forall i, γ i 0 != 0 -> core ε z i 0 = (layer_norm ε γ β z i 0 - β i 0) / γ i 0
    & forall i, γ i 0 = 0 -> (forall j, j != i -> γ j 0 != 0) -> core ε z i 0 = - \sum_(j | j != i) core ε z j 0].
Proof.
split=> [|e0|i γi|i _ _].
- exists (fun ĝ u r => r *: (ĝ - mean ĝ *: ones - mean (ĝ ⊙ u) *: u)) => z' q0 ℓ g ℓg.
  by have [H _ _ _] := vjp q0 ℓg.
- have q0 := variance_eps z e0; rewrite core_share // exprVn sqrK ?(ltW q0) //.
  by field; rewrite !gt_eqF.
- by rewrite layer_normE addrK mulrC mulKf.
- apply/eqP; rewrite -addr_eq0; have := sum_mean (core ε z); rewrite mean_core mulr0 (bigD1 i) //= => ->.
  exact: eqxx.
Qed.

(* If at each position all entries of the cotangent are equal, the entries of dγ add up to 0 *)
Theorem dgain_sum N ε γ β (Z : 'M[R]_(d, N)) (ℓ : 'M[R]_(d, N) -> R) (G : 'M[R]_(d, N)) dγ :
  is_gradient_positions ℓ (at_positions (layer_norm ε γ β) Z) G ->
  (forall k, exists c, col k G = c *: ones) ->
  is_gradient (fun γ => ℓ (at_positions (layer_norm ε γ β) Z)) γ dγ -> \sum_i dγ i 0 = 0.
Proof.
move=> ℓG Gc Hd; have [_ H _] := gain_gradient ε γ β.
have -> := gradient_unique Hd (H _ _ _ _ ℓG); rewrite sum_mean (_ : mean _ = 0) ?mulr0 //.
rewrite (eq_bigr (fun k => G 0 k *: core ε (col k Z))) => [|k _].
  elim/big_rec: _ => [|k x _ x0]; first exact: mean0.
  by rewrite meanD meanZ mean_core mulr0 add0r.
have [c cE] := Gc k; have -> : G 0 k = c by have /vecP/(_ 0) := cE; rewrite !mxE mulr1.
by rewrite cE hadamardC hadamardZr hadamardC hadamard_ones.
Qed.
End Page.

(* For z = (1, 1, −2), ε = 2, γ = (2, 0, −1) and ℓ = Σ y_i, dz = (2/3, −1/3, −1/3); its entries add up to 0 and
   ⟨dz, v⟩ = 1. With equal gains it is 0 *)
Theorem vjp_example (R : rcfType) (β : 'cV[R]_3) :
  let z : 'cV[R]_3 := vec [:: 1; 1; -2] in let dz : 'cV[R]_3 := vec [:: 2 / 3; - (1 / 3); - (1 / 3)] in
  [/\ is_gradient (fun x => \sum_i layer_norm 2 (vec [:: 2; 0; -1]) β x i 0) z dz, \sum_i dz i 0 = 0,
      ⟨dz, centred z⟩ = 1
    & forall c, is_gradient (fun x => \sum_i layer_norm 2 (c *: ones) β x i 0) z 0].
Proof.
move=> z dz; have m : mean z = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v : centred z = z by rewrite centred_id.
have q : variance z = 2 by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
have r : √(variance z + 2) = 2 by apply: sqrt_eq; rewrite ?ler0n // q; ring.
have q0 : 0 < variance z + 2 by rewrite q addr_gt0 ?ltr0n.
have sum_grad (y : 'cV[R]_3) : is_gradient (fun y : 'cV[R]_3 => \sum_i y i 0) y ones.
  apply: (@gradient_square _ _ _ _ _ 0) => h; rewrite -!dot_ones dotDr.
  by rewrite (_ : _ - _ = 0) ?normr0 ?mul0r //; ring.
have grad γ : is_gradient (fun x => \sum_i layer_norm 2 γ β x i 0) z (J 2 z *m γ).
  have [H E _ _] := vjp q0 (sum_grad (layer_norm 2 γ β z)).
  by rewrite E hadamardC hadamard_ones in H.
split.
- have := grad (vec [:: 2; 0; -1]); rewrite (_ : J 2 z *m _ = dz) //.
  rewrite J_mul r q v -P_mul.
  have -> : ⟨z, vec [:: 2; 0; -1] : 'cV[R]_3⟩ = 4 by rewrite /dot !big_ord_recl big_ord0 !mxE /=; ring.
  have m' : mean (vec [:: 2; 0; -1] : 'cV[R]_3) = 1 / 3 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
  by rewrite P_mul; apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite mxE mxE centredE m' !mxE /=; field.
- by rewrite !big_ord_recl big_ord0 !mxE /=; field.
- by rewrite v /dot !big_ord_recl big_ord0 !mxE /=; field.
- move=> c; have := grad (c *: ones); by rewrite -scalemxAr eps_eigen_shift scaler0.
Qed.
