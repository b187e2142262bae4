package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// likert has five levels. The last isn't next to the others.
var likert = Ordinal{Levels: []float64{-1, 0, 1, 2, 5}}.With([]float64{0.2, -1.5, 0.6})

// TestOrdinalTilted compares ln Z with a sum over a fine grid, and its derivatives with differences.
func TestOrdinalTilted(t *testing.T) {
	for _, y := range likert.Levels {
		for _, c := range []struct{ m, v float64 }{{0, 1}, {1.3, 0.01}, {-4, 3}, {9, 0.5}, {2, 1e-6}, {-12, 40}} {
			got := likert.Tilted(y, c.m, c.v, 1)
			const steps = 400000
			mass, low, width := 0., c.m-14*math.Sqrt(c.v), 28*math.Sqrt(c.v)/steps
			for k := range steps {
				f := low + width*(float64(k)+0.5)
				a, b, _ := likert.ends(likert.at(y), f, 1)
				mass += (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2)) / 2 * math.Exp(-(f-c.m)*(f-c.m)/(2*c.v))
			}
			want := math.Log(mass * width / math.Sqrt(2*math.Pi*c.v))
			if want > -20 && math.Abs(got.Log-want) > 1e-8 { // else the grid's differences have no digits left
				t.Errorf("%g at %v: ln Z = %.12g, want %.12g", y, c, got.Log, want)
			}
			const h = 1e-4
			up, down := likert.Tilted(y, c.m+h, c.v, 1), likert.Tilted(y, c.m-h, c.v, 1)
			near := func(what string, got, want float64) {
				if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%g at %v: %s = %.10g, differences give %.10g", y, c, what, got, want)
				}
			}
			near("slope", got.Slope, (up.Log-down.Log)/(2*h))
			near("curve", got.Curve, (down.Slope-up.Slope)/(2*h))
			for k := range 2 {
				moved := func(by float64) float64 {
					of := likert
					of.Cuts = append([]float64(nil), likert.Cuts...)
					if at := of.at(y) - 1 + k; at >= 0 && at < len(of.Cuts) {
						of.Cuts[at] += by
					}
					return of.Tilted(y, c.m, c.v, 1).Log
				}
				near("by a cut", got.ByCuts[k], (moved(h)-moved(-h))/(2*h))
			}
		}
	}
}

// TestOrdinalPredictive shows that chances add up to 1, and compares moments, interval and density with them. The
// interval is the shortest with equal tails that holds 95 %. A level that no row had counts as the next lower level.
func TestOrdinalPredictive(t *testing.T) {
	for _, c := range []struct{ m, v float64 }{{0, 1}, {1.3, 0.01}, {-4, 3}, {20, 0.5}} {
		total, first, square := 0., 0., 0.
		p := likert.Chances(c.m, c.v, 1)
		for at, y := range likert.Levels {
			total, first, square = total+p[at], first+p[at]*y, square+p[at]*y*y
			if log := likert.LogPredictive(y, c.m, c.v, 1); math.Abs(log-likert.Tilted(y, c.m, c.v, 1).Log) > 1e-9*(1-log) {
				t.Errorf("%v: density %g of %g, but ln Z is %g", c, log, y, likert.Tilted(y, c.m, c.v, 1).Log)
			}
		}
		spread, err := likert.Spread(c.m, c.v, 1)
		sd := math.Sqrt(spread.Variance)
		low, high := math.Round(c.m+spread.Lower*sd), math.Round(c.m+spread.Upper*sd)
		under, over := 0., 0.
		for at, y := range likert.Levels {
			if y < low {
				under += p[at]
			}
			if y > high {
				over += p[at]
			}
		}
		if err != nil || math.Abs(total-1) > 1e-12 || math.Abs(first-likert.Point(c.m, c.v, 1)) > 1e-12 ||
			math.Abs(square-first*first-spread.Variance) > 1e-9 || under > 0.025 || over > 0.025 ||
			under+p[likert.at(low)] < 0.025 || over+p[likert.at(high)] < 0.025 {
			t.Errorf("%v: total %g, mean %g, %g below %g, %g above %g: %+v, %v", c, total, first, under, low, over, high,
				spread, err)
		}
	}
	for unseen, as := range map[float64]float64{3: 2, 4: 2, 9: 5, -7: -1} {
		if a, b := likert.LogPredictive(unseen, 1, 1, 1), likert.LogPredictive(as, 1, 1, 1); a != b {
			t.Errorf("%g has the density %g, but %g has %g", unseen, a, as, b)
		}
	}
	if z, _ := likert.NormalScore(1, 0.5, 0.2, 1); math.Abs(z) > 1 {
		t.Errorf("normal score %g in the middle", z)
	}
}

// TestOrdinalEvidence compares gradients of the evidence with differences. With two levels, evidence, gradient and
// densities are those of labels, which are compared with 60 digits elsewhere (TestLabelEvidenceGolden).
func TestOrdinalEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	const n = 40
	x, y, labels := matrix.New(n, 2), make([]float64, n), make([]float64, n)
	for i := range y {
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
		f := 2*x.At(i, 0) + rng.NormFloat64()
		y[i] = likert.Levels[min(max(int(2+f), 0), 4)]
		if f > 0 {
			labels[i] = 1
		}
	}
	k, err := kernel.Parse("se", 2, true)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: y, Objective: &EPEvidence{Noise: likert}, More: []string{"s1", "s2", "s3"}}
	at, gradient := []float64{0.2, 0.5, 0.3, 0.7, 0, 0.2, -0.4, 0.5}, make([]float64, p.Dim())
	if _, err := p.Evaluate(at, gradient); err != nil || len(at) != p.Dim() {
		t.Fatal(p.Dim(), err)
	}
	for i, parameter := range p.Names() {
		f := func(h float64) float64 {
			at[i] += h
			defer func() { at[i] -= h }()
			v, err := p.Evaluate(at, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		const h = 1e-3
		want := (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
		if math.Abs(want-gradient[i]) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("d/d %s: %.10g, differences give %.10g", parameter, gradient[i], want)
		}
	}
	// with two levels, whatever their numbers, all is as for labels
	two := Ordinal{Levels: []float64{-3, 8}}.With(nil)
	var both [2][]float64
	for i, noise := range []Ordinal{two, Probit()} {
		for j, label := range labels {
			y[j] = noise.Levels[int(label)]
		}
		p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: y, Objective: &EPEvidence{Noise: noise}}
		slopes := make([]float64, p.Dim())
		v, err := p.Evaluate(at[:5], slopes)
		if err != nil {
			t.Fatal(err)
		}
		both[i] = append(slopes, v)
	}
	for i, v := range both[0] {
		if want := both[1][i]; math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("number %d: %.15g with two levels, %.15g for labels", i, v, want)
		}
	}
	for _, m := range []float64{-30, -2, 0.1, 4} {
		for side, label := range map[float64]float64{-1: -3, 1: 8} {
			want, _, _ := logCDF(side * m / math.Sqrt(3))
			if got := two.LogPredictive(label, m, 2, 1); math.Abs(got-want) > 1e-12*(1-want) {
				t.Errorf("ln P(%g) at %g is %.15g, want %.15g", label, m, got, want)
			}
		}
	}
}

// TestOrdinalStart: the start gives every level its share, with half a target more.
func TestOrdinalStart(t *testing.T) {
	y := []float64{-1, 0, 0, 1, 2, 2, 2, 5, 5, 5}
	mean, steps := likert.Start(y)
	for at, p := range likert.With(steps).Chances(mean, 1, 1) {
		n := 0.5
		for _, v := range y {
			if v == likert.Levels[at] {
				n++
			}
		}
		if math.Abs(p-n/12.5) > 1e-12 {
			t.Errorf("level %d starts with the share %g, not %g", at, p, n/12.5)
		}
	}
}
