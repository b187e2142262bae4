package main

import (
	"runtime/debug"
	"runtime/metrics"
	"time"

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
	{name: "all", says: "krigo fit --deliver all: the certified model's sibling, trained on all rows",
		o: krigo.Options{Run: krigo.Run{Deliver: "all"}}},
	{name: "plain", says: "the evidence of several kernels, without a prior for their hyperparameters", o: krigo.Options{
		Kernel: krigo.Kernel{Expression: "auto", ARD: "on", Mean: "constant"},
		Method: krigo.Method{Name: method.EvidenceName}, Prior: krigo.Prior{Kind: "informed"}}},
	{name: "se", says: "the evidence of a squared-exponential kernel on the prior rows, with one lengthscale or with " +
		"one for each input", o: krigo.Options{
		Kernel: krigo.Kernel{Expression: "se", ARD: "auto"}, Method: krigo.Method{Name: method.EvidenceName},
		Prior: krigo.Prior{Kind: "informed"}}},
	{name: "kl-pac", says: "the PAC-Bayes bound", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
}

// benchmarkReps is the number of folds.
const benchmarkReps = 10

// scored holds the scores of a fit, or of a peer's fit, on a fold's test rows, in standard deviations of the training
// target.
type scored struct {
	Rows int `json:"rows"` // training rows
	// numbers in the set's file, from 0, of the rows that trained the parameters
	Learnt     []int   `json:"learnt_rows,omitempty"`
	TestRows   int     `json:"test_rows"`
	RMSE       float64 `json:"rmse"`
	NLPD       float64 `json:"nlpd"`
	Coverage95 float64 `json:"coverage95"`
	CRPS       float64 `json:"crps"`
	Bound      float64 `json:"bound,omitempty"` // bound on the risk of the mean; 0: no certificate
	MeanRisk   float64 `json:"mean_risk"`
	Seconds    float64 `json:"seconds"`             // time of training and predicting
	AddedMiB   float64 `json:"added_mib,omitempty"` // the most memory held meanwhile, minus the memory held before
	Kernel     string  `json:"kernel,omitempty"`

	fold int
}

// heldEvery is the time between two looks at the memory.
const heldEvery = 5 * time.Millisecond

// held returns the memory that the Go runtime holds, in MiB.
func held() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64()-s[1].Value.Uint64()) / (1 << 20)
}

// adds calls do and returns by how many MiB the memory grew meanwhile, at most.
func adds(do func() error) (mib float64, err error) {
	debug.FreeOSMemory()
	before := held()
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		peak := before
		for {
			peak = max(peak, held())
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(heldEvery):
			}
		}
	}()
	err = do()
	close(done)
	return <-most - before, err
}
