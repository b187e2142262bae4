package krigo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestInContext: a model that is no better than a constant says so, and other models don't.
func TestInContext(t *testing.T) {
	made := func(rmse, bound float64) *krigo.Model {
		return &krigo.Model{Model: model.Model{Target: "price", Observation: observation.Observation{Scaling: dataset.Identity(1)},
			Terms: pacbayes.Terms{Loss: pacbayes.Loss{Kind: pacbayes.Band, Below: 1}, Route: pacbayes.Direct, Fixed: true},
			Certificate: &pacbayes.Certificate{Loss: pacbayes.Band, Route: pacbayes.Direct, MeanBound: bound, Valid: true,
				Delta: 0.01, Epsilon: 1, EpsilonRaw: 5.5, Rows: 151},
			Context: &model.Context{Rows: 151, RMSE: rmse, MAE: 2, R2: 0.8123, Coverage95: 0.94, MeanRisk: 0.1,
				Constant: model.Constant{Value: 15.3,
					Baseline: model.Baseline{RMSE: 9.4, MeanRisk: 0.4, MeanBound: 0.50921}},
				LinearReason: "it has more than 500 inputs"}, Origin: model.Origin{Counts: dataset.Counts{dataset.Prior: 355, dataset.Certified: 151}}}}
	}
	const words = "This model is no better than the constant 15.3."
	must.Be(t, made(3.1, 0.2).NoBetter(), "")
	must.Be(t, made(9.4, 0.2).NoBetter(), words+" Its RMSE is 9.4, and the constant's 9.4. To do better, "+
		"add rows, or inputs that say more about price.")
	bent := made(9.5, 0.2)
	bent.Context.Linear = model.Baseline{RMSE: 4.2}
	must.Be(t, bent.NoBetter(), words+" Its RMSE is 9.5, and the constant's 9.4. A linear model of the same inputs has 4.2: "+
		"try --kernel linear.")
	curved := made(3.1, 0.50922)
	curved.Certificate.Curve = &pacbayes.Curve{}
	must.Be(t, curved.NoBetter(), "") // nobody asked for this ε
	must.Be(t, made(3.1, 0.50922).NoBetter(), words+
		" Its mean loss on the certified rows is 0.100, and the constant's 0.400. Its RMSE is lower: 3.1, and the constant's "+
		"9.4. Use this model if the size of errors matters, and the constant if only their share beyond ε does.")
	m := made(3.1, 0.2)
	must.Be(t, m.InContext(), "On the 151 certified rows: RMSE 3.1 (the constant 15.3: 9.4), MAE 2 (in units of price), R² 0.812. "+
		"The model's own 95 % intervals hold 94.0 % of the targets.\nFor comparison, the share of predictions on further "+
		"rows that lie outside ±5.5 of price (1 sd) is at most 51.0 % for the constant 15.3. Each of these bounds "+
		"holds with 99 % confidence by itself.\nNo linear model was compared, since it has more than 500 inputs.\nThis model "+
		"was trained on 355 of 506 rows. On all rows its errors would usually be smaller. "+
		"With --deliver all, fit also trains that model.")
	m.Certificate.Valid, m.Terms.Backtest = false, true
	said := m.InContext()
	must.Hold(t, !strings.Contains(said, "bound") && !strings.Contains(said, "certified") &&
		strings.Contains(said, "On the 151 last rows") &&
		strings.Contains(said, "is 0.400 for the constant 15.3"), "%s", said)
	m = made(0.5, 0.2)
	m.Classes, m.Certificate.Loss, m.Terms.Loss.Kind = []string{"cat", "dog"}, pacbayes.Label, pacbayes.Label
	m.Context.Constant.Value, m.Noise = 1, "probit"
	must.Be(t, m.InContext(), "On the 151 certified rows: 10.0 % wrong labels, Brier score 0.25 (the label dog "+
		"for all rows: 88.4).\nFor comparison, the share of further rows that get a wrong label is at most 51.0 % for the "+
		"label dog for all rows. Each of these bounds holds with 99 % confidence by itself.\nNo linear model was compared, since it "+
		"has more than 500 inputs.")
	m.Context = nil
	must.Be(t, m.NoBetter()+m.InContext(), "")
}

// TestContextOnRanks: figures are computed from the rows of all ranks. Ranks fit no linear model.
func TestContextOnRanks(t *testing.T) {
	path := waves(t, "waves.npy", 300)
	fit := func(table *dataset.Table) (*krigo.Model, error) {
		o := krigo.Options{
			Kernel: krigo.Kernel{Expression: "se"},
			Method: krigo.Method{Name: "vfe", Inducing: 5},
			Prior:  krigo.Prior{Kind: "informed", Share: 0.5},
			Run:    krigo.Run{Restarts: 1},
		}
		o.Data.Target = "y"
		return krigo.Fit(context.Background(), table, o)
	}
	one, errs := together(t, path, 1, fit)
	must.Do(t, errs[0])
	all, errs := together(t, path, 3, fit)
	for _, err := range errs {
		must.Do(t, err)
	}
	a, b := one.Context, all.Context
	must.Be(t, b.LinearReason, "the rows are spread over ranks")
	must.Be(t, a.LinearReason, "")
	must.Be(t, b.Constant.Value, a.Constant.Value)
	must.Be(t, b.Rows, a.Rows)
	for _, of := range [][2]float64{{a.RMSE, b.RMSE}, {a.MAE, b.MAE}, {a.R2, b.R2}, {a.Constant.RMSE, b.Constant.RMSE},
		{a.Constant.MeanBound, b.Constant.MeanBound}, {a.MeanRisk, b.MeanRisk}} {
		must.Near(t, of[1], of[0], 1e-6)
	}
}
