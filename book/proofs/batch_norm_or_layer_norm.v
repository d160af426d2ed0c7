(* The statements of the page "Batch norm or layer norm". *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics geometry.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Channel.
Variable R : rcfType.
Implicit Types (ε γ β : R).

(* A channel of a batch has the entries z. In use it is computed with the stored mean μ' and variance q': a training output
   γu + β becomes γ(au + b) + β. Stored statistics of exactly this batch, μ' = μ and q' = nq/(n − 1) with n ≥ 2 and q > 0, give
   b = 0 and, at ε = 0, a = √((n − 1)/n), which is 1/√2 at n = 2 *)
Theorem bn_train_eval :
  let a ε q q' := √((q + ε) / (q' + ε)) in let b ε μ μ' q' := (μ - μ') / √(q' + ε) in
  (forall n (z : 'cV[R]_n.+1) ε γ β μ' q' i, 0 < variance z + ε -> 0 < q' + ε ->
     γ * ((z i 0 - μ') / √(q' + ε)) + β
     = γ * (a ε (variance z) q' * core ε z i 0 + b ε (mean z) μ' q') + β)
  /\ forall m (z : 'cV[R]_m.+2), 0 < variance z -> let n := m.+2%:R in let q' := n / (n - 1) * variance z in
     [/\ forall ε, b ε (mean z) (mean z) q' = 0, a 0 (variance z) q' = √((n - 1) / n), a 0 (variance z) q' < 1
       & m = 0%N -> a 0 (variance z) q' = (√2)^-1].
Proof.
move=> a b; split=> [n z ε γ β μ' q' i q0 q0'|m z q0 n q'].
  congr (_ * _ + _); rewrite /a /b coreE centredE sqrt_div ?(ltW q0) //.
  have := sqrt_neq0 q0; have := sqrt_neq0 q0'; move: (√_) (√_) => s r s0 r0.
  by field; rewrite r0 s0.
have nE : n - 1 = m.+1%:R by rewrite /n mulrSr addrK.
have n1 : 0 < n - 1 by rewrite nE ltr0n.
have n0 : 0 < n by rewrite ltr0n.
have E : a 0 (variance z) q' = √((n - 1) / n).
  rewrite /a !addr0 /q'; congr (√_); move: (variance z) (n) (lt0r_neq0 n1) (lt0r_neq0 n0) (lt0r_neq0 q0) => q N h1 h2 h3.
  by field; rewrite h1 h2 h3.
split=> // [ε||m0]; first by rewrite /b subrr mul0r.
  rewrite E -[ltRHS]sqrtr1 ltr_sqrt ?ltr01 // ltr_pdivr_mulr // mul1r ltr_subl_addr ltr_addl ltr01 //.
rewrite E nE /n m0 sqrt_div ?ler01 // sqrtr1 mul1r //.
Qed.
End Channel.
