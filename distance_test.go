package krigo_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// square draws n rows with both inputs between −1 and 1. keep says whether a row stays.
func square(n int, seed uint64, keep func(a, b float64) bool) *dataset.Table {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := &dataset.Table{Source: "square", Names: []string{"a", "b", "y"}}
	for t.Rows < n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		if y := math.Sin(6*a) + math.Cos(6*b) + 0.2*rng.NormFloat64(); keep(a, b) {
			t.Values, t.Rows = append(t.Values, a, b, y), t.Rows+1
		}
	}
	return t
}

// TestRowsInAHoleAreFar: a row in a hole between the fit's rows counts as outside, although each of its inputs is in range. Other
// rows don't count as outside.
func TestRowsInAHoleAreFar(t *testing.T) {
	must.Long(t)
	const few = "all rows train the model"
	hole := func(a, b float64) bool { return math.Abs(a) < 0.4 && math.Abs(b) < 0.4 }
	around := func(a, b float64) bool { return !hole(a, b) }
	table, others, inside := square(500, 1, around), square(500, 2, around), square(200, 3, hole)
	by := func(m krigo.Method, p krigo.Promise) krigo.Options {
		p.Population = "same"
		return cheap(krigo.Options{
			Kernel:  krigo.Kernel{Expression: "matern32"},
			Method:  m,
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: p,
		})
	}
	slices := krigo.Promise{Slices: []string{"distance"}, Epsilon: 1}
	for how, c := range map[string]struct {
		rows *dataset.Table
		o    krigo.Options
	}{
		"slices":  {table, by(krigo.Method{Name: "evidence"}, slices)},
		"vfe":     {table, by(krigo.Method{Name: "vfe", Inducing: 60}, krigo.Promise{})},
		"nearest": {table, by(krigo.Method{Name: "nearest", Epochs: 5}, krigo.Promise{})},
		"cg":      {table, by(krigo.Method{Name: "evidence", Solver: "cg"}, krigo.Promise{})},
		few:       {square(100, 1, around), krigo.Options{}},
	} {
		m := trained(t, c.rows, c.o)
		told := func(table *dataset.Table) (share float64) {
			for _, p := range predict(t, m, table) {
				if p.Outside > 0 {
					share += 1 / float64(table.Rows)
				}
			}
			return share
		}
		in, out := told(inside), told(others)
		must.Hold(t, (in >= 0.3 || how == few) && out <= 0.06 && m.Range.Far != 0,
			"%s: %.3f in the hole, %.3f of others, far %v", how, in, out, m.Range.Far)
		if m.Certificate == nil {
			continue
		}
		var file bytes.Buffer
		must.Do(t, m.Write(&file))
		read := must.Get(krigo.Read(&file))(t)
		reproduced(t, read, table, how)
		for _, far := range []float64{1.01 * read.Range.Far, 1e300} {
			read.Range.Far = far
			if r, err := certify(read, table); err != nil || r.Matches || !strings.Contains(r.Differs, "far") {
				t.Errorf("%s: the distance %g: %+v, %v", how, far, r, err)
			}
		}
		for k, s := range m.Certificate.Slices {
			want := []string{"nearest", "in between", "farthest"}[k]
			must.Hold(t, s.By == pacbayes.SliceDistance && s.Name == want && s.Rows >= 45, "%+v", s)
		}
	}
}

// TestNearCopies: near copies of rows are counted, and the sentence says that it holds only if these rows aren't copies.
func TestNearCopies(t *testing.T) {
	draws, rng := square(60, 4, func(a, b float64) bool { return true }), rand.New(rand.NewPCG(5, 1))
	table := &dataset.Table{Source: "copies", Names: draws.Names, Rows: 3 * draws.Rows}
	for range 3 {
		for _, v := range draws.Values {
			table.Values = append(table.Values, v+1e-3*rng.NormFloat64())
		}
	}
	m := fit(t, table, cheap(krigo.Options{
		Kernel:  krigo.Kernel{Expression: "matern32"},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Population: "same"},
	}))
	c := m.Certificate
	must.Hold(t, c.NearCopies >= 50 &&
		strings.Contains(strings.Join(c.Conditions, " "), "nearly equal another row") &&
		strings.Contains(m.Sentence(c), " certified rows nearly equal another row. The bound holds only if "),
		"%+v, %s", c, m.Sentence(c))
	reproduced(t, m, table)
}
