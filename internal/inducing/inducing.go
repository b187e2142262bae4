// Package inducing chooses inducing inputs Z (M×d) for sparse Gaussian processes from scaled inputs
// X (N×d): random rows, centres of k-means, rows of greatest conditional variance, or a draw from a
// k-DPP. It also says how many are enough.
//
// With Q = K_XZ K_ZZ⁻¹K_ZX, tr(K − Q) is the part of the prior's variance at the rows that the
// inducing outputs leave unexplained. Burt, Rasmussen & van der Wilk 2020 bound the loss of a
// sparse GP by this part of the variance, and choose Z from a k-DPP or by greedy conditional
// variance.
//
// Results depend only on the inputs and the random source, not on the number of cores.
package inducing

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/sampleuv"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Set holds inducing inputs that are rows of X.
type Set struct {
	Rows []int        // the chosen rows, in the order of the choice
	Z    matrix.Dense // the inputs of Rows, a row each
}

// setOf returns the Set of these rows of x.
func setOf(x matrix.Dense, rows []int) Set { return Set{Rows: rows, Z: take(x, rows)} }

// Random returns m rows drawn without replacement.
// It draws rows with equal inputs twice only if no other rows remain.
func Random(x matrix.Dense, m int, rng *rand.Rand) (Set, error) {
	if err := check(x, m); err != nil {
		return Set{}, err
	}
	var rows, repeats []int
	seen := make(map[string]bool, m)
	var key []byte
	for _, i := range rng.Perm(x.Rows) {
		if len(rows) == m {
			break
		}
		key = key[:0]
		for _, v := range x.Row(i) {
			// +0, so that −0 equals 0
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0))
		}
		if seen[string(key)] {
			repeats = append(repeats, i)
			continue
		}
		seen[string(key)] = true
		rows = append(rows, i)
	}
	return setOf(x, append(rows, repeats[:m-len(rows)]...)), nil
}

// check returns an error unless 1 ≤ m ≤ N and all inputs are finite.
func check(x matrix.Dense, m int) error {
	return faults.First(
		faults.If(m < 1, "%d inducing inputs: at least one is needed", m),
		faults.If(m > x.Rows,
			"%d inducing inputs from %d rows: there can't be more of them than rows", m, x.Rows),
		faults.If(!finite(x), "inducing inputs: an input isn't a finite number"),
	)
}

// finite says whether all inputs are finite numbers.
func finite(x matrix.Dense) bool {
	return lists.Where(x.Rows, func(i int) bool { return !linalg.Finite(x.Row(i)) }) == nil
}

// take copies rows of x.
func take(x matrix.Dense, rows []int) matrix.Dense {
	return linalg.Pick(x.Like(len(rows), x.Cols), x, rows)
}

// subset returns size random rows of n in their order, or all rows if n ≤ size.
func subset(n, size int, rng *rand.Rand) []int {
	rows := linalg.UpTo(min(n, size))
	if size < n {
		sampleuv.WithoutReplacement(rows, n, rng)
		slices.Sort(rows)
	}
	return rows
}

// draw returns i with probability w_i/Σw, or −1 if all weights are 0.
func draw(w []float64, rng *rand.Rand) int {
	u := rng.Float64() * linalg.Sum(w)
	last := -1
	for i, v := range w {
		if v > 0 {
			last = i
			if u -= v; u < 0 {
				break
			}
		}
	}
	return last
}
