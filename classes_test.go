package krigo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// flowers draws rows of two inputs, and a text column that says on which side of a curve they lie, mostly.
func flowers(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(8, 9))
	t := dataset.Reading{}.New("flowers")
	t.Names = []string{"x", "z", "kind"}
	for range n {
		x, z, kind := rng.NormFloat64(), rng.NormFloat64(), "iris"
		if z+0.3*rng.NormFloat64() > math.Sin(2*x) {
			kind = "rose"
		}
		if err := t.Append([]string{fmt.Sprint(x), fmt.Sprint(z), kind}); err != nil {
			panic(err)
		}
	}
	return t
}

// TestClasses fits labels, certifies the share of wrong ones, and goes through a file.
func TestClasses(t *testing.T) {
	table, o := flowers(300), Options{Data: Data{Target: "kind", TestFraction: 0.2}, Kernel: Kernel{Expression: "se"}}
	m := must.Get(Fit(t.Context(), table, o))(t)
	c := m.Certificate
	if m.Classes[0] != "iris" || m.Classes[1] != "rose" || c == nil || c.Loss != pacbayes.Label ||
		!strings.Contains(m.Sentence(c), "get a wrong label of kind") {
		t.Fatalf("%v, %+v: %s", m.Classes, c, m.Sentence(c))
	}
	if m.Test.MeanRisk > 0.2 || m.Test.NLPD > 0.4 || c.MeanBound > 0.3 || m.Test.Coverage95 < 0.9 {
		t.Errorf("test %+v, bound %g", m.Test, c.MeanBound)
	}
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, m.Save(path))
	again := must.Get(Load(path))(t)
	r := must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t)
	differs := must.Get(r.Refit(t.Context(), nil))(t)
	if !r.Matches || !r.Refitted {
		t.Errorf("certified again: %+v, %s", r, differs)
	}
	ps := must.Get(again.Predict(t.Context(), table, PredictOptions{}))(t)
	if o := must.Get(again.Observe(t.Context(), table, ps))(t); !strings.Contains(o.Promise, "are wrong labels") {
		t.Errorf("observed: %s", o.Promise)
	}
	for i, p := range ps {
		if (p.Label == "rose") != (p.Mean >= 0.5) || !(p.Mean >= 0 && p.Mean <= 1) {
			t.Fatalf("row %d: %+v", i, p)
		}
	}
	held, fresh := map[string]float64{}, flowers(1300)
	ps = must.Get(again.Predict(t.Context(), fresh, PredictOptions{}))(t)
	for i, set := range must.Get(again.LabelsOf(ps, 0.8))(t).Sets {
		if label := fresh.Text[2][int(fresh.Values[3*i+2])]; i >= table.Rows && slices.Contains(set, label) {
			held[label] += 2. / float64(fresh.Rows-table.Rows)
		}
	}
	must.Hold(t, min(held["iris"], held["rose"]) >= 0.7, "sets hold %v", held)
	scores := again.Sets
	again.Sets = nil // as in older files
	must.Be(t, must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t).Matches, true)
	must.Refuse(again.LabelsOf(ps, 0.8))(t, "no scores")
	again.Sets = model.Sets{scores[0], slices.Repeat([]float64{0}, len(scores[1]))}
	must.Be(t, must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t).Differs,
		"the scores for sets of labels differ, of 2 classes")
	if prior, _ := again.Posterior.OfPrior(); prior != nil { // labels that didn't give these sites
		other := *table
		other.Values = append([]float64(nil), table.Values...)
		again.Hash, again.All, again.Targets = "", "", ""
		for i := 2; i < len(other.Values); i += 3 {
			other.Values[i] = 1 - other.Values[i]
		}
		if _, err := again.Certify(t.Context(), &other, CertifyOptions{}); err == nil {
			t.Error("certified with other labels")
		}
	}
}

// TestDrawnClasses certifies the label that a random draw gives, for priors on the grid and informed ones.
func TestDrawnClasses(t *testing.T) {
	table := flowers(140)
	for name, o := range map[string]Options{
		"full":     {Method: Method{Name: "kl-pac"}},
		"sparse":   {Method: Method{Name: "sqrt-pac", Inducing: 8}},
		"free":     {Method: Method{Name: "kl-pac", Posterior: "free"}},
		"informed": {Method: Method{Name: "evidence", Posterior: "free"}, Prior: Prior{Kind: "informed", Share: 0.5}},
	} {
		o.Data, o.Kernel, o.Run.Restarts = Data{Target: "kind"}, Kernel{Expression: "se", ARD: "off"}, 1
		m := must.Get(Fit(t.Context(), table, o))(t)
		c := m.Certificate
		d := must.Get(m.Labelled(table))(t)
		rows := d.RowsOf(must.Get(m.RolesOf(d))(t), dataset.Certified)
		risk, wrong := 0., 0.
		for i, p := range must.Get(m.Predict(t.Context(), table, PredictOptions{}))(t) {
			if slices.Contains(rows, i) { // the share of draws that give another label
				f := math.Sqrt(2*(p.LatentVariance+m.ObservationNoise)) * math.Erfcinv(2*p.Mean)
				of := math.Erfc(f/p.LatentSD/math.Sqrt2) / 2
				if y := must.Get(d.Targets([]int{i}))(t); y[0] == 0 {
					of = 1 - of
				}
				if risk += 1 - of; of < 0.5 {
					wrong++
				}
			}
		}
		n := float64(len(rows))
		if math.Abs(risk/n-c.EmpiricalRisk) > 1e-9 || c.Bound > 0.5 || c.MeanBound != 2*c.Bound || wrong > 2*risk ||
			!strings.Contains(m.Sentence(c), fmt.Sprintf("at most %.1f %% if each", 100*cautious.RoundUp(c.Bound, 3))) {
			t.Errorf("%s: risk %g, want %g: %s", name, c.EmpiricalRisk, risk/n, m.Sentence(c))
		}
		path := filepath.Join(t.TempDir(), "m.krigo")
		must.Do(t, m.Save(path))
		r := must.Get(must.Get(Load(path))(t).Certify(t.Context(), table, CertifyOptions{}))(t)
		if differs := must.Get(r.Refit(t.Context(), nil))(t); !r.Matches || !r.Refitted {
			t.Errorf("%s certified again: %+v, %s", name, r, differs)
		}
	}
}

// TestClassesRefuse: what labels can't have is an error, and a target of 0 and 1 asks for probit noise.
func TestClassesRefuse(t *testing.T) {
	table := flowers(120)
	for what, change := range map[string]func(*Options){
		"leave out loss": func(o *Options) { o.Promise.Epsilon = 0.3 },
		"no widths":      func(o *Options) { o.Promise.Share = 0.9 },
		"takes kl-pac":   func(o *Options) { o.Method.Name, o.Prior.Kind = "evidence", "grid" },
		"random draw":    func(o *Options) { o.Method.Name, o.Prior.Kind = "kl-pac", "informed" },
		"objective evid": func(o *Options) { o.Method.Name, o.Prior.Kind = "vfe", "informed" },
		"for regression": func(o *Options) { o.Kernel.Monotone = []string{"x:up"} },
		"hasn't two":     func(o *Options) { o.Data.Target, o.Kernel.Noise = "x", "probit" },
		"prior-rows":     func(o *Options) { o.Data.Scaling = "all-rows" },
		"noise constant": func(o *Options) { o.Kernel.Noise = "constant" },
		"transform none": func(o *Options) { o.Data.Transform = "log" },
	} {
		o := Options{Data: Data{Target: "kind"}, Kernel: Kernel{Expression: "se"}}
		change(&o)
		if _, err := Fit(context.Background(), table, o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Fit(context.Background(), nil, Options{}); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("no table: %v", err)
	}
	numbers := must.Get(table.Classed("kind", []string{"iris", "rose"}))(t)
	same := *numbers
	same.Values = slices.Clone(numbers.Values)
	for i := 2; i < len(same.Values)-3; i += 3 { // the last row alone is of the other class
		same.Values[i] = 1 - same.Values[len(same.Values)-1]
	}
	if _, err := Fit(t.Context(), &same, Options{Data: Data{Target: "kind"}, Prior: Prior{Share: 0.5},
		Kernel: Kernel{Noise: "probit"}}); err == nil || !strings.Contains(err.Error(), "prior rows have the label") {
		t.Errorf("prior rows of one class: %v", err)
	}
	o := Options{Data: Data{Target: "kind"}, Kernel: Kernel{Expression: "se", Noise: "probit"}}
	if m := must.Get(Fit(t.Context(), numbers, o))(t); m.Classes[0] != "0" || m.Classes[1] != "1" {
		t.Errorf("classes %v", m.Classes)
	}
	if _, err := table.Classed("kind", []string{"iris", "lily"}); err == nil ||
		!strings.Contains(err.Error(), "line") && !strings.Contains(err.Error(), "row") {
		t.Errorf("an unknown label: %v", err)
	}
}

// TestStraightLabels: labels on the two sides of a plane get the linear kernel, labels on the sides of a curve don't.
// A large table of labels leaves most rows to the certificate.
func TestStraightLabels(t *testing.T) {
	plane := dataset.Reading{}.New("plane")
	plane.Names = []string{"a", "b", "c", "d", "kind"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b, c, d, kind := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), "out"
		if a+b-c+0.5*d+0.5*rng.NormFloat64() > 0 {
			kind = "in"
		}
		must.Do(t, plane.Append([]string{fmt.Sprint(a), fmt.Sprint(b), fmt.Sprint(c), fmt.Sprint(d), kind}))
	}
	for kernel, table := range map[string]*dataset.Table{"linear": plane, "other": flowers(200)} {
		m := must.Get(Fit(t.Context(), table, Options{Data: Data{Target: "kind"}}))(t)
		by := slices.Concat(m.Findings.Of(finding.KernelByValue), m.Findings.Of(finding.KernelByEvidence))
		if len(by) != 1 || strings.HasPrefix(by[0].Subject[0], "linear") != (kernel == "linear") {
			t.Errorf("%s: %+v", kernel, by)
		}
	}
	o := must.Get(Options{Data: Data{Target: "kind"},
		Kernel: Kernel{Noise: "probit"}}.asked().Resolve(20000))(t)
	if _, _, prior := o.Counts(20000); prior != ask.ExactSites {
		t.Errorf("%d prior rows", prior)
	}
}

// TestLabelsByNearestRows predicts labels by the sites of nearest rows. Fitting again gives the same model, and
// certify refuses sites that don't follow from the labels.
func TestLabelsByNearestRows(t *testing.T) {
	must.Long(t)
	table := flowers(300)
	o := Options{Data: Data{Target: "kind"}, Kernel: Kernel{Expression: "se"},
		Method: Method{Name: "evidence", Solver: "nearest"}, Prior: Prior{Kind: "informed"}}
	m := must.Get(Fit(t.Context(), table, o))(t)
	if near, ok := m.Posterior.Solution.(*posterior.Nearest); !ok || len(m.Posterior.Noises) != len(near.Targets) ||
		m.Certificate == nil || m.Certificate.MeanBound > 0.3 {
		t.Fatalf("%T, %+v", m.Posterior.Solution, m.Certificate)
	}
	exact := o
	exact.Method.Solver = ""
	by, than := must.Get(m.Predict(t.Context(), table, PredictOptions{}))(t),
		must.Get(must.Get(Fit(t.Context(), table, exact))(t).Predict(t.Context(), table, PredictOptions{}))(t)
	off := 0.
	for i, p := range by {
		off = max(off, math.Abs(p.Mean-than[i].Mean))
	}
	if off > 0.05 || off == 0 {
		t.Errorf("probabilities differ by %g from the full GP's", off)
	}
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, m.Save(path))
	again := must.Get(Load(path))(t)
	r := must.Get(again.Certify(t.Context(), table, CertifyOptions{}))(t)
	differs := must.Get(r.Refit(t.Context(), nil))(t)
	if !r.Matches || !r.Refitted {
		t.Errorf("certified again: %+v, %s", r, differs)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ended, table, o); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	again.Posterior.Solution.(*posterior.Nearest).Targets[7] += 0.01
	must.Refuse(again.Certify(t.Context(), table, CertifyOptions{}))(t, "sites")
}
