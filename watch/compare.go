package watch

import (
	"fmt"
	"math"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
)

// Comparison says how a ledger's outcomes and the rows of a table differ.
// An outcome is known by its row's hash.
type Comparison struct {
	Rows    int   `json:"rows"`    // rows of the table
	Missing []int `json:"missing"` // rows, from 0, without an outcome in the ledger
	Differ  []int `json:"differ"`  // rows whose loss, computed anew, isn't the ledger's
	Others  int   `json:"others"`  // outcomes in the ledger without a row in the table
	// the ledger continues another ledger, which has the earlier outcomes
	Rotated bool `json:"rotated,omitempty"`
}

// Agrees says whether ledger and table have the same outcomes.
func (c Comparison) Agrees() bool { return len(c.Missing)+len(c.Differ)+c.Others == 0 }

// Compare predicts the rows of d again, and compares the new losses with the outcomes of a claim in
// the ledger. A row that came several times has to be in d as often.
func (l *Ledger) Compare(of Claim, d *dataset.Data) (c Comparison, err error) {
	// known holds the losses of each row's hash, in the order in which the outcomes came.
	known := map[string][]float64{}
	err = l.each(func(e entry) error {
		if e.Model == of.Name {
			c.Rotated = c.Rotated || e.Carried != nil
			for i, h := range e.Hashes {
				known[h] = append(known[h], e.Losses[i])
				c.Others++
			}
		}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("the ledger %s: %w", l.path, err)
	}
	o, err := of.Outcomes(d, d.All())
	if err != nil {
		return c, err
	}
	c.Rows = len(o.Losses)
	// Each row of the table takes the earliest outcome of its hash that is left.
	const rounding = 1e-6 // graded losses may differ on another kind of processor
	for i, h := range o.Hashes {
		name := strconv.FormatUint(h, 16)
		losses := known[name]
		if len(losses) == 0 {
			c.Missing = append(c.Missing, i)
			continue
		}
		if math.Abs(losses[0]-o.Losses[i]) > rounding {
			c.Differ = append(c.Differ, i)
		}
		known[name] = losses[1:]
		c.Others--
	}
	return c, nil
}
