package main

import (
	"slices"

	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile writes the tile kernels of package linalg. A tile has a few rows of a few vectors. The registers hold the
// tile's sums, beside one row of b and a broadcast value of a. With AVX-512, three loads of b and 8 broadcasts feed 24
// multiply-adds, and with AVX2 12. With NEON, three loads of a pair of vectors of b and two vectors of a feed 24.
func tile(g *isa) {
	g.multiply()
	g.solve()
	g.column()
	g.transpose()
}

// rows returns the number of rows of a tile, and tileAcross the number of vectors in a row.
func (g *isa) rows() int { return max(g.lanes(), 4) }

func (g *isa) tileAcross() int {
	if g.bits == 128 {
		return 6
	}
	return 3
}

func (g *isa) bytes() int    { return g.bits / 8 }
func (g *isa) rowBytes() int { return g.tileAcross() * g.bytes() }

func (g *isa) vectors(n int) []vec {
	v := make([]vec, n)
	for i := range v {
		v[i] = g.vec()
	}
	return v
}

// tileRows returns the addresses of the tile's rows. The first is p, and they are ld bytes apart.
func (g *isa) tileRows(p, ld reg.Register) []op.Mem {
	third, mid := g.GP64(), g.GP64()
	g.LEAQ(op.Mem{Base: ld, Index: ld, Scale: 2}, third)
	at := []op.Mem{{Base: p}, {Base: p, Index: ld, Scale: 1}, {Base: p, Index: ld, Scale: 2},
		{Base: p, Index: third, Scale: 1}}
	if g.rows() == 8 {
		g.LEAQ(op.Mem{Base: p, Index: ld, Scale: 4}, mid)
		at = append(at, op.Mem{Base: mid}, op.Mem{Base: mid, Index: ld, Scale: 1}, op.Mem{Base: mid, Index: ld, Scale: 2},
			op.Mem{Base: mid, Index: third, Scale: 1})
	}
	return at
}

// multiply writes C ← β C + α A B for one tile C. A and B are packed.
func (g *isa) multiply() {
	p := g.begin("multiply", "depth int, a, b, c *float64, stride int, alpha, beta float64", "is multiplyPortable.",
		"depth", "a", "b", "c", "stride")
	depth, a, b, c, ld := p[0], p[1], p[2], p[3], p[4]
	g.SHLQ(op.U8(3), ld)
	at := g.tileRows(c, ld)

	sum := make([][]vec, g.rows())
	for i := range sum {
		for range g.tileAcross() {
			sum[i] = append(sum[i], g.zero())
		}
	}
	for _, m := range at {
		// Prefetch the tile of C while the sums are formed.
		for o := 0; o < g.rowBytes(); o += 64 {
			g.PREFETCHT0(m.Offset(o))
		}
		g.PREFETCHT0(m.Offset(g.rowBytes() - 1))
	}
	bv, av := g.vectors(g.tileAcross()), g.vec()
	step := func(k int) {
		for j, v := range bv {
			g.VMOVUPD(op.Mem{Base: b, Disp: k*g.rowBytes() + j*g.bytes()}, v)
		}
		for i := range g.rows() {
			g.broadcast(op.Mem{Base: a, Disp: k*g.rowBytes() + i*g.size()}, av)
			for j, v := range bv {
				g.VFMADD231PD(v, av, sum[i][j])
			}
		}
	}
	const unroll = 4
	g.SUBQ(op.U8(unroll), depth)
	g.JL(op.LabelRef("rest"))
	g.Label("four")
	for k := range unroll {
		step(k)
	}
	g.ADDQ(op.U32(unroll*g.rowBytes()), a)
	g.ADDQ(op.U32(unroll*g.rowBytes()), b)
	g.SUBQ(op.U8(unroll), depth)
	g.JGE(op.LabelRef("four"))
	g.Label("rest")
	g.ADDQ(op.U8(unroll), depth)
	g.JZ(op.LabelRef("store"))
	g.Label("one")
	step(0)
	g.ADDQ(op.U32(g.rowBytes()), a)
	g.ADDQ(op.U32(g.rowBytes()), b)
	g.DECQ(depth)
	g.JNZ(op.LabelRef("one"))

	g.Label("store")
	alpha, beta := g.parameter("alpha"), g.parameter("beta")
	zero := g.zero()
	g.VUCOMISD(zero.(reg.Vec).AsX(), beta.(reg.Vec).AsX())
	g.JNE(op.LabelRef("add"))
	g.JP(op.LabelRef("add"))
	for i, m := range at {
		for j, v := range sum[i] {
			g.VMULPD(alpha, v, v)
			g.VMOVUPD(v, m.Offset(j*g.bytes()))
		}
	}
	g.VZEROUPPER()
	g.RET()
	g.Label("add")
	for i, m := range at {
		for j, v := range sum[i] {
			g.VMULPD(m.Offset(j*g.bytes()), beta, av)
			g.VFMADD213PD(av, alpha, v) // α·sum + β·c, where β·c is rounded
			g.VMOVUPD(v, m.Offset(j*g.bytes()))
		}
	}
	g.VZEROUPPER()
	g.RET()
}

// solve writes X ← T⁻¹ X for one packed tile X. T is lower triangular, or upper triangular for solveBack. T's
// diagonal is inverted already.
func (g *isa) solve() {
	order := make([]int, g.rows())
	for k := range order {
		order[k] = k
	}
	g.substitute("solve", order)
	slices.Reverse(order)
	g.substitute("solveBack", order)
}

func (g *isa) substitute(name string, order []int) {
	p := g.begin(name, "t, x *float64", "is solvePortable, in one direction.", "t", "x")
	t, x, across := p[0], p[1], g.tileAcross()
	v := g.vectors(g.rows() * across)
	for i := range v {
		g.VMOVUPD(op.Mem{Base: x, Disp: i * g.bytes()}, v[i])
	}
	f := g.vec()
	for n, k := range order {
		g.broadcast(op.Mem{Base: t, Disp: k*g.rowBytes() + k*g.size()}, f)
		for j := range across {
			g.VMULPD(f, v[k*across+j], v[k*across+j])
			g.VMOVUPD(v[k*across+j], op.Mem{Base: x, Disp: k*g.rowBytes() + j*g.bytes()})
		}
		for _, i := range order[n+1:] {
			g.broadcast(op.Mem{Base: t, Disp: k*g.rowBytes() + i*g.size()}, f)
			for j := range across {
				g.VFNMADD231PD(f, v[k*across+j], v[i*across+j])
			}
		}
	}
	g.VZEROUPPER()
	g.RET()
}

// column writes s ← s + Σ_k x_k a_k, for one row s of a tile. The rows a_k are rows of a packed panel.
func (g *isa) column() {
	p := g.begin("column", "depth int, a, x, sums *float64", "is columnTile.", "depth", "a", "x", "sums")
	depth, a, x, to := p[0], p[1], p[2], p[3]
	sum, f := g.vectors(g.tileAcross()), g.vec()
	for j, v := range sum {
		g.VMOVUPD(op.Mem{Base: to, Disp: j * g.bytes()}, v)
	}
	g.repeat("row", depth, func() {
		g.broadcast(op.Mem{Base: x}, f)
		for j, v := range sum {
			g.plusProduct(v, f, op.Mem{Base: a, Disp: j * g.bytes()})
		}
		g.ADDQ(op.U32(g.rowBytes()), a)
		g.ADDQ(op.U8(g.size()), x)
	})
	for j, v := range sum {
		g.VMOVUPD(v, op.Mem{Base: to, Disp: j * g.bytes()})
	}
	g.VZEROUPPER()
	g.RET()
}

// transpose transposes a matrix of rows × n, for n a multiple of rows.
func (g *isa) transpose() {
	p := g.begin("transpose", "n int, src *float64, srcStride int, dst *float64, dstStride int", "is transposePortable.",
		"n", "src", "srcStride", "dst", "dstStride")
	n, src, lds, dst, ldd := p[0], p[1], p[2], p[3], p[4]
	g.SHLQ(op.U8(3), lds)
	g.SHLQ(op.U8(3), ldd)
	from := g.GP64()
	g.SUBQ(op.U8(g.lanes()), n)
	g.JL(op.LabelRef("end"))
	g.Label("block")
	r := g.vectors(g.rows())
	g.MOVQ(src, from)
	for i, v := range r {
		g.VMOVUPD(op.Mem{Base: from}, v)
		if i < g.rows()-1 {
			g.ADDQ(lds, from)
		}
	}
	map[int]func([]vec){128: g.transpose2, 256: g.transpose4, 512: g.transpose8}[g.bits](r)
	each := g.rows() / g.lanes() // vectors in a row of the result
	for i, v := range r {
		g.VMOVUPD(v, op.Mem{Base: dst, Disp: i % each * g.bytes()})
		if i%each == each-1 {
			g.ADDQ(ldd, dst)
		}
	}
	g.ADDQ(op.U8(g.bytes()), src)
	g.SUBQ(op.U8(g.lanes()), n)
	g.JGE(op.LabelRef("block"))
	g.Label("end")
	g.VZEROUPPER()
	g.RET()
}

// pairs returns the first of each two numbers of neighbouring rows, and the second.
func (g *isa) pairs(r []vec) []vec {
	t := g.vectors(len(r))
	for i := 0; i < len(r); i += 2 {
		g.VUNPCKLPD(r[i+1], r[i], t[i])
		g.VUNPCKHPD(r[i+1], r[i], t[i+1])
	}
	return t
}

func (g *isa) transpose2(r []vec) {
	t := g.pairs(r)
	copy(r, []vec{t[0], t[2], t[1], t[3]})
}

func (g *isa) transpose4(r []vec) {
	t := g.pairs(r)
	for i := range 2 {
		g.VPERM2F128(op.U8(0x20), t[i+2], t[i], r[i])
		g.VPERM2F128(op.U8(0x31), t[i+2], t[i], r[i+2])
	}
}

func (g *isa) transpose8(r []vec) {
	t := g.pairs(r)
	for i := 0; i < 8; i += 4 {
		for j := range 2 {
			g.VSHUFF64X2(op.U8(0x88), t[i+j+2], t[i+j], r[i+j])
			g.VSHUFF64X2(op.U8(0xdd), t[i+j+2], t[i+j], r[i+j+2])
		}
	}
	// r[i] holds columns i and i+4 of rows 0–3 by pairs of rows, and r[i+4] holds the same columns of rows 4–7.
	for i := range 4 {
		g.VSHUFF64X2(op.U8(0x88), r[i+4], r[i], t[i])
		g.VSHUFF64X2(op.U8(0xdd), r[i+4], r[i], t[i+4])
	}
	copy(r, t)
}
