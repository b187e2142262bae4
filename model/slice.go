package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/pacbayes"
)

// mostValues is the most values of a column that are a slice each.
// A column with more values is cut into thirds.
const mostValues = 6

// slices returns the slices of the certified rows, in the order of Terms.Slices.
// The values of the prior rows decide how a column is cut:
// up to six values are a slice each, more values are cut into thirds. Each category is a slice.
//
// The model's own figures, sd and distance, are cut into thirds at the figures of two certified
// rows. These two rows then belong to no slice. The figures are functions of the inputs alone.
// Given the two cuts and the number of rows between them, the rows there are independent draws of
// such rows, so that their misses are binomial.
func (m *Model) slices(d *dataset.Data, roles dataset.Roles,
	at scored) (all []pacbayes.Slice, err error) {
	if len(m.Terms.Slices) == 0 {
		return nil, nil
	}
	if err := CheckSlices(d, m.Terms.Slices); err != nil {
		return nil, fmt.Errorf("%w: no certificate", err)
	}
	rows := d.RowsOf(roles, dataset.Certified)
	for _, by := range m.Terms.Slices {
		if pacbayes.IsOwn(by) && !slices.Contains(columns(m.Inputs, m.Encoding), by) {
			cut, err := m.byOwn(by, at)
			if err != nil {
				return nil, err
			}
			all = append(all, cut...)
			continue
		}
		of, err := m.byColumn(by, d, d.RowsOf(roles, dataset.Prior), rows)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

// columns returns the names of the table's columns that a model predicts from.
func columns(inputs []string, e *dataset.Encoding) []string {
	if e == nil {
		return inputs
	}
	return lists.Of(e.Columns, func(c dataset.Column) string { return c.Name })
}

// InputsOf returns the indices of the inputs that a table's column becomes:
// several if the column is categorical.
func (m *Model) InputsOf(name string) (inputs []int, err error) {
	if !slices.Contains(columns(m.Inputs, m.Encoding), name) {
		return nil, fmt.Errorf("%q is no input: the inputs are %s", name,
			strings.Join(columns(m.Inputs, m.Encoding), ", "))
	}
	return lists.Where(len(m.Inputs), func(i int) bool {
		return m.Inputs[i] == name ||
			(m.Encoding != nil && strings.HasPrefix(m.Inputs[i], name+"="))
	}), nil
}

// CheckSlices returns an error if by has a name twice, or a name that is no input of d and not
// pacbayes.IsOwn.
func CheckSlices(d *dataset.Data, by []string) error {
	for i, name := range by {
		names := columns(d.Inputs, d.Encoding)
		switch {
		case slices.Contains(by[:i], name):
			return fmt.Errorf("slices: %q is listed twice", name)
		case !pacbayes.IsOwn(name) && !slices.Contains(names, name):
			return fmt.Errorf("slices: %q is neither sd, nor distance, nor an input of %s. The "+
				"inputs are %s", name, d.Source, strings.Join(names, ", "))
		}
	}
	return nil
}

// LargestSlice returns the largest slice's share of the prior rows, if by names the columns and
// figures to slice by.
func LargestSlice(d *dataset.Data, prior []int, by []string) (share float64, err error) {
	m := &Model{Inputs: d.Inputs, Encoding: d.Encoding}
	for _, name := range by {
		if pacbayes.IsOwn(name) && !slices.Contains(columns(m.Inputs, m.Encoding), name) {
			share = max(share, 1./3)
			continue
		}
		of, err := m.byColumn(name, d, prior, prior)
		if err != nil {
			return 0, err
		}
		for _, s := range of {
			share = max(share, float64(len(s.In))/float64(len(prior)))
		}
	}
	return share, nil
}

// byOwn cuts rows into thirds, by their standard deviation of y or by their distance.
func (m *Model) byOwn(by string, at scored) ([]pacbayes.Slice, error) {
	names := map[string][2]string{pacbayes.SliceSD: {"surest", "least sure"},
		pacbayes.SliceDistance: {"nearest", "farthest"}}[by]
	_, of, err := m.Points(at.mean, at.variance, at.noises)
	if err != nil {
		return nil, err
	}
	for i, v := range at.variance {
		if of[i] *= m.Scaling.TargetScale; by == pacbayes.SliceDistance {
			of[i] = math.Sqrt(v)
		}
	}
	sorted := slices.Sorted(slices.Values(of))
	low := sorted[len(of)/3]
	high := sorted[2*len(of)/3]
	// The names don't show the cuts, because another kind of processor computes cuts with other
	// last digits.
	return inThree(of, by, names[0], "in between", names[1], low, high), nil
}

// inThree cuts values at low and high into three slices, or into two slices if low equals high.
func inThree(values []float64, by, first, second, third string, low,
	high float64) []pacbayes.Slice {
	all := []pacbayes.Slice{{By: by, Name: first, To: &low},
		{By: by, Name: second, From: &low, To: &high}, {By: by, Name: third, From: &high}}
	if low == high {
		all = slices.Delete(all, 1, 2)
	}
	return filled(all, values)
}

// filled returns the slices with the numbers of the values that each has.
func filled(all []pacbayes.Slice, values []float64) []pacbayes.Slice {
	for k := range all {
		all[k].In = lists.Where(len(values), func(i int) bool { return all[k].Has(values[i]) })
	}
	return all
}

// short writes v with the fewest digits that tell it from other numbers.
func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// byColumn cuts the certified rows by a column.
// The cuts come from the column's values in the prior rows.
func (m *Model) byColumn(by string, d *dataset.Data, prior,
	certified []int) (all []pacbayes.Slice, err error) {
	if m.Encoding != nil {
		if c, is := lists.Find(m.Encoding.Columns, func(c dataset.Column) bool {
			return c.Name == by
		}); is && c.Categories != nil {
			return m.byCategory(c, d, certified)
		}
	}
	input := slices.Index(m.Inputs, by)
	known, err := column(d, prior, input)
	if err != nil {
		return nil, err
	}
	values, err := column(d, certified, input)
	if err != nil {
		return nil, err
	}
	slices.Sort(known)
	if each := slices.Compact(slices.Clone(known)); len(each) <= mostValues {
		for _, v := range each {
			all = append(all, pacbayes.Slice{By: by, Name: "= " + short(v), From: &v, To: &v})
		}
		return filled(all, values), nil
	}
	low := known[len(known)/3]
	high := known[2*len(known)/3]
	return inThree(values, by, "≤ "+short(low), "> "+short(low)+", ≤ "+short(high), "> "+
		short(high), low, high), nil
}

// byCategory returns a slice of the certified rows for each category of column c.
func (m *Model) byCategory(c dataset.Column, d *dataset.Data,
	certified []int) (all []pacbayes.Slice, err error) {
	for _, category := range c.Names() {
		values, err := column(d, certified, slices.Index(m.Inputs, c.Name+"="+category))
		if err != nil {
			return nil, err
		}
		all = append(all, pacbayes.Slice{By: c.Name, Name: "= " + category,
			In: lists.Where(len(values), func(i int) bool { return values[i] == 1 })})
	}
	return all, nil
}

// column returns one input of the given rows, in its own units.
func column(d *dataset.Data, rows []int, input int) ([]float64, error) {
	values := make([]float64, len(rows))
	return values, eachRow(d, rows, func(i int, row []float64) { values[i] = row[input] })
}
