(* The definitions of the book, in the order of the page "Layer normalization" and with its symbols. *)
(* R is any real closed field: the reals are one, so whatever is proved here holds for real numbers. *)
(* A vector z with d entries is a column, 'cV[R]_d; its entry i is z i 0. Entries are counted from 0.  *)
From mathcomp Require Import all_ssreflect all_algebra.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Notation "√ x" := (Num.sqrt x) (at level 8, x at level 8, format "√ x") : ring_scope.

Section Layer.
Variable R : rcfType.
Variable d : nat.
Implicit Types (z γ β x y : 'cV[R]_d) (ε c : R).

(* 1, the all-ones vector *)
Definition ones : 'cV[R]_d := \col_i 1.

(* μ = (1/d) Σ z_i *)
Definition mean z : R := (\sum_i z i 0) / d%:R.

(* v = z − μ1 *)
Definition centred z : 'cV[R]_d := z - mean z *: ones.

(* q = (1/d) Σ v_i² *)
Definition variance z : R := (\sum_i centred z i 0 ^+ 2) / d%:R.

(* u_ε(z) = v / √(q + ε) *)
Definition core ε z : 'cV[R]_d := (√(variance z + ε))^-1 *: centred z.

(* x ⊙ y, the product coordinate by coordinate *)
Definition hadamard x y : 'cV[R]_d := \col_i (x i 0 * y i 0).

(* y = γ ⊙ u_ε(z) + β *)
Definition layer_norm ε γ β z : 'cV[R]_d := hadamard γ (core ε z) + β.

(* P = I − 11ᵀ/d *)
Definition P : 'M[R]_d := 1%:M - d%:R^-1 *: (ones *m ones^T).

(* J = (q + ε)^(−1/2) (P − v vᵀ / (d (q + ε))); that it is the derivative of the core is the theorem eps_jacobian *)
Definition J ε z : 'M[R]_d :=
  (√(variance z + ε))^-1 *: (P - (d%:R * (variance z + ε))^-1 *: (centred z *m (centred z)^T)).

(* diag(γ) *)
Definition diag γ : 'M[R]_d := diag_mx γ^T.

(* ⟨x, y⟩ = Σ x_i y_i and the Euclidean length ‖x‖ *)
Definition dot x y : R := \sum_i x i 0 * y i 0.
Definition norm x : R := √(dot x x).

(* max_i |γ_i| *)
Definition max_abs γ : R := \big[Num.max/0]_i `|γ i 0|.
End Layer.

(* the vector with the entries of a list: vec [:: 1; 2; 3] is (1, 2, 3) *)
Definition vec (R : rcfType) (s : seq R) : 'cV[R]_(size s) := \col_i s`_i.

Arguments ones {R d}.
Arguments P {R d}.
Notation "x ⊙ y" := (hadamard x y) (at level 40, left associativity) : ring_scope.
Notation "⟨ x , y ⟩" := (dot x y) (at level 0, x, y at level 99, format "⟨ x ,  y ⟩") : ring_scope.
Notation "‖ x ‖" := (norm x) (at level 20, x at level 99, format "‖ x ‖") : ring_scope.

Section Positions.
Variable R : rcfType.
Variables d N : nat.
Implicit Types (Y G H : 'M[R]_(d, N)).

(* Several positions are the columns of a matrix: position n is col n Y; f acts on each of them *)
Definition at_positions (f : 'cV[R]_d -> 'cV[R]_d) Y : 'M[R]_(d, N) := \matrix_(i, n) f (col n Y) i 0.

(* G is the gradient of ℓ, a number that may depend on all positions: column n is ∂ℓ/∂(position n) *)
Definition is_gradient_positions (ℓ : 'M[R]_(d, N) -> R) Y G : Prop :=
  forall η, 0 < η -> exists2 δ, 0 < δ & forall H, (forall n, ‖col n H‖ <= δ) ->
    `|ℓ (Y + H) - ℓ Y - \sum_n ⟨col n G, col n H⟩| <= η * \sum_n ‖col n H‖.
End Positions.

Section Analysis.
Variable R : rcfType.
Variables m n : nat.
Implicit Types (f : 'cV[R]_n -> 'cV[R]_m) (A : 'M[R]_(m, n)) (z h x y : 'cV[R]_n) (c : R).

(* A is the derivative of f at z: the remainder f(z + h) − f(z) − Ah is small even beside h *)
Definition is_derivative f z A : Prop :=
  forall η, 0 < η -> exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> ‖f (z + h) - f z - A *m h‖ <= η * ‖h‖.

(* g is the gradient of ℓ at z, the vector ∂ℓ/∂z: the same for a function with one number as its value *)
Definition is_gradient (ℓ : 'cV[R]_n -> R) z (g : 'cV[R]_n) : Prop :=
  forall η, 0 < η -> exists2 δ, 0 < δ & forall h, ‖h‖ <= δ -> `|ℓ (z + h) - ℓ z - ⟨g, h⟩| <= η * ‖h‖.

(* s is the derivative of the function f of one number at t *)
Definition is_slope (f : R -> R) t s : Prop :=
  forall η, 0 < η -> exists2 δ, 0 < δ & forall h : R, `|h| <= δ -> `|f (t + h) - f t - s * h| <= η * `|h|.

(* f(t) tends to l as t → ∞ *)
Definition tends_at_infinity (f : R -> R) l : Prop :=
  forall η, 0 < η -> exists t0, forall t, t0 <= t -> `|f t - l| <= η.

(* c bounds the factor by which A stretches any step; the operator norm ‖A‖₂ is the least such c *)
Definition operator_bound A c : Prop := forall h, ‖A *m h‖ <= c * ‖h‖.
Definition is_operator_norm A c : Prop := operator_bound A c /\ forall c', operator_bound A c' -> c <= c'.

(* f is Lipschitz with the constant c; the exact constant is the least one *)
Definition lipschitz f c : Prop := forall x y, ‖f x - f y‖ <= c * ‖x - y‖.
Definition best_lipschitz f c : Prop := lipschitz f c /\ forall c', lipschitz f c' -> c <= c'.
End Analysis.
