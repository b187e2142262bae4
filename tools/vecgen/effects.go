package main

// effects writes the loops of the additive kernel, for one input of one point and many other points. Package radial
// says what the numbers are.
func (g *isa) effects() {
	g.write(function{
		name: "effect", doc: "writes over·exp(−(at−x)²) to se, and adds k_t to total and k_t² to squares.",
		in: []string{"x", "g", "total", "squares"}, out: []string{"se", "total", "squares"},
		scalars: []string{"at", "hidden", "over"},
		body: func(g *isa, in, s []vec) (out, terms []vec) {
			d := g.sub(s[0], in[0])
			se := g.expMinus(g.mul(d, d), s[2])
			k, squares := g.copyOf(se), g.copyOf(in[3])
			g.minusProduct(k, s[1], in[1])
			g.plusProduct(squares, k, k)
			return []vec{se, g.add(in[2], k), squares}, nil
		},
	})
	// adjoint returns w = bar (main + pairs (total − k_t)).
	adjoint := func(g *isa, root, bar, total, se, hidden, main, pairs vec) vec {
		others := g.sub(total, se)
		g.plusProduct(others, hidden, root)
		w := g.copyOf(main)
		g.plusProduct(w, pairs, others)
		return g.mul(w, bar)
	}
	g.write(function{
		name: "effectPull", doc: "adds up w (se ((at−x)² − shrink) − g (first + second x²)).",
		in:      []string{"x", "g", "bar", "total", "se"},
		scalars: []string{"at", "hidden", "main", "pairs", "first", "second", "shrink"},
		sums:    1,
		body: func(g *isa, in, s []vec) (out, terms []vec) {
			w := adjoint(g, in[1], in[2], in[3], in[4], s[1], s[2], s[3])
			d, h := g.sub(s[0], in[0]), g.copyOf(s[4])
			g.plusProduct(h, g.mul(in[0], in[0]), s[5])
			sum := g.mul(g.sub(g.mul(d, d), s[6]), in[4])
			g.minusProduct(sum, h, in[1])
			return nil, []vec{g.mul(sum, w)}
		},
	})
	g.write(function{
		name: "effectMove", doc: "adds up w se (at−x), and w g.",
		in: []string{"x", "g", "bar", "total", "se"}, scalars: []string{"at", "hidden", "main", "pairs"}, sums: 2,
		body: func(g *isa, in, s []vec) (out, terms []vec) {
			w := adjoint(g, in[1], in[2], in[3], in[4], s[1], s[2], s[3])
			return nil, []vec{g.mul(g.mul(w, in[4]), g.sub(s[0], in[0])), g.mul(w, in[1])}
		},
	})
}
