package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// IsText says whether a column holds text.
func (t *Table) IsText(column string) bool {
	j, ok := t.Column(column)
	return ok && t.Texts(j) != nil
}

// mostClasses is the most kinds that a column of classes may have. A column with more names things.
const mostClasses = 100

// Classes returns the different cells of a column, in the order of their numbers or texts, without
// missing cells. It returns nothing if there are more than mostClasses, or if the column holds text
// and numbers, and so may be a column of numbers with mistakes.
func (t *Table) Classes(column string) ([]string, error) {
	at, err := t.column(column, "for the target")
	if err != nil {
		return nil, err
	}
	// cells holds the number of each different text, by which numbers are sorted.
	cells := map[string]float64{}
	numbers := 0
	err = t.Each([]int{at}, func(_ int, cell []float64) error {
		text := t.text(at, cell[0])
		if _, known := cells[text]; !known && text != "" && len(cells) <= mostClasses {
			v, err := parse(text)
			if err == nil {
				numbers++
			}
			cells[text] = v
		}
		return nil
	})
	if err != nil || len(cells) > mostClasses || (numbers > 0 && t.Texts(at) != nil) {
		return nil, err
	}
	// Sort by text, then by number, so that texts of equal number keep their alphabetical order.
	classes := slices.Sorted(maps.Keys(cells))
	for _, class := range classes {
		if err := CheckName(class); err != nil {
			return nil, &Error{File: t.Source, Column: at + 1, Name: column, Err: err}
		}
	}
	slices.SortStableFunc(classes, func(a, b string) int { return cmp.Compare(cells[a], cells[b]) })
	return classes, nil
}

// Classed returns the table with the place of each label among the classes instead of the label,
// from 0, in the column of the target. It returns the table itself if classes is nil.
func (t *Table) Classed(target string, classes []string) (*Table, error) {
	at, known := t.Column(target)
	if classes == nil || !known {
		return t, nil
	}
	// The values are copied, because the caller's table must keep its labels.
	c := *t
	if c.Values = slices.Clone(t.Values); t.Text != nil {
		c.Text = slices.Clone(t.Text)
		c.codes = nil
		c.Text[at] = nil
	}
	return &c, t.Each([]int{at}, func(i int, cell []float64) error {
		label := t.text(at, cell[0])
		place := slices.Index(classes, label)
		switch _, held := t.where(i); {
		case label == "":
		case place < 0:
			return t.cell(i, at, fmt.Errorf("%s isn't a class of the model, which knows %s",
				spelling.Quoted([]string{label}, 1), spelling.Quoted(classes, 10)))
		// A table on disk can't be changed, so that its labels must already be their places.
		case t.Disk == nil:
			c.Values[held*len(t.Names)+at] = float64(place)
		case cell[0] != float64(place):
			return fmt.Errorf("%s: the labels of a table on disk must be 0 and 1: write it as CSV",
				t.Source)
		}
		return nil
	})
}
