package pacbayes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// What a certificate of labels may state about further rows.
const (
	ErrorRate = "error" // the share of wrong labels
	// for each class, the share of wrong labels among rows of this class
	EachClass = "classes"
	// for each class, the share of wrong labels among rows with this label
	EachPrediction = "predicted"
	// half the squared distance of the probabilities from the true label, from 0 to 1
	Brier = "brier"
	// −ln of the true class's probability, if probabilities below 0.001 count as 0.001
	LogLoss         = "log-loss"
	CalibrationBias = "calibration" // the expected calibration error, in ten bins
	MeanCost        = "costs"       // the mean of a declared cost of truth and label
	EachSlice       = "slices"      // for each kind of rows, the share of wrong labels
	// top-K: the share of rows whose class isn't among the K most probable
	topPrefix = "top-"
)

// LeastProbability is the probability at which the log loss is clipped.
const LeastProbability = 0.001

// LabelTerms say what is certified about labels.
// They were chosen before the certified rows were seen.
type LabelTerms struct {
	Delta float64 `json:"delta"`
	// Statements hold together, and each has an equal part of Delta, as have a threshold for
	// AtMostWrong and a threshold for Recall.
	Statements  []string `json:"statements,omitempty"`
	AtMostWrong float64  `json:"at_most_wrong,omitempty"` // 0: all rows are answered
	Recall      float64  `json:"recall,omitempty"`        // 0: no class is to be detected
	Positive    string   `json:"positive,omitempty"`      // the class to be detected
	// Rules is the version of the rules of betting bounds, as in Terms.
	// By rules 2 the number of rows, or of groups, decides what gamblers stake. Older files have 0.
	Rules int `json:"rules,omitempty"`
}

// NewestRules returns the Rules of a new certificate: 0 if none of its bounds is a betting bound.
func (t LabelTerms) NewestRules(grouped bool) int {
	if grouped || slices.ContainsFunc(t.Statements, func(s string) bool {
		return slices.Contains([]string{Brier, LogLoss, CalibrationBias, MeanCost}, s)
	}) {
		return tunedRules
	}
	return 0
}

// Labelled holds true and predicted labels of certified rows.
// Classes are numbered by their places in Classes.
type Labelled struct {
	Classes          []string
	Truth, Predicted []int
	Score            []float64 // the surer the label, the larger; nil if no statement needs it
	// the surer that the row is of the class Positive, the larger; may be nil
	Detected      []float64
	Probabilities [][]float64 // by row and class; may be nil
	Costs         [][]float64 // cost of truth and label, not negative; may be nil
	Slices        []Slice     // By, Name and In
	Group         []int       // as in Sample
	Groups        int

	// the certificate that these rows have the counts of (see Again); nil: the rows are known
	stored *Labels
	rules  int // of the terms by which they are certified
}

// Labels is a certificate of labels that were predicted before the certified rows were seen.
// All its statements hold together with probability 1−Delta.
type Labels struct {
	Rows    int      `json:"rows"`
	Groups  int      `json:"groups,omitempty"`
	Delta   float64  `json:"delta"`
	Classes []string `json:"classes"`
	// certified rows by class, and by predicted class within
	Confusion  [][]int          `json:"confusion"`
	Statements []LabelStatement `json:"statements,omitempty"`
	Bins       []LabelBin       `json:"bins,omitempty"` // of the calibration
	// certified rows that equal an earlier row in every cell
	Copies     int        `json:"copies,omitempty"`
	Selective  *Selective `json:"selective,omitempty"`
	Detection  *Detection `json:"detection,omitempty"`
	Valid      bool       `json:"valid"`
	Label      string     `json:"label"`
	Conditions []string   `json:"conditions"`
}

// LabelStatement bounds a mean over further rows, of any kind or of the kind Of.
type LabelStatement struct {
	About string  `json:"about"`
	Of    string  `json:"of,omitempty"` // a class, or a value of the column By
	By    string  `json:"by,omitempty"`
	Delta float64 `json:"delta"` // its part of δ
	Rows  int     `json:"rows"`  // certified rows, or groups if groups are counted
	Wrong int     `json:"wrong"` // rows with the loss 1, if losses are 0 or 1
	Mean  float64 `json:"mean"`  // on the certified rows
	Bound float64 `json:"bound"`
	// Reason says why there is no bound. Bound is then the largest possible loss.
	Reason string `json:"reason,omitempty"`
}

// LabelBin is a bin of the predicted class's probability, for the calibration.
// Bin i of ten starts at i/10.
type LabelBin struct {
	Rows       int     `json:"rows"`
	Confidence float64 `json:"confidence"` // mean probability of the predicted class
	Right      float64 `json:"right"`      // share of right labels
}

// Top returns K if a statement is "top-K".
func Top(statement string) (k int, ok bool) {
	text, is := strings.CutPrefix(statement, topPrefix)
	k, err := strconv.Atoi(text)
	return k, is && err == nil && k >= 1 && text == strconv.Itoa(k)
}

// Probabilistic says whether a statement needs the probability of every class.
func Probabilistic(statement string) bool {
	_, top := Top(statement)
	return top || statement == Brier || statement == LogLoss || statement == CalibrationBias
}

// Check returns an error if the terms are invalid.
func (t LabelTerms) Check() error {
	known := []string{ErrorRate, EachClass, EachPrediction, Brier, LogLoss, CalibrationBias,
		MeanCost, EachSlice}
	for i, s := range t.Statements {
		if _, top := Top(s); !top && !slices.Contains(known, s) {
			return fmt.Errorf("statements: %q is unknown; krigo knows %s and top-K, such as top-2",
				s, strings.Join(known, ", "))
		}
		if slices.Contains(t.Statements[:i], s) {
			return fmt.Errorf("statements: %s is listed twice", s)
		}
	}
	return faults.First(
		faults.If(!(0 < t.Delta && t.Delta < mostDelta),
			"delta %v: want a probability between 0 and %v, such as 0.01", t.Delta, mostDelta),
		faults.If(t.AtMostWrong != 0 && !(0 < t.AtMostWrong && t.AtMostWrong < 1),
			"at-most-wrong %v: want a share between 0 and 1, such as 0.02", t.AtMostWrong),
		faults.If(t.Recall != 0 && !(0 < t.Recall && t.Recall < 1),
			"recall %v: want a share between 0 and 1, such as 0.95", t.Recall),
		faults.If(t.parts() == 0, "statements: name at least one"),
	)
}

// parts returns the number of equal parts of δ.
func (t LabelTerms) parts() int {
	parts := len(t.Statements)
	if t.AtMostWrong > 0 {
		parts++
	}
	if t.Recall > 0 {
		parts++
	}
	return parts
}

// Certify computes the certificate. It returns ErrTooFewRows if there are fewer than MinRows rows,
// or groups.
func (t LabelTerms) Certify(l Labelled) (*Labels, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if newest := t.NewestRules(l.Group != nil); t.Rules != 0 && t.Rules != newest {
		return nil, fmt.Errorf("rules %d: want %d, for these terms", t.Rules, newest)
	}
	if n := l.sample(make([]float64, len(l.Truth))).units(); n < MinRows {
		return nil, Terms{Group: strings.Repeat("g", min(l.Groups, 1))}.tooFew()
	}
	c := &Labels{Rows: len(l.Truth), Groups: l.Groups, Delta: t.Delta, Classes: l.Classes,
		Valid: true, Label: "certificate", Conditions: t.conditions(l.Group != nil),
		Confusion: Confusion(len(l.Classes), l.Truth, l.Predicted)}
	// A union bound: each statement, the selection and the detection get an equal part of δ.
	delta := t.Delta / float64(t.parts())
	l.rules = t.Rules
	for _, about := range t.Statements {
		all, err := l.state(about, delta, c)
		if err != nil {
			return nil, err
		}
		c.Statements = append(c.Statements, all...)
	}
	if t.AtMostWrong > 0 {
		wrong := lists.To(c.Rows, func(i int) bool { return l.Predicted[i] != l.Truth[i] })
		c.Selective = new(selectAnswers(l.Score, wrong, t.AtMostWrong, delta))
	}
	if t.Recall > 0 {
		positive := lists.Of(l.Truth, func(truth int) bool {
			return l.Classes[truth] == t.Positive
		})
		found := detect(l.Detected, positive, t.Recall, delta)
		found.Positive = t.Positive
		c.Detection = &found
	}
	return c, nil
}

// Confusion counts rows by class, and by predicted class within.
// It takes the places of the rows' classes.
func Confusion(classes int, truth, predicted []int) [][]int {
	counts := lists.To(classes, func(int) []int { return make([]int, classes) })
	for i, class := range truth {
		counts[class][predicted[i]]++
	}
	return counts
}

// conditions says what must be true for the certificate to hold.
func (t LabelTerms) conditions(grouped bool) []string {
	unit := spelling.Either(grouped, "group", "row")
	return []string{
		"Each certified " + unit + " is an independent draw from one source, and the certificate " +
			"is about further " + unit + "s from it.",
		"What made the predictions never saw these rows, and wasn't chosen by them. The person " +
			"who certifies vouches " +
			"for both.",
		"What is stated was chosen before these rows were seen: the statements, δ, costs, kinds " +
			"of rows, and the " +
			"shares that were asked for.",
	}
}

// sample returns the losses as a Sample, for the bounds of a fixed predictor.
func (l Labelled) sample(losses []float64) Sample {
	return Sample{Y: losses, Group: l.Group, Groups: l.Groups}
}

// labelLoss is what a statement says the mean of.
type labelLoss struct {
	of      func(i int) float64 // the loss of row i
	most    float64             // the largest value of of, up to which the bound counts
	zeroOne bool                // the loss is 0 or 1
}

// loss returns the loss of a statement about all rows.
func (l Labelled) loss(about string) labelLoss {
	k, top := Top(about)
	switch {
	case top:
		return labelLoss{of: func(i int) float64 { return l.behind(i, k) }, most: 1, zeroOne: true}
	case about == Brier:
		return labelLoss{of: l.brier, most: 1}
	case about == LogLoss:
		return labelLoss{of: func(i int) float64 {
			return -math.Log(math.Max(l.Probabilities[i][l.Truth[i]], LeastProbability))
		}, most: -math.Log(LeastProbability)}
	case about == MeanCost:
		most := 0.
		for _, row := range l.Costs {
			most = math.Max(most, slices.Max(row))
		}
		return labelLoss{of: func(i int) float64 { return l.Costs[l.Truth[i]][l.Predicted[i]] },
			most: most}
	}
	return labelLoss{of: l.wrong, most: 1, zeroOne: true} // ErrorRate
}

// wrong returns 1 if row i's label is wrong.
func (l Labelled) wrong(i int) float64 {
	if l.Predicted[i] != l.Truth[i] {
		return 1
	}
	return 0
}

// behind returns 1 if k other classes are at least as probable as row i's true class.
func (l Labelled) behind(i, k int) float64 {
	p := l.Probabilities[i]
	before := lists.Where(len(p), func(j int) bool {
		return j != l.Truth[i] && p[j] >= p[l.Truth[i]]
	})
	if len(before) >= k {
		return 1
	}
	return 0
}

// state returns the bounds of one statement, which hold together with probability 1−δ.
func (l Labelled) state(about string, delta float64, c *Labels) ([]LabelStatement, error) {
	switch about {
	case EachClass:
		return l.stateKinds(about, l.kinds(l.Truth), delta), nil
	case EachPrediction:
		return l.stateKinds(about, l.kinds(l.Predicted), delta), nil
	case EachSlice:
		return l.stateKinds(about, l.Slices, delta), nil
	case CalibrationBias:
		return l.calibration(delta, c), nil
	}
	loss := l.loss(about)
	if l.stored != nil && (Probabilistic(about) || l.Groups > 0) {
		// a stored certificate has no probabilities, and no groups of rows
		return []LabelStatement{l.given(about, delta, loss.most, loss.zeroOne)}, nil
	}
	losses := make([]float64, len(l.Truth))
	st := LabelStatement{About: about, Delta: delta, Rows: len(l.Truth)}
	for i := range losses {
		losses[i] = math.Min(math.Max(loss.of(i)/loss.most, 0), 1)
		if loss.zeroOne {
			st.Wrong += int(losses[i])
		}
	}
	s := l.sample(losses)
	mean, err := s.meanOf(s.perUnit(losses))
	if err != nil {
		return nil, err
	}
	st.Rows = s.units()
	if loss.zeroOne && l.Group == nil {
		st.Bound = ClopperPearson(st.Wrong, st.Rows, delta)
	} else if st.Bound, err = s.bettingBound(s.perUnit(losses), delta,
		gamblers(l.rules, st.Rows, delta)); err != nil {
		return nil, err
	}
	st.Mean = mean * loss.most
	st.Bound *= loss.most
	return []LabelStatement{st}, nil
}

// kinds returns the rows of each class, where of says the rows' classes.
func (l Labelled) kinds(of []int) []Slice {
	return lists.To(len(l.Classes), func(j int) Slice {
		in := lists.Where(len(of), func(i int) bool { return of[i] == j })
		return Slice{Name: l.Classes[j], In: in}
	})
}

// given returns a statement of the stored certificate with a mean, and perhaps a count of losses of
// 1, that rows alone can tell. If no rows can have them, or their bound, it returns the nearest
// that rows can have.
func (l Labelled) given(about string, delta, most float64, zeroOne bool) LabelStatement {
	n := len(l.Truth)
	st := LabelStatement{About: about, Delta: delta, Rows: l.sample(make([]float64, n)).units()}
	was := l.stored.statement(about)
	low := 0.
	high := 1. // limits of the mean
	if zeroOne {
		if st.Wrong = len(lists.Where(n, func(i int) bool {
			return l.Predicted[i] != l.Truth[i]
		})); about != ErrorRate {
			st.Wrong = min(max(was.Wrong, 0), n)
		}
		// The largest group has at most n−Groups+1 rows, so that a row has at least this share in
		// the mean of groups.
		share := 1 / float64((n-st.Rows+1)*st.Rows)
		low = share * float64(st.Wrong)
		high = 1 - share*float64(n-st.Wrong)
	}
	st.Mean = math.Min(math.Max(was.Mean, low*most), high*most)
	low, high = betweenBets(st.Mean/most, st.Rows, delta, gamblers(l.rules, st.Rows, delta))
	if zeroOne && l.Groups == 0 {
		low = ClopperPearson(st.Wrong, n, delta)
		high = low
	}
	st.Bound = math.Min(math.Max(was.Bound, low*most), high*most)
	return st
}

// statement returns the first statement about something, or an empty one.
func (c *Labels) statement(about string) LabelStatement {
	st, _ := lists.Find(c.Statements, func(s LabelStatement) bool { return s.About == about })
	return st
}

// brier returns half the squared distance of row i's probabilities from its true label.
func (l Labelled) brier(i int) (sum float64) {
	for j, p := range l.Probabilities[i] {
		if j == l.Truth[i] {
			p--
		}
		sum += p * p
	}
	return sum / 2
}

// stateKinds bounds the share of wrong labels among rows of each kind.
// Given which rows are of a kind, the number of its wrong labels is binomial. How many rows each
// kind has is given, so that kinds of too few rows leave their δ to others.
func (l Labelled) stateKinds(about string, kinds []Slice,
	delta float64) []LabelStatement {
	parts := len(lists.If(kinds, func(kind Slice) bool { return len(kind.In) >= MinRows }))
	return lists.Of(kinds, func(kind Slice) LabelStatement {
		st := LabelStatement{About: about, Of: kind.Name, By: kind.By, Rows: len(kind.In), Bound: 1}
		st.Wrong = int(lists.Sum(kind.In, l.wrong))
		if st.Rows > 0 {
			st.Mean = float64(st.Wrong) / float64(st.Rows)
		}
		if st.Rows < MinRows {
			st.Reason = fmt.Sprintf("%d certified rows are too few, of %d", st.Rows, MinRows)
		} else {
			st.Delta = delta / float64(parts)
			st.Bound = ClopperPearson(st.Wrong, st.Rows, st.Delta)
		}
		return st
	})
}

// calibrationBins is the number of bins, of equal width, of the predicted class's probability.
const calibrationBins = 10

// calibration bounds the expected calibration error Σ_b |E[Z; b]|. Z is 1 for a right label and 0
// for a wrong one, minus the probability of the label. E[Z; b] takes rows of bin b alone.
//
// Let σ_b be the sign of E[Z; b]. These signs are fixed, though unknown, and the error is E[σ_b Z]:
// the mean of one number in [−1, 1] a row. So the bound of bettingBound on the mean of (1 + σ_b
// Z)/2 holds without a union bound, and the largest such bound over all 2^10 signs is no smaller.
// A gambler's wealth is a product over bins, so that krigo finds the signs of the least wealth from
// 20 products.
func (l Labelled) calibration(delta float64, c *Labels) []LabelStatement {
	// z holds Z of each row, by the bin of the predicted label's probability.
	var z [calibrationBins][]float64
	c.Bins = make([]LabelBin, calibrationBins)
	for i, label := range l.Predicted {
		p := l.Probabilities[i][label]
		right := 0.
		if label == l.Truth[i] {
			right = 1
		}
		b := min(max(int(calibrationBins*p), 0), calibrationBins-1)
		z[b] = append(z[b], right-p)
		c.Bins[b].Rows++
		c.Bins[b].Confidence += p
		c.Bins[b].Right += right
	}
	// Mean is the observed calibration error Σ_b |Σ_{i in b} Z_i|/n.
	st := LabelStatement{About: CalibrationBias, Delta: delta, Rows: len(l.Truth)}
	for b := range z {
		var sum compensated.Sum
		for _, v := range z[b] {
			sum.Add(v)
		}
		st.Mean += math.Abs(sum.Value()) / float64(st.Rows)
		if n := float64(c.Bins[b].Rows); n > 0 {
			c.Bins[b].Confidence /= n
			c.Bins[b].Right /= n
		}
	}
	// Bound the mean of (1 + σ_b Z)/2 in [0, 1], and turn the bound back to the scale of Z.
	bound := leastMean((1+st.Mean)/2, delta, st.Rows, func(m float64) float64 {
		return leastWealth(z[:], m, gamblers(l.rules, st.Rows, delta))
	})
	st.Bound = math.Min(1, 2*bound-1+rounding)
	return []LabelStatement{st}
}

// leastWealth returns the logarithm of the gamblers' least wealth against the mean m, over all
// signs of the bins.
func leastWealth(z [][]float64, m float64, c stakes) float64 {
	if m >= 1 {
		return math.Inf(1)
	}
	type gamblers [bettors]float64
	// A bin's losses change only with its own sign, so its log wealth is added to that of every
	// choice of signs so far: 2·10 products, then 2^10 sums.
	wealth := []gamblers{{}} // logarithms, for each choice of signs of the bins so far
	for _, bin := range z {
		if len(bin) == 0 {
			continue
		}
		var more []gamblers
		for _, sign := range []float64{1, -1} {
			losses := lists.Of(bin, func(v float64) float64 { return (1 + sign*v) / 2 })
			var logs gamblers
			for k := range logs {
				logs[k] = logBet(losses, c[k], m)
			}
			for _, w := range wealth {
				for k := range w {
					w[k] += logs[k]
				}
				more = append(more, w)
			}
		}
		wealth = more
	}
	least := math.Inf(1)
	for _, w := range wealth {
		least = math.Min(least, meanWealth(w[:]))
	}
	return least
}
