package krigo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestWithin: what goes through a table's rows ends with the table's context, and a fit that is interrupted after its
// last step ends with its own, so that its checkpoint is written. The table itself has none.
func TestWithin(t *testing.T) {
	var rows [][]float64
	for i := range 120 {
		x := float64(i) / 10
		rows = append(rows, []float64{x, x*x - 3*x + float64(i*7%11)/11})
	}
	table := must.Get(dataset.FromRows([]string{"x", "y"}, rows))(t)
	o := asked("vfe target=y test_fraction=0.2 inducing=5 epsilon=1")
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
	// Interrupted when the last start is done: nothing but the certificate is left to do.
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
