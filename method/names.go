package method

// The methods' names, as options, files and people have them.
const (
	KLPACName    = "kl-pac"
	SqrtPACName  = "sqrt-pac"
	EvidenceName = "evidence"
	VFEName      = "vfe"
	FITCName     = "fitc"
	DTCName      = "dtc"
	PEPName      = "pep"
	SVGPName     = "svgp"
	RenyiName    = "renyi"
)

// Traits are what may be asked of a method.
type Traits struct {
	Name    string
	Bound   bool // it is a bound on the risk itself, whose σ_n² only shapes Q
	Sparse  bool // it has inducing inputs whatever is asked
	Batches bool // it can be trained on batches of rows
	Nearest bool // of rows next to one another, since it isn't a sum over rows
	Alpha   bool // it has an α
}

// All lists the methods, in the order in which people are told of them.
var All = []Traits{
	{Name: KLPACName, Bound: true, Alpha: true},
	{Name: SqrtPACName, Bound: true, Alpha: true},
	{Name: EvidenceName, Batches: true, Nearest: true},
	{Name: VFEName, Sparse: true},
	{Name: FITCName, Sparse: true},
	{Name: DTCName, Sparse: true},
	{Name: PEPName, Sparse: true, Alpha: true},
	{Name: SVGPName, Sparse: true, Batches: true},
	{Name: RenyiName, Sparse: true, Batches: true, Nearest: true, Alpha: true},
}

// Named returns the traits of a method; those of none for a name that none has.
func Named(name string) Traits {
	for _, t := range All {
		if t.Name == name {
			return t
		}
	}
	return Traits{Name: name}
}

// Names lists the names of all.
func Names() (names []string) {
	for _, t := range All {
		names = append(names, t.Name)
	}
	return names
}
