package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/quadrature"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/posterior"
	"gonum.org/v1/gonum/floats"
)

// Explanation says how much each column moves each prediction away from Base, the prediction at the
// mean row. The mean row has the means of the scaling as its inputs.
// A column's contribution is its integrated gradient (Sundararajan, Taly and Yan, "Axiomatic
// attribution for deep networks", ICML 2017): with predictions ŷ, the mean row x̄ and a row x,
//
//	Σ_j (x_j − x̄_j) ∫₀¹ ∂ŷ/∂x_j(x̄ + t(x − x̄)) dt over the inputs j that the column became.
//
// All numbers are in the target's own units.
// A row whose prediction overflows on the way from the mean row has no contributions.
type Explanation struct {
	Base          float64     `json:"base"`
	Columns       []string    `json:"columns"`       // names of the table's columns
	Contributions [][]float64 `json:"contributions"` // a list for each row, in the order of Columns
	// Remainder is each row's prediction minus Base minus the sum of its contributions.
	// It is next to 0 if the function is smooth.
	// If a model predicts each row from its nearest rows (--solver nearest), the contributions come
	// from one GP for the whole way (posterior.Along), and Remainder is the difference between this
	// GP and the predictions at the ends of the way.
	// The same holds for the GP under a monotone prediction.
	Remainder []float64 `json:"remainder"`
}

// Names returns the names of an explanation's columns in a table of predictions, or nil if e is
// nil.
func (e *Explanation) Names() []string {
	if e == nil {
		return nil
	}
	columns := lists.Of(e.Columns, func(c string) string { return "contribution_" + c })
	return slices.Concat([]string{"explain_base"}, columns, []string{"explain_remainder"})
}

// Fill sets row i of a table with the columns Names.
func (e *Explanation) Fill(i int, values []float64) {
	if e != nil && e.Contributions[i] == nil {
		copy(values, slices.Repeat([]float64{math.NaN()}, len(values)))
	} else if e != nil {
		copy(values, append(append([]float64{e.Base}, e.Contributions[i]...), e.Remainder[i]))
	}
}

// ErrClasses is the error of Explain for a model of classes.
var ErrClasses = errors.New("explain: it says what moves a predicted number, and this model " +
	"predicts the probabilities of classes")

// Explain explains the predictions for the rows of d, which views a table's columns as the model's
// inputs.
func (m *Model) Explain(d *dataset.Data) (e *Explanation, err error) {
	defer matrix.Ended(&err)
	if m.Posterior == nil {
		return nil, errors.New("the model is empty: load one, or fit one")
	}
	if m.Classes != nil {
		return nil, ErrClasses
	}
	if m.Sited() != nil {
		return nil, fmt.Errorf("explain: it says what moves a number with Gaussian noise, and "+
			"the noise is %s", m.Noise)
	}
	names, of := m.sources()
	base := make([]float64, 1)
	m.Posterior.Latent(linalg.New(1, d.Cols), base, nil)
	e = &Explanation{Base: m.Estimate(base[0]), Columns: names,
		Contributions: make([][]float64, d.Rows), Remainder: make([]float64, d.Rows)}
	err = observation.EachBlock(d.Scaled(d.All(), m.Scaling), func(first int, x matrix.Dense) {
		f := make([]float64, x.Rows)
		m.Posterior.Latent(x, f, nil)
		linalg.Parallel(x.Rows, func(i int) {
			x.Check()
			to := make([]float64, len(names))
			w := &way{m: m, x: x.RowRange(i, i+1), of: of}
			// The path goes from the mean row, 0 in scaled units, straight to the row. Along keeps
			// the nearest rows of five points on it.
			along := *m.Posterior.Along(w.at(0, 0.25, 0.5, 0.75, 1))
			along.Monotone = nil // a monotone mean has no Slopes
			w.q = &along
			// far allows shorter steps to rows that lie far out, up to the distance farthest.
			for _, v := range w.x.Data {
				w.far = max(w.far, math.Abs(v)/usual)
			}
			if w.far = max(w.far, 1); w.far > farthest {
				w.far = 1
			}
			w.add(to, 0, 1)
			e.Contributions[first+i], e.Remainder[first+i] = to, m.Estimate(f[i])-e.Base-linalg.Sum(
				to)
		})
	})
	if err == nil {
		err = e.units(m, d)
	}
	for i := range e.Remainder {
		if !linalg.Finite(e.Remainder[i : i+1]) {
			e.Contributions[i] = nil
			e.Remainder[i] = 0
		}
	}
	return e, err
}

// units turns the explanation into the units of the rows' targets.
// The contribution of a column that makes a unit is what the unit changes about Base.
func (e *Explanation) units(m *Model, d *dataset.Data) error {
	for _, c := range slices.Backward(m.Predicting()) {
		if c.Unit == nil {
			continue
		}
		cells, err := d.Cells(c.Name, d.All())
		if err != nil {
			return err
		}
		at := slices.Index(e.Columns, c.Name)
		if at < 0 {
			at = len(e.Columns)
			e.Columns = append(e.Columns, c.Name)
		}
		for i, cell := range cells {
			e.unit(i, at, c.Unit(cell))
		}
	}
	return nil
}

// unit turns the explanation of row i into a unit that column at makes.
func (e *Explanation) unit(i, at int, u dataset.RowUnit) {
	all := e.Contributions[i]
	if at == len(all) {
		all = append(all, 0)
	}
	for k, v := range all {
		all[k] = u.Width(v)
	}
	all[at] += u.Adds(e.Base)
	e.Contributions[i] = all
	e.Remainder[i] = u.Width(e.Remainder[i])
}

// InputsOf says what the inputs of a model are, for kernels on columns. e may be nil.
func InputsOf(names []string, e *dataset.Encoding) (inputs []kernel.Input) {
	if e == nil {
		return lists.Of(names, func(name string) kernel.Input { return kernel.Input{Column: name} })
	}
	for _, c := range e.Columns {
		if c.Categories == nil {
			inputs = append(inputs, kernel.Input{Column: c.Name})
		}
		if c.Gap {
			inputs = append(inputs, kernel.Input{Column: c.Name, Category: dataset.GapName})
		}
		for _, category := range c.Names() {
			inputs = append(inputs, kernel.Input{Column: c.Name, Category: category})
		}
	}
	return inputs
}

// sources returns the columns of a table that the model predicts from, and which of these columns
// each input came from.
// All inputs of a category or of a date came from one column.
func (m *Model) sources() (names []string, of []int) {
	for _, in := range InputsOf(m.Inputs, m.Encoding) {
		name := in.Column
		for _, d := range m.Reading.Dates {
			if slices.Contains(d.Derived(), name) {
				name = d.Column
			}
		}
		at := slices.Index(names, name)
		if at < 0 {
			at = len(names)
			names = append(names, name)
		}
		of = append(of, at)
	}
	return names, of
}

// slope returns the derivative of Estimate.
func (m *Model) slope(f float64) float64 {
	const step = 1e-4 // step in standard deviations of the target, after its transform
	return (m.Estimate(f+step) - m.Estimate(f-step)) / (2 * step)
}

// An integral is a sum over ten nodes. Its interval is halved until the contributions match the
// change of the prediction on the interval, except for the share leftOver of the prediction's
// change on the whole way, or until it is shortest.
// The way to a row more than usual standard deviations from the mean row leaves the other rows
// behind at a small t. There an interval may be that much shorter, or the share shortest of its end
// if that is longer. For a row beyond farthest no interval is short enough:
// its way overflows, and its contributions don't say anything.
const (
	leftOver = 1e-6
	shortest = 1. / 256
	usual    = 10
	farthest = 1e100
)

// way goes from the mean row, which is 0 in scaled units, to row x, along t from 0 to 1.
type way struct {
	m    *Model
	q    *posterior.Posterior // see Along
	x    matrix.Dense
	of   []int   // the columns that inputs came from
	left float64 // how far contributions may be off over the whole way; 0: not known yet
	far  float64 // the distance of x divided by the usual distance; at least 1
}

// at returns the points t·x of the way, a row for each t.
func (w *way) at(ts ...float64) matrix.Dense {
	rows := w.x.Like(len(ts), w.x.Cols)
	for i, t := range ts {
		for j, v := range w.x.Data {
			rows.Set(i, j, t*v)
		}
	}
	return rows
}

// add adds to each column in `to` the integral of its slope times its input from t = a to b. It
// halves the interval while the integrals of all columns don't add up to the change of the
// prediction.
func (w *way) add(to []float64, a, b float64) {
	ts := []float64{a, b}
	weights := []float64{0, 0}
	part := make([]float64, len(to))
	quadrature.Panels(ts, func(t, weight float64) {
		ts = append(ts, t)
		weights = append(weights, weight)
	})
	rows := w.at(ts...)
	slopes := linalg.New(len(ts), w.x.Cols)
	f := make([]float64, len(ts))
	w.q.Latent(rows, f, nil)
	w.q.Slopes(rows, slopes)
	for i, weight := range weights {
		weight *= w.m.slope(f[i])
		for j, v := range w.x.Data {
			part[w.of[j]] += weight * slopes.At(i, j) * v
		}
	}
	// how far the sum of integrals is from the change of the prediction
	off := w.m.Estimate(f[0]) - w.m.Estimate(f[1])
	if w.left == 0 { // a standard deviation of the target counts as a change, too
		w.left = leftOver * (math.Abs(off) + math.Abs(w.m.slope(f[0])))
	}
	off += linalg.Sum(part)
	if math.Abs(off) > w.left*max(b-a, shortest) && b-a > shortest*max(b, 1/w.far) {
		w.add(to, a, (a+b)/2)
		w.add(to, (a+b)/2, b)
		return
	}
	floats.Add(to, part)
}
