package krigo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
)

// Refit fits a model again with the options that it was fitted with, from the data that it was
// made from, and says what came out otherwise: differs is "" where all bits are the same, but for the time that
// it took. That is what no other check can show: that the posterior, the parameters of an informed prior
// among it, is what the options make of the rows. On another kind of processor, or by another
// version, bits may differ where nothing is wrong.
func (m *Model) Refit(ctx context.Context, table *dataset.Table, progress func(Event)) (again *Model, differs string,
	err error) {
	if m.Fitted == nil {
		return nil, "", errors.New("the model doesn't say what it was fitted with: it was made by a krigo that didn't keep " +
			"that")
	}
	o, err := asked(&m.Model)
	if err != nil {
		return nil, "", err
	}
	o.Run.Progress = progress
	// Dates that were numbers when the model was fitted may stand as text, in a form of its own, in the table at hand.
	table = table.ReadAs(m.Reading)
	if again, err = Fit(ctx, table, o); err != nil {
		return nil, "", fmt.Errorf("fitting again: %w", err)
	}
	if again.Certificate != nil && m.Certificate != nil {
		if d := again.Certificate.Difference(m.Certificate); d != "" {
			return again, "the certificate's " + d, nil
		}
	}
	bits := func(m *Model) ([]byte, error) {
		same := m.Model
		same.Training.Seconds, same.Source, same.Findings = 0, "", nil // which name files
		if m.Counts[dataset.Test] == 0 {
			same.Test = nil // of a table of its own, which isn't at hand
		}
		same.Fitted = translated(m.Fitted)
		var out bytes.Buffer
		err := same.Write(&out)
		return out.Bytes(), err
	}
	a, err := bits(again)
	if err != nil {
		return nil, "", err
	}
	b, err := bits(m)
	if err == nil && !bytes.Equal(a, b) {
		differs = "some bits are others, in the last digits of what was trained if not more"
	}
	return again, differs, err
}
