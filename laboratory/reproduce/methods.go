package main

import (
	"fmt"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/train"
)

// split holds a data set's training rows and test rows, in scaled units.
type split struct {
	x, xTest matrix.Dense
	y, yTest []float64
	sd       float64 // standard deviation of the target
}

// way is a method by its name in the papers' tables, with its settings.
type way struct {
	name      string
	m         int           // inducing inputs; 0: a full GP
	alpha     float64       // the α of pep and renyi-fixed
	loss      pacbayes.Loss // the loss of kl-pac and sqrt-pac
	penalty   float64       // what the bound pays beside the KL
	minJitter float64       // least jitter of sparse GPs
	limit     float64       // limit of log-parameters, and the seed, if the method minimises by itself
	seed      uint64
}

// onNeighbours trains on batches of neighbouring rows.
var onNeighbours = method.Local{Batched: method.Batched{Optimizer: "adam"}, Batches: "nearest"}

// method returns the method that a name in the papers means. The evidence has one name if it is computed from all rows
// at once, and another (egp) if from batches, since the last bits of the two results differ.
func (w way) method() (method.Method, error) {
	switch w.name {
	case method.KLPACName:
		return method.PAC{Inequality: pacbayes.KLBound, Alpha: 1}, nil
	case method.SqrtPACName:
		return method.PAC{Inequality: pacbayes.PinskerBound, Alpha: 1}, nil
	case method.EvidenceName:
		return method.Evidence{}, nil
	case method.VFEName:
		return method.Collapsed{Objective: objective.VFE()}, nil
	case method.FITCName:
		return method.Collapsed{Objective: objective.FITC(), Alpha: 1}, nil
	case method.PEPName:
		return method.Collapsed{Objective: objective.PEP(w.alpha), Alpha: w.alpha}, nil
	case "sgp":
		return method.SVGP{}, nil
	case "egp":
		return method.Renyi{Evidence: true}, nil
	case method.RenyiName:
		return method.Renyi{Anneal: "linear"}, nil
	case "renyi-fixed":
		return method.Renyi{Alpha: &w.alpha}, nil
	case renyiLocal:
		return method.Renyi{Local: onNeighbours, Anneal: "linear"}, nil
	case egpLocal:
		return method.Renyi{Local: onNeighbours, Evidence: true}, nil
	}
	return nil, fmt.Errorf("unknown method %q", w.name)
}

// The Rényi GP and the evidence as krigo trains them, on batches of neighbouring rows.
const (
	renyiLocal = "renyi-nearest"
	egpLocal   = "egp-nearest"
)

// Exact posteriors of up to choleskyRows rows are factored. Above that, each prediction is the exact GP's of the
// nearestRows nearest training rows.
const (
	choleskyRows = 21000
	nearestRows  = 256
)

// bind binds the method to a kernel and rows. The experiments minimise the objective themselves, because the papers'
// boxes, coordinates and limits differ from those of a method's own Minimize.
func (w way) bind(k kernel.Kernel, x matrix.Dense, y []float64) (method.Problem, error) {
	m, err := w.method()
	if err != nil {
		return nil, err
	}
	rows := objective.Memory{X: x, Y: y}
	task := method.Task{Kernel: k, Mean: kernel.ZeroMean{}, Rows: rows, N: len(y), M: w.m, MinJitter: w.minJitter,
		All: rows, Whole: func() (objective.Memory, error) { return rows, nil },
		Loss: w.loss, Penalty: w.penalty, Limit: w.limit, Seed: w.seed}
	if len(y) > choleskyRows {
		task.Solver, task.Neighbours = posterior.ByNearest, nearestRows
	}
	if w.name == method.PEPName {
		sparse := task.Sparse()
		sparse.Objective = objective.PEP(w.alpha)
		return pepOnBatches{m.Bind(task), sparse}, nil
	}
	return m.Bind(task), nil
}

// pepOnBatches is PEP as the second paper trains it: estimated on batches of rows. The estimate has a bias, since the
// objective isn't a sum over rows.
type pepOnBatches struct {
	method.Problem
	sparse *objective.SparseProblem
}

var _ train.Stochastic = pepOnBatches{}

func (p pepOnBatches) BatchRows() int { return p.sparse.BatchRows() }

func (p pepOnBatches) EvaluateBatch(x, gradient []float64, rows []int) (float64, error) {
	return p.sparse.EvaluateBatch(x, gradient, rows)
}

// predicts says how a posterior predicts.
func predicts(q *posterior.Posterior) string {
	_, nearest := q.Arrays()
	switch {
	case nearest > 0:
		return fmt.Sprintf("nearest %d", nearest)
	case q.Inducing() > 0:
		return "own"
	}
	return "exact"
}
