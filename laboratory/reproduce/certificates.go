package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// certifiedSet is a data set of the certificates' table. Its ε is in the target's own units: 0.6 standard deviations
// of all rows, rounded, and so the same for all splits.
type certifiedSet struct {
	name    string
	epsilon float64
	splits  int
	full    bool   // full GPs
	kernel  string // the set's kernel, for methods that use it
}

var certifiedSets = []certifiedSet{{"boston", 5.5, 10, true, "se"}, {"sarcos10k", 12.1, 2, false, "se"},
	{"pol", 25, 2, false, "matern32"}, {"kin40k", 0.6, 2, false, "se"}}

// certifiedMethod is a way to a certificate. The point estimate is evidence for full GPs, and vfe for sparse GPs.
type certifiedMethod struct {
	name, says string
	set        func(o *krigo.Options, point string)
	kernel     bool     // uses the set's own kernel
	sets       []string // sets that the method runs on; nil: all sets
}

// certifiedMethods are in the order in which they run, the cheapest first.
var certifiedMethods = []certifiedMethod{
	{name: "direct 0.5", says: "half of the rows train a prior, the others certify its mean",
		set: func(o *krigo.Options, point string) {
			o.Method.Name, o.Prior.Kind, o.Kernel.ARD, o.Prior.Share = point, "informed", "on", 0.5
		}},
	{name: "direct 0.7", says: "the same, with 0.7 of the rows for the prior", set: func(o *krigo.Options, point string) {
		o.Method.Name, o.Prior.Kind, o.Kernel.ARD, o.Prior.Share = point, "informed", "on", 0.7
	}},
	{name: "default", says: "what fit does without flags for objective, prior and share",
		set: func(o *krigo.Options, _ string) {
			o.Method.Name, o.Kernel.ARD = "", "on"
		}},
	{name: "learnt 0.5", says: "half of the rows train a prior, tempered by 1 or 0.1, and Q is learnt on the other half",
		set: func(o *krigo.Options, point string) {
			o.Method.Name, o.Prior.Kind, o.Kernel.ARD, o.Prior.Share, o.Prior.Learn, o.Prior.Temper = point, "informed", "on",
				0.5, true, []float64{1, 0.1}
		}},
	{name: "learnt 0.02", says: "a fiftieth of the rows train a prior, and Q is learnt on the others",
		set: func(o *krigo.Options, point string) {
			o.Method.Name, o.Prior.Kind, o.Kernel.ARD, o.Prior.Share, o.Prior.Learn = point, "informed", "on", 0.02, true
		}, sets: []string{"kin40k"}}, // a fiftieth of another set has fewer rows than there are inducing inputs
	{name: "point", says: "evidence or vfe on all rows except the rows for the scaling, with the grid's certificate",
		set: func(o *krigo.Options, point string) {
			o.Method.Name, o.Kernel.ARD = point, "on"
		}},
	{name: "paper", says: "kl-pac with the grid prior: the paper's method with valid scaling",
		set: func(o *krigo.Options, _ string) {}},
	{name: "mixed", says: "the same with Maurer's constant, a grid of 0 to 2 digits and perhaps few different " +
		"lengthscales", set: func(o *krigo.Options, _ string) {
		o.Promise.Bound, o.Prior.Mixed = pacbayes.MaurerBound, true
	}},
	{name: "mixed+α", says: "the same with α learnt (sparse GPs; boston with 100 inducing inputs)",
		set: func(o *krigo.Options, _ string) {
			o.Promise.Bound, o.Prior.Mixed, o.Method.AlphaBy = pacbayes.MaurerBound, true, "learn"
		}},
	{name: "mixed+α+free", says: "the same, continued with a free-form Q", set: func(o *krigo.Options, _ string) {
		free(o)
	}},
	{name: "mixed+α+free+kernel", says: "the same with a fiftieth of the rows for the scaling, and on pol a Matérn 3/2 " +
		"kernel, which suits its jumps better", set: func(o *krigo.Options, _ string) {
		free(o)
		o.Prior.Share = 0.02
	}, kernel: true, sets: []string{"pol", "kin40k"}},
}

// free trains a free-form Q with all rows in every step, after a collapsed Q.
func free(o *krigo.Options) {
	o.Promise.Bound, o.Prior.Mixed, o.Method.AlphaBy, o.Method.Posterior, o.Method.Optimizer = pacbayes.MaurerBound, true,
		"learn", "free", "lbfgs"
}

// certifiedResult is the result of a run. On the route direct, Bound is the mean's bound.
type certifiedResult struct {
	Bound     float64 `json:"bound"`
	MeanBound float64 `json:"mean_bound"`
	Empirical float64 `json:"empirical_risk"`
	KL        float64 `json:"kl"`
	Grid      float64 `json:"grid_penalty"`
	MeanRisk  float64 `json:"mean_risk"` // on test rows
	MSE       float64 `json:"mse_raw"`   // mean squared error on test rows, in squared units of the target
	Seconds   float64 `json:"seconds"`
}

func (s certifiedSet) run(ctx context.Context, env Env, key string, m certifiedMethod, split int) (certifiedResult,
	error) {
	table, err := env.table(s.name)
	if err != nil {
		return certifiedResult{}, err
	}
	o := krigo.Options{Data: krigo.Data{Target: targets[s.name], TestFraction: 0.2},
		Promise: krigo.Promise{Epsilon: s.epsilon, Units: "raw"}, Run: krigo.Run{Seed: uint64(split)},
		Method: krigo.Method{Name: method.KLPACName}}
	point := method.EvidenceName
	if !s.full {
		// Every input has a lengthscale, since a choice among families would double the hours.
		point, o.Method.Inducing, o.Kernel.ARD, o.Method.Epochs = method.VFEName, certifiedM, "on", env.Evaluations
		if env.M > 0 {
			o.Method.Inducing = env.M
		}
	}
	m.set(&o, point)
	if m.kernel {
		o.Kernel.Expression = s.kernel
	}
	if s.full && o.Method.Learns() {
		o.Method.Inducing = certifiedFew
	}
	fit, err := env.fit(ctx, key, table, o)
	if err != nil {
		return certifiedResult{}, err
	}
	c := fit.Certificate
	return certifiedResult{Bound: c.Bound, MeanBound: c.MeanBound, Empirical: c.EmpiricalRisk, KL: c.KL,
		Grid:     c.GridPenalty,
		MeanRisk: fit.Test.MeanRisk, MSE: fit.Test.RMSERaw * fit.Test.RMSERaw, Seconds: fit.Training.Seconds}, nil
}

// certifiedM is the number of inducing inputs. certifiedFew is the number for a few hundred rows, where fewer
// inducing inputs cost less KL.
const (
	certifiedM   = 500
	certifiedFew = 100
)

// certificateCell is the place of a run's result in the tables: the numbers of its set and its method.
type certificateCell struct{ set, method int }

// certificateTasks returns the runs and their cells, split after split, so that the tables fill evenly.
func certificateTasks(env Env) (tasks []task[certifiedResult], cells []certificateCell) {
	most := 0
	for _, s := range certifiedSets {
		most = max(most, env.reps(s.splits))
	}
	asked := func(names []string, name string) bool { return names == nil || slices.Contains(names, name) }
	for split := range most {
		for mi, m := range certifiedMethods {
			if !asked(env.Methods, m.name) {
				continue
			}
			for si, s := range certifiedSets {
				if !asked(env.Sets, s.name) || !asked(m.sets, s.name) || split >= env.reps(s.splits) {
					continue
				}
				cells = append(cells, certificateCell{si, mi})
				size := certifiedM
				if env.M > 0 {
					size = env.M
				}
				key := fmt.Sprintf("%s/%s/m=%d/evaluations=%d/split=%d", s.name, m.name, size, env.Evaluations, split)
				tasks = append(tasks, task[certifiedResult]{key,
					func(ctx context.Context) (certifiedResult, error) { return s.run(ctx, env, key, m, split) }})
			}
		}
	}
	return tasks, cells
}

// showCertificates writes a table per set, of the results so far.
func showCertificates(w io.Writer, cells []certificateCell, results []certifiedResult, done []bool) {
	for si, s := range certifiedSets {
		head := false
		for mi, m := range certifiedMethods {
			var own []certifiedResult
			for i, c := range cells {
				if done[i] && c == (certificateCell{si, mi}) {
					own = append(own, results[i])
				}
			}
			if len(own) == 0 {
				continue
			}
			if !head {
				fmt.Fprintf(w, "\n%s, ε = %g\n\n", s.name, s.epsilon)
				header(w, []string{"method", "splits", "bound", "bound on the mean", "loss on certified rows", "KL + grid, nats",
					"mean's loss on test rows", "test MSE"})
				head = true
			}
			line(w, append([]string{m.name, fmt.Sprint(len(own))}, certificateColumns(own)...))
		}
	}
}

// certificateColumns returns means over splits with their standard errors.
func certificateColumns(results []certifiedResult) (texts []string) {
	var columns [6][]float64
	for _, r := range results {
		for j, v := range []float64{r.Bound, r.MeanBound, r.Empirical, r.KL + r.Grid, r.MeanRisk, r.MSE} {
			columns[j] = append(columns[j], v)
		}
	}
	for j, v := range columns {
		mean, se := meanSE(v)
		format := "%.4f"
		if j == 3 || j == 5 {
			format = "%.4g"
		}
		text := fmt.Sprintf(format, mean)
		if !math.IsNaN(se) {
			text += fmt.Sprintf(" ± "+format, se)
		}
		texts = append(texts, text)
	}
	return texts
}

func certificates(ctx context.Context, env Env) error {
	env.OneAtATime = true // a sparse fit keeps all cores busy
	var sets, methods []string
	for _, s := range certifiedSets {
		sets = append(sets, s.name)
	}
	for _, m := range certifiedMethods {
		methods = append(methods, m.name)
	}
	if err := errors.Join(check("data set", env.Sets, sets), check("method", env.Methods, methods)); err != nil {
		return err
	}
	tasks, cells := certificateTasks(env)
	results, err := runAll(ctx, env, "certificates", tasks, func(results []certifiedResult, done []bool) {
		if env.Partial != nil {
			showCertificates(env.Partial, cells, results, done)
		}
	})
	if err != nil {
		return err
	}
	w := env.Stdout
	fmt.Fprintf(w, "## Certificates\n\nThe loss is the band's with ε in the target's units, and δ = %g. A fifth of the rows is for testing, and "+
		"the scaling is from prior\n"+
		"rows. Numbers are mean ± standard error over splits. Every bound is a certificate.\n\n", 0.01)
	for _, m := range certifiedMethods {
		fmt.Fprintf(w, "- %s: %s\n", m.name, m.says)
	}
	showCertificates(w, cells, results, slices.Repeat([]bool{true}, len(results)))
	return nil
}
