package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/objective"
)

// Prediction is a model's prediction for one row, in the target's own units.
type Prediction struct {
	// mean of f, and of y if the noise is symmetric;
	// with a transform of the target, the median or mean of y
	Mean           float64 `json:"mean"`
	LatentVariance float64 `json:"latent_variance"` // variance of f
	// variance of y, from the noise's own density if it isn't Gaussian;
	// see dataset.Scaling.RawVariance
	PredictiveVariance float64 `json:"predictive_variance"`
	Lower95            float64 `json:"lower95"` // central 95 % credible interval for y
	Upper95            float64 `json:"upper95"`
	// Outside counts the inputs that lie outside the range of the rows that the model was made
	// from. If no input does, Outside is 1 for a row that is farther from the training rows than
	// nearly all others (Range.Far), else 0. A guarantee about rows from the model's source says
	// nothing about a row that is outside. In models up to version 4 it is always 0.
	Outside int `json:"outside"`
	// Label is the more probable class, if the target has classes, or the most probable level of an
	// ordinal target. Mean is then the probability of the second class, or the mean level, and
	// LatentVariance is of f itself.
	Label string `json:"label,omitempty"`

	// The square roots of the variances. A standard deviation may fit in a float64 even if its
	// variance doesn't (see OutOfRange).
	LatentSD     float64 `json:"latent_sd"`
	PredictiveSD float64 `json:"predictive_sd"`

	f, sd float64 // mean of f and, with a transform, standard deviation of y, in scaled units
}

// OutOfRange says whether a float64 can't hold a variance to all its digits, though it holds the
// standard deviation.
func (p Prediction) OutOfRange() bool {
	out := func(variance, sd float64) bool {
		return sd > 0 && (variance < 0x1p-1022 || variance == math.MaxFloat64)
	}
	return out(p.LatentVariance, p.LatentSD) || out(p.PredictiveVariance, p.PredictiveSD)
}

// Fill copies the prediction to values, a row of a table with the columns krigo.PredictionNames;
// see files.WriteFile.
func (p Prediction) Fill(values []float64) {
	copy(values, []float64{p.Mean, p.LatentVariance, p.PredictiveVariance, p.Lower95, p.Upper95,
		float64(p.Outside), p.LatentSD, p.PredictiveSD})
}

// PredictAt predicts at the rows of a matrix.
// The matrix has a column for each of the model's Inputs, in their order and in their own units.
// Inputs that encode categories hold 0 or 1, and no missing value is filled in.
// krigo.Model.Predict gives the same for a table of the same numbers, to the last bit.
// A matrix with another number of columns is an error, and a row that can't be predicted is a
// *dataset.Error with its number, from 1. If the model has an Offset, an Exposure or Errors, the
// matrix has the columns that Further lists, at the end.
func (m *Model) PredictAt(x mat.Matrix) ([]Prediction, error) {
	return m.PredictWithin(context.Background(), x)
}

// PredictWithin does what PredictAt does, for work that ends with a context.
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
	rows := numbers{m, x, names, ctx}
	mean, variance, err := latent(m.Posterior, rows)
	if err != nil {
		return nil, err
	}
	outside := make([]int, n)
	row := make([]float64, cols)
	offsets := make([]float64, n)
	for i := range outside {
		outside[i] = m.outside(mat.Row(row, i, x)[:len(m.Inputs)], variance[i])
		if m.Offset != "" {
			offsets[i] = row[len(m.Inputs)]
		}
	}
	noises, err := m.noises(rows, mean, variance)
	if err != nil {
		return nil, err
	}
	return m.predictions(around{ctx, mean, variance, offsets, noises}, outside,
		func(i int, err error) error { return &dataset.Error{Row: i + 1, Err: err} })
}

// Predict predicts the rows of d, which is a view of a table with the model's inputs.
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
	offsets, err := d.Offsets(d.All())
	if err != nil {
		return nil, err
	}
	noises, err := m.noises(d.Scaled(d.All(), m.Scaling), mean, variance)
	if err != nil {
		return nil, err
	}
	return m.predictions(around{d.Context(), mean, variance, offsets, noises}, outside,
		func(i int, err error) error { return fmt.Errorf("%s: %s: %w", d.Source, d.Where(i), err) })
}

// around holds the mean and variance of f at rows, in scaled units, the rows' offsets, if the model
// has any, and what NoisesAt returns. Work on the rows ends with ctx, which may be nil.
type around struct {
	ctx                             context.Context
	mean, variance, offsets, noises []float64
}

// predictions makes Predictions, given the counts for Prediction.Outside.
// place adds the row's place to an error.
func (m *Model) predictions(at around, outside []int, place func(row int, err error) error) (
	[]Prediction, error) {
	spreads, err := m.spreads(at.ctx, at.mean, at.variance, at.noises)
	var of *rowError
	if errors.As(err, &of) {
		return nil, place(of.row, of.error)
	}
	if err != nil {
		return nil, err
	}
	ps := make([]Prediction, len(at.mean))
	each(at.ctx, len(ps), func(i int) {
		offset := 0.
		if m.Offset != "" {
			offset = at.offsets[i]
		}
		ps[i] = m.predicted(at.mean[i], at.variance[i], offset, spreads[i])
	})
	for i, p := range ps {
		ps[i].Outside = outside[i]
		if !linalg.Finite([]float64{p.Mean, p.Lower95, p.Upper95, p.LatentVariance,
			p.PredictiveVariance, p.LatentSD, p.PredictiveSD}) {
			return nil, place(i, errTooFar)
		}
		if m.Classes != nil { // only now is the mean known to be a probability
			ps[i].Label = m.Classes[int(math.Round(p.Mean))]
		}
	}
	return ps, nil
}

// predicted returns the prediction of a row, given the mean and variance of f and the spread of y,
// in scaled units, and the row's offset.
func (m *Model) predicted(mean, variance, offset float64, y objective.Spread) (p Prediction) {
	s := m.Scaling
	sd := math.Sqrt(y.Variance)
	if noise := m.Sited(); noise != nil {
		p = Prediction{Mean: noise.Point(mean, variance, m.ObservationNoise),
			LatentVariance: variance, PredictiveVariance: y.Variance, LatentSD: math.Sqrt(variance),
			PredictiveSD: sd, Lower95: m.from(mean, variance) + y.Lower*sd,
			Upper95: m.from(mean, variance) +
				y.Upper*sd, f: mean}
		if noise.Whole() {
			p.Lower95 = math.Round(p.Lower95) + 0
			p.Upper95 = math.Round(p.Upper95) + 0 // no −0
		}
		if o := m.Ordinal; o != nil {
			p.Label = fmt.Sprintf("%.0f", o.Levels[Likeliest(o.Chances(mean, variance, 1))])
		} else {
			p.Lower95 = max(p.Lower95, 0)
		}
		return p
	}
	if s.Transform == nil {
		p = Prediction{Mean: s.Raw(mean) + offset, LatentVariance: s.RawVariance(variance),
			PredictiveVariance: s.RawVariance(y.Variance), LatentSD: s.RawSD(variance),
			PredictiveSD: s.RawSD(y.Variance)}
		p.Lower95 = p.Mean + y.Lower*p.PredictiveSD
		p.Upper95 = p.Mean + y.Upper*p.PredictiveSD
		return p
	}
	square := func(sd float64) float64 { return min(sd*sd, math.MaxFloat64) }
	p = Prediction{Lower95: s.Raw(mean + y.Lower*sd), Upper95: s.Raw(mean + y.Upper*sd),
		f: mean, sd: sd}
	_, p.LatentSD = s.Moments(mean, variance)
	p.Mean, p.PredictiveSD = m.point(mean, y.Variance)
	p.LatentVariance, p.PredictiveVariance = square(p.LatentSD), square(p.PredictiveSD)
	return p
}

// Chance holds the probabilities of a level of an ordinal target, row by row.
type Chance struct {
	Level         float64   `json:"level"`
	Probabilities []float64 `json:"probabilities"`
}

// Chances returns the probabilities of all levels, given what m predicted, or nil if the target
// isn't ordinal.
func (m *Model) Chances(ps []Prediction) (all []Chance) {
	if m.Ordinal == nil {
		return nil
	}
	all = lists.Of(m.Ordinal.Levels, func(level float64) Chance { return Chance{Level: level} })
	for _, p := range ps {
		for at, c := range m.Ordinal.Chances(p.f, p.LatentVariance, 1) {
			all[at].Probabilities = append(all[at].Probabilities, c)
		}
	}
	return all
}

// Within returns the ends of the interval of k standard deviations of y to either side of p, which
// m predicted. If the target has a transform, these are standard deviations of the transformed y.
func (m *Model) Within(p Prediction, k float64) (lower, upper float64) {
	s := m.Scaling
	if s.Transform == nil {
		return p.Mean - k*p.PredictiveSD, p.Mean + k*p.PredictiveSD
	}
	if p.sd == 0 { // m didn't predict p
		return math.NaN(), math.NaN()
	}
	return s.Raw(p.f - k*p.sd), s.Raw(p.f + k*p.sd)
}

// numbers reads the rows of a matrix in a model's scaled units. names has the names of all columns.
type numbers struct {
	m *Model
	mat.Matrix
	names []string
	ctx   context.Context
}

// Context returns the context with which work on the rows ends, or nil.
func (r numbers) Context() context.Context { return r.ctx }

func (r numbers) Dims() (rows, cols int) {
	rows, _ = r.Matrix.Dims()
	return rows, len(r.m.Inputs)
}

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
		if e := all[len(all)-1]; r.m.Errors != "" && e < 0 {
			return &dataset.Error{Row: i + 1, Column: len(all), Name: r.m.Errors,
				Err: fmt.Errorf("%v is below 0, and no standard error is", e)}
		}
		if r.m.Scaling.Inputs(row, row); !linalg.Finite(row) {
			return &dataset.Error{Row: i + 1,
				Err: errors.New("a value is so far from the others that its scaled form " +
					"overflows: mend or remove the row")}
		}
	}
	return nil
}

// Expose does what dataset.Scaled.Expose does. The exposure is the last column.
func (r numbers) Expose(f []float64) error {
	if r.m.Exposure == "" {
		return nil
	}
	for i, e := range mat.Col(nil, len(r.names)-1, r.Matrix) {
		if !(e > 0) {
			return &dataset.Error{Row: i + 1, Column: len(r.names), Name: r.m.Exposure,
				Err: fmt.Errorf("%v isn't above 0, and an exposure is", e)}
		}
		f[i] += math.Log(e)
	}
	return nil
}

// KnownNoise does what dataset.Scaled.KnownNoise does.
func (r numbers) KnownNoise() ([]float64, error) {
	known := mat.Col(nil, len(r.names)-1, r.Matrix)
	var err error
	for i, e := range known {
		if known[i], err = r.m.Scaling.KnownNoise(r.m.Errors, e); err != nil {
			return nil, &dataset.Error{Row: i + 1, Column: len(r.names), Name: r.m.Errors, Err: err}
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
	counts := make([]int, len(rows))
	if m.Range.Min == nil {
		return counts, nil
	}
	return counts, eachRow(d, rows,
		func(i int, row []float64) { counts[i] = m.outside(row, variance[i]) })
}
