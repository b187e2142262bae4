package objective

import (
	"encoding/binary"
	"math"
)

// fewUnique is the largest share of rows that may differ in their inputs if replicates are to be trained on as such. At
// this share a factorisation takes a third of the time.
const fewUnique = 0.7

// Replicates makes a problem of the evidence a problem of the rows that differ in their inputs, if they are few
// enough. Replicates of an input count as one row, with their mean as target and 1/n of the noise (Binois, Gramacy and
// Ludkovski 2018, Sect. 3.1). With n_g rows in group g, G groups and Q = Σ (y_i − ȳ_g)², the evidence of all rows is
//
//	−ln p(y) = −ln p(ȳ) + ½[(N − G) ln 2πs + Σ ln n_g + Q/s]
func (p *Problem) Replicates() {
	if _, is := p.Objective.(*Evidence); !is || !p.PerRow.Same() {
		return
	}
	n := p.X.Rows
	groups, of, counts, first := map[string]int{}, make([]int, n), []float64{}, []int{}
	var key []byte
	for i := range n {
		key = key[:0]
		for _, v := range p.X.Row(i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
		}
		g, known := groups[string(key)]
		if !known {
			g = len(counts)
			groups[string(key)] = g
			counts, first = append(counts, 0), append(first, i)
		}
		of[i] = g
		counts[g]++
	}
	if float64(len(counts)) > fewUnique*float64(n) {
		return
	}
	x, y, a := p.X.Like(len(counts), p.X.Cols), make([]float64, len(counts)), make([]float64, len(counts))
	for g, i := range first {
		copy(x.Row(g), p.X.Row(i))
		a[g] = 1 / counts[g]
		p.replicates.logs += math.Log(counts[g])
	}
	for i, v := range p.Y {
		y[of[i]] += v * a[of[i]]
	}
	for i, v := range p.Y {
		p.replicates.squares += (v - y[of[i]]) * (v - y[of[i]])
	}
	p.replicates.more = float64(n - len(counts))
	p.X, p.Y, p.PerRow.Factor = x, y, a
}
