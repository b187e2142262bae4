package krigo

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Options say how to fit. The zero value of every field but Target means its default.
type Options struct {
	Target    string // column to predict
	Objective string // kl-pac, sqrt-pac, evidence, vfe, fitc, dtc, pep, svgp or renyi; "": see chooseObjective

	// Full asks for the full GP however many rows there are. Without it kl-pac and
	// sqrt-pac train a full GP on up to 2,000 rows and a sparse one above; evidence is
	// always full, the others are always sparse.
	Full         bool
	Inducing     int  // inducing inputs of a sparse GP; 0: 500, or half the rows where that is less
	AutoInducing bool // as many as the Nyström error of the starting kernel asks for
	// TheoryInducing takes as many as Yue & Kontar's Theorem 2 asks for at the starting kernel: se,
	// or of one input matern32 and matern52.
	TheoryInducing bool
	InducingInit   string   // kmeans (default), greedy, kdpp or random
	FixInducing    bool     // keep the inducing inputs where they were chosen
	Alpha          *float64 // of D = αλ + σ_n²; nil: 1 for kl-pac and sqrt-pac, 0.5 for pep
	LearnAlpha     bool     // kl-pac, sqrt-pac: α is trained too, from Alpha
	PosteriorFITC  bool     // certify the posterior of α = 1, whichever α was trained
	PosteriorFree  bool     // kl-pac, sqrt-pac: go on from the optimum with a q(f_Z) that is free

	// The Rényi GP. Its α runs the other way from D's: 0 is the exact GP, 1 variational
	// inference (vfe). Without Alpha it falls from 0.99 to 0 while training.
	Anneal  string // how it falls: linear (default), cosine or geometric; none: Alpha stays
	AlphaCV bool   // a fixed α, chosen by cross-validation

	// Optimizer is lbfgs or mma, with all rows in every step, or adam or sgd, with a batch of
	// them, for svgp, free-form posteriors, renyi and evidence. "": adam for svgp, for renyi with
	// more than 2,000 rows, where one of the others but Epochs is given, and for a free-form
	// posterior where Epochs is; else lbfgs.
	Optimizer    string
	Batch        int     // rows of a batch; 0: 1,000, of renyi and evidence 1,024
	Batches      string  // uniform (default), or of renyi and evidence nearest: a row and its neighbours
	Epochs       int     // passes over the rows: on batches, 0: as many as 3,000 steps take; else evaluations, 0: 1,000
	LearningRate float64 // of the first step; 0: adam 0.02, from a collapsed optimum 0.001; sgd 0.1

	Kernel string // kernel expression, default "se" (see kernel.Parse)
	ARD    string // one lengthscale an input: on, off, or auto (default): both are tried and paid for
	Mean   string // prior mean: zero (default), constant or linear

	Loss         string  // default "band" (see pacbayes.Kind)
	Epsilon      float64 // half-width of the loss, default 0.6; asymmetric: the width below y
	EpsilonAbove float64 // asymmetric loss only: the width above y
	EpsilonUnits string  // sd (default): standard deviations of the target; raw: its own units
	Delta        float64 // the certificate may fail with this probability, default 0.01
	Grid         pacbayes.Grid

	// The prior, and what is promised: see informed.go and package pacbayes.
	Prior           string              // grid, or informed: learnt on the prior rows by the objective; "": grid where an objective is given
	PriorShare      float64             // of the rows but for test and calibration rows; 0: of an informed prior 0.7 to 0.8, by their number, else what scaling takes
	Temper          []float64           // informed: factors of the prior's covariance, chosen among on the certified rows; nil: 1
	PosteriorLearnt bool                // informed: Q is learnt on the certified rows by kl-pac; else it is the prior itself
	Bound           pacbayes.Inequality // the inequality; "": kl, of a posterior learnt from an informed prior maurer
	MeanBound       pacbayes.Route      // to the mean's bound; "": direct where nothing is learnt on the certified rows, else twice
	Promise         float64             // share of predictions for which a band is looked for; 0: none
	GridMixed       bool                // p_θ mixes grids of 0, 1 and 2 digits, under ARD also kernels with few different lengthscales: see coarse.go
	tied            int                 // different lengthscales of the mixed grid's prior, 0: as many as inputs

	// CalibrationFraction is the share of the rows set aside for conformal intervals.
	CalibrationFraction float64

	// Categorical columns become an input for each category that the prior rows have, which is
	// 1 or 0, and one for all others. Missing says what is done about missing values of inputs:
	// refuse (default) or mean: numbers are filled with their mean on the prior rows, categories
	// count as others. The model keeps both, and applies them to the tables it is given.
	Categorical []string
	Missing     string

	// Split is how rows get their roles: random (default), or last: the certified rows are the last of the
	// table but for test rows, and what is said of them is a backtest and no certificate.
	Split string
	// Group names a column of which rows with the same value belong together: whole groups get roles, and
	// the certificate counts groups, of which further ones are to be predicted.
	Group string

	Scaling  string           // prior-rows (default), declared or all-rows
	Declared *dataset.Scaling // the constants, if Scaling is declared

	// How a full GP is solved: auto (default), cholesky, cg (conjugate gradients, for the
	// evidence of more rows than can be factored; no certificate), or with FixParameters
	// nearest (each prediction from the training rows nearest to it).
	Solver        string
	FixParameters bool // evidence: no training, condition on the rows at the parameters of Init

	TestFraction float64        // share of the rows set aside for testing, default none
	Test         *dataset.Table `json:"-"` // or a table of their own

	Restarts int         // starting points per kernel family; 0: 3 for a full GP, 1 for a sparse one
	Ranks    ranks.Ranks `json:"-"` // whole fits of Compare are spread over them, unless nil; the ranks of a fit are its table's
	Seed     uint64      // of the shuffle that deals rows their roles, and of random starts
	Init     *Params

	// Progress is told how training goes, from one goroutine at a time; it may be nil.
	Progress func(Event) `json:"-"`
	// Save, if not nil, is offered the state of the fit after every iteration. Resume is
	// such a state: the fit goes on from there and ends as if it had never stopped.
	Save   func(*Checkpoint) error `json:"-"`
	Resume *Checkpoint             `json:"-"`

	evaluating bool            // nothing is trained: renyi's α may be negative
	asked      json.RawMessage // these options as text, for the model file
}

// text is what was asked for, with every default filled in: the options that aren't their zero value,
// as JSON with names in alphabetical order.
func (o Options) text() (json.RawMessage, error) {
	given := map[string]any{}
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" && !v.Field(i).IsZero() {
			given[f.Name] = v.Field(i).Interface()
		}
	}
	return json.Marshal(given)
}

// UsageError says what is wrong with the options rather than with the data.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// checkSpread reports options that one rank alone can follow.
func (o Options) checkSpread(r ranks.Ranks) error {
	if r.Size() == 1 {
		return nil
	}
	what := ""
	switch {
	case o.encodes():
		what = "an encoding of categories or missing values"
	case o.AlphaCV:
		what = "alpha cv"
	case o.Batches == "nearest":
		what = "batches nearest"
	case o.Group != "":
		what = "group"
	default:
		return nil
	}
	return usage("%s isn't spread over ranks: use one", what)
}

// Objectives lists the training objectives of this version.
var Objectives = []string{"kl-pac", "sqrt-pac", "evidence", "vfe", "fitc", "dtc", "pep", "svgp", "renyi"}

// withDefaults fills the zero fields, or says all that is wrong with the others.
func (o Options) withDefaults() (Options, error) {
	text := func(v *string, unset string) {
		if *v == "" {
			*v = unset
		}
	}
	text(&o.Objective, "kl-pac")
	text(&o.Kernel, "se")
	text(&o.ARD, "auto") // at a few hundred rows ARD's grid penalty often costs more than it gains: try both
	text(&o.Mean, "zero")
	text(&o.Loss, string(pacbayes.Band))
	text(&o.EpsilonUnits, "sd")
	text(&o.Scaling, dataset.PriorRows)
	text(&o.Missing, dataset.Refuse)
	text(&o.InducingInit, "kmeans")
	text(&o.Prior, "grid")
	text(&o.Split, "random")
	text(&o.Batches, "uniform")
	if o.Objective == "renyi" && o.Alpha == nil && !o.AlphaCV {
		text(&o.Anneal, "linear") // Algorithm 1 of "Optimize to Generalize in Gaussian Processes"
	}
	text(&o.Anneal, "none")
	text(&o.Solver, "auto")
	if o.Optimizer == "" {
		switch {
		case o.Objective == "svgp" || o.batches() || o.PosteriorFree && o.Epochs != 0:
			o.Optimizer = "adam" // a full pass a step is what svgp is there to avoid
		case o.Objective != "renyi":
			o.Optimizer = "lbfgs" // renyi's depends on the number of rows
		}
	}
	if o.Epsilon == 0 {
		o.Epsilon = 0.6 // of Reeb et al. 2018, Sect. 4
	}
	if o.Delta == 0 {
		o.Delta = 0.01
	}
	if o.Grid == (pacbayes.Grid{}) {
		o.Grid = pacbayes.DefaultGrid
	}
	o.setPrior()
	return o, o.check()
}

func (o Options) check() error {
	var errs []error
	oneOf := func(flag, v string, names ...string) {
		if !slices.Contains(names, v) {
			errs = append(errs, fmt.Errorf("%s %q: want one of %s%s", flag, v, strings.Join(names, ", "), spelling.DidYouMean(v, names)))
		}
	}
	if o.Target == "" {
		errs = append(errs, errors.New("target: name the column to predict"))
	}
	oneOf("objective", o.Objective, Objectives...)
	oneOf("ard", o.ARD, "on", "off", "auto")
	oneOf("epsilon-units", o.EpsilonUnits, "sd", "raw")
	oneOf("inducing-init", o.InducingInit, "kmeans", "greedy", "kdpp", "random")
	if o.Inducing < 0 {
		errs = append(errs, fmt.Errorf("inducing %d: want a positive number of inducing inputs, or 0 for the default", o.Inducing))
	}
	if o.asksInducing() && o.Inducing > 0 || o.AutoInducing && o.TheoryInducing {
		errs = append(errs, errors.New("inducing: a number, auto and theory exclude each other"))
	}
	if o.TheoryInducing && !slices.Contains([]string{"se", "matern32", "matern52"}, o.Kernel) {
		errs = append(errs, fmt.Errorf("inducing theory: eigenvalues are known of the kernels se, matern32 and matern52, not of %s", o.Kernel))
	}
	if o.Full && (o.Inducing > 0 || o.asksInducing() || o.sparseOnly() && !o.PosteriorFree) {
		errs = append(errs, fmt.Errorf("objective %q with a full GP: full GPs have the objectives kl-pac, sqrt-pac and evidence, and no inducing inputs", o.Objective))
	}
	if o.Optimizer != "" || o.Objective != "renyi" {
		oneOf("optimizer", o.Optimizer, "lbfgs", "adam", "sgd", "mma")
	}
	oneOf("batches", o.Batches, "uniform", "nearest")
	oneOf("anneal", o.Anneal, "linear", "cosine", "geometric", "none")
	switch fixed := o.Alpha != nil || o.AlphaCV; {
	case o.Objective != "renyi" && (o.AlphaCV || o.Anneal != "none"):
		errs = append(errs, fmt.Errorf("anneal and alpha cv are for renyi, not %s", o.Objective))
	case o.Alpha != nil && o.AlphaCV:
		errs = append(errs, errors.New("alpha: a number and cv exclude each other"))
	case fixed && o.Anneal != "none":
		errs = append(errs, fmt.Errorf("anneal %s with a fixed α: leave alpha out, or anneal none", o.Anneal))
	case o.Objective == "renyi" && !fixed && o.Anneal == "none":
		errs = append(errs, errors.New("anneal none: say which α stays with alpha (0 is the exact GP, 1 vfe), or alpha cv"))
	}
	if o.PosteriorFree && o.Prior != "informed" && o.Objective != "kl-pac" && o.Objective != "sqrt-pac" {
		errs = append(errs, fmt.Errorf("posterior free with %s: it is for kl-pac and sqrt-pac (svgp's always is free; the others' is a function of their parameters)", o.Objective))
	}
	if o.PosteriorFree && o.Full {
		errs = append(errs, errors.New("posterior free with a full GP: a free-form posterior stands on inducing inputs"))
	}
	if o.PosteriorFITC && (o.PosteriorFree || o.Objective == "svgp" || o.Objective == "renyi") {
		errs = append(errs, errors.New("posterior fitc: free-form posteriors and renyi's have no α of that kind"))
	}
	if (o.onBatches() || o.batches()) && !slices.Contains([]string{"svgp", "renyi", "evidence"}, o.Objective) && !o.PosteriorFree {
		errs = append(errs, fmt.Errorf("optimizer adam, sgd, batch, batches and learning-rate are for svgp, renyi, evidence and posterior free; %s needs all rows in every step", o.Objective))
	} else if o.Optimizer != "" && !o.onBatches() && o.batches() {
		errs = append(errs, fmt.Errorf("batch, batches and learning-rate are adam's and sgd's: %s takes all rows in every step", o.Optimizer))
	}
	if o.Batches == "nearest" && o.Objective != "renyi" && o.Objective != "evidence" {
		errs = append(errs, fmt.Errorf("batches nearest: it is for renyi and evidence; the others' are a sum over rows, which uniform batches estimate without bias: not %s", o.Objective))
	}
	if o.Batch < 0 || o.Epochs < 0 || !(o.LearningRate >= 0) || o.LearningRate > 10 {
		errs = append(errs, fmt.Errorf("batch %d, epochs %d, learning-rate %v: want positive numbers, or 0 for the defaults", o.Batch, o.Epochs, o.LearningRate))
	}
	if o.Objective == "evidence" && (o.Inducing > 0 || o.asksInducing()) {
		errs = append(errs, errors.New("objective \"evidence\" is a full GP's: choose vfe for a sparse one"))
	}
	if a := o.Alpha; a != nil {
		switch {
		case o.Objective == "pep" && !(*a > 0 && *a <= 1):
			errs = append(errs, fmt.Errorf("alpha %v: pep takes 0 < α ≤ 1 (vfe is the limit 0, fitc is 1)", *a))
		case o.Objective == "renyi" && o.evaluating && *a <= 1:
		case !(*a >= 0 && *a <= 1):
			errs = append(errs, fmt.Errorf("alpha %v: want 0 ≤ α ≤ 1", *a))
		case !slices.Contains([]string{"pep", "kl-pac", "sqrt-pac", "renyi"}, o.Objective):
			errs = append(errs, fmt.Errorf("alpha doesn't apply to %s, which has its own", o.Objective))
		}
	}
	if o.LearnAlpha && o.Objective != "kl-pac" && o.Objective != "sqrt-pac" && !o.learns() {
		errs = append(errs, fmt.Errorf("alpha learn: it is for kl-pac and sqrt-pac; %s has its own", o.Objective))
	}
	if o.LearnAlpha && (o.PosteriorFITC || o.Full) {
		errs = append(errs, errors.New("alpha learn: a full GP and posterior fitc have no α to learn"))
	}
	oneOf("solver", o.Solver, "auto", posterior.ByCholesky, posterior.ByCG, posterior.ByNearest)
	byRows := o.Solver == posterior.ByCG || o.Solver == posterior.ByNearest
	if o.Objective != "evidence" && (o.FixParameters || byRows && o.Objective != "renyi") {
		errs = append(errs, fmt.Errorf("solver cg, solver nearest and fix-parameters are for the evidence; %s has another way", o.Objective))
	}
	if o.Objective == "renyi" && byRows && !o.estimatesRenyi() && (o.AlphaCV || o.Alpha != nil && *o.Alpha != 0) {
		errs = append(errs, errors.New("solver cg and nearest condition the exact GP, with which renyi ends where α falls to 0: leave alpha out"))
	}
	if o.FixParameters && (o.Init == nil || o.Restarts > 1) {
		errs = append(errs, errors.New("fix-parameters: give the parameters as init, and no restarts"))
	}
	if o.Solver == posterior.ByNearest && !o.FixParameters && !o.onBatches() && o.Objective == "evidence" {
		errs = append(errs, errors.New("solver nearest predicts and can't train: it needs fix-parameters, or training on batches"))
	}
	oneOf("scaling", o.Scaling, dataset.PriorRows, dataset.Declared, dataset.AllRows)
	if _, err := model.MeanOf(o.Mean, 1); err != nil {
		errs = append(errs, err)
	}
	if _, err := kernel.Parse(o.Kernel, 1, false); err != nil {
		errs = append(errs, err)
	}
	if kind, err := pacbayes.ParseLoss(o.Loss); err != nil {
		errs = append(errs, err)
	} else if err := o.loss(kind).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("epsilon: %w", err))
	} else if kind != pacbayes.Asymmetric && o.EpsilonAbove != 0 {
		errs = append(errs, fmt.Errorf("epsilon: two widths are for the asymmetric loss, not %q", kind))
	}
	if !(o.Delta > 0 && o.Delta < 1) {
		errs = append(errs, fmt.Errorf("delta %v: want a probability between 0 and 1, such as 0.01", o.Delta))
	}
	if err := o.Grid.Validate(); err != nil {
		errs = append(errs, err)
	}
	oneOf("missing", o.Missing, dataset.Refuse, dataset.FillMean)
	if o.encodes() && o.Scaling != dataset.PriorRows {
		errs = append(errs, fmt.Errorf("categorical, missing mean: categories and means are learnt from prior rows, and the inputs' scaling with them: leave it at prior-rows, not %s", o.Scaling))
	}
	if (o.Scaling == dataset.Declared) != (o.Declared != nil) {
		errs = append(errs, errors.New("scaling: declared scaling needs its constants, and constants need declared scaling"))
	}
	if !(o.TestFraction >= 0 && o.TestFraction < 1) {
		errs = append(errs, fmt.Errorf("test-fraction %v: want a share in [0, 1)", o.TestFraction))
	}
	oneOf("split", o.Split, "random", "last")
	if o.Group != "" && o.Split == "last" {
		errs = append(errs, errors.New("group: groups are dealt at random: leave out split last"))
	}
	if o.CalibrationFraction > 0 && (o.Group != "" || o.Split == "last") {
		errs = append(errs, errors.New("calibration-fraction: conformal intervals are about rows that could change places, which rows of groups, or of other times, can't: leave it out with group and split last"))
	}
	if o.Split == "last" && (o.Prior != "informed" || o.learns() || o.MeanBound != pacbayes.Direct || o.Promise > 0) && !o.evaluating {
		errs = append(errs, errors.New("split last: a backtest is of a mean that didn't see the last rows, and promises nothing: it needs prior informed, nothing learnt after it, mean-bound direct, and no promise"))
	}
	if o.Group != "" && (o.Group == o.Target || slices.Contains(o.Categorical, o.Group)) {
		errs = append(errs, fmt.Errorf("group %q: that column is the target, or an input", o.Group))
	}
	if o.TestFraction > 0 && o.Test != nil {
		errs = append(errs, errors.New("test-fraction and a test table exclude each other"))
	}
	errs = append(errs, o.checkPrior()...)
	if o.Restarts < 0 || o.Restarts > 1000 {
		errs = append(errs, fmt.Errorf("restarts %d: want 1 to 1000, or 0 for the default", o.Restarts))
	}
	if len(errs) > 0 {
		return &UsageError{errors.Join(errs...)}
	}
	return nil
}

// encodes says whether the inputs are more than the table's columns as they stand.
func (o Options) encodes() bool { return len(o.Categorical) > 0 || o.Missing == dataset.FillMean }

// estimatesRenyi says whether the α-ELBO is evaluated by conjugate gradients.
func (o Options) estimatesRenyi() bool {
	return o.evaluating && o.Objective == "renyi" && o.Solver == posterior.ByCG
}

// sparseOnly says whether the objective has inducing inputs whatever the options say.
func (o Options) sparseOnly() bool {
	return o.PosteriorFree || slices.Contains([]string{"vfe", "fitc", "dtc", "pep", "svgp", "renyi"}, o.Objective)
}

// asksInducing says whether the number of inducing inputs follows from the data.
func (o Options) asksInducing() bool { return o.AutoInducing || o.TheoryInducing }

// freeForm says whether q is a parameter of the training objective.
func (o Options) freeForm() bool { return o.PosteriorFree || o.Objective == "svgp" }

// batches says whether a setting that only training on batches has is given.
func (o Options) batches() bool {
	return o.Batch != 0 || o.LearningRate != 0 || o.Batches == "nearest"
}

// evaluations limits those of L-BFGS and MMA; 0: their default. Epochs on batches aren't those
// of the optimum that they start from.
func (o Options) evaluations() int {
	if o.onBatches() {
		return 0
	}
	return o.Epochs
}

func (o Options) loss(kind pacbayes.Kind) pacbayes.Loss {
	return pacbayes.Loss{Kind: kind, Below: o.Epsilon, Above: o.EpsilonAbove}
}

// Params are a model's parameters as people write them, in scaled units.
type Params struct {
	Kernel        kernel.Spec `json:"kernel"`
	NoiseVariance float64     `json:"noise_variance"`
	Mean          *MeanParams `json:"mean,omitempty"`
	Inducing      [][]float64 `json:"inducing,omitempty"`
	Posterior     *FreeParams `json:"posterior,omitempty"`
}

// FreeParams are a free-form posterior N(a_M, L_S L_Sᵀ) at the inducing inputs.
type FreeParams struct {
	Mean []float64   `json:"mean"` // a_M
	Chol [][]float64 `json:"chol"` // L_S row by row: lower triangular, the part above the diagonal may be left out
}

// factor returns L_S as a matrix, of m inducing inputs.
func (q *FreeParams) factor(m int) (linalg.Matrix, error) {
	if len(q.Mean) != m || len(q.Chol) != m {
		return linalg.Matrix{}, usage("params: posterior.mean has %d entries and posterior.chol %d rows for %d inducing inputs", len(q.Mean), len(q.Chol), m)
	}
	l := linalg.New(m, m)
	for i, row := range q.Chol {
		if len(row) < i+1 || len(row) > m {
			return l, usage("params: posterior.chol[%d] has %d entries: want %d, those up to the diagonal, or %d", i, len(row), i+1, m)
		}
		for j, v := range row {
			if j > i && v != 0 {
				return l, usage("params: posterior.chol[%d][%d] is %v: it must be lower triangular", i, j, v)
			}
		}
		if !(row[i] > 0) {
			return l, usage("params: posterior.chol[%d][%d] is %v: its diagonal must be positive", i, i, row[i])
		}
		copy(l.Row(i)[:i+1], row)
	}
	return l, nil
}

// MeanParams are those of a prior mean function.
type MeanParams struct {
	Constant float64   `json:"constant"`
	Linear   []float64 `json:"linear,omitempty"`
}

// vector returns the parameters as [θ, β, ln σ_n², Z] for the mean of that name on dim inputs.
func (p *Params) vector(meanName string, dim int) (kernel.Kernel, kernel.Mean, []float64, error) {
	k, x, err := p.Kernel.Build(dim)
	if err != nil {
		return nil, nil, nil, usage("params: %w", err)
	}
	mean, err := model.MeanOf(meanName, dim)
	if err != nil {
		return nil, nil, nil, &UsageError{err}
	}
	var given MeanParams
	if p.Mean != nil {
		given = *p.Mean
	}
	switch n := len(mean.Params()); {
	case n == 0 && (given.Constant != 0 || len(given.Linear) > 0):
		return nil, nil, nil, usage("params: a prior mean is given; choose mean constant or linear so that it is counted")
	case n == 1 && len(given.Linear) > 0:
		return nil, nil, nil, usage("params: slopes are given; choose mean linear")
	case n > 1 && len(given.Linear) != dim:
		return nil, nil, nil, usage("params: mean.linear has %d slopes for %d inputs", len(given.Linear), dim)
	case n > 0:
		x = append(append(x, given.Constant), given.Linear...)
	}
	if !(p.NoiseVariance > 0) || math.IsInf(p.NoiseVariance, 1) {
		return nil, nil, nil, usage("params: noise_variance must be a positive number, not %v", p.NoiseVariance)
	}
	x = append(x, math.Log(p.NoiseVariance))
	for i, z := range p.Inducing {
		if len(z) != dim {
			return nil, nil, nil, usage("params: inducing[%d] has %d coordinates for %d inputs", i, len(z), dim)
		}
		x = append(x, z...)
	}
	return k, mean, x, nil
}
