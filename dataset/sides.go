package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// Sides returns how a column says that the target of each given row is known: −1 if it is below the number in the
// target's column, 1 if above, and 0 if it is that number. The column holds −1, 0 and 1, or left, right and none, or
// nothing for none.
func (d *Data) Sides(column string, rows []int) ([]int8, error) {
	t := d.table
	if t.Ranks().Size() > 1 {
		return nil, errors.New("limits of detection aren't spread over ranks: use one")
	}
	at, err := t.column(column, "that says which targets are limits")
	if err != nil {
		return nil, err
	}
	sides, cell := make([]int8, len(rows)), make([]float64, 1)
	for i, row := range rows {
		if err := t.Read(row, 1, []int{at}, cell); err != nil {
			return nil, err
		}
		switch text := strings.ToLower(t.text(at, cell[0])); text {
		case "-1", "left":
			sides[i] = -1
		case "1", "right":
			sides[i] = 1
		case "0", "none", "":
		default:
			return nil, t.cell(row, at, fmt.Errorf("%q isn't left, right or none, nor -1, 1 or 0", text))
		}
	}
	return sides, nil
}
