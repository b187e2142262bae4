package krigo

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/model"
)

// Prediction is a model's prediction for one row, in the target's own units.
type Prediction struct {
	Mean               float64 `json:"mean"`                // of f and of y
	LatentVariance     float64 `json:"latent_variance"`     // of f
	PredictiveVariance float64 `json:"predictive_variance"` // of y: with observation noise
	Lower95            float64 `json:"lower95"`             // central 95 % credible interval for y
	Upper95            float64 `json:"upper95"`
}

// Predict predicts every row of a table, which needs the model's input columns, in
// any order; other columns are ignored.
func Predict(m *Model, table *dataset.Table) ([]Prediction, error) {
	return predict(m, table, func(x linalg.Matrix, mean, variance []float64) error {
		m.Posterior.Latent(x, mean, variance)
		return nil
	})
}

// predict predicts with what latent says of f at scaled inputs.
func predict(m *Model, table *dataset.Table, latent func(x linalg.Matrix, mean, variance []float64) error) ([]Prediction, error) {
	x, err := table.Inputs(m.Inputs)
	if err != nil {
		return nil, err
	}
	xs := matrixOf(slices.Clone(x), len(m.Inputs))
	m.Scaling.Inputs(xs.Data, xs.Data)
	for i := range xs.Rows {
		if !linalg.Finite(xs.Row(i)) {
			return nil, fmt.Errorf("%s: line %d: an input is so far from the training data that its scaled form overflows", table.Source, table.Lines[i])
		}
	}
	mean, variance := make([]float64, xs.Rows), make([]float64, xs.Rows)
	if err := latent(xs, mean, variance); err != nil {
		return nil, err
	}
	ps := make([]Prediction, xs.Rows)
	for i := range ps {
		p := Prediction{
			Mean:               m.Scaling.RawMean(mean[i]),
			LatentVariance:     m.Scaling.RawVariance(variance[i]),
			PredictiveVariance: m.Scaling.RawVariance(variance[i] + m.ObservationNoise),
		}
		half := model.Normal975 * math.Sqrt(p.PredictiveVariance)
		p.Lower95, p.Upper95 = p.Mean-half, p.Mean+half
		if !linalg.Finite([]float64{p.Mean, p.LatentVariance, p.Lower95, p.Upper95}) {
			return nil, fmt.Errorf("%s: line %d: the prediction overflows: its inputs are too far from the training data", table.Source, table.Lines[i])
		}
		ps[i] = p
	}
	return ps, nil
}

func matrixOf(x []float64, cols int) linalg.Matrix { return linalg.Of(len(x)/cols, cols, x) }
