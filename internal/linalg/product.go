package linalg

// How far a product is cut. A panel of b, width × deepest, streams from the second
// cache level while one of a, lanes × deepest, stays in the first; blockCols columns
// of b (480 KB) stay in the second. All are whole numbers of panels at every level.
const (
	deepest   = 256
	blockCols = 240
	blockRows = 48
)

// A product is a rank-depth update of C, from packed operands.
type product struct {
	alpha, beta float64
	a, b        panels
	depth       int
	c           Matrix
	lower       bool // touch the lower triangle alone
	stair       int  // vectors of a from this on begin with zeros: stair+i with i of them
}

const noStair = int(^uint(0) >> 1)

// block computes rows [i0, i1) and columns [j0, j1) of C, which begin at whole tiles.
func (p *product) block(i0, i1, j0, j1 int) {
	var edge [maxLanes * maxWidth]float64
	c := p.c
	for i := i0; i < i1; i += lanes {
		k := max(i-p.stair, 0)
		a := p.a.at(i, k)
		end := j1
		if p.lower {
			end = min(end, i+lanes)
		}
		for j := j0; j < end; j += width {
			b := p.b.at(j, k)
			if i+lanes <= c.Rows && j+width <= c.Cols && (!p.lower || j+width <= i+1) {
				multiplyTile(p.depth-k, a, b, c.Data[i*c.Stride+j:], c.Stride, p.alpha, p.beta)
				continue
			}
			// An edge is a whole tile elsewhere, with the same arithmetic.
			rows := min(lanes, c.Rows-i)
			cols := func(r int) int {
				if p.lower {
					return max(0, min(width, c.Cols-j, i+r-j+1))
				}
				return min(width, c.Cols-j)
			}
			if p.beta != 0 {
				for r := range rows {
					copy(edge[r*width:], c.Data[(i+r)*c.Stride+j:][:cols(r)])
				}
			}
			multiplyTile(p.depth-k, a, b, edge[:], width, p.alpha, p.beta)
			for r := range rows {
				copy(c.Data[(i+r)*c.Stride+j:][:cols(r)], edge[r*width:])
			}
		}
	}
}

// grid cuts rows [r0, r1) and columns [0, cols) of C into blocks for Parallel.
type grid struct {
	r0, r1, cols int
	colStep, nc  int
}

func newGrid(r0, r1, cols int) grid {
	g := grid{r0: r0, r1: r1, cols: cols, colStep: cut(cols, blockCols, maxWidth)}
	g.nc = (cols + g.colStep - 1) / g.colStep
	return g
}

func (g grid) tasks() int { return (g.r1 - g.r0 + blockRows - 1) / blockRows * g.nc }

// run does task t. All rows of a block of columns come before the next one, so
// that b's panels stay in cache.
func (g grid) run(p *product, t int) {
	nr := g.tasks() / g.nc
	i, j := g.r0+t%nr*blockRows, t/nr*g.colStep
	p.block(i, min(i+blockRows, g.r1), j, min(j+g.colStep, g.cols))
}

// cut divides n into equal parts of at most limit, each but the last a multiple
// of unit, and returns their length, at least 1.
func cut(n, limit, unit int) int {
	parts := max(1, (n+limit-1)/limit)
	return max(unit, roundUp((n+parts-1)/parts, unit))
}

// multiply sets C ← α Σ_k a_k b_kᵀ + β C, or its lower triangle, for operands of
// the same depth, at least 1.
func multiply(alpha float64, a, b operand, beta float64, c Matrix, lower bool) {
	m, n, depth := a.count(), b.count(), a.depth()
	step := cut(depth, deepest, maxLanes)
	steps := (depth + step - 1) / step
	same := a.columns == b.columns && same(a.Matrix, b.Matrix)
	// While one part of the depth is multiplied, the next is packed.
	var sides [2][2]panels
	for s := range min(2, steps) {
		sides[s][0] = borrowPanels(m, step)
		sides[s][1] = sides[s][0]
		if !same {
			sides[s][1] = borrowPanels(n, step)
		}
	}
	packsA, packs := packTasks(m), packTasks(m)
	if !same {
		packs += packTasks(n)
	}
	g := newGrid(0, m, n)
	inPhases(float64(m)*float64(n)*float64(depth), operands{c, a.Matrix, b.Matrix}, steps+1, func(s int) (int, func(int)) {
		multiplications, packs := g.tasks(), packs
		var now product
		if s == 0 {
			multiplications = 0
		} else {
			sd, d := sides[(s-1)%2], min(step, depth-(s-1)*step)
			now = product{alpha, beta, sd[0].of(d), sd[1].of(d), d, c, lower, noStair}
			if s > 1 {
				now.beta = 1
			}
		}
		k0, k1 := s*step, min((s+1)*step, depth)
		if s == steps {
			packs = 0
		}
		return packs + multiplications, func(t int) {
			switch {
			case t < min(packs, packsA):
				sides[s%2][0].of(k1-k0).packTask(a.part(0, m, k0, k1), t)
			case t < packs:
				sides[s%2][1].of(k1-k0).packTask(b.part(0, n, k0, k1), t-packsA)
			default:
				g.run(&now, t-packs)
			}
		}
	})
	for _, sd := range sides[:min(2, steps)] {
		sd[0].release()
		if !same {
			sd[1].release()
		}
	}
}
