package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// LBFGS minimises a smooth function in a box by limited-memory quasi-Newton steps.
// The zero value is ready to use.
//
// Each iteration first holds fixed every parameter that sits on a bound and that the gradient
// pushes against the bound.
// It takes the direction to the minimiser of the quasi-Newton model over the other parameters (the
// two-loop recursion of Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.4).
// It then searches along this direction, projected onto the box, so that one step may reach any
// number of bounds (Bertsekas, SIAM J. Control Optim. 20, 1982).
// The subspace minimisation and the stopping tests come from L-BFGS-B (Byrd, Lu, Nocedal and Zhu,
// SIAM J. Sci. Comput. 16, 1995). LBFGS does without the Cauchy point and the compact matrices of
// L-BFGS-B.
type LBFGS struct {
	Box Bounds // see In
	// Memory is the number of past steps kept; 0 means 10.
	Memory int
	// MaxIterations stops the run; 0 means 1000.
	MaxIterations int
	// MaxEvaluations stops the run after the iteration that reaches it; 0 means 1000.
	// So a run may exceed it by a line search, and resuming with a higher limit changes no iterate.
	MaxEvaluations int
	// GradientTolerance stops the run once State.ProjectedGradient is no larger; 0 means 1e-6.
	// A negative number switches the test off.
	GradientTolerance float64
	// ValueTolerance stops the run when an iteration lowers the value by no more than this,
	// relative to max(|value|, 1); 0 means 1e-9. A negative number switches the test off.
	ValueTolerance float64
	// Enough, unless 0, stops the run when two iterations in a row each lower the value by no more.
	// One such iteration may only have been a short step.
	Enough float64
}

// In returns the same minimiser with the box b.
func (o LBFGS) In(b Bounds) LBFGS { o.Box = b; return o }

// MostEvaluations is the default of MaxEvaluations in LBFGS and MMA.
const MostEvaluations = 1000

// withDefaults returns o with its zero fields filled in, or an error if another field is invalid.
func (o LBFGS) withDefaults() (LBFGS, error) {
	var err error
	limit := func(name string, v *int, unset int) {
		if *v < 0 {
			err = errors.Join(err, fmt.Errorf("train: LBFGS.%s is %d; it must be positive, or 0 "+
				"for %d", name, *v, unset))
		}
		*v = cmp.Or(*v, unset)
	}
	tolerance := func(name string, v *float64, unset float64) {
		if math.IsNaN(*v) {
			err = errors.Join(err, fmt.Errorf("train: LBFGS.%s is not a number", name))
		}
		*v = cmp.Or(*v, unset)
	}
	// The memory and the limits come from the published PAC-GP experiments:
	// SciPy's history of 10, and 1000 iterations and evaluations.
	// The experiments had tolerances of 1e-8. Evidence and bounds, which are sums over factored
	// matrices, are good to about 1e-12 relative.
	// The tolerance 1e-9 stays clear of this noise, and is far too small to change a prediction.
	// A derivative of 1e-6 in a log-parameter leaves the value off by about 1e-12 divided by the
	// curvature.
	limit("Memory", &o.Memory, 10)
	limit("MaxIterations", &o.MaxIterations, MostEvaluations)
	limit("MaxEvaluations", &o.MaxEvaluations, MostEvaluations)
	tolerance("GradientTolerance", &o.GradientTolerance, 1e-6)
	tolerance("ValueTolerance", &o.ValueTolerance, 1e-9)
	return o, err
}

// stopped returns the reason to end a run in state s, or "". It depends on s alone.
// So a run that stopped on a limit or a tolerance continues if it is resumed with a wider limit or
// tolerance.
func (o LBFGS) stopped(s *State) string {
	switch {
	case s.ProjectedGradient <= o.GradientTolerance:
		return ConvergedGradient
	case s.Iterations > 0 && s.Decrease <= o.ValueTolerance:
		return Converged
	case s.Iterations > 1 && max(s.Decrease, s.Before)*max(math.Abs(s.Value), 1) <= o.Enough:
		return Near
	case s.Iterations >= o.MaxIterations:
		return IterationLimit
	case s.Evaluations >= o.MaxEvaluations:
		return EvaluationLimit
	}
	return ""
}

// Minimize runs from a state. A fresh state comes from [Start], and Minimize moves its X into the
// box. Any other state is one that an earlier run with the same objective and bounds handed to
// step. Minimize doesn't change from.
//
// Minimize calls step, unless nil, after every iteration.
// The State is valid only during the call, so keep a [State.Clone].
// An error from step, or the end of ctx, ends the run. Minimize checks ctx before every evaluation.
// It returns the error with the Result so far. Other errors come without a Result:
// invalid bounds, settings or state, and a start outside the objective's domain.
func (o LBFGS) Minimize(ctx context.Context, f Objective, from *State,
	step func(*State) error) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	lower, upper, err := bounds(o.Box, f.Dim(), from, "Start")
	if err != nil {
		return nil, err
	}
	r := newRun(ctx, f, from.Clone(), lower, upper, o.Memory)
	if err := r.begin(); err != nil {
		return nil, err
	}
	s := r.State
	// A state that meets a criterion already, such as the last state of a run, takes no step.
	for s.Stopped = o.stopped(s); s.Stopped == ""; {
		advanced, err := r.iterate()
		if err != nil {
			s.Stopped = Cancelled
			return r.result(), err
		}
		if !advanced {
			s.Stopped = LineSearchFailed
			break
		}
		s.Stopped = o.stopped(s)
		if step == nil {
			continue
		}
		if err := step(s); err != nil {
			s.Stopped = cmp.Or(s.Stopped, Cancelled)
			return r.result(), err
		}
	}
	return r.result(), nil
}

// run is a State with the workspaces of an iteration.
// Only the State outlives an iteration, which makes resuming exact.
type run struct {
	*State
	ctx          context.Context
	f            Objective
	lower, upper []float64
	memory       int

	free      []bool    // parameters that this iteration may move
	d         []float64 // direction, zero where not free
	trial, tg []float64 // trial point of the line search and its gradient
	low, lg   []float64 // the best bracketing point so far and its gradient
	rho, a    []float64 // workspace of the two-loop recursion
	v, q      []float64 // workspace of the conjugate gradients
}

// newRun returns a run from state s, which it changes. It drops the oldest pairs beyond memory.
func newRun(ctx context.Context, f Objective, s *State, lower, upper []float64, memory int) *run {
	n := len(s.X)
	if old := len(s.S) - memory; old > 0 {
		s.S = s.S[old:]
		s.Y = s.Y[old:]
	}
	row := func() []float64 { return make([]float64, n) }
	return &run{
		State: s, ctx: ctx, f: f, lower: lower, upper: upper, memory: memory,
		free: make([]bool, n), d: row(), trial: row(), tg: row(), low: row(), lg: row(),
		rho: make([]float64, memory), a: make([]float64, memory), v: row(), q: row(),
	}
}

// begin evaluates a fresh start. A resumed start must lie in the box already.
func (r *run) begin() error {
	fresh := len(r.Gradient) == 0
	for i, x := range r.X {
		if r.X[i] = min(max(x, r.lower[i]), r.upper[i]); r.X[i] != x && !fresh {
			return fmt.Errorf("train: parameter %d of the state to resume from is %v, outside "+
				"its bounds [%v, %v]: start a new run from its x", i, x, r.lower[i], r.upper[i])
		}
	}
	if fresh {
		r.Gradient = make([]float64, len(r.X))
		value, reason, err := r.evaluate(r.X, r.Gradient)
		if err != nil {
			return err
		}
		if reason != nil {
			return &StartError{reason}
		}
		r.Value = value
	}
	r.ProjectedGradient = projected(r.X, r.Gradient, r.lower, r.upper)
	return nil
}

// evaluate returns the value at x and fills g, or returns the reason why x is outside the domain.
// err is the context's error.
func (r *run) evaluate(x, g []float64) (value float64, reason, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, nil, err
	}
	r.Evaluations++
	value, reason = r.f.Evaluate(x, g)
	if reason == nil && !finite(value) {
		reason = fmt.Errorf("the value is %v", value)
	}
	if reason == nil {
		if i := notFinite(g); i >= 0 {
			reason = fmt.Errorf("derivative %d is %v", i, g[i])
		}
	}
	if reason != nil {
		// An objective may fail because it watches the same context. That is no rejection.
		if err := r.ctx.Err(); err != nil {
			return 0, nil, err
		}
		r.Rejected++
		r.Rejection = reason.Error()
	}
	return value, reason, nil
}

// outward says whether parameter i sits on a bound and v leads across it.
func (r *run) outward(i int, v float64) bool {
	return (v < 0 && r.X[i] == r.lower[i]) || (v > 0 && r.X[i] == r.upper[i])
}

// iterate makes one iteration. It returns false if no step lowers the value, and the context's
// error if this error ends the run.
func (r *run) iterate() (bool, error) {
	for {
		slope, t := r.direction()
		value, t, err := r.search(slope, t)
		if err != nil {
			return false, err
		}
		if t > 0 {
			r.accept(value, t)
			return true, nil
		}
		if len(r.S) == 0 {
			return false, nil
		}
		r.S = r.S[:0]
		r.Y = r.Y[:0] // try again along the steepest descent
	}
}

// direction fills free and d. It returns the slope of the objective along d, which is negative, and
// the step to try first.
func (r *run) direction() (slope, t float64) {
	for i, g := range r.Gradient {
		r.free[i] = !r.outward(i, -g)
	}
	for len(r.S) > 0 {
		r.newton()
		// The direction may lead a parameter on a bound outward although the gradient pulls it
		// inward. Only to zero its entry of d would spoil the descent, so the loop holds the
		// parameter and recomputes the whole direction.
		// Fewer parameters are free each time, so the loop ends.
		feasible := true
		for i, d := range r.d {
			if r.free[i] && r.outward(i, d) {
				r.free[i] = false
				feasible = false
			}
		}
		if !feasible {
			continue
		}
		// The angle test finds pairs of S and Y so ill-conditioned that rounding has destroyed the
		// descent.
		slope = dot(r.Gradient, r.d)
		if slope < -1e-12*norm(r.Gradient, r.free)*norm(r.d, r.free) {
			return slope, 1
		}
		r.S = r.S[:0]
		r.Y = r.Y[:0]
	}
	for i, g := range r.Gradient {
		r.free[i] = !r.outward(i, -g)
		r.d[i] = 0
		if r.free[i] {
			r.d[i] = -g
		}
	}
	slope = dot(r.Gradient, r.d)
	// The scale of the objective isn't known yet.
	// The step is at most 1 long, which log-parameters can bear.
	return slope, min(1, 1/math.Sqrt(-slope))
}

// newton sets d to the minimiser of the quasi-Newton model while the parameters that aren't free
// stay fixed: d = −B_FF⁻¹g_F, with B the inverse of the two-loop recursion's H.
// Restricting the pairs to the free parameters would be cheaper.
// But just after a parameter has met its bound, that would mistake gradient changes that the other
// parameters caused for curvature. The same d is H(λ-g) with multipliers λ at the held parameters,
// chosen so that d vanishes there. Conjugate gradients find them from H_AA λ' = -(H v)_A, where v
// is -g_F at the free parameters and 0 elsewhere.
// H_AA is a multiple of the identity plus a matrix of twice the pairs' rank, so they end after some
// 2·pairs+1 products, however many parameters are held.
// Products with H are cheap beside an evaluation.
func (r *run) newton() {
	for j, s := range r.S {
		y := r.Y[j]
		r.rho[j] = 0
		// On a quadratic the cosine of s and y is at least 2/sqrt(condition number).
		// So 1e-10 leaves out only pairs that rounding or a bound on the path has made.
		if sy := dot(s, y); sy > 1e-10*math.Sqrt(dot(s, s))*math.Sqrt(dot(y, y)) {
			r.rho[j] = 1 / sy
		}
	}
	held := false
	for i, g := range r.Gradient {
		r.v[i] = 0
		if r.free[i] {
			r.v[i] = -g
		}
		held = held || !r.free[i]
	}
	r.twoLoop(r.d, r.v)
	if !held {
		return
	}
	residual := func() (sum float64) {
		for i, d := range r.d {
			if !r.free[i] {
				sum += d * d
			}
		}
		return sum
	}
	rr := residual()
	before := math.Inf(1) // so that the first direction is the residual alone
	clear(r.v)
	for range 4*len(r.S) + 4 { // twice what exact arithmetic would need
		if rr <= 1e-20*dot(r.d, r.d) {
			break
		}
		for i, d := range r.d {
			if !r.free[i] {
				r.v[i] = -d + rr/before*r.v[i]
			}
		}
		r.twoLoop(r.q, r.v)
		step := rr / dot(r.v, r.q)
		for i, q := range r.q {
			r.d[i] += step * q
		}
		before = rr
		rr = residual()
	}
	for i, free := range r.free {
		if !free {
			r.d[i] = 0
		}
	}
}

// twoLoop sets h = H v. It skips pairs without positive curvature, which would make H indefinite.
func (r *run) twoLoop(h, v []float64) {
	copy(h, v)
	scale := 1.0
	for j, s := range slices.Backward(r.S) {
		if r.rho[j] == 0 {
			continue
		}
		r.a[j] = r.rho[j] * dot(s, h)
		add(h, -r.a[j], r.Y[j])
		if scale == 1 {
			// of the latest pair: Nocedal and Wright, (7.20)
			scale = 1 / (r.rho[j] * dot(r.Y[j], r.Y[j]))
		}
	}
	floats.Scale(scale, h)
	for j, s := range r.S {
		if r.rho[j] != 0 {
			add(h, r.a[j]-r.rho[j]*dot(r.Y[j], h), s)
		}
	}
}

const (
	// armijo and wolfe are the constants of sufficient decrease and curvature that Nocedal and
	// Wright (section 3.1) give for quasi-Newton directions.
	armijo = 1e-4
	wolfe  = 0.9
	// maxTrials is the most trials of a line search. Smooth functions need one or two.
	// Twenty quarterings or bisections bridge six orders of magnitude or more.
	maxTrials = 20
)

// trialPoint is a step t along the path, with the value f and the slope of the path there.
type trialPoint struct{ t, f, slope float64 }

// search looks along the projected path x(t) = P(x + t·d), starting with t, for a point of
// sufficient decrease and weak curvature. It brackets the point as Lewis and Overton do (Math.
// Program. 141, 2013, algorithm 2.6), but interpolates instead of bisecting.
// It leaves the point in trial and tg, and returns the point's value and t, or t = 0 if there is no
// such point.
//
// A path that has met a bound has kinks. The curvature condition may then have no solution and says
// little, so the decrease suffices.
func (r *run) search(slope, t float64) (float64, float64, error) {
	low := trialPoint{0, r.Value, slope}
	high := trialPoint{t: math.Inf(1)} // f is NaN for a rejected point
	for trial := range maxTrials {
		if trial > 0 && -slope*t <= 0x1p-53*math.Abs(r.Value) {
			break // rounding would hide a decrease
		}
		clipped, moved, decrease, first := r.project(t)
		if !moved {
			break
		}
		value, reason, err := r.evaluate(r.trial, r.tg)
		if err != nil {
			return 0, 0, err
		}
		if reason != nil {
			high = trialPoint{t: t, f: math.NaN()}
			t = next(low, high, trial)
			continue
		}
		at := trialPoint{t, value, 0}
		for i, d := range r.d {
			if p := r.X[i] + t*d; p >= r.lower[i] && p <= r.upper[i] {
				at.slope += r.tg[i] * d
			}
		}
		// Past a bound, g·(x(t)-x) may be positive, because parameters that lead down are held
		// while others go on. The required decrease is then the decrease of the path up to its
		// first bound. Short enough steps reach it.
		if value > r.Value+armijo*min(decrease, slope*first) || !(value < r.Value) {
			high = at
			t = next(low, high, trial)
			continue
		}
		if clipped || at.slope >= wolfe*slope {
			return value, t, nil
		}
		previous := low
		low = at
		copy(r.low, r.trial)
		copy(r.lg, r.tg)
		if math.IsInf(high.t, 1) {
			t = extrapolate(previous, low)
		} else {
			t = next(low, high, trial)
		}
	}
	// Without a point that meets both conditions, take the lowest point, if any.
	copy(r.trial, r.low)
	copy(r.tg, r.lg)
	return low.f, low.t, nil
}

// project puts P(x + t·d) into trial. clipped says whether a bound cut a parameter off, and moved
// whether trial differs from x. decrease is the predicted change g·(trial-x).
// first is the smaller of t and the step at which the path meets its first bound.
func (r *run) project(t float64) (clipped, moved bool, decrease, first float64) {
	first = t
	for i, x := range r.X {
		d := r.d[i]
		p := x + t*d
		if p < r.lower[i] || p > r.upper[i] {
			p = min(max(p, r.lower[i]), r.upper[i])
			clipped = true
			first = min(first, (p-x)/d)
		}
		r.trial[i] = p
		moved = moved || p != x
		decrease += r.Gradient[i] * (p - x)
	}
	return clipped, moved, decrease, first
}

// next returns the step to try between low and high:
// the minimiser of the cubic through both values and slopes.
// If the minimiser of the quadratic without the slope at high is nearer to low, next returns the
// mean of both minimisers (Moré and Thuente, ACM Trans. Math. Softw. 20, 1994, case 1).
// The step stays a tenth of the bracket away from its ends.
// Every fourth trial bisects, so that the bracket can't shrink slowly for ever.
// A rejected high only says that high is too far, so the step is a quarter of the way there.
func next(low, high trialPoint, trial int) float64 {
	width := high.t - low.t
	switch {
	case math.IsNaN(high.f):
		return low.t + width/4
	case trial%4 == 3:
		return low.t + width/2
	}
	t := cubic(low, high)
	if high.f > low.f {
		quadratic := low.t + width*low.slope/(2*(low.slope+(low.f-high.f)/width))
		if math.IsNaN(t) {
			t = quadratic
		} else if t > quadratic {
			t -= (t - quadratic) / 2
		}
	}
	if math.IsNaN(t) {
		return low.t + width/2
	}
	return min(max(t, low.t+width/10), high.t-width/10)
}

// extrapolate returns the step to try beyond b, if the slope at b is still too steep. It is the
// farther of the minimisers of the cubic and of the parabola through the slopes, within the limits
// of Moré and Thuente.
func extrapolate(a, b trialPoint) float64 {
	width := b.t - a.t
	near := b.t + 1.1*width
	far := b.t + 4*width
	t := 0.0
	if b.slope > a.slope {
		t = b.t + b.slope*width/(a.slope-b.slope)
	}
	if c := cubic(a, b); c > b.t {
		t = max(t, c)
	}
	if t == 0 { // the slope gets steeper: no minimum in sight
		return far
	}
	return min(max(t, near), far)
}

// cubic returns the minimiser of the cubic with the values and slopes of a and b, a.t < b.t
// (Nocedal and Wright, (3.59)), or NaN if the cubic has no minimum.
func cubic(a, b trialPoint) float64 {
	width := b.t - a.t
	d1 := a.slope + b.slope - 3*(b.f-a.f)/width
	d2 := math.Sqrt(d1*d1 - a.slope*b.slope)
	return b.t - width*(b.slope+d2-d1)/(b.slope-a.slope+2*d2)
}

// accept moves to the trial point, and keeps the pair of the step and the change of the gradient.
func (r *run) accept(value, t float64) {
	var s, y []float64
	if len(r.S) < r.memory {
		s = make([]float64, len(r.X))
		y = make([]float64, len(r.X))
	} else { // reuse the slices of the oldest pair
		s = r.S[0]
		y = r.Y[0]
		r.S = r.S[:copy(r.S, r.S[1:])]
		r.Y = r.Y[:copy(r.Y, r.Y[1:])]
	}
	// s = change of x, y = change of the gradient
	for i := range s {
		s[i], y[i] = r.trial[i]-r.X[i], r.tg[i]-r.Gradient[i]
	}
	r.S = append(r.S, s)
	r.Y = append(r.Y, y)

	r.Iterations++
	r.Step = t
	r.Before = r.Decrease
	// relative to the value, but not to less than 1
	r.Decrease = (r.Value - value) / max(math.Abs(r.Value), math.Abs(value), 1)
	r.Value = value
	copy(r.X, r.trial)
	copy(r.Gradient, r.tg)
	r.ProjectedGradient = projected(r.X, r.Gradient, r.lower, r.upper)
}

// result returns the current point as a Result. It shares the state's slices.
func (r *run) result() *Result {
	return &Result{X: r.X, Value: r.Value, Gradient: r.Gradient, Iterations: r.Iterations,
		Evaluations: r.Evaluations, Rejected: r.Rejected, Rejection: r.Rejection,
		Stopped: r.Stopped, AtBound: Bounds{r.lower, r.upper}.Ends(r.X)}
}

// add adds c·v to h.
func add(h []float64, c float64, v []float64) {
	for i, e := range v {
		h[i] += c * e
	}
}

// dot returns the scalar product of a and b. b has at least the length of a.
func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// norm returns the Euclidean length of v over the free parameters.
func norm(v []float64, free []bool) float64 {
	sum := 0.0
	for i, e := range v {
		if free[i] {
			sum += e * e
		}
	}
	return math.Sqrt(sum)
}
