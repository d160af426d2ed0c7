(* The definitions of the page "Floating point", with its symbols, over Coq's real numbers and Flocq's formats. *)
(* A row z of d entries is a function of which z 0, ..., z (d - 1) are used: entries are counted from 0.         *)
From Coq Require Import Reals List Permutation ZArith.
From Flocq Require Import Core BinarySingleNaN.
Import ListNotations.
Open Scope R_scope.

Definition row := nat -> R.

(* Exact arithmetic *)

(* x_0 + ... + x_(d-1) *)
Fixpoint sum (d : nat) (x : row) : R := match d with O => 0 | S n => sum n x + x n end.

(* (1 + δ_0) ... (1 + δ_(n-1)) *)
Fixpoint product (n : nat) (δ : row) : R := match n with O => 1 | S m => product m δ * (1 + δ m) end.

(* μ = (1/d) Σ z_i *)
Definition mean (d : nat) (z : row) : R := sum d z / INR d.

(* v = z − μ1 *)
Definition centred (d : nat) (z : row) : row := fun i => z i - mean d z.

(* q = (1/d) Σ v_i² *)
Definition variance (d : nat) (z : row) : R := mean d (fun i => centred d z i ^ 2).

(* u_ε(z) = v / √(q + ε) *)
Definition core (d : nat) (ε : R) (z : row) : row := fun i => centred d z i / sqrt (variance d z + ε).

(* ‖x‖ = √(Σ x_i²) *)
Definition norm (d : nat) (x : row) : R := sqrt (sum d (fun i => x i ^ 2)).

(* max_i |x_i| *)
Fixpoint largest (d : nat) (x : row) : R := match d with O => 0 | S n => Rmax (largest n x) (Rabs (x n)) end.

(* κ = √(1 + μ²/q), for q > 0 *)
Definition κ (d : nat) (z : row) : R := sqrt (1 + mean d z ^ 2 / variance d z).

(* θ_n = nη / (1 − nη), for nη < 1 *)
Definition θ (η : R) (n : nat) : R := INR n * η / (1 - INR n * η).

(* Rounded arithmetic: p significant bits, exponents without bounds, so that nothing over- or underflows *)

(* η = 2^(−p) *)
Definition unit_roundoff (p : Z) : R := bpow radix2 (- p).

(* x is a number of the format *)
Definition number (p : Z) (x : R) : Prop := generic_format radix2 (FLX_exp p) x.

(* x rounded to the nearest number of the format; a tie between the n-th and the next one goes up where ties n holds *)
Definition nearest (p : Z) (ties : Z -> bool) (x : R) : R := round radix2 (FLX_exp p) (Znearest ties) x.

(* ties to even, as in IEEE 754 *)
Definition to_even (n : Z) : bool := negb (Z.even n).

(* An order in which d entries are added: entry i alone, or the sum of two sums *)
Inductive order := entry (i : nat) | plus (s t : order).

Fixpoint entries (o : order) : list nat := match o with entry i => [i] | plus s t => entries s ++ entries t end.

(* It adds up the entries 0, ..., d - 1, each once *)
Definition adds_up (d : nat) (o : order) : Prop := Permutation (entries o) (seq 0 d).

(* T: how many additions an entry takes part in at most *)
Fixpoint additions (o : order) : nat :=
  match o with entry _ => 0 | plus s t => S (max (additions s) (additions t)) end.

(* one after the other: ((z_0 + z_1) + z_2) + ... *)
Fixpoint in_turn (d : nat) : order :=
  match d with S (S _ as n) => plus (in_turn n) (entry n) | _ => entry 0 end.

(* in pairs, these again in pairs, and so on, until one sum is left *)
Fixpoint pair_up (sums : list order) : list order :=
  match sums with s :: t :: rest => plus s t :: pair_up rest | _ => sums end.

Fixpoint times (n : nat) (f : list order -> list order) (sums : list order) : list order :=
  match n with O => sums | S m => times m f (f sums) end.

Definition in_pairs (d : nat) : order := hd (entry 0) (times (Nat.log2_up d) pair_up (map entry (seq 0 d))).

Section Computed.
Variable fl : R -> R. (* the rounding *)

(* the sum, each addition rounded *)
Fixpoint fl_sum (o : order) (z : row) : R :=
  match o with entry i => z i | plus s t => fl (fl_sum s z + fl_sum t z) end.

(* the mean: the sum divided by d *)
Definition fl_mean (d : nat) (o : order) (z : row) : R := fl (fl_sum o z / fl (INR d)).

(* the centred vector z − μ1 *)
Definition fl_centred (d : nat) (o : order) (z : row) : row := fun i => fl (z i - fl_mean d o z).

(* the variance in one pass, mean(z²) − μ² *)
Definition fl_one_pass (d : nat) (o : order) (z : row) : R :=
  fl (fl_mean d o (fun i => fl (z i * z i)) - fl (fl_mean d o z * fl_mean d o z)).

(* the variance in two passes, mean(v²) *)
Definition fl_two_pass (d : nat) (o : order) (z : row) : R :=
  fl_mean d o (fun i => fl (fl_centred d o z i * fl_centred d o z i)).
End Computed.

(* Welford's recurrence, with each operation rounded by fl, or exact if fl is the identity: m and M after k entries *)
Fixpoint welford_steps (fl : R -> R) (z : row) (k : nat) : R * R :=
  match k with
  | O => (0, 0)
  | S O => (z O, 0)
  | S (S _ as before) =>
      let (m, M) := welford_steps fl z before in
      let b := fl (z before - m) in
      let m' := fl (m + fl (b / fl (INR k))) in
      (m', fl (M + fl (b * fl (z before - m'))))
  end.

(* Formats of IEEE 754, with their infinities: p significant bits and numbers below 2^emax *)
Notation float16 := (binary_float 11 16).
Notation bfloat16 := (binary_float 8 128).
Notation float32 := (binary_float 24 128).
Notation float64 := (binary_float 53 1024).

(* The exact result x neither underflows nor overflows when it is rounded in the mode m *)
Definition in_range (p emax : Z) (m : mode) (x : R) : Prop :=
  (x = 0 \/ bpow radix2 (2 - emax) <= Rabs x) /\
  Rabs (round radix2 (SpecFloat.fexp p emax) (round_mode m) x) < bpow radix2 emax.

(* The instances that Flocq's operations ask for: p > 0 and p < emax in each of the four *)
Global Instance bits_float16 : Prec_gt_0 11 := eq_refl.
Global Instance range_float16 : Prec_lt_emax 11 16 := eq_refl.
Global Instance bits_bfloat16 : Prec_gt_0 8 := eq_refl.
Global Instance range_bfloat16 : Prec_lt_emax 8 128 := eq_refl.
Global Instance bits_float32 : Prec_gt_0 24 := eq_refl.
Global Instance range_float32 : Prec_lt_emax 24 128 := eq_refl.
Global Instance bits_float64 : Prec_gt_0 53 := eq_refl.
Global Instance range_float64 : Prec_lt_emax 53 1024 := eq_refl.

(* The sum and the variance mean(v²) of numbers of float16, step by step in float16; dd is d as a number of float16 *)
Fixpoint half_sum (o : order) (x : nat -> float16) : float16 :=
  match o with entry i => x i | plus s t => Bplus mode_NE (half_sum s x) (half_sum t x) end.

Definition half_variance (o : order) (dd : float16) (v : nat -> float16) : float16 :=
  Bdiv mode_NE (half_sum o (fun i => Bmult mode_NE (v i) (v i))) dd.

(* Ones, added one after the other to 0, each addition rounded by fl *)
Fixpoint fl_count (fl : R -> R) (n : nat) : R := match n with O => 0 | S m => fl (fl_count fl m + 1) end.

(* The output za + b for one coordinate z, with γ = 1, β = 0, a = γr and b = β − ma, each operation rounded by fl *)
Definition fl_affine (fl : R -> R) (r m z : R) : R :=
  let a := fl (1 * r) in fl (fl (z * a) + fl (0 - fl (m * a))).

(* The entries from entry a on *)
Definition from (a : nat) (z : row) : row := fun i => z (a + i)%nat.

(* The row (a, b) *)
Definition pair (a b : R) : row := fun i => match i with O => a | _ => b end.
