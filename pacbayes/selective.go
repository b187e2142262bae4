package pacbayes

import (
	"cmp"
	"math"
	"sort"

	"github.com/krigo-gp/krigo/internal/lists"
)

// A threshold that is chosen on the certified rows.
// A classifier answers rows with a score of at least t.
// Of n independent rows it answers n(t), and k(t) of its answers are wrong.
// The set of answered rows, {score ≥ t}, is all that counts, so rows of the same score are answered
// together. Let r(t) be the share of wrong answers among all further answers.
// The lowest t with r(t) ≤ a is wanted, for an a that was declared.
//
// The rule accepts t if k(t) ≤ c(n(t)), for a boundary c that depends on n, a and δ alone, never
// falls, and rises by at most 1 a row. Theorem:
// the probability that the rule accepts any t with r(t) > a is at most P(K_m ≤ c(m) for any m ≤ n),
// where K_m counts successes of a coin of probability a.
//
// Proof. Take finitely many bad thresholds t_1 > t_2 > …, and the blocks of scores between them.
// Block b has the mass w_b and the share e_b of wrong rows.
// The sums of w_h (e_h − a) over h ≤ b are positive.
// (1) If wrong rows of a block become right, k falls and n stays, so more t are accepted.
// (2) Move wrong mass from block i to a later block j:
// a piece of wrong rows in i becomes right, and an equal mass of right rows in j becomes wrong.
// The counts X and X′ of the two pieces are exchangeable, so compare the old rows with new rows in
// which the counts have changed places. From j on, k and n are equal. Before j, old k = K + X and n
// = N + X, new k = K and n = N + X′. K + X ≤ c(N + X) implies K ≤ c(N), because c rises by at most
// 1 a row, and c(N) ≤ c(N + X′), because c never falls. So no acceptance is lost.
// By (1) and (2) every e_b becomes a. Given the n(t), the k(t) are then the coin's walk at some
// times. k, n and r are continuous from the left, so that rational t, and hence finitely many t in
// the limit, are enough. ∎

// mostSteps is the most steps of a boundary. 400 lose a quarter of a percent of the wrong answers
// that are allowed.
const mostSteps = 400

// leastShare is the share of rows at which a boundary begins.
// A smaller share takes δ from thresholds that answer more rows:
// for n = 5000, a = 0.05 and δ = 0.1 the last step allows 218 wrong answers if the boundary begins
// at a fifth of the rows, 216 at a tenth, 215 at a twentieth and 214 at a fiftieth.
const leastShare = 0.05

// boundary is the c of the theorem. From rows[i] answered rows on, wrong[i] may be wrong.
// Between two steps, c is the larger of the step before and wrong[i] − (rows[i] − m).
// These values between change no probability, because an acceptance there is one at the next step
// too.
type boundary struct {
	rows, wrong []int
	level       float64 // each step alone is crossed with at most this probability
}

// at returns c(m), which is -1 if no wrong answer and no right answer is enough.
func (b boundary) at(m int) int {
	i := sort.SearchInts(b.rows, m+1)
	c := -1
	if i > 0 {
		c = b.wrong[i-1]
	}
	if i < len(b.rows) {
		c = max(c, b.wrong[i]-(b.rows[i]-m))
	}
	return c
}

// allowed says whether at most k of m draws, each with the probability a, has at most the
// probability level.
func allowed(k, m int, a, level float64) bool {
	const margin = 1e-11 // more than rounding
	switch {
	case k >= m:
		return false
	case k == 0:
		return float64(m)*math.Log1p(-a) <= math.Log(level)-margin
	}
	logP, _ := logBinomialTail(k, m, a)
	return logP <= math.Log(level)-margin
}

// steps returns the boundary for n rows each of whose steps is crossed with at most the probability
// level.
func steps(n int, a, level float64) boundary {
	most := func(m int) int {
		return sort.Search(int(a*float64(m))+1, func(k int) bool {
			return !allowed(k, m, a, level)
		}) - 1
	}
	b := boundary{level: level}
	first := max(most(max(1, int(leastShare*float64(n)))), 0)
	last := most(n)
	every := max(1, (last-first+mostSteps)/mostSteps)
	for k := first; k <= last; k += every {
		if k+every > last {
			k = last
		}
		b.wrong = append(b.wrong, k)
		b.rows = append(b.rows, sort.Search(n, func(m int) bool { return allowed(k, m, a, level) }))
	}
	return b
}

// crossed returns the probability that the walk of a coin of probability a has at most wrong[i]
// successes in rows[i] draws, for any i. The result is rounded up. States of tiny probability are
// left out, which can only make it larger.
func (b boundary) crossed(a float64) float64 {
	const spread = 10 // standard deviations that are kept
	at := 0
	w := walk{0, []float64{1}}
	for i, m := range b.rows {
		from, draw := binomial(m-at, a, spread)
		mean := float64(m) * a
		at = m
		w = w.step(from, draw, b.wrong[i]+1, int(mean+spread*math.Sqrt(mean)+60))
	}
	var held float64
	for _, q := range w.p {
		held += q
	}
	return math.Min(1, math.Max(0, 1-held)+crossingRounding)
}

// binomial lists the probabilities of from, from+1, … successes in n draws, within spread standard
// deviations.
func binomial(n int, a, spread float64) (from int, p []float64) {
	mean := float64(n) * a
	sd := math.Sqrt(mean * (1 - a))
	from = max(0, int(mean-spread*sd-10))
	p = make([]float64, min(n, int(mean+spread*sd+30))-from+1)
	mode := min(int(mean), n)
	switch {
	case mode == 0:
		p[0] = math.Exp(float64(n) * math.Log1p(-a))
	case mode == n:
		p[mode-from] = math.Pow(a, float64(n))
	default:
		k := float64(mode)
		p[mode-from] = math.Exp(logBinomialMode(k, float64(n)) - float64(n)*KL(k/float64(n), a))
	}
	odds := a / (1 - a)
	for k := mode; k+1-from < len(p); k++ {
		p[k+1-from] = p[k-from] * odds * float64(n-k) / float64(k+1)
	}
	for k := mode; k > from; k-- {
		p[k-1-from] = p[k-from] / odds * float64(k) / float64(n-k+1)
	}
	return from, p
}

// boundaryOf returns the boundary whose level is the largest, to a thousandth, at which the walk
// crosses it with at most the probability delta.
// Each of at most mostSteps+1 steps is crossed with at most the level, so that the smallest level
// needs no search.
func boundaryOf(n int, a, delta float64) boundary {
	low := delta / (mostSteps + 2)
	high := delta
	for b := steps(n, a, high); ; {
		if b.crossed(a) <= delta {
			low = b.level
		} else {
			high = b.level
		}
		if high/low < 1.001 {
			return steps(n, a, low)
		}
		b = steps(n, a, math.Sqrt(low*high))
	}
}

// Selective says which rows a classifier answers, how many it answers at least, and that at most
// the share AtMostWrong of its answers is wrong.
// Both hold together with probability 1−Delta, three quarters of which are for the wrong answers.
type Selective struct {
	AtMostWrong float64 `json:"at_most_wrong"` // declared
	Delta       float64 `json:"delta"`
	Threshold   float64 `json:"threshold"` // rows with a score of at least Threshold are answered
	Answered    int     `json:"answered"`  // certified rows
	Wrong       int     `json:"wrong"`     // certified rows that are answered wrong
	// at most so many wrong certified rows are accepted for this Answered
	Allowed int `json:"allowed"`
	// each step of the boundary is crossed with at most this probability
	Level     float64 `json:"level"`
	AnswersOf float64 `json:"answers"` // at least this share of further rows is answered
	// the level of each bound on the share of unanswered rows, which all hold together
	AnswersLevel float64 `json:"answers_level"`
	Reason       string  `json:"reason,omitempty"` // why there is no threshold
}

// answers is the part of δ for the share of answered rows, or of false alarms.
const answers = 0.25

// selectAnswers finds the lowest accepted threshold.
func selectAnswers(score []float64, wrong []bool, a, delta float64) Selective {
	n := len(score)
	b := boundaryOf(n, a, (1-answers)*delta)
	found := Selective{AtMostWrong: a, Delta: delta, Level: b.level}
	order := descending(score)
	for i, k := 0, 0; i < n; i++ {
		if wrong[order[i]] {
			k++
		}
		t := score[order[i]]
		if c := b.at(i + 1); k <= c && (i+1 == n || score[order[i+1]] < t) {
			found.Threshold = t
			found.Answered = i + 1
			found.Wrong = k
			found.Allowed = c
		}
	}
	// The share of unanswered rows is bounded at all thresholds at once, as a curve bounds misses.
	level, misses, bounds := curveLevel(n, answers*delta, 1-leastShare, nil)
	found.AnswersLevel = level
	if found.Answered == 0 {
		found.Reason = "too few rows, or too many wrong answers among the surest; allow more, or " +
			"certify more rows"
		return found
	}
	found.AnswersOf = 1 - bandAt(n-found.Answered, misses, bounds)
	return found
}

// Detection says that a classifier which flags rows with a score of at least Threshold flags at
// least the share Recall of the rows of a class, and bounds the share of flagged rows among the
// other rows. Both hold together with probability 1−Delta, three quarters of which are for the
// recall.
//
// The search for the threshold is free. P(score < t) among rows of the class grows with t.
// Let t* be the largest t at which it is at most 1−Recall.
// If the threshold is larger, at least as many rows of the class are missed as lie at or below t*,
// and their bound is at most 1−Recall, though at least this share truly lies there.
// t* doesn't depend on the rows, so this has at most the probability of one bound (Wilks, as in
// Promise). The share of flagged rows among others is bounded at all thresholds at once.
type Detection struct {
	Positive    string  `json:"positive"`
	Recall      float64 `json:"recall"` // declared
	Delta       float64 `json:"delta"`
	Threshold   float64 `json:"threshold"`
	Positives   int     `json:"positives"` // certified rows of the class
	Missed      int     `json:"missed"`    // certified rows of the class that aren't flagged
	Others      int     `json:"others"`    // certified rows of other classes
	FalseAlarms int     `json:"false_alarms"`
	// bounds the share of flagged rows among others
	FalseAlarmsBound float64 `json:"false_alarms_bound"`
	FalseAlarmsLevel float64 `json:"false_alarms_level"`
	Reason           string  `json:"reason,omitempty"`
}

// alarmShare is the share of false alarms at which bounds end.
const alarmShare = 0.5

// detect finds the highest threshold at which the recall's bound holds, and counts what it flags.
// positive says which rows are of the class. Their number is the n of the recall's binomial bound.
func detect(score []float64, positive []bool, recall, delta float64) Detection {
	of := len(lists.Where(len(score), func(i int) bool { return positive[i] }))
	d := Detection{Recall: recall, Delta: delta, FalseAlarmsBound: 1, Positives: of,
		Others: len(score) - of}
	order := descending(score)
	seen := 0
	// Lower the threshold row by row. Rows of equal score are flagged together, so skip to their
	// last.
	for i, row := range order {
		if positive[row] {
			seen++
		}
		if (i+1 < len(order) && score[order[i+1]] == score[row]) || seen == 0 {
			continue
		}
		if missed := d.Positives - seen; ClopperPearson(missed, d.Positives,
			(1-answers)*delta) <= 1-recall {
			d.Threshold = score[row]
			d.Missed = missed
			d.FalseAlarms = i + 1 - seen
			if d.Others > 0 {
				level, misses, bounds := curveLevel(d.Others, answers*delta, alarmShare, nil)
				d.FalseAlarmsLevel = level
				d.FalseAlarmsBound = bandAt(d.FalseAlarms, misses, bounds)
			}
			return d
		}
	}
	d.Reason = "too few certified rows of the class; ask for a smaller share, or certify more rows"
	return d
}

// bandAt returns the bound of the first listed number of misses that is at least k, or 1.
func bandAt(k int, misses []int, bounds []float64) float64 {
	if i := sort.SearchInts(misses, k); i < len(misses) {
		return math.Min(bounds[i], 1)
	}
	return 1
}

// descending returns the places of scores from the largest to the smallest.
func descending(score []float64) []int {
	return lists.Order(score, func(a, b float64) int { return cmp.Compare(b, a) })
}
