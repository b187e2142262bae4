package reproduce

import (
	"cmp"
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
	name   string
	f      func(rng *rand.Rand) func(x float64) float64
	noise  func(x float64) [2]component
	places int // that x may take; 0: sourcePoints
}

// component is a share of the noise: its mean and standard deviations, of a row's own noise and of
// what all rows of a group have in common.
type component struct{ share, mean, sd, common float64 }

// sourcePoints is the number of places that x may take.
const sourcePoints = 250

// sources draw a new function for every training set.
var sources = []source{
	{name: "GP draws", f: fourier, noise: gaussian(0.3)},
	{name: "heavy tails", f: fourier, noise: func(float64) [2]component { return [2]component{{share: 0.85, sd: 0.2}, {share: 0.15, sd: 1.5}} }},
	{name: "jumps", f: jumps, noise: gaussian(0.2)},
	{name: "heteroskedastic", f: fourier, noise: func(x float64) [2]component { return [2]component{{share: 1, sd: 0.05 + 0.8*x}} }},
}

func gaussian(sd float64) func(float64) [2]component {
	return func(float64) [2]component { return [2]component{{share: 1, sd: sd}} }
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

func (t truth) points() int { return cmp.Or(t.places, sourcePoints) }

func (t truth) place(i int) float64 { return float64(i) / float64(t.points()-1) }

// risk is the expected loss of f ~ N(mean, variance) at every place, all in scaled units. It is a
// further group's too: what its rows have in common is drawn as often as the group is, whatever
// the number of its rows.
func (t truth) risk(l pacbayes.Loss, s dataset.Scaling, mean, variance []float64) (risk float64) {
	for i, m := range mean {
		x := t.place(i)
		for _, c := range t.noise(x) {
			if c.share == 0 {
				continue
			}
			y := (t.f(x) + c.mean - s.TargetMean) / s.TargetScale
			v := math.Hypot(c.sd, c.common) / s.TargetScale
			e, _, _ := l.Expected(y, m, v*v+variance[i], 0)
			risk += c.share * e / float64(t.points())
		}
	}
	return min(risk, 1) // a risk of 1 may round to more, and bounds don't
}

// trial is one way to fit one kind of sets.
type trial struct {
	*design
	name     string
	o        krigo.Options
	controls bool // statements that aren't of krigo are tried on its model or its rows too
}

// String is the trial's name among all.
func (tr trial) String() string { return tr.design.name + ": " + tr.name }

// trials are the objectives and kinds of priors, with few evaluations: a bound has to hold
// wherever training ends. Sets of the other kinds are about the rows, and the two ways to a prior do.
var trials = []trial{
	{design: independent, name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
	{design: independent, name: "sqrt-pac", o: krigo.Options{Objective: "sqrt-pac"}},
	{design: independent, name: "evidence", o: krigo.Options{Objective: "evidence"}},
	{design: independent, name: "vfe", o: krigo.Options{Objective: "vfe"}},
	{design: independent, name: "dtc", o: krigo.Options{Objective: "dtc"}},
	{design: independent, name: "fitc", o: krigo.Options{Objective: "fitc"}},
	{design: independent, name: "pep", o: krigo.Options{Objective: "pep"}},
	{design: independent, name: "svgp", o: krigo.Options{Objective: "svgp", Batch: 25}},
	{design: independent, name: "renyi", o: krigo.Options{Objective: "renyi"}},
	{design: independent, name: "kl-pac mixed grid", o: krigo.Options{Objective: "kl-pac", GridMixed: true}},
	{design: independent, name: "kl-pac free", o: krigo.Options{Objective: "kl-pac", Inducing: trialInducing, PosteriorFree: true}},
	{design: independent, name: "informed evidence", o: krigo.Options{Prior: "informed", Objective: "evidence", PriorShare: 0.5}, controls: true},
	{design: independent, name: "informed vfe", o: krigo.Options{Prior: "informed", Objective: "vfe", PriorShare: 0.5}},
	{design: independent, name: "informed kl-pac", o: krigo.Options{Prior: "informed", Objective: "kl-pac", PriorShare: 0.5}},
	{design: independent, name: "informed learnt", o: krigo.Options{Prior: "informed", Objective: "evidence", PriorShare: 0.3, PosteriorLearnt: true}},
	{design: independent, name: "informed learnt sparse", o: krigo.Options{Prior: "informed", Objective: "vfe", PriorShare: 0.3, PosteriorLearnt: true, Temper: []float64{1, 0.1}}},
	{design: independent, name: "informed free", o: krigo.Options{Prior: "informed", Objective: "vfe", PriorShare: 0.3, PosteriorFree: true}},
	{design: byTarget, name: "default", controls: true},
	{design: byTarget, name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
	{design: byInput, name: "default", controls: true},
	{design: byInput, name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
	{design: discrete, name: "default", controls: true},
	{design: discrete, name: "kl-pac", o: krigo.Options{Objective: "kl-pac", PriorShare: 0.5}},
	{design: inGroups, name: "informed", o: groupOptions, controls: true},
	{design: inGroups, name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
	{design: inGroups, name: "informed learnt", o: krigo.Options{Prior: "informed", Objective: "evidence", PriorShare: 0.3, PosteriorLearnt: true}},
	{design: inPlaces, name: "informed", o: groupOptions, controls: true},
	{design: inPlaces, name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
	{design: bySize, name: "informed", o: groupOptions, controls: true},
	{design: bySize, name: "kl-pac", o: krigo.Options{Objective: "kl-pac"}},
}

// groupOptions leave most groups to certify.
var groupOptions = krigo.Options{Prior: "informed", Objective: "evidence", PriorShare: 0.3}

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

// predictions of one model, in scaled units: at every place, and of the certified rows.
type predictions struct {
	mean, variance []float64
	certified      pacbayes.Sample
}

// try draws the training set of a number, fits it and counts what fails.
func (tr trial) try(ctx context.Context, number int, count tallies) error {
	rng := rand.New(rand.NewPCG(uint64(number), 0x76616c6964))
	s := tr.sources[number%len(tr.sources)]
	t := truth{s, s.f(rng)}
	rows := tr.draw(t, rng)
	o := tr.o
	o.Target, o.Restarts, o.ARD, o.Epochs, o.Epsilon = "y", 1, "off", trialEvaluations, trialEpsilon
	if !tr.oneSeed {
		o.Seed = uint64(number)
	}
	if tr.size != nil {
		o.Group = groupColumn
	}
	if slices.Contains([]string{"vfe", "dtc", "fitc", "pep", "svgp", "renyi"}, o.Objective) {
		o.Inducing = trialInducing
	}
	table := t.table(rows, o.Group)
	m, err := krigo.Fit(ctx, table, o)
	if err == nil {
		err = t.check(m, table, tr.String(), count)
	}
	if err == nil && tr.controls {
		if tr.mistake != nil {
			err = tr.mistake.try(ctx, tr.design.name, t, rows, o, m, count)
		} else {
			err = t.controls(m, table, rng, count)
		}
	}
	if err != nil {
		return fmt.Errorf("set %d (%s), %s: %w", number, s.name, tr, err)
	}
	return nil
}

// predict predicts at every place, and at the certified rows.
func (t truth) predict(m *model.Model, q *posterior.Posterior, table *dataset.Table) (p predictions, err error) {
	p.mean, p.variance = make([]float64, t.points()), make([]float64, t.points())
	x := linalg.New(t.points(), 1)
	for i := range p.mean {
		x.Data[i] = t.place(i)
	}
	m.Scaling.Inputs(x.Data, x.Data)
	q.Latent(x, p.mean, p.variance)
	d, err := m.Labelled(table)
	if err != nil {
		return p, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return p, err
	}
	certified, own := d.RowsOf(roles, dataset.Certified), &p.certified
	if own.Mean, own.Variance, err = model.Latent(q, d.Scaled(certified, m.Scaling)); err != nil {
		return p, err
	}
	if own.Y, err = d.Targets(certified); err != nil {
		return p, err
	}
	m.Scaling.Target(own.Y, own.Y)
	if roles.Group != nil {
		number := map[int]int{}
		for _, row := range certified {
			g := roles.Group[row]
			if _, found := number[g]; !found {
				number[g] = len(number)
			}
			own.Group = append(own.Group, number[g])
		}
		own.Groups = len(number)
	}
	return p, nil
}

// check holds every bound on a model against the true risks.
func (t truth) check(m *model.Model, table *dataset.Table, name string, count tallies) error {
	p, err := t.predict(m, m.Posterior, table)
	if err != nil {
		return err
	}
	kl, none := m.Posterior.KL()+m.Posterior.KLRounding(), make([]float64, t.points())
	for _, loss := range trialLosses {
		gibbs, point := t.risk(loss, m.Scaling, p.mean, p.variance), t.risk(loss, m.Scaling, p.mean, none)
		for di, delta := range trialDeltas {
			for _, f := range pacbayes.Inequalities {
				for _, route := range []pacbayes.Route{pacbayes.Twice, pacbayes.Direct, pacbayes.Both} {
					terms := m.Terms
					terms.EpsilonRaw *= loss.Below / terms.Loss.Below
					terms.Loss, terms.Delta, terms.Inequality, terms.Route = loss, delta, f, route
					if loss.Kind == pacbayes.Band && (f == pacbayes.KLBound || m.Group != "" && f == pacbayes.BettingBound) {
						terms.Promise = trialShare // the search over widths is the costly part
					}
					if terms.Check() != nil {
						continue // the family or the route has no such bound
					}
					c, err := terms.CertifySample(p.certified, kl)
					if err != nil {
						return err
					}
					key := fmt.Sprintf("%s/%s/%s", name, f, route)
					fails := point > c.MeanBound || route != pacbayes.Direct && gibbs > c.Bound
					if w := c.Promise; w != nil && w.HalfWidth > 0 {
						band := pacbayes.Loss{Kind: pacbayes.Band, Below: w.HalfWidth}
						fails = fails || t.risk(band, m.Scaling, p.mean, none) > w.Bound
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
	p, err := t.predict(m, m.Posterior, table)
	if err != nil {
		return err
	}
	y := p.certified.Y
	n, none := len(y), make([]float64, t.points())
	band := trialLosses[0]
	point := t.risk(band, m.Scaling, p.mean, none)
	misses := func(l pacbayes.Loss, mean []float64) int {
		return int(math.Round(pacbayes.PointRisk(l, y, mean, nil) * float64(n)))
	}

	// A posterior that follows every row: a short lengthscale, hardly any noise.
	d, err := m.Labelled(table)
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
	followed, err := t.predict(m, over, table)
	if err != nil {
		return err
	}
	overRisk := t.risk(band, m.Scaling, followed.mean, followed.variance)
	empirical := pacbayes.Risk(band, y, followed.certified.Mean, followed.certified.Variance, nil, nil, nil)

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
		at, err := t.predict(m, q, table)
		if err != nil {
			return err
		}
		if k := misses(band, at.certified.Mean); k < lowest {
			lowest, truest = k, t.risk(band, m.Scaling, at.mean, none)
		}
	}

	for di, delta := range trialDeltas {
		count.count("control/R_S as the bound", di, point > pacbayes.PointRisk(band, y, p.certified.Mean, nil))
		penalty := pacbayes.Penalty(0, 0, n, delta)
		count.count("control/the bound without its KL, of a Q that follows every row", di,
			overRisk > pacbayes.KLInverseUp(empirical, penalty/float64(n)))
		count.count("valid/the same with its KL", di,
			overRisk > pacbayes.KLInverseUp(empirical, (over.KL()+penalty)/float64(n)))
		any := func(delta float64) bool {
			for j := range 100 {
				l := pacbayes.Loss{Kind: pacbayes.Band, Below: pacbayes.PromiseWidth(j, false)}
				if t.risk(l, m.Scaling, p.mean, none) > pacbayes.ClopperPearson(misses(l, p.certified.Mean), n, delta) {
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
	chosen, err := chosenTrials(env)
	if err != nil {
		return err
	}
	sets := env.reps(2000)
	var tasks []task[tallies]
	for first := 0; first < sets; first += setsPerTask {
		last := min(first+setsPerTask, sets)
		for _, tr := range chosen {
			tasks = append(tasks, task[tallies]{fmt.Sprintf("%s: sets %d to %d", tr, first, last-1), func(ctx context.Context) (tallies, error) {
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
	total.print(env.Stdout, chosen)
	return nil
}

// chosenTrials are those of the kinds of sets and of the names that are asked for.
func chosenTrials(env Env) (chosen []trial, err error) {
	for _, c := range []struct {
		what  string
		asked []string
		of    func(tr trial) string
	}{
		{"sets", env.Sets, func(tr trial) string { return tr.design.name }},
		{"methods", env.Methods, func(tr trial) string { return tr.name }},
	} {
		var known []string
		for _, tr := range trials {
			known = append(known, c.of(tr))
		}
		for _, name := range c.asked {
			if !slices.Contains(known, name) {
				slices.Sort(known)
				return nil, fmt.Errorf("%s %q: validity has %s", c.what, name, strings.Join(slices.Compact(known), ", "))
			}
		}
	}
	for _, tr := range trials {
		if (env.Sets == nil || slices.Contains(env.Sets, tr.design.name)) && (env.Methods == nil || slices.Contains(env.Methods, tr.name)) {
			chosen = append(chosen, tr)
		}
	}
	return chosen, nil
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

func (t tallies) print(w io.Writer, chosen []trial) {
	fmt.Fprintf(w, "## Validity\n\nShare of simulated training sets in which a statement fails, at δ = %g and δ = %g, the worst of the losses and of the\n"+
		"routes to the mean, with kl, of groups with betting too, also of a promise; ! where the lower 99 %% limit of the share is above δ.\n\n", trialDeltas[0], trialDeltas[1])
	head := []string{"rows: objective and prior", "sets"}
	for _, f := range pacbayes.Inequalities {
		head = append(head, string(f))
	}
	header(w, head)
	for _, tr := range chosen {
		row := []string{tr.String(), ""}
		for _, f := range pacbayes.Inequalities {
			worst, found := tally{}, false
			for key, c := range t {
				if !strings.HasPrefix(key, tr.String()+"/"+string(f)+"/") {
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
	says := slices.Clone(statements)
	for _, tr := range chosen {
		if k := tr.mistake; k != nil && tr.controls {
			says = append(says, "control/"+tr.design.name+": "+k.wrong, "valid/"+tr.design.name+": "+k.right)
		}
	}
	says = slices.DeleteFunc(says, func(key string) bool { return t[key].Sets == 0 })
	if len(says) == 0 {
		return
	}
	fmt.Fprintln(w)
	header(w, []string{"statement", "fails", "must"})
	for _, key := range says {
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
