package radial

import "github.com/krigo-gp/krigo/internal/linalg"

// Width returns the number of columns that Apply takes at a time.
// The number of columns of v and out must be a multiple of Width.
func Width() int { return loops.vector }

// Apply sets out ← out + op(k) v. op transposes if transpose is set, and k is a block of a
// covariance matrix. Each row of out is summed in the order of v's rows.
func Apply(transpose bool, k, v, out linalg.Matrix) {
	rowStep := k.Stride
	depthStep := 1
	if transpose {
		rowStep = 1
		depthStep = k.Stride
	}
	rows := loops.rows
	edge := linalg.Borrow(2*rows, max(v.Rows, out.Cols))
	for i := 0; i < out.Rows; i += rows {
		n := min(rows, out.Rows-i)
		a := k.Data[i*rowStep:]
		step := rowStep
		deep := depthStep
		dst := out.RowRange(i, i+n)
		if n < rows { // the last rows are computed as part of a whole block in other memory
			whole := edge.RowRange(0, rows)
			for r := range n {
				for c := range v.Rows {
					whole.Row(r)[c] = a[r*rowStep+c*depthStep]
				}
			}
			a = whole.Data
			step = whole.Stride
			deep = 1
			dst = edge.View(rows, 2*rows, 0, out.Cols)
			for r := range n {
				copy(dst.Row(r), out.Row(i+r))
			}
		}
		// Take two vectors of columns at a time where the level has that loop.
		for c := 0; c < out.Cols; {
			vectors := min((out.Cols-c)/loops.vector, len(loops.apply))
			if loops.apply[vectors-1] == nil {
				vectors = 1
			}
			loops.apply[vectors-1](&a[0], step, deep, v.Rows, &v.Data[c], v.Stride,
				&dst.Data[c], dst.Stride)
			c += vectors * loops.vector
		}
		if n < rows {
			for r := range n {
				copy(out.Row(i+r), dst.Row(r))
			}
		}
	}
	linalg.Return(edge)
}

// ApplyColumn does what Apply does, for one column: out ← out + k v.
// Unless both is empty, it also adds the transposed product kᵀx to both, in the same pass over k.
// out and x have an element for each row of k, v and both one for each column.
func ApplyColumn(k linalg.Matrix, v, out, x, both []float64) {
	if len(both) == 0 {
		for i := range k.Rows {
			out[i] += linalg.Dot(k.Row(i), v)
		}
		return
	}
	var sums [Lanes]float64
	for i := range k.Rows {
		sums = [Lanes]float64{}
		loops.rowProduct(both, k.Row(i), v, x[i], &sums)
		out[i] += Total(sums[:])
	}
}
