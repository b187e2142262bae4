package pacbayes

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// number reads null as +Inf, as the golden files write it.
type number float64

func (x *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*x = number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(x))
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join("..", "testdata", "golden", name)))(t)
	must.Do(t, json.Unmarshal(b, into))
}

// worst keeps the largest relative error of each quantity, and fails the test if it exceeds the tolerance.
type worst map[string]float64

// check compares got with want. The error is relative to the larger of |want| and floor.
func (w worst) check(t *testing.T, what string, got, want, floor, tol float64, at any) {
	t.Helper()
	if got == want {
		return
	}
	err := math.Abs(got-want) / max(math.Abs(want), floor)
	w[what] = max(w[what], err)
	must.Hold(t, err <= tol,
		"%s at %+v: got %v, want %v (relative error %.2g, tolerance %.0g)", what, at, got, want,
		err, tol)
}

func (w worst) log(t *testing.T) {
	t.Helper()
	for what, err := range w {
		t.Logf("%-32s worst relative error %.2g", what, err)
	}
}

type klinvGolden struct {
	Points []struct {
		Q, Eps, P float64
		OneMinusP float64 `json:"one_minus_p"`
		DQ        number  `json:"dp_dq"`
		DEps      number  `json:"dp_deps"`
	}
	Penalty []struct {
		T, G, E, N     int
		Delta, Penalty float64
	}
	TestBound []struct {
		Risk, Delta, Bound float64
		N                  int
	} `json:"test_bound"`
	ClopperPearson []struct {
		K, N         int
		Delta, Bound float64
	} `json:"clopper_pearson"`
}

func TestGoldenKLInverse(t *testing.T) {
	var g klinvGolden
	readGolden(t, "klinv.json", &g)
	w := worst{}
	for _, r := range g.Points {
		p, om, dq, de := KLInverseGrad(r.Q, r.Eps)
		w.check(t, "p", p, r.P, 0, 1e-14, r)
		w.check(t, "1-p", om, r.OneMinusP, 0, 1e-13, r)
		w.check(t, "dp/dq", dq, float64(r.DQ), 0, 1e-13, r)
		w.check(t, "dp/deps", de, float64(r.DEps), 0, 1e-13, r)
		up := KLInverseUp(r.Q, r.Eps)
		w.check(t, "rounded up", up, r.P, 0, 1e-14, r)
		must.Hold(t, up >= r.P, "rounded up %v is below %v at %+v", up, r.P, r)
	}
	w.log(t)
}

func TestGoldenBounds(t *testing.T) {
	var g klinvGolden
	readGolden(t, "klinv.json", &g)
	w := worst{}
	for _, r := range g.Penalty {
		logInvP := float64(r.T) * math.Log(float64(r.G+1))
		w.check(t, "penalty", KLBound.Penalty(logInvP+math.Log(float64(r.E)), r.N, r.Delta), r.Penalty, 0, 1e-14, r)
	}
	for _, r := range g.TestBound {
		w.check(t, "test bound", TestBound(r.Risk, r.N, r.Delta), r.Bound, 0, 1e-14, r)
	}
	for _, r := range g.ClopperPearson {
		w.check(t, "Clopper-Pearson", ClopperPearson(r.K, r.N, r.Delta), r.Bound, 0, 1e-14, r)
	}
	w.log(t)
}

func goldenKind(t *testing.T, name string) Kind {
	t.Helper()
	switch name {
	case "indicator":
		return Band
	case "relative":
		return Relative
	case "sqclip":
		return ClippedSquare
	case "expsq":
		return Gaussian
	}
	t.Fatalf("unknown golden loss %q", name)
	return ""
}

func TestGoldenLosses(t *testing.T) {
	var g struct {
		Points []struct {
			Loss              string
			Y, Mean, Var, Eps float64
			Value             float64
			DMean             float64 `json:"d_mean"`
			DVar              float64 `json:"d_var"`
		}
	}
	readGolden(t, "losses.json", &g)
	w := worst{}
	for _, r := range g.Points {
		l := Loss{Kind: goldenKind(t, r.Loss), Below: r.Eps}
		e, dm, dv := l.Expected(r.Y, r.Mean, r.Var, math.Abs(r.Y))
		// The error of a derivative is relative to 1e-3 times 1/σ and 1/σ² (1/ε and 1/ε² for a wide loss), since
		// derivatives pass through 0.
		s := min(1/math.Sqrt(r.Var), 1/r.Eps)
		w.check(t, r.Loss+" value", e, r.Value, 0, 1e-12, r)
		w.check(t, r.Loss+" d_mean", dm, r.DMean, 1e-3*s, 1e-12, r)
		w.check(t, r.Loss+" d_var", dv, r.DVar, 1e-3*s*s, 1e-12, r)
	}
	w.log(t)
}

func TestGoldenFullGP(t *testing.T) {
	type bound struct {
		Loss             string
		Eps, RS, B, BPin float64
	}
	var g struct {
		Cases []struct {
			LogParams []float64 `json:"log_params"`
			Y         []float64
			TrainMean []float64 `json:"train_mean"`
			TrainVar  []float64 `json:"train_var"`
			KL        float64
			Cert      struct {
				Delta, L, Penalty float64
				E, G, T           int
			}
			Bounds  []bound
			Rounded struct {
				Index     []int
				LogParams []float64 `json:"log_params"`
				KL        float64
				Bounds    []bound
			}
		}
	}
	readGolden(t, "fullgp.json", &g)
	w := worst{}
	for c, r := range g.Cases {
		for i, v := range r.LogParams {
			got, index, _ := snap(v, r.Cert.L, float64(r.Cert.G))
			w.check(t, "rounded", got, r.Rounded.LogParams[i], 1e-3, 1e-12, v)
			must.Hold(t, index == r.Rounded.Index[i],
				"index of %v: got %d, want %d", v, index, r.Rounded.Index[i])
			if r.Cert.G != 1200 {
				continue
			}
			if a, b, _ := DefaultGrid().Round(v); a != got || b != index {
				t.Errorf("DefaultGrid.Round(%v) = %v, %d; want %v, %d", v, a, b, got, index)
			}
		}
		n := len(r.Y)
		pen := KLBound.Penalty(float64(r.Cert.T)*math.Log(float64(r.Cert.G+1))+math.Log(float64(r.Cert.E)), n, r.Cert.Delta)
		w.check(t, "penalty", pen, r.Cert.Penalty, 0, 1e-14, c)
		scale := make([]float64, n)
		for i, y := range r.Y {
			scale[i] = math.Abs(y)
		}
		check := func(b bound, kl float64) {
			v, _, _ := KLBound.Evaluate(b.RS, kl, pen, n)
			w.check(t, "B", v, b.B, 0, 1e-13, c)
			v, _, _ = PinskerBound.Evaluate(b.RS, kl, pen, n)
			w.check(t, "BPin", v, b.BPin, 0, 1e-13, c)
		}
		for _, b := range r.Bounds {
			l := Loss{Kind: goldenKind(t, b.Loss), Below: b.Eps}
			w.check(t, "RS", riskOf(l, r.Y, r.TrainMean, r.TrainVar, scale, nil, nil), b.RS, 0, 1e-12, c)
			check(b, r.KL)
		}
		for _, b := range r.Rounded.Bounds {
			check(b, r.Rounded.KL)
		}
	}
	w.log(t)
}
