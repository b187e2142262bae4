package krigo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/krigo-gp/krigo/dataset"
)

// Comparison is one objective at one ε over several splits.
type Comparison struct {
	Objective string             `json:"objective"`
	Epsilon   float64            `json:"epsilon"` // as given
	Splits    int                `json:"splits"`
	Measures  map[string]Measure `json:"measures"` // by the names in MeasureNames
}

// Measure is the mean of a figure over splits and its standard error (0 for one split).
type Measure struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}

// MeasureNames lists what a Comparison measures, in the order of tables.
var MeasureNames = []string{"bound", "mean_bound", "empirical_risk", "gibbs_risk", "mean_risk", "mse", "nlpd", "coverage95", "kl_per_row", "noise_variance", "seconds"}

// Compare fits every objective at every ε on the same splits, seeds o.Seed … o.Seed+splits−1,
// several at a time, and scores them on the same test rows. Choosing the best of its rows
// is a choice that their certificates don't pay for. Progress, if not nil, is told about
// every finished fit, from one goroutine at a time; o.Save and o.Resume are not used.
func Compare(ctx context.Context, table *dataset.Table, o Options, objectives []string, epsilons []float64, splits int, progress func(done, total int)) ([]Comparison, error) {
	if splits < 1 || splits > 1000 {
		return nil, usage("splits %d: want 1 to 1000", splits)
	}
	if o.TestFraction == 0 && o.Test == nil {
		o.TestFraction = 0.2
	}
	o.Save, o.Resume, o.Progress = nil, nil, nil
	type job struct{ row, split int }
	var jobs []job
	var rows []Comparison
	for _, name := range objectives {
		for _, eps := range epsilons {
			with := o
			with.Objective, with.Epsilon = name, eps
			if _, err := with.withDefaults(); err != nil {
				return nil, err
			}
			for s := range splits {
				jobs = append(jobs, job{len(rows), s})
			}
			rows = append(rows, Comparison{Objective: name, Epsilon: eps, Splits: splits})
		}
	}
	models := make([]*Model, len(jobs))
	errs := make([]error, len(jobs))
	var mu sync.Mutex
	done := 0
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i, j := range jobs {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			with := o
			with.Objective, with.Epsilon, with.Seed = rows[j.row].Objective, rows[j.row].Epsilon, o.Seed+uint64(j.split)
			if errs[i] = ctx.Err(); errs[i] == nil {
				models[i], errs[i] = Fit(ctx, table, with)
			}
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s, ε = %g, seed %d: %w", with.Objective, with.Epsilon, with.Seed, errs[i])
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			if progress != nil {
				progress(done, len(jobs))
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for r := range rows {
		values := map[string][]float64{}
		for i, j := range jobs {
			if j.row == r {
				for name, v := range measuresOf(models[i]) {
					values[name] = append(values[name], v)
				}
			}
		}
		rows[r].Measures = map[string]Measure{}
		for name, v := range values {
			rows[r].Measures[name] = measureOf(v)
		}
	}
	return rows, nil
}

func measuresOf(m *Model) map[string]float64 {
	v := map[string]float64{"gibbs_risk": m.Test.GibbsRisk, "mean_risk": m.Test.MeanRisk, "mse": m.Test.MSE, "nlpd": m.Test.NLPD,
		"coverage95": m.Test.Coverage95, "noise_variance": m.Posterior.Noise, "seconds": m.Training.Seconds}
	if c := m.Certificate; c != nil {
		v["bound"], v["mean_bound"], v["empirical_risk"], v["kl_per_row"] = c.Bound, c.MeanBound, c.EmpiricalRisk, c.KL/float64(c.Rows)
	}
	return v
}

func measureOf(v []float64) Measure {
	n := float64(len(v))
	var m Measure
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
