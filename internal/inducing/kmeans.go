package inducing

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

const (
	// kmeansRows and kmeansPerCluster limit the work on long tables.
	// Above max(kmeansRows, kmeansPerCluster·M) rows, a random subset of that size is clustered.
	// A centre's error is then about a sixth of its cluster's spread.
	kmeansRows       = 20000
	kmeansPerCluster = 40
	// kmeansIterations ends Lloyd's iterations even if labels still change.
	// The inertia then changes only in its fifth digit.
	kmeansIterations = 100
	// kmeansBlock is the number of rows whose distances to all centres are in memory at a time.
	kmeansBlock = 128
)

// KMeans returns the centres of m clusters of the rows.
// It takes Lloyd's iterations from a k-means++ start (Arthur & Vassilvitskii 2007, in the greedy
// form of their section 5: the best of 2 + ln m draws).
// Of many rows it clusters a random sample, of 20,000 rows or 40 per cluster, whichever is more.
// A cluster that loses all rows starts again at the row farthest from its centre.
// With fewer than m distinct rows, some centres coincide.
func KMeans(x matrix.Dense, m int, rng *rand.Rand) (matrix.Dense, error) {
	if err := check(x, m); err != nil {
		return matrix.Dense{}, err
	}
	s := take(x, subset(x.Rows, max(kmeansRows, kmeansPerCluster*m), rng))
	mean := make([]float64, s.Cols) // distances by products lose fewer digits near the origin
	for i := range s.Rows {
		linalg.Axpy(1/float64(s.Rows), s.Row(i), mean)
	}
	for i := range s.Rows {
		linalg.Axpy(-1, mean, s.Row(i))
	}
	z := take(s, plusPlus(s, m, rng))
	lloyd(s, z)
	for j := range m {
		linalg.Axpy(1, mean, z.Row(j))
	}
	return z, nil
}

// plusPlus draws the rows at which the iterations start.
// Each row's probability is proportional to its squared distance from the rows drawn before.
func plusPlus(x matrix.Dense, m int, rng *rand.Rand) []int {
	nearest := make([]float64, x.Rows) // squared distance to the nearest centre so far
	tries := 2 + int(math.Log(float64(m)))
	rows := make([]int, tries)
	sums := make([]float64, tries)
	updated := matrix.New(tries, x.Rows)

	centres := make([]int, 1, m)
	centres[0] = rng.IntN(x.Rows)
	for i := range nearest {
		nearest[i] = squaredDistance(x.Row(i), x.Row(centres[0]))
	}
	for len(centres) < m {
		for t := range rows {
			if rows[t] = draw(nearest, rng); rows[t] < 0 {
				rows[t] = rng.IntN(x.Rows) // every row coincides with a centre
			}
		}
		// Of the tries, take the row that leaves the smallest sum of squared distances.
		linalg.Parallel(tries, func(t int) {
			to := updated.Row(t)
			c := x.Row(rows[t])
			for i, d := range nearest {
				to[i] = min(d, squaredDistance(x.Row(i), c))
			}
			sums[t] = linalg.Sum(to)
		})
		best := floats.MinIdx(sums)
		copy(nearest, updated.Row(best))
		centres = append(centres, rows[best])
	}
	return centres
}

// lloyd moves the centres z to a local minimum of the sum of squared distances from rows to their
// nearest centres.
func lloyd(x, z matrix.Dense) {
	n := x.Rows
	m := z.Rows
	label := make([]int, n)
	previous := make([]int, n)
	distance := make([]float64, n)
	norm := make([]float64, m)
	members := make([][]int, m)
	for range kmeansIterations {
		// Each row gets the label of its nearest centre. |x_i|² is the same for all centres.
		for j := range norm {
			norm[j] = linalg.Dot(z.Row(j), z.Row(j))
		}
		linalg.Blocks(n, kmeansBlock, func(i0, i1 int) {
			d := linalg.Borrow(i1-i0, m) // |z_j|² − 2 x_i·z_j
			for i := range d.Rows {
				copy(d.Row(i), norm)
			}
			linalg.Gemm(false, true, -2, x.RowRange(i0, i1), z, 1, d)
			for i := i0; i < i1; i++ {
				label[i] = floats.MinIdx(d.Row(i - i0))
				distance[i] = squaredDistance(x.Row(i), z.Row(label[i]))
			}
			linalg.Return(d)
		})
		for j := range members {
			members[j] = members[j][:0]
		}
		moved := false
		for i, j := range label {
			members[j] = append(members[j], i)
			moved = moved || j != previous[i]
		}
		// A cluster without rows starts again at the row farthest from its centre.
		for j, rows := range members {
			if len(rows) > 0 {
				continue
			}
			far := floats.MaxIdx(distance)
			if distance[far] > 0 {
				copy(z.Row(j), x.Row(far))
				distance[far] = 0
				moved = true
			}
		}
		if !moved {
			return
		}
		copy(previous, label)
		// Each centre moves to the mean of its rows.
		linalg.Parallel(m, func(j int) {
			if len(members[j]) == 0 {
				return
			}
			c := z.Row(j)
			clear(c)
			for _, i := range members[j] {
				linalg.Axpy(1/float64(len(members[j])), x.Row(i), c)
			}
		})
	}
}

// squaredDistance returns |a − b|².
func squaredDistance(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		v -= b[i]
		s += v * v
	}
	return s
}
