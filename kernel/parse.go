package kernel

import (
	"fmt"
	"math"
	"strings"
)

// Names lists the kernels that Parse knows.
var Names = []string{"se", "matern12", "matern32", "matern52", "rq", "periodic", "linear", "constant", "white"}

func named(name string, dim int, ard bool) (Kernel, error) {
	switch name {
	case "se":
		return SE(dim, ard), nil
	case "matern12":
		return Matern12(dim, ard), nil
	case "matern32":
		return Matern32(dim, ard), nil
	case "matern52":
		return Matern52(dim, ard), nil
	case "rq":
		return RationalQuadratic(dim, ard), nil
	case "periodic":
		return NewPeriodic(dim, ard), nil
	case "linear":
		return Linear{}, nil
	case "constant":
		return ConstantKernel(), nil
	case "white":
		return White(), nil
	}
	return nil, fmt.Errorf("unknown kernel %q: known are %s, and sums and products of them as in \"se+linear\" or \"se*periodic\"", name, strings.Join(Names, ", "))
}

// Parse reads a kernel expression on dim inputs: names joined by + and *, with
// the usual precedence and parentheses, as in "se+linear" or "(se+white)*periodic".
// ard gives every lengthscale kernel in it one lengthscale an input.
func Parse(expr string, dim int, ard bool) (Kernel, error) {
	p := parser{expr: expr, dim: dim, ard: ard}
	p.next()
	k, err := p.chain('+', Sum)
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", expr, err)
	}
	if p.token != "" {
		return nil, fmt.Errorf("kernel %q: %q doesn't belong there", expr, p.token)
	}
	return k, nil
}

type parser struct {
	expr  string
	pos   int
	token string // "" at the end
	dim   int
	ard   bool
}

func (p *parser) next() {
	for p.pos < len(p.expr) && p.expr[p.pos] == ' ' {
		p.pos++
	}
	start := p.pos
	if p.pos < len(p.expr) {
		if strings.IndexByte("+*()", p.expr[p.pos]) >= 0 {
			p.pos++
		} else {
			for p.pos < len(p.expr) && strings.IndexByte("+*() ", p.expr[p.pos]) < 0 {
				p.pos++
			}
		}
	}
	p.token = p.expr[start:p.pos]
}

func (p *parser) chain(op byte, join func(...Kernel) Kernel) (Kernel, error) {
	var parts []Kernel
	for {
		var k Kernel
		var err error
		if op == '+' {
			k, err = p.chain('*', Product)
		} else {
			k, err = p.atom()
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, k)
		if p.token != string(op) {
			break
		}
		p.next()
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return join(parts...), nil
}

func (p *parser) atom() (Kernel, error) {
	switch t := p.token; t {
	case "":
		return nil, fmt.Errorf("a kernel name is missing at the end")
	case "+", "*", ")":
		return nil, fmt.Errorf("a kernel name is missing before %q", t)
	case "(":
		p.next()
		k, err := p.chain('+', Sum)
		if err != nil {
			return nil, err
		}
		if p.token != ")" {
			return nil, fmt.Errorf("a parenthesis isn't closed")
		}
		p.next()
		return k, nil
	default:
		p.next()
		return named(t, p.dim, p.ard)
	}
}

// HasLengthscales says whether ARD makes a difference to the kernel.
func HasLengthscales(k Kernel) bool {
	for _, p := range k.Params() {
		if p.Kind == Lengthscale {
			return true
		}
	}
	return false
}

// Build returns the kernel and parameters θ that a Spec describes, on dim inputs.
func (s Spec) Build(dim int) (Kernel, []float64, error) {
	if s.Name == "sum" || s.Name == "product" {
		if len(s.Parts) == 0 {
			return nil, nil, fmt.Errorf("kernel %q has no \"parts\"", s.Name)
		}
		if s.Variance != 0 || s.Shape != 0 || s.Period != 0 || len(s.Lengthscales) > 0 {
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
	ard := len(s.Lengthscales) > 1 || (len(s.Lengthscales) == 1 && dim == 1)
	k, err := named(s.Name, dim, ard)
	if err != nil {
		return nil, nil, err
	}
	if len(s.Parts) > 0 {
		return nil, nil, fmt.Errorf("kernel %q takes no \"parts\"", s.Name)
	}
	var theta []float64
	nl := 0
	unused := map[Kind]float64{Variance: s.Variance, Shape: s.Shape, Period: s.Period}
	for _, p := range k.Params() {
		var v float64
		field := string(p.Kind)
		delete(unused, p.Kind)
		switch p.Kind {
		case Lengthscale:
			if nl >= len(s.Lengthscales) {
				return nil, nil, fmt.Errorf("kernel %q has %d lengthscales: give one for all inputs or %d", s.Name, len(s.Lengthscales), dim)
			}
			v = s.Lengthscales[nl] * s.Lengthscales[nl]
			field = fmt.Sprintf("lengthscales[%d]", nl)
			nl++
		case Variance:
			v = s.Variance
		case Shape:
			v = s.Shape
		case Period:
			v = s.Period
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, nil, fmt.Errorf("kernel %q: %q must be a positive number", s.Name, field)
		}
		theta = append(theta, math.Log(v))
	}
	for kind, v := range unused {
		if v != 0 {
			return nil, nil, fmt.Errorf("kernel %q has no %q", s.Name, string(kind))
		}
	}
	if nl != len(s.Lengthscales) {
		return nil, nil, fmt.Errorf("kernel %q has %d lengthscales: give one for all inputs or %d", s.Name, len(s.Lengthscales), dim)
	}
	return k, theta, nil
}
