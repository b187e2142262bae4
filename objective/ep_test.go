package objective

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// goldenEP is a case of testdata/golden/ep.json.
type goldenEP struct {
	Noise, Table    string
	Rows, Each      int
	LogL2           []float64 `json:"log_l2"`
	LogVariance     float64   `json:"log_variance"`
	Mean            float64
	LogScale        float64 `json:"log_scale"`
	LogEvidence     string  `json:"log_evidence"`
	Gradient, Sites []string
	SiteVariances   []string `json:"site_variances"`
	Means           []string
	Variances       []string
}

// TestEPEvidenceGolden compares ln Z, its gradient, sites and marginals with sequential expectation propagation in 80
// digits (testdata/golden/ep.py). krigo's last sweep changes sites by up to 1e-7 of their marginals, so that sites and
// derivatives are off by about as much, and ln Z by the square.
func TestEPEvidenceGolden(t *testing.T) {
	var golden struct {
		Tables map[string]struct {
			X [][]float64
			Y []float64
		}
		Cases []goldenEP
	}
	raw, err := os.ReadFile("../testdata/golden/ep.json")
	if err == nil {
		err = json.Unmarshal(raw, &golden)
	}
	if err != nil || len(golden.Cases) == 0 {
		t.Fatal(len(golden.Cases), err)
	}
	for _, c := range golden.Cases {
		t.Run(c.Noise+strconv.Itoa(c.Rows), func(t *testing.T) {
			from := golden.Tables[c.Table]
			x := matrix.New(c.Rows, len(from.X[0]))
			for i := range c.Rows {
				copy(x.Row(i), from.X[i])
			}
			c.holds(t, x, slices.Clone(from.Y[:c.Rows]))
		})
	}
}

func (c goldenEP) holds(t *testing.T, x matrix.Dense, y []float64) {
	near := func(what string, got float64, text string, tolerance float64) {
		t.Helper()
		if want, err := strconv.ParseFloat(text, 64); err != nil || !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s: %.15g, want %s", what, got, text)
		}
	}
	k, noise := kernel.SE(x.Cols, true), SitedOf(c.Noise)
	p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: y, Objective: &EPEvidence{Noise: noise}}
	at := append(append([]float64{}, c.LogL2...), c.LogVariance, c.Mean, c.LogScale)
	gradient := make([]float64, p.Dim())
	value, err := p.Evaluate(at, gradient)
	if err != nil {
		t.Fatal(err)
	}
	near("ln Z", -value, c.LogEvidence, 1e-11)
	for i, name := range p.Names() {
		near("d/d "+name, -gradient[i], c.Gradient[i], 1e-7)
	}
	sites, err := p.Sites(at)
	if err != nil {
		t.Fatal(err)
	}
	q, err := posterior.NewExact(posterior.Given{Kernel: k, Theta: at[:len(c.LogL2)+1], Mean: p.Mean,
		Beta: []float64{c.Mean}, Noise: 1, X: x, Y: sites.Y,
		PerRow: posterior.RowNoise{Factor: make([]float64, x.Rows), Known: sites.Known}})
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := make([]float64, x.Rows), make([]float64, x.Rows)
	q.Latent(x, mean, variance)
	for j, text := range c.Means {
		i := j * c.Each
		d, sd := sites.Known[i], math.Sqrt(variance[i])
		near("mean", mean[i], text, 3e-7*sd)
		near("variance", variance[i], c.Variances[j], 3e-7*variance[i])
		near("variance of site", d, c.SiteVariances[j], 3e-7*d*d/variance[i])
		near("site", sites.Y[i], c.Sites[j], 3e-7*(d/sd+d/variance[i]*math.Abs(sites.Y[i]-c.Mean)))
	}
	rows := Observed{y, mean, variance, nil, sites, noise, math.Exp(c.LogScale)}
	if off := rows.Unsettled(); off > 2e-7 {
		t.Errorf("sites still change by %g", off)
	}
	y[0] = 1 - min(y[0], 1)
	if off := rows.Unsettled(); off < 1e-2 {
		t.Errorf("sites of another target would change by %g", off)
	}
}
