package kernel

import (
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// Part is a term of a sum of kernels, with its parameters.
type Part struct {
	Inputs []int // the inputs of an effect; nil: other terms of the sum
	Kernel Kernel
	Theta  []float64
}

// Effects splits a kernel on dim inputs that is additive, or a sum with it, into the main effects,
// the pairs, and the rest of the sum, which has no Kernel if nothing is left.
// Without an additive kernel there are no effects.
func Effects(k Kernel, theta []float64, dim int) (effects []Part, rest Part) {
	terms := []Part{{Kernel: k, Theta: theta}}
	if c, ok := k.(composite); ok && !c.product {
		terms = nil
		c.each(theta, nil, func(_ int, k Kernel, th,
			_ []float64) {
			terms = append(terms, Part{Kernel: k, Theta: th})
		})
	}
	var others []Part
	// The first additive term gives the effects. All other terms of the sum are the rest.
	for _, t := range terms {
		inputs := linalg.UpTo(dim)
		inner := t.Kernel
		if o, ok := inner.(on); ok {
			inputs = o.inputs
			inner = o.Kernel
		}
		if a, ok := inner.(*Additive); ok && effects == nil {
			effects = a.split(t.Theta, inputs, dim)
		} else {
			others = append(others, t)
		}
	}
	if len(others) > 0 {
		rest = SumOf(others)
	}
	return effects, rest
}

// SumOf returns the sum of parts.
func SumOf(parts []Part) (sum Part) {
	var kernels []Kernel
	for _, p := range parts {
		kernels = append(kernels, p.Kernel)
		sum.Theta = append(sum.Theta, p.Theta...)
	}
	sum.Kernel = Sum(kernels...)
	return sum
}

// split returns the parts of s as additive kernels of one input, and of two inputs without main
// effects.
func (s *Additive) split(theta []float64, inputs []int, dim int) (parts []Part) {
	effects, main, pairs := s.unpack(theta)
	length := func(t int) float64 { return math.Log(effects[t].lambda) }
	add := func(theta []float64, places ...int) {
		parts = append(parts, Part{places, On(NewAdditive(len(places), true), dim, nil, places),
			theta})
	}
	for i, a := range inputs {
		add([]float64{length(i), math.Log(main)}, a)
	}
	for i, a := range inputs {
		for j, b := range inputs[:i] {
			add([]float64{length(j), length(i), math.Inf(-1), math.Log(pairs)}, b, a)
		}
	}
	return parts
}
