package watch

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Claim is what outcomes are compared with: their mean loss is at most Bound.
type Claim struct {
	Name  string  // names the claim in ledgers: the checksum of a file
	Bound float64 // 1: nothing is claimed about all rows together
	Delta float64 // if the claim is true, there is ever an alarm with at most this probability
	Part  float64 // the part of the certificate's δ that Bound has; 0: all of it
	Miss  string  // what a row with the loss 1 did; "": losses may lie between 0 and 1
	Of    string  // the kind of rows that are meant; "": all rows
	Kinds []Claim // claims about kinds of rows. They and Bound share Delta equally
	Seen  string  // what a row equals that was seen before, such as "a certified row"
	Apart bool    // equal rows are one outcome that was given twice
	// Outcomes returns the losses of rows of d, with their kinds if Kinds isn't empty.
	Outcomes func(d *dataset.Data, rows []int) (model.Outcomes, error)
}

// Alarms returns the number of claims that may raise an alarm.
func (c Claim) Alarms() (n int) {
	if c.Bound < 1 {
		n = 1
	}
	return n + len(c.Kinds)
}

// ClaimOf returns what the certificate of a watchable model claims.
func ClaimOf(m *model.Model) Claim {
	c := Claim{Name: m.Checksum(), Bound: m.Certificate.MeanBound, Delta: m.Certificate.Delta,
		Seen: "a row that the model was made from",
		Miss: "missed", Apart: true, Outcomes: m.Outcomes}
	switch {
	case m.Classes != nil:
		c.Miss = "got a wrong label"
	case !m.Terms.Loss.IsZeroOne():
		c.Miss = ""
	case m.Terms.Loss.Kind == pacbayes.Band:
		target := cautious.Name(m.Target)
		counted := m.Counted(target)
		c.Miss = "missed by more than " + cautious.Width(m.Terms.EpsilonRaw) +
			spelling.If(counted != target, " of %s", counted)
	}
	return c
}
