// Command tilegen writes the tile kernels of package linalg. It writes the assembly tile_amd64.s, and the Go
// declarations tile_amd64.go, which go vet compares with the assembly.
package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set with vectors of a given width. A tile has lanes rows of 3 vectors. The registers hold the
// tile's sums, beside one row of b and a broadcast value of a. Three loads of b and lanes broadcasts then feed
// 3·lanes multiply-adds.
type isa struct {
	name  string
	lanes int
	vec   func() VecVirtual
}

const (
	float  = 8
	across = 3
)

func main() {
	ConstraintExpr("amd64")
	for _, s := range []isa{{"AVX2", 4, YMM}, {"AVX512", 8, ZMM}} {
		s.multiply()
		s.solve()
		s.column()
	}
	transpose4()
	transpose8()
	Generate()
}

func (s isa) bytes() int { return s.lanes * float }
func (s isa) row() int   { return across * s.bytes() }

func (s isa) vectors(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = s.vec()
	}
	return v
}

// rows returns the addresses of the tile's rows. The first is p, and they are ld bytes apart.
func (s isa) rows(p, ld Register) []Mem {
	third, mid := GP64(), GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, third)
	at := []Mem{{Base: p}, {Base: p, Index: ld, Scale: 1}, {Base: p, Index: ld, Scale: 2},
		{Base: p, Index: third, Scale: 1}}
	if s.lanes == 8 {
		LEAQ(Mem{Base: p, Index: ld, Scale: 4}, mid)
		at = append(at, Mem{Base: mid}, Mem{Base: mid, Index: ld, Scale: 1}, Mem{Base: mid, Index: ld, Scale: 2},
			Mem{Base: mid, Index: third, Scale: 1})
	}
	return at
}

// multiply writes C ← β C + α A B for one tile C. A and B are packed.
func (s isa) multiply() {
	TEXT("multiply"+s.name, NOSPLIT, "func(depth int, a, b, c *float64, stride int, alpha, beta float64)")
	Pragma("noescape")
	depth := Load(Param("depth"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	ld := Load(Param("stride"), GP64())
	SHLQ(U8(3), ld)
	at := s.rows(c, ld)

	sum := make([][]VecVirtual, s.lanes)
	for i := range sum {
		sum[i] = s.vectors(across)
		for _, v := range sum[i] {
			if s.lanes == 8 {
				VPXORQ(v, v, v)
			} else {
				VPXOR(v, v, v)
			}
		}
	}
	for _, m := range at {
		// Prefetch the tile of C while the sums are formed.
		for o := 0; o < s.row(); o += 64 {
			PREFETCHT0(m.Offset(o))
		}
		PREFETCHT0(m.Offset(s.row() - 1))
	}
	bv, av := s.vectors(across), s.vectors(1)
	step := func(k int) {
		for j, v := range bv {
			VMOVUPD(Mem{Base: b, Disp: k*s.row() + j*s.bytes()}, v)
		}
		for i := range s.lanes {
			VBROADCASTSD(Mem{Base: a, Disp: k*s.row() + i*float}, av[0])
			for j, v := range bv {
				VFMADD231PD(v, av[0], sum[i][j])
			}
		}
	}
	const unroll = 4
	SUBQ(U8(unroll), depth)
	JL(LabelRef("rest"))
	Label("four")
	for k := range unroll {
		step(k)
	}
	ADDQ(U32(unroll*s.row()), a)
	ADDQ(U32(unroll*s.row()), b)
	SUBQ(U8(unroll), depth)
	JGE(LabelRef("four"))
	Label("rest")
	ADDQ(U8(unroll), depth)
	JZ(LabelRef("store"))
	Label("one")
	step(0)
	ADDQ(U32(s.row()), a)
	ADDQ(U32(s.row()), b)
	DECQ(depth)
	JNZ(LabelRef("one"))

	Label("store")
	alpha, beta, zero := bv[0], bv[1], bv[2]
	mem, err := Param("alpha").Resolve()
	must(err)
	VBROADCASTSD(mem.Addr, alpha)
	mem, err = Param("beta").Resolve()
	must(err)
	VBROADCASTSD(mem.Addr, beta)
	if s.lanes == 8 {
		VPXORQ(zero, zero, zero)
	} else {
		VPXOR(zero, zero, zero)
	}
	VUCOMISD(zero.AsX(), beta.AsX())
	JNE(LabelRef("add"))
	JP(LabelRef("add"))
	for i, m := range at {
		for j, v := range sum[i] {
			VMULPD(alpha, v, v)
			VMOVUPD(v, m.Offset(j*s.bytes()))
		}
	}
	s.end()
	Label("add")
	for i, m := range at {
		for j, v := range sum[i] {
			VMULPD(m.Offset(j*s.bytes()), beta, av[0])
			VFMADD213PD(av[0], alpha, v) // α·sum + β·c, where β·c is rounded
			VMOVUPD(v, m.Offset(j*s.bytes()))
		}
	}
	s.end()
}

// solve writes X ← T⁻¹ X for one packed tile X. T is lower triangular, or upper triangular for solveBack. T's
// diagonal is inverted already.
func (s isa) solve() {
	order := make([]int, s.lanes)
	for k := range order {
		order[k] = k
	}
	s.substitute("solve", order)
	slices.Reverse(order)
	s.substitute("solveBack", order)
}

func (s isa) substitute(name string, order []int) {
	TEXT(name+s.name, NOSPLIT, "func(t, x *float64)")
	Pragma("noescape")
	t := Load(Param("t"), GP64())
	x := Load(Param("x"), GP64())
	v := s.vectors(s.lanes * across)
	for i := range v {
		VMOVUPD(Mem{Base: x, Disp: i * s.bytes()}, v[i])
	}
	f := s.vec()
	for n, k := range order {
		VBROADCASTSD(Mem{Base: t, Disp: k*s.row() + k*float}, f)
		for j := range across {
			VMULPD(f, v[k*across+j], v[k*across+j])
			VMOVUPD(v[k*across+j], Mem{Base: x, Disp: k*s.row() + j*s.bytes()})
		}
		for _, i := range order[n+1:] {
			VBROADCASTSD(Mem{Base: t, Disp: k*s.row() + i*float}, f)
			for j := range across {
				VFNMADD231PD(f, v[k*across+j], v[i*across+j])
			}
		}
	}
	s.end()
}

// column writes s ← s + Σ_k x_k a_k, for one row s of a tile. The rows a_k are rows of a packed panel.
func (s isa) column() {
	TEXT("column"+s.name, NOSPLIT, "func(depth int, a, x, sums *float64)")
	Pragma("noescape")
	depth := Load(Param("depth"), GP64())
	a := Load(Param("a"), GP64())
	x := Load(Param("x"), GP64())
	to := Load(Param("sums"), GP64())
	sum, f := s.vectors(across), s.vec()
	for j, v := range sum {
		VMOVUPD(Mem{Base: to, Disp: j * s.bytes()}, v)
	}
	Label("row")
	VBROADCASTSD(Mem{Base: x}, f)
	for j, v := range sum {
		VFMADD231PD(Mem{Base: a, Disp: j * s.bytes()}, f, v)
	}
	ADDQ(U32(s.row()), a)
	ADDQ(U8(float), x)
	DECQ(depth)
	JNZ(LabelRef("row"))
	for j, v := range sum {
		VMOVUPD(v, Mem{Base: to, Disp: j * s.bytes()})
	}
	s.end()
}

const transposeSignature = "func(n int, src *float64, srcStride int, dst *float64, dstStride int)"

// transpose8 transposes an 8 × n matrix, for n a multiple of 8.
func transpose8() {
	s := isa{lanes: 8, vec: ZMM}
	TEXT("transposeAVX512", NOSPLIT, transposeSignature)
	Pragma("noescape")
	s.transpose(func(r []VecVirtual) {
		t := s.vectors(8)
		for i := 0; i < 8; i += 2 {
			VUNPCKLPD(r[i+1], r[i], t[i])
			VUNPCKHPD(r[i+1], r[i], t[i+1])
		}
		for i := 0; i < 8; i += 4 {
			for j := range 2 {
				VSHUFF64X2(U8(0x88), t[i+j+2], t[i+j], r[i+j])
				VSHUFF64X2(U8(0xdd), t[i+j+2], t[i+j], r[i+j+2])
			}
		}
		// r[i] holds columns i and i+4 of rows 0–3 by pairs of rows, and r[i+4] holds the same columns of rows 4–7.
		for i := range 4 {
			VSHUFF64X2(U8(0x88), r[i+4], r[i], t[i])
			VSHUFF64X2(U8(0xdd), r[i+4], r[i], t[i+4])
		}
		copy(r, t)
	})
}

// transpose4 transposes a 4 × n matrix, for n a multiple of 4.
func transpose4() {
	s := isa{lanes: 4, vec: YMM}
	TEXT("transposeAVX2", NOSPLIT, transposeSignature)
	Pragma("noescape")
	s.transpose(func(r []VecVirtual) {
		t := s.vectors(4)
		for i := 0; i < 4; i += 2 {
			VUNPCKLPD(r[i+1], r[i], t[i])
			VUNPCKHPD(r[i+1], r[i], t[i+1])
		}
		for i := range 2 {
			VPERM2F128(U8(0x20), t[i+2], t[i], r[i])
			VPERM2F128(U8(0x31), t[i+2], t[i], r[i+2])
		}
	})
}

func (s isa) transpose(block func(r []VecVirtual)) {
	n := Load(Param("n"), GP64())
	src := Load(Param("src"), GP64())
	lds := Load(Param("srcStride"), GP64())
	dst := Load(Param("dst"), GP64())
	ldd := Load(Param("dstStride"), GP64())
	SHLQ(U8(3), lds)
	SHLQ(U8(3), ldd)
	p := GP64()
	SUBQ(U8(s.lanes), n)
	JL(LabelRef("end"))
	Label("block")
	r := s.vectors(s.lanes)
	MOVQ(src, p)
	for i, v := range r {
		VMOVUPD(Mem{Base: p}, v)
		if i < s.lanes-1 {
			ADDQ(lds, p)
		}
	}
	block(r)
	for _, v := range r {
		VMOVUPD(v, Mem{Base: dst})
		ADDQ(ldd, dst)
	}
	ADDQ(U8(s.bytes()), src)
	SUBQ(U8(s.lanes), n)
	JGE(LabelRef("block"))
	Label("end")
	s.end()
}

func (s isa) end() {
	VZEROUPPER()
	RET()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
