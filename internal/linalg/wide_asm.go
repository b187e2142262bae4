//go:build amd64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// hasFours says whether the level has the kernels that take four columns.
func hasFours() bool { return level >= cpu.AVX2 }

// eliminateFour does for four columns what eliminatePortable does for one: from elements depth to
// depth+3 of each row x, it subtracts the products with the four rows y. Then it solves for them
// with the tile t.
func eliminateFour(rows, depth int, y, x []float64, stride int, t *tile) {
	if level == cpu.AVX512 {
		eliminateFourAVX512(rows, depth, &y[0], &x[0], 8*stride, &t[0])
	} else {
		eliminateFourAVX2(rows, depth, &y[0], &x[0], 8*stride, &t[0])
	}
}

// factorFour factors the diagonal blocks of four×four elements at x in place, and fills t too (see
// tile).
func factorFour(x []float64, stride int, t *tile) {
	if level == cpu.AVX512 {
		factorFourAVX512(&x[0], 8*stride, &t[0])
	} else {
		factorFourAVX2(&x[0], 8*stride, &t[0])
	}
}

// substituteFour does the work of SubstituteBundle for four unknowns of a row z.
func substituteFour(n int, x []float64, stride int, z []float64) {
	if level == cpu.AVX512 {
		substituteFourAVX512(n, &x[0], 8*stride, &z[0])
	} else {
		substituteFourAVX2(n, &x[0], 8*stride, &z[0])
	}
}

// copyScaled copies rows of width elements, each times an element of scale.
// It returns how many rows it has copied:
// all, or none if the level has no kernel.
func copyScaled(src []float64, srcStride int, dst []float64, dstStride int, scale []float64) int {
	switch {
	case len(scale) == 0:
	case level == cpu.AVX512:
		copyScaledAVX512(len(scale), &src[0], 8*srcStride, &dst[0], 8*dstStride, &scale[0])
	case level == cpu.AVX2:
		copyScaledAVX2(len(scale), &src[0], 8*srcStride, &dst[0], 8*dstStride, &scale[0])
	default:
		return 0
	}
	return len(scale)
}
