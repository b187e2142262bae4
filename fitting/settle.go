package fitting

import (
	"cmp"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/internal/lists"
)

// Settle returns the table, and the data, with what the table's inputs decide where the data say
// nothing. Row numbers, names of rows, and columns of one value or hardly any are left out.
// Texts become categories, or dates. Texts that are known to stand for missing values become gaps,
// and gaps are filled.
// Settled lists the decisions, and the model keeps them as the options that they set, so that
// further tables are read in the same way.
//
// No decision looks at the target (see inspect.Settle), so a certificate holds as if the user had
// said it. Rows without a target aren't settled here, because a fit leaves them out by itself.
// A table on disk or on several ranks, and declared constants, leave everything to the user.
func (d Data) Settle(table *dataset.Table) (*dataset.Table, Data, error) {
	if table.Disk != nil || table.Ranks().Size() > 1 || d.Declared != nil ||
		(d.Scaling != "" && d.Scaling != dataset.PriorRows) {
		return table, d, nil
	}
	left, err := table.Leave(d.Inputs, d.Ignore, d.Target, d.Own()[1:]...)
	if err != nil {
		return nil, d, err
	}
	inputs := lists.If(table.Names, func(name string) bool {
		return name != d.Target && !slices.Contains(left, name)
	})
	var said []string
	for _, dates := range d.Reading.Dates {
		said = append(append(said, dates.Column), dates.Derived()...)
	}
	made, told, err := inspect.Settle(table, inspect.Undecided{Inputs: inputs, Said: said,
		Categorical: d.Categorical, Targets: append([]string{d.Target}, d.Others()...),
		Missing: d.Missing, Grouped: d.Group != ""})
	if err != nil {
		return nil, d, err
	}
	d.Ignore = slices.Clone(d.Ignore)
	d.Categorical = slices.Clone(d.Categorical)
	var dates []dataset.Dates
	var missing []string
	for _, one := range made {
		switch one.Flag {
		case "ignore":
			// whoever names inputs names what is left out, too
			if len(d.Inputs) > 0 {
				continue
			}
			d.Ignore = append(d.Ignore, one.Value)
		case "categorical":
			d.Categorical = append(d.Categorical, one.Value)
		case "dates":
			dates = append(dates, dataset.Dates{Column: one.Value})
		case "missing":
			d.Missing = one.Value
		case "na":
			d.Missing = cmp.Or(d.Missing, dataset.Indicate)
			if !slices.Contains(missing, one.Value) {
				missing = append(missing, one.Value)
			}
		}
		d.Settled = append(d.Settled, one.Found)
	}
	d.Settled = append(d.Settled, told...)
	if dates != nil || missing != nil {
		if table, err = table.Further(missing, dates); err != nil {
			return nil, d, err
		}
		d.Reading = table.Reading()
	}
	return table, d, nil
}
