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

// How often certificates are false where krigo makes choices on the prior rows: the default's kernel, which may have an
// additive part, and a noise that depends on the inputs. The inputs of a set are uniform on a list of places, so every
// risk is a finite sum.

const (
	choicesDelta  = 0.05
	choicesPlaces = 2000
)

// choicesTruth is where the rows of a set come from: inputs, the function and the noise at each place.
type choicesTruth struct {
	x     [][]float64
	f     []float64
	noise [][2]component
}

// choicesDesign is how sets are drawn and fitted. Each promise of promises has its own sets.
type choicesDesign struct {
	name     string
	truth    func(rng *rand.Rand, number int) choicesTruth
	rows     func(rng *rand.Rand) int
	noise    string // the option
	promises []choicesPromise
}

type choicesPromise struct {
	name string
	of   krigo.Promise
}

var choicesScaled = []choicesPromise{
	{"scaled, every width", krigo.Promise{Loss: "scaled", Epsilon: 1.5, Curve: true}},
	{"scaled, a share", krigo.Promise{Loss: "scaled", Epsilon: 1.5, Share: 0.8}}}

var choicesOfKernel = []choicesDesign{{name: "the default", truth: someInputs,
	rows: func(rng *rand.Rand) int { return 60 + rng.IntN(91) },
	promises: []choicesPromise{{"every width", krigo.Promise{}},
		{"ε and a share", krigo.Promise{Epsilon: 0.4, Share: 0.8}}, choicesScaled[0]}}}

var choicesOfNoise = []choicesDesign{
	{name: "--noise linear", truth: changingNoise, rows: hundreds, noise: "linear", promises: choicesScaled},
	{name: "--noise gp", truth: changingNoise, rows: hundreds, noise: "gp", promises: choicesScaled}}

func hundreds(rng *rand.Rand) int { return 120 + rng.IntN(81) }

func somePlaces(rng *rand.Rand, inputs int) (t choicesTruth) {
	t.x, t.f, t.noise = make([][]float64, choicesPlaces), make([]float64, choicesPlaces),
		make([][2]component, choicesPlaces)
	for i := range t.x {
		for range inputs {
			t.x[i] = append(t.x[i], rng.Float64())
		}
	}
	return t
}

// someInputs has three to five inputs. Of three sets, two are sums of waves of each input and of a pair, and one a wave
// of all inputs. The noise is that of a source of validity.
func someInputs(rng *rand.Rand, number int) choicesTruth {
	t := somePlaces(rng, 3+rng.IntN(3))
	var waves [6]func(float64) float64
	for j := range waves {
		slope, phase := 1+5*rng.Float64(), 2*math.Pi*rng.Float64()
		waves[j] = func(x float64) float64 { return math.Sin(slope*x + phase) }
	}
	for i, x := range t.x {
		t.noise[i] = sources[number%len(sources)].noise(x[0])
		if number%3 == 0 {
			sum := 0.
			for _, v := range x {
				sum += v
			}
			t.f[i] = waves[0](sum)
			continue
		}
		for j, v := range x {
			t.f[i] += waves[j](v)
		}
		t.f[i] += waves[5](x[0]) * waves[5](x[1])
	}
	return t
}

// changingNoise has one or two inputs. The noise's standard deviation rises or falls by a factor of e to e³ along the
// first input, or with a bump. In every fourth set the noise has heavy tails, which the model doesn't know.
func changingNoise(rng *rand.Rand, number int) choicesTruth {
	t := somePlaces(rng, 1+rng.IntN(2))
	f, least, slope, bump := fourier(rng), 0.05+0.2*rng.Float64(), 1+2*rng.Float64(), rng.IntN(2) == 0
	if rng.IntN(2) == 0 {
		slope = -slope
	}
	for i, x := range t.x {
		at := x[0]
		if bump {
			at = math.Exp(-30 * (x[0] - 0.5) * (x[0] - 0.5))
		}
		sd := least * math.Exp(slope*at)
		t.f[i], t.noise[i] = f(x[len(x)-1]/2), [2]component{{share: 1, sd: sd}}
		if number%4 == 0 {
			t.noise[i] = [2]component{{share: 0.9, sd: sd}, {share: 0.1, sd: 4 * sd}}
		}
	}
	return t
}

// table draws rows.
func (t choicesTruth) table(rng *rand.Rand, rows int) (*dataset.Table, error) {
	var values [][]float64
	for range rows {
		i, part := rng.IntN(len(t.x)), 0
		if rng.Float64() >= t.noise[i][0].share {
			part = 1
		}
		values = append(values, append(append([]float64{}, t.x[i]...), t.f[i]+t.noise[i][part].sd*rng.NormFloat64()))
	}
	return dataset.FromRows(append(t.names(), "y"), values)
}

func (t choicesTruth) names() (names []string) {
	for j := range t.x[0] {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	return names
}

// missed returns the share of further rows that lie farther from their prediction than a half-width times unit.
func (t choicesTruth) missed(width float64, mean, unit []float64) (share float64) {
	for i, f := range t.f {
		for _, c := range t.noise[i] {
			if c.share > 0 {
				d, w, by := f-mean[i], width*unit[i], c.sd*math.Sqrt2
				share += c.share * (math.Erfc((w-d)/by) + math.Erfc((w+d)/by)) / 2
			}
		}
	}
	return share / float64(len(t.f))
}

// predict returns a model's predictions and the units of a certificate's half-widths, in the target's units.
func (t choicesTruth) predict(ctx context.Context, m *krigo.Model, p *dataset.Table) (mean, unit []float64, err error) {
	ps, err := m.Predict(ctx, p, krigo.PredictOptions{})
	for _, p := range ps {
		mean = append(mean, p.Mean)
		if m.Terms.Loss.Kind == pacbayes.Scaled {
			unit = append(unit, p.PredictiveSD)
		} else {
			unit = append(unit, m.Terms.EpsilonRaw/m.Terms.Loss.Below)
		}
	}
	return mean, unit, err
}

// choicesCount counts sets, models with an additive kernel, false certificates, and false bounds of the control, a
// model that all rows train and whose misses on the certified rows are counted as if it hadn't seen them.
type choicesCount struct {
	Sets     int `json:"sets"`
	Additive int `json:"additive"`
	Wrong    int `json:"wrong"`
	Control  int `json:"control"`
}

func (n *choicesCount) add(m choicesCount) {
	*n = choicesCount{n.Sets + m.Sets, n.Additive + m.Additive, n.Wrong + m.Wrong, n.Control + m.Control}
}

// try draws and fits the set of a number for a promise.
func (d choicesDesign) try(ctx context.Context, number, promise int, n *choicesCount) error {
	rng := rand.New(rand.NewPCG(uint64(number*len(d.promises)+promise), 0x63686f69))
	t := d.truth(rng, number)
	table, err := t.table(rng, d.rows(rng))
	if err != nil {
		return err
	}
	o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Noise: d.noise},
		Prior: krigo.Prior{Kind: "informed"}, Promise: d.promises[promise].of, Run: krigo.Run{Seed: uint64(number)}}
	o.Promise.Delta, o.Promise.Population = choicesDelta, "same" // two rows of one place are independent
	m, err := krigo.Fit(ctx, table, o)
	if err != nil {
		return fmt.Errorf("set %d: %w", number, err)
	}
	places, err := dataset.FromRows(t.names(), t.x)
	if err != nil {
		return err
	}
	mean, unit, err := t.predict(ctx, m, places)
	if err != nil {
		return err
	}
	c, wrong := m.Certificate, false
	points := []pacbayes.CurvePoint{{HalfWidth: c.Epsilon, Bound: c.MeanBound}}
	if c.Curve != nil {
		points = append(points, c.Curve.Points...)
	}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		points = append(points, pacbayes.CurvePoint{HalfWidth: p.HalfWidth, Bound: 1 - p.Share})
	}
	for _, p := range points {
		wrong = wrong || t.missed(p.HalfWidth, mean, unit) > p.Bound+1e-9
	}
	control, err := t.control(ctx, m, table, places, o)
	if err != nil {
		return fmt.Errorf("set %d: %w", number, err)
	}
	n.Sets++
	for to, is := range map[*int]bool{&n.Wrong: wrong, &n.Control: control,
		&n.Additive: strings.Contains(kernelOf(m), "additive")} {
		if is {
			*to++
		}
	}
	return nil
}

// control says whether the bound of the control is false, at the certificate's own half-width.
func (t choicesTruth) control(ctx context.Context, m *krigo.Model, table, places *dataset.Table, o krigo.Options) (
	bool, error,
) {
	d, err := m.Labelled(table)
	if err != nil {
		return false, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return false, err
	}
	width := m.Certificate.Epsilon
	certified := d.RowsOf(roles, dataset.Certified)
	o.Prior.Share = 1
	all, err := krigo.Fit(ctx, table, o)
	if err != nil {
		return false, err
	}
	at, unit, err := t.predict(ctx, all, table)
	if err != nil {
		return false, err
	}
	misses, k := 0, len(table.Names)
	for _, row := range certified {
		if math.Abs(table.Values[(row+1)*k-1]-at[row]) > width*unit[row] {
			misses++
		}
	}
	mean, units, err := t.predict(ctx, all, places)
	return t.missed(width, mean, units) > pacbayes.ClopperPearson(misses, len(certified), choicesDelta), err
}

// choices returns an experiment that prints in how many sets the certificates of designs are false.
func choices(name string, designs []choicesDesign) func(ctx context.Context, env Env) error {
	return func(ctx context.Context, env Env) error {
		sets := env.reps(2000)
		var tasks []task[choicesCount]
		for first := 0; first < sets; first += setsPerTask {
			last := min(first+setsPerTask, sets)
			for _, d := range designs {
				for promise, of := range d.promises {
					tasks = append(tasks, task[choicesCount]{
						fmt.Sprintf("%s, %s: sets %d to %d", d.name, of.name, first, last-1),
						func(ctx context.Context) (n choicesCount, err error) {
							for number := first; number < last && err == nil; number++ {
								err = d.try(ctx, number, promise, &n)
							}
							return n, err
						}})
				}
			}
		}
		results, err := runAll(ctx, env, name, tasks, nil)
		if err != nil {
			return err
		}
		header(env.Stdout, []string{"fit", "promise", "sets", "additive kernels", "certificate false", "δ allows",
			"false if certified rows also trained"})
		for _, d := range designs {
			for _, of := range d.promises {
				var n choicesCount
				for i, r := range results {
					if strings.HasPrefix(tasks[i].key, fmt.Sprintf("%s, %s: ", d.name, of.name)) {
						n.add(r)
					}
				}
				line(env.Stdout, []string{d.name, of.name, fmt.Sprint(n.Sets), fmt.Sprint(n.Additive),
					fmt.Sprint(n.Wrong), fmt.Sprintf("%.0f", choicesDelta*float64(n.Sets)), fmt.Sprint(n.Control)})
			}
		}
		return nil
	}
}
