package krigo

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fit"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// Prediction is a model's prediction for one row, in the target's own units.
type Prediction struct {
	Mean               float64 `json:"mean"`                // of f and of y
	LatentVariance     float64 `json:"latent_variance"`     // of f
	PredictiveVariance float64 `json:"predictive_variance"` // of y: with observation noise; see dataset.Scaling.RawVariance
	Lower95            float64 `json:"lower95"`             // central 95 % credible interval for y
	Upper95            float64 `json:"upper95"`
	// Outside counts the inputs that lie outside the range of the rows the model was made from: a
	// guarantee about rows from their source says nothing of such a row. 0 of models up to version 4.
	Outside int `json:"outside"`

	latentSD, predictiveSD float64 // of Predict: also where their squares leave the range of float64
}

// LatentSD is the standard deviation of f. Of a prediction that wasn't made by Predict but read from
// a file it is the root of the variance.
func (p Prediction) LatentSD() float64 { return rootUnless(p.latentSD, p.LatentVariance) }

// PredictiveSD is the standard deviation of y, likewise.
func (p Prediction) PredictiveSD() float64 { return rootUnless(p.predictiveSD, p.PredictiveVariance) }

func rootUnless(sd, variance float64) float64 {
	if sd > 0 {
		return sd
	}
	return math.Sqrt(variance)
}

// Predict predicts every row of a table, which needs the model's input columns, in
// any order; other columns are ignored.
func Predict(m *Model, table *dataset.Table) ([]Prediction, error) {
	return predict(m, table, func(rows *dataset.Scaled) (mean, variance []float64, err error) {
		return model.Latent(m.Posterior, rows)
	})
}

// predict predicts with what latent says of f at rows.
func predict(m *Model, table *dataset.Table, latent func(rows *dataset.Scaled) (mean, variance []float64, err error)) ([]Prediction, error) {
	d, err := m.Unlabelled(table)
	if err != nil {
		return nil, err
	}
	mean, variance, err := latent(d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, err
	}
	outside, err := m.Range.Count(d)
	if err != nil {
		return nil, err
	}
	ps := make([]Prediction, d.Rows)
	for i := range ps {
		latent, predictive := variance[i], variance[i]+m.ObservationNoise
		p := Prediction{
			Mean:               m.Scaling.RawMean(mean[i]),
			LatentVariance:     m.Scaling.RawVariance(latent),
			PredictiveVariance: m.Scaling.RawVariance(predictive),
			latentSD:           m.Scaling.RawSD(latent),
			predictiveSD:       m.Scaling.RawSD(predictive),
			Outside:            outside[i],
		}
		half := model.Normal975 * p.predictiveSD
		p.Lower95, p.Upper95 = p.Mean-half, p.Mean+half
		if !linalg.Finite([]float64{p.Mean, p.Lower95, p.Upper95, float64(p.Outside)}) {
			return nil, fmt.Errorf("%s: %s: the prediction overflows: its inputs are too far from the training data", table.Source, table.Where(i))
		}
		ps[i] = p
	}
	return ps, nil
}

// Sample draws count functions jointly from the model's posterior and returns their values at
// every row of a table, row by row, in the target's own units: draws of f, without observation
// noise. The same seed gives the same draws. Progress, of a model of --solver cg, may be nil.
func Sample(ctx context.Context, m *Model, table *dataset.Table, count int, seed uint64, progress func(iteration int, residual float64)) ([][]float64, error) {
	if count < 1 {
		return nil, fit.Usage("%d samples: want at least one", count)
	}
	d, err := m.Unlabelled(table)
	if err != nil {
		return nil, err
	}
	at, err := fit.Gather(d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, err
	}
	x := at.X
	var o posterior.Iterative
	if progress != nil {
		o.Progress = func(s iterative.Progress) { progress(s.Iteration, s.Residual) }
	}
	draws := linalg.New(x.Rows, count)
	if err := m.Posterior.Sample(ctx, x, draws, seed, o); err != nil {
		return nil, err
	}
	samples := make([][]float64, x.Rows)
	for i := range samples {
		samples[i] = draws.Row(i)
		for j, v := range samples[i] {
			samples[i][j] = m.Scaling.RawMean(v)
		}
		if !linalg.Finite(samples[i]) {
			return nil, fmt.Errorf("%s: %s: the samples overflow: its inputs are too far from the training data", table.Source, table.Where(i))
		}
	}
	return samples, nil
}

// PredictionNames are the columns of a table of predictions.
var PredictionNames = []string{"mean", "latent_variance", "predictive_variance", "lower95", "upper95", "outside"}

// Fill sets a row of a table of predictions; see dataset.WriteFile.
func (p Prediction) Fill(values []float64) {
	copy(values, []float64{p.Mean, p.LatentVariance, p.PredictiveVariance, p.Lower95, p.Upper95, float64(p.Outside)})
}

// WritePredictions writes predictions as CSV.
func WritePredictions(w io.Writer, ps []Prediction) error {
	return dataset.Write(w, PredictionNames, len(ps), func(i int, values []float64) error {
		ps[i].Fill(values)
		return nil
	})
}
