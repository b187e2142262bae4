// Package krigo trains Gaussian processes that generalise, and certifies that they
// do: with confidence 1−δ, the posterior's risk on further rows is at most a bound B
// computed from the rows it was trained on (Reeb, Doerr, Gerwinn, Rakitsch, "Learning
// Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds", NeurIPS 2018).
//
// Fit takes a table and gives a Model with its Certificate; Load reads one that was
// saved. This package is the entrance; the packages below hold the parts: fit decides and trains, method holds the
// ways to train, then kernel, objective, pacbayes, posterior, train, model, dataset.
package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fit"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Model is a trained Gaussian process; see package model.
type Model = model.Model

// Certificate is a bound on a model's risk; see package pacbayes.
type Certificate = pacbayes.Certificate

// What a fit is asked and tells; see package fit.
type (
	Options    = fit.Options
	Data       = fit.Data
	Kernel     = fit.Kernel
	Method     = method.Choice
	Prior      = fit.Prior
	Promise    = fit.Promise
	Run        = fit.Run
	Params     = fit.Params
	FreeParams = fit.FreeParams
	MeanParams = fit.MeanParams
	Event      = fit.Event
	Checkpoint = fit.Checkpoint
	UsageError = fit.UsageError
	Plan       = fit.Plan

	Evaluation     = fit.Evaluation
	EvidenceBounds = fit.EvidenceBounds
	Theory         = fit.Theory
	Gradient       = fit.Gradient
)

// ErrOtherCheckpoint is Fit's where Run.Resume isn't of this fit.
var ErrOtherCheckpoint = fit.ErrOtherCheckpoint

// Load reads a model file written by Model.Save.
func Load(path string) (*Model, error) { return model.Load(path) }

// Fit trains a model on a table; see fit.Fit.
func Fit(ctx context.Context, table *dataset.Table, o Options) (*Model, error) {
	return fit.Fit(ctx, table, o)
}

// Decide says what Fit would do, before anything is trained; see fit.Decide.
func Decide(table *dataset.Table, o Options) (*Plan, error) { return fit.Decide(table, o) }

// Declare says what Fit would do, as a text to publish before it is done; see fit.Declare.
func Declare(table *dataset.Table, o Options) ([]byte, error) { return fit.Declare(table, o) }

// Declared are the options of a declaration; see fit.Declared.
func Declared(declaration []byte) (Options, error) { return fit.Declared(declaration) }

// CheckDeclaration makes sure that a declaration is the one by which a model was fitted; see fit.CheckDeclaration.
func CheckDeclaration(m *Model, table *dataset.Table, declaration []byte) error {
	return fit.CheckDeclaration(m, table, declaration)
}

// Refit fits a model again with the options that it was fitted with, and says what came out otherwise; see
// fit.Refit.
func Refit(ctx context.Context, m *Model, table *dataset.Table, progress func(Event)) (differs string, err error) {
	_, differs, err = fit.Refit(ctx, m, table, progress)
	return differs, err
}

// Evaluate computes an objective at given parameters, without training; see fit.Evaluate.
func Evaluate(table *dataset.Table, params *Params, o Options) (*Evaluation, error) {
	return fit.Evaluate(table, params, o)
}

// BoundEvidence bounds the evidence at the parameters of a sparse model; see fit.BoundEvidence.
func BoundEvidence(m *Model, d *dataset.Data) (*EvidenceBounds, error) {
	return fit.BoundEvidence(m, d)
}
