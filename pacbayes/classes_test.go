package pacbayes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestBoundary: a boundary never falls, rises by at most 1 a row, and is crossed with the probability that counting
// all sequences of coins gives.
func TestBoundary(t *testing.T) {
	for _, n := range []int{14, 150, 3000} {
		b := boundaryOf(n, 0.2, 0.1)
		for m := 1; m <= n; m++ {
			if rise := b.at(m) - b.at(m-1); rise < 0 || rise > 1 {
				t.Fatalf("n = %d: c(%d) = %d, c(%d) = %d", n, m-1, b.at(m-1), m, b.at(m))
			}
		}
		must.Hold(t, b.at(0) == -1 && b.crossed(0.2) <= 0.1,
			"n = %d: c(0) = %d, crossed with %v", n, b.at(0), b.crossed(0.2))
	}
	const n, a = 14, 0.2
	b, sum := boundaryOf(n, a, 0.1), 0.
	for coins := range 1 << n {
		p, k, crossed := 1., 0, false
		for m := 1; m <= n; m++ {
			if coins>>(m-1)&1 == 0 {
				p *= 1 - a
			} else {
				p *= a
				k++
			}
			crossed = crossed || k <= b.at(m)
		}
		if crossed {
			sum += p
		}
	}
	must.Near(t, b.crossed(a), sum, 1e-10)
	must.Hold(t, sum > 0.04, "the walk crosses with %v", sum)
}

// drawnLabels returns labels of two classes by calibrated probabilities.
func drawnLabels(rng *rand.Rand, n int) Labelled {
	l := Labelled{Classes: []string{"no", "yes"}, Costs: [][]float64{{0, 1}, {5, 0}}}
	for range n {
		p := rng.Float64()
		truth := 0
		if rng.Float64() < p {
			truth = 1
		}
		label := int(math.Round(p))
		l.Truth, l.Predicted = append(l.Truth, truth), append(l.Predicted, label)
		l.Probabilities = append(l.Probabilities, []float64{1 - p, p})
		l.Score, l.Detected = append(l.Score, math.Max(p, 1-p)), append(l.Detected, p)
	}
	return l
}

// TestLabels: on drawn rows, whose true figures are known, all statements together fail with at most δ.
func TestLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	terms := LabelTerms{Delta: 0.2, AtMostWrong: 0.15, Recall: 0.9, Positive: "yes",
		Statements: []string{ErrorRate, EachClass, EachPrediction, Brier, LogLoss, CalibrationBias, MeanCost, "top-1"}}
	far, failed := drawnLabels(rng, 50000), 0
	truth := must.Get(LabelTerms{Delta: 0.4, Statements: terms.Statements}.Certify(far))(t)
	for range 20 {
		c := must.Get(terms.Certify(drawnLabels(rng, 120)))(t)
		wrong := false
		for i, s := range c.Statements {
			if want := truth.Statements[i].Mean; s.About != CalibrationBias && s.Bound < want-0.02*math.Max(1, want) {
				wrong = true
			}
			must.Hold(t, s.Bound >= s.Mean, "%+v", s)
		}
		// Of rows with max(p, 1−p) ≥ s, the share (1−s)/2 is labelled wrong. Of the class yes, p² lies below p.
		if s, d := c.Selective, c.Detection; s.Answered > 0 && (1-s.Threshold)/2 > 0.15 ||
			d.Threshold*d.Threshold > 0.1 {
			wrong = true
		}
		if wrong {
			failed++
		}
	}
	must.Hold(t, failed <= 4, "%d of 20 certificates failed at δ = 0.2", failed)
}

// TestMeansOfLabelsHold simulates how often the bounds on the mean Brier score and the mean log loss fail: at most in a
// share δ of the samples, plus 4 standard errors. Stakes that follow the number of rows give lower bounds on average.
func TestMeansOfLabelsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const sets, n, delta = 150, 50, 0.1
	terms := LabelTerms{Delta: delta}
	for name, sure := range map[string]float64{"unsure": 0.3, "some sure": 2, "sure, and sometimes wrong": 6} {
		drawn := func(rows int) (l Labelled) {
			for range rows {
				z := sure * rng.NormFloat64()
				truth := 0
				if rng.Float64() < 1/(1+math.Exp(-0.7*z)) {
					truth = 1
				}
				p := 1 / (1 + math.Exp(-z))
				l.Truth = append(l.Truth, truth)
				l.Probabilities = append(l.Probabilities, []float64{1 - p, p})
			}
			l.Classes = []string{"no", "yes"}
			l.Predicted = make([]int, rows)
			return l
		}
		far := drawn(20000)
		for _, about := range []string{Brier, LogLoss} {
			terms.Statements = []string{about}
			bounds := func(rules int, l Labelled) LabelStatement {
				terms.Rules = rules
				return must.Get(terms.Certify(l))(t).Statements[0]
			}
			mean := bounds(2, far).Mean
			fails, lower := 0, 0.
			for range sets {
				l := drawn(n)
				tuned, then := bounds(2, l).Bound, bounds(0, l).Bound
				lower += (then - tuned) / (then - mean) / sets
				if tuned < mean {
					fails++
				}
			}
			must.Hold(t, float64(fails) <= sets*delta+4*math.Sqrt(sets*delta*(1-delta)),
				"%s, %s: %d of %d bounds fail", name, about, fails, sets)
			must.Hold(t, lower >= 0.03,
				"%s, %s: the distance to the mean is lower by the share %v", name, about, lower)
		}
	}
	terms.Rules = 1
	must.Refuse(terms.Certify(drawnLabels(rng, n)))(t, "rules 1: want 2")
	terms = LabelTerms{Delta: delta, Statements: []string{ErrorRate}, Rules: 2}
	must.Refuse(terms.Certify(drawnLabels(rng, n)))(t, "rules 2: want 0")
}

// TestSelectAdversary: scores that tie and say nothing don't fool the search for a threshold.
func TestSelectAdversary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for range 100 {
		score, wrong := make([]float64, 100), make([]bool, 100)
		for i := range score {
			score[i] = float64(rng.IntN(30)) // the share of wrong answers stays a little above 0.1 for every threshold
			wrong[i] = rng.Float64() < 0.102
		}
		if selectAnswers(score, wrong, 0.1, 0.2).Answered > 0 {
			failed++
		}
	}
	must.Hold(t, failed <= 20, "%d of 100 thresholds accepted at δ = 0.2", failed)
}

// TestCalibrationBound: the least wealth over signs is the least that single signs give.
func TestCalibrationBound(t *testing.T) {
	z := [][]float64{{0.3, -0.7, 0.3}, nil, {0.1, 0.1, -0.9}}
	least := math.Inf(1)
	for signs := range 4 {
		var losses []float64
		for b, bin := range [][]float64{z[0], z[2]} {
			for _, v := range bin {
				losses = append(losses, (1+float64(1-2*(signs>>b&1))*v)/2)
			}
		}
		w := must.Get(Sample{Y: losses}.logWealth(losses, 0.6, gamblers(0, 1, 0.1)))(t)
		least = math.Min(least, w)
	}
	must.Near(t, leastWealth(z, 0.6, gamblers(0, 1, 0.1)), least, 1e-12)
}
