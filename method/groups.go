package method

import (
	"cmp"

	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// A method's settings are the tagged fields of its struct (see package settings).
// The structs below hold settings that several methods share.
// A method embeds the structs that it needs.

// Use says what a method's settings are for, if that decides which settings are allowed.
type Use struct {
	Evaluating bool // nothing is trained
	Given      bool // the user gave the parameters, so nothing is trained
	Informed   bool // training makes an informed prior
	Learns     bool // a posterior is learnt after the informed prior, by minimising a bound
	Sited      bool // the noise takes sites
}

// Steps holds the settings of training with all rows in every step.
type Steps struct {
	Optimizer string `set:"optimizer" values:"lbfgs mma" default:"lbfgs" for:"training"` // as Batched
	Epochs    int    `set:"epochs" range:"1:1000000" for:"training"`                     // as Batched
}

// Descent returns how to minimise with these settings.
func (s Steps) Descent() Descent {
	return Batched{Optimizer: s.Optimizer, Epochs: s.Epochs}.Descent()
}

// Batched holds the settings of training with all rows in every step, or with a batch of rows.
type Batched struct {
	// lbfgs, mma: all rows in a step; adam, sgd: batches (svgp, renyi, evidence, free).
	// Default: lbfgs; adam for svgp, batches, renyi above 3,000 rows.
	Optimizer string `set:"optimizer" value:"O" values:"lbfgs mma adam sgd" for:"training"`
	// Most passes over the rows; an evaluation of lbfgs or mma is a pass.
	// Default: lbfgs, mma 1,000; adam 3,000 steps, nearest 500 to 900.
	Epochs int `set:"epochs" value:"E" range:"1:1000000" for:"training"`
	// adam, sgd: rows in a batch.
	// Default: 1,000; nearest, batches nearest 256; renyi, evidence on uniform ones 1,024.
	Batch int `set:"batch" value:"B" range:"1:" for:"training"`
	// adam, sgd: learning rate of the first step, which falls to a hundredth.
	// Default: adam 0.02, nearest, batches nearest 0.05, free 0.001, sgd 0.1.
	LearningRate float64 `set:"learning-rate" value:"R" range:"0:10" for:"training"`
}

// OnBatches says whether a step takes a batch of rows.
func (b Batched) OnBatches() bool { return b.Optimizer == "adam" || b.Optimizer == "sgd" }

// Descent returns how to minimise with all rows in every step. Epochs limit this descent only if
// there are no batches.
// With batches, the descent only finds the point where they start.
func (b Batched) Descent() Descent {
	d := Descent{MMA: b.Optimizer == "mma"}
	if !b.OnBatches() {
		d.Evaluations = b.Epochs
	}
	return d
}

// adam returns how to train on batches of n rows.
// rows (in a batch), rate (of the first step) and steps are the method's defaults.
func (b Batched) adam(n int, seed uint64, rows int, rate float64, steps int) train.Adam {
	plain := b.Optimizer == "sgd"
	if plain {
		rate = defaultSGDRate
	}
	a := train.Adam{Batch: cmp.Or(b.Batch, rows), LearningRate: cmp.Or(b.LearningRate, rate),
		Seed: seed, Plain: plain}
	batches := a.Batches(n)
	a.Steps = cmp.Or(b.Epochs, (steps+batches-1)/batches) * batches
	return a
}

// Local holds the settings of training whose batches may be rows next to one another.
// If the objective isn't a sum over rows, random batches can't resolve lengthscales that all rows
// together can.
type Local struct {
	Batched
	// uniform (every row once an epoch); renyi, evidence: or nearest (a random row and the rows
	// nearest to it).
	// Default: nearest if allowed.
	Batches string `set:"batches" value:"HOW" values:"uniform nearest" for:"training"`
}

// Complete fills in the kind of batches, unless the optimiser isn't chosen yet.
// In that case the number of rows decides about batches.
func (l *Local) Complete() {
	if l.Batches == "" && l.OnBatches() {
		l.Batches = "nearest"
	} else if l.Batches == "" && l.Optimizer != "" {
		l.Batches = "uniform"
	}
}

// Sparse holds the settings of the inducing inputs of a sparse GP.
// InducingBy is a rule for the number of inducing inputs.
// The rule none means the full GP, however many rows there are.
// The rule auto takes as many as the Nyström error of the starting kernel needs.
// The rule theory takes as many as Yue & Kontar's Theorem 2 needs at the starting kernel, which is
// se or, for one input, matern32 or matern52.
type Sparse struct {
	// Inducing inputs of a sparse GP; 0: the full GP; auto (Nyström error) or theory (a theorem)
	// choose their number.
	// Default: by objective and rows.
	Inducing   int    `set:"inducing" value:"M" range:"1:"`
	InducingBy string `set:"inducing" values:"none auto theory" zero:"none"` // a rule for the number
	// Where inducing inputs start: kmeans, greedy (conditional variance), kdpp, random.
	InducingInit string `set:"inducing-init" value:"HOW" values:"kmeans greedy kdpp random" default:"kmeans" for:"training"`
	// Keep the inducing inputs where they start.
	FixInducing bool `set:"fix-inducing" for:"training"`
}

// Ended says which posterior a sparse GP gets:
// the objective's own posterior, or always fitc (α = 1).
type Ended struct {
	Posterior string `set:"posterior" values:"objective fitc" default:"objective"` // see PAC
}

// Solved says how a full GP is solved. nearest predicts each row from the nearest training rows,
// and can't train.
type Solved struct {
	// Full GP: cholesky; cg and nearest (batches, --fix-parameters, labels, counts), certified only
	// with --prior informed.
	Solver string `set:"solver" value:"S" values:"auto cholesky cg nearest" default:"auto"`
}

// checkSteps reports an optimiser that can't train by conjugate gradients.
func (s Solved) checkSteps(optimizer string, use Use) (wrong settings.Faults) {
	wrong.If(s.Solver == posterior.ByCG && optimizer == "mma" && !use.Given,
		"optimizer mma with solver cg: conjugate gradients train with lbfgs only")
	return wrong
}

// MAP says which prior density the hyperparameters have.
// weak is a wide density of lengthscales and noise variance.
// Training then finds the mode of their posterior.
type MAP struct {
	// evidence, nearest: a weak prior density of lengthscales and noise; training finds the
	// posterior's mode.
	// Default: weak, or none.
	Hyperprior string `set:"hyperprior" value:"H" values:"none weak" default:"none" for:"training"`
}
