package method

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Size says which GPs a method trains.
type Size int

// AnySize trains full and sparse GPs, as asked or by the number of rows.
const (
	AnySize Size = iota
	FullOnly
	SparseOnly
)

// Kind is a method with a name. Register makes options, flags, help, completion and messages know
// it and its settings.
type Kind struct {
	Name string
	Help string // what the method minimises, in a few words

	// Method is a struct whose tagged fields are the method's settings (see package
	// internal/settings). The values in it are the defaults of settings that nobody asks for.
	// It may have the methods
	//
	//	Complete()             of its pointer, fills in defaults that follow from other settings
	//	Check(Use) []error     reports what tags can't say
	Method Method

	Size  Size
	Bound pacbayes.Inequality // inequality of the bound that the method minimises; "": no bound
	// most rows in one step, unless the objective is estimated; 0: no limit
	MaxRows int

	FreeForm bool // q(f_Z) is a parameter
	// the objective is the full GP's evidence: solvers may estimate it, and users may fix the
	// parameters
	Exact    bool
	Local    bool // the objective is a cost of predicting each row from the row's neighbours
	EndsFull bool // at α = 0 the result is a full GP, so users may name a solver
}

// Estimable is a method whose objective conjugate gradients can estimate, with the same Q.
// The solver cg evaluates the estimate. If a step takes all rows, the solver cg also trains with
// the estimate, and above MaxRows rows the default solver is cg.
type Estimable interface {
	Method
	Estimated() Method
}

var kinds []Kind

// Register makes a method known by its name. It panics if the name is taken or can't stand in a
// list, if Method isn't a struct, if no training minimises Bound, or if a setting contradicts
// another method's setting. Call Register from an init function, because it mustn't run while
// others look up methods.
func Register(k Kind) {
	_, known := Find(k.Name)
	if known || k.Name == "" || strings.ContainsAny(k.Name, ", ") ||
		reflect.ValueOf(k.Method).Kind() != reflect.Struct {
		panic(fmt.Sprintf("method %q: registered already, not a valid name, or its Method isn't "+
			"a struct", k.Name))
	}
	switch k.Bound {
	case "", pacbayes.KLBound, pacbayes.MaurerBound, pacbayes.PinskerBound:
	default:
		panic(fmt.Sprintf("method %q: no training minimises the bound %q", k.Name, k.Bound))
	}
	earlier := described()
	for _, s := range settings.Of(k.Method) {
		for _, other := range earlier {
			renamed := (s.Field == other.Field) != (s.Name == other.Name) && !s.Word()
			if renamed || (s.Field == other.Field && s.Base() != other.Base()) {
				panic(fmt.Sprintf("method %q: its setting %s, field %s of type %v, contradicts "+
					"other methods' %s, field %s of type %v", k.Name, s.Name, s.Field, s.Type,
					other.Name, other.Field, other.Type))
			}
		}
	}
	kinds = append(kinds, k)
}

// Kinds returns all methods, in the order in which they were registered.
func Kinds() []Kind { return slices.Clone(kinds) }

// Find returns the kind with this name. If the name is unknown, the kind has a name and nothing
// else.
func Find(name string) (k Kind, known bool) {
	k, known = lists.Find(kinds, func(k Kind) bool { return k.Name == name })
	k.Name = name
	return k, known
}

// Names lists the names of all methods.
func Names() []string {
	return lists.Of(kinds, func(k Kind) string { return k.Name })
}

// list lists the names of the methods with a property, joined for a sentence.
func list(have func(Kind) bool) string {
	return spelling.Listed(lists.Of(lists.If(kinds, have), func(k Kind) string { return k.Name }),
		"and")
}

// described returns the settings of all methods.
func described() []settings.Setting {
	all := lists.Of(kinds, func(k Kind) any { return k.Method })
	return settings.Merge(all...)
}

// settings returns the settings of the method.
func (k Kind) settings() []settings.Setting {
	if k.Method == nil {
		return nil
	}
	return settings.Of(k.Method)
}

// field returns the setting in the struct's field with this name, or nil.
func (k Kind) field(name string) *settings.Setting {
	if s, is := lists.Find(k.settings(), func(s settings.Setting) bool {
		return s.Field == name
	}); is {
		return &s
	}
	return nil
}

// Has says whether the method's struct has a setting in the field with this name.
func (k Kind) Has(field string) bool { return k.field(field) != nil }
