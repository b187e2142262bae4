package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// split is a data set's rows to train on and to test with, in scaled units.
type split struct {
	x, xTest linalg.Matrix
	y, yTest []float64
	sd       float64 // of the target
}

// method is a way to a GP by its name in the papers' tables, with what some of them are asked.
type method struct {
	name      string
	m         int           // inducing inputs; 0: a full GP
	alpha     float64       // of pep and renyi-fixed
	loss      pacbayes.Loss // of kl-pac and sqrt-pac, as is
	penalty   float64       // what the bound pays besides the KL
	minJitter float64       // of sparse GPs
}

// problem is a method bound to a kernel and rows: what it minimises, over [θ, ln σ_n², Z].
type problem interface {
	train.Objective
	// posterior is what the method predicts by at x, in words too.
	posterior(x []float64) (q *posterior.Posterior, by string, err error)
}

// bind is the one way from a method's name to what is trained. The evidence of all rows at once and of batches
// (egp) are two names, since they are computed differently, and differ in their last bits.
func (m method) bind(k kernel.Kernel, x linalg.Matrix, y []float64) (problem, error) {
	const keep = 1 << 30
	mean, rows := kernel.ZeroMean{}, objective.Memory{X: x, Y: y}
	full := func(o objective.Exact) problem {
		return fullGP{&objective.Problem{Kernel: k, Mean: mean, X: x, Y: y, Objective: o}}
	}
	sparse := func(o objective.Sparse, alpha float64) problem {
		return sparseGP{&objective.SparseProblem{Kernel: k, Mean: mean, Rows: rows, M: m.m, Keep: keep, MinJitter: m.minJitter, Objective: o}, alpha}
	}
	pac := func(b pacbayes.Inequality) problem {
		if m.m == 0 {
			return full(&objective.PAC{Loss: m.loss, Bound: b, Penalty: m.penalty})
		}
		return sparse(&objective.SparsePAC{Alpha: 1, Loss: m.loss, Bound: b, Penalty: m.penalty}, 1)
	}
	renyi := objective.RenyiProblem{Kernel: k, Mean: mean, Rows: rows, M: m.m}
	switch m.name {
	case "kl-pac":
		return pac(pacbayes.KLBound), nil
	case "sqrt-pac":
		return pac(pacbayes.PinskerBound), nil
	case "evidence":
		return full(&objective.Evidence{}), nil
	case "vfe":
		return sparse(objective.VFE(), 0), nil
	case "fitc":
		return sparse(objective.FITC(), 1), nil
	case "pep":
		return sparse(objective.PEP(m.alpha), m.alpha), nil
	case "sgp":
		return freeGP{&objective.FreeFormProblem{Kernel: k, Mean: mean, Rows: rows, M: m.m, Keep: keep, Objective: &objective.SVGP{}}}, nil
	case "egp":
		return renyiGP{&renyi, x, y}, nil
	case "renyi":
		renyi.Schedule = func(share float64) float64 { return 0.99 * (1 - share) }
		return renyiGP{&renyi, x, y}, nil
	case "renyi-fixed":
		renyi.Alpha = m.alpha
		return renyiGP{&renyi, x, y}, nil
	}
	return nil, fmt.Errorf("unknown method %q", m.name)
}

// Exact posteriors up to choleskyRows rows are factored; above, each prediction is the exact
// GP's of the nearestRows training rows nearest to it.
const (
	choleskyRows = 21000
	nearestRows  = 256
)

// exact is the posterior of a full GP at x = [θ, ln σ_n², …].
func exact(k kernel.Kernel, mean kernel.Mean, x []float64, rows linalg.Matrix, y []float64) (*posterior.Posterior, string, error) {
	nk := len(k.Params())
	theta, noise := slices.Clone(x[:nk]), math.Exp(x[nk])
	if rows.Rows > choleskyRows {
		return posterior.NewNearest(k, theta, mean, nil, rows, y, noise, nearestRows), fmt.Sprintf("nearest %d", nearestRows), nil
	}
	q, err := posterior.NewExact(k, theta, mean, nil, rows, y, noise)
	return q, "exact", err
}

// fullGP predicts by the exact posterior.
type fullGP struct{ *objective.Problem }

func (p fullGP) posterior(x []float64) (*posterior.Posterior, string, error) {
	return exact(p.Kernel, p.Mean, x, p.X, p.Y)
}

// sparseGP predicts by the posterior of its own α.
type sparseGP struct {
	*objective.SparseProblem
	alpha float64
}

func (p sparseGP) posterior(x []float64) (*posterior.Posterior, string, error) {
	q, err := p.Posterior(x, p.alpha)
	return q, "own", err
}

// freeGP has the q of x too, which is made optimal for the rest of x at last.
type freeGP struct{ *objective.FreeFormProblem }

func (p freeGP) posterior(x []float64) (*posterior.Posterior, string, error) {
	if _, err := p.Optimise(x); err != nil {
		return nil, "", err
	}
	q, err := p.Posterior(x)
	return q, "own", err
}

// renyiGP predicts by the exact GP where α is 0, or falls to it, and else by its own posterior.
type renyiGP struct {
	*objective.RenyiProblem
	x linalg.Matrix
	y []float64
}

func (p renyiGP) posterior(x []float64) (*posterior.Posterior, string, error) {
	if p.Schedule != nil || p.Alpha == 0 {
		return exact(p.Kernel, p.Mean, x, p.x, p.y)
	}
	q, err := p.Posterior(x)
	return q, "own", err
}
