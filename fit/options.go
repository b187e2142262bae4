package fit

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Objectives lists the training objectives of this version.
var Objectives = []string{"kl-pac", "sqrt-pac", "evidence", "vfe", "fitc", "dtc", "pep", "svgp", "renyi"}

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

// onBatches says whether training takes a batch of rows in a step.
func (o Options) onBatches() bool { return o.Optimizer == "adam" || o.Optimizer == "sgd" }

// evaluations limits those of L-BFGS and MMA; 0: their default. Epochs on batches aren't those
// of the optimum that they start from.
func (o Options) evaluations() int {
	if o.onBatches() {
		return 0
	}
	return o.Epochs
}

// pac says whether the objective is a bound itself.
func (o Options) pac() bool { return o.Objective == "kl-pac" || o.Objective == "sqrt-pac" }

// learns says whether an informed prior is followed by a posterior of the certified rows.
func (o Options) learns() bool {
	return o.Prior == "informed" && (o.PosteriorLearnt || o.PosteriorFree)
}

// split is how rows are dealt their roles.
func (o Options) split() model.Split {
	if o.Split == "last" {
		return model.ByLast
	}
	return model.ByContent
}

func (o Options) loss(kind pacbayes.Kind) pacbayes.Loss {
	return pacbayes.Loss{Kind: kind, Below: o.Epsilon, Above: o.EpsilonAbove}
}

// terms returns what the options say of the certificate.
func (o Options) terms(loss pacbayes.Loss, choices int) pacbayes.Terms {
	t := pacbayes.Terms{Loss: loss, Delta: o.Delta, Grid: o.Grid, Choices: choices, Scaling: o.Scaling,
		Informed: o.Prior == "informed", Promise: o.Promise}
	if o.Bound != pacbayes.KLBound {
		t.Inequality = o.Bound
	}
	if o.MeanBound != pacbayes.Twice {
		t.Route = o.MeanBound
	}
	t.Fixed = t.Informed && !o.learns()
	return t
}

// learnsPrior are the options by which an informed prior is trained on the prior rows: the same, as if these were
// certified.
func (o Options) learnsPrior() Options {
	own := o
	own.Prior, own.PosteriorLearnt, own.PosteriorFree, own.Temper = "grid", false, false, nil
	own.Bound, own.MeanBound, own.Promise = pacbayes.KLBound, pacbayes.Twice, 0
	own.LearnAlpha = o.LearnAlpha && o.pac()
	return own
}
