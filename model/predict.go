package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/observation"
)

// Prediction is a model's prediction for one row.
type Prediction = observation.Prediction

// Chance holds the probabilities of a level of an ordinal target.
type Chance = observation.Chance

// PredictAt predicts at the rows of a matrix.
// The matrix has a column for each of the model's Inputs, in their order and in their own units.
// Inputs that encode categories hold 0 or 1, and no missing value is filled in.
// krigo.Model.Predict gives the same for a table of the same numbers, to the last bit.
// A matrix with another number of columns is an error, and a row that can't be predicted is a
// *dataset.Error with its number, from 1. The columns that Further lists, if any, are at the end.
func (m *Model) PredictAt(x mat.Matrix) ([]Prediction, error) {
	ps, err := m.PredictWithin(context.Background(), x)
	for i, p := range ps {
		if p.Lost() {
			return nil, &dataset.Error{Row: i + 1, Err: observation.ErrTooFar}
		}
	}
	return ps, err
}

// PredictWithin predicts the rows of x as PredictAt does, until ctx ends. Then it returns ctx's
// error. Rows whose prediction overflows are lost (see Prediction.Lost), and no error.
func (m *Model) PredictWithin(ctx context.Context, x mat.Matrix) (ps []Prediction, err error) {
	defer matrix.Ended(&err)
	n, cols := x.Dims()
	further := m.Further()
	last := ""
	names := slices.Concat(m.Inputs, further)
	if len(further) > 0 {
		last = fmt.Sprintf(", and then %s", spelling.Quoted(further, 2))
	}
	if cols != len(names) {
		return nil, fmt.Errorf("a %d×%d matrix: want a column for each of the model's inputs, %d "+
			"in all, in their order%s", n, cols, len(m.Inputs), last)
	}
	rows := numbers{m, x, m.Predicting(), names, ctx}
	mean, variance, err := latent(m.Posterior, rows)
	if err != nil {
		return nil, err
	}
	outside := make([]int, n)
	row := make([]float64, cols)
	for i := range outside {
		outside[i] = m.outside(mat.Row(row, i, x)[:len(m.Inputs)], variance[i])
	}
	noises, err := m.Noises(rows, mean, variance)
	if err != nil {
		return nil, err
	}
	return m.predictions(observation.At{Context: ctx, Mean: mean, Variance: variance,
		Units: rows.units(), Noises: noises}, outside)
}

// Predict predicts the rows of d, which is a view of a table with the model's inputs.
// A row whose prediction overflows is lost (see Prediction.Lost). It is an error if all rows are.
func (m *Model) Predict(d *dataset.Data) ([]Prediction, error) {
	mean, variance, err := latent(m.Posterior, d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, err
	}
	return m.Predictions(d, mean, variance)
}

// Predictions does what Predict does, for a caller that knows the mean and the variance of f at the
// rows, in scaled units.
func (m *Model) Predictions(d *dataset.Data, mean,
	variance []float64) (ps []Prediction, err error) {
	defer matrix.Ended(&err)
	outside, err := m.count(d, variance)
	if err != nil {
		return nil, err
	}
	units, err := m.RowUnits(d, d.All())
	if err != nil {
		return nil, err
	}
	noises, err := m.Noises(d.Scaled(d.All(), m.Scaling), mean, variance)
	if err != nil {
		return nil, err
	}
	if ps, err = m.predictions(observation.At{Context: d.Context(), Mean: mean, Variance: variance,
		Units: units, Noises: noises}, outside); err == nil {
		_, err = Lost(d, ps)
	}
	return ps, err
}

// Lost says in a finding which of d's rows have no prediction in ps. If no row has one, it returns
// an error.
func Lost(d *dataset.Data, ps []Prediction) (found finding.List, err error) {
	lost := lists.Where(len(ps), func(i int) bool { return ps[i].Lost() })
	if len(lost) == len(ps) && lost != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.Source, d.Where(0), observation.ErrTooFar)
	}
	if lost != nil {
		found.Add(finding.Lost, len(lost), len(ps), d.Where(lost[0]), observation.ErrTooFar)
	}
	return found, nil
}

// predictions makes Predictions, given the counts for Prediction.Outside.
func (m *Model) predictions(at observation.At, outside []int) ([]Prediction, error) {
	at.Variance, at.Noises = m.Stretched(at.Variance, at.Noises)
	ps, err := m.Observation.Predict(at)
	for i := range ps {
		ps[i].Outside = outside[i]
	}
	return ps, err
}

// numbers reads the rows of a matrix in a model's scaled units. names has the names of all columns.
type numbers struct {
	m *Model
	mat.Matrix
	further []dataset.Further
	names   []string
	ctx     context.Context
}

// Context returns the context with which work on the rows ends, or nil.
func (r numbers) Context() context.Context { return r.ctx }

// Dims returns the number of rows and of the model's inputs.
func (r numbers) Dims() (rows, cols int) {
	rows, _ = r.Matrix.Dims()
	return rows, len(r.m.Inputs)
}

// Block writes n rows from first on to x, in scaled units. It names the row and the column of a
// value that isn't finite.
func (r numbers) Block(first, n int, x, _ []float64) error {
	_, cols := r.Dims()
	all := make([]float64, len(r.names))
	for i := first; i < first+n; i++ {
		row := x[:cols:cols]
		x = x[copy(row, mat.Row(all, i, r.Matrix)):]
		for j, v := range all {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &dataset.Error{Row: i + 1, Column: j + 1, Name: r.names[j],
					Err: fmt.Errorf("%v is not finite; remove the row or fill the value", v)}
			}
		}
		for k, c := range r.further {
			if err := c.Check(all[cols+k]); err != nil {
				return &dataset.Error{Row: i + 1, Column: cols + k + 1, Name: c.Name, Err: err}
			}
		}
		r.m.Scaling.Further(row, row)
	}
	return nil
}

// cells returns the cells of further column k.
func (r numbers) cells(k int) ([]float64, error) {
	return mat.Col(nil, len(r.m.Inputs)+k, r.Matrix), nil
}

// units returns the units of the rows' targets.
func (r numbers) units() dataset.RowUnits {
	units, _ := dataset.RowUnitsOf(r.further, r.cells) // no error: cells has none
	return units
}

// Shift does what dataset.Scaled.Shift does.
func (r numbers) Shift(f []float64) error {
	shifts, err := dataset.Sum(r.further, dataset.Further.Shifts, r.cells)
	for i, v := range shifts {
		f[i] += v
	}
	return err
}

// KnownNoise does what dataset.Scaled.KnownNoise does.
func (r numbers) KnownNoise() (known []float64, err error) {
	if known, err = dataset.ErrorsOf(r.further, r.cells); err != nil {
		return nil, err
	}
	for i, e := range known {
		if known[i], err = r.m.Scaling.KnownNoise(r.further, e); err != nil {
			return nil, &dataset.Error{Row: i + 1, Column: len(r.names), Name: r.m.NoiseColumn,
				Err: err}
		}
	}
	return known, nil
}

// outside does what Range.outside does. It also returns 1 for a row of another setting than all
// training rows, if the certificate is about known settings.
func (m *Model) outside(row []float64, variance float64) int {
	n := m.Range.outside(row, variance)
	if n == 0 && m.Range.Min != nil && slices.ContainsFunc(m.Ties, func(t Tie) bool {
		return !m.knows(t, row)
	}) {
		return 1
	}
	return n
}

// knows says whether a training row has the setting of a row.
// It is true for ties of other kinds, which the inputs of a row don't tell.
func (m *Model) knows(t Tie, row []float64) bool {
	if t.Kind != setting {
		return true
	}
	scaled := make([]float64, len(row))
	m.Scaling.Inputs(scaled, row)
	of := lists.Where(len(row), func(j int) bool {
		return slices.ContainsFunc(t.Columns, func(name string) bool {
			// an input of a category
			return m.Inputs[j] == name || strings.HasPrefix(m.Inputs[j], name+"=")
		})
	})
	support := m.Trained().Support
	return slices.ContainsFunc(linalg.UpTo(support.Rows), func(i int) bool {
		var far float64
		for _, j := range of {
			far = math.Hypot(far, support.At(i, j)-scaled[j])
		}
		return far <= math.Max(t.Size, sameFigure)
	})
}

// count returns the number from outside for each row of d on this rank, given the variance of f at
// each row.
func (m *Model) count(d *dataset.Data, variance []float64) ([]int, error) {
	rows := d.All()
	counts, _, err := m.Gaps(d)
	if counts == nil {
		counts = make([]int, len(rows))
	}
	if m.Range.Min == nil || err != nil {
		return counts, err
	}
	return counts, eachRow(d, rows,
		func(i int, row []float64) { counts[i] += m.outside(row, variance[i]) })
}

// PredictionFindings returns what a user should know about the rows of a table that ps predicts:
// categories that no prior row has, gaps where the fit had none, rows that no guarantee is about,
// rows without a prediction, and variances that leave the range of float64.
func (m *Model) PredictionFindings(t *dataset.Table, ps []Prediction) (finding.List, error) {
	found, err := m.Encoding.Unseen(t)
	if err != nil {
		return nil, err
	}
	d, err := m.Unlabelled(t)
	if err != nil {
		return nil, err
	}
	_, gaps, err := m.Gaps(d)
	found = append(found, gaps...)
	gone, none := Lost(d, ps)
	found = append(found, gone...)
	outside := lists.Where(len(ps), func(i int) bool { return ps[i].Outside > 0 })
	if outside != nil {
		found.Add(finding.OutsideRange, len(outside), len(ps))
	}
	lost := lists.Where(len(ps), func(i int) bool { return ps[i].OutOfRange() })
	if lost != nil {
		found.Add(finding.VarianceLost, len(lost), len(ps))
	}
	return found, cmp.Or(err, none)
}
