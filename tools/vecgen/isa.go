package main

import (
	"fmt"
	"log"
	"math"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// isa writes instructions for vectors of one width. Methods that return a vec put their result into a new register.
// Methods without a result change their first argument.
type isa struct {
	*build.Context
	bits     int
	single   bool              // elements are float32, not float64
	memory   map[uint64]op.Mem // constants in memory, each as a full vector
	hoisted  map[uint64]vec    // constants that the current function keeps in registers
	wanted   []uint64          // constants in the order in which the rehearsal used them
	masks    op.Mem
	rehearse bool
}

type vec = reg.VecVirtual

func newISA(c *build.Context, bits int, single bool) *isa {
	return &isa{Context: c, bits: bits, single: single, memory: map[uint64]op.Mem{}}
}

// size returns the bytes of an element, and shift its logarithm to base 2.
func (g *isa) size() int { return 1 << g.shift() }

func (g *isa) shift() uint8 {
	if g.single {
		return 2
	}
	return 3
}

func (g *isa) float() string { return fmt.Sprintf("float%d", 8*g.size()) }

func (g *isa) lanes() int { return g.bits / 8 / g.size() }

func (g *isa) suffix() string {
	s := map[int]string{128: "NEON", 256: "AVX2", 512: "AVX512"}[g.bits]
	if g.single {
		return "Single" + s
	}
	return s
}

// do emits the instruction for the kind of g's elements: double or single.
func (g *isa) do(double, single func(...op.Op), ops ...op.Op) {
	if g.single {
		double = single
	}
	double(ops...)
}

// result emits an instruction, like do, with a new register as the last operand. It returns the register.
func (g *isa) result(double, single func(...op.Op), ops ...op.Op) vec {
	r := g.vec()
	g.do(double, single, append(ops, r)...)
	return r
}

// broadcast fills all lanes of r with one element.
func (g *isa) broadcast(o op.Op, r vec) {
	if g.bits == 128 {
		g.do(g.VMOVDDUP, g.VBROADCASTSS, o, r)
		return
	}
	g.do(g.VBROADCASTSD, g.VBROADCASTSS, o, r)
}

// parameter returns a number that the function gets, in every lane. A load of the old encoding (MOVSD) would take about
// 100 ns, if another vector register is in use already.
func (g *isa) parameter(name string) vec {
	at, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := g.vec()
	g.broadcast(at.Addr, r)
	return r
}

func (g *isa) vec() vec {
	switch g.bits {
	case 128:
		return g.XMM()
	case 256:
		return g.YMM()
	}
	return g.ZMM()
}

// across returns the number of vectors in a row of a panel.
func (g *isa) across() int {
	if g.bits == 128 {
		return 4 // 32 registers hold 16 sums
	}
	return 2
}

// con returns the operand that holds a constant in each lane. If the function keeps the constant in a register, it is
// this register, else it is memory.
func (g *isa) con(v float64) op.Op {
	if g.single {
		return g.word(uint64(math.Float32bits(float32(v))))
	}
	return g.word(math.Float64bits(v))
}

func (g *isa) word(w uint64) op.Op {
	if r, ok := g.hoisted[w]; ok {
		return r
	}
	if g.rehearse {
		g.wanted = append(g.wanted, w)
		g.hoisted[w] = g.vec()
		return g.hoisted[w]
	}
	return g.static(w)
}

func (g *isa) static(w uint64) op.Mem {
	m, ok := g.memory[w]
	if !ok {
		m = g.StaticGlobal(fmt.Sprintf("w%d_%0*x", g.bits, 2*g.size(), w))
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for range g.lanes() {
			if g.single {
				g.AppendDatum(op.U32(w))
			} else {
				g.AppendDatum(op.U64(w))
			}
		}
		g.memory[w] = m
	}
	return m
}

// inReg returns the operand in a register. It loads the operand if that is in memory.
func (g *isa) inReg(o op.Op) vec {
	if r, ok := o.(vec); ok {
		return r
	}
	r := g.vec()
	g.VMOVUPD(o, r)
	return r
}

func (g *isa) copyOf(a vec) vec {
	r := g.vec()
	g.VMOVAPD(a, r)
	return r
}

// In binary operations, the second operand may be in memory.
func (g *isa) add(a vec, b op.Op) vec { return g.result(g.VADDPD, g.VADDPS, b, a) }
func (g *isa) sub(a vec, b op.Op) vec { return g.result(g.VSUBPD, g.VSUBPS, b, a) }
func (g *isa) mul(a vec, b op.Op) vec { return g.result(g.VMULPD, g.VMULPS, b, a) }
func (g *isa) div(a vec, b op.Op) vec { return g.result(g.VDIVPD, g.VDIVPS, b, a) }
func (g *isa) sqrt(a vec) vec         { return g.result(g.VSQRTPD, g.VSQRTPS, a) }
func (g *isa) and(a vec, b op.Op) vec { r := g.vec(); g.VANDPD(b, a, r); return r }
func (g *isa) or(a vec, b op.Op) vec  { r := g.vec(); g.VORPD(b, a, r); return r }

// timesPlus emits p ← p·x + c.
func (g *isa) timesPlus(p, x vec, c op.Op) { g.do(g.VFMADD213PD, g.VFMADD213PS, c, x, p) }

// timesMinus emits p ← p·x − c.
func (g *isa) timesMinus(p, x vec, c op.Op) { g.do(g.VFMSUB213PD, g.VFMSUB213PS, c, x, p) }

// plusProduct emits s ← s + a·b.
func (g *isa) plusProduct(s, a vec, b op.Op) { g.do(g.VFMADD231PD, g.VFMADD231PS, b, a, s) }

// minusProduct emits s ← s − a·b.
func (g *isa) minusProduct(s, a vec, b op.Op) { g.do(g.VFNMADD231PD, g.VFNMADD231PS, b, a, s) }

// polynomial returns Σ c_i x^i by Horner's rule.
func (g *isa) polynomial(x vec, c []float64) vec {
	top := len(c) - 1
	p := g.vec()
	g.VMOVUPD(g.con(c[top]), p)
	for i := top - 1; i >= 0; i-- {
		g.timesPlus(p, x, g.con(c[i]))
	}
	return p
}

// These operations take the bits of the lanes as integers.
func (g *isa) addInt(a vec, b op.Op) vec { return g.result(g.VPADDQ, g.VPADDD, b, a) }
func (g *isa) subInt(a vec, b op.Op) vec { r := g.vec(); g.VPSUBQ(b, a, r); return r }
func (g *isa) shiftLeft(a vec, n uint8) vec {
	return g.result(g.VPSLLQ, g.VPSLLD, op.U8(n), a)
}
func (g *isa) shiftRight(a vec, n uint8) vec {
	r := g.vec()
	g.VPSRLQ(op.U8(n), a, r)
	return r
}

// where returns yes in the lanes where "a predicate b" holds, else no.
func (g *isa) where(a vec, predicate uint8, b, yes op.Op, no vec) vec {
	r := g.vec()
	if g.bits == 512 {
		k := g.K()
		g.do(g.VCMPPD, g.VCMPPS, op.U8(predicate), b, a, k)
		g.do(g.VBLENDMPD, g.VBLENDMPS, yes, no, k, r)
		return r
	}
	k := g.vec()
	g.do(g.VCMPPD, g.VCMPPS, op.U8(predicate), b, a, k)
	if g.single {
		g.VBLENDVPS(k, yes, no, r)
	} else {
		g.VBLENDVPD(k, yes, no, r)
	}
	return r
}

// function describes a loop over slices of equal length.
type function struct {
	name, doc string
	in, out   []string // slices; an output may also be an input
	scalars   []string
	ahead     string // a slice to prefetch 4 KB ahead, which is about a row further in a block
	sums      int    // running sums of 64 bytes each (narrower vectors use a part), in sums *[n]float64
	body      func(g *isa, in, scalars []vec) (out, terms []vec)
}

// rehearsal runs a function's body with another context, and returns the constants that the body uses.
func (g *isa) rehearsal(f function) []uint64 {
	try := newISA(build.NewContext(), g.bits, g.single)
	try.rehearse, try.hoisted = true, map[uint64]vec{}
	try.Function("rehearsal")
	some := func(n int) (v []vec) {
		for range n {
			v = append(v, try.vec())
		}
		return v
	}
	f.body(try, some(len(f.in)), some(len(f.scalars)))
	return try.wanted
}

// write emits a function. The function keeps the constants that its body uses first in registers, as many as fit.
func (g *isa) write(f function) {
	constants := g.rehearsal(f)
	fit := func(n int) bool {
		try := newISA(build.NewContext(), g.bits, g.single)
		try.emit(f, constants[:n])
		file, err := try.Result()
		return err == nil && g.compile().Execute(file) == nil
	}
	n := len(constants)
	for !fit(n) {
		if n--; n < 0 {
			log.Fatalf("vecgen: %s%s needs more registers than there are", f.name, g.suffix())
		}
	}
	g.emit(f, constants[:n])
}

// compile turns what was written into instructions with registers.
func (g *isa) compile() pass.Interface {
	if g.bits == 128 {
		return neon
	}
	return avx
}

// avx is avo's compilation with a check. Functions for AVX2 must use only the sixteen registers of AVX2, but avo
// would also use registers of AVX-512.
var avx = pass.Concat(pass.Compile, pass.FunctionPass(func(f *ir.Function) error {
	if !strings.HasSuffix(f.Name, "AVX2") {
		return nil
	}
	for _, i := range f.Instructions() {
		for _, r := range i.Registers() {
			if p := reg.ToPhysical(r); p != nil && p.Kind() == reg.KindVector && p.PhysicalIndex() >= 16 {
				return fmt.Errorf("%s needs more than 16 vector registers", f.Name)
			}
		}
	}
	return nil
}))

func (g *isa) emit(f function, hoist []uint64) {
	var names []string
	for _, list := range [][]string{f.out, f.in} {
		for _, s := range list {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	sig := "func(" + strings.Join(names, ", ") + " []" + g.float()
	if len(f.scalars) > 0 {
		sig += ", " + strings.Join(f.scalars, ", ") + " " + g.float()
	}
	if f.sums > 0 {
		sig += fmt.Sprintf(", sums *[%d]%s", 64/g.size()*f.sums, g.float())
	}
	g.Function(f.name + g.suffix())
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(sig + ")")
	g.Doc(f.name + g.suffix() + " " + f.doc)
	g.Pragma("noescape")

	n := g.Load(g.Param(names[0]).Len(), g.GP64())
	base := map[string]reg.Register{}
	for _, s := range names {
		base[s] = g.Load(g.Param(s).Base(), g.GP64())
	}
	scalars := make([]vec, len(f.scalars))
	for i, s := range f.scalars {
		scalars[i] = g.parameter(s)
	}
	g.hoisted = map[uint64]vec{}
	for _, w := range hoist {
		r := g.vec()
		g.VMOVUPD(g.static(w), r)
		g.hoisted[w] = r
	}
	// With AVX2's sixteen registers, sums stay in memory.
	var sums []vec
	var sumsBase reg.Register
	if f.sums > 0 {
		sumsBase = g.Load(g.Param("sums"), g.GP64())
	}
	slot := func(i int) op.Mem { return op.Mem{Base: sumsBase, Disp: 64 * i} }
	if g.bits != 256 {
		for i := range f.sums {
			sums = append(sums, g.vec())
			g.VMOVUPD(slot(i), sums[i])
		}
	}
	at := g.GP64()
	g.XORQ(at, at)
	element := func(s string) op.Mem { return op.Mem{Base: base[s], Index: at, Scale: uint8(g.size())} }
	step := func(load func(m op.Mem, r vec), store func(r vec, m op.Mem)) {
		in := make([]vec, len(f.in))
		for i, s := range f.in {
			in[i] = g.vec()
			load(element(s), in[i])
		}
		out, terms := f.body(g, in, scalars)
		for i, s := range f.out {
			store(out[i], element(s))
		}
		for i, t := range terms {
			if g.bits != 256 {
				g.do(g.VADDPD, g.VADDPS, t, sums[i], sums[i])
			} else {
				g.VMOVUPD(g.add(t, slot(i)), slot(i))
			}
		}
	}

	g.Label("whole")
	g.CMPQ(n, op.Imm(uint64(g.lanes())))
	g.JLT(op.LabelRef("rest"))
	if f.ahead != "" {
		m := element(f.ahead)
		m.Disp = 4096
		g.PREFETCHT0(m)
	}
	step(func(m op.Mem, r vec) { g.VMOVUPD(m, r) }, func(r vec, m op.Mem) { g.VMOVUPD(r, m) })
	g.ADDQ(op.Imm(uint64(g.lanes())), at)
	g.SUBQ(op.Imm(uint64(g.lanes())), n)
	g.JMP(op.LabelRef("whole"))

	g.Label("rest")
	g.TESTQ(n, n)
	g.JZ(op.LabelRef("done"))
	switch g.bits {
	case 128: // The rest of a vector goes through the instructions one by one, in the first lane. Other lanes are 0.
		move := func(from, to op.Op) { g.do(g.VMOVSD, g.VMOVSS, from, to) }
		step(func(m op.Mem, r vec) { move(m, r) }, func(r vec, m op.Mem) { move(r, m) })
		g.INCQ(at)
		g.DECQ(n)
		g.JMP(op.LabelRef("rest"))
	case 512:
		k, ones := g.K(), g.GP64()
		g.MOVQ(op.I64(-1), ones)
		g.BZHIQ(n, ones, ones)
		g.KMOVQ(ones, k)
		load := g.VMOVUPD_Z
		if g.single {
			load = g.VMOVUPS_Z
		}
		step(func(m op.Mem, r vec) { load(m, k, r) }, func(r vec, m op.Mem) { g.do(g.VMOVUPD, g.VMOVUPS, r, k, m) })
	default:
		// The table begins with as many words of ones as a vector has words. Zeros follow. Loading from word lanes−n on
		// gives n words of ones.
		first, mask := g.GP64(), g.vec()
		g.LEAQ(g.maskTable(), first)
		g.NEGQ(n)
		g.VMOVUPD(op.Mem{Base: first, Index: n, Scale: uint8(g.size()), Disp: 32}, mask)
		masked := func(from, to op.Op) {
			if g.single {
				g.VMASKMOVPS(from, mask, to)
			} else {
				g.VMASKMOVPD(from, mask, to)
			}
		}
		step(func(m op.Mem, r vec) { masked(m, r) }, func(r vec, m op.Mem) { masked(r, m) })
	}
	g.Label("done")
	for i, s := range sums {
		g.VMOVUPD(s, slot(i))
	}
	g.VZEROUPPER()
	g.RET()
}

func (g *isa) maskTable() op.Mem {
	if g.masks.Symbol.Name == "" {
		g.masks = g.StaticGlobal("masks")
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for _, w := range []uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, 0, 0, 0, 0} {
			g.AppendDatum(op.U64(w))
		}
	}
	return g.masks
}
