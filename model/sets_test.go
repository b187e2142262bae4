package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestSets draws rows of three classes. One class is rare, and another gets probabilities that are too low. For each
// class the test compares how often sets hold the label, on average over draws, with the share that the exact rank has.
func TestSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 33))
	draw := func(k int) []float64 {
		p := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		p[k] *= []float64{2, 1.3, 0.7}[k]
		return Shares(p)
	}
	const reps, level = 4000, 0.9
	var held [3]float64
	rows := []int{3, 29, 60}
	for range reps {
		var p [][]float64
		var truth []int
		for k, n := range rows {
			for range n {
				p, truth = append(p, draw(k)), append(truth, k)
			}
		}
		s := setsOf(p, truth, 3)
		must.Do(t, s.sane(3, len(truth)))
		for k := range rows {
			if slices.Contains(s.Labels(draw(k), level), k) {
				held[k] += 1. / reps
			}
		}
	}
	must.Near(t, held[0], 1, 1e-9, "a class of 3 rows")
	for k, n := range rows[1:] {
		want := float64(rank(level, n)) / float64(n+1)
		must.Near(t, held[k+1], want, 4*0.3/63, fmt.Sprint("class of ", n, " rows")) // 4 sd of 4,000 draws
	}
	s := Sets{{0.1, 0.2}, {}}
	must.Be(t, fmt.Sprint(s.Labels([]float64{0.79, 0.21}, 0.6), s.Labels([]float64{0.8, 0.2}, 0.6),
		s.Labels([]float64{0.1, 0.9}, 0.7)), "[1] [0 1] [0 1]")
	for _, unfit := range []Sets{{{0.1}, {}}, {{0.2, 0.1}, {}}, {{0.1, 1.1}, {}}, {{0.1, 0.2}}, {{0.1, 0.2}, {}, {}}} {
		must.Hold(t, unfit.sane(2, 2) != nil, "%v passes", unfit)
	}
	must.Be(t, s.Difference(nil)+s.Difference(Sets{{0.1, 0.2}, {}}), "")
	must.Hold(t, s.Difference(Sets{{0.1, 0.21}, {}}) != "" && Sets(nil).Difference(s) != "",
		"other scores pass")
	must.Be(t, fmt.Sprint(Shares([]float64{0, 0}), Shares([]float64{1, 3})), "[0 0] [0.25 0.75]")
}
