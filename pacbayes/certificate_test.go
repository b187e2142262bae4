package pacbayes

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// exampleTerms are terms with a penalty that is easy to write out: T = 3, two choices.
func exampleTerms() Terms {
	return Terms{Loss: Loss{Kind: Band, Below: 0.6, Above: 0.6}, EpsilonRaw: 5.4, Delta: 0.05, Grid: DefaultGrid(),
		Params: 3, Choices: 2, PriorRows: 41, Scaling: "prior-rows"}
}

func examplePredictions(n int) (y, mean, variance []float64) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range n {
		m := rng.NormFloat64()
		mean = append(mean, m)
		y = append(y, m+0.4*rng.NormFloat64())
		variance = append(variance, 0.01+0.1*rng.Float64())
	}
	return y, mean, variance
}

// bisectKL returns the p ≥ q with kl(q‖p) = eps, by bisection on the definition.
func bisectKL(q, eps float64) float64 {
	kl := func(p float64) float64 {
		v := 0.0
		if q > 0 {
			v += q * math.Log(q/p)
		}
		if q < 1 {
			v += (1 - q) * math.Log((1-q)/(1-p))
		}
		return v
	}
	lo, hi := q, 1.0
	for range 200 {
		if mid := (lo + hi) / 2; kl(mid) < eps {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// TestCertifyFromScratch recomputes every number of a certificate by other means: the risk from error functions, the
// penalty by hand, the bound by bisection.
func TestCertifyFromScratch(t *testing.T) {
	for _, n := range []int{20, 57, 400} {
		for _, kl := range []float64{0, 3.5, 60} {
			y, mean, variance := examplePredictions(n)
			c := must.Get(exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, kl))(t)
			var risk float64
			for i, v := range y {
				sd := math.Sqrt(2 * variance[i])
				risk += (0.5*math.Erfc((0.6-(v-mean[i]))/sd) + 0.5*math.Erfc((0.6+(v-mean[i]))/sd)) / float64(n)
			}
			grid, choices := 3*math.Log(1201), math.Log(2)
			eps := (kl + grid + choices + math.Log(2*math.Sqrt(float64(n))/0.05)) / float64(n)
			for _, x := range []struct {
				what           string
				got, want, tol float64
			}{
				{"empirical_risk", c.EmpiricalRisk, risk, 1e-13},
				{"kl", c.KL, kl, 0},
				{"grid_penalty", c.GridPenalty, grid, 1e-13},
				{"choices_penalty", c.ChoicesPenalty, choices, 0},
				{"bound", c.Bound, bisectKL(risk, eps), 2e-12},
				{"bound_sqrt", c.BoundSqrt, risk + math.Sqrt(eps/2), 2e-12},
				{"mean_bound", c.MeanBound, math.Min(1, 2*bisectKL(risk, eps)), 4e-12},
				{"delta", c.Delta, 0.05, 0},
				{"epsilon", c.Epsilon, 0.6, 0},
				{"epsilon_raw", c.EpsilonRaw, 5.4, 0},
			} {
				must.Hold(t, math.Abs(x.got-x.want) <= x.tol,
					"n=%d kl=%v: %s is %.15g, want %.15g", n, kl, x.what, x.got, x.want)
			}
			must.Hold(t, kl != 3.5 || c.Bound >= bisectKL(risk, eps),
				"n=%d: bound %.17g was rounded down", n, c.Bound)
			must.Hold(t, c.Rows == n && c.PriorRows == 41 && c.Loss == Band && c.Prior == "grid" &&
				c.EpsilonAbove == 0, "n=%d: %+v", n, c)
		}
	}
}

func TestCertifyNeedsRows(t *testing.T) {
	y, mean, variance := examplePredictions(20)
	few := Sample{Y: y[:19], Mean: mean[:19], Variance: variance[:19]}
	if c, err := exampleTerms().Certify(few, 1); !errors.Is(err, ErrTooFewRows) ||
		c != nil {
		t.Errorf("19 rows: %v, %v", c, err)
	}
	if c, err := exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, 1); err != nil || c.Rows != 20 {
		t.Errorf("20 rows: %v, %v", c, err)
	}
}

func TestCertifyRefusesBrokenNumbers(t *testing.T) {
	good := func() (y, mean, variance []float64) { return examplePredictions(30) }
	for _, kl := range []float64{-1, -1e-7, math.NaN(), math.Inf(-1)} {
		y, mean, variance := good()
		if c, err := exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, kl); c != nil || err == nil ||
			!strings.Contains(err.Error(), "KL") {
			t.Errorf("KL %v: %v, %v", kl, c, err)
		}
	}
	for what, spoil := range map[string]func(y, mean, variance []float64){
		"target":   func(y, _, _ []float64) { y[7] = math.NaN() },
		"mean":     func(_, mean, _ []float64) { mean[7] = math.NaN() },
		"variance": func(_, _, variance []float64) { variance[29] = math.NaN() },
	} {
		y, mean, variance := good()
		spoil(y, mean, variance)
		if c, err := exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, 1); c != nil || err == nil ||
			!strings.Contains(err.Error(), "isn't a number") {
			t.Errorf("NaN %s: %v, %v", what, c, err)
		}
	}
	// Rounding may take KL a little below zero. It then counts as zero.
	y, mean, variance := good()
	at, err := exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, -1e-9)
	zero, err2 := exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, 0)
	must.Hold(t, err == nil && err2 == nil && at.KL == 0 && at.Bound == zero.Bound,
		"KL −1e-9: %+v, %v; 0: %+v, %v", at, err, zero, err2)
	// An infinite KL, or predictions far off, give a bound of 1, not an error.
	for i := range mean {
		mean[i] = math.Inf(1)
	}
	if c, err := exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, math.Inf(1)); err == nil &&
		(c.Bound != 1 || c.MeanBound != 1) {
		t.Errorf("a hopeless posterior: %+v", c)
	}
}

func TestCertifyLabels(t *testing.T) {
	y, mean, variance := examplePredictions(40)
	for _, x := range []struct {
		scaling, label, condition string
		valid                     bool
	}{
		{"prior-rows", "certificate", "Scaling constants come from 41 prior rows, which the bound doesn't count.", true},
		{"declared", "certificate", "Scaling constants were declared beforehand, not taken from the certified rows.", true},
		{"all-rows", "bound (heuristic: scaled with training statistics)",
			"NOT MET: scaling constants were taken from all rows", false},
	} {
		terms := exampleTerms()
		terms.Scaling, terms.Encoded = x.scaling, true
		c := must.Get(terms.Certify(Sample{Y: y, Mean: mean, Variance: variance}, 2))(t)
		must.Hold(t, c.Valid == x.valid && c.Label == x.label && c.Scaling == x.scaling,
			"%s: valid %v, label %q, scaling %q", x.scaling, c.Valid, c.Label, c.Scaling)
		text := strings.Join(c.Conditions, "\n")
		for _, want := range []string{x.condition, "independent draws from one source", "not the future", "band loss",
			"δ = 0.05", "6,2", "at most twice as large", "missing cells, come from the prior rows too"} {
			must.Hold(t, strings.Contains(text, want),
				"%s: no condition says %q:\n%s", x.scaling, want, text)
		}
		if !strings.Contains(c.Conditions[0], "time") {
			t.Errorf("%s: rows ordered in time aren't the first condition: %q", x.scaling, c.Conditions[0])
		}
		if n := strings.Count(text, "NOT MET"); (n > 0) == x.valid {
			t.Errorf("%s: %d conditions not met", x.scaling, n)
		}
	}
}

// TestCertifyLosses shows that the widths of each loss reach the risk and the certificate.
func TestCertifyLosses(t *testing.T) {
	y, mean, variance := examplePredictions(50)
	scale := make([]float64, len(y))
	for i := range scale {
		scale[i] = math.Abs(y[i]) + 1
	}
	for _, l := range []Loss{
		{Kind: Band, Below: 0.5}, {Kind: ClippedSquare, Below: 0.5}, {Kind: Gaussian, Below: 0.5},
		{Kind: Relative, Below: 0.5}, {Kind: Asymmetric, Below: 0.3, Above: 0.9}, {Kind: ClippedAbsolute},
	} {
		terms := exampleTerms()
		terms.Loss = l
		c := must.Get(terms.Certify(Sample{Y: y, Mean: mean, Variance: variance, Scale: scale}, 2))(t)
		if want := riskOf(l, y, mean, variance, scale, nil, nil); c.EmpiricalRisk != want || c.Loss != l.Kind {
			t.Errorf("%s: risk %v, want %v", l.Kind, c.EmpiricalRisk, want)
		}
		if want := l.Above; l.Kind == Asymmetric && c.EpsilonAbove != want {
			t.Errorf("%s: epsilon_above %v, want %v", l.Kind, c.EpsilonAbove, want)
		}
		must.Hold(t, c.EmpiricalRisk < c.Bound && c.Bound <= c.BoundSqrt && c.Bound <= 1,
			"%s: risk %v, bounds %v and %v", l.Kind, c.EmpiricalRisk, c.Bound, c.BoundSqrt)
	}
}

// TestCertificateEqual shows that a change of any field counts, unless it is rounding.
func TestCertificateEqual(t *testing.T) {
	y, mean, variance := examplePredictions(40)
	certify := func() *Certificate {
		return must.Get(exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, 2))(t)
	}
	want := certify()
	near := certify()
	near.Bound += 9e-7
	near.KL -= 1.8e-6 // less than 1e-6 of the KL, 2
	must.Hold(t, want.Equal(certify()) && want.Equal(near) && near.Equal(want),
		"equal certificates differ")
	must.Hold(t, !want.Equal(nil), "a certificate equals none")
	for name, change := range map[string]func(c *Certificate){
		"bound":           func(c *Certificate) { c.Bound -= 2e-6 },
		"bound_sqrt":      func(c *Certificate) { c.BoundSqrt -= 2e-6 },
		"empirical_risk":  func(c *Certificate) { c.EmpiricalRisk += 2e-6 },
		"kl":              func(c *Certificate) { c.KL += 3e-6 },
		"grid_penalty":    func(c *Certificate) { c.GridPenalty *= 1 + 2e-6 },
		"choices_penalty": func(c *Certificate) { c.ChoicesPenalty = 0 },
		"mean_bound":      func(c *Certificate) { c.MeanBound /= 2 },
		"NaN":             func(c *Certificate) { c.Bound = math.NaN() },
		"delta":           func(c *Certificate) { c.Delta = 0.01 },
		"rows":            func(c *Certificate) { c.Rows++ },
		"loss":            func(c *Certificate) { c.Loss = Gaussian },
		"epsilon":         func(c *Certificate) { c.Epsilon /= 2 },
		"epsilon_above":   func(c *Certificate) { c.EpsilonAbove = 1 },
		"epsilon_raw":     func(c *Certificate) { c.EpsilonRaw /= 2 },
		"prior":           func(c *Certificate) { c.Prior = "informed" },
		"prior_rows":      func(c *Certificate) { c.PriorRows = 0 },
		"scaling":         func(c *Certificate) { c.Scaling = "declared" },
		"valid":           func(c *Certificate) { c.Valid = false },
		"label":           func(c *Certificate) { c.Label = "guarantee" },
		"promise":         func(c *Certificate) { c.Promise = &Promise{Share: 0.9} },
	} {
		c := certify()
		change(c)
		must.Hold(t, !want.Equal(c) && !c.Equal(want), "another %s passes for equal", name)
	}
}

// TestConditions shows that the conditions say what was declared, and what wasn't.
func TestConditions(t *testing.T) {
	for want, change := range map[string]func(t *Terms){
		"The band loss, its ε, δ = 0.05, the kernel family and the grid 6,2 were declared": func(t *Terms) {},
		"The band loss, δ = 0.05, the kernel":                                              func(t *Terms) { t.OtherEpsilon = true },
		"the grids of 0 to 2 digits in [−6, 6] (the 1-digit grid was chosen afterwards": func(t *Terms) {
			t.Resolutions,
				t.Grid.Digits = 3, 1
		},
		"its ε, the share 0.9 of the promise":                     func(t *Terms) { t.Promise = 0.9 },
		"7 of the rows the model was made from equal another row": func(t *Terms) { t.Repeats = 7 },
		"NOT MET: scaling constants":                              func(t *Terms) { t.Scaling = "all-rows" },
	} {
		terms := exampleTerms()
		change(&terms)
		if c := strings.Join(terms.Conditions(), " "); !strings.Contains(c, want) {
			t.Errorf("%q isn't said: %s", want, c)
		}
	}
}

// TestCertificateKeys pins the names that programs read.
func TestCertificateKeys(t *testing.T) {
	y, mean, variance := examplePredictions(40)
	c := must.Get(exampleTerms().Certify(Sample{Y: y, Mean: mean, Variance: variance}, 2))(t)
	raw := must.Get(json.Marshal(c))(t)
	var keys map[string]any
	must.Do(t, json.Unmarshal(raw, &keys))
	for _, key := range []string{"bound", "bound_sqrt", "empirical_risk", "kl", "grid_penalty", "choices_penalty", "delta",
		"rows",
		"loss", "epsilon", "epsilon_raw", "mean_bound", "prior", "prior_rows", "scaling", "valid", "label", "conditions"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("no %q in %s", key, raw)
		}
		delete(keys, key)
	}
	must.Hold(t, len(keys) == 0, "keys that the documentation doesn't know: %v", keys)
}

// TestLeastBound shows that no sample has a smaller bound than one whose losses are all 0.
func TestLeastBound(t *testing.T) {
	of := func(change func(*Terms)) Terms {
		terms := Terms{Loss: Loss{Kind: Band, Below: 0.6}, EpsilonRaw: 0.6, Delta: 0.01, Choices: 1, Scaling: "prior-rows",
			Informed: true, Fixed: true, Route: Direct}
		change(&terms)
		return terms
	}
	exact := func(delta float64) float64 { return 1 - math.Pow(delta, 1./40) }
	for what, c := range map[string]struct {
		terms Terms
		want  float64
	}{
		"direct":   {of(func(t *Terms) {}), exact(0.01)},
		"promise":  {of(func(t *Terms) { t.Promise = 0.9 }), exact(0.005)},
		"slices":   {of(func(t *Terms) { t.Slices = []string{SliceSD} }), exact(0.005)},
		"twice":    {of(func(t *Terms) { t.Route = Twice }), 2 * exact(0.01)},
		"groups":   {of(func(t *Terms) { t.Group = "g" }), exact(0.01)},
		"relative": {of(func(t *Terms) { t.Loss.Kind = Relative }), exact(0.01)},
		"pinsker": {of(func(t *Terms) { t.Inequality, t.Loss.Kind = PinskerBound, ClippedSquare }),
			math.Sqrt(math.Log(100) / 80)},
	} {
		must.Near(t, c.terms.LeastBound(40), c.want, 1e-9, what)
	}
	plain, curve := of(func(t *Terms) {}).LeastBound(40), of(func(t *Terms) { t.Curve = true }).LeastBound(40)
	must.Hold(t, curve > plain && curve < 0.25, "curve %g, one width %g", curve, plain)
}
