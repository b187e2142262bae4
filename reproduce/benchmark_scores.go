package reproduce

import (
	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/method"
)

// contender is a way to fit the public regression sets.
type contender struct {
	name, says string
	o          krigo.Options
}

var contenders = []contender{
	{name: "default", says: "krigo fit without a flag"},
	{name: "all", says: "krigo fit --deliver all: the certified model's sibling, on all rows", o: krigo.Options{Run: krigo.Run{Deliver: "all"}}},
	{name: "plain", says: "the evidence of several kernels, without a prior of their hyperparameters", o: krigo.Options{
		Kernel: krigo.Kernel{Expression: "auto", ARD: "on", Mean: "constant"}, Method: krigo.Method{Name: method.EvidenceName}, Prior: krigo.Prior{Kind: "informed"}}},
	{name: "se", says: "the evidence of a squared-exponential kernel on the prior rows, with one lengthscale and with one an input", o: krigo.Options{
		Kernel: krigo.Kernel{Expression: "se", ARD: "auto"}, Method: krigo.Method{Name: method.EvidenceName}, Prior: krigo.Prior{Kind: "informed"}}},
	{name: "kl-pac", says: "the PAC-Bayes bound", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
}

// benchmarkReps are the folds there are.
const benchmarkReps = 10

// scored is what a fit, or a peer's, scores on a fold's test rows, in standard deviations of the training target.
type scored struct {
	Rows       int     `json:"rows"`                  // of training
	Learnt     []int   `json:"learnt_rows,omitempty"` // numbers in the set's file of those that the parameters are learnt on, from 0
	TestRows   int     `json:"test_rows"`
	RMSE       float64 `json:"rmse"`
	NLPD       float64 `json:"nlpd"`
	Coverage95 float64 `json:"coverage95"`
	CRPS       float64 `json:"crps"`
	Bound      float64 `json:"bound,omitempty"` // on the mean; 0: no certificate
	MeanRisk   float64 `json:"mean_risk"`
	Seconds    float64 `json:"seconds"` // of training and predicting
	Kernel     string  `json:"kernel,omitempty"`

	fold int
}
