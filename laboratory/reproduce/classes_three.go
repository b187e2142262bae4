package main

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// threeTruth has the probabilities of three classes at each place.
type threeTruth [classesPlaces][3]float64

// drawnThree draws a truth, and a table of rows from it.
func drawnThree(rng *rand.Rand, rows int) (t threeTruth, _ *dataset.Table, err error) {
	slope, height := 1+2*rng.Float64(), 1+3*rng.Float64()
	var phase [3]float64
	for k := range phase {
		phase[k] = 6 * rng.Float64()
	}
	for i := range t {
		sum := 0.
		for k := range t[i] {
			t[i][k] = math.Exp(height * math.Sin(4*slope*(float64(i)+0.5)/classesPlaces+phase[k]))
			sum += t[i][k]
		}
		for k := range t[i] {
			t[i][k] /= sum
		}
	}
	var drawn [][]float64
	for range rows {
		i, u, class := rng.IntN(classesPlaces), rng.Float64(), 0
		for class < 2 && u >= t[i][class] {
			u -= t[i][class]
			class++
		}
		drawn = append(drawn, []float64{float64(i), 0, float64(class)})
	}
	table, err := dataset.FromRows([]string{"x", "group", "label"}, drawn)
	return t, table, err
}

// tryThree draws and fits a set of three classes. The certificate counts the rows whose most probable class is wrong.
func (d classesDesign) tryThree(ctx context.Context, rng *rand.Rand, o krigo.Options, n *classesCount) error {
	t, table, err := drawnThree(rng, d.rows)
	if err != nil {
		return err
	}
	n.Sets++
	table, o, err = o.Kinds(table)
	if err != nil {
		return err
	}
	all, err := krigo.FitTargets(ctx, table, o.Data.Beside, o)
	if err != nil {
		if strings.Contains(err.Error(), "prior rows have the label") || len(o.Data.Beside) == 0 {
			n.None++
			return nil
		}
		return err
	}
	at := make([][]float64, classesPlaces)
	for i := range at {
		at[i] = []float64{float64(i)}
	}
	places, err := dataset.FromRows([]string{"x"}, at)
	if err != nil {
		return err
	}
	labels, err := all.PredictLabels(ctx, places, 0)
	if err != nil {
		return err
	}
	wrong := 0.
	for i, p := range labels.Predictions {
		class, err := strconv.ParseFloat(p.Label, 64)
		if err != nil {
			return err
		}
		wrong += (1 - t[i][int(class)]) / classesPlaces
	}
	c := all.Together.Certificate
	if wrong > c.MeanBound+1e-9 {
		n.Wrong++
	}
	if wrong > pacbayes.HoldOutBound(true, c.EmpiricalRisk, c.Rows, 0.5) {
		n.Control++
	}
	return nil
}
