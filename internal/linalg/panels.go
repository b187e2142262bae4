package linalg

// An operand is one side of a product or the unknown of a triangular system, seen
// as a list of vectors: the rows of a matrix, or its columns. Every transpose is
// one of these views, so the routines know none.
type operand struct {
	Matrix
	columns bool // the vectors are the columns
}

func (o operand) count() int {
	if o.columns {
		return o.Cols
	}
	return o.Rows
}

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
	} else {
		o.Matrix = o.View(i0, i1, k0, k1)
	}
	return o
}

// panels holds an operand as the kernels read it: width vectors side by side,
// element k of vector p·width+i at data[(p·depth+k)·width+i]. depth is the operand's,
// rounded up to whole tiles. Vectors and elements that only fill up are zero.
type panels struct {
	data  []float64
	depth int
}

// borrowPanels returns panels for count vectors, to be given back with release.
func borrowPanels(count, depth int) panels {
	depth = roundUp(depth, lanes)
	return panels{Borrow(1, roundUp(count, width)*depth).Data, depth}
}

func (p panels) release() { Return(Matrix{Data: p.data}) }

// at returns the packed elements of vectors i, i+1, … from element k on.
func (p panels) at(i, k int) []float64 { return p.data[(i/width*p.depth+k)*width+i%width:] }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// from returns the panels of vectors i, i+1, …, i a multiple of width.
func (p panels) from(i int) panels { return panels{p.data[i*p.depth:], p.depth} }

// pack copies vectors [i0, i1) of an operand to the panels' vectors at and
// following, at a multiple of width.
func (p panels) pack(o operand, i0, i1, at int) {
	depth := o.depth()
	for ; i0 < i1; i0, at = i0+width, at+width {
		n := min(width, i1-i0)
		dst := p.at(at, 0)[:p.depth*width]
		clear(dst[depth*width:])
		if o.columns {
			for k := range depth {
				d := dst[k*width:][:width]
				copy(d, o.Data[k*o.Stride+i0:][:n])
				clear(d[n:])
			}
			continue
		}
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

// unpack is the way back of pack.
func (p panels) unpack(o operand, i0, i1, at int) {
	depth := o.depth()
	for ; i0 < i1; i0, at = i0+width, at+width {
		n := min(width, i1-i0)
		src := p.at(at, 0)
		if o.columns {
			for k := range depth {
				copy(o.Data[k*o.Stride+i0:][:n], src[k*width:])
			}
			continue
		}
		full, done := n/lanes*lanes, depth/lanes*lanes
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

// packed is the number of vectors that a task packs.
const packed = 2 * maxWidth

// packTask packs vectors [t·packed, (t+1)·packed), in their own places.
func (p panels) packTask(o operand, t int) {
	p.pack(o, t*packed, min((t+1)*packed, o.count()), t*packed)
}

func packTasks(count int) int { return (count + packed - 1) / packed }

// of returns the panels for a shorter depth, in the same memory.
func (p panels) of(depth int) panels { return panels{p.data, roundUp(depth, lanes)} }
