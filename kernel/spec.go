package kernel

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Spec is a kernel and its parameters as people write them: variances and
// lengthscales themselves, not logarithms. One lengthscale stands for all inputs.
type Spec struct {
	Name         string             `json:"name"`
	Variance     float64            `json:"variance,omitempty"`
	Lengthscales []float64          `json:"lengthscales,omitempty"`
	Shape        float64            `json:"shape,omitempty"`
	Period       float64            `json:"period,omitempty"`
	Parameters   map[string]float64 `json:"parameters,omitempty"` // of no such kind, by Param.Label
	Parts        []Spec             `json:"parts,omitempty"`
}

// Label names the parameter itself, of which θ holds the logarithm: "weight[2]" of "log_weight[2]".
func (p Param) Label() string { return strings.TrimPrefix(p.Name, "log_") }

// field is where a Spec holds the one parameter of a kind; nil for kinds of which there may be several.
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

// SpecOf returns the Spec of a kernel (no sum or product) with that name at θ. The kind of a parameter
// says where it stands: lengthscales in a list, one variance, shape and period in fields of their own, and others, of
// kind "", by their labels.
func SpecOf(name string, k Kernel, theta []float64) Spec {
	s := Spec{Name: name}
	for i, p := range k.Params() {
		if p.Kind == Lengthscale {
			s.Lengthscales = append(s.Lengthscales, math.Exp(theta[i]/2)) // of ln l²
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

// Build returns the kernel and parameters θ that a Spec describes, on dim inputs.
func (s Spec) Build(dim int) (Kernel, []float64, error) {
	if s.Name == "sum" || s.Name == "product" {
		return s.buildComposite(dim)
	}
	k, err := s.kernel(dim)
	if err != nil {
		return nil, nil, err
	}
	if len(s.Parts) > 0 {
		return nil, nil, fmt.Errorf("kernel %q takes no \"parts\"", s.Name)
	}
	left := s // what no parameter has asked for
	left.Parameters = maps.Clone(s.Parameters)
	var theta []float64
	for _, p := range k.Params() {
		var v float64
		name := string(p.Kind)
		if p.Kind == Lengthscale {
			if len(left.Lengthscales) == 0 {
				return nil, nil, s.lengthscales(dim)
			}
			name = fmt.Sprintf("lengthscales[%d]", len(s.Lengthscales)-len(left.Lengthscales))
			v = left.Lengthscales[0] * left.Lengthscales[0]
			left.Lengthscales = left.Lengthscales[1:]
		} else if field := left.field(p.Kind); field != nil {
			v, *field = *field, 0
		} else {
			name = p.Label()
			v = left.Parameters[name]
			delete(left.Parameters, name)
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, nil, fmt.Errorf("kernel %q: %q must be a positive number", s.Name, name)
		}
		theta = append(theta, math.Log(v))
	}
	for _, kind := range []Kind{Variance, Shape, Period} {
		if *left.field(kind) != 0 {
			return nil, nil, fmt.Errorf("kernel %q has no %q", s.Name, string(kind))
		}
	}
	if len(left.Parameters) > 0 {
		return nil, nil, fmt.Errorf("kernel %q has no parameter %q", s.Name, slices.Sorted(maps.Keys(left.Parameters))[0])
	}
	if len(left.Lengthscales) > 0 {
		return nil, nil, s.lengthscales(dim)
	}
	return k, theta, nil
}

// kernel returns the kernel of that name, under ARD where the parameters are those of ARD.
func (s Spec) kernel(dim int) (Kernel, error) {
	if len(s.Parameters) > 0 && len(s.Lengthscales) == 0 {
		k, err := named(s.Name, dim, true)
		if err != nil || s.hasParametersOf(k) {
			return k, err
		}
	}
	return named(s.Name, dim, len(s.Lengthscales) > 1 || len(s.Lengthscales) == 1 && dim == 1)
}

// hasParametersOf says whether the parameters without a kind are those of k.
func (s Spec) hasParametersOf(k Kernel) bool {
	like := SpecOf(s.Name, k, make([]float64, len(k.Params())))
	return maps.EqualFunc(like.Parameters, s.Parameters, func(float64, float64) bool { return true })
}

func (s Spec) lengthscales(dim int) error {
	return fmt.Errorf("kernel %q has %d lengthscales: give one for all inputs or %d", s.Name, len(s.Lengthscales), dim)
}

func (s Spec) buildComposite(dim int) (Kernel, []float64, error) {
	if len(s.Parts) == 0 {
		return nil, nil, fmt.Errorf("kernel %q has no \"parts\"", s.Name)
	}
	if s.Variance != 0 || s.Shape != 0 || s.Period != 0 || len(s.Lengthscales) > 0 || len(s.Parameters) > 0 {
		return nil, nil, fmt.Errorf("kernel %q has parameters only in its \"parts\"", s.Name)
	}
	var parts []Kernel
	var theta []float64
	for _, part := range s.Parts {
		k, th, err := part.Build(dim)
		if err != nil {
			return nil, nil, err
		}
		parts, theta = append(parts, k), append(theta, th...)
	}
	if s.Name == "product" {
		return Product(parts...), theta, nil
	}
	return Sum(parts...), theta, nil
}

// String returns the specification as people read it: "se (variance 1, lengthscales 0.5 2)".
func (s Spec) String() string {
	if len(s.Parts) > 0 {
		texts := make([]string, len(s.Parts))
		for i, p := range s.Parts {
			texts[i] = p.String()
		}
		op := map[string]string{"sum": " + ", "product": " * "}[s.Name]
		return "(" + strings.Join(texts, op) + ")"
	}
	var values []string
	add := func(name string, v ...float64) {
		for _, x := range v {
			name += fmt.Sprintf(" %.3g", x)
		}
		values = append(values, name)
	}
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
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		add(name, s.Parameters[name])
	}
	return s.Name + " (" + strings.Join(values, ", ") + ")"
}
