package krigo

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// Options say how to fit: the data, the kernel, the method, the prior, what is promised, and the run. The zero
// value of every field but Data.Target means its default. As JSON they are a checkpoint's fingerprint, the plan, and
// what a model file keeps of how it was fitted.
type Options struct {
	Data    Data          `json:"data"`
	Kernel  Kernel        `json:"kernel"`
	Method  method.Choice `json:"method"` // without a name: by what else is asked, and the number of rows
	Prior   Prior         `json:"prior"`
	Promise Promise       `json:"promise"`
	Run     Run           `json:"run"`

	spare int // see spares; 0 once the share of prior rows is decided, as in what a model keeps
}

// Data says what the columns are, and which rows get which role.
type Data struct {
	Target string `json:"target,omitzero"` // column to predict

	// Inputs are the columns to predict from, default all others; Ignore are columns that aren't. Both are names, or
	// patterns with * for any text and ? for a character (dataset.Table.Leave).
	Inputs []string `json:"inputs,omitempty"`
	Ignore []string `json:"ignore,omitempty"`

	// Reading is how the cells of the table are written. It is the table's own: what stands here is replaced by that.
	Reading dataset.Reading `json:"reading,omitzero"`

	// Categorical columns become an input for each category that the prior rows have, which is
	// 1 or 0, and one for all others. Missing says what is done about missing values of inputs:
	// refuse (default) or mean: numbers are filled with their mean on the prior rows, categories
	// count as others. The model keeps both, and applies them to the tables it is given.
	Categorical []string `json:"categorical,omitempty"`
	Missing     string   `json:"missing,omitzero"`

	Scaling  string           `json:"scaling,omitzero"`  // prior-rows (default), declared or all-rows
	Declared *dataset.Scaling `json:"declared,omitzero"` // the constants, if Scaling is declared

	// Split is how rows get their roles: random (default), or last: the certified rows are the last of the
	// table but for test rows, and what is said of them is a backtest and no certificate.
	Split string `json:"split,omitzero"`
	// Group names a column of which rows with the same value belong together: whole groups get roles, and
	// the certificate counts groups, of which further ones are to be predicted. dataset.EqualRows groups copies.
	Group string `json:"group,omitzero"`

	TestFraction float64        `json:"test_fraction,omitzero"` // share of the rows set aside for testing, default none
	Test         *dataset.Table `json:"-"`                      // or a table of their own
}

// Kernel is the prior's covariance function and mean.
type Kernel struct {
	// see kernel.Parse; several, with commas between them, are tried, as by auto; default "se", or auto where neither a
	// method nor inducing inputs are named
	Expression string `json:"expression,omitzero"`
	// one lengthscale an input: on, off, or auto (default): both are tried and paid for
	ARD  string `json:"ard,omitzero"`
	Mean string `json:"mean,omitzero"` // zero (default), constant or linear
}

// autoKernel is the expression for which kernels are chosen: those of autoKernels are tried. A smoothness that suits
// the target is worth more than restarts: no one of them is within 20 % of the best on all of the public sets
// (docs/benchmark.md).
const autoKernel = "auto"

// expressions are the kernels that are tried.
func (k Kernel) expressions() (all []string) {
	for expression := range strings.SplitSeq(k.Expression, ",") {
		if expression = strings.TrimSpace(expression); expression == autoKernel {
			all = append(all, autoKernels...)
		} else {
			all = append(all, expression)
		}
	}
	return all
}

var autoKernels = []string{"matern32*matern12", "matern32", "matern52", "rq", "se"}

// Prior is where P comes from.
type Prior struct {
	// grid, or informed: learnt on the prior rows by the method; "": grid where a method is named
	Kind string `json:"kind,omitzero"`
	// of the rows but for test and calibration rows; 1: all train an informed prior, and none is certified; 0: by their
	// number
	Share float64 `json:"share,omitzero"`
	// informed: factors of the prior's covariance, chosen among on the certified rows; nil: 1
	Temper []float64 `json:"temper,omitempty"`
	// informed: Q is learnt on the certified rows by kl-pac; else it is the prior itself
	Learn bool `json:"learn,omitzero"`

	Grid pacbayes.Grid `json:"grid,omitzero"`
	// p_θ mixes grids of 0, 1 and 2 digits, under ARD also kernels with few different lengthscales
	Mixed bool `json:"mixed,omitzero"`
}

// Promise is what the certificate speaks of.
type Promise struct {
	Loss string `json:"loss,omitzero"` // default "band" (see pacbayes.Kind)
	// half-width of the loss, default 0.6; asymmetric: the width below y
	Epsilon      float64 `json:"epsilon,omitzero"`
	EpsilonAbove float64 `json:"epsilon_above,omitzero"` // asymmetric loss only: the width above y
	// of ε: sd (default), standard deviations of the target; raw: its own
	Units string `json:"units,omitzero"`
	// the certificate may fail with this probability, default 0.01
	Delta float64 `json:"delta,omitzero"`
	// the inequality; "": kl, of a posterior learnt from an informed prior maurer
	Bound pacbayes.Inequality `json:"bound,omitzero"`
	// to the mean's bound; "": direct where nothing is learnt on the certified rows, else twice
	MeanBound pacbayes.Route `json:"mean_bound,omitzero"`
	// of predictions for which a band is looked for; 0: none
	Share float64 `json:"share,omitzero"`
	// columns by which kinds of rows have bounds of their own, and sd, the model's own standard deviation
	Slices      []string `json:"slices,omitempty"`
	Curve       bool     `json:"curve,omitzero"`       // bound the misses of every half-width at once
	Calibration float64  `json:"calibration,omitzero"` // share of the rows set aside for conformal intervals
}

// Run is where training starts from, and what it tells and keeps.
type Run struct {
	Seed     uint64 `json:"seed,omitzero"`     // of the hash that deals rows their roles, and of random starts
	Restarts int    `json:"restarts,omitzero"` // starting points per kernel family; 0: 3 for a full GP, 1 for a sparse one

	Init *Params `json:"init,omitzero"`
	// evidence: no training, condition on the rows at the parameters of Init
	FixParameters bool `json:"fix_parameters,omitzero"`
	// certified (default): the model that Fit makes; all: a sibling is to follow, by Model.Deliver
	Deliver string `json:"deliver,omitzero"`

	// Declared is the SHA-256 of the declaration that the fit follows, in hexadecimal, and Declaration that itself; see
	// func Declared.
	Declared    string `json:"declared,omitzero"`
	Declaration []byte `json:"-"`

	// Budget is how long training may take before no other kernel is begun; 0: as long as it takes. It is for choices on
	// prior rows, and isn't kept: what a model was fitted with names the kernels that were tried.
	Budget time.Duration `json:"-"`

	// Progress is told how training goes, from one goroutine at a time; it may be nil.
	Progress func(Event) `json:"-"`
	// Predicting is told how many of the rows, that are predicted at once to be certified or scored, are done; it may be
	// nil.
	Predicting func(done, of int) `json:"-"`
	// Save, if not nil, is offered the state of the fit after every iteration. Resume is
	// such a state: the fit goes on from there and ends as if it had never stopped. Save is offered it once
	// the fit knows it for its own; else the error is ErrOtherCheckpoint.
	Save   func(*Checkpoint) error `json:"-"`
	Resume *Checkpoint             `json:"-"`

	// whole fits of Compare are spread over them, unless nil; the ranks of a fit are its table's
	Ranks ranks.Ranks `json:"-"`
}

// text is the options as JSON, without those that are zero.
func (o Options) text() (json.RawMessage, error) { return json.Marshal(o) }

// informed says whether the prior is learnt on the prior rows.
func (o Options) informed() bool { return o.Prior.Kind == "informed" }

// trainsAll says whether no row is certified, but all train an informed prior.
func (o Options) trainsAll() bool { return o.informed() && o.Prior.Share == 1 }

// learns says whether an informed prior is followed by a posterior of the certified rows.
func (o Options) learns() bool { return o.informed() && (o.Prior.Learn || o.Method.Free()) }

// encodes says whether the inputs are more than the table's columns as they stand.
func (d Data) encodes() bool { return len(d.Categorical) > 0 || d.Missing == dataset.FillMean }

// split is how rows are dealt their roles.
func (d Data) split() model.Split {
	if d.Split == "last" {
		return model.ByLast
	}
	return model.ByContent
}

func (p Promise) loss(kind pacbayes.Kind) pacbayes.Loss {
	return pacbayes.Loss{Kind: kind, Below: p.Epsilon, Above: p.EpsilonAbove}
}

// terms returns what the options say of the certificate.
func (o Options) terms(loss pacbayes.Loss, choices int) pacbayes.Terms {
	t := pacbayes.Terms{Loss: loss, Delta: o.Promise.Delta, Grid: o.Prior.Grid, Choices: choices, Scaling: o.Data.Scaling,
		Informed: o.informed(), Promise: o.Promise.Share, Curve: o.Promise.Curve, Slices: o.Promise.Slices,
		Declaration: o.Run.Declared}
	if o.Promise.Bound != pacbayes.KLBound {
		t.Inequality = o.Promise.Bound
	}
	if o.Promise.MeanBound != pacbayes.Twice {
		t.Route = o.Promise.MeanBound
	}
	t.Fixed = t.Informed && !o.learns()
	if t.Curve || len(t.Slices) > 0 {
		t.Rules = pacbayes.NewestRules
	}
	return t
}
