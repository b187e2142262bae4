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

// line is the least squares of y on 1 and x, ½Σ(a + bx − y)², scaled up from the batch to all rows. It can't be
// evaluated if a > wall. Its StepBatch solves for a on the batch.
type line struct {
	x, y        []float64
	wall, first float64
	seen        []int // how often each row was used
	fail        func() error
}

func newLine(n int) *line {
	l := &line{wall: math.Inf(1), seen: make([]int, n)}
	for i := range n {
		x := 2*float64(i)/float64(n-1) - 1
		l.x = append(l.x, x)
		l.y = append(l.y, 0.7-0.4*x+0.05*math.Sin(float64(7*i)))
	}
	return l
}

func (l *line) Dim() int       { return 2 }
func (l *line) BatchRows() int { return len(l.x) }

func (l *line) EvaluateBatch(p, g []float64, rows []int) (float64, error) {
	if p[0] > l.wall {
		return math.NaN(), errors.New("beyond the wall")
	}
	if l.fail != nil {
		if err := l.fail(); err != nil {
			return 0, err
		}
	}
	w := float64(len(l.x)) / float64(len(rows))
	var value float64
	clear(g)
	for _, i := range rows {
		l.seen[i]++
		d := p[0] + p[1]*l.x[i] - l.y[i]
		value += w * d * d / 2
		g[0] += w * d
		g[1] += w * d * l.x[i]
	}
	return value, nil
}

func (l *line) StepBatch(p, g []float64, rows []int, rho float64) (float64, error) {
	var best float64
	for _, i := range rows {
		best += (l.y[i] - p[1]*l.x[i]) / float64(len(rows))
	}
	p[0] += rho * (best - p[0])
	v, err := l.EvaluateBatch(p, g, rows)
	g[0] = 0
	return v, err
}

// SetProgress lowers the wall from its first position to 0.01 below.
func (l *line) SetProgress(share float64) {
	if l.first == 0 {
		l.first = l.wall
	}
	l.wall = l.first - 0.01*share
}

// Nearest takes row and the rows after it, in a ring.
func (l *line) Nearest(row int, batch []int) error {
	for i := range batch {
		batch[i] = (row + i) % len(l.x)
	}
	return nil
}

// solution returns the least-squares line.
func (l *line) solution() (a, b float64) {
	var sy, sxy, sxx float64
	for i, x := range l.x { // Σx = 0
		sy, sxy, sxx = sy+l.y[i], sxy+x*l.y[i], sxx+x*x
	}
	return sy / float64(len(l.x)), sxy / sxx
}

func TestAdamFindsTheMinimum(t *testing.T) {
	for _, c := range []Adam{
		{Steps: 3000, Batch: 7, Seed: 1, LearningRate: 0.05, FinalRate: 1e-6},
		{Steps: 1500, Seed: 1, LearningRate: 0.05},
		{Steps: 3000, Batch: 7, Seed: 1, LearningRate: 0.05, FinalRate: 1e-6, NaturalStep: 0.01},
	} {
		l := newLine(23)
		a, b := l.solution()
		s := must.Get(c.Minimize(context.Background(), l, StartAdam([]float64{3, 3}), nil))(t)
		// Natural-gradient steps of constant size keep the noise of the batches.
		if tol := 1e-3 + c.NaturalStep; math.Abs(s.X[0]-a) > tol || math.Abs(s.X[1]-b) > tol || s.Stopped != StepLimit ||
			s.Steps != c.Steps {
			t.Errorf("%+v: %v after %d steps (%s), want %v %v", c, s.X, s.Steps, s.Stopped, a, b)
		}
	}
}

// TestAdamFirstSteps compares two steps with the paper's formulas, worked out by hand.
func TestAdamFirstSteps(t *testing.T) {
	l := newLine(5)
	x := []float64{3, 3}
	g1, g2 := make([]float64, 2), make([]float64, 2)
	all := []int{0, 1, 2, 3, 4}
	must.Get(l.EvaluateBatch(x, g1, all))(t)
	var points [][]float64
	must.Get((Adam{Steps: 2, LearningRate: 0.1, FinalRate: 0.05}).Minimize(context.Background(), l,
		StartAdam(x), func(s *AdamState) error {
			points = append(points, slices.Clone(s.X))
			return nil
		}))(t)
	for i := range x {
		must.Near(t, points[0][i], x[i]-0.1*g1[i]/(math.Abs(g1[i])+1e-8), 1e-13, "first step to")
	}
	must.Get(l.EvaluateBatch(points[0], g2, all))(t)
	for i := range x {
		m := (0.9*0.1*g1[i] + 0.1*g2[i]) / (1 - 0.9*0.9)
		v := (0.999*0.001*g1[i]*g1[i] + 0.001*g2[i]*g2[i]) / (1 - 0.999*0.999)
		must.Near(t, points[1][i], points[0][i]-0.05*m/(math.Sqrt(v)+1e-8), 1e-12, "second step to")
	}
}

// TestAdamUsesEveryRowOnceAnEpoch: every epoch uses each row once, and Mean is the mean over an epoch.
func TestAdamUsesEveryRowOnceAnEpoch(t *testing.T) {
	l := newLine(23)
	a := Adam{Steps: 12, Batch: 7, Seed: 4}
	must.Need(t, a.Batches(23) == 4, "%d batches", a.Batches(23))
	var values []float64
	if _, err := a.Minimize(context.Background(), l, StartAdam([]float64{0, 0}), func(s *AdamState) error {
		values = append(values, s.Value)
		if s.Steps%4 != 0 {
			return nil
		}
		for i, n := range l.seen {
			if n != s.Steps/4 {
				return fmt.Errorf("row %d was used %d times in %d epochs", i, n, s.Steps/4)
			}
		}
		mean := (values[s.Steps-4] + values[s.Steps-3] + values[s.Steps-2] + values[s.Steps-1]) / 4
		if math.Abs(s.Mean-mean) > 1e-12 {
			return fmt.Errorf("mean of the epoch %v, want %v", s.Mean, mean)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	one, two := make([]int, 23), make([]int, 23)
	a.shuffle(0, one)
	a.shuffle(1, two)
	must.Hold(t, !slices.Equal(one, two), "two epochs have one order")
}

// TestAdamResumes: a run that resumes from a state in a file continues bit for bit, after any step and amid rejected
// steps.
func TestAdamResumes(t *testing.T) {
	bounds := Bounds{Lower: []float64{-5, -0.3}, Upper: []float64{5, 5}}
	for _, a := range []Adam{{}, {NaturalStep: 0.2}, {Plain: true}, {Nearest: true}} {
		rho := a.NaturalStep
		fresh := func() *line {
			l := newLine(23)
			if rho == 0 {
				l.wall = 0.6 // before the solution: some steps are rejected
			}
			return l
		}
		a.Steps, a.Batch, a.Seed, a.LearningRate, a.Box = 150, 5, 9, 0.1, bounds
		if a.Plain {
			a.LearningRate = 1
		}
		var files [][]byte
		want := must.Get(a.Minimize(context.Background(), fresh(), StartAdam([]float64{-1, 2}),
			func(s *AdamState) error {
				file, err := json.Marshal(s)
				files = append(files, file)
				return err
			}))(t)
		must.Hold(t, rho != 0 || want.Rejected != 0,
			"nothing was rejected: the test has lost its point")
		for _, file := range files {
			var s AdamState
			must.Do(t, json.Unmarshal(file, &s))
			got := must.Get(a.Minimize(context.Background(), fresh(), &s, nil))(t)
			must.Need(t, reflect.DeepEqual(got, want),
				"resumed after step %d: %+v, want %+v", s.Steps, got, want)
		}

		// The run is cancelled at every evaluation in turn, rejected evaluations included.
		for stop := 1; stop < min(60, want.Steps); stop++ {
			ctx, cancel := context.WithCancel(context.Background())
			l := fresh()
			count := 0
			l.fail = func() error {
				if count++; count >= stop {
					cancel()
				}
				return ctx.Err()
			}
			s, err := a.Minimize(ctx, l, StartAdam([]float64{-1, 2}), nil)
			must.Need(t, errors.Is(err, context.Canceled) && s.Stopped == Cancelled,
				"cancelled: %v", err)
			got, err := a.Minimize(context.Background(), fresh(), s, nil)
			must.Need(t, err == nil && reflect.DeepEqual(got, want),
				"resumed after %d evaluations: %+v (%v), want %+v", stop, got, err, want)
		}
	}
}

func TestAdamStaysInTheBox(t *testing.T) {
	l := newLine(23)
	bounds := Bounds{Lower: []float64{1, 0.25}, Upper: []float64{2, 0.25}}
	s, err := Adam{Box: bounds, Steps: 500, Batch: 7, LearningRate: 0.1}.Minimize(context.Background(), l,
		StartAdam([]float64{7, 7}), func(s *AdamState) error {
			if s.X[0] < 1 || s.X[0] > 2 || s.X[1] != 0.25 {
				return fmt.Errorf("outside at %v", s.X)
			}
			return nil
		})
	must.Hold(t, err == nil && s.X[0] == 1, "ended at %v (%v), want 1 on the bound", s.X, err)
}

func TestAdamRejects(t *testing.T) {
	l := newLine(23)
	l.wall = 0.2
	s, err := Adam{Steps: 400, Batch: 7, LearningRate: 0.3}.Minimize(context.Background(), l, StartAdam([]float64{-1, 0}),
		nil)
	if err != nil || s.Rejected == 0 || !strings.Contains(s.Rejection, "wall") || s.Previous[0] > 0.2 {
		t.Errorf("%+v, %v", s, err)
	}
	var start *StartError
	if _, err := (Adam{Steps: 1}).Minimize(context.Background(), l, StartAdam([]float64{1, 0}), nil); !errors.As(err,
		&start) {
		t.Errorf("a start beyond the wall: %v", err)
	}
	l = newLine(23)
	count := 0
	l.fail = func() error {
		if count++; count > 3 {
			return errors.New("never again")
		}
		return nil
	}
	if s, err := (Adam{Steps: 100}).Minimize(context.Background(), l, StartAdam([]float64{1, 0}), nil); err != nil ||
		s.Stopped != Rejections || s.Steps != 3 || !slices.Equal(s.X, s.Previous) {
		t.Errorf("where no step succeeds: %+v, %v", s, err)
	}
}

func TestAdamRefuses(t *testing.T) {
	l := newLine(5)
	ctx := context.Background()
	for _, a := range []Adam{{}, {Steps: -1}, {Steps: 1, Batch: -1}, {Steps: 1, LearningRate: -1},
		{Steps: 1, LearningRate: math.NaN()},
		{Steps: 1, FinalRate: 1},
		{Steps: 1, NaturalStep: 2}} {
		must.Refuse(a.Minimize(ctx, l, StartAdam([]float64{0, 0}), nil))(t, "", fmt.Sprintf("%+v was taken", a))
	}
	ok := Adam{Steps: 1}
	for what, s := range map[string]*AdamState{"nil": nil, "length": StartAdam([]float64{1}),
		"not finite":       StartAdam([]float64{math.NaN(), 0}),
		"damaged":          {X: []float64{0, 0}, Previous: []float64{0, 0}, M: []float64{0}, V: []float64{0, 0}},
		"variance below 0": {X: []float64{0, 0}, Previous: []float64{0, 0}, M: []float64{0, 0}, V: []float64{0, -1}},
		"endless rejection": {X: []float64{0, 0}, Previous: []float64{0, 0}, M: []float64{0, 0}, V: []float64{0, 0},
			Failures: math.MinInt}} {
		must.Refuse(ok.Minimize(ctx, l, s, nil))(t, "", fmt.Sprintf("%s: no", what))
	}
	ended := errors.New("enough")
	if s, err := (Adam{Steps: 5}).Minimize(ctx, l, StartAdam([]float64{0, 0}),
		func(*AdamState) error { return ended }); err != ended || s.Steps != 1 || s.Stopped != Cancelled {
		t.Errorf("ended by the callback: %+v, %v", s, err)
	}
}

// TestPlainSteps compares Plain steps with gradient descent on the mean per row.
func TestPlainSteps(t *testing.T) {
	l := newLine(11)
	x := []float64{-1, 2}
	a := Adam{Steps: 5, LearningRate: 0.3, FinalRate: 0.3, Plain: true}
	must.Get(a.Minimize(context.Background(), l, StartAdam(x), func(s *AdamState) error {
		g := make([]float64, 2)
		if _, err := l.EvaluateBatch(x, g, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); err != nil {
			return err
		}
		for i := range x {
			x[i] -= 0.3 * g[i] / 11
			must.Hold(t, math.Abs(s.X[i]-x[i]) <= 1e-14, "step %d: %v, want %v", s.Steps, s.X, x)
		}
		return nil
	}))(t)
}

// TestNearestBatches: every batch is a row with its neighbours, and every row has its turn.
func TestNearestBatches(t *testing.T) {
	l := newLine(23)
	must.Get((Adam{Steps: 200, Batch: 5, Nearest: true}).Minimize(context.Background(), l, StartAdam([]float64{0, 0}),
		nil))(t)
	for i, n := range l.seen {
		must.Hold(t, n >= 10 && n <= 100, "row %d was seen %d times of about 43", i, n)
	}
}
