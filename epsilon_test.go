package krigo

import (
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestEpsilonThatOverflows: a half-width that overflows in one of its units is refused before anything is trained.
func TestEpsilonThatOverflows(t *testing.T) {
	var x, y []float64
	for i := range 60 {
		x, y = append(x, float64(i)), append(y, 1e100*float64(i%7))
	}
	for _, units := range []string{"sd", "raw"} {
		table := &dataset.Table{Source: "t", Names: []string{"x", "y"}, Rows: len(x)}
		for i := range x {
			table.Values = append(table.Values, x[i], y[i])
		}
		o := Options{Data: Data{Target: "y"}, Promise: Promise{Epsilon: map[string]float64{"sd": 1e300, "raw": 1e-300}[units],
			Units: units}}
		if _, err := Decide(t.Context(), table, o); err == nil || !strings.Contains(err.Error(), "epsilon") {
			t.Errorf("%s: %v", units, err)
		}
	}
}

// TestEpsilonList: a list of E half-widths, declared before the rows are seen, costs ln E (Reeb et al. 2018, Sect. 4b) if
// each of its fits has δ/E: their bounds then hold together with probability 1 − δ, and each is Eq. 5 with ln E in it.
func TestEpsilonList(t *testing.T) {
	const delta = 0.01
	list := []float64{0.3, 0.6, 1}
	var roles string
	for _, e := range list {
		m := must.Get(Fit(t.Context(), data.Snelson(), Options{Data: Data{Target: "y"}, Kernel: Kernel{ARD: "off"},
			Method: Method{Name: "kl-pac", Inducing: 5}, Run: Run{Restarts: 1},
			Promise: Promise{Epsilon: e, Delta: delta / float64(len(list))}}))(t)
		c := m.Certificate
		n := float64(c.Rows)
		penalty := c.GridPenalty + c.ChoicesPenalty + math.Log(float64(len(list))) + math.Log(2*math.Sqrt(n)/delta)
		must.Near(t, c.Bound, pacbayes.KLInverse(c.EmpiricalRisk, (c.KL+penalty)/n), 1e-6, "bound")
		must.Hold(t, c.Valid && (roles == "" || roles == m.Hash), "ε %v: other rows certify", e)
		roles = m.Hash
	}
}
