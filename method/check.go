package method

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/posterior"
)

// mostEpochs is how many passes over the rows there may be: far more than anybody waits for, and few enough that steps
// can be counted.
const mostEpochs = 1_000_000

// Kind is what the name stands for.
func (c Choice) Kind() Kind {
	k, _ := Find(c.Name)
	return k
}

// SparseOnly says whether there are inducing inputs whatever else is asked.
func (c Choice) SparseOnly() bool { return c.Free() || c.Kind().Size == SparseOnly }

// FreeForm says whether q is a parameter of the training objective.
func (c Choice) FreeForm() bool { return c.Free() || c.Kind().FreeForm }

// Estimates says whether the objective is estimated by conjugate gradients where nothing is trained.
func (c Choice) Estimates() bool { return c.Kind().Estimate != nil && c.Solver == posterior.ByCG }

// WithDefaults fills in what doesn't depend on the rows.
func (c Choice) WithDefaults() Choice {
	c.InducingInit = cmp.Or(c.InducingInit, "kmeans")
	c.Posterior = cmp.Or(c.Posterior, "objective")
	if c.Kind().Anneals && c.Alpha == nil && c.AlphaBy != "cv" {
		c.Anneal = cmp.Or(c.Anneal, "linear") // Algorithm 1 of "Optimize to Generalize in Gaussian Processes"
	}
	c.Anneal = cmp.Or(c.Anneal, "none")
	c.Solver = cmp.Or(c.Solver, "auto")
	c.Hyperprior = cmp.Or(c.Hyperprior, "none")
	if c.Kind().Local {
		c.Term = cmp.Or(c.Term, "density")
		c.Form = cmp.Or(c.Form, "loo")
	}
	if c.batches() || c.Free() && c.Epochs != 0 {
		c.Optimizer = cmp.Or(c.Optimizer, "adam")
	}
	c.Optimizer = cmp.Or(c.Optimizer, c.Kind().Optimizer)
	switch k := c.Kind(); {
	case k.Nearest && !c.Free() && c.OnBatches():
		c.Batches = cmp.Or(c.Batches, "nearest") // a random batch can't resolve the lengthscales that all rows can
	case !k.Nearest || c.Optimizer != "": // else the number of rows says whether there are batches
		c.Batches = cmp.Or(c.Batches, "uniform")
	}
	return c
}

// Use is for what a choice is made, as far as that matters to what may be asked.
type Use struct {
	Evaluating bool // nothing is trained
	Given      bool // nor found: a full GP is conditioned at given parameters
	Informed   bool // it trains an informed prior
	Learns     bool // after which a posterior is learnt, by a bound
}

// Method makes the method, of a choice whose fields are all filled in.
func (c Choice) Method() Method { return c.Kind().New(c) }

// Likelihood returns the name of the noise that a choice's method trains; "" is Gaussian.
func (c Choice) Likelihood() string {
	if l, ok := c.whole().Method().(interface{ Likelihood() string }); ok {
		return l.Likelihood()
	}
	return ""
}

// whole is c with an α, if need be its method's own.
func (c Choice) whole() Choice {
	if c.Alpha == nil {
		alpha := c.Kind().Alpha
		c.Alpha = &alpha
	}
	return c
}

// FreeUp is how a choice with a free-form posterior goes on from its optimum, of which noise is σ_n².
func (c Choice) FreeUp(noise float64) Method {
	return Free{Descent: c.Descent(), Batches: c.Stochastic(), Inequality: c.Kind().Bound, Noise: noise, Alpha: *c.Alpha,
		LearnAlpha: c.Learns()}
}

// OneOf reports a value that isn't one of a setting's names.
func OneOf(setting, v string, names ...string) []error {
	if slices.Contains(names, v) {
		return nil
	}
	return []error{fmt.Errorf("%s %q: want one of %s%s", setting, v, strings.Join(names, ", "),
		spelling.DidYouMean(v, names))}
}

// Check reports all that is wrong with a choice whose defaults are filled in.
func (c Choice) Check(use Use) []error {
	return slices.Concat(OneOf("objective", c.Name, Names()...), c.checkInducing(), c.checkSchedule(),
		c.checkPosterior(use), c.checkBatches(),
		c.checkAlpha(use), c.checkSolver(use), c.checkLocal())
}

// checkLocal reports settings of neighbours, and of hyperparameters' priors, where there are none.
func (c Choice) checkLocal() (errs []error) {
	k := c.Kind()
	local := list(func(k Kind) bool { return k.Local })
	switch {
	case k.Local:
		errs = append(errs, OneOf("term", c.Term, slices.Sorted(maps.Keys(terms))...)...)
		errs = append(errs, OneOf("form", c.Form, "loo", "vecchia")...)
		if c.Neighbours < 0 || c.Neighbours > maxNeighbours {
			errs = append(errs, fmt.Errorf("neighbours %d: want 1 to %d, or 0 for the default", c.Neighbours, maxNeighbours))
		}
	case c.Term != "" || c.Form != "" || c.Neighbours != 0:
		errs = append(errs, fmt.Errorf("term, form and neighbours are for %s, not %s", local, c.Name))
	}
	errs = append(errs, OneOf("hyperprior", c.Hyperprior, "none", "weak")...)
	if c.Hyperprior == "weak" && (!k.MAP || c.Solver == posterior.ByCG || k.Exact && c.OnBatches()) {
		errs = append(errs, fmt.Errorf("hyperprior weak: it is for %s, not on batches of the evidence, nor by conjugate "+
			"gradients", list(func(k Kind) bool { return k.MAP })))
	}
	return errs
}

// checkInducing reports a wrong number or choice of inducing inputs.
func (c Choice) checkInducing() (errs []error) {
	errs = append(errs, OneOf("inducing-init", c.InducingInit, "kmeans", "greedy", "kdpp", "random")...)
	if c.InducingBy != "" {
		errs = append(errs, OneOf("inducing", c.InducingBy, "none", "auto", "theory")...)
	}
	if c.Inducing < 0 {
		errs = append(errs, fmt.Errorf("inducing %d: want a positive number of inducing inputs, or 0 for the default",
			c.Inducing))
	}
	if c.InducingBy != "" && c.Inducing > 0 {
		errs = append(errs, fmt.Errorf("inducing: the number %d and the rule %s exclude each other", c.Inducing,
			c.InducingBy))
	}
	if c.Full() && c.SparseOnly() && !c.Free() {
		errs = append(errs, fmt.Errorf("objective %q with a full GP: full GPs have the objectives %s, and no inducing inputs",
			c.Name, list(func(k Kind) bool { return k.Size != SparseOnly })))
	}
	if c.Kind().Size == FullOnly && (c.Inducing > 0 || c.ByRule()) {
		errs = append(errs, fmt.Errorf("objective %q is a full GP's: choose vfe for a sparse one", c.Name))
	}
	return errs
}

// checkSchedule reports an optimiser and a schedule of α that there aren't.
func (c Choice) checkSchedule() (errs []error) {
	if c.Optimizer != "" {
		errs = append(errs, OneOf("optimizer", c.Optimizer, "lbfgs", "adam", "sgd", "mma")...)
	}
	if c.Batches != "" {
		errs = append(errs, OneOf("batches", c.Batches, "uniform", "nearest")...)
	}
	errs = append(errs, OneOf("anneal", c.Anneal, "linear", "cosine", "geometric", "none")...)
	anneals := c.Kind().Anneals
	switch fixed := c.Alpha != nil || c.AlphaBy == "cv"; {
	case !anneals && (c.AlphaBy == "cv" || c.Anneal != "none"):
		errs = append(errs, fmt.Errorf("anneal and alpha cv are for %s, not %s", list(func(k Kind) bool { return k.Anneals }),
			c.Name))
	case c.Alpha != nil && c.AlphaBy == "cv":
		errs = append(errs, errors.New("alpha: a number and cv exclude each other"))
	case fixed && c.Anneal != "none":
		errs = append(errs, fmt.Errorf("anneal %s with a fixed α: leave alpha out, or anneal none", c.Anneal))
	case anneals && !fixed && c.Anneal == "none":
		errs = append(errs, errors.New("anneal none: say which α stays with alpha (0 is the exact GP, 1 vfe), or alpha cv"))
	}
	if len(c.Alphas) > 0 && c.AlphaBy != "cv" {
		errs = append(errs, errors.New("alphas: they are what alpha cv chooses from: ask for it, or leave them out"))
	}
	for i, a := range c.Alphas {
		if !(a >= 0 && a <= 1) || slices.Contains(c.Alphas[:i], a) {
			errs = append(errs, fmt.Errorf("alphas %v: want numbers from 0 to 1, each once, such as 0,0.5,1", c.Alphas))
			break
		}
	}
	return errs
}

// checkPosterior reports posteriors that the method doesn't have.
func (c Choice) checkPosterior(use Use) (errs []error) {
	errs = append(errs, OneOf("posterior", c.Posterior, "objective", "fitc", "free")...)
	if c.Free() && !use.Informed && c.Kind().Bound == "" {
		errs = append(errs, fmt.Errorf("posterior free with %s: it is for %s (svgp's always is free; the others' is a "+
			"function of their parameters)", c.Name, list(func(k Kind) bool { return k.Bound != "" })))
	}
	if c.Free() && c.Full() {
		errs = append(errs, errors.New("posterior free with a full GP: a free-form posterior stands on inducing inputs"))
	}
	if c.Posterior == "fitc" && (c.Kind().FreeForm || c.Kind().Anneals) {
		errs = append(errs, errors.New("posterior fitc: free-form posteriors and renyi's have no α of that kind"))
	}
	return errs
}

// checkBatches reports settings of batches where there are none.
func (c Choice) checkBatches() (errs []error) {
	k := c.Kind()
	if (c.OnBatches() || c.batches()) && !k.Batches && !c.Free() {
		errs = append(errs, fmt.Errorf("optimizer adam, sgd, batch, batches and learning-rate are for %s, and with "+
			"posterior free; %s needs all rows in every step", list(func(k Kind) bool { return k.Batches }), c.Name))
	} else if c.Optimizer != "" && !c.OnBatches() && c.batches() {
		errs = append(errs, fmt.Errorf("batch, batches and learning-rate are adam's and sgd's: %s takes all rows in every "+
			"step", c.Optimizer))
	}
	if c.Batches == "nearest" && !k.Nearest {
		errs = append(errs, fmt.Errorf("batches nearest: it is for %s; the others' are a sum over rows, which uniform "+
			"batches estimate without bias: not %s", list(func(k Kind) bool { return k.Nearest }), c.Name))
	}
	if c.Epochs > mostEpochs {
		errs = append(errs, fmt.Errorf("epochs %d: at most %d", c.Epochs, mostEpochs))
	}
	if c.Batch < 0 || c.Epochs < 0 || !(c.LearningRate >= 0) || c.LearningRate > 10 {
		errs = append(errs, fmt.Errorf("batch %d, epochs %d, learning-rate %v: want positive numbers, or 0 for the defaults",
			c.Batch, c.Epochs, c.LearningRate))
	}
	return errs
}

// checkAlpha reports an α that the method doesn't have.
func (c Choice) checkAlpha(use Use) (errs []error) {
	k := c.Kind()
	if c.AlphaBy != "" {
		errs = append(errs, OneOf("alpha", c.AlphaBy, "learn", "cv")...)
	}
	if c.Alpha != nil {
		check := k.CheckAlpha
		if check == nil {
			check = unitInterval
		}
		if err := check(*c.Alpha, use.Evaluating); err != nil {
			errs = append(errs, err)
		} else if k.CheckAlpha == nil {
			errs = append(errs, fmt.Errorf("alpha doesn't apply to %s, which has its own", c.Name))
		}
	}
	if c.Learns() && k.Bound == "" && !use.Learns {
		errs = append(errs, fmt.Errorf("alpha learn: it is for %s; %s has its own",
			list(func(k Kind) bool { return k.Bound != "" }), c.Name))
	}
	if c.Learns() && (c.Posterior == "fitc" || c.Full()) {
		errs = append(errs, errors.New("alpha learn: a full GP and posterior fitc have no α to learn"))
	}
	return errs
}

// checkSolver reports solvers and given parameters that don't go with the method.
func (c Choice) checkSolver(use Use) (errs []error) {
	k := c.Kind()
	errs = append(errs, OneOf("solver", c.Solver, "auto", posterior.ByCholesky, posterior.ByCG, posterior.ByNearest)...)
	if k.Local && c.Solver != "auto" && c.Solver != posterior.ByNearest {
		return append(errs, fmt.Errorf("solver %s: %s predicts from the rows nearest to each", c.Solver, c.Name))
	}
	byRows := !k.Local && (c.Solver == posterior.ByCG || c.Solver == posterior.ByNearest)
	if !k.Exact && (use.Given || byRows && !k.EndsFull) {
		errs = append(errs, fmt.Errorf("solver cg, solver nearest and fix-parameters are for the evidence; %s has another way", c.Name))
	}
	if k.EndsFull && byRows && !(use.Evaluating && c.Estimates()) &&
		(c.AlphaBy == "cv" || c.Alpha != nil && *c.Alpha != 0) {
		errs = append(errs, errors.New("solver cg and nearest condition the exact GP, with which renyi ends where α falls "+
			"to 0: leave alpha out"))
	}
	if c.Solver == posterior.ByCG && c.Optimizer == "mma" && !use.Given {
		errs = append(errs, errors.New("optimizer mma with solver cg: by conjugate gradients training is by lbfgs"))
	}
	if c.Solver == posterior.ByNearest && !use.Given && !c.OnBatches() && k.Exact {
		errs = append(errs, errors.New("solver nearest predicts and can't train: it needs fix-parameters, or training on "+
			"batches"))
	}
	return errs
}
