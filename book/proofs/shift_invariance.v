(* The statements of the page "Shift invariance". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z γ β a b : 'cV[R]_d) (ε c : R).

(* Under z ↦ z + c1 the mean becomes μ + c; the centred vector and the variance do not change *)
Theorem shift_steps z c :
  [/\ mean (z + c *: ones) = mean z + c, centred (z + c *: ones) = centred z & variance (z + c *: ones) = variance z].
Proof. by rewrite mean_shift centred_shift variance_shift. Qed.

(* Pa = 0 if and only if a = c1 for some number c *)
Theorem shift_kernel a : P *m a = 0 <-> exists c, a = c *: ones.
Proof. by rewrite P_mul; apply: centred_eq0. Qed.

(* LN(z + c1) = LN(z) for every z, c, γ, β and every ε > 0, and at ε = 0 wherever q > 0 *)
Theorem shift_exact ε γ β z c : 0 < variance z + ε ->
  0 < variance (z + c *: ones) + ε /\ layer_norm ε γ β (z + c *: ones) = layer_norm ε γ β z.
Proof. by rewrite variance_shift /layer_norm core_shift. Qed.

(* equal cores mean equal centred vectors, if ε > 0 *)
Lemma core_inj ε (x y : 'cV[R]_d) : 0 < ε -> core ε x = core ε y -> centred x = centred y.
Proof.
move=> e0 uu; have qx := variance_eps x e0; have qy := variance_eps y e0.
have core_q z : 0 < variance z + ε -> variance (core ε z) = 1 - ε / (variance z + ε).
  move=> q0; rewrite /core varianceZ variance_centred exprVn sqrK ?(ltW q0) //.
  by rewrite mulrC -{1}(addrK ε (variance z)) mulrBl divff ?gt_eqF.
have := core_q x qx; rewrite uu core_q // => /addrI/oppr_inj.
move/(mulfI (lt0r_neq0 e0))/invr_inj/addIr => qq.
by rewrite -(core_root qx) -(core_root qy) uu qq.
Qed.

(* If a is no common shift, u(z + a) ≠ u(z) for ε > 0; for z = (1, 2, 3), a = (0, 0, 1), ε = 1/3 the core moves from
   (−1, 0, 1) to (−4, −1, 5)/√17 *)
Theorem shift_unequal ε z a : 0 < ε ->
  ((forall c, a <> c *: ones) -> core ε (z + a) <> core ε z)
  /\ let x : 'cV[R]_3 := vec [:: 1; 2; 3] in
     core (1 / 3) x = vec [:: -1; 0; 1]
     /\ core (1 / 3) (x + vec [:: 0; 0; 1]) = (√17)^-1 *: vec [:: -4; -1; 5].
Proof.
move=> e0; split=> [noc /(core_inj e0)/eqP|x].
  rewrite centredD -subr_eq0 addrAC subrr add0r => /eqP/centred_eq0[c ac].
  exact: noc ac.
have m : mean x = 2 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v : centred x = vec [:: -1; 0; 1].
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite centredE m !mxE /=; ring.
have q : variance x = 2 / 3 by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
split; first by rewrite /core q v (_ : _ + _ = 1) ?sqrtr1 ?invr1 ?scale1r //; field.
set y := x + _; have m' : mean y = 7 / 3 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v' : centred y = 3^-1 *: vec [:: -4; -1; 5].
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite centredE m' !mxE /=; field.
have q' : variance y = 14 / 9 by rewrite /variance v' !big_ord_recl big_ord0 !mxE /=; field.
rewrite /core q' v' scalerA; congr (_ *: _).
rewrite (_ : 14 / 9 + 1 / 3 = 17 * (3^-1) ^+ 2); last by field.
by rewrite sqrtrM ?ler0n // sqrtr_sqr ger0_norm ?invr_ge0 ?ler0n // invfM invrK -mulrA divff ?mulr1 ?pnatr_eq0.
Qed.

(* At ε = 1/3 the input (1, 2, 3) has μ = 2, q = 2/3 and u = (−1, 0, 1); (101, 102, 103) has the same core *)
Theorem shift_example : let z : 'cV[R]_3 := vec [:: 1; 2; 3] in
  [/\ mean z = 2, variance z = 2 / 3, core (1 / 3) z = vec [:: -1; 0; 1]
    & core (1 / 3) (vec [:: 101; 102; 103]) = vec [:: -1; 0; 1] :> 'cV[R]_3].
Proof.
move=> z; have m : mean z = 2 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v : centred z = vec [:: -1; 0; 1].
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite centredE m !mxE /=; ring.
have q : variance z = 2 / 3 by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
have u : core (1 / 3) z = vec [:: -1; 0; 1].
  by rewrite /core q v (_ : _ + _ = 1) ?sqrtr1 ?invr1 ?scale1r //; field.
split=> //; rewrite -u -(core_shift (1 / 3) z 100); congr (core _ _).
by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite !mxE /=; ring.
Qed.
End Page.

Section Network.
Variables (R : rcfType) (n k : nat).
Notation d := n.+1.
Implicit Types (γ β b : 'cV[R]_d) (W : 'M[R]_(d, k)) (x a r : 'cV[R]_k) (ε c : R).

(* z = Wx + b for all raw inputs, the columns of X *)
Definition affine W b N (X : 'M[R]_(k, N)) : 'M[R]_(d, N) := \matrix_(i, p) (W *m col p X + b) i 0.

(* Replacing b by b + c1 changes no output for any x, so b may be replaced by its centred vector; and for every loss ℓ
   of all outputs the entries of ∂ℓ/∂b add up to 0 *)
Theorem shift_affine_bias ε γ β W b :
  [/\ forall c x, layer_norm ε γ β (W *m x + (b + c *: ones)) = layer_norm ε γ β (W *m x + b),
      forall x, layer_norm ε γ β (W *m x + b) = layer_norm ε γ β (W *m x + centred b)
    & forall N (X : 'M[R]_(k, N)) (ℓ : 'M[R]_(d, N) -> R) g,
        is_gradient (fun b => ℓ (at_positions (layer_norm ε γ β) (affine W b X))) b g -> \sum_i g i 0 = 0].
Proof.
have E c x b' : layer_norm ε γ β (W *m x + (b' + c *: ones)) = layer_norm ε γ β (W *m x + b').
  by rewrite /layer_norm addrA core_shift.
split=> // [x|N X ℓ g gℓ]; first by rewrite -{1}(centred_add_mean b) E.
have EX c : at_positions (layer_norm ε γ β) (affine W (b + c *: ones) X) = at_positions (layer_norm ε γ β) (affine W b X).
  have colE b' p : col p (affine W b' X) = W *m col p X + b' by apply/vecP => i; rewrite mxE mxE.
  by apply/matrixP => i p; rewrite mxE colE E [RHS]mxE colE.
have s0 : 0 < ‖ones : 'cV[R]_d‖.
  by rewrite norm_gt0 -dot_eq0 dot_ones_ones d_neq0.
rewrite -dot_ones dotC; apply/eqP; rewrite -normr_le0; apply/ler_addgt0Pl => η η0; rewrite addr0.
have [δ δ0 H] := gℓ (η / ‖ones : 'cV[R]_d‖) (divr_gt0 η0 s0).
set t := δ / ‖ones : 'cV[R]_d‖; have t0 : 0 < t by rewrite divr_gt0.
have := H (t *: ones); rewrite EX subrr sub0r normrN dotZr normrM normZ (ger0_norm (ltW t0)).
rewrite /t divfK ?gt_eqF // -/t => /(_ (lexx _)).
by rewrite (_ : η / _ * δ = t * η) ?ler_pmul2l // mulrAC -mulrA mulrC.
Qed.

(* Replacing x by x + a adds Wa to z; for ε > 0 the core stays if and only if PWa = 0, which fails for some W and a = 1 *)
Theorem shift_raw_input ε W b x a : 0 < ε ->
  [/\ W *m (x + a) + b = W *m x + b + W *m a,
      core ε (W *m (x + a) + b) = core ε (W *m x + b) <-> P *m (W *m a) = 0
    & exists W' : 'M[R]_2, forall c, c != 0 -> P *m (W' *m (c *: ones)) <> 0].
Proof.
move=> e0; have E : W *m (x + a) + b = W *m x + b + W *m a by rewrite mulmxDr addrAC.
split=> //.
  rewrite E P_mul; split=> [/(core_inj e0)/eqP|/centred_eq0[c ->]]; last exact: core_shift.
  by rewrite centredD -subr_eq0 addrAC subrr add0r => /eqP.
exists (delta_mx 0 0) => c c0 /matrixP/(_ 0 0)/eqP.
rewrite P_mul centredE /mean !big_ord_recl big_ord0 !mxE !big_ord_recl !big_ord0 !mxE /=.
rewrite !(mul1r, mul0r, addr0, mulr1) => /eqP H; move: c0; rewrite (_ : c = 0) ?eqxx //.
have : c / 2 = 0 by rewrite -H; field.
by move/eqP; rewrite mulf_eq0 invr_eq0 pnatr_eq0 orbF => /eqP.
Qed.

(* Replacing W by W + 1rᵀ adds (rᵀx)1 to z, another common shift for each x, removed for each x *)
Theorem shift_weights ε γ β W b r x :
  (W + ones *m r^T) *m x + b = W *m x + b + ⟨r, x⟩ *: ones
  /\ layer_norm ε γ β ((W + ones *m r^T) *m x + b) = layer_norm ε γ β (W *m x + b).
Proof.
have E : (W + ones *m r^T) *m x + b = W *m x + b + ⟨r, x⟩ *: ones by rewrite mulmxDl outer_mul addrAC.
by rewrite E /layer_norm core_shift.
Qed.
End Network.
