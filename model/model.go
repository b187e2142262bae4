// Package model holds trained models as values and as files: the posterior, its
// scaling, its certificate and the role of every row it was made from.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Model is a trained Gaussian process with everything needed to predict with it and
// to check its certificate. Numbers are in scaled units where not said otherwise.
type Model struct {
	Objective        string
	Inputs           []string // names, in the order of the posterior's inputs
	Target           string
	Encoding         *dataset.Encoding // by which columns of a table become inputs; nil: as they stand
	Scaling          dataset.Scaling
	Posterior        *posterior.Posterior
	ObservationNoise float64 // variance of y about f; not the σ_n² of a PAC-Bayes objective

	Certificate       *pacbayes.Certificate // nil: none was issued, for CertificateReason
	CertificateReason string
	Terms             pacbayes.Terms

	Source  string         // the data it was made from
	Seed    uint64         // of the roles
	Split   Split          // how roles were dealt
	Group   string         // the column by which rows are grouped; "": each stands for itself
	Counts  dataset.Counts // rows by role
	Groups  dataset.Counts // groups by role; as Counts without a Group
	Hash    string         // of the certified rows, see RolesOf
	All     string         // of all rows, dataset.Units.Hash; "" of old models
	Rows    []uint64       // dataset.Data.RowHashes of all but the test rows, in ascending order
	Named   []uint64       // the hashes of the groups of these rows, each once, in ascending order; nil without a Group
	Targets string         // dataset.Units.Targets of all rows; "" of old models
	Range   Range          // of the inputs, on the rows it was made from

	// Fitted is what was asked for when the model was fitted, as JSON: see krigo.Options. nil of old
	// models.
	Fitted json.RawMessage

	positional []dataset.Role // of every row, in file order: of old models alone

	Conformal *Conformal // nil without calibration rows
	Test      *Test      // nil without test rows
	Training  Training
	Curves    []*Curve // of training, by starting point
	Notices   []string
}

// Trained returns the posterior that training made: where that became the prior, and nothing was
// learnt after it, the posterior that the prior is.
func (m *Model) Trained() *posterior.Posterior {
	q := m.Posterior
	if prior, _ := q.OfPrior(); prior != nil && q.Support.Rows == 0 {
		prior.Noise = q.Noise
		return prior
	}
	return q
}

// Test is how the model does on rows it was not made from.
type Test struct {
	Rows       int     `json:"rows"`
	Groups     int     `json:"groups,omitempty"` // that the rows belong to, where risks are those of groups
	MSE        float64 `json:"mse"`              // of the mean, scaled units
	RMSERaw    float64 `json:"rmse_raw"`         // target's units
	NLPD       float64 `json:"nlpd"`             // mean negative log predictive density of y, scaled units
	GibbsRisk  float64 `json:"gibbs_risk"`       // mean loss of a random draw f ~ Q
	MeanRisk   float64 `json:"mean_risk"`        // mean loss of the posterior mean
	Coverage95 float64 `json:"coverage95"`       // share of y within the central 95 % interval for y

	// Coverage is the same at other levels; PIT counts the rows by tenths of Φ((y−m)/sd), which
	// is uniform where the predictive distribution is right.
	Coverage []Coverage `json:"coverage"`
	PIT      []int      `json:"pit"`
	// Conformal intervals of both kinds, where rows were set aside for them.
	Conformal  *float64 `json:"conformal,omitempty"`
	Normalised *float64 `json:"conformal_normalised,omitempty"`
}

// Training is what training did.
type Training struct {
	ObjectiveValue float64 `json:"objective_value"`
	// StandardError is that of an ObjectiveValue that is an estimate, else nil.
	StandardError *float64 `json:"objective_value_standard_error,omitempty"`
	Iterations    int      `json:"iterations"`
	Evaluations   int      `json:"evaluations"`
	Starts        int      `json:"starts"`
	Seconds       float64  `json:"seconds"`
	Stopped       string   `json:"stopped"`

	// Alpha is the α of D = αλ + σ_n² that was learnt, nil where it was given.
	Alpha *float64 `json:"alpha,omitempty"`
}

// Unlabelled views the columns of a table that the model predicts from.
func (m *Model) Unlabelled(t *dataset.Table) (*dataset.Data, error) {
	return m.Encoding.Unlabelled(t, m.Inputs)
}

// Labelled views them and the target: rows to score or certify, in their groups where it has any.
func (m *Model) Labelled(t *dataset.Table) (*dataset.Data, error) {
	d, err := m.Encoding.Select(t, m.Inputs, m.Target)
	if err == nil && m.Group != "" {
		d, err = d.GroupBy(m.Group)
	}
	return d, err
}

// Score evaluates the model's predictions on the given rows of d, those of all ranks together.
// Where they belong to groups, whose numbers are given by row, risks are those of groups.
func (m *Model) Score(d *dataset.Data, rows, group []int) (*Test, error) {
	at, err := m.sample(d, rows, group)
	if err != nil {
		return nil, err
	}
	ys, mean, variance := at.Y, at.Mean, at.Variance
	t := &Test{Rows: at.Rows, Groups: at.Groups}
	if t.GibbsRisk, err = at.Risk(m.Terms.Loss, nil, nil); err != nil {
		return nil, err
	}
	if t.MeanRisk, err = at.PointRisk(m.Terms.Loss); err != nil {
		return nil, err
	}
	n := float64(at.Rows)
	se, lp := make([]float64, len(ys)), make([]float64, len(ys))
	inside := 0.
	var scores scores
	for i, v := range ys {
		noisy := variance[i] + m.ObservationNoise
		d := v - mean[i]
		se[i] = d * d
		lp[i] = 0.5 * (math.Log(2*math.Pi*noisy) + d*d/noisy)
		if math.Abs(d) <= Normal975*math.Sqrt(noisy) {
			inside++
		}
		scores.add(d, math.Sqrt(noisy))
	}
	sums := []float64{linalg.Sum(se), linalg.Sum(lp), inside}
	if err := d.Ranks().Sum(sums); err != nil {
		return nil, err
	}
	t.MSE = sums[0] / n
	t.RMSERaw = math.Sqrt(t.MSE) * m.Scaling.TargetScale
	t.NLPD = sums[1] / n
	t.Coverage95 = sums[2] / n
	return t, scores.report(t, m.Conformal, d.Ranks().Sum)
}

// sample returns the predictions at rows of d, as a part of those at the rows of all ranks. group
// holds the number of every row's group; nil: there are none.
func (m *Model) sample(d *dataset.Data, rows, group []int) (s pacbayes.Sample, err error) {
	if group != nil {
		s.Group, s.Groups = numbered(rows, group)
	}
	if _, s.Rows, err = ranks.Place(d.Ranks(), len(rows)); err != nil {
		return s, err
	}
	if d.Ranks().Size() > 1 { // else all rows are at hand
		s.Sum = d.Ranks().Sum
	}
	if s.Y, s.Scale, err = m.targets(d, rows); err != nil {
		return s, err
	}
	s.Mean, s.Variance, err = Latent(m.Posterior, d.Scaled(rows, m.Scaling))
	return s, err
}

// numbered numbers the groups of rows from 0, in their order.
func numbered(rows, group []int) (numbers []int, groups int) {
	number := map[int]int{}
	for _, row := range rows {
		g := group[row]
		if _, ok := number[g]; !ok {
			number[g] = len(number)
		}
		numbers = append(numbers, number[g])
	}
	return numbers, len(number)
}

// Normal975 is the 97.5 % quantile of the standard normal.
const Normal975 = 1.959963984540054

// latentRows is how many rows are read at a time to predict them: enough for every core
// to have some.
const latentRows = 1 << 14

// Latent returns the posterior's mean and variance of f at the rows of a view, which it
// reads block by block.
func Latent(q *posterior.Posterior, rows *dataset.Scaled) (mean, variance []float64, err error) {
	n, d := rows.Dims()
	mean, variance = make([]float64, n), make([]float64, n)
	x := linalg.New(min(n, latentRows), d)
	for i := 0; i < n; i += latentRows {
		k := min(latentRows, n-i)
		block := x.RowRange(0, k)
		if err := rows.Block(i, k, block.Data[:k*d], nil); err != nil {
			return nil, nil, err
		}
		q.Latent(block, mean[i:i+k], variance[i:i+k])
	}
	return mean, variance, nil
}

// targets returns the targets of rows in scaled units, and their TargetScale.
func (m *Model) targets(d *dataset.Data, rows []int) (y, scale []float64, err error) {
	if y, err = d.Targets(rows); err != nil {
		return nil, nil, err
	}
	scale = TargetScale(m.Terms.Loss, m.Scaling, y)
	m.Scaling.Target(y, y)
	return y, scale, nil
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
	if m.Posterior.Kind() != posterior.ByCholesky {
		return nil, fmt.Errorf("the posterior was solved by %s: what that estimates certifies nothing", m.Posterior.Kind())
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	return m.certify(d, roles)
}

// certify is Certify for rows whose roles are known.
func (m *Model) certify(d *dataset.Data, roles dataset.Roles) (*pacbayes.Certificate, error) {
	// What is certified is the posterior of kernel, support, weights and noise: none of it by a stored factor.
	certified := *m
	var err error
	if certified.Posterior, err = m.Posterior.Refactored(); err != nil {
		err = fmt.Errorf("%w: no certificate", err)
	} else {
		err = certified.check(d, roles)
	}
	if err := d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	m = &certified
	at, err := m.sample(d, d.RowsOf(roles, dataset.Certified), roles.Group)
	if err != nil {
		return nil, err
	}
	t := m.Terms
	if t.Repeats, err = m.repeats(d, roles); err != nil {
		return nil, err
	}
	t.Positional = m.Split == ByPosition
	kl, rounding := m.Posterior.KL(), m.Posterior.KLRounding()
	if m.Split == ByPosition && rounding < 0.01*(1+kl) {
		rounding = 0 // what those certificates were made by
	}
	return t.CertifySample(at, kl+rounding)
}

// MadeFrom says whether the model was made from these data.
func (m *Model) MadeFrom(d *dataset.Data) (bool, error) {
	_, err := m.RolesOf(d)
	var other *otherData
	if errors.As(err, &other) {
		return false, nil
	}
	return err == nil, err
}
