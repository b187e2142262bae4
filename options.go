package krigo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Options say how to fit: the data, the kernel, the method, the prior, the promise, and the run.
// The zero value of every field except Data.Target means the field's default.
// Options as JSON are a checkpoint's fingerprint, part of a plan, and what a model file keeps about
// the fit.
//
// A field with the tag set:"NAME" is also the flag NAME.
// Its tags are its values or range, and its default.
// The first paragraph of the comment above it is its help, and says what decides the default if no
// value does (package internal/settings).
type Options struct {
	Data   Data   `json:"data"`
	Kernel Kernel `json:"kernel"`
	// without a name, other options and the number of rows decide
	Method  method.Choice `json:"method"`
	Prior   Prior         `json:"prior"`
	Promise Promise       `json:"promise"`
	Run     Run           `json:"run"`
}

// Asked is what a fit is asked for: its options, and what krigo knows of how they came about.
type Asked struct {
	Options
	// see spares; 0 after the share of prior rows is decided, and in the options that a model keeps
	spare int
	// the options come from a model or a declaration, which say whether the target has a transform
	kept bool
	open bool // the user asked for neither ε nor a share (see everyWidth)
}

// newly returns what a user asks for.
func newly(o Options) Asked { return Asked{Options: o, kept: o.Run.Declaration != nil} }

// Data says what the columns are, and which rows get which role.
type Data struct {
	// Column to predict (required).
	Target string `json:"target,omitzero" set:"target" value:"COL" tier:"everyday"`
	// Columns to predict from; * stands for any text and ? for a character, as in 'temp*'.
	// Default: all others.
	Inputs []string `json:"inputs,omitempty" set:"inputs" value:"COLS"`
	// Columns that are no inputs, such as names of rows; * and ? as in --inputs.
	Ignore []string `json:"ignore,omitempty" set:"ignore" value:"COLS" tier:"everyday"`

	// Beside names all targets of a fit of several targets, Target among them (FitTargets).
	// None of them is an input.
	// Roles are then dealt to all rows that have any of these targets, so that no row's role
	// depends on Target.
	Beside []string `json:"beside,omitempty"`

	// Reading says how the table's cells are written. Fit overwrites it with the table's own.
	Reading dataset.Reading `json:"reading,omitzero"`

	// Columns of categories, text or numbers: each category of the prior rows becomes a column of 0
	// and 1, and all other categories share a column.
	Categorical []string `json:"categorical,omitempty" set:"categorical" value:"COLS" tier:"everyday"`
	// Missing inputs: refuse, or mean (of the prior rows; missing categories count as other
	// categories).
	Missing string `json:"missing,omitzero" set:"missing" value:"HOW" values:"refuse mean" default:"refuse" tier:"everyday"`

	// What standardises the columns: prior-rows, declared:FILE, or all-rows (then the bound is only
	// a heuristic).
	Scaling string `json:"scaling,omitzero" set:"scaling" value:"HOW" values:"prior-rows declared all-rows" default:"prior-rows"`

	Declared *dataset.Scaling `json:"declared,omitzero"` // the constants, if Scaling is "declared"

	// Classes are the labels of the target, whose places are its numbers.
	// They are found by the look of the target.
	Classes []string `json:"classes,omitempty"`
	// Kinds is the column of more than two classes whose class the target is; see Options.Kinds.
	Kinds *dataset.Kinds `json:"kinds,omitempty"`

	// Transform of the target for the model: none, log, log1p, sqrt, boxcox, yeo-johnson, auto.
	// Default: auto, or none.
	//
	// Transform names a T of dataset.Transforms, and the model sees the target as T(y).
	// "auto" lets the evidence and the left-out errors of prior rows choose.
	// "" means auto if the mean is certified by its own misses, and none otherwise.
	// A model keeps the transform that was chosen.
	// Everything that a model says about the target is in the target's own units.
	Transform string `json:"target_transform,omitzero" set:"target-transform" value:"T" values:"none log log1p sqrt boxcox yeo-johnson auto" tier:"everyday" for:"training"`
	// What to predict of a transformed target: its mean or its median.
	// Default: mean.
	Estimate string `json:"target_estimate,omitzero" set:"target-estimate" value:"E" values:"mean median" for:"training"`

	// Column that says which targets are limits: left (below it) or -1, right or 1, none or 0; or
	// the target, with cells such as <0.1 and >50.
	Censored string `json:"censored,omitzero" set:"censored" value:"COL" for:"training"`

	// Known standard errors of the target (in its units, not variances); predictions need them too.
	//
	// The square of the standard error is added to the trained noise variance, which is the same
	// for all rows.
	NoiseColumn string `json:"noise_column,omitzero" set:"noise-column" value:"COL" for:"training"`

	// Another model's predictions of the target, for rows that it wasn't made from: the model
	// learns what they miss, and its predictions are the sum.
	//
	// Offset is a fixed function of the row, so the certificate of the sum is the certificate of
	// the GP for y − Offset.
	Offset string `json:"offset,omitzero" set:"offset" value:"COL" for:"training"`

	// Exposure of a count or positive target, such as person-years: the mean is proportional to it,
	// and predictions need it too.
	//
	// Exposure multiplies the mean e^f of a row's target.
	Exposure string `json:"exposure,omitzero" set:"exposure" value:"COL" for:"training"`

	// Roles of rows: random (from seed and contents), or last (a backtest on the last rows, no
	// certificate).
	Split string `json:"split,omitzero" set:"split" value:"HOW" values:"random last" default:"random"`
	// Column that groups rows, such as a patient's ID; it is then no input. Groups stay together,
	// and the certificate counts groups.
	//
	// dataset.EqualRows groups copies.
	Group string `json:"group,omitzero" set:"group" value:"COL" tier:"everyday"`

	// Share of the rows set aside and scored at the end.
	TestFraction float64 `json:"test_fraction,omitzero" set:"test-fraction" value:"SHARE" range:"0:<1" tier:"everyday" for:"fit"`

	Test *dataset.Table `json:"-"` // a table of test rows, instead of a share of the rows
}

// Kernel is the prior's covariance function and mean.
type Kernel struct {
	// Names of package kernel; se+rq, se*rq(x1); list se,rq; auto.
	// Default: auto, or se.
	//
	// The syntax is that of kernel.Parse, also with columns as in "se(x1, x2)*periodic(hour)".
	// krigo tries each kernel of a list with commas, as it does with auto.
	Expression string `json:"expression,omitzero" set:"kernel" value:"K" default:"se" tier:"everyday" for:"training"`

	// A lengthscale for each input: on, off, or auto (tries both; the bound pays ln 2 for the
	// choice).
	// Default: on, or auto.
	//
	// At a few hundred rows ARD's grid penalty often costs more than it gains.
	// So a prior on the grid has auto as its default.
	ARD string `json:"ard,omitzero" set:"ard" value:"HOW" values:"on off auto" default:"auto" for:"training"`

	// Prior mean: zero, constant or linear; the bound pays for a trained mean as for a kernel.
	// Default: constant, or zero.
	Mean string `json:"mean,omitzero" set:"mean" value:"M" values:"zero constant linear" default:"zero"`

	// constant, linear, gp, auto, student, probit, poisson, negative-binomial, gamma, ordinal.
	// Default: by the target.
	//
	// "" lets the left-out density of prior rows choose between student and constant, if a method
	// allows it. A model keeps the noise that was chosen.
	Noise string `json:"noise,omitzero" set:"noise" value:"N" values:"constant linear gp auto student probit poisson negative-binomial gamma ordinal" for:"training"`

	// Predictions that never fall, or never rise, as one or two columns rise: as in
	// size:up,price:down; predicting takes longer.
	//
	// See posterior.Monotone. Certified are the monotone predictions, a fixed function of the prior
	// rows.
	Monotone []string `json:"monotone,omitempty" set:"monotone" value:"COL:WAY" for:"fit"`
}

// ways returns the columns of Monotone, and which predictions fall as their column rises.
func (k Kernel) ways() (columns []string, down []bool, err error) {
	for _, text := range k.Monotone {
		at := max(strings.LastIndex(text, ":"), 0)
		if way := text[at:]; way != ":up" && way != ":down" {
			return nil, nil, fmt.Errorf("%.200q: want COLUMN:up or COLUMN:down", text)
		}
		columns = append(columns, text[:at])
		down = append(down, text[at:] == ":down")
	}
	return columns, down, nil
}

// Values of Kernel.Noise.
const (
	noiseLinear = "linear"
	noiseGP     = "gp"
	noiseAuto   = "auto"
)

// varies says whether the noise may depend on the inputs.
func (o Asked) varies() bool {
	return slices.Contains([]string{noiseLinear, noiseGP, noiseAuto}, o.Kernel.Noise)
}

// labels says whether the target has classes.
func (o Asked) labels() bool { return o.Kernel.Noise == objective.ProbitName }

// sited returns the noise if it takes sites, or nil.
func (o Asked) sited() objective.Sited { return objective.SitedOf(o.Kernel.Noise) }

// drawn says whether the target has classes, and the certificate is about the label that a random
// draw of the model gives. Labels are then ±1 for the model.
func (o Asked) drawn() bool { return o.labels() && (!o.informed() || o.learns()) }

// autoKernel is the expression that lets krigo choose among autoKernels.
// A smoothness that suits the target is worth more than restarts, since no kernel of autoKernels is
// within 20 % of the best kernel on all public sets (docs/behind/benchmark.md).
const autoKernel = "auto"

// expressions returns the expressions of the kernels to try.
// auto are the kernels that auto stands for.
func (k Kernel) expressions(auto []string) (all []string) {
	named := kernel.Split(k.Expression)
	for _, expression := range named {
		if expression == autoKernel {
			all = append(all, lists.If(auto, func(a string) bool {
				return a != autoAdditive || !slices.Contains(named, a)
			})...)
		} else {
			all = append(all, expression)
		}
	}
	return all
}

var autoKernels = []string{"matern32*matern12", "matern32", "matern52", "rq", "se"}

// autoAdditive is one more kernel that auto tries where a covariance matrix is factored and
// choosing a kernel costs nothing, for up to mostAdditive inputs, since its time grows with their
// number. The full part beside the sums matters:
// additive alone has RMSE .71 on pendulum, where matern32 has .32.
// Mean RMSE on ten folds of public sets, with this kernel among the others:
// concreteslump −14 %, autos −4 %, servo −4 %, autompg −2 %, fertility +.7 %.
const (
	autoAdditive = "additive+matern32"
	mostAdditive = 40
)

// autoLinear is one more kernel for labels, and labelKernels are the kernels that stand beside it.
// The products and rq were never chosen in 80 fits of Pima, biopsy, two_class_dat, synth and spam7.
// For numbers see Options.further.
const (
	autoLinear = "linear"
	autoSteps  = "steps"
)

var labelKernels = []string{"matern32", "matern52", "se", autoLinear}

// auto returns the kernels that auto stands for, with dim inputs.
func (o Asked) auto(dim int) []string {
	kernels := autoKernels
	if o.labels() {
		kernels = labelKernels
	}
	if o.choosesFreely() && 1 < dim && dim <= mostAdditive {
		return append(slices.Clip(kernels), autoAdditive)
	}
	return kernels
}

// choosesFreely says whether a covariance matrix is factored, and rows choose the kernel that don't
// certify it.
func (o Asked) choosesFreely() bool {
	m := o.Method
	return o.Prior.Kind == "informed" && m.Kind().Exact && !m.OnBatches() &&
		m.Solver != posterior.ByCG
}

// Prior says where the prior P comes from.
type Prior struct {
	// grid (data-blind; certified rows train the model) or informed (prior rows train).
	// Default: informed; grid with --objective and flags of its own.
	Kind string `json:"kind,omitzero" set:"prior" value:"P" values:"grid informed" default:"grid" for:"training"`
	// Share of prior rows among the rows that aren't test or calibration rows.
	// Default: informed 0.7 to 0.875; grid a tenth, 20 to 1,000 rows.
	//
	// If Share is 1, all rows train, and no row is certified.
	Share float64 `json:"share,omitzero" set:"prior-share" value:"SHARE" for:"training"`

	// informed: factors of the prior's covariance; certified rows choose one, and the bound pays.
	// Default: 1.
	// Takes positive factors of the prior's covariance, such as 1,0.3,0.1.
	Temper []float64 `json:"temper,omitempty" set:"temper" value:"LIST" range:">0:" for:"training"`

	// Learn says that kl-pac learns Q on the certified rows after an informed prior.
	// Otherwise Q is the prior itself.
	Learn bool `json:"learn,omitzero"`

	Grid pacbayes.Grid `json:"grid,omitzero"` // the grid of p_θ's parameters

	// Mixed says that p_θ mixes grids of 0, 1 and 2 digits, and under ARD also kernels with few
	// different lengthscales.
	Mixed bool `json:"mixed,omitzero"`
}

// Promise says what the certificate is about.
type Promise struct {
	// What is certified: band (|y−ŷ|>ε), clipped-square, gaussian, relative (>ε|y|), scaled (>ε sd
	// of ŷ), asymmetric, clipped-absolute.
	//
	// See pacbayes.Kind.
	Loss string `json:"loss,omitzero" set:"loss" value:"LOSS" default:"band"`
	// Half-width ε of the loss; below:above for the asymmetric loss, as in 0.4:0.8.
	// Default: a table of widths, where there is one, and 0.6.
	//
	// Epsilon is the width below y if EpsilonAbove has another width above y.
	// The default is from Reeb et al. 2018, Sect. 4.
	Epsilon      float64 `json:"epsilon,omitzero" set:"epsilon" value:"E" default:"0.6" tier:"everyday"`
	EpsilonAbove float64 `json:"epsilon_above,omitzero"` // asymmetric loss only: the width above y

	// Units of ε: sd (standard deviations of the target) or raw (the target's own).
	Units string `json:"units,omitzero" set:"epsilon-units" value:"UNIT" values:"sd raw" default:"sd" tier:"everyday"`
	// The certificate may fail with this probability, over the draw of the certified rows.
	// Takes a probability between 0 and 0.5, such as 0.01.
	Delta float64 `json:"delta,omitzero" set:"delta" value:"P" range:"1e-300:<0.5" default:"0.01" tier:"everyday"`

	// Inequality of the certificate: kl, maurer, pinsker, split-kl, betting (fixed posteriors).
	// Default: kl; groups: betting; learnt: maurer.
	Bound pacbayes.Inequality `json:"bound,omitzero" set:"bound" value:"NAME"`
	// Bound on predictions: twice (the bound of a random draw), direct (from their losses), both.
	// Default: direct where it can be, else twice.
	MeanBound pacbayes.Route `json:"mean_bound,omitzero" set:"mean-bound" value:"ROUTE" values:"twice direct both" for:"training"`

	// Also find the smallest band ±ε guaranteed for this share of predictions, such as 0.95; it
	// takes half of δ.
	Share float64 `json:"share,omitzero" set:"promise" value:"SHARE" tier:"everyday"`
	// Also bound the misses of kinds of rows, by columns, sd, or distance from the model's rows;
	// this takes half of δ.
	Slices []string `json:"slices,omitempty" set:"slices" value:"COLS" for:"fit"`
	// Bound every half-width at once, and the mean absolute error, if the mean is certified by its
	// own misses.
	Curve bool `json:"curve,omitzero" set:"curve" for:"fit"`

	// same: if rows of one unit (a patient, say) predict one another, promise for further rows of
	// these units.
	Population string `json:"population,omitzero" set:"population" value:"WHICH" values:"same" for:"fit"`

	// Rows for conformal intervals, which hold on average over draws of these and further rows from
	// the same source (exchangeable rows).
	Calibration float64 `json:"calibration,omitzero" set:"calibration-fraction" value:"SHARE" range:"0:<1" for:"training"`
}

// Run says where training starts, and what a fit reports and keeps.
// Only flags have the defaults of Run's tags. The options themselves keep a zero.
type Run struct {
	// Assigns rows their roles and draws random starts; same seed, same result.
	Seed uint64 `json:"seed,omitzero" set:"seed" value:"S" default:"0" tier:"everyday"`

	// Starting points per kernel family.
	// Default: 3; sparse, cg, batches 1.
	// Takes 1 to 1000, or 0 for the default.
	Restarts int `json:"restarts,omitzero" set:"restarts" value:"N" range:"1:1000" for:"training"`

	Init *Params `json:"init,omitzero"` // where training starts; the truth in it is for evaluate

	// evidence: don't train, but use the full GP at the parameters of --init.
	FixParameters bool `json:"fix_parameters,omitzero" set:"fix-parameters" for:"training"`

	// all: also train a model on all rows, which predicts better and has no certificate, and write
	// it to OUT-all.
	//
	// Model.Deliver does it, after the fit.
	Deliver string `json:"deliver,omitzero" set:"deliver" value:"WHICH" values:"certified all" default:"certified" tier:"everyday" for:"fit"`

	// Declared is the SHA-256 in hexadecimal of the declaration that the fit follows.
	// Declaration is its text (see func Declared).
	Declared    string `json:"declared,omitzero"`
	Declaration []byte `json:"-"`

	// Such as 60s: try no kernel that would take training beyond this time.
	// Takes a duration, such as 60s.
	//
	// Budget is for choices on prior rows. A model doesn't keep the budget, because the model's
	// options list the kernels that were tried.
	Budget time.Duration `json:"-" set:"budget" value:"TIME" range:"0:" for:"fit"`

	// Progress gets an Event whenever training goes on.
	// It is called from one goroutine at a time, and may be nil.
	Progress func(Event) `json:"-"`
	// Predicting gets the number of rows predicted so far and the number of all, while certified or
	// test rows are predicted. It may be nil.
	Predicting func(done, of int) `json:"-"`
	// Save, if not nil, gets the state of the fit after every iteration.
	// Resume is a state that Save got. The fit goes on from this state, and ends as if it had never
	// stopped. Save gets Resume's state first, once Fit knows that the state comes from the same
	// fit. Otherwise Fit returns ErrOtherCheckpoint.
	Save   func(*Checkpoint) error `json:"-"`
	Resume *Checkpoint             `json:"-"`

	// Compare spreads whole fits over these ranks, unless Ranks is nil.
	// A fit uses the ranks of its table.
	Ranks ranks.Ranks `json:"-"`
}

// text returns the options as JSON, without options that are zero.
func (o Asked) text() (json.RawMessage, error) { return json.Marshal(o.Options) }

// informed says whether the prior is learnt on the prior rows.
func (o Asked) informed() bool { return o.Prior.Kind == "informed" }

// trainsAll says whether all rows train an informed prior, so that no row is certified.
func (o Asked) trainsAll() bool { return o.informed() && o.Prior.Share == 1 }

// learns says whether a posterior is learnt on the certified rows after an informed prior.
func (o Asked) learns() bool { return o.informed() && (o.Prior.Learn || o.Method.Free()) }

// encodes says whether a table's columns must be encoded or filled before they are inputs.
func (d Data) encodes() bool { return len(d.Categorical) > 0 || d.Missing == dataset.FillMean }

// Own returns the target and the other columns that are never inputs.
func (d Data) Own() []string {
	own := append([]string{d.Target, d.Group}, d.others()...)
	if d.Censored != "" {
		own = append(own, d.Censored, d.Target+" (side)")
	}
	return append(own, lists.If([]string{d.Offset, d.Exposure, d.NoiseColumn},
		func(name string) bool {
			return name != "" && !slices.Contains(d.Inputs, name)
		})...)
}

// others returns the other targets of a fit of several targets.
func (d Data) others() []string {
	return slices.DeleteFunc(slices.Clone(d.Beside), func(name string) bool {
		return name == d.Target
	})
}

// split returns the way in which rows get their roles.
func (d Data) split() model.Split {
	if d.Split == "last" {
		return model.ByLast
	}
	return model.ByContent
}

func (p Promise) loss(kind pacbayes.Kind) pacbayes.Loss {
	return pacbayes.Loss{Kind: kind, Below: p.Epsilon, Above: p.EpsilonAbove}
}

// terms returns the terms of the certificate, as far as the options say them.
func (o Asked) terms(loss pacbayes.Loss, choices int) pacbayes.Terms {
	t := pacbayes.Terms{Loss: loss, Delta: o.Promise.Delta, Grid: o.Prior.Grid, Choices: choices,
		Scaling: o.Data.Scaling, Informed: o.informed(), Promise: o.Promise.Share,
		Curve: o.Promise.Curve, Slices: o.Promise.Slices, Declaration: o.Run.Declared}
	if o.Promise.Bound != pacbayes.KLBound {
		t.Inequality = o.Promise.Bound
	}
	if o.Promise.MeanBound != pacbayes.Twice {
		t.Route = o.Promise.MeanBound
	}
	t.Fixed = t.Informed && !o.learns()
	t.Rules = t.NewestRules()
	return t
}
