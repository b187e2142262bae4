package method

import (
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/pacbayes"
)

// Size says which GPs a method trains.
type Size int

// A full GP or a sparse one, by what is asked and the number of rows; a full one alone; a sparse one alone.
const (
	AnySize Size = iota
	FullOnly
	SparseOnly
)

// Kind is a method that goes by a name: what may be asked of it, and how it is made. Register makes options, help,
// completion and messages know it.
type Kind struct {
	Name string
	Help string // what it minimises, in a few words

	Size  Size
	Bound pacbayes.Inequality // that it minimises the risk's bound by, which σ_n² only shapes; "": it doesn't

	// Optimizer is the default: lbfgs, mma, adam or sgd; "": adam above 2,000 rows where there are batches, else lbfgs.
	// Batches says whether it can be trained on batches of rows, Nearest whether on such of rows next to one another,
	// since it isn't a sum over rows.
	Optimizer string
	Batches   bool
	Nearest   bool

	// CheckAlpha says what is wrong with an α where training, or else evaluating; nil: it has none to ask for. Alpha is
	// the default.
	CheckAlpha func(alpha float64, evaluating bool) error
	Alpha      float64
	Anneals    bool // α falls while training, unless it is given

	FreeForm bool // q(f_Z) is a parameter of its own
	Exact    bool // it trains the full GP's evidence, which solvers estimate and for which parameters may be given
	Local    bool // each row is predicted from its neighbours, by a cost of such predictions
	MAP      bool // it takes a prior density of hyperparameters
	EndsFull bool // at α = 0 it ends as a full GP, which is solved in some way
	MaxRows  int  // that it takes all at once, unless it is estimated; 0: no limit of its own

	// New makes the method of a choice whose fields are all filled in.
	New func(Choice) Method
	// Estimate is the same by conjugate gradients, with the same Q: what solver cg evaluates and, with all rows in every
	// step, trains, as more than MaxRows do by default; nil: it has none.
	Estimate func(Choice) Method
}

var kinds []Kind

// Register makes a method known by its name. It panics where the name is taken or can't stand in a list, where New is
// missing, and with an optimiser or a bound that there isn't to train by. Call it from an init
// function: methods aren't registered while others are looked up.
func Register(k Kind) {
	if _, known := Find(k.Name); known || k.Name == "" || strings.ContainsAny(k.Name, ", ") || k.New == nil {
		panic(fmt.Sprintf("method %q: registered already, without New, or not a name", k.Name))
	}
	switch k.Optimizer {
	case "", "lbfgs", "mma":
	case "adam", "sgd":
		if !k.Batches {
			panic(fmt.Sprintf("method %q: optimizer %s takes batches, which it doesn't have", k.Name, k.Optimizer))
		}
	default:
		panic(fmt.Sprintf("method %q: there is no optimizer %q", k.Name, k.Optimizer))
	}
	switch k.Bound {
	case "", pacbayes.KLBound, pacbayes.MaurerBound, pacbayes.PinskerBound:
	default:
		panic(fmt.Sprintf("method %q: the bound %q isn't trained by", k.Name, k.Bound))
	}
	kinds = append(kinds, k)
}

// Kinds returns all, in the order in which they were registered.
func Kinds() []Kind { return slices.Clone(kinds) }

// Find returns the kind of that name.
func Find(name string) (k Kind, known bool) {
	for _, k := range kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{Name: name}, false
}

// Names lists the names of all.
func Names() []string { return those(func(Kind) bool { return true }) }

// those lists the names of the methods with a property.
func those(have func(Kind) bool) (names []string) {
	for _, k := range kinds {
		if have(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// list is those, as sentences have them.
func list(have func(Kind) bool) string {
	names := those(have)
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func unitInterval(alpha float64, _ bool) error {
	if alpha >= 0 && alpha <= 1 {
		return nil
	}
	return fmt.Errorf("alpha %v: want 0 ≤ α ≤ 1", alpha)
}
