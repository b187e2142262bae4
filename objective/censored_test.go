package objective

import (
	"math"
	"testing"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/quadrature"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/posterior"
)

func TestLogCDF(t *testing.T) {
	for z := -5.2; z < -4.8; z += 0.01 { // the two formulas meet
		log, r, over := logCDF(z)
		p := math.Erfc(-z/math.Sqrt2) / 2
		if math.Abs(log-math.Log(p)) > 1e-12*-log || math.Abs(over-(r+z)) > 1e-12 || math.Abs(r*p*math.Sqrt(2*math.Pi)-
			math.Exp(-z*z/2)) > 1e-12*math.Exp(-z*z/2) {
			t.Errorf("%v: %v %v %v", z, log, r, over)
		}
	}
	log, r, over := logCDF(-1e8)
	if math.Abs(log+5e15) > 50 || r < 1e8 || math.Abs(over*1e8-1) > 1e-8 {
		t.Errorf("far: %v %v %v", log, r, over)
	}
}

// TestLimitMoments compares the moments of f given that y lies on its side with quadrature.
func TestLimitMoments(t *testing.T) {
	for _, at := range [][5]float64{{1, 0.5, 0.2, 0.7, 0.1}, {-1, 0.5, 2, 1.5, 0.3}, {-1, 0, 5, 0.5, 0.2}, {1, -3,
		1, 1, 1}} {
		side, limit, m, v, s := at[0], at[1], at[2], at[3], at[4]
		var edges []float64
		for e := -14.; e <= 14; e += 0.25 {
			edges = append(edges, m+e*math.Sqrt(v))
		}
		var mass, first, second float64
		quadrature.Panels(edges, func(f, w float64) {
			p := w * math.Exp(-(f-m)*(f-m)/(2*v)) / math.Sqrt(2*math.Pi*v) * math.Erfc(-side*(f-limit)/math.Sqrt(2*s)) / 2
			mass, first, second = mass+p, first+p*(f-m), second+p*(f-m)*(f-m)
		})
		first, second = first/mass, second/mass
		log, g, delta := limitMoments(side, limit, m, v, s)
		if math.Abs(log-math.Log(mass)) > 1e-9 || math.Abs(v*g-first) > 1e-8 ||
			math.Abs(v-v*v*delta-(second-first*first)) > 1e-8 {
			t.Errorf("%v: ln Z %v, moments %v %v; quadrature %v %v %v", at, log, v*g, v-v*v*delta, math.Log(mass), first,
				second-first*first)
		}
		const h = 1e-5
		up, _, _ := limitMoments(side, limit, m, v, s+h)
		down, _, _ := limitMoments(side, limit, m, v, s-h)
		if slope := (up - down) / (2 * h); math.Abs(slope-(g*g-delta)/2) > 1e-6 {
			t.Errorf("%v: slope by s %v, by the site %v", at, slope, (g*g-delta)/2)
		}
	}
}

// TestLimitedSites: sites of two rows, one of them limited, are exact at once. With two limited rows the moments come
// near the moments by quadrature.
func TestLimitedSites(t *testing.T) {
	x := linalg.New(3, 1)
	x.Set(1, 0, 0.5)
	x.Set(2, 0, 1)
	l := Limited{Side: []float64{Measured, Under, Over}, Limit: []float64{0.3, -0.5, 0.2}}
	const s = 0.1
	g := posterior.Given{Kernel: kernel.SE(1, false), Theta: []float64{0, 0}, Mean: kernel.ZeroMean{}, X: x, Noise: s}
	y, known := l.Limit, make([]float64, 3)
	mean, variance := make([]float64, 3), make([]float64, 3)
	var change float64
	for range 100 {
		g.Y, g.PerRow = y, posterior.RowNoise{Known: known}
		q, err := posterior.NewExact(g)
		if err != nil {
			t.Fatal(err)
		}
		q.Latent(x, mean, variance)
		oldY := y
		next := l.Update(Sites{y, known}, mean, variance, s)
		y, known = next.Y, next.Known
		change = math.Abs(y[1]-oldY[1]) + math.Abs(y[2]-oldY[2])
	}
	if !(change < 1e-9) {
		t.Fatalf("the sites still move by %v", change)
	}
	// f1, f2 given y0 are normal; integrate both limits
	k := linalg.New(3, 3)
	g.Kernel.Cov(g.Theta, x, x, k)
	c := k.At(0, 0) + s
	m1, m2 := k.At(1, 0)/c*0.3, k.At(2, 0)/c*0.3
	v11, v22, v12 := k.At(1, 1)-k.At(1, 0)*k.At(1, 0)/c, k.At(2, 2)-k.At(2, 0)*k.At(2, 0)/c, k.At(1, 2)-k.At(1,
		0)*k.At(2, 0)/c
	var edges []float64
	for e := -9.; e <= 9; e += 0.1 {
		edges = append(edges, m1+e*math.Sqrt(v11))
	}
	var mass, first float64
	quadrature.Panels(edges, func(f, w float64) {
		p := w * math.Exp(-(f-m1)*(f-m1)/(2*v11)) * math.Erfc((f+0.5)/math.Sqrt(2*s)) / 2
		log, _, _ := limitMoments(1, 0.2, m2+v12/v11*(f-m1), v22-v12*v12/v11, s)
		p *= math.Exp(log)
		mass, first = mass+p, first+p*f
	})
	if math.Abs(mean[1]-first/mass) > 0.01 {
		t.Errorf("mean %v, quadrature %v", mean[1], first/mass)
	}
}
