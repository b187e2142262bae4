//go:build arm64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// multiplyTile calls the level's kernel (see tile.go). The rows of c are stride numbers apart.
func multiplyTile(depth int, a, b, c []float64, stride int, alpha, beta float64) {
	if level == cpu.NEON {
		multiplyNEON(depth, &a[0], &b[0], &c[0], stride, alpha, beta)
	} else {
		multiplyPortable(depth, a, b, c, stride, alpha, beta)
	}
}

// solveTile calls the level's kernel for T lower triangular, or upper if back is set.
func solveTile(back bool, t, x []float64) {
	switch {
	case level == cpu.NEON && back:
		solveBackNEON(&t[0], &x[0])
	case level == cpu.NEON:
		solveNEON(&t[0], &x[0])
	default:
		solvePortable(back, t, x)
	}
}

// transposeTile calls the level's kernel. Strides are in numbers.
func transposeTile(n int, src []float64, srcStride int, dst []float64, dstStride int) {
	if level == cpu.NEON {
		transposeNEON(n, &src[0], srcStride, &dst[0], dstStride)
	} else {
		transposePortable(n, src, srcStride, dst, dstStride)
	}
}

// hasColumn says whether the level has columnTile.
func hasColumn() bool { return level == cpu.NEON }

// columnTile adds Σ_k x_k a_k to sums, for depth ≥ 1 rows a_k of a panel.
func columnTile(depth int, a, x, sums []float64) { columnNEON(depth, &a[0], &x[0], &sums[0]) }
