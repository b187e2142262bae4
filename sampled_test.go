package krigo_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// bumps returns n rows of three inputs, whose target is a rough function of two of them with noise.
func bumps(t *testing.T, n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(7, 8))
	rows := make([][]float64, n)
	for i := range rows {
		a := 4 * rng.Float64()
		b := rng.NormFloat64()
		y := math.Sin(3*a) + 0.5*b*a + 0.1*rng.NormFloat64()
		rows[i] = []float64{a, b, rng.Float64(), y}
	}
	return must.Get(dataset.FromRows([]string{"a", "b", "c", "y"}, rows))(t)
}

// TestKernelsOfSample: of 435 prior rows 300 compare the kernels. The finalists take ten steps on all rows, and the
// better one goes on. A fit that resumes from the sample, or from a finalist, ends the same to the bit.
// Of 374 prior rows all compare.
func TestKernelsOfSample(t *testing.T) {
	must.Long(t)
	o := krigo.Options{Data: krigo.Data{Target: "y"}}
	table := bumps(t, 600)
	calls := 0
	last := 0 // steps on the sample
	o.Run.Progress = func(e krigo.Event) {
		if e.Comparing {
			return
		}
		if calls++; strings.HasPrefix(e.Stage, "sample of rows: ") {
			last = calls
		}
	}
	want := trained(t, table, o)
	told := want.Findings.Of(finding.KernelsOnSome)
	must.Need(t, len(told) == 1 && slices.Equal(told[0].Numbers, []float64{300, 435}) && last > 0 && last < calls,
		"%+v, %d of %d steps on the sample", told, last, calls)
	for _, stop := range []int{last / 2, last + 3, calls - 1} {
		halt := errors.New("halt")
		var state []byte
		saved := 0
		o := o
		o.Run.Progress = nil
		o.Run.Save = func(c *krigo.Checkpoint) (err error) {
			if saved++; saved < stop {
				return nil
			}
			state, err = json.Marshal(c)
			return errors.Join(err, halt)
		}
		must.Need(t, errors.Is(attempt(table, o), halt), "it didn't stop at step %d", stop)
		o.Run.Save = nil
		o.Run.Resume = new(krigo.Checkpoint)
		must.Do(t, json.Unmarshal(state, o.Run.Resume))
		m := trained(t, table, o)
		must.Hold(t, slices.Equal(m.Trained().Theta, want.Trained().Theta),
			"resumed from step %d: %v, want %v", stop, m.Trained().Theta, want.Trained().Theta)
	}
	few := trained(t, bumps(t, 534), krigo.Options{Data: krigo.Data{Target: "y"}})
	must.Hold(t, len(few.Findings.Of(finding.KernelsOnSome)) == 0, "%q", few.Findings)
}

// TestStuckOnSample: 1 row in 100 has a 1 in column c, which matters there. The sample has three such rows, and training
// on all rows doesn't leave where they led it. So all rows compare the kernels.
func TestStuckOnSample(t *testing.T) {
	must.Long(t)
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([][]float64, 900)
	for i := range rows {
		a := rng.Float64()
		b := rng.Float64()
		c := 0.
		if rng.Float64() < 0.01 {
			c = 1
		}
		y := math.Sin(6*a) + b + 10*c*math.Sin(9*b) + 0.05*rng.NormFloat64()
		rows[i] = []float64{a, b, c, y}
	}
	table := must.Get(dataset.FromRows([]string{"a", "b", "c", "y"}, rows))(t)
	m := trained(t, table, krigo.Options{Data: krigo.Data{Target: "y"}})
	must.Hold(t, len(m.Findings.Of(finding.KernelsOnSome)) == 0, "%q", m.Findings)
}

// TestLuckySample: by chance the sample has more evidence for each row than all rows, which are nearly noise alone.
// That doesn't say that training is stuck.
func TestLuckySample(t *testing.T) {
	must.Long(t)
	rng := rand.New(rand.NewPCG(6, 5))
	rows := make([][]float64, 900)
	for i := range rows {
		a := rng.Float64()
		rows[i] = []float64{a, rng.Float64(), math.Sin(6*a) + 2*rng.NormFloat64()}
	}
	table := must.Get(dataset.FromRows([]string{"a", "b", "y"}, rows))(t)
	m := trained(t, table, krigo.Options{Data: krigo.Data{Target: "y"}})
	must.Hold(t, len(m.Findings.Of(finding.KernelsOnSome)) == 1, "%q", m.Findings)
}
