package linalg

import "github.com/krigo-gp/krigo/internal/cpu"

//go:generate go run -C ../../tools ./vecgen -set tile -dir ../internal/linalg

// A tile is the part of a result that a kernel holds in registers: lanes × width numbers.
// Every level has its own kernels:
//
//	multiplyTile   C ← β C + α Σ_k a_k b_kᵀ, k from 0 to depth−1, for a tile of C; β = 0 overwrites
//	solveTile      X ← T⁻¹ X for a tile X, T lower or (back) upper triangular of order lanes
//	transposeTile  the n × lanes transpose of a lanes × n matrix, n a multiple of lanes
//
// a_k, b_k and the columns of T are rows of packed panels (see panels), and X is lanes rows of a
// panel. T holds the reciprocals of its diagonal. Multiplying by a reciprocal costs one more
// rounding per row than dividing, and a reciprocal overflows for a diagonal under 2⁻¹⁰²⁴.
//
// Each element of C is its own chain of multiply-adds in the order of k.
// So it depends only on its row, its column and the level.
var (
	level        cpu.Level
	lanes, width int
)

// The largest tile.
const (
	maxLanes = 8
	maxWidth = 24
)

func init() { setLevel(Level) }

// setLevel sets the level, and the size of its tiles.
func setLevel(l cpu.Level) {
	level = l
	switch l {
	case cpu.AVX512:
		lanes = 8
		width = 24
	case cpu.AVX2, cpu.NEON:
		lanes = 4
		width = 12
	default:
		lanes = 4
		width = 4
	}
}

// The portable kernels have lanes = width = 4.
// They are written out so that the compiler keeps the sums in registers.
// They take two passes over half a tile, because some machines have no registers for 16 sums.

// multiplyPortable is multiplyTile in plain Go. The rows of c are stride apart.
func multiplyPortable(depth int, a, b, c []float64, stride int, alpha, beta float64) {
	a = a[:4*depth]
	b = b[:4*depth]
	// Columns j and j+1 of the tile.
	for j := 0; j < 4; j += 2 {
		var s00, s01, s10, s11, s20, s21, s30, s31 float64
		for k := 0; k+4 <= len(a) && k+4 <= len(b); k += 4 {
			u := a[k : k+4 : k+4]
			v := b[k : k+4 : k+4]
			b0 := v[j]
			b1 := v[j+1]
			s00 += u[0] * b0
			s01 += u[0] * b1
			s10 += u[1] * b0
			s11 += u[1] * b1
			s20 += u[2] * b0
			s21 += u[2] * b1
			s30 += u[3] * b0
			s31 += u[3] * b1
		}
		for i, s := range [4][2]float64{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}} {
			r := c[i*stride+j : i*stride+j+2]
			if beta == 0 {
				r[0], r[1] = alpha*s[0], alpha*s[1]
			} else {
				r[0], r[1] = beta*r[0]+alpha*s[0], beta*r[1]+alpha*s[1]
			}
		}
	}
}

// solvePortable is solveTile in plain Go. Row k of t is column k of T, and row k of x is x_k.
func solvePortable(back bool, t, x []float64) {
	for n := range 4 {
		k := n
		first := n + 1
		end := 4
		if back {
			k = 3 - n
			first = 0
			end = 3 - n
		}
		xk := x[4*k : 4*k+4 : 4*k+4]
		for j := range xk {
			xk[j] *= t[4*k+k]
		}
		for i := first; i < end; i++ {
			xi := x[4*i : 4*i+4 : 4*i+4]
			f := t[4*k+i]
			for j := range xi {
				xi[j] -= f * xk[j]
			}
		}
	}
}

// transposePortable is transposeTile in plain Go, for 4 rows of n numbers.
func transposePortable(n int, src []float64, srcStride int, dst []float64, dstStride int) {
	for i := range 4 {
		for j, v := range src[i*srcStride : i*srcStride+n] {
			dst[j*dstStride+i] = v
		}
	}
}
