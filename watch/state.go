package watch

import (
	"fmt"
	"time"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
)

// State is what a watch knows after Rows outcomes.
type State struct {
	Of     string  `json:"of,omitempty"` // the kind of rows that this state is about; "": all rows
	Rows   int     `json:"rows"`
	Misses float64 `json:"misses"` // number of misses; for graded losses the sum of losses
	Risk   float64 `json:"risk"`   // Misses divided by Rows
	// AtLeast and AtMost limit the risk, if all rows have the same risk.
	// The limits hold for all numbers of rows at once, with confidence 1−δ.
	AtLeast float64 `json:"at_least"`
	AtMost  float64 `json:"at_most"`    //
	Bound   float64 `json:"mean_bound"` // the certificate's bound
	// Delta is the certificate's δ. While the risk is at most the bound, there is ever an alarm
	// with at most this probability.
	Delta float64 `json:"delta"`
	// BoundDelta is the part of the certificate's δ that its bound has:
	// the bound fails with at most this probability.
	BoundDelta float64 `json:"bound_delta"`
	LogE       float64 `json:"log_e"`         // ln E, the evidence that the risk is above the bound
	Highest    float64 `json:"highest_log_e"` // the largest LogE up to now
	AlarmAt    float64 `json:"alarm_log_e"`   // ln 1/δ, the LogE that raises an alarm
	Alarm      *Alarm  `json:"alarm"`         // null: no alarm yet
	// rows outside the range of the rows that the model was made from, see model.Prediction
	Outside int `json:"outside,omitempty"`
	Seen    int `json:"seen,omitempty"`    // rows that equal a row the model was made from
	Repeats int `json:"repeats,omitempty"` // rows that equal an earlier row
	// Kinds are the states of kinds of rows, which the claim bounds by themselves.
	Kinds []State `json:"kinds,omitempty"`

	// Found names the rows without a prediction among those that Observe was just given.
	Found finding.List `json:"-"`
}

// Alarms returns the alarms about all rows and about each kind of rows, as words.
func (s State) Alarms() (all []string) {
	if s.Alarm != nil {
		all = append(all, s.Alarm.Sentence(s))
	}
	for _, kind := range s.Kinds {
		all = append(all, kind.Alarms()...)
	}
	return all
}

// Told says in words what a model's outcomes say about its certificate, with the alarm first.
func (s State) Told(m *model.Model) string {
	if s.Alarm == nil {
		return s.Sentence(m)
	}
	return s.Alarm.Sentence(s) + "\n" + s.Sentence(m)
}

// Alarm says at which row the evidence sufficed. Later rows don't take an alarm back.
type Alarm struct {
	Row int       `json:"row"`
	At  time.Time `json:"at"` // when the row came
}

// carried is all that a model's lines say. The model's first line after a rotation holds it, so
// that the model's watch says the same before and after, to the last bit.
type carried struct {
	State  State     `json:"state"`
	Staked []float64 `json:"staked"` // what the evidence's stakes are worth
	// hashes of the rows that have come, in ascending order, eight bytes each, little endian
	Rows  []byte            `json:"rows"`
	Keys  map[string][]byte `json:"keys,omitempty"`  // digests of the rows that came under keys
	Kinds []*carried        `json:"kinds,omitempty"` // of kinds of rows
}

// Sentence says in words what a model's outcomes say about its certificate.
// Numbers are rounded to the cautious side.
func (s State) Sentence(m *model.Model) string { return ClaimOf(m).Sentence(s) }

// Sentence says in words what the outcomes of a state say about the claim, as State.Sentence does.
func (c Claim) Sentence(s State) string {
	if s.Rows == 0 {
		return fmt.Sprintf("No outcome yet. The certificate promises a risk of at most %.4f.",
			cautious.RoundUp(s.Bound, 4))
	}
	// A claim about a 0/1 loss counts misses, any other has a mean loss.
	missed := spelling.Either(c.Miss == "",
		fmt.Sprintf("a mean loss of %.4f", s.Risk),
		fmt.Sprintf("%.0f %s (%.2f %%)", s.Misses, c.Miss, 100*s.Risk))
	rows := spelling.Either(s.Rows == 1, "outcome", "outcomes")
	said := fmt.Sprintf("%d %s, %s; the certificate promises a risk of at most %.4f. If all "+
		"outcomes come from one source, its risk lies, with %s confidence at every look, between "+
		"%.4f and %.4f. Evidence against the certificate: ln E = %.2f, alarm at %.2f",
		s.Rows, rows, missed, cautious.RoundUp(s.Bound, 4), cautious.Complement(s.Delta),
		cautious.RoundDown(s.AtLeast, 4), cautious.RoundUp(s.AtMost, 4), s.LogE, s.AlarmAt)
	said += spelling.If(s.Highest > s.LogE+0.005, " (highest %.2f)", s.Highest) + "." + s.notes(c)
	for _, kind := range s.Kinds {
		if kind.Rows == 0 {
			continue
		}
		said += fmt.Sprintf("\n  of class %s: %d of %d %s (%.2f %%), at most %.2f %% are "+
			"promised; ln E = %.2f, alarm at %.2f", spelling.Quote(kind.Of), int(kind.Misses),
			kind.Rows, c.Miss, 100*kind.Risk, 100*cautious.RoundUp(kind.Bound, 4), kind.LogE,
			kind.AlarmAt)
	}
	return said + spelling.If(s.Kinds != nil,
		"\n  The certificate's δ is shared equally by %d alarms, each with δ = %.4g.",
		c.Alarms(), s.Delta)
}

// notes says which outcomes may not be what they seem.
func (s State) notes(c Claim) (said string) {
	note := func(rows int, one, more string) {
		switch {
		case rows == 1:
			said += " One row " + one + "."
		case rows > 1:
			said += fmt.Sprintf(" %d rows %s.", rows, more)
		}
	}
	outside := "outside the range of the rows that the model was made from"
	note(s.Outside, "lies "+outside, "lie "+outside)
	note(s.Seen, "equals "+c.Seen, "equal "+c.Seen)
	const repeats = "an earlier row: an outcome that was given twice counts once too often"
	note(s.Repeats, "equals "+repeats, "equal "+repeats)
	return said
}

// Other is what a ledger holds of another model than the model asked about.
// A file whose bytes differ is another model.
type Other struct {
	Checksum string
	Rows     int
	// Alarm says that this model's outcomes raise an alarm against the bound of the model asked
	// about, or did before a rotation.
	Alarm bool
}

// Sentence says that these outcomes don't count for the model asked about.
func (o Other) Sentence() string {
	return fmt.Sprintf("The ledger holds %d outcomes of another model (SHA-256 %s), which don't "+
		"count for this one.", o.Rows, o.Checksum) + spelling.If(o.Alarm,
		" They raise an ALARM. If this file is a changed copy of that model, the alarm stands.")
}

// Sentence says what an alarm means.
func (a *Alarm) Sentence(s State) string {
	of := spelling.If(s.Of != "", " of class %s", spelling.Quote(s.Of))
	return fmt.Sprintf("ALARM at row %d%s (%s): the risk is above the certificate's bound of "+
		"%.4f. If it weren't, there would ever be an alarm with probability at most %g. Either "+
		"the rows come from another source than the certified rows, or a condition of the "+
		"certificate isn't met, or the certificate failed by chance, with probability at most %s.",
		a.Row, of, a.At.Format(time.RFC3339), cautious.RoundUp(s.Bound, 4), s.Delta,
		cautious.Up(s.BoundDelta, 3))
}
