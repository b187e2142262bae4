package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Kinds is a column of more than two classes.
// A model sees a column for each class, with 1 in rows of the class and 0 in other rows.
type Kinds struct {
	Column string   `json:"column"`
	Labels []string `json:"labels"`
}

// Names returns the names of the classes' columns.
func (k *Kinds) Names() []string {
	return lists.Of(k.Labels, func(label string) string { return k.Column + "=" + label })
}

// Spread returns the table with the classes' columns instead of the column.
// It returns the table itself if k is nil or the table lacks the column.
func (k *Kinds) Spread(t *Table) (*Table, error) {
	if k == nil {
		return t, nil
	}
	at, known := t.Column(k.Column)
	if !known {
		return t, nil
	}
	if t.Ranks().Size() > 1 || t.Disk != nil {
		return nil, fmt.Errorf("%s: more than two classes are for tables in memory that aren't "+
			"spread over ranks", t.Source)
	}
	if err := t.Refused(at); err != nil {
		return nil, err
	}
	// The classes' columns come last, after all columns but the one of labels.
	of := *t
	cols := len(t.Names)
	of.codes = nil
	of.Values = make([]float64, 0, t.Rows*(cols-1+len(k.Labels)))
	of.Names = append(slices.Delete(slices.Clone(t.Names), at, at+1), k.Names()...)
	if t.Text != nil {
		of.Text = append(slices.Delete(slices.Clone(t.Text), at, at+1),
			make([][]string, len(k.Labels))...)
	}
	for i := range t.Rows {
		row := t.Values[i*cols : (i+1)*cols]
		label := t.text(at, row[at])
		place := slices.Index(k.Labels, label)
		if place < 0 && label != "" {
			return nil, t.cell(i, at, fmt.Errorf("%s isn't a class of the model, which knows %s",
				spelling.Quoted([]string{label}, 1), spelling.Quoted(k.Labels, 10)))
		}
		of.Values = append(append(of.Values, row[:at]...), row[at+1:]...)
		// A row without a label has missing values in all of them, as a target without a value.
		for j := range k.Labels {
			switch {
			case label == "":
				of.Values = append(of.Values, math.NaN())
			case j == place:
				of.Values = append(of.Values, 1)
			default:
				of.Values = append(of.Values, 0)
			}
		}
	}
	return &of, of.Check()
}
