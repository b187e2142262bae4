package kernel

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Kind says what a parameter means.
type Kind string

// The kinds of parameters. Lengthscale parameters are ln l², not ln l.
const (
	Lengthscale Kind = "lengthscale"
	Variance    Kind = "variance"
	Shape       Kind = "shape"  // a, for the rational quadratic
	Period      Kind = "period" // p, for the periodic kernel
	Constant    Kind = "constant"
	Slope       Kind = "slope"    // coefficient of a linear mean function
	Relative    Kind = "relative" // a factor, about 1 unless rows say otherwise
)

// Param describes one parameter. A kernel's parameters are natural logarithms.
// A mean function's parameters (Constant, Slope) are plain numbers.
type Param struct {
	Name string // unique within a kernel, for example "log_lengthscale2[3]"
	Kind Kind   // "" where none of the above fits
	Dim  int    // the input of a lengthscale or slope, −1 for all inputs
	// Alone says that a lengthscale scales distances in one input, not in all inputs together.
	Alone bool
	Among int // a lengthscale of this many inputs together; 0: of all inputs
}

// Distant returns about the squared distance of two points among d standardised inputs, as a
// lengthscale sees it.
func (p Param) Distant(d int) float64 {
	if p.Alone {
		return 1
	}
	return float64(cmp.Or(p.Among, d))
}

// Label names the parameter whose logarithm θ holds: "weight[2]" for "log_weight[2]".
func (p Param) Label() string { return strings.TrimPrefix(p.Name, "log_") }

// Spec is a kernel and its parameters as people write them:
// variances and lengthscales themselves, not logarithms. A single lengthscale is for all inputs.
type Spec struct {
	// with the columns that the kernel sees, as in "se(x1, x2)"
	Name         string    `json:"name"`
	Variance     float64   `json:"variance,omitempty"`
	Lengthscales []float64 `json:"lengthscales,omitempty"`
	Shape        float64   `json:"shape,omitempty"`
	Period       float64   `json:"period,omitempty"`
	// parameters of other kinds, by Param.Label
	Parameters map[string]float64 `json:"parameters,omitempty"`
	Parts      []Spec             `json:"parts,omitempty"`
}

// A kernel is nested at most maxDepth deep, and made of at most maxParts kernels, with sums and
// products counted.
// People write less, and a file or an expression from elsewhere can't take all of a program's time.
const (
	maxDepth = 32
	maxParts = 1000
)

// checkSize reports a kernel that is nested too deep or has too many parts, before it is built.
func (s Spec) checkSize() error {
	parts := 0
	var walk func(s *Spec, depth int) error
	walk = func(s *Spec, depth int) error {
		if depth > maxDepth {
			return errDeep
		}
		if parts++; parts > maxParts {
			return errParts
		}
		for i := range s.Parts {
			if err := walk(&s.Parts[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(&s, 0)
}

var (
	errDeep  = fmt.Errorf("it is nested more than %d deep", maxDepth)
	errParts = fmt.Errorf("it is made of more than %d kernels", maxParts)
)

// field returns where a Spec holds its one parameter of this kind, and nil if it may hold several
// of this kind.
func (s *Spec) field(kind Kind) *float64 {
	switch kind {
	case Variance:
		return &s.Variance
	case Shape:
		return &s.Shape
	case Period:
		return &s.Period
	}
	return nil
}

// SpecOf returns the Spec of a kernel with this name and these parameters at θ.
// The kernel is no sum or product. The kind of a parameter says where it stands:
// lengthscales in a list, variance, shape and period in fields of their own, and parameters of kind
// "" by their labels.
func SpecOf(name string, params []Param, theta []float64) Spec {
	s := Spec{Name: name}
	for i, p := range params {
		if p.Kind == Lengthscale {
			s.Lengthscales = append(s.Lengthscales, math.Exp(theta[i]/2)) // θ holds ln l²
		} else if field := s.field(p.Kind); field != nil {
			*field = math.Exp(theta[i])
		} else {
			if s.Parameters == nil {
				s.Parameters = map[string]float64{}
			}
			s.Parameters[p.Label()] = math.Exp(theta[i])
		}
	}
	return s
}

// Expression returns the kernel without its parameters, as Parse reads it: "se(x1, x2)+linear".
func (s Spec) Expression() string {
	if len(s.Parts) == 0 {
		return s.Name
	}
	texts := make([]string, len(s.Parts))
	for i, p := range s.Parts {
		if texts[i] = p.Expression(); p.Name == "sum" && len(s.Parts) > 1 {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, map[string]string{"sum": "+", "product": "*"}[s.Name])
}

// Times returns w times the kernel, which is made of kernels that auto tries.
func (s Spec) Times(w float64) Spec {
	s.Parts = slices.Clone(s.Parts)
	s.Parameters = maps.Clone(s.Parameters)
	for i, p := range s.Parts {
		if s.Name == "sum" || i == 0 {
			s.Parts[i] = p.Times(w)
		}
	}
	s.Variance *= w
	for _, of := range []string{"main", "pairs"} { // of additive, which has no variance
		if v, has := s.Parameters[of]; has {
			s.Parameters[of] = v * w
		}
	}
	return s
}

// Columns returns the kernel's name without its columns, and the columns that it sees, or nil if it
// sees all inputs.
func (s Spec) Columns() (name string, columns []string, err error) {
	name, list, some := strings.Cut(s.Name, "(")
	if some {
		if columns, list, err = cutColumns(name, list); err == nil && list != "" {
			err = fmt.Errorf("%.40q doesn't belong there", list)
		}
	}
	return strings.TrimSpace(name), columns, err
}

// SameKernel says whether two names of a Spec mean the same kernel on the same columns.
func SameKernel(a, b string) bool {
	name, columns, err := Spec{Name: a}.Columns()
	other, others, wrong := Spec{Name: b}.Columns()
	return err == nil && wrong == nil && name == other && slices.Equal(columns, others)
}

// mostSaid is the most parameters without a field of their own that String lists.
// The kernel steps has hundreds.
const mostSaid = 12

// String returns the specification in words: "se (variance 1, lengthscales 0.5 2)".
func (s Spec) String() string {
	if len(s.Parts) > 0 {
		op := spelling.Either(strings.HasPrefix(s.Name, "product"), " * ", " + ")
		return "(" + strings.Join(lists.Of(s.Parts, Spec.String), op) + ")"
	}
	var values []string
	add := func(name string, v ...float64) {
		for _, x := range v {
			name += fmt.Sprintf(" %.3g", x)
		}
		values = append(values, name)
	}
	// A kernel with Parameters may have no variance.
	if s.Variance != 0 || len(s.Parameters) == 0 {
		add("variance", s.Variance)
	}
	if len(s.Lengthscales) > 0 {
		add("lengthscales", s.Lengthscales...)
	}
	if s.Shape != 0 {
		add("shape", s.Shape)
	}
	if s.Period != 0 {
		add("period", s.Period)
	}
	for i, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		if i == mostSaid {
			values = append(values, fmt.Sprintf("%d parameters more", len(s.Parameters)-i))
			break
		}
		add(name, s.Parameters[name])
	}
	return s.Name + " (" + strings.Join(values, ", ") + ")"
}
