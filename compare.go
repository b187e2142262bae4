package krigo

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/fit"
	"github.com/krigo-gp/krigo/ranks"
)

// CompareOptions say what Compare compares.
type CompareOptions struct {
	Objectives []string  // names of methods
	Epsilons   []float64 // half-widths at which each objective is fitted
	Splits     int       // number of seeds: the run's seed and the seeds that follow it
	// called after every fit, never from two goroutines at once; may be nil
	Progress func(Compared)
}

// Compared reports one finished fit of a comparison.
type Compared struct {
	Done, Total int // fits of this rank
	Objective   string
	Epsilon     float64
	Seed        uint64
	Measures    map[string]float64 // measures of this split, by their names in MeasureNames
}

// MeasureNames lists what a Comparison measures, in the order of tables.
func MeasureNames() []string { return fitting.MeasureNames() }

// simple are the names of the models that Compare adds: the mean of the targets, and a linear model.
var simple = []string{"constant", "linear"}

// Compare fits every objective at every ε on the same splits, several fits at a time, and scores
// them on the same test rows. The first fit that fails ends the comparison.
// A constant and a linear model are the last rows of the result, if the target is a number with
// Gaussian noise. They learn from all rows but the test rows and calibration rows, and are scored by
// their errors at the first ε.
// The ranks of o.Run.Ranks share the fits, and each rank has the whole table.
// A setting of o.Method is for the objectives that have it, and at least one must have it.
// The certificates don't pay for choosing the best row of the result.
// Compare doesn't use o.Run.Progress, o.Run.Save and o.Run.Resume.
func Compare(ctx context.Context, table *dataset.Table, o Options,
	over CompareOptions) ([]Comparison, error) {
	if err := over.check(o.Data); err != nil {
		return nil, err
	}
	if o.Data.TestFraction == 0 && o.Data.Test == nil {
		o.Data.TestFraction = 0.2
	}
	o.Run.Save = nil
	o.Run.Resume = nil
	o.Run.Progress = nil
	var rows []Comparison
	var fits []Options // row by row, split by split
	asked := o.Method
	for _, name := range over.Objectives {
		o.Method, _ = asked.For(name, over.Objectives)
		for _, o.Promise.Epsilon = range over.Epsilons {
			if err := o.Validate(); err != nil {
				return nil, err
			}
			rows = append(rows, Comparison{Objective: o.Method.Name, Epsilon: o.Promise.Epsilon,
				Splits: over.Splits})
			for s := range over.Splits {
				fits = append(fits, o)
				fits[len(fits)-1].Run.Seed += uint64(s)
			}
		}
	}
	// A fault of the options is reported once, before any fit begins.
	for i := 0; i < len(fits); i += len(over.Epsilons) * over.Splits {
		if _, err := Decide(ctx, table, fits[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", fits[i].Method.Name, err)
		}
	}
	shared := cmp.Or[ranks.Ranks](o.Run.Ranks, ranks.Alone{})
	measured, err := measure(ctx, table, fits, over.Splits, shared, over.Progress)
	if err != nil {
		return nil, err
	}
	for _, name := range simple {
		rows = append(rows, Comparison{Objective: name, Epsilon: over.Epsilons[0],
			Splits: over.Splits})
	}
	for r := range rows {
		of := func(r int) []map[string]float64 {
			return measured[r*over.Splits : (r+1)*over.Splits]
		}
		rows[r].Measures = fitting.Summary(of(r), nil)
		if first := slices.Index(over.Epsilons, rows[r].Epsilon); r != first {
			rows[r].Differences = fitting.Summary(of(r), of(first))
		}
	}
	return slices.DeleteFunc(rows, func(c Comparison) bool { return len(c.Measures) == 0 }), nil
}

// check returns an error if the number of splits is out of range, if there is nothing to compare,
// or if two rows or two splits of the comparison would be the same.
func (c CompareOptions) check(d Data) error {
	if err := faults.AsUsage(faults.First(
		faults.If(c.Splits < 1 || c.Splits > 1000, "splits %d: want 1 to 1000", c.Splits),
		faults.If(d.Split == "last" && c.Splits > 1,
			"splits %d: roles by split last are the same in all of them; compare one", c.Splits),
		faults.If(len(c.Objectives) == 0 || len(c.Epsilons) == 0,
			"%d objectives at %d ε: want one of each at least", len(c.Objectives),
			len(c.Epsilons)),
	)); err != nil {
		return err
	}
	for i, name := range c.Objectives {
		if slices.Contains(c.Objectives[:i], name) {
			return faults.Usage("objective %s twice: its second row would be the first", name)
		}
	}
	for i, eps := range c.Epsilons {
		if slices.Contains(c.Epsilons[:i], eps) {
			return faults.Usage("ε = %g twice: its second rows would be the first", eps)
		}
	}
	return nil
}

// measure runs all fits, with as many at the same time as there are cores, and returns the measures
// of all ranks' fits, and then those of the simple models, split by split. The first fits are those
// of the splits.
// The first fit that fails ends the other fits, since the table needs all of the fits.
func measure(ctx context.Context, table *dataset.Table, all []Options, splits int,
	shared ranks.Ranks, progress func(Compared)) ([]map[string]float64, error) {
	fits, end := context.WithCancelCause(ctx)
	defer end(nil)
	measured := make([]map[string]float64, len(all)+splits*len(simple))
	told := Compared{Total: (len(all) - shared.Rank() + shared.Size() - 1) / shared.Size()}
	var mu sync.Mutex
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i := shared.Rank(); i < len(all); i += shared.Size() {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if fits.Err() != nil {
				return
			}
			o := all[i]
			m, err := Fit(fits, table, o)
			var beside [2]map[string]float64
			if err == nil && i < splits {
				beside, err = fit.Simplest(&m.Model, table, o.Data.Test)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case fits.Err() != nil: // another fit failed, or all were interrupted
				return
			case err != nil:
				end(fmt.Errorf("%s, ε = %g, seed %d: %w", o.Method.Name, o.Promise.Epsilon,
					o.Run.Seed, err))
				return
			}
			measured[i] = fit.Measures(&m.Model)
			if i < splits {
				measured[len(all)+i] = beside[0]
				measured[len(all)+splits+i] = beside[1]
			}
			told.Done++
			told.Objective = o.Method.Name
			told.Epsilon = o.Promise.Epsilon
			told.Seed = o.Run.Seed
			told.Measures = measured[i]
			if progress != nil {
				progress(told)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := shared.Agree(context.Cause(fits)); err != nil {
		return nil, err
	}
	return measured, fit.Collect(shared, measured)
}
