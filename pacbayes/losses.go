package pacbayes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/quadrature"
)

// Kind names the shape of a loss.
type Kind string

// The losses of Reeb et al. 2018, App. C, and Scaled.
// All lie in [0,1] and are quasi-convex in the prediction ŷ.
// A loss of RegisterLoss needn't be quasi-convex. ε is Loss.Below.
// scale is |y| of the row, except for Scaled.
const (
	// Band is ℓ1 = 1{|y−ŷ| > ε}, Eq 18.
	Band Kind = "band"
	// ClippedSquare is ℓ2 = min(((y−ŷ)/ε)², 1), Eq 19.
	ClippedSquare Kind = "clipped-square"
	// Gaussian is ℓexp = 1 − exp(−((y−ŷ)/ε)²), Eq 20.
	Gaussian Kind = "gaussian"
	// Relative is ℓ± of Eq 21 with r± = y ± ε·scale; ε has no unit.
	Relative Kind = "relative"
	// Asymmetric is ℓ± of Eq 21 with r− = y − Below and r+ = y + Above.
	Asymmetric Kind = "asymmetric"
	// Scaled is 1{|y−ŷ| > ε·scale}. scale is the predictor's own standard deviation of y at the
	// row, so ε counts standard deviations. They are declared with the predictor before the rows
	// are seen.
	Scaled Kind = "scaled"
	// ClippedAbsolute is min(|ŷ−y|/scale, 1) = min(|ŷ/y − 1|, 1), without ε (App. C prints max for
	// min).
	ClippedAbsolute Kind = "clipped-absolute"
	// LogDensity is ½ + (ln s + (y−ŷ)²/2s² − ½)/2ε, clipped to [0,1], with s = scale as for Scaled.
	// Less the constant of LogDensity's NegativeLog, it is −ln of the normal density of y with the
	// mean ŷ and the standard deviation s, and ε counts nats.
	LogDensity Kind = "log-density"
	// Label counts wrong labels: 1{ŷ ≤ y−ε} if y > 0, else 1{ŷ ≥ y+ε}.
	// With ε = ½, labels y are 0 and 1, and ŷ is the probability of 1.
	// With ε = 1, labels y are ±1, and ŷ is a function with the label's sign (Seeger 2002).
	// A ŷ in the middle counts as wrong for both labels.
	Label Kind = "label"
)

// losing is a loss with its name in options and files. of is nil for the losses of this package.
type losing struct {
	kind Kind
	of   func(miss float64) float64
}

// register holds the losses in the order in which krigo lists them for people.
var register = []losing{{Band, nil}, {ClippedSquare, nil}, {Gaussian, nil}, {Relative, nil},
	{Scaled, nil}, {Asymmetric, nil}, {ClippedAbsolute, nil}, {LogDensity, nil}, {Label, nil}}

// RegisterLoss makes a loss known to options, flags, model files and certificates by the name kind.
// The loss of a prediction that misses by miss = (ŷ − y)/ε is of(miss), from 0 to 1.
// Call RegisterLoss from an init function. It panics if the name is taken.
//
// krigo computes a registered loss's expectation over a random draw by quadrature, which gives no
// bound. So krigo certifies such a loss only for a mean that was fixed before the certified rows
// were seen (Terms.MeanAlone), from the loss's values on these rows.
// There is no certificate if a value lies outside [0, 1] or isn't a number.
func RegisterLoss(kind Kind, of func(miss float64) float64) {
	if kind == "" || of == nil || slices.ContainsFunc(register, func(n losing) bool {
		return n.kind == kind
	}) {
		panic(fmt.Sprintf("pacbayes: the loss %q is registered already, or has no name or function",
			kind))
	}
	register = append(register, losing{kind, of})
}

// Losses lists the losses that ParseLoss knows.
func Losses() []Kind {
	return lists.Of(register, func(n losing) Kind { return n.kind })
}

// registered returns the function of a loss that RegisterLoss added, or nil for other losses.
func (k Kind) registered() func(miss float64) float64 {
	n, _ := lists.Find(register, func(n losing) bool { return n.kind == k })
	return n.of
}

// ByQuadrature says whether krigo computes the expectation over a random draw by quadrature, which
// gives no bound.
func (k Kind) ByQuadrature() bool { return k == LogDensity || k.registered() != nil }

// OwnSD says whether the scale of a row is the predictor's own standard deviation of y.
func (k Kind) OwnSD() bool { return k == Scaled || k == LogDensity }

// Loss is a bounded loss ℓ(y, ŷ) ∈ [0,1].
//
// Below is the half-width ε, in the units of y.
// It has no unit for Relative and Scaled, and ClippedAbsolute doesn't use it.
// Only Asymmetric uses Above: Below and Above are then the distances allowed below and above y.
type Loss struct {
	Kind  Kind
	Below float64
	Above float64
}

// ParseLoss returns the kind with this name. Its error lists the valid names.
func ParseLoss(name string) (Kind, error) {
	names := make([]string, len(register))
	for i, l := range register {
		if names[i] = string(l.kind); name == names[i] {
			return l.kind, nil
		}
	}
	return "", fmt.Errorf("unknown loss %q: want one of %s", name, strings.Join(names, ", "))
}

// Validate refuses an unknown kind, and a half-width that the kind needs but that isn't positive
// and finite.
func (l Loss) Validate() error {
	good := func(w float64) bool { return w > 0 && !math.IsInf(w, 1) }
	_, unknown := ParseLoss(string(l.Kind))
	if unknown != nil || l.Kind == ClippedAbsolute {
		return unknown
	}
	return faults.First(
		faults.If(!good(l.Below) && l.Kind == Asymmetric,
			"loss %s: the tolerance below must be positive and finite, not %v", l.Kind, l.Below),
		faults.If(l.Below == 0, "loss %s: give an epsilon above 0", l.Kind),
		faults.If(!good(l.Below),
			"loss %s: ε must be positive and finite, not %v", l.Kind, l.Below),
		faults.If(!good(l.Above) && l.Kind == Asymmetric,
			"loss %s: the tolerance above must be positive and finite, not %v", l.Kind, l.Above),
	)
}

// IsZeroOne reports whether the loss takes the values 0 and 1 only, so that an
// exact binomial bound applies to a deterministic predictor.
func (l Loss) IsZeroOne() bool {
	return l.Kind == Band || l.Kind == Relative || l.Kind == Scaled || l.Kind == Asymmetric ||
		l.Kind == Label
}

// Unitless reports whether the loss reads the scale of a row, so that ε has no unit:
// it is a share of |y|, or a number of standard deviations, which differ from row to row.
func (l Loss) Unitless() bool {
	return l.Kind == Relative || l.Kind == ClippedAbsolute || l.Kind.OwnSD()
}

// NegativeLog returns −ln of a normal density, in nats, whose LogDensity is risk. A mean of many
// is the mean of their LogDensity, since the one is linear in the other. It is ½ ln 2πe, that of a
// standard normal distribution on average, if risk is ½, and ε more if risk is 1.
func (l Loss) NegativeLog(risk float64) float64 {
	return 0.5*math.Log(2*math.Pi*math.E) + l.Below*(2*risk-1)
}

// interval returns the distances below and above y within which a 0/1 loss is 0.
func (l Loss) interval(scale float64) (below, above float64) {
	switch l.Kind {
	case Relative, Scaled:
		return l.Below * scale, l.Below * scale
	case Asymmetric:
		return l.Below, l.Above
	}
	return l.Below, l.Below
}

// Point returns the loss ℓ(y, mean) of a point prediction (Reeb et al. 2018, Eqs 18–21).
// y, mean and scale have the same unit. Only Unitless losses use scale ≥ 0:
// |y| measured from the target's own zero, or for Scaled a standard deviation.
// If scale is 0, every prediction but y itself loses 1.
func (l Loss) Point(y, mean, scale float64) float64 {
	// If y or mean is NaN, so is the loss, for every kind.
	d := y - mean
	switch l.Kind {
	case Band, Relative, Scaled, Asymmetric:
		below, above := l.interval(scale)
		return indicator(d, !(-above <= d && d <= below))
	case Label:
		return indicator(d, !(sideOf(y)*d < l.Below))
	case ClippedSquare:
		t := d / l.Below
		return min(t*t, 1)
	case Gaussian:
		t := d / l.Below
		return -math.Expm1(-t * t)
	case ClippedAbsolute:
		if scale == 0 {
			return indicator(d, d != 0)
		}
		return min(math.Abs(d)/scale, 1)
	case LogDensity:
		if scale == 0 {
			return indicator(d, d != 0)
		}
		t := d / scale
		return max(0, min(0.5+(math.Log(scale)+t*t/2-0.5)/(2*l.Below), 1))
	}
	// A registered loss takes the signed error of the prediction, in units of ε. A value outside
	// [0, 1] becomes NaN, which no certificate accepts.
	if of := l.Kind.registered(); of != nil {
		if v := of(-d / l.Below); !math.IsNaN(d) && 0 <= v && v <= 1 {
			return v
		}
		return math.NaN()
	}
	panic(fmt.Sprintf("pacbayes: unknown loss %q", l.Kind))
}

// sideOf returns 1 for the larger of two labels, and −1 for the smaller one.
func sideOf(y float64) float64 {
	if y > 0 {
		return 1
	}
	return -1
}

// indicator returns 1 if miss, else 0, and NaN if d is NaN.
func indicator(d float64, miss bool) float64 {
	switch {
	case math.IsNaN(d):
		return d
	case miss:
		return 1
	}
	return 0
}

// minVariance stands for a variance of 0. Its root, 1e-150, is smaller than any distance in use,
// and a number can be divided by it twice without overflow.
const minVariance = 1e-300

// Expected returns the expected loss of a random draw (Reeb et al. 2018, Eqs 25–29),
//
//	e = E ℓ(y, v),  v ~ N(mean, variance),
//
// and its derivatives ∂e/∂mean (per unit of y) and ∂e/∂variance (per unit squared).
// y, mean and scale are as for Point. variance is the latent variance, in units of y squared.
// With D = y−mean, σ² = variance, a = (D−below)/σ, b = (D+above)/σ:
//
//	label:           e = Φ(a) if y > 0, else Φ(−b)
//	other 0/1:       e = Φ(a) + Φ(−b)
//	clipped-square:  e = Φ(a) + Φ(−b) + (D²+σ²)(Φ(b)−Φ(a))/ε² + (σ/ε²)((D−ε)φ(b) − (D+ε)φ(a))
//	gaussian:        e = 1 − (1+2σ²/ε²)^(−1/2) exp(−D²/(ε²+2σ²))
//	clipped-absolute, w = scale, a = (D−w)/σ, b = (D+w)/σ, c = D/σ:
//	                 e = Φ(a) + Φ(−b) + (D(2Φ(c)−Φ(a)−Φ(b)) + σ(2φ(c)−φ(a)−φ(b)))/w
//
// The formulas of clipped-square and gaussian are Eqs 27 and 28 with their misprints corrected.
// No form subtracts near-equal tails. So risks keep their relative accuracy down to 1e-300, and
// derivatives except next to their zeros.
//
// At variance 0 e is Point. The derivatives are then 0 for a 0/1 loss, and for other losses those
// at the variance 1e-300. A negative variance counts as 0.
// If the loss uses scale, and scale is 0, e is 1 with derivatives 0 (for a positive variance).
// The results are NaN if an argument is NaN.
func (l Loss) Expected(y, mean, variance, scale float64) (e, dMean, dVar float64) {
	if variance <= minVariance {
		e = l.Point(y, mean, scale)
		if l.IsZeroOne() || (l.Unitless() && scale == 0) {
			return e, 0, 0
		}
		_, dMean, dVar = l.expected(y-mean, math.Sqrt(minVariance), scale)
		return e, dMean, dVar
	}
	if l.Kind == Label {
		return expectedLabel(sideOf(y), y-mean, l.Below, math.Sqrt(variance))
	}
	e, dMean, dVar = l.expected(y-mean, math.Sqrt(variance), scale)
	return min(max(e, 0), 1), dMean, dVar
}

// Draw is the distribution of Back(u), u ~ N(Mean, Variance).
// Back is the inverse of the increasing function Forth.
type Draw struct {
	Forth, Back    func(float64) float64
	Mean, Variance float64
}

// OfDraw returns the expected loss of a draw:
// in closed form if the loss is 0 or 1, else by quadrature.
func (l Loss) OfDraw(d Draw, y, scale float64) (e float64) {
	if l.IsZeroOne() {
		below, above := l.interval(scale)
		at := d.Forth(y)
		e, _, _ = Loss{Asymmetric, at - d.Forth(y-below), d.Forth(y+above) - at}.Expected(at,
			d.Mean, d.Variance, 0)
		return e
	}
	nodes, weights := quadrature.Normal()
	for k, z := range nodes {
		e += weights[k] * l.Point(y, d.Back(d.Mean+math.Sqrt(d.Variance)*z), scale)
	}
	return e
}

// expected does the work of Expected for d = y−mean and a standard deviation s > 0.
func (l Loss) expected(d, s, scale float64) (e, dMean, dVar float64) {
	switch l.Kind {
	case Band, Relative, Scaled, Asymmetric:
		below, above := l.interval(scale)
		return expectedInterval(d, s, below, above)
	case Gaussian:
		return expectedGaussian(d, s, l.Below)
	}
	if l.Kind.ByQuadrature() {
		return l.expectedByQuadrature(d, s, scale)
	}
	// The expectations of the other two losses are even in d.
	sign := 1.0
	if d < 0 {
		d = -d
		sign = -1
	}
	switch l.Kind {
	case ClippedSquare:
		e, dMean, dVar = expectedSquare(d, s, l.Below)
	case ClippedAbsolute:
		e, dMean, dVar = expectedAbsolute(d, s, scale)
	default:
		panic(fmt.Sprintf("pacbayes: unknown loss %q", l.Kind))
	}
	return e, sign * dMean, dVar
}

// pdf returns φ(x), the standard normal density.
func pdf(x float64) float64 { return math.Exp(-x*x/2) / (math.Sqrt2 * math.SqrtPi) }

// tail returns Q(x) = Φ(−x) = 1−Φ(x), the upper tail of the standard normal.
func tail(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// expectedInterval computes Eq 26 and Eq 29:
//
//	e = Φ(a) + Φ(−b),   ∂m = (φ(b)−φ(a))/σ,   ∂σ² = (bφ(b)−aφ(a))/(2σ²).
//
// The differences would cancel if the interval is narrow.
// So the code takes out the larger density, for example φ(b) = φ(a)e^−x with x = (b²−a²)/2 formed
// from b−a.
func expectedInterval(d, s, below, above float64) (e, dMean, dVar float64) {
	a := (d - below) / s
	b := (d + above) / s
	width := (below + above) / s
	x := width * ((2*d + above - below) / (2 * s))
	e = tail(-a) + tail(b)
	var first, second float64 // φ(b)−φ(a), bφ(b)−aφ(a)
	if x >= 0 {
		f := pdf(a)
		r := math.Expm1(-x)
		if f == 0 {
			return e, 0, 0 // this avoids 0·Inf
		}
		first = f * r
		second = f * (width + b*r)
	} else {
		f := pdf(b)
		r := math.Expm1(x)
		if f == 0 {
			return e, 0, 0
		}
		first = -f * r
		second = f * (width - a*r)
	}
	return e, first / s, second / (2 * s * s)
}

// expectedLabel computes e = Φ(a), a = (side·d − ε)/σ, with ∂m = −side φ(a)/σ and ∂σ² =
// −aφ(a)/(2σ²).
func expectedLabel(side, d, eps, s float64) (e, dMean, dVar float64) {
	a := (side*d - eps) / s
	f := pdf(a)
	if f == 0 {
		return tail(-a), 0, 0 // this avoids 0·Inf
	}
	return tail(-a), -side * f / s, -a * f / (2 * s * s)
}

// expectedGaussian computes Eq 28 with 2σ̂² in the exponent, where the paper prints 2σ̂:
//
//	e = 1−g,  g = (1+2σ²/ε²)^(−1/2) exp(−D²/w),  w = ε²+2σ²,
//	∂m = −2Dg/w,   ∂σ² = g(1−2D²/w)/w.
func expectedGaussian(d, s, eps float64) (e, dMean, dVar float64) {
	w := eps*eps + 2*s*s
	r := d * (d / w)
	lg := -0.5*math.Log1p(2*(s/eps)*(s/eps)) - r
	g := math.Exp(lg)
	if g == 0 {
		return 1, 0, 0
	}
	return -math.Expm1(lg), -2 * d * g / w, g * (1 - 2*r) / w
}

// expectedByQuadrature computes E ℓ, ∂m = E ℓz/σ and ∂σ² = E ℓ(z²−1)/(2σ²) by quadrature.
func (l Loss) expectedByQuadrature(d, s, scale float64) (e, dMean, dVar float64) {
	nodes, weights := quadrature.Normal()
	for k, z := range nodes {
		v := weights[k] * l.Point(d, s*z, scale)
		e = e + v
		dMean = dMean + v*z/s
		dVar = dVar + v*(z*z-1)/(2*s*s)
	}
	return e, dMean, dVar
}

// narrow is the half-width, in standard deviations, below which quadrature replaces the closed
// forms of the clipped losses. There the closed forms lose (σ/ε)² digits.
const narrow = 4

// expectedSquare computes Eq 27, corrected, for d ≥ 0:
//
//	∂m = (2/ε²)(−DΔΦ + σ(φ(a)−φ(b))),   ∂σ² = ΔΦ/ε² − (φ(a)+φ(b))/(εσ),
//
// ΔΦ = Φ(b)−Φ(a) is a difference of upper tails if a > 0.
func expectedSquare(d, s, eps float64) (e, dMean, dVar float64) {
	a := (d - eps) / s
	b := (d + eps) / s
	if eps < narrow*s {
		var m moments
		m.add(parabola, a, eps/s, 0, 2)
		return m.expectation(s)
	}
	fa := pdf(a)
	fb := pdf(b)
	if a > 0 && fa == 0 {
		return 1, 0, 0 // this avoids Inf·0
	}
	out := tail(-a) + tail(b)
	in := 1 - out
	if a > 0 {
		in = tail(a) - tail(b)
	}
	t := d / eps
	r := s / eps
	e = out + (t*t+r*r)*in + r*((t-1)*fb-(t+1)*fa)
	dMean = 2 / eps * (r*(fa-fb) - t*in)
	dVar = (in - (fa+fb)/r) / eps / eps
	return e, dMean, dVar
}

// expectedAbsolute computes E min(|u|/w, 1) for u = v−y ~ N(−D, σ²), d = D ≥ 0:
//
//	P(|u|>w) = Φ(a) + Φ(−b)
//	E|u|1{|u|≤w} = ∫₀^w u N(u|−D) + ∫₀^w u N(u|D)
//	            = D(2Φ(c)−Φ(a)−Φ(b)) + σ(2φ(c)−φ(a)−φ(b)),
//
// The last step holds since ∫ u N(u|μ) over an interval is μ times the interval's mass plus σ times
// the fall of the density φ across it. Under the integral, ∂m = E ℓ'(v) counts the mass on the two
// slopes ±1/w, and ∂σ² = ½E ℓ″(v) counts the kinks (2/w at 0, −1/w at ±w):
//
//	∂m = −T/w,  T = 2Φ(c)−Φ(a)−Φ(b);   ∂σ² = (2φ(c)−φ(a)−φ(b))/(2wσ).
//
// The code computes T from upper tails Q, so that T has full accuracy as D → 0:
// Q(a)−2Q(c)+Q(b) if a > 0 (Q(a) dominates), and erf(c/√2)−Q(−a)+Q(b) if a ≤ 0.
func expectedAbsolute(d, s, w float64) (e, dMean, dVar float64) {
	// With a clip of 0 every value but y itself loses 1.
	if w == 0 {
		return 1, 0, 0
	}
	a := (d - w) / s
	b := (d + w) / s
	c := d / s
	// The kink at y splits the interval into two panels. The loss is smooth on each.
	if w < narrow*s {
		var m moments
		m.add(tent, a, w/s, 0, 1)
		m.add(tent, a, w/s, 1, 2)
		return m.expectation(s)
	}
	fa := pdf(a)
	fb := pdf(b)
	fc := pdf(c)
	// The mean lies so far out that the density at the near edge underflows: the loss is 1.
	if a > 0 && fa == 0 {
		return 1, 0, 0
	}
	t := math.Erf(c/math.Sqrt2) - tail(-a) + tail(b)
	if a > 0 {
		t = tail(a) - 2*tail(c) + tail(b)
	}
	f := 2*fc - fa - fb
	e = tail(-a) + tail(b) + (d/w)*t + (s/w)*f
	return e, -t / w, f / s / (2 * w)
}

// moments holds ∫(1−ℓ)φ(z)dz, ∫(1−ℓ)zφ(z)dz and ∫(1−ℓ)(z²−1)φ(z)dz, z = (v−m)/σ, for a loss ℓ that
// is 1 outside an interval. Integration by parts leaves no derivative of ℓ, so that these moments
// give E ℓ and its derivatives, and nothing cancels.
type moments struct{ m0, m1, m2 float64 }

// expectation returns E ℓ and its derivatives, from the moments.
func (m *moments) expectation(s float64) (e, dMean, dVar float64) {
	return 1 - m.m0, -m.m1 / s, -m.m2 / (2 * s * s)
}

// parabola and tent are the shapes 1−ℓ of the clipped losses at s = 1+(v−y)/ε ∈ [0,2].
// s counts from the edge nearer to the mean, which keeps the digits of 1−ℓ if the density weighs
// only this edge.
func parabola(s float64) float64 { return s * (2 - s) }
func tent(s float64) float64     { return min(s, 2-s) }

// add adds the part from lo to hi, in s, of the interval that starts at z = a and is 2h wide, h <
// narrow. 32 nodes are exact to rounding over a range of z in which φ falls by at most e^40.
// What lies beyond this range is below rounding.
func (m *moments) add(shape func(float64) float64, a, h, lo, hi float64) {
	const fall = 40
	if a > 0 {
		// Here a + h·s = √(a²+2·fall), computed without a difference.
		hi = min(hi, 2*fall/(a+math.Sqrt(a*a+2*fall))/h)
	}
	if math.IsInf(a, 0) || hi <= lo {
		return
	}
	for i, x := range legendre.x {
		s := lo + (hi-lo)*x
		z := a + h*s
		w := legendre.w[i] * (hi - lo) * h * pdf(z) * shape(s)
		m.m0 += w
		m.m1 += w * z
		m.m2 += w * (z*z - 1)
	}
}

// legendre is the 32-point Gauss–Legendre rule on [0,1].
var legendre = func() (r struct{ x, w [32]float64 }) {
	quad.Legendre{}.FixedLocations(r.x[:], r.w[:], 0, 1)
	return r
}()

// checkRows panics if slices of a sample of n rows have other lengths, or if the loss needs scales
// and there are none.
func (l Loss) checkRows(n int, mean, scale []float64) {
	if len(mean) != n || (scale != nil && len(scale) != n) {
		panic("pacbayes: slices of unequal length")
	}
	if scale == nil && l.Unitless() {
		panic(fmt.Sprintf("pacbayes: the loss %q needs the scale of each row", l.Kind))
	}
}
