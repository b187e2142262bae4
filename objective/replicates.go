package objective

import (
	"encoding/binary"
	"math"

	"github.com/krigo-gp/krigo/internal/lists"
)

// fewUnique is the largest share of rows that may differ in their inputs if replicates are to be
// trained on as such. At this share a factorisation takes a third of the time.
const fewUnique = 0.7

// Replicates makes a problem of the evidence a problem of the rows that differ in their inputs, if
// they are few enough. Replicates of an input count as one row, with their mean as target and 1/n
// of the noise (Binois, Gramacy and Ludkovski 2018, Sect. 3.1).
// With n_g rows in group g, G groups and Q = Σ (y_i − ȳ_g)², the evidence of all rows is
//
//	−ln p(y) = −ln p(ȳ) + ½[(N − G) ln 2πs + Σ ln n_g + Q/s]
func (p *Problem) Replicates() {
	if e, is := p.Objective.(*Evidence); !is || e.Pairs != nil || !p.PerRow.Same() {
		return
	}
	n := p.X.Rows
	// of[i] is the group of row i. Rows of a group have inputs with the same bits.
	of, groups := lists.Numbered(lists.To(n, func(i int) string {
		key, _ := binary.Append(nil, binary.LittleEndian, p.X.Row(i))
		return string(key)
	}))
	if float64(groups) > fewUnique*float64(n) {
		return
	}
	x := p.X.Like(groups, p.X.Cols)
	y := make([]float64, groups)
	a := make([]float64, groups)
	counts := make([]float64, groups)
	for i, g := range of {
		copy(x.Row(g), p.X.Row(i))
		counts[g]++
	}
	// The mean of group g has the noise variance s/n_g.
	for g, count := range counts {
		a[g] = 1 / count
		p.replicates.logs += math.Log(count)
	}
	// The targets' means over the groups, and then the squares about the means.
	for i, v := range p.Y {
		y[of[i]] += v * a[of[i]]
	}
	for i, v := range p.Y {
		p.replicates.squares += (v - y[of[i]]) * (v - y[of[i]])
	}
	p.replicates.more = float64(n - groups)
	p.X = x
	p.Y = y
	p.PerRow.Factor = a
}
