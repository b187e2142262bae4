package krigo_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestFewRows: with few rows, or groups, all of them train and none is certified. Where certificates begin, the
// number of rows that train stays the same until the usual share is more.
func TestFewRows(t *testing.T) {
	rooms := func(n int) *dataset.Table { return pick(data.Boston(), every(0, 1, n), "RM", "LSTAT", "MEDV") }
	informed, tight := krigo.Prior{Kind: "informed"}, krigo.Promise{Delta: 1e-6}
	for _, c := range []struct {
		rows             int
		o                krigo.Options
		train, certified int
	}{
		{2, krigo.Options{}, 2, 0},
		{21, krigo.Options{}, 21, 0},
		{22, krigo.Options{}, 22, 0},
		{35, krigo.Options{Promise: krigo.Promise{Loss: "scaled", Epsilon: 1}}, 35, 0},
		{104, krigo.Options{}, 104, 0},
		{105, krigo.Options{}, 84, 21},
		{119, krigo.Options{}, 84, 35},
		{120, krigo.Options{}, 84, 36},
		{121, krigo.Options{}, 85, 36},
		{130, krigo.Options{Data: krigo.Data{TestFraction: 0.2}}, 104, 0},
		{131, krigo.Options{Promise: krigo.Promise{Calibration: 0.2}}, 104, 0},
		{41, krigo.Options{Prior: informed}, 41, 0},
		{42, krigo.Options{Prior: informed}, 21, 21},
		{42, krigo.Options{Promise: krigo.Promise{MeanBound: "direct"}}, 21, 21},
		{104, krigo.Options{Promise: krigo.Promise{Share: 0.9}}, 73, 31},
		{45, krigo.Options{Promise: krigo.Promise{Curve: true}}, 45, 0}, // a curve takes more
		{41, krigo.Options{Data: krigo.Data{Split: "last"}}, 41, 0},
		{309, krigo.Options{Promise: tight}, 309, 0},
		{310, krigo.Options{Promise: tight}, 248, 62},
		{124, krigo.Options{Promise: tight, Prior: informed}, 62, 62},
		{40, krigo.Options{Prior: krigo.Prior{Share: 0.5}}, 20, 20},
		{200, krigo.Options{Prior: krigo.Prior{Share: 1}}, 200, 0},
	} {
		c.o.Data.Target = "MEDV"
		p := must.Get(krigo.Decide(t.Context(), rooms(c.rows), c.o))(t)
		none := p.Findings.Of(finding.NoCertificate) != nil
		if p.Roles.Prior != c.train || p.Trains != c.train || p.Roles.Certified != c.certified || none != (c.certified == 0) {
			t.Errorf("%d rows, %+v: %+v, trains %d, %q", c.rows, c.o, p.Roles, p.Trains, p.Findings)
		}
	}
	for n, certified := range map[int]int{104: 0, 105: 21, 125: 41, 150: 60, 200: 80, 240: 80, 300: 90} {
		p, err := krigo.Decide(t.Context(), sites(n), krigo.Options{
			Data: krigo.Data{Target: "y", Group: "site"},
		})
		must.Hold(t, err == nil && p.Groups.Certified == certified, "%d groups: %+v, %v", n, p, err)
	}
	for n, certified := range map[int]int{41: 0, 42: 21, 55: 22, 60: 24, 100: 40, 199: 79, 267: 80, 270: 81} {
		p, err := krigo.Decide(t.Context(), sites(n), krigo.Options{Data: krigo.Data{Target: "y", Group: "site"},
			Prior: informed})
		must.Hold(t, err == nil && p.Groups.Certified == certified,
			"%d groups, asked: %+v, %v", n, p, err)
	}
}

// TestUncertified: a model without certified rows says why, and which options fitted it. It predicts, and reports the
// errors of left-out rows.
func TestUncertified(t *testing.T) {
	few, scaled := pick(homes(), every(0, 1, 22)), pick(homes(), every(0, 1, 22))
	for i := 3; i < len(scaled.Values); i += 4 {
		scaled.Values[i] *= 1024
	}
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{Expression: "se"}}
	fitted := trained(t, few, o)
	path := filepath.Join(t.TempDir(), "m.krigo")
	must.Do(t, fitted.Save(path))
	m := must.Get(krigo.Load(path))(t)
	if m.Certificate != nil || m.Conformal != nil || !strings.Contains(m.CertificateReason,
		"all 22 rows train the model") || !strings.Contains(m.CertificateReason, "from 105 rows on, or from 42") {
		t.Errorf("%+v, %s", m.Certificate, m.CertificateReason)
	}
	for _, epsilon := range []float64{0, 2} {
		var none *krigo.NoCertificate
		if _, err := m.Certify(t.Context(), few, krigo.CertifyOptions{Epsilon: epsilon}); !errors.As(err, &none) ||
			!strings.Contains(err.Error(), m.CertificateReason) {
			t.Errorf("certify with ε = %g: %v", epsilon, err)
		}
	}
	if ps, err := m.Predict(t.Context(), few, krigo.PredictOptions{}); err != nil || len(ps) != 22 {
		t.Errorf("%v, %v", ps, err)
	}
	if _, differs, err := m.Refit(t.Context(), few, nil); differs != "" || err != nil {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
	must.Refuse(m.Deliver(t.Context(), few, krigo.Options{}))(t, "all rows train the model itself", "deliver")
	if other := trained(t, scaled, o); m.Training.LeaveOneOut == 0 ||
		math.Abs(other.Training.LeaveOneOut/1024/m.Training.LeaveOneOut-1) > 1e-9 {
		t.Errorf("left out %g, of targets 1024 times as large %g", m.Training.LeaveOneOut, other.Training.LeaveOneOut)
	}
	text := must.Get(krigo.Declare(t.Context(), few, o))(t)
	declared := must.Get(krigo.Declared(text))(t)
	if m, err := krigo.Fit(t.Context(), few, declared); err != nil || m.CertificateReason != fitted.CertificateReason {
		t.Errorf("declared: %+v, %v", m, err)
	}
}
