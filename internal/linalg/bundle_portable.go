package linalg

// Abreast is the number of matrices in a Bundle.
const Abreast = 8

// four is the number of columns that eliminateFour and factorFour take.
const four = 4

// A tile is the factor of a diagonal block, four×four elements with reciprocals on the diagonal.
// Behind them stand the four elements of A's diagonal, which factorFour reads, then the pivots, and
// 1 for each matrix with sound pivots, else 0.
type tile [(four*four + 2*four + 1) * Abreast]float64

// eliminatePortable sets element depth of each row x to (x_depth − Σ_k x_k y_k) s, with k < depth.
// Rows are stride apart.
func eliminatePortable(rows, depth int, y, x []float64, stride int, s *[Abreast]float64) {
	for r := range rows {
		xr := x[r*stride:]
		sum := *(*[Abreast]float64)(xr[depth*Abreast:])
		for k := 0; k < depth*Abreast; k += Abreast {
			a := (*[Abreast]float64)(xr[k:])
			b := (*[Abreast]float64)(y[k:])
			for l := range sum {
				sum[l] -= a[l] * b[l]
			}
		}
		for l, v := range sum {
			xr[depth*Abreast+l] = v * s[l]
		}
	}
}

// subtractPortable sets z_k ← z_k − x_k f for n elements.
func subtractPortable(n int, x []float64, f *[Abreast]float64, z []float64) {
	for k := 0; k < n*Abreast; k += Abreast {
		a := (*[Abreast]float64)(x[k:])
		b := (*[Abreast]float64)(z[k:])
		for l, v := range f {
			b[l] -= a[l] * v
		}
	}
}

// combinePortable sets out_k ← x_k f + y_k g for n elements.
func combinePortable(n int, x []float64, f *[Abreast]float64, y []float64, g *[Abreast]float64,
	out []float64) {
	for k := 0; k < n*Abreast; k += Abreast {
		a := (*[Abreast]float64)(x[k:])
		b := (*[Abreast]float64)(y[k:])
		c := (*[Abreast]float64)(out[k:])
		for l := range c {
			c[l] = a[l]*f[l] + b[l]*g[l]
		}
	}
}
