(* The statements of the page "Jacobian". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon bias gain.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z h γ β g : 'cV[R]_d) (ε c : R).

(* J_ij is ∂u_i/∂z_j: if z_j alone changes by s, u_i changes by J_ij s plus a rest that is small even beside s *)
Theorem jac_entry ε z i j : 0 < variance z + ε ->
  is_slope (fun s => core ε (z + s *: delta_mx j 0) i 0) 0 (J ε z i j).
Proof.
move=> q0; have := derivative_line (delta_mx j 0) i (proj1 (eps_jacobian q0)).
by rewrite (_ : (J ε z *m delta_mx j 0) i 0 = J ε z i j) // -colE mxE.
Qed.

(* J is symmetric, and each row and each column of J sums to 0 *)
Theorem jac_sums ε z : [/\ (J ε z)^T = J ε z, forall i, \sum_j J ε z i j = 0 & forall j, \sum_i J ε z i j = 0].
Proof.
have rows i : \sum_j J ε z i j = 0.
  have -> : \sum_j J ε z i j = (J ε z *m ones) i 0 by rewrite mxE; apply: eq_bigr => j _; rewrite onesE mulr1.
  by rewrite eps_eigen_shift mxE.
split=> [||j]; rewrite ?J_tr // -[RHS](rows j); apply: eq_bigr => i _.
by rewrite -{1}J_tr mxE.
Qed.

(* The core after t times the step h is u(z) + t Jh + r(t) with r(t)/t → 0 *)
Lemma jac_local_rest ε z h : 0 < variance z + ε -> forall η, 0 < η -> exists2 δ, 0 < δ &
  forall t : R, `|t| <= δ -> ‖core ε (z + t *: h) - core ε z - t *: (J ε z *m h)‖ <= η * `|t|.
Proof.
move=> q0 η η0; have h1 : 0 < ‖h‖ + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have [δ δ0 H] := proj1 (eps_jacobian q0) (η / (‖h‖ + 1)) (divr_gt0 η0 h1); exists (δ / (‖h‖ + 1)); first exact: divr_gt0.
move=> t; rewrite ler_pdivl_mulr // => tδ.
have th : `|t| * ‖h‖ <= `|t| * (‖h‖ + 1) by rewrite ler_wpmul2l // ler_addl ler01.
have := H (t *: h); rewrite normZ -scalemxAr => /(_ (le_trans th tδ)) {}H; apply: le_trans H _.
by rewrite -mulrA ler_wpmul2l ?(ltW η0) // ler_pdivr_mull // [_ * `|t|]mulrC.
Qed.

(* ∂y/∂z = diag(γ) J, ∂y/∂γ = diag(u), ∂y/∂β = I *)
Theorem jac_parameters ε γ β z : 0 < variance z + ε ->
  [/\ is_derivative (layer_norm ε γ β) z (diag γ *m J ε z),
      is_derivative (fun g => layer_norm ε g β z) γ (diag (core ε z))
    & is_derivative (fun b => layer_norm ε γ b z) β 1%:M].
Proof.
move=> q0; split; [exact: proj1 (gain_input_jacobian _ _ q0)|exact: derivative_gain|exact: derivative_bias].
Qed.
End Page.

Section Example.
Variable R : rcfType.
Notation z := (vec [:: -1; 1] : 'cV[R]_2).

(* For z = (−1, 1) and ε = 3: q = 1, u = (−1/2, 1/2) and J = (3/16) [[1, −1], [−1, 1]] *)
Theorem jac_example :
  [/\ variance z = 1, core 3 z = vec [:: - (1 / 2); 1 / 2]
    & J 3 z = (3 / 16) *: \matrix_(i, j) (if i == j then 1 else -1)].
Proof.
have m : mean z = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; ring.
have q : variance z = 1 by rewrite /variance centred_id // !big_ord_recl big_ord0 !mxE /=; field.
have r : √(variance z + 3) = 2 by apply: sqrt_eq; rewrite ?ler0n // q; ring.
have u : core 3 z = vec [:: - (1 / 2); 1 / 2].
  by apply/vecP; case=> [[|[|k]] //= i]; rewrite coreE r centred_id // !mxE /=; field.
split=> //; have q0 : 0 < variance z + 3 by rewrite q addr_gt0 ?ltr01 ?ltr0n.
apply/matrixP => i j; rewrite (proj2 (eps_jacobian q0)) r u.
by case: i => [[|[|k]] //= i]; case: j => [[|[|l]] //= j]; rewrite !mxE /=; field.
Qed.

(* There J(1, 1) = (0, 0) and J(−1, 1) = (3/8)(−1, 1) *)
Theorem jac_directions : J 3 z *m vec [:: 1; 1] = vec [:: 0; 0] /\ J 3 z *m vec [:: -1; 1] = (3 / 8) *: vec [:: -1; 1].
Proof.
have [_ _ ->] := jac_example.
split; apply/vecP; case=> [[|[|k]] //= i]; rewrite -scalemxAl !mxE !big_ord_recl big_ord0 !mxE /=; by field.
Qed.

(* With γ = (0, 2): diag(γ) J = [[0, 0], [−3/8, 3/8]]; output 1 is silenced, yet input 1 still moves output 2 *)
Theorem jac_gain : let A := diag (vec [:: 0; 2]) *m J 3 z in
  [/\ A 0 0 = 0, A 0 1 = 0, A 1 0 = - (3 / 8) & A 1 1 = 3 / 8].
Proof.
have [_ _ J3] := jac_example; rewrite /= J3.
by split; rewrite mul_diag_mx !mxE /=; field.
Qed.

(* For all z and h, u(z + th) = u(z) + tJh + r(t) with r(t)/t → 0. In the example with h = (−1, 1) the second coordinate
   is predicted as 1/2 + (3/8)t but is (1 + t)/√((1 + t)² + 3); the gap is (9/64)t² plus terms of higher order, and for
   t > 0 it grows with t, beyond all bounds *)
Theorem jac_local :
  let h : 'cV[R]_2 := vec [:: -1; 1] in
  let gap t := (core 3 z + t *: (J 3 z *m h)) 1 0 - core 3 (z + t *: h) 1 0 in
  [/\ forall n ε (x w : 'cV[R]_n.+1), 0 < variance x + ε -> forall η, 0 < η -> exists2 δ, 0 < δ &
        forall t : R, `|t| <= δ -> ‖core ε (x + t *: w) - core ε x - t *: (J ε x *m w)‖ <= η * `|t|,
      forall t, (core 3 z + t *: (J 3 z *m h)) 1 0 = 1 / 2 + 3 / 8 * t
        /\ core 3 (z + t *: h) 1 0 = (1 + t) / √((1 + t) ^+ 2 + 3),
      forall t, `|t| <= 1 / 2 -> `|gap t - 9 / 64 * t ^+ 2| <= `|t| ^+ 3,
      forall t t', 0 <= t -> t < t' -> gap t < gap t'
    & forall M, exists2 t, 0 < t & M < gap t].
Proof.
move=> h gap; have [_ u _] := jac_example; have [_ Jh] := jac_directions.
have pred t : (core 3 z + t *: (J 3 z *m h)) 1 0 = 1 / 2 + 3 / 8 * t.
  by rewrite Jh u !mxE /=; field.
have act t : core 3 (z + t *: h) 1 0 = (1 + t) / √((1 + t) ^+ 2 + 3).
  have -> : z + t *: h = (1 + t) *: z by rewrite scalerDl scale1r.
  have [q _ _] := jac_example; rewrite coreE centredZ varianceZ q mulr1.
  by rewrite centred_id /mean ?big_ord_recl ?big_ord0 !mxE /= ?mulr1 //; ring.
have Q0 a : 0 < a ^+ 2 + 3 :> R by rewrite ltr_paddl ?sqr_ge0 ?ltr0n.
pose s (a : R) := √(a ^+ 2 + 3); have s0 a : 0 < s a by rewrite sqrt_gt0.
have s2 a : s a ^+ 2 = a ^+ 2 + 3 by rewrite sqrK ?ltW.
have gapE t : gap t = 1 / 2 + 3 / 8 * t - (1 + t) / s (1 + t) by rewrite /gap pred act.
have s_ge a : 0 <= a -> a <= s a.
  by move=> a0; apply: ler_of_sqr; rewrite ?s2 ?ler_addl ?ler0n // ltW.
split=> //.
- exact: jac_local_rest.
- move=> t tt; rewrite gapE; have := tt; rewrite ler_norml => /andP[t1 t2]; set a := 1 + t; set f := a / s a.
  have a1 : 1 / 2 <= a by move: t1; rewrite -(ler_add2l 1) (_ : 1 - 1 / 2 = 1 / 2) //; field.
  have a2 : a <= 3 / 2 by rewrite (_ : 3 / 2 = 1 + 1 / 2) ?ler_add2l //; field.
  have half : 0 < 1 / 2 :> R by rewrite divr_gt0 ?ltr01 ?ltr0n.
  have a0 : 0 < a := lt_le_trans half a1.
  have aa : a ^+ 2 <= 9 / 4.
    have a32 : 0 <= 3 / 2 :> R := le_trans (ltW a0) a2.
    by rewrite (_ : 9 / 4 = (3 / 2) ^+ 2); [rewrite ler_pexpn2r ?nnegrE ?(ltW a0)|field].
  have f0 : 0 < f by rewrite divr_gt0.
  have f2 : (a ^+ 2 + 3) * f ^+ 2 = a ^+ 2 by rewrite expr_div_n s2 mulrC divfK ?gt_eqF.
  set e := 1 / 2 + 3 / 8 * t - f.
  have eE : e = (1 + 3 * a) / 8 - f by rewrite /e /a; field.
  set D := (a ^+ 2 + 3) * ((1 + 3 * a) / 8 + f).
  have D1 : 15 / 16 <= D.
    rewrite (_ : 15 / 16 = 3 * (5 / 16)); last by field.
    apply: ler_pmul; rewrite ?divr_ge0 ?ler0n ?ler_addr ?sqr_ge0 //; apply: ler_paddr (ltW f0) _.
    rewrite (_ : 5 / 16 = (1 + 3 * (1 / 2)) / 8); last by field.
    by rewrite ler_pmul2r ?invr_gt0 ?ltr0n // ler_add2l ler_pmul2l ?ltr0n.
  have D0 : 0 < 64 * D by rewrite mulr_gt0 ?ltr0n // (lt_le_trans _ D1) // divr_gt0 ?ltr0n.
  have E1 : e * (64 * D) = t ^+ 2 * (9 * a ^+ 2 + 24 * a + 3).
    have -> : e * (64 * D) = 64 * ((a ^+ 2 + 3) * ((1 + 3 * a) / 8) ^+ 2 - (a ^+ 2 + 3) * f ^+ 2) by rewrite eE /D; ring.
    by rewrite f2 /a; field.
  have D60 : 60 <= 64 * D by rewrite (_ : 60 = 64 * (15 / 16)) ?ler_pmul2l ?ltr0n //; field.
  have e0 : 0 <= e.
    rewrite -(pmulr_lge0 _ D0) E1 mulr_ge0 ?sqr_ge0 // !addr_ge0 ?mulr_ge0 ?ler0n ?sqr_ge0 //; exact: (ltW a0).
  have et : e <= t ^+ 2.
    rewrite -(ler_pmul2r D0) E1 ler_wpmul2l ?sqr_ge0 //; apply: le_trans D60.
    apply: (@le_trans _ _ (9 * (9 / 4) + 24 * (3 / 2) + 3)).
      by rewrite ler_add2r ler_add ?ler_wpmul2l ?ler0n.
    by rewrite -subr_ge0 (_ : _ - _ = 3 / 4) ?divr_ge0 ?ler0n //; field.
  have E2 : (e - 9 / 64 * t ^+ 2) * (64 * D) = t ^+ 2 * (t * ((15 - 27 * a ^+ 2) / 4) + 9 * (a ^+ 2 + 3) * e).
    have DE : D = (a ^+ 2 + 3) * ((1 + 3 * a) / 4 - e) by rewrite eE /D; field.
    by rewrite mulrBl E1 DE; generalize e => e'; rewrite /a; field.
  have -> : e - 9 / 64 * t ^+ 2 = t ^+ 2 * (t * ((15 - 27 * a ^+ 2) / 4) + 9 * (a ^+ 2 + 3) * e) / (64 * D).
    by rewrite -E2 mulfK ?gt_eqF.
  rewrite 2!normrM (ger0_norm (sqr_ge0 t)) [X in _ * X]ger0_norm ?invr_ge0 ?(ltW D0) // ler_pdivr_mulr //.
  rewrite (_ : `|t| ^+ 3 = t ^+ 2 * `|t|); last by rewrite exprSr real_normK ?num_real.
  rewrite -[X in _ <= X]mulrA ler_wpmul2l ?sqr_ge0 //.
  apply: (@le_trans _ _ (`|t| * 60)); last by rewrite ler_wpmul2l.
  apply: le_trans (ler_norm_add _ _) _; rewrite (_ : `|t| * 60 = `|t| * 12 + `|t| * 48); last by ring.
  apply: ler_add.
    rewrite normrM ler_wpmul2l // ler_norml; apply/andP; split.
      rewrite -subr_ge0 (_ : _ - _ = 63 / 4 - 27 / 4 * a ^+ 2); last by field.
      rewrite subr_ge0; apply: (@le_trans _ _ (27 / 4 * (9 / 4))); first by rewrite ler_wpmul2l ?divr_ge0 ?ler0n.
      by rewrite -subr_ge0 (_ : _ - _ = 9 / 16) ?divr_ge0 ?ler0n //; field.
    rewrite -subr_ge0 (_ : _ - _ = 33 / 4 + 27 / 4 * a ^+ 2); last by field.
    apply: addr_ge0; first by rewrite divr_ge0 ?ler0n.
    by apply: mulr_ge0 (sqr_ge0 a); rewrite divr_ge0 ?ler0n.
  have c0 : 0 <= 9 * (a ^+ 2 + 3) by rewrite mulr_ge0 ?addr_ge0 ?sqr_ge0 ?ler0n.
  rewrite (ger0_norm (mulr_ge0 c0 e0)) mulrC (_ : `|t| * 48 = `|t| * (1 / 2) * 96); last by field.
  apply: ler_pmul => //; last first.
    apply: (@le_trans _ _ (9 * (9 / 4 + 3))); first by rewrite ler_wpmul2l ?ler0n // ler_add2r.
    by rewrite -subr_ge0 (_ : _ - _ = 195 / 4) ?divr_ge0 ?ler0n //; field.
  by apply: le_trans et _; rewrite -real_normK ?num_real // expr2 ler_wpmul2l.
- move=> t t' t0 tt; set a := 1 + t; set b := 1 + t'.
  have a1 : 1 <= a by rewrite ler_addl.
  have ab : a < b by rewrite ltr_add2l.
  have [a0 b0] : 0 < a /\ 0 < b by split; [|apply: lt_trans ab]; apply: lt_le_trans a1; rewrite ltr01.
  have sa : 2 <= s a.
    by apply: ler_of_sqr; rewrite ?s2 ?(ltW (s0 a)) // (_ : 2 ^+ 2 = 1 + 3) ?ler_add2r ?exprn_ege1 //; ring.
  have sb : 2 < s b.
    apply: ltr_of_sqr; rewrite ?s2 ?(ltW (s0 b)) // (_ : 2 ^+ 2 = 1 + 3) ?ltr_add2r ?exprn_egt1 ?(le_lt_trans a1) //; ring.
  rewrite !gapE -/a -/b -subr_gt0.
  have D0 : 0 < b * s a + a * s b by rewrite addr_gt0 ?mulr_gt0.
  have E : (b * s a - a * s b) * (b * s a + a * s b) = 3 * (b - a) * (b + a).
    by rewrite -subr_sqr !exprMn !s2; ring.
  have -> : 1 / 2 + 3 / 8 * t' - b / s b - (1 / 2 + 3 / 8 * t - a / s a) = 3 / 8 * (b - a) - (b * s a - a * s b) / (s a * s b).
    by rewrite /a /b; field; rewrite !gt_eqF.
  rewrite subr_gt0 ltr_pdivr_mulr ?mulr_gt0 // -(ltr_pmul2r D0) E.
  have -> : 3 * (b - a) * (b + a) = 3 / 8 * (b - a) * (2 * 2 * (2 * (b + a))) by field.
  rewrite -[X in _ < X]mulrA ltr_pmul2l ?mulr_gt0 ?divr_gt0 ?invr_gt0 ?ltr0n ?subr_gt0 //.
  have X1 : 2 * (b + a) <= b * s a + a * s b.
    by rewrite mulrDr ler_add // mulrC ler_wpmul2l ?(ltW a0) ?(ltW b0) // ltW.
  have X2 : 2 * 2 < s a * s b by apply: le_lt_trans (ler_wpmul2r (ler0n R 2) sa) _; rewrite ltr_pmul2l.
  by apply: le_lt_trans (ler_wpmul2l _ X1) _; rewrite ?mulr_ge0 ?ler0n // ltr_pmul2r.
- move=> M; exists (`|M| * 8 / 3 + 8 / 3); first by rewrite ltr_paddl ?divr_gt0 ?divr_ge0 ?mulr_ge0 ?ler0n ?ltr0n.
  set t := _ + 8 / 3; rewrite gapE; have t0 : 0 <= 1 + t by rewrite !addr_ge0 ?ler01 ?divr_ge0 ?mulr_ge0 ?ler0n.
  apply: le_lt_trans (ler_norm M) _.
  have -> : 1 / 2 + 3 / 8 * t = `|M| + 3 / 2 by rewrite /t; field.
  rewrite -addrA ltr_addl subr_gt0; apply: (@le_lt_trans _ _ 1).
    by rewrite ler_pdivr_mulr // mul1r s_ge.
  by rewrite ltr_pdivl_mulr ?ltr0n // mul1r ltr_nat.
Qed.
End Example.
