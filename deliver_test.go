package krigo_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/posterior"
)

// TestDeliver: the sibling of a certified model uses all rows except test rows. It has the certified model's kernel and
// scaling and no certificate, and it says what the certified model promises. The sibling is the same after writing and
// reading its file.
func TestDeliver(t *testing.T) {
	must.Long(t)
	boston := pick(data.Boston(), every(0, 2, 506))
	for name, c := range map[string]struct {
		o      krigo.Options
		solver string
	}{
		"evidence": {krigo.Options{
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed"},
		}, posterior.ByCholesky},
		"nearest": {krigo.Options{
			Method: krigo.Method{Name: "nearest", Epochs: 3},
			Prior:  krigo.Prior{Kind: "informed"},
		}, posterior.ByNearest},
		"vfe": {krigo.Options{
			Method: krigo.Method{Name: "vfe", Inducing: 20},
			Prior:  krigo.Prior{Kind: "informed"},
		}, posterior.ByCholesky},
		"kl-pac": {krigo.Options{
			Method:  krigo.Method{Name: "kl-pac"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Calibration: 0.1},
		}, posterior.ByCholesky},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Data.TestFraction, c.o.Run.Restarts, c.o.Run.Deliver = 0.2, 1, "all"
			m := fit(t, boston, c.o)
			all := must.Get(m.Deliver(context.Background(), boston, krigo.Options{}))(t)
			if want := (dataset.Counts{dataset.Test: 51, dataset.Prior: 202}); all.Counts != want ||
				m.Counts[dataset.Certified] < 50 {
				t.Errorf("rows by role: %v, of the certified one %v", all.Counts, m.Counts)
			}
			if s := all.Posterior.Support.Rows; name == "vfe" && s != 20 || name != "vfe" && s != 202 {
				t.Errorf("it stands on %d points", s)
			}
			if all.Posterior.Kind() != c.solver || all.Scaling.TargetScale != m.Scaling.TargetScale || all.Conformal != nil ||
				all.Test.Rows != 51 ||
				all.Posterior.Kernel.Spec(all.Posterior.Theta).Name != m.Trained().Kernel.Spec(m.Trained().Theta).Name {
				t.Errorf("%s, %+v", all.Posterior.Kind(), all.Test)
			}
			if !(all.Test.MSE < 1.02*m.Test.MSE) {
				t.Errorf("mean squared error %v with all rows, %v with %d", all.Test.MSE, m.Test.MSE, m.Counts[dataset.Prior])
			}
			if all.Certificate != nil || !strings.Contains(all.CertificateReason, "all 202 rows") ||
				!strings.Contains(all.CertificateReason, "what is certified are the predictions of its sibling") {
				t.Errorf("%+v, %s", all.Certificate, all.CertificateReason)
			}
			if told := strings.Contains(all.CertificateReason, "95 % intervals from all rows"); told != (name == "evidence") {
				t.Errorf("intervals from all rows: %s", all.CertificateReason)
			}
			var none *krigo.NoCertificate
			if _, err := certify(all, boston); !errors.As(err, &none) {
				t.Errorf("certified: %v", err)
			}
			if f, err := all.CertifyFresh(t.Context(), boston); err != nil || f.Rows != 51 {
				t.Errorf("on its test rows: %+v, %v", f, err)
			}
			var file, again bytes.Buffer
			must.Do(t, all.Write(&file))
			read := must.Get(krigo.Read(bytes.NewReader(file.Bytes())))(t)
			if err := read.Write(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
				t.Errorf("the file of what was read is another: %v", err)
			}
		})
	}
}

// TestDeliverUncertified: the sibling of a model without a certificate doesn't mention a certificate.
func TestDeliverUncertified(t *testing.T) {
	for name, edit := range map[string]func(*krigo.Options){
		"a backtest":    func(o *krigo.Options) { o.Data.Split = "last" },
		"scaled by all": func(o *krigo.Options) { o.Data.Scaling = dataset.AllRows },
	} {
		o := cheap(krigo.Options{
			Data:   krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "se"},
			Run:    krigo.Run{Deliver: "all"},
		})
		edit(&o)
		m, err := krigo.Fit(context.Background(), data.Snelson(), o)
		if err != nil {
			t.Fatal(name, err)
		}
		all, err := m.Deliver(context.Background(), data.Snelson(), krigo.Options{})
		if err != nil || strings.Contains(all.CertificateReason, "what is certified") {
			t.Errorf("%s: %v, %v", name, all.CertificateReason, err)
		}
	}
}

// TestDeliverResumes: an interrupted training of the sibling goes on from the checkpoint of the whole fit, and ends
// as if it had never stopped.
func TestDeliverResumes(t *testing.T) {
	m := fit(t, half(), krigo.Options{
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	})
	whole := must.Get(m.Deliver(context.Background(), half(), krigo.Options{}))(t)
	ctx, stop := context.WithCancel(context.Background())
	var last krigo.Checkpoint
	steps := 0
	_, err := m.Deliver(ctx, half(), krigo.Options{Run: krigo.Run{Save: func(c *krigo.Checkpoint) error {
		last = *c
		if steps++; steps == 5 {
			stop()
		}
		return nil
	}}})
	must.Need(t, errors.Is(err, context.Canceled), "%v", err)
	resumed := must.Get(m.Deliver(context.Background(), half(), krigo.Options{Run: krigo.Run{Resume: &last}}))(t)
	if !slices.Equal(resumed.Posterior.Weights(), whole.Posterior.Weights()) {
		t.Error("other weights than without the interruption")
	}
}

// TestDeliverRefuses: Deliver refuses other data, and models that are trained on their certified rows.
func TestDeliverRefuses(t *testing.T) {
	m := fit(t, data.Boston(), cheap(krigo.Options{Kernel: krigo.Kernel{Expression: "se"}}))
	if _, err := m.Deliver(context.Background(), homes(), krigo.Options{}); err == nil {
		t.Error("other data")
	}
	_, err := krigo.Fit(context.Background(), homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Name: "kl-pac"},
		Run:    krigo.Run{Deliver: "all"},
	})
	var usage *krigo.UsageError
	must.Hold(t, errors.As(err, &usage) && strings.Contains(err.Error(), "deliver all"),
		"a grid prior: %v", err)
}
