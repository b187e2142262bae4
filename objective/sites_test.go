package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// TestSitesOfManyRows compares sites by nearest rows and by inducing inputs with the sites of the full GP, where all
// rows are neighbours and all rows are inducing inputs, and with the sites of the rows in another order. With fewer of
// either the sites are others.
func TestSitesOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	k, err := kernel.Parse("matern32", 2, true)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{-1.5, 0.5, 1, 0.2, 0}
	off := func(a, b Sites, place func(int) int) (most float64) {
		for i, y := range a.Y {
			j := place(i)
			most = max(most, math.Abs(y/a.Known[i]-b.Y[j]/b.Known[j]), math.Abs(1/a.Known[i]-1/b.Known[j]))
		}
		return most
	}
	same := func(i int) int { return i }
	for name, noise := range map[string]Sited{"probit": Probit(), "poisson": SitedOf(PoissonName)} {
		draw := func(n int) (matrix.Dense, []float64) {
			x, y := matrix.New(n, 2), make([]float64, n)
			for i := range y {
				x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
				if y[i] = math.Floor(4 * rng.Float64() * math.Exp(x.At(i, 0)/2)); name == "probit" {
					y[i] = math.Min(y[i], 1)
				}
			}
			return x, y
		}
		all := func(x matrix.Dense, y []float64) (exact, near, sparse Sites) {
			p := &Problem{Kernel: k, Mean: kernel.LinearMean{}, X: x, Y: y, Objective: &EPEvidence{Noise: noise}}
			exact, err := p.Sites(at)
			if err != nil {
				t.Fatal(err)
			}
			by, err := NearestSites(noise, posterior.Given{Kernel: k, Theta: at[:3], Mean: kernel.LinearMean{}, Beta: at[3:4],
				Noise: 1, X: x, Y: y}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if o := by.Unsettled(); o > 2e-7 {
				t.Errorf("%s by nearest rows: sites still change by %g", name, o)
			}
			m := min(x.Rows, 50)
			s := &SparseProblem{Kernel: k, Mean: kernel.LinearMean{}, Rows: Memory{X: x, Y: y}, M: m,
				Objective: PEP(1), Keep: 1 << 20}
			through, err := s.Sites(noise, Memory{X: x, Y: y}, append(append([]float64{}, at...), x.Data[:2*m]...))
			if err != nil {
				t.Fatal(err)
			}
			return exact, by.Sites, through.Sites
		}
		exact, near, sparse := all(draw(50))
		if a, b := off(exact, near, same), off(exact, sparse, same); !(a <= 1e-6 && b <= 2e-3) {
			t.Errorf("%s: sites are off by %g with all rows as neighbours, and by %g with all as inducing inputs", name, a, b)
		}
		x, y := draw(150)
		exact, near, sparse = all(x, y)
		if a, b := off(exact, near, same), off(exact, sparse, same); !(a > 1e-4 && a < 0.3 && b > 1e-4 && b < 3) {
			t.Errorf("%s: sites are off by %g with 64 of 150 rows as neighbours, and by %g with 50 as inducing inputs", name, a,
				b)
		}
		turned, z := matrix.New(150, 2), make([]float64, 150)
		place := func(i int) int { return (7*i + 3) % 150 }
		for i, v := range y {
			copy(turned.Row(place(i)), x.Row(i))
			z[place(i)] = v
		}
		if _, other, _ := all(turned, z); !(off(near, other, place) <= 1e-6) {
			t.Errorf("%s: in another order, sites are off by %g", name, off(near, other, place))
		}
	}
}
