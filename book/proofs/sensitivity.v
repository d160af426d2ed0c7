(* The statements of the page "Sensitivity". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives layer_normalization epsilon jacobian.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h w γ β : 'cV[R]_d) (ε c s : R).

(* M is the largest amplification, or the least upper bound of the amplifications, of the steps of length s at z *)
Definition largest_amplification ε z s M : Prop :=
  (forall h, ‖h‖ = s -> ‖core ε (z + h) - core ε z‖ / ‖h‖ <= M)
  /\ forall M', (forall h, ‖h‖ = s -> ‖core ε (z + h) - core ε z‖ / ‖h‖ <= M') -> M <= M'.

(* The largest amplification of the steps of length s tends to ‖J(z)‖₂ as s → 0, and the amplification in one direction
   w of length 1 tends to ‖J(z)w‖ *)
Theorem sens_local ε z c : 0 < variance z + ε -> is_operator_norm (J ε z) c ->
  (forall η, 0 < η -> exists2 δ, 0 < δ &
     forall s M, 0 < s -> s <= δ -> largest_amplification ε z s M -> `|M - c| <= η)
  /\ forall w, ‖w‖ = 1 -> forall η, 0 < η -> exists2 δ, 0 < δ &
     forall s, 0 < s -> s <= δ -> `|‖core ε (z + s *: w) - core ε z‖ / ‖s *: w‖ - ‖J ε z *m w‖| <= η.
Proof.
move=> q0 [cJ cmin].
have near h η : 0 < ‖h‖ -> ‖core ε (z + h) - core ε z - J ε z *m h‖ <= η * ‖h‖ ->
    `|‖core ε (z + h) - core ε z‖ / ‖h‖ - ‖J ε z *m h‖ / ‖h‖| <= η.
  move=> h0 H; rewrite -mulrBl normrM [X in _ * X]ger0_norm ?invr_ge0 ?(ltW h0) // ler_pdivr_mulr //.
  apply: le_trans H; rewrite ler_norml norm_triangle_sub andbT ler_oppl opprB.
  by rewrite (norm_sub (core ε (z + h) - core ε z)) norm_triangle_sub.
split=> [η η0|w w1 η η0]; last first.
  have [δ δ0 H] := proj1 (eps_jacobian q0) η η0; exists δ => // s s0 sδ.
  have sw : ‖s *: w‖ = s by rewrite normZ w1 mulr1 gtr0_norm.
  have hp : 0 < ‖s *: w‖ by rewrite sw.
  have Hs : ‖core ε (z + s *: w) - core ε z - J ε z *m (s *: w)‖ <= η * ‖s *: w‖ by apply: H; rewrite sw.
  have E : ‖J ε z *m (s *: w)‖ / ‖s *: w‖ = ‖J ε z *m w‖.
    by rewrite sw -scalemxAr normZ gtr0_norm // mulrAC divff ?mul1r ?gt_eqF.
  by have := near _ η hp Hs; rewrite E.
have [δ δ0 H] := proj1 (eps_jacobian q0) η η0; exists δ => // s M s0 sδ [upper least].
have amp h : ‖h‖ = s -> `|‖core ε (z + h) - core ε z‖ / ‖h‖ - ‖J ε z *m h‖ / ‖h‖| <= η.
  by move=> hs; apply: near; rewrite ?hs //; have := H h; rewrite hs; apply.
rewrite ler_norml; apply/andP; split.
  rewrite ler_oppl opprB ler_subl_addr; apply: cmin => h.
  have [->|h0] := eqVneq h 0; first by rewrite mulmx0 !norm0 mulr0.
  have hp : 0 < ‖h‖ by rewrite norm_gt0.
  set k := (s / ‖h‖) *: h; have ks : ‖k‖ = s by rewrite normZ ger0_norm ?divfK ?gt_eqF // divr_ge0 // ltW.
  have Jk : ‖J ε z *m k‖ / ‖k‖ = ‖J ε z *m h‖ / ‖h‖.
    rewrite ks /k -scalemxAr normZ ger0_norm ?divr_ge0 ?(ltW s0) ?(ltW hp) //.
    by rewrite mulrC !mulrA mulVf ?gt_eqF // mul1r mulrC.
  have := amp k ks; rewrite Jk ler_norml => /andP[lo _].
  rewrite -ler_pdivr_mulr // -ler_subl_addl; apply: le_trans (upper k ks).
  by move: lo; rewrite ler_subr_addr addrC.
rewrite ler_subl_addr; apply: least => h hs; have := amp h hs; rewrite ler_norml => /andP[_].
rewrite ler_subl_addr => /le_trans; apply; rewrite ler_add2l ler_pdivr_mulr ?hs //.
by rewrite -hs; apply: cJ.
Qed.

(* the amplification of every step is strictly below ε^(−1/2) *)
Lemma core_step_lt ε z h : 0 < ε -> h != 0 -> ‖core ε (z + h) - core ε z‖ < (√ε)^-1 * ‖h‖.
Proof.
move=> e0 h0; have hp : 0 < ‖h‖ by rewrite norm_gt0.
have si : 0 < (√ε)^-1 by rewrite invr_gt0 sqrt_gt0.
have [->|u0] := eqVneq (core ε (z + h) - core ε z) 0; first by rewrite norm0 mulr_gt0.
have qx := variance_eps (z + h) e0; have qy := variance_eps z e0.
have := two_point_identity qx qy => /=; set r := √_; set s := √_ => E.
have r0 : 0 < r := root_gt0 _ e0; have s0 : 0 < s := root_gt0 _ e0.
have er : √ε <= r by rewrite ler_wsqrtr // ler_addr variance_ge0.
have es : √ε <= s by rewrite ler_wsqrtr // ler_addr variance_ge0.
have rs : ε < r * s.
  have eE : ε = √ε * √ε by rewrite -expr2 sqrK ?(ltW e0).
  rewrite lt_neqAle {2}eE ler_pmul ?sqrtr_ge0 // andbT; apply/negP => /eqP ers.
  have [rE sE] : r = √ε /\ s = √ε.
    split; apply/eqP; rewrite eq_le ?er ?es andbT leNgt; apply/negP => lt.
      have H : √ε * √ε < r * s by apply: le_lt_trans (ler_wpmul2l (sqrtr_ge0 ε) es) _; rewrite ltr_pmul2r.
      by rewrite -eE -ers ltxx in H.
    have H : √ε * √ε < r * s by apply: le_lt_trans (ler_wpmul2r (sqrtr_ge0 ε) er) _; rewrite ltr_pmul2l.
    by rewrite -eE -ers ltxx in H.
  have zero (x : 'cV[R]_d) : √(variance x + ε) = √ε -> core ε x = 0.
    move/(congr1 (fun t => t ^+ 2)); rewrite !sqrK ?ltW ?variance_eps // => /(canRL (addrK _)).
    by rewrite subrr => /eqP; rewrite variance_eq0 /core => /eqP ->; rewrite scaler0.
  by move: u0; rewrite !zero // subrr eqxx.
apply: ltr_of_sqr; first by rewrite mulr_ge0 ?norm_ge0 ?ltW.
rewrite exprMn !sqr_norm exprVn sqrK ?(ltW e0) // -(ltr_pmul2l e0) mulVKf ?gt_eqF //.
apply: (@lt_le_trans _ _ (⟨core ε (z + h) - core ε z, core ε (z + h) - core ε z⟩ * (r * s))).
  by rewrite mulrC ltr_pmul2l // lt_def dot_eq0 u0 dot_ge0.
rewrite E addrAC subrr add0r ler_subl_addr; apply: ler_paddr; last exact: dot_centred_le.
apply: mulr_ge0; first by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
by rewrite addr_ge0 ?ler01 // divr_ge0 ?(ltW e0) // ltW // mulr_gt0.
Qed.

(* every step changes y by at most max_i |γ_i| ε^(−1/2) times its length, and the bias changes no difference *)
Theorem sens_full ε γ β β' : 0 < ε ->
  (forall z h, ‖layer_norm ε γ β (z + h) - layer_norm ε γ β z‖ <= max_abs γ / √ε * ‖h‖)
  /\ forall z h, layer_norm ε γ β (z + h) - layer_norm ε γ β z = layer_norm ε γ β' (z + h) - layer_norm ε γ β' z.
Proof.
move=> e0; split=> z h; last by rewrite !layer_norm_sub.
by have := eps_full_bound γ β e0 (z + h) z; rewrite addrAC subrr add0r.
Qed.
End Page.

(* For ε > 0, ‖J(z)‖₂ ≤ ε^(−1/2) at every z, with equality exactly at the constant inputs (for d ≥ 2); hence the core is
   Lipschitz with that constant, and every step is amplified less; at q = 99 ε the norm is at most a tenth of it *)
Theorem sens_uniform (R : rcfType) n (ε : R) : 0 < ε ->
  [/\ forall z : 'cV[R]_n.+1, operator_bound (J ε z) (√ε)^-1,
      forall m (z : 'cV[R]_m.+2), is_operator_norm (J ε z) (√ε)^-1 <-> exists c, z = c *: ones,
      lipschitz (@core R n.+1 ε) (√ε)^-1,
      forall z h : 'cV[R]_n.+1, h != 0 -> ‖core ε (z + h) - core ε z‖ / ‖h‖ < (√ε)^-1
    & forall z : 'cV[R]_n.+1, variance z = 99 * ε -> operator_bound (J ε z) (1 / 10 * (√ε)^-1)].
Proof.
move=> e0; split=> [z|m z||z h h0|z q99].
- exact: eps_norm_bound.
- split=> [[_ least]|[c ->]]; last by have [] := eps_attained m c e0.
  apply/centred_eq0/eqP; rewrite -variance_eq0; apply/negPn/negP => q0.
  have := least _ (fun h => J_bound h (ltW e0) (variance_eps z e0)).
  apply/negP; rewrite -ltNge ltf_pinv ?posrE ?root_gt0 ?sqrt_gt0 // ltr_sqrt ?variance_eps // ltr_addr.
  by rewrite lt_def q0 variance_ge0.
- exact: eps_lipschitz.
- by rewrite ltr_pdivr_mulr ?norm_gt0 // core_step_lt.
- move=> h; have := J_bound h (ltW e0) (variance_eps z e0).
  rewrite (_ : √(variance z + ε) = 10 * √ε) ?invfM ?div1r //.
  apply: sqrt_eq; first by rewrite mulr_ge0 ?ler0n ?sqrtr_ge0.
  by rewrite exprMn sqrK ?(ltW e0) // q99; ring.
Qed.

Section Examples.
Variable R : rcfType.

(* l < 1/√x < u *)
Lemma inv_sqrt_between (x l u : R) : 0 < x -> 0 < l -> 0 < u -> l ^+ 2 * x < 1 -> 1 < u ^+ 2 * x -> l < (√x)^-1 < u.
Proof.
move=> x0 l0 u0 lx ux; have r0 := sqrt_gt0 x0; apply/andP; split.
  rewrite -(ltr_pmul2r r0) mulVf ?gt_eqF //; apply: ltr_of_sqr; rewrite ?ler01 //.
  by rewrite exprMn sqrK ?(ltW x0) // expr1n.
rewrite -(ltr_pmul2r r0) mulVf ?gt_eqF //; apply: ltr_of_sqr; first by rewrite mulr_ge0 ?(ltW u0) ?(ltW r0).
by rewrite exprMn sqrK ?(ltW x0) // expr1n.
Qed.

(* At z = (7, 7) the step h = (10⁻³, −10⁻³) has the amplification 1/√(10⁻⁶ + ε): at ε = 10⁻⁴ it is
   1/√(1.01 · 10⁻⁴) ≈ 99.5037, under the bound 100, at ε = 10⁻² it is 1/√0.010001 ≈ 9.9995, under the bound 10 *)
Theorem sens_finite :
  let z : 'cV[R]_2 := vec [:: 7; 7] in let h := vec [:: 10 ^- 3; - 10 ^- 3] in
  let amplification ε := ‖core ε (z + h) - core ε z‖ / ‖h‖ in
  [/\ forall ε, 0 < ε -> amplification ε = (√(10 ^- 6 + ε))^-1,
      99 + 5 / 10 + 36 / 10 ^+ 4 < amplification (10 ^- 4) < 99 + 5 / 10 + 38 / 10 ^+ 4
      /\ amplification (10 ^- 4) < 100 /\ (√(10 ^- 4))^-1 = 100 :> R
    & 10 - 6 / 10 ^+ 4 < amplification (10 ^- 2) < 10 - 4 / 10 ^+ 4
      /\ amplification (10 ^- 2) < 10 /\ (√(10 ^- 2))^-1 = 10 :> R].
Proof.
move=> z h amplification.
have zE : z = 7 *: ones by apply/vecP; case=> [[|[|k]] //= i]; rewrite !mxE /= mulr1.
have mh : mean h = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; ring.
have h2 : ‖h‖ ^+ 2 = 2 * 10 ^- 6.
  by rewrite sqr_norm /dot !big_ord_recl big_ord0 !mxE /=; field.
have hp : 0 < ‖h‖ by rewrite norm_gt0 -norm_eq0 -sqrf_eq0 h2 mulf_neq0 ?invr_eq0 ?expf_neq0 ?pnatr_eq0.
have amp ε : 0 < ε -> amplification ε = (√(10 ^- 6 + ε))^-1.
  move=> e0; rewrite /amplification zE core_from_constant // mulrAC divff ?mul1r ?gt_eqF // h2.
  by congr (√(_ + _))^-1; field.
have root k : (√(10 ^- k.*2))^-1 = 10 ^+ k :> R.
  by rewrite (@sqrt_eq _ _ (10 ^- k)) ?invrK ?invr_ge0 ?exprn_ge0 ?ler0n // exprVn -exprM muln2.
have ten k : 0 < 10 ^- k :> R by rewrite invr_gt0 exprn_gt0 ?ltr0n.
have below k : (√(10 ^- 6 + 10 ^- k.*2))^-1 < 10 ^+ k :> R.
  by rewrite -root ltf_pinv ?posrE ?sqrt_gt0 ?addr_gt0 // ltr_sqrt ?addr_gt0 // ltr_addr.
have h100 : 100 = 10 ^+ 2 :> R by ring.
have dig (a k : nat) : 0 < a.+1%:R / 10 ^+ k :> R by rewrite divr_gt0 ?exprn_gt0 ?ltr0n.
have digs (a b c i j k : nat) : 0 < a.+1%:R / 10 ^+ i + b.+1%:R / 10 ^+ j + c.+1%:R / 10 ^+ k :> R.
  exact: addr_gt0 (addr_gt0 (dig a i) (dig b j)) (dig c k).
have n99 : 0 < 99 :> R by rewrite ltr0n.
have n5 : 0 < 5 / 10 :> R by rewrite divr_gt0 ?ltr0n.
have near4 (a : nat) : 0 < 99 + 5 / 10 + a.+1%:R / 10 ^+ 4 :> R := addr_gt0 (addr_gt0 n99 n5) (dig a 4%N).
have near2 (a : nat) : (a <= 9)%N -> 0 < 10 - a%:R / 10 ^+ 4 :> R.
  move=> a9; rewrite subr_gt0 ltr_pdivr_mulr ?exprn_gt0 ?ltr0n // -natrX -natrM ltr_nat.
  exact: leq_ltn_trans a9 _.
split=> //; rewrite amp //.
  split; last by rewrite h100; split; [exact: (below 2%N)|exact: (root 2%N)].
  apply: inv_sqrt_between (addr_gt0 (ten 6%N) (ten 4%N)) (near4 35%N) (near4 37%N) _ _; rewrite -subr_gt0.
    rewrite [X in 0 < X](_ : _ = 239 / 10 ^+ 8 + 229 / 10 ^+ 11 + 104 / 10 ^+ 14); last by field.
    exact: (digs 238%N 228%N 103%N).
  rewrite [X in 0 < X](_ : _ = 162 / 10 ^+ 8 + 765 / 10 ^+ 11 + 844 / 10 ^+ 14); last by field.
  exact: (digs 161%N 764%N 843%N).
split; last by split; [have := below 1%N|have := root 1%N]; rewrite expr1.
apply: inv_sqrt_between (addr_gt0 (ten 6%N) (ten 2%N)) (near2 6%N isT) (near2 4%N isT) _ _; rewrite -subr_gt0.
  rewrite [X in 0 < X](_ : _ = 200 / 10 ^+ 7 + 839 / 10 ^+ 11 + 964 / 10 ^+ 14); last by field.
  exact: (digs 199%N 838%N 963%N).
rewrite [X in 0 < X](_ : _ = 199 / 10 ^+ 7 + 936 / 10 ^+ 10 + 16 / 10 ^+ 14); last by field.
exact: (digs 198%N 935%N 15%N).
Qed.

(* At z = (−1, 1) and ε = 3 the norm is 3/8, while the bound is 1/√3 *)
Theorem sens_smaller : let z : 'cV[R]_2 := vec [:: -1; 1] in
  is_operator_norm (J 3 z) (3 / 8) /\ 3 / 8 < (√3)^-1 :> R.
Proof.
move=> z; have [q _ _] := jac_example R; rewrite -/z in q.
have r : √(variance z + 3) = 2 by apply: sqrt_eq; rewrite ?ler0n // q; ring.
split.
  have [_ H _ _] := eps_norm_by_dimension (ler0n R 3).
  have := H z; rewrite r q (_ : 3 / 2 ^+ 3 = 3 / 8); last by field.
  by apply; rewrite addr_gt0 ?ltr01 ?ltr0n.
rewrite ltr_pdivr_mulr ?ltr0n // mulrC ltr_pdivl_mulr ?sqrt_gt0 ?ltr0n //.
apply: ltr_of_sqr; rewrite ?ler0n // exprMn sqrK ?ler0n //.
by rewrite -!natrX -natrM ltr_nat.
Qed.

(* A bound on this layer does not bound a network. At a constant input, for d ≥ 2: (1) a map W after the core multiplies
   the bound by up to ‖W‖₂, attained by W = aI; (2) z + u(z) amplifies centred directions 1 + ε^(−1/2) times; (3) k cores
   in a row ε^(−k/2) times; (4) in the largest absolute coordinate the norm of J is 2(1 − 1/d) ε^(−1/2), above ε^(−1/2)
   for d ≥ 3 *)
Theorem sens_not_network m (ε c : R) : 0 < ε ->
  let d := m.+2 in let z : 'cV[R]_d := c *: ones in
  [/\ (forall k (W : 'M[R]_(k, d)) a, operator_bound W a -> 0 <= a -> operator_bound (W *m J ε z) (a * (√ε)^-1))
      /\ (forall a, is_operator_norm (a%:M : 'M[R]_d) `|a| /\ is_operator_norm (a%:M *m J ε z) (`|a| * (√ε)^-1)),
      is_derivative (fun x => x + core ε x) z (1%:M + J ε z)
      /\ (forall w, mean w = 0 -> (1%:M + J ε z) *m w = (1 + (√ε)^-1) *: w),
      forall k, is_derivative (iter k.+1 (core ε)) z ((√ε)^-1 ^+ k.+1 *: P)
      /\ is_operator_norm ((√ε)^-1 ^+ k.+1 *: P : 'M[R]_d) ((√ε)^-1 ^+ k.+1)
    & ((forall h, max_abs (J ε z *m h) <= 2 * (1 - d%:R^-1) / √ε * max_abs h)
      /\ exists2 h, h != 0 & max_abs (J ε z *m h) = 2 * (1 - d%:R^-1) / √ε * max_abs h)
      /\ ((0 < m)%N -> (√ε)^-1 < 2 * (1 - d%:R^-1) / √ε)].
Proof.
move=> e0 d z; have s0 : 0 < (√ε)^-1 by rewrite invr_gt0 sqrt_gt0.
have [JP Jw] := eps_jacobian_constant m.+1 ε c; have [p0 pn] := pair_step_centred R m.
have pp : 0 < ‖pair_step R m‖ by rewrite norm_gt0.
have scaled a (A : 'M[R]_d) b : (forall h, ‖A *m h‖ <= b * ‖h‖) -> ‖A *m pair_step R m‖ = b * ‖pair_step R m‖ ->
    0 <= b -> is_operator_norm (a%:M *m A) (`|a| * b).
  move=> Ab Ap b0; split=> [h|c' /(_ (pair_step R m))]; rewrite -mulmxA mul_scalar_mx normZ.
    by rewrite -mulrA ler_wpmul2l.
  by rewrite Ap mulrA ler_pmul2r.
have Jb h : ‖J ε z *m h‖ <= (√ε)^-1 * ‖h‖ := eps_norm_bound z e0 h.
have Jp : ‖J ε z *m pair_step R m‖ = (√ε)^-1 * ‖pair_step R m‖ by rewrite Jw // normZ gtr0_norm.
have zero k : iter k.+1 (core ε) z = 0.
  elim: k => [|k IH]; first by rewrite /= /core centred_const scaler0.
  by rewrite iterS IH /core centred0 scaler0.
split.
- split=> [k W a Wa a0 h|a].
    by rewrite -mulmxA -mulrA; apply: le_trans (Wa _) _; rewrite ler_wpmul2l.
  split; last by apply: scaled; rewrite // ltW.
  have := scaled a 1%:M 1; rewrite mulmx1 mulr1; apply=> [h||]; by rewrite ?mul1mx ?mul1r ?ler01.
- split=> [|w w0]; last by rewrite mulmxDl mul1mx Jw // scalerDl scale1r.
  apply: derivative_add; last by have [] := eps_jacobian (variance_eps z e0).
  by apply: derivative_ext (derivative_affine 1%:M 0 z) => x; rewrite mul1mx addr0.
- move=> k; split.
    elim: k => [|k IH].
      by rewrite expr1 -JP; apply: proj1 (eps_jacobian (variance_eps z e0)).
    have q0 : 0 < variance (iter k.+1 (core ε) z) + ε by apply: variance_eps.
    have := derivative_comp (proj1 (eps_jacobian q0)) IH.
    have [_ PP _ _ _] := def_projection z.
    rewrite zero -(scale0r ones) (proj1 (eps_jacobian_constant m.+1 ε 0)) -scalemxAl -scalemxAr PP scalerA -exprS.
    exact: derivative_ext.
  split=> [h|c' /(_ (pair_step R m))].
    by rewrite -scalemxAl normZ ger0_norm ?exprn_ge0 ?(ltW s0) // ler_wpmul2l ?exprn_ge0 ?(ltW s0) // P_mul norm_centred_le.
  by rewrite -scalemxAl P_mul centred_id // normZ ger0_norm ?exprn_ge0 ?(ltW s0) // ler_pmul2r.
have dd : 0 < d%:R :> R by rewrite ltr0n.
have d1 : 0 <= 1 - d%:R^-1 :> R by rewrite subr_ge0 invf_le1 // ler1n.
have K0 : 0 <= 2 * (1 - d%:R^-1) / √ε by rewrite mulr_ge0 ?(ltW s0) // mulr_ge0 ?ler0n.
have entry h i : `|(J ε z *m h) i 0| = (√ε)^-1 * `|h i 0 - mean h|.
  by rewrite JP -scalemxAl P_mul mxE centredE normrM gtr0_norm.
have bound h : max_abs (J ε z *m h) <= 2 * (1 - d%:R^-1) / √ε * max_abs h.
  apply: max_abs_le => [|i]; first by rewrite mulr_ge0 ?max_abs_ge0.
  rewrite entry (_ : 2 * (1 - d%:R^-1) / √ε * max_abs h = (√ε)^-1 * (2 * (1 - d%:R^-1) * max_abs h)); last by rewrite mulrAC mulrC.
  rewrite ler_pmul2l //; have -> : h i 0 - mean h = (1 - d%:R^-1) * h i 0 - (\sum_(j | j != i) h j 0) / d%:R.
    rewrite (_ : mean h = h i 0 / d%:R + (\sum_(j | j != i) h j 0) / d%:R); last by rewrite /mean (bigD1 i) //= mulrDl.
    by rewrite opprD addrA mulrBl mul1r [d%:R^-1 * _]mulrC.
  apply: le_trans (ler_norm_sub _ _) _; rewrite (_ : 2 * _ * _ = (1 - d%:R^-1) * max_abs h + (1 - d%:R^-1) * max_abs h); last first.
    by rewrite -mulrA mulr_natl mulr2n.
  apply: ler_add; first by rewrite normrM ger0_norm // ler_wpmul2l ?max_abs_ge.
  rewrite normrM [X in _ * X]ger0_norm ?invr_ge0 ?(ltW dd) // ler_pdivr_mulr //.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: (@le_trans _ _ (\sum_(j | j != i) max_abs h)).
    by apply: ler_sum => j _; apply: max_abs_ge.
  have -> : \sum_(j : 'I_d | j != i) max_abs h = (d%:R - 1) * max_abs h.
    have := sumr_const (ordinal_finType d) (max_abs h); rewrite (bigD1 i) //= card_ord => /(canRL (addKr _)) ->.
    by rewrite mulrBl mul1r mulr_natl addrC.
  by rewrite [X in _ <= X]mulrAC [X in _ <= X * _]mulrBl mul1r mulVf ?gt_eqF.
split; last first.
  move=> m0; rewrite -[X in X < _]mul1r ltr_pmul2r // mulrBr mulr1 ltr_subr_addl -ltr_subr_addr.
  rewrite (_ : 2 - 1 = 1); last by ring.
  by rewrite ltr_pdivr_mulr // mul1r ltr_nat.
split=> //; pose h : 'cV[R]_d := 2 *: delta_mx 0 0 - ones.
have hE i : h i 0 = if i == 0 then 1 else -1.
  by rewrite !mxE eqxx andbT; case: (i == 0); rewrite ?mulr1 ?mulr0; ring.
have h1 : max_abs h = 1.
  apply/le_anti/andP; split.
    by apply: max_abs_le => [|i]; rewrite ?ler01 // hE; case: (i == 0); rewrite ?normrN normr1.
  by have := max_abs_ge h 0; rewrite hE eqxx normr1.
have mh : mean h = 2 / d%:R - 1.
  rewrite meanB meanZ mean_ones /mean (bigD1 0) //= big1 => [|i i0]; last by rewrite !mxE (negPf i0).
  by rewrite !mxE !eqxx addr0 mul1r.
exists h; first by apply/eqP => h0; have := hE 0; rewrite h0 mxE eqxx => /eqP; rewrite eq_sym oner_eq0.
apply/le_anti/andP; split; first exact: bound.
have := max_abs_ge (J ε z *m h) 0; rewrite entry hE eqxx mh h1 mulr1; apply: le_trans.
rewrite (_ : 1 - (2 / d%:R - 1) = 2 * (1 - d%:R^-1)); last by rewrite opprB addrA mulrBr mulr1.
by rewrite ger0_norm ?mulr_ge0 ?ler0n // mulrC lexx.
Qed.
End Examples.
