package report

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// importance says how far the predicted mean moves if one column's value is exchanged between real
// rows. share is half the mean square, divided by the mean's variance.
// low and high bound it with 95 % by the bootstrap. If columns are independent, share is the share
// of the variance that comes from the column (its total Sobol index).
type importance struct {
	column           int
	share, low, high float64
}

// partners is the number of other rows with which each row exchanges its value of a column.
// draws is the number of times that the bootstrap draws the rows.
const (
	partners = 4
	draws    = 500
)

var errConstantMean = errors.New("the predicted mean is the same in all these rows")

// importances ranks columns that aren't constant in the rows.
// For independent columns the shares are total Sobol indices, by Jansen's formula ("Analysis of
// variance designs for model output", Comput. Phys. Commun. 117, 1999):
// the mean of (f(x_i) − f(x_i with the column of row p))²/2 over pairs of rows i, p, divided by the
// variance of f. The bootstrap draws rows. A pair counts by how often both of its rows were drawn,
// as in a U-statistic, because each row is i in one pair and p in another.
//
// f returns the mean at rows, in units in which its square is a float64.
// The same rows give the same result.
func importances(f func(x []float64) ([]float64, error), r rows,
	columns []column) ([]importance, error) {
	n := r.n()
	base, err := f(r.x)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(5, 11))
	order := rng.Perm(n)
	k := min(partners, n-1)
	total := stat.Variance(base, nil)
	if !(total > 0) {
		return nil, errConstantMean
	}
	all := make([]importance, len(columns))
	pairs := make([][]float64, len(columns))
	x := make([]float64, n*r.d)
	// a row is never its own partner
	partner := func(at, s int) int { return order[(at+(s+1)*max(1, n/(2*partners+1)))%n] }
	for c, of := range columns {
		for s := range k {
			copy(x, r.x)
			for at, i := range order {
				of.put(x[i*r.d:(i+1)*r.d], r.at(partner(at, s)))
			}
			moved, err := f(x)
			if err != nil {
				return nil, err
			}
			for _, i := range order {
				d := moved[i] - base[i]
				pairs[c] = append(pairs[c], d*d/2)
			}
		}
		all[c] = importance{column: c, share: linalg.Sum(pairs[c]) / float64(n*k) / total}
	}
	shares := make([][]float64, len(columns))
	weight := make([]float64, n)
	both := make([]float64, n*k)
	for range draws {
		clear(weight)
		for range n {
			weight[rng.IntN(n)]++
		}
		v := stat.Variance(base, weight)
		if !(v > 0) {
			continue
		}
		for s := range k {
			for at, i := range order {
				both[s*n+at] = weight[i] * weight[partner(at, s)]
			}
		}
		counted := linalg.Sum(both)
		for c := range columns {
			if counted > 0 {
				shares[c] = append(shares[c], linalg.Dot(both, pairs[c])/counted/v)
			}
		}
	}
	for c := range all {
		all[c].low = all[c].share
		all[c].high = all[c].share
		if s := shares[c]; len(s) > 0 {
			slices.Sort(s)
			all[c].low = min(all[c].share, s[len(s)/40])
			all[c].high = max(all[c].share, s[len(s)-1-len(s)/40])
		}
	}
	slices.SortStableFunc(all, func(a, b importance) int { return cmp.Compare(b.share, a.share) })
	return all, nil
}
