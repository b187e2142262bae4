package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// try draws the training set of a number, fits it, and counts the statements that fail.
func (tr trial) try(ctx context.Context, number int, count tallies) error {
	rng := rand.New(rand.NewPCG(uint64(number), 0x76616c6964))
	s := tr.sources[number%len(tr.sources)]
	t, o := truth{source: s, f: s.f(rng), plain: tr.plain}, tr.o
	o.Data.Target, o.Run.Restarts, o.Kernel.ARD, o.Method.Epochs, o.Promise.Epsilon = "y", 1, "off", trialEvaluations,
		trialEpsilon
	if tr.open {
		o.Promise.Epsilon = 0
	}
	o.Data.Transform = cmp.Or(o.Data.Transform, "none") // the draws of most designs are Gaussian
	if !tr.oneSeed {
		o.Run.Seed = uint64(number)
	}
	switch {
	case tr.size != nil:
		o.Data.Group = cmp.Or(tr.block, groupColumn)
	case tr.choose == nil:
		o.Promise.Population = "same" // certifies rows counted one by one even where ties forbid it
	}
	if o.Method.Kind().Size == method.SparseOnly {
		o.Method.Inducing = trialInducing
	}
	var rows []xyg
	var table *dataset.Table
	var err error
	if tr.choose == nil {
		rows = tr.draw(t, rng)
		table = t.table(rows, o.Data.Group)
	} else if t, table, o, err = tr.choose(ctx, t, o, rng); err != nil || o.Data.Group == "" {
		return err // nil if no tie was found, so that no group is certified
	}
	m, err := krigo.Fit(ctx, table, o)
	if stalled := (*iterative.Stalled)(nil); errors.As(err, &stalled) {
		return nil // there is no model whose bound could fail
	}
	switch {
	case err != nil:
	case t.logs:
		err = t.checkLogs(m, table, tr.String(), count)
	default:
		if err = t.check(m, table, tr.String(), count); err == nil {
			err = t.many(m, table, tr.String(), count)
		}
	}
	if err == nil && tr.controls {
		if tr.mistake != nil {
			err = tr.mistake.try(ctx, tr.design.name, t, rows, o, m, count)
		} else {
			err = t.controls(m, table, rng, count)
		}
	}
	if err == nil {
		err = tr.ends(ctx, t, m, table, rng, count)
	}
	if err == nil {
		err = tr.groupByGroup(t, m, table, count)
	}
	if err != nil {
		return fmt.Errorf("set %d (%s), %s: %w", number, s.name, tr, err)
	}
	return nil
}

// check compares every bound on a model with the true risks.
func (t truth) check(m *krigo.Model, table *dataset.Table, name string, count tallies) error {
	p, err := t.predict(m, m.Posterior, table)
	if err != nil {
		return err
	}
	kl, none, routes := 0.0, make([]float64, t.points()), []pacbayes.Route{pacbayes.Direct} // without a KL
	if m.Posterior.Joint() == nil {
		kl, routes = m.Posterior.KL()+m.Posterior.KLRounding(),
			[]pacbayes.Route{pacbayes.Twice, pacbayes.Direct, pacbayes.Both}
	}
	for _, loss := range trialLosses {
		gibbs, point := t.risk(loss, m.Scaling, p.mean, p.variance), t.risk(loss, m.Scaling, p.mean, none)
		for di, delta := range trialDeltas {
			for _, f := range pacbayes.Inequalities() {
				if t.plain && (f != pacbayes.KLBound && f != pacbayes.BettingBound || loss.Kind != pacbayes.Band) {
					continue
				}
				for _, route := range routes {
					terms := m.Terms
					terms.EpsilonRaw *= loss.Below / terms.Loss.Below
					terms.Loss, terms.Delta, terms.Inequality, terms.Route = loss, delta, f, route
					if loss.Kind == pacbayes.Band && (f == pacbayes.KLBound ||
						m.Group != "" && f == pacbayes.BettingBound && !t.plain) {
						terms.Promise = trialShare // the search over widths is the costly part
					}
					terms.Rules = terms.NewestRules()
					if terms.Check() != nil {
						continue // the family or the route has no such bound
					}
					c, err := terms.Certify(p.certified, kl)
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

// controls are statements that must fail more often than δ, each beside its valid form.
func (t truth) controls(m *krigo.Model, table *dataset.Table, rng *rand.Rand, count tallies) error {
	p, err := t.predict(m, m.Posterior, table)
	if err != nil {
		return err
	}
	y := p.certified.Y
	n, none := len(y), make([]float64, t.points())
	band := trialLosses[0]
	point := t.risk(band, m.Scaling, p.mean, none)
	misses := func(l pacbayes.Loss, mean []float64) (count int) {
		for i, y := range y {
			count += int(l.Point(y, mean[i], 0)) // 0 or 1 for a band
		}
		return count
	}

	// A posterior with a short lengthscale and almost no noise follows every row.
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
	over, err := posterior.NewExact(posterior.Given{Kernel: kernel.SE(1, false), Theta: theta, Mean: kernel.ZeroMean{},
		Noise: 0.01, X: x, Y: y})
	if err != nil {
		return err
	}
	followed, err := t.predict(m, over, table)
	if err != nil {
		return err
	}
	overRisk := t.risk(band, m.Scaling, followed.mean, followed.variance)
	empirical, err := pacbayes.Sample{Y: y, Mean: followed.certified.Mean,
		Variance: followed.certified.Variance}.Risk(band, nil, nil)
	if err != nil {
		return err
	}

	// Twenty models, each from eight of the prior rows.
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
		q, err := posterior.NewExact(posterior.Given{Kernel: kernel.SE(1, false), Theta: []float64{0, 0},
			Mean: kernel.ZeroMean{}, Noise: 0.1, X: few, Y: fewY})
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

	if err := t.picked(m, d, d.RowsOf(roles, dataset.Certified), p, count); err != nil {
		return err
	}
	t.looked(p, point, count)
	for di, delta := range trialDeltas {
		count.count("control/R_S as the bound", di, point > float64(misses(band, p.certified.Mean))/float64(n))
		penalty := pacbayes.KLBound.Penalty(0, n, delta)
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
		count.count("control/the best of 20 models on one set of rows", di,
			truest > pacbayes.ClopperPearson(lowest, n, delta))
		count.count("valid/the same, paid with ln 20", di, truest > pacbayes.ClopperPearson(lowest, n, delta/models))
	}
	return nil
}

// A task of the experiment tries setsPerTask sets.
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
			tasks = append(tasks, task[tallies]{fmt.Sprintf("%s: sets %d to %d", tr, first, last-1),
				func(ctx context.Context) (tallies, error) {
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

// validitySets returns the kinds of sets that validity draws.
func validitySets() []string { return distinct(func(tr trial) string { return tr.design.name }) }

// validityMethods returns the ways in which validity fits sets. Each serves some kinds of sets.
func validityMethods() []string { return distinct(func(tr trial) string { return tr.name }) }

func distinct(of func(tr trial) string) (names []string) {
	for _, tr := range trials {
		if name := of(tr); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// chosenTrials returns the trials of the kinds and methods that env asks for.
func chosenTrials(env Env) (chosen []trial, err error) {
	if err := errors.Join(check("kind of sets", env.Sets, validitySets()),
		check("method", env.Methods, validityMethods())); err != nil {
		return nil, err
	}
	for _, tr := range trials {
		if (env.Sets == nil || slices.Contains(env.Sets, tr.design.name)) &&
			(env.Methods == nil || slices.Contains(env.Methods, tr.name)) {
			chosen = append(chosen, tr)
		}
	}
	return chosen, nil
}

func (t tallies) print(w io.Writer, chosen []trial) {
	fmt.Fprintf(w, "## Validity\n\nEach cell is the share of simulated training sets in which a statement fails, at δ = %g and δ = %g. "+
		"It is the worst share\n"+
		"over losses and routes to the mean; with kl, and with betting for groups, over promises too. A ! says that the "+
		"lower 99 %% limit of the share is above δ.\n\n", trialDeltas[0], trialDeltas[1])
	head := []string{"design of the rows: objective and prior", "sets"}
	for _, f := range pacbayes.Inequalities() {
		head = append(head, string(f))
	}
	header(w, head)
	for _, tr := range chosen {
		row := []string{tr.String(), ""}
		for _, f := range pacbayes.Inequalities() {
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
	fmt.Fprintln(w)
	t.printMany(w, chosen)
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

// printMany prints a table of the statements that one certificate makes together.
func (t tallies) printMany(w io.Writer, chosen []trial) {
	header(w, append([]string{"statements of one certificate", "sets"}, manyStatements...))
	for _, tr := range chosen {
		row, found := []string{tr.String(), ""}, false
		for _, statement := range manyStatements {
			c, ok := t["many/"+tr.String()+"/"+statement]
			if !ok {
				row = append(row, "–")
				continue
			}
			found, row[1] = true, fmt.Sprint(c.Sets)
			row = append(row, c.text())
		}
		if found {
			line(w, row)
		}
	}
	fmt.Fprintln(w)
}

// statements are those of controls, each control before its valid form.
var statements = []string{
	"control/R_S as the bound",
	"control/the bound without its KL, of a Q that follows every row", "valid/the same with its KL",
	"control/ε free to choose afterwards, unpaid", "valid/the same, paid with ln 100",
	"control/a bound of a fixed number of rows, looked at after each", "valid/the bound at every number of rows at once",
	"control/slices picked afterwards, unpaid", "valid/the same, paid with ln 70",
	"control/the best of 20 models on one set of rows", "valid/the same, paid with ln 20",
}
