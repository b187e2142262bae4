// Package krigo trains Gaussian processes that generalise, and certifies that they do.
// With confidence 1−δ, the posterior's risk on further rows is at most a bound B, which krigo
// computes from the certified rows (Reeb, Doerr, Gerwinn, Rakitsch, "Learning Gaussian Processes by
// Minimizing PAC-Bayesian Generalization Bounds", NeurIPS 2018).
//
// This program fits a model, prints what it promises, and predicts a row:
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
//		"github.com/krigo-gp/krigo/dataset"
//	)
//
//	func main() {
//		ctx := context.Background()
//		m, err := krigo.Fit(ctx, data.Snelson(),
//			krigo.Options{Data: krigo.Data{Target: "y"}, Promise: krigo.Promise{Epsilon: 1}}) // within ±1 sd of y
//		if err != nil {
//			log.Fatal(err)
//		}
//		c := m.Certificate
//		fmt.Printf("with %g %% confidence at most %.0f %% of predictions miss\n", 100*(1-c.Delta), 100*c.MeanBound)
//		row, err := dataset.FromRows([]string{"x"}, [][]float64{{2.5}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		predictions, err := m.Predict(ctx, row, krigo.PredictOptions{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("y = %.1f\n", predictions[0].Mean)
//		// Output:
//		// with 99 % confidence at most 7 % of predictions miss
//		// y = 0.3
//	}
//
// Fit takes a table and returns a Model with its certificate. Load and Read return a saved Model.
// A Model predicts, samples, makes intervals, and recomputes its certificate.
// Decide says what Fit would do, Compare compares objectives, Evaluate takes an objective at given
// parameters, and CertifyPredictions certifies any other model's predictions.
// Options has a struct for each part of a fit, and docs/reference/settings.md lists what it holds.
// Other packages hold the parts: fitting, method, kernel, objective, pacbayes, posterior, train,
// model and dataset.
//
// A kernel, a noise, a loss, a method or a file format of another module registers itself by name
// in an init function: kernel.RegisterPair, objective.RegisterNoise, pacbayes.RegisterLoss,
// method.Register, files.Register.
// Options and model files then know the name. A program that loads such a model imports the module.
package krigo

import (
	"io"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/model"
)

// Model is a trained Gaussian process with its certificate.
// Fit, Load and Read return it, Save and Write store it.
// Its fields are those of model.Model. The methods here take tables, and the methods of model.Model
// take views of tables. Only AcceptFileOrder and Calibrate change a Model, so several goroutines
// may use one Model at once.
type Model struct{ model.Model }

// Load reads a model file. Its errors name the file.
func Load(path string) (*Model, error) { return wrap(model.Load(path)) }

// Read reads a model from r to its end. r holds what a model file holds.
func Read(r io.Reader) (*Model, error) { return wrap(model.Read(r)) }

// AcceptFileOrder returns the model with a certificate that is valid on the caller's word (see
// model.Model).
func (m *Model) AcceptFileOrder() (*Model, error) { return wrap(m.Model.AcceptFileOrder()) }

// wrap returns a model of package model with the methods of this package.
func wrap(m *model.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{*m}, nil
}

// UsageError says that the options are wrong, not the data. Its field Err is the cause.
type UsageError = faults.UsageError
