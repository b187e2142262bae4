package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// covariance writes the inner loops of the stationary kernels, for package radial.
func covariance(g *isa) {
	g.distances()
	if !g.single {
		g.moments()
		g.bundleDistances()
		g.bundleMoments()
		g.effects()
	}
	g.apply(1)
	g.apply(2)
	g.write(function{
		name: "rowProduct", doc: "adds x·k to out and k·v to the sums.",
		in: []string{"out", "k", "v"}, out: []string{"out"}, scalars: []string{"x"}, sums: 1,
		body: func(g *isa, in, s []vec) (out, terms []vec) {
			sum := g.copyOf(in[0])
			g.plusProduct(sum, in[1], s[0])
			return []vec{sum}, []vec{g.mul(in[1], in[2])}
		},
	})
	// Two functions give a profile k of u = scale²·d² ≥ 0. value returns k(u). pull returns w = k̄ ∂k/∂u and the
	// terms of the sums: Σ k̄ k, Σ w u, and for RQ Σ k̄ ∂k/∂ln a.
	profile := func(name string, value func(g *isa, u, shape, variance vec) vec,
		pull func(g *isa, u, bar, shape vec) (w, k, dShape vec)) {
		g.write(function{
			name: name + "Value", doc: "writes variance·k(u) to k.",
			in: []string{"u"}, out: []string{"k"}, scalars: []string{"shape", "variance"}, ahead: "k",
			body: func(g *isa, in, s []vec) (out, terms []vec) {
				return []vec{value(g, in[0], s[0], s[1])}, nil
			},
		})
		if g.single {
			return
		}
		g.write(function{
			name: name + "Pull", doc: "writes bar·∂k/∂u to w and adds up what Sums says.",
			in: []string{"u", "bar"}, out: []string{"w"}, scalars: []string{"shape"}, sums: 3, ahead: "bar",
			body: func(g *isa, in, s []vec) (out, terms []vec) {
				w, k, dShape := pull(g, in[0], in[1], s[0])
				terms = []vec{k, g.mul(w, in[0])}
				if dShape != nil {
					terms = append(terms, dShape)
				}
				return []vec{w}, terms
			},
		})
	}

	profile("se",
		func(g *isa, u, _, variance vec) vec { return g.expMinus(u, variance) },
		func(g *isa, u, bar, _ vec) (w, k, dShape vec) {
			k = g.expMinus(u, bar)
			return g.negative(k), k, nil
		})
	profile("matern12",
		func(g *isa, u, _, variance vec) vec { return g.expMinus(g.sqrt(u), variance) },
		func(g *isa, u, bar, _ vec) (w, k, dShape vec) {
			s := g.sqrt(u)
			k = g.expMinus(s, bar)
			slope := g.div(g.mul(k, g.con(-0.5)), s)
			return g.where(u, greater, g.zero(), slope, g.zero()), k, nil // at the kink the slope is 0
		})
	profile("matern32",
		func(g *isa, u, _, variance vec) vec {
			s := g.sqrt(u)
			return g.mul(g.expMinus(s, variance), g.add(s, g.con(1)))
		},
		func(g *isa, u, bar, _ vec) (w, k, dShape vec) {
			s := g.sqrt(u)
			e := g.expMinus(s, bar)
			return g.mul(e, g.con(-0.5)), g.mul(e, g.add(s, g.con(1))), nil
		})
	profile("matern52",
		func(g *isa, u, _, variance vec) vec {
			s := g.sqrt(u)
			p := g.add(s, g.con(1))
			g.plusProduct(p, u, g.con(1./3))
			return g.mul(g.expMinus(s, variance), p)
		},
		func(g *isa, u, bar, _ vec) (w, k, dShape vec) {
			s := g.sqrt(u)
			e := g.expMinus(s, bar)
			p := g.add(s, g.con(1))
			w = g.mul(g.mul(e, p), g.con(-1./6))
			g.plusProduct(p, u, g.con(1./3))
			return w, g.mul(e, p), nil
		})
	if g.single {
		return // rq needs log1p, which is written for float64 only
	}
	profile("rq",
		func(g *isa, u, shape, variance vec) vec { return g.expMinus(g.mul(g.log1p(u), shape), variance) },
		func(g *isa, u, bar, shape vec) (w, k, dShape vec) {
			l := g.log1p(u)
			k = g.expMinus(g.mul(l, shape), bar)
			over := g.div(k, g.add(u, g.con(1))) // bar·k/(1+u)
			dShape = g.mul(u, over)
			g.minusProduct(dShape, k, l)
			w = g.negative(g.mul(over, shape))
			return w, k, g.mul(dShape, shape)
		})
}

func (g *isa) negative(x vec) vec {
	r := g.vec()
	g.VXORPD(g.word(1<<63), x, r)
	return r
}

// distances writes out_rj ← Σ_t (a_tr − b_tj)², for four points a, where a_tr is at 4t+r, and for panels of a few
// vectors of points b. The sums stay in registers.
func (g *isa) distances() {
	g.Function("distances" + g.suffix())
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(a, b *" + g.float() + ", dim, step, panels int, out *" + g.float() + ", stride int)")
	g.Doc("distances"+g.suffix()+" writes the squared distances of 4 points a to those of panels b,",
		"step values apart; stride is that of out.")
	g.Pragma("noescape")
	a := g.Load(g.Param("a"), g.GP64())
	panel := g.Load(g.Param("b"), g.GP64())
	dim := g.Load(g.Param("dim"), g.GP64())
	step := g.Load(g.Param("step"), g.GP64())
	left := g.Load(g.Param("panels"), g.GP64())
	out := g.Load(g.Param("out"), g.GP64())
	stride := g.Load(g.Param("stride"), g.GP64())
	g.SHLQ(op.U8(g.shift()), step)
	g.SHLQ(op.U8(g.shift()), stride)
	width := g.bits / 8
	pa, pb, t := g.GP64(), g.GP64(), g.GP64()

	g.Label("panel")
	g.MOVQ(a, pa)
	g.MOVQ(panel, pb)
	g.MOVQ(dim, t)
	sum, b := make([][]vec, 4), make([]vec, g.across())
	for r := range sum {
		for range b {
			sum[r] = append(sum[r], g.zero())
		}
	}
	g.Label("dimension")
	for c := range b {
		b[c] = g.vec()
		g.VMOVUPD(op.Mem{Base: pb, Disp: c * width}, b[c])
	}
	for r := range sum {
		ar := g.vec()
		g.broadcast(op.Mem{Base: pa, Disp: g.size() * r}, ar)
		for c := range b {
			d := g.sub(b[c], ar)
			g.plusProduct(sum[r][c], d, d)
		}
	}
	g.ADDQ(op.U32(4*g.size()), pa)
	g.ADDQ(op.U32(len(b)*width), pb)
	g.DECQ(t)
	g.JNZ(op.LabelRef("dimension"))
	row := g.GP64()
	g.MOVQ(out, row)
	for r := range sum {
		for c := range sum[r] {
			g.VMOVUPD(sum[r][c], op.Mem{Base: row, Disp: c * width})
		}
		if r < 3 {
			g.ADDQ(stride, row)
		}
	}
	g.ADDQ(op.U32(len(b)*width), out)
	g.ADDQ(step, panel)
	g.DECQ(left)
	g.JNZ(op.LabelRef("panel"))
	g.VZEROUPPER()
	g.RET()
}

// moments writes m_t ← m_t + Σ_j w_j (a_t − b_tj) and s_t ← s_t + Σ_j w_j (a_t − b_tj)². Each lane has its own sums,
// and four dimensions are done at a time.
func (g *isa) moments() {
	g.Function("moments" + g.suffix())
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(w, a, b *float64, fours, step, panels int, m, s *float64)")
	g.Doc("moments"+g.suffix()+" adds up the weighted differences and their squares between a point a,",
		"its values 4 apart, and those of panels b, for 4·fours dimensions with 8 lanes each.")
	g.Pragma("noescape")
	w := g.Load(g.Param("w"), g.GP64())
	a := g.Load(g.Param("a"), g.GP64())
	b := g.Load(g.Param("b"), g.GP64())
	fours := g.Load(g.Param("fours"), g.GP64())
	step := g.Load(g.Param("step"), g.GP64())
	panels := g.Load(g.Param("panels"), g.GP64())
	mBase := g.Load(g.Param("m"), g.GP64())
	sBase := g.Load(g.Param("s"), g.GP64())
	g.SHLQ(op.U8(3), step)
	width := g.bits / 8
	pw, pb, left := g.GP64(), g.GP64(), g.GP64()

	g.Label("four")
	var at, m, s [4]vec
	slot := func(base reg.Register, t int) op.Mem { return op.Mem{Base: base, Disp: 64 * t} }
	for t := range at {
		at[t], m[t], s[t] = g.vec(), g.vec(), g.vec()
		g.broadcast(op.Mem{Base: a, Disp: 32 * t}, at[t])
		g.VMOVUPD(slot(mBase, t), m[t])
		g.VMOVUPD(slot(sBase, t), s[t])
	}
	g.MOVQ(w, pw)
	g.MOVQ(b, pb)
	g.MOVQ(panels, left)
	g.Label("panel")
	for c := range g.across() {
		weight := g.vec()
		g.VMOVUPD(op.Mem{Base: pw, Disp: c * width}, weight)
		for t := range at {
			d := g.sub(at[t], op.Mem{Base: pb, Disp: (g.across()*t + c) * width})
			wd := g.mul(weight, d)
			g.VADDPD(wd, m[t], m[t])
			g.plusProduct(s[t], wd, d)
		}
	}
	g.ADDQ(op.U32(g.across()*width), pw)
	g.ADDQ(step, pb)
	g.DECQ(left)
	g.JNZ(op.LabelRef("panel"))
	for t := range at {
		g.VMOVUPD(m[t], slot(mBase, t))
		g.VMOVUPD(s[t], slot(sBase, t))
	}
	g.ADDQ(op.U32(4*32), a)
	g.ADDQ(op.U32(4*g.across()*width), b)
	g.ADDQ(op.U32(4*64), mBase)
	g.ADDQ(op.U32(4*64), sBase)
	g.DECQ(fours)
	g.JNZ(op.LabelRef("four"))
	g.VZEROUPPER()
	g.RET()
}

// apply writes out_rc ← out_rc + Σ_k a_rk v_kc for one or two vectors of columns c (with NEON, pairs of vectors). It
// takes as many rows r as there are registers for: 8, or 4 with AVX2 and NEON. a_rk is at r·rowStep + k·depthStep, so
// that a may be a block of K or its transpose.
func (g *isa) apply(vectors int) {
	name := fmt.Sprintf("apply%d%s", vectors, g.suffix())
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(strings.ReplaceAll("func(a *float, rowStep, depthStep, depth int, v *float, vStride int, out "+
		"*float, outStride int)", "float", g.float()))
	g.Doc(name + " adds the product of a few rows a and as many vectors of columns of v to out.")
	g.Pragma("noescape")
	a := g.Load(g.Param("a"), g.GP64())
	depth := g.Load(g.Param("depth"), g.GP64())
	v := g.Load(g.Param("v"), g.GP64())
	out := g.Load(g.Param("out"), g.GP64())
	bytes := func(name string) reg.GPVirtual {
		r := g.GP64()
		g.Load(g.Param(name), r)
		g.SHLQ(op.U8(g.shift()), r)
		return r
	}
	rowStep, depthStep := bytes("rowStep"), bytes("depthStep")
	vStride, outStride := bytes("vStride"), bytes("outStride")
	rows := max(g.bits/64, 4)
	width := g.bits / 8
	if g.bits == 128 {
		vectors *= 2
	}
	// Row r is r·rowStep away. That is an odd multiple of rowStep, kept in a register, times a power of two, which
	// addresses can have as a scale.
	odd := map[int]reg.Register{1: rowStep}
	for m := 3; m < rows; m += 2 {
		odd[m] = g.GP64()
		g.LEAQ(op.Mem{Base: odd[m-2], Index: rowStep, Scale: 2}, odd[m])
	}
	element := func(r int) op.Mem {
		if r == 0 {
			return op.Mem{Base: a}
		}
		scale := r & -r
		return op.Mem{Base: a, Index: odd[r/scale], Scale: uint8(scale)}
	}
	sums := make([][]vec, rows)
	for r := range sums {
		for range vectors {
			sums[r] = append(sums[r], g.zero())
		}
	}
	g.Label("deeper")
	vs := make([]vec, vectors)
	for c := range vs {
		vs[c] = g.vec()
		g.VMOVUPD(op.Mem{Base: v, Disp: c * width}, vs[c])
	}
	for r := range sums {
		x := g.vec()
		g.broadcast(element(r), x)
		for c := range vs {
			g.plusProduct(sums[r][c], x, vs[c])
		}
	}
	g.ADDQ(depthStep, a)
	g.ADDQ(vStride, v)
	g.DECQ(depth)
	g.JNZ(op.LabelRef("deeper"))
	for r := range sums {
		for c := range sums[r] {
			m := op.Mem{Base: out, Disp: c * width}
			g.do(g.VADDPD, g.VADDPS, m, sums[r][c], sums[r][c])
			g.VMOVUPD(sums[r][c], m)
		}
		g.ADDQ(outStride, out)
	}
	g.VZEROUPPER()
	g.RET()
}
