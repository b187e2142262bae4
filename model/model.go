// Package model holds trained models as values and as files: the posterior, its
// scaling, its certificate and the role of every row it was made from.
package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Model is a trained Gaussian process with everything needed to predict with it and
// to check its certificate. Numbers are in scaled units where not said otherwise.
type Model struct {
	Objective        string
	Inputs           []string // column names, in the order of the posterior's inputs
	Target           string
	Scaling          dataset.Scaling
	Posterior        *posterior.Posterior
	ObservationNoise float64 // variance of y about f; not the σ_n² of a PAC-Bayes objective

	Certificate       *pacbayes.Certificate // nil: none was issued, for CertificateReason
	CertificateReason string
	Terms             pacbayes.Terms

	Source string         // the data it was made from
	Seed   uint64         // of the shuffle that dealt the roles
	Roles  []dataset.Role // of every row of the data, in file order
	Hash   string         // dataset.Hash of the certified rows
	Rows   []uint64       // dataset.RowHash of the prior and certified rows, in ascending order

	Test     *Test // nil without test rows
	Training Training
	Notices  []string
}

// Test is how the model does on rows it was not made from.
type Test struct {
	Rows       int     `json:"rows"`
	MSE        float64 `json:"mse"`        // of the mean, scaled units
	RMSERaw    float64 `json:"rmse_raw"`   // target's units
	NLPD       float64 `json:"nlpd"`       // mean negative log predictive density of y, scaled units
	GibbsRisk  float64 `json:"gibbs_risk"` // mean loss of a random draw f ~ Q
	MeanRisk   float64 `json:"mean_risk"`  // mean loss of the posterior mean
	Coverage95 float64 `json:"coverage95"` // share of y within the central 95 % interval for y
}

// Training is what training did.
type Training struct {
	ObjectiveValue float64 `json:"objective_value"`
	Iterations     int     `json:"iterations"`
	Evaluations    int     `json:"evaluations"`
	Starts         int     `json:"starts"`
	Seconds        float64 `json:"seconds"`
	Stopped        string  `json:"stopped"`

	// Alpha is the α of D = αλ + σ_n² that was learnt, nil where it was given.
	Alpha *float64 `json:"alpha,omitempty"`
}

// Score evaluates the model's predictions on rows given in raw units.
func (m *Model) Score(x linalg.Matrix, y []float64) *Test {
	n := len(y)
	mean, variance := make([]float64, n), make([]float64, n)
	xs, ys := m.Scale(x, y)
	m.Posterior.Latent(xs, mean, variance)
	t := &Test{Rows: n}
	scale := TargetScale(m.Terms.Loss, m.Scaling, y)
	t.GibbsRisk = pacbayes.Risk(m.Terms.Loss, ys, mean, variance, scale, nil, nil)
	t.MeanRisk = pacbayes.PointRisk(m.Terms.Loss, ys, mean, scale)
	se, lp := make([]float64, n), make([]float64, n)
	inside := 0
	for i, v := range ys {
		noisy := variance[i] + m.ObservationNoise
		d := v - mean[i]
		se[i] = d * d
		lp[i] = 0.5 * (math.Log(2*math.Pi*noisy) + d*d/noisy)
		if math.Abs(d) <= Normal975*math.Sqrt(noisy) {
			inside++
		}
	}
	t.MSE = linalg.Sum(se) / float64(n)
	t.RMSERaw = math.Sqrt(t.MSE) * m.Scaling.TargetScale
	t.NLPD = linalg.Sum(lp) / float64(n)
	t.Coverage95 = float64(inside) / float64(n)
	return t
}

// Normal975 is the 97.5 % quantile of the standard normal.
const Normal975 = 1.959963984540054

// Scale returns the rows in scaled units, in new memory.
func (m *Model) Scale(x linalg.Matrix, y []float64) (linalg.Matrix, []float64) {
	xs := linalg.New(x.Rows, x.Cols)
	m.Scaling.Inputs(xs.Data, x.Data)
	ys := make([]float64, len(y))
	m.Scaling.Target(ys, y)
	return xs, ys
}

// TargetScale returns |y_raw| in scaled units for the losses that are relative to it,
// else nil.
func TargetScale(l pacbayes.Loss, s dataset.Scaling, yRaw []float64) []float64 {
	if l.Kind != pacbayes.Relative && l.Kind != pacbayes.ClippedAbsolute {
		return nil
	}
	scale := make([]float64, len(yRaw))
	for i, y := range yRaw {
		scale[i] = math.Abs(y) / s.TargetScale
	}
	return scale
}

// Certify computes the certificate of the model's posterior on the certified rows of
// the data: from its stored parameters and weights and all certified rows, whatever
// training reported. It fails where the data aren't those the model was made from.
func (m *Model) Certify(d *dataset.Data) (*pacbayes.Certificate, error) {
	rows, err := m.certifiedRows(d)
	if err != nil {
		return nil, err
	}
	x, y := d.Select(rows)
	xs, ys := m.Scale(linalg.Of(len(rows), d.Cols, x), y)
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	m.Posterior.Latent(xs, mean, variance)
	return m.Terms.Certify(ys, mean, variance, TargetScale(m.Terms.Loss, m.Scaling, y), m.Posterior.KL())
}

// MadeFrom says whether the model was made from these data.
func (m *Model) MadeFrom(d *dataset.Data) bool {
	_, err := m.certifiedRows(d)
	return err == nil
}

// Seen returns the rows of d that equal a row the model was made from.
func (m *Model) Seen(d *dataset.Data) []int {
	var seen []int
	for i := range d.Rows {
		if _, found := slices.BinarySearch(m.Rows, d.RowHash(i)); found {
			seen = append(seen, i)
		}
	}
	return seen
}

// HashRows returns the RowHash of the rows a model with these roles is made from.
func HashRows(d *dataset.Data, roles []dataset.Role) []uint64 {
	var hashes []uint64
	for i, r := range roles {
		if r != dataset.Test {
			hashes = append(hashes, d.RowHash(i))
		}
	}
	slices.Sort(hashes)
	return hashes
}

func (m *Model) certifiedRows(d *dataset.Data) ([]int, error) {
	if d.Rows != len(m.Roles) {
		return nil, fmt.Errorf("%s has %d rows, the model was made from %d (%s)", d.Source, d.Rows, len(m.Roles), m.Source)
	}
	rows := dataset.RowsOf(m.Roles, dataset.Certified)
	if h := dataset.Hash(d.X, d.Y, rows, d.Cols); h != m.Hash {
		return nil, fmt.Errorf("the certified rows of %s aren't those the model was made from (%s): their SHA-256 is %s, the model's %s",
			d.Source, m.Source, h, m.Hash)
	}
	return rows, nil
}
