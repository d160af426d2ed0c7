(* What the pages' proofs share: sums, the inner product and the length, mean and variance, derivatives. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* ---- roots ---- *)
Section Root.
Variable R : rcfType.
Implicit Types x y : R.

Lemma sqrt_gt0 x : 0 < x -> 0 < √x. Proof. by rewrite sqrtr_gt0. Qed.
Lemma sqrt_neq0 x : 0 < x -> √x != 0. Proof. by move=> x0; rewrite gt_eqF ?sqrt_gt0. Qed.
Lemma sqrK x : 0 <= x -> √x ^+ 2 = x. Proof. exact: sqr_sqrtr. Qed.
Lemma cubeK x : 0 <= x -> √x ^+ 3 = x * √x. Proof. by move=> x0; rewrite exprSr sqrK. Qed.
Lemma sqrt_eq x y : 0 <= y -> x = y ^+ 2 -> √x = y. Proof. by move=> y0 ->; rewrite sqrtr_sqr ger0_norm. Qed.
Lemma ler_of_sqr x y : 0 <= y -> x ^+ 2 <= y ^+ 2 -> x <= y.
Proof.
move=> y0 xy; case: (lerP 0 x) => x0; last by rewrite (le_trans (ltW x0)).
by rewrite -(ler_pexpn2r (ltn0Sn 1)) ?nnegrE.
Qed.
Lemma ltr_of_sqr x y : 0 <= y -> x ^+ 2 < y ^+ 2 -> x < y.
Proof.
move=> y0 xy; case: (lerP 0 x) => x0; last by rewrite (lt_le_trans x0).
by rewrite -(ltr_pexpn2r (ltn0Sn 1)) ?nnegrE.
Qed.
Lemma eqr_of_sqr x y : 0 <= x -> 0 <= y -> x ^+ 2 = y ^+ 2 -> x = y.
Proof. by move=> x0 y0 /eqP; rewrite eqr_expn2 // => /eqP. Qed.
End Root.

(* ---- vectors, the inner product and the length ---- *)
Section Vectors.
Variable R : rcfType.
Variable d : nat.
Implicit Types (x y w : 'cV[R]_d) (c : R).

Lemma vecP x y : (forall i, x i 0 = y i 0) <-> x = y.
Proof. by split=> [xy|-> //]; apply/matrixP => i j; rewrite ord1. Qed.

Lemma onesE i : (ones : 'cV[R]_d) i 0 = 1. Proof. by rewrite mxE. Qed.
Lemma hadamardE x y i : (x ⊙ y) i 0 = x i 0 * y i 0. Proof. by rewrite mxE. Qed.
Lemma hadamardC x y : x ⊙ y = y ⊙ x. Proof. by apply/vecP => i; rewrite !hadamardE mulrC. Qed.
Lemma hadamardDr x y w : x ⊙ (y + w) = x ⊙ y + x ⊙ w.
Proof. by apply/vecP => i; rewrite !mxE mulrDr. Qed.
Lemma hadamardBr x y w : x ⊙ (y - w) = x ⊙ y - x ⊙ w.
Proof. by apply/vecP => i; rewrite !mxE mulrBr. Qed.
Lemma hadamardZr x y c : x ⊙ (c *: y) = c *: (x ⊙ y).
Proof. by apply/vecP => i; rewrite !mxE mulrCA. Qed.
Lemma hadamard_ones x : ones ⊙ x = x. Proof. by apply/vecP => i; rewrite !mxE mul1r. Qed.
Lemma hadamard0 x : x ⊙ 0 = 0. Proof. by apply/vecP => i; rewrite !mxE mulr0. Qed.
Lemma diag_mul x y : diag x *m y = x ⊙ y.
Proof. by apply/vecP => i; rewrite mul_diag_mx !mxE. Qed.
Lemma diag_tr x : (diag x)^T = diag x. Proof. exact: tr_diag_mx. Qed.

Lemma dotE x y : ⟨x, y⟩ = (x^T *m y) 0 0.
Proof. by rewrite mxE; apply: eq_bigr => i _; rewrite mxE. Qed.
Lemma dotC x y : ⟨x, y⟩ = ⟨y, x⟩. Proof. by apply: eq_bigr => i _; rewrite mulrC. Qed.
Lemma dotDl x y w : ⟨x + y, w⟩ = ⟨x, w⟩ + ⟨y, w⟩.
Proof. by rewrite -big_split; apply: eq_bigr => i _; rewrite mxE mulrDl. Qed.
Lemma dotDr x y w : ⟨w, x + y⟩ = ⟨w, x⟩ + ⟨w, y⟩. Proof. by rewrite dotC dotDl !(dotC _ w). Qed.
Lemma dotZl c x y : ⟨c *: x, y⟩ = c * ⟨x, y⟩.
Proof. by rewrite /dot mulr_sumr; apply: eq_bigr => i _; rewrite mxE mulrA. Qed.
Lemma dotZr c x y : ⟨x, c *: y⟩ = c * ⟨x, y⟩. Proof. by rewrite dotC dotZl dotC. Qed.
Lemma dotNl x y : ⟨- x, y⟩ = - ⟨x, y⟩. Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.
Lemma dotNr x y : ⟨x, - y⟩ = - ⟨x, y⟩. Proof. by rewrite dotC dotNl dotC. Qed.
Lemma dotBl x y w : ⟨x - y, w⟩ = ⟨x, w⟩ - ⟨y, w⟩. Proof. by rewrite dotDl dotNl. Qed.
Lemma dotBr x y w : ⟨w, x - y⟩ = ⟨w, x⟩ - ⟨w, y⟩. Proof. by rewrite dotDr dotNr. Qed.
Lemma dot0l x : ⟨0, x⟩ = 0. Proof. by rewrite -(scale0r x) dotZl mul0r. Qed.
Lemma dot0r x : ⟨x, 0⟩ = 0. Proof. by rewrite dotC dot0l. Qed.
Lemma dot_ones x : ⟨ones, x⟩ = \sum_i x i 0.
Proof. by apply: eq_bigr => i _; rewrite onesE mul1r. Qed.
Lemma dot_hadamard x y w : ⟨x, y ⊙ w⟩ = ⟨y ⊙ x, w⟩.
Proof. by apply: eq_bigr => i _; rewrite !hadamardE mulrA (mulrC (x i 0)). Qed.
Lemma dot_ge0 x : 0 <= ⟨x, x⟩. Proof. by apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.
Lemma dot_eq0 x : (⟨x, x⟩ == 0) = (x == 0).
Proof.
apply/eqP/eqP => [xx|->]; last exact: dot0l.
apply/vecP => i; rewrite mxE; apply/eqP; rewrite -sqrf_eq0 expr2; apply/eqP.
by move: i isT; apply: psumr_eq0P xx => i _; rewrite -expr2 sqr_ge0.
Qed.

Lemma norm_ge0 x : 0 <= ‖x‖. Proof. exact: sqrtr_ge0. Qed.
Lemma sqr_norm x : ‖x‖ ^+ 2 = ⟨x, x⟩. Proof. by rewrite sqrK ?dot_ge0. Qed.
Lemma norm_eq0 x : (‖x‖ == 0) = (x == 0). Proof. by rewrite -sqrf_eq0 sqr_norm dot_eq0. Qed.
Lemma norm0 : ‖0 : 'cV[R]_d‖ = 0. Proof. by apply/eqP; rewrite norm_eq0. Qed.
Lemma norm_gt0 x : (0 < ‖x‖) = (x != 0). Proof. by rewrite lt_def norm_ge0 norm_eq0 andbT. Qed.
Lemma normZ c x : ‖c *: x‖ = `|c| * ‖x‖.
Proof. by rewrite /norm dotZl dotZr mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.
Lemma normN x : ‖- x‖ = ‖x‖. Proof. by rewrite /norm dotNl dotNr opprK. Qed.
Lemma norm_sub x y : ‖x - y‖ = ‖y - x‖. Proof. by rewrite -normN opprB. Qed.
(* ‖x‖ ≤ c is ⟨x, x⟩ ≤ c² *)
Lemma norm_le x c : 0 <= c -> (‖x‖ <= c) = (⟨x, x⟩ <= c ^+ 2).
Proof. by move=> c0; rewrite -sqr_norm ler_pexpn2r ?nnegrE ?norm_ge0. Qed.

Lemma dot_sub x y : ⟨x - y, x - y⟩ = ⟨x, x⟩ - ⟨x, y⟩ *+ 2 + ⟨y, y⟩.
Proof. by rewrite dotBl !dotBr (dotC y x) opprB mulr2n opprD !addrA addrAC -!addrA. Qed.
Lemma dot_add x y : ⟨x + y, x + y⟩ = ⟨x, x⟩ + ⟨x, y⟩ *+ 2 + ⟨y, y⟩.
Proof. by rewrite -(opprK y) dot_sub !dotNr dotNl !opprK mulNrn opprK. Qed.

(* Cauchy and Schwarz, with squares and with lengths *)
Lemma cauchy_schwarz_sqr x y : ⟨x, y⟩ ^+ 2 <= ⟨x, x⟩ * ⟨y, y⟩.
Proof.
have [->|y0] := eqVneq y 0; first by rewrite !dot0r expr0n /= mulr0.
have yy : 0 < ⟨y, y⟩ by rewrite lt_def dot_eq0 y0 dot_ge0.
have := dot_ge0 (⟨y, y⟩ *: x - ⟨x, y⟩ *: y).
have -> : ⟨⟨y, y⟩ *: x - ⟨x, y⟩ *: y, ⟨y, y⟩ *: x - ⟨x, y⟩ *: y⟩ = ⟨y, y⟩ * (⟨x, x⟩ * ⟨y, y⟩ - ⟨x, y⟩ ^+ 2).
  by rewrite dot_sub !dotZl !dotZr; ring.
by rewrite pmulr_rge0 // subr_ge0.
Qed.
Lemma cauchy_schwarz x y : `|⟨x, y⟩| <= ‖x‖ * ‖y‖.
Proof.
apply: ler_of_sqr; first by rewrite mulr_ge0 ?norm_ge0.
by rewrite exprMn !sqr_norm -normrX ger0_norm ?sqr_ge0 // cauchy_schwarz_sqr.
Qed.
Lemma dot_le x y : ⟨x, y⟩ <= ‖x‖ * ‖y‖. Proof. exact: le_trans (ler_norm _) (cauchy_schwarz x y). Qed.
Lemma norm_triangle x y : ‖x + y‖ <= ‖x‖ + ‖y‖.
Proof.
rewrite norm_le ?addr_ge0 ?norm_ge0 // dot_add sqrrD !sqr_norm.
by rewrite ler_add2r ler_add2l ler_muln2r dot_le.
Qed.
Lemma norm_triangle_sub x y : ‖x‖ - ‖y‖ <= ‖x - y‖.
Proof. by rewrite ler_subl_addr -{1}(subrK y x) norm_triangle. Qed.
Lemma norm_entry x i : `|x i 0| <= ‖x‖.
Proof.
apply: ler_of_sqr; first exact: norm_ge0.
rewrite sqr_norm -normrX ger0_norm ?sqr_ge0 // /dot (bigD1 i) //= -expr2 ler_addl.
by apply: sumr_ge0 => j _; rewrite -expr2 sqr_ge0.
Qed.

(* ‖γ ⊙ x‖ ≤ max_i |γ_i| ‖x‖ *)
Lemma max_abs_ge x i : `|x i 0| <= max_abs x.
Proof.
rewrite /max_abs; have: i \in index_enum (ordinal_finType d) by rewrite mem_index_enum.
elim: (index_enum _) => // j s IH; rewrite inE big_cons le_maxr => /orP[/eqP ->|/IH ->]; first by rewrite lexx.
by rewrite orbT.
Qed.
Lemma max_abs_ge0 x : 0 <= max_abs x.
Proof. by rewrite /max_abs; elim/big_rec: _ => // i m _ m0; rewrite le_maxr m0 orbT. Qed.
Lemma max_abs_le x c : 0 <= c -> (forall i, `|x i 0| <= c) -> max_abs x <= c.
Proof. by move=> c0 xc; rewrite /max_abs; elim/big_rec: _ => // i m _ mc; rewrite le_maxl xc. Qed.
Lemma norm_hadamard x y : ‖x ⊙ y‖ <= max_abs x * ‖y‖.
Proof.
have M0 := max_abs_ge0 x; rewrite norm_le ?mulr_ge0 ?norm_ge0 // exprMn sqr_norm mulr_sumr.
apply: ler_sum => i _; rewrite hadamardE -!expr2 exprMn ler_wpmul2r ?sqr_ge0 //.
by rewrite -(real_normK (num_real (x i 0))) ler_pexpn2r ?nnegrE ?normr_ge0 ?max_abs_ge.
Qed.
End Vectors.

Lemma norm_le_norm (R : rcfType) m n (x : 'cV[R]_m) (c : R) (y : 'cV[R]_n) :
  0 <= c -> (‖x‖ <= c * ‖y‖) = (⟨x, x⟩ <= c ^+ 2 * ⟨y, y⟩).
Proof. by move=> c0; rewrite norm_le ?mulr_ge0 ?norm_ge0 // exprMn sqr_norm. Qed.
(* x yᵀ w = ⟨y, w⟩ x *)
Lemma outer_mul (R : rcfType) m n (x : 'cV[R]_m) (y w : 'cV[R]_n) : x *m y^T *m w = ⟨y, w⟩ *: x.
Proof. by rewrite -mulmxA [y^T *m w]mx11_scalar -dotE mul_mx_scalar. Qed.
(* position n of f applied to all positions is f of position n *)
Lemma col_at_positions (R : rcfType) d N (f : 'cV[R]_d -> 'cV[R]_d) (Z : 'M[R]_(d, N)) k :
  col k (at_positions f Z) = f (col k Z).
Proof. by apply/matrixP => i j; rewrite mxE mxE ord1. Qed.
Lemma dot_mulmx (R : rcfType) m n (A : 'M[R]_(m, n)) x y : ⟨A *m x, y⟩ = ⟨x, A^T *m y⟩.
Proof. by rewrite !dotE trmx_mul mulmxA. Qed.

(* ---- mean, centred vector, variance; d = n + 1 is any number of coordinates from 1 on ---- *)
Section Moments.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z x y : 'cV[R]_d) (c ε : R).

Lemma d_gt0 : 0 < d%:R :> R. Proof. by rewrite ltr0n. Qed.
Lemma d_neq0 : d%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.
Lemma d1_neq0 : 1 + n%:R != 0 :> R. Proof. by rewrite -mulrS d_neq0. Qed. (* what field asks for *)

Lemma meanD x y : mean (x + y) = mean x + mean y.
Proof. by rewrite /mean -mulrDl -big_split; congr (_ / _); apply: eq_bigr => i _; rewrite mxE. Qed.
Lemma meanZ c x : mean (c *: x) = c * mean x.
Proof. by rewrite /mean mulrA mulr_sumr; congr (_ / _); apply: eq_bigr => i _; rewrite mxE. Qed.
Lemma meanN x : mean (- x) = - mean x. Proof. by rewrite -scaleN1r meanZ mulN1r. Qed.
Lemma meanB x y : mean (x - y) = mean x - mean y. Proof. by rewrite meanD meanN. Qed.
Lemma mean0 : mean (0 : 'cV[R]_d) = 0. Proof. by rewrite -(scale0r 0) meanZ mul0r. Qed.
Lemma mean_ones : mean (ones : 'cV[R]_d) = 1.
Proof. by rewrite /mean (eq_bigr (fun=> 1)) => [|i _]; rewrite ?onesE // sumr_const card_ord divff ?d_neq0. Qed.
Lemma mean_const c : mean (c *: ones : 'cV[R]_d) = c. Proof. by rewrite meanZ mean_ones mulr1. Qed.
Lemma dot_ones_mean x : ⟨ones, x⟩ = d%:R * mean x.
Proof. by rewrite dot_ones mulrC divfK ?d_neq0. Qed.
Lemma dot_ones_ones : ⟨ones, ones : 'cV[R]_d⟩ = d%:R. Proof. by rewrite dot_ones_mean mean_ones mulr1. Qed.
Lemma mean_dot x : mean x = ⟨ones, x⟩ / d%:R. Proof. by rewrite dot_ones. Qed.
Lemma sum_mean x : \sum_i x i 0 = d%:R * mean x. Proof. by rewrite -dot_ones dot_ones_mean. Qed.

Lemma centredE x i : centred x i 0 = x i 0 - mean x. Proof. by rewrite !mxE mulr1. Qed.
Lemma P_mul x : P *m x = centred x.
Proof. by rewrite mulmxBl mul1mx -scalemxAl outer_mul scalerA /centred mean_dot mulrC. Qed.
Lemma P_tr : (P : 'M[R]_d)^T = P. Proof. by rewrite raddfB /= linearZ /= trmx1 trmx_mul trmxK. Qed.
Lemma centredD x y : centred (x + y) = centred x + centred y. Proof. by rewrite -!P_mul mulmxDr. Qed.
Lemma centredB x y : centred (x - y) = centred x - centred y. Proof. by rewrite -!P_mul mulmxBr. Qed.
Lemma centredZ c x : centred (c *: x) = c *: centred x. Proof. by rewrite -!P_mul scalemxAr. Qed.
Lemma centredN x : centred (- x) = - centred x. Proof. by rewrite -!P_mul mulmxN. Qed.
Lemma centred0 : centred (0 : 'cV[R]_d) = 0. Proof. by rewrite -P_mul mulmx0. Qed.
Lemma centred_ones : centred (ones : 'cV[R]_d) = 0. Proof. by rewrite /centred mean_ones scale1r subrr. Qed.
Lemma centred_const c : centred (c *: ones : 'cV[R]_d) = 0. Proof. by rewrite centredZ centred_ones scaler0. Qed.
Lemma mean_centred x : mean (centred x) = 0. Proof. by rewrite meanB mean_const subrr. Qed.
Lemma centred_id x : mean x = 0 -> centred x = x. Proof. by rewrite /centred => ->; rewrite scale0r subr0. Qed.
Lemma centredK x : centred (centred x) = centred x. Proof. by rewrite centred_id ?mean_centred. Qed.
Lemma centred_shift x c : centred (x + c *: ones) = centred x. Proof. by rewrite centredD centred_const addr0. Qed.
Lemma mean_shift x c : mean (x + c *: ones) = mean x + c. Proof. by rewrite meanD mean_const. Qed.
Lemma dot_ones_centred x : ⟨ones, centred x⟩ = 0. Proof. by rewrite dot_ones_mean mean_centred mulr0. Qed.
(* ⟨Px, Py⟩ = ⟨Px, y⟩ = ⟨x, Py⟩ *)
Lemma dot_centred x y : ⟨centred x, y⟩ = ⟨x, centred y⟩. Proof. by rewrite -!P_mul dot_mulmx P_tr. Qed.
Lemma dot_centred2 x y : ⟨centred x, centred y⟩ = ⟨centred x, y⟩. Proof. by rewrite -dot_centred centredK. Qed.
(* Pythagoras: z = v + μ1 with v orthogonal to 1 *)
Lemma centred_add_mean x : centred x + mean x *: ones = x. Proof. exact: subrK. Qed.
Lemma pythagoras x : ⟨x, x⟩ = ⟨centred x, centred x⟩ + d%:R * mean x ^+ 2.
Proof.
rewrite -{1 2}(centred_add_mean x) dot_add dotZr (dotC _ ones) dot_ones_centred mulr0 mul0rn addr0.
by rewrite dotZl dotZr dot_ones_ones mulrA -expr2 mulrC.
Qed.
Lemma dot_centred_le x : ⟨centred x, centred x⟩ <= ⟨x, x⟩.
Proof. by rewrite (pythagoras x) ler_addl mulr_ge0 ?ler0n ?sqr_ge0. Qed.
Lemma norm_centred_le x : ‖centred x‖ <= ‖x‖.
Proof. by rewrite norm_le ?norm_ge0 // sqr_norm dot_centred_le. Qed.

Lemma variance_dot x : variance x = ⟨centred x, centred x⟩ / d%:R. Proof. by []. Qed.
(* d q = ‖v‖² *)
Lemma dot_variance x : ⟨centred x, centred x⟩ = d%:R * variance x.
Proof. by rewrite variance_dot mulrC divfK ?d_neq0. Qed.
Lemma norm_variance x : ‖centred x‖ ^+ 2 = d%:R * variance x. Proof. by rewrite sqr_norm dot_variance. Qed.
Lemma variance_ge0 x : 0 <= variance x. Proof. by rewrite variance_dot divr_ge0 ?dot_ge0 ?ler0n. Qed.
Lemma variance_eq0 x : (variance x == 0) = (centred x == 0).
Proof. by rewrite variance_dot mulf_eq0 invr_eq0 (negPf d_neq0) orbF dot_eq0. Qed.
Lemma variance_gt0 x : (0 < variance x) = (centred x != 0).
Proof. by rewrite lt_def variance_ge0 andbT variance_eq0. Qed.
Lemma varianceZ c x : variance (c *: x) = c ^+ 2 * variance x.
Proof. by rewrite !variance_dot centredZ dotZl dotZr !mulrA expr2. Qed.
Lemma variance_shift x c : variance (x + c *: ones) = variance x. Proof. by rewrite !variance_dot centred_shift. Qed.
Lemma variance_const c : variance (c *: ones : 'cV[R]_d) = 0.
Proof. by rewrite variance_dot centred_const dot0l mul0r. Qed.
Lemma variance_centred x : variance (centred x) = variance x. Proof. by rewrite !variance_dot centredK. Qed.
(* the variance is 0 exactly at constant inputs *)
Lemma centred_eq0 x : centred x = 0 <-> exists c, x = c *: ones.
Proof.
split=> [x0|[c ->]]; last exact: centred_const.
by exists (mean x); rewrite -{1}(centred_add_mean x) x0 add0r.
Qed.
Lemma variance_eps x ε : 0 < ε -> 0 < variance x + ε. Proof. exact/ltr_paddl/variance_ge0. Qed.
Lemma root_gt0 x ε : 0 < ε -> 0 < √(variance x + ε). Proof. by move=> ?; rewrite sqrt_gt0 // variance_eps. Qed.

Lemma coreE ε x i : core ε x i 0 = centred x i 0 / √(variance x + ε). Proof. by rewrite mxE mulrC. Qed.
Lemma core_root ε x : 0 < variance x + ε -> √(variance x + ε) *: core ε x = centred x.
Proof. by move=> q0; rewrite scalerA mulfV ?scale1r ?sqrt_neq0. Qed.
Lemma mean_core ε x : mean (core ε x) = 0. Proof. by rewrite meanZ mean_centred mulr0. Qed.
Lemma centred_core ε x : centred (core ε x) = core ε x. Proof. by rewrite centred_id ?mean_core. Qed.
Lemma core_shift ε x c : core ε (x + c *: ones) = core ε x.
Proof. by rewrite /core variance_shift centred_shift. Qed.
Lemma layer_normE ε γ β x i : layer_norm ε γ β x i 0 = γ i 0 * core ε x i 0 + β i 0.
Proof. by rewrite mxE hadamardE. Qed.
(* Jh = (q + ε)^(−1/2) (Ph − ⟨v, h⟩ v / (d (q + ε))) *)
Lemma J_mul ε x h : J ε x *m h =
  (√(variance x + ε))^-1 *: (centred h - (⟨centred x, h⟩ / (d%:R * (variance x + ε))) *: centred x).
Proof. by rewrite -scalemxAl mulmxBl P_mul -scalemxAl outer_mul scalerA (mulrC _^-1 ⟨_, _⟩). Qed.
Lemma J_tr ε x : (J ε x)^T = J ε x.
Proof. by rewrite /J linearZ /= raddfB /= P_tr linearZ /= trmx_mul trmxK. Qed.
End Moments.
