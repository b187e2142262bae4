package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// PredictExactVariance is Predict with a solve by conjugate gradients for every row's
// variance, for a model that has them from the nearest rows. Progress may be nil.
func PredictExactVariance(ctx context.Context, m *Model, table *dataset.Table,
	progress func(iteration int, residual float64)) (ps []Prediction, err error) {
	defer matrix.Ended(&err)
	if _, ok := m.Posterior.Solution.(*posterior.Gradients); !ok {
		return nil, usage("exact variances are for a model of --solver cg; this one is %s", m.Posterior.Kind())
	}
	d, err := m.Unlabelled(table.Within(ctx))
	if err != nil {
		return nil, err
	}
	at, err := gather(d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, err
	}
	mean, variance := make([]float64, at.X.Rows), make([]float64, at.X.Rows)
	m.Posterior.Latent(at.X, mean, nil)
	o := posterior.Iterative{Tolerance: 1e-4}
	if progress != nil {
		o.Progress = func(s iterative.Progress) { progress(s.Iteration, s.Residual) }
	}
	if err := m.Posterior.SolvedVariance(ctx, at.X, variance, o); err != nil {
		return nil, err
	}
	return m.Predictions(d, mean, variance)
}
