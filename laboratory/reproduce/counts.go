package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// How often certificates of counts with an exposure, and of ordered levels, are false. A set has one input at
// countsPlaces places and four exposures, so that the true share of rows outside a band is a finite sum.

const (
	countsDelta  = 0.05
	countsPlaces = 100
	countsRows   = 150
)

var countsExposures = []float64{0.3, 1, 3, 9}

// countsDesign is how sets are drawn and fitted.
type countsDesign struct {
	name, noise string
	loss        string
	epsilon     float64
}

var countsDesigns = []countsDesign{
	{"Poisson counts with an exposure, ±3", "poisson", "band", 3},
	{"the same, ±1 sd of each prediction", "poisson", "scaled", 1},
	{"the same, fitted as negative-binomial", "negative-binomial", "band", 3},
	{"five levels, ±0.5", "ordinal", "band", 0.5},
}

// chance returns the chance of a value at a place where f is this, with an exposure.
func (d countsDesign) chance(y, f, exposure float64) float64 {
	if d.noise == "ordinal" {
		p := 1.
		if y < 4 {
			p = normalCDF(y - 1.5 - f)
		}
		if y > 0 {
			p -= normalCDF(y - 2.5 - f)
		}
		return p
	}
	logFactorial, _ := math.Lgamma(y + 1)
	rate := exposure * math.Exp(f)
	return math.Exp(y*math.Log(rate) - rate - logFactorial)
}

// values returns the number of values from 0 that have a chance at a rate.
func (d countsDesign) values(f, exposure float64) int {
	if d.noise == "ordinal" {
		return 5
	}
	rate := exposure * math.Exp(f)
	return int(rate + 12*math.Sqrt(rate) + 30)
}

// countsCount counts sets, false certificates and false controls, and sums squares of the errors of ln rate.
type countsCount struct {
	Sets    int     `json:"sets"`
	Wrong   int     `json:"wrong"`
	Control int     `json:"control"`
	Squares float64 `json:"squares"`
}

// try draws and fits the set of a number.
func (d countsDesign) try(ctx context.Context, number int, n *countsCount) error {
	rng := rand.New(rand.NewPCG(uint64(number), 0x636f756e))
	middle, height, slope, phase := rng.NormFloat64()/2, 0.3+rng.Float64(), 1+2*rng.Float64(), 6*rng.Float64()
	f := func(i int) float64 { return middle + height*math.Sin(4*slope*(float64(i)+0.5)/countsPlaces+phase) }
	exposures, o := countsExposures, krigo.Options{}
	if d.noise == "ordinal" {
		exposures, o.Data.Ignore = []float64{1}, []string{"exposure"}
	} else {
		o.Data.Exposure = "exposure"
	}
	var rows, grid [][]float64
	for range countsRows {
		i, e := rng.IntN(countsPlaces), exposures[rng.IntN(len(exposures))]
		y := 0.
		for u := rng.Float64() - d.chance(0, f(i), e); u > 0 && int(y) < d.values(f(i), e); u -= d.chance(y, f(i), e) {
			y++
		}
		rows = append(rows, []float64{float64(i), e, y})
	}
	for i := range countsPlaces {
		for _, e := range exposures {
			grid = append(grid, []float64{float64(i), e})
		}
	}
	table, err := dataset.FromRows([]string{"x", "exposure", "y"}, rows)
	if err != nil {
		return err
	}
	o.Data.Target, o.Run = "y", krigo.Run{Restarts: 1, Seed: uint64(number)}
	o.Kernel, o.Method = krigo.Kernel{Expression: "se", ARD: "off", Noise: d.noise}, krigo.Method{Name: "evidence"}
	o.Prior = krigo.Prior{Kind: "informed", Share: 0.5}
	o.Promise = krigo.Promise{Loss: d.loss, Epsilon: d.epsilon, Delta: countsDelta, Population: "same"}
	if d.loss == "band" {
		o.Promise.Units = "raw"
	}
	m, err := krigo.Fit(ctx, table, o)
	if err != nil {
		return fmt.Errorf("%s, set %d: %w", d.name, number, err)
	}
	places, err := dataset.FromRows([]string{"x", "exposure"}, grid)
	if err != nil {
		return err
	}
	ps, err := m.Predict(ctx, places, krigo.PredictOptions{})
	if err != nil {
		return err
	}
	outside := 0.
	for k, p := range ps {
		i, e, width := int(grid[k][0]), grid[k][1], d.epsilon
		if d.loss == "scaled" {
			width *= p.PredictiveSD
		}
		inside := 0.
		for y := range d.values(f(i), e) {
			if math.Abs(float64(y)-p.Mean) <= width {
				inside += d.chance(float64(y), f(i), e)
			}
		}
		outside += (1 - inside) / float64(len(ps))
		if e == 1 && d.noise != "ordinal" {
			off := math.Log(p.Mean) - f(i)
			n.Squares += off * off / countsPlaces
		}
	}
	n.Sets++
	if outside > m.Certificate.MeanBound+1e-9 {
		n.Wrong++
	}
	if outside > pacbayes.HoldOutBound(true, m.Certificate.EmpiricalRisk, m.Certificate.Rows, 0.5) {
		n.Control++
	}
	return nil
}

// counts prints in how many sets the certificates of counts and levels are false.
func counts(ctx context.Context, env Env) error {
	sets := env.reps(2000)
	var tasks []task[countsCount]
	for first := 0; first < sets; first += setsPerTask {
		last := min(first+setsPerTask, sets)
		for _, d := range countsDesigns {
			tasks = append(tasks, task[countsCount]{fmt.Sprintf("%s: sets %d to %d", d.name, first, last-1),
				func(ctx context.Context) (n countsCount, err error) {
					for number := first; number < last && err == nil; number++ {
						err = d.try(ctx, number, &n)
					}
					return n, err
				}})
		}
	}
	results, err := runAll(ctx, env, "counts", tasks, nil)
	if err != nil {
		return err
	}
	header(env.Stdout, []string{"counts", "sets", "certificate false", "δ allows", "false if δ were .5",
		"RMS error of ln rate"})
	for _, d := range countsDesigns {
		var n countsCount
		for i, r := range results {
			if strings.HasPrefix(tasks[i].key, d.name+": ") {
				n = countsCount{n.Sets + r.Sets, n.Wrong + r.Wrong, n.Control + r.Control, n.Squares + r.Squares}
			}
		}
		off := ""
		if n.Squares > 0 {
			off = fmt.Sprintf("%.3f", math.Sqrt(n.Squares/float64(n.Sets)))
		}
		line(env.Stdout, []string{d.name, fmt.Sprint(n.Sets), fmt.Sprint(n.Wrong),
			fmt.Sprintf("%.0f", countsDelta*float64(n.Sets)), fmt.Sprint(n.Control), off})
	}
	return nil
}
