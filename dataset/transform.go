package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/compensated"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/quadrature"
)

// Transforms returns the names of the transforms T.
// With a transform a model sees the target y as T(y).
// Let x be y + 1 for log1p and yeo-johnson, and y for the other transforms.
// T is ln x for log and log1p. For sqrt, boxcox and yeo-johnson T is (x^λ − 1)/λ, or ln x if λ = 0.
// λ is ½ for sqrt, and the most likely λ for boxcox and yeo-johnson.
// For y < 0, yeo-johnson is −((1 − y)^(2−λ) − 1)/(2 − λ).
func Transforms() []string { return []string{"log", "log1p", "sqrt", boxCox, yeoJohnson} }

const (
	boxCox = "boxcox" // Box and Cox, "An analysis of transformations", JRSS B 26, 1964
	// Yeo and Johnson, "A new family of power transformations …", Biometrika 87, 2000
	yeoJohnson = "yeo-johnson"
)

// Transform is a T with constants from prior rows.
// It is an increasing function that maps all numbers onto all numbers.
type Transform struct {
	Name   string  `json:"name"`
	Lambda float64 `json:"lambda,omitzero"`
	// From is where T turns into its tangent. Below From, T is the straight line that goes on from
	// there. So a target that no prior row has, such as 0, has a T(y) too.
	// From is 0 for yeo-johnson, which needs no tangent.
	From  float64 `json:"from,omitzero"`
	Mean  float64 `json:"mean"` // mean of T(y) on prior rows; Scale is their standard deviation
	Scale float64 `json:"scale"`
	// Estimate says what a prediction is. Median: the target's median. Mean: the target's mean,
	// given that f equals f's own mean.
	Estimate string `json:"estimate"`
}

// Values of [Transform.Estimate].
const (
	Median = "median"
	Mean   = "mean"
)

// λ is the best value of a grid from 0 to 2. With a λ outside, T or its inverse would have no
// values at some numbers.
const (
	lambdaSteps = 40
	mostLambda  = 2
)

// fromShare, times the smallest positive x of the prior rows, is the x at which the tangent begins.
const fromShare = 1. / 8

// transformOf returns a T whose constants it finds from targets y.
// The targets must lie in the domain of T.
func transformOf(name, estimate string, y []float64) (t Transform, err error) {
	t = Transform{Name: name, Estimate: estimate}
	// Below From, T is continued by its tangent. Every positive x of these targets is above From's.
	if name != yeoJohnson {
		least := math.Inf(1)
		for _, v := range y {
			if x := v + t.shift(); x > 0 {
				least = min(least, x)
			}
		}
		t.From = fromShare*least - t.shift()
	}
	most := math.Inf(-1)
	// λ is the number on a grid at which the targets are likeliest. If the name fixes λ, all steps
	// are the same, and the first is taken.
	for k := range lambdaSteps + 1 {
		at := t
		at.Lambda = float64(mostLambda*k) / lambdaSteps
		if name != boxCox && name != yeoJohnson {
			at.Lambda = t.lambda()
		}
		if v := at.fit(y); v > most {
			t = at
			most = v
		}
	}
	if math.IsInf(most, -1) {
		return t, fmt.Errorf("target-transform %s: the transformed targets are all equal, or not "+
			"finite: choose another", name)
	}
	return t, nil
}

// fit sets Mean and Scale to the moments of T(y), and returns the log likelihood of y if T(y) is
// Gaussian. It returns −∞ if there is no such likelihood.
func (t *Transform) fit(y []float64) float64 {
	n := float64(len(y))
	var sum, squares, slopes compensated.Sum
	for _, v := range y {
		sum.Add(t.at(v))
		slopes.Add(math.Log(t.slope(v)))
	}
	t.Mean = sum.Value() / n
	for _, v := range y {
		d := t.at(v) - t.Mean
		squares.Add(d * d)
	}
	t.Scale = math.Sqrt(squares.Value() / n)
	likelihood := slopes.Value() - n*math.Log(t.Scale)
	if !(t.Scale > 1e-13*math.Abs(t.Mean)) || math.IsInf(t.Scale, 1) || math.IsNaN(likelihood) {
		return math.Inf(-1) // T(y) is constant but for rounding, or isn't finite
	}
	return likelihood
}

// check returns an error if t has values that transformOf never makes.
func (t *Transform) check() error {
	steps := t.Lambda * lambdaSteps / mostLambda
	power := t.Name == boxCox || t.Name == yeoJohnson
	onGrid := 0 <= steps && steps <= lambdaSteps && math.Abs(steps-math.Round(steps)) < 1e-9
	constants := allFinite([]float64{t.Mean, t.Scale, t.From}) && t.Scale > 0
	starts := t.From+t.shift() > 0
	if t.Name == yeoJohnson {
		starts = t.From == 0
	}
	return faults.First(
		faults.If(!slices.Contains(Transforms(), t.Name),
			"the transform %.40q isn't known", t.Name),
		faults.If((power && !onGrid) || (!power && t.Lambda != t.lambda()),
			"the transform %s can't have λ = %v", t.Name, t.Lambda),
		faults.If(!constants || !starts, "the transform %s can't have these constants", t.Name),
		faults.If(t.Estimate != Median && t.Estimate != Mean,
			"target-estimate %.40q: want median or mean", t.Estimate),
	)
}

// lambda returns the λ of a transform whose name fixes it: ½ for sqrt, and 0 for log and log1p.
func (t *Transform) lambda() float64 {
	if t.Name == "sqrt" {
		return 0.5
	}
	return 0
}

// shift returns x − y, where Transforms defines x.
func (t *Transform) shift() float64 {
	if t.Name == "log1p" || t.Name == yeoJohnson {
		return 1
	}
	return 0
}

// power returns (x^λ − 1)/λ, or ln x for λ = 0: the power of Box and Cox, for x > 0.
func power(lambda, x float64) float64 {
	if lambda == 0 {
		return math.Log(x)
	}
	return (math.Pow(x, lambda) - 1) / lambda
}

// root returns the x whose power is u. It returns 0 for u below the power's range.
func root(lambda, u float64) float64 {
	if lambda == 0 {
		return math.Exp(u)
	}
	return math.Pow(max(lambda*u+1, 0), 1/lambda)
}

// at returns T(y).
func (t *Transform) at(y float64) float64 {
	switch at := t.From; {
	case y >= at:
		return power(t.Lambda, y+t.shift())
	case t.Name == yeoJohnson:
		return -power(2-t.Lambda, 1-y)
	default:
		return power(t.Lambda, at+t.shift()) + (y-at)*t.slope(at)
	}
}

// slope returns T'(y).
func (t *Transform) slope(y float64) float64 {
	if y < t.From && t.Name == yeoJohnson {
		return math.Pow(1-y, 1-t.Lambda)
	}
	return math.Pow(max(y, t.From)+t.shift(), t.Lambda-1)
}

// inverse returns T⁻¹(u).
func (t *Transform) inverse(u float64) float64 {
	switch below := t.at(t.From); {
	case u >= below:
		return root(t.Lambda, u) - t.shift()
	case t.Name == yeoJohnson:
		return 1 - root(2-t.Lambda, -u)
	default:
		return t.From + (u-below)/t.slope(t.From)
	}
}

// moments returns the mean and variance of T⁻¹(u) for u ~ N(mean, sd²).
// It uses Gauss's rule on panels of two standard deviations.
// The panels reach nine standard deviations beyond the u where T⁻¹(u)² times the density is
// largest. This u has a bound, because T⁻¹ grows no faster than e^u.
func (t *Transform) moments(mean, sd float64) (m, variance float64) {
	const reach, panel, farthest = 9, 2, 60
	middle := t.inverse(mean)
	if !(sd > 0) {
		return middle, 0
	}
	// grow bounds, in standard deviations, how far the factor T⁻¹(u)² moves the integrand's peak.
	grow := func(lambda, u float64) float64 {
		return min(2*sd/max(1+lambda*u, 1e-300), math.Sqrt(2/max(lambda, 1e-300)), farthest)
	}
	low := -float64(reach)
	high := reach + grow(t.Lambda, mean)
	if t.Name == yeoJohnson {
		low -= grow(2-t.Lambda, -mean)
	}
	edges := []float64{low}
	// T⁻¹ isn't smooth at T(From), so a panel ends there.
	kink := (t.at(t.From) - mean) / sd
	for z := low + panel; z < high+panel; z += panel {
		z := min(z, high)
		if last := edges[len(edges)-1]; last < kink && kink < z {
			edges = append(edges, kink)
		}
		edges = append(edges, z)
	}
	var first, second, mass float64
	quadrature.Panels(edges, func(z, w float64) {
		w *= math.Exp(-z * z / 2)
		// Differences from T⁻¹(mean) keep the digits of a small variance.
		d := t.inverse(mean+sd*z) - middle
		mass = mass + w
		first = first + w*d
		second = second + w*d*d
	})
	if first /= mass; !(second <= math.MaxFloat64) { // the weight 0 of an infinite d is NaN, too
		return middle + first, math.MaxFloat64
	}
	return middle + first, max(second/mass-first*first, 0)
}
