//go:build amd64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// hasFours says whether the level has the kernels that take four columns.
func hasFours() bool { return level >= cpu.AVX2 }

func eliminateFour(rows, depth int, y, x []float64, stride int, t *tile) {
	if level == cpu.AVX512 {
		eliminateFourAVX512(rows, depth, &y[0], &x[0], 8*stride, &t[0])
	} else {
		eliminateFourAVX2(rows, depth, &y[0], &x[0], 8*stride, &t[0])
	}
}

func factorFour(x []float64, stride int, t *tile) {
	if level == cpu.AVX512 {
		factorFourAVX512(&x[0], 8*stride, &t[0])
	} else {
		factorFourAVX2(&x[0], 8*stride, &t[0])
	}
}

func substituteFour(n int, x []float64, stride int, z []float64) {
	if level == cpu.AVX512 {
		substituteFourAVX512(n, &x[0], 8*stride, &z[0])
	} else {
		substituteFourAVX2(n, &x[0], 8*stride, &z[0])
	}
}
