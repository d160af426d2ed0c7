(* The statements of the page "Bias". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics Derivatives epsilon.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z γ β b g : 'cV[R]_d) (ε c : R).

(* For z = (3, 3, 3), every ε > 0, every γ and β = (1, −1, 2) the output is (1, −1, 2) *)
Theorem bias_constant_input ε (γ : 'cV[R]_3) : 0 < ε ->
  layer_norm ε γ (vec [:: 1; -1; 2]) (vec [:: 3; 3; 3]) = vec [:: 1; -1; 2].
Proof.
move=> e0; have -> : vec [:: 3; 3; 3] = 3 *: ones :> 'cV[R]_3.
  by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite !mxE /= mulr1.
by have [_ _ _ ->] := eps_constant_input γ (vec [:: 1; -1; 2]) 3 e0.
Qed.

(* That output has the mean 2/3, although its core has the mean 0; in general the mean is (1/d) Σ (γ_i u_i + β_i), and
   with equal gains it is the mean of β *)
Theorem bias_mean ε : 0 < ε ->
  (forall γ : 'cV[R]_3, mean (layer_norm ε γ (vec [:: 1; -1; 2]) (vec [:: 3; 3; 3])) = 2 / 3
     /\ mean (core ε (vec [:: 3; 3; 3]) : 'cV[R]_3) = 0)
  /\ (forall γ β z, mean (layer_norm ε γ β z) = (\sum_i (γ i 0 * core ε z i 0 + β i 0)) / d%:R)
  /\ forall c β z, mean (layer_norm ε (c *: ones) β z) = mean β.
Proof.
move=> e0; split=> [γ|].
  by rewrite bias_constant_input // mean_core /mean !big_ord_recl big_ord0 !mxE /=; split=> //; field.
split=> [γ β z|c β z]; first by congr (_ / _); apply: eq_bigr => i _; rewrite layer_normE.
by rewrite meanD hadamardC hadamardZr hadamardC hadamard_ones meanZ mean_core mulr0 add0r.
Qed.

(* y = γ ⊙ u + β: the bias is added coordinate by coordinate, after core and gain *)
Theorem bias_offset ε γ β z :
  layer_norm ε γ β z = γ ⊙ core ε z + β /\ forall i, layer_norm ε γ β z i 0 = γ i 0 * core ε z i 0 + β i 0.
Proof. by split=> // i; rewrite layer_normE. Qed.

(* No bias is the same function as β = 0: y = γ ⊙ u *)
Theorem bias_optional ε γ z : layer_norm ε γ 0 z = γ ⊙ core ε z.
Proof. by rewrite /layer_norm addr0. Qed.

(* the derivative of y by β is the identity *)
Lemma derivative_bias ε γ β z : is_derivative (fun b => layer_norm ε γ b z) β 1%:M.
Proof. by apply: derivative_ext (derivative_affine 1%:M (γ ⊙ core ε z) β) => b; rewrite mul1mx addrC. Qed.

(* ∂ℓ/∂β = g for every loss ℓ with the gradient g by the output; for ℓ = ½‖y‖² in the example it is (1, −1, 2) *)
Theorem bias_gradient ε γ β z (ℓ : 'cV[R]_d -> R) g :
  (is_gradient ℓ (layer_norm ε γ β z) g -> is_gradient (fun b => ℓ (layer_norm ε γ b z)) β g)
  /\ forall γ' : 'cV[R]_3, 0 < ε ->
     is_gradient (fun b : 'cV[R]_3 => ‖layer_norm ε γ' b (vec [:: 3; 3; 3])‖ ^+ 2 / 2) (vec [:: 1; -1; 2]) (vec [:: 1; -1; 2]).
Proof.
split=> [ℓg|γ' e0].
  have := @gradient_comp _ _ _ ℓ (fun b => layer_norm ε γ b z) _ _ _ ℓg (derivative_bias ε γ β z).
  by rewrite trmx1 mul1mx.
have E (b : 'cV[R]_3) : layer_norm ε γ' b (vec [:: 3; 3; 3]) = b.
  have -> : vec [:: 3; 3; 3] = 3 *: ones :> 'cV[R]_3.
    by apply/vecP; case=> [[|[|[|k]]] //= i]; rewrite !mxE /= mulr1.
  by have [_ _ _ ->] := eps_constant_input γ' b 3 e0.
by apply: gradient_ext (gradient_half_square _) => b; rewrite E.
Qed.

(* If several positions share β, its gradient is the sum of theirs *)
Theorem bias_positions N ε γ β (Z : 'M[R]_(d, N)) (ℓ : 'M[R]_(d, N) -> R) G :
  is_gradient_positions ℓ (at_positions (layer_norm ε γ β) Z) G ->
  is_gradient (fun b => ℓ (at_positions (layer_norm ε γ b) Z)) β (\sum_k col k G).
Proof.
move/(@gradient_positions _ _ _ _ _ (fun b => at_positions (layer_norm ε γ b) Z) (fun=> 1%:M)) => H.
have := H; rewrite (eq_bigr (fun k => col k G)) => [|k _]; last by rewrite trmx1 mul1mx.
apply=> h k; rewrite mul1mx !col_at_positions /layer_norm; move: (γ ⊙ _) => a.
by apply/vecP => i; rewrite !mxE /=; ring.
Qed.

(* Adding c1 to the input changes nothing; adding b to the bias adds b to every output, also for b = c1 *)
Theorem bias_persists ε γ β z c : 0 < ε ->
  [/\ core ε (z + c *: ones) = core ε z, layer_norm ε γ β (z + c *: ones) = layer_norm ε γ β z
    & forall b, layer_norm ε γ (β + b) z = layer_norm ε γ β z + b].
Proof. by move=> _; rewrite /layer_norm core_shift; split=> // b; rewrite addrA. Qed.

(* For every β the derivative of y by z is diag(γ) J, and the difference of two outputs is the same *)
Theorem bias_input_jacobian ε γ β β' z z' :
  (0 < variance z + ε -> is_derivative (layer_norm ε γ β) z (diag γ *m J ε z))
  /\ layer_norm ε γ β z' - layer_norm ε γ β z = layer_norm ε γ β' z' - layer_norm ε γ β' z.
Proof.
split=> [q0|]; last by rewrite !layer_norm_sub.
apply: derivative_ext (derivative_comp (derivative_affine (diag γ) β _) (proj1 (eps_jacobian q0))) => x.
by rewrite diag_mul.
Qed.
End Page.
