package files

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Beside returns what writes a table as [Write] does, with the kept columns before the others.
func Beside(kept *dataset.Kept) func(w io.Writer, names []string, rows int, fill Fill) error {
	return func(w io.Writer, names []string, rows int, fill Fill) error {
		for _, name := range kept.Names {
			if slices.Contains(names, name) {
				return fmt.Errorf("column %q can't be kept: the table that is written has one of that name",
					spelling.Clip(name))
			}
		}
		out := csv.NewWriter(w)
		if err := out.Write(slices.Concat(kept.Names, names)); err != nil {
			return err
		}
		row := 0
		if err := fill.Each(names, rows, func(values []float64) error {
			cells, err := kept.Cells(row)
			if err != nil {
				return err
			}
			row++
			for _, v := range values {
				cells = append(cells, strconv.FormatFloat(v+0, 'g', -1, 64))
			}
			return out.Write(cells)
		}); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
}
