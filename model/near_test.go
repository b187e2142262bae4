package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// dealtNear makes 7 in 10 rows prior rows, and counts the near copies among the other rows, which are certified.
func dealtNear(t *testing.T, d *dataset.Data, rng *rand.Rand, group []int) (near, certified int) {
	t.Helper()
	roles := dataset.Roles{Of: make([]dataset.Role, d.Rows), Order: rng.Perm(d.Rows), Group: group}
	for k, i := range roles.Order {
		if roles.Of[i] = dataset.Prior; 10*k >= 7*d.Rows {
			roles.Of[i] = dataset.Certified
		}
	}
	m := &Model{}
	m.Scaling = must.Get(dataset.ScalingOf(d, roles.Rows(dataset.Prior), dataset.PriorRows))(t)
	return must.Get(m.near(d, roles))(t), roles.Count(dataset.Certified)
}

// table returns n rows of d inputs and a target. row fills in a row, with the target last.
func table(t *testing.T, n, d int, row func(i int, v []float64)) *dataset.Data {
	t.Helper()
	tb := &dataset.Table{Source: "rows", Rows: n, Names: []string{"a", "b", "c", "d"}[:d:d]}
	tb.Values = make([]float64, n*(d+1))
	tb.Names = append(tb.Names, "y")
	for i := range n {
		row(i, tb.Values[i*(d+1):(i+1)*(d+1)])
	}
	return must.Get((*dataset.Encoding)(nil).Select(tb, tb.Names[:d], "y"))(t)
}

// TestNearCopies shows that three copies of each draw are near copies for every jitter, unless the three copies are a
// group.
func TestNearCopies(t *testing.T) {
	for _, d := range []int{1, 4} {
		for _, jitter := range []float64{1e-12, 1e-7, 1e-5, 1e-3} {
			rng, group := rand.New(rand.NewPCG(1, 2)), make([]int, 240)
			base := make([]float64, d+1)
			of := table(t, 240, d, func(i int, v []float64) {
				for j := range base {
					if i%3 == 0 {
						base[j] = rng.NormFloat64()
					}
					v[j] = base[j] + jitter*rng.NormFloat64()
				}
				group[i] = i / 3
			})
			near, n := dealtNear(t, of, rng, nil)
			must.Hold(t, 10*near >= 9*n, "jitter %g, %d inputs: %d of %d", jitter, d, near, n)
			near, _ = dealtNear(t, of, rng, group)
			must.Hold(t, near <= 0, "in groups: %d", near)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		near, _ := dealtNear(t, must.Get(data.Boston().Regression("MEDV"))(t), rng, nil)
		must.Hold(t, near <= 0, "boston: %d", near)
	}
}

// TestNoNearCopies shows that at most 1 in 30 sets of independent rows have near copies, however dense or discrete.
func TestNoNearCopies(t *testing.T) {
	for name, one := range map[string]func(rng *rand.Rand) (x, e float64){
		"dense, no noise": func(rng *rand.Rand) (x, e float64) { return rng.NormFloat64(), 0 },
		"dense":           func(rng *rand.Rand) (x, e float64) { return rng.NormFloat64(), rng.NormFloat64() },
		"skewed": func(rng *rand.Rand) (x, e float64) {
			return math.Exp(3 * rng.NormFloat64()), math.Exp(3 * rng.NormFloat64())
		},
		"discrete": func(rng *rand.Rand) (x, e float64) { return float64(rng.IntN(3)), rng.NormFloat64() },
		"discrete, rounded": func(rng *rand.Rand) (x, e float64) {
			return float64(rng.IntN(3)), math.Round(20*rng.NormFloat64()) / 20
		},
		"settings, precise": func(rng *rand.Rand) (x, e float64) { return float64(rng.IntN(3)), 1e-3 * rng.NormFloat64() },
		"zeros":             func(rng *rand.Rand) (x, e float64) { return max(0, rng.NormFloat64()), 0 },
		"zeros, skewed": func(rng *rand.Rand) (x, e float64) {
			return max(0, rng.NormFloat64()), max(0, math.Exp(3*rng.NormFloat64())-1)
		},
	} {
		alarms, sets := 0, 0
		for _, d := range []int{1, 2, 4} {
			for seed := range uint64(30) {
				rng := rand.New(rand.NewPCG(seed, 5))
				near, _ := dealtNear(t, table(t, []int{80, 300, 600}[seed%3], d, func(_ int, v []float64) {
					for j := range d {
						v[j], v[d] = one(rng)
					}
					v[d] += v[0]
				}), rng, nil)
				if sets++; near > 0 {
					alarms++
				}
			}
		}
		must.Hold(t, 30*alarms <= sets, "%s: %d of %d sets", name, alarms, sets)
	}
}
