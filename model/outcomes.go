package model

import (
	"cmp"
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/observation"
)

// Outcomes holds figures of rows whose targets became known after krigo had predicted the rows.
type Outcomes struct {
	Losses  []float64 // loss of each row's predicted mean, by the certificate's loss
	Of      []string  // kind of each row, if the certificate has kinds
	Hashes  []uint64  // dataset.Data.RowHashes
	Outside int       // number of rows whose Prediction.Outside isn't 0
	Seen    int       // number of rows that equal a row that the model was made from

	// Found names the rows without a prediction.
	Found finding.List
}

// Outcomes predicts the given rows of d, and returns the loss of each prediction, the rows' hashes,
// and how many rows lie outside the training data or equal a row that the model was made from.
func (m *Model) Outcomes(d *dataset.Data, rows []int) (o Outcomes, err error) {
	at, wrong := m.predicted(d, rows, nil)
	gaps, _, err := m.Gaps(d)
	if err := cmp.Or(m.CheckTargets(d, rows), wrong, err); err != nil {
		return o, err
	}
	x := make([]float64, d.Cols)
	var lost []int
	for i, row := range rows {
		var scale float64
		if at.Scale != nil {
			scale = at.Scale[i]
		}
		// The loss has to be a number from 0 to 1. The comparison below refuses NaN, too.
		loss := 1. // of a row without a prediction
		if at.wrong[i] == nil && linalg.Finite([]float64{at.mean[i], at.Mean[i]}) {
			loss = m.Terms.Loss.Point(at.Y[i], at.Mean[i], scale)
		} else {
			lost = append(lost, row)
		}
		if !(0 <= loss && loss <= 1) {
			return o, fmt.Errorf("%s: %s: the %s loss isn't a number between 0 and 1", d.Source,
				d.Where(row), m.Terms.Loss.Kind)
		}
		o.Losses = append(o.Losses, loss)
		if err := d.Read([]int{row}, x, nil); err != nil {
			return o, err
		}
		if m.outside(x, at.variance[i]) > 0 || (gaps != nil && gaps[row] > 0) {
			o.Outside++
		}
	}
	if lost != nil {
		o.Found.Add(finding.Lost, len(lost), len(rows), d.Where(lost[0]), observation.ErrTooFar)
	}
	if o.Hashes, _, err = d.Ordered(m.HashOrder).RowHashes(rows); err != nil {
		return o, err
	}
	o.Seen = len(lists.If(o.Hashes, func(h uint64) bool { return among(m.Rows, h) }))
	return o, nil
}
