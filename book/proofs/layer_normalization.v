(* The statements of the page "Layer normalization". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Page.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (z γ β : 'cV[R]_d) (ε : R).

(* y_i = γ_i (z_i − μ)/√(q + ε) + β_i: the divisor of μ and q is d, ε is inside the root, and the root is positive *)
Theorem def_output ε γ β z : 0 < variance z + ε ->
  let μ := (\sum_k z k 0) / d%:R in
  let q := (\sum_k (z k 0 - μ) ^+ 2) / d%:R in
  0 < √(q + ε) /\ forall i, layer_norm ε γ β z i 0 = γ i 0 * ((z i 0 - μ) / √(q + ε)) + β i 0.
Proof.
move=> qε /=; have -> : (\sum_k (z k 0 - (\sum_k z k 0) / d%:R) ^+ 2) / d%:R = variance z.
  by congr (_ / _); apply: eq_bigr => k _; rewrite centredE.
by rewrite sqrt_gt0 //; split=> // i; rewrite layer_normE coreE centredE.
Qed.

(* Pᵀ = P, P² = P, Pz = v, Pv = v, P1 = 0 *)
Theorem def_projection z :
  [/\ P^T = P :> 'M[R]_d, P *m P = P :> 'M[R]_d, P *m z = centred z, P *m centred z = centred z & P *m ones = 0 :> 'cV[R]_d].
Proof.
split; rewrite ?P_tr ?P_mul ?centredK ?centred_ones //.
have oP : ones^T *m P = 0 :> 'rV[R]_d by apply: trmx_inj; rewrite trmx_mul trmxK P_tr P_mul centred_ones trmx0.
by rewrite {1}/P mulmxBl mul1mx -scalemxAl -mulmxA oP mulmx0 scaler0 subr0.
Qed.

(* the coordinates of the core add up to 0 *)
Theorem def_core_mean ε z : 0 < variance z + ε -> \sum_i core ε z i 0 = 0.
Proof. by rewrite sum_mean mean_core mulr0. Qed.
End Page.
