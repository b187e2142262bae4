package method

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/settings"
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

// Kind is a method that goes by a name. Register makes options, flags, help, completion and messages know it and its
// settings.
type Kind struct {
	Name string
	Help string // what it minimises, in a few words

	// Method is a struct whose tagged fields are the method's settings (see package internal/settings). Its values are
	// the defaults of fields that aren't asked for. It may have the methods
	//
	//	Complete()             of its pointer, which fills in defaults that follow from other settings
	//	Check(Use) []error     reports what tags can't say
	Method Method

	Size    Size
	Bound   pacbayes.Inequality // that it minimises the risk's bound by, which σ_n² only shapes; "": it doesn't
	MaxRows int                 // that it takes all at once, unless it is estimated; 0: no limit of its own

	FreeForm bool // q(f_Z) is a parameter of its own
	Exact    bool // it trains the full GP's evidence, which solvers estimate and for which parameters may be given
	Local    bool // each row is predicted from its neighbours, by a cost of such predictions
	EndsFull bool // at α = 0 it ends as a full GP, which is solved in some way
}

// Estimable is a method that conjugate gradients can estimate, with the same Q: solver cg evaluates and, with all rows
// in every step, trains the estimate, as more than MaxRows do by default.
type Estimable interface {
	Method
	Estimated() Method
}

var kinds []Kind

// Register makes a method known by its name. It panics where the name is taken or can't stand in a list, where Method
// is no struct, and with a bound that there isn't to train by. Call it from an init function: methods aren't registered
// while others are looked up.
func Register(k Kind) {
	_, known := Find(k.Name)
	if known || k.Name == "" || strings.ContainsAny(k.Name, ", ") || reflect.ValueOf(k.Method).Kind() != reflect.Struct {
		panic(fmt.Sprintf("method %q: registered already, its Method isn't a struct, or not a name", k.Name))
	}
	switch k.Bound {
	case "", pacbayes.KLBound, pacbayes.MaurerBound, pacbayes.PinskerBound:
	default:
		panic(fmt.Sprintf("method %q: the bound %q isn't trained by", k.Name, k.Bound))
	}
	for _, s := range settings.Of(k.Method) {
		for _, other := range described() {
			renamed := (s.Field == other.Field) != (s.Name == other.Name) && !s.Word()
			if renamed || s.Field == other.Field && s.Base() != other.Base() {
				panic(fmt.Sprintf("method %q: its setting %s, %s of type %v, isn't other methods' %s, %s of type %v", k.Name,
					s.Name, s.Field, s.Type, other.Name, other.Field, other.Type))
			}
		}
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
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// list lists the methods with a property, as sentences have them.
func list(have func(Kind) bool) string {
	var names []string
	for _, k := range kinds {
		if have(k) {
			names = append(names, k.Name)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// described are the settings of all methods.
func described() []settings.Setting {
	var all []any
	for _, k := range kinds {
		all = append(all, k.Method)
	}
	return settings.Merge(all...)
}

// settings describes those of the method.
func (k Kind) settings() []settings.Setting {
	if k.Method == nil {
		return nil
	}
	return settings.Of(k.Method)
}

// field returns the setting that is the field of this name.
func (k Kind) field(name string) *settings.Setting {
	for _, s := range k.settings() {
		if s.Field == name {
			return &s
		}
	}
	return nil
}

// Has says whether the method has a setting, by the field of its struct.
func (k Kind) Has(field string) bool { return k.field(field) != nil }
