// Package train minimises smooth, expensive objectives of many parameters.
//
// This program minimises (x−1)² + 10(y−2)² where y is at most 1.5:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"math"
//
//		"github.com/krigo-gp/krigo/train"
//	)
//
//	type bowl struct{}
//
//	func (bowl) Dim() int { return 2 }
//
//	func (bowl) Evaluate(x, gradient []float64) (float64, error) {
//		u, v := x[0]-1, x[1]-2
//		if gradient != nil {
//			gradient[0], gradient[1] = 2*u, 20*v
//		}
//		return u*u + 10*v*v, nil
//	}
//
//	func main() {
//		box := train.Bounds{Upper: []float64{math.Inf(1), 1.5}}
//		r, err := train.LBFGS{}.In(box).Minimize(context.Background(), bowl{}, train.Start([]float64{0, 0}), nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%.4f at %.4f, %s\n", r.Value, r.X, r.Stopped)
//		// Output:
//		// 2.5000 at [1.0000 1.5000], converged: gradient
//	}
//
// An [Objective] has a value and a gradient. [Bounds] may limit its parameters to a box.
// [LBFGS] and [MMA] are deterministic: the same objective, start and settings give the same
// iterates to the last bit. This also holds if a run stops, its [State] is written to a file, and a
// later run resumes from the file. [Adam] minimises objectives that are estimated from batches of
// rows. Adam is deterministic too, because a seed draws its batches.
// The package doesn't print and doesn't read a clock.
// A callback gets the state after every step, and may report progress.
package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Objective is a function to minimise.
type Objective interface {
	// Dim returns the number of parameters.
	Dim() int
	// Evaluate returns the value at x and, unless gradient is nil, overwrites gradient with the
	// derivatives. It must not change or keep either slice, and must return the same numbers for
	// the same x.
	//
	// An error, or a value or derivative that isn't finite, means that x lies outside the
	// objective's domain, for example because a matrix can't be factored.
	// The trainer then tries a shorter step and counts a rejection.
	Evaluate(x, gradient []float64) (float64, error)
}

// Bounds limits the parameters to a box: Lower[i] <= x[i] <= Upper[i].
// A nil slice or an infinite entry sets no limit.
// Equal entries fix a parameter.
type Bounds struct {
	Lower, Upper []float64
}

// bounds returns b for n parameters. It returns an error if b is wrong, or if no run of n parameters
// can begin from the state from. start names the function that makes such a state.
func bounds[S any, P interface {
	*S
	check(n int) error
}](b Bounds, n int, from P, start string) (lower, upper []float64, err error) {
	lower, upper, err = b.expand(n)
	switch {
	case err != nil:
	case from == nil:
		err = errors.New("train: no state to start from; use " + start)
	default:
		err = from.check(n)
	}
	return lower, upper, err
}

// projected returns the size of the largest derivative at x among those of parameters that may move
// against their derivative, because no bound stops them.
func projected(x, gradient, lower, upper []float64) (largest float64) {
	for i, d := range gradient {
		if !((x[i] == lower[i] && d > 0) || (x[i] == upper[i] && d < 0)) {
			largest = max(largest, math.Abs(d))
		}
	}
	return largest
}

// Ends returns the parameters that lie on a bound.
func (b Bounds) Ends(x []float64) []int {
	return lists.Where(len(x), func(i int) bool { return x[i] == b.Lower[i] || x[i] == b.Upper[i] })
}

// expand returns both bounds with n entries each, or an error that says what is wrong with the
// bounds.
func (b Bounds) expand(n int) (lower, upper []float64, err error) {
	side := func(name string, given []float64, free float64) []float64 {
		if given == nil {
			return slices.Repeat([]float64{free}, n)
		}
		if len(given) != n {
			err = errors.Join(err,
				fmt.Errorf("train: %s bounds have %d entries, but the objective has %d parameters",
					name,
					len(given), n))
		}
		return slices.Clone(given)
	}
	lower = side("lower", b.Lower, math.Inf(-1))
	upper = side("upper", b.Upper, math.Inf(1))
	if err != nil {
		return nil, nil, err
	}
	for i := range n {
		// The negation also catches NaN. An infinite bound on the wrong side leaves no point.
		if !(lower[i] <= upper[i]) || math.IsInf(lower[i], 1) || math.IsInf(upper[i], -1) {
			err = errors.Join(err, fmt.Errorf("train: parameter %d has bounds [%v, %v], and no "+
				"number lies between them", i, lower[i], upper[i]))
		}
	}
	return lower, upper, err
}

// These are the reasons to stop, which State.Stopped and Result.Stopped hold.
const (
	ConvergedGradient = "converged: gradient" // the projected gradient is within GradientTolerance
	// the last iteration's decrease is within ValueTolerance
	Converged = "converged"
	// the last two iterations' decreases are within LBFGS.Enough
	Near             = "near a minimum"
	IterationLimit   = "iteration limit"
	EvaluationLimit  = "evaluation limit"
	LineSearchFailed = "line search failed" // even along the steepest descent; X is the best point
	Cancelled        = "cancelled"          // by the context or by the callback
)

// State holds all that a run knows after an iteration.
// A run that resumes from a State continues bit for bit as if it had never stopped.
// All numbers are finite, so encoding/json round-trips a State exactly.
type State struct {
	X        []float64 `json:"x"`
	Value    float64   `json:"value"`
	Gradient []float64 `json:"gradient"` // empty until the start is evaluated

	// S holds the last steps, and Y the changes of the gradient along them, oldest first.
	S [][]float64 `json:"s"`
	Y [][]float64 `json:"y"`

	Iterations  int    `json:"iterations"`
	Evaluations int    `json:"evaluations"` // including rejected evaluations
	Rejected    int    `json:"rejected"`    // trial points outside the objective's domain
	Rejection   string `json:"rejection"`   // reason of the last rejection

	// Step is the length of the last step along its direction; 1 is the whole quasi-Newton step.
	Step float64 `json:"step"`
	// (f_k - f_k+1)/max(|f_k|, |f_k+1|, 1) of the last iteration
	Decrease float64 `json:"decrease"`
	Before   float64 `json:"before,omitzero"` // Decrease of the iteration before
	// ProjectedGradient is the size of the largest derivative.
	// It leaves out derivatives that push against a bound.
	ProjectedGradient float64 `json:"projected_gradient"`
	Stopped           string  `json:"stopped"` // why the run ended; empty while it goes on
}

// Start returns the state of a run that begins at x. It copies x.
func Start(x []float64) *State { return &State{X: slices.Clone(x)} }

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	c := *s
	c.X, c.Gradient = slices.Clone(s.X), slices.Clone(s.Gradient)
	c.S, c.Y = lists.Of(s.S, slices.Clone[[]float64]), lists.Of(s.Y, slices.Clone[[]float64])
	return &c
}

// Onward returns the state of a run that begins at x on a function with factor times the curvature
// that this run has met, such as the evidence of more rows.
func (s *State) Onward(factor float64) *State {
	from := Start(s.X)
	from.S = lists.Of(s.S, slices.Clone[[]float64])
	from.Y = lists.Of(s.Y, func(row []float64) []float64 {
		return lists.Of(row, func(y float64) float64 { return factor * y })
	})
	return from
}

// starts returns an error if no run over n parameters starts at x.
func starts(x []float64, n int) error {
	if len(x) != n {
		return fmt.Errorf("train: the start has %d parameters, but the objective has %d", len(x), n)
	}
	if i := notFinite(x); i >= 0 {
		return fmt.Errorf("train: parameter %d has no finite number to start from, because the "+
			"data's numbers are too large or too far apart: scale the data, or give a start", i)
	}
	return nil
}

// check returns an error if s isn't a state of a run over n parameters.
// s may come from a damaged file.
func (s *State) check(n int) error {
	if err := starts(s.X, n); err != nil {
		return err
	}
	whole := len(s.Gradient) == 0 || len(s.Gradient) == n
	whole = whole && len(s.S) == len(s.Y) && notFinite(s.Gradient) < 0 && finite(s.Value)
	for _, rows := range [][][]float64{s.S, s.Y} {
		for _, row := range rows {
			whole = whole && len(row) == n && notFinite(row) < 0
		}
	}
	if !whole {
		return errDamaged
	}
	return counts(s.Iterations, s.Evaluations, s.Rejected)
}

var errDamaged = errors.New("train: the state to resume from is damaged (its lengths differ, or " +
	"a number isn't finite or positive): start a new run from its x")

// counts returns an error if a count is negative. With such a count a run would exceed its limits.
func counts(all ...int) error {
	if least := slices.Min(all); least < 0 {
		return fmt.Errorf("train: the state to resume from is damaged (it counts %d): start a "+
			"new run from its x", least)
	}
	return nil
}

// Result is where a run ended.
type Result struct {
	X        []float64
	Value    float64
	Gradient []float64

	Iterations  int
	Evaluations int    // including rejected evaluations
	Rejected    int    // trial points outside the objective's domain
	Rejection   string // reason of the last rejection
	Stopped     string // one of the constants of this package
	AtBound     []int  // parameters that ended on a bound
}

// StartError is the error of a run that couldn't begin, because its start lies outside the
// objective's domain. Another start may work.
type StartError struct{ Reason error }

func (e *StartError) Error() string {
	return fmt.Sprintf("train: the objective can't be evaluated at the start: %v", e.Reason)
}

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Reason }

// finite says whether v is neither infinite nor NaN: ∞ − ∞ and NaN − NaN are NaN.
func finite(v float64) bool { return v-v == 0 }

// notFinite returns the index of the first entry that isn't finite, or -1.
func notFinite(v []float64) int {
	return slices.IndexFunc(v, func(e float64) bool { return !finite(e) })
}
