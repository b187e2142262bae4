package main

import (
	"math"
	"slices"
)

// elementary writes the function on slices that package linalg offers.
func elementary(g *isa) {
	g.write(function{name: "log", doc: "writes ln x_i to y.", in: []string{"x"}, out: []string{"y"},
		body: func(g *isa, in, _ []vec) (out, terms []vec) { return []vec{g.log(in[0])}, nil }})
}

// The polynomials below interpolate at Chebyshev nodes. Their coefficients were computed in arithmetic of 300 bits
// and rounded to float64. Beside each polynomial stands the largest relative error of the function that uses it, in
// units of 2⁻⁵³.
var (
	// Polynomial of (eʳ−1−r)/r² for |r| ≤ ½ ln 2. The error of eʳ is 0.15 units.
	expCoefs = []float64{
		0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d68p-5, 0x1.11111111109b5p-7, 0x1.6c16c17889ef1p-10,
		0x1.a01a01a7c2efep-13, 0x1.a019b9149a41cp-16, 0x1.71de0db2f6b19p-19, 0x1.28917c89a43bcp-22, 0x1.af389ecfc4bb6p-26,
	}
	// The same for float32. The error of eʳ is 0.2 units of 2⁻²⁴.
	expSingleCoefs = []float64{0x1p-1, 0x1.5554dd04e58adp-3, 0x1.5555193389289p-5, 0x1.120b616c44764p-7,
		0x1.6d10fc65d1fcap-10}

	// Polynomial in s² of (2 artanh s − 2s)/s³ for |s| ≤ (√2−1)/(√2+1). The error of 2 artanh s is 0.05 units.
	logCoefs = []float64{
		0x1.5555555555558p-1, 0x1.99999999952e2p-2, 0x1.2492492df148dp-2, 0x1.c71c62e580082p-3,
		0x1.7462b4ab2f814p-3, 0x1.39fe606530dfdp-3, 0x1.2b584aaf570a8p-3,
	}
)

const (
	// Adding round to a number under 2⁵¹ rounds the number to an integer, which is then in the low bits of the sum.
	round       = 0x1.8p52
	roundSingle = 0x1.8p23 // round for float32

	ln2Hi, ln2Lo      = 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 // ln 2 in two parts with all their bits, for FMA
	ln2Short, ln2Rest = 0x1.62e42fef00000p-1, 0x1.473de6af278edp-34 // ln2Short has 33 bits: k·ln2Short is exact
	oneBits           = 0x3ff0000000000000
	mantissaBits      = 0x000fffffffffffff
	sqrtHalfBits      = 0x3fe6a09e00000000 // √½, to 20 bits
	exponentToIntBits = 0x4330000000000000 // 2⁵²: OR-ed with a small integer n, it is 2⁵² + n
	smallestNormal    = 0x1p-1022
)

// expMinus returns f·e⁻ᵘ = f 2ⁿ e⁻ʳ for u ≥ 0, with u = r − n ln 2 and |r| ≤ ½ ln 2. The polynomial in r has every
// other coefficient of eʳ negated. ln 2 is a single number, because its rounding error moves the result by less than
// a third of what the rounding error of u does. With AVX2 and NEON, e⁻ᵘ is 0 if it is under e⁻⁷⁰⁸, so that no scaling
// in two steps is needed.
func (g *isa) expMinus(u, f vec) vec {
	last, coefs, mantissa := 746., expCoefs, uint8(52)
	if g.bits < 512 {
		last = 708
	}
	if g.single {
		last, coefs, mantissa = 104, expSingleCoefs, 23
		if g.bits < 512 {
			last = 87
		}
	}
	r := g.vec()
	g.VMINPD(u, g.inReg(g.con(last)), r)
	n := g.times(r, -math.Log2E)
	g.plusProduct(r, n, g.con(ln2Hi))
	c := slices.Clone(coefs)
	for i := 1; i < len(c); i += 2 {
		c[i] = -c[i]
	}
	p := g.polynomial(r, c)
	g.timesMinus(p, g.mul(r, r), r)
	if g.bits == 512 {
		g.timesPlus(p, f, f)
		return g.scale(p, n)
	}
	n = g.shiftLeft(g.add(n, g.con(g.round())), mantissa)
	p = g.addInt(g.add(p, g.con(1)), n)
	return g.mul(g.where(u, greater, g.con(last), g.zero(), p), f)
}

// round returns the constant round or roundSingle, for g's kind of elements.
func (g *isa) round() float64 {
	if g.single {
		return roundSingle
	}
	return round
}

// times returns x·f, rounded to an integer, for products under 2⁵¹.
func (g *isa) times(x vec, f float64) vec {
	n := g.copyOf(x)
	g.timesPlus(n, g.inReg(g.con(f)), g.con(g.round()))
	return g.sub(n, g.con(g.round()))
}

// scale returns 2ⁿ p. It rounds once if the result is denormal.
func (g *isa) scale(p, n vec) vec {
	if g.bits == 512 {
		r := g.vec()
		g.do(g.VSCALEFPD, g.VSCALEFPS, n, p, r)
		return r
	}
	half := g.copyOf(n)
	g.timesPlus(half, g.inReg(g.con(0.5)), g.con(round))
	rest := g.add(g.sub(n, g.sub(half, g.con(round))), g.con(round))
	return g.mul(g.mul(p, g.powerOfTwo(half)), g.powerOfTwo(rest))
}

// powerOfTwo returns 2ⁿ, if n is the low bits of a number to which round was added.
func (g *isa) powerOfTwo(n vec) vec { return g.addInt(g.shiftLeft(n, 52), g.word(oneBits)) }

// log returns ln x = k ln 2 + ln m, where x = 2ᵏ m and √½ ≤ m < √2. It first scales denormal x.
func (g *isa) log(x vec) vec {
	tiny := g.con(smallestNormal)
	u := g.where(x, less, tiny, g.mul(x, g.con(0x1p54)), x)
	k, m := g.split(u)
	k = g.where(x, less, tiny, g.sub(k, g.con(54)), k)
	return g.logEdges(x, x, g.logOf(k, g.sub(m, g.con(1))))
}

// log1p returns ln(1+x) = ln u + ln(1+c/u). u is 1+x rounded, and c is what the rounding lost.
func (g *isa) log1p(x vec) vec {
	u := g.add(x, g.con(1))
	back := g.sub(u, g.con(1))
	c := g.add(g.sub(x, back), g.sub(g.inReg(g.con(1)), g.sub(u, back)))
	k, m := g.split(u)
	// Divide c by 2ᵏ. For u from 2⁶⁰ on, c doesn't matter, and 0 takes its place.
	scale := g.addInt(g.subInt(m, u), g.word(oneBits))
	c = g.where(u, less, g.con(0x1p60), g.mul(c, scale), g.zero())
	r := g.logEdges(u, x, g.logOf(k, g.add(g.sub(m, g.con(1)), c)))
	// For tiny x, ln(1+x) is x to the last bit. Returning x keeps the sign of 0.
	return g.where(g.abs(x), less, g.con(0x1p-54), x, r)
}

// split returns k and m with x = 2ᵏ m and √½ ≤ m < √2, for normal x > 0.
func (g *isa) split(x vec) (k, m vec) {
	h := g.addInt(x, g.word(oneBits-sqrtHalfBits))
	k = g.sub(g.or(g.shiftRight(h, 52), g.word(exponentToIntBits)), g.con(0x1p52+1023))
	m = g.addInt(g.and(h, g.word(mantissaBits)), g.word(sqrtHalfBits))
	return k, m
}

// logOf returns k ln 2 + ln(1+f) for √½ ≤ 1+f < √2. With s = f/(2+f), ln(1+f) = 2 artanh s = f − f²/2 + s(f²/2 + R),
// where R = s²·logCoefs. The error of this form is near ½ ulp, because f is exact (Tang 1990).
func (g *isa) logOf(k, f vec) vec {
	s := g.div(f, g.add(f, g.con(2)))
	z := g.mul(s, s)
	half := g.mul(g.mul(f, f), g.con(0.5))
	r := g.polynomial(z, logCoefs)
	g.timesPlus(r, z, half) // f²/2 + R
	low := g.mul(k, g.con(ln2Rest))
	g.plusProduct(low, s, r)
	e := g.sub(f, g.sub(half, low))
	g.plusProduct(e, k, g.con(ln2Short))
	return e
}

// logEdges returns r except at the edges: −Inf if u is 0, NaN if u is negative or NaN, and x if x is +Inf.
func (g *isa) logEdges(u, x, r vec) vec {
	bad := g.where(u, equal, g.zero(), g.con(math.Inf(-1)), g.inReg(g.con(math.NaN())))
	r = g.where(u, greater, g.zero(), r, bad)
	return g.where(x, equal, g.con(math.Inf(1)), x, r)
}

func (g *isa) abs(x vec) vec { return g.and(x, g.word(math.MaxInt64)) }

func (g *isa) zero() vec {
	r := g.vec()
	g.VXORPD(r, r, r)
	return r
}
