//go:build amd64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// eliminate does the work of eliminatePortable. The kernels in assembly take strides in bytes and
// at least one row.
func eliminate(rows, depth int, y, x []float64, stride int, s *[Abreast]float64) {
	switch {
	case level == cpu.AVX512 && rows > 0:
		eliminateAVX512(rows, depth, &y[0], &x[0], 8*stride, &s[0])
	case level == cpu.AVX2 && rows > 0:
		eliminateAVX2(rows, depth, &y[0], &x[0], 8*stride, &s[0])
	default:
		eliminatePortable(rows, depth, y, x, stride, s)
	}
}

// subtract does the work of subtractPortable, for n elements of every matrix.
func subtract(n int, x []float64, f *[Abreast]float64, z []float64) {
	switch {
	case level == cpu.AVX512 && n > 0:
		subtractAVX512(n, &x[0], &f[0], &z[0])
	case level == cpu.AVX2 && n > 0:
		subtractAVX2(n, &x[0], &f[0], &z[0])
	default:
		subtractPortable(n, x, f, z)
	}
}

// combine does the work of combinePortable, for n elements of every matrix.
func combine(n int, x []float64, f *[Abreast]float64, y []float64, g *[Abreast]float64,
	out []float64) {
	switch {
	case level == cpu.AVX512 && n > 0:
		combineAVX512(n, &x[0], &f[0], &y[0], &g[0], &out[0])
	case level == cpu.AVX2 && n > 0:
		combineAVX2(n, &x[0], &f[0], &y[0], &g[0], &out[0])
	default:
		combinePortable(n, x, f, y, g, out)
	}
}
