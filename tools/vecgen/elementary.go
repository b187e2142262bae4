package main

import (
	"math"
	"slices"

	op "github.com/mmcloughlin/avo/operand"
)

// elementary writes the functions that linalg offers on slices.
func elementary(g *isa) {
	one := func(name, doc string, f func(g *isa, x vec) vec) {
		g.write(function{
			name: name, doc: doc, in: []string{"x"}, out: []string{"y"},
			body: func(g *isa, in, _ []vec) (out, terms []vec) { return []vec{f(g, in[0])}, nil },
		})
	}
	one("exp", "writes exp(x_i) to y.", (*isa).exp)
	one("log", "writes ln x_i to y.", (*isa).log)
	one("log1p", "writes ln(1+x_i) to y.", (*isa).log1p)
	one("normalTail", "writes the upper tail of the standard normal at x_i to y.", (*isa).normalTail)
	one("sqrt", "writes √x_i to y.", (*isa).sqrt)
}

// Coefficients of polynomials below interpolate at Chebyshev nodes, in arithmetic
// of 300 bits, and are rounded to float64; the largest relative error of the
// function they serve stands beside them, in units of 2⁻⁵³.
var (
	// (eʳ−1−r)/r² for |r| ≤ ½ ln 2: 0.15 in eʳ.
	expCoefs = []float64{
		0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d68p-5, 0x1.11111111109b5p-7, 0x1.6c16c17889ef1p-10,
		0x1.a01a01a7c2efep-13, 0x1.a019b9149a41cp-16, 0x1.71de0db2f6b19p-19, 0x1.28917c89a43bcp-22, 0x1.af389ecfc4bb6p-26,
	}
	// The same for float32: 0.2 units of 2⁻²⁴ in eʳ.
	expSingleCoefs = []float64{0x1p-1, 0x1.5554dd04e58adp-3, 0x1.5555193389289p-5, 0x1.120b616c44764p-7,
		0x1.6d10fc65d1fcap-10}

	// (2 artanh s − 2s)/s³ as a function of s² for |s| ≤ (√2−1)/(√2+1): 0.05 in 2 artanh s.
	logCoefs = []float64{
		0x1.5555555555558p-1, 0x1.99999999952e2p-2, 0x1.2492492df148dp-2, 0x1.c71c62e580082p-3,
		0x1.7462b4ab2f814p-3, 0x1.39fe606530dfdp-3, 0x1.2b584aaf570a8p-3,
	}
	// Q(z) exp(z²/2) (1+z) as a function of (z−5)/(z+5) for 0 ≤ z ≤ 40, Q the upper
	// tail of the standard normal: 0.7.
	tailCoefs = []float64{
		0x1.d8979b0f2b39ep-2, -0x1.76ff86859eb0bp-4, 0x1.fc66cc64a1478p-6, 0x1.47c1d0305292ep-7, -0x1.b08e0007b7516p-6,
		0x1.92037bab679f1p-6, -0x1.f11aab0282cf5p-7, 0x1.ab6d0385a898cp-8, -0x1.b75f4fbb4d2fdp-10, 0x1.057220324f36ep-17,
		0x1.7e61efc8db195p-13, -0x1.c1b2624b7773ep-15, -0x1.4c1274443e9b1p-17, 0x1.300afc6551915p-17, -0x1.27aa131413db4p-24,
		-0x1.5fa15ebb4a482p-20, 0x1.0b7cba94ad2e0p-23, 0x1.aaec7ba104247p-23, -0x1.779193ace11a2p-26, -0x1.1249efe4f102fp-25,
		0x1.82cf80ab172abp-32, 0x1.1158c9e58cd01p-28, 0x1.9d63c13bae08fp-31,
	}
)

const (
	// Added to a number under 2⁵¹, round leaves it rounded to an integer, which stands
	// in the low bits of the sum.
	round       = 0x1.8p52
	roundSingle = 0x1.8p23 // for float32

	ln2Hi, ln2Lo      = 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 // both full: for use with FMA
	ln2Short, ln2Rest = 0x1.62e42fef00000p-1, 0x1.473de6af278edp-34 // the first with 33 bits: k·ln2Short is exact
	oneBits           = 0x3ff0000000000000
	mantissaBits      = 0x000fffffffffffff
	sqrtHalfBits      = 0x3fe6a09e00000000 // √½, to 20 bits
	exponentToIntBits = 0x4330000000000000 // 2⁵²: OR-ed with a small integer it is 2⁵² plus that
	smallestNormal    = 0x1p-1022
)

// exp is eˣ = 2ⁿ eʳ, x = n ln 2 + r, |r| ≤ ½ ln 2. Beyond the clamp the result is 0
// or +Inf by itself.
func (g *isa) exp(x vec) vec {
	x = g.clamp(x, -746, 710)
	n := g.times(x, math.Log2E)
	g.minusProduct(x, n, g.con(ln2Hi))
	g.minusProduct(x, n, g.con(ln2Lo))
	p := g.polynomial(x, expCoefs)
	g.timesPlus(p, g.mul(x, x), x)
	return g.scale(g.add(p, g.con(1)), n)
}

// expMinus is f·e⁻ᵘ for u ≥ 0, without the sign change: in r = −x it is exp with every
// other coefficient negated. One ln 2 will do: its rounding moves the result by less
// than a third of what that of u itself does. With AVX2, e⁻ᵘ is 0 where it is under
// e⁻⁷⁰⁸, which saves scaling in two steps.
func (g *isa) expMinus(u, f vec) vec {
	last, coefs, mantissa := 746., expCoefs, uint8(52)
	if g.bits == 256 {
		last = 708
	}
	if g.single {
		last, coefs, mantissa = 104, expSingleCoefs, 23
		if g.bits == 256 {
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

// round is the constant of that name, of g's elements.
func (g *isa) round() float64 {
	if g.single {
		return roundSingle
	}
	return round
}

// times is x·f, rounded to an integer under 2⁵¹.
func (g *isa) times(x vec, f float64) vec {
	n := g.copyOf(x)
	g.timesPlus(n, g.inReg(g.con(f)), g.con(g.round()))
	return g.sub(n, g.con(g.round()))
}

// scale is 2ⁿ p, rounded once where the result is denormal.
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

// powerOfTwo is 2ⁿ for n in the low bits of a number to which round was added.
func (g *isa) powerOfTwo(n vec) vec { return g.addInt(g.shiftLeft(n, 52), g.word(oneBits)) }

// log is ln x = k ln 2 + ln m, x = 2ᵏ m, √½ ≤ m < √2. Denormals are scaled first.
func (g *isa) log(x vec) vec {
	tiny := g.con(smallestNormal)
	u := g.where(x, less, tiny, g.mul(x, g.con(0x1p54)), x)
	k, m := g.split(u)
	k = g.where(x, less, tiny, g.sub(k, g.con(54)), k)
	return g.logEdges(x, x, g.logOf(k, g.sub(m, g.con(1))))
}

// log1p is ln u + ln(1+c/u), u = 1+x rounded, c what the rounding lost.
func (g *isa) log1p(x vec) vec {
	u := g.add(x, g.con(1))
	back := g.sub(u, g.con(1))
	c := g.add(g.sub(x, back), g.sub(g.inReg(g.con(1)), g.sub(u, back)))
	k, m := g.split(u)
	// c over 2ᵏ, which counts only while 2ᵏ is moderate.
	scale := g.addInt(g.subInt(m, u), g.word(oneBits))
	c = g.where(u, less, g.con(0x1p60), g.mul(c, scale), g.zero())
	r := g.logEdges(u, x, g.logOf(k, g.add(g.sub(m, g.con(1)), c)))
	// ln(1+x) = x to the last bit, and keeps the sign of 0.
	return g.where(g.abs(x), less, g.con(0x1p-54), x, r)
}

// split is x = 2ᵏ m with √½ ≤ m < √2 for normal x > 0.
func (g *isa) split(x vec) (k, m vec) {
	h := g.addInt(x, g.word(oneBits-sqrtHalfBits))
	k = g.sub(g.or(g.shiftRight(h, 52), g.word(exponentToIntBits)), g.con(0x1p52+1023))
	m = g.addInt(g.and(h, g.word(mantissaBits)), g.word(sqrtHalfBits))
	return k, m
}

// logOf is k ln 2 + ln(1+f) for √½ ≤ 1+f < √2: with s = f/(2+f), ln(1+f) = 2 artanh s
// = f − f²/2 + s(f²/2 + R), R = s²·logCoefs. The form keeps the error near ½ ulp since
// f is exact (Tang 1990).
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

// logEdges puts −Inf where u is 0, NaN where it is negative or NaN, and x where x is +Inf.
func (g *isa) logEdges(u, x, r vec) vec {
	bad := g.where(u, equal, g.zero(), g.con(math.Inf(-1)), g.inReg(g.con(math.NaN())))
	r = g.where(u, greater, g.zero(), r, bad)
	return g.where(x, equal, g.con(math.Inf(1)), x, r)
}

// normalTail is Q(x) = ½ erfc(x/√2) = exp(−z²/2) P/(1+z), z = |x|, and 1 − that for
// x < 0. The part of z² that its rounding loses enters as a factor, so that the far
// tail keeps its digits.
func (g *isa) normalTail(x vec) vec {
	z := g.clamp(g.abs(x), 0, 40)
	h := g.mul(z, z)
	lost := g.copyOf(z)
	g.timesMinus(lost, z, h)
	e := g.exp(g.mul(h, g.con(-0.5)))
	factor := g.inRegCopy(g.con(1))
	g.minusProduct(factor, lost, g.con(0.5))
	t := g.div(g.sub(z, g.con(5)), g.add(z, g.con(5)))
	p := g.mul(g.polynomial(t, tailCoefs), factor)
	q := g.mul(e, g.div(p, g.add(z, g.con(1))))
	return g.where(x, less, g.zero(), g.sub(g.inReg(g.con(1)), q), q)
}

func (g *isa) abs(x vec) vec { return g.and(x, g.word(math.MaxInt64)) }

func (g *isa) zero() vec {
	r := g.vec()
	g.VXORPD(r, r, r)
	return r
}

// inRegCopy is inReg for a caller that will change the register.
func (g *isa) inRegCopy(o op.Op) vec {
	r := g.vec()
	g.VMOVUPD(o, r)
	return r
}
