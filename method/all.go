package method

import (
	"fmt"

	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// The methods' names.
const (
	KLPACName    = "kl-pac"
	SqrtPACName  = "sqrt-pac"
	EvidenceName = "evidence"
	VFEName      = "vfe"
	FITCName     = "fitc"
	DTCName      = "dtc"
	PEPName      = "pep"
	SVGPName     = "svgp"
	NearestName  = "nearest"
	RenyiName    = "renyi"
)

// The methods, in the order in which people are told of them.
func init() {
	for _, k := range []Kind{
		{Name: KLPACName, Help: "the PAC-Bayes bound", Bound: pacbayes.KLBound, Optimizer: "lbfgs", CheckAlpha: unitInterval,
			Alpha: 1, New: pac},
		{Name: SqrtPACName, Bound: pacbayes.PinskerBound, Optimizer: "lbfgs", CheckAlpha: unitInterval, Alpha: 1, New: pac},
		{Name: EvidenceName, Size: FullOnly, Optimizer: "lbfgs", Batches: true, Nearest: true, Exact: true, MAP: true,
			New: evidence},
		{Name: NearestName, Help: "each row from its neighbours, of any number of rows", Size: FullOnly, Batches: true,
			Local: true, MAP: true, New: func(c Choice) Method {
				n := Nearest{Descent: c.Descent(), Batches: c.Stochastic(), Neighbours: c.Neighbours, Vecchia: c.Form == "vecchia",
					Weak: c.Hyperprior == "weak"}
				n.Term, n.Certified = terms[c.Term], c.Term == "loss"
				return n
			}},
		{Name: VFEName, Size: SparseOnly, Optimizer: "lbfgs", New: func(c Choice) Method {
			return Collapsed{Descent: c.Descent(), Objective: objective.VFE(), FITC: c.Posterior == "fitc"}
		}},
		{Name: FITCName, Size: SparseOnly, Optimizer: "lbfgs", Alpha: 1, New: pep},
		{Name: DTCName, Size: SparseOnly, Optimizer: "lbfgs", New: func(c Choice) Method {
			return Collapsed{Descent: c.Descent(), Objective: objective.DTC(), FITC: c.Posterior == "fitc"}
		}},
		{Name: PEPName, Size: SparseOnly, Optimizer: "lbfgs", Alpha: 0.5, New: pep,
			CheckAlpha: func(alpha float64, _ bool) error {
				if alpha > 0 && alpha <= 1 {
					return nil
				}
				return fmt.Errorf("alpha %v: pep takes 0 < α ≤ 1 (vfe is the limit 0, fitc is 1)", alpha)
			}},
		{Name: SVGPName, Size: SparseOnly, Optimizer: "adam", Batches: true, FreeForm: true, New: func(c Choice) Method {
			return SVGP{Descent: c.Descent(), Batches: c.Stochastic()}
		}},
		{Name: RenyiName, Size: SparseOnly, Batches: true, Nearest: true, Anneals: true, EndsFull: true, MaxRows: MaxRenyi,
			CheckAlpha: func(alpha float64, evaluating bool) error {
				if evaluating && alpha <= 1 {
					return nil
				}
				return unitInterval(alpha, evaluating)
			},
			New: func(c Choice) Method {
				return Renyi{Descent: c.Descent(), Batches: c.Stochastic(), Alpha: *c.Alpha, Schedule: Anneals()[c.Anneal]}
			},
			Estimate: func(c Choice) Method {
				return Renyi{Descent: c.Descent(), Alpha: *c.Alpha, Schedule: Anneals()[c.Anneal], ByCG: true}
			}},
	} {
		Register(k)
	}
}

func pac(c Choice) Method {
	return PAC{Descent: c.Descent(), Inequality: c.Kind().Bound, Alpha: *c.Alpha, LearnAlpha: c.Learns(),
		FITC: c.Posterior == "fitc"}
}

// evidence on batches is the Rényi GP's objective at α = 0.
func evidence(c Choice) Method {
	if c.OnBatches() {
		return Renyi{Batches: c.Stochastic(), Evidence: true}
	}
	return Evidence{Descent: c.Descent(), ByCG: c.Solver == posterior.ByCG, Weak: c.Hyperprior == "weak"}
}

func pep(c Choice) Method {
	return Collapsed{Descent: c.Descent(), Objective: objective.PEP(*c.Alpha), Alpha: *c.Alpha,
		FITC: c.Posterior == "fitc"}
}
