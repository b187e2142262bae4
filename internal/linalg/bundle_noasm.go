//go:build !amd64 && !arm64

package linalg

func eliminate(rows, depth int, y, x []float64, stride int, s *[Abreast]float64) {
	eliminatePortable(rows, depth, y, x, stride, s)
}

func subtract(n int, x []float64, f *[Abreast]float64, z []float64) { subtractPortable(n, x, f, z) }

func combine(n int, x []float64, f *[Abreast]float64, y []float64, g *[Abreast]float64,
	out []float64) {
	combinePortable(n, x, f, y, g, out)
}
