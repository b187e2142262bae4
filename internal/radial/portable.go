package radial

import (
	"math"
	"unsafe"

	"github.com/krigo-gp/krigo/internal/cpu"
	"github.com/krigo-gp/krigo/internal/linalg"
)

// inner holds the loops of one level.
type inner struct {
	width     int // right points in a panel; divides 16
	distances func(a, b *float64, dim, step, panels int, out *float64, stride int)
	moments   func(w, a, b *float64, fours, step, panels int, m, s *float64)
	rows      int // rows that apply takes at a time
	vector    int // columns that apply[0] takes; apply[1] takes twice as many
	apply     [2]func(a *float64, rowStep, depthStep, depth int, v *float64, vStride int,
		out *float64, outStride int)
	// rowProduct adds x·k to out and k·v to the sums.
	rowProduct func(out, k, v []float64, x float64, sums *[Lanes]float64)
	value      [RQ + 1]func(k, u []float64, shape, variance float64)
	pull       [RQ + 1]func(w, u, bar []float64, shape float64, sums *[3 * Lanes]float64)
	// For points in bundles: point y, and the points x before it.
	bundleDistances func(rows, dim int, y, x, u *float64)
	bundleMoments   func(rows, dim int, w, y, x, sums *float64)
	// For an input of the additive kernel; see Effect.
	effect     func(se, total, squares, x, g []float64, at, hidden, over float64)
	effectPull func(x, g, bar, total, se []float64, at, hidden, main, pairs, first, second,
		shrink float64, sums *[Lanes]float64)
	effectMove func(x, g, bar, total, se []float64, at, hidden, main, pairs float64,
		sums *[2 * Lanes]float64)
}

// levels holds the loops of each level. A level that the machine lacks stays empty.
var levels = [...]inner{cpu.Portable: portable(), cpu.Levels - 1: {}}

// loops are the loops of the chosen level.
var loops = levels[cpu.Portable]

// portable returns the loops in plain Go, which are also the reference in tests.
func portable() inner {
	in := inner{width: 4, distances: distancesPortable, moments: momentsPortable,
		rows: 1, vector: 4, bundleDistances: bundleDistancesPortable,
		bundleMoments: bundleMomentsPortable, effect: effectPortable,
		effectPull: effectPullPortable, effectMove: effectMovePortable}
	in.apply[0] = applyPortable
	in.rowProduct = func(out, k, v []float64, x float64, sums *[Lanes]float64) {
		for i, c := range k {
			out[i] += x * c
			sums[0] += c * v[i]
		}
	}
	// Profile.at serves every profile, element by element. Sums use the first of their lanes.
	for p := range in.value {
		p := Profile(p)
		in.value[p] = func(k, u []float64, shape, variance float64) {
			for i, v := range u {
				c, _, _ := p.at(v, shape)
				k[i] = variance * c
			}
		}
		in.pull[p] = func(w, u, bar []float64, shape float64, sums *[3 * Lanes]float64) {
			var value, scaled, dShape float64
			for i, v := range u {
				c, slope, s := p.at(v, shape)
				w[i] = bar[i] * slope
				value += bar[i] * c
				scaled += w[i] * v
				dShape += bar[i] * s
			}
			sums[0] += value
			sums[Lanes] += scaled
			sums[2*Lanes] += dShape
		}
	}
	return in
}

// distancesPortable writes the squared distances of Group points a from the points in panels b.
// A panel has 4 points side by side, dimension by dimension, and so has a. Panels are step numbers
// apart, and the rows of out, one for each point of a, are stride apart.
func distancesPortable(a, b *float64, dim, step, panels int, out *float64, stride int) {
	as := unsafe.Slice(a, 4*dim)
	bs := unsafe.Slice(b, (panels-1)*step+4*dim)
	outs := unsafe.Slice(out, (Group-1)*stride+4*panels)
	for p := range panels {
		panel := bs[p*step : p*step+4*dim]
		for r := range Group {
			var s0, s1, s2, s3 float64
			for t := 0; t+4 <= len(panel) && t+4 <= len(as); t += 4 {
				v := panel[t : t+4 : t+4]
				x := as[t+r]
				d0 := v[0] - x
				d1 := v[1] - x
				d2 := v[2] - x
				d3 := v[3] - x
				s0 += d0 * d0
				s1 += d1 * d1
				s2 += d2 * d2
				s3 += d3 * d3
			}
			o := outs[r*stride+4*p:][:4:4]
			o[0], o[1], o[2], o[3] = s0, s1, s2, s3
		}
	}
}

// momentsPortable adds Σ w (a_t − b_t) to m, and Σ w (a_t − b_t)² to s, for 4·fours dimensions t.
// a is one of 4 points side by side. The sums of dimension t are in the first of its Lanes lanes.
func momentsPortable(w, a, b *float64, fours, step, panels int, m, s *float64) {
	ws := unsafe.Slice(w, 4*panels)
	as := unsafe.Slice(a, 16*fours-3)
	bs := unsafe.Slice(b, (panels-1)*step+16*fours)
	ms := unsafe.Slice(m, 4*Lanes*fours)
	ss := unsafe.Slice(s, 4*Lanes*fours)
	for t := range 4 * fours {
		// One sum for each point of a panel.
		var m0, m1, m2, m3, s0, s1, s2, s3 float64
		x := as[4*t]
		for p := range panels {
			v := (*[4]float64)(bs[p*step+4*t:])
			w := (*[4]float64)(ws[4*p:])
			d0 := x - v[0]
			d1 := x - v[1]
			d2 := x - v[2]
			d3 := x - v[3]
			w0 := w[0] * d0
			w1 := w[1] * d1
			w2 := w[2] * d2
			w3 := w[3] * d3
			m0 += w0
			m1 += w1
			m2 += w2
			m3 += w3
			s0 += w0 * d0
			s1 += w1 * d1
			s2 += w2 * d2
			s3 += w3 * d3
		}
		ms[Lanes*t] += (m0 + m1) + (m2 + m3)
		ss[Lanes*t] += (s0 + s1) + (s2 + s3)
	}
}

// applyPortable takes one row and four columns.
func applyPortable(a *float64, rowStep, depthStep, depth int, v *float64, vStride int, out *float64,
	outStride int) {
	as := unsafe.Slice(a, (depth-1)*depthStep+1)
	vs := unsafe.Slice(v, (depth-1)*vStride+4)
	var s0, s1, s2, s3 float64
	for k := range depth {
		x := as[k*depthStep]
		w := vs[k*vStride:][:4:4]
		s0 += x * w[0]
		s1 += x * w[1]
		s2 += x * w[2]
		s3 += x * w[3]
	}
	o := unsafe.Slice(out, 4)
	o[0] += s0
	o[1] += s1
	o[2] += s2
	o[3] += s3
}

// unwrap makes slices of the pointers that a bundle's loops get.
func unwrap(rows, dim int, y, x *float64) (ys, xs []float64) {
	return unsafe.Slice(y, dim*linalg.Abreast), unsafe.Slice(x, rows*dim*linalg.Abreast)
}

// bundleDistancesPortable names its sums, since the compiler keeps arrays in memory.
func bundleDistancesPortable(rows, dim int, y, x, u *float64) {
	ys, xs := unwrap(rows, dim, y, x)
	us := unsafe.Slice(u, rows*linalg.Abreast)
	for j := range rows {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for t := 0; t < dim*linalg.Abreast; t += linalg.Abreast {
			a := (*[linalg.Abreast]float64)(ys[t:])
			b := (*[linalg.Abreast]float64)(xs[j*dim*linalg.Abreast+t:])
			d0 := a[0] - b[0]
			d1 := a[1] - b[1]
			d2 := a[2] - b[2]
			d3 := a[3] - b[3]
			s0 += d0 * d0
			s1 += d1 * d1
			s2 += d2 * d2
			s3 += d3 * d3
			d4 := a[4] - b[4]
			d5 := a[5] - b[5]
			d6 := a[6] - b[6]
			d7 := a[7] - b[7]
			s4 += d4 * d4
			s5 += d5 * d5
			s6 += d6 * d6
			s7 += d7 * d7
		}
		*(*[linalg.Abreast]float64)(us[j*linalg.Abreast:]) = [...]float64{s0, s1, s2, s3,
			s4, s5, s6, s7}
	}
}

// bundleMomentsPortable adds Σ_j w_j (y_t − x_jt)² to the sums of each dimension t, set by set.
func bundleMomentsPortable(rows, dim int, w, y, x, sums *float64) {
	ys, xs := unwrap(rows, dim, y, x)
	ws := unsafe.Slice(w, rows*linalg.Abreast)
	ss := unsafe.Slice(sums, dim*linalg.Abreast)
	for t := 0; t < dim*linalg.Abreast; t += linalg.Abreast {
		s := (*[linalg.Abreast]float64)(ss[t:])
		a := (*[linalg.Abreast]float64)(ys[t:])
		for j := range rows {
			b := (*[linalg.Abreast]float64)(xs[j*dim*linalg.Abreast+t:])
			v := (*[linalg.Abreast]float64)(ws[j*linalg.Abreast:])
			for l := range s {
				d := a[l] - b[l]
				s[l] += v[l] * d * d
			}
		}
	}
}

// effectPortable does the work of Effect.Add.
func effectPortable(se, total, squares, x, g []float64, at, hidden, over float64) {
	for j, v := range x {
		se[j] = over * math.Exp(-(at-v)*(at-v))
		k := se[j] - hidden*g[j]
		total[j] += k
		squares[j] += k * k
	}
}

// effectPullPortable does the work of Effect.Pull. total − k_t is the sum of the other inputs'
// parts.
func effectPullPortable(x, g, bar, total, se []float64, at, hidden, main, pairs, first, second,
	shrink float64, sums *[Lanes]float64) {
	for j, v := range x {
		w := bar[j] * (main + pairs*(total[j]-se[j]+hidden*g[j]))
		sums[0] += w * (se[j]*((at-v)*(at-v)-shrink) - g[j]*(first+second*v*v))
	}
}

// effectMovePortable does the work of Effect.Move. The two sums begin Lanes apart.
func effectMovePortable(x, g, bar, total, se []float64, at, hidden, main, pairs float64,
	sums *[2 * Lanes]float64) {
	for j, v := range x {
		w := bar[j] * (main + pairs*(total[j]-se[j]+hidden*g[j]))
		sums[0] += w * se[j] * (at - v)
		sums[Lanes] += w * g[j]
	}
}
