// Package fitting holds what one asks of a fit, and what a fit says before and while it runs:
// the parts of its options, its plan, its events, its checkpoint and its parameters.
//
// This program asks which rows would be certified:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo"
//		"github.com/krigo-gp/krigo/data"
//		"github.com/krigo-gp/krigo/fitting"
//	)
//
//	func main() {
//		o := krigo.Options{Data: fitting.Data{Target: "y"}, Promise: fitting.Promise{Delta: 0.05}}
//		plan, err := krigo.Decide(context.Background(), data.Snelson(), o)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%d rows train, %d certify\n", plan.Trains, plan.Roles.Certified)
//		// Output:
//		// 140 rows train, 60 certify
//	}
//
// Package krigo has every type of this package under the same name.
package fitting

import (
	"slices"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

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
	// Missing inputs: refuse, mean (of the prior rows), or indicator (mean, and inputs that say so).
	// Default: indicator, or refuse.
	//
	// Missing categories count as other categories.
	// Options.Settle sets indicator if there are gaps. Otherwise the default is refuse.
	Missing string `json:"missing,omitzero" set:"missing" value:"HOW" values:"refuse mean indicator" default:"refuse" tier:"everyday"`

	// Refuses says that Missing was asked to refuse, and not by default. Then rows to predict may
	// have no gaps either. A fit sets it.
	Refuses bool `json:"refuses,omitempty"`

	// Settled says what the table decided about inputs that the user didn't describe; see
	// Options.Settle. A fit tells it among its findings.
	Settled finding.List `json:"settled,omitempty"`

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

	Columns // columns beside the inputs that say how the target was observed

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

// Columns are columns beside the inputs that say how the target was observed.
type Columns = observation.Columns

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
	// "" lets the left-out density of prior rows choose between student and constant, and whether
	// the noise of predictions depends on the inputs, if a method allows it. A model keeps the
	// noise that was chosen.
	Noise string `json:"noise,omitzero" set:"noise" value:"N" values:"constant linear gp auto student probit poisson negative-binomial gamma ordinal" for:"training"`

	// Predictions that never fall, or never rise, as one or two columns rise: as in
	// size:up,price:down; predicting takes longer.
	//
	// See posterior.Monotone. Certified are the monotone predictions, a fixed function of the prior
	// rows.
	Monotone []string `json:"monotone,omitempty" set:"monotone" value:"COL:WAY" for:"fit"`
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
	// The loss: band (|y−ŷ|>ε), clipped-square, gaussian, relative (>ε|y|), scaled (>ε sd),
	// asymmetric, clipped-absolute, log-density.
	//
	// See pacbayes.Kind.
	Loss string `json:"loss,omitzero" set:"loss" value:"LOSS" default:"band"`
	// Half-width ε of the loss; below:above for the asymmetric loss, as in 0.4:0.8.
	// Default: a table of widths if there is one, and 0.6 or 5 nats.
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
	// Default: kl; groups, graded: betting; learnt: maurer.
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

	// Such as 60s: try no kernel that would take the fit beyond this time. What follows isn't cut
	// short: training on all rows, ties, certification.
	// Takes a duration, such as 60s.
	//
	// One kernel is always tried, and reading the table isn't counted.
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

// Own returns the target and the other columns that are never inputs.
func (d Data) Own() []string {
	own := append([]string{d.Target, d.Group}, d.Others()...)
	if d.Censored != "" {
		own = append(own, d.Censored, d.Target+" (side)")
	}
	return append(own, lists.If(d.Further(), func(name string) bool {
		return !slices.Contains(d.Inputs, name)
	})...)
}

// Others returns the other targets of a fit of several targets.
func (d Data) Others() []string {
	return slices.DeleteFunc(slices.Clone(d.Beside), func(name string) bool {
		return name == d.Target
	})
}
