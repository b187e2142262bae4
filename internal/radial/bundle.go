package radial

import (
	"unsafe"

	"github.com/krigo-gp/krigo/internal/linalg"
)

// BundleDistances writes the squared distances of point i to points 0 … i−1 of each set of a bundle to u, i elements
// of all sets. Points are rows.
func BundleDistances(x linalg.Bundle, i int, u []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleDistances(i, x.Cols, &x.Row(i)[0], &x.Data[0], &u[:i*linalg.Abreast][0])
	}
}

// BundleMoments adds Σ_j w_j (x_it − x_jt)², j < i, to sums[Lanes·t …], for a number of columns t that is a multiple
// of 4. The sets of a bundle are the lanes.
func BundleMoments(x linalg.Bundle, i int, w, sums []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleMoments(i, x.Cols, &w[:i*linalg.Abreast][0], &x.Row(i)[0], &x.Data[0], &sums[:x.Cols*Lanes][0])
	}
}

// unwrap cuts what a bundle's loops are given.
func unwrap(rows, dim int, y, x *float64) (ys, xs []float64) {
	return unsafe.Slice(y, dim*linalg.Abreast), unsafe.Slice(x, rows*dim*linalg.Abreast)
}

func bundleDistancesPortable(rows, dim int, y, x, u *float64) {
	ys, xs := unwrap(rows, dim, y, x)
	us := unsafe.Slice(u, rows*linalg.Abreast)
	for j := range rows {
		var sum [linalg.Abreast]float64
		for t := 0; t < dim*linalg.Abreast; t += linalg.Abreast {
			a, b := (*[linalg.Abreast]float64)(ys[t:]), (*[linalg.Abreast]float64)(xs[j*dim*linalg.Abreast+t:])
			for l := range sum {
				d := a[l] - b[l]
				sum[l] += d * d
			}
		}
		copy(us[j*linalg.Abreast:], sum[:])
	}
}

func bundleMomentsPortable(rows, dim int, w, y, x, sums *float64) {
	ys, xs := unwrap(rows, dim, y, x)
	ws, ss := unsafe.Slice(w, rows*linalg.Abreast), unsafe.Slice(sums, dim*linalg.Abreast)
	for t := 0; t < dim*linalg.Abreast; t += linalg.Abreast {
		s, a := (*[linalg.Abreast]float64)(ss[t:]), (*[linalg.Abreast]float64)(ys[t:])
		for j := range rows {
			b, v := (*[linalg.Abreast]float64)(xs[j*dim*linalg.Abreast+t:]), (*[linalg.Abreast]float64)(ws[j*linalg.Abreast:])
			for l := range s {
				d := a[l] - b[l]
				s[l] += v[l] * d * d
			}
		}
	}
}
