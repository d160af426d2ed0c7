(* Derivatives: they are unique, they obey the chain rule and the product rule. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* ---- ρ(h) is small even beside ‖h‖ ---- *)
Section Small.
Variables (R : rcfType) (n : nat).
Implicit Types (ρ σ : 'cV[R]_n -> R) (h : 'cV[R]_n) (c : R).

Definition small ρ : Prop := forall η, 0 < η -> exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> ρ h <= η * ‖h‖.

Lemma small_near ρ σ : (exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> ρ h <= σ h) -> small σ -> small ρ.
Proof.
move=> [δ δ0 ρσ] sσ η η0; have [δ' δ'0 H] := sσ η η0.
exists (Num.min δ δ'); first by rewrite lt_minr δ0.
by move=> h; rewrite le_minr => /andP[h1 h2]; apply: le_trans (ρσ h h1) (H h h2).
Qed.
Lemma small_le ρ σ : (forall h, ρ h <= σ h) -> small σ -> small ρ.
Proof. by move=> ρσ; apply: small_near; exists 1; rewrite ?ltr01 // => h _; apply: ρσ. Qed.
Lemma small_add ρ σ : small ρ -> small σ -> small (fun h => ρ h + σ h).
Proof.
move=> sρ sσ η η0; have η20 : 0 < η / 2%:R by rewrite divr_gt0 ?ltr0n.
have [δ δ0 Hρ] := sρ _ η20; have [δ' δ'0 Hσ] := sσ _ η20.
exists (Num.min δ δ'); first by rewrite lt_minr δ0.
move=> h; rewrite le_minr => /andP[h1 h2]; rewrite [η](splitr η) mulrDl.
by rewrite ler_add ?Hρ ?Hσ.
Qed.
Lemma small_mul c ρ : 0 <= c -> small ρ -> small (fun h => c * ρ h).
Proof.
move=> c0 sρ η η0; have c1 : 0 < c + 1 by rewrite ltr_paddl ?ltr01.
have [δ δ0 H] := sρ (η / (c + 1)) (divr_gt0 η0 c1); exists δ => // h hδ.
apply: le_trans (ler_wpmul2l c0 (H h hδ)) _; rewrite mulrA ler_wpmul2r ?norm_ge0 //.
by rewrite mulrA ler_pdivr_mulr // mulrC ler_wpmul2l ?ler_addl ?ler01 // ltW.
Qed.
Lemma small_square c : small (fun h => c * ‖h‖ ^+ 2).
Proof.
move=> η η0; have c1 : 0 < `|c| + 1 by rewrite ltr_paddl ?ltr01.
exists (η / (`|c| + 1)); first exact: divr_gt0.
move=> h; rewrite ler_pdivl_mulr // => hδ; rewrite expr2 mulrA ler_wpmul2r ?norm_ge0 //.
apply: le_trans hδ; rewrite mulrC ler_wpmul2l ?norm_ge0 // (le_trans (ler_norm c)) //.
by rewrite ler_addl ler01.
Qed.
End Small.

(* ---- every matrix stretches a step by a bounded factor ---- *)
Section Bounded.
Variables (R : rcfType) (m n : nat).
Implicit Types (A : 'M[R]_(m, n)) (f : 'cV[R]_n -> 'cV[R]_m) (z h : 'cV[R]_n).

(* the root of the sum of all squared entries is such a factor *)
Definition frobenius A : R := √(\sum_i ‖(row i A)^T‖ ^+ 2).
Lemma frobenius_ge0 A : 0 <= frobenius A. Proof. exact: sqrtr_ge0. Qed.
Lemma frobenius_bound A : operator_bound A (frobenius A).
Proof.
have s0 : 0 <= \sum_i ‖(row i A)^T‖ ^+ 2 by apply: sumr_ge0 => i _; rewrite sqr_ge0.
move=> h; rewrite norm_le_norm ?sqrtr_ge0 // sqrK // mulr_suml; apply: ler_sum => i _.
have -> : (A *m h) i 0 = ⟨(row i A)^T, h⟩ by rewrite mxE; apply: eq_bigr => j _; rewrite !mxE.
by rewrite -expr2 sqr_norm cauchy_schwarz_sqr.
Qed.
Lemma mulmx_bounded A : exists2 c, 0 < c & operator_bound A c.
Proof.
exists (frobenius A + 1); first by rewrite ltr_paddl ?ltr01 ?frobenius_ge0.
by move=> h; apply: le_trans (frobenius_bound A h) _; rewrite ler_wpmul2r ?norm_ge0 // ler_addl ler01.
Qed.

Lemma derivative_ext f g z A : (forall x, f x = g x) -> is_derivative f z A -> is_derivative g z A.
Proof. by move=> fg fA η /fA[δ δ0 H]; exists δ => // h; rewrite -!fg; apply: H. Qed.

(* the steps of f are bounded near z *)
Lemma derivative_steps f z A : is_derivative f z A ->
  exists2 c, 0 < c & exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> ‖f (z + h) - f z‖ <= c * ‖h‖.
Proof.
move=> fA; have [c c0 Ac] := mulmx_bounded A; have [δ δ0 H] := fA 1 ltr01.
exists (1 + c); first by rewrite addr_gt0 ?ltr01.
exists δ => // h /H fh; rewrite -(subrK (A *m h) (f _ - _)) mulrDl.
exact: le_trans (norm_triangle _ _) (ler_add fh (Ac h)).
Qed.

Lemma derivative_small f z A σ :
  (exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> ‖f (z + h) - f z - A *m h‖ <= σ h) -> small σ -> is_derivative f z A.
Proof. exact: (@small_near _ _ (fun h => ‖f (z + h) - f z - A *m h‖)). Qed.
Lemma gradient_small (ℓ : 'cV[R]_n -> R) z g σ :
  (exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> `|ℓ (z + h) - ℓ z - ⟨g, h⟩| <= σ h) -> small σ -> is_gradient ℓ z g.
Proof. exact: (@small_near _ _ (fun h => `|ℓ (z + h) - ℓ z - ⟨g, h⟩|)). Qed.

(* a remainder of at most c ‖h‖² makes A the derivative, and g the gradient *)
Lemma derivative_square f z A c :
  (forall h, ‖f (z + h) - f z - A *m h‖ <= c * ‖h‖ ^+ 2) -> is_derivative f z A.
Proof. by move=> H; apply: (@derivative_small _ _ _ _ _ (@small_square R n c)); exists 1; rewrite ?ltr01. Qed.
Lemma gradient_square (ℓ : 'cV[R]_n -> R) z g c :
  (forall h, `|ℓ (z + h) - ℓ z - ⟨g, h⟩| <= c * ‖h‖ ^+ 2) -> is_gradient ℓ z g.
Proof. by move=> H; apply: (@gradient_small _ _ _ _ _ (@small_square R n c)); exists 1; rewrite ?ltr01. Qed.

Lemma derivative_affine A b z : is_derivative (fun x => A *m x + b) z A.
Proof.
apply: (@derivative_square _ _ _ 0) => h.
have -> : A *m (z + h) + b - (A *m z + b) - A *m h = 0.
  by rewrite mulmxDr; move: (A *m z) (A *m h) => x y; apply/vecP => i; rewrite !mxE /=; ring.
by rewrite norm0 mul0r.
Qed.
End Bounded.

Section Linear.
Variable R : rcfType.

(* a function that differs from a step's image by less than any share of the step is 0 *)
Lemma derivative_unique m n (f : 'cV[R]_n -> 'cV[R]_m) z A B :
  is_derivative f z A -> is_derivative f z B -> A = B.
Proof.
move=> fA fB; apply/subr0_eq/matrixP => i j; rewrite [RHS]mxE; apply/eqP; rewrite -normr_le0.
set e : 'cV[R]_n := delta_mx j 0; have e1 : ‖e‖ = 1.
  rewrite /norm /dot (bigD1 j) //= big1 => [|k kj]; first by rewrite !mxE !eqxx mulr1 addr0 sqrtr1.
  by rewrite !mxE (negPf kj) mulr0.
apply/ler_addgt0Pl => η η0; rewrite addr0.
have η20 : 0 < η / 2%:R by rewrite divr_gt0 ?ltr0n.
have [δ δ0 HA] := fA _ η20; have [δ' δ'0 HB] := fB _ η20.
set t := Num.min δ δ'; have t0 : 0 < t by rewrite lt_minr δ0.
set h := t *: e; have ht : ‖h‖ = t by rewrite normZ e1 mulr1 ger0_norm // ltW.
have {}HA := HA h; have {}HB := HB h; rewrite ht !le_minl !lexx orbT /= in HA HB.
have -> : (A - B) i j = ((A - B) *m e) i 0 by rewrite -colE [RHS]mxE.
rewrite -(ler_pmul2l t0) -{1}(gtr0_norm t0) -normrM.
have -> : t * ((A - B) *m e) i 0 = ((A - B) *m h) i 0 by rewrite -scalemxAr [in RHS]mxE.
apply: le_trans (norm_entry _ i) _.
have -> : (A - B) *m h = (f (z + h) - f z - B *m h) - (f (z + h) - f z - A *m h).
  by rewrite mulmxBl opprB [RHS]addrC addrA subrK.
apply: le_trans (norm_triangle _ _) _; rewrite normN mulrC [η]splitr mulrDl.
by rewrite ler_add ?HA ?HB.
Qed.

(* the chain rule *)
Lemma derivative_comp l m n (g : 'cV[R]_m -> 'cV[R]_l) (f : 'cV[R]_n -> 'cV[R]_m) z B A :
  is_derivative g (f z) B -> is_derivative f z A -> is_derivative (fun x => g (f x)) z (B *m A).
Proof.
move=> gB fA; have [c c0 [δ δ0 Hc]] := derivative_steps fA; have [b b0 Hb] := mulmx_bounded B.
have sg : small (fun h => ‖g (f (z + h)) - g (f z) - B *m (f (z + h) - f z)‖).
  move=> η η0; have [δ' δ'0 H] := gB (η / c) (divr_gt0 η0 c0).
  exists (Num.min δ (δ' / c)); first by rewrite lt_minr δ0 divr_gt0.
  move=> h; rewrite le_minr ler_pdivl_mulr // => /andP[h1 h2].
  have := H (f (z + h) - f z); rewrite (addrC (f z)) subrK; move/(_ _)/le_trans; apply.
    by apply: le_trans (Hc h h1) _; rewrite mulrC.
  apply: le_trans (ler_wpmul2l (ltW (divr_gt0 η0 c0)) (Hc h h1)) _.
  by rewrite mulrA divfK ?lt0r_neq0.
apply: small_le (small_add sg (small_mul (ltW b0) fA)) => h.
rewrite -mulmxA; set k := f (z + h) - f z.
have -> : g (f (z + h)) - g (f z) - B *m (A *m h) = g (f (z + h)) - g (f z) - B *m k + B *m (k - A *m h).
  by rewrite [B *m (k - _)]mulmxBr addrA subrK.
exact: le_trans (norm_triangle _ _) (ler_add (lexx _) (Hb _)).
Qed.

(* gradients and slopes are derivatives of functions with one entry *)
Lemma norm_scalar (a : R) : ‖a%:M : 'cV[R]_1‖ = `|a|.
Proof. by rewrite /norm /dot big_ord1 !mxE -expr2 sqrtr_sqr. Qed.
Lemma gradient_derivative n (ℓ : 'cV[R]_n -> R) z g :
  is_gradient ℓ z g <-> is_derivative (fun x => (ℓ x)%:M : 'cV[R]_1) z g^T.
Proof.
suff E h : ‖(ℓ (z + h))%:M - (ℓ z)%:M - g^T *m h : 'cV[R]_1‖ = `|ℓ (z + h) - ℓ z - ⟨g, h⟩|.
  by split=> H η /H[δ δ0 Hδ]; exists δ => // h /Hδ; rewrite E.
by rewrite [g^T *m h]mx11_scalar -dotE -!raddfB norm_scalar.
Qed.
Lemma slope_derivative (f : R -> R) t s :
  is_slope f t s <-> is_derivative (fun x : 'cV[R]_1 => (f (x 0 0))%:M : 'cV[R]_1) t%:M s%:M.
Proof.
suff E (h : 'cV[R]_1) : ‖(f ((t%:M + h) 0 0))%:M - (f ((t%:M : 'cV[R]_1) 0 0))%:M - s%:M *m h : 'cV[R]_1‖
    = `|f (t + h 0 0) - f t - s * h 0 0| /\ ‖h‖ = `|h 0 0|.
  split=> H η /H[δ δ0 Hδ]; exists δ => // h; first by have [-> ->] := E h; apply: Hδ.
  by have := Hδ h%:M; have [-> ->] := E h%:M; rewrite !mxE.
rewrite {1 2 4}[h]mx11_scalar !mxE /= !mulr1n -scalar_mxM -!raddfB norm_scalar; split=> //.
by rewrite {1}[h]mx11_scalar norm_scalar.
Qed.

Lemma gradient_unique n (ℓ : 'cV[R]_n -> R) z g g' : is_gradient ℓ z g -> is_gradient ℓ z g' -> g = g'.
Proof. by move=> /gradient_derivative H /gradient_derivative /(derivative_unique H) /trmx_inj. Qed.

(* ∂ℓ/∂z = Aᵀ ∂ℓ/∂y for y = f(z) with the derivative A *)
Lemma gradient_comp m n (ℓ : 'cV[R]_m -> R) (f : 'cV[R]_n -> 'cV[R]_m) z g A :
  is_gradient ℓ (f z) g -> is_derivative f z A -> is_gradient (fun x => ℓ (f x)) z (A^T *m g).
Proof.
move=> /gradient_derivative ℓg fA; apply/gradient_derivative.
by rewrite trmx_mul trmxK; apply: derivative_comp ℓg fA.
Qed.
Lemma gradient_slope n (φ : R -> R) (ℓ : 'cV[R]_n -> R) z g s :
  is_slope φ (ℓ z) s -> is_gradient ℓ z g -> is_gradient (fun x => φ (ℓ x)) z (s *: g).
Proof.
move=> /slope_derivative φs /gradient_derivative ℓg; apply/gradient_derivative.
have := derivative_comp φs ℓg; rewrite mul_scalar_mx -linearZ /=.
by apply: derivative_ext => x; rewrite !mxE.
Qed.
Lemma slope_unique (f : R -> R) t s s' : is_slope f t s -> is_slope f t s' -> s = s'.
Proof.
move=> /slope_derivative H /slope_derivative /(derivative_unique H) /matrixP/(_ 0 0).
by rewrite !mxE !mulr1n.
Qed.
Lemma slope_shift (f : R -> R) t s : is_slope (fun x => f (t + x)) 0 s -> is_slope f t s.
Proof. by move=> H η /H[δ δ0 K]; exists δ => // h /K; rewrite add0r addr0. Qed.
Lemma slope_ext (f g : R -> R) t s : (forall x, f x = g x) -> is_slope f t s -> is_slope g t s.
Proof. by move=> fg fs η /fs[δ δ0 H]; exists δ => // h; rewrite -!fg; apply: H. Qed.
Lemma gradient_ext n (f g : 'cV[R]_n -> R) z p : (forall x, f x = g x) -> is_gradient f z p -> is_gradient g z p.
Proof. by move=> fg fs η /fs[δ δ0 H]; exists δ => // h; rewrite -!fg; apply: H. Qed.

(* along a line, coordinate i of f has the slope (Aw)_i *)
Lemma derivative_line m n (f : 'cV[R]_n -> 'cV[R]_m) z A (w : 'cV[R]_n) i :
  is_derivative f z A -> is_slope (fun t => f (z + t *: w) i 0) 0 ((A *m w) i 0).
Proof.
move=> fA η η0; have w1 : 0 < ‖w‖ + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have [δ δ0 H] := fA (η / (‖w‖ + 1)) (divr_gt0 η0 w1); exists (δ / (‖w‖ + 1)); first exact: divr_gt0.
move=> t; rewrite ler_pdivl_mulr // => tδ; rewrite add0r scale0r addr0.
have tw : `|t| * ‖w‖ <= `|t| * (‖w‖ + 1) by rewrite ler_wpmul2l ?normr_ge0 // ler_addl ler01.
have := H (t *: w); rewrite normZ => /(_ (le_trans tw tδ)) {}H.
have -> : f (z + t *: w) i 0 - f z i 0 - (A *m w) i 0 * t = (f (z + t *: w) - f z - A *m (t *: w)) i 0.
  by rewrite -scalemxAr; move: (f _) (f z) (A *m w) => x y a; rewrite !mxE /=; ring.
apply: le_trans (norm_entry _ i) (le_trans H _).
by rewrite -mulrA ler_wpmul2l ?(ltW η0) // ler_pdivr_mull // [_ * `|t|]mulrC.
Qed.

(* Several positions: if position n of f answers to every step h by A_n h, the gradients add up,
   ∂ℓ/∂p = Σ_n A_nᵀ ∂ℓ/∂(position n) *)
Lemma gradient_positions k m N (ℓ : 'M[R]_(m, N) -> R) (f : 'cV[R]_k -> 'M[R]_(m, N)) A p G :
  (forall h n, col n (f (p + h)) - col n (f p) = A n *m h) -> is_gradient_positions ℓ (f p) G ->
  is_gradient (fun x => ℓ (f x)) p (\sum_n (A n)^T *m col n G).
Proof.
move=> fA ℓG η η0; set C := \sum_n frobenius (A n).
have C0 : 0 <= C by apply: sumr_ge0 => n _; apply: frobenius_ge0.
have C1 : 0 < C + 1 by rewrite ltr_paddl ?ltr01.
have [δ δ0 H] := ℓG (η / (C + 1)) (divr_gt0 η0 C1); exists (δ / (C + 1)); first exact: divr_gt0.
move=> h; rewrite ler_pdivl_mulr // => hδ; have {}H := H (f (p + h) - f p).
have colE n : col n (f (p + h) - f p) = A n *m h by rewrite raddfB fA.
have dotE' : ⟨\sum_n (A n)^T *m col n G, h⟩ = \sum_n ⟨col n G, col n (f (p + h) - f p)⟩.
  rewrite (big_morph (fun x => ⟨x, h⟩) (fun x y => dotDl x y h) (dot0l h)); apply: eq_bigr => n _.
  by rewrite dot_mulmx trmxK colE.
move: H; rewrite (addrC (f p)) subrK dotE' => H; apply: le_trans (H _) _ => [n|].
  rewrite colE; apply: le_trans (frobenius_bound (A n) h) (le_trans _ hδ).
  rewrite mulrC ler_wpmul2l ?norm_ge0 // /C (bigD1 n) //= -addrA ler_addl addr_ge0 ?ler01 //.
  by apply: sumr_ge0 => j _; apply: frobenius_ge0.
apply: (@le_trans _ _ (η / (C + 1) * (C * ‖h‖))).
  rewrite ler_wpmul2l ?divr_ge0 ?(ltW η0) ?(ltW C1) // mulr_suml; apply: ler_sum => n _.
  by rewrite colE frobenius_bound.
rewrite mulrA ler_wpmul2r ?norm_ge0 // mulrAC ler_pdivr_mulr // ler_wpmul2l ?(ltW η0) //.
by rewrite ler_addl ler01.
Qed.

(* the sum rule *)
Lemma derivative_add m n (f g : 'cV[R]_n -> 'cV[R]_m) z A B :
  is_derivative f z A -> is_derivative g z B -> is_derivative (fun x => f x + g x) z (A + B).
Proof.
move=> fA gB; apply: derivative_small (small_add fA gB); exists 1; rewrite ?ltr01 // => h _.
rewrite mulmxDl; move: (f _) (f z) (g _) (g z) (A *m h) (B *m h) => f' f0 g' g0 a b.
have -> : f' + g' - (f0 + g0) - (a + b) = f' - f0 - a + (g' - g0 - b).
  by apply/vecP => i; rewrite !mxE /=; ring.
exact: norm_triangle.
Qed.

(* the product rule *)
Lemma derivative_scale m n (φ : 'cV[R]_n -> R) (f : 'cV[R]_n -> 'cV[R]_m) z p A :
  is_gradient φ z p -> is_derivative f z A -> is_derivative (fun x => φ x *: f x) z (φ z *: A + f z *m p^T).
Proof.
move=> φp fA; have [c c0 [δ δ0 Hc]] := derivative_steps fA.
have [b b0 [δ' δ'0 Hb]] := derivative_steps (proj1 (gradient_derivative _ _ _) φp).
have S := small_add (small_add (small_mul (normr_ge0 (φ z)) fA) (small_mul (norm_ge0 (f z)) φp))
  (@small_square R n (b * c)).
apply: derivative_small S.
exists (Num.min δ δ'); first by rewrite lt_minr δ0.
move=> h; rewrite le_minr => /andP[/Hc fh /Hb]; rewrite -raddfB norm_scalar => φh.
set e := f (z + h) - f z - A *m h; set e' := φ (z + h) - φ z - ⟨p, h⟩.
have -> : φ (z + h) *: f (z + h) - φ z *: f z - (φ z *: A + f z *m p^T) *m h
    = φ z *: e + e' *: f z + (φ (z + h) - φ z) *: (f (z + h) - f z).
  rewrite mulmxDl -scalemxAl outer_mul /e /e'; move: (f _) (φ _) (A *m h) => x y a.
  by apply/vecP => i; rewrite !mxE /=; ring.
apply: le_trans (norm_triangle _ _) (ler_add (le_trans (norm_triangle _ _) (ler_add _ _)) _).
- by rewrite normZ.
- by rewrite normZ mulrC.
- by rewrite normZ expr2 mulrACA ler_pmul ?normr_ge0 ?norm_ge0.
Qed.
End Linear.

(* ---- the slopes and gradients that the pages need ---- *)
Section Examples.
Variable R : rcfType.

Lemma slope_square (f : R -> R) t s c :
  (exists2 δ, 0 < δ & forall h : R, `|h| <= δ -> `|f (t + h) - f t - s * h| <= c * h ^+ 2) -> is_slope f t s.
Proof.
move=> [δ δ0 H] η η0; have c1 : 0 < `|c| + 1 by rewrite ltr_paddl ?ltr01.
exists (Num.min δ (η / (`|c| + 1))); first by rewrite lt_minr δ0 divr_gt0.
move=> h; rewrite le_minr ler_pdivl_mulr // => /andP[/H hδ hη]; apply: le_trans hδ _.
rewrite -real_normK ?num_real // expr2 mulrA ler_wpmul2r ?normr_ge0 //; apply: le_trans hη.
by rewrite mulrC ler_wpmul2l ?normr_ge0 // (le_trans (ler_norm c)) // ler_addl ler01.
Qed.

(* the slope of √t is 1/(2√t) *)
Lemma slope_sqrt (t : R) : 0 < t -> is_slope (fun t => √t) t (2%:R * √t)^-1.
Proof.
move=> t0; set r := √t; have r0 : 0 < r by rewrite sqrt_gt0.
apply: (@slope_square _ _ _ (2%:R * r ^+ 3)^-1); exists t => // h ht.
have th : 0 <= t + h by move: ht; rewrite ler_norml addrC -ler_subl_addr sub0r => /andP[].
set s := √(t + h); have s0 : 0 <= s by rewrite sqrtr_ge0.
have hE : h = s ^+ 2 - r ^+ 2 by rewrite !sqrK ?(ltW t0) // addrAC subrr add0r.
have rn : r != 0 by rewrite gt_eqF.
have sr : 0 < s + r by rewrite ltr_paddl.
have sn : s + r != 0 by rewrite gt_eqF.
have -> : s - r - (2%:R * r)^-1 * h = - (h ^+ 2 / (2%:R * r * (s + r) ^+ 2)).
  by rewrite hE; field; rewrite sn rn.
rewrite normrN ger0_norm ?divr_ge0 ?sqr_ge0 ?mulr_ge0 ?ler0n ?(ltW r0) ?(ltW sr) //.
rewrite [leRHS]mulrC ler_wpmul2l ?sqr_ge0 // lef_pinv ?posrE ?mulr_gt0 ?exprn_gt0 ?ltr0n //.
rewrite -mulrA ler_pmul2l ?ltr0n // exprS ler_pmul2l //.
by rewrite ler_pexpn2r ?nnegrE ?ler_addr ?(ltW sr) // ltW.
Qed.

(* the slope of 1/√t is −1/(2 t √t) *)
Lemma slope_inv_sqrt (t : R) : 0 < t -> is_slope (fun t => (√t)^-1) t (- (2%:R * t * √t)^-1).
Proof.
move=> t0; set r := √t; have r0 : 0 < r by rewrite sqrt_gt0.
apply: (@slope_square _ _ _ (2%:R / r ^+ 5)); exists (3%:R / 4%:R * t) => [|h ht].
  by rewrite !mulr_gt0 ?invr_gt0 ?ltr0n.
have th : t / 4%:R <= t + h.
  move: ht; rewrite ler_norml => /andP[+ _]; rewrite -subr_ge0 => H.
  by rewrite -subr_ge0 (_ : _ - _ = h - - (3%:R / 4%:R * t)) //; field.
set s := √(t + h); have t40 : 0 < t / 4%:R by rewrite divr_gt0 ?ltr0n.
have s2 : r / 2%:R <= s.
  apply: ler_of_sqr; first exact: sqrtr_ge0.
  by rewrite expr_div_n !sqrK ?(ltW t0) ?(le_trans (ltW t40)) // (_ : 2%:R ^+ 2 = 4%:R) // -natrX.
have s0 : 0 < s by apply: lt_le_trans s2; rewrite divr_gt0 ?ltr0n.
have tE : t = r ^+ 2 by rewrite sqrK ?(ltW t0).
have hE : h = s ^+ 2 - r ^+ 2 by rewrite !sqrK ?(ltW t0) ?(le_trans (ltW t40)) // addrAC subrr add0r.
have rn : r != 0 by rewrite gt_eqF.
have sn : s != 0 by rewrite gt_eqF.
have sr0 : 0 < s + r by rewrite addr_gt0.
have srn : s + r != 0 by rewrite gt_eqF.
have -> : s^-1 - r^-1 - - (2%:R * t * r)^-1 * h
    = h ^+ 2 * ((s + 2%:R * r) / (2%:R * r ^+ 3 * s * (s + r) ^+ 2)).
  by rewrite hE tE; field; rewrite rn sn srn.
have den : 0 < 2%:R * r ^+ 3 * s * (s + r) ^+ 2 by rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n.
have num : 0 < s + 2%:R * r by rewrite addr_gt0 ?mulr_gt0 ?ltr0n.
rewrite ger0_norm; last exact: mulr_ge0 (sqr_ge0 h) (ltW (divr_gt0 num den)).
rewrite [leRHS]mulrC ler_wpmul2l ?sqr_ge0 // ler_pdivr_mulr // mulrAC ler_pdivl_mulr ?exprn_gt0 //.
rewrite -subr_ge0 (_ : _ - _ = r ^+ 3 * (4%:R * s * (s + r) ^+ 2 - r ^+ 2 * (s + 2%:R * r))); last by ring.
apply: mulr_ge0; first exact/exprn_ge0/ltW.
have -> : 4%:R * s * (s + r) ^+ 2 - r ^+ 2 * (s + 2%:R * r)
    = 4%:R * s ^+ 3 + 8%:R * s ^+ 2 * r + 3%:R * s * r ^+ 2 - 2%:R * r ^+ 3 by ring.
have -> : 4%:R * s ^+ 3 + 8%:R * s ^+ 2 * r + 3%:R * s * r ^+ 2 - 2%:R * r ^+ 3
  = 4%:R * s ^+ 3 + 8%:R * r * (s ^+ 2 - (r / 2%:R) ^+ 2) + 3%:R * s * r ^+ 2 by field.
apply: addr_ge0; last by rewrite !mulr_ge0 ?exprn_ge0 ?ler0n ?(ltW r0) ?(ltW s0).
apply: addr_ge0; first by rewrite mulr_ge0 ?exprn_ge0 ?ler0n ?(ltW s0).
rewrite mulr_ge0 ?mulr_ge0 ?ler0n ?(ltW r0) // subr_ge0.
by rewrite ler_pexpn2r ?nnegrE ?divr_ge0 ?ler0n ?(ltW r0) ?(ltW s0).
Qed.

(* ∂(½‖y‖²)/∂y = y *)
Lemma gradient_half_square n (y : 'cV[R]_n) : is_gradient (fun y => ‖y‖ ^+ 2 / 2) y y.
Proof.
apply: (@gradient_square _ _ _ _ _ 2%:R^-1) => h; rewrite 2!sqr_norm.
have -> : ⟨y + h, y + h⟩ / 2%:R - ⟨y, y⟩ / 2%:R - ⟨y, h⟩ = ⟨h, h⟩ / 2%:R by rewrite dot_add; field.
by rewrite ger0_norm ?mulr_ge0 ?dot_ge0 ?invr_ge0 ?ler0n // sqr_norm mulrC.
Qed.
End Examples.
