package observation

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Named returns the names of the columns of all properties by their fields in options and model
// files; "": no column.
func (c *Columns) Named() map[string]string {
	named := map[string]string{}
	for _, p := range parts {
		if p.column != nil {
			named[p.field] = p.column(c)
		}
	}
	return named
}

// Predicting returns the columns that predictions take besides the inputs, in the order in which
// rows hold them.
func (c *Columns) Predicting() (all []dataset.Further) {
	for _, p := range parts {
		if p.column != nil && p.reads.What != "" && p.column(c) != "" {
			of := p.reads
			of.Name = p.column(c)
			all = append(all, of)
		}
	}
	return all
}

// Further returns the names of the columns that predictions take besides the inputs.
func (c *Columns) Further() []string {
	return lists.Of(c.Predicting(), func(of dataset.Further) string { return of.Name })
}

// Options returns the names of the options that name columns.
func Options() []string {
	read := lists.If(parts, func(p *part) bool { return p.column != nil })
	return lists.Of(read, (*part).option)
}

// Fields returns the fields of a model file that say what is read of a row's target.
func Fields() []string {
	read := lists.If(parts, func(p *part) bool { return p.column != nil })
	return append(lists.Of(read, func(p *part) string { return p.field }), "classes", "kinds")
}

// Beyond returns the data with the columns that predictions take besides the inputs.
func (c *Columns) Beyond(d *dataset.Data) (*dataset.Data, error) {
	return d.Beyond(c.Predicting())
}

// RowUnits returns the units of rows' targets. The data must have the columns that predictions take.
func (c *Columns) RowUnits(d *dataset.Data, rows []int) (dataset.RowUnits, error) {
	for _, of := range c.Predicting() {
		if cells, err := d.Cells(of.Name, rows[:0]); cells == nil || err != nil {
			return nil, cmp.Or(err, fmt.Errorf("these rows lack the column %q, the %s", of.Name,
				of.What))
		}
	}
	return d.RowUnits(rows)
}

// Numbered returns the table with numbers for the target: limits, and the places of classes.
func (o *Observation) Numbered(t *dataset.Table, target string) (*dataset.Table, error) {
	t, err := o.Kinds.Spread(t)
	if err == nil {
		t, err = t.Limited(target, o.Censored)
	}
	if err == nil {
		t, err = t.Classed(target, o.Classes)
	}
	return t, err
}

// Same says whether both read the same from a table.
func (o *Observation) Same(other *Observation) bool {
	return o.Columns == other.Columns && slices.Equal(o.Classes, other.Classes) &&
		reflect.DeepEqual(o.Kinds, other.Kinds)
}

// Allows returns nil, or why the noise can't have this target.
func (o *Observation) Allows(y float64) error {
	if noise := o.Sited(); noise != nil && o.Classes == nil {
		return noise.Allows(y)
	}
	return nil
}

// CheckTargets returns an error that names the first row whose target the noise can't have.
func (o *Observation) CheckTargets(d *dataset.Data, rows []int) error {
	y, err := d.Targets(rows)
	for i, v := range y {
		if wrong := o.Allows(v); wrong != nil && err == nil {
			err = fmt.Errorf("%s: %s: the target %q is %v, and %w: correct or remove the "+
				"row, or take another noise", d.Source, d.Where(rows[i]), d.Target, v, wrong)
		}
	}
	return d.Ranks().Agree(err)
}

// OwnErrors turns errors of f into errors of the prediction, in standard deviations of the target.
// errs holds the errors of f at rows in scaled units, and variance holds the variances of y there.
func (o *Observation) OwnErrors(d *dataset.Data, rows []int, errs,
	variance []float64) ([]float64, error) {
	if o.Scaling.Transform == nil {
		return errs, nil
	}
	y, err := d.Targets(rows)
	own := make([]float64, len(y))
	o.Scaling.Target(own, y)
	for i, z := range own {
		point, _ := o.point(z+errs[i], variance[i])
		own[i] = (point - y[i]) / o.Scaling.TargetScale
	}
	return own, err
}
