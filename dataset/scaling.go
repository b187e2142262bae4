package dataset

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/internal/strict"
	"github.com/krigo-gp/krigo/ranks"
)

// The moments of columns, the constants that follow from them, and rows scaled by these constants.

// Moments are the mean and the population standard deviation of a column.
type Moments struct{ Mean, SD float64 }

// Constant says whether all values are equal but for rounding errors of some hundreds of units in
// the last place.
func (m Moments) Constant() bool { return m.SD <= 1e-13*math.Abs(m.Mean) || m.SD == 0 }

// Moments computes the moments of the inputs and, at the end, of the target on the given rows.
// It uses the corrected two-pass algorithm (Chan, Golub and LeVeque, "Algorithms for computing the
// sample variance", 1983) with compensated sums, so that 1e12 + small keeps its digits.
// Deviations are divided by the largest deviation, because the squares of extreme deviations would
// overflow.
func (d *Data) Moments(rows []int) ([]Moments, error) { return d.moments(rows, nil) }

// moments does so without the values of inputs outside their ranges in of, unless that is nil.
func (d *Data) moments(rows []int, of []span) ([]Moments, error) {
	type column struct {
		Rows               int64
		Mean, Largest      float64
		Sum, Rest, Squares compensated.Sum // Σ value; Σd, Σd² with d = (value − mean)/largest
	}
	columns := make([]column, d.Cols+1)
	r := d.Ranks()
	// Ranks add their rows in turn, so that the sums don't depend on how rows are spread over
	// ranks.
	pass := func(add func(c *column, v float64)) error {
		return ranks.InTurn(r, func() error {
			return d.each(rows, func(_ int, x, y []float64) {
				for i, v := range y {
					for j, v := range x[i*d.Cols : (i+1)*d.Cols] {
						if of == nil || of[j].holds(v) {
							add(&columns[j], v)
						}
					}
					add(&columns[d.Cols], v)
				}
			})
		}, func() ([]byte, error) {
			return binary.Append(nil, binary.LittleEndian, columns)
		}, func(state []byte) error {
			_, err := binary.Decode(state, binary.LittleEndian, columns)
			return err
		})
	}
	// Three passes: the mean, the largest deviation, and the sums of deviations and of their
	// squares.
	if err := pass(func(c *column, v float64) {
		c.Sum.Add(v)
		c.Rows++
	}); err != nil {
		return nil, err
	}
	for j := range columns {
		columns[j].Mean = columns[j].Sum.Value() / float64(columns[j].Rows)
	}
	if err := pass(func(c *column, v float64) {
		c.Largest = max(c.Largest, math.Abs(v-c.Mean))
	}); err != nil {
		return nil, err
	}
	if err := pass(func(c *column, v float64) {
		if c.Largest > 0 {
			d := (v - c.Mean) / c.Largest
			c.Rest.Add(d)
			c.Squares.Add(d * d)
		}
	}); err != nil {
		return nil, err
	}
	out := make([]Moments, len(columns))
	for j, c := range columns {
		out[j].Mean = c.Mean
		if c.Largest == 0 {
			continue
		}
		n := float64(c.Rows)
		shift := c.Rest.Value() / n // rounding error left in the mean
		variance := max(0, c.Squares.Value()/n-shift*shift)
		out[j] = Moments{Mean: c.Mean + c.Largest*shift, SD: c.Largest * math.Sqrt(variance)}
	}
	return out, nil
}

// overflow returns the error for a column whose mean or standard deviation isn't a finite number.
func overflow(source, name string) error {
	return &Error{File: source, Name: name,
		Err: fmt.Errorf("the values of column %q are too large to average: change its unit", name)}
}

// Where the constants of a [Scaling] come from.
// A certificate is valid only if they don't depend on certified rows.
// With [AllRows] the constants do depend on certified rows, and the number is a heuristic.
const (
	PriorRows = "prior-rows" // computed from prior rows
	Declared  = "declared"   // given from outside
	AllRows   = "all-rows"   // computed from all training rows
)

// Scaling holds the constants that turn data into scaled units: (value − mean)/scale.
// If there is a Transform, the model sees the transformed target instead, but ε and other numbers
// in standard deviations of the target use TargetScale.
type Scaling struct {
	InputMean   []float64 `json:"input_mean"`
	InputScale  []float64 `json:"input_scale"`
	TargetMean  float64   `json:"target_mean"`
	TargetScale float64   `json:"target_scale"`
	Source      string    `json:"source"`

	Transform *Transform `json:"target_transform,omitzero"`
	// Whether the model sees the target as it is, because its noise is about counts or about
	// positive numbers. Losses are counted in standard deviations of the target even so.
	AsIs bool `json:"target_as_is,omitzero"`
	// Whether values of inputs stand apart, and so don't count (see [SlipFrom]). They count in
	// older models.
	Without bool `json:"without_apart,omitzero"`
}

// ScalingOf computes means and population standard deviations (ddof 0) on the given rows of all
// ranks together. An input that is constant there stays an input, with scale 1.
// A constant target is an error.
// Values of an input that stand apart don't count (see [SlipFrom]).
//
// The 0 and 1 of a one-hot column stay as they are.
// Two rows of different categories are then √2 apart, which is the root mean square distance of two
// rows along a standardised number. In a standardised column, a category of one row in a hundred
// would be ten standard deviations from all others, and a kernel couldn't learn about the category
// from other rows, or the other way round.
func ScalingOf(d *Data, rows []int, source string) (Scaling, error) {
	return Scaling{Source: source, Without: true}.Again(d, rows)
}

// Again computes the constants of a scaling from these rows as [ScalingOf] does, except that values
// that stand apart count if s says so.
func (s Scaling) Again(d *Data, rows []int) (Scaling, error) {
	source := s.Source
	_, n, err := ranks.Place(d.Ranks(), len(rows))
	if err != nil {
		return Scaling{}, err
	}
	if n == 0 {
		return Scaling{}, fmt.Errorf("%s: no rows to compute the scaling from (%s)",
			d.Source, source)
	}
	of, apart, err := d.spans(rows)
	if err != nil {
		return Scaling{}, err
	}
	if !s.Without {
		of = nil
	}
	columns, err := d.moments(rows, of)
	if err != nil {
		return Scaling{}, err
	}
	s = Scaling{Source: source, Without: of != nil && apart}
	for j, name := range d.Inputs {
		m := columns[j]
		if !allFinite([]float64{m.Mean, m.SD}) {
			return Scaling{}, overflow(d.Source, name)
		}
		if m.Constant() {
			m.SD = 1
		}
		if d.Encoding.OneHot(j) {
			m = Moments{Mean: 0, SD: 1}
		}
		s.InputMean = append(s.InputMean, m.Mean)
		s.InputScale = append(s.InputScale, m.SD)
	}
	// The target's moments follow the inputs'.
	m := columns[d.Cols]
	if !allFinite([]float64{m.Mean, m.SD}) {
		return Scaling{}, overflow(d.Source, d.Target)
	}
	if m.Constant() {
		// Nothing can be learnt about a constant target, and a scale of 0 can't be divided by.
		is := "is " + cautious.Number(m.Mean)
		or := "or declared constants"
		if m.SD > 0 {
			is = "differs by no more than rounding does from " + cautious.Number(m.Mean)
			or = "declared constants, or subtract a constant"
		}
		return Scaling{}, fmt.Errorf("%s: target %q %s on all %d rows that the scaling is "+
			"computed from (%s): use more prior rows, %s", d.Source, d.Target, is, n, source, or)
	}
	s.TargetMean = m.Mean
	s.TargetScale = m.SD
	return s, nil
}

// Identity returns the declared scaling that leaves cols inputs and the target as they are.
func Identity(cols int) Scaling {
	return Scaling{
		InputMean:   make([]float64, cols),
		InputScale:  slices.Repeat([]float64{1}, cols),
		TargetScale: 1,
		Source:      Declared,
	}
}

// ReadScaling reads declared constants for the columns of d from a JSON file:
//
//	{"inputs": {"NAME": {"mean": 0, "scale": 1}, …}, "target": {"mean": 0, "scale": 1}}
//
// The file may also be a Scaling in JSON, as a model's options have it, with constants in the order
// of d's inputs.
func ReadScaling(path string, d *Data) (Scaling, error) {
	type constants struct{ Mean, Scale *float64 }
	var file struct {
		Inputs map[string]constants
		Target constants
		Scaling
	}
	if err := strict.ReadJSON(path, &file); err != nil {
		return Scaling{}, err
	}
	// A file with target_scale is a Scaling in JSON. Its constants are declared from now on.
	if file.Scaling.TargetScale != 0 {
		file.Scaling.Source = Declared
		return file.Scaling, nil
	}
	s := Scaling{Source: Declared}
	// All problems are collected, so that one error names them all.
	var missing []string
	var problems []error
	take := func(name string, c constants) (mean, scale float64) {
		switch {
		case c.Mean == nil || c.Scale == nil:
			problems = append(problems, fmt.Errorf("%s: %s needs both \"mean\" and \"scale\"",
				path, name))
			return 0, 1
		case *c.Scale <= 0:
			problems = append(problems, fmt.Errorf("%s: %s has scale %g: it must be positive", path,
				name, *c.Scale))
		}
		return *c.Mean, *c.Scale
	}
	for _, name := range d.Inputs {
		c, ok := file.Inputs[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		// What is left in file.Inputs at the end isn't an input of d.
		delete(file.Inputs, name)
		mean, scale := take(fmt.Sprintf("input %q", name), c)
		s.InputMean = append(s.InputMean, mean)
		s.InputScale = append(s.InputScale, scale)
	}
	s.TargetMean, s.TargetScale = take("the target", file.Target)
	if len(missing) > 0 {
		problems = append(problems, fmt.Errorf("%s: no constants for inputs %s: add them", path,
			spelling.Quoted(missing, 20)))
	}
	if unknown := slices.Sorted(maps.Keys(file.Inputs)); len(unknown) > 0 {
		problems = append(problems,
			fmt.Errorf("%s: %s has no input columns %s: remove or rename them", path, d.Source,
				spelling.Quoted(unknown, 20)))
	}
	if len(problems) > 0 {
		return Scaling{}, errors.Join(problems...)
	}
	return s, nil
}

// Validate returns an error if s can't scale:
// if it has different numbers of means and scales, a mean that isn't a finite number, or a scale
// that isn't positive.
func (s Scaling) Validate() error {
	if len(s.InputMean) != len(s.InputScale) {
		return fmt.Errorf("%d means and %d scales of inputs: want a mean and a scale for "+
			"every input", len(s.InputMean), len(s.InputScale))
	}
	for j, mean := range append(slices.Clone(s.InputMean), s.TargetMean) {
		what := "the target"
		scale := s.TargetScale
		if j < len(s.InputScale) {
			what = fmt.Sprintf("input %d", j+1)
			scale = s.InputScale[j]
		}
		if math.IsNaN(mean) || math.IsInf(mean, 0) || !(scale > 0) || math.IsInf(scale, 1) {
			return fmt.Errorf("%s has mean %v and scale %v: want numbers, the scale positive", what,
				mean, scale)
		}
	}
	if s.Transform != nil {
		return s.Transform.check()
	}
	return nil
}

// Inputs scales the rows of x (row-major) into dst. dst may be x.
func (s Scaling) Inputs(dst, x []float64) {
	cols := len(s.InputMean)
	for first := 0; first < len(x); first += cols {
		for j := range cols {
			dst[first+j] = (x[first+j] - s.InputMean[j]) / s.InputScale[j]
		}
	}
}

// Further does what Inputs does for rows to predict. The largest number stands for a value beyond
// it, since one such row must not take the other rows' predictions.
func (s Scaling) Further(dst, x []float64) {
	s.Inputs(dst, x)
	for i, v := range dst {
		dst[i] = max(-math.MaxFloat64, min(v, math.MaxFloat64))
	}
}

// Target turns targets y into what the model sees, in dst. dst may be y.
func (s Scaling) Target(dst, y []float64) {
	t := s.Transform
	switch {
	case s.AsIs:
		copy(dst, y)
		return
	case t == nil:
		s.Standard(dst, y)
		return
	}
	for i, v := range y {
		dst[i] = (t.at(v) - t.Mean) / t.Scale
	}
}

// Standard turns y into standard deviations of the target, the unit in which losses are counted.
// It ignores the Transform. dst may be y.
func (s Scaling) Standard(dst, y []float64) {
	for i, v := range y {
		dst[i] = (v - s.TargetMean) / s.TargetScale
	}
}

// Raw turns a value, or a quantile, of the target as the model sees it into the target's unit.
func (s Scaling) Raw(v float64) float64 {
	if t := s.Transform; t != nil {
		return t.inverse(v*t.Scale + t.Mean)
	}
	return v*s.TargetScale + s.TargetMean
}

// LogSlope returns ln dz/ds at a target y in its own unit.
// z is the target as the model sees it, and s is the target in standard deviations.
// dz/ds turns a density of z into a density of s.
func (s Scaling) LogSlope(y float64) float64 {
	if t := s.Transform; t != nil {
		return math.Log(t.slope(y) * (s.TargetScale / t.Scale))
	}
	return 0
}

// Moments returns the mean and standard deviation of the target, in its own unit, if the target as
// the model sees it is Gaussian with this mean and variance.
func (s Scaling) Moments(mean, variance float64) (m, sd float64) {
	if t := s.Transform; t != nil {
		m, v := t.moments(mean*t.Scale+t.Mean, math.Sqrt(variance)*t.Scale)
		return m, math.Sqrt(v)
	}
	return s.Raw(mean), s.RawSD(variance)
}

// Transformed returns the scaling with the named transform.
// Its constants come from the given rows of all ranks together.
func (s Scaling) Transformed(name, estimate string, d *Data, rows []int) (Scaling, error) {
	y, err := d.SortedTargets(rows) // so that constants don't depend on the order of rows
	if err != nil {
		return s, err
	}
	t, err := transformOf(name, estimate, y)
	s.Transform = &t
	return s, err
}

// CheckDomain returns an error about the first of the given rows, on any rank, whose target the
// named transform can't take.
func CheckDomain(name string, d *Data, rows []int) error {
	t := Transform{Name: name}
	y, err := d.Targets(rows)
	if i := slices.IndexFunc(y, func(v float64) bool {
		return name != yeoJohnson && !(v+t.shift() > 0 || (name == "sqrt" && v == 0))
	}); err == nil && i >= 0 {
		at := d.table.place(rows[i])
		at.Row = rows[i] + 1
		domain := cmp.Or(map[string]string{"log1p": "above -1", "sqrt": "at least 0"}[name],
			"above 0")
		at.Err = fmt.Errorf("the target %q is %v, but target-transform %s needs targets %s: "+
			"choose another transform (yeo-johnson takes all targets), or correct or remove "+
			"the row", d.Target, y[i], name, domain)
		err = at
	}
	return d.Ranks().Agree(err)
}

// Outward moves the ends of an interval around a prediction outward, in the unit of the row's
// target. Each end moves by 2⁻⁴⁹ of |lower| + |upper| + |TargetMean|, and by 1e-9 of TargetScale.
// The first part is for rounding. A certificate decides in scaled units whether a target lies
// within the interval. Scaling the target, the prediction in either unit, the width and the end
// takes at most twelve roundings, two of them for the row's unit, and each changes a result by at
// most 2⁻⁵³ of one of these three terms.
// So every target that the certificate counted as within the interval also lies within the returned
// interval. The second part is for predictions whose last digits differ on another kind of
// processor.
func (s Scaling) Outward(u RowUnit, lower, upper float64) (low, high float64) {
	slack := s.slack(u, lower, upper)
	return lower - slack, upper + slack
}

// OutwardRelative returns the interval of the y with |y − ŷ| ≤ ε|y|, where ŷ is the mean, and moves
// its ends outward.
// The ends are ŷ/(1 + ε) and ŷ/(1 − ε), and each end also moves by the effect that the slack of ŷ
// has on this end. From ε = 1 on, the interval holds all numbers.
func (s Scaling) OutwardRelative(u RowUnit, mean, epsilon float64) (low, high float64) {
	if epsilon >= 1 {
		return -math.MaxFloat64, math.MaxFloat64
	}
	near := 1 / (1 + epsilon)
	far := 1 / (1 - epsilon)
	slack := s.slack(u, mean*near, mean*far)
	return s.Outward(u, min((mean-slack)*near, (mean-slack)*far),
		max((mean+slack)*near, (mean+slack)*far))
}

// slack returns by how much Outward moves each end, in the unit of the row's target.
func (s Scaling) slack(u RowUnit, lower, upper float64) float64 {
	const rounding, elsewhere = 0x1p-49, 1e-9
	return rounding*math.Abs(lower) + rounding*math.Abs(upper) +
		u.Width(rounding*math.Abs(s.TargetMean)) + u.Width(elsewhere*s.TargetScale)
}

// RawSD turns a variance of the scaled target into a standard deviation in the target's unit, if
// there is no Transform.
// The result is a finite float64 even if its square isn't.
func (s Scaling) RawSD(v float64) float64 { return math.Sqrt(v) * s.TargetScale }

// RawVariance turns a variance of the scaled target into the target's unit squared, if there is no
// Transform. A variance below the range of float64 becomes 0.
// A variance above the range becomes the largest float64, because JSON and tables hold no infinity.
func (s Scaling) RawVariance(v float64) float64 {
	return min(v*s.TargetScale*s.TargetScale, math.MaxFloat64)
}

// Scaled views some rows of a regression problem in scaled units.
// It reads and scales the rows block by block from the table, in memory or on disk.
// Several goroutines may read it at once.
type Scaled struct {
	Data    *Data
	Numbers []int // numbers of the rows, in the order in which they are read
	Scaling Scaling

	// Places holds the position of each of this rank's rows in the list of the view's rows on all
	// ranks, in ascending order. It is nil if this rank's rows follow the rows of the ranks before
	// it.
	Places []int

	failed atomic.Pointer[error]
}

// Scaled returns a view of the given rows, scaled by s.
func (d *Data) Scaled(rows []int, s Scaling) *Scaled {
	return &Scaled{Data: d, Numbers: rows, Scaling: s}
}

// ScaledOf returns a view of this rank's rows that have the role, scaled by s.
func (d *Data) ScaledOf(roles Roles, role Role, s Scaling) *Scaled {
	all := roles.Rows(role)
	if d.Ranks().Size() == 1 {
		return d.Scaled(all, s)
	}
	v := d.Scaled(nil, s)
	v.Places = []int{}
	for k, row := range all {
		if !d.elsewhere(row) {
			v.Numbers = append(v.Numbers, row)
			v.Places = append(v.Places, k)
		}
	}
	return v
}

// KnownNoise returns the squares of the rows' standard errors in standard deviations of the target,
// or nil if no column has standard errors.
func (s *Scaled) KnownNoise() ([]float64, error) {
	known, err := s.Data.StandardErrors(s.Numbers)
	for i, e := range known {
		if known[i], err = s.Scaling.KnownNoise(s.Data.further, e); err != nil {
			at := s.Data.table.place(s.Numbers[i])
			at.Err = err
			return nil, s.keep(at)
		}
	}
	return known, err
}

// KnownNoise returns the square of a standard error in standard deviations of the target, and
// refuses an error that is so large that its row says nothing.
func (s Scaling) KnownNoise(columns []Further, e float64) (float64, error) {
	e /= s.TargetScale
	if e > mostError {
		at := slices.IndexFunc(columns, func(c Further) bool { return c.Error != nil })
		return 0, fmt.Errorf("the standard error in column %q is %.3g standard deviations of the "+
			"target: the row says nothing about the target; correct or remove it",
			columns[at].Name, e)
	}
	return e * e, nil
}

// Shift adds to f what the rows' columns say, such as the logarithms of exposures.
func (s *Scaled) Shift(f []float64) error {
	shifts, err := s.Data.Shifts(s.Numbers)
	for i, shift := range shifts {
		f[i] += shift
	}
	return err
}

// mostError limits standard errors, in standard deviations of the target.
const mostError = 1e6

// Spread returns Places.
func (s *Scaled) Spread() []int { return s.Places }

// Place returns the position of row i in the list of the view's rows on all ranks.
// The view must come from ScaledOf.
func (s *Scaled) Place(i int) int {
	if s.Places == nil {
		return i
	}
	return s.Places[i]
}

// Dims returns the number of rows and of inputs.
func (s *Scaled) Dims() (rows, cols int) { return len(s.Numbers), s.Data.Cols }

// Context returns the context that ends work on the data, or nil (see [Data.Within]).
func (s *Scaled) Context() context.Context { return s.Data.Context() }

// Block reads rows first, …, first+n−1 of the view:
// inputs into x (n×cols, row-major), and targets into y (n) unless y is nil.
// It returns an error if a scaled value overflows. Without y, see Scaling.Further.
func (s *Scaled) Block(first, n int, x, y []float64) error {
	if first < 0 || n < 0 || first > len(s.Numbers)-n {
		return s.keep(fmt.Errorf("%s: there are no rows %d to %d, only %d rows", s.Data.Source,
			first+1, first+n, len(s.Numbers)))
	}
	return s.read(s.Numbers[first:first+n], x, y)
}

// Pick reads the rows of the view with these indices, as Block does.
func (s *Scaled) Pick(rows []int, x, y []float64) error {
	numbers := lists.Of(rows, func(row int) int { return s.Numbers[row] })
	return s.read(numbers, x, y)
}

// read reads and scales rows by their numbers in the table.
func (s *Scaled) read(numbers []int, x, y []float64) error {
	n := len(numbers)
	cols := s.Data.Cols
	if len(x) != n*cols || (y != nil && len(y) != n) {
		return s.keep(fmt.Errorf("%s: %d rows of %d inputs don't fit in x and y of lengths %d "+
			"and %d", s.Data.Source, n, cols, len(x), len(y)))
	}
	if err := s.Data.Read(numbers, x, y); err != nil {
		return s.keep(err)
	}
	if y == nil {
		s.Scaling.Further(x, x)
		return nil
	}
	s.Scaling.Inputs(x, x)
	s.Scaling.Target(y, y)
	for i, row := range numbers {
		if !allFinite(x[i*cols:(i+1)*cols]) || !allFinite(y[i:i+1]) {
			at := s.Data.table.place(row)
			at.Err = errors.New("a value is so far from the others that its scaled form " +
				"overflows: correct or remove the row")
			return s.keep(at)
		}
	}
	return nil
}

// keep remembers the first error, and returns err.
func (s *Scaled) keep(err error) error {
	s.failed.CompareAndSwap(nil, &err)
	return err
}

// Err returns the first error of Block and Pick.
// A caller of code that takes every error for bad parameters asks Err whether the rows were at
// fault.
func (s *Scaled) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}
