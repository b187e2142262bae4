package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/krigo-gp/krigo/pacbayes"
)

// watchScenario watches a bound of 0.05 while the risk equals the bound, or another value.
type watchScenario struct {
	what       string
	bound      float64
	good       int     // rows at half the bound, before the risk rises
	times      float64 // the risk afterwards, divided by the bound
	rows, runs int     // rows of a run after the good rows, and number of runs
}

const watchDelta = 0.01

func watchScenarios(reps int) (all []watchScenario) {
	const long = 1_000_000
	for _, bound := range []float64{0.05, 0.01, 0.2} {
		all = append(all, watchScenario{"the bound, for ever", bound, 0, 1, long, reps})
	}
	for _, times := range []float64{1.2, 1.5, 2, 4} {
		all = append(all, watchScenario{fmt.Sprintf("%g times the bound", times), 0.05, 0, times, long, reps})
	}
	for _, good := range []int{1_000, 10_000, 100_000} {
		all = append(all, watchScenario{fmt.Sprintf("half the bound for %d rows, then twice the bound", good), 0.05, good, 2,
			long, reps})
	}
	for _, bound := range []float64{0.01, 0.2} {
		all = append(all, watchScenario{"2 times the bound", bound, 0, 2, long, reps})
	}
	return all
}

// alarm returns the row at which the evidence first suffices for an alarm, or 0.
func (w watchScenario) alarm(rng *rand.Rand) int {
	e := pacbayes.NewEvidence(w.bound)
	for n := 1; n <= w.good+w.rows; n++ {
		risk := w.times * w.bound
		if n <= w.good {
			risk = w.bound / 2
		}
		loss := 0.
		if rng.Float64() < risk {
			loss = 1
		}
		if e.Add(loss) >= 1/watchDelta {
			return n
		}
	}
	return 0
}

// watching simulates outcomes with a known risk, and reports how often and when watch raises an alarm.
func watching(ctx context.Context, env Env) error {
	header(env.Stdout, []string{"risk", "bound", "runs", "alarms", "rows to the alarm, median", "rows to the alarm, 90 %"})
	all := watchScenarios(env.reps(1000))
	for i, w := range all {
		at := make([]int, w.runs)
		var next atomic.Int64
		var wait sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wait.Go(func() {
				for run := int(next.Add(1)) - 1; run < w.runs && ctx.Err() == nil; run = int(next.Add(1)) - 1 {
					at[run] = w.alarm(rand.New(rand.NewPCG(uint64(i), uint64(run))))
				}
			})
		}
		wait.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		early, after := 0, make([]float64, 0, w.runs) // rows since the risk rose
		for _, n := range at {
			switch {
			case n == 0:
				after = append(after, math.Inf(1))
			case n <= w.good:
				early++
			default:
				after = append(after, float64(n-w.good))
			}
		}
		slices.Sort(after)
		quantile := func(share float64) string {
			if len(after) == 0 || math.IsInf(after[int(share*float64(len(after)-1))], 1) {
				return "–"
			}
			return fmt.Sprintf("%.0f", after[int(share*float64(len(after)-1))])
		}
		alarms := 0
		for _, n := range after {
			if !math.IsInf(n, 1) {
				alarms++
			}
		}
		told := fmt.Sprint(alarms)
		if early > 0 {
			told += fmt.Sprintf(", and %d before the risk rose", early)
		}
		line(env.Stdout, []string{w.what, fmt.Sprint(w.bound), fmt.Sprint(w.runs), told, quantile(0.5), quantile(0.9)})
		if env.Progress != nil {
			env.Progress(i+1, len(all), w.what)
		}
	}
	return nil
}
