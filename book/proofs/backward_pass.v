(* The statements of the page "The backward pass". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon bias gain geometry Decimals.
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

(* At ε = 10⁻⁵ let the positions be (1, 2, 4, 8) and (3, 1, 0, 0) with the cotangents (1, 0, 2, −1) and (1/2, 1, −1, 2).
   Then dβ = (3/2, 1, 1, 1) and dγ is (−0.209261, 0, 1.002995, −3.218245) to six decimals;
     its second entry is exactly 0 *)
Theorem positions_example (R : rcfType) (γ β : 'cV[R]_4) (ℓ : 'M[R]_(4, 2) -> R) :
  let pair (a b : 'cV[R]_4) : 'M[R]_(4, 2) := \matrix_(i, k) (if k == 0 then a i 0 else b i 0) in
  let Z := pair (vec [:: 1; 2; 4; 8]) (vec [:: 3; 1; 0; 0]) in
  let G := pair (vec [:: 1; 0; 2; -1]) (vec [:: 1 / 2; 1; -1; 2]) in
  let η : R := 1 / (2 * 10 ^+ 6) in
  is_gradient_positions ℓ (at_positions (layer_norm (10 ^- 5) γ β) Z) G ->
  is_gradient (fun β => ℓ (at_positions (layer_norm (10 ^- 5) γ β) Z)) β (vec [:: 3 / 2; 1; 1; 1])
  /\ exists a b c, [/\ is_gradient (fun γ => ℓ (at_positions (layer_norm (10 ^- 5) γ β) Z)) γ (vec [:: a; 0; b; c]),
       `|a - - ((209 * 10 ^+ 3 + 261) / 10 ^+ 6)| < η, `|b - ((1 * 10 ^+ 3 + 2) * 10 ^+ 3 + 995) / 10 ^+ 6| < η
     & `|c - - (((3 * 10 ^+ 3 + 218) * 10 ^+ 3 + 245) / 10 ^+ 6)| < η].
Proof.
move=> pair Z G η ℓG; have col_pair a b : col 0 (pair a b) = a /\ col 1 (pair a b) = b.
  by split; apply/vecP => i; rewrite !mxE.
have two (f : 'I_2 -> 'cV[R]_4) : \sum_k f k = f 0 + f 1.
  by rewrite !big_ord_recl big_ord0 addr0; congr (_ + f _); apply: val_inj.
have [z1 z2] := col_pair (vec [:: 1; 2; 4; 8]) (vec [:: 3; 1; 0; 0]); rewrite -/Z in z1 z2.
have [g1 g2] := col_pair (vec [:: 1; 0; 2; -1]) (vec [:: 1 / 2; 1; -1; 2]); rewrite -/G in g1 g2.
split.
  have <- : \sum_k col k G = vec [:: 3 / 2; 1; 1; 1] :> 'cV[R]_4; last exact: bias_positions.
  by rewrite two g1 g2; apply/vecP; case=> [[|[|[|[|k]]]] //= i]; rewrite !mxE /=; field.
have [_ /(_ _ _ _ _ ℓG) + _] := gain_gradient (10 ^- 5) γ β; rewrite two g1 g2 z1 z2.
set y1 : 'cV[R]_4 := vec [:: 1; 2; 4; 8]; set y2 : 'cV[R]_4 := vec [:: 3; 1; 0; 0].
have m1 : mean y1 = 15 / 4 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have m2 : mean y2 = 1 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have q1 : variance y1 = 115 / 16 by rewrite /variance !big_ord_recl big_ord0 !centredE m1 !mxE /=; field.
have q2 : variance y2 = 3 / 2 by rewrite /variance !big_ord_recl big_ord0 !centredE m2 !mxE /=; field.
have e0 : 0 < 10 ^- 5 :> R by rewrite invr_gt0 exprn_gt0 ?ltr0n.
have x1 : 0 < 115 / 16 + 10 ^- 5 :> R by rewrite addr_gt0 ?divr_gt0 ?ltr0n.
have x2 : 0 < 3 / 2 + 10 ^- 5 :> R by rewrite addr_gt0 ?divr_gt0 ?ltr0n.
set r : R := (√(115 / 16 + 10 ^- 5))^-1; set s : R := (√(3 / 2 + 10 ^- 5))^-1.
have near (x a A B C : R) : 0 < x -> a - 10 ^- 8 = A -> 1 - (a - 10 ^- 8) ^+ 2 * x = B ->
    (a + 10 ^- 8) ^+ 2 * x - 1 = C -> 0 < A -> 0 < B -> 0 < C -> `|(√x)^-1 - a| < 10 ^- 8.
  by move=> x0 <- <- <- A0 B0 C0; apply: near_inv_sqrt => //; rewrite invr_gt0 exprn_gt0 ?ltr0n.
have rE : `|r - ((37 * 10 ^+ 3 + 300) * 10 ^+ 3 + 166) / 10 ^+ 8| < 10 ^- 8.
  by apply: (near _ _ (((37 * 10 ^+ 3 + 300) * 10 ^+ 3 + 165) / (10 ^+ 8))
    ((((((1 * 10 ^+ 3 + 185) * 10 ^+ 3 + 349) * 10 ^+ 3 + 968) * 10 ^+ 3 + 64) * 10 ^+ 3 + 400) / (16 * 10 ^+ 21))
    (((((530 * 10 ^+ 3 + 460) * 10 ^+ 3 + 55) * 10 ^+ 3 + 146) * 10 ^+ 3 + 224) / (16 * 10 ^+ 21)) x1);
    [field|field|field|digits|digits|digits].
have sE : `|s - ((81 * 10 ^+ 3 + 649) * 10 ^+ 3 + 386) / 10 ^+ 8| < 10 ^- 8.
  by apply: (near _ _ (((81 * 10 ^+ 3 + 649) * 10 ^+ 3 + 385) / (10 ^+ 8))
    (((((45 * 10 ^+ 3 + 492) * 10 ^+ 3 + 390) * 10 ^+ 3 + 743) * 10 ^+ 3 + 550) / (2 * 10 ^+ 21))
    (((((52 * 10 ^+ 3 + 487) * 10 ^+ 3 + 525) * 10 ^+ 3 + 651) * 10 ^+ 3 + 538) / (2 * 10 ^+ 21)) x2);
    [field|field|field|digits|digits|digits].
rewrite (_ : _ + _ = vec [:: - (11 / 4) * r + s; 0; 1 / 2 * r + s; - (17 / 4) * r - 2 * s] :> 'cV[R]_4); last first.
  apply/vecP; case=> [[|[|[|[|k]]]] //= i]; rewrite mxE !hadamardE !coreE !centredE m1 m2 q1 q2 -/r -/s !mxE /=;
    rewrite -/r -/s; by field.
move=> H; exists (- (11 / 4) * r + s), (1 / 2 * r + s), (- (17 / 4) * r - 2 * s).
have mix (k l t K L a b A B : R) : `|r - a| < 10 ^- 8 -> `|s - b| < 10 ^- 8 -> `|k| = K -> `|l| = L ->
    k * a + l * b - t + (η - (K + L) * 10 ^- 8) = A -> t - (k * a + l * b) + (η - (K + L) * 10 ^- 8) = B ->
    0 < A -> 0 < B -> `|k * r + l * s - t| < η.
  move=> ra sb <- <- <- <- A0 B0.
  have kr : `|k * (r - a)| <= `|k| * 10 ^- 8 by rewrite normrM ler_wpmul2l // ltW.
  have ls : `|l * (s - b)| <= `|l| * 10 ^- 8 by rewrite normrM ler_wpmul2l // ltW.
  rewrite (_ : k * r + l * s - t = k * (r - a) + l * (s - b) + (k * a + l * b - t)); last by ring.
  move: kr ls A0 B0; rewrite !ler_norml; set δ := 10 ^- 8 => /andP[k1 k2] /andP[l1 l2] A0 B0.
  rewrite ltr_norml; apply/andP; split.
    apply: lt_le_trans (ler_add (ler_add k1 l1) (lexx _)); rewrite -subr_gt0; apply: lt_le_trans A0 _.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  apply: le_lt_trans (ler_add (ler_add k2 l2) (lexx _)) _; rewrite -subr_gt0; apply: lt_le_trans B0 _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
split=> //.
- rewrite -[X in _ + X - _]mul1r; apply: (mix (- (11 / 4)) 1 _ (11 / 4) 1 _ _ ((303) / (4 * 10 ^+ 8)) ((67) / (4 * 10
  ^+ 8)) rE sE); [by rewrite ?normrN ger0_norm ?divr_ge0 ?ler01 ?ler0n
  |by rewrite ?normrN ger0_norm ?ler01 ?ler0n|by rewrite /η; field|by rewrite /η; field|digits|digits].
- rewrite -[X in _ + X - _]mul1r; apply: (mix (1 / 2) 1 _ (1 / 2) 1 _ _ ((35) / (2 * 10 ^+ 8)) ((159) / (2 * 10 ^+
  8)) rE sE); [by rewrite ?normrN ger0_norm ?divr_ge0 ?ler01 ?ler0n|by rewrite ?normrN ger0_norm ?ler01 ?ler0n
  |by rewrite /η; field|by rewrite /η; field|digits|digits].
- rewrite -[X in _ + X - _]mulNr; apply: (mix (- (17 / 4)) (- 2) _ (17 / 4) 2 _ _ ((265) / (4 * 10 ^+ 8)) ((85) / (4
  * 10 ^+ 8)) rE sE); [by rewrite ?normrN ger0_norm ?divr_ge0 ?ler01 ?ler0n
  |by rewrite ?normrN ger0_norm ?ler01 ?ler0n|by rewrite /η; field|by rewrite /η; field|digits|digits].
Qed.

Section TwoCoordinates.
Variable R : rcfType.
Implicit Types t : R.

Lemma slope_power f t s k : is_slope f t s -> is_slope (fun x : R => f x ^+ k.+1) t (k.+1%:R * f t ^+ k * s).
Proof.
move=> fs; elim: k => [|k IH]; first by rewrite mul1r expr0 mul1r; apply: slope_ext fs => x; rewrite expr1.
rewrite (_ : _ * s = f t * (k.+1%:R * f t ^+ k * s) + s * f t ^+ k.+1).
  by apply: slope_ext (slope_mul fs IH) => x; rewrite [RHS]exprS.
by rewrite mulrSr exprS; ring.
Qed.
(* the slope of (1 + t²)^(−1/2) is −t (1 + t²)^(−3/2) *)
Lemma line_root_gt0 t : 0 < √(1 + t ^+ 2). Proof. by rewrite sqrt_gt0 // ltr_paddr ?sqr_ge0 ?ltr01. Qed.
Lemma line_root_sqr t : √(1 + t ^+ 2) ^+ 2 = 1 + t ^+ 2. Proof. by rewrite sqrK ?addr_ge0 ?ler01 ?sqr_ge0. Qed.
Lemma slope_inv_root t : is_slope (fun x => (√(1 + x ^+ 2))^-1) t (- t * (√(1 + t ^+ 2))^-1 ^+ 3).
Proof.
have t0 : 0 < 1 + t ^+ 2 by rewrite ltr_paddr ?sqr_ge0 ?ltr01.
have sq : is_slope (fun x => 1 + x ^+ 2) t (2 * t).
  apply: (@slope_square _ _ _ _ 1); exists 1; rewrite ?ltr01 // => h _.
  by rewrite (_ : _ - _ - _ = h ^+ 2); [rewrite ger0_norm ?sqr_ge0 // mul1r|ring].
have := @slope_comp _ (fun x => 1 + x ^+ 2) (fun x => (√x)^-1) t _ _ (slope_inv_sqrt t0) sq;
  rewrite (_ : _ * (2 * t) = - t * (√(1 + t ^+ 2))^-1 ^+ 3) //.
rewrite -{1}line_root_sqr; field; by rewrite gt_eqF // line_root_gt0.
Qed.

Notation root t := (√(1 + t ^+ 2)).

(* s(t), the sum of the outputs for z = (t, 0), γ = (1, 2), β = 0 and ε = 1/4 *)
Definition sum_outputs t : R := \sum_i layer_norm (1 / 4) (vec [:: 1; 2]) 0 (vec [:: t; 0] : 'cV[R]_2) i 0.

Lemma two_coordinates t : core (1 / 4) (vec [:: t; 0] : 'cV[R]_2) = (root t)^-1 *: (vec [:: t; - t] : 'cV[R]_2)
  /\ √(variance (vec [:: t; 0] : 'cV[R]_2) + 1 / 4) = root t / 2.
Proof.
set z : 'cV[R]_2 := vec [:: t; 0]; have m : mean z = t / 2 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have q : variance z = t ^+ 2 / 4 by rewrite /variance !big_ord_recl big_ord0 !centredE m !mxE /=; field.
have r : √(variance z + 1 / 4) = root t / 2.
  apply: sqrt_eq; first by rewrite divr_ge0 ?ler0n ?sqrtr_ge0.
  by rewrite expr_div_n line_root_sqr q; field.
split=> //; have rn : root t != 0 by rewrite gt_eqF // line_root_gt0.
by apply/vecP; case=> [[|[|k]] //= i]; rewrite coreE r centredE m !mxE /=; field.
Qed.

(* For z = (t, 0), γ = (1, 2), β = 0 and ε = 1/4 the sum of the outputs is s(t) = −t (1 + t²)^(−1/2), with
   s' = −(1 + t²)^(−3/2), s'' = 3t (1 + t²)^(−5/2) and s''' = 3 (1 − 4t²) (1 + t²)^(−7/2). At t = 3/4 these are −3/5,
   −64/125, 2304/3125 and −12288/15625; at t = 7/10 s'' is 0.774914 and s''' is −0.713248, to six decimals *)
Theorem line_example :
  let s1 t := - (root t ^+ 3)^-1 in let s2 t := 3 * t / root t ^+ 5 in
  let s3 t := 3 * (1 - 4 * t ^+ 2) / root t ^+ 7 in let η : R := 1 / (2 * 10 ^+ 6) in
  [/\ forall t, sum_outputs t = - t / root t,
      forall t, [/\ is_slope sum_outputs t (s1 t), is_slope s1 t (s2 t) & is_slope s2 t (s3 t)],
      sum_outputs (3 / 4) = - (3 / 5) /\ s1 (3 / 4) = - (64 / 125),
      s2 (3 / 4) = (2 * 10 ^+ 3 + 304) / (3 * 10 ^+ 3 + 125)
        /\ s3 (3 / 4) = - ((12 * 10 ^+ 3 + 288) / (15 * 10 ^+ 3 + 625))
    & `|s2 (7 / 10) - (774 * 10 ^+ 3 + 914) / 10 ^+ 6| < η
      /\ `|s3 (7 / 10) - - ((713 * 10 ^+ 3 + 248) / 10 ^+ 6)| < η].
Proof.
move=> s1 s2 s3 η; have sE t : sum_outputs t = - t / root t.
  rewrite /sum_outputs; have [u _] := two_coordinates t.
  by rewrite !big_ord_recl big_ord0 !layer_normE u !mxE /=; move: (_^-1) => r; ring.
have rn t : root t != 0 by rewrite gt_eqF // line_root_gt0.
have r34 : root (3 / 4) = 5 / 4 :> R by apply: sqrt_eq; rewrite ?divr_ge0 ?ler0n //; field.
split=> //.
- move=> t; have si := slope_inv_root t; have tt : t ^+ 2 = root t ^+ 2 - 1 by rewrite line_root_sqr addrC addKr.
  have powers k := slope_power k si; move: (rn t) tt si powers; set r := root t => r0 tt si powers; split.
  + apply: (@slope_ext _ (fun x => (-1 * x + 0) * (root x)^-1)) => [x|]; first by rewrite sE; ring.
    have /= := slope_mul (slope_affine (-1) 0 t) si; rewrite -/r (_ : _ + _ = (t ^+ 2 - r ^+ 2) / r ^+ 3);
      last by field.
    by rewrite tt (_ : _ / _ = s1 t) // /s1 -/r; field.
  + apply: (@slope_ext _ (fun x => -1 * (root x)^-1 ^+ 3 + 0)) => [x|]; first by rewrite /s1; field; apply: rn.
    have /= := slope_comp (slope_affine (-1) 0 _) (powers 2%N); rewrite -?/r (_ : _ * (_ * _) = s2 t) // /s2 -/r; field.
    exact: r0.
  + apply: (@slope_ext _ (fun x => (3 * x + 0) * (root x)^-1 ^+ 5)) => [x|]; first by rewrite /s2; field; apply: rn.
    have /= := slope_mul (slope_affine 3 0 t) (powers 4%N); rewrite -?/r.
    rewrite (_ : _ + _ = 3 * (r ^+ 2 - 5 * t ^+ 2) / r ^+ 7); last by field.
    have r2 : r ^+ 2 = 1 + t ^+ 2 by rewrite tt addrC subrK.
    by rewrite {1}r2 (_ : _ / _ = s3 t) // /s3; congr (_ * _ / _); ring.
- by rewrite sE r34 /s1 r34; split; field.
- by rewrite /s2 /s3 r34; split; field.
- have η0 : 0 < η by rewrite divr_gt0 ?ltr01 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
  have x0 k : 0 < (149 / 100) ^+ k :> R by rewrite exprn_gt0 // divr_gt0 ?ltr0n.
  have near (y a x k A B C : R) : 0 < x -> 0 <= y -> y ^+ 2 * x = k -> a - η = A -> k - (a - η) ^+ 2 * x = B ->
      (a + η) ^+ 2 * x - k = C -> 0 < A -> 0 < B -> 0 < C -> `|y - a| < η.
    by move=> ? ? ? <- <- <- A0 B0 C0; apply: near_of_sqr A0 B0 C0.
  have q : root (7 / 10) ^+ 2 = 149 / 100 :> R by rewrite line_root_sqr; field.
  have r0 := line_root_gt0 (7 / 10 : R); have n0 := rn (7 / 10).
  have p k l : 0 <= k%:R / 100 / root (7 / 10 : R) ^+ l by rewrite divr_ge0 ?divr_ge0 ?ler0n // exprn_ge0 // sqrtr_ge0.
  split; [rewrite (_ : s2 (7 / 10) = 210 / 100 / root (7 / 10) ^+ 5) | idtac].
  + apply: (near _ _ _ ((210 / 100) ^+ 2) (((1 * 10 ^+ 3 + 549) * 10 ^+ 3 + 827) / (2 * 10 ^+ 6))
      ((((((322 * 10 ^+ 3 + 316) * 10 ^+ 3 + 782) * 10 ^+ 3 + 640) * 10 ^+ 3 + 308) * 10 ^+ 3 + 179) / (4 * 10 ^+ 22))
      ((((((132 * 10 ^+ 3 + 959) * 10 ^+ 3 + 300) * 10 ^+ 3 + 437) * 10 ^+ 3 + 776) * 10 ^+ 3 + 509) / (4 * 10 ^+ 22))
      (x0 5%N) (p 210%N 5%N)); [by move: q n0; move: (root _) => r <- rn'; field
      |by rewrite /η; field|by rewrite /η; field|by rewrite /η; field|digits|digits|digits].
  + by rewrite /s2; congr (_ / _); field.
  rewrite (_ : s3 (7 / 10) - - _ = - (288 / 100 / root (7 / 10) ^+ 7 - (713 * 10 ^+ 3 + 248) / 10 ^+ 6)); last first.
    have gen (r : R) : r != 0 -> 3 * (1 - 4 * (7 / 10) ^+ 2) / r ^+ 7 - - ((713 * 10 ^+ 3 + 248) / 10 ^+ 6)
      = - (288 / 100 / r ^+ 7 - (713 * 10 ^+ 3 + 248) / 10 ^+ 6) by move=> ?; field.
    exact: gen.
  rewrite normrN.
  apply: (near _ _ _ ((288 / 100) ^+ 2) (((1 * 10 ^+ 3 + 426) * 10 ^+ 3 + 495) / (2 * 10 ^+ 6))
      ((((((((4 * 10 ^+ 3 + 434) * 10 ^+ 3 + 343) * 10 ^+ 3 + 240) * 10 ^+ 3 + 992) * 10 ^+ 3 + 6) * 10 ^+ 3 + 146) *
        10 ^+ 3 + 275) / (4 * 10 ^+ 26))
      ((((((((4 * 10 ^+ 3 + 868) * 10 ^+ 3 + 901) * 10 ^+ 3 + 120) * 10 ^+ 3 + 793) * 10 ^+ 3 + 261) * 10 ^+ 3 + 990)
        * 10 ^+ 3 + 941) / (4 * 10 ^+ 26))
      (x0 7%N) (p 288%N 7%N)); [by move: q n0; move: (root _) => r <- rn'; field
      |by rewrite /η; field|by rewrite /η; field|by rewrite /η; field|digits|digits|digits].
Qed.
End TwoCoordinates.

(* u' = r (w − a u) with w = Ph and a = mean(w ⊙ u). Differentiating it along h with μ and r held constant, so with
   u(t) = r (z + th − μ1), gives −r² (ah + mu), m = mean(w ⊙ w). In the example of two coordinates, with h = (1,
     0), the sum
   of the outputs gets −t (1 + t²)^(−3/2), which is −0.384874 at t = 7/10 *)
Theorem line_frozen (R : rcfType) :
  let frozen n ε (z h : 'cV[R]_n.+1) :=
    let r := (√(variance z + ε))^-1 in let w := centred h in
    - (r ^+ 2) *: (mean (w ⊙ core ε z) *: h + mean (w ⊙ w) *: core ε z) in
  [/\ forall n ε (z h : 'cV[R]_n.+1) i,
        let r := (√(variance z + ε))^-1 in let w := centred h in
        let u t := r *: (z + t *: h - mean z *: ones) in
        is_slope (fun t => (r *: (w - mean (w ⊙ u t) *: u t)) i 0) 0 (frozen n ε z h i 0),
      forall t, \sum_i (vec [:: 1; 2] ⊙ frozen 1%N (1 / 4) (vec [:: t; 0]) (vec [:: 1; 0])) i 0
        = - t / √(1 + t ^+ 2) ^+ 3
    & `|- (7 / 10) / √(1 + (7 / 10) ^+ 2) ^+ 3 - - ((384 * 10 ^+ 3 + 874) / 10 ^+ 6)| < 1 / (2 * 10 ^+ 6) :> R].
Proof.
move=> frozen; split=> [n ε z h i r w u|t|].
- set U := core ε z; set a := mean (w ⊙ U); set m := mean (w ⊙ w).
  have uE t : u t = U + (t * r) *: h.
    by rewrite /u /U /core -/r /centred addrAC scalerDr scalerA (mulrC t).
  have aE t : mean (w ⊙ u t) = a + t * r * m.
    rewrite uE hadamardDr hadamardZr meanD meanZ; congr (_ + _ * _).
    by rewrite /m !mean_hadamard /w dot_centred2.
  apply: (@slope_square _ _ _ _ `|r ^+ 3 * m * h i 0|); exists 1; rewrite ?ltr01 // => t _.
  rewrite (_ : _ - _ = - (r ^+ 3 * m * h i 0) * t ^+ 2).
    by rewrite normrM normrN (ger0_norm (sqr_ge0 t)).
  rewrite /frozen -/r -/w -/U -/a -/m add0r !aE !uE; move: (w) (U) (h) => w' U' h'; rewrite !mxE.
  have gen (p b c s x y k : R) : p * (x - (b + s * p * c) * (y + s * p * k)) - p * (x - (b + 0 * p * c) * (y + 0 * p
    * k))
    - - p ^+ 2 * (b * k + c * y) * s = - (p ^+ 3 * c * k) * s ^+ 2 by ring.
  exact: gen.
- have [uE rE] := two_coordinates t; have r0 : √(1 + t ^+ 2) != 0 by rewrite gt_eqF // line_root_gt0.
  rewrite /frozen uE rE; set h : 'cV[R]_2 := vec [:: 1; 0].
  have mh : mean h = 1 / 2 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
  have wE : centred h = vec [:: 1 / 2; - (1 / 2)].
    by apply/vecP; case=> [[|[|k]] //= i]; rewrite centredE mh !mxE /=; field.
  rewrite wE; move: (√_) r0 => r r0.
  have -> : mean ((vec [:: 1 / 2; - (1 / 2)] : 'cV[R]_2) ⊙ (r^-1 *: vec [:: t; - t])) = t / (2 * r).
    by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field; rewrite r0.
  have -> : mean ((vec [:: 1 / 2; - (1 / 2)] : 'cV[R]_2) ⊙ vec [:: 1 / 2; - (1 / 2)]) = 1 / 4.
    by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
  by rewrite !big_ord_recl big_ord0 !mxE /=; field; rewrite r0.
- have r0 := line_root_gt0 (7 / 10 : R); have q := line_root_sqr (7 / 10 : R).
  move: r0 q; move: (√_) => r r0 q; have {}q : r ^+ 2 = 149 / 100 by rewrite q; field.
  have rn : r != 0 by rewrite gt_eqF.
  rewrite (_ : _ - - _ = - (7 / 10 / r ^+ 3 - (384 * 10 ^+ 3 + 874) / 10 ^+ 6)); last by field.
  rewrite normrN; apply: (@near_of_sqr R ((149 / 100) ^+ 3) _ _ ((7 / 10) ^+ 2)).
  + by rewrite exprn_gt0 // divr_gt0 ?ltr0n.
  + by rewrite divr_ge0 ?divr_ge0 ?ler0n // exprn_ge0 // ltW.
  + by rewrite -q; field.
  + by rewrite divr_gt0 ?ltr01 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
  + rewrite (_ : _ - _ = (769 * 10 ^+ 3 + 747) / (2 * 10 ^+ 6)); [digits|by field].
  + rewrite (_ : _ - _ = ((((5 * 10 ^+ 3 + 669) * 10 ^+ 3 + 250) * 10 ^+ 3 + 872) * 10 ^+ 3 + 459) / (4 * 10 ^+ 18));
    [digits|by field].
  + rewrite (_ : _ - _ = ((((4 * 10 ^+ 3 + 515) * 10 ^+ 3 + 897) * 10 ^+ 3 + 634) * 10 ^+ 3 + 949) / (4 * 10 ^+ 18));
    [digits|by field].
Qed.
