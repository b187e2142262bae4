// Package ask decides what a fit is asked for:
// it fills in the defaults of options, and refuses options that can't be combined.
// Nothing here looks at a row, but for whether a target has classes.
package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/ties"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Options are krigo.Options, which converts to this type.
type Options struct {
	Data   fitting.Data   `json:"data"`
	Kernel fitting.Kernel `json:"kernel"`
	// without a name, other options and the number of rows decide
	Method  method.Choice   `json:"method"`
	Prior   fitting.Prior   `json:"prior"`
	Promise fitting.Promise `json:"promise"`
	Run     fitting.Run     `json:"run"`
}

// Asked is what a fit is asked for: its options, and what krigo knows of how they came about.
type Asked struct {
	Options
	// see spares; 0 after the share of prior rows is decided, and in the options that a model keeps
	Spare int
	// the options come from a model or a declaration, which say whether the target has a transform
	Kept bool
	// values of inputs that stand apart count (see dataset.Scaling.Without)
	Counting bool
	open     bool // the user asked for neither ε nor a share (see everyWidth)
}

// Newly returns what a user asks for.
func Newly(o Options) Asked {
	kept := o.Run.Declaration != nil
	o.Data.Refuses = o.Data.Refuses || (!kept && o.Data.Missing == dataset.Refuse)
	return Asked{Options: o, Kept: kept}
}

// columnsWithWays returns the columns of Monotone, and which predictions fall as their column
// rises.
func columnsWithWays(k fitting.Kernel) (columns []string, down []bool, err error) {
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
	NoiseLinear = "linear"
	NoiseGP     = "gp"
	NoiseAuto   = "auto"
)

// Varies says whether the noise may depend on the inputs.
func (o Asked) Varies() bool {
	return slices.Contains([]string{NoiseLinear, NoiseGP, NoiseAuto}, o.Kernel.Noise)
}

// Labels says whether the target has classes.
func (o Asked) Labels() bool { return o.Kernel.Noise == objective.ProbitName }

// Sited returns the noise if it takes sites, or nil.
func (o Asked) Sited() objective.Sited { return objective.SitedOf(o.Kernel.Noise) }

// Drawn says whether the target has classes, and the certificate is about the label that a random
// draw of the model gives. Labels are then ±1 for the model.
func (o Asked) Drawn() bool { return o.Labels() && (!o.Informed() || o.Learns()) }

// AutoKernel is the expression that lets krigo choose among autoKernels.
// A smoothness that suits the target is worth more than restarts, since no kernel of autoKernels is
// within 20 % of the best kernel on all public sets (docs/behind/benchmark.md).
const AutoKernel = "auto"

// Expressions returns the expressions of the kernels to try.
// auto are the kernels that auto stands for.
func Expressions(k fitting.Kernel, auto []string) (all []string) {
	named := kernel.Split(k.Expression)
	for _, expression := range named {
		if expression == AutoKernel {
			all = append(all, lists.If(auto, func(a string) bool {
				return a != AutoAdditive || !slices.Contains(named, a)
			})...)
		} else {
			all = append(all, expression)
		}
	}
	return all
}

var AutoKernels = []string{"matern32*matern12", "matern32", "matern52", "rq", "se"}

// autoAdditive is one more kernel that auto tries where a covariance matrix is factored and
// choosing a kernel costs nothing, for up to mostAdditive inputs, since its time grows with their
// number. The full part beside the sums matters:
// additive alone has RMSE .71 on pendulum, where matern32 has .32.
// Mean RMSE on ten folds of public sets, with this kernel among the others:
// concreteslump −14 %, autos −4 %, servo −4 %, autompg −2 %, fertility +.7 %.
const (
	AutoAdditive = "additive+matern32"
	MostAdditive = 40
)

// autoLinear is one more kernel for labels, and labelKernels are the kernels that stand beside it.
// The products and rq were never chosen in 80 fits of Pima, biopsy, two_class_dat, synth and spam7.
// For numbers see Options.further.
const (
	AutoLinear = "linear"
	AutoSteps  = "steps"
)

var labelKernels = []string{"matern32", "matern52", "se", AutoLinear}

// onMap are the kernels that nearest tries where inputs are places. rq isn't among them, since with
// a small shape it never returns to the mean beyond the rows. Beyond the houses of Lucas County its
// RMSE is .94, and .58 for the product (in units of log_price).
var onMap = []string{"matern32*matern12", "matern32", "matern52", "se"}

// OnMap says whether a place is all that inputs say, by their names, or since blocks of places are
// groups.
func (o Asked) OnMap(inputs []kernel.Input) bool {
	names := lists.Of(inputs, func(in kernel.Input) string { return in.Column })
	return len(inputs) == 2 &&
		(ties.Map(names) != nil || strings.HasPrefix(o.Data.Group, dataset.BlockPrefix))
}

// Auto returns the kernels that auto stands for, with these inputs.
func (o Asked) Auto(inputs []kernel.Input) []string {
	dim := len(inputs)
	kernels := AutoKernels
	if o.Method.Name == method.NearestName && o.OnMap(inputs) {
		kernels = onMap
	}
	if o.Labels() {
		kernels = labelKernels
	}
	if o.ChoosesFreely() && 1 < dim && dim <= MostAdditive {
		return append(slices.Clip(kernels), AutoAdditive)
	}
	return kernels
}

// ChoosesFreely says whether a covariance matrix is factored, and rows choose the kernel that don't
// certify it.
func (o Asked) ChoosesFreely() bool {
	m := o.Method
	return o.Prior.Kind == "informed" && m.Kind().Exact && !m.OnBatches() &&
		m.Solver != posterior.ByCG
}

// Averages says whether the model may be an average of the kernels that auto tries.
// One GP of plain noise is the prior, and nothing is learnt after it.
func (o Asked) Averages() bool {
	return o.ChoosesFreely() && !o.Learns() && o.Kernel.Noise == "" && o.Data.Censored == "" &&
		slices.Contains(kernel.Split(o.Kernel.Expression), AutoKernel)
}

// Text returns the options as JSON, without options that are zero.
func (o Asked) Text() (json.RawMessage, error) { return json.Marshal(o.Options) }

// Informed says whether the prior is learnt on the prior rows.
func (o Asked) Informed() bool { return o.Prior.Kind == "informed" }

// TrainsAll says whether all rows train an informed prior, so that no row is certified.
func (o Asked) TrainsAll() bool { return o.Informed() && o.Prior.Share == 1 }

// Learns says whether a posterior is learnt on the certified rows after an informed prior.
func (o Asked) Learns() bool { return o.Informed() && (o.Prior.Learn || o.Method.Free()) }

// Encodes says whether a table's columns must be encoded or filled before they are inputs.
func Encodes(d fitting.Data) bool {
	return len(d.Categorical) > 0 || (d.Missing != "" && d.Missing != dataset.Refuse)
}

// Split returns the way in which rows get their roles.
func Split(d fitting.Data) model.Split {
	if d.Split == "last" {
		return model.ByLast
	}
	return model.ByContent
}

// Loss returns the loss of a promise, with its half-widths in the units that the promise names.
func Loss(p fitting.Promise, kind pacbayes.Kind) pacbayes.Loss {
	return pacbayes.Loss{Kind: kind, Below: p.Epsilon, Above: p.EpsilonAbove}
}

// Terms returns the terms of the certificate, as far as the options say them.
func (o Asked) Terms(loss pacbayes.Loss, choices int) pacbayes.Terms {
	t := pacbayes.Terms{Loss: loss, Delta: o.Promise.Delta, Grid: o.Prior.Grid, Choices: choices,
		Scaling: o.Data.Scaling, Informed: o.Informed(), Promise: o.Promise.Share,
		Curve: o.Promise.Curve, Slices: o.Promise.Slices, Declaration: o.Run.Declared}
	if o.Promise.Bound != pacbayes.KLBound {
		t.Inequality = o.Promise.Bound
	}
	if o.Promise.MeanBound != pacbayes.Twice {
		t.Route = o.Promise.MeanBound
	}
	t.Fixed = t.Informed && !o.Learns()
	t.Rules = t.NewestRules()
	return t
}
