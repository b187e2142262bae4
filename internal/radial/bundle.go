package radial

import "github.com/krigo-gp/krigo/internal/linalg"

// BundleDistances writes the squared distances of point i to points 0 … i−1 of each set of a bundle to u, i elements
// of all sets. Points are rows.
func BundleDistances(x linalg.Bundle, i int, u []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleDistances(i, x.Cols, x.Row(i), x.Data, u)
	}
}

// BundleMoments adds Σ_j w_j (x_it − x_jt)², j < i, to sums[Lanes·t …], for a number of columns t that is a multiple
// of 4. The sets of a bundle are the lanes.
func BundleMoments(x linalg.Bundle, i int, w, sums []float64) {
	if i > 0 {
		loops.bundleMoments(i, x.Cols, w, x.Row(i), x.Data, sums)
	}
}

func bundleDistancesPortable(rows, dim int, y, x, u []float64) {
	for j := range rows {
		var sum [linalg.Abreast]float64
		for t := 0; t < dim*linalg.Abreast; t += linalg.Abreast {
			a, b := (*[linalg.Abreast]float64)(y[t:]), (*[linalg.Abreast]float64)(x[j*dim*linalg.Abreast+t:])
			for l := range sum {
				d := a[l] - b[l]
				sum[l] += d * d
			}
		}
		copy(u[j*linalg.Abreast:], sum[:])
	}
}

func bundleMomentsPortable(rows, dim int, w, y, x, sums []float64) {
	for t := 0; t < dim*linalg.Abreast; t += linalg.Abreast {
		s, a := (*[linalg.Abreast]float64)(sums[t:]), (*[linalg.Abreast]float64)(y[t:])
		for j := range rows {
			b, v := (*[linalg.Abreast]float64)(x[j*dim*linalg.Abreast+t:]), (*[linalg.Abreast]float64)(w[j*linalg.Abreast:])
			for l := range s {
				d := a[l] - b[l]
				s[l] += v[l] * d * d
			}
		}
	}
}
