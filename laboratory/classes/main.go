// Command classes counts how often certificates of labels fail: go run ./classes [SETS [NAMES]], where NAMES is a
// regular expression.
//
// Certified rows are drawn, with replacement, from a population whose figures are known exactly. A certificate fails if
// any of its statements is false of the population. δ is 0.1.
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/krigo-gp/krigo/pacbayes"
)

const population = 20000

// design draws populations of labels, and says what is certified about rows.
type design struct {
	name  string
	rows  int
	terms pacbayes.LabelTerms
	row   func(rng *rand.Rand) (p []float64, truth int, score float64)
	group int // rows of a group; 0: rows are independent
}

// softmax draws probabilities of c classes, and the truth by other probabilities, since classifiers are wrong.
func softmax(c int, sharp float64, shift []float64) func(rng *rand.Rand) ([]float64, int, float64) {
	return func(rng *rand.Rand) ([]float64, int, float64) {
		p, q, sp, sq := make([]float64, c), make([]float64, c), 0., 0.
		for j := range c {
			z := rng.NormFloat64() * sharp
			if shift != nil {
				z += shift[j]
			}
			p[j], q[j] = math.Exp(z), math.Exp(0.7*z)
			sp, sq = sp+p[j], sq+q[j]
		}
		u, truth := rng.Float64()*sq, c-1
		for j := range c {
			p[j] /= sp
			if u -= q[j]; u < 0 && truth == c-1 {
				truth = min(truth, j)
			}
		}
		return p, truth, slices.Max(p)
	}
}

// odd gives scores whose risk isn't monotone. above is the share of wrong labels of score s.
func odd(above func(s float64) float64, levels float64) func(rng *rand.Rand) ([]float64, int, float64) {
	return func(rng *rand.Rand) ([]float64, int, float64) {
		s, truth := math.Floor(rng.Float64()*levels)/levels, 0
		if rng.Float64() < above(s) {
			truth = 1
		}
		return []float64{0.6, 0.4}, truth, s
	}
}

func main() {
	sets := 2000
	if len(os.Args) > 1 {
		sets, _ = strconv.Atoi(os.Args[1])
	}
	all := []string{"error", "classes", "predicted", "brier", "log-loss", "calibration", "costs"}
	share := func(a float64) pacbayes.LabelTerms { return pacbayes.LabelTerms{Delta: 0.1, AtMostWrong: a} }
	one := func(s string) pacbayes.LabelTerms { return pacbayes.LabelTerms{Delta: 0.1, Statements: []string{s}} }
	binary, five := softmax(2, 1.5, nil), softmax(5, 2, nil)
	rare := softmax(2, 2, []float64{0, -9})
	var designs []design
	for _, s := range append(all, "top-1") {
		designs = append(designs, design{name: "binary: " + s, rows: 150, terms: one(s), row: binary},
			design{name: "five: " + s, rows: 300, terms: one(s), row: five})
	}
	designs = append(designs,
		design{name: "five: all", rows: 300, terms: pacbayes.LabelTerms{Delta: 0.1, Statements: append(all, "top-2")},
			row: five},
		design{name: "1 %: classes", rows: 2000, terms: one("classes"), row: rare},
		design{name: "1 %: recall", rows: 4000, terms: pacbayes.LabelTerms{Delta: 0.1, Recall: 0.7, Positive: "b"},
			row: rare},
		design{name: "binary: recall", rows: 300, terms: pacbayes.LabelTerms{Delta: 0.1, Recall: 0.9, Positive: "b"},
			row: binary},
		design{name: "selective, binary", rows: 300, terms: share(0.15), row: binary},
		design{name: "selective, five", rows: 500, terms: share(0.2), row: five},
		design{name: "selective, risk a little above a", rows: 300, terms: share(0.1),
			row: odd(func(float64) float64 { return 0.103 }, 1e9)},
		design{name: "selective, risk a little above a, ties", rows: 300, terms: share(0.1),
			row: odd(func(float64) float64 { return 0.103 }, 20)},
		design{name: "selective, surest worst", rows: 300, terms: share(0.1),
			row: odd(func(s float64) float64 { return 0.103 + 0.1*max(0, s-0.9) }, 1e9)},
		design{name: "selective, risk in waves", rows: 300, terms: share(0.1),
			row: odd(func(s float64) float64 { return 0.104 + 0.1*math.Sin(20*s+2) }, 50)},
		design{name: "groups of 4: error", rows: 400, terms: one("error"), row: binary, group: 4})
	names := regexp.MustCompile("")
	if len(os.Args) > 2 {
		names = regexp.MustCompile(os.Args[2])
	}
	for i, d := range designs {
		if !names.MatchString(d.name) {
			continue
		}
		d.terms.Rules = d.terms.NewestRules(d.group > 0)
		fmt.Printf("%-42s %4d of %d certificates fail\n", d.name, d.failures(sets, uint64(i)), sets)
	}
}

// failures counts the sets whose certificate fails.
func (d design) failures(sets int, seed uint64) int {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := pacbayes.Labelled{}
	for i := range population {
		p, truth, score := d.row(rng)
		label := slices.Index(p, slices.Max(p))
		if d.group > 0 && i%d.group > 0 && rng.IntN(2) == 0 { // rows of a group are right or wrong together
			label, truth = all.Predicted[i-1], all.Truth[i-1]
		}
		all.Probabilities, all.Truth = append(all.Probabilities, p), append(all.Truth, truth)
		all.Score, all.Predicted = append(all.Score, score), append(all.Predicted, label)
		all.Detected = append(all.Detected, p[1])
	}
	for j := range all.Probabilities[0] {
		all.Classes, all.Costs = append(all.Classes, string(rune('a'+j))), append(all.Costs, nil)
		for k := range all.Probabilities[0] {
			all.Costs[j] = append(all.Costs[j], math.Abs(float64(j-k))*float64(1+j))
		}
	}
	stated := d.terms
	if stated.AtMostWrong, stated.Recall = 0, 0; stated.Statements == nil {
		stated.Statements = []string{"error"}
	}
	stated.Rules = 0 // only means are used
	truth, err := stated.Certify(all)
	if err != nil {
		panic(err)
	}
	failed := make([]int, 2)
	var work sync.WaitGroup
	for w := range failed {
		work.Go(func() {
			for s := w; s < sets; s += len(failed) {
				if d.fails(all, truth, rand.New(rand.NewPCG(seed, uint64(s)+2))) {
					failed[w]++
				}
			}
		})
	}
	work.Wait()
	return failed[0] + failed[1]
}

// fails draws certified rows and says whether a statement is false.
func (d design) fails(all pacbayes.Labelled, truth *pacbayes.Labels, rng *rand.Rand) bool {
	l := pacbayes.Labelled{Classes: all.Classes, Costs: all.Costs}
	for len(l.Truth) < d.rows {
		i := rng.IntN(population)
		if d.group > 0 {
			i -= i % d.group
			l.Groups++
		}
		for k := range max(d.group, 1) {
			l.Truth, l.Predicted = append(l.Truth, all.Truth[i+k]), append(l.Predicted, all.Predicted[i+k])
			l.Probabilities, l.Score = append(l.Probabilities, all.Probabilities[i+k]), append(l.Score, all.Score[i+k])
			l.Detected = append(l.Detected, all.Detected[i+k])
			if d.group > 0 {
				l.Group = append(l.Group, l.Groups-1)
			}
		}
	}
	c, err := d.terms.Certify(l)
	if err != nil {
		panic(err)
	}
	for i, s := range c.Statements {
		if s.Bound < truth.Statements[i].Mean-1e-9 {
			return true
		}
	}
	if s := c.Selective; s != nil && s.Answered > 0 {
		answered, wrong := 0., 0.
		for i, score := range all.Score {
			if score >= s.Threshold {
				answered++
				if all.Truth[i] != all.Predicted[i] {
					wrong++
				}
			}
		}
		return wrong > s.AtMostWrong*answered || answered/population < s.AnswersOf
	}
	if s := c.Detection; s != nil && s.Reason == "" {
		var flagged, rows [2]float64
		for i, score := range all.Detected {
			of := 0
			if all.Truth[i] == 1 {
				of = 1
			}
			if rows[of]++; score >= s.Threshold {
				flagged[of]++
			}
		}
		return flagged[1] < s.Recall*rows[1] || flagged[0]/rows[0] > s.FalseAlarmsBound
	}
	return false
}
