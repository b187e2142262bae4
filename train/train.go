// Package train minimises smooth, expensive objectives of many parameters.
//
// An objective is anything with a value and a gradient ([Objective]); parameters may be boxed ([Bounds]). [LBFGS] is
// deterministic: the same objective, start and settings give the same iterates to the last bit, also when the run is
// stopped, its [State] written to a file and resumed from there. So is [Adam], for objectives that are estimated from
// batches of rows: its batches come from a seed. Nothing here prints or reads a clock; progress is the state handed to
// a callback after every step.
package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Objective is a function to minimise.
type Objective interface {
	// Dim is the number of parameters.
	Dim() int
	// Evaluate returns the value at x and, unless gradient is nil, overwrites gradient with the derivatives. It must not
	// change or keep either slice, and must return the same numbers for the same x.
	//
	// An error, or a value or derivative that is not finite, says that x lies outside the objective's domain (a matrix
	// that could not be factored, say): a trainer takes a shorter step then and counts the rejection.
	Evaluate(x, gradient []float64) (float64, error)
}

// Bounds boxes the parameters: Lower[i] <= x[i] <= Upper[i]. A nil slice leaves that side free,
// as does an infinite entry. Equal entries fix a parameter.
type Bounds struct {
	Lower, Upper []float64
}

// expand returns both sides with n entries each, or what is wrong with them.
func (b Bounds) expand(n int) (lower, upper []float64, err error) {
	side := func(name string, given []float64, free float64) []float64 {
		if given == nil {
			return slices.Repeat([]float64{free}, n)
		}
		if len(given) != n {
			err = errors.Join(err, fmt.Errorf("train: %s bounds have %d entries, the objective has %d parameters", name,
				len(given), n))
		}
		return slices.Clone(given)
	}
	lower, upper = side("lower", b.Lower, math.Inf(-1)), side("upper", b.Upper, math.Inf(1))
	if err != nil {
		return nil, nil, err
	}
	for i := range n {
		// The negation also catches NaN; an infinite bound on the wrong side leaves no point.
		if !(lower[i] <= upper[i]) || math.IsInf(lower[i], 1) || math.IsInf(upper[i], -1) {
			err = errors.Join(err, fmt.Errorf("train: parameter %d has bounds [%v, %v], which hold no number", i, lower[i],
				upper[i]))
		}
	}
	return lower, upper, err
}

// The reasons to stop, as they stand in State.Stopped and Result.Stopped.
const (
	ConvergedGradient = "converged: gradient" // the projected gradient is within GradientTolerance
	Converged         = "converged"           // the last iteration's decrease is within ValueTolerance
	IterationLimit    = "iteration limit"
	EvaluationLimit   = "evaluation limit"
	LineSearchFailed  = "line search failed" // no lower value even along the steepest descent; the best point stands
	Cancelled         = "cancelled"          // by the context or by the callback
)

// State is everything a run knows after an iteration. Minimising from it goes on as if the run had never stopped, bit
// for bit. It holds only finite numbers, so encoding/json round-trips it exactly.
type State struct {
	X        []float64 `json:"x"`
	Value    float64   `json:"value"`
	Gradient []float64 `json:"gradient"` // empty until the start is evaluated

	// S and Y are the last steps and the changes of the gradient along them, oldest first.
	S [][]float64 `json:"s"`
	Y [][]float64 `json:"y"`

	Iterations  int    `json:"iterations"`
	Evaluations int    `json:"evaluations"` // rejected ones included
	Rejected    int    `json:"rejected"`    // trial points outside the objective's domain
	Rejection   string `json:"rejection"`   // why the last of them was rejected

	// length of the last step along its direction; 1 is the quasi-Newton step
	Step     float64 `json:"step"`
	Decrease float64 `json:"decrease"` // (f_k - f_k+1)/max(|f_k|, |f_k+1|, 1) of the last iteration
	// largest derivative, leaving out those that push against a bound
	ProjectedGradient float64 `json:"projected_gradient"`
	Stopped           string  `json:"stopped"` // why the run ended; empty while it goes on
}

// Start is the state of a run that begins at x, which it copies.
func Start(x []float64) *State { return &State{X: slices.Clone(x)} }

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	c := *s
	c.X, c.Gradient = slices.Clone(s.X), slices.Clone(s.Gradient)
	c.S, c.Y = cloneAll(s.S), cloneAll(s.Y)
	return &c
}

func cloneAll(rows [][]float64) [][]float64 {
	c := make([][]float64, len(rows))
	for i, row := range rows {
		c[i] = slices.Clone(row)
	}
	return c
}

// check says what makes s no state of a run over n parameters: it may come from a file.
func (s *State) check(n int) error {
	if len(s.X) != n {
		return fmt.Errorf("train: the start has %d parameters, the objective has %d", len(s.X), n)
	}
	if i := notFinite(s.X); i >= 0 {
		return startless(i)
	}
	whole := len(s.Gradient) == 0 && len(s.S) == 0 || len(s.Gradient) == n
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

var errDamaged = errors.New("train: the state to resume from is damaged (lengths that differ, or numbers that are " +
	"not finite or not positive); start anew from its x")

// counts reports a count below 0, by which a run would go on beyond its limits.
func counts(all ...int) error {
	if least := slices.Min(all); least < 0 {
		return fmt.Errorf("train: the state to resume from is damaged (it counts %d); start anew from its x", least)
	}
	return nil
}

// Result is where a run ended.
type Result struct {
	X        []float64
	Value    float64
	Gradient []float64

	Iterations  int
	Evaluations int    // rejected ones included
	Rejected    int    // trial points outside the objective's domain
	Rejection   string // why the last of them was rejected
	Stopped     string // one of the constants of this package
	AtBound     []int  // parameters that ended on a bound
}

// StartError says that a run could not begin because its start lies outside the
// objective's domain. Any other start may do.
type StartError struct{ Reason error }

func (e *StartError) Error() string {
	return fmt.Sprintf("train: the objective cannot be evaluated at the start: %v", e.Reason)
}

// Unwrap returns what the objective said.
func (e *StartError) Unwrap() error { return e.Reason }

func finite(v float64) bool { return v-v == 0 }

// notFinite is the index of the first entry that is not finite, or -1.
func notFinite(v []float64) int {
	return slices.IndexFunc(v, func(e float64) bool { return !finite(e) })
}

// startless is the error of a start that has a parameter which isn't finite.
func startless(parameter int) error {
	return fmt.Errorf("train: parameter %d has no finite number to start from: scale the data, whose numbers are too "+
		"large or too far apart, or name a start", parameter)
}
