package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/internal/strict"
	"github.com/krigo-gp/krigo/ranks"
)

// Where the constants of a [Scaling] come from. A certificate is valid only if
// they do not depend on certified rows: [AllRows] makes the number a heuristic.
const (
	PriorRows = "prior-rows" // computed from prior rows
	Declared  = "declared"   // given from outside
	AllRows   = "all-rows"   // computed from all training rows
)

// Scaling holds the constants by which a model sees data: (value − mean)/scale.
type Scaling struct {
	InputMean   []float64 `json:"input_mean"`
	InputScale  []float64 `json:"input_scale"`
	TargetMean  float64   `json:"target_mean"`
	TargetScale float64   `json:"target_scale"`
	Source      string    `json:"source"`
}

// ScalingOf computes means and population standard deviations (ddof 0) on the
// given rows, those of all ranks together. An input that is constant there gets scale 1 and stays; a constant
// target is an error.
//
// The 0 and 1 of a one-hot encoded column stay as they are: rows of two categories are then
// √2 apart, which is the root mean square distance of two rows along a standardised number,
// whereas a category that one row in a hundred has would be ten standard deviations from all
// others, and no kernel would learn from one about the other.
func ScalingOf(d *Data, rows []int, source string) (Scaling, error) {
	_, n, err := ranks.Place(d.Ranks(), len(rows))
	if err != nil {
		return Scaling{}, err
	}
	if n == 0 {
		return Scaling{}, fmt.Errorf("%s: no rows to compute the scaling from (%s)", d.Source, source)
	}
	columns, err := d.Moments(rows)
	if err != nil {
		return Scaling{}, err
	}
	s := Scaling{Source: source}
	for j, name := range d.Inputs {
		m := columns[j]
		if !m.finite() {
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
	m := columns[d.Cols]
	if !m.finite() {
		return Scaling{}, overflow(d.Source, d.Target)
	}
	if m.Constant() {
		is, or := "is "+cautious.Number(m.Mean), "or declared constants"
		if m.SD > 0 {
			is = "differs by no more than rounding does from " + cautious.Number(m.Mean)
			or = "declared constants, or subtract a constant"
		}
		return Scaling{}, fmt.Errorf("%s: target %q %s on all %d rows that the scaling is computed from (%s): "+
			"use more prior rows, %s", d.Source, d.Target, is, n, source, or)
	}
	s.TargetMean, s.TargetScale = m.Mean, m.SD
	return s, nil
}

// Identity is the declared scaling that leaves cols inputs and the target as
// they are.
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
// or as the options of a model have them, in the order of its inputs.
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
	if file.Scaling.TargetScale != 0 {
		file.Scaling.Source = Declared
		return file.Scaling, nil
	}
	s := Scaling{Source: Declared}
	var missing []string
	var problems []error
	take := func(name string, c constants) (mean, scale float64) {
		switch {
		case c.Mean == nil || c.Scale == nil:
			problems = append(problems, fmt.Errorf("%s: %s needs both \"mean\" and \"scale\"", path, name))
			return 0, 1
		case *c.Scale <= 0:
			problems = append(problems, fmt.Errorf("%s: %s has scale %g: it must be positive", path, name, *c.Scale))
		}
		return *c.Mean, *c.Scale
	}
	for _, name := range d.Inputs {
		c, ok := file.Inputs[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
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
		problems = append(problems, fmt.Errorf("%s: %s has no input columns %s: remove or rename them", path, d.Source,
			spelling.Quoted(unknown, 20)))
	}
	if len(problems) > 0 {
		return Scaling{}, errors.Join(problems...)
	}
	return s, nil
}

// Validate reports constants by which nothing can be scaled: a mean without a scale, or the other way about, means that
// aren't numbers, and scales that aren't positive.
func (s Scaling) Validate() error {
	if len(s.InputMean) != len(s.InputScale) {
		return fmt.Errorf("%d means and %d scales of inputs: want one of each for every input", len(s.InputMean),
			len(s.InputScale))
	}
	for j, mean := range append(slices.Clone(s.InputMean), s.TargetMean) {
		what, scale := "the target", s.TargetScale
		if j < len(s.InputScale) {
			what, scale = fmt.Sprintf("input %d", j+1), s.InputScale[j]
		}
		if math.IsNaN(mean) || math.IsInf(mean, 0) || !(scale > 0) || math.IsInf(scale, 1) {
			return fmt.Errorf("%s has mean %v and scale %v: want numbers, the scale positive", what, mean, scale)
		}
	}
	return nil
}

// Inputs scales the rows of x (row-major) into dst, which may be x.
func (s Scaling) Inputs(dst, x []float64) {
	cols := len(s.InputMean)
	for first := 0; first < len(x); first += cols {
		for j := range cols {
			dst[first+j] = (x[first+j] - s.InputMean[j]) / s.InputScale[j]
		}
	}
}

// Target scales y into dst, which may be y.
func (s Scaling) Target(dst, y []float64) {
	for i, v := range y {
		dst[i] = (v - s.TargetMean) / s.TargetScale
	}
}

// RawMean turns a mean of the scaled target into the target's unit.
func (s Scaling) RawMean(m float64) float64 { return m*s.TargetScale + s.TargetMean }

// Outward moves the ends of an interval about a prediction, in the target's unit, outward: by 2⁻⁴⁹ of |lower| + |upper|
// + |TargetMean|, and 1e-9 of TargetScale. Whether a target lies within is decided in scaled units. Scaling it, the
// prediction in either unit, the width and the end round ten times at most, each by 2⁻⁵³ of one of these three: no
// target that was counted as within is lost. The second part is for predictions that another kind of processor computes
// in other last digits.
func (s Scaling) Outward(lower, upper float64) (low, high float64) {
	slack := s.slack(lower, upper)
	return lower - slack, upper + slack
}

// OutwardRelative is Outward for the y with |y − ŷ| ≤ ε|y|, from ŷ/(1 + ε) to ŷ/(1 − ε): an end moves by what the slack
// of ŷ becomes there. From ε = 1 on there are no ends.
func (s Scaling) OutwardRelative(mean, epsilon float64) (low, high float64) {
	if epsilon >= 1 {
		return -math.MaxFloat64, math.MaxFloat64
	}
	near, far := 1/(1+epsilon), 1/(1-epsilon)
	slack := s.slack(mean*near, mean*far)
	return s.Outward(min((mean-slack)*near, (mean-slack)*far), max((mean+slack)*near, (mean+slack)*far))
}

func (s Scaling) slack(lower, upper float64) float64 {
	const rounding, elsewhere = 0x1p-49, 1e-9
	return rounding*math.Abs(lower) + rounding*math.Abs(upper) + rounding*math.Abs(s.TargetMean) + elsewhere*s.TargetScale
}

// RawSD turns a variance of the scaled target into a standard deviation in the target's unit,
// which is a float64 also where its square is none.
func (s Scaling) RawSD(v float64) float64 { return math.Sqrt(v) * s.TargetScale }

// RawVariance turns a variance of the scaled target into the target's unit squared. One below the
// range of float64 is 0, one above it the largest float64: JSON and tables hold no infinity.
func (s Scaling) RawVariance(v float64) float64 {
	return min(v*s.TargetScale*s.TargetScale, math.MaxFloat64)
}
