package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/posterior"
)

// TestRated checks models of counts, of levels and of positive targets, one of them with an exposure. It alters a
// weight, a bound and the exposure.
func TestRated(t *testing.T) {
	must.Long(t)
	python(t)
	folder := t.TempDir()
	path, table := filepath.Join(folder, "m.krigo"), filepath.Join(folder, "rates.csv")
	text, rng := "x,years,y\n", rand.New(rand.NewPCG(7, 8))
	for range 120 {
		x := rng.Float64()
		text += fmt.Sprintf("%g,%g,%g\n", x, 0.5+rng.Float64(), 1+math.Floor(5*math.Exp(x)*rng.ExpFloat64()))
	}
	must.Do(t, os.WriteFile(table, []byte(text), 0o600))
	rows := must.Get(files.CSV{From: strings.NewReader(text), Source: "rates.csv"}.Read())(t)
	for _, way := range []string{"poisson", "negative-binomial", "negative-binomial nearest", "gamma", "ordinal"} {
		noise, solver, _ := strings.Cut(way, " ")
		o := krigo.Options{Data: krigo.Data{Target: "y", Ignore: []string{"years"}},
			Kernel: krigo.Kernel{Expression: "se", Noise: noise}, Prior: krigo.Prior{Kind: "informed"},
			Method: krigo.Method{Name: "evidence", Solver: solver}, Run: krigo.Run{Restarts: 1}}
		if noise == "negative-binomial" {
			o.Data.Ignore, o.Data.Exposure = nil, "years"
		}
		if noise == "ordinal" {
			for i := range rows.Rows {
				rows.Values[3*i+2] = min(math.Floor(rows.Values[3*i+2]/4), 4)
			}
			var csv strings.Builder
			must.Do(t, files.Write(&csv, rows.Names, rows.Rows, func(i int, values []float64) error {
				copy(values, rows.Values[3*i:3*i+3])
				return nil
			}))
			must.Do(t, os.WriteFile(table, []byte(csv.String()), 0o600))
		}
		m := must.Get(krigo.Fit(t.Context(), rows, o))(t)
		must.Do(t, m.Save(path))
		agrees, said := verify(t, path, table)
		must.Hold(t, agrees, "%s: %s", noise, said)
		m.Certificate.MeanBound -= 0.01
		must.Do(t, m.Save(path))
		agrees, said = verify(t, path, table)
		must.Hold(t, !agrees, "%s with a lower bound: %s", noise, said)
		m.Certificate.MeanBound += 0.01
		if m.Exposure != "" {
			m.Exposure, m.Inputs[0] = "x", "years"
			must.Do(t, m.Save(path))
			agrees, said = verify(t, path, table)
			must.Hold(t, !agrees, "with another exposure: %s", said)
			m.Exposure, m.Inputs[0] = "years", "x"
		}
		if near, ok := m.Posterior.Solution.(*posterior.Nearest); ok {
			near.Targets[4] += 0.01 // among those checked, and next to others
		} else {
			prior, _ := m.Posterior.OfPrior()
			prior.Weights()[3] += 0.01
		}
		must.Do(t, m.Save(path))
		agrees, said = verify(t, path, table)
		must.Hold(t, !agrees && strings.Contains(said, "sites don't follow"),
			"%s with another weight: %s", noise, said)
	}
}
