package kernel

import (
	"fmt"
	"strings"
)

// Parse reads a kernel expression for dim inputs:
// names joined by + and *, with the usual precedence and parentheses, for example "se+linear" or
// "(se+white)*periodic". If ard is set, every kernel with lengthscales has one per input.
// Parentheses may be nested 15 deep, and an expression may have 500 kernels.
//
// A name may be followed by the columns whose inputs the kernel sees, as in "se(x1,
// x2)*periodic(hour)". inputs then says what each input is.
// A column's name with a comma, a parenthesis, a quote or blanks at its ends is written in double
// quotes, and a double quote in it twice.
func Parse(expr string, dim int, ard bool, inputs ...Input) (Kernel, error) {
	return parser{expr: expr, dim: dim, ard: ard, inputs: inputs}.parse()
}

// Check returns an error if no inputs could make an expression right.
func Check(expr string) error {
	_, err := parser{expr: expr, dim: 1, any: true}.parse()
	return err
}

// parse reads the whole expression, and returns an error if text is left over.
func (p parser) parse() (Kernel, error) {
	if p.expr != "" && !strings.ContainsAny(p.expr, "+*() ") {
		return named(p.expr, p.dim, p.ard) // errors of named name the kernel
	}
	p.next()
	k, err := p.chain('+', Sum)
	if err != nil {
		return nil, fmt.Errorf("kernel %.200q: %w", p.expr, err)
	}
	if p.token != "" {
		return nil, fmt.Errorf("kernel %.200q: %.40q doesn't belong there", p.expr, p.token)
	}
	return k, nil
}

// parser reads an expression by recursive descent: a sum of products of atoms.
type parser struct {
	expr  string
	pos   int
	token string // "" at the end
	dim   int
	ard   bool
	any   bool // every column is known
	depth int  // how many parentheses are open
	parts int

	inputs []Input
}

// next moves to the next token, which is one of + * ( ), a name, or "" at the end.
func (p *parser) next() {
	for p.pos < len(p.expr) && p.expr[p.pos] == ' ' {
		p.pos++
	}
	start := p.pos
	if p.pos < len(p.expr) {
		if strings.IndexByte("+*()", p.expr[p.pos]) >= 0 {
			p.pos++
		} else {
			for p.pos < len(p.expr) && strings.IndexByte("+*() ", p.expr[p.pos]) < 0 {
				p.pos++
			}
		}
	}
	p.token = p.expr[start:p.pos]
}

// chain reads operands joined by op, and joins their kernels. The operands of + are products, and
// those of * are atoms.
func (p *parser) chain(op byte, join func(...Kernel) Kernel) (Kernel, error) {
	var parts []Kernel
	for {
		var k Kernel
		var err error
		if op == '+' {
			k, err = p.chain('*', Product)
		} else {
			k, err = p.atom()
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, k)
		if p.token != string(op) {
			break
		}
		p.next()
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return join(parts...), nil
}

// atom reads a kernel's name, perhaps with columns, or an expression in parentheses.
func (p *parser) atom() (Kernel, error) {
	switch t := p.token; t {
	case "":
		return nil, fmt.Errorf("a kernel name is missing at the end")
	case "+", "*", ")":
		return nil, fmt.Errorf("a kernel name is missing before %q", t)
	case "(":
		if p.depth++; p.depth > maxDepth/2-1 { // each pair may hold a sum of products
			return nil, fmt.Errorf("parentheses are nested more than %d deep", maxDepth/2-1)
		}
		p.next()
		k, err := p.chain('+', Sum)
		if err != nil {
			return nil, err
		}
		p.depth--
		if p.token != ")" {
			return nil, fmt.Errorf("a parenthesis isn't closed")
		}
		p.next()
		return k, nil
	default:
		if p.parts++; p.parts > maxParts/2 { // sums and products are parts too
			return nil, fmt.Errorf("more than %d kernels", maxParts/2)
		}
		if p.next(); p.token == "(" {
			return p.on(t)
		}
		return named(t, p.dim, p.ard)
	}
}

// on reads the columns of a kernel, and returns the kernel on these columns.
func (p *parser) on(name string) (Kernel, error) {
	columns, rest, err := cutColumns(name, p.expr[p.pos:])
	if err != nil {
		return nil, err
	}
	p.pos = len(p.expr) - len(rest)
	p.next()
	if p.any {
		if levels(name) != nil {
			return ConstantKernel(), nil
		}
		return named(name, 1, p.ard)
	}
	return placed(name, columns, p.dim, p.ard, p.inputs)
}
