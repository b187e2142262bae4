// Package pacbayes computes the numbers of a certificate:
// bounded losses and their expectations under a Gaussian, the inverse binary relative entropy,
// PAC-Bayes and test-set bounds, and the grid of the prior's hyperparameters.
//
// This program bounds the share of misses of a predictor that missed 3 of 200 held-out rows:
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/krigo-gp/krigo/pacbayes"
//	)
//
//	func main() {
//		delta := 0.01 // the bound fails with at most this probability
//		fmt.Printf("at most %.3f\n", pacbayes.ClopperPearson(3, 200, delta))
//		least, most := pacbayes.Anytime(3./200, 200, delta) // holds for all numbers of rows at once
//		fmt.Printf("between %.3f and %.3f, however often you look\n", least, most)
//		// Output:
//		// at most 0.049
//		// between 0.000 and 0.080, however often you look
//	}
//
// The package takes numbers, not models. For each row i it reads the target y_i, the predictive
// mean m_i and the latent variance v_i of the Gibbs predictor Q, which predicts with a random
// function f ~ Q. It also reads KL(Q‖P), where P is the prior.
// It returns the risk R_S, the bound B and their derivatives by m_i, v_i and KL.
// Logarithms are natural.
//
// Certified rows are the rows that a certificate counts.
// Prior rows are set aside for the scaling, and for an informed prior.
// A unit is one independent draw: a row, or a whole group of rows.
// N is the number of certified units. A certificate fails with probability at most δ over their
// draw. A rank is one of the processes that share the rows.
//
// "Reeb et al. 2018" is D. Reeb, A. Doerr, S. Gerwinn, B.
// Rakitsch, "Learning Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds".
// Equation numbers are those in this paper. Its printed Eqs 27, 28 and 31 are wrong.
// This package uses the corrected formulas.
package pacbayes
