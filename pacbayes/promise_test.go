package pacbayes

import (
	"math"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func fixedTerms(route Route) Terms {
	t := exampleTerms()
	t.Params, t.Choices, t.Informed, t.Fixed, t.Route = 0, 1, true, true, route
	return t
}

// TestRoutes recomputes the bounds of each route, and the promise that follows from these bounds.
func TestRoutes(t *testing.T) {
	y, mean, variance := examplePredictions(150)
	k := 0
	for i := range y {
		if math.Abs(y[i]-mean[i]) > 0.6 {
			k++
		}
	}
	risk := riskOf(Loss{Kind: Band, Below: 0.6}, y, mean, variance, nil, nil, nil)
	for _, x := range []struct {
		route          Route
		choices        int
		promise        float64
		empirical      float64
		bound, onMean  float64
		choicesPenalty float64
	}{
		{Direct, 3, 0, float64(k) / 150, ClopperPearson(k, 150, 0.05), ClopperPearson(k, 150, 0.05), 0},
		{Direct, 1, 0.8, float64(k) / 150, ClopperPearson(k, 150, 0.025), ClopperPearson(k, 150, 0.025), math.Ln2},
		{Twice, 3, 0, risk, TestBound(risk, 150, 0.05/3), 2 * TestBound(risk, 150, 0.05/3), math.Log(3)},
		{Both, 2, 0, risk, TestBound(risk, 150, 0.05/4), ClopperPearson(k, 150, 0.025), math.Log(4)},
		{Both, 1, 0.5, risk, TestBound(risk, 150, 0.05/4), ClopperPearson(k, 150, 0.0125), math.Log(4)},
	} {
		terms := fixedTerms(x.route)
		terms.Choices, terms.Promise = x.choices, x.promise
		c := must.Get(terms.Certify(Sample{Y: y, Mean: mean, Variance: variance}, 0))(t)
		for name, v := range map[string][2]float64{"bound": {c.Bound, x.bound}, "mean_bound": {c.MeanBound, x.onMean},
			"empirical_risk": {c.EmpiricalRisk, x.empirical}, "choices_penalty": {c.ChoicesPenalty, x.choicesPenalty}} {
			must.Hold(t, math.Abs(v[0]-v[1]) <= 1e-11,
				"%+v: %s is %v, want %v", x, name, v[0], v[1])
		}
		must.Hold(t, (c.Promise != nil) == (x.promise > 0), "%+v: promise %+v", x, c.Promise)
	}
}

// TestPromise finds the width by counting, for the mean and for a learnt posterior.
func TestPromise(t *testing.T) {
	y, mean, variance := examplePredictions(300)
	scale := make([]float64, len(y))
	for i := range scale {
		scale[i] = math.Abs(y[i])
	}
	misses := func(w float64, relative bool) (k int) {
		for i := range y {
			limit := w
			if relative {
				limit *= scale[i]
			}
			if math.Abs(y[i]-mean[i]) > limit {
				k++
			}
		}
		return k
	}
	smallest := func(relative bool, ok func(w float64) bool) float64 {
		for j := range 100 {
			if w := PromiseWidth(j, relative); ok(w) {
				return w
			}
		}
		return 0
	}
	for _, x := range []struct {
		name  string
		terms Terms
		kl    float64
		want  float64
	}{
		{"direct", fixedTerms(Direct), 0, smallest(false,
			func(w float64) bool { return ClopperPearson(misses(w, false), 300, 0.025) <= 0.5 })},
		{"learnt", exampleTerms(), 2, smallest(false, func(w float64) bool {
			risk := riskOf(Loss{Kind: Band, Below: w}, y, mean, variance, nil, nil, nil)
			pen := KLBound.Penalty(3*math.Log(1201)+math.Log(2*200), 300, 0.05)
			return 2*bisectKL(risk, (2+pen)/300) <= 0.5
		})},
		{"fixed, twice", fixedTerms(""), 0, smallest(false, func(w float64) bool {
			return 2*TestBound(riskOf(Loss{Kind: Band, Below: w}, y, mean, variance, nil, nil, nil), 300, 0.05/200) <= 0.5
		})},
		{"relative", func() Terms {
			r := fixedTerms(Direct)
			r.Loss, r.EpsilonRaw = Loss{Kind: Relative, Below: 0.1}, 0.1
			return r
		}(), 0, smallest(true, func(w float64) bool { return ClopperPearson(misses(w, true), 300, 0.025) <= 0.5 })},
	} {
		x.terms.Promise = 0.5
		c := must.Get(x.terms.Certify(Sample{Y: y, Mean: mean, Variance: variance, Scale: scale}, x.kl))(t)
		p := c.Promise
		must.Hold(t, p.HalfWidth == x.want && p.Share == 0.5 && p.Bound <= 0.5 && x.want != 0 &&
			p.Relative == (x.name == "relative"), "%s: %+v, want half-width %v", x.name, p, x.want)
		unit := 9. // EpsilonRaw divided by Below
		if p.Relative {
			unit = 1
		}
		must.Hold(t, math.Abs(p.HalfWidthRaw-unit*x.want) <= 1e-12,
			"%s: raw half-width %v", x.name, p.HalfWidthRaw)
	}
	hopeless := fixedTerms(Direct)
	hopeless.Promise = 0.999
	if c, err := hopeless.Certify(Sample{Y: y, Mean: mean, Variance: variance}, 0); err != nil ||
		c.Promise.HalfWidth != 0 ||
		c.Promise.Reason == "" {
		t.Errorf("99.9 %% from 300 rows: %+v, %v", c.Promise, err)
	}
}

// TestFamilies recomputes the Gibbs bound of a learnt posterior by every inequality.
func TestFamilies(t *testing.T) {
	y, mean, variance := examplePredictions(200)
	loss := Loss{Kind: ClippedSquare, Below: 0.6}
	risk := riskOf(loss, y, mean, variance, nil, nil, nil)
	// This is ∫ min(ℓ, ¼)/¼, from the losses of draws on a fine grid of each row's quantiles.
	var low float64
	const steps = 4000
	for i := range y {
		for s := range steps {
			z := math.Sqrt2 * math.Erfinv(2*(float64(s)+0.5)/steps-1)
			low += math.Min(loss.Point(y[i], mean[i]+math.Sqrt(variance[i])*z, 0), 0.25) / 0.25 / steps / 200
		}
	}
	grid, choices := 3*math.Log(1201), math.Log(2)
	eps := func(c float64) float64 { return (2 + grid + choices + math.Log(c/0.05)) / 200 }
	root, xi := 2*math.Sqrt(200), maurerXi(200)
	for f, want := range map[Inequality]float64{
		"": bisectKL(risk, eps(root)), KLBound: bisectKL(risk, eps(root)), MaurerBound: bisectKL(risk, eps(xi)),
		PinskerBound: math.Min(1, risk+math.Sqrt(eps(root)/2)),
		SplitBound:   0.25*bisectKL(low, eps(2*xi)) + 0.75*bisectKL((risk-0.25*low)/0.75, eps(2*xi)),
	} {
		terms := exampleTerms()
		terms.Loss, terms.Inequality = loss, f
		c := must.Get(terms.Certify(Sample{Y: y, Mean: mean, Variance: variance}, 2))(t)
		tol := 1e-11
		if f == SplitBound {
			tol = 1e-5 // accuracy of the reference
		}
		must.Hold(t, math.Abs(c.Bound-want) <= tol, "%q: bound %v, want %v", f, c.Bound, want)
	}
}

func TestTermsRefuse(t *testing.T) {
	y, mean, variance := examplePredictions(50)
	for want, change := range map[string]func(t *Terms){
		"nothing is learnt": func(t *Terms) { t.Route = Direct },
		`mean-bound "mean"`: func(t *Terms) { *t = fixedTerms("mean") },
		"needs an informed": func(t *Terms) { t.Fixed = true },
		"promise 1":         func(t *Terms) { t.Promise = 1 },
		`bound "chernoff"`:  func(t *Terms) { t.Inequality = "chernoff" },
		"bound betting: it needs a posterior that was fixed": func(t *Terms) { t.Inequality = BettingBound },
		"have closed forms": func(t *Terms) { t.Inequality = SplitBound },
		"0 choices":         func(t *Terms) { t.Choices = 0 },
	} {
		terms := exampleTerms()
		change(&terms)
		if c, err := terms.Certify(Sample{Y: y, Mean: mean, Variance: variance}, 0); c != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, c, err)
		}
	}
	if c, err := fixedTerms(Direct).Certify(Sample{Y: y, Mean: mean, Variance: variance}, 0.1); c != nil || err == nil ||
		!strings.Contains(err.Error(), "KL(Q‖P) is 0.1") {
		t.Errorf("a fixed posterior with a KL: %v, %v", c, err)
	}
}

// TestResolutions shows that several grids cost ln of their number, once.
func TestResolutions(t *testing.T) {
	terms := exampleTerms()
	plain := terms.Penalty(100)
	terms.Resolutions = 3
	must.Near(t, terms.Penalty(100)-plain, math.Log(3), 1e-12, "three resolutions cost")
	must.Near(t, plain, KLBound.Penalty(3*math.Log(1201)+math.Log(2), 100, 0.05), 1e-12, "penalty")
}
