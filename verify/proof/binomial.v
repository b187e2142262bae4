(* Why the certificate's exact binomial bound, and the promise that is read off many of them, fail with probability delta at
   most. Numbers are those of any ordered field R: the rationals, or the reals. No axiom is used; docs/theory/proof.md is the same
   for people, under the same names.

   A row is a value of a finite type T, each of probability mu t: for what follows it is enough to know of a row at which
   half-widths its prediction misses, and these are finitely many. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tail.
Variable R : realFieldType.
Implicit Types (n k : nat) (p q : R).

(* The probability that n independent rows, each of which misses with probability p, have k misses at most, by whether the
   first row misses. *)
Fixpoint tail n k p : R :=
  if n is n'.+1 then
    (1 - p) * tail n' k p + p * (if k is k'.+1 then tail n' k' p else 0)
  else 1.

(* It is the sum that people know, and that core.py computes. *)
Definition term n i p : R := 'C(n, i)%:R * p ^+ i * (1 - p) ^+ (n - i).

Lemma term_rec n i p : term n.+1 i.+1 p = (1 - p) * term n i.+1 p + p * term n i p.
Proof.
rewrite /term; move: (1 - p) => q; rewrite binS subSS natrD !mulrDl; congr (_ + _); last first.
  by rewrite exprS !mulrA [p * _]mulrC.
have [lt|ge] := ltnP i n; last by rewrite bin_small ?ltnS // !mul0r mulr0.
by rewrite -(subnSK lt) [q ^+ _.+1]exprS mulrCA.
Qed.

Theorem tail_sum n k p : tail n k p = \sum_(i < k.+1) term n i p.
Proof.
elim: n k => [|n IH] k /=.
  rewrite big_ord_recl /= big1 ?addr0 /term ?bin0 ?expr0 ?mulr1 //.
  by move=> i _; rewrite bin0n mul0r mul0r.
have first r : term n.+1 0 r = (1 - r) * term n 0 r.
  by rewrite /term !bin0 !subn0 exprS !expr0 !mulr1 !mul1r.
case: k => [|k]; first by rewrite IH !big_ord_recl !big_ord0 mulr0 !addr0 first.
rewrite !IH big_ord_recl [in RHS]big_ord_recl mulrDr /= first -addrA; congr (_ + _).
by rewrite !mulr_sumr -big_split /=; apply: eq_bigr => i _; rewrite [in RHS]/bump /= add1n term_rec.
Qed.

Lemma tail_ge0 n k p : 0 <= p <= 1 -> 0 <= tail n k p.
Proof.
move=> /andP[p0 p1]; elim: n k => [|n IH] k /=; first exact: ler01.
by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0 //; case: k.
Qed.

(* More misses are allowed: more probability. *)
Lemma tail_step n k p : 0 <= p <= 1 -> (if k is k'.+1 then tail n k' p else 0) <= tail n k p.
Proof.
move=> hp; case/andP: (hp) => p0 p1.
elim: n k => [|n IH] [|k] //=; first exact: ler01.
  by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0 ?tail_ge0.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0 //; have := IH k.+1; have := IH k.
Qed.

Lemma mix p (a b : R) : (1 - p) * a + p * b = a - p * (a - b).
Proof. by rewrite mulrBl mul1r mulrBr opprB -addrA [- _ + _]addrC. Qed.

(* Rows miss more often: less probability. *)
Theorem tail_falls n k p q : 0 <= p -> p <= q -> q <= 1 -> tail n k q <= tail n k p.
Proof.
move=> p0 pq q1.
have hp : 0 <= p <= 1 by rewrite p0 (le_trans pq q1).
have q0 : 0 <= q := le_trans p0 pq.
elim: n k => [|n IH] k //=.
set below := fun r => if k is k'.+1 then tail n k' r else 0.
apply: (@le_trans _ _ ((1 - q) * tail n k p + q * below p)).
  apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0 //.
  by rewrite /below; case: (k).
rewrite !mix ler_add2l ler_opp2; apply: ler_wpmul2r => //.
by rewrite subr_ge0; apply: tail_step.
Qed.
End Tail.

Section Certificate.
Variables (R : realFieldType) (T : finType) (mu : T -> R).
Hypothesis mu_ge0 : forall t, 0 <= mu t.
Hypothesis mu_sum : \sum_t mu t = 1.
Implicit Types (n : nat) (A B : pred (seq T)) (miss : pred T).

(* The probability of an event of one row, and of one of n independent rows. *)
Definition mass miss : R := \sum_(t | miss t) mu t.
Fixpoint prob n A : R :=
  if n is n'.+1 then \sum_t mu t * prob n' (fun s => A (t :: s)) else (A [::])%:R.

Lemma mass_ge0 miss : 0 <= mass miss.
Proof. exact: sumr_ge0. Qed.

Lemma mass_compl miss : \sum_(t | ~~ miss t) mu t = 1 - mass miss.
Proof. by rewrite -mu_sum [X in _ = X - _](bigID miss) /= -/(mass miss) [mass _ + _]addrC addrK. Qed.

Lemma mass_le1 miss : mass miss <= 1.
Proof. by rewrite -subr_ge0 -mass_compl; apply: sumr_ge0. Qed.

Lemma prob_ext n A B : A =1 B -> prob n A = prob n B.
Proof.
elim: n A B => [|n IH] A B AB /=; first by rewrite AB.
by apply: eq_bigr => t _; congr (_ * _); apply: IH.
Qed.

Lemma prob_mono n A B : (forall s, size s = n -> A s -> B s) -> prob n A <= prob n B.
Proof.
elim: n A B => [|n IH] A B AB /=.
  by rewrite ler_nat; case: (A [::]) (AB [::] erefl) => // ->.
apply: ler_sum => t _; apply: ler_wpmul2l => //.
by apply: IH => s sz; apply: AB; rewrite /= sz.
Qed.

Lemma prob_none n : prob n pred0 = 0.
Proof. by elim: n => [|n IH] //=; apply: big1 => t _; rewrite -[RHS](mulr0 (mu t)) -IH. Qed.

(* The product law, as people write it. *)
Theorem prob_product n A : prob n A = \sum_(w : n.-tuple T) (A w)%:R * \prod_(t <- w) mu t.
Proof.
elim: n A => [|n IH] A /=.
  rewrite (big_pred1 [tuple]) => [|w]; first by rewrite big_nil mulr1.
  by rewrite [w]tuple0 /= eqxx.
rewrite (reindex (fun x : T * n.-tuple T => [tuple of x.1 :: x.2])) /=; last first.
  exists (fun w : n.+1.-tuple T => (thead w, [tuple of behead w])) => [[t w] _|w _] /=.
    by congr pair; apply: val_inj.
  by rewrite -tuple_eta.
rewrite -(pair_bigA _ (fun t (w : n.-tuple T) => (A (t :: w))%:R * \prod_(u <- t :: w) mu u)) /=.
apply: eq_bigr => t _; rewrite IH big_distrr /=; apply: eq_bigr => w _.
by rewrite big_cons mulrCA.
Qed.

(* How many of n rows miss follows the binomial law. *)
Theorem misses_binomial n k miss : prob n (fun s => (count miss s <= k)%N) = tail n k (mass miss).
Proof.
elim: n k => [|n IH] k /=; first by [].
rewrite (bigID miss) /= addrC -mass_compl mulr_suml [mass _ * _]mulr_suml; congr (_ + _).
  apply: eq_bigr => t /negbTE ht; rewrite -IH; congr (_ * _).
  by apply: prob_ext => s /=; rewrite ht.
apply: eq_bigr => t ht; congr (_ * _); case: k => [|k].
  by rewrite -(prob_none n); apply: prob_ext => s /=; rewrite ht.
by rewrite -IH; apply: prob_ext => s /=; rewrite ht.
Qed.

(* ---- The bound: after k of n misses, the rate is at most bound k ---- *)
Variables (n : nat) (delta : R) (bound : nat -> R).
Hypothesis delta_ge0 : 0 <= delta.
Hypothesis bound_ge0 : forall k, 0 <= bound k.
(* What core.py checks in whole numbers: a bound below 1 has a tail of delta at most. *)
Hypothesis bound_tail : forall k, bound k < 1 -> tail n k (bound k) <= delta.

(* Numbers of misses whose bounds are all wrong are seen with probability delta at most. *)
Lemma inversion miss (wrong : pred 'I_n.+1) :
  (forall k, wrong k -> bound k < mass miss) ->
  prob n (fun s => [exists k : 'I_n.+1, wrong k && (count miss s <= k)%N]) <= delta.
Proof.
move=> small; case: (pickP wrong) => [k0 w0|none]; last first.
  rewrite (@prob_ext _ _ pred0) ?prob_none // => s.
  by apply/existsP => -[k]; rewrite none.
case: (arg_maxnP (fun k : 'I_n.+1 => k : nat) w0) => K wK most.
have bK : bound K < mass miss := small K wK.
apply: (@le_trans _ _ (prob n (fun s => (count miss s <= K)%N))).
  by apply: prob_mono => s _ /existsP[k /andP[wk le]]; apply: leq_trans le (most k wk).
rewrite misses_binomial.
apply: le_trans (tail_falls n K (bound_ge0 K) (ltW bK) (mass_le1 miss)) _.
by apply: bound_tail; apply: lt_le_trans bK (mass_le1 miss).
Qed.

Theorem certificate_holds miss : prob n (fun s => bound (count miss s) < mass miss) <= delta.
Proof.
apply: le_trans (@inversion miss (fun k => bound k < mass miss) (fun k => id)).
apply: prob_mono => s sz low; apply/existsP.
have le : (count miss s < n.+1)%N by rewrite ltnS -sz count_size.
by exists (Ordinal le); rewrite /= low leqnn.
Qed.

(* ---- The promise: half-widths 0, 1, ..., each wider than the one before, so that what misses a wider one misses all
   narrower ones. A width may be promised for all but a share out of further rows if its bound is at most out. That any
   width is promised of which more than out misses has probability delta at most, however one is chosen. ---- *)
Variables (m : nat) (misses : 'I_m -> pred T) (out : R).
Hypothesis nested : forall (i j : 'I_m) t, (i <= j)%N -> misses j t -> misses i t.

Theorem promise_holds :
  prob n (fun s => [exists j, (bound (count (misses j) s) <= out) && (out < mass (misses j))]) <= delta.
Proof.
case: (pickP (fun j => out < mass (misses j))) => [j0 w0|none]; last first.
  rewrite (@prob_ext _ _ pred0) ?prob_none // => s.
  by apply/existsP => -[j]; rewrite none andbF.
(* the widest that too many rows miss *)
case: (@arg_maxnP _ j0 (fun j => out < mass (misses j)) (fun j : 'I_m => j : nat) w0) => J wJ most.
apply: le_trans (@inversion (misses J) (fun k => bound k <= out) _); last first.
  by move=> k low; apply: le_lt_trans low wJ.
apply: prob_mono => s sz /existsP[j /andP[low wj]]; apply/existsP.
have le : (count (misses j) s < n.+1)%N by rewrite ltnS -sz count_size.
exists (Ordinal le); rewrite /= low /=.
by apply: sub_count => t; apply: nested; apply: most.
Qed.
End Certificate.

Print Assumptions tail_sum.
Print Assumptions prob_product.
Print Assumptions certificate_holds.
Print Assumptions promise_holds.
