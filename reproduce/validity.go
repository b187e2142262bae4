package reproduce

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// A source draws rows: x is uniform on points of [0, 1], so that every risk is a finite sum,
// and y = f(x) plus a noise that is a mixture of two Gaussians at every x.
type source struct {
	name  string
	f     func(rng *rand.Rand) func(x float64) float64
	noise func(x float64) [2]component
}

// component is a share of the noise, with its standard deviation.
type component struct{ share, sd float64 }

// sourcePoints is the number of places that x may take.
const sourcePoints = 250

// sources draw a new function for every training set.
var sources = []source{
	{"GP draws", fourier, func(float64) [2]component { return [2]component{{1, 0.3}} }},
	{"heavy tails", fourier, func(float64) [2]component { return [2]component{{0.85, 0.2}, {0.15, 1.5}} }},
	{"jumps", jumps, func(float64) [2]component { return [2]component{{1, 0.2}} }},
	{"heteroskedastic", fourier, func(x float64) [2]component { return [2]component{{1, 0.05 + 0.8*x}} }},
}

// fourier draws from a Gaussian process with squared-exponential covariance of lengthscale
// 0.15, by random frequencies (Rahimi and Recht 2007).
func fourier(rng *rand.Rand) func(x float64) float64 {
	const terms = 30
	var frequency, phase [terms]float64
	for i := range terms {
		frequency[i], phase[i] = rng.NormFloat64()/0.15, 2*math.Pi*rng.Float64()
	}
	return func(x float64) (s float64) {
		for i, w := range frequency {
			s += math.Sqrt(2./terms) * math.Cos(w*x+phase[i])
		}
		return s
	}
}

// jumps is constant between five random places.
func jumps(rng *rand.Rand) func(x float64) float64 {
	var at, level [5]float64
	for i := range at {
		at[i], level[i] = rng.Float64(), rng.NormFloat64()
	}
	return func(x float64) (s float64) {
		for i, a := range at {
			if x > a {
				s += level[i]
			}
		}
		return s
	}
}

// truth is a source with its function, which the risk of any prediction is known for.
type truth struct {
	source
	f func(x float64) float64
}

func (t truth) place(i int) float64 { return float64(i) / (sourcePoints - 1) }

func (t truth) table(n int, rng *rand.Rand) *dataset.Table {
	d := &dataset.Table{Source: t.name, Names: []string{"x", "y"}, Rows: n, Lines: make([]int, n)}
	for i := range n {
		x := t.place(rng.IntN(sourcePoints))
		c := t.noise(x)
		sd := c[0].sd
		if rng.Float64() >= c[0].share {
			sd = c[1].sd
		}
		d.Values = append(d.Values, x, t.f(x)+sd*rng.NormFloat64())
		d.Lines[i] = i + 2
	}
	return d
}

// risk is the expected loss of f ~ N(mean, variance) at every place, all in scaled units.
func (t truth) risk(l pacbayes.Loss, s dataset.Scaling, mean, variance []float64) (risk float64) {
	for i, m := range mean {
		x := t.place(i)
		y := (t.f(x) - s.TargetMean) / s.TargetScale
		for _, c := range t.noise(x) {
			if c.share == 0 {
				continue
			}
			v := c.sd / s.TargetScale
			e, _, _ := l.Expected(y, m, v*v+variance[i], 0)
			risk += c.share * e / sourcePoints
		}
	}
	return risk
}

// trial is one way to fit.
type trial struct {
	name     string
	o        krigo.Options
	controls bool // statements that aren't of krigo are tried on its model too
}

// trials are the objectives and kinds of priors, with few evaluations: a bound has to hold
// wherever training ends.
var trials = []trial{
	{name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
	{name: "sqrt-pac", o: krigo.Options{Objective: "sqrt-pac"}},
	{name: "evidence", o: krigo.Options{Objective: "evidence"}},
	{name: "vfe", o: krigo.Options{Objective: "vfe"}},
	{name: "dtc", o: krigo.Options{Objective: "dtc"}},
	{name: "fitc", o: krigo.Options{Objective: "fitc"}},
	{name: "pep", o: krigo.Options{Objective: "pep"}},
	{name: "svgp", o: krigo.Options{Objective: "svgp", Batch: 25}},
	{name: "renyi", o: krigo.Options{Objective: "renyi"}},
	{name: "kl-pac, mixed grid", o: krigo.Options{Objective: "kl-pac", GridMixed: true}},
	{name: "kl-pac, free", o: krigo.Options{Objective: "kl-pac", Inducing: trialInducing, PosteriorFree: true}},
	{name: "informed, evidence", o: krigo.Options{Prior: "informed", Objective: "evidence", PriorShare: 0.5}, controls: true},
	{name: "informed, vfe", o: krigo.Options{Prior: "informed", Objective: "vfe", PriorShare: 0.5}},
	{name: "informed, kl-pac", o: krigo.Options{Prior: "informed", Objective: "kl-pac", PriorShare: 0.5}},
	{name: "informed, learnt", o: krigo.Options{Prior: "informed", Objective: "evidence", PriorShare: 0.3, PosteriorLearnt: true}},
	{name: "informed, learnt sparse", o: krigo.Options{Prior: "informed", Objective: "vfe", PriorShare: 0.3, PosteriorLearnt: true, Temper: []float64{1, 0.1}}},
	{name: "informed, free", o: krigo.Options{Prior: "informed", Objective: "vfe", PriorShare: 0.3, PosteriorFree: true}},
}

const (
	trialInducing    = 6
	trialEvaluations = 12
	trialShare       = 0.7 // of a promise
	trialEpsilon     = 0.6
)

var trialDeltas = []float64{0.05, 0.01}

// trialLosses are those that bounds are computed for, whichever was trained.
var trialLosses = []pacbayes.Loss{{Kind: pacbayes.Band, Below: trialEpsilon}, {Kind: pacbayes.ClippedSquare, Below: 1}, {Kind: pacbayes.Gaussian, Below: 1}}

// tally counts the sets in which a statement failed, by δ.
type tally struct {
	Sets  int    `json:"sets"`
	Fails [2]int `json:"fails"`
}

// tallies are kept by "trial/statement/loss".
type tallies map[string]tally

func (t tallies) count(key string, delta int, fails bool) {
	c := t[key]
	if delta == 0 {
		c.Sets++
	}
	if fails {
		c.Fails[delta]++
	}
	t[key] = c
}

func (t tallies) add(u tallies) {
	for key, c := range u {
		a := t[key]
		a.Sets += c.Sets
		for d := range a.Fails {
			a.Fails[d] += c.Fails[d]
		}
		t[key] = a
	}
}

// predictions of one model, in scaled units.
type predictions struct{ mean, variance []float64 }

// try draws the training set of a number, fits it and counts what fails.
func (tr trial) try(ctx context.Context, number int, count tallies) error {
	rng := rand.New(rand.NewPCG(uint64(number), 0x76616c6964))
	s := sources[number%len(sources)]
	t := truth{s, s.f(rng)}
	table := t.table(80+rng.IntN(121), rng)
	o := tr.o
	o.Target, o.Seed, o.Restarts, o.ARD, o.Epochs, o.Epsilon = "y", uint64(number), 1, "off", trialEvaluations, trialEpsilon
	if slices.Contains([]string{"vfe", "dtc", "fitc", "pep", "svgp", "renyi"}, o.Objective) {
		o.Inducing = trialInducing
	}
	m, err := krigo.Fit(ctx, table, o)
	if err == nil {
		err = t.check(m, table, tr.name, count)
	}
	if err == nil && tr.controls {
		err = t.controls(m, table, rng, count)
	}
	if err != nil {
		return fmt.Errorf("set %d (%s), %s: %w", number, s.name, tr.name, err)
	}
	return nil
}

// everywhere predicts at every place, and at the certified rows.
func (t truth) everywhere(m *model.Model, q *posterior.Posterior, table *dataset.Table) (places, rows predictions, y []float64, err error) {
	places = predictions{make([]float64, sourcePoints), make([]float64, sourcePoints)}
	x := linalg.New(sourcePoints, 1)
	for i := range sourcePoints {
		x.Data[i] = t.place(i)
	}
	m.Scaling.Inputs(x.Data, x.Data)
	q.Latent(x, places.mean, places.variance)
	d, err := table.Regression("y")
	if err != nil {
		return places, rows, nil, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return places, rows, nil, err
	}
	certified := d.RowsOf(roles, dataset.Certified)
	if rows.mean, rows.variance, err = model.Latent(q, d.Scaled(certified, m.Scaling)); err != nil {
		return places, rows, nil, err
	}
	if y, err = d.Targets(certified); err != nil {
		return places, rows, nil, err
	}
	m.Scaling.Target(y, y)
	return places, rows, y, nil
}

// check holds every bound on a model against the true risks.
func (t truth) check(m *model.Model, table *dataset.Table, name string, count tallies) error {
	places, rows, y, err := t.everywhere(m, m.Posterior, table)
	if err != nil {
		return err
	}
	kl, none := m.Posterior.KL(), make([]float64, sourcePoints)
	for _, loss := range trialLosses {
		gibbs, point := t.risk(loss, m.Scaling, places.mean, places.variance), t.risk(loss, m.Scaling, places.mean, none)
		for di, delta := range trialDeltas {
			for _, f := range pacbayes.Inequalities {
				for _, route := range []pacbayes.Route{pacbayes.Twice, pacbayes.Direct, pacbayes.Both} {
					terms := m.Terms
					terms.EpsilonRaw *= loss.Below / terms.Loss.Below
					terms.Loss, terms.Delta, terms.Inequality, terms.Route = loss, delta, f, route
					if loss.Kind == pacbayes.Band && f == pacbayes.KLBound {
						terms.Promise = trialShare // the search over widths is the costly part
					}
					if terms.Check() != nil {
						continue // the family or the route has no such bound
					}
					c, err := terms.Certify(y, rows.mean, rows.variance, nil, kl)
					if err != nil {
						return err
					}
					key := fmt.Sprintf("%s/%s/%s", name, f, route)
					fails := point > c.MeanBound || route != pacbayes.Direct && gibbs > c.Bound
					if p := c.Promise; p != nil && p.HalfWidth > 0 {
						band := pacbayes.Loss{Kind: pacbayes.Band, Below: p.HalfWidth}
						fails = fails || t.risk(band, m.Scaling, places.mean, none) > p.Bound
					}
					count.count(key+"/"+string(loss.Kind), di, fails)
				}
			}
		}
	}
	return nil
}

// controls are statements that must fail more often than δ, each with its valid form.
func (t truth) controls(m *model.Model, table *dataset.Table, rng *rand.Rand, count tallies) error {
	places, rows, y, err := t.everywhere(m, m.Posterior, table)
	if err != nil {
		return err
	}
	n, none := len(y), make([]float64, sourcePoints)
	band := trialLosses[0]
	point := t.risk(band, m.Scaling, places.mean, none)
	misses := func(l pacbayes.Loss, mean []float64) int {
		return int(math.Round(pacbayes.PointRisk(l, y, mean, nil) * float64(n)))
	}

	// A posterior that follows every row: a short lengthscale, hardly any noise.
	d, err := table.Regression("y")
	if err != nil {
		return err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return err
	}
	x := linalg.New(n, 1)
	if err := d.Scaled(d.RowsOf(roles, dataset.Certified), m.Scaling).Block(0, n, x.Data, nil); err != nil {
		return err
	}
	theta := []float64{2 * math.Log(0.01), 0}
	over, err := posterior.NewExact(kernel.SE(1, false), theta, kernel.ZeroMean{}, nil, x, y, 0.01)
	if err != nil {
		return err
	}
	overPlaces, overRows, _, err := t.everywhere(m, over, table)
	if err != nil {
		return err
	}
	overRisk := t.risk(band, m.Scaling, overPlaces.mean, overPlaces.variance)
	empirical := pacbayes.Risk(band, y, overRows.mean, overRows.variance, nil, nil, nil)

	// Twenty models, each of eight of the prior rows.
	const models = 20
	lowest, truest := n+1, 0.
	prior := d.RowsOf(roles, dataset.Prior)
	for range models {
		rng.Shuffle(len(prior), func(i, j int) { prior[i], prior[j] = prior[j], prior[i] })
		few := linalg.New(8, 1)
		fewY := make([]float64, 8)
		if err := d.Scaled(prior[:8], m.Scaling).Block(0, 8, few.Data, fewY); err != nil {
			return err
		}
		q, err := posterior.NewExact(kernel.SE(1, false), []float64{0, 0}, kernel.ZeroMean{}, nil, few, fewY, 0.1)
		if err != nil {
			return err
		}
		at, on, _, err := t.everywhere(m, q, table)
		if err != nil {
			return err
		}
		if k := misses(band, on.mean); k < lowest {
			lowest, truest = k, t.risk(band, m.Scaling, at.mean, none)
		}
	}

	for di, delta := range trialDeltas {
		count.count("control/R_S as the bound", di, point > pacbayes.PointRisk(band, y, rows.mean, nil))
		penalty := pacbayes.Penalty(0, 0, n, delta)
		count.count("control/the bound without its KL, of a Q that follows every row", di,
			overRisk > pacbayes.KLInverseUp(empirical, penalty/float64(n)))
		count.count("valid/the same with its KL", di,
			overRisk > pacbayes.KLInverseUp(empirical, (over.KL()+penalty)/float64(n)))
		any := func(delta float64) bool {
			for j := range 100 {
				l := pacbayes.Loss{Kind: pacbayes.Band, Below: pacbayes.PromiseWidth(j, false)}
				if t.risk(l, m.Scaling, places.mean, none) > pacbayes.ClopperPearson(misses(l, rows.mean), n, delta) {
					return true
				}
			}
			return false
		}
		count.count("control/ε free to choose afterwards, unpaid", di, any(delta))
		count.count("valid/the same, paid with ln 100", di, any(delta/100))
		count.count("control/the best of 20 models on one set of rows", di, truest > pacbayes.ClopperPearson(lowest, n, delta))
		count.count("valid/the same, paid with ln 20", di, truest > pacbayes.ClopperPearson(lowest, n, delta/models))
	}
	return nil
}

// A task of the experiment is so many sets.
const setsPerTask = 20

func validity(ctx context.Context, env Env) error {
	sets := env.reps(2000)
	var tasks []task[tallies]
	for first := 0; first < sets; first += setsPerTask {
		last := min(first+setsPerTask, sets)
		for _, tr := range trials {
			tasks = append(tasks, task[tallies]{fmt.Sprintf("%s: sets %d to %d", tr.name, first, last-1), func(ctx context.Context) (tallies, error) {
				count := tallies{}
				for number := first; number < last; number++ {
					if err := tr.try(ctx, number, count); err != nil {
						return nil, err
					}
				}
				return count, nil
			}})
		}
	}
	results, err := runAll(ctx, env, "validity", tasks, nil)
	if err != nil {
		return err
	}
	total := tallies{}
	for _, r := range results {
		total.add(r)
	}
	total.print(env.Stdout)
	return nil
}

// passes says whether the lower 99 % binomial limit of the share of failures is at most δ:
// failures are then no more than chance allows to a bound that holds.
func (c tally) passes(delta int) bool {
	if c.Fails[delta] == 0 {
		return true
	}
	// P(Bin(n, p) ≥ k) = 0.01: successes and failures change places.
	lower := 1 - pacbayes.ClopperPearson(c.Sets-c.Fails[delta], c.Sets, 0.01)
	return lower <= trialDeltas[delta]
}

func (t tallies) print(w io.Writer) {
	fmt.Fprintf(w, "## Validity\n\nShare of simulated training sets in which a statement fails, at δ = %g and δ = %g, the worst of the losses and of the\n"+
		"routes to the mean, with kl also of a promise; ! where the lower 99 %% limit of the share is above δ.\n\n", trialDeltas[0], trialDeltas[1])
	head := []string{"objective and prior", "sets"}
	for _, f := range pacbayes.Inequalities {
		head = append(head, string(f))
	}
	header(w, head)
	for _, tr := range trials {
		row := []string{tr.name, ""}
		for _, f := range pacbayes.Inequalities {
			worst, found := tally{}, false
			for key, c := range t {
				if !strings.HasPrefix(key, tr.name+"/"+string(f)+"/") {
					continue
				}
				found = true
				worst.Sets = c.Sets
				for d := range worst.Fails {
					worst.Fails[d] = max(worst.Fails[d], c.Fails[d])
				}
			}
			if !found {
				row = append(row, "–")
				continue
			}
			row[1] = fmt.Sprint(worst.Sets)
			row = append(row, worst.text())
		}
		line(w, row)
	}
	fmt.Fprintln(w)
	header(w, []string{"statement", "fails", "must"})
	for _, key := range statements {
		kind, says, _ := strings.Cut(key, "/")
		line(w, []string{says, t[key].text(), map[string]string{"valid": "hold", "control": "fail"}[kind]})
	}
}

// statements are those of controls, each control before its valid form.
var statements = []string{
	"control/R_S as the bound",
	"control/the bound without its KL, of a Q that follows every row", "valid/the same with its KL",
	"control/ε free to choose afterwards, unpaid", "valid/the same, paid with ln 100",
	"control/the best of 20 models on one set of rows", "valid/the same, paid with ln 20",
}

func (c tally) text() string {
	var parts []string
	for d := range trialDeltas {
		mark := ""
		if !c.passes(d) {
			mark = "!"
		}
		parts = append(parts, fmt.Sprintf("%.4f%s", float64(c.Fails[d])/float64(c.Sets), mark))
	}
	return strings.Join(parts, " / ")
}
