package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// mostValues are those of a column that are slices each; a column with more is cut into thirds.
const mostValues = 6

// slices says which certified rows are of which kind, in the order of Terms.Slices. Columns are cut by their values on
// the prior rows: at most six of them are a slice each, as categories are, of more there are thirds.
//
// The model's own figures, sd and distance, are cut into thirds at two of the certified rows' own, which belong to
// neither side.
// They are functions of the inputs alone, and given the two cuts, and how many rows lie between them, the rows there
// are independent draws of such rows, so that their misses are binomial.
func (m *Model) slices(d *dataset.Data, roles dataset.Roles, at scored) (all []pacbayes.Slice, err error) {
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

// columns are those of a table that a model predicts from.
func columns(inputs []string, e *dataset.Encoding) []string {
	if e == nil {
		return inputs
	}
	var names []string
	for _, c := range e.Columns {
		names = append(names, c.Name)
	}
	return names
}

// InputsOf are the inputs that a column of a table becomes: several where it is categorical.
func (m *Model) InputsOf(name string) (inputs []int, err error) {
	if !slices.Contains(columns(m.Inputs, m.Encoding), name) {
		return nil, fmt.Errorf("%q is no input: there are %s", name, strings.Join(columns(m.Inputs, m.Encoding), ", "))
	}
	for i, input := range m.Inputs {
		if input == name || m.Encoding != nil && strings.HasPrefix(input, name+"=") {
			inputs = append(inputs, i)
		}
	}
	return inputs, nil
}

// CheckSlices reports what can't be sliced by: neither an input of the data nor pacbayes.IsOwn, or twice.
func CheckSlices(d *dataset.Data, by []string) error {
	for i, name := range by {
		names := columns(d.Inputs, d.Encoding)
		switch {
		case slices.Contains(by[:i], name):
			return fmt.Errorf("slices: %q twice", name)
		case !pacbayes.IsOwn(name) && !slices.Contains(names, name):
			return fmt.Errorf("slices: %q is neither sd, nor distance, nor an input of %s, which are %s", name, d.Source,
				strings.Join(names, ", "))
		}
	}
	return nil
}

// LargestSlice is the share of the largest slice that columns, or what IsOwn has, make of prior rows.
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

// byOwn cuts rows by the standard deviation of y, or by distance.
func (m *Model) byOwn(by string, at scored) ([]pacbayes.Slice, error) {
	names := map[string][2]string{pacbayes.SliceSD: {"surest", "least sure"},
		pacbayes.SliceDistance: {"nearest", "farthest"}}[by]
	_, of, err := m.Points(at.mean, at.variance)
	if err != nil {
		return nil, err
	}
	for i, v := range at.variance {
		if of[i] *= m.Scaling.TargetScale; by == pacbayes.SliceDistance {
			of[i] = math.Sqrt(v)
		}
	}
	sorted := slices.Sorted(slices.Values(of))
	low, high := sorted[len(of)/3], sorted[2*len(of)/3]
	// The cuts aren't in the names, since another kind of processor computes them in other last digits.
	return inThree(of, by, names[0], "in between", names[1], low, high), nil
}

// inThree are three slices with two cuts, and which of the values are in which.
func inThree(values []float64, by, first, second, third string, low, high float64) []pacbayes.Slice {
	all := []pacbayes.Slice{{By: by, Name: first, To: &low}, {By: by, Name: second, From: &low, To: &high},
		{By: by, Name: third, From: &high}}
	if low == high {
		all = slices.Delete(all, 1, 2)
	}
	return filled(all, values)
}

// filled says which of the values are in which slice.
func filled(all []pacbayes.Slice, values []float64) []pacbayes.Slice {
	for k := range all {
		for i, v := range values {
			if all[k].Has(v) {
				all[k].In = append(all[k].In, i)
			}
		}
	}
	return all
}

// short is a number in as many digits as tell it from others.
func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// byColumn cuts certified rows by a column's values on prior rows.
func (m *Model) byColumn(by string, d *dataset.Data, prior, certified []int) (all []pacbayes.Slice, err error) {
	if m.Encoding != nil {
		for _, c := range m.Encoding.Columns {
			if c.Name == by && c.Categories != nil {
				return m.byCategory(c, d, certified)
			}
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
	low, high := known[len(known)/3], known[2*len(known)/3]
	return inThree(values, by, "≤ "+short(low), "> "+short(low)+", ≤ "+short(high), "> "+short(high), low, high), nil
}

// byCategory makes every category a slice.
func (m *Model) byCategory(c dataset.Column, d *dataset.Data, certified []int) (all []pacbayes.Slice, err error) {
	for _, category := range c.Names() {
		values, err := column(d, certified, slices.Index(m.Inputs, c.Name+"="+category))
		if err != nil {
			return nil, err
		}
		s := pacbayes.Slice{By: c.Name, Name: "= " + category}
		for i, v := range values {
			if v == 1 {
				s.In = append(s.In, i)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// column reads an input of rows, in its own units.
func column(d *dataset.Data, rows []int, input int) ([]float64, error) {
	values := make([]float64, len(rows))
	return values, eachRow(d, rows, func(i int, row []float64) { values[i] = row[input] })
}
