package linalg

// Panels, the form in which kernels read operands, and products of panels.

// An operand is one side of a product, or the unknown of a triangular system.
// It is a list of vectors: the rows of a matrix, or its columns.
// A transpose is the other view of the same matrix, so the routines need no transposes.
type operand struct {
	Matrix
	columns bool      // the vectors are the columns
	scale   []float64 // unless nil, pack multiplies row k of Matrix by scale_k; needs columns
}

// count returns the number of vectors.
func (o operand) count() int {
	if o.columns {
		return o.Cols
	}
	return o.Rows
}

// depth returns the number of elements of each vector.
func (o operand) depth() int {
	if o.columns {
		return o.Rows
	}
	return o.Cols
}

// part returns elements [k0, k1) of vectors [i0, i1).
func (o operand) part(i0, i1, k0, k1 int) operand {
	if o.columns {
		o.Matrix = o.View(k0, k1, i0, i1)
		if o.scale != nil {
			o.scale = o.scale[k0:k1]
		}
	} else {
		o.Matrix = o.View(i0, i1, k0, k1)
	}
	return o
}

// panels holds an operand as the kernels read it:
// width vectors side by side, with element k of vector p·width+i at data[(p·depth+k)·width+i].
// depth is the operand's depth, rounded up to whole tiles.
// Vectors and elements that only fill up are zero.
type panels struct {
	data  []float64
	depth int
}

// borrowPanels returns panels with room for the given number of vectors.
// release gives the memory back.
func borrowPanels(count, depth int) panels {
	depth = roundUp(depth, lanes)
	return panels{Borrow(1, roundUp(count, width)*depth).Data, depth}
}

func (p panels) release() { Return(Matrix{Data: p.data}) }

// at returns the packed elements of vectors i, i+1, … from element k on.
func (p panels) at(i, k int) []float64 { return p.data[(i/width*p.depth+k)*width+i%width:] }

// roundUp returns the least multiple of unit that isn't below n.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// from returns the panels of vectors i, i+1, …, where i is a multiple of width.
func (p panels) from(i int) panels { return panels{p.data[i*p.depth:], p.depth} }

// pack copies vectors [i0, i1) of an operand to vectors at, at+1, … of the panels, where at is a
// multiple of width.
func (p panels) pack(o operand, i0, i1, at int) {
	depth := o.depth()
	for ; i0 < i1; i0, at = i0+width, at+width {
		n := min(width, i1-i0)
		dst := p.at(at, 0)[:p.depth*width]
		clear(dst[depth*width:])
		if o.columns {
			scale := o.scale
			k := 0
			if scale == nil {
				scale = ones[:depth]
			}
			if n == width {
				k = copyScaled(o.Data[i0:], o.Stride, dst, width, scale)
			}
			for ; k < depth; k++ {
				d := dst[k*width:][:width]
				copy(d, o.Data[k*o.Stride+i0:][:n])
				clear(d[n:])
				if o.scale != nil {
					Scale(scale[k], d[:n])
				}
			}
			continue
		}
		// Vectors that are rows are transposed, by whole tiles as far as these fit.
		for g := 0; g < width; g += lanes {
			done := 0
			if g+lanes <= n && depth >= lanes {
				done = depth / lanes * lanes
				transposeTile(done, o.Data[(i0+g)*o.Stride:], o.Stride, dst[g:], width)
			}
			for i := g; i < g+lanes; i++ {
				if i >= n {
					for k := range depth {
						dst[k*width+i] = 0
					}
					continue
				}
				row := o.Data[(i0+i)*o.Stride:][:depth]
				for k := done; k < depth; k++ {
					dst[k*width+i] = row[k]
				}
			}
		}
	}
}

// unpack does the reverse of pack.
func (p panels) unpack(o operand, i0, i1, at int) {
	depth := o.depth()
	for ; i0 < i1; i0, at = i0+width, at+width {
		n := min(width, i1-i0)
		src := p.at(at, 0)
		if o.columns {
			k := 0
			if n == width {
				k = copyScaled(src, width, o.Data[i0:], o.Stride, ones[:depth])
			}
			for ; k < depth; k++ {
				copy(o.Data[k*o.Stride+i0:][:n], src[k*width:])
			}
			continue
		}
		// The kernel transposes whole tiles. Single elements are copied one by one.
		full := n / lanes * lanes
		done := depth / lanes * lanes
		for k := 0; k < done && full > 0; k += lanes {
			transposeTile(full, src[k*width:], width, o.Data[i0*o.Stride+k:], o.Stride)
		}
		for i := range n {
			k := done
			if i >= full {
				k = 0
			}
			for row := o.Data[(i0+i)*o.Stride:][:depth]; k < depth; k++ {
				row[k] = src[k*width+i]
			}
		}
	}
}

// ones is the scale of an operand without one. A panel is at most deepest deep.
var ones = func() (v [deepest]float64) {
	for i := range v {
		v[i] = 1
	}
	return v
}()

// packed is the number of vectors that a task packs.
const packed = 2 * maxWidth

// packTask packs the vectors [t·packed, (t+1)·packed) to the same positions.
func (p panels) packTask(o operand, t int) {
	p.pack(o, t*packed, min((t+1)*packed, o.count()), t*packed)
}

// packTasks returns the number of tasks in which packTask packs count vectors.
func packTasks(count int) int { return (count + packed - 1) / packed }

// of returns the panels with a smaller depth, in the same memory.
func (p panels) of(depth int) panels { return panels{p.data, roundUp(depth, lanes)} }

// Block sizes of a product. A panel of b (width × deepest) streams from the second cache level,
// while a panel of a (lanes × deepest) stays in the first level.
// blockCols columns of b (480 KB) stay in the second level.
// All sizes are whole numbers of panels at every level.
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
	lower       bool // compute only the lower triangle
	stair       int  // vector stair+i of a begins with i zeros
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
			// An edge tile is computed as a whole tile in other memory, with the same arithmetic.
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

// newGrid returns a grid whose blocks have up to blockRows rows and blockCols columns.
func newGrid(r0, r1, cols int) grid {
	g := grid{r0: r0, r1: r1, cols: cols, colStep: cut(cols, blockCols, maxWidth)}
	g.nc = (cols + g.colStep - 1) / g.colStep
	return g
}

// tasks returns the number of blocks.
func (g grid) tasks() int { return (g.r1 - g.r0 + blockRows - 1) / blockRows * g.nc }

// run runs task t. All rows of a block of columns come before the next block, so that b's panels
// stay in cache.
func (g grid) run(p *product, t int) {
	nr := g.tasks() / g.nc
	i := g.r0 + t%nr*blockRows
	j := t / nr * g.colStep
	p.block(i, min(i+blockRows, g.r1), j, min(j+g.colStep, g.cols))
}

// cut divides n into equal parts of at most limit, and returns their length, at least 1.
// Each part but the last is a multiple of unit.
func cut(n, limit, unit int) int {
	parts := max(1, (n+limit-1)/limit)
	return max(unit, roundUp((n+parts-1)/parts, unit))
}

// multiply sets C ← α Σ_k a_k b_kᵀ + β C, or only its lower triangle.
// The operands have the same depth, at least 1.
func multiply(alpha float64, a, b operand, beta float64, c Matrix, lower bool) {
	m := a.count()
	n := b.count()
	depth := a.depth()
	step := cut(depth, deepest, maxLanes)
	steps := (depth + step - 1) / step
	same := a.columns == b.columns && same(a.Matrix, b.Matrix) && b.scale == nil
	// While one part of the depth is multiplied, the next part is packed.
	var sides [2][2]panels
	for s := range min(2, steps) {
		sides[s][0] = borrowPanels(m, step)
		sides[s][1] = sides[s][0]
		if !same {
			sides[s][1] = borrowPanels(n, step)
		}
	}
	packsA := packTasks(m)
	packs := packTasks(m)
	if !same {
		packs += packTasks(n)
	}
	// Phase s packs part s of the depth, and multiplies part s−1.
	g := newGrid(0, m, n)
	inPhases(float64(m)*float64(n)*float64(depth), operands{c, a.Matrix, b.Matrix}, steps+1,
		func(s int) (int, func(int)) {
			multiplications := g.tasks()
			packs := packs
			var now product
			if s == 0 {
				multiplications = 0
			} else {
				sd := sides[(s-1)%2]
				d := min(step, depth-(s-1)*step)
				now = product{alpha, beta, sd[0].of(d), sd[1].of(d), d, c, lower, noStair}
				// The first part has applied β.
				if s > 1 {
					now.beta = 1
				}
			}
			k0 := s * step
			k1 := min((s+1)*step, depth)
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
