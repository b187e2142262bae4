package radial

import "github.com/krigo-gp/krigo/internal/linalg"

// BundleDistances writes the squared distances of point i to the points 0 … i−1 to u, for each set of a bundle: i
// elements for all sets. The rows of x are points.
func BundleDistances(x linalg.Bundle, i int, u []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleDistances(i, x.Cols, &x.Row(i)[0], &x.Data[0], &u[:i*linalg.Abreast][0])
	}
}

// BundleMoments adds Σ_j w_j (x_it − x_jt)² over j < i to sums[Lanes·t …]. The number of columns t is a multiple of
// 4. The sets of a bundle are the lanes.
func BundleMoments(x linalg.Bundle, i int, w, sums []float64) {
	if i > 0 && x.Cols > 0 {
		loops.bundleMoments(i, x.Cols, &w[:i*linalg.Abreast][0], &x.Row(i)[0], &x.Data[0], &sums[:x.Cols*Lanes][0])
	}
}
