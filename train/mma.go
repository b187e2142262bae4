package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// MMA minimises in a box by the method of moving asymptotes in its globally convergent form
// (Svanberg, "A class of globally convergent optimization methods based on conservative convex
// separable approximations", SIAM J. Optim. 12, 2002), here without constraints.
// With d = x − x_k, f, g value and gradient at x_k, and asymptotes x_k ± σ, an iteration minimises
//
//	f + Σ_i [σ_i² g_i d_i + (σ_i |g_i| + ρ/2) d_i²]/(σ_i² − d_i²)
//
// over the box and |d_i| ≤ 0.9σ_i. ρ grows until the objective at the minimiser isn't above this
// approximation. σ_i grows by the factor 1.2 if parameter i moves the same way twice, and shrinks
// by 0.7 if it turns. The zero value is ready to use.
type MMA struct {
	Box               Bounds  // see In
	MaxEvaluations    int     // 0 means 1000; the iteration that reaches it is finished
	GradientTolerance float64 // as in LBFGS
	ValueTolerance    float64 // as in LBFGS
}

// In returns the same minimiser with the box b.
func (o MMA) In(b Bounds) MMA { o.Box = b; return o }

// MMAState holds all that a run of MMA knows after an iteration.
// All numbers are finite, so encoding/json round-trips an MMAState exactly.
type MMAState struct {
	X        []float64 `json:"x"`
	Value    float64   `json:"value"`
	Gradient []float64 `json:"gradient"` // empty until the start is evaluated
	Step     []float64 `json:"step"`     // the last step
	Sigma    []float64 `json:"sigma"`
	Rho      float64   `json:"rho"`

	Iterations  int     `json:"iterations"`
	Evaluations int     `json:"evaluations"` // including rejected evaluations
	Rejected    int     `json:"rejected"`    // trial points outside the objective's domain
	Rejection   string  `json:"rejection"`
	Decrease    float64 `json:"decrease"` // as in State
	Stopped     string  `json:"stopped"`
}

// StartMMA returns the state of a run that begins at x. It copies x.
func StartMMA(x []float64) *MMAState { return &MMAState{X: slices.Clone(x)} }

// Clone returns a copy that shares nothing with s.
func (s *MMAState) Clone() *MMAState {
	c := *s
	c.X, c.Gradient, c.Step, c.Sigma = slices.Clone(s.X), slices.Clone(s.Gradient), slices.Clone(
		s.Step), slices.Clone(s.Sigma)
	return &c
}

// check returns an error unless the state is a possible one of n parameters. A state without a
// gradient is fresh, and only needs its X.
func (s *MMAState) check(n int) error {
	if err := starts(s.X, n); err != nil {
		return err
	}
	for _, v := range [][]float64{s.Gradient, s.Step, s.Sigma} {
		if (len(s.Gradient) > 0 && len(v) != n) || notFinite(v) >= 0 || !finite(s.Value) ||
			!finite(s.Rho) {
			return errDamaged
		}
	}
	if len(s.Gradient) > 0 && (!(s.Rho > 0) || slices.ContainsFunc(s.Sigma, func(v float64) bool {
		return v < 0
	})) {
		return errDamaged
	}
	return counts(s.Iterations, s.Evaluations, s.Rejected)
}

// These are the constants of Svanberg 2002 and of its usual implementation.
const (
	trustShare = 0.9  // largest step, in units of σ
	rhoStart   = 1    // ρ of the first iteration
	rhoLeast   = 1e-5 // least ρ
	// σ of the first iterations, in units of the box's width; without a box σ is 1
	startSpread = 0.5
	// most refused trial points of an iteration; ρ is then beyond float64's digits
	maxRefusals  = 60
	sameWay      = 1.2  // factor of σ if a parameter moves the same way twice
	otherWay     = 0.7  // factor of σ if a parameter turns back
	leastSpread  = 0.01 // least σ, in units of the box's width
	mostSpread   = 10   // largest σ, in the same units
	rhoFall      = 0.1
	rhoRise      = 10
	rhoOvershoot = 1.1
)

// Minimize runs from a state. A fresh state comes from StartMMA, and Minimize moves its X into the
// box. Any other state is one that an earlier run with the same objective, bounds and settings
// handed to step. Otherwise Minimize works as LBFGS.Minimize does.
func (o MMA) Minimize(ctx context.Context, f Objective, from *MMAState,
	step func(*MMAState) error) (*Result, error) {
	// MMA stops by the criteria of L-BFGS.
	limits, err := LBFGS{MaxEvaluations: o.MaxEvaluations, MaxIterations: o.MaxEvaluations,
		GradientTolerance: o.GradientTolerance, ValueTolerance: o.ValueTolerance}.withDefaults()
	if err != nil {
		return nil, err
	}
	n := f.Dim()
	lower, upper, err := bounds(o.Box, n, from, "StartMMA")
	if err != nil {
		return nil, err
	}
	s := from.Clone()
	trial := make([]float64, n)
	g := make([]float64, n)
	if len(s.Gradient) == 0 {
		if err := s.begin(f, lower, upper, g); err != nil {
			return nil, &StartError{err}
		}
	}
	stopped := func() string {
		return limits.stopped(&State{ProjectedGradient: projected(s.X, s.Gradient, lower, upper),
			Iterations: s.Iterations, Evaluations: s.Evaluations, Decrease: s.Decrease})
	}
	for s.Stopped = stopped(); s.Stopped == ""; {
		accepted, err := s.improve(ctx, f, lower, upper, trial, g)
		if err != nil {
			s.Stopped = Cancelled
			return s.result(lower, upper), err
		}
		if !accepted {
			// A later run from this state begins with the curvature of a fresh run.
			s.Rho = rhoStart
			s.Stopped = LineSearchFailed
			break
		}
		s.Stopped = stopped()
		if step != nil {
			if err := step(s); err != nil {
				s.Stopped = cmp.Or(s.Stopped, Cancelled)
				return s.result(lower, upper), err
			}
		}
	}
	return s.result(lower, upper), nil
}

// begin moves a fresh state into the box, evaluates there, and sets the first σ and ρ.
func (s *MMAState) begin(f Objective, lower, upper, g []float64) error {
	for i, x := range s.X {
		s.X[i] = min(max(x, lower[i]), upper[i])
	}
	s.Evaluations++
	var err error
	if s.Value, err = evaluateFinite(f, s.X, g); err != nil {
		return err
	}
	n := len(s.X)
	s.Gradient = slices.Clone(g)
	s.Step = make([]float64, n)
	s.Sigma = make([]float64, n)
	s.Rho = rhoStart
	for i := range n {
		s.Sigma[i] = 1
		if w := upper[i] - lower[i]; !math.IsInf(w, 1) {
			s.Sigma[i] = startSpread * w
		}
	}
	return nil
}

// evaluateFinite calls Evaluate, and returns an error if the value or the gradient isn't finite.
func evaluateFinite(f Objective, x, g []float64) (float64, error) {
	value, err := f.Evaluate(x, g)
	if err == nil && (!finite(value) || notFinite(g) >= 0) {
		err = fmt.Errorf("the value is %v or its gradient isn't finite", value)
	}
	return value, err
}

// improve moves to the minimiser of the approximation.
// It raises ρ until the objective there is no higher than the approximation, and returns false if
// no ρ achieves that. Its error is the context's.
func (s *MMAState) improve(ctx context.Context, f Objective, lower, upper, trial,
	g []float64) (bool, error) {
	for range maxRefusals {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		model, curvature := s.approximate(lower, upper, trial)
		s.Evaluations++
		value, err := evaluateFinite(f, trial, g)
		switch {
		case err != nil:
			s.Rejected++
			s.Rejection = err.Error()
			s.Rho *= rhoRise
		case value <= model:
			s.advance(trial, value, g, lower, upper)
			return true, nil
		default:
			// The approximation was too low, so ρ rises to what the overshoot asks for, or tenfold
			// at most.
			s.Rho = min(rhoRise*s.Rho, rhoOvershoot*(s.Rho+(value-model)/curvature))
		}
		if !finite(s.Rho) {
			break
		}
	}
	return false, nil
}

// result returns copies of the state's current point and figures.
func (s *MMAState) result(lower, upper []float64) *Result {
	return &Result{X: slices.Clone(s.X), Value: s.Value, Gradient: slices.Clone(s.Gradient),
		Iterations: s.Iterations, Evaluations: s.Evaluations, Rejected: s.Rejected,
		Rejection: s.Rejection, Stopped: s.Stopped, AtBound: Bounds{lower, upper}.Ends(s.X)}
}

// approximate writes the minimiser of the approximation to x.
// It returns the approximation's value there, and the coefficient of ρ in this value.
func (s *MMAState) approximate(lower, upper, x []float64) (model, curvature float64) {
	model = s.Value
	for i, g := range s.Gradient {
		x[i] = s.X[i]
		sigma := s.Sigma[i]
		u := g * sigma * sigma
		v := math.Abs(g)*sigma + s.Rho/2
		if u == 0 || sigma == 0 {
			continue
		}
		// d is the zero of the derivative between the asymptotes: u(σ² + d²) + 2vσ²d = 0.
		q := u / (v * sigma)
		d := -(u / v) / (1 + math.Sqrt(max(1-q*q, 0)))
		d = min(max(d, -trustShare*sigma), trustShare*sigma)
		x[i] = min(max(s.X[i]+d, lower[i]), upper[i])
		d = x[i] - s.X[i]
		gap := sigma*sigma - d*d
		model += (u*d + v*d*d) / gap
		curvature += d * d / gap / 2
	}
	return model, curvature
}

// advance moves to x and adapts ρ and the asymptotes.
func (s *MMAState) advance(x []float64, value float64, g, lower, upper []float64) {
	s.Decrease = (s.Value - value) / max(math.Abs(s.Value), math.Abs(value), 1)
	for i, v := range x {
		d := v - s.X[i]
		switch turn := d * s.Step[i]; {
		case turn > 0:
			s.Sigma[i] *= sameWay
		case turn < 0:
			s.Sigma[i] *= otherWay
		}
		if w := upper[i] - lower[i]; !math.IsInf(w, 1) {
			s.Sigma[i] = min(max(s.Sigma[i], leastSpread*w), mostSpread*w)
		}
		s.Step[i] = d
	}
	copy(s.X, x)
	s.Value = value
	copy(s.Gradient, g)
	s.Rho = max(rhoFall*s.Rho, rhoLeast)
	s.Iterations++
}
