(* The statements of the page "Conventions". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon Decimals.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Epsilon.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z γ β : 'cV[R]_d) (ε η : R).

(* Run with ε' instead of ε, both positive, the core is multiplied by s = √((q + ε)/(q + ε')). s lies between 1 and √(ε/ε'),
   tends to the latter as q → 0, and differs from 1 by at most |ε − ε'|/(2q) if q > 0 *)
Theorem eps_mismatch ε ε' : 0 < ε -> 0 < ε' ->
  let factor q := √((q + ε) / (q + ε')) in
  [/\ forall z, core ε' z = factor (variance z) *: core ε z,
      forall q, 0 <= q -> Num.min 1 (√(ε / ε')) <= factor q <= Num.max 1 (√(ε / ε')),
      forall η, 0 < η -> exists2 δ, 0 < δ & forall q, 0 <= q -> q <= δ -> `|factor q - √(ε / ε')| <= η
    & forall q, 0 < q -> `|factor q - 1| <= `|ε - ε'| / (2 * q)].
Proof.
move=> e0 e0' factor.
have Q0 (e q : R) : 0 < e -> 0 <= q -> 0 < q + e by move=> ? ?; rewrite ltr_paddl.
have step q : 0 <= q -> (factor q - 1) * ((q + ε') * (factor q + 1)) = ε - ε'.
  move=> q0; rewrite mulrCA -subr_sqr expr1n sqrK; last by rewrite ltW // divr_gt0 ?Q0.
  by field; rewrite gt_eqF // Q0.
have s0 q : 0 <= q -> 0 < factor q by move=> q0; rewrite sqrtr_gt0 divr_gt0 ?Q0.
split.
- move=> z; have q0 := variance_ge0 z; rewrite /factor /core scalerA; congr (_ *: _).
  rewrite sqrtrM ?(ltW (Q0 _ _ e0 q0)) // sqrtrV ?(ltW (Q0 _ _ e0' q0)) //.
  by rewrite mulrAC divff ?mul1r // sqrt_neq0 // Q0.
- move=> q q0; rewrite /factor -[X in Num.min X _]sqrtr1 -[X in Num.max X _]sqrtr1.
  have E : (q + ε) / (q + ε') - 1 = (ε - ε') / (q + ε') by field; rewrite gt_eqF // Q0.
  have E' : ε / ε' - (q + ε) / (q + ε') = q * (ε - ε') / (ε' * (q + ε')).
    by field; rewrite !gt_eqF // Q0.
  have p1 := Q0 _ _ e0' q0; have p2 := mulr_gt0 e0' p1.
  have [le|/ltW le] := lerP ε' ε; rewrite -subr_ge0 in le.
    rewrite le_minl le_maxr; apply/andP; split; apply/orP; [left|right]; apply: ler_wsqrtr; rewrite -subr_ge0.
      by rewrite E divr_ge0 ?(ltW p1).
    by rewrite E' divr_ge0 ?(ltW p2) ?mulr_ge0.
  rewrite le_minl le_maxr; apply/andP; split; apply/orP; [right|left]; apply: ler_wsqrtr; rewrite -subr_le0.
    by rewrite E' -oppr_ge0 -mulNr -mulrN opprB divr_ge0 ?(ltW p2) ?mulr_ge0.
  by rewrite E -oppr_ge0 -mulNr opprB divr_ge0 ?(ltW p1).
- move=> η η0; set L := √(ε / ε'); have L0 : 0 < L by rewrite sqrtr_gt0 divr_gt0.
  set K := `|ε - ε'| / (ε' * ε' * L); have K0 : 0 <= K by rewrite divr_ge0 ?normr_ge0 // !mulr_ge0 ?ltW.
  have K1 : 0 < K + 1 by rewrite ltr_paddl ?ltr01.
  exists (η / (K + 1)) => [|q q0]; first exact: divr_gt0.
  rewrite ler_pdivl_mulr // => qη; have f0 := s0 q q0; have p1 := Q0 _ _ e0' q0.
  have E : (factor q - L) * (factor q + L) = - (q * (ε - ε') / (ε' * (q + ε'))).
    rewrite -subr_sqr !sqrK; [|by rewrite ltW // divr_gt0|by rewrite ltW // divr_gt0 ?Q0].
    by field; rewrite !gt_eqF // Q0.
  have fL : 0 < factor q + L by rewrite addr_gt0.
  rewrite -(ler_pmul2r fL) -{1}(gtr0_norm fL) -normrM E normrN normrM normfV normrM (ger0_norm q0).
  rewrite (gtr0_norm (mulr_gt0 e0' p1)) ler_pdivr_mulr ?mulr_gt0 //.
  have H : q * `|ε - ε'| = q * K * (L * (ε' * ε')) by rewrite /K; field; rewrite !gt_eqF.
  rewrite H -[X in _ <= X]mulrA; apply: ler_pmul.
  + by rewrite mulr_ge0.
  + by rewrite !mulr_ge0 ?ltW.
  + by apply: le_trans qη; rewrite ler_wpmul2l // ler_addl ler01.
  + apply: ler_pmul; rewrite ?mulr_ge0 ?(ltW L0) ?(ltW e0') //; first by rewrite ler_addr ltW.
    by rewrite ler_pmul2l // ler_addr.
- move=> q q0; have f0 := s0 q (ltW q0); have p1 := Q0 _ _ e0' (ltW q0).
  have f1 : 0 < factor q + 1 by rewrite addr_gt0 ?ltr01.
  have D0 : 0 < (q + ε') * (factor q + 1) by rewrite mulr_gt0.
  have -> : factor q - 1 = (ε - ε') / ((q + ε') * (factor q + 1)).
    by rewrite -(step q (ltW q0)) mulfK // gt_eqF.
  rewrite normrM normfV (gtr0_norm D0) ler_wpmul2l ?normr_ge0 // lef_pinv ?posrE ?mulr_gt0 ?ltr0n //.
  have fq : q <= (q + ε') * factor q.
    apply: ler_of_sqr; first by rewrite mulr_ge0 // ltW.
    rewrite exprMn sqrK; last by rewrite ltW // divr_gt0 ?Q0 // ltW.
    rewrite (_ : (q + ε') ^+ 2 * _ = (q + ε') * (q + ε)); last by field; rewrite gt_eqF.
    by rewrite expr2 ler_pmul ?ler_addl ?ltW.
  by rewrite mulrDr mulr1 mulr_natl mulr2n ler_add // ler_addl ltW.
Qed.
End Epsilon.

Section Divisor.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z γ β : 'cV[R]_d) (ε : R).

(* q₁ = ‖v‖²/(d − 1) *)
Definition sample_variance z : R := ⟨centred z, centred z⟩ / d.-1%:R.

(* For d ≥ 2 and c = √((d − 1)/d): v/√(q₁ + ε) = c v/√(q + c²ε) and v/(√q₁ + ε) = c v/(√q + cε). So a layer with the
   divisor d − 1 and ε inside is the layer of this book with the gain cγ and c²ε *)
Theorem divisor_convert ε γ β z : 0 <= ε -> 0 < variance z + ε ->
  let c := √(d.-1%:R / d%:R) in
  [/\ (√(sample_variance z + ε))^-1 *: centred z = c *: ((√(variance z + c ^+ 2 * ε))^-1 *: centred z),
      (√(sample_variance z) + ε)^-1 *: centred z = c *: ((√(variance z) + c * ε)^-1 *: centred z)
    & γ ⊙ ((√(sample_variance z + ε))^-1 *: centred z) + β = layer_norm (c ^+ 2 * ε) (c *: γ) β z].
Proof.
move=> e0 q0 c; have r0 : 0 < d.-1%:R / d%:R :> R by rewrite divr_gt0 ?ltr0n.
have c0 : 0 < c by rewrite sqrt_gt0.
have cc : c ^+ 2 = d.-1%:R / d%:R by rewrite sqrK // ltW.
have qE : variance z = c ^+ 2 * sample_variance z.
  have d1 : d.-1%:R != 0 :> R by rewrite pnatr_eq0.
  by rewrite cc /sample_variance variance_dot [RHS]mulrC mulrA divfK.
have root x : √(c ^+ 2 * x) = c * √x by rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr gtr0_norm.
have one x : x^-1 = c * (c * x)^-1 by rewrite invfM mulrA divff ?mul1r ?gt_eqF.
have E1 : (√(sample_variance z + ε))^-1 *: centred z = c *: ((√(variance z + c ^+ 2 * ε))^-1 *: centred z).
  by rewrite scalerA; congr (_ *: _); rewrite qE -mulrDr root -one.
split=> //.
- by rewrite scalerA; congr (_ *: _); rewrite qE root -mulrDr -one.
- have L (x : 'cV[R]_d) : γ ⊙ (c *: x) = (c *: γ) ⊙ x by apply/vecP => i; rewrite !mxE mulrCA mulrA.
  by rewrite E1 /layer_norm L.
Qed.
End Divisor.

Section OnePlus.
Variables (R : rcfType) (m : nat).
Notation d := m.+2.
Implicit Types (z γ β v : 'cV[R]_d) (ε g c : R).

(* v/(√q + ε), with ε outside the root *)
Definition core_outside ε z : 'cV[R]_d := (√(variance z) + ε)^-1 *: centred z.

Lemma outside_agree ε ε' q : 0 <= q -> 0 < ε -> 0 < ε' ->
  √q + ε = √(q + ε') <-> ε' = ε ^+ 2 + 2 * ε * √q.
Proof.
move=> q0 e0 e0'; have s0 := sqrtr_ge0 q; have p0 : 0 < q + ε' by rewrite ltr_paddl.
split=> [H|E].
  have := congr1 (fun x => x ^+ 2) H; rewrite [RHS]sqrK ?(ltW p0) // sqrrD sqrK // => H2.
  by rewrite -(addKr q ε') -H2; ring.
by symmetry; apply: sqrt_eq; [rewrite addr_ge0 // ltW|rewrite sqrrD sqrK // E; ring].
Qed.

(* For d ≥ 2, ε > 0 and ε' > 0 the forms v/(√q + ε) and v/√(q + ε') agree, if v ≠ 0, exactly for ε' = ε² + 2ε√q. So no ε'
   serves all inputs, not even together with another gain. At a constant input the first form has the Jacobian P/ε, the
   second P/√ε' *)
Theorem eps_outside ε ε' : 0 < ε -> 0 < ε' ->
  [/\ forall z, centred z != 0 -> core_outside ε z = core ε' z <-> ε' = ε ^+ 2 + 2 * ε * √(variance z),
      forall γ, ~ forall z, core_outside ε z = γ ⊙ core ε' z
    & forall c, is_derivative (core_outside ε) (c *: ones) (ε^-1 *: P : 'M[R]_d)
        /\ is_derivative (core ε') (c *: ones) ((√ε')^-1 *: P : 'M[R]_d)].
Proof.
move=> e0 e0'.
have pos z : 0 < √(variance z) + ε by rewrite ltr_paddl ?sqrtr_ge0.
split=> [z v0|γ H|c].
- rewrite -outside_agree ?variance_ge0 //; split=> [/eqP|E]; last by rewrite /core_outside E.
  by rewrite -subr_eq0 -scalerBl scaler_eq0 (negPf v0) orbF subr_eq0 => /eqP/invr_inj.
- have [p0 pn] := pair_step_centred R m; set p := pair_step R m in p0 pn.
  have q0 : 0 < variance p by rewrite variance_gt0 centred_id.
  have [l [l0 ll]] : exists l, 0 < l /\ l ^+ 2 = variance p.
    by exists (√(variance p)); rewrite sqrt_gt0 // sqrK // ltW.
  have key t : 0 < t -> √(t ^+ 2 + ε') = γ 0 0 * (t + ε).
    move=> t0; set z := (t / l) *: p.
    have qz : variance z = t ^+ 2 by rewrite varianceZ -ll; field; rewrite gt_eqF.
    have z0 : centred z 0 0 != 0.
      rewrite /z centredZ centred_id // !mxE /= subr0 mulr1 mulf_neq0 ?invr_eq0 ?gt_eqF //.
    have HH := congr1 (fun y : 'cV[R]_d => y 0 0) (H z).
    rewrite hadamardE coreE qz [LHS]mxE qz sqrtr_sqr (gtr0_norm t0) in HH.
    have E : (t + ε)^-1 = γ 0 0 / √(t ^+ 2 + ε') by apply: (mulIf z0); rewrite HH mulrA [RHS]mulrAC.
    have r0 : √(t ^+ 2 + ε') != 0 by rewrite sqrt_neq0 // ltr_paddl ?sqr_ge0.
    have te : t + ε != 0 by rewrite gt_eqF // addr_gt0.
    have := congr1 (fun x => x * (t + ε) * √(t ^+ 2 + ε')) E.
    by rewrite mulVf // mul1r => ->; rewrite mulrAC divfK.
  have sq t : 0 < t -> t ^+ 2 + ε' = γ 0 0 ^+ 2 * (t + ε) ^+ 2.
    by move=> t0; rewrite -exprMn -key // sqrK // addr_ge0 ?sqr_ge0 ?ltW.
  have [S1 [S2 S3]] := (sq 1 ltr01, (sq 2 (ltr0n _ 2), sq 3 (ltr0n _ 3))).
  set G := γ 0 0 ^+ 2 in S1 S2 S3.
  have G1 : G = 1.
    have : 2 * G = 2 * 1.
      rewrite (_ : 2 * G = G * (3 + ε) ^+ 2 - 2 * (G * (2 + ε) ^+ 2) + G * (1 + ε) ^+ 2); last by ring.
      by rewrite -S1 -S2 -S3; ring.
    by apply: mulfI; rewrite pnatr_eq0.
  rewrite G1 in S1 S2; have : 2 * ε = 0.
    rewrite (_ : 2 * ε = 1 * (2 + ε) ^+ 2 - 1 * (1 + ε) ^+ 2 - 3); last by ring.
    by rewrite -S1 -S2; ring.
  by move/eqP; rewrite mulf_eq0 pnatr_eq0 (gt_eqF e0).
- split; last first.
    have [<- _] := eps_jacobian_constant m.+1 ε' c; apply: (proj1 (eps_jacobian _)); exact: variance_eps.
  have sd : 0 < √(d%:R : R) by rewrite sqrtr_gt0 ltr0n.
  apply: (@derivative_square _ _ _ _ _ _ (√d%:R * ε ^+ 2)^-1) => h.
  rewrite /core_outside [c *: ones + h]addrC variance_shift centred_shift variance_const centred_const scaler0 subr0.
  rewrite -scalemxAl P_mul -scalerBl normZ; have v0 := norm_ge0 (centred h).
  have qE : √(variance h) = ‖centred h‖ / √d%:R.
    by apply: sqrt_eq; rewrite ?divr_ge0 ?sqrtr_ge0 // expr_div_n norm_variance sqrK ?ler0n // mulrAC divff ?mul1r ?d_neq0.
  have s0 := sqrtr_ge0 (variance h); have p0 := pos h.
  rewrite (_ : _^-1 - ε^-1 = - (√(variance h) / (ε * (√(variance h) + ε)))); last by field; rewrite !gt_eqF.
  rewrite normrN ger0_norm ?divr_ge0 ?mulr_ge0 ?(ltW e0) ?(ltW p0) //.
  apply: (@le_trans _ _ (√(variance h) / (ε * ε) * ‖centred h‖)).
    by rewrite ler_wpmul2r // ler_wpmul2l // lef_pinv ?posrE ?mulr_gt0 // ler_pmul2l // ler_addr.
  rewrite qE (_ : _ * ‖centred h‖ = (√d%:R * ε ^+ 2)^-1 * ‖centred h‖ ^+ 2); last by field; rewrite !gt_eqF.
  apply: ler_wpmul2l; last by rewrite ler_pexpn2r ?nnegrE ?norm_ge0 // norm_centred_le.
  by rewrite invr_ge0; apply: mulr_ge0 (sqrtr_ge0 _) (sqr_ge0 _).
Qed.
End OnePlus.

Section OnePlusGain.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (u w β : 'cV[R]_d).

(* Let a layer compute (1 + w) ⊙ u + β. If its w is used as the gain, the output lacks exactly u; if the gain 1 + w is stored
   and 1 is added once more, it has u too much. At w = 0 the first mistake leaves β. Stored with p significant bits, by a
   rounding with the relative error 2^(−p), w makes the gain wrong by at most η|w|, a stored gain by at most η|1 + w| *)
Theorem one_plus_gain u w β :
  [/\ ((ones + w) ⊙ u + β) - (w ⊙ u + β) = u,
      ((ones + (ones + w)) ⊙ u + β) - ((ones + w) ⊙ u + β) = u,
      0 ⊙ u + β = β
    & forall (p : nat) (rounded : R -> R), let η := (2 ^+ p)^-1 in
        (forall x, `|rounded x - x| <= η * `|x|) -> forall i,
        `|(1 + rounded (w i 0)) - (1 + w i 0)| <= η * `|w i 0|
        /\ `|rounded (1 + w i 0) - (1 + w i 0)| <= η * `|1 + w i 0|].
Proof.
split=> [|||p rounded η H i]; try by apply/vecP => i; rewrite !mxE /=; ring.
by split; rewrite ?H // opprD addrACA subrr add0r.
Qed.
End OnePlusGain.

Section Probe.
Variable R : rcfType.
Implicit Types (ε : R).

(* the core of the two entries a < b at ε = 0 is (−1, 1) *)
Lemma core_two (a b : R) : a < b -> core 0 (vec [:: a; b] : 'cV[R]_2) = vec [:: -1; 1].
Proof.
move=> ab; have m : mean (vec [:: a; b] : 'cV[R]_2) = (a + b) / 2 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v : centred (vec [:: a; b] : 'cV[R]_2) = vec [:: (a - b) / 2; (b - a) / 2].
  by apply/vecP; case=> [[|[|k]] //= i]; rewrite centredE m !mxE /=; field.
have q : variance (vec [:: a; b] : 'cV[R]_2) = ((b - a) / 2) ^+ 2.
  by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
have ba : 0 < b - a by rewrite subr_gt0.
rewrite /core addr0 q sqrtr_sqr gtr0_norm ?divr_gt0 ?ltr0n // v.
by apply/vecP; case=> [[|[|k]] //= i]; rewrite !mxE /=; field; rewrite gt_eqF.
Qed.

(* At ε = 0 the array (1 2; 4 8) becomes (−1 1; −1 1) when the last axis is normalized, and (−11 −7; 1 17)/√115 when both are *)
Theorem axes_example :
  [/\ core 0 (vec [:: 1; 2]) = vec [:: -1; 1] :> 'cV[R]_2, core 0 (vec [:: 4; 8]) = vec [:: -1; 1] :> 'cV[R]_2
    & core 0 (vec [:: 1; 2; 4; 8]) = (√115)^-1 *: vec [:: -11; -7; 1; 17] :> 'cV[R]_4].
Proof.
split; first by apply: core_two; rewrite ltr1n.
  by apply: core_two; rewrite ltr_nat.
have m : mean (vec [:: 1; 2; 4; 8] : 'cV[R]_4) = 15 / 4 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v : centred (vec [:: 1; 2; 4; 8] : 'cV[R]_4) = 4^-1 *: vec [:: -11; -7; 1; 17].
  by apply/vecP; case=> [[|[|[|[|k]]]] //= i]; rewrite centredE m !mxE /=; field.
have q : variance (vec [:: 1; 2; 4; 8] : 'cV[R]_4) = 115 * 4^-1 ^+ 2.
  by rewrite /variance v !big_ord_recl big_ord0 !mxE /=; field.
rewrite /core addr0 v q sqrtrM ?ler0n // sqrtr_sqr ger0_norm ?invr_ge0 ?ler0n // scalerA; congr (_ *: _).
by rewrite invfM invrK -mulrA divff ?mulr1 ?pnatr_eq0.
Qed.

(* For z = (0, 2), ε = 3, stored gain (2, 2) and β = 0 the last output coordinate is 1 in the layer of this book, 1/2 with ε
   outside the root, 2/√5 with the divisor d − 1, 2/(√2 + 3) with both, 2/√3 with max(q, ε), 2 without ε, 2/√10 with ε
   squared, 4/√5 without centring, 3/2 if the stored gain means 1 + w, 1/2 if the gain is left out. Only the second and the
   last agree; a stored gain of 3 tells them apart *)
Theorem convention_probe :
  let z := vec [:: 0; 2] : 'cV[R]_2 in let ε := 3 in let last (x : 'cV[R]_2) := x ord_max 0 in
  let g := vec [:: 2; 2] : 'cV[R]_2 in
  let v := centred z in let q := variance z in let q1 := ⟨v, v⟩ / (2 - 1) in let m := ⟨z, z⟩ / 2 in
  let divided (s : R) (x : 'cV[R]_2) := s^-1 *: x in
  let outputs := [:: last (layer_norm ε g 0 z); last (g ⊙ divided (√q + ε) v); last (g ⊙ divided √(q1 + ε) v);
    last (g ⊙ divided (√q1 + ε) v); last (g ⊙ divided √(Num.max q ε) v); last (g ⊙ divided √q v);
    last (g ⊙ divided √(q + ε ^+ 2) v); last (g ⊙ divided √(m + ε) z); last ((ones + g) ⊙ core ε z); last (core ε z)] in
  [/\ outputs = [:: 1; 1 / 2; 2 / √5; 2 / (√2 + 3); 2 / √3; 2; 2 / √10; 4 / √5; 3 / 2; 1 / 2],
      sorted <%R ([:: 2 / (√2 + 3); 1 / 2; 2 / √10; 2 / √5; 1; 2 / √3; 3 / 2; 4 / √5; 2] : seq R)
    & let g' := vec [:: 3; 3] : 'cV[R]_2 in last (g' ⊙ divided (√q + ε) v) <> last (core ε z)].
Proof.
move=> z ε last g v q q1 m divided outputs.
have mz : mean z = 1 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; field.
have v1 : v ord_max 0 = 1 by rewrite /v centredE mz !mxE /=; ring.
have v0 : v 0 0 = -1 by rewrite /v centredE mz !mxE /=; ring.
have vv : ⟨v, v⟩ = 2.
  have vE : v = vec [:: -1; 1] by apply/vecP; case=> [[|[|l]] //= i]; rewrite /v centredE mz !mxE /=; ring.
  by rewrite vE /dot !big_ord_recl big_ord0 !mxE /=; ring.
have q_1 : q = 1 by rewrite /q variance_dot -/v vv divff ?pnatr_eq0.
have q1_2 : q1 = 2 by rewrite /q1 vv (_ : 2 - 1 = 1 :> R) ?divr1 //; ring.
have m_2 : m = 2 by rewrite /m /dot !big_ord_recl big_ord0 !mxE /=; field.
have r4 : √(1 + 3) = 2 :> R by apply: sqrt_eq; rewrite ?ler0n //; ring.
have r1 : √1 = 1 :> R by rewrite sqrtr1.
have z1 : z ord_max 0 = 2 by rewrite !mxE.
have lastE (w x : 'cV[R]_2) s : last (w ⊙ divided s x) = w ord_max 0 * (x ord_max 0 / s).
  by rewrite /last hadamardE mxE [_ * x _ _]mulrC.
have n2 : 2 != 0 :> R by rewrite pnatr_eq0.
have coreL : last (core ε z) = 1 / 2 by rewrite /last coreE -/v -/q v1 q_1 /ε r4.
split.
- have e0 : last (layer_norm ε g 0 z) = 1 by rewrite /last layer_normE -/(last (core ε z)) coreL !mxE /=; field.
  have e8 : last ((ones + g) ⊙ core ε z) = 3 / 2.
    by rewrite /last hadamardE -/(last (core ε z)) coreL !mxE /=; field.
  rewrite /outputs e0 e8 coreL !lastE v1 z1 q_1 q1_2 m_2 r1 /ε !mxE /=.
  rewrite (_ : Num.max 1 3 = 3 :> R); last by apply/max_idPr; rewrite ler1n.
  rewrite (_ : 2 + 3 = 5 :> R); last by ring.
  rewrite (_ : 1 + 3 ^+ 2 = 10 :> R); last by ring.
  rewrite (_ : 2 * (1 / (1 + 3)) = 1 / 2 :> R); last by field.
  by rewrite !mul1r !invr1 !mulr1 mulrA (_ : 2 * 2 = 4 :> R) //; ring.
- have up (a b : R) : 0 <= a -> a ^+ 2 < b -> a < √b.
    move=> a0 ab; apply: ltr_of_sqr; rewrite ?sqrtr_ge0 // sqrK // ltW // (le_lt_trans _ ab) ?sqr_ge0 //.
  have lo (a b : R) : 0 <= a -> 0 <= b -> b < a ^+ 2 -> √b < a.
    by move=> a0 b0 ba; apply: ltr_of_sqr; rewrite ?sqrK.
  have s (k : nat) : (0 < k)%N -> 0 < √(k%:R : R) by move=> k0; rewrite sqrtr_gt0 ltr0n.
  have cross (a b c e : R) : 0 < b -> 0 < e -> a * e < c * b -> a / b < c / e.
    by move=> b0 e0 H; rewrite ltr_pdivr_mulr // mulrAC ltr_pdivl_mulr.
  have [s2 s3 s5 s10] : [/\ 0 < √2 :> R, 0 < √3 :> R, 0 < √5 :> R & 0 < √10 :> R] by split; apply: s.
  have g1 : 1 < √2 :> R by apply: up; rewrite ?ler01 // expr1n ltr1n.
  have l4 : √10 < 4 :> R by apply: lo; rewrite ?ler0n // -natrX ltr_nat.
  have g2 : 2 < √5 :> R by apply: up; rewrite ?ler0n // -natrX ltr_nat.
  have l2 : √3 < 2 :> R by apply: lo; rewrite ?ler0n // -natrX ltr_nat.
  have g43 : 4 / 3 < √3 :> R.
    apply: up; first by rewrite divr_ge0 ?ler0n.
    by rewrite expr_div_n -!natrX ltr_pdivr_mulr ?ltr0n // -natrM ltr_nat.
  have l83 : √5 < 8 / 3 :> R.
    apply: lo; rewrite ?divr_ge0 ?ler0n //.
    by rewrite expr_div_n -!natrX ltr_pdivl_mulr ?ltr0n // -natrM ltr_nat.
  have l510 : √5 < √10 :> R by rewrite ltr_sqrt ?ltr0n // ltr_nat.
  have T : 0 < 2 :> R by rewrite ltr0n.
  have h0 : 2 / (√2 + 3) < 1 / 2 :> R.
    have b0 : 0 < √2 + 3 :> R by rewrite addr_gt0 ?ltr0n.
    apply: (cross _ _ _ _ b0 T); rewrite mul1r -subr_gt0 (_ : _ - _ = √2 - 1); last by ring.
    by rewrite subr_gt0.
  have h1 : 1 / 2 < 2 / √10 :> R.
    by apply: cross => //; rewrite mul1r (_ : 2 * 2 = 4 :> R) //; ring.
  have h2 : 2 / √10 < 2 / √5 :> R.
    by apply: cross => //; rewrite ltr_pmul2l.
  have h3 : 2 / √5 < 1 :> R.
    by rewrite ltr_pdivr_mulr // mul1r.
  have h4 : 1 < 2 / √3 :> R.
    by rewrite ltr_pdivl_mulr // mul1r.
  have h5 : 2 / √3 < 3 / 2 :> R.
    rewrite ltr_pdivr_mulr // -subr_gt0 (_ : _ - _ = 3 / 2 * (√3 - 4 / 3)); last by field.
    by rewrite mulr_gt0 ?divr_gt0 ?ltr0n // subr_gt0.
  have h6 : 3 / 2 < 4 / √5 :> R.
    rewrite ltr_pdivl_mulr // -subr_gt0 (_ : _ - _ = 3 / 2 * (8 / 3 - √5)); last by field.
    by rewrite mulr_gt0 ?divr_gt0 ?ltr0n // subr_gt0.
  have h7 : 4 / √5 < 2 :> R.
    rewrite ltr_pdivr_mulr // -subr_gt0 (_ : _ - _ = 2 * (√5 - 2)); last by ring.
    by rewrite mulr_gt0 // subr_gt0.
  by rewrite /= h0 h1 h2 h3 h4 h5 h6 h7.
- move=> g'; rewrite lastE v1 q_1 r1 coreL !mxE /= => /eqP; rewrite -subr_eq0.
  rewrite (_ : _ - _ = 1 / 4); last by rewrite /ε; field.
  by rewrite mul1r invr_eq0 pnatr_eq0.
Qed.
End Probe.

Section Defaults.
Variable R : rcfType.

(* For z = (−1/100, 0, 1/100) the last core coordinate is 1/√(2/3 + 10⁴ε): to six decimals 1.224745 at ε = 10⁻¹²,
   1.223827 at 10⁻⁷, 1.215661 at 10⁻⁶, √(30/23) ≈ 1.142080 at 10⁻⁵ and √(3/32) ≈ 0.306186 at 10⁻³ *)
Theorem eps_defaults :
  let last ε := core ε (vec [:: - (1 / 100); 0; 1 / 100] : 'cV[R]_3) (lift 0 (lift 0 0)) 0 in
  let η : R := 1 / (2 * 10 ^+ 6) in
  [/\ forall ε, 0 <= ε -> last ε = (√(2 / 3 + 10 ^+ 4 * ε))^-1,
      `|last (10 ^- 12) - (1224 * 10 ^+ 3 + 745) / 10 ^+ 6| < η
        /\ `|last (10 ^- 7) - (1223 * 10 ^+ 3 + 827) / 10 ^+ 6| < η
        /\ `|last (10 ^- 6) - (1215 * 10 ^+ 3 + 661) / 10 ^+ 6| < η,
      last (10 ^- 5) = √(30 / 23) /\ `|last (10 ^- 5) - (1142 * 10 ^+ 3 + 80) / 10 ^+ 6| < η
    & last (10 ^- 3) = √(3 / 32) /\ `|last (10 ^- 3) - (306 * 10 ^+ 3 + 186) / 10 ^+ 6| < η].
Proof.
move=> last η; have e0 k : 0 < 10 ^- k :> R by rewrite invr_gt0 exprn_gt0 ?ltr0n.
have x0 ε : 0 < ε -> 0 < 2 / 3 + 10 ^+ 4 * ε :> R.
  by move=> ?; rewrite addr_gt0 ?divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
have lastE ε : 0 <= ε -> last ε = (√(2 / 3 + 10 ^+ 4 * ε))^-1.
  move=> ε0; rewrite /last; set z := vec _.
  have m0 : mean z = 0 by rewrite /mean !big_ord_recl big_ord0 !mxE /=; ring.
  have q : variance z = 2 / (3 * 10 ^+ 4) by rewrite /variance centred_id // !big_ord_recl big_ord0 !mxE /=; field.
  rewrite coreE centred_id // (@sqrt_eq _ (2 / 3 + _) (100 * √(variance z + ε))).
  - by rewrite invfM mulrC mxE /= mul1r mulrC.
  - by rewrite mulr_ge0 ?ler0n ?sqrtr_ge0.
  - by rewrite exprMn sqrK ?addr_ge0 ?variance_ge0 // q; field.
have η0 : 0 < η by rewrite divr_gt0 ?ltr01 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
have near ε a A B C : 0 < ε -> a - η = A -> 1 - (a - η) ^+ 2 * (2 / 3 + 10 ^+ 4 * ε) = B ->
    (a + η) ^+ 2 * (2 / 3 + 10 ^+ 4 * ε) - 1 = C -> 0 < A -> 0 < B -> 0 < C -> `|last ε - a| < η.
  by move=> ε0 <- <- <- A0 B0 C0; rewrite lastE ?(ltW ε0) //; apply: near_inv_sqrt (x0 _ ε0) _ _ _ _.
split=> //.
- split; [|split].
  + apply: (near _ _ (((2 * 10 ^+ 3 + 449) * 10 ^+ 3 + 489) / (2 * 10 ^+ 6))
    (((((709 * 10 ^+ 3 + 775) * 10 ^+ 3 + 810) * 10 ^+ 3 + 916) * 10 ^+ 3 + 637) / (12 * 10 ^+ 20))
    ((((((1 * 10 ^+ 3 + 249) * 10 ^+ 3 + 816) * 10 ^+ 3 + 218) * 10 ^+ 3 + 477) * 10 ^+ 3 + 243) / (12 * 10 ^+ 20)));
      [exact: e0|by rewrite /η; field|by rewrite /η; field|by rewrite /η; field|digits|digits|digits].
  + apply: (near _ _ (((2 * 10 ^+ 3 + 447) * 10 ^+ 3 + 653) / (2 * 10 ^+ 6))
    ((((16 * 10 ^+ 3 + 567) * 10 ^+ 3 + 556) * 10 ^+ 3 + 773) / (12 * 10 ^+ 15))
    ((((3 * 10 ^+ 3 + 43) * 10 ^+ 3 + 47) * 10 ^+ 3 + 75) / (12 * 10 ^+ 15))); [exact: e0|by rewrite /η; field
      |by rewrite /η; field|by rewrite /η; field|digits|digits|digits].
  + apply: (near _ _ (((2 * 10 ^+ 3 + 431) * 10 ^+ 3 + 321) / (2 * 10 ^+ 6))
    ((((1 * 10 ^+ 3 + 673) * 10 ^+ 3 + 576) * 10 ^+ 3 + 677) / (12 * 10 ^+ 14))
    (((300 * 10 ^+ 3 + 656) * 10 ^+ 3 + 787) / (12 * 10 ^+ 14))); [exact: e0|by rewrite /η; field|by rewrite /η;
      field|by rewrite /η; field|digits|digits|digits].
- split; first by rewrite lastE ?(ltW (e0 5%N)) // -sqrtrV ?(ltW (x0 _ (e0 5%N))) //; congr (√_); field.
  apply: (near _ _ (((2 * 10 ^+ 3 + 284) * 10 ^+ 3 + 159) / (2 * 10 ^+ 6))
    (((206 * 10 ^+ 3 + 242) * 10 ^+ 3 + 537) / (12 * 10 ^+ 13))
    (((3 * 10 ^+ 3 + 900) * 10 ^+ 3 + 183) / (12 * 10 ^+ 13))); [exact: e0|by rewrite /η; field|by rewrite /η;
      field|by rewrite /η; field|digits|digits|digits].
- split; first by rewrite lastE ?(ltW (e0 3%N)) // -sqrtrV ?(ltW (x0 _ (e0 3%N))) //; congr (√_); field.
  apply: (near _ _ ((612 * 10 ^+ 3 + 371) / (2 * 10 ^+ 6))
    (((56 * 10 ^+ 3 + 267) * 10 ^+ 3 + 488) / (12 * 10 ^+ 12))
    (((22 * 10 ^+ 3 + 116) * 10 ^+ 3 + 128) / (12 * 10 ^+ 12))); [exact: e0|by rewrite /η; field|by rewrite /η;
      field|by rewrite /η; field|digits|digits|digits].
Qed.
End Defaults.
