package model

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
)

// explained returns the explanation of a row.
func explained(t *testing.T, m *Model, x ...float64) *Explanation {
	t.Helper()
	table := must.Get(dataset.FromMatrix(m.Inputs, mat.NewDense(1, len(x), x)))(t)
	return must.Get(m.Explain(must.Get(m.Unlabelled(table))(t)))(t)
}

// at returns the prediction for a row.
func (m *Model) at(t *testing.T, x ...float64) float64 {
	t.Helper()
	return must.Get(m.PredictAt(mat.NewDense(1, len(x), x)))(t)[0].Mean
}

// TestExplainLinear shows that an input's contribution to a linear function is the change of the prediction, w_j (x_j −
// x̄_j), if this input alone moves from its mean.
func TestExplainLinear(t *testing.T) {
	m := example(t, "linear", 3, true, kernel.LinearMean{Dim: 3})
	mean, x := m.Scaling.InputMean, []float64{2, -1.5, 0.75}
	e := explained(t, m, x...)
	must.Near(t, e.Base, m.at(t, mean...), 1e-12, "base")
	must.Near(t, e.Remainder[0], 0, 1e-10, "remainder")
	for j, v := range e.Contributions[0] {
		alone := append([]float64{}, mean...)
		alone[j] = x[j]
		must.Near(t, v, m.at(t, alone...)-e.Base, 1e-10, "contribution of input", j)
	}
}

// TestExplainIntegral shows that contributions are integrals of the derivatives, taken as finite differences, along the
// line from the mean row, and that they sum to the change of the prediction. This also holds with a transform of the
// target.
func TestExplainIntegral(t *testing.T) {
	for name, transform := range map[string]*dataset.Transform{"": nil,
		"log":         {Name: "log", From: 0.01, Mean: 0.3, Scale: 0.5, Estimate: dataset.Mean},
		"yeo-johnson": {Name: "yeo-johnson", Lambda: 0.3, Scale: 1.5, Estimate: dataset.Median}} {
		m := example(t, "matern52+se", 2, true, kernel.ZeroMean{})
		m.Scaling.Transform = transform
		mean, x := m.Scaling.InputMean, []float64{1.3, -0.9}
		e := explained(t, m, x...)
		const steps, h = 400, 1e-5
		for j := range x {
			sum := 0.
			for k := range steps {
				at := make([]float64, 2)
				for i := range at {
					at[i] = mean[i] + (float64(k)+0.5)/steps*(x[i]-mean[i])
				}
				low, high := append([]float64{}, at...), append([]float64{}, at...)
				low[j] -= h
				high[j] += h
				sum += (m.at(t, high...) - m.at(t, low...)) / (2 * h) / steps * (x[j] - mean[j])
			}
			must.Near(t, e.Contributions[0][j], sum, 1e-4*math.Abs(sum)+1e-5, name, "contribution of input", j)
		}
		must.Near(t, e.Base+e.Contributions[0][0]+e.Contributions[0][1], m.at(t, x...), 1e-5, name, "sum")
	}
}

// TestExplainFar shows that the contributions of a row at any distance sum to the change of the prediction.
func TestExplainFar(t *testing.T) {
	for name, transform := range map[string]*dataset.Transform{"": nil,
		"log": {Name: "log", From: 0.01, Mean: 0.3, Scale: 0.5, Estimate: dataset.Mean}} {
		m := example(t, "se", 2, true, kernel.ZeroMean{})
		m.Scaling.Transform = transform
		for _, far := range []float64{1e2, 1e3, 1e4, 1e5, 1e6, 1e9} {
			e := explained(t, m, far, -1.5)
			at := m.at(t, far, -1.5)
			must.Near(t, e.Base+e.Contributions[0][0]+e.Contributions[0][1], at, 1e-4*math.Abs(at-e.Base)+1e-6, name, "at", far)
		}
	}
}

// TestExplainNothing shows that all contributions are 0 at the mean row, and that there are none for a row whose
// prediction overflows.
func TestExplainNothing(t *testing.T) {
	m := example(t, "se*matern32+linear", 2, false, kernel.ZeroMean{})
	e := explained(t, m, m.Scaling.InputMean...)
	must.Hold(t, e.Contributions[0][0] == 0 && e.Contributions[0][1] == 0 &&
		math.Abs(e.Remainder[0]) <= 1e-12, "%+v", e)
	table := must.Get(dataset.FromMatrix(m.Inputs, mat.NewDense(1, 2, []float64{1e200, 0})))(t)
	e = must.Get(m.Explain(must.Get(m.Unlabelled(table))(t)))(t)
	values := make([]float64, 4)
	e.Fill(0, values)
	must.Hold(t, e.Contributions[0] == nil && math.IsNaN(values[1]), "%+v, %v", e, values)
}
