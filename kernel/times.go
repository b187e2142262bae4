package kernel

import (
	"fmt"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/radial"
	"github.com/krigo-gp/krigo/matrix"
)

// Products with a covariance matrix that is never stored.
// Each tile of the matrix is computed, used while it is in cache, and dropped.

// timesCols is the number of columns of a tile, which has tile rows.
// Its memory has 8 columns more, so that its rows don't compete for the same cache lines.
const timesCols = 256

// Times sets out ← K(A, B) V.
func (at Bound) Times(a, b, v, out matrix.Dense) {
	if v.Rows != b.Rows || out.Rows != a.Rows || out.Cols != v.Cols {
		panic(fmt.Sprintf("kernel: product of %d×%d covariances and %d×%d into %d×%d", a.Rows,
			b.Rows, v.Rows, v.Cols, out.Rows, out.Cols))
	}
	whole(v, out, func(v, out matrix.Dense) {
		c := columnsOf(at.Kernel, at.Theta, b)
		linalg.Blocks(a.Rows, tile, func(i0, i1 int) {
			a.Check()
			timesTile(c, a, i0, i1, 0, b.Rows, v, out, false)
		})
		c.release()
	})
}

// timesTile adds K(a_I, b_J) V_J to the rows I = [i0, i1) of out, with J = [j0, j1).
// If both is set, it also adds the transposed block times V_I to the rows J.
func timesTile(c columns, a matrix.Dense, i0, i1, j0, j1 int, v, out matrix.Dense, both bool) {
	memory := linalg.Borrow(tile, timesCols+8)
	for j := j0; j < j1; j += timesCols {
		e := min(j+timesCols, j1)
		block := memory.View(0, i1-i0, 0, e-j)
		c.cov(a.RowRange(i0, i1), j, e, block)
		if v.Cols == 1 {
			var x, transposed []float64
			if both {
				x = v.Data[i0:i1]
				transposed = out.Data[j:e]
			}
			radial.ApplyColumn(block, v.Data[j:e], out.Data[i0:i1], x, transposed)
			continue
		}
		radial.Apply(false, block, v.RowRange(j, e), out.RowRange(i0, i1))
		if both {
			radial.Apply(true, block, v.RowRange(i0, i1), out.RowRange(j, e))
		}
	}
	linalg.Return(memory)
}

// whole calls f with a zeroed out. A single column has no gaps in memory, and several columns are
// padded to whole vectors.
func whole(v, out matrix.Dense, f func(v, out matrix.Dense)) {
	w := radial.Width()
	if v.Cols == 1 {
		w = 1
	}
	if v.Cols%w == 0 && (w > 1 || (v.Stride == 1 && out.Stride == 1)) {
		out.Zero()
		f(v, out)
		return
	}
	cols := (v.Cols + w - 1) / w * w
	pv := linalg.Borrow(v.Rows, cols)
	po := linalg.Borrow(out.Rows, cols)
	pv.Zero()
	po.Zero()
	pv.View(0, v.Rows, 0, v.Cols).CopyFrom(v)
	f(pv, po)
	out.CopyFrom(po.View(0, out.Rows, 0, v.Cols))
	linalg.Return(pv, po)
}

// party is the number of rows that TimesSymmetric treats together.
const party = 512

// TimesSymmetric sets out ← K(A, A) V. It visits each pair of rows once.
// The result doesn't depend on the number of cores.
//
// The rows are cut into parties, which have party rows each.
// Any two parties meet once, in rounds like those of a chess tournament, in which each party plays
// one game. Games of a round touch different rows of out, so they may run at the same time.
// A round begins when the previous round has ended.
func (at Bound) TimesSymmetric(a, v, out matrix.Dense) {
	n := a.Rows
	if v.Rows != n || out.Rows != n || out.Cols != v.Cols {
		panic(fmt.Sprintf("kernel: product of %d×%d covariances and %d×%d into %d×%d", n, n, v.Rows,
			v.Cols, out.Rows, out.Cols))
	}
	whole(v, out, func(v, out matrix.Dense) {
		c := columnsOf(at.Kernel, at.Theta, a)
		tournament(n, at.part, at.parts, func(p, q int) {
			for i := p * party; i < min((p+1)*party, n); i += tile {
				a.Check()
				timesTile(c, a, i, min(i+tile, n, (p+1)*party), q*party, min((q+1)*party, n), v,
					out, p != q)
			}
		})
		c.release()
	})
}

// tournament calls game for every party with itself and for every two parties, as far as these
// games belong to the part.
func tournament(n, part, parts int, game func(p, q int)) {
	parties := (n + party - 1) / party
	linalg.Parallel(parties, func(p int) {
		if p%parts == part {
			game(p, p)
		}
	})
	seats := (parties + 1) / 2 * 2 // one seat may stay empty
	for round := range seats - 1 {
		linalg.Parallel(seats/2, func(t int) {
			if t%parts != part {
				return
			}
			// The last seat stays, and all other seats move on by one.
			p := (round + t) % (seats - 1)
			q := (round + seats - 1 - t) % (seats - 1)
			if t == 0 {
				q = seats - 1
			}
			if p, q = max(p, q), min(p, q); p < parties {
				game(p, q)
			}
		})
	}
}

// HasSingle says whether TimesSingle serves a kernel on this machine.
func HasSingle(k Kernel) bool {
	s, ok := k.(*Stationary)
	if ok {
		_, ok = s.singles(make([]float64, len(s.Params())), matrix.New(1, s.dim))
	}
	return ok
}

// TimesSingle does the work of TimesSymmetric in float32, for a kernel that HasSingle.
// The result has about six digits, and takes half the time.
// The sums over pairs of parties are in float64.
func (at Bound) TimesSingle(a, v, out matrix.Dense) {
	s, ok := at.Kernel.(*Stationary).singles(at.Theta, a)
	if !ok {
		panic("kernel: no products in float32; ask HasSingle")
	}
	n := a.Rows
	cols := 1
	if v.Cols > 1 {
		w := radial.SingleWidth()
		cols = (v.Cols + w - 1) / w * w
	}
	// vs is v in float32, with columns of zeros up to whole vectors.
	vs := make([]float32, n*cols)
	for i := range n {
		for j, x := range v.Row(i) {
			vs[i*cols+j] = float32(x)
		}
	}
	out.Zero()
	// add adds the rows of part to the rows of out from i0 on.
	add := func(i0 int, part []float32) {
		for i := 0; i*cols < len(part); i++ {
			row := part[i*cols:]
			for j, x := range out.Row(i0 + i) {
				out.Row(i0 + i)[j] = x + float64(row[j])
			}
		}
	}
	// Each game adds up in float32, in memory of its own. add then adds its sums to out in float64.
	tournament(n, at.part, at.parts, func(p, q int) {
		i0 := p * party
		j0 := q * party
		i1 := min(i0+party, n)
		j1 := min(j0+party, n)
		parts := make([]float32, (i1-i0+j1-j0)*cols)
		rows := parts[:(i1-i0)*cols]
		others := parts[(i1-i0)*cols:]
		if p == q {
			others = nil
		}
		s.Apply(i0, i1, j0, j1, cols, vs, rows, others)
		add(i0, rows)
		add(j0, others)
	})
}

// PullOuter adds the pull-back of the symmetric adjoint H diag(w) Hᵀ of K(A, A) to dTheta.
// H has a row per point. The adjoint is computed tile by tile and never stored.
func (at Bound) PullOuter(a, h matrix.Dense, w, dTheta []float64) {
	weighted := linalg.Borrow(h.Rows, h.Cols)
	for i := range h.Rows {
		copy(weighted.Row(i), h.Row(i))
		linalg.Mul(weighted.Row(i), w)
	}
	c := columnsOf(at.Kernel, at.Theta, a)
	pullTiles(a, h, dTheta, func(i0, i1 int, sum []float64) {
		if i0/tile%at.parts != at.part {
			return
		}
		memory := linalg.Borrow(tile, tileCols)
		pull := func(j0, j1 int) {
			bar := memory.View(0, i1-i0, 0, j1-j0)
			linalg.Gemm(false, true, 1, weighted.RowRange(i0, i1), h.RowRange(j0, j1), 0, bar)
			c.pull(a.RowRange(i0, i1), j0, j1, bar, sum, matrix.Dense{})
		}
		// Blocks before the diagonal block count twice, for both triangles.
		for j0, j1 := range lists.Blocks(i0, tileCols) {
			pull(j0, j1)
		}
		linalg.Scale(2, sum)
		pull(i0, i1)
		linalg.Return(memory)
	})
	c.release()
	linalg.Return(weighted)
}
