package method

import (
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
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

// init registers the methods, in the order in which help texts list them.
func init() {
	for _, k := range []Kind{
		{Name: KLPACName, Help: "the PAC-Bayes bound", Bound: pacbayes.KLBound,
			Method: PAC{Inequality: pacbayes.KLBound, Alpha: 1}},
		{Name: SqrtPACName, Bound: pacbayes.PinskerBound,
			Method: PAC{Inequality: pacbayes.PinskerBound, Alpha: 1}},
		{Name: EvidenceName, Size: FullOnly, Exact: true, Method: Evidence{}},
		{Name: NearestName, Help: "each row from its neighbours, of any number of rows",
			Size: FullOnly, Local: true,
			Method: Nearest{}},
		{Name: VFEName, Size: SparseOnly, Method: Collapsed{Objective: objective.VFE()}},
		{Name: FITCName, Size: SparseOnly,
			Method: Collapsed{Objective: objective.PEP(1), Alpha: 1}},
		{Name: DTCName, Size: SparseOnly, Method: Collapsed{Objective: objective.DTC()}},
		{Name: PEPName, Size: SparseOnly, Method: PowerEP{Alpha: 0.5}},
		{Name: SVGPName, Size: SparseOnly, FreeForm: true,
			Method: SVGP{Batched: Batched{Optimizer: "adam"}}},
		{Name: RenyiName, Help: "no better than evidence where measured, and slower",
			Size: SparseOnly, EndsFull: true, MaxRows: MaxRenyi, Method: Renyi{}},
	} {
		Register(k)
	}
}
