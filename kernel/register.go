package kernel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// family is a kernel and its name in expressions and files.
type family struct {
	name string
	make func(dim int, ard bool) (Kernel, error)
	// levels makes a kernel on one categorical column, or is nil.
	levels func(inputs []Input, order []string) (*Categorical, error)
}

// register holds the families, in the order in which messages list them.
var register = []family{
	{"se", always(SE), nil}, {"matern12", always(Matern12), nil}, {"matern32",
		always(Matern32), nil},
	{"matern52", always(Matern52), nil}, {"rq", always(RationalQuadratic), nil},
	{"periodic", always(NewPeriodic), nil}, {"additive", always(NewAdditive), nil},
	{"steps", always(NewSteps), nil}, {"linear", plain(func() Kernel { return Linear{} }), nil},
	{"constant", plain(ConstantKernel), nil}, {"white", plain(White), nil},
	{"exchangeable", alone, categorical("exchangeable")},
	{"ordinal", alone, categorical("ordinal")}, {"lowrank", alone, categorical("lowrank")},
}

// alone refuses a kernel of categories without a column.
func alone(int, bool) (Kernel, error) {
	return nil, errors.New("it needs a categorical column, as in exchangeable(colour)")
}

// levels returns the function that makes a kernel of categories, or nil for other kernels.
func levels(name string) func(inputs []Input, order []string) (*Categorical, error) {
	f, _ := lists.Find(register, func(f family) bool { return f.name == name })
	return f.levels
}

// placed returns a named kernel on columns. Kernels of categories take one column, and perhaps its
// categories.
func placed(name string, columns []string, dim int, ard bool, inputs []Input) (Kernel, error) {
	of := columns
	make := levels(name)
	if make != nil {
		of = columns[:1]
	}
	at, seen, err := see(inputs, of)
	if err != nil {
		return nil, err
	}
	var k Kernel
	if make != nil {
		k, err = make(seen, columns[1:])
	} else {
		k, err = named(name, len(at), ard)
	}
	if err != nil {
		return nil, err
	}
	return On(k, dim, columns, at), nil
}

// always turns a function that makes a kernel, and can't fail, into one that also returns an error.
func always[K Kernel](make func(dim int, ard bool) K) func(int, bool) (Kernel, error) {
	return func(dim int, ard bool) (Kernel, error) { return make(dim, ard), nil }
}

// plain does what always does, for a kernel that doesn't depend on the inputs.
func plain(make func() Kernel) func(int, bool) (Kernel, error) {
	return func(int, bool) (Kernel, error) { return make(), nil }
}

// Names lists the kernels that Parse and Spec.Build know.
func Names() []string { return lists.Of(register, func(f family) string { return f.name }) }

// named returns the registered kernel of this name on dim inputs.
// For an unknown name, its error suggests a known one or lists all.
func named(name string, dim int, ard bool) (Kernel, error) {
	if f, known := lists.Find(register, func(f family) bool { return f.name == name }); known {
		k, err := f.make(dim, ard)
		if err != nil {
			err = fmt.Errorf("kernel %q: %w", name, err)
		}
		return k, err
	}
	if said := spelling.Called(name, Names()); said != "" {
		return nil, fmt.Errorf("unknown kernel: %.120s", said)
	}
	return nil, fmt.Errorf("unknown kernel %.40q: known are %s, and sums and products of them as "+
		"in \"se+linear\" or \"se*periodic\"%s", name, strings.Join(Names(), ", "),
		spelling.DidYouMean(name, Names()))
}

// Register makes a kernel known by a name: in expressions, parameter files and model files, and so
// to every method.
// make returns the kernel for dim inputs, with one lengthscale per input if ard is set and the
// kernel has lengthscales. make's error says which inputs the kernel doesn't serve.
// Call Register from an init function.
//
// The kernel's Spec must be the result of SpecOf, from which Build makes the same kernel again.
// Register panics if the name is taken or can't stand in an expression, and if Build doesn't make
// the same kernel from the Spec.
func Register(name string, make func(dim int, ard bool) (Kernel, error)) {
	if name == "" || strings.ContainsAny(name, "+*() \",") {
		panic(fmt.Sprintf("kernel: %q can't be a kernel's name", name))
	}
	if slices.Contains(append(Names(), "sum", "product", "posterior"), name) {
		panic(fmt.Sprintf("kernel: the name %q is taken", name))
	}
	register = append(register, family{name, make, nil})
	for _, dim := range []int{1, 3} {
		for _, ard := range []bool{false, true} {
			if k, err := make(dim, ard); err == nil {
				checkSpec(k, dim)
			}
		}
	}
}

// checkSpec panics unless Build returns a kernel's parameters from the kernel's Spec.
func checkSpec(k Kernel, dim int) {
	params := k.Params()
	// all values differ
	theta := lists.To(len(params), func(i int) float64 { return float64(i+1) / 8 })
	s := k.Spec(theta)
	_, back, err := s.Build(dim)
	if err != nil {
		panic(fmt.Sprintf("kernel: %v is the Spec of a kernel, but: %v", s, err))
	}
	same := len(back) == len(theta)
	for i := range theta {
		same = same && math.Abs(back[i]-theta[i]) < 1e-12
	}
	if !same {
		panic(fmt.Sprintf("kernel: the parameters %v come back from the Spec %v as %v",
			theta, s, back))
	}
}

// Build returns the kernel and the parameters θ that a Spec describes, for dim inputs.
// A Spec with columns needs the inputs. Build returns an error for a Spec that is nested more than
// 32 deep, or has more than 1000 kernels.
func (s Spec) Build(dim int, inputs ...Input) (Kernel, []float64, error) {
	if err := s.checkSize(); err != nil {
		return nil, nil, err
	}
	return s.build(dim, inputs)
}

// build does what Build does, for a Spec whose size has been checked.
func (s Spec) build(dim int, inputs []Input) (Kernel, []float64, error) {
	name, columns, err := s.Columns()
	if err != nil {
		return nil, nil, fmt.Errorf("kernel %.200q: %w", s.Name, err)
	}
	if columns != nil {
		return s.buildOn(name, columns, dim, inputs)
	}
	if s.Name == "sum" || s.Name == "product" {
		return s.buildComposite(dim, inputs)
	}
	k, err := s.kernel(dim)
	if err != nil {
		return nil, nil, err
	}
	theta, err := s.read(k, dim)
	return k, theta, err
}

// buildOn builds a kernel on columns.
func (s Spec) buildOn(name string, columns []string, dim int,
	inputs []Input) (Kernel, []float64, error) {
	s.Name = name
	if levels(name) != nil {
		k, err := placed(name, columns, dim, false, inputs)
		if err != nil {
			return nil, nil, err
		}
		theta, err := s.read(k, dim)
		return k, theta, err
	}
	at, seen, err := see(inputs, columns)
	if err != nil {
		return nil, nil, fmt.Errorf("kernel %.200q: %w", name, err)
	}
	k, theta, err := s.build(len(at), seen)
	if err != nil {
		return nil, nil, err
	}
	return On(k, dim, columns, at), theta, nil
}

// read returns the parameters of a kernel that has no parts.
func (s Spec) read(k Kernel, dim int) ([]float64, error) {
	if len(s.Parts) > 0 {
		return nil, fmt.Errorf("kernel %q takes no \"parts\"", s.Name)
	}
	left := s // the fields that no parameter has used yet
	left.Parameters = maps.Clone(s.Parameters)
	var theta []float64
	for _, p := range k.Params() {
		var v float64
		name := string(p.Kind)
		if p.Kind == Lengthscale {
			if len(left.Lengthscales) == 0 {
				return nil, s.lengthscales(dim)
			}
			name = fmt.Sprintf("lengthscales[%d]", len(s.Lengthscales)-len(left.Lengthscales))
			// a negative lengthscale stays negative
			v = left.Lengthscales[0] * math.Abs(left.Lengthscales[0])
			left.Lengthscales = left.Lengthscales[1:]
		} else if field := left.field(p.Kind); field != nil {
			v = *field
			*field = 0
		} else {
			name = p.Label()
			v = left.Parameters[name]
			delete(left.Parameters, name)
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("kernel %q: %q must be a positive number", s.Name, name)
		}
		theta = append(theta, math.Log(v))
	}
	// Numbers that no parameter has used are errors.
	for _, kind := range []Kind{Variance, Shape, Period} {
		if *left.field(kind) != 0 {
			return nil, fmt.Errorf("kernel %q has no %q", s.Name, string(kind))
		}
	}
	if len(left.Parameters) > 0 {
		return nil, fmt.Errorf("kernel %q has no parameter %.40q", s.Name,
			slices.Sorted(maps.Keys(left.Parameters))[0])
	}
	if len(left.Lengthscales) > 0 {
		return nil, s.lengthscales(dim)
	}
	return theta, nil
}

// kernel returns the kernel that the Spec names, with ARD if its parameters are those of the ARD
// form.
func (s Spec) kernel(dim int) (Kernel, error) {
	if len(s.Parameters) > 0 && len(s.Lengthscales) == 0 {
		k, err := named(s.Name, dim, true)
		if err != nil {
			return k, err
		}
		like := SpecOf(s.Name, k.Params(), make([]float64, len(k.Params())))
		// compares names
		if maps.EqualFunc(like.Parameters, s.Parameters, func(float64, float64) bool {
			return true
		}) {
			return k, nil
		}
	}
	return named(s.Name, dim, len(s.Lengthscales) > 1 || (len(s.Lengthscales) == 1 && dim == 1))
}

// lengthscales returns the error for a number of lengthscales that doesn't fit dim inputs.
func (s Spec) lengthscales(dim int) error {
	return fmt.Errorf("kernel %q has %d lengthscales: give one for all inputs or %d", s.Name,
		len(s.Lengthscales), dim)
}

// buildComposite builds a sum or product. θ holds the parameters of its parts, in order.
func (s Spec) buildComposite(dim int, inputs []Input) (Kernel, []float64, error) {
	if len(s.Parts) == 0 {
		return nil, nil, fmt.Errorf("kernel %q has no \"parts\"", s.Name)
	}
	if s.Variance != 0 || s.Shape != 0 || s.Period != 0 || len(s.Lengthscales) > 0 ||
		len(s.Parameters) > 0 {
		return nil, nil, fmt.Errorf("kernel %q has parameters only in its \"parts\"", s.Name)
	}
	var parts []Kernel
	var theta []float64
	for _, part := range s.Parts {
		k, th, err := part.build(dim, inputs)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, k)
		theta = append(theta, th...)
	}
	if s.Name == "product" {
		return Product(parts...), theta, nil
	}
	return Sum(parts...), theta, nil
}
