package main

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/ir"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// NEON has vectors of 128 bits, as the first half of AVX. The functions are therefore first written for AVX with
// 128 bits. Then neon replaces each instruction by instructions of arm64, before registers are allocated:
//
//   - An operand in memory becomes a load, and an address with an index becomes an addition.
//   - Constants lie in one table, whose address a register holds.
//   - p ← p·x + c becomes t ← c, t ← t + p·x, and t takes the place of p. There is no copy if c isn't used again.
//   - A broadcast that only multiplies becomes an element of a vector, since NEON can multiply by an element.
var neon = pass.Concat(pass.Func(mergeWords), pass.FunctionPass(pass.PruneJumpToFollowingLabel),
	pass.FunctionPass(pass.PruneDanglingLabels), flow, pass.FunctionPass(lower), flow,
	pass.FunctionPass(pass.AllocateRegisters), pass.FunctionPass(pass.BindRegisters),
	pass.FunctionPass(pass.VerifyAllocation), pass.Func(pass.IncludeTextFlagHeader))

// flow computes which registers are live.
var flow = pass.Concat(pass.FunctionPass(pass.LabelTarget), pass.FunctionPass(pass.CFG), pass.FunctionPass(pass.Liveness))

const wordsName = "words"

// mergeWords makes one table of all constants, and changes the addresses of constants to places in this table.
func mergeWords(f *ir.File) error {
	table := ir.NewStaticGlobal(wordsName)
	table.Attributes = attr.RODATA | attr.NOPTR
	at := map[string]int{}
	f.Sections = slices.DeleteFunc(f.Sections, func(s ir.Section) bool {
		g, ok := s.(*ir.Global)
		if ok {
			at[g.Symbol.Name] = table.Size
			for _, d := range g.Data {
				table.Append(d.Value)
			}
		}
		return ok
	})
	if table.Size > 0 {
		f.Sections = append([]ir.Section{table}, f.Sections...)
	}
	for _, fn := range f.Functions() {
		for _, i := range fn.Instructions() {
			for _, list := range [][]op.Op{i.Operands, i.Inputs, i.Outputs} {
				for k, o := range list {
					if m, ok := o.(op.Mem); ok && m.Base == reg.StaticBase {
						m.Disp += at[m.Symbol.Name]
						m.Symbol = table.Symbol
						list[k] = m
					}
				}
			}
		}
	}
	return nil
}

// lowering is the translation of one function. The maps hold for the current block, the instructions up to a label or
// a branch.
type lowering struct {
	registers *reg.Collection
	out       []ir.Node
	words     reg.GPVirtual           // address of the table of constants, or nil
	names     map[reg.ID]reg.Register // what took the place of a register
	elements  map[reg.ID]element      // broadcasts that are elements of vectors
	loaded    map[op.Mem]reg.Register // vectors that hold several such elements, by address
	addresses map[op.Mem]reg.Register // sums of base and index
}

type element struct {
	vector reg.Register
	index  int
}

func lower(fn *ir.Function) error {
	l := &lowering{registers: reg.NewCollection()}
	fresh := 0
	for _, i := range fn.Instructions() {
		for _, r := range i.Registers() {
			if v := reg.ToVirtual(r); v != nil {
				fresh = max(fresh, int(v.VirtualIndex())+1)
			}
		}
	}
	for range fresh { // numbers that are taken
		l.registers.XMM()
		l.registers.GP64()
	}
	l.begin()
	for at, n := range fn.Nodes {
		i, ok := n.(*ir.Instruction)
		if !ok {
			l.out = append(l.out, n)
			l.begin()
			continue
		}
		var block []*ir.Instruction
		for _, n := range fn.Nodes[at:] {
			i, ok := n.(*ir.Instruction)
			if !ok {
				break
			}
			block = append(block, i)
			if i.IsBranch || i.IsTerminal {
				break
			}
		}
		if err := l.instruction(i, block[1:]); err != nil {
			return fmt.Errorf("%s: %v", fn.Name, err)
		}
		if len(block) == 1 || i.IsBranch {
			if l.live(i) {
				return fmt.Errorf("%s: a register that took another's place is live at the end of a block", fn.Name)
			}
			l.begin()
		}
	}
	fn.Nodes = l.out
	if l.words != nil {
		address := &ir.Instruction{Opcode: "MOVD", Operands: []op.Op{op.LabelRef("$" + wordsName + "<>(SB)"), l.words},
			Outputs: []op.Op{l.words}}
		fn.Nodes = append([]ir.Node{address}, fn.Nodes...)
	}
	return nil
}

func (l *lowering) begin() {
	l.names, l.elements = map[reg.ID]reg.Register{}, map[reg.ID]element{}
	l.loaded, l.addresses = map[op.Mem]reg.Register{}, map[op.Mem]reg.Register{}
}

// live says whether the next block needs a register that another one stands for.
func (l *lowering) live(i *ir.Instruction) bool {
	for id := range l.names {
		if i.LiveOut[id] != 0 {
			return true
		}
	}
	for id := range l.elements {
		if i.LiveOut[id] != 0 {
			return true
		}
	}
	return false
}

// emit appends an instruction. In Go's order its last operand is the result. For vectors (see words below) the first
// operand is the result.
func (l *lowering) emit(opcode string, inputs []op.Op, output op.Op, operands ...op.Op) {
	i := &ir.Instruction{Opcode: opcode, Inputs: inputs, Operands: operands}
	if output != nil {
		i.Outputs = []op.Op{output}
		l.defined(output)
	}
	l.out = append(l.out, i)
}

// defined forgets what depended on the old value of a register.
func (l *lowering) defined(o op.Op) {
	r, ok := o.(reg.Register)
	if !ok {
		return
	}
	delete(l.names, r.ID())
	delete(l.elements, r.ID())
	for _, table := range []map[op.Mem]reg.Register{l.loaded, l.addresses} {
		for m := range table {
			if m.Base != nil && m.Base.ID() == r.ID() || m.Index != nil && m.Index.ID() == r.ID() {
				delete(table, m)
			}
		}
	}
}

// vector emits a vector instruction with the result d. An accumulating instruction also reads d.
func (l *lowering) vector(opcode string, accumulates bool, d op.Op, sources ...op.Op) {
	inputs := slices.Clone(sources)
	if accumulates {
		inputs = append(inputs, d)
	}
	l.emit(opcode, inputs, d, append([]op.Op{d}, sources...)...)
}

// address returns m with only a base and a displacement.
func (l *lowering) address(m op.Mem) op.Mem {
	if m.Base == reg.StaticBase {
		if l.words == nil {
			l.words = l.registers.GP64()
		}
		return op.Mem{Base: l.words, Disp: m.Disp}
	}
	if m.Index == nil {
		return m
	}
	key := m
	key.Disp = 0
	sum, ok := l.addresses[key]
	if !ok {
		sum = l.registers.GP64()
		l.emit(fmt.Sprintf("ADD <<%d", bits.TrailingZeros8(m.Scale)), []op.Op{m.Base, m.Index}, sum, m.Index, m.Base, sum)
		l.addresses[key] = sum
	}
	return op.Mem{Base: sum, Disp: m.Disp}
}

// load emits a load of a vector, or with "FMOVD" and "FMOVS" of one number.
func (l *lowering) load(opcode string, m op.Mem, r op.Op) {
	m = l.address(m)
	l.emit(opcode, []op.Op{m}, r, m, r)
}

// in returns the register that holds an operand of a vector instruction.
func (l *lowering) in(o op.Op) op.Op {
	switch o := o.(type) {
	case op.Mem:
		r := l.registers.XMM()
		l.load("FMOVQ", o, r)
		return r
	case reg.Register:
		if r, ok := l.names[o.ID()]; ok {
			return r
		}
	}
	return o
}

// take returns a register with the value of o that may be changed. It is o's own if nothing else reads that later.
func (l *lowering) take(o op.Op, i *ir.Instruction) op.Op {
	r := l.in(o)
	if old, ok := o.(reg.Register); ok && i.LiveOut[old.ID()] != 0 {
		c := l.registers.XMM()
		l.vector("mov", false, c, r)
		return c
	}
	return r
}

func uses(list []op.Op, r reg.Register) (n int) {
	for _, o := range list {
		for _, x := range op.Registers(o) {
			if x.ID() == r.ID() {
				n++
			}
		}
	}
	return n
}

// multiplies says whether, in the rest of a block, r does nothing but multiply.
func multiplies(r reg.Register, i *ir.Instruction, rest []*ir.Instruction) bool {
	last := i
	for _, n := range rest {
		byElement := strings.HasPrefix(n.Opcode, "VMUL") || strings.HasPrefix(n.Opcode, "VFMADD231") ||
			strings.HasPrefix(n.Opcode, "VFNMADD231")
		k := uses(n.Inputs, r)
		if k > 0 && (!byElement || k > 1 || uses(n.Operands[:2], r) != 1) {
			return false
		}
		if uses(n.Outputs, r) > 0 {
			return k == 0
		}
		last = n
	}
	return last.LiveOut[r.ID()] == 0
}

// multiplied says whether i copies a register only for p ← p·x + c, which here leaves p as it is.
func multiplied(i *ir.Instruction, rest []*ir.Instruction) bool {
	from, ok := i.Operands[0].(reg.Register)
	to, also := i.Operands[1].(reg.Register)
	if !ok || !also {
		return false
	}
	for _, n := range rest {
		if uses(n.Operands, to) > 0 {
			return strings.HasPrefix(n.Opcode, "VFMADD213") && uses(n.Operands[:2], to) == 0
		}
		if uses(n.Outputs, from) > 0 {
			return false
		}
	}
	return false
}

func broadcasts(i *ir.Instruction) bool { return i.Opcode == "VMOVDDUP" || i.Opcode == "VBROADCASTSS" }

// broadcast fills a register with a number. If the block also broadcasts the other numbers of the same 16 bytes, one
// load serves all of them.
func (l *lowering) broadcast(i *ir.Instruction, rest []*ir.Instruction) {
	size, one, suffix := 8, "FMOVD", "d"
	if i.Opcode == "VBROADCASTSS" {
		size, one, suffix = 4, "FMOVS", "s"
	}
	r := i.Operands[1].(reg.Register)
	from := element{}
	if m, ok := i.Operands[0].(op.Mem); ok {
		key := m
		key.Disp = m.Disp &^ 15
		vector, ok := l.loaded[key]
		switch {
		case ok:
			from = element{vector, (m.Disp - key.Disp) / size}
		case l.whole(key, size, i, rest):
			vector = l.registers.XMM()
			l.load("FMOVQ", key, vector)
			l.loaded[key] = vector
			from = element{vector, (m.Disp - key.Disp) / size}
		default:
			vector = l.registers.XMM()
			l.load(one, m, vector)
			from = element{vector, 0}
		}
	} else {
		from = element{l.in(i.Operands[0]).(reg.Register), 0}
	}
	l.defined(r)
	if multiplies(r, i, rest) {
		l.elements[r.ID()] = from
		return
	}
	l.vector(fmt.Sprintf("dup.%s[%d]", suffix, from.index), false, r, from.vector)
}

// whole says whether the block broadcasts every number of the 16 bytes at m before m's base changes.
func (l *lowering) whole(m op.Mem, size int, i *ir.Instruction, rest []*ir.Instruction) bool {
	if m.Base == reg.FramePointer {
		return false
	}
	wanted := map[int]bool{}
	for _, n := range append([]*ir.Instruction{i}, rest...) {
		if broadcasts(n) {
			if o, ok := n.Operands[0].(op.Mem); ok {
				at := o
				at.Disp = o.Disp &^ 15
				if at == m {
					wanted[o.Disp] = true
				}
			}
		}
		if uses(n.Outputs, m.Base) > 0 {
			break
		}
	}
	return len(wanted) == 16/size
}

// multiplication emits d ← n·m or d ← d ± n·m. One factor may be an element.
func (l *lowering) multiplication(opcode, arrangement string, accumulates bool, d, n, m op.Op) {
	find := func(o op.Op) (element, bool) {
		r, ok := o.(reg.Register)
		if !ok {
			return element{}, false
		}
		e, ok := l.elements[r.ID()]
		return e, ok
	}
	e, ok := find(m)
	if !ok {
		if e, ok = find(n); ok {
			n = m
		}
	}
	if ok {
		l.vector(fmt.Sprintf("%s.%s[%d]", opcode, arrangement[1:], e.index), accumulates, d, l.in(n), e.vector)
		return
	}
	l.vector(opcode+"."+arrangement, accumulates, d, l.in(n), l.in(m))
}

// binary names the vector instructions with two sources that only compute.
var binary = map[string]string{"VADDP": "fadd", "VSUBP": "fsub", "VDIVP": "fdiv", "VMINP": "fmin", "VANDP": "and",
	"VORP": "orr", "VXORP": "eor", "VPADD": "add", "VPSUB": "sub", "VUNPCKLP": "zip1", "VUNPCKHP": "zip2"}

// scalar names the instructions on whole numbers and the branches.
var scalar = map[string]string{"MOVQ": "MOVD", "ADDQ": "ADD", "SUBQ": "SUB", "SHLQ": "LSL", "SHRQ": "LSR", "JMP": "JMP",
	"JL": "BLT", "JLT": "BLT", "JGE": "BGE", "JZ": "BEQ", "JEQ": "BEQ", "JNZ": "BNE", "JNE": "BNE", "JP": "BVS", "RET": "RET"}

func (l *lowering) instruction(i *ir.Instruction, rest []*ir.Instruction) error {
	o := i.Operands
	// The names of AVX end with the kind of elements: D or Q for whole numbers, PD or PS for others.
	stem, arrangement := strings.TrimRight(i.Opcode, "DQS"), "2d"
	if strings.HasSuffix(i.Opcode, "PS") || i.Opcode == "VPADDD" || i.Opcode == "VPSLLD" {
		arrangement = "4s"
	}
	if strings.HasPrefix(i.Opcode, "VPADD") || strings.HasPrefix(i.Opcode, "VPSUB") {
		stem = i.Opcode[:5]
	}
	flags := ""
	if len(rest) > 0 && rest[0].IsConditional {
		flags = "S"
	}
	switch {
	case broadcasts(i):
		l.broadcast(i, rest)
	case strings.HasPrefix(i.Opcode, "VMOVUP") || strings.HasPrefix(i.Opcode, "VMOVAP"):
		if multiplied(i, rest) {
			l.names[o[1].(reg.Register).ID()] = l.in(o[0]).(reg.Register)
			return nil
		}
		return l.move("FMOVQ", o)
	case i.Opcode == "VMOVSD" || i.Opcode == "MOVSD":
		return l.move("FMOVD", o)
	case i.Opcode == "VMOVSS" || i.Opcode == "MOVSS":
		return l.move("FMOVS", o)
	case binary[stem] != "":
		name := binary[stem]
		if name != "and" && name != "orr" && name != "eor" {
			name += "." + arrangement
		}
		if i.CancellingInputs && o[0] == o[1] {
			l.vector("movi #0", false, o[2])
		} else {
			l.vector(name, false, o[2], l.in(o[1]), l.in(o[0]))
		}
	case stem == "VMULP":
		l.multiplication("fmul", arrangement, false, o[2], o[1], o[0])
	case stem == "VFMADD231P":
		l.multiplication("fmla", arrangement, true, l.in(o[2]), o[1], o[0])
	case stem == "VFNMADD231P":
		l.multiplication("fmls", arrangement, true, l.in(o[2]), o[1], o[0])
	case stem == "VFMADD213P", stem == "VFMSUB213P":
		sum := op.Op(nil)
		if stem == "VFMSUB213P" {
			sum = l.registers.XMM()
			l.vector("fneg."+arrangement, false, sum, l.in(o[0]))
		} else {
			sum = l.take(o[0], i)
		}
		l.multiplication("fmla", arrangement, true, sum, o[2], o[1])
		l.defined(o[2])
		l.names[o[2].(reg.Register).ID()] = sum.(reg.Register)
	case stem == "VSQRTP":
		l.vector("fsqrt."+arrangement, false, o[1], l.in(o[0]))
	case stem == "VPSLL":
		l.vector(fmt.Sprintf("shl.%s #%d", arrangement, o[0]), false, o[2], l.in(o[1]))
	case stem == "VPSRL":
		l.vector(fmt.Sprintf("ushr.%s #%d", arrangement, o[0]), false, o[2], l.in(o[1]))
	case stem == "VCMPP":
		a, b, name := l.in(o[2]), l.in(o[1]), "fcmgt."
		switch uint8(o[0].(op.U8)) {
		case less:
			a, b = b, a
		case equal:
			name = "fcmeq."
		}
		l.vector(name+arrangement, false, o[3], a, b)
	case stem == "VBLENDVP":
		mask := l.take(o[0], i)
		l.vector("bsl", true, mask, l.in(o[1]), l.in(o[2]))
		l.defined(o[3])
		l.names[o[3].(reg.Register).ID()] = mask.(reg.Register)
	case i.Opcode == "PREFETCHT0":
		m := l.address(o[0].(op.Mem))
		m.Disp &^= 7
		l.emit("PRFM", []op.Op{m}, nil, m, op.LabelRef("PLDL1KEEP"))
	case i.Opcode == "VZEROUPPER":
	case i.Opcode == "VUCOMISD":
		l.emit("FCMPD", o, nil, l.in(o[0]), l.in(o[1]))
	case i.Opcode == "LEAQ":
		m := o[0].(op.Mem)
		l.emit(fmt.Sprintf("ADD <<%d", bits.TrailingZeros8(m.Scale)), []op.Op{m.Base, m.Index}, o[1], m.Index, m.Base, o[1])
	case i.Opcode == "DECQ":
		l.emit("SUB"+flags, o, o[0], op.U8(1), o[0])
	case i.Opcode == "INCQ":
		l.emit("ADD", o, o[0], op.U8(1), o[0])
	case i.Opcode == "TESTQ":
		l.emit("CMP", o, nil, op.U8(0), o[0])
	case i.Opcode == "CMPQ":
		l.emit("CMP", o, nil, o[1], o[0])
	case i.Opcode == "XORQ":
		l.emit("MOVD", nil, o[0], op.U8(0), o[0])
	case scalar[i.Opcode] != "":
		c := *i
		c.Opcode, c.Pred, c.Succ = scalar[i.Opcode], nil, nil
		if flags != "" && (c.Opcode == "ADD" || c.Opcode == "SUB") {
			c.Opcode += flags
		}
		for _, r := range c.Outputs {
			l.defined(r)
		}
		l.out = append(l.out, &c)
	default:
		return fmt.Errorf("no instruction for %s", i.Opcode)
	}
	return nil
}

func (l *lowering) move(opcode string, o []op.Op) error {
	if m, ok := o[1].(op.Mem); ok {
		r := l.in(o[0])
		m = l.address(m)
		l.emit(opcode, []op.Op{r, m}, nil, r, m)
	} else if m, ok := o[0].(op.Mem); ok && m.Base == reg.FramePointer {
		l.emit(opcode, []op.Op{m}, o[1], m, o[1])
	} else if ok {
		l.load(opcode, m, o[1])
	} else {
		l.vector("mov", false, o[1], l.in(o[0]))
	}
	return nil
}

// encodings holds the bits of each instruction on vectors, without its registers. encode adds the registers' numbers.
// Go's assembler lacks most of these instructions. TestEncodings compares the bits with the GNU assembler's.
var encodings = map[string]uint32{
	"fadd.2d": 0x4e60d400, "fadd.4s": 0x4e20d400, "fsub.2d": 0x4ee0d400, "fsub.4s": 0x4ea0d400,
	"fmul.2d": 0x6e60dc00, "fmul.4s": 0x6e20dc00, "fdiv.2d": 0x6e60fc00, "fdiv.4s": 0x6e20fc00,
	"fmin.2d": 0x4ee0f400, "fmin.4s": 0x4ea0f400, "fmla.2d": 0x4e60cc00, "fmla.4s": 0x4e20cc00,
	"fmls.2d": 0x4ee0cc00, "fmls.4s": 0x4ea0cc00, "fcmeq.2d": 0x4e60e400, "fcmeq.4s": 0x4e20e400,
	"fcmgt.2d": 0x6ee0e400, "fcmgt.4s": 0x6ea0e400, "fsqrt.2d": 0x6ee1f800, "fsqrt.4s": 0x6ea1f800,
	"fneg.2d": 0x6ee0f800, "fneg.4s": 0x6ea0f800, "add.2d": 0x4ee08400, "add.4s": 0x4ea08400,
	"sub.2d": 0x6ee08400, "and": 0x4e201c00, "orr": 0x4ea01c00, "eor": 0x6e201c00, "bsl": 0x6e601c00,
	"zip1.2d": 0x4ec03800, "zip2.2d": 0x4ec07800, "mov": 0x4ea01c00,
	"shl.2d": 0x4f405400, "shl.4s": 0x4f205400, "ushr.2d": 0x6f000400, "ushr.4s": 0x6f000400,
	"movi": 0x6f00e400, "dup.d": 0x4e080400, "dup.s": 0x4e040400,
	"fmla.d": 0x4fc01000, "fmla.s": 0x4f801000, "fmls.d": 0x4fc05000, "fmls.s": 0x4f805000,
	"fmul.d": 0x4fc09000, "fmul.s": 0x4f809000,
}

// encode returns the bits of an instruction on vectors, and its text for the GNU assembler. opcode is a name of
// encodings, with [e] for an element or #n for a shift.
func encode(opcode string, registers []op.Op) (word uint32, text string) {
	name, index, element := strings.Cut(opcode, "[")
	name, by, shifts := strings.Cut(name, " #")
	var number uint32
	fmt.Sscan(strings.TrimSuffix(index, "]")+by, &number)
	word, ok := encodings[name]
	if !ok {
		panic("vecgen: no encoding of " + opcode)
	}
	mnemonic, kind, _ := strings.Cut(name, ".")
	if name == "movi" {
		kind = "2d"
	}
	arrangement := map[string]string{"": "16b", "d": "2d", "s": "4s", "2d": "2d", "4s": "4s"}[kind]
	var texts []string
	for k, r := range registers {
		n := uint32(reg.ToPhysical(r.(reg.Register)).PhysicalIndex())
		word |= n << []uint{0, 5, 16}[k]
		if name == "mov" && k == 1 {
			word |= n << 16
		}
		suffix := arrangement
		if element && k == len(registers)-1 {
			suffix = fmt.Sprintf("%s[%d]", kind, number)
		}
		texts = append(texts, fmt.Sprintf("v%d.%s", n, suffix))
	}
	switch {
	case mnemonic == "ushr" && kind == "2d":
		word |= (128 - number) << 16
	case mnemonic == "ushr":
		word |= (64 - number) << 16
	case shifts:
		word |= number << 16
	case element && mnemonic == "dup" && kind == "d":
		word |= number << 20
	case element && mnemonic == "dup":
		word |= number << 19
	case element && kind == "d":
		word |= number << 11
	case element:
		word |= number&1<<21 | number>>1<<11
	}
	if shifts {
		texts = append(texts, "#"+by)
	}
	return word, mnemonic + " " + strings.Join(texts, ", ")
}

// neonPrinter writes the assembly of arm64.
type neonPrinter struct{ printer.Config }

func (p neonPrinter) Print(f *ir.File) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n//go:build arm64\n\n", p.GeneratedWarning())
	for _, path := range f.Includes {
		fmt.Fprintf(&b, "#include %q\n", path)
	}
	for _, s := range f.Sections {
		switch s := s.(type) {
		case *ir.Global:
			b.WriteString("\n")
			for _, d := range s.Data {
				fmt.Fprintf(&b, "DATA %s<>+%d(SB)/%d, %s\n", s.Symbol.Name, d.Offset, d.Value.Bytes(), d.Value.Asm())
			}
			fmt.Fprintf(&b, "GLOBL %s<>(SB), %s, $%d\n", s.Symbol.Name, s.Attributes.Asm(), s.Size)
		case *ir.Function:
			fmt.Fprintf(&b, "\n// %s\nTEXT ·%s(SB), %s, $0-%d\n", s.Stub(), s.Name, s.Attributes.Asm(), s.ArgumentBytes())
			for k := 0; k < len(s.Nodes); k++ {
				switch n := s.Nodes[k].(type) {
				case ir.Label:
					fmt.Fprintf(&b, "\n%s:\n", n)
				case *ir.Instruction:
					if k+1 < len(s.Nodes) {
						if text := pair(n, s.Nodes[k+1]); text != "" {
							fmt.Fprintf(&b, "\t%s\n", text)
							k++
							continue
						}
					}
					fmt.Fprintf(&b, "\t%s\n", instructionText(n))
				}
			}
		}
	}
	return []byte(b.String()), nil
}

func operandText(o op.Op) string {
	switch o := o.(type) {
	case reg.Register:
		letter := "R"
		if o.Kind() == reg.KindVector {
			letter = "F"
		}
		return fmt.Sprintf("%s%d", letter, reg.ToPhysical(o).PhysicalIndex())
	case op.Mem:
		if o.Base == reg.FramePointer {
			return o.Asm()
		}
		at := ""
		if o.Disp != 0 {
			at = fmt.Sprint(o.Disp)
		}
		return at + "(" + operandText(o.Base) + ")"
	}
	return o.Asm()
}

func instructionText(i *ir.Instruction) string {
	if strings.ToLower(i.Opcode) == i.Opcode {
		word, text := encode(i.Opcode, i.Operands)
		return fmt.Sprintf("WORD $%#08x // %s", word, text)
	}
	var texts []string
	for _, o := range i.Operands {
		texts = append(texts, operandText(o))
	}
	opcode, shift, shifted := strings.Cut(i.Opcode, " ")
	if shifted && shift != "<<0" {
		texts[0] += shift
	}
	return strings.TrimSpace(opcode + " " + strings.Join(texts, ", "))
}

// pair returns one instruction for two loads, or two stores, of neighbouring vectors.
func pair(i *ir.Instruction, next ir.Node) string {
	n, ok := next.(*ir.Instruction)
	if !ok || i.Opcode != "FMOVQ" || n.Opcode != "FMOVQ" {
		return ""
	}
	for k, form := range []string{"FLDPQ %[1]s, (%[2]s, %[3]s)", "FSTPQ (%[2]s, %[3]s), %[1]s"} {
		m, ok := i.Operands[k].(op.Mem)
		then, also := n.Operands[k].(op.Mem)
		a, b := i.Operands[1-k], n.Operands[1-k]
		if ok && also && m.Base == then.Base && then.Disp == m.Disp+16 && m.Disp%16 == 0 && m.Disp < 1008 && a != b {
			return fmt.Sprintf(form, operandText(m), operandText(a), operandText(b))
		}
	}
	return ""
}
