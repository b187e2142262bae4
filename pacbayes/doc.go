// Package pacbayes holds the numbers behind a certificate: bounded losses and their expectations under a Gaussian, the
// inverse binary relative entropy, the PAC-Bayes bounds built on it, test-set bounds, and the grid of hyperparameters
// the prior is chosen from.
//
// The package takes numbers, not models. For N rows it reads the targets y_i, the predictive means m_i and the latent
// variances v_i of the Gibbs predictor Q, and KL(Q‖P); it returns the risk R_S, the bound B and their derivatives with
// respect to m_i, v_i and KL. Logarithms are natural throughout.
//
// "Reeb et al. 2018" is D. Reeb, A. Doerr, S. Gerwinn, B. Rakitsch, "Learning
// Gaussian Processes by Minimizing PAC-Bayesian Generalization Bounds"; equation
// numbers are that paper's. Where its printed formulas are wrong (Eqs 27, 28 and
// 31) the functions here say what is right.
package pacbayes
