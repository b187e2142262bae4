package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/pacbayes"
)

// How often certificates of labels are false. A set has one input at classesPlaces places, so that the true share of
// wrong labels is a finite sum.

const (
	classesDelta  = 0.05
	classesPlaces = 200
)

// classesTruth is where the rows of a set come from: f at each place, and the standard deviation of the offsets that
// groups add to f. A row's label is 1 with probability Φ(f + offset).
type classesTruth struct {
	f      [classesPlaces]float64
	offset float64
}

// one returns the probability of 1 at a place, for a row of a further group.
func (t classesTruth) one(i int) float64 { return normalCDF(t.f[i] / math.Sqrt(1+t.offset*t.offset)) }

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// wrong returns the share of further rows whose label is wrong, if chance(i) is the chance that a row at place i gets
// the label 1.
func (t classesTruth) wrong(chance func(i int) float64) (share float64) {
	for i := range t.f {
		p, c := t.one(i), chance(i)
		share += (p*(1-c) + (1-p)*c) / classesPlaces
	}
	return share
}

// classesDesign is how sets are drawn and fitted. A row of a set without groups is a group of its own.
type classesDesign struct {
	name         string
	rows, groups int // groups of 1 to 7 rows
	middle       func(rng *rand.Rand) float64
	options      krigo.Options
	draw         bool // the bound on a random draw counts, else the bound on the mean
	three        bool // rows have three classes
}

var classesDesigns = []classesDesign{
	{name: "balanced", rows: 150, middle: func(*rand.Rand) float64 { return 0 }, options: classesDirect("")},
	{name: "0.2 to 2 % of class 1", rows: 400, middle: func(rng *rand.Rand) float64 { return -2.8 + 0.5*rng.Float64() },
		options: classesDirect("")},
	{name: "three classes", rows: 120, options: classesDirect(""), three: true},
	{name: "groups", groups: 60, middle: func(rng *rand.Rand) float64 { return rng.NormFloat64() / 2 },
		options: classesDirect("group")},
	{name: "random draw, kl-pac", rows: 100, middle: func(rng *rand.Rand) float64 { return rng.NormFloat64() / 2 },
		options: krigo.Options{Method: krigo.Method{Name: "kl-pac"}}, draw: true},
	{name: "random draw, free after a prior", rows: 120,
		middle: func(rng *rand.Rand) float64 { return rng.NormFloat64() / 2 }, draw: true,
		options: krigo.Options{Method: krigo.Method{Name: "evidence", Posterior: "free"},
			Prior: krigo.Prior{Kind: "informed", Share: 0.5}}},
}

func classesDirect(group string) krigo.Options {
	return krigo.Options{Data: krigo.Data{Group: group}, Method: krigo.Method{Name: "evidence"},
		Prior: krigo.Prior{Kind: "informed", Share: 0.5}}
}

// drawn draws a truth and a table from it.
func (d classesDesign) drawn(rng *rand.Rand) (t classesTruth, _ *dataset.Table, err error) {
	middle, height, slope, phase := d.middle(rng), 0.5+2*rng.Float64(), 1+2*rng.Float64(), 6*rng.Float64()
	if middle < -1 {
		height = 0.5
	}
	if d.groups > 0 {
		t.offset = rng.Float64()
	}
	for i := range t.f {
		t.f[i] = middle + height*math.Sin(4*slope*(float64(i)+0.5)/classesPlaces+phase)
	}
	var rows [][]float64
	for g := range max(d.rows, d.groups) {
		size, offset := 1, t.offset*rng.NormFloat64()
		if d.groups > 0 {
			size = 1 + rng.IntN(7)
		}
		for range size {
			i, y := rng.IntN(classesPlaces), 0.
			if rng.Float64() < normalCDF(t.f[i]+offset) {
				y = 1
			}
			rows = append(rows, []float64{float64(i), float64(g), y})
		}
	}
	table, err := dataset.FromRows([]string{"x", "group", "label"}, rows)
	return t, table, err
}

// chances returns the chance that a further row at each place gets the label 1: 0 or 1 if the mean labels it.
func (d classesDesign) chances(ctx context.Context, m *krigo.Model) (func(i int) float64, error) {
	at := make([][]float64, classesPlaces)
	for i := range at {
		at[i] = []float64{float64(i)}
	}
	places, err := dataset.FromRows([]string{"x"}, at)
	if err != nil {
		return nil, err
	}
	ps, err := m.Predict(ctx, places, krigo.PredictOptions{})
	return func(i int) float64 {
		p := ps[i]
		switch {
		case d.draw:
			f := -math.Sqrt(2*(p.LatentVariance+m.ObservationNoise)) * math.Erfcinv(2*p.Mean)
			return normalCDF(f / p.LatentSD)
		case p.Mean >= 0.5:
			return 1
		}
		return 0
	}, err
}

// classesCount counts sets, sets without a fit because the prior rows have one class, false certificates and false
// controls.
type classesCount struct {
	Sets    int `json:"sets"`
	None    int `json:"none"`
	Wrong   int `json:"wrong"`
	Control int `json:"control"`
}

func (n *classesCount) add(m classesCount) {
	*n = classesCount{n.Sets + m.Sets, n.None + m.None, n.Wrong + m.Wrong, n.Control + m.Control}
}

// try draws and fits the set of a number.
func (d classesDesign) try(ctx context.Context, number int, n *classesCount) error {
	rng := rand.New(rand.NewPCG(uint64(number), 0x636c6173))
	o := d.options
	o.Data.Target, o.Data.Inputs = "label", []string{"x"}
	o.Kernel = krigo.Kernel{Expression: "se", ARD: "off", Noise: "probit"}
	o.Promise.Delta, o.Promise.Population, o.Run = classesDelta, "same", krigo.Run{Restarts: 1, Seed: uint64(number)}
	if o.Data.Group != "" {
		o.Promise.Population = "" // a promise for new groups
	}
	if d.three {
		if err := d.tryThree(ctx, rng, o, n); err != nil {
			return fmt.Errorf("%s, set %d: %w", d.name, number, err)
		}
		return nil
	}
	t, table, err := d.drawn(rng)
	if err != nil {
		return err
	}
	n.Sets++
	m, err := krigo.Fit(ctx, table, o)
	if err != nil {
		said := err.Error()
		if strings.Contains(said, "prior rows have the label") || strings.Contains(said, "hasn't two") {
			n.None++
			return nil
		}
		return fmt.Errorf("%s, set %d: %w", d.name, number, err)
	}
	chance, err := d.chances(ctx, m)
	if err != nil {
		return err
	}
	c := m.Certificate
	bound, units := c.MeanBound, c.Rows
	if c.Groups > 0 {
		units = c.Groups
	}
	if d.draw {
		bound = c.Bound
	}
	if t.wrong(chance) > bound+1e-9 {
		n.Wrong++
	}
	// the control: a bound of this share of δ that holds with probability ½
	if t.wrong(chance) > pacbayes.HoldOutBound(c.Group == "" && !d.draw, c.EmpiricalRisk, units, 0.5) {
		n.Control++
	}
	return nil
}

// classes prints in how many sets the certificates of labels are false.
func classes(ctx context.Context, env Env) error {
	names := lists.Of(classesDesigns, func(d classesDesign) string { return d.name })
	if err := check("kind of sets", env.Sets, names); err != nil {
		return err
	}
	designs := lists.If(classesDesigns, func(d classesDesign) bool {
		return env.Sets == nil || slices.Contains(env.Sets, d.name)
	})
	sets := env.reps(2000)
	var tasks []task[classesCount]
	for first := 0; first < sets; first += setsPerTask {
		last := min(first+setsPerTask, sets)
		for _, d := range designs {
			tasks = append(tasks, task[classesCount]{
				fmt.Sprintf("%s: sets %d to %d", d.name, first, last-1),
				func(ctx context.Context) (n classesCount, err error) {
					for number := first; number < last && err == nil; number++ {
						err = d.try(ctx, number, &n)
					}
					return n, err
				}})
		}
	}
	results, err := runAll(ctx, env, "labels", tasks, nil)
	if err != nil {
		return err
	}
	header(env.Stdout, []string{"labels", "sets", "no fit, one class in the prior rows", "certificate false",
		"δ allows", "false if δ were .5 and nothing paid for training"})
	for _, d := range designs {
		var n classesCount
		for i, r := range results {
			if strings.HasPrefix(tasks[i].key, d.name+": ") {
				n.add(r)
			}
		}
		line(env.Stdout, []string{d.name, fmt.Sprint(n.Sets), fmt.Sprint(n.None), fmt.Sprint(n.Wrong),
			fmt.Sprintf("%.0f", classesDelta*float64(n.Sets-n.None)), fmt.Sprint(n.Control)})
	}
	return nil
}

// tryThree draws and fits a set of three classes. The certificate counts the rows whose most probable class is wrong.
func (d classesDesign) tryThree(ctx context.Context, rng *rand.Rand, o krigo.Options, n *classesCount) error {
	t, table, err := drawnThree(rng, d.rows)
	if err != nil {
		return err
	}
	n.Sets++
	table, o, err = o.Kinds(table)
	if err != nil {
		return err
	}
	all, err := krigo.FitTargets(ctx, table, o.Data.Beside, o)
	if err != nil {
		if strings.Contains(err.Error(), "prior rows have the label") || len(o.Data.Beside) == 0 {
			n.None++
			return nil
		}
		return err
	}
	at := make([][]float64, classesPlaces)
	for i := range at {
		at[i] = []float64{float64(i)}
	}
	places, err := dataset.FromRows([]string{"x"}, at)
	if err != nil {
		return err
	}
	labels, err := all.PredictLabels(ctx, places, 0)
	if err != nil {
		return err
	}
	wrong := 0.
	for i, p := range labels.Predictions {
		class, err := strconv.ParseFloat(p.Label, 64)
		if err != nil {
			return err
		}
		wrong += (1 - t[i][int(class)]) / classesPlaces
	}
	c := all.Together.Certificate
	if wrong > c.MeanBound+1e-9 {
		n.Wrong++
	}
	if wrong > pacbayes.HoldOutBound(true, c.EmpiricalRisk, c.Rows, 0.5) {
		n.Control++
	}
	return nil
}
