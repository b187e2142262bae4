package main

import (
	"github.com/mmcloughlin/avo/attr"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// abreast is the number of matrices in a bundle. Element (i, j) of all of them fills one vector of AVX-512, two vectors
// of AVX2, or four of NEON.
const abreast = 8

// bundle writes the inner loops of package linalg for bundles. A bundle is 8 matrices whose elements are interleaved.
func bundle(g *isa) {
	g.eliminate()
	g.subtract()
	g.combine()
}

// halves returns the number of vectors that one element of all matrices fills.
func (g *isa) halves() int { return abreast / g.lanes() }

// together returns how many of these vectors a loop works on. NEON has registers for all four.
func (g *isa) together() int {
	if g.bits == 128 {
		return g.halves()
	}
	return 1
}

// zeros returns the sums of n rows.
func (g *isa) zeros(n int) [][]vec {
	sums := make([][]vec, n)
	for r := range sums {
		for range g.together() {
			sums[r] = append(sums[r], g.zero())
		}
	}
	return sums
}

// begin declares a function on bundles, and returns its parameters in registers. A slice is given by a pointer to its
// first element, and a stride in bytes.
func (g *isa) begin(name, signature, doc string, params ...string) []reg.Register {
	g.Function(name + g.suffix())
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(" + signature + ")")
	g.Doc(name + g.suffix() + " " + doc)
	g.Pragma("noescape")
	var loaded []reg.Register
	for _, p := range params {
		loaded = append(loaded, g.Load(g.Param(p), g.GP64()))
	}
	return loaded
}

// repeat runs body count times, and counts the register count down to 0. count must be above 0.
func (g *isa) repeat(label string, count reg.Register, body func()) {
	g.Label(label)
	body()
	g.DECQ(count)
	g.JNZ(op.LabelRef(label))
}

// element returns the address of vector half of the element that lies on elements after base.
func (g *isa) element(base reg.Register, half, on int) op.Mem {
	return op.Mem{Base: base, Disp: 64*on + half*g.bits/8}
}

// eliminate sets element depth of each row x to (x_depth − Σ_k x_k y_k) s. It does four rows at a time, so that y_k
// is read once for all four.
func (g *isa) eliminate() {
	p := g.begin("eliminate", "rows, depth int, y, x *float64, stride int, s *float64",
		"is eliminatePortable; stride is in bytes.", "rows", "depth", "y", "x", "stride", "s")
	rows, depth, y, x, stride, s := p[0], p[1], p[2], p[3], p[4], p[5]
	k, py, third := g.GP64(), g.GP64(), g.GP64()
	px := g.GP64()
	g.LEAQ(op.Mem{Base: stride, Index: stride, Scale: 2}, third)
	at := func(base reg.Register, r, half int) op.Mem {
		m := g.element(base, half, 0)
		switch r {
		case 1:
			m.Index, m.Scale = stride, 1
		case 2:
			m.Index, m.Scale = stride, 2
		case 3:
			m.Index, m.Scale = third, 1
		}
		return m
	}
	block := func(label string, n int) {
		for half := 0; half < g.halves(); half += g.together() {
			sums := g.zeros(n)
			g.MOVQ(x, px)
			g.MOVQ(y, py)
			g.MOVQ(depth, k)
			name := label + string(rune('0'+half))
			g.TESTQ(k, k)
			g.JZ(op.LabelRef(name + "done"))
			g.repeat(name, k, func() {
				for h := range g.together() {
					yk := g.vec()
					g.VMOVUPD(g.element(py, half+h, 0), yk)
					for r := range sums {
						g.plusProduct(sums[r][h], yk, at(px, r, half+h))
					}
				}
				g.ADDQ(op.U32(64), py)
				g.ADDQ(op.U32(64), px)
			})
			g.Label(name + "done")
			for h := range g.together() {
				scale := g.vec()
				g.VMOVUPD(g.element(s, half+h, 0), scale)
				for r := range sums {
					e := g.vec()
					g.VMOVUPD(at(px, r, half+h), e)
					e = g.mul(g.sub(e, sums[r][h]), scale)
					g.VMOVUPD(e, at(px, r, half+h))
				}
			}
		}
	}
	g.SUBQ(op.U8(4), rows)
	g.JL(op.LabelRef("rest"))
	g.Label("four")
	block("deeper4", 4)
	g.LEAQ(op.Mem{Base: x, Index: stride, Scale: 4}, x)
	g.SUBQ(op.U8(4), rows)
	g.JGE(op.LabelRef("four"))
	g.Label("rest")
	g.ADDQ(op.U8(4), rows)
	g.JZ(op.LabelRef("end"))
	g.repeat("one", rows, func() {
		block("deeper1", 1)
		g.ADDQ(stride, x)
	})
	g.Label("end")
	g.VZEROUPPER()
	g.RET()
}

// subtract writes z_k ← z_k − x_k f.
func (g *isa) subtract() {
	p := g.begin("subtract", "n int, x, f, z *float64", "is subtractPortable, for n above 0.", "n", "x", "f", "z")
	f := make([]vec, g.halves())
	for h := range f {
		f[h] = g.vec()
		g.VMOVUPD(g.element(p[2], h, 0), f[h])
	}
	g.repeat("next", p[0], func() {
		for h := range f {
			z := g.vec()
			g.VMOVUPD(g.element(p[3], h, 0), z)
			g.minusProduct(z, f[h], g.element(p[1], h, 0))
			g.VMOVUPD(z, g.element(p[3], h, 0))
		}
		g.ADDQ(op.U32(64), p[1])
		g.ADDQ(op.U32(64), p[3])
	})
	g.VZEROUPPER()
	g.RET()
}

// combine writes out_k ← x_k f + y_k g.
func (g *isa) combine() {
	p := g.begin("combine", "n int, x, f, y, w, out *float64", "is combinePortable, for n above 0.", "n", "x", "f", "y",
		"w", "out")
	a, b := make([]vec, g.halves()), make([]vec, g.halves())
	for h := range a {
		a[h], b[h] = g.vec(), g.vec()
		g.VMOVUPD(g.element(p[2], h, 0), a[h])
		g.VMOVUPD(g.element(p[4], h, 0), b[h])
	}
	g.repeat("next", p[0], func() {
		for h := range a {
			out := g.mul(b[h], g.element(p[3], h, 0))
			g.plusProduct(out, a[h], g.element(p[1], h, 0))
			g.VMOVUPD(out, g.element(p[5], h, 0))
		}
		for _, at := range []reg.Register{p[1], p[3], p[5]} {
			g.ADDQ(op.U32(64), at)
		}
	})
	g.VZEROUPPER()
	g.RET()
}

// bundleDistances writes u_j ← Σ_t (y_t − x_jt)², for four points x_j at a time.
func (g *isa) bundleDistances() {
	p := g.begin("bundleDistances", "rows, dim int, y, x, u *float64",
		"is bundleDistancesPortable, for rows and dim above 0.", "rows", "dim", "y", "x", "u")
	rows, dim, y, x, u := p[0], p[1], p[2], p[3], p[4]
	stride, third, t, py, px := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(dim, stride)
	g.SHLQ(op.U8(6), stride)
	g.LEAQ(op.Mem{Base: stride, Index: stride, Scale: 2}, third)
	block := func(label string, n int) {
		for half := 0; half < g.halves(); half += g.together() {
			sums := g.zeros(n)
			g.MOVQ(x, px)
			g.MOVQ(y, py)
			g.MOVQ(dim, t)
			g.repeat(label+string(rune('0'+half)), t, func() {
				for h := range g.together() {
					yt := g.vec()
					g.VMOVUPD(g.element(py, half+h, 0), yt)
					for r := range sums {
						m := g.element(px, half+h, 0)
						switch r {
						case 1:
							m.Index, m.Scale = stride, 1
						case 2:
							m.Index, m.Scale = stride, 2
						case 3:
							m.Index, m.Scale = third, 1
						}
						d := g.sub(yt, m)
						g.plusProduct(sums[r][h], d, d)
					}
				}
				g.ADDQ(op.U32(64), py)
				g.ADDQ(op.U32(64), px)
			})
			for r := range sums {
				for h, sum := range sums[r] {
					g.VMOVUPD(sum, g.element(u, half+h, r))
				}
			}
		}
	}
	g.SUBQ(op.U8(4), rows)
	g.JL(op.LabelRef("rest"))
	g.Label("four")
	block("deeper4", 4)
	g.LEAQ(op.Mem{Base: x, Index: stride, Scale: 4}, x)
	g.ADDQ(op.U32(4*64), u)
	g.SUBQ(op.U8(4), rows)
	g.JGE(op.LabelRef("four"))
	g.Label("rest")
	g.ADDQ(op.U8(4), rows)
	g.JZ(op.LabelRef("end"))
	g.repeat("one", rows, func() {
		block("deeper1", 1)
		g.ADDQ(stride, x)
		g.ADDQ(op.U32(64), u)
	})
	g.Label("end")
	g.VZEROUPPER()
	g.RET()
}

// bundleMoments writes s_t ← s_t + Σ_j w_j (y_t − x_jt)², for four dimensions t at a time.
func (g *isa) bundleMoments() {
	p := g.begin("bundleMoments", "rows, dim int, w, y, x, sums *float64",
		"is bundleMomentsPortable, for rows above 0 and dim a multiple of 4 above 0.", "rows", "dim", "w", "y", "x", "sums")
	rows, dim, w, y, x, sums := p[0], p[1], p[2], p[3], p[4], p[5]
	stride, j, pw, px := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(dim, stride)
	g.SHLQ(op.U8(6), stride)
	g.SHRQ(op.U8(2), dim)
	g.repeat("dimensions", dim, func() {
		for half := range g.halves() {
			var at, s [4]vec
			for t := range at {
				at[t], s[t] = g.vec(), g.vec()
				g.VMOVUPD(g.element(y, half, t), at[t])
				g.VMOVUPD(g.element(sums, half, t), s[t])
			}
			g.MOVQ(w, pw)
			g.MOVQ(x, px)
			g.MOVQ(rows, j)
			g.repeat("deeper"+string(rune('0'+half)), j, func() {
				wj := g.vec()
				g.VMOVUPD(g.element(pw, half, 0), wj)
				for t := range at {
					d := g.sub(at[t], g.element(px, half, t))
					g.plusProduct(s[t], g.mul(d, wj), d)
				}
				g.ADDQ(op.U32(64), pw)
				g.ADDQ(stride, px)
			})
			for t := range s {
				g.VMOVUPD(s[t], g.element(sums, half, t))
			}
		}
		for _, on := range []reg.Register{y, x, sums} {
			g.ADDQ(op.U32(4*64), on)
		}
	})
	g.VZEROUPPER()
	g.RET()
}
