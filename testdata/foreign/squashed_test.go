package foreign

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

func lossy(loss string) krigo.Options {
	return krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Name: "evidence"},
		Kernel: krigo.Kernel{Expression: "se"}, Promise: krigo.Promise{Loss: loss, Epsilon: 0.3},
		Prior: krigo.Prior{Kind: "informed"}, Run: krigo.Run{Restarts: 1}}
}

// TestLossCertified shows that a registered loss has a hold-out bound on its values. The sentence names the loss.
func TestLossCertified(t *testing.T) {
	m := roundTrip(t, waves(), lossy("log"))
	c := m.Certificate
	byMean := pacbayes.TestBound(c.EmpiricalRisk, c.Rows, c.Delta)
	if c.Loss != "log" || c.Route != pacbayes.Direct || c.Inequality != pacbayes.BettingBound || !(c.Bound < byMean) ||
		!(0 < c.EmpiricalRisk && c.EmpiricalRisk < c.Bound) {
		t.Errorf("%+v; want a bound by betting, below %v", c, byMean)
	}
	if said := m.Sentence(c); !strings.Contains(said, "the mean log loss") {
		t.Error(said)
	}
}

// TestLossFresh shows that fresh rows give a bound on the mean's loss. A draw's loss has the bound 1, because its
// expectation is only computed by quadrature.
func TestLossFresh(t *testing.T) {
	o := lossy("log")
	o.Data.TestFraction = 0.2
	m := roundTrip(t, waves(), o)
	f, err := m.CertifyFresh(t.Context(), waves())
	if err != nil || f.Bound != 1 || f.MeanBound != pacbayes.HoldOutBound(false, f.MeanRisk, f.Rows, f.Delta) {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestLossRefused shows that an invalid loss has no certificate, and that the reason names the loss.
func TestLossRefused(t *testing.T) {
	m, err := krigo.Fit(context.Background(), waves(), lossy("unbounded"))
	if err != nil || m.Certificate != nil || !strings.Contains(m.CertificateReason, "the loss unbounded") {
		t.Errorf("%+v, %v", m, err)
	}
	for _, change := range []func(o *krigo.Options){
		func(o *krigo.Options) { o.Prior.Kind = "grid" },
		func(o *krigo.Options) { o.Prior.Learn = true },
		func(o *krigo.Options) { o.Promise.MeanBound = pacbayes.Both },
		func(o *krigo.Options) { o.Promise.Curve = true },
		func(o *krigo.Options) { o.Promise.Slices = []string{"x"} },
	} {
		o := lossy("log")
		change(&o)
		if _, err := krigo.Fit(context.Background(), waves(), o); err == nil || !strings.Contains(err.Error(), "loss log") &&
			!strings.Contains(err.Error(), "curve: ") && !strings.Contains(err.Error(), "slices: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	m = must(krigo.Fit(context.Background(), waves(), lossy("log")))(t)
	m.Terms.Loss.Kind = "elsewhere"
	m.Certificate.Loss = "elsewhere"
	var file bytes.Buffer
	do(t, m.Write(&file))
	if _, err := model.Read(&file); err == nil || !strings.Contains(err.Error(), `unknown loss "elsewhere"`) {
		t.Errorf("a model with a loss that isn't registered: %v", err)
	}
}
