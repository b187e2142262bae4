package method_test

import (
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/train"
)

// TestWeakHyperprior: with it the objective is higher by −ln of the densities as written anew here, whose derivatives are those
// of differences, and batches have it once.
func TestWeakHyperprior(t *testing.T) {
	task, x := ridge(60)
	for i := range x {
		x[i] += 0.3 * float64(i) // all off the means
	}
	var want float64
	for j := range 3 {
		z := x[j]/2 - (math.Sqrt2 + math.Log(3)/2) // Matern32's parameters are ln l² first, here of three inputs
		want += z*z/6 + math.Log(2*math.Pi*3)/2
	}
	z := x[5] + 2
	want += z*z/4 + math.Log(2*math.Pi*2)/2
	for name, both := range map[string][2]method.Method{
		"evidence": {method.Evidence{}, method.Evidence{Weak: true}},
		"nearest":  {method.Nearest{Neighbours: 5}, method.Nearest{Neighbours: 5, Weak: true}},
	} {
		plain, weak := both[0].Bind(task), both[1].Bind(task)
		a, g := evaluate(t, plain, x)
		b, h := evaluate(t, weak, x)
		if math.Abs(b-a-want) > 1e-10*math.Abs(b) {
			t.Errorf("%s: %v more, want %v", name, b-a, want)
		}
		for i := range x {
			const step = 1e-5
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[i] += step
			down[i] -= step
			difference := func(p train.Objective) float64 {
				v, err1 := p.Evaluate(up, nil)
				w, err2 := p.Evaluate(down, nil)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				return (v - w) / (2 * step)
			}
			if d := difference(weak) - difference(plain); math.Abs(d-(h[i]-g[i])) > 1e-6 {
				t.Errorf("%s: derivative %d is %v, by differences %v", name, i, h[i]-g[i], d)
			}
		}
		if s, ok := weak.(train.Stochastic); ok {
			rows := []int{3, 17, 41}
			all, err1 := s.EvaluateBatch(x, nil, rows)
			alone, err2 := plain.(train.Stochastic).EvaluateBatch(x, nil, rows)
			if err1 != nil || err2 != nil || math.Abs(all-alone-want) > 1e-9*math.Abs(all) {
				t.Errorf("%s: a batch has %v more, want %v (%v, %v)", name, all-alone, want, err1, err2)
			}
		}
	}
}

func evaluate(t *testing.T, p train.Objective, x []float64) (float64, []float64) {
	gradient := make([]float64, len(x))
	v, err := p.Evaluate(x, gradient)
	if err != nil {
		t.Fatal(err)
	}
	return v, gradient
}

// TestLocalSettings: what isn't a method's own is refused by a sentence that names who has it.
func TestLocalSettings(t *testing.T) {
	for want, c := range map[string]method.Choice{
		"term, form and neighbours are for nearest": {Name: "vfe", Neighbours: 7},
		`term "cost"`:               {Name: "nearest", Term: "cost"},
		`form "both"`:               {Name: "nearest", Form: "both"},
		"neighbours 513":            {Name: "nearest", Neighbours: 513},
		"it is for evidence and ne": {Name: "fitc", Hyperprior: "weak"},
		"nor by conjugate":          {Name: "evidence", Hyperprior: "weak", Solver: "cg"},
		"from the rows nearest":     {Name: "nearest", Solver: "cholesky"},
	} {
		var text string
		for _, err := range c.WithDefaults().Check(method.Use{}) {
			text += err.Error() + "\n"
		}
		if !strings.Contains(text, want) {
			t.Errorf("%+v: %q, want %q", c, text, want)
		}
	}
	for _, c := range []method.Choice{{Name: "nearest"}, {Name: "nearest", Term: "loss", Form: "vecchia", Hyperprior: "weak"}, {Name: "evidence", Hyperprior: "weak"}} {
		if errs := c.WithDefaults().Check(method.Use{}); len(errs) > 0 {
			t.Errorf("%+v: %v", c, errs)
		}
	}
}
