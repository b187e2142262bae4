//go:build !amd64 && !arm64

package linalg

// multiplyTile is the portable kernel (see tile.go). The rows of c are stride numbers apart.
func multiplyTile(depth int, a, b, c []float64, stride int, alpha, beta float64) {
	multiplyPortable(depth, a, b, c, stride, alpha, beta)
}

func solveTile(back bool, t, x []float64) { solvePortable(back, t, x) }

func transposeTile(n int, src []float64, srcStride int, dst []float64, dstStride int) {
	transposePortable(n, src, srcStride, dst, dstStride)
}

// hasColumn says whether the level has columnTile, which plain Go hasn't.
func hasColumn() bool { return false }

func columnTile(int, []float64, []float64, []float64) { panic("linalg: no columnTile") }
