package krigo_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestEndsKeepAtoms: if 40 % of the rows have one of a target's two values, 90 % intervals have to hold both values.
// An interval's end then equals a value up to rounding, and rounding must not cut the value off.
func TestEndsKeepAtoms(t *testing.T) {
	for unit, y := range map[string][2]float64{"0 or 1": {0, 1}, "0.1 or 0.3": {0.1, 0.3},
		"far from 0": {1e9 + 0.1, 1e9 + 0.2}} {
		rng := rand.New(rand.NewPCG(1, 5))
		draw := func(n int) *dataset.Table {
			d := &dataset.Table{Source: unit, Names: []string{"x", "y"}, Rows: n}
			for i := range n {
				v := y[0]
				if rng.Float64() < 0.4 {
					v = y[1]
				}
				d.Values, d.Lines = append(d.Values, float64(rng.IntN(2)), v), append(d.Lines, i+2)
			}
			return d
		}
		inside, further := map[string]int{}, 0
		for range 10 {
			table, next := draw(150), draw(40)
			m := fit(t, table, krigo.Options{
				Data:    krigo.Data{Target: "y"},
				Method:  krigo.Method{Name: "evidence"},
				Prior:   krigo.Prior{Kind: "informed", Share: 0.3},
				Promise: krigo.Promise{Epsilon: 2},
				Run:     krigo.Run{Restarts: 1},
			})
			ps := predict(t, m, next)
			further += next.Rows
			for _, kind := range []string{"conformal", "normalised", "full", "jackknife"} {
				var is []krigo.Interval
				if kind == "full" || kind == "jackknife" {
					is = must.Get(m.IntervalsOfFew(t.Context(), table, next, krigo.IntervalOptions{Kind: kind, Level: 0.9}))(t)
				} else {
					is = must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: kind, Level: 0.9}))(t)
				}
				for i, in := range is {
					if v := next.Values[2*i+1]; in.Lower <= v && v <= in.Upper {
						inside[kind]++
					}
				}
			}
		}
		for kind, n := range inside {
			must.Hold(t, n >= further*97/100,
				"%s: %s intervals for 90 %% hold %d of %d further targets", unit, kind, n, further)
		}
	}
}

// TestForgedWidths: in a file with lower scores and half-widths, by almost as much as certify tolerates, intervals
// still hold both values of a target with two values.
func TestForgedWidths(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	table := &dataset.Table{Source: "coin", Names: []string{"x", "y"}, Rows: 240}
	for i := range table.Rows {
		y := 1.
		if rng.Float64() < 0.45 {
			y = 2
		}
		table.Values, table.Lines = append(table.Values, float64(i%2), y), append(table.Lines, i+2)
	}
	for loss, kinds := range map[string][]string{"band": {"conformal", "normalised", "band"}, "relative": {"band"},
		"scaled": {"band"}} {
		honest := fit(t, table, krigo.Options{Data: krigo.Data{Target: "y"}, Prior: krigo.Prior{Kind: "informed", Share: 0.3},
			Method: krigo.Method{Name: "evidence"}, Run: krigo.Run{Restarts: 1},
			Promise: krigo.Promise{Loss: loss, Epsilon: 2, Curve: true, Share: 0.75}})
		path := filepath.Join(t.TempDir(), "forged.krigo")
		must.Do(t, honest.Save(path))
		forged := must.Get(krigo.Load(path))(t)
		lower := func(vs ...*float64) {
			for _, v := range vs {
				*v *= 1 - 9e-7
			}
		}
		k, c := forged.Conformal, forged.Certificate
		lower(&k.HalfWidth, &k.Normalised, &c.Promise.HalfWidth, &c.Promise.HalfWidthRaw)
		for i := range k.Misses {
			lower(&k.Misses[i], &k.Deviations[i])
		}
		for i := range c.Curve.Points {
			lower(&c.Curve.Points[i].HalfWidth, &c.Curve.Points[i].HalfWidthRaw)
		}
		reproduced(t, forged, table, loss)
		ps := predict(t, honest, table)
		for _, kind := range kinds {
			var inside [2]int
			for i, m := range []*krigo.Model{honest, forged} {
				is := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: kind}))(t)
				for row, in := range is {
					if y := table.Values[2*row+1]; in.Lower <= y && y <= in.Upper {
						inside[i]++
					}
				}
			}
			must.Hold(t, inside[0] == table.Rows && inside[1] == inside[0],
				"%s, %s: intervals hold %d of %d targets, by a forged file %d", loss, kind,
				inside[0], table.Rows, inside[1])
		}
	}
}

// TestEndsOfBands: a target within the band in scaled units also lies between the band's ends, however unit and
// offset round.
func TestEndsOfBands(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for range 20_000 {
		s := dataset.Scaling{TargetMean: rng.NormFloat64() * []float64{0, 1, 1e6}[rng.IntN(3)],
			TargetScale: []float64{1, 1e-3, 3e5}[rng.IntN(3)] * (1 + rng.Float64())}
		mean, scaled := rng.NormFloat64(), []float64{0}
		y := s.Raw(mean + rng.Float64()*[]float64{-1, 1}[rng.IntN(2)])
		s.Target(scaled, []float64{y})
		width := max(scaled[0]-mean, mean-scaled[0])
		m := &krigo.Model{Model: model.Model{Observation: observation.Observation{Scaling: s}, Certificate: &pacbayes.Certificate{Valid: true, Loss: "band",
			MeanBound: 0.3, Epsilon: width, EpsilonRaw: width * s.TargetScale}}}
		is := must.Get(m.Intervals([]model.Prediction{{Mean: s.Raw(mean)}}, krigo.IntervalOptions{Kind: "band"}))(t)
		if most := (2e-6*width+5e-9)*s.TargetScale + 1e-14*max(s.TargetMean, -s.TargetMean); !(is[0].Lower <= y &&
			y <= is[0].Upper) || is[0].Upper-y > most && y-is[0].Lower > most {
			t.Fatalf("%v: %v isn't in %v, or not at an end", s, y, is[0])
		}
	}
}
