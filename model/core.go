package model

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
)

// WriteCore writes the predictions of the certified rows of the table that the models were made
// from, as verify/core.py reads them. model is the SHA-256 of the models' file, and tables has those
// of all files with the table's rows in its order.
// Its lines have a row's number in the table, and the prediction for each target, with the standard
// deviation if errors are counted in it.
func (s *Several) WriteCore(w io.Writer, table *dataset.Table, model [sha256.Size]byte,
	tables ...[sha256.Size]byte) error {
	cells := make([][]string, table.Rows)
	for k, m := range s.Models {
		d, err := m.Labelled(table)
		if err != nil {
			return err
		}
		_, roles, at, err := m.remade(d)
		if err != nil {
			return err
		}
		rows := d.RowsOf(roles, dataset.Certified)
		units, err := d.RowUnits(rows)
		if err != nil {
			return err
		}
		for i, row := range rows {
			in := d.InFile(row)
			if cells[in] == nil {
				cells[in] = make([]string, 2*len(s.Models))
			}
			value := at.Mean[i]*m.Scaling.TargetScale + m.Scaling.TargetMean
			cells[in][2*k] = fmt.Sprint(units.At(i).Target(value))
			if m.Terms.Loss.Kind == pacbayes.Scaled {
				sd := units.At(i).Width(at.Sample.Scale[i] * m.Scaling.TargetScale)
				cells[in][2*k+1] = fmt.Sprint(sd)
			}
		}
	}
	text := "row" + strings.Repeat(",predicted,sd", len(s.Models)) + "\n"
	for i, of := range cells {
		if of != nil {
			text += fmt.Sprintf("%d,%s\n", i+1, strings.Join(of, ","))
		}
	}
	first := fmt.Sprintf("krigo core 1,%x,%x", model, sha256.Sum256([]byte(text)))
	for _, sum := range tables {
		first += fmt.Sprintf(",%x", sum)
	}
	_, err := io.WriteString(w, first+"\n"+text)
	return err
}
