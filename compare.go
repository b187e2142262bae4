package krigo

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// Comparison is the result of one objective at one ε over several splits.
type Comparison struct {
	Objective string             `json:"objective"`
	Epsilon   float64            `json:"epsilon"` // ε as the user gave it
	Splits    int                `json:"splits"`
	Measures  map[string]Measure `json:"measures"` // measures by their names in MeasureNames

	// Differences are the same measures minus the measures of the first objective at the same ε,
	// split by split, so that what splits have in common cancels.
	// The first objective has no differences.
	Differences map[string]Measure `json:"differences,omitempty"`
}

// Measure is the mean of a figure over splits, and its standard error.
// With one split the standard error is 0.
type Measure struct {
	Mean   float64 `json:"mean"`
	SE     float64 `json:"se"`
	Splits int     `json:"splits"` // splits that have the figure
}

// Text formats a measure for a table: the mean, ± the standard error if there is one.
// If signed, as for differences, the mean has a sign.
func (m Measure) Text(signed bool) string {
	text := figure(m.Mean)
	if signed && m.Mean > 0 {
		text = "+" + text
	}
	se := figure(m.SE)
	// The standard error has as many decimals as the mean.
	if size := math.Abs(m.Mean); size >= 0.001 && size < 1000 && m.SE >= 0.00005 && m.SE < 0.001 {
		se = strconv.FormatFloat(m.SE, 'f', 4, 64)
	}
	return text + spelling.If(m.Splits > 1, " ± %s", se)
}

// figure formats a number with four decimals, or with three digits if four decimals don't show
// three.
func figure(v float64) string {
	switch size := math.Abs(v); {
	case v == 0:
		return "0"
	case size < 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case size < 1000:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return cautious.Digits(v, 5)
}

// MeasureNames lists what a Comparison measures, in the order of tables.
func MeasureNames() []string {
	return []string{"bound", "mean_bound", "empirical_risk", "gibbs_risk", "mean_risk", "mse",
		"nlpd", "coverage95", "kl_per_row", "noise_variance", "seconds"}
}

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

// Compare fits every objective at every ε on the same splits, several fits at a time, and scores
// them on the same test rows. The first fit that fails ends the comparison.
// The ranks of o.Run.Ranks share the fits, and each rank has the whole table.
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
	for _, o.Method.Name = range over.Objectives {
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
	shared := o.Run.Ranks
	if shared == nil {
		shared = ranks.Alone{}
	}
	measured, err := measure(ctx, table, fits, shared, over.Progress)
	if err != nil {
		return nil, err
	}
	for r := range rows {
		of := func(r int) []map[string]float64 {
			return measured[r*over.Splits : (r+1)*over.Splits]
		}
		rows[r].Measures = summary(of(r), nil)
		if first := r % len(over.Epsilons); r != first {
			rows[r].Differences = summary(of(r), of(first))
		}
	}
	return rows, nil
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
// of all ranks' fits.
// The first fit that fails ends the other fits, since the table needs all of the fits.
func measure(ctx context.Context, table *dataset.Table, all []Options, shared ranks.Ranks,
	progress func(Compared)) ([]map[string]float64, error) {
	fits, end := context.WithCancelCause(ctx)
	defer end(nil)
	measured := make([]map[string]float64, len(all))
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
			measured[i] = measuresOf(m)
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
	return measured, collect(shared, measured)
}

// collect gives every rank the measures of the other ranks.
func collect(r ranks.Ranks, measured []map[string]float64) error {
	// v holds, for each name in MeasureNames, a number and whether there is one.
	names := MeasureNames()
	v := make([]float64, 2*len(measured)*len(names))
	for i, of := range measured {
		for j, name := range names {
			if x, ok := of[name]; ok {
				at := v[2*(i*len(names)+j):]
				at[0], at[1] = x, 1
			}
		}
	}
	err := r.Sum(v)
	for i := range measured {
		measured[i] = map[string]float64{}
		for j, name := range names {
			if at := v[2*(i*len(names)+j):]; at[1] > 0 {
				measured[i][name] = at[0]
			}
		}
	}
	return err
}

// summary averages every measure over the splits that have it, or its difference from base's
// measure on the same split.
func summary(splits, base []map[string]float64) map[string]Measure {
	of := map[string]Measure{}
	for _, name := range MeasureNames() {
		var vs []float64
		for i, split := range splits {
			v, ok := split[name]
			if base != nil && ok {
				var b float64
				b, ok = base[i][name]
				v -= b
			}
			if ok {
				vs = append(vs, v)
			}
		}
		if len(vs) > 0 {
			of[name] = measureOf(vs)
		}
	}
	return of
}

func measuresOf(m *Model) map[string]float64 {
	v := map[string]float64{"gibbs_risk": m.Test.GibbsRisk, "mean_risk": m.Test.MeanRisk,
		"mse": m.Test.MSE, "nlpd": m.Test.NLPD,
		"coverage95": m.Test.Coverage95, "noise_variance": m.Posterior.Noise,
		"seconds": m.Training.Seconds}
	if c := m.Certificate; c != nil {
		v["empirical_risk"], v["kl_per_row"] = c.EmpiricalRisk, c.KL/float64(c.Rows)
		if c.Valid { // a heuristic number must not be called a bound
			v["bound"], v["mean_bound"] = c.Bound, c.MeanBound
		}
	}
	return v
}

func measureOf(v []float64) Measure {
	n := float64(len(v))
	m := Measure{Splits: len(v)}
	for _, x := range v {
		m.Mean += x / n
	}
	if n < 2 {
		return m
	}
	for _, x := range v {
		m.SE += (x - m.Mean) * (x - m.Mean)
	}
	m.SE = math.Sqrt(m.SE / (n - 1) / n)
	return m
}
