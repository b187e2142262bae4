package pacbayes_test

import (
	"fmt"

	"github.com/krigo-gp/krigo/pacbayes"
)

// This bounds the risk of a Gibbs predictor from its predictions on N rows.
func Example() {
	// All 400 predictions are off by 0.1, with variance 0.04.
	const n = 400
	y, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		mean[i], variance[i] = 0.1, 0.04
	}
	loss := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6}
	risk, _ := pacbayes.Sample{Y: y, Mean: mean, Variance: variance}.Risk(loss, nil, nil)

	grid := pacbayes.DefaultGrid()
	penalty := pacbayes.KLBound.Penalty(grid.LogInverseP(2), n, 0.01)
	const kl = 25 // the model's KL(Q‖P) in nats
	b, _, _ := pacbayes.KLBound.Evaluate(risk, kl, penalty, n)
	root, _, _ := pacbayes.PinskerBound.Evaluate(risk, kl, penalty, n)
	fmt.Printf("risk %.4f  kl bound %.4f  sqrt bound %.4f\n", risk, b, root)
	// Output: risk 0.0064  kl bound 0.1356  sqrt bound 0.2501
}

// Two bounds for a deterministic predictor that misses 3 of 200 fresh test rows.
func ExampleClopperPearson() {
	fmt.Printf("exact %.4f  Chernoff %.4f\n",
		pacbayes.ClopperPearson(3, 200, 0.01), pacbayes.TestBound(3./200, 200, 0.01))
	// Output: exact 0.0493  Chernoff 0.0572
}

// Hyperparameters are rounded to the grid before the bound is evaluated.
func ExampleGrid_Round() {
	v, index, clamped := pacbayes.DefaultGrid().Round(0.1394)
	fmt.Println(v, index, clamped)
	// Output: 0.14 614 false
}
