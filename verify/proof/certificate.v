(* Why what core.py says beyond a single bound fails with probability delta at most: tables of widths that hold at once, several
   statements together, kinds of rows such as the classes of labels, and groups by betting. Rows are as in binomial.v. README.md
   says the same for people, and which function of core.py is which function here. No axiom is used. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import binomial.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Words.
Variables (R : realFieldType) (T : finType).
Implicit Types (mu : T -> R) (A B : pred (seq T)) (n : nat) (C : pred T).

(* Weights of rows that lie in C alone. *)
Definition within mu C t : R := if C t then mu t else 0.

Lemma within_ge0 mu C : (forall t, 0 <= mu t) -> forall t, 0 <= within mu C t.
Proof. by move=> h t; rewrite /within; case: (C t). Qed.

Lemma prob_ge0 mu n A : (forall t, 0 <= mu t) -> 0 <= prob mu n A.
Proof.
move=> h; elim: n A => [|n IH] A /=; first exact: ler0n.
by apply: sumr_ge0 => t _; apply: mulr_ge0.
Qed.

(* Two laws on the same rows, if an event asks only for rows of C. *)
Theorem prob_filter mu C n A :
  prob mu n (fun s => A (filter C s)) =
  \sum_(m < n.+1) 'C(n, m)%:R * mass mu (predC C) ^+ (n - m) * prob (within mu C) m A.
Proof.
set q := mass mu (predC C).
elim: n A => [|n IH] A /=.
  by rewrite big_ord1 /= bin0 subn0 expr0 !mulr1 mul1r.
pose f m := prob (within mu C) m A.
have -> : \sum_t mu t * prob mu n (fun s => A (filter C (t :: s))) =
    \sum_(m < n.+1) 'C(n, m)%:R * q ^+ (n - m) * f m.+1 + q * \sum_(m < n.+1) 'C(n, m)%:R * q ^+ (n - m) * f m.
  rewrite (bigID C) /=; congr (_ + _).
    transitivity (\sum_(t | C t) mu t * \sum_(m < n.+1) 'C(n, m)%:R * q ^+ (n - m) * prob (within mu C) m (fun s => A (t :: s))).
      apply: eq_bigr => t Ct; rewrite -IH; congr (_ * _).
      by apply: prob_ext => s /=; rewrite Ct.
    rewrite (eq_bigr (fun t => \sum_(m < n.+1) 'C(n, m)%:R * q ^+ (n - m) * (mu t * prob (within mu C) m (fun s => A (t :: s))))); last first.
      by move=> t _; rewrite mulr_sumr; apply: eq_bigr => m _; rewrite mulrCA.
    rewrite exchange_big /=; apply: eq_bigr => m _; rewrite -mulr_sumr; congr (_ * _).
    rewrite /f /= [in RHS](bigID C) /= [X in _ = _ + X]big1 ?addr0; last first.
      by move=> t /negbTE nC; rewrite /within nC mul0r.
    by apply: eq_bigr => t Ct; rewrite /within Ct.
  rewrite /q /mass mulr_suml; apply: eq_bigr => t nC; congr (_ * _); rewrite -IH.
  by apply: prob_ext => s /=; rewrite (negbTE nC).
rewrite [in RHS]big_ord_recl /= bin0 subn0 mul1r -/(f 0%N).
rewrite [X in _ + q * X]big_ord_recl /= bin0 subn0 mul1r -/(f 0%N) mulrDr mulrA -exprS addrCA; congr (_ + _).
have step m : 'C(n.+1, m.+1)%:R * q ^+ (n.+1 - m.+1) * f m.+1 =
    'C(n, m)%:R * q ^+ (n - m) * f m.+1 + q * ('C(n, m.+1)%:R * q ^+ (n - m.+1) * f m.+1) :> R.
  rewrite binS subSS natrD !mulrDl addrC; congr (_ + _).
  have [lt|ge] := ltnP m n; last by rewrite bin_small // !mul0r mulr0.
  by rewrite -(subnSK lt) exprS mulrCA !mulrA.
rewrite (eq_bigr _ (fun (m : 'I_n.+1) _ => step m)) big_split /=; congr (_ + _).
rewrite -mulr_sumr; congr (_ * _).
by rewrite [in RHS]big_ord_recr /= bin_small ?ltnS // !mul0r addr0.
Qed.

Lemma prob_law mu nu n A : mu =1 nu -> prob mu n A = prob nu n A.
Proof. by move=> e; elim: n A => [|n IH] A //=; apply: eq_bigr => t _; rewrite e IH. Qed.

(* Only words of C have weight. *)
Lemma prob_within mu C n A B : (forall s, size s = n -> all C s -> A s = B s) ->
  prob (within mu C) n A = prob (within mu C) n B.
Proof.
elim: n A B => [|n IH] A B e /=; first by rewrite e.
apply: eq_bigr => t _; rewrite /within; case: ifP => Ct; last by rewrite !mul0r.
by congr (_ * _); apply: IH => s sz al; apply: e; rewrite /= ?sz ?Ct.
Qed.

(* An event of what f makes of rows has the probability of the law of f. *)
Lemma prob_map (T' : finType) (f : T -> T') mu n (A : pred (seq T')) :
  prob mu n (fun s => A (map f s)) = prob (fun c => mass mu (fun t => f t == c)) n A.
Proof.
elim: n A => [|n IH] A //=; rewrite (partition_big f xpredT) //=.
apply: eq_bigr => c _; rewrite /mass mulr_suml; apply: eq_bigr => t /eqP <-.
by rewrite -IH.
Qed.
End Words.

Section Cells.
Variable R : realFieldType.
Implicit Types (U V : nat -> R) (g : nat -> R) (n r : nat).

(* The mass between two levels of U, which rises. *)
Definition step U c : R := U c - (if c is c'.+1 then U c' else 0).

Lemma abel U g n : \sum_(c < n.+1) step U c * g c = U n * g n + \sum_(c < n) U c * (g c - g c.+1).
Proof.
elim: n => [|n IH]; first by rewrite big_ord1 big_ord0 addr0 /step subr0.
rewrite big_ord_recr IH /= big_ord_recr /= /step mulrBl mulrBr.
by rewrite addrCA; congr (_ + _); rewrite addrAC addrC.
Qed.

Lemma shift_up U V g n : (forall c, (c < n)%N -> U c <= V c) -> U n = V n -> (forall c, (c < n)%N -> g c.+1 <= g c) ->
  \sum_(c < n.+1) step U c * g c <= \sum_(c < n.+1) step V c * g c.
Proof.
move=> le eqn fall; rewrite !abel eqn ler_add2l; apply: ler_sum => c _.
by apply: ler_wpmul2r; rewrite ?subr_ge0; [apply: fall|apply: le].
Qed.

Variable r : nat.
Definition lower (A : pred (seq 'I_r.+1)) := forall s s', all2 (fun a b : 'I_r.+1 => a <= b)%N s s' -> A s' -> A s.

Lemma lower_cons A c : lower A -> lower (fun s => A (c :: s)).
Proof. by move=> lA s s' le; apply: lA; rewrite /= leqnn. Qed.

(* More mass in lower cells makes an event likelier that stays when cells become lower. *)
Theorem prob_rises U V n A : (forall c, 0 <= step U c) -> (forall c, 0 <= step V c) ->
  (forall c, (c < r)%N -> U c <= V c) -> U r = V r -> lower A ->
  prob (fun c : 'I_r.+1 => step U c) n A <= prob (fun c : 'I_r.+1 => step V c) n A.
Proof.
move=> U0 V0 le eqr; elim: n A => [|n IH] A lA //=.
pose g c := prob (fun c : 'I_r.+1 => step V c) n (fun s => A (inord c :: s)).
apply: (@le_trans _ _ (\sum_(c < r.+1) step U c * g c)).
  apply: ler_sum => c _; apply: ler_wpmul2l => //; rewrite /g inord_val.
  by apply: IH; apply: lower_cons.
apply: (@le_trans _ _ (\sum_(c < r.+1) step V c * g c)); last first.
  by apply: ler_sum => c _; rewrite /g inord_val.
apply: shift_up => // c lt; rewrite /g; apply: prob_mono => // s _.
apply: lA; rewrite /= !inordK ?leqnSn ?ltnS // 1?ltnW //=.
by elim: s => //= a s ->; rewrite leqnn.
Qed.
End Cells.

Section Paths.
Variables (R : realFieldType) (r : nat) (misses : nat -> nat) (b : nat -> R).
Implicit Types (n m i : nat) (s : seq 'I_r.+1).

(* The level up to which r bounds go, and then 1. *)
Definition upto c : R := if (c < r)%N then b c else 1.

(* What core.py adds up: paths i m is the probability that m of m rows lie below the bound i - 1, with more than misses j
   below the bound j for all j < i. core.py has this times n^m/m!. *)
Fixpoint paths i m : R :=
  if i is i'.+1 then
    if (misses i' < m)%N then \sum_(l < m.+1) 'C(m, l)%:R * step upto i' ^+ (m - l) * paths i' l else 0
  else (m == 0%N)%:R.
Definition never n : R := \sum_(m < n.+1) 'C(n, m)%:R * step upto r ^+ (n - m) * paths r m.

(* Of rows in cells, more than misses j are in the cells up to j, for all j < i. *)
Definition more i s := all (fun j => misses j < count (fun c : 'I_r.+1 => c <= j) s)%N (iota 0 i).
Definition law (c : 'I_r.+1) := step upto c.
Definition below i (c : 'I_r.+1) := (c < i)%N.

Lemma more_filter i s : more i s = more i (filter (below i) s).
Proof.
apply: eq_in_all => j; rewrite mem_iota add0n => /andP[_ lt]; congr (_ < _)%N.
rewrite count_filter; apply: eq_count => c /=; rewrite /below.
by case: (leqP c j) => //= le; rewrite (leq_ltn_trans le lt).
Qed.

Lemma moreS i s : more i.+1 s = more i s && (misses i < count (fun c : 'I_r.+1 => c <= i) s)%N.
Proof. by rewrite /more -[in iota 0 i.+1](addn1 i) iotaD all_cat /= andbT add0n. Qed.

Lemma mass_at i : (i <= r)%N -> mass (within law (below i.+1)) (predC (below i)) = step upto i.
Proof.
move=> le; have lt : (i < r.+1)%N by rewrite ltnS.
rewrite /mass (bigD1 (Ordinal lt)) /=; last by rewrite /below /= ltnn.
rewrite big1 ?addr0; first by rewrite /within /below /= ltnSn.
move=> c /andP[ge ne]; rewrite /within /below ltnS; case: leqP => // le'.
by move: ge ne; rewrite /= /below -leqNgt => ge; rewrite -val_eqE /= eqn_leq ge le'.
Qed.

Lemma paths_sum i m A : (i <= r)%N ->
  prob (within law (below i.+1)) m (fun s => A (filter (below i) s)) =
  \sum_(l < m.+1) 'C(m, l)%:R * step upto i ^+ (m - l) * prob (within law (below i)) l A.
Proof.
move=> le; rewrite prob_filter mass_at //; apply: eq_bigr => l _; congr (_ * _).
by apply: prob_law => c; rewrite /within /below; case: ltnP => // lt; rewrite ltnS ltnW.
Qed.

Theorem paths_prob i m : (i <= r)%N -> prob (within law (below i)) m (more i) = paths i m.
Proof.
elim: i m => [|i IH] m le.
  case: m => [|m] //=; apply: big1 => t _; by rewrite /within /below /= mul0r.
rewrite (@prob_within _ _ _ _ _ _ (fun s => (misses i < m)%N && more i (filter (below i) s))); last first.
  move=> s sz al; rewrite moreS -more_filter andbC; congr (_ && _); congr (_ < _)%N.
  by rewrite -sz; apply/eqP; rewrite -all_count; apply: sub_all al => c.
rewrite /=; case: ifP => gt /=; last first.
  by rewrite -[RHS](prob_none (within law (below i.+1)) m); apply: prob_ext.
rewrite paths_sum ?(ltnW le) //; apply: eq_bigr => l _; by rewrite IH // ltnW.
Qed.

Theorem never_prob n : never n = prob law n (more r).
Proof.
have -> : prob law n (more r) = prob (within law (below r.+1)) n (more r).
  by apply: prob_law => c; rewrite /within /below ltn_ord.
rewrite (@prob_ext _ _ _ _ _ (fun s => more r (filter (below r) s))); last by move=> s; apply: more_filter.
by rewrite paths_sum //; apply: eq_bigr => m _; rewrite paths_prob.
Qed.
End Paths.

Section Widths.
Variables (R : realFieldType) (T : finType) (mu : T -> R).
Hypothesis mu_ge0 : forall t, 0 <= mu t.
Hypothesis mu_sum : \sum_t mu t = 1.

Lemma prob_all k : prob mu k xpredT = 1.
Proof.
elim: k => [|k IH] //=; rewrite -[RHS]mu_sum; apply: eq_bigr => t _.
by rewrite IH mulr1.
Qed.

Lemma prob_not k A : prob mu k (predC A) = 1 - prob mu k A.
Proof.
elim: k A => [|k IH] A /=; first by case: (A [::]); rewrite /= ?subr0 ?subrr.
rewrite -mu_sum -sumrB; apply: eq_bigr => t _.
by rewrite -[X in X - _]mulr1 -mulrBr -(IH (fun s => A (t :: s))).
Qed.

Lemma mass_sub (P Q : pred T) : (forall t, P t -> Q t) -> mass mu P <= mass mu Q.
Proof.
move=> PQ; rewrite /mass [X in _ <= X](bigID P) /=.
rewrite (eq_bigl P) => [|t]; last by rewrite andbC; case: (boolP (P t)) => //= /PQ.
by rewrite ler_addl sumr_ge0.
Qed.

Lemma mass_eq (P Q : pred T) : P =1 Q -> mass mu P = mass mu Q.
Proof. by move=> e; apply: eq_bigl. Qed.

(* The table: after misses i misses, the share of misses is at most b i. *)
Variables (r n : nat) (misses : nat -> nat) (b : nat -> R) (delta : R).
Hypothesis b01 : forall i, (i < r)%N -> 0 <= b i <= 1.
Hypothesis b_up : forall i, (i.+1 < r)%N -> b i <= b i.+1.
(* What core.py checks of the table. *)
Hypothesis fails : 1 - never r misses b n <= delta.
(* Widths, each wider than the one before. *)
Variables (m : nat) (lost : 'I_m -> pred T).
Hypothesis nested : forall (i j : 'I_m) t, (i <= j)%N -> lost j t -> lost i t.

Lemma b_le i j : (i <= j)%N -> (j < r)%N -> b i <= b j.
Proof.
elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP -> //|le lt].
by apply: le_trans (b_up lt); apply: IH => //; apply: ltnW.
Qed.

(* What misses all widths that miss more often than b i says: the widest of these. *)
Definition bad i t := [forall j, (b i < mass mu (lost j)) ==> lost j t].

Lemma bad_up i j t : (i <= j)%N -> (j < r)%N -> bad i t -> bad j t.
Proof.
move=> le lt /forallP h; apply/forallP => w; apply/implyP => more_w.
by apply: (implyP (h w)); apply: le_lt_trans more_w; apply: b_le.
Qed.

Lemma mass_bad i : (i < r)%N -> b i <= mass mu (bad i).
Proof.
move=> lt; case: (pickP (fun j => b i < mass mu (lost j))) => [j0 w0|none]; last first.
  rewrite (_ : mass mu (bad i) = 1); first by case/andP: (b01 lt).
  by rewrite -mu_sum; apply: eq_bigl => t; apply/forallP => j; rewrite none.
case: (@arg_maxnP _ j0 (fun j => b i < mass mu (lost j)) (fun j : 'I_m => j : nat) w0) => J wJ most.
apply: ltW; apply: lt_le_trans wJ _; apply: mass_sub => t lJ.
by apply/forallP => j; apply/implyP => wj; apply: nested lJ; apply: most.
Qed.

Definition cell_of t : 'I_r.+1 := inord (find (fun i => bad i t) (iota 0 r)).

Lemma cell_le i t : (i < r)%N -> (cell_of t <= i)%N = bad i t.
Proof.
move=> lt; have sz : (find (fun i => bad i t) (iota 0 r) <= r)%N by rewrite -[X in (_ <= X)%N](size_iota 0) find_size.
rewrite /cell_of inordK ?ltnS //; apply/idP/idP => [le|bi].
  have fr : (find (fun i => bad i t) (iota 0 r) < r)%N := leq_ltn_trans le lt.
  have h : has (fun i => bad i t) (iota 0 r) by rewrite has_find size_iota.
  by have := nth_find 0%N h; rewrite nth_iota // add0n; apply: bad_up.
rewrite leqNgt; apply/negP => lt'; have := before_find 0%N lt'.
by rewrite nth_iota // add0n bi.
Qed.

Definition level i := mass mu (bad i).

Lemma mass_cells (c : 'I_r.+1) : mass mu (fun t => cell_of t == c) = step (upto r level) c.
Proof.
pose G i := mass mu (fun t => cell_of t <= i)%N.
have GE i : G i = upto r level i.
  rewrite /upto; case: ltnP => lt; first by apply: mass_eq => t; rewrite cell_le.
  by rewrite -mu_sum; apply: eq_bigl => t; rewrite (leq_trans _ lt) // -ltnS.
rewrite /step -GE; case: c => -[|i] lt /=.
  by rewrite subr0; apply: mass_eq => t; rewrite -val_eqE /= leqn0.
rewrite -GE; suff -> : G i.+1 = G i + mass mu (fun t => cell_of t == Ordinal lt) by rewrite addrC addKr.
rewrite /G /mass [LHS](bigID (fun t => cell_of t <= i)%N) /=; congr (_ + _); apply: eq_bigl => t.
  by apply: andb_idl => /leqW.
by rewrite -ltnNge -val_eqE /= eqn_leq.
Qed.

Lemma step_ge0 (f : nat -> R) c : (forall i, (i < r)%N -> 0 <= f i <= 1) -> (forall i, (i.+1 < r)%N -> f i <= f i.+1) ->
  0 <= step (upto r f) c.
Proof.
move=> f01 up; rewrite /step /upto; case: c => [|c].
  by rewrite subr0; case: ltnP => lt; [case/andP: (f01 _ lt)|apply: ler01].
rewrite subr_ge0; case: (ltnP c.+1 r) => [lt|ge]; first by rewrite (ltnW lt) up.
by case: ltnP => // lt; case/andP: (f01 _ lt).
Qed.

Lemma more_lower : lower (more (r := r) misses r).
Proof.
move=> s s' le /allP h; apply/allP => j /h; move: le; clear h; move=> le h.
apply: leq_trans h _; elim: s s' le => [|c s IH] [|c' s'] //= /andP[le /IH].
by case: (leqP c' j) => [le'|_]; [rewrite (leq_trans le le') ltnS|rewrite add0n => /leq_trans; apply; apply: leq_addl].
Qed.

(* That any width misses more often than the table says has probability delta at most, however many widths there are. *)
Theorem widths_hold : prob mu n (fun s => [exists j, exists i : 'I_r,
  (b i < mass mu (lost j)) && (count (lost j) s <= misses i)%N]) <= delta.
Proof.
apply: le_trans fails.
apply: (@le_trans _ _ (prob mu n (predC (fun s => more (r := r) misses r (map cell_of s))))).
  apply: prob_mono => // s _ /existsP[j /existsP[i /andP[bad_j few]]] /=.
  apply/negP => /allP /(_ (i : nat)); rewrite mem_iota add0n ltn_ord => /(_ isT).
  rewrite count_map ltnNge => /negP; apply; apply: leq_trans few.
  apply: sub_count => t /=; rewrite cell_le // => /forallP /(_ j).
  by rewrite bad_j.
rewrite prob_not ler_add2l ler_opp2 never_prob prob_map.
rewrite [X in _ <= X](@prob_law _ _ _ (fun c : 'I_r.+1 => step (upto r level) c)) => [|c]; last exact: mass_cells.
apply: prob_rises => [c|c|c lt||]; last exact: more_lower.
- exact: step_ge0.
- apply: step_ge0 => [i lt|i lt].
    by rewrite /level mass_ge0 ?mass_le1.
  by apply: mass_sub => t; apply: bad_up.
- by rewrite /upto lt mass_bad.
- by rewrite /upto ltnn.
Qed.
End Widths.

Section Together.
Variables (R : realFieldType) (T : finType) (mu : T -> R).
Hypothesis mu_ge0 : forall t, 0 <= mu t.
Hypothesis mu_sum : \sum_t mu t = 1.
Variable n : nat.

(* Statements hold together, each with its part of delta. *)
Lemma prob_any (K : finType) (A : K -> pred (seq T)) : prob mu n (fun s => [exists c, A c s]) <= \sum_c prob mu n (A c).
Proof.
rewrite prob_product (eq_bigr (fun c => \sum_(w : n.-tuple T) (A c w)%:R * \prod_(t <- w) mu t)) => [|c _]; last exact: prob_product.
rewrite exchange_big /=; apply: ler_sum => w _; rewrite -mulr_suml; apply: ler_wpmul2r; first exact: prodr_ge0.
case: existsP => [[c Ac]|_]; last by apply: sumr_ge0 => c _; apply: ler0n.
by rewrite (bigD1 c) //= Ac ler_addl sumr_ge0 // => d _; apply: ler0n.
Qed.

Theorem parts_hold (K : finType) (A : K -> pred (seq T)) (part : K -> R) (delta : R) :
  (forall c, prob mu n (A c) <= part c) -> \sum_c part c <= delta -> prob mu n (fun s => [exists c, A c s]) <= delta.
Proof. by move=> each all; apply: le_trans (prob_any A) (le_trans _ all); apply: ler_sum => c _. Qed.

(* ---- Kinds of rows: the share of misses among rows of each kind, such as wrong labels among rows of a class ---- *)
Variables (K : finType) (kind : T -> K) (miss : pred T).
Definition of_kind c t := kind t == c.
Definition missed c t := (kind t == c) && miss t.
Definition rate c := mass mu (missed c) / mass mu (of_kind c).

Lemma rate_ge0 c : 0 <= rate c.
Proof. by apply: divr_ge0; apply: sumr_ge0. Qed.

Lemma rate_le1 c : rate c <= 1.
Proof.
rewrite /rate; have [z|nz] := eqVneq (mass mu (of_kind c)) 0; first by rewrite z invr0 mulr0 ler01.
rewrite ler_pdivr_mulr; last by rewrite lt0r nz sumr_ge0.
by rewrite mul1r; apply: mass_sub => // t /andP[].
Qed.

Lemma rate_mass c : mass mu (missed c) = rate c * mass mu (of_kind c).
Proof.
rewrite /rate; have [z|nz] := eqVneq (mass mu (of_kind c)) 0; last by rewrite divfK.
rewrite z mulr0; apply/eqP; rewrite eq_le sumr_ge0 // andbT -z.
by apply: mass_sub => // t /andP[].
Qed.

Lemma mass_right c : \sum_(t | (kind t == c) && ~~ miss t) mu t = (1 - rate c) * mass mu (of_kind c).
Proof.
rewrite mulrBl mul1r -rate_mass; apply/eqP; rewrite eq_sym subr_eq; apply/eqP.
by rewrite {1}/mass (bigID miss) /= addrC.
Qed.

(* Given the kinds of all rows, how many rows of a kind miss follows the binomial law. *)
Lemma kinds_binomial c (w : seq K) k :
  prob mu (size w) (fun s => (map kind s == w) && (count (missed c) s <= k)%N) =
  prob mu (size w) (fun s => map kind s == w) * tail (count (pred1 c) w) k (rate c).
Proof.
elim: w k => [|x w IH] k /=; first by rewrite mulr1.
have cut (f : T -> R) : (forall t, kind t != x -> f t = 0) -> \sum_t mu t * f t = \sum_(t | kind t == x) mu t * f t.
  by move=> h; rewrite [LHS](bigID (fun t => kind t == x)) /= [X in _ + X]big1 ?addr0 // => t /h ->; rewrite mulr0.
rewrite cut; last first.
  by move=> t ne; rewrite -[RHS](prob_none mu (size w)); apply: prob_ext => s /=; rewrite eqseq_cons (negbTE ne).
rewrite [X in _ = X * _]cut; last first.
  by move=> t ne; rewrite -[RHS](prob_none mu (size w)); apply: prob_ext => s /=; rewrite eqseq_cons (negbTE ne).
rewrite [X in _ = X * _](eq_bigr (fun t => mu t * prob mu (size w) (fun s => map kind s == w))); last first.
  by move=> t e; congr (_ * _); apply: prob_ext => s /=; rewrite eqseq_cons e.
rewrite -mulr_suml; set P := prob mu (size w) _.
have [xc|ne] /= := eqVneq x c; last first.
  rewrite add0n (eq_bigr (fun t => mu t * (P * tail (count (pred1 c) w) k (rate c)))).
    by rewrite -mulr_suml mulrA.
  move=> t /eqP e; rewrite -IH; congr (_ * _); apply: prob_ext => s /=.
  by rewrite eqseq_cons e eqxx /missed e (negbTE ne).
rewrite xc (bigID miss) /= addrC.
rewrite (eq_bigr (fun t => mu t * (P * tail (count (pred1 c) w) k (rate c)))); last first.
  move=> t /andP[e nm]; rewrite -IH; congr (_ * _); apply: prob_ext => s /=.
  by rewrite eqseq_cons e /missed e (negbTE nm).
rewrite [X in _ + X](eq_bigr (fun t => mu t * (P * (if k is k'.+1 then tail (count (pred1 c) w) k' (rate c) else 0)))); last first.
  move=> t /andP[e m]; congr (_ * _); case: k => [|k].
    by rewrite mulr0 -[RHS](prob_none mu (size w)); apply: prob_ext => s /=; rewrite /missed e m andbF.
  by rewrite -IH; apply: prob_ext => s /=; rewrite eqseq_cons e /missed e m.
rewrite -!mulr_suml mass_right -/(mass mu (missed c)) rate_mass mulrDr.
have swap a q p z : (a * q) * (p * z) = q * p * (a * z) :> R by rewrite [a * q]mulrC mulrACA.
by rewrite (swap (1 - rate c)) (swap (rate c)).
Qed.

Lemma prob_kinds (A : pred (seq T)) :
  prob mu n A = \sum_(w : n.-tuple K) prob mu n (fun s => (map kind s == w) && A s).
Proof.
rewrite prob_product (eq_bigr (fun w : n.-tuple K => \sum_(v : n.-tuple T) ((map kind v == w) && A v)%:R * \prod_(t <- v) mu t)) => [|w _];
  last exact: prob_product.
rewrite exchange_big /=; apply: eq_bigr => v _; rewrite (bigD1 [tuple of map kind v]) //= eqxx /=.
by rewrite [X in _ = _ + X]big1 ?addr0 // => w /negbTE ne; rewrite eq_sym -val_eqE /= in ne; rewrite ne mul0r.
Qed.

(* A bound for each kind. It may depend on how many rows of each kind there are, and so may its part of delta. *)
Variables (bound : seq K -> K -> nat -> R) (part : seq K -> K -> R) (delta : R).
Hypothesis part_ge0 : forall w c, 0 <= part w c.
Hypothesis bound_ge0 : forall w c k, 0 <= bound w c k.
Hypothesis bound_tail : forall w c k, bound w c k < 1 -> tail (count (pred1 c) w) k (bound w c k) <= part w c.
Hypothesis parts : forall w, \sum_c part w c <= delta.

Lemma kind_holds c (w : n.-tuple K) :
  prob mu n (fun s => (map kind s == w) && (bound w c (count (missed c) s) < rate c)) <=
  prob mu n (fun s => map kind s == w) * part w c.
Proof.
case: (pickP (fun k : 'I_n.+1 => bound w c k < rate c)) => [k0 w0|none]; last first.
  rewrite (_ : prob mu n _ = 0) ?mulr_ge0 ?prob_ge0 //.
  rewrite -[RHS](prob_none mu n); apply: le_anti; rewrite !prob_mono // => s sz /andP[_].
  have le : (count (missed c) s < n.+1)%N by rewrite ltnS -sz count_size.
  by have := none (Ordinal le); rewrite /= => ->.
case: (@arg_maxnP _ k0 (fun k : 'I_n.+1 => bound w c k < rate c) (fun k : 'I_n.+1 => k : nat) w0) => J wJ most.
apply: (@le_trans _ _ (prob mu n (fun s => (map kind s == w) && (count (missed c) s <= J)%N))).
  apply: prob_mono => // s sz /andP[-> few] /=.
  have le : (count (missed c) s < n.+1)%N by rewrite ltnS -sz count_size.
  exact: (most (Ordinal le)).
have := kinds_binomial c w J; rewrite size_tuple => ->.
apply: ler_wpmul2l; first exact: prob_ge0.
apply: le_trans (bound_tail (lt_le_trans wJ (rate_le1 c))).
by apply: tail_falls (bound_ge0 _ _ _) (ltW wJ) (rate_le1 c).
Qed.

Theorem kinds_hold :
  prob mu n (fun s => [exists c, bound (map kind s) c (count (missed c) s) < rate c]) <= delta.
Proof.
rewrite prob_kinds; apply: (@le_trans _ _ (\sum_(w : n.-tuple K) prob mu n (fun s => map kind s == w) * delta)).
  apply: ler_sum => w _.
  pose A c (s : seq T) := (map kind s == w) && (bound w c (count (missed c) s) < rate c).
  apply: (@le_trans _ _ (prob mu n (fun s => [exists c, A c s]))).
    by apply: prob_mono => // s _ /andP[/eqP e /existsP[c bad_c]]; apply/existsP; exists c; rewrite /A e eqxx -e.
  apply: le_trans (prob_any A) _; apply: (@le_trans _ _ (\sum_c prob mu n (fun s => map kind s == w) * part w c)).
    by apply: ler_sum => c _; apply: kind_holds.
  by rewrite -mulr_sumr; apply: ler_wpmul2l; [apply: prob_ge0|apply: parts].
rewrite -mulr_suml (_ : \sum_(w : n.-tuple K) _ = 1) ?mul1r //.
rewrite -(prob_all mu_sum n) prob_kinds; apply: eq_bigr => w _.
by apply: prob_ext => s; rewrite /= andbT.
Qed.
End Together.

Section Betting.
Variables (R : realFieldType) (T : finType) (mu : T -> R).
Hypothesis mu_ge0 : forall t, 0 <= mu t.
Hypothesis mu_sum : \sum_t mu t = 1.

(* The mean of a function of n rows. *)
Fixpoint mean n (f : seq T -> R) : R :=
  if n is n'.+1 then \sum_t mu t * mean n' (fun s => f (t :: s)) else f [::].

Lemma mean_ext n (f g : seq T -> R) : f =1 g -> mean n f = mean n g.
Proof. by elim: n f g => [|n IH] f g e //=; apply: eq_bigr => t _; congr (_ * _); apply: IH. Qed.

Lemma mean_sum n (K : finType) (f : K -> seq T -> R) : mean n (fun s => \sum_k f k s) = \sum_k mean n (f k).
Proof.
elim: n f => [|n IH] f //=; rewrite exchange_big /=; apply: eq_bigr => t _.
by rewrite (IH (fun k s => f k (t :: s))) mulr_sumr.
Qed.

Lemma mean_prod n (g : T -> R) a : mean n (fun s => a * \prod_(t <- s) g t) = a * (\sum_t mu t * g t) ^+ n.
Proof.
elim: n a => [|n IH] a /=; first by rewrite big_nil expr0.
rewrite (eq_bigr (fun t => a * (\sum_t mu t * g t) ^+ n * (mu t * g t))) => [|t _].
  by rewrite -mulr_sumr exprSr mulrA.
rewrite (@mean_ext _ _ (fun s => a * g t * \prod_(u <- s) g u)) => [|s]; last by rewrite big_cons mulrA.
by rewrite IH [RHS]mulrC -!mulrA [g t * (a * _)]mulrCA.
Qed.

(* Markov's inequality. *)
Lemma prob_mean n (f : seq T -> R) a : (forall s, 0 <= f s) -> a * prob mu n (fun s => a <= f s) <= mean n f.
Proof.
elim: n f => [|n IH] f f0 /=.
  have [le|_] := boolP (a <= f [::]); rewrite /= ?mulr1n ?mulr0n ?mulr1 ?mulr0 //.
rewrite mulr_sumr; apply: ler_sum => t _; rewrite mulrCA; apply: ler_wpmul2l => //.
exact: (IH (fun s => f (t :: s))).
Qed.

(* Gamblers K stake shares c on losses x below m. *)
Variables (x : T -> R) (K : finType) (c : K -> R).
Hypothesis x01 : forall t, 0 <= x t <= 1.
Hypothesis c01 : forall k, 0 <= c k <= 1.
Definition grows m k t := 1 - c k + c k * ((1 - x t) / (1 - m)).
Definition wealth m s : R := \sum_k \prod_(t <- s) grows m k t.
Definition loss : R := \sum_t mu t * x t.

Lemma grows_ge0 m k t : m < 1 -> 0 <= grows m k t.
Proof.
move=> m1; case/andP: (c01 k) => c0 c1; case/andP: (x01 t) => x0 x1.
by rewrite addr_ge0 ?subr_ge0 // mulr_ge0 // divr_ge0 ?subr_ge0 // ltW.
Qed.

Lemma wealth_ge0 m s : m < 1 -> 0 <= wealth m s.
Proof. by move=> m1; apply: sumr_ge0 => k _; apply: prodr_ge0 => t _; apply: grows_ge0. Qed.

Lemma wealth_up m m' s : m <= m' -> m' < 1 -> wealth m s <= wealth m' s.
Proof.
move=> le lt; apply: ler_sum => k _; apply: ler_prod => t _; rewrite grows_ge0 ?(le_lt_trans le) //=.
case/andP: (c01 k) => c0 _; case/andP: (x01 t) => _ x1.
rewrite /grows ler_add2l; apply: ler_wpmul2l => //; apply: ler_wpmul2l; rewrite ?subr_ge0 //.
by rewrite lef_pinv ?posrE ?subr_gt0 ?(le_lt_trans le) // ler_add2l ler_opp2.
Qed.

Lemma wealth_mean n : loss < 1 -> mean n (wealth loss) = #|K|%:R.
Proof.
move=> l1; rewrite mean_sum (eq_bigr (fun _ => 1)) => [|k _]; first by rewrite sumr_const.
rewrite (@mean_ext _ _ (fun s => 1 * \prod_(t <- s) grows loss k t)) => [|s]; last by rewrite mul1r.
rewrite mean_prod mul1r (_ : \sum_t _ = 1) ?expr1n //.
rewrite (eq_bigr (fun t => (1 - c k) * mu t + c k / (1 - loss) * (mu t - mu t * x t))) => [|t _]; last first.
  by rewrite /grows mulrDr [mu t * (1 - _)]mulrC -[X in _ = _ + _ * (X - _)]mulr1 -mulrBr -!mulrA mulrCA [(1 - x t) * _]mulrC [mu t * (_ * _)]mulrCA.
rewrite big_split /= -!mulr_sumr sumrB mu_sum -/loss mulr1 divfK ?subrK //.
by rewrite gt_eqF // subr_gt0.
Qed.

(* core.py's bound b: the gamblers are rich at it, so that means from b on are ruled out. *)
Variables (n : nat) (delta : R) (b : seq T -> R).
Hypothesis delta_gt0 : 0 < delta.
Hypothesis rich : forall s, b s < 1 -> #|K|%:R <= delta * wealth (b s) s.

Theorem groups_hold : (0 < #|K|)%N -> loss < 1 -> prob mu n (fun s => b s < loss) <= delta.
Proof.
move=> K0 l1; have k0 : 0 < #|K|%:R :> R by rewrite ltr0n.
apply: (@le_trans _ _ (prob mu n (fun s => #|K|%:R / delta <= wealth loss s))).
  apply: prob_mono => // s _ lt; rewrite ler_pdivr_mulr // mulrC.
  apply: le_trans (rich (lt_trans lt l1)) _; apply: ler_wpmul2l; first exact: ltW.
  by apply: wealth_up => //; apply: ltW.
have := @prob_mean n (wealth loss) (#|K|%:R / delta) (fun s => wealth_ge0 s l1).
by rewrite wealth_mean // mulrAC ler_pdivr_mulr // ler_pmul2l.
Qed.
End Betting.

Print Assumptions prob_filter.
Print Assumptions never_prob.
Print Assumptions widths_hold.
Print Assumptions parts_hold.
Print Assumptions kinds_hold.
Print Assumptions groups_hold.
