package main

import (
	"math"

	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bundles writes all loops of package linalg for bundles.
func bundles(g *isa) {
	bundle(g)
	fours(g)
	g.copyScaled()
}

// fours writes the loops that take four columns of a bundle.
func fours(g *isa) {
	g.eliminateFour()
	g.factorFour()
	g.substituteFour()
}

// four is the number of columns that a step of the factorisation takes. A tile holds a diagonal block of L, four × four
// elements with reciprocals on the diagonal. Behind them stand four elements of A's diagonal, the four pivots, and an
// element that is 1 for each matrix whose pivots are all sound, else 0.
const four = 4

// eliminateFour subtracts Σ_k x_k y_ck, k < depth, from element depth+c of each row x, where y_c are four rows. Then it
// solves for the four elements with the tile t. It keeps 4 elements of 6 rows in registers with AVX-512 and NEON, and
// of 2 rows with AVX2.
func (g *isa) eliminateFour() {
	p := g.begin("eliminateFour", "rows, depth int, y, x *float64, stride int, t *float64",
		"sets elements depth to depth+3 of rows x to T⁻¹(x − Σ_k x_k y_k), k < depth.",
		"rows", "depth", "y", "x", "stride", "t")
	rows, depth, y, x, stride, t := p[0], p[1], p[2], p[3], p[4], p[5]
	k, py, px, later, third := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(op.Mem{Base: stride, Index: stride, Scale: 2}, third)
	// at returns the address of row r, where the rows from 3 on begin at later.
	at := func(base, later reg.Register, r, half, on int) op.Mem {
		if r >= 3 && later != nil {
			base, r = later, r-3
		}
		return g.row(base, stride, third, r, half, on)
	}
	block := func(label string, n int) {
		for half := range g.halves() {
			sums := make([][four]vec, n)
			for r := range sums {
				for c := range sums[r] {
					sums[r][c] = g.zero()
				}
			}
			g.MOVQ(x, px)
			g.LEAQ(op.Mem{Base: x, Index: third, Scale: 1}, later)
			g.MOVQ(y, py)
			g.MOVQ(depth, k)
			name := label + string(rune('0'+half))
			g.TESTQ(k, k)
			g.JZ(op.LabelRef(name + "done"))
			g.repeat(name, k, func() {
				var yk [four]vec
				for c := range yk {
					yk[c] = g.vec()
					g.VMOVUPD(at(py, nil, c, half, 0), yk[c])
				}
				xk := g.vec()
				for r := range sums {
					g.VMOVUPD(at(px, later, r, half, 0), xk)
					for c := range yk {
						g.plusProduct(sums[r][c], yk[c], xk)
					}
				}
				for _, to := range []reg.Register{py, px, later} {
					g.ADDQ(op.U32(64), to)
				}
			})
			g.Label(name + "done")
			e := g.vec()
			for r := range sums {
				for c := range sums[r] {
					g.VMOVUPD(at(px, later, r, half, c), e)
					g.VSUBPD(sums[r][c], e, sums[r][c])
				}
			}
			for c := range four {
				g.VMOVUPD(g.element(t, half, c*four+c), e)
				for r := range sums {
					g.VMULPD(sums[r][c], e, sums[r][c])
					g.VMOVUPD(sums[r][c], at(px, later, r, half, c))
				}
				for i := c + 1; i < four; i++ {
					g.VMOVUPD(g.element(t, half, i*four+c), e)
					for r := range sums {
						g.minusProduct(sums[r][i], e, sums[r][c])
					}
				}
			}
		}
	}
	counts := []int{2, 1}
	if g.bits != 256 { // 32 registers
		counts = []int{6, 2, 1}
	}
	for _, n := range counts {
		name := "rows" + string(rune('0'+n))
		g.Label(name)
		g.SUBQ(op.U8(uint8(n)), rows)
		g.JL(op.LabelRef(name + "end"))
		block(name+"deeper", n)
		for range n {
			g.ADDQ(stride, x)
		}
		g.JMP(op.LabelRef(name))
		g.Label(name + "end")
		g.ADDQ(op.U8(uint8(n)), rows)
	}
	g.VZEROUPPER()
	g.RET()
}

// factorFour factors the 4 × 4 diagonal block x, whose first row begins with the block. It writes the factor with
// reciprocals on the diagonal to x and to the tile t.
func (g *isa) factorFour() {
	p := g.begin("factorFour", "x *float64, stride int, t *float64",
		"factors the 4×4 diagonal block x, and writes the factor to the tile t too; stride is in bytes.",
		"x", "stride", "t")
	x, stride, t := p[0], p[1], p[2]
	third := g.GP64()
	g.LEAQ(op.Mem{Base: stride, Index: stride, Scale: 2}, third)
	at := func(r, half, on int) op.Mem { return g.row(x, stride, third, r, half, on) }
	for half := range g.halves() {
		var a [four][four]vec
		for r := range four {
			for c := range r + 1 {
				a[r][c] = g.vec()
				g.VMOVUPD(at(r, half, c), a[r][c])
			}
		}
		ok := g.vec()
		g.VMOVUPD(g.con(1), ok)
		zero := g.zero()
		for c := range four {
			pivot := a[c][c]
			g.VMOVUPD(pivot, g.element(t, half, four*four+four+c))
			least := g.vec()
			g.VMOVUPD(g.con(0x1p-50), least)
			g.VMULPD(g.element(t, half, four*four+c), least, least)
			ok = g.where(pivot, greater, least, ok, zero)
			ok = g.where(pivot, less, g.con(math.Inf(1)), ok, zero)
			reciprocal := g.vec()
			g.VMOVUPD(g.con(1), reciprocal)
			g.VDIVPD(pivot, reciprocal, reciprocal)
			// The next pivots wait for the reciprocal, not for the root.
			for i := c + 1; i < four; i++ {
				f := g.mul(a[i][c], reciprocal)
				for r := i; r < four; r++ {
					g.minusProduct(a[r][i], f, a[r][c])
				}
			}
			root := g.sqrt(reciprocal)
			a[c][c] = root
			for r := c; r < four; r++ {
				if r > c {
					g.VMULPD(a[r][c], root, a[r][c])
				}
				g.VMOVUPD(a[r][c], at(r, half, c))
				g.VMOVUPD(a[r][c], g.element(t, half, r*four+c))
			}
		}
		g.VMOVUPD(ok, g.element(t, half, four*four+2*four))
	}
	g.VZEROUPPER()
	g.RET()
}

// substituteFour replaces elements n to n+3 of the row z by the solution for four rows x of L, from the last back, and
// subtracts what follows for the n elements before.
func (g *isa) substituteFour() {
	p := g.begin("substituteFour", "n int, x *float64, stride int, z *float64",
		"solves for z_n to z_(n+3) with four rows x of Lᵀ, and updates z_k for k < n.",
		"n", "x", "stride", "z")
	n, x, stride, z := p[0], p[1], p[2], p[3]
	third, px, pz, k := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(op.Mem{Base: stride, Index: stride, Scale: 2}, third)
	at := func(r, half, on int) op.Mem { return g.row(px, stride, third, r, half, on) }
	g.MOVQ(n, k)
	g.SHLQ(op.U8(6), k)
	g.MOVQ(x, px)
	g.ADDQ(k, px)
	g.MOVQ(z, pz)
	g.ADDQ(k, pz)
	f := make([][four]vec, g.halves())
	for half := range f {
		for c := range four {
			f[half][c] = g.vec()
			g.VMOVUPD(g.element(pz, half, c), f[half][c])
		}
		for c := four - 1; c >= 0; c-- {
			for r := c + 1; r < four; r++ {
				g.minusProduct(f[half][c], f[half][r], at(r, half, c))
			}
			g.VMULPD(at(c, half, c), f[half][c], f[half][c])
			g.VMOVUPD(f[half][c], g.element(pz, half, c))
		}
	}
	g.TESTQ(n, n)
	g.JZ(op.LabelRef("end"))
	g.MOVQ(x, px)
	g.repeat("next", n, func() {
		for half := range f {
			e := g.vec()
			g.VMOVUPD(g.element(z, half, 0), e)
			for c := range four {
				g.minusProduct(e, f[half][c], at(c, half, 0))
			}
			g.VMOVUPD(e, g.element(z, half, 0))
		}
		g.ADDQ(op.U32(64), px)
		g.ADDQ(op.U32(64), z)
	})
	g.Label("end")
	g.VZEROUPPER()
	g.RET()
}

// row returns the address of element on of row r, where rows begin stride bytes after each other, and third is three
// strides.
func (g *isa) row(base, stride, third reg.Register, r, half, on int) op.Mem {
	m := g.element(base, half, on)
	switch r {
	case 1, 2:
		m.Index, m.Scale = stride, uint8(r)
	case 3:
		m.Index, m.Scale = third, 1
	}
	return m
}

// copyScaled writes row k of dst, as wide as a tile, with row k of src times scale_k. A tile has three vectors, with
// NEON six.
func (g *isa) copyScaled() {
	p := g.begin("copyScaled", "rows int, src *float64, srcStride int, dst *float64, dstStride int, scale *float64",
		"copies rows as wide as a tile, times scale, for rows above 0; strides are in bytes.",
		"rows", "src", "srcStride", "dst", "dstStride", "scale")
	factor := g.vec()
	g.repeat("next", p[0], func() {
		g.broadcast(op.Mem{Base: p[5]}, factor)
		for j := range 3 * max(g.bits, 256) / g.bits {
			at := j * g.bits / 8
			g.VMOVUPD(g.mul(factor, op.Mem{Base: p[1], Disp: at}), op.Mem{Base: p[3], Disp: at})
		}
		g.ADDQ(p[2], p[1])
		g.ADDQ(p[4], p[3])
		g.ADDQ(op.U8(8), p[5])
	})
	g.VZEROUPPER()
	g.RET()
}
