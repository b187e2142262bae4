package fit

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// alphaAt is the α of the parameters x of a collapsed objective.
func (p *prepared) alphaAt(o Options, x []float64) float64 {
	if o.LearnAlpha && p.inducing > 0 {
		return x[len(x)-1]
	}
	return p.alpha
}

// trainsByCG says whether training evaluates the evidence by conjugate gradients.
func (p *prepared) trainsByCG(o Options) bool {
	return p.solver == posterior.ByCG && o.Objective == method.EvidenceName && !o.onBatches()
}

// unseen returns the inputs of some rows, and says which they are.
func (p *prepared) unseen() (x matrix.Dense, which string, err error) {
	// Rows it wasn't trained on, if there are any.
	role, what := dataset.Prior, "rows set aside for the scaling"
	if p.roles.Count(role) == 0 {
		role, what = dataset.Test, "test rows"
	}
	if p.roles.Count(role) == 0 {
		role, what = dataset.Certified, "training rows"
	}
	rows := p.roles.Rows(role)
	rows = rows[:min(len(rows), excessRows)]
	at, err := Gather(p.data.Scaled(p.data.Own(rows), p.scaling))
	if err != nil {
		return at.X, "", err
	}
	return at.X, what, nil
}

// method is the way to train that the options ask for.
func (p *prepared) method(o Options) method.Method {
	inequality := pacbayes.KLBound
	if o.Objective == method.SqrtPACName {
		inequality = pacbayes.PinskerBound
	}
	descent := method.Descent{MMA: o.Optimizer == "mma", Evaluations: o.evaluations()}
	var batches *method.Batches
	if o.onBatches() {
		batches = &method.Batches{Plain: o.Optimizer == "sgd", Rows: o.Batch, Rate: o.LearningRate, Epochs: o.Epochs, Nearest: o.Batches == "nearest"}
	}
	switch {
	case o.estimatesRenyi():
		return method.EstimatedRenyi{Alpha: p.alpha}
	case o.Objective == method.RenyiName:
		m := method.Renyi{Descent: method.Descent{MMA: o.Optimizer == "mma", Evaluations: o.Epochs}, Batches: batches, Alpha: p.alpha}
		if o.Alpha == nil {
			m.Schedule = method.Anneals[o.Anneal]
		}
		return m
	case o.Objective == method.EvidenceName && o.onBatches():
		return method.Renyi{Batches: batches, Evidence: true}
	case o.PosteriorFree:
		return method.Free{Descent: descent, Batches: batches, Inequality: inequality, Noise: p.freeNoise, Alpha: p.alpha, LearnAlpha: o.LearnAlpha}
	case o.Objective == method.SVGPName:
		return method.SVGP{Descent: descent, Batches: batches}
	case o.Objective == method.EvidenceName:
		return method.Evidence{Descent: descent, ByCG: p.trainsByCG(o)}
	case o.Objective == method.VFEName:
		return method.Collapsed{Descent: descent, Objective: objective.VFE(), FITC: o.PosteriorFITC}
	case o.Objective == method.DTCName:
		return method.Collapsed{Descent: descent, Objective: objective.DTC(), FITC: o.PosteriorFITC}
	case o.Objective == method.FITCName || o.Objective == method.PEPName:
		return method.Collapsed{Descent: descent, Objective: objective.PEP(p.alpha), Alpha: p.alpha, FITC: o.PosteriorFITC}
	}
	return method.PAC{Descent: descent, Inequality: inequality, Alpha: p.alpha, LearnAlpha: o.LearnAlpha, FITC: o.PosteriorFITC}
}

// problem binds the options' method to a family; choices families are chosen among.
func (p *prepared) problem(o Options, f family, choices int) method.Problem {
	return p.method(o).Bind(p.task(o, f, choices))
}

// task is what a method is bound to.
func (p *prepared) task(o Options, f family, choices int) method.Task {
	return method.Task{
		Kernel: f.kernel, Mean: f.mean, Rows: p.rows, N: p.n, Ranks: p.data.Ranks(), Seed: o.Seed, M: p.inducing, All: p.all,
		Whole: func() (objective.Memory, error) { return Gather(p.rows) },
		Loss:  p.loss, Scale: p.scale, Penalty: p.terms(o, f, choices).Penalty(p.n),
		Limit: o.Grid.L, Held: p.held, FixInducing: o.FixInducing,
		Solver: p.solver, Unseen: p.unseen, Context: p.ctx, Progress: p.progress,
	}
}
