// Package krigo trains Gaussian processes that generalise, and certifies that they
// do: with confidence 1−δ, the posterior's risk on further rows is at most a bound B
// computed from the rows it was trained on (Reeb, Doerr, Gerwinn, Rakitsch, "Learning
// Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds", NeurIPS 2018).
//
// Fit takes a table and gives a Model with its Certificate; Load reads one that was
// saved. Decide, Compare, Evaluate and Certify stand beside them. The packages below hold the parts: method the
// ways to train, then kernel, objective, pacbayes, posterior, train, model, dataset.
//
// A fit is four values, none of which changes once it is made:
//
//	dealt    a table whose rows have their roles, scaled (deal); share: the rows of one role, to train on (take)
//	plan     how a share is trained on: families of kernels, a method with every field filled in, inducing inputs (decide)
//	trained  the best of all runs (plan.optimum)
//	model    its posterior on the grid, certified (plan.conclude, dealt.certify)
//
// With a prior on the grid the share is the certified rows. With an informed prior it is the prior rows first, and
// where a posterior is learnt after it the certified ones next, by a plan of its own. What a person should know is said
// by whoever finds it, and handed on.
//
// The files go the same way, each naming only those before it: errors, params, checkpoint, options, check, defaults,
// small; data; family (the kernels and means that are tried, and what choosing costs); log (what runs tell and keep);
// plan, starts, inducing; train, alpha, coarse; certify; grid and informed, the two orders in which all this is done;
// decide, which only says the plan, and fit on top. evaluate goes the same way without training; asked and refit hold a
// model against the options that it says it was fitted with.
package krigo

import (
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Model is a trained Gaussian process; see package model.
type Model = model.Model

// Certificate is a bound on a model's risk; see package pacbayes.
type Certificate = pacbayes.Certificate

// Method is a way to train; see package method.
type Method = method.Choice

// Load reads a model file written by Model.Save.
func Load(path string) (*Model, error) { return model.Load(path) }
