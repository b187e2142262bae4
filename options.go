package krigo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
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

// columnsWithWays returns the columns of Monotone, and which predictions fall as their column rises.
func (k Kernel) columnsWithWays() (columns []string, down []bool, err error) {
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
