package objective

import (
	"math"

	"github.com/krigo-gp/krigo/internal/lists"
)

// StudentName is the name in model files of Student's t noise with StudentNu degrees of freedom.
const StudentName = "student"

// StudentNu is ν of Student's t noise. Tails of ν = 4 are heavy enough for gross errors, and y has
// a variance.
const StudentNu = 4

// Student is Student's t noise, y = f + √s T with StudentNu degrees of freedom.
// It is a mixture of Gaussian noises,
//
//	p(y|f) = ∫ N(y; f, s/w) Gamma(w; ν/2, ν/2) dw,  p(y) = ∫ N(y; μ, v + s/w) Gamma(w; ν/2, ν/2) dw
//
// for f of N(μ, v). Training bounds the evidence from below by q(f) q(w) (Tipping & Lawrence 2005,
// Eqs. 8–14): with
//
//	⟨w_i⟩ = (ν+1) / (ν + E[(y_i−f_i)²]/s),  a_i = 1/⟨w_i⟩,  D = s diag(a)
//
// the bound is ln N(y; m, K + D) + ½ Σ ln a_i + Σ {½⟨ln w_i⟩ − KL(q(w_i)‖p(w_i))}.
// For given q(w), only the first term depends on θ and s, and it is the evidence of Gaussian noise
// whose variance is s a_i in row i. So training alternates between this evidence and Factors, and
// the bound never falls.
type Student struct{}

var _ Likelihood = Student{}

func init() { likelihoods[StudentName] = Student{} }

// Factors returns a_i for rows with these moments of f_i.
func (Student) Factors(y, mean, variance []float64, s float64) []float64 {
	a := make([]float64, len(y))
	for i, m := range mean {
		d := y[i] - m
		a[i] = (StudentNu + (d*d+variance[i])/s) / (StudentNu + 1)
	}
	return a
}

// mixed holds the nodes of the trapezoidal rule over ln w, which converges like e^(−π²/h) for steps
// h. The first node is so low that a y of e^35 noise standard deviations still has a density.
type mixed struct{ logWeight, weight, perW []float64 }

// studentMixture has the nodes ln w = −70, −69.75, … below 4, with the density of ln w times the
// step as their weights, for w of Gamma(ν/2, ν/2).
var studentMixture = func() (m mixed) {
	const step, half = 0.25, StudentNu / 2.
	norm, _ := math.Lgamma(half)
	for t := -70.; t < 4; t += step {
		log := math.Log(step) + half*(math.Log(half)+t-math.Exp(t)) - norm
		m.logWeight, m.weight = append(m.logWeight, log), append(m.weight, math.Exp(log))
		m.perW = append(m.perW, math.Exp(-t))
	}
	return m
}()

// logStudent returns ln p(y|f).
func logStudent(y, f, s float64) float64 {
	half, _ := math.Lgamma((StudentNu + 1) / 2.)
	whole, _ := math.Lgamma(StudentNu / 2.)
	return half - whole - math.Log(StudentNu*math.Pi*s)/2 - (StudentNu+1)/2.*math.Log1p(
		(y-f)*(y-f)/(StudentNu*s))
}

// LogPredictive implements Likelihood by the mixture over w.
// It adds up the terms relative to the largest, so that they don't all underflow.
func (Student) LogPredictive(y, mean, variance, s float64) float64 {
	if variance == 0 {
		return logStudent(y, mean, s)
	}
	m := studentMixture
	d2 := (y - mean) * (y - mean)
	logs := make([]float64, len(m.perW))
	most := math.Inf(-1)
	for i, per := range m.perW {
		v := variance + s*per
		logs[i] = m.logWeight[i] - (math.Log(2*math.Pi*v)+d2/v)/2
		most = max(most, logs[i])
	}
	return most + math.Log(lists.Sum(logs, func(l float64) float64 { return math.Exp(l - most) }))
}

// above returns the probability that y − mean is more than u, and the density there.
func (Student) above(u, variance, s float64) (p, density float64) {
	for i, per := range studentMixture.perW {
		if studentMixture.weight[i] < 1e-20 {
			continue
		}
		z := u / math.Sqrt(variance+s*per)
		p += studentMixture.weight[i] * math.Erfc(z/math.Sqrt2) / 2
		density += studentMixture.weight[i] * math.Exp(-z*z/2) * z / u
	}
	return p, density / math.Sqrt(2*math.Pi)
}

// Spread implements Likelihood. The variance of y is v + sν/(ν−2).
// It takes Newton steps in a bracket to the 97.5 % quantile, which is 2.8√s for v = 0.
func (l Student) Spread(_, variance, s float64) (Spread, error) {
	low := 0.
	high := 4 * math.Sqrt(variance+s)
	u := high / 2
	for range 100 {
		p, density := l.above(u, variance, s)
		if p > 0.025 {
			low = u
		} else {
			high = u
		}
		next := u + (p-0.025)/density
		if !(low < next && next < high) {
			next = (low + high) / 2
		}
		if u, next = next, u; math.Abs(u-next) <= 1e-14*u {
			break
		}
	}
	v := variance + s*StudentNu/(StudentNu-2)
	return Spread{v, -u / math.Sqrt(v), u / math.Sqrt(v)}, nil
}

// NormalScore implements Likelihood. It takes the probability beyond |y − mean|, which keeps its
// digits far out, and gives the score the sign of y − mean.
func (l Student) NormalScore(y, mean, variance, s float64) (float64, error) {
	u := math.Abs(y - mean)
	if u == 0 {
		return 0, nil
	}
	p, _ := l.above(u, variance, s)
	return math.Copysign(math.Sqrt2*math.Erfcinv(2*p), y-mean), nil
}
