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
	// Dim is the number of parameters.
	Dim() int
	// BatchRows is the number of rows that batches are drawn from.
	BatchRows() int
	// EvaluateBatch returns an estimate of the value at x from the rows with these numbers, and
	// overwrites gradient with its derivatives. Otherwise it is as Objective.Evaluate.
	EvaluateBatch(x, gradient []float64, rows []int) (float64, error)
}

// Natural is a Stochastic that moves some of its parameters itself, by natural-gradient steps.
type Natural interface {
	Stochastic
	// StepBatch moves them in x by a step of size rho on the batch and then acts as EvaluateBatch
	// at the new x, with zeros in gradient for what it has moved.
	StepBatch(x, gradient []float64, rows []int, rho float64) (float64, error)
}

// Annealed is a Stochastic that is deformed while it is minimised.
type Annealed interface {
	Stochastic
	// SetProgress is called before every evaluation with the share of the steps that are done: 0
	// at the first step, 1 at the last. What follows depends on the last call alone.
	SetProgress(share float64)
}

// Neighbours is a Stochastic whose rows have neighbours.
type Neighbours interface {
	Stochastic
	// Nearest fills batch with row and the rows nearest to it.
	Nearest(row int, batch []int) error
}

// Adam minimises by the steps of Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1,
// on batches of rows, projected onto a box: with g_t the gradient of the batch of step t,
//
//	m_t = β₁m_{t−1} + (1−β₁)g_t,  v_t = β₂v_{t−1} + (1−β₂)g_t²,
//	x_t = P(x_{t−1} − r_t m̂_t/(√v̂_t + ε)),  m̂_t = m_t/(1−β₁ᵗ),  v̂_t = v_t/(1−β₂ᵗ).
//
// With Plain the steps are those of stochastic gradient descent (Robbins and Monro 1951) on the
// mean per row, x_t = P(x_{t−1} − r_t g_t/N).
//
// What a Natural objective moves itself is moved first, on the same batch.
//
// In every epoch the rows are shuffled anew and cut into batches of equal size, to within one row, so that each is used
// once. The shuffle of an epoch depends on Seed and the epoch alone: a run that is resumed goes on bit for bit.
type Adam struct {
	Box          Bounds  // see In
	Steps        int     // where the run ends; must be positive
	Batch        int     // rows of a batch at most; 0 means all
	LearningRate float64 // r_1; 0 means 0.01
	// FinalRate is the learning rate of the last step, which r_t approaches along half a cosine (Loshchilov and Hutter,
	// ICLR 2017), so that the noise of the batches dies away; 0 means a hundredth of LearningRate.
	FinalRate    float64
	Beta1, Beta2 float64 // 0 means 0.9 and 0.999, those of the paper, as 1e-8 for Epsilon
	Epsilon      float64
	Seed         uint64
	NaturalStep  float64 // ρ of a Natural objective; 0: Adam moves all parameters
	MaxFailures  int     // in a row, before the run ends; 0 means 20
	Plain        bool    // stochastic gradient descent
	Nearest      bool    // batches of neighbours, of a Neighbours objective
}

// In returns the same minimiser, that stays in a box.
func (a Adam) In(b Bounds) Adam {
	a.Box = b
	return a
}

// AdamState is everything a run of Adam knows after a step. It holds only finite numbers, so that
// encoding/json round-trips it exactly.
type AdamState struct {
	X        []float64 `json:"x"`
	Previous []float64 `json:"previous"` // of the step before: where a step outside the domain goes back to
	M        []float64 `json:"m"`        // of the gradients
	V        []float64 `json:"v"`        // of their squares

	Steps     int     `json:"steps"`
	Rejected  int     `json:"rejected"` // evaluations outside the objective's domain
	Rejection string  `json:"rejection"`
	Failures  int     `json:"failures"` // of them, since the last that wasn't
	Value     float64 `json:"value"`    // estimate of the last batch
	Sum       float64 `json:"sum"`      // of the values of this epoch
	Count     int     `json:"count"`
	Mean      float64 `json:"mean"` // of the values of the last whole epoch, or of this one while it is the first
	Stopped   string  `json:"stopped"`
}

// StartAdam is the state of a run that begins at x, which it copies.
func StartAdam(x []float64) *AdamState {
	n := len(x)
	return &AdamState{X: slices.Clone(x), Previous: slices.Clone(x), M: make([]float64, n), V: make([]float64, n)}
}

// Clone returns a copy that shares nothing with s.
func (s *AdamState) Clone() *AdamState {
	c := *s
	c.X, c.Previous, c.M, c.V = slices.Clone(s.X), slices.Clone(s.Previous), slices.Clone(s.M), slices.Clone(s.V)
	return &c
}

// StepLimit and Rejections are reasons to stop, as they stand in AdamState.Stopped.
const (
	StepLimit  = "step limit"
	Rejections = "no step stays inside the objective's domain"
)

func (s *AdamState) check(n int) error {
	if len(s.X) != n {
		return fmt.Errorf("train: the start has %d parameters, the objective has %d", len(s.X), n)
	}
	if i := notFinite(s.X); i >= 0 {
		return startless(i)
	}
	for _, v := range [][]float64{s.Previous, s.M, s.V} {
		if len(v) != n || notFinite(v) >= 0 {
			return errDamaged
		}
	}
	if slices.ContainsFunc(s.V, func(v float64) bool { return v < 0 }) || !finite(s.Sum) || !finite(s.Mean) {
		return errDamaged
	}
	return counts(s.Steps, s.Count, s.Rejected, s.Failures)
}

// withDefaults fills the zero fields, or says what is wrong with the others.
func (a Adam) withDefaults(rows int) (Adam, error) {
	a.LearningRate = cmp.Or(a.LearningRate, 0.01) // log-parameters of order one: a per cent a step
	a.FinalRate, a.MaxFailures = cmp.Or(a.FinalRate, a.LearningRate/100), cmp.Or(a.MaxFailures, 20)
	a.Beta1, a.Beta2, a.Epsilon = cmp.Or(a.Beta1, 0.9), cmp.Or(a.Beta2, 0.999), cmp.Or(a.Epsilon, 1e-8)
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
	bad(!(a.LearningRate > 0) || !finite(a.LearningRate), "LearningRate", a.LearningRate, "a positive number")
	bad(!(a.FinalRate > 0 && a.FinalRate <= a.LearningRate), "FinalRate", a.FinalRate,
		"a positive number up to LearningRate")
	bad(!(a.Beta1 > 0 && a.Beta1 < 1), "Beta1", a.Beta1, "0 < β₁ < 1")
	bad(!(a.Beta2 > 0 && a.Beta2 < 1), "Beta2", a.Beta2, "0 < β₂ < 1")
	bad(!(a.Epsilon > 0) || !finite(a.Epsilon), "Epsilon", a.Epsilon, "a positive number")
	bad(a.MaxFailures < 0, "MaxFailures", a.MaxFailures, "a positive number, or 0 for 20")
	bad(!(a.NaturalStep >= 0 && a.NaturalStep <= 1), "NaturalStep", a.NaturalStep, "0 ≤ ρ ≤ 1")
	return a, err
}

// Batches is the number of batches that n rows are cut into in an epoch.
func (a Adam) Batches(n int) int {
	if a.Batch <= 0 || a.Batch >= n {
		return 1
	}
	return (n + a.Batch - 1) / a.Batch
}

// shuffle writes the order of the rows in an epoch.
func (a Adam) shuffle(epoch int, order []int) {
	for i := range order {
		order[i] = i
	}
	rng := rand.New(rand.NewPCG(a.Seed, 0x6164616d00000000|uint64(epoch)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}

// Minimize runs from a state, a fresh one (StartAdam, moved into the box if it lies outside) or one that an earlier run
// of the same objective, bounds and settings handed to step; it leaves from as it is. It returns the state where it
// ended, whose Value and Mean are estimates and whose X, one step on from Previous, hasn't been evaluated yet.
//
// A step after which the objective can't be evaluated is halved, up to MaxFailures times less one, then taken back
// whole; if that doesn't help either the run ends. step, unless nil, is called after every step taken. Its state is
// only valid during the call (keep a Clone); an error from it ends the run, as does the end of ctx: the state so far
// comes with it. Other errors come without one: a start outside the domain (StartError), settings that make no sense.
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

// adamRun is a run of Adam between its steps.
type adamRun struct {
	Adam
	f            Stochastic
	natural      Natural    // nil: Adam moves all parameters
	annealed     Annealed   // nil: f is the same at every step
	neighbours   Neighbours // nil: batches are of rows at random
	lower, upper []float64
	rows         int
	order        []int // of the rows in the epoch
	epoch        int
	s            *AdamState
	trial, g     []float64
}

// begin checks the settings and the state, and moves a fresh one into the box.
func (a Adam) begin(f Stochastic, from *AdamState) (r *adamRun, err error) {
	r = &adamRun{f: f, rows: f.BatchRows(), epoch: -1}
	if r.Adam, err = a.withDefaults(r.rows); err != nil {
		return nil, err
	}
	n := f.Dim()
	if r.lower, r.upper, err = a.Box.expand(n); err != nil {
		return nil, err
	}
	if from == nil {
		return nil, errors.New("train: no state to start from; use StartAdam")
	}
	if err := from.check(n); err != nil {
		return nil, err
	}
	var known bool
	if a.NaturalStep > 0 {
		if r.natural, known = f.(Natural); !known {
			return nil, errors.New("train: the objective has no natural-gradient steps")
		}
	}
	r.annealed, _ = f.(Annealed)
	if a.Nearest {
		if r.neighbours, known = f.(Neighbours); !known {
			return nil, errors.New("train: the objective's rows have no neighbours")
		}
	}
	s := from.Clone()
	s.Stopped = ""
	for i, x := range s.X {
		if s.X[i] = min(max(x, r.lower[i]), r.upper[i]); s.X[i] != x && s.Steps > 0 {
			return nil, fmt.Errorf("train: parameter %d of the state to resume from is %v, outside its bounds [%v, %v]; start "+
				"anew from its x", i, x, r.lower[i], r.upper[i])
		}
	}
	if s.Steps == 0 && s.Failures == 0 {
		copy(s.Previous, s.X)
	}
	r.s, r.order, r.trial, r.g = s, make([]int, r.rows), make([]float64, n), make([]float64, n)
	return r, nil
}

// share is how much of the run is behind the next step.
func (r *adamRun) share() float64 { return float64(r.s.Steps) / float64(max(r.Steps-1, 1)) }

// next returns the rows of the next step.
func (r *adamRun) next() ([]int, error) {
	batches := r.Batches(r.rows)
	t, epoch := r.s.Steps%batches, r.s.Steps/batches
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

// evaluate returns the value at the state's x, which a natural-gradient step moves, and leaves that point in trial and
// the gradient in g; or the reason why no step can be taken.
func (r *adamRun) evaluate(batch []int) (value float64, reason error) {
	if r.annealed != nil {
		r.annealed.SetProgress(r.share())
	}
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
		return value, fmt.Errorf("the natural-gradient step moves parameter %d to %v", i, r.trial[i])
	}
	return value, nil
}

// reject halves the last step, or takes it back, or ends the run.
func (r *adamRun) reject(reason error) {
	s := r.s
	s.Rejected++
	s.Failures++
	s.Rejection = reason.Error()
	switch {
	case s.Failures > r.MaxFailures:
		s.Stopped = Rejections
	case s.Failures == r.MaxFailures:
		copy(s.X, s.Previous)
	default:
		for i, x := range s.Previous {
			s.X[i] = x + (s.X[i]-x)/2
		}
	}
}

// take takes the step.
func (r *adamRun) take(value float64) {
	s, batches, share := r.s, r.Batches(r.rows), r.share()
	copy(s.Previous, r.trial)
	s.Failures = 0
	if s.Steps%batches == 0 {
		s.Sum, s.Count = 0, 0
	}
	s.Steps++
	s.Value = value
	s.Sum += value
	s.Count++
	if s.Count == batches || s.Steps <= batches {
		s.Mean = s.Sum / float64(s.Count)
	}
	rate := r.FinalRate + (r.LearningRate-r.FinalRate)*(1+math.Cos(math.Pi*share))/2
	c1, c2 := 1-math.Pow(r.Beta1, float64(s.Steps)), 1-math.Pow(r.Beta2, float64(s.Steps))
	for i, d := range r.g {
		if r.Plain {
			s.X[i] = min(max(r.trial[i]-rate*d/float64(r.rows), r.lower[i]), r.upper[i])
			continue
		}
		s.M[i] = r.Beta1*s.M[i] + (1-r.Beta1)*d
		s.V[i] = r.Beta2*s.V[i] + (1-r.Beta2)*d*d
		x := r.trial[i] - rate*(s.M[i]/c1)/(math.Sqrt(s.V[i]/c2)+r.Epsilon)
		s.X[i] = min(max(x, r.lower[i]), r.upper[i])
	}
	if s.Steps == r.Steps {
		s.Stopped = StepLimit
	}
}
