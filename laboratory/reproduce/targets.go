package main

import (
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

// How often what krigo prints of several targets is false. Sets have one input and three targets, whose noise is
// correlated and whose cells may be missing. The true risks are known.

const (
	targetsDelta  = 0.05
	targetsRows   = 150
	targetsPlaces = 100
	targetsCommon = 0.8 // correlation of each target's noise with the noise that all targets share
)

// targetsTruth is where the rows of a set come from.
type targetsTruth struct {
	slope, phase, sd [3]float64
}

func (t targetsTruth) place(i int) float64 { return 4 * (float64(i) + 0.5) / targetsPlaces }

func (t targetsTruth) f(j int, x float64) float64 { return math.Sin(t.slope[j]*x + t.phase[j]) }

// has returns the probability that a row at x has target j. The second and the third target are missing more often at
// one end of the input.
func (t targetsTruth) has(j int, x float64) float64 {
	return 1 - []float64{0, 0.1 * x, 0.3 - 0.05*x}[j]
}

func (t targetsTruth) table(rng *rand.Rand) (*dataset.Table, error) {
	rows := make([][]float64, targetsRows)
	for i := range rows {
		x, common := t.place(rng.IntN(targetsPlaces)), rng.NormFloat64()
		rows[i] = []float64{x}
		for j := range 3 {
			y := t.f(j, x) + t.sd[j]*(targetsCommon*common+math.Sqrt(1-targetsCommon*targetsCommon)*rng.NormFloat64())
			if rng.Float64() > t.has(j, x) {
				y = math.NaN()
			}
			rows[i] = append(rows[i], y)
		}
	}
	return dataset.FromRows([]string{"x", "a", "b", "c"}, rows)
}

// inside returns the share of rows whose targets of the list all lie within their bands, among the rows that have these
// targets. mean and width are by target and place.
func (t targetsTruth) inside(list []int, mean, width [3][]float64) float64 {
	const nodes, reach = 31, 4.5
	inside, all := 0., 0.
	for i := range targetsPlaces {
		x, weight := t.place(i), 1.
		for _, j := range list {
			weight *= t.has(j, x)
		}
		share, mass := 0., 0.
		for k := range nodes {
			common := reach * (2*(float64(k)+0.5)/nodes - 1)
			density, p := math.Exp(-common*common/2), 1.
			for _, j := range list {
				own := t.sd[j] * math.Sqrt(2*(1-targetsCommon*targetsCommon))
				d := t.f(j, x) + t.sd[j]*targetsCommon*common - mean[j][i]
				p *= (math.Erf((d+width[j][i])/own) - math.Erf((d-width[j][i])/own)) / 2
			}
			share, mass = share+density*p, mass+density
		}
		inside, all = inside+weight*share/mass, all+weight
	}
	return inside / all
}

// targetsDesigns are the promises that sets ask for in turn.
var targetsDesigns = []struct {
	name    string
	promise krigo.Promise
}{
	{"every width", krigo.Promise{Curve: true}},
	{"ε and a share", krigo.Promise{Share: 0.8}},
	{"scaled, every width", krigo.Promise{Loss: "scaled", Epsilon: 1.5, Curve: true}},
}

// fails says whether a certificate of targets of the list is false. unit returns the half-width of a target's band at a
// place for each unit of the certificate's half-widths.
func (t targetsTruth) fails(c *pacbayes.Certificate, list []int, mean [3][]float64, unit func(j, i int) float64) bool {
	if c == nil {
		return false
	}
	points := []pacbayes.CurvePoint{{HalfWidth: c.Epsilon, Bound: c.MeanBound}}
	if c.Curve != nil {
		points = append(points, c.Curve.Points...)
	}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		points = append(points, pacbayes.CurvePoint{HalfWidth: p.HalfWidth, Bound: 1 - p.Share})
	}
	for _, p := range points {
		var width [3][]float64
		for _, j := range list {
			for i := range targetsPlaces {
				width[j] = append(width[j], p.HalfWidth*unit(j, i))
			}
		}
		if 1-t.inside(list, mean, width) > p.Bound+1e-6 {
			return true
		}
	}
	return false
}

// targetsCount counts false certificates among sets: of each target, of all together, any of them, and any of them if
// each had all of δ, which isn't valid.
type targetsCount struct{ sets, each, together, any, unpaid int }

// targetsTrial fits the set of a number and counts.
func targetsTrial(ctx context.Context, number int, n *targetsCount) error {
	rng := rand.New(rand.NewPCG(uint64(number), 0x74617267))
	var t targetsTruth
	for j := range 3 {
		t.slope[j], t.phase[j], t.sd[j] = 1+2*rng.Float64(), 6*rng.Float64(), 0.1+0.4*rng.Float64()
	}
	table, err := t.table(rng)
	if err != nil {
		return err
	}
	o := krigo.Options{Kernel: krigo.Kernel{Expression: "se", ARD: "off"}, Method: krigo.Method{Name: "evidence"},
		Prior: krigo.Prior{Kind: "informed", Share: 0.5}, Promise: targetsDesigns[number%len(targetsDesigns)].promise,
		Run: krigo.Run{Restarts: 1, Seed: uint64(number)}}
	o.Data.Transform, o.Promise.Delta, o.Promise.Population = "none", targetsDelta, "same"
	all, err := krigo.FitTargets(ctx, table, []string{"a", "b", "c"}, o)
	if err != nil {
		return err
	}
	grid := make([][]float64, targetsPlaces)
	for i := range grid {
		grid[i] = []float64{t.place(i)}
	}
	places, err := dataset.FromRows([]string{"x"}, grid)
	if err != nil {
		return err
	}
	var mean, sd [3][]float64
	for j := range 3 {
		ps, err := all.Model(j).Predict(ctx, places, krigo.PredictOptions{})
		if err != nil {
			return err
		}
		for _, p := range ps {
			mean[j], sd[j] = append(mean[j], p.Mean), append(sd[j], p.PredictiveSD)
		}
	}
	count := func() (each, together bool) {
		for j, m := range all.Models {
			raw := m.Terms.EpsilonRaw / m.Terms.Loss.Below
			each = t.fails(m.Certificate, []int{j}, mean, t.unit(all, sd, func(int) float64 { return raw })) || each
		}
		return each, t.fails(all.Together.Certificate, []int{0, 1, 2}, mean,
			t.unit(all, sd, func(j int) float64 { return all.Together.Units[j] }))
	}
	each, together := count()
	add := func(to *int, fails bool) {
		if fails {
			*to++
		}
	}
	n.sets++
	add(&n.each, each)
	add(&n.together, together)
	add(&n.any, each || together)
	for j, m := range all.Models { // the control: each certificate has all of δ
		m.Terms.Delta = targetsDelta
		d, err := m.Labelled(table)
		if err == nil {
			all.Models[j].Certificate, err = m.Certify(d)
		}
		if err != nil {
			return err
		}
	}
	if all.Together, err = all.CertifyTogether(table); err != nil {
		return err
	}
	each, together = count()
	add(&n.unpaid, each || together)
	return nil
}

// unit returns a function for fails. raw is the half-width of a band that doesn't follow the model's deviation sd.
func (t targetsTruth) unit(all *krigo.Targets, sd [3][]float64, raw func(j int) float64) func(j, i int) float64 {
	return func(j, i int) float64 {
		if all.Models[j].Terms.Loss.Kind == pacbayes.Scaled {
			return sd[j][i]
		}
		return raw(j)
	}
}

// severalTargets prints in how many sets the certificates of several targets are false.
func severalTargets(ctx context.Context, env Env) error {
	header(env.Stdout, []string{"promise", "sets", "a target's false", "together false", "any false", "δ allows",
		"any false if each had all of δ"})
	sets := env.reps(2000)
	for design, of := range targetsDesigns {
		var next atomic.Int64
		var wait sync.WaitGroup
		var mu sync.Mutex
		var total targetsCount
		var failed error
		for range runtime.GOMAXPROCS(0) {
			wait.Go(func() {
				var n targetsCount
				var err error
				for k := int(next.Add(1)) - 1; k < sets && err == nil && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
					err = targetsTrial(ctx, k*len(targetsDesigns)+design, &n)
				}
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed = err
				}
				total = targetsCount{total.sets + n.sets, total.each + n.each, total.together + n.together, total.any + n.any,
					total.unpaid + n.unpaid}
			})
		}
		wait.Wait()
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil {
			return failed
		}
		line(env.Stdout, []string{of.name, fmt.Sprint(total.sets), fmt.Sprint(total.each), fmt.Sprint(total.together),
			fmt.Sprint(total.any), fmt.Sprintf("%.0f", targetsDelta*float64(total.sets)), fmt.Sprint(total.unpaid)})
	}
	return nil
}
