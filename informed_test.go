package krigo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// half returns every other row of the Boston data, with three inputs.
func half() *dataset.Table {
	return pick(data.Boston(), every(0, 2, 506), "RM", "LSTAT", "DIS", "MEDV")
}

// TestInformed fits with an informed prior in all its forms. Every model survives its file, and its certificate is
// reproduced from the file and the data.
func TestInformed(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       krigo.Options
		learnt  bool
		choices float64 // the certificate's ChoicesPenalty, in nats
	}{
		{"direct", krigo.Options{Method: krigo.Method{Name: "evidence"}}, false, 0},
		{"kl-pac, linear mean", krigo.Options{
			Kernel: krigo.Kernel{ARD: "off", Mean: "linear"},
		}, false, 0},
		{"sparse", krigo.Options{
			Method:  krigo.Method{Name: "vfe", Inducing: 20},
			Promise: krigo.Promise{Share: 0.7},
		}, false, math.Ln2},
		{"svgp", krigo.Options{
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "svgp", Inducing: 10, Epochs: 30},
		}, false, 0},
		{"tempered", krigo.Options{
			Method:  krigo.Method{Name: "evidence"},
			Prior:   krigo.Prior{Temper: []float64{1, 0.1}},
			Promise: krigo.Promise{MeanBound: "twice"},
		}, false, math.Ln2},
		{"cg", krigo.Options{
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "evidence", Solver: "cg"},
		}, false, 0},
		{"nearest", krigo.Options{
			Kernel: krigo.Kernel{ARD: "off", Mean: "constant"},
			Method: krigo.Method{
				Name:      "evidence",
				Solver:    "nearest",
				Optimizer: "adam",
				Batch:     40,
				Batches:   "nearest",
			},
			Promise: krigo.Promise{Epsilon: 1, Share: 0.5},
		}, false, math.Ln2},
		{"both", krigo.Options{
			Method:  krigo.Method{Name: "evidence"},
			Promise: krigo.Promise{Bound: "betting", MeanBound: "both"},
		}, false, math.Ln2},
		{"learnt, full", krigo.Options{
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Share: 0.3, Learn: true},
		}, true, 0},
		{"learnt, sparse", krigo.Options{
			Method: krigo.Method{Name: "vfe", Inducing: 12, AlphaBy: "learn"},
			Prior:  krigo.Prior{Temper: []float64{1, 0.3}, Learn: true},
		}, true, math.Ln2},
		{"free", krigo.Options{
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "fitc", Inducing: 8, Posterior: "free"},
		}, true, 0},
		{"declared", krigo.Options{Method: krigo.Method{Name: "evidence"},
			Data: krigo.Data{Scaling: dataset.Declared, Declared: &dataset.Scaling{
				InputMean: []float64{6, 13, 4}, InputScale: []float64{1, 7, 2}, TargetMean: 23, TargetScale: 9,
				Source: dataset.Declared}}}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.o
			o.Prior.Kind, o.Run.Restarts, o.Method.Epochs = "informed", 1, max(o.Method.Epochs, 40)
			if o.Method.Name == "svgp" {
				o.Method.Batch = 40
			}
			m := fit(t, half(), o)
			cert := m.Certificate
			share := o.Prior.Share
			if share == 0 {
				share = 0.7
			}
			if want := int(math.Ceil(share * 253)); cert == nil || cert.PriorRows != want || cert.Rows != 253-want {
				t.Fatalf("certificate %+v, %s", cert, m.CertificateReason)
			}
			must.Hold(t, cert.Prior == "informed" && cert.Valid && cert.GridPenalty == 0,
				"certificate %+v", cert)
			near(t, "choices", cert.ChoicesPenalty, c.choices, 1e-12)
			if c.learnt != (cert.KL > 0) || m.Posterior.Joint() == nil && c.learnt != (m.Posterior.Support.Rows > 0) {
				t.Errorf("KL %v on %d points", cert.KL, m.Posterior.Support.Rows)
			}
			path := filepath.Join(t.TempDir(), "m.krigo")
			must.Do(t, m.Save(path))
			back := must.Get(krigo.Load(path))(t)
			r, err := certify(back, half())
			if err != nil || !r.Matches || (r.Certificate.Promise != nil) != (o.Promise.Share > 0) {
				t.Fatalf("recertified: %+v, %v", r, err)
			}
			must.Hold(t, file(t, back) == file(t, m),
				"a model that is loaded and saved again is another file")
			p, err := m.Predict(t.Context(), half(), krigo.PredictOptions{})
			q, err2 := back.Predict(t.Context(), half(), krigo.PredictOptions{})
			must.Hold(t, err == nil && err2 == nil && p[17] == q[17],
				"%+v became %+v (%v, %v)", p[17], q[17], err, err2)
		})
	}
}

// TestDirectBound: the direct certificate is the exact binomial bound on the misses of a model that never saw the
// certified rows. Other targets in these rows change only the certificate.
func TestDirectBound(t *testing.T) {
	table := half()
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV", Split: "last"}, // gives the same roles for other targets
		Kernel: krigo.Kernel{ARD: "off"}, Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Epsilon: 5, Units: "raw"}, Run: krigo.Run{Restarts: 1},
	}
	m := fit(t, table, o)
	count := func(m *krigo.Model, table *dataset.Table) (misses int) {
		ps := predict(t, m, table)
		for _, i := range rowsOf(t, m, table, dataset.Certified) {
			if math.Abs(ps[i].Mean-table.Values[4*i+3]) > 5 {
				misses++
			}
		}
		return misses
	}
	c := m.Certificate
	near(t, "bound", c.MeanBound, pacbayes.ClopperPearson(count(m, table), c.Rows, 0.01), 1e-11)
	must.Hold(t, c.Bound == c.MeanBound && c.Route == pacbayes.Direct, "%+v", c)
	other := half()
	for _, i := range rowsOf(t, m, table, dataset.Certified) {
		other.Values[4*i+3] += 7
	}
	shifted := fit(t, other, o)
	a, _ := m.Predict(t.Context(), table, krigo.PredictOptions{})
	b, _ := shifted.Predict(t.Context(), table, krigo.PredictOptions{})
	if a[5] != b[5] || shifted.ObservationNoise != m.ObservationNoise {
		t.Errorf("the certified targets moved a prediction from %+v to %+v", a[5], b[5])
	}
	if got := shifted.Certificate.MeanBound; !(got > c.MeanBound) || got != 1 &&
		math.Abs(got-pacbayes.ClopperPearson(count(shifted, other), c.Rows, 0.01)) > 1e-11 {
		t.Errorf("bound %v after the targets moved, %v before", got, c.MeanBound)
	}
}

// within counts the rows of boston whose target lies in its interval.
func within(is []krigo.Interval, boston *dataset.Table, rows []int) (n int) {
	for _, i := range rows {
		if y := boston.Values[14*i+13]; is[i].Lower <= y && y <= is[i].Upper {
			n++
		}
	}
	return n
}

// TestPromiseHolds: on test rows the promised band holds its share. Widths lie on the grid, and a larger share needs
// a wider band.
func TestPromiseHolds(t *testing.T) {
	must.Long(t)
	o := krigo.Options{
		Data:   krigo.Data{TestFraction: 0.3},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	table := data.Boston()
	last := 0.0
	for _, share := range []float64{0.5, 0.8, 0.9} {
		o.Promise.Share = share
		m := fit(t, table, o)
		p := m.Certificate.Promise
		must.Need(t, p != nil && p.HalfWidth > last && p.Share == share,
			"promise %+v after %v", p, last)
		last = p.HalfWidth
		// The rows chose the width, and the price covers no bound smaller than the one that was asked for.
		must.Hold(t, p.Bound == 1-share, "a bound of %v for a share of %v", p.Bound, share)
		near(t, "raw half-width", p.HalfWidthRaw, p.HalfWidth*m.Scaling.TargetScale, 1e-12)
		ps := predict(t, m, table)
		bands := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "band"}))(t)
		rows := rowsOf(t, m, table, dataset.Test)
		for _, i := range rows {
			w := cautious.Widen(p.HalfWidthRaw, m.Scaling.TargetScale)
			if lower, upper := m.Scaling.Outward(dataset.RowUnit{}, ps[i].Mean-w, ps[i].Mean+
				w); bands[i] != (krigo.Interval{Lower: lower, Upper: upper}) {
				t.Errorf("band %v, want %v to %v", bands[i], lower, upper)
			}
		}
		if inside := within(bands, table, rows); float64(inside) < share*float64(len(rows)) {
			t.Errorf("%d of %d test rows within a band for %v", inside, len(rows), share)
		}
	}
}

// TestAsymmetricBand: predictions at most 4 below and 8 above the target mean that the target is at most 8 below and
// 4 above the prediction. About the certified share of test rows is within.
func TestAsymmetricBand(t *testing.T) {
	table := data.Boston()
	m := fit(t, table, cheap(krigo.Options{
		Data:    krigo.Data{TestFraction: 0.3},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Loss: "asymmetric", Epsilon: 4, EpsilonAbove: 8, Units: "raw"},
	}))
	ps := predict(t, m, table)
	bands := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "band"}))(t)
	rows := rowsOf(t, m, table, dataset.Test)
	for _, i := range rows {
		lower, upper := m.Scaling.Outward(dataset.RowUnit{}, ps[i].Mean-cautious.Widen(8, m.Scaling.TargetScale), ps[i].Mean+
			cautious.Widen(4, m.Scaling.TargetScale))
		near(t, "below", bands[i].Lower, lower, 1e-12)
		near(t, "above", bands[i].Upper, upper, 1e-12)
	}
	near(t, "share of misses on test rows", 1-float64(within(bands, table, rows))/float64(len(rows)), m.Test.MeanRisk,
		1e-12)
	if s := m.Sentence(m.Certificate); !strings.Contains(s, "at most 4 below and 8 above MEDV") {
		t.Error(s)
	}
}

// TestConformal: the width is the ⌈0.95(n+1)⌉-th smallest residual of the calibration rows, plain and in standard
// deviations. Calibration rows are neither training rows nor certified rows.
func TestConformal(t *testing.T) {
	table := data.Boston()
	m := fit(t, table, cheap(krigo.Options{
		Data:    krigo.Data{TestFraction: 0.2},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Calibration: 0.2},
	}))
	rows := rowsOf(t, m, table, dataset.Calibration)
	if len(rows) != 102 || m.Conformal.Rows != 102 || m.Certificate.Rows+m.Certificate.PriorRows != 302 {
		t.Fatalf("%d calibration rows, %+v", len(rows), m.Certificate)
	}
	ps := predict(t, m, table)
	for _, kind := range []string{"conformal", "normalised"} {
		is := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: kind}))(t)
		inside := func(rows []int) (n int) {
			for _, i := range rows {
				if y := table.Values[14*i+13]; is[i].Lower <= y && y <= is[i].Upper {
					n++
				}
			}
			return n
		}
		if n := inside(rows); n != 98 { // ⌈0.95·103⌉
			t.Errorf("%s: %d of the calibration rows lie within, want 98", kind, n)
		}
		if got := float64(inside(rowsOf(t, m, table, dataset.Test))) / 102; kind == "conformal" {
			near(t, "coverage on test rows", *m.Test.Conformal, got, 1e-12)
		} else {
			near(t, "coverage on test rows", *m.Test.Normalised, got, 1e-12)
		}
	}
	var pit int
	for _, n := range m.Test.PIT {
		pit += n
	}
	must.Hold(t, pit == 102 && len(m.Test.Coverage) == 5 &&
		m.Test.Coverage[3].Share == m.Test.Coverage95, "%+v", m.Test)
	must.Fail(t, attempt(homes(), krigo.Options{
		Data:    krigo.Data{Target: "MEDV"},
		Promise: krigo.Promise{Calibration: 0.1},
	}), "need 19", "9 calibration rows")
	for level, want := range map[float64]string{0.999: "102 rows are too few for this level, which takes at least 999",
		1: "want a share", math.NaN(): "want a share"} {
		must.Refuse(m.Intervals(ps, krigo.IntervalOptions{Kind: "conformal", Level: level}))(t, want, level)
	}
	for kind, want := range map[string]string{"conformal": "--calibration-fraction", "credible": "want one of",
		"band": ""} {
		_, err := fit(t, homes(), cheap(krigo.Options{
			Method: krigo.Method{Name: "evidence"},
		})).Intervals(ps[:1], krigo.IntervalOptions{Kind: kind})
		must.Fail(t, err, want, kind)
	}
}

// TestConformalOfCertifiedRows: if predictions were fixed before the certified rows were seen, these rows calibrate
// intervals of any level, also from a model file. Otherwise, or if rows aren't exchangeable, there are no intervals.
func TestConformalOfCertifiedRows(t *testing.T) {
	must.Long(t)
	table := data.Boston()
	o := cheap(krigo.Options{
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	})
	m := fit(t, table, o)
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	read := must.Get(krigo.Read(&file))(t)
	ps := predict(t, m, table)
	rows := rowsOf(t, m, table, dataset.Certified)
	n := len(rows)
	for _, level := range []float64{0.5, 0.8, 0.95, 0.99} {
		for _, kind := range []string{"conformal", "normalised"} {
			is := must.Get(read.Intervals(ps, krigo.IntervalOptions{Kind: kind, Level: level}))(t)
			within := 0
			for _, i := range rows {
				if y := table.Values[14*i+13]; is[i].Lower <= y && y <= is[i].Upper {
					within++
				}
			}
			if want := int(math.Ceil(level * float64(n+1))); within != want {
				t.Errorf("%s: %d of %d certified rows lie within the intervals of level %v, want %d", kind, within, n, level, want)
			}
		}
	}
	for what, change := range map[string]func(o *krigo.Options){
		"learnt after":     func(o *krigo.Options) { o.Prior.Learn = true },
		"scaled by all":    func(o *krigo.Options) { o.Data.Scaling = "all-rows" },
		"noise by them":    func(o *krigo.Options) { o.Method.Name = "kl-pac" },
		"a backtest":       func(o *krigo.Options) { o.Data.Split = "last" },
		"few":              func(o *krigo.Options) { o.Prior.Share = 0.97 },
		"of a random draw": func(o *krigo.Options) { o.Promise.MeanBound = "twice" },
	} {
		o := o
		change(&o)
		if m := fit(t, half(), o); m.Conformal != nil {
			t.Errorf("%s: %+v", what, m.Conformal)
		}
	}
}

// TestRelativeBand: y lies in the interval exactly if it misses ŷ by at most ε|y|.
func TestRelativeBand(t *testing.T) {
	m := &krigo.Model{Model: model.Model{Certificate: &pacbayes.Certificate{Valid: true, Loss: pacbayes.Relative,
		EpsilonRaw: 0.2, MeanBound: 0.3}}}
	for _, mean := range []float64{-3, 0, 2} {
		is := must.Get(m.Intervals([]model.Prediction{{Mean: mean}}, krigo.IntervalOptions{Kind: "band"}))(t)
		for y := -5.003; y < 5; y += 0.01 {
			if want := math.Abs(y-mean) <= 0.2*math.Abs(y); want != (is[0].Lower <= y && y <= is[0].Upper) {
				t.Errorf("ŷ = %v, y = %v: interval %+v", mean, y, is[0])
			}
		}
	}
	m.Certificate.EpsilonRaw = 1.5
	if is, _ := m.Intervals([]model.Prediction{{Mean: 1}}, krigo.IntervalOptions{Kind: "band"}); !(is[0].Lower < -1e300 &&
		is[0].Upper > 1e300) {
		t.Errorf("150 %%: %+v", is)
	}
}

// TestMixedGrid: the mixed prior's bound is below the fine grid's bound. Its parameters lie on the grid that it
// names, with as many different lengthscales as it says, and it pays for both choices.
func TestMixedGrid(t *testing.T) {
	must.Long(t)
	table := pick(data.Boston(), every(0, 3, 506))
	for _, o := range []krigo.Options{
		{Run: krigo.Run{Seed: 2}},
		{Kernel: krigo.Kernel{ARD: "on"}},
		{
			Kernel: krigo.Kernel{Expression: "se+linear", ARD: "on"},
			Method: krigo.Method{Inducing: 15, AlphaBy: "learn", Posterior: "free"},
		},
	} {
		o.Run.Restarts, o.Method.Epochs = 1, 60
		plain := fit(t, table, o)
		o.Prior.Mixed = true
		mixed := fit(t, table, o)
		if !(mixed.Certificate.Bound < plain.Certificate.Bound) {
			t.Errorf("bound %v on the mixed grid, %v on the fine one", mixed.Certificate.Bound, plain.Certificate.Bound)
		}
		terms, q := mixed.Terms, mixed.Posterior
		different := map[float64]bool{}
		lengthscales := 0
		for i, v := range q.Theta {
			if at, _, _ := terms.Grid.Round(v); at != v {
				t.Errorf("%v isn't on the grid %s", v, terms.Grid)
			}
			if p := q.Kernel.Params()[i]; p.Kind == kernel.Lengthscale && p.Dim >= 0 {
				lengthscales++
				different[v] = true
			}
		}
		want, params := math.Log(3), float64(len(q.Theta))
		if lengthscales > 0 {
			want += math.Log(5)
		}
		if k := terms.Tied; k > 0 {
			must.Hold(t, len(different) <= k,
				"%d different lengthscales, not %d", len(different), k)
			params += float64(k - lengthscales)
			want += float64(lengthscales) * math.Log(float64(k))
		}
		want += params * math.Log(12*math.Pow10(terms.Grid.Digits)+1)
		near(t, "penalty", mixed.Certificate.GridPenalty, want, 1e-12)
		reproduced(t, mixed, table)
		if mixed.Terms.Tied > 0 {
			mixed.Terms.Lengthscales--
			must.Refuse(certify(mixed, table))(t, "different values of")
		}
	}
}

// TestCertifyRefusesTerms: a model with altered terms has no certificate, even if its file was sealed anew.
func TestCertifyRefusesTerms(t *testing.T) {
	m := fit(t, homes(), cheap(krigo.Options{}))
	informed := fit(t, half(), cheap(krigo.Options{
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed", Learn: true},
	}))
	for want, change := range map[string]func() (*krigo.Model, *dataset.Table){
		"disagree about whether": func() (*krigo.Model, *dataset.Table) {
			c := *m
			c.Terms.Informed = true
			return &c, homes()
		},
		"whether inputs are encoded": func() (*krigo.Model, *dataset.Table) {
			c := *m
			c.Terms.Encoded = true
			return &c, homes()
		},
		"but the posterior was": func() (*krigo.Model, *dataset.Table) {
			c := *informed
			c.Terms.Fixed = true
			return &c, half()
		},
		"pay for 1 parameters": func() (*krigo.Model, *dataset.Table) {
			c := *m
			c.Terms.Params = 1
			return &c, homes()
		},
		"isn't on the grid": func() (*krigo.Model, *dataset.Table) {
			c := *m
			c.Terms.Grid.Digits = 0
			return &c, homes()
		},
	} {
		c, table := change()
		must.Refuse(certify(c, table))(t, want)
	}
}

func TestInformedUsage(t *testing.T) {
	for want, o := range map[string]krigo.Options{
		"one of grid, informed": {Prior: krigo.Prior{Kind: "empirical"}},
		"temper and posterior learnt": {
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Temper: []float64{0.5}},
		},
		"prior-share 1": {Prior: krigo.Prior{Kind: "grid", Share: 1}},
		"temper -1": {
			Prior: krigo.Prior{Kind: "informed", Temper: []float64{-1}},
		},
		"doesn't depend on it": {
			Prior: krigo.Prior{Kind: "informed", Temper: []float64{1, 0.1}},
		},
		"aren't rounded to a grid": {
			Prior: krigo.Prior{Kind: "informed", Mixed: true},
		},
		"learnt on the prior rows alone": {Prior: krigo.Prior{Kind: "informed"},
			Run: krigo.Run{Init: &krigo.Params{Kernel: se(1, 1), NoiseVariance: 0.1}}},
		"which train for the bound": {
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Mixed: true},
		},
		"bound of its own only": {
			Method:  krigo.Method{Name: "kl-pac"},
			Promise: krigo.Promise{MeanBound: "direct"},
		},
		"fixed before": {
			Method:  krigo.Method{Name: "kl-pac"},
			Promise: krigo.Promise{Bound: "betting"},
		},
		"promise 1.5":            {Promise: krigo.Promise{Share: 1.5}},
		"calibration-fraction 1": {Promise: krigo.Promise{Calibration: 1}},
	} {
		o.Data.Target = "MEDV"
		_, err := krigo.Fit(context.Background(), homes(), o)
		var usage *krigo.UsageError
		must.Hold(t, errors.As(err, &usage) && strings.Contains(err.Error(), want),
			"%s: %v", want, err)
	}
	must.Refuse(krigo.Evaluate(t.Context(), homes(), &krigo.Params{}, krigo.Options{
		Data:  krigo.Data{Target: "MEDV"},
		Prior: krigo.Prior{Kind: "informed"},
	}))(t,
		"no prior can be learnt", "evaluate")
}

// TestInformedResumes: a fit that was stopped in its second stage resumes and gives the same model.
func TestInformedResumes(t *testing.T) {
	o := cheap(krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed", Learn: true},
	})
	want := file(t, fit(t, half(), o))
	var last *krigo.Checkpoint
	stop, cancel := context.WithCancel(context.Background())
	o.Run.Save = func(c *krigo.Checkpoint) error { last = c; return nil }
	o.Run.Progress = func(e krigo.Event) {
		if strings.HasPrefix(e.Family, "informed") && e.Iteration > 2 {
			cancel()
		}
	}
	if _, err := krigo.Fit(stop, half(), o); !errors.Is(err, context.Canceled) || last == nil {
		t.Fatalf("%v", err)
	}
	o.Run.Save, o.Run.Progress, o.Run.Resume = nil, nil, last
	if got := file(t, fit(t, half(), o)); got != want {
		t.Error("a resumed fit ends elsewhere")
	}
	o.Prior.Share = 0.4
	if _, err := krigo.Fit(context.Background(), half(), o); err == nil {
		t.Error("a checkpoint serves another share")
	}
}

// TestDefaultObjective: without a named objective the default is an informed prior, by the evidence or vfe, on seven
// rows in ten. A small table that must be certified has fewer prior rows, since its certificate needs the others. If
// options are about the prior on the grid, the default is kl-pac.
func TestDefaultObjective(t *testing.T) {
	must.Long(t)
	rows := func(n int) *dataset.Table { return pick(data.Boston(), every(0, 1, n), "RM", "LSTAT", "MEDV") }
	for _, c := range []struct {
		rows              int
		o                 krigo.Options
		objective, prior  string
		inducing, certify int
	}{
		{200, krigo.Options{}, "evidence", "informed", 0, 60},
		{60, krigo.Options{Prior: krigo.Prior{Kind: "informed"}}, "evidence", "informed", 0, 21},
		{200, krigo.Options{Run: krigo.Run{Init: &krigo.Params{Kernel: se(1, 1), NoiseVariance: 0.1}}}, "kl-pac", "grid", 0,
			180},
		{200, krigo.Options{
			Data:  krigo.Data{TestFraction: 0.5},
			Prior: krigo.Prior{Share: 0.5},
		}, "evidence", "informed", 0, 50},
		{200, krigo.Options{Method: krigo.Method{Inducing: 9}}, "vfe", "informed", 9, 60},
		{200, krigo.Options{
			Prior: krigo.Prior{Kind: "informed", Learn: true},
		}, "evidence", "informed", 0, 60},
		{200, krigo.Options{Prior: krigo.Prior{Kind: "grid"}}, "kl-pac", "grid", 0, 180},
		{200, krigo.Options{Prior: krigo.Prior{Mixed: true}}, "kl-pac", "grid", 0, 180},
		{200, krigo.Options{Method: krigo.Method{Name: "evidence"}}, "evidence", "grid", 0, 180},
		{200, krigo.Options{Run: krigo.Run{FixParameters: true, Init: &krigo.Params{Kernel: se(1, 1), NoiseVariance: 0.1}}},
			"evidence", "grid", 0, 180},
		{200, krigo.Options{Data: krigo.Data{Scaling: "declared", Declared: &dataset.Scaling{InputMean: []float64{6, 12},
			InputScale: []float64{1, 7}, TargetMean: 22, TargetScale: 9}}}, "evidence", "informed", 0, 60},
	} {
		c.o.Data.Target, c.o.Kernel.ARD, c.o.Run.Restarts = "MEDV", "off", 1
		m := trained(t, rows(c.rows), c.o)
		inducing := m.Trained().Inducing()
		if cert := m.Certificate; m.Objective != c.objective || cert == nil || cert.Prior != c.prior ||
			cert.Rows != c.certify || inducing != c.inducing {
			t.Errorf("%d rows, %+v: %s with %d inducing inputs, %+v", c.rows, c.o, m.Objective, inducing, cert)
		}
	}
	// Above 2,000 prior rows, the nearest rows predict.
	waves := func(n int) *dataset.Table {
		table := &dataset.Table{Source: "t", Names: []string{"x", "y"}, Rows: n}
		for i := range n {
			table.Values = append(table.Values, float64(i%37), math.Sin(float64(i%37)))
		}
		return table
	}
	// Three rows in ten certify. Of more than 3,333 rows a thousand certify, or one in eight.
	for n, certify := range map[int]int{3333: 999, 3400: 1000, 8000: 1000, 9601: 1200} {
		m := trained(t, waves(n), krigo.Options{
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Inducing: 4, Epochs: 1},
		})
		must.Hold(t, m.Certificate.Rows == certify, "%d rows: %+v", n, m)
	}
	m := trained(t, waves(4300), krigo.Options{
		Kernel:  krigo.Kernel{Expression: "se", ARD: "off"},
		Method:  krigo.Method{Epochs: 1},
		Promise: krigo.Promise{Population: "same"},
	})
	if m.Objective != "nearest" || m.Certificate == nil || !m.Certificate.Valid {
		t.Errorf("%s: %+v", m.Objective, m.Certificate)
	}
}

// TestInformedPriorIsBlind: changing values in the certified rows doesn't change a bit of the prior, with any way to
// choose and train the prior.
func TestInformedPriorIsBlind(t *testing.T) {
	half := 0.5
	for name, o := range map[string]krigo.Options{
		"evidence": {Method: krigo.Method{Name: "evidence"}},
		"default":  {Method: krigo.Method{Inducing: 9}},
		"kl-pac": {
			Kernel: krigo.Kernel{ARD: "off", Mean: "linear"},
			Method: krigo.Method{Name: "kl-pac"},
		},
		"auto": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "vfe", InducingBy: "auto", Epochs: 5},
		},
		"greedy": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "fitc", Inducing: 7, InducingInit: "greedy", Epochs: 5},
		},
		"renyi": {Method: krigo.Method{Name: "renyi", Inducing: 7, Alpha: &half, Epochs: 5},
			Kernel: krigo.Kernel{ARD: "off"}},
		"renyi, cv": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "renyi", Inducing: 7, AlphaBy: "cv", Epochs: 5},
		},
		"svgp": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "svgp", Inducing: 7, Epochs: 5},
		},
	} {
		// Positions in the file decide the roles, so that rows with other values keep them.
		o.Data.Target, o.Prior.Kind, o.Run.Restarts, o.Data.Split = "MEDV", "informed", 1, "last"
		of := func(table *dataset.Table) *krigo.Model {
			m, err := krigo.Fit(context.Background(), table, o)
			must.Need(t, err == nil, "%s: %v", name, err)
			return m
		}
		want, table := of(homes()), homes()
		for _, row := range rowsOf(t, want, table, dataset.Certified) {
			for j := range 4 {
				table.Values[4*row+j] = float64((row*7+j*3)%11) + 0.5
			}
		}
		a, b := want.Trained(), of(table).Trained()
		must.Hold(t, reflect.DeepEqual(a.Theta, b.Theta) &&
			reflect.DeepEqual(a.Weights(), b.Weights()) &&
			reflect.DeepEqual(a.Support, b.Support) && a.Noise == b.Noise,
			"%s: the prior changed with the certified rows:\n%v %v\n%v %v", name, a.Theta, a.Noise,
			b.Theta, b.Noise)
	}
}

// TestPredictorForged: a predictor isn't certified if its rows aren't the prior rows, or if its weights don't solve
// its equations. Nothing learnt after a prior with an unknown covariance is certified either.
func TestPredictorForged(t *testing.T) {
	table := half()
	of := copies(t, table)
	cg := krigo.Options{
		Kernel: krigo.Kernel{ARD: "off"},
		Method: krigo.Method{Name: "evidence", Solver: "cg", Epochs: 5},
		Prior:  krigo.Prior{Kind: "informed"},
	}
	nearest := cg
	nearest.Method = krigo.Method{Name: "evidence", Solver: "nearest", Optimizer: "adam", Batch: 40, Epochs: 2}
	for what, c := range map[string]struct {
		o      krigo.Options
		forge  func(q *posterior.Posterior)
		wanted string
	}{
		"a target": {nearest, func(q *posterior.Posterior) { q.Solution.(*posterior.Nearest).Targets[3] += 1e-3 },
			"prior rows"},
		"an input": {nearest, func(q *posterior.Posterior) { q.Support.Row(5)[1] += 1e-3 }, "prior rows"},
		"rows swapped": {nearest, func(q *posterior.Posterior) {
			targets := q.Solution.(*posterior.Nearest).Targets
			targets[0], targets[1] = targets[1], targets[0]
		},
			"prior rows"},
		"a weight":      {cg, func(q *posterior.Posterior) { q.Weights()[7] += 0.01 }, "don't solve"},
		"a lengthscale": {cg, func(q *posterior.Posterior) { q.Theta[0] += 0.01 }, "don't solve"},
		"cg's input":    {cg, func(q *posterior.Posterior) { q.Support.Row(5)[1] += 1e-9 }, "prior rows"},
	} {
		m := of(c.o)
		if m.Certificate == nil || m.Certificate.Bound != m.Certificate.MeanBound {
			t.Fatalf("%s: %+v, %s", what, m.Certificate, m.CertificateReason)
		}
		c.forge(m.Posterior)
		must.Refuse(certify(m, table))(t, c.wanted, what)
	}
	cg.Data.Target = "MEDV"
	for wanted, edit := range map[string]func(*krigo.Options){
		"nothing can be learnt after it": func(o *krigo.Options) { o.Prior.Learn = true },
		"mean-bound both":                func(o *krigo.Options) { o.Promise.MeanBound = pacbayes.Both },
		"isn't tempered":                 func(o *krigo.Options) { o.Prior.Temper = []float64{0.5} },
	} {
		o := cg
		edit(&o)
		var usage *krigo.UsageError
		if _, err := krigo.Fit(context.Background(), table, o); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", wanted, err)
		}
	}
}

// TestNearestPriorIsBlind: the default for many rows chooses kernels, and fills categories and missing values,
// without seeing the certified rows.
func TestNearestPriorIsBlind(t *testing.T) {
	must.Long(t)
	const rows, prior = 4002, 3002
	of := func(altered bool) *krigo.Model {
		rng := rand.New(rand.NewPCG(3, 4))
		table := &dataset.Table{Source: "blind", Names: []string{"a", "b", "y"}, Rows: rows, Lines: every(2, 1, rows+2)}
		for i := range rows {
			a, b := 6*rng.Float64(), rng.NormFloat64()
			y := math.Sin(a) + 0.3*b + 0.2*rng.NormFloat64()
			if i%11 == 0 {
				b = math.NaN()
			}
			if altered && i >= prior {
				a, b, y = -a, math.NaN(), 50
			}
			table.Values = append(table.Values, a, b, y)
		}
		table = withColumn(table, "side", func(i int) string {
			if altered && i >= prior {
				return "another"
			}
			return []string{"left", "right", ""}[i%3]
		})
		m := trained(t, table, krigo.Options{
			Data: krigo.Data{
				Target:      "y",
				Categorical: []string{"side"},
				Missing:     "mean",
				Split:       "last",
			},
			Method: krigo.Method{Epochs: 1},
		})
		return m
	}
	m, n := of(false), of(true)
	a, b := m.Trained(), n.Trained()
	must.Need(t, m.Objective == "nearest" && a.Support.Rows == prior,
		"%s on %d rows", m.Objective, a.Support.Rows)
	if !reflect.DeepEqual(a.Kernel.Spec(a.Theta), b.Kernel.Spec(b.Theta)) || !reflect.DeepEqual(a.Beta, b.Beta) ||
		!reflect.DeepEqual(a.Solution.(*posterior.Nearest).Targets, b.Solution.(*posterior.Nearest).Targets) ||
		!reflect.DeepEqual(a.Support, b.Support) || a.Noise != b.Noise || m.ObservationNoise != n.ObservationNoise ||
		!reflect.DeepEqual(m.Scaling, n.Scaling) || !reflect.DeepEqual(m.Encoding, n.Encoding) {
		t.Errorf("the prior changed with the certified rows:\n%v %v\n%v %v", a.Theta, a.Noise, b.Theta, b.Noise)
	}
	if m.Certificate.Bound >= n.Certificate.Bound {
		t.Errorf("bound %v, of other rows %v", m.Certificate.Bound, n.Certificate.Bound)
	}
}

// TestIntervalsOfFew: intervals by all rows hold about their share of test targets, and are about as wide as
// intervals by the certified rows. Asked for a column, they use the rows with one of its values, and are infinite if
// these are few. They are refused if the parameters saw other rows.
func TestIntervalsOfFew(t *testing.T) {
	must.Long(t)
	table := data.Boston()
	o := cheap(krigo.Options{
		Data:   krigo.Data{TestFraction: 0.2},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Seed: 3},
	})
	m := fit(t, table, o)
	ps := predict(t, m, table)
	rows := rowsOf(t, m, table, dataset.Test)
	plain := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "conformal", Level: 0.9}))(t)
	width := func(is []krigo.Interval) (sum float64, inside int) {
		for _, i := range rows {
			sum += is[i].Upper - is[i].Lower
			if y := table.Values[14*i+13]; is[i].Lower <= y && y <= is[i].Upper {
				inside++
			}
		}
		return sum / float64(len(rows)), inside
	}
	most, _ := width(plain)
	for _, kind := range krigo.FewRowKinds() {
		is := must.Get(m.IntervalsOfFew(t.Context(), table, table, krigo.IntervalOptions{Kind: kind, Level: 0.9}))(t)
		if w, inside := width(is); w > 1.2*most || inside < 80 {
			t.Errorf("%s: mean width %v, conformal %v; %d of %d test targets", kind, w, most, inside, len(rows))
		}
		by := must.Get(m.IntervalsOfFew(t.Context(), table, table, krigo.IntervalOptions{Kind: kind, Level: 0.9,
			By: "CHAS"}))(t)
		for _, i := range rows {
			if infinite := by[i].Upper == math.MaxFloat64; infinite != (table.Values[14*i+3] == 1) { // 7 certified rows
				t.Fatalf("%s, CHAS = %v: %v", kind, table.Values[14*i+3], by[i])
			}
		}
	}
	for want, o := range map[string]krigo.Options{
		"parameters from prior rows alone": cheap(krigo.Options{
			Method: krigo.Method{Name: "kl-pac"},
		}),
		"need an exact GP": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "vfe", Inducing: 10},
			Prior:  krigo.Prior{Kind: "informed"},
		},
	} {
		must.Refuse(fit(t, table, o).IntervalsOfFew(t.Context(), table, table, krigo.IntervalOptions{Kind: "full",
			Level: 0.9}))(t, want)
	}
}

// TestIntervalsOfFewOverflow: a row whose interval overflows has no interval, and the other rows keep theirs.
func TestIntervalsOfFewOverflow(t *testing.T) {
	m := fit(t, snelson(), cheap(krigo.Options{
		Kernel: krigo.Kernel{Expression: "linear"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
	}))
	far := snelson()
	far.Values[2] = 1e300
	o := krigo.IntervalOptions{Kind: "full", Level: 0.9}
	want := must.Get(m.IntervalsOfFew(t.Context(), snelson(), snelson(), o))(t)
	for i, got := range must.Get(m.IntervalsOfFew(t.Context(), snelson(), far, o))(t) {
		must.Hold(t, got == want[i] || (i == 1 && math.IsNaN(got.Lower) && math.IsNaN(got.Upper)), "%d: %v %v", i, got, want[i])
	}
}

// withColumn returns the table with a column of text before its other columns.
func withColumn(t *dataset.Table, name string, text func(i int) string) *dataset.Table {
	with := &dataset.Table{Source: t.Source, Names: append([]string{name}, t.Names...)}
	for i := range t.Rows {
		row := []string{text(i)}
		for _, v := range t.Values[i*len(t.Names) : (i+1)*len(t.Names)] {
			row = append(row, fmt.Sprint(v))
		}
		with.Append(row)
	}
	return with
}
