package model

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// Prediction is a model's prediction for one row, in the target's own units.
type Prediction struct {
	Mean           float64 `json:"mean"`            // of f, and of y if the noise is symmetric
	LatentVariance float64 `json:"latent_variance"` // of f
	// of y: with observation noise, by the noise's own density if it isn't Gaussian; see dataset.Scaling.RawVariance
	PredictiveVariance float64 `json:"predictive_variance"`
	Lower95            float64 `json:"lower95"` // central 95 % credible interval for y
	Upper95            float64 `json:"upper95"`
	// Outside counts the inputs that lie outside the range of the rows the model was made from: a
	// guarantee about rows from their source says nothing of such a row. 0 of models up to version 4.
	Outside int `json:"outside"`

	// The roots of the variances. They are float64s also where the variances leave its range: see OutOfRange.
	LatentSD     float64 `json:"latent_sd"`
	PredictiveSD float64 `json:"predictive_sd"`
}

// OutOfRange says whether a variance isn't the square of its standard deviation, as float64 has no such number, or not
// to all its digits.
func (p Prediction) OutOfRange() bool {
	out := func(variance, sd float64) bool {
		return sd > 0 && (variance < 0x1p-1022 || variance == math.MaxFloat64)
	}
	return out(p.LatentVariance, p.LatentSD) || out(p.PredictiveVariance, p.PredictiveSD)
}

// Fill sets a row of a table of predictions, of krigo.PredictionNames; see files.WriteFile.
func (p Prediction) Fill(values []float64) {
	copy(values, []float64{p.Mean, p.LatentVariance, p.PredictiveVariance, p.Lower95, p.Upper95, float64(p.Outside),
		p.LatentSD, p.PredictiveSD})
}

// PredictAt predicts at the rows of a matrix: a column for each of the model's Inputs, in their order
// and in their own units; those that categories were encoded as hold 0 and 1, and nothing is filled in. It
// gives what krigo.Model.Predict gives for a table of the same numbers, to the last bit. A matrix of another number of
// columns is an error, and so is a row that can't be predicted: a *dataset.Error with its number, from 1.
func (m *Model) PredictAt(x mat.Matrix) ([]Prediction, error) {
	n, cols := x.Dims()
	if cols != len(m.Inputs) {
		return nil, fmt.Errorf("a %d×%d matrix: want a column for each of the model's inputs, %d in all, in their order", n,
			cols, len(m.Inputs))
	}
	mean, variance, err := latent(m.Posterior, numbers{m, x})
	if err != nil {
		return nil, err
	}
	outside, row := make([]int, n), make([]float64, cols)
	for i := range outside {
		outside[i] = m.Range.outside(mat.Row(row, i, x))
	}
	return m.predictions(mean, variance, outside,
		func(i int, err error) error { return &dataset.Error{Row: i + 1, Err: err} })
}

// Predict predicts the rows of d, which views a table's columns as the model's inputs.
func (m *Model) Predict(d *dataset.Data) ([]Prediction, error) {
	mean, variance, err := latent(m.Posterior, d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, err
	}
	return m.Predictions(d, mean, variance)
}

// Predictions is Predict where the mean and the variance of f at the rows are known already, in scaled units.
func (m *Model) Predictions(d *dataset.Data, mean, variance []float64) ([]Prediction, error) {
	outside, err := m.Range.count(d)
	if err != nil {
		return nil, err
	}
	return m.predictions(mean, variance, outside,
		func(i int, err error) error { return fmt.Errorf("%s: %s: %w", d.Source, d.Where(i), err) })
}

// predictions is Predictions of rows of which place says where the one with an error stands.
func (m *Model) predictions(mean, variance []float64, outside []int,
	place func(row int, err error) error) ([]Prediction, error) {
	spreads, err := m.Spreads(mean, variance)
	if err != nil {
		return nil, err
	}
	ps := make([]Prediction, len(mean))
	for i, y := range spreads {
		latent, predictive := variance[i], y.Variance
		p := Prediction{
			Mean:               m.Scaling.RawMean(mean[i]),
			LatentVariance:     m.Scaling.RawVariance(latent),
			PredictiveVariance: m.Scaling.RawVariance(predictive),
			LatentSD:           m.Scaling.RawSD(latent),
			PredictiveSD:       m.Scaling.RawSD(predictive),
			Outside:            outside[i],
		}
		p.Lower95, p.Upper95 = p.Mean+y.Lower*p.PredictiveSD, p.Mean+y.Upper*p.PredictiveSD
		if !linalg.Finite([]float64{p.Mean, p.Lower95, p.Upper95}) {
			return nil, place(i, errors.New("the prediction overflows: its inputs are too far from the training data"))
		}
		ps[i] = p
	}
	return ps, nil
}

// numbers are the rows of a matrix in a model's scaled units.
type numbers struct {
	m *Model
	mat.Matrix
}

// Block reads inputs; there are no targets.
func (r numbers) Block(first, n int, x, _ []float64) error {
	_, cols := r.Dims()
	for i := first; i < first+n; i++ {
		row := mat.Row(x[:cols:cols], i, r.Matrix)
		x = x[cols:]
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &dataset.Error{Row: i + 1, Column: j + 1, Name: r.m.Inputs[j],
					Err: fmt.Errorf("%v is not finite; remove the row or fill the value", v)}
			}
		}
		if r.m.Scaling.Inputs(row, row); !linalg.Finite(row) {
			return &dataset.Error{Row: i + 1, Err: errors.New("a value is so far from the others that its scaled form " +
				"overflows: mend or remove the row")}
		}
	}
	return nil
}
