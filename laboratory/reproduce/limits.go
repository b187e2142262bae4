package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// How often what krigo prints of rows with limits of detection is false. Sets have one input. A row's target is known
// only as below its limit, of which there are two, or as above another. The true risks are known.

// limitsTruth is where the rows of a set come from: y = sin(slope x + phase) + N(0, sd²).
type limitsTruth struct {
	slope, phase, sd float64
	lower            [2]float64 // a row has either limit, by chance
	upper            float64
}

func (t limitsTruth) place(i int) float64 { return 4 * (float64(i) + 0.5) / targetsPlaces }

func (t limitsTruth) f(x float64) float64 { return math.Sin(t.slope*x + t.phase) }

func (t limitsTruth) table(rng *rand.Rand) (*dataset.Table, error) {
	rows := make([][]float64, targetsRows)
	for i := range rows {
		x, lower := t.place(rng.IntN(targetsPlaces)), t.lower[rng.IntN(2)]
		y, side := t.f(x)+t.sd*rng.NormFloat64(), 0.
		switch {
		case y < lower:
			y, side = lower, -1
		case y > t.upper:
			y, side = t.upper, 1
		}
		rows[i] = []float64{x, y, side}
	}
	return dataset.FromRows([]string{"x", "y", "side"}, rows)
}

// misses returns how often rows contradict bands of these widths about these means, how often the target itself lies
// outside, and how often it lies outside or isn't measured.
func (t limitsTruth) misses(mean, width []float64) (known, itself, unknown float64) {
	for i, m := range mean {
		x := t.place(i)
		below := func(v float64) float64 { return math.Erfc((t.f(x)-v)/(t.sd*math.Sqrt2)) / 2 }
		within := func(from, to float64) float64 { return max(below(to)-below(from), 0) }
		itself += 1 - within(m-width[i], m+width[i])
		for _, lower := range t.lower {
			inside := within(max(m-width[i], lower), min(m+width[i], t.upper))
			unknown += (1 - inside) / 2
			if m <= lower+width[i] {
				inside += below(lower)
			}
			if m >= t.upper-width[i] {
				inside += 1 - below(t.upper)
			}
			known += (1 - inside) / 2
		}
	}
	n := float64(len(mean))
	return known / n, itself / n, unknown / n
}

// limitsTrial fits the set of a number. It says whether the certificate is false, whether the bound that counts each
// limit as a miss is false, and whether the certificate would be false if it were about the target itself.
func limitsTrial(ctx context.Context, number int, promise krigo.Promise) (no [3]int, err error) {
	rng := rand.New(rand.NewPCG(uint64(number), 0x6c696d69))
	t := limitsTruth{slope: 1 + 2*rng.Float64(), phase: 6 * rng.Float64(), sd: 0.1 + 0.4*rng.Float64(), upper: 1}
	t.lower[0] = -0.8 + rng.Float64()
	t.lower[1] = t.lower[0] + 0.3*rng.Float64()
	table, err := t.table(rng)
	if err != nil {
		return no, err
	}
	o := krigo.Options{Kernel: krigo.Kernel{Expression: "se", ARD: "off"}, Method: krigo.Method{Name: "evidence"},
		Prior: krigo.Prior{Kind: "informed", Share: 0.5}, Promise: promise,
		Run: krigo.Run{Restarts: 1, Seed: uint64(number)}}
	o.Data.Target, o.Data.Censored, o.Promise.Delta = "y", "side", targetsDelta
	m, err := krigo.Fit(ctx, table, o)
	if err != nil {
		return no, err
	}
	grid := make([][]float64, targetsPlaces)
	for i := range grid {
		grid[i] = []float64{t.place(i)}
	}
	places, err := dataset.FromRows([]string{"x"}, grid)
	if err != nil {
		return no, err
	}
	ps, err := m.Predict(ctx, places, krigo.PredictOptions{})
	if err != nil {
		return no, err
	}
	c := m.Certificate
	points := []pacbayes.CurvePoint{{HalfWidth: c.Epsilon, Bound: c.MeanBound}}
	if c.Curve != nil {
		points = append(points, c.Curve.Points...)
	}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		points = append(points, pacbayes.CurvePoint{HalfWidth: p.HalfWidth, Bound: 1 - p.Share})
	}
	for k, p := range points {
		var mean, width []float64
		for _, of := range ps {
			unit := m.Terms.EpsilonRaw / m.Terms.Loss.Below
			if m.Terms.Loss.Kind == pacbayes.Scaled {
				unit = of.PredictiveSD
			}
			mean, width = append(mean, of.Mean), append(width, p.HalfWidth*unit)
		}
		known, itself, unknown := t.misses(mean, width)
		if known > p.Bound+1e-6 {
			no[0] = 1
		}
		if k == 0 && c.Limits > 0 && max(unknown, itself) > m.Context.Unknown.MeanBound+1e-6 {
			no[1] = 1
		}
		if itself > p.Bound+1e-6 {
			no[2] = 1
		}
	}
	return no, nil
}

// limitsOfDetection prints in how many sets the certificates of rows with limits are false.
func limitsOfDetection(ctx context.Context, env Env) error {
	header(env.Stdout, []string{"promise", "sets", "the certificate is false", "each limit a miss: false", "δ allows",
		"false if it were of the target itself"})
	sets := env.reps(2000)
	for design, of := range targetsDesigns {
		var next atomic.Int64
		var wait sync.WaitGroup
		var mu sync.Mutex
		var total [3]int
		failed := ctx.Err()
		for range runtime.GOMAXPROCS(0) {
			wait.Go(func() {
				for k := int(next.Add(1)) - 1; k < sets && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
					no, err := limitsTrial(ctx, k*len(targetsDesigns)+design, of.promise)
					mu.Lock()
					for i, v := range no {
						total[i] += v
					}
					if err != nil {
						failed = err
					}
					mu.Unlock()
				}
			})
		}
		if wait.Wait(); failed != nil || ctx.Err() != nil {
			return cmp.Or(failed, ctx.Err())
		}
		line(env.Stdout, []string{of.name, fmt.Sprint(sets), fmt.Sprint(total[0]), fmt.Sprint(total[1]),
			fmt.Sprintf("%.0f", targetsDelta*float64(sets)), fmt.Sprint(total[2])})
	}
	return nil
}
