(* Numbers to six decimals: a number is compared with its decimals through its square. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From lnbook Require Import Definitions Basics.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Decimals.
Variable R : rcfType.
Implicit Types x y a k η : R.

(* a number written by groups of three digits is positive if the first group is *)
Lemma digits_gt0 x (c : nat) : 0 < x -> 0 < x * 10 ^+ 3 + c%:R.
Proof. by move=> x0; rewrite ltr_paddr ?ler0n // mulr_gt0 // exprn_gt0 ?ltr0n. Qed.

(* y lies within η of a if y² = k/x lies between (a − η)² and (a + η)² *)
Lemma near_of_sqr x y a k η : 0 < x -> 0 <= y -> y ^+ 2 * x = k -> 0 < η -> 0 < a - η ->
  0 < k - (a - η) ^+ 2 * x -> 0 < (a + η) ^+ 2 * x - k -> `|y - a| < η.
Proof.
move=> x0 y0 yx η0 aη; rewrite -yx -mulrBl -[X in 0 < X - _]mulrC -[y ^+ 2 * x]mulrC -mulrBr.
rewrite (pmulr_lgt0 _ x0) (pmulr_rgt0 _ x0) !subr_gt0 => lo hi.
have a0 : 0 < a by rewrite -(subrK η a) addr_gt0.
rewrite ltr_norml ltr_subl_addr [η + a]addrC ltr_subr_addr [_ + a]addrC; apply/andP; split.
  exact: ltr_of_sqr lo.
by apply: ltr_of_sqr hi; rewrite addr_ge0 // ltW.
Qed.

(* the same for y = 1/√x *)
Lemma near_inv_sqrt x a η : 0 < x -> 0 < η -> 0 < a - η ->
  0 < 1 - (a - η) ^+ 2 * x -> 0 < (a + η) ^+ 2 * x - 1 -> `|(√x)^-1 - a| < η.
Proof.
move=> x0; apply: (near_of_sqr x0); first by rewrite invr_ge0 sqrtr_ge0.
by rewrite exprVn sqrK ?(ltW x0) ?mulVf ?gt_eqF.
Qed.
End Decimals.

(* 0 < x for a quotient x of numbers written by groups of digits *)
Ltac digits := apply: divr_gt0; [do ?apply: digits_gt0 | rewrite ?mulr_gt0 ?exprn_gt0 //]; by rewrite ?ltr01 ?ltr0n.
