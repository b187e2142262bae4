package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Stochastic is a function to minimise that can be estimated from a batch of rows.
type Stochastic interface {
	// Dim returns the number of parameters.
	Dim() int
	// BatchRows returns the number of rows that batches are drawn from.
	BatchRows() int
	// EvaluateBatch returns an estimate of the value at x from the rows with the given numbers, and
	// overwrites gradient with the estimate's derivatives.
	// Otherwise the rules of Objective.Evaluate hold.
	EvaluateBatch(x, gradient []float64, rows []int) (float64, error)
}

// Natural is a Stochastic that moves some of its parameters itself, by natural-gradient steps.
type Natural interface {
	Stochastic
	// StepBatch moves these parameters in x by a step of size rho on the batch.
	// It then acts as EvaluateBatch at the new x, but leaves zeros in gradient for the parameters
	// it has moved.
	StepBatch(x, gradient []float64, rows []int, rho float64) (float64, error)
}

// Annealed is a Stochastic that changes while it is minimised.
type Annealed interface {
	Stochastic
	// SetProgress gets, before every evaluation, the share of the steps that are done:
	// 0 at the first step, 1 at the last. The evaluation depends on the last call alone.
	SetProgress(share float64)
}

// Neighbours is a Stochastic whose rows have neighbours.
type Neighbours interface {
	Stochastic
	// Nearest fills batch with row and its nearest rows.
	Nearest(row int, batch []int) error
}

// Adam minimises by the steps of Kingma and Ba, "Adam:
// A Method for Stochastic Optimization", ICLR 2015, algorithm 1, on batches of rows, projected onto
// a box. With g_t the gradient of the batch of step t,
//
//	m_t = β₁m_{t−1} + (1−β₁)g_t,  v_t = β₂v_{t−1} + (1−β₂)g_t²,
//	x_t = P(x_{t−1} − r_t m̂_t/(√v̂_t + ε)),  m̂_t = m_t/(1−β₁ᵗ),  v̂_t = v_t/(1−β₂ᵗ).
//
// With Plain it takes steps of stochastic gradient descent (Robbins and Monro 1951) on the mean per
// row, x_t = P(x_{t−1} − r_t g_t/N).
//
// Before Adam's step, a Natural objective moves some parameters itself, on the same batch.
//
// In every epoch, Adam shuffles the rows and cuts them into batches that differ by at most one row
// in size. So an epoch uses every row once. The shuffle depends on Seed and the number of the epoch
// alone, so a resumed run continues bit for bit.
type Adam struct {
	Box          Bounds  // where the parameters must stay
	Steps        int     // number of steps of the run; must be positive
	Batch        int     // most rows of a batch; 0 means all
	LearningRate float64 // r_1; 0 means 0.01
	// FinalRate is the learning rate of the last step; 0 means a hundredth of LearningRate.
	// r_t approaches it along half a cosine (Loshchilov and Hutter, ICLR 2017), so that the noise
	// of the batches dies away.
	FinalRate   float64
	Seed        uint64
	NaturalStep float64 // ρ of a Natural objective; 0 means that Adam moves all parameters
	Plain       bool    // stochastic gradient descent instead of Adam
	Nearest     bool    // batches of neighbours; the objective must be a Neighbours
}

// The numbers of the paper, and how many failures in a row a run survives.
const (
	beta1       float64 = 0.9
	beta2       float64 = 0.999
	epsilon             = 1e-8
	maxFailures         = 20
)

// AdamState holds all that a run of Adam knows after a step. All numbers are finite, so
// encoding/json round-trips an AdamState exactly.
type AdamState struct {
	X []float64 `json:"x"`
	// x of the step before, to which a step outside the domain goes back
	Previous []float64 `json:"previous"`
	M        []float64 `json:"m"` // m, the mean of the gradients
	V        []float64 `json:"v"` // v, the mean of their squares

	Steps     int     `json:"steps"`
	Rejected  int     `json:"rejected"` // evaluations outside the objective's domain
	Rejection string  `json:"rejection"`
	Failures  int     `json:"failures"` // rejections since the last step that was taken
	Value     float64 `json:"value"`    // estimate from the last batch
	Sum       float64 `json:"sum"`      // sum of the values of this epoch
	Count     int     `json:"count"`    // number of these values
	// mean value of the last whole epoch, or of the first epoch so far
	Mean    float64 `json:"mean"`
	Stopped string  `json:"stopped"`
}

// StartAdam returns the state of a run that begins at x. It copies x.
func StartAdam(x []float64) *AdamState {
	n := len(x)
	return &AdamState{X: slices.Clone(x), Previous: slices.Clone(x), M: make([]float64, n),
		V: make([]float64, n)}
}

// Clone returns a copy that shares nothing with s.
func (s *AdamState) Clone() *AdamState {
	c := *s
	c.X, c.Previous, c.M, c.V = slices.Clone(s.X), slices.Clone(s.Previous), slices.Clone(
		s.M), slices.Clone(s.V)
	return &c
}

// StepLimit and Rejections are reasons to stop, which AdamState.Stopped holds.
const (
	StepLimit  = "step limit"
	Rejections = "no step stays inside the objective's domain"
)

// check returns an error unless the state is a possible one of n parameters: all vectors have n
// finite numbers, V isn't negative, and counts make sense.
func (s *AdamState) check(n int) error {
	if err := starts(s.X, n); err != nil {
		return err
	}
	for _, v := range [][]float64{s.Previous, s.M, s.V} {
		if len(v) != n || notFinite(v) >= 0 {
			return errDamaged
		}
	}
	if slices.ContainsFunc(s.V, func(v float64) bool { return v < 0 }) || !finite(s.Sum) ||
		!finite(s.Mean) {
		return errDamaged
	}
	return counts(s.Steps, s.Count, s.Rejected, s.Failures)
}

// withDefaults returns a with its zero fields filled in, or an error if another field is invalid.
func (a Adam) withDefaults(rows int) (Adam, error) {
	// for log-parameters of order one, one step changes them by about 1 %
	a.LearningRate = cmp.Or(a.LearningRate, 0.01)
	a.FinalRate = cmp.Or(a.FinalRate, a.LearningRate/100)
	if a.Batch == 0 || a.Batch > rows {
		a.Batch = rows
	}
	var err error
	bad := func(wrong bool, name string, v any, want string) {
		if wrong {
			err = errors.Join(err, fmt.Errorf("train: Adam.%s is %v; want %s", name, v, want))
		}
	}
	bad(a.Steps <= 0, "Steps", a.Steps, "a positive number")
	bad(a.Batch <= 0, "Batch", a.Batch, "a positive number of rows, or 0 for all")
	bad(!(a.LearningRate > 0) || !finite(a.LearningRate), "LearningRate", a.LearningRate,
		"a positive number")
	bad(!(a.FinalRate > 0 && a.FinalRate <= a.LearningRate), "FinalRate", a.FinalRate,
		"a positive number up to LearningRate")
	bad(!(a.NaturalStep >= 0 && a.NaturalStep <= 1), "NaturalStep", a.NaturalStep, "0 ≤ ρ ≤ 1")
	return a, err
}

// Batches returns the number of batches in an epoch of n rows.
func (a Adam) Batches(n int) int {
	if a.Batch <= 0 || a.Batch >= n {
		return 1
	}
	return (n + a.Batch - 1) / a.Batch
}

// shuffle writes the order of the rows in an epoch to order.
func (a Adam) shuffle(epoch int, order []int) {
	for i := range order {
		order[i] = i
	}
	rng := rand.New(rand.NewPCG(a.Seed, 0x6164616d00000000|uint64(epoch)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}

// Minimize runs from a state. A fresh state comes from StartAdam, and Minimize moves its X into the
// box. Any other state is one that an earlier run with the same objective, bounds and settings
// handed to step. Minimize doesn't change from. It returns the last state.
// Value and Mean of this state are estimates.
// Its X, one step on from Previous, hasn't been evaluated yet.
//
// If the objective can't be evaluated after a step, Minimize halves the step, up to 19 times.
// Then it goes back to the point before the step. If the objective fails there too, the run ends.
//
// Minimize calls step, unless nil, after every step taken.
// The state is valid only during the call, so keep a Clone.
// An error from step, or the end of ctx, ends the run.
// Minimize then returns the error with the state so far. Other errors come without a state:
// a start outside the domain (StartError), invalid settings, or neighbours that can't be found.
func (a Adam) Minimize(ctx context.Context, f Stochastic, from *AdamState,
	step func(*AdamState) error) (*AdamState, error) {
	r, err := a.begin(f, from)
	if err != nil {
		return nil, err
	}
	s := r.s
	for s.Steps < a.Steps {
		if err := ctx.Err(); err != nil {
			s.Stopped = Cancelled
			return s, err
		}
		// The schedule of α follows the share of steps that are done.
		if r.annealed != nil {
			r.annealed.SetProgress(r.share())
		}
		batch, err := r.next()
		if err != nil {
			return nil, err
		}
		value, reason := r.evaluate(batch)
		if reason != nil {
			if err := ctx.Err(); err != nil {
				s.Stopped = Cancelled
				return s, err
			}
			// Nothing precedes the start to go back to.
			if s.Steps == 0 {
				return nil, &StartError{reason}
			}
			if r.reject(reason); s.Stopped != "" {
				return s, nil
			}
			continue
		}
		r.take(value)
		if step != nil {
			if err := step(s); err != nil {
				s.Stopped = cmp.Or(s.Stopped, Cancelled)
				return s, err
			}
		}
	}
	s.Stopped = StepLimit
	return s, nil
}

// adamRun is a run of Adam between two steps.
type adamRun struct {
	Adam
	f            Stochastic
	natural      Natural    // nil: Adam moves all parameters
	annealed     Annealed   // nil: f is the same at every step
	neighbours   Neighbours // nil: batches are random rows
	lower, upper []float64
	rows         int
	order        []int // order of the rows in this epoch
	epoch        int
	s            *AdamState
	trial, g     []float64
}

// begin checks the settings and the state, and moves a fresh one into the box.
func (a Adam) begin(f Stochastic, from *AdamState) (r *adamRun, err error) {
	n := f.Dim()
	r = &adamRun{f: f, rows: f.BatchRows(), epoch: -1}
	if r.Adam, err = a.withDefaults(r.rows); err != nil {
		return nil, err
	}
	if r.lower, r.upper, err = bounds(a.Box, n, from, "StartAdam"); err != nil {
		return nil, err
	}
	var known bool
	if a.NaturalStep > 0 {
		if r.natural, known = f.(Natural); !known {
			return nil, errors.New("train: the objective has no natural-gradient steps: set " +
				"Adam.NaturalStep to 0")
		}
	}
	r.annealed, _ = f.(Annealed)
	if a.Nearest {
		if r.neighbours, known = f.(Neighbours); !known {
			return nil, errors.New("train: the objective's rows have no neighbours: set " +
				"Adam.Nearest to false")
		}
	}
	s := from.Clone()
	s.Stopped = ""
	// A resumed run must lie in its box already. Otherwise it has other settings.
	for i, x := range s.X {
		if s.X[i] = min(max(x, r.lower[i]), r.upper[i]); s.X[i] != x && s.Steps > 0 {
			return nil, fmt.Errorf("train: parameter %d of the state to resume from is %v, "+
				"outside its bounds [%v, %v]: start a new run from its x", i, x,
				r.lower[i], r.upper[i])
		}
	}
	if s.Steps == 0 && s.Failures == 0 {
		copy(s.Previous, s.X)
	}
	r.s = s
	r.order = make([]int, r.rows)
	r.trial = make([]float64, n)
	r.g = make([]float64, n)
	return r, nil
}

// share returns the share of the run that is done before the next step.
func (r *adamRun) share() float64 { return float64(r.s.Steps) / float64(max(r.Steps-1, 1)) }

// next returns the rows of the next step.
func (r *adamRun) next() ([]int, error) {
	batches := r.Batches(r.rows)
	t := r.s.Steps % batches
	epoch := r.s.Steps / batches
	batch := r.order[t*r.rows/batches : (t+1)*r.rows/batches]
	if f := r.neighbours; f != nil { // a row and its neighbours
		rng := rand.New(rand.NewPCG(r.Seed, 0x6e6e000000000000|uint64(r.s.Steps)))
		return batch, f.Nearest(rng.IntN(f.BatchRows()), batch)
	}
	if epoch != r.epoch {
		r.epoch = epoch
		r.shuffle(epoch, r.order)
	}
	return batch, nil
}

// evaluate returns the value on a batch, or the reason why no step can be taken.
// It leaves the point in trial and the gradient in g.
// The point is the state's X, moved by a natural-gradient step if the objective makes such steps.
func (r *adamRun) evaluate(batch []int) (value float64, reason error) {
	copy(r.trial, r.s.X)
	if r.natural != nil {
		value, reason = r.natural.StepBatch(r.trial, r.g, batch, r.NaturalStep)
	} else {
		value, reason = r.f.EvaluateBatch(r.trial, r.g, batch)
	}
	if reason != nil {
		return value, reason
	}
	if !finite(value) {
		return value, fmt.Errorf("the value is %v", value)
	}
	if i := slices.IndexFunc(r.g, func(d float64) bool { return !finite(d * d) }); i >= 0 {
		return value, fmt.Errorf("derivative %d is %v", i, r.g[i])
	}
	if i := notFinite(r.trial); i >= 0 {
		return value, fmt.Errorf("the natural-gradient step moves parameter %d to %v",
			i, r.trial[i])
	}
	return value, nil
}

// reject counts a failure. It halves the last step. At failure maxFailures it takes the step back,
// and at the next failure it ends the run.
func (r *adamRun) reject(reason error) {
	s := r.s
	s.Rejected++
	s.Failures++
	s.Rejection = reason.Error()
	switch {
	case s.Failures > maxFailures:
		s.Stopped = Rejections
	case s.Failures == maxFailures:
		copy(s.X, s.Previous)
	default:
		for i, x := range s.Previous {
			s.X[i] = x + (s.X[i]-x)/2
		}
	}
}

// take records the value, and moves the state's X by a step from trial against the gradient g.
func (r *adamRun) take(value float64) {
	s := r.s
	batches := r.Batches(r.rows)
	share := r.share()
	copy(s.Previous, r.trial)
	s.Failures = 0
	// Sum is of the current epoch. Mean is of the last whole epoch or, during the first, of the
	// batches so far.
	if s.Steps%batches == 0 {
		s.Sum = 0
		s.Count = 0
	}
	s.Steps++
	s.Value = value
	s.Sum += value
	s.Count++
	if s.Count == batches || s.Steps <= batches {
		s.Mean = s.Sum / float64(s.Count)
	}
	// The learning rate falls from LearningRate to FinalRate by half a cosine.
	rate := r.FinalRate + (r.LearningRate-r.FinalRate)*(1+math.Cos(math.Pi*share))/2
	// Adam's corrections for moments that start at 0 (Kingma & Ba 2015, Algorithm 1).
	c1 := 1 - math.Pow(beta1, float64(s.Steps))
	c2 := 1 - math.Pow(beta2, float64(s.Steps))
	for i, d := range r.g {
		if r.Plain {
			s.X[i] = min(max(r.trial[i]-rate*d/float64(r.rows), r.lower[i]), r.upper[i])
			continue
		}
		s.M[i] = beta1*s.M[i] + (1-beta1)*d
		s.V[i] = beta2*s.V[i] + (1-beta2)*d*d
		x := r.trial[i] - rate*(s.M[i]/c1)/(math.Sqrt(s.V[i]/c2)+epsilon)
		s.X[i] = min(max(x, r.lower[i]), r.upper[i])
	}
	if s.Steps == r.Steps {
		s.Stopped = StepLimit
	}
}
