//go:build arm64

package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

// eliminate does the work of eliminatePortable. The kernel in assembly takes strides in bytes and
// at least one row.
func eliminate(rows, depth int, y, x []float64, stride int, s *[Abreast]float64) {
	if level == cpu.NEON && rows > 0 {
		eliminateNEON(rows, depth, &y[0], &x[0], 8*stride, &s[0])
	} else {
		eliminatePortable(rows, depth, y, x, stride, s)
	}
}

// subtract does the work of subtractPortable, for n elements of every matrix.
func subtract(n int, x []float64, f *[Abreast]float64, z []float64) {
	if level == cpu.NEON && n > 0 {
		subtractNEON(n, &x[0], &f[0], &z[0])
	} else {
		subtractPortable(n, x, f, z)
	}
}

// combine does the work of combinePortable, for n elements of every matrix.
func combine(n int, x []float64, f *[Abreast]float64, y []float64, g *[Abreast]float64,
	out []float64) {
	if level == cpu.NEON && n > 0 {
		combineNEON(n, &x[0], &f[0], &y[0], &g[0], &out[0])
	} else {
		combinePortable(n, x, f, y, g, out)
	}
}
