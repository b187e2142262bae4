package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// Rows of drawn functions: rows to fit, and rows to test.
const (
	drawnTrain = 300
	drawnTest  = 500
)

// functions are drawn at uniform points of the unit cube.
var functions = map[string]struct {
	inputs int
	value  func(x []float64) float64
}{
	"smooth":   {6, rosenbrock},
	"rough":    {4, rough},
	"additive": {8, additive},
}

// rosenbrock is Rosenbrock's function over the box from −2 to 2.
func rosenbrock(x []float64) float64 {
	var sum float64
	for j := range len(x) - 1 {
		a := 4*x[j] - 2
		b := 4*x[j+1] - 2
		sum += 100*(b-a*a)*(b-a*a) + (1-a)*(1-a)
	}
	return sum
}

// rough has kinks and a jump.
func rough(x []float64) float64 {
	return math.Abs(math.Sin(7*x[0])) + math.Floor(3*x[1])/2 + 2*math.Abs(x[2]-x[3])
}

// additive is a sum of functions of five inputs. The other three inputs do nothing.
func additive(x []float64) float64 {
	return math.Sin(6*x[0]) + 4*(x[1]-.5)*(x[1]-.5) + math.Exp(x[2]) + 3*math.Abs(x[3]-.5) + x[4]
}

// points draws the inputs of all rows.
func points(rng *rand.Rand, inputs int) [][]float64 {
	x := make([][]float64, drawnTrain+drawnTest)
	for i := range x {
		x[i] = make([]float64, inputs)
		for j := range x[i] {
			x[i][j] = rng.Float64()
		}
	}
	return x
}

// drawn returns a function's values with normal noise of .05 of their standard deviation. A run is a seed.
func drawn(name string) func(int) (split, error) {
	return func(run int) (split, error) {
		f := functions[name]
		rng := rand.New(rand.NewPCG(uint64(run), uint64(f.inputs)))
		x := points(rng, f.inputs)
		y := make([]float64, len(x))
		for i := range x {
			y[i] = f.value(x[i])
		}
		noise := .05 * sd(y)
		for i := range y {
			y[i] += noise * rng.NormFloat64()
		}
		return written(x, y), nil
	}
}

// drawnCounts draws Poisson counts, whose rate depends on two of three inputs.
func drawnCounts(run int) (split, error) {
	rng := rand.New(rand.NewPCG(uint64(run), 3))
	x := points(rng, 3)
	y := make([]float64, len(x))
	for i := range x {
		left := math.Exp(1 + math.Sin(4*x[i][0]) + x[i][1])
		for left -= rng.ExpFloat64(); left > 0; left -= rng.ExpFloat64() {
			y[i]++
		}
	}
	return written(x, y), nil
}

func written(x [][]float64, y []float64) split {
	rows := [][]string{{}}
	for j := range x[0] {
		rows[0] = append(rows[0], fmt.Sprintf("x%d", j+1))
	}
	rows[0] = append(rows[0], "y")
	for i := range x {
		var row []string
		for _, v := range append(x[i], y[i]) {
			row = append(row, strconv.FormatFloat(v, 'g', 8, 64))
		}
		rows = append(rows, row)
	}
	return divide(rows, func(i int) bool { return i >= drawnTrain })
}

// sd returns the standard deviation of y.
func sd(y []float64) float64 {
	var mean, squares float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(y)))
}
