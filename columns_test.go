package krigo_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// coloured draws rows with a column of three numbers that name colours, each with a level of its own.
func coloured(n int) *dataset.Table {
	rng := rand.New(rand.NewPCG(7, 5))
	rows := make([][]float64, n)
	for i := range rows {
		a, b, colour := rng.NormFloat64(), 9*rng.Float64(), rng.IntN(3)
		rows[i] = []float64{a, b, float64(colour), a + []float64{0, 3, 1}[colour]*math.Cos(b) + 0.1*rng.NormFloat64(), 0}
	}
	t, _ := dataset.FromRows([]string{"a", "area, m2", "colour", "y", "more"}, rows)
	return t
}

func colouredOptions(expression string) krigo.Options {
	return krigo.Options{Data: krigo.Data{Target: "y", Categorical: []string{"colour"}}, Run: krigo.Run{Restarts: 1},
		Kernel: krigo.Kernel{Expression: expression}}
}

// TestColumns: a fit with kernels on columns predicts what its file predicts, and can be fitted again. Columns that no
// kernel sees don't move predictions.
func TestColumns(t *testing.T) {
	table := coloured(160)
	m := must.Get(krigo.Fit(t.Context(), table, colouredOptions(`se(a) + matern32("area, m2")*se(colour)`)))(t)
	must.Be(t, m.Posterior.Kernel.Spec(m.Posterior.Theta).Expression(), `se(a)+matern32("area, m2")*se(colour)`)
	must.Hold(t, m.Certificate.MeanBound <= 0.2, "bound %v", m.Certificate.MeanBound)
	var file bytes.Buffer
	must.Do(t, m.Write(&file))
	again := must.Get(krigo.Read(&file))(t)
	row := func(more float64) []model.Prediction {
		d := must.Get(dataset.FromRows([]string{"a", "area, m2", "colour", "more"}, [][]float64{{0.5, 2, 1, more}}))(t)
		return must.Get(again.Predict(t.Context(), d, krigo.PredictOptions{}))(t)
	}
	must.Be(t, row(0)[0].Mean, row(9)[0].Mean)
	must.Hold(t, math.Abs(row(0)[0].Mean-0.5-3*math.Cos(2)) <= 0.2,
		"it predicts %v", row(0)[0].Mean)
	_, differs, err := again.Refit(t.Context(), table, nil)
	must.Do(t, err)
	must.Be(t, differs, "")
	for expression, want := range map[string]string{"se(colur)": `did you mean "colour"?`, "se(colour": "isn't closed"} {
		_, err := krigo.Fit(t.Context(), table, colouredOptions(expression))
		must.Hold(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", expression, err)
	}
}
