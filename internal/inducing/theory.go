package inducing

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Theory holds the quantities in Yue & Kontar's bounds on D = ln p(y) − L_α, the Rényi divergence
// of the approximate posterior from the exact posterior.
// The bounds hold for inducing inputs drawn from the rows by a k-DPP, up to DPPError in total
// variation, and not moved afterwards.
type Theory struct {
	Rows     int     // N, the number of rows drawn from the input distribution
	Alpha    float64 // α, in [0, 1]
	Noise    float64 // s = σ_ε²
	Variance float64 // v₀ ≥ k(x, x)
	Delta    float64 // probability with which the bound may fail, over rows and inducing inputs
	DPPError float64 // ε
}

// Theorem2 bounds D for any y with ‖y‖² = square ("Optimize to Generalize in Gaussian Processes",
// Theorem 1, first part; "The Rényi Gaussian Process", Theorem 2).
// tail is Σ_{m>M} λ_m, the tail of the kernel operator's eigenvalues:
//
//	D ≤ (α/(2δt)) N ln(1 + t C_tot/(sN)) + (α C_tot/(2δs)) ‖y‖²/s,  t = 1−α
//
// Here C_tot = (M+1)N Σ_{m>M} λ_m + 2Nv₀ε bounds E tr(K − Q) for M inducing inputs.
func (t Theory) Theorem2(m int, tail, square float64) float64 {
	n := float64(t.Rows)
	share := 1 - t.Alpha
	total := float64(m+1)*n*tail + 2*n*t.Variance*t.DPPError
	first := total / t.Noise // N ln(1 + t C/(sN))/t as t → 0
	if share > 0 {
		first = n * math.Log1p(share*total/(t.Noise*n)) / share
	}
	return t.Alpha / (2 * t.Delta) * (first + total/t.Noise*(square/t.Noise))
}

// MaternExponent returns the least t such that M = N^t inducing inputs make D fall like N^−γ, for
// the kernel Matérn r+½ and one input of bounded range: (γ+2)/(2r). The constants aren't known.
func MaternExponent(r int, gamma float64) float64 { return (gamma + 2) / (2 * float64(r)) }

// seRatio returns the B of the SE kernel's eigenvalues λ_m = v(1−B)B^{m−1} for a Gaussian input.
// With a = 1/(4σ_x²), b = 1/(2l²), c = √(a²+2ab) and A = a+b+c, it is b/A, and √(2a/A) = 1 − B.
func seRatio(lengthscale, inputSD float64) float64 {
	a := 1 / (4 * inputSD * inputSD)
	b := 1 / (2 * lengthscale * lengthscale)
	return b / (a + b + math.Sqrt(a*a+2*a*b))
}

// SESpectrum lists the eigenvalues of the SE kernel's operator in descending order, for independent
// Gaussian inputs with standard deviations inputSD.
// They are products of the one-dimensional eigenvalues.
type SESpectrum struct {
	variance float64
	logB     []float64
	next     orders
	left     *big.Float // sum of the eigenvalues not listed yet
}

// NewSESpectrum returns the spectrum for a kernel of this variance.
// Each input has a lengthscale and a standard deviation. All these numbers must be positive.
func NewSESpectrum(variance float64, lengthscales, inputSD []float64) (*SESpectrum, error) {
	s := &SESpectrum{variance: variance, left: number(variance)}
	first := order{index: make([]int, len(lengthscales))}
	for i, l := range lengthscales {
		b := seRatio(l, inputSD[i])
		if !(b > 0 && b < 1) || !(variance > 0) {
			return nil, fmt.Errorf("variance %v, lengthscale %v of an input with standard "+
				"deviation %v: want positive numbers", variance, l, inputSD[i])
		}
		s.logB = append(s.logB, math.Log(b))
	}
	s.next = orders{first}
	return s, nil
}

// order is a product of one-dimensional eigenvalues.
type order struct {
	log   float64 // Σ index_i ln B_i
	index []int
	last  int // the input that was raised last; only it and later inputs are raised next
}

// orders is a heap (container/heap) with the largest eigenvalue first.
type orders []order

func (o orders) Len() int           { return len(o) }
func (o orders) Less(i, j int) bool { return o[i].log > o[j].log }
func (o orders) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *orders) Push(x any)        { *o = append(*o, x.(order)) }
func (o *orders) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}

// digits is the precision in bits of sums whose small remainder counts.
// After a few eigenvalues only 1e-12 of v is left.
const digits = 300

// number returns v with a precision of digits bits.
func number(v float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(v) }

// Next returns the next eigenvalue, and the sum of all later eigenvalues.
func (s *SESpectrum) Next() (value, tail float64) {
	o := heap.Pop(&s.next).(order)
	// The value needs all digits, or the remainder would be its rounding error.
	exact := number(s.variance)
	for i, power := range o.index {
		b := number(math.Exp(s.logB[i]))
		exact.Mul(exact, new(big.Float).Sub(number(1), b))
		for range power {
			exact.Mul(exact, b)
		}
	}
	s.left.Sub(s.left, exact)
	// No input before o.last is raised, so each product comes up once.
	for i := o.last; i < len(o.index); i++ {
		raised := order{o.log + s.logB[i], slices.Clone(o.index), i}
		raised.index[i]++
		heap.Push(&s.next, raised)
	}
	value, _ = exact.Float64()
	tail, _ = s.left.Float64()
	return value, max(tail, 0)
}

// Enough returns the least M, at most limit, for which Theorem 2 bounds D by target nats, and the
// bound.
func (t Theory) Enough(s *SESpectrum, square, target float64,
	limit int) (m int, bound float64, err error) {
	if !(target > 0) || limit < 1 || t.Rows < 2 {
		return 0, 0, errors.New("how many inducing inputs are enough: want a positive target, a " +
			"positive limit and two rows")
	}
	for m = 1; ; m++ {
		_, tail := s.Next()
		bound = t.Theorem2(m, tail, square)
		if bound <= target || m == min(limit, t.Rows-1) {
			return m, bound, nil
		}
	}
}
