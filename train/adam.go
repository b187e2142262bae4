package train

import (
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

// Adam minimises by the steps of Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR
// 2015, algorithm 1, on batches of rows, projected onto a box: with g_t the gradient of the batch
// of step t,
//
//	m_t = β₁m_{t−1} + (1−β₁)g_t,  v_t = β₂v_{t−1} + (1−β₂)g_t²,
//	x_t = P(x_{t−1} − r_t m̂_t/(√v̂_t + ε)),  m̂_t = m_t/(1−β₁ᵗ),  v̂_t = v_t/(1−β₂ᵗ).
//
// With Plain the steps are those of stochastic gradient descent (Robbins and Monro 1951) on the
// mean per row, x_t = P(x_{t−1} − r_t g_t/N).
//
// What a Natural objective moves itself is moved first, on the same batch.
//
// In every epoch the rows are shuffled anew and cut into batches of equal size, to within one row,
// so that each is used once. The shuffle of an epoch depends on Seed and the epoch alone: a run
// that is resumed goes on bit for bit.
type Adam struct {
	Steps        int     // where the run ends; must be positive
	Batch        int     // rows of a batch at most; 0 means all
	LearningRate float64 // r_1; 0 means 0.01
	// FinalRate is the learning rate of the last step, which r_t approaches along half a cosine
	// (Loshchilov and Hutter, ICLR 2017), so that the noise of the batches dies away; 0 means a
	// hundredth of LearningRate.
	FinalRate    float64
	Beta1, Beta2 float64 // 0 means 0.9 and 0.999, those of the paper, as 1e-8 for Epsilon
	Epsilon      float64
	Seed         uint64
	NaturalStep  float64 // ρ of a Natural objective; 0: Adam moves all parameters
	MaxFailures  int     // in a row, before the run ends; 0 means 20
	Plain        bool    // stochastic gradient descent
	Nearest      bool    // batches of neighbours, of a Neighbours objective
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
		return fmt.Errorf("train: parameter %d starts at %v", i, s.X[i])
	}
	for _, v := range [][]float64{s.Previous, s.M, s.V} {
		if len(v) != n || notFinite(v) >= 0 || s.Steps < 0 || s.Count < 0 {
			return errors.New("train: the state to resume from is damaged (lengths that differ, or numbers that are not finite); start anew from its x")
		}
	}
	return nil
}

// withDefaults fills the zero fields, or says what is wrong with the others.
func (a Adam) withDefaults(rows int) (Adam, error) {
	unset := func(v *float64, to float64) {
		if *v == 0 {
			*v = to
		}
	}
	unset(&a.LearningRate, 0.01) // log-parameters of order one: a per cent a step
	unset(&a.FinalRate, a.LearningRate/100)
	unset(&a.Beta1, 0.9)
	unset(&a.Beta2, 0.999)
	unset(&a.Epsilon, 1e-8)
	if a.Batch == 0 || a.Batch > rows {
		a.Batch = rows
	}
	if a.MaxFailures == 0 {
		a.MaxFailures = 20
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
	bad(!(a.FinalRate > 0 && a.FinalRate <= a.LearningRate), "FinalRate", a.FinalRate, "a positive number up to LearningRate")
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

// draw fills batch with the row of that step and its neighbours.
func (a Adam) draw(f Neighbours, step int, batch []int) error {
	rng := rand.New(rand.NewPCG(a.Seed, 0x6e6e000000000000|uint64(step)))
	return f.Nearest(rng.IntN(f.BatchRows()), batch)
}

// Minimize runs from a state, a fresh one (StartAdam, moved into the box if it lies outside) or
// one that an earlier run of the same objective, bounds and settings handed to step; it leaves
// from as it is. It returns the state where it ended, whose Value and Mean are estimates and
// whose X, one step on from Previous, hasn't been evaluated yet.
//
// A step after which the objective can't be evaluated is halved, up to MaxFailures times less one,
// then taken back whole; if that doesn't help either the run ends. step, unless
// nil, is called after every step taken. Its state is only valid during the call (keep a Clone);
// an error from it ends the run, as does the end of ctx: the state so far comes with it. Other
// errors come without one: a start outside the domain (StartError), settings that make no sense.
func (a Adam) Minimize(ctx context.Context, f Stochastic, b Bounds, from *AdamState, step func(*AdamState) error) (*AdamState, error) {
	rows := f.BatchRows()
	a, err := a.withDefaults(rows)
	if err != nil {
		return nil, err
	}
	n := f.Dim()
	lower, upper, err := b.expand(n)
	if err != nil {
		return nil, err
	}
	if from == nil {
		return nil, errors.New("train: no state to start from; use StartAdam")
	}
	if err := from.check(n); err != nil {
		return nil, err
	}
	natural, isNatural := f.(Natural)
	if a.NaturalStep > 0 && !isNatural {
		return nil, errors.New("train: the objective has no natural-gradient steps")
	}
	annealed, isAnnealed := f.(Annealed)
	neighbours, _ := f.(Neighbours)
	if a.Nearest && neighbours == nil {
		return nil, errors.New("train: the objective's rows have no neighbours")
	}
	s := from.Clone()
	s.Stopped = ""
	for i, x := range s.X {
		if s.X[i] = min(max(x, lower[i]), upper[i]); s.X[i] != x && s.Steps > 0 {
			return nil, fmt.Errorf("train: parameter %d of the state to resume from is %v, outside its bounds [%v, %v]; start anew from its x", i, x, lower[i], upper[i])
		}
	}
	if s.Steps == 0 && s.Failures == 0 {
		copy(s.Previous, s.X)
	}
	batches := a.Batches(rows)
	order, epoch := make([]int, rows), -1
	trial, g := make([]float64, n), make([]float64, n)
	for s.Steps < a.Steps {
		if err := ctx.Err(); err != nil {
			s.Stopped = Cancelled
			return s, err
		}
		share := float64(s.Steps) / float64(max(a.Steps-1, 1))
		t := s.Steps % batches
		batch := order[t*rows/batches : (t+1)*rows/batches]
		if a.Nearest {
			if err := a.draw(neighbours, s.Steps, batch); err != nil {
				return nil, err
			}
		} else if e := s.Steps / batches; e != epoch {
			epoch = e
			a.shuffle(epoch, order)
		}
		if isAnnealed {
			annealed.SetProgress(share)
		}
		copy(trial, s.X)
		var value float64
		var reason error
		if a.NaturalStep > 0 {
			value, reason = natural.StepBatch(trial, g, batch, a.NaturalStep)
		} else {
			value, reason = f.EvaluateBatch(trial, g, batch)
		}
		if reason == nil && !finite(value) {
			reason = fmt.Errorf("the value is %v", value)
		}
		if i := tooLarge(g); reason == nil && i >= 0 {
			reason = fmt.Errorf("derivative %d is %v", i, g[i])
		}
		if i := notFinite(trial); reason == nil && i >= 0 {
			reason = fmt.Errorf("the natural-gradient step moves parameter %d to %v", i, trial[i])
		}
		if reason != nil {
			if err := ctx.Err(); err != nil {
				s.Stopped = Cancelled
				return s, err
			}
			if s.Steps == 0 {
				return nil, &StartError{reason}
			}
			s.Rejected++
			s.Failures++
			s.Rejection = reason.Error()
			switch {
			case s.Failures > a.MaxFailures:
				s.Stopped = Rejections
				return s, nil
			case s.Failures == a.MaxFailures:
				copy(s.X, s.Previous)
			default:
				for i, x := range s.Previous {
					s.X[i] = x + (s.X[i]-x)/2
				}
			}
			continue
		}
		// From here on the step is taken.
		copy(s.Previous, trial)
		s.Failures = 0
		s.Steps++
		if t == 0 {
			s.Sum, s.Count = 0, 0
		}
		s.Value = value
		s.Sum += value
		s.Count++
		if s.Count == batches || s.Steps <= batches {
			s.Mean = s.Sum / float64(s.Count)
		}
		rate := a.FinalRate + (a.LearningRate-a.FinalRate)*(1+math.Cos(math.Pi*share))/2
		c1, c2 := 1-math.Pow(a.Beta1, float64(s.Steps)), 1-math.Pow(a.Beta2, float64(s.Steps))
		for i, d := range g {
			if a.Plain {
				s.X[i] = min(max(trial[i]-rate*d/float64(rows), lower[i]), upper[i])
				continue
			}
			s.M[i] = a.Beta1*s.M[i] + (1-a.Beta1)*d
			s.V[i] = a.Beta2*s.V[i] + (1-a.Beta2)*d*d
			x := trial[i] - rate*(s.M[i]/c1)/(math.Sqrt(s.V[i]/c2)+a.Epsilon)
			s.X[i] = min(max(x, lower[i]), upper[i])
		}
		if s.Steps == a.Steps {
			s.Stopped = StepLimit
		}
		if step != nil {
			if err := step(s); err != nil {
				if s.Stopped == "" {
					s.Stopped = Cancelled
				}
				return s, err
			}
		}
	}
	s.Stopped = StepLimit
	return s, nil
}

// tooLarge is the index of the first entry whose square isn't finite, or -1.
func tooLarge(v []float64) int {
	return slices.IndexFunc(v, func(e float64) bool { return !finite(e * e) })
}
