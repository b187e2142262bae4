package posterior

import (
	"context"
	"sync/atomic"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// packed is what predictions read, in the form in which the loops read it.
// Packing takes about as long as predicting ten rows.
type packed struct {
	cov   func(a, k matrix.Dense)   // writes k(a,S)
	solve []func(rows matrix.Dense) // for each factor L, replaces rows b by L⁻¹b
	prior *Posterior                // the posterior that is the prior of an Untouched
}

// kept keeps what the first prediction packs.
// The zero value and nil are ready to use, and nil keeps nothing.
type kept struct{ atomic.Pointer[packed] }

// get returns what is kept, or what pack makes.
func (k *kept) get(pack func() *packed) *packed {
	if k == nil {
		return pack()
	}
	p := k.Load()
	if p == nil {
		p = pack()
		k.Store(p) // of several goroutines that pack at once, any may be last
	}
	return p
}

// factored has the methods that all processes with known joint covariances share.
type factored struct{ kept *kept }

// mostPacked is the largest support whose packed factors are kept.
// They take half as much memory again as the factors, and a prediction with larger factors takes
// longer than its share of a batch's packing.
const mostPacked = 4096

// packed returns the support and the factors for predictions.
func (f factored) packed(p *Posterior, factors ...matrix.Dense) *packed {
	if p.Support.Rows > mostPacked {
		k := &packed{cov: func(a, k matrix.Dense) { p.Kernel.Cov(p.Theta, a, p.Support, k) }}
		for _, l := range factors {
			k.solve = append(k.solve, func(b matrix.Dense) { linalg.Trsm(false, true, l, b) })
		}
		return k
	}
	return f.kept.get(func() *packed {
		k := &packed{cov: kernel.At(p.Kernel, p.Theta).Fix(p.Support).Cov}
		for _, l := range factors {
			k.solve = append(k.solve, linalg.Pack(l.Until(context.Background())).Solve)
		}
		return k
	})
}
