package krigo_test

import (
	"context"
	"math"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
)

// TestCompareDifferences: differences are those of the same split and ε, so that their error
// is that of the pairs; the first objective has none; progress tells every fit once.
func TestCompareDifferences(t *testing.T) {
	const splits = 3
	epsilons := []float64{0.5, 1}
	type fit struct {
		objective string
		epsilon   float64
		seed      uint64
	}
	told := map[fit]map[string]float64{}
	rows, err := krigo.Compare(context.Background(), data.Snelson(), krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 6, Epochs: 15}, Run: krigo.Run{Seed: 7}},
		[]string{"vfe", "kl-pac"}, epsilons, splits, func(c krigo.Compared) {
			told[fit{c.Objective, c.Epsilon, c.Seed}] = c.Measures
			if c.Done != len(told) || c.Total != 12 {
				t.Errorf("%+v is number %d", c, len(told))
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if i < 2 {
			if r.Objective != "vfe" || r.Differences != nil {
				t.Errorf("%+v", r)
			}
			continue
		}
		for _, name := range krigo.MeasureNames {
			var ds [splits]float64
			var mean, square float64
			for s := range ds {
				seed := uint64(7 + s)
				ds[s] = told[fit{"kl-pac", r.Epsilon, seed}][name] - told[fit{"vfe", r.Epsilon, seed}][name]
				mean += ds[s] / splits
			}
			for _, d := range ds {
				square += (d - mean) * (d - mean)
			}
			got, se := r.Differences[name], math.Sqrt(square/(splits-1)/splits)
			if math.Abs(got.Mean-mean) > 1e-12 || math.Abs(got.SE-se) > 1e-12 || name == "bound" && se == 0 {
				t.Errorf("ε = %v, %s: %+v, want %v ± %v", r.Epsilon, name, got, mean, se)
			}
		}
	}
}
