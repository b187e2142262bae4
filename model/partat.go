package model

import (
	"cmp"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
)

// At writes the mean and the standard deviation of the part at the rows of x, both in scaled units.
func (s *Share) At(x matrix.Dense, mean, sd []float64) {
	q := s.m.Trained()
	_, temper := s.m.Posterior.OfPrior()
	q.Part(kernel.SumOf(s.kernels)).Latent(x, mean, sd)
	for i := range mean {
		sd[i] = math.Sqrt(cmp.Or(temper, 1) * sd[i])
		for _, e := range s.effects {
			mean[i] += linalg.Dot(e.slopes, x.Row(i))
		}
	}
}
