package objective

import (
	"cmp"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/ranks"
)

// over returns r, or the only rank if r is nil.
func over(r ranks.Ranks) ranks.Ranks {
	return cmp.Or[ranks.Ranks](r, ranks.Alone{})
}

// sumOver adds vectors and symmetric matrices of one size (lower triangles only) up over all ranks,
// in place.
func sumOver(r ranks.Ranks, symmetric []matrix.Dense, vectors ...[]float64) error {
	if r.Size() == 1 {
		return nil
	}
	if len(symmetric) == 0 {
		return r.Sum(vectors...)
	}
	m := symmetric[0].Rows
	// The lower triangles travel as vectors of M(M+1)/2 numbers.
	packed := linalg.Borrow(len(symmetric), m*(m+1)/2)
	defer linalg.Return(packed)
	each := func(move func(packed, row []float64)) {
		for t, a := range symmetric {
			for i := range m {
				move(packed.Row(t)[i*(i+1)/2:(i+1)*(i+2)/2], a.Row(i)[:i+1])
			}
		}
	}
	each(func(packed, row []float64) { copy(packed, row) })
	err := r.Sum(append(vectors, packed.Data)...)
	each(func(packed, row []float64) { copy(row, packed) })
	return err
}

// settle ends an evaluation on all ranks. If a rank has an error, every rank gets an error.
// Otherwise every rank gets the first rank's value and gradient, so that the optimisers of all
// ranks take the same steps.
func settle(r ranks.Ranks, value float64, gradient []float64, err error) (float64, error) {
	if err != nil || r.Size() == 1 {
		return value, r.Agree(err)
	}
	all := append([]float64{value}, gradient...)
	err = r.Broadcast(0, ranks.Memory(all))
	copy(gradient, all[1:])
	return all[0], err
}
