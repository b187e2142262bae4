package main

import (
	"math"
	"math/rand/v2"

	"github.com/krigo-gp/krigo/dataset"
)

const threePlaces = 200 // number of places, as for two classes

// threeTruth has the probabilities of three classes at each place.
type threeTruth [threePlaces][3]float64

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
			t[i][k] = math.Exp(height * math.Sin(4*slope*(float64(i)+0.5)/threePlaces+phase[k]))
			sum += t[i][k]
		}
		for k := range t[i] {
			t[i][k] /= sum
		}
	}
	var drawn [][]float64
	for range rows {
		i, u, class := rng.IntN(threePlaces), rng.Float64(), 0
		for class < 2 && u >= t[i][class] {
			u -= t[i][class]
			class++
		}
		drawn = append(drawn, []float64{float64(i), 0, float64(class)})
	}
	table, err := dataset.FromRows([]string{"x", "group", "label"}, drawn)
	return t, table, err
}
