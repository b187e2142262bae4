package model

import (
	"cmp"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"gonum.org/v1/gonum/floats"
)

// inOrder looks at the first orderMost certified rows in the file.
// Fewer than orderLeast rows say nothing.
const (
	orderMost  = 20000
	orderLeast = 40
)

// inOrder reports that certified rows next to one another in the file have similar residuals.
// Such rows follow time or come in groups, and aren't the independent draws that a certificate
// counts. If rows have groups, it compares mean residuals of groups, in the order in which groups
// begin. It returns nothing if residuals aren't similar, or if it can't tell.
//
// For n independent residuals r in file order, the lag-1 autocorrelation
//
//	ρ = Σ r_i r_{i+1} / Σ r_i²
//
// has a standard deviation of about 1/√n. If an exact GP has seen the rows, r holds leave-one-out
// residuals. Rows sorted by the target have similar residuals even if the rows are independent, so
// that inOrder returns nothing for such rows.
// Rows sorted by an input may have similar residuals because the model misses how the target
// follows that input. The finding then names both causes.
//
// mean holds the predictions of the certified rows, in scaled units.
func (m *Model) inOrder(d *dataset.Data, roles dataset.Roles,
	mean []float64) (found finding.List, err error) {
	if d.Ranks().Size() > 1 || m.Terms.Backtest {
		return nil, nil
	}
	rows := d.RowsOf(roles, dataset.Certified)
	place := lists.Order(rows, cmp.Compare) // places of the rows in file order
	place = place[:min(len(place), orderMost)]
	if len(place) < orderLeast {
		return nil, nil
	}
	inFile := lists.Of(place, func(k int) int { return rows[k] })
	r, err := m.misses(d, rows, place, mean)
	if err != nil {
		return nil, err
	}
	x, y, err := d.Select(inFile)
	if err != nil {
		return nil, err
	}
	// sorted by the target
	if math.Abs(sorted(y)) > 0.9 {
		return nil, nil
	}
	alike := finding.RowsInOrder
	by := finding.RowsSortedBy
	if m.Group != "" {
		r = groupMeans(r, inFile, roles.Group)
		alike = finding.GroupsInOrder
		by = finding.GroupsSortedBy
	}
	rho := autocorrelation(r)
	// Four standard deviations under independence.
	chance := 4 / math.Sqrt(float64(len(r)))
	if len(r) < orderLeast || !(rho > max(chance, 0.05)) {
		return nil, nil
	}
	of := make([]float64, len(inFile))
	for j, name := range d.Inputs {
		for i := range of {
			of[i] = x[i*d.Cols+j]
		}
		if s := sorted(of); math.Abs(s) > 0.95 {
			found.Add(by, rho, len(r), chance, name, d.Target)
			return found, nil
		}
	}
	found.Add(alike, rho, len(r), chance)
	return found, nil
}

// misses returns the residuals, in scaled units, of the certified rows at the given places in rows.
// mean holds the predictions of rows. If Q was conditioned on these rows, misses returns
// leave-one-out residuals.
func (m *Model) misses(d *dataset.Data, rows, place []int, mean []float64) ([]float64, error) {
	y, err := m.targets(d, rows)
	if err != nil {
		return nil, err
	}
	if left, _, ok := m.Posterior.LeaveOneOut(y); ok {
		mean = left
	}
	own := lists.Of(place, func(k int) float64 { return y[k] - mean[k] })
	return own, nil
}

// groupMeans returns the mean of each group, in the order in which groups begin.
func groupMeans(r []float64, rows, group []int) []float64 {
	numbers, groups := lists.Numbered(lists.Of(rows, func(row int) int { return group[row] }))
	means := make([]float64, groups)
	sizes := make([]float64, groups)
	for i, g := range numbers {
		means[g] += r[i]
		sizes[g]++
	}
	floats.Div(means, sizes)
	return means
}

// autocorrelation returns the lag-1 autocorrelation of r about its mean. It is NaN if r is
// constant.
func autocorrelation(r []float64) float64 {
	var mean, square, lagged float64
	for _, v := range r {
		mean += v / float64(len(r))
	}
	for i, v := range r {
		square += (v - mean) * (v - mean)
		if i > 0 {
			lagged += (v - mean) * (r[i-1] - mean)
		}
	}
	return lagged / square
}

// sorted returns Spearman's rank correlation between the values and their order.
// Equal values share a rank. It is ±1 if values only rise or only fall, and NaN if all values are
// equal.
func sorted(v []float64) float64 {
	n := len(v)
	order := lists.Order(v, cmp.Compare)
	var both, own, by float64
	middle := float64(n-1) / 2
	for i := 0; i < n; {
		j := i + 1
		for j < n && v[order[j]] == v[order[i]] {
			j++
		}
		rank := float64(i+j-1)/2 - middle
		for _, k := range order[i:j] {
			at := float64(k) - middle
			both += rank * at
			own += rank * rank
			by += at * at
		}
		i = j
	}
	return both / math.Sqrt(own*by)
}
