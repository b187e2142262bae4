//go:build amd64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// The kernels are called directly and not through variables.
// So the compiler knows that their arguments don't escape.

// multiplyTile calls the level's kernel (see tile.go). The rows of c are stride numbers apart.
func multiplyTile(depth int, a, b, c []float64, stride int, alpha, beta float64) {
	switch level {
	case cpu.AVX512:
		multiplyAVX512(depth, &a[0], &b[0], &c[0], stride, alpha, beta)
	case cpu.AVX2:
		multiplyAVX2(depth, &a[0], &b[0], &c[0], stride, alpha, beta)
	default:
		multiplyPortable(depth, a, b, c, stride, alpha, beta)
	}
}

// solveTile calls the level's kernel for T lower triangular, or upper if back is set.
func solveTile(back bool, t, x []float64) {
	switch {
	case level == cpu.AVX512 && back:
		solveBackAVX512(&t[0], &x[0])
	case level == cpu.AVX512:
		solveAVX512(&t[0], &x[0])
	case level == cpu.AVX2 && back:
		solveBackAVX2(&t[0], &x[0])
	case level == cpu.AVX2:
		solveAVX2(&t[0], &x[0])
	default:
		solvePortable(back, t, x)
	}
}

// transposeTile calls the level's kernel. Strides are in numbers.
func transposeTile(n int, src []float64, srcStride int, dst []float64, dstStride int) {
	switch level {
	case cpu.AVX512:
		transposeAVX512(n, &src[0], srcStride, &dst[0], dstStride)
	case cpu.AVX2:
		transposeAVX2(n, &src[0], srcStride, &dst[0], dstStride)
	default:
		transposePortable(n, src, srcStride, dst, dstStride)
	}
}

// hasColumn says whether the level has columnTile.
func hasColumn() bool { return level != cpu.Portable }

// columnTile adds Σ_k x_k a_k to sums, for depth ≥ 1 rows a_k of a panel.
// Each sum is the chain of multiply-adds that multiplyTile computes.
func columnTile(depth int, a, x, sums []float64) {
	if level == cpu.AVX512 {
		columnAVX512(depth, &a[0], &x[0], &sums[0])
	} else {
		columnAVX2(depth, &a[0], &x[0], &sums[0])
	}
}
