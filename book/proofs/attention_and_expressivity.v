(* The statements of the page "Attention and expressivity". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics neighbours.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Attention.
Variables (R : rcfType) (n : nat).
Notation d := n.+1.
Implicit Types (a w z γ β : 'cV[R]_d) (ε c : R).

(* The logit ⟨a, γ ⊙ u + β⟩ is the same for all cores u if and only if γ ⊙ a = c1 for a number c, and then it is ⟨a, β⟩. For
   gains of 1 these are the multiples of 1, and a component c1 of the query adds c⟨1, β⟩ to every logit. With n_ε in place of u
   it is the same for all inputs if and only if γ ⊙ a = 0 *)
Theorem attn_centre ε γ β a : 0 < ε ->
  let alike (u : 'cV[R]_d -> 'cV[R]_d) γ := forall z z', ⟨a, γ ⊙ u z + β⟩ = ⟨a, γ ⊙ u z' + β⟩ in
  [/\ alike (core ε) γ <-> exists c, γ ⊙ a = c *: ones,
      (exists c, γ ⊙ a = c *: ones) -> forall z, ⟨a, γ ⊙ core ε z + β⟩ = ⟨a, β⟩,
      alike (core ε) ones <-> exists c, a = c *: ones,
      forall c z, ⟨a + c *: ones, ones ⊙ core ε z + β⟩ = ⟨a, ones ⊙ core ε z + β⟩ + c * ⟨ones, β⟩
    & alike (rms ε) γ <-> γ ⊙ a = 0].
Proof.
move=> e0 alike; have flat γ' : (exists c, γ' ⊙ a = c *: ones) -> forall z, ⟨a, γ' ⊙ core ε z + β⟩ = ⟨a, β⟩.
  by move=> [c cE] z; rewrite dotDr dot_hadamard cE dotZl dot_ones_mean mean_core !mulr0 add0r.
have main γ' : alike (core ε) γ' <-> exists c, γ' ⊙ a = c *: ones.
  split=> [H|H z z']; last by rewrite !flat.
  have := H (γ' ⊙ a) 0; rewrite !dotDr !dot_hadamard => /addIr; move: (γ' ⊙ a) => w.
  rewrite /core centred0 scaler0 dot0r dotZr => /eqP; rewrite mulf_eq0 invr_eq0 (negPf (sqrt_neq0 (variance_eps w e0))).
  by rewrite dotC -dot_centred2 dot_eq0 => /eqP/centred_eq0.
split=> //; [exact: flat|by rewrite main hadamard_ones|move=> c z|].
  by rewrite dotDl dotZl hadamard_ones [⟨ones, _ + β⟩]dotDr dot_ones_mean mean_core mulr0 add0r.
split=> [H|H z z']; last by rewrite !dotDr !dot_hadamard H !dot0l.
have := H (γ ⊙ a) 0; rewrite !dotDr !dot_hadamard => /addIr; move: (γ ⊙ a) => w.
have m0 : 0 < mean_square w + ε by rewrite ltr_paddl ?mean_square_ge0.
by rewrite /rms scaler0 dot0r dotZr => /eqP; rewrite mulf_eq0 invr_eq0 (negPf (sqrt_neq0 m0)) dot_eq0 => /eqP.
Qed.
End Attention.
