package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func minimize(t testing.TB, o LBFGS, f Objective, b Bounds, from *State, step func(*State) error) *Result {
	t.Helper()
	return must.Get(o.In(b).Minimize(context.Background(), f, from, step))(t)
}

func TestMinimize(t *testing.T) {
	for _, p := range problems() {
		t.Run(p.name, func(t *testing.T) {
			f := p.new()
			r := minimize(t, p.o, f, p.bounds, Start(p.start), nil)
			t.Logf("%d iterations, %d evaluations (SciPy %d), %d rejected: %s at %.12g", r.Iterations, r.Evaluations, p.scipy,
				r.Rejected, r.Stopped, r.Value)
			must.Hold(t, r.Stopped == Converged || r.Stopped == ConvergedGradient,
				"stopped by %q", r.Stopped)
			must.Hold(t, f.calls == r.Evaluations && r.Evaluations <= p.limit,
				"%d evaluations counted, %d made, at most %d allowed", r.Evaluations, f.calls,
				p.limit)
			if e := math.Abs(r.Value-p.value) / max(math.Abs(p.value), 1); !(e <= p.tol) {
				t.Errorf("value %.15g, want %.15g", r.Value, p.value)
			}
			for i, want := range p.x {
				if e := math.Abs(r.X[i]-want) / max(math.Abs(want), 1); !(e <= 20*math.Sqrt(p.tol)) {
					t.Errorf("x[%d] = %v, want %v", i, r.X[i], want)
				}
			}
			must.Hold(t, slices.Equal(r.AtBound, p.atBound),
				"at bounds %v, want %v", r.AtBound, p.atBound)
			lower, upper, _ := p.bounds.expand(f.n)
			for i, x := range r.X {
				must.Hold(t, x >= lower[i] && x <= upper[i],
					"x[%d] = %v lies outside [%v, %v]", i, x, lower[i], upper[i])
			}
			g := make([]float64, f.n)
			if v, err := f.Evaluate(r.X, g); v != r.Value || err != nil || !slices.Equal(g, r.Gradient) {
				t.Error("value and gradient are not those of x")
			}
			if again := minimize(t, p.o, p.new(), p.bounds, Start(p.start), nil); !reflect.DeepEqual(again, r) {
				t.Error("a second run differs")
			}
		})
	}
}

// TestResumeIsExact: a run resumed from any iteration, through JSON, has the same states as the uninterrupted run.
func TestResumeIsExact(t *testing.T) {
	for _, p := range problems() {
		if p.name == "rosenbrock-100" || p.name == "condition 1e8" {
			continue // the test's time grows with the square of the iterations
		}
		t.Run(p.name, func(t *testing.T) {
			var states []*State
			keep := func(s *State) error { states = append(states, s.Clone()); return nil }
			whole := minimize(t, LBFGS{Memory: 5}, p.new(), p.bounds, Start(p.start), keep)
			stride := 1 + len(states)*len(states)*len(p.start)/20000
			for k := 0; k < len(states); k++ {
				if testing.Short() && k%stride != 0 {
					continue
				}
				text := must.Get(json.Marshal(states[k]))(t)
				var from State
				must.Do(t, json.Unmarshal(text, &from))
				at := k
				check := func(s *State) error {
					at++
					if !reflect.DeepEqual(s, states[at]) {
						return fmt.Errorf("iteration %d resumed from %d differs", at, k)
					}
					return nil
				}
				got := minimize(t, LBFGS{Memory: 5}, p.new(), p.bounds, &from, check)
				must.Hold(t, reflect.DeepEqual(got, whole),
					"resumed from %d: result %+v, want %+v", k, got, whole)
				must.Hold(t, reflect.DeepEqual(&from, states[k]),
					"the state resumed from has changed")
			}
		})
	}
}

// TestResumeWithWiderLimits: a run that stops on a limit or tolerance, and resumes with the wider default, ends like a
// run that has the default from the start.
func TestResumeWithWiderLimits(t *testing.T) {
	var last *State
	keep := func(s *State) error { last = s.Clone(); return nil }
	start := Start(classic(10))
	want := minimize(t, LBFGS{}, rosenbrock(10)(), Bounds{}, start, nil)
	for _, o := range []LBFGS{{MaxIterations: 7}, {MaxEvaluations: 20}, {ValueTolerance: 1e-1}, {GradientTolerance: 10},
		{Enough: 1}} {
		r := minimize(t, o, rosenbrock(10)(), Bounds{}, start, keep)
		must.Hold(t, r.Iterations < want.Iterations && r.Stopped == last.Stopped,
			"%+v: %d iterations, stopped by %q and %q", o, r.Iterations, r.Stopped, last.Stopped)
		switch {
		case o.MaxIterations > 0 && (r.Stopped != IterationLimit || r.Iterations != 7):
			t.Errorf("%d iterations, stopped by %q", r.Iterations, r.Stopped)
		case o.MaxEvaluations > 0 && (r.Stopped != EvaluationLimit || r.Evaluations < 20 || r.Evaluations > 20+maxTrials):
			t.Errorf("%d evaluations, stopped by %q", r.Evaluations, r.Stopped)
		}
		if got := minimize(t, LBFGS{}, rosenbrock(10)(), Bounds{}, last, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: resumed to %+v, want %+v", o, got, want)
		}
	}
	// The memory is smaller than the state's number of pairs.
	if r := minimize(t, LBFGS{Memory: 2}, rosenbrock(10)(), Bounds{}, last, nil); r.Stopped != Converged {
		t.Errorf("stopped by %q", r.Stopped)
	}
}

func TestCancel(t *testing.T) {
	want := minimize(t, LBFGS{}, rosenbrock(10)(), Bounds{}, Start(classic(10)), nil)
	for _, fails := range []bool{false, true} { // whether the objective also fails at once
		for call := 1; call < want.Evaluations; call++ {
			ctx, cancel := context.WithCancel(context.Background())
			f := rosenbrock(10)()
			eval := f.eval
			f.eval = func(x, g []float64) (float64, error) {
				if f.calls == call {
					cancel()
					if fails {
						return 0, ctx.Err()
					}
				}
				return eval(x, g)
			}
			last := Start(classic(10))
			r, err := LBFGS{}.Minimize(ctx, f, last, func(s *State) error { last = s.Clone(); return nil })
			if call == 1 && fails {
				must.Need(t, err == context.Canceled && r == nil,
					"cancelled at the start: %v, %v", r, err)
				continue
			}
			if err != context.Canceled || r.Stopped != Cancelled || f.calls != call || r.Evaluations != call || r.Rejected != 0 {
				t.Fatalf("cancelled at %d of %d: %+v, %v", call, f.calls, r, err)
			}
			must.Need(t, r.Iterations == last.Iterations &&
				(last.Iterations <= 0 || r.Value == last.Value),
				"the result is not that of the last iteration")
			if got := minimize(t, LBFGS{}, rosenbrock(10)(), Bounds{}, last, nil); !reflect.DeepEqual(got, want) {
				t.Fatalf("cancelled at %d and resumed: %+v, want %+v", call, got, want)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := (LBFGS{}).Minimize(ctx, beale(), Start(fill(2, 1)), nil); r != nil || err != context.Canceled {
		t.Errorf("cancelled before the start: %v, %v", r, err)
	}
	enough := errors.New("enough")
	r, err := LBFGS{}.Minimize(context.Background(), beale(), Start(fill(2, 1)), func(s *State) error {
		if s.Iterations == 3 {
			return enough
		}
		return nil
	})
	must.Hold(t, err == enough && r.Iterations == 3 && r.Stopped == Cancelled,
		"stopped by the callback: %+v, %v", r, err)
}

// TestRejectedSteps: outside the domain, the trainer shortens steps and counts them.
func TestRejectedSteps(t *testing.T) {
	r := minimize(t, LBFGS{}, barrier(), Bounds{}, Start([]float64{0.5, -0.2, 0.1}), nil)
	must.Hold(t, r.Rejected != 0 && r.Rejected < r.Evaluations && r.Rejection != "",
		"%d of %d evaluations rejected, the last because %q", r.Rejected, r.Evaluations,
		r.Rejection)
	// A gradient that isn't finite, or the value -Inf, is also a rejection.
	for _, bad := range []func(g []float64) float64{
		func(g []float64) float64 { g[0] = math.Inf(1); return -1 },
		func(g []float64) float64 { g[0] = -1; return math.Inf(-1) },
	} {
		f := &objective{n: 1, eval: func(x, g []float64) (float64, error) {
			if x[0] > 0.25 {
				return bad(g), nil
			}
			g[0] = -1
			return -x[0], nil
		}}
		r := minimize(t, LBFGS{}, f, Bounds{}, Start([]float64{0}), nil)
		must.Hold(t, r.Rejected != 0 && r.X[0] > 0.2499 && r.X[0] <= 0.25 && r.Evaluations <= 200,
			"ended at %v: %+v", r.X, r)
	}
}

func TestLineSearchFails(t *testing.T) {
	f := &objective{n: 2, eval: func(x, g []float64) (float64, error) {
		g[0], g[1] = -2*x[0], -2*x[1] // the wrong sign
		return dot(x, x), nil
	}}
	r := minimize(t, LBFGS{}, f, Bounds{}, Start([]float64{1, 2}), nil)
	must.Hold(t, r.Stopped == LineSearchFailed && r.Value == 5 && r.Iterations == 0 &&
		r.Evaluations <= 1+maxTrials, "%+v", r)
	// With exact gradients but values to six digits only, the search fails near the minimum, and the best point is the
	// result.
	f = rosenbrock(4)()
	eval := f.eval
	f.eval = func(x, g []float64) (float64, error) {
		v, err := eval(x, g)
		return math.Round(v*1e6) / 1e6, err
	}
	best := math.Inf(1)
	r = minimize(t, LBFGS{ValueTolerance: -1, GradientTolerance: -1}, f, Bounds{}, Start(classic(4)),
		func(s *State) error {
			best = min(best, s.Value)
			return nil
		})
	must.Hold(t, r.Stopped == LineSearchFailed && r.Value == best && r.Value <= 1e-5, "%+v", r)
}

func TestStart(t *testing.T) {
	// Minimize moves a start outside the box into the box, keeps fixed parameters, and doesn't change the caller's
	// slices.
	x := []float64{9, 9, 9}
	b := Bounds{Lower: []float64{-5, 2, math.Inf(-1)}, Upper: []float64{5, 2, math.Inf(1)}}
	f := rosenbrock(3)()
	r := minimize(t, LBFGS{}, f, b, Start(x), nil)
	if r.X[1] != 2 || !slices.Equal(r.AtBound, []int{1}) || !slices.Equal(x, fill(3, 9)) || math.Abs(r.X[2]-4) > 1e-3 {
		t.Errorf("%+v", r)
	}
	// The start is the minimum already.
	if r := minimize(t, LBFGS{}, beale(), Bounds{}, Start([]float64{3, 0.5}), nil); r.Evaluations != 1 ||
		r.Stopped != ConvergedGradient {
		t.Errorf("%+v", r)
	}
	if r := minimize(t, LBFGS{}, linear()(), Bounds{}, Start(nil), nil); r.Evaluations != 1 ||
		r.Stopped != ConvergedGradient {
		t.Errorf("no parameters: %+v", r)
	}

	nan := math.NaN()
	steep := &objective{n: 2, eval: func(x, g []float64) (float64, error) {
		g[0], g[1] = 0, math.Inf(1)
		return 0, nil
	}}
	for _, c := range []struct {
		want string
		o    LBFGS
		f    *objective
		b    Bounds
		from *State
	}{
		{want: "no state", f: beale()},
		{want: "start has 3 parameters, but the objective has 2", f: beale(), from: Start(fill(3, 0))},
		{want: "parameter 1 has no finite number to start from", f: beale(), from: Start([]float64{0, nan})},
		{want: "lower bounds have 1 entries", f: beale(), b: Bounds{Lower: fill(1, 0)}, from: Start(fill(2, 0))},
		{want: "upper bounds have 3 entries", f: beale(), b: Bounds{Upper: fill(3, 0)}, from: Start(fill(2, 0))},
		{want: "parameter 1 has bounds [2, 1]", f: beale(), b: Bounds{[]float64{0, 2}, fill(2, 1)}, from: Start(fill(2, 0))},
		{want: "parameter 0 has bounds [NaN, +Inf]", f: beale(), b: Bounds{Lower: []float64{nan, 0}},
			from: Start(fill(2, 0))},
		{want: "parameter 0 has bounds [+Inf, +Inf]", f: beale(), b: Bounds{Lower: fill(2, math.Inf(1))},
			from: Start(fill(2, 0))},
		{want: "LBFGS.Memory is -1", o: LBFGS{Memory: -1, MaxIterations: -2}, f: beale(), from: Start(fill(2, 0))},
		{want: "LBFGS.MaxIterations is -2", o: LBFGS{Memory: -1, MaxIterations: -2}, f: beale(), from: Start(fill(2, 0))},
		{want: "LBFGS.ValueTolerance is not a number", o: LBFGS{ValueTolerance: nan}, f: beale(), from: Start(fill(2, 0))},
		{want: "at the start: the value is NaN", f: barrier(), from: Start([]float64{-2, 2, 2})},
		{want: "at the start: outside the ball", f: barrier(), from: Start([]float64{3, 0, 0})},
		{want: "at the start: derivative 1 is +Inf", f: steep, from: Start(fill(2, 0))},
		{want: "damaged", f: beale(), from: &State{X: fill(2, 0), Gradient: fill(1, 0)}},
		{want: "damaged", f: beale(), from: &State{X: fill(2, 0), Gradient: fill(2, 0), S: [][]float64{{1, 2}}}},
		{want: "damaged", f: beale(), from: &State{X: fill(2, 0), Gradient: fill(2, 0), Value: nan}},
		{want: "counts -1", f: beale(), from: &State{X: fill(2, 0), Evaluations: -1}},
		{want: "outside its bounds [1, 2]", f: beale(), b: box(2, 1, 2), from: &State{X: fill(2, 0), Gradient: fill(2, 0)}},
	} {
		r, err := c.o.In(c.b).Minimize(context.Background(), c.f, c.from, nil)
		must.Hold(t, r == nil && err != nil && strings.Contains(err.Error(), c.want),
			"got %v, %v; want an error with %q", r, err, c.want)
	}
}

// TestIterationsDoNotAllocate: once the memory is full, iterations allocate nothing.
func TestIterationsDoNotAllocate(t *testing.T) {
	allocs := func(iterations int) float64 {
		o := LBFGS{MaxIterations: iterations}
		return testing.AllocsPerRun(3, func() {
			minimize(t, o, rosenbrock(100)(), box(100, -0.8, 2), Start(classic(100)), func(*State) error { return nil })
		})
	}
	if few, many := allocs(20), allocs(200); many != few {
		t.Errorf("%v allocations in 20 iterations, %v in 200", few, many)
	}
}

// BenchmarkIteration measures the trainer's own cost; the cost of Rosenbrock's function is negligible.
func BenchmarkIteration(b *testing.B) {
	for _, n := range []int{10, 100, 500} {
		for _, held := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/held=%v", n, held), func(b *testing.B) {
				s := Start(classic(n))
				upper := fill(n, 10)
				if held {
					for i := 0; i < n; i += 3 {
						upper[i] = -1
					}
				}
				lower, upper, err := Bounds{Upper: upper}.expand(n)
				must.Do(b, err)
				r := newRun(context.Background(), rosenbrock(n)(), s, lower, upper, 10)
				must.Do(b, r.begin())
				for range 12 {
					if ok, err := r.iterate(); !ok || err != nil {
						b.Fatal(ok, err)
					}
				}
				from := r.State.Clone()
				b.ReportAllocs()
				for b.Loop() {
					copy(r.X, from.X)
					copy(r.Gradient, from.Gradient)
					r.Value = from.Value
					for j := range r.S {
						copy(r.S[j], from.S[j])
						copy(r.Y[j], from.Y[j])
					}
					if ok, err := r.iterate(); !ok || err != nil {
						b.Fatal(ok, err)
					}
				}
			})
		}
	}
}

// TestOnward: on a function of four times the curvature, whose minimum is elsewhere, a run that takes the curvature
// along needs at most two thirds of the evaluations.
func TestOnward(t *testing.T) {
	const n = 30
	quadratic := func(factor, middle float64) *objective {
		return &objective{n: n, eval: func(x, g []float64) (value float64, _ error) {
			for i := range x {
				c := factor * math.Exp(6*float64(i)/n)
				value += c * (x[i] - middle) * (x[i] - middle) / 2
				g[i] = c * (x[i] - middle)
			}
			return value, nil
		}}
	}
	o := LBFGS{Memory: 40}
	var end *State
	keep := func(s *State) error {
		end = s.Clone()
		return nil
	}
	must.Get(o.Minimize(t.Context(), quadratic(1, 1), Start(make([]float64, n)), keep))(t)
	fresh := quadratic(4, 1.3)
	must.Get(o.Minimize(t.Context(), fresh, Start(end.X), nil))(t)
	onward := quadratic(4, 1.3)
	r := must.Get(o.Minimize(t.Context(), onward, end.Onward(4), nil))(t)
	must.Hold(t, 3*onward.calls < 2*fresh.calls && r.Value < 1e-6, "%d evaluations, %d without; value %g", onward.calls,
		fresh.calls, r.Value)
}
