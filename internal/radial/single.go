package radial

import (
	"sync"

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// Singles are packed points in float32 with a profile, for products with their covariance matrix in
// float32. A vector holds twice as many lanes, and a result has about seven digits.
// There is no version in plain Go, where float32 gains nothing.
type Singles struct {
	profile     Profile
	variance    float32
	dim, step   int
	left, right []float32 // packed like Points
}

// NewSingles packs (x − centre)·inverse. ok is false if this machine, or the profile, has no loops.
func NewSingles(p Profile, variance float64, x linalg.Matrix, centre,
	inverse []float64) (s *Singles, ok bool) {
	if singles.width == 0 || p >= RQ {
		return nil, false
	}
	s = &Singles{profile: p, variance: float32(variance), dim: x.Cols, step: x.Cols * singles.width}
	pack := func(width int) []float32 {
		packed := make([]float32, (x.Rows+width-1)/width*width*x.Cols)
		for i := range x.Rows {
			dst := packed[i/width*width*x.Cols+i%width:]
			for t, v := range x.Row(i) {
				dst[t*width] = float32((v - centre[t]) * inverse[t])
			}
		}
		return packed
	}
	s.left, s.right = pack(Group), pack(singles.width)
	return s, true
}

// A tile holds singleRows × singleCols covariances, and room for whole vectors at its end.
// With its points it fits the second cache level.
const (
	singleRows   = 64
	singleCols   = 256
	singleStride = singleCols + 16
)

// SingleWidth returns the number of columns that Apply takes at a time.
// If there are several columns, their number must be a multiple of SingleWidth.
// Zero means that there are no loops.
func SingleWidth() int { return singles.vector }

// singleMemory is scratch memory for Apply.
type singleMemory struct {
	tile, edge [singleRows * singleStride]float32
	unused     [singleCols]float32
	sums       [16]float32
}

var singleMemories = sync.Pool{New: func() any { return new(singleMemory) }}

// Apply adds K_IJ v_J to out, for the rows I = [i0, i1) and the columns J = [j0, j1) of K.
// Unless both is empty, it also adds the transposed product K_IJᵀ v_I to both, from the same tiles.
// K is symmetric, so both gets what the mirrored block K_JI would add.
// v has a row for each point, out for each of I, and both for each of J.
// Each row has cols elements, which is 1 or a multiple of SingleWidth.
// i0 is a multiple of 4, and j0 a multiple of 32.
func (s *Singles) Apply(i0, i1, j0, j1, cols int, v, out, both []float32) {
	m := singleMemories.Get().(*singleMemory)
	defer singleMemories.Put(m)
	for i := i0; i < i1; i += singleRows {
		ie := min(i+singleRows, i1)
		for j := j0; j < j1; j += singleCols {
			je := min(j+singleCols, j1)
			n := je - j
			panels := (n + singles.width - 1) / singles.width
			// Squared distances come first, and covariances replace them.
			for r := i; r < ie; r += Group {
				row := m.tile[(r-i)*singleStride:]
				singles.distances(&s.left[r*s.dim], &s.right[j*s.dim], s.dim, s.step, panels,
					&row[0], singleStride)
				for g := range min(Group, ie-r) {
					k := row[g*singleStride:][:n]
					singles.value[s.profile](k, k, 0, s.variance)
				}
			}
			// The tile serves both products while it is in cache.
			if cols == 1 {
				m.column(ie-i, v[j:je], out[i-i0:], v[i:ie], both, j-j0)
				continue
			}
			m.apply(ie-i, singleStride, 1, v[j*cols:je*cols], out[(i-i0)*cols:], cols)
			if len(both) > 0 {
				m.apply(n, 1, singleStride, v[i*cols:ie*cols], both[(j-j0)*cols:], cols)
			}
		}
	}
}

// column does what Singles.Apply does, for one column and one tile: it adds the tile times v to
// out, and, unless both is empty, the transposed tile times x to both from element at on.
func (m *singleMemory) column(rows int, v, out, x, both []float32, at int) {
	if len(both) == 0 {
		both = m.unused[:]
		at = 0
	}
	for i := range rows {
		m.sums = [16]float32{}
		singles.rowProduct(both[at:at+len(v)], m.tile[i*singleStride:][:len(v)], v, x[i], &m.sums)
		for h := 8; h > 0; h /= 2 {
			for l := range h {
				m.sums[l] += m.sums[l+h]
			}
		}
		out[i] += m.sums[0]
	}
}

// apply adds the tile times v to out, for the given number of rows of the tile.
// Rows are rowStep apart, and elements depthStep apart.
func (m *singleMemory) apply(rows, rowStep, depthStep int, v, out []float32, cols int) {
	depth := len(v) / cols
	for i := 0; i < rows; i += singles.rows {
		n := min(singles.rows, rows-i)
		a := m.tile[i*rowStep:]
		row := rowStep
		deep := depthStep
		dst := out[i*cols:]
		if n < singles.rows { // the last rows are copied to memory for singles.rows rows
			for r := range n {
				for c := range depth {
					m.edge[r*depth+c] = a[r*rowStep+c*depthStep]
				}
			}
			a = m.edge[:]
			row = depth
			deep = 1
			dst = make([]float32, singles.rows*cols)
			copy(dst, out[i*cols:][:n*cols])
		}
		for c := 0; c < cols; {
			vectors := min((cols-c)/singles.vector, len(singles.apply))
			singles.apply[vectors-1](&a[0], row, deep, depth, &v[c], cols, &dst[c], cols)
			c += vectors * singles.vector
		}
		if n < singles.rows {
			copy(out[i*cols:][:n*cols], dst)
		}
	}
}

// singleInner holds the loops of one level.
type singleInner struct {
	width     int // right points in a panel; divides 32
	distances func(a, b *float32, dim, step, panels int, out *float32, stride int)
	rows      int // rows that apply takes at a time
	vector    int // columns that apply[0] takes; apply[1] takes twice as many
	apply     [2]func(a *float32, rowStep, depthStep, depth int, v *float32, vStride int,
		out *float32, outStride int)
	rowProduct func(out, k, v []float32, x float32, sums *[16]float32)
	value      [RQ]func(k, u []float32, shape, variance float32)
}

// singleLevels holds the loops of each level. Plain Go has no such loops.
var singleLevels = [...]singleInner{cpu.Levels - 1: {}}

// singles are the loops of the chosen level.
var singles singleInner
