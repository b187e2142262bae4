package krigo_test

import (
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/report"
)

// ending is a context that ends after a given number of calls of Err.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func ripples(rows int) *dataset.Table {
	t := &dataset.Table{Source: "ripples", Names: []string{"x", "y"}, Rows: rows}
	for i := range rows {
		x := 20 * float64(i) / float64(rows)
		t.Values = append(t.Values, x, math.Sin(x)+0.3*math.Sin(1e4*x))
	}
	return t
}

// steps returns single steps that take long with many rows.
func steps(t *testing.T) map[string]func(context.Context) error {
	rows := ripples(600)
	o := krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	m := fit(t, rows, o)
	params := &krigo.Params{NoiseVariance: 0.1, Kernel: m.Trained().Kernel.Spec(m.Trained().Theta)}
	evaluate := func(name string, inducing int) func(context.Context) error {
		return func(ctx context.Context) error {
			o, params := krigo.Options{Data: o.Data, Kernel: o.Kernel, Method: krigo.Method{Name: name, Inducing: inducing}},
				*params
			for i := range inducing {
				params.Inducing = append(params.Inducing, []float64{float64(i) / 50})
			}
			_, err := krigo.Evaluate(ctx, rows, &params, o)
			return err
		}
	}
	intervals := func(kind string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := m.IntervalsOfFew(ctx, rows, rows, krigo.IntervalOptions{Kind: kind, Level: 0.9})
			return err
		}
	}
	return map[string]func(context.Context) error{
		"evidence":      evaluate("evidence", 0),
		"kl-pac":        evaluate("kl-pac", 0),
		"kl-pac sparse": evaluate("kl-pac", 200),
		"renyi":         evaluate("renyi", 20),
		"certify": func(ctx context.Context) error {
			_, err := m.Certify(ctx, rows, krigo.CertifyOptions{})
			return err
		},
		"predict": func(ctx context.Context) error {
			_, err := m.Predict(ctx, ripples(5000), krigo.PredictOptions{})
			return err
		},
		"covariance": func(ctx context.Context) error { _, err := m.Covariance(ctx, rows); return err },
		"sample": func(ctx context.Context) error {
			_, err := m.Sample(ctx, rows, krigo.SampleOptions{Count: 20, Seed: 1})
			return err
		},
		"full":      intervals("full"),
		"jackknife": intervals("jackknife"),
		"report":    func(ctx context.Context) error { return report.Write(ctx, io.Discard, m, rows) },
	}
}

// TestStepsEndWithTheirContext: a step asks its context again and again while it works, and returns the context's error whenever the
// context ends.
func TestStepsEndWithTheirContext(t *testing.T) {
	must.Long(t)
	for name, step := range steps(t) {
		const often = 40
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(math.MaxInt64)
		if err := step(ctx); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked := math.MaxInt64 - ctx.left.Load()
		must.Hold(t, asked >= often, "%s asks its context %d times", name, asked)
		for part := range int64(4) {
			ctx.left.Store(asked * part / 4)
			if err := step(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ended after %d of %d looks: %v", name, asked*part/4, asked, err)
			}
		}
	}
	// A model stays usable after the context of its fit has ended.
	ctx, cancel := context.WithCancel(t.Context())
	m, err := krigo.Fit(ctx, homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{Expression: "se"},
	})
	cancel()
	must.Need(t, err == nil, "%v", err)
	if _, err := m.Predict(t.Context(), homes(), krigo.PredictOptions{}); err != nil {
		t.Errorf("predicting after the fit's context ended: %v", err)
	}
}

// TestSquareMatrixRefused: a matrix with a value for each pair of rows is refused where it would be made, whichever function
// asks for the matrix.
func TestSquareMatrixRefused(t *testing.T) {
	all := steps(t)
	memory.SetLimit(1 << 20)
	defer memory.SetLimit(0)
	for _, name := range []string{"evidence", "kl-pac", "renyi", "certify", "covariance", "full", "jackknife"} {
		var over *memory.Error
		if err := all[name](context.Background()); !errors.As(err, &over) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTablesEndWithTheirContext: code that goes through a table's rows ends with the table's context. A fit that is interrupted after
// its last step ends with its own context, so that its checkpoint is written. The table itself has no context.
func TestTablesEndWithTheirContext(t *testing.T) {
	var rows [][]float64
	for i := range 120 {
		x := float64(i) / 10
		rows = append(rows, []float64{x, x*x - 3*x + float64(i*7%11)/11})
	}
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	o := krigo.Options{
		Data:    krigo.Data{Target: "y", TestFraction: 0.2},
		Method:  krigo.Method{Name: "vfe", Inducing: 5},
		Promise: krigo.Promise{Epsilon: 1},
	}
	m := trained(t, table, o)
	ctx, cancel := context.WithCancel(t.Context())
	works := map[string]func() error{
		"Predict":      func() error { _, err := m.Predict(ctx, table, krigo.PredictOptions{}); return err },
		"Certify":      func() error { _, err := m.Certify(ctx, table, krigo.CertifyOptions{}); return err },
		"CertifyFresh": func() error { _, err := m.CertifyFresh(ctx, table); return err },
		"Decide":       func() error { _, err := krigo.Decide(ctx, table, o); return err },
		"Declare":      func() error { _, err := krigo.Declare(ctx, table, o); return err },
	}
	for name, work := range works {
		if err := work(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cancel()
	for name, work := range works {
		if err := work(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, interrupted: %v", name, err)
		}
	}
	if _, err := m.Predict(t.Context(), table, krigo.PredictOptions{}); err != nil {
		t.Errorf("the table has a context: %v", err)
	}
	// The context ends when the last start is done, so only the certificate is left to do.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	var last *krigo.Checkpoint
	o.Method.Name = "kl-pac"
	o.Run.Restarts = 1
	o.Kernel.ARD = "off"
	o.Run.Save = func(c *krigo.Checkpoint) error { last = c; return nil }
	o.Run.Progress = func(e krigo.Event) {
		if e.Stopped != "" && e.Start == e.Starts {
			cancel()
		}
	}
	if _, err := krigo.Fit(ctx, table, o); !errors.Is(err, context.Canceled) || last == nil {
		t.Errorf("interrupted after the last step: %v", err)
	}
}
