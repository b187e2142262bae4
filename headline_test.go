package krigo_test

import (
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestForemostPromise: what somebody asked for is named, then nine in ten predictions, then the curve's last share.
func TestForemostPromise(t *testing.T) {
	points := []pacbayes.CurvePoint{{HalfWidth: 1, Bound: 0.3}, {HalfWidth: 2, Bound: 0.12}, {HalfWidth: 3, Bound: 0.07}}
	for _, c := range []struct {
		epsilon, bound, share float64
		points                int
		width, want           float64
	}{{0.6, 1, 0, 3, 3, 0.1}, {0.6, 1, 0, 2, 2, 0.12}, {1.5, 0.3, 0, 3, 1.5, 0.3}, {0.5, 1, 0, 3, 3, 0.1},
		{1.5, 0.3, 0.85, 3, 2, 0.15}, {0.6, 1, 0.99, 3, 3, 0.07}} {
		of := &pacbayes.Certificate{Epsilon: c.epsilon, MeanBound: c.bound, Curve: &pacbayes.Curve{Points: points[:c.points]}}
		if c.share > 0 {
			of.Promise = &pacbayes.Promise{Share: c.share}
		}
		p := krigo.Foremost(of)
		if p.HalfWidth != c.width || p.Bound < c.want-1e-12 || p.Bound > c.want+1e-12 {
			t.Errorf("%+v: %+v", c, p)
		}
	}
}

// TestHeadline: the headline is one line, and its width is one that the sentence promises for the same share.
func TestHeadline(t *testing.T) {
	for _, p := range []krigo.Promise{{}, {Share: 0.8}, {Epsilon: 0.9}} {
		m := fit(t, data.Boston(), krigo.Options{
			Data:    krigo.Data{Target: "MEDV"},
			Kernel:  krigo.Kernel{Expression: "linear"},
			Method:  krigo.Method{Name: "evidence"},
			Promise: p,
			Run:     krigo.Run{Restarts: 1},
		})
		said := m.Headline(m.Certificate)
		must.Hold(t, !strings.Contains(said, "\n"), "%q", said)
		_, end, found := strings.Cut(said, " lie within ")
		must.Hold(t, found &&
			strings.Contains(m.Sentence(m.Certificate), "lie within "+strings.TrimSuffix(end, ".")),
			"%s\n%s", said, m.Sentence(m.Certificate))
		m.Certificate.Valid = false
		must.Be(t, m.Headline(m.Certificate), m.Sentence(m.Certificate))
	}
}
