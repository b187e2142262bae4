//go:build arm64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

func hasFours() bool { return level == cpu.NEON }

func eliminateFour(rows, depth int, y, x []float64, stride int, t *tile) {
	eliminateFourNEON(rows, depth, &y[0], &x[0], 8*stride, &t[0])
}

func factorFour(x []float64, stride int, t *tile) { factorFourNEON(&x[0], 8*stride, &t[0]) }

func substituteFour(n int, x []float64, stride int, z []float64) {
	substituteFourNEON(n, &x[0], 8*stride, &z[0])
}

func copyScaled(src []float64, srcStride int, dst []float64, dstStride int, scale []float64) int {
	if level != cpu.NEON || len(scale) == 0 {
		return 0
	}
	copyScaledNEON(len(scale), &src[0], 8*srcStride, &dst[0], 8*dstStride, &scale[0])
	return len(scale)
}
