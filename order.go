package krigo

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// Residuals are looked at in this many rows at most, one after another in the file; fewer than
// orderLeast say nothing.
const (
	orderMost  = 20000
	orderLeast = 40
)

// noteOrder says so where rows next to one another in the file miss alike: they then follow time, or
// come in groups, and aren't the independent draws that a certificate counts. Residuals are those of
// rows that training hasn't seen.
//
// Of n independent rows the lag-1 autocorrelation of residuals r (in file order),
//
//	ρ = Σ r_i r_{i+1} / Σ r_i²,
//
// has a standard deviation of about 1/√n.
func (p *prepared) noteOrder(m *Model) error {
	role := dataset.Prior
	if m.Terms.Fixed {
		role = dataset.Certified
	}
	if m.Terms.Informed && !m.Terms.Fixed || m.Group != "" || p.data.Ranks().Size() > 1 {
		return nil
	}
	rows := slices.Sorted(slices.Values(p.roles.Rows(role)))
	rows = rows[:min(len(rows), orderMost)]
	if len(rows) < orderLeast {
		return nil
	}
	x, y, err := p.data.Select(rows)
	if err != nil {
		return err
	}
	if slices.IsSorted(y) || slices.IsSortedFunc(y, func(a, b float64) int { return cmp.Compare(b, a) }) {
		return nil // rows sorted by the target miss alike, however independent they are
	}
	mean, _, err := model.Latent(m.Posterior, p.data.Scaled(rows, m.Scaling))
	if err != nil {
		return err
	}
	m.Scaling.Target(y, y)
	var square, lagged, last, total float64
	for i := range y {
		y[i] -= mean[i]
		total += y[i] / float64(len(y))
	}
	for i, r := range y {
		r -= total
		square += r * r
		if i > 0 {
			lagged += r * last
		}
		last = r
	}
	rho, chance := lagged/square, 4/math.Sqrt(float64(len(y)))
	if !(math.Abs(rho) > max(chance, 0.05)) {
		return nil
	}
	along := "in the order of the file"
	if name := p.sortedBy(x); name != "" {
		along = fmt.Sprintf("in the order of the file, which is that of %q", name)
	}
	m.Notices = append(m.Notices, fmt.Sprintf("rows depend on their order: %s the misses of neighbours resemble each other (autocorrelation %.2f over %d rows that training didn't see; independent rows stay within ±%.2f). "+
		"A certificate takes rows for independent draws: of rows that follow time it is about other moments of the same period, and --split last shows how the model does later; rows that come in groups need --group",
		along, rho, len(y), chance))
	return nil
}

// sortedBy names an input whose values x, row by row, never fall and aren't all the same; "" if there is none.
func (p *prepared) sortedBy(x []float64) string {
	d := p.data.Cols
	for j, name := range p.data.Inputs {
		rises := x[j] < x[len(x)-d+j]
		for i := d; rises && i < len(x); i += d {
			rises = x[i-d+j] <= x[i+j]
		}
		if rises {
			return name
		}
	}
	return ""
}
