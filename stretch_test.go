package krigo_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/objective"
)

// light returns rows whose noise has no tails, so that 95 % of it lie within less than 1.96 standard deviations.
func light(n int) (rows [][]float64) {
	rng := rand.New(rand.NewPCG(5, 0))
	for range n {
		x := 4 * rng.Float64()
		rows = append(rows, []float64{x, math.Sin(x) + rng.Float64()})
	}
	return rows
}

// TestStretch: calibration changes standard deviations alone, by the factor in the file, and every answer with
// standard deviations has it: predictions, draws, covariances, and figures of test rows.
func TestStretch(t *testing.T) {
	m, table := fitRows(t, light(200), func(o *krigo.Options) {
		o.Data.Transform = "none"
	})
	c := m.Conformal
	n := float64(c.Rows)
	want := (n*c.Normalised/1.959963984540054 + 40) / (n + 40)
	must.Near(t, m.Stretch(), want, 1e-15)
	must.Hold(t, math.Abs(m.Stretch()-1) > 0.02, "the stretch is %v", m.Stretch())

	own := *m // the GP's own predictions
	own.Conformal = nil
	ps := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	gp := must.Get((&own).Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	for i, p := range ps {
		must.Be(t, p.Mean, gp[i].Mean)
		must.Be(t, p.Outside, gp[i].Outside)
		must.Near(t, p.LatentSD, want*gp[i].LatentSD, 1e-12)
		must.Near(t, p.PredictiveSD, want*gp[i].PredictiveSD, 1e-12)
		must.Near(t, p.Upper95-p.Mean, want*(gp[i].Upper95-gp[i].Mean), 1e-12)
	}
	cov := must.Get(m.Covariance(t.Context(), table))(t)
	must.Near(t, math.Sqrt(cov.At(7, 7)), ps[7].LatentSD, 1e-9)
	draws := must.Get(m.Sample(t.Context(), table, krigo.SampleOptions{Count: 4}))(t)
	plain := must.Get((&own).Sample(t.Context(), table, krigo.SampleOptions{Count: 4}))(t)
	must.Near(t, draws[3][2]-ps[3].Mean, want*(plain[3][2]-ps[3].Mean), 1e-9)

	// A normalised interval doesn't depend on the stretch.
	own.Conformal = &model.Conformal{}
	*own.Conformal = *c
	own.Conformal.Stretch = 0
	a := must.Get(m.Intervals(ps, krigo.IntervalOptions{Kind: "normalised"}))(t)
	b := must.Get((&own).Intervals(gp, krigo.IntervalOptions{Kind: "normalised"}))(t)
	must.Near(t, a[5].Upper, b[5].Upper, 1e-9)
	must.Hold(t, a[5].Upper-ps[5].Mean >= (b[5].Upper-gp[5].Mean)*(1-1e-14),
		"%v is narrower than %v", a[5], b[5])

	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	must.Be(t, file.Bytes()[8], 17)
	must.Get(m.Certify(t.Context(), table, krigo.CertifyOptions{}))(t)
	c.Stretch *= 1.5
	file.Reset()
	must.Do(t, m.Write(&file))
	_, err := krigo.Read(&file)
	must.Hold(t, err != nil && strings.Contains(err.Error(), "conformal intervals"), "%v", err)
}

// TestUnstretched: a promise about draws or in standard deviations is about the GP's own.
func TestUnstretched(t *testing.T) {
	for name, change := range map[string]func(o *krigo.Options){
		"scaled":  func(o *krigo.Options) { o.Promise.Loss = "scaled" },
		"by sd":   func(o *krigo.Options) { o.Promise.Slices = []string{"sd"} },
		"student": func(o *krigo.Options) { o.Kernel.Noise = "student" },
		"draws":   func(o *krigo.Options) { o.Promise.MeanBound = "twice" },
	} {
		m, _ := fitRows(t, light(200), change)
		must.Be(t, m.Stretch(), 1, name)
		c := m.Conformal
		if c == nil {
			continue
		}
		// A file that has a stretch all the same is refused.
		n := float64(c.Rows)
		c.Stretch = (n*c.Normalised/objective.Normal975 + 40) / (n + 40)
		var file bytes.Buffer
		must.Do(t, m.Write(&file))
		_, err := krigo.Read(&file)
		must.Hold(t, err != nil && strings.Contains(err.Error(), "standard deviations"), "%s: %v",
			name, err)
	}
}

// TestStretchSays: with a transform, the factor is about the transformed target.
func TestStretchSays(t *testing.T) {
	m, _ := fitRows(t, logNormal(1, 200, false), func(*krigo.Options) {})
	must.Hold(t, m.Scaling.Transform != nil && strings.Contains(say.Scores(&m.Model),
		" standard deviations of the transformed target."), "%s", say.Scores(&m.Model))
	plain, _ := fitRows(t, light(200), func(o *krigo.Options) { o.Data.Transform = "none" })
	must.Hold(t, strings.Contains(say.Scores(&plain.Model), " its standard deviations."), "%s", say.Scores(&plain.Model))
}
