package watch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Watch is what the outcomes of one model say of its certificate. Several goroutines may use it at once.
type Watch struct {
	model    *model.Model
	ledger   *Ledger
	turn     chan struct{} // holds one token: who has it may add
	evidence *pacbayes.Evidence
	known    map[uint64]bool // rows that have come
	counts   State           // without what follows from them
	state    atomic.Pointer[State]
}

// State is what is known after so many rows.
type State struct {
	Rows    int     `json:"rows"`
	Misses  float64 `json:"misses"`            // of graded losses, their sum
	Risk    float64 `json:"risk"`              // their share
	AtLeast float64 `json:"at_least"`          // limits of the risk, if it is the same for all, with confidence 1−δ for all numbers of rows at once
	AtMost  float64 `json:"at_most"`           //
	Bound   float64 `json:"mean_bound"`        // the certificate's
	Delta   float64 `json:"delta"`             // its, and the probability that there is ever an alarm while the risk is at most the bound
	LogE    float64 `json:"log_e"`             // evidence against that, ln E
	Highest float64 `json:"highest_log_e"`     // the most there was
	AlarmAt float64 `json:"alarm_log_e"`       // ln 1/δ, at which there is an alarm
	Alarm   *Alarm  `json:"alarm"`             // null: there was none
	Outside int     `json:"outside,omitempty"` // rows with an input outside the range of those that the model was made from
	Seen    int     `json:"seen,omitempty"`    // rows that equal one the model was made from
	Repeats int     `json:"repeats,omitempty"` // rows that equal an earlier one
}

// Alarm is where the evidence sufficed. It stays, whatever comes after.
type Alarm struct {
	Row int       `json:"row"`
	At  time.Time `json:"at"` // when that came
}

// Watchable says why a model can't be watched; nil if it can.
func Watchable(m *model.Model) error {
	c := m.Certificate
	switch {
	case c == nil:
		return fmt.Errorf("there is nothing to hold outcomes against: the model has no certificate: %s", m.CertificateReason)
	case m.Terms.Backtest:
		return errors.New("there is nothing to hold outcomes against: the model has a backtest, which promises nothing, not a certificate")
	case !c.Valid:
		return fmt.Errorf("there is nothing to hold outcomes against: the model has no certificate but a %s", c.Label)
	case c.Group != "":
		return fmt.Errorf("the certificate is about groups by %s, of which rows that come one by one are parts: hold whole groups against it, with certify --fresh", c.Group)
	case !(c.MeanBound > 0 && c.MeanBound < 1):
		return errors.New("the certificate's bound on predictions is 1: no outcome can speak against it")
	case m.Checksum() == "":
		return errors.New("the model wasn't read from a file, by whose checksum a ledger knows it: save it first")
	}
	return nil
}

func newWatch(m *model.Model, l *Ledger) *Watch {
	c := m.Certificate
	w := &Watch{model: m, ledger: l, turn: make(chan struct{}, 1), evidence: pacbayes.NewEvidence(c.MeanBound), known: map[uint64]bool{},
		counts: State{Bound: c.MeanBound, Delta: c.Delta, AtMost: 1, AlarmAt: -math.Log(c.Delta)}}
	w.turn <- struct{}{}
	return w
}

// Observe predicts the given rows of d, whose targets have become known, and adds the outcomes, to the ledger first: when it returns without an error they are on disk. The order
// of the rows is that of their outcomes. A context that ends while others are at work is an error.
func (w *Watch) Observe(ctx context.Context, d *dataset.Data, rows []int) (State, error) {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return State{}, ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	o, err := w.model.Outcomes(d, rows)
	if err != nil {
		return State{}, err
	}
	e := entry{Format: format, Model: w.model.Checksum(), At: time.Now().UTC().Truncate(time.Millisecond), Losses: o.Losses, Outside: o.Outside, Seen: o.Seen}
	for _, h := range o.Hashes {
		e.Hashes = append(e.Hashes, strconv.FormatUint(h, 16))
	}
	if err := w.ledger.append(e); err != nil {
		return State{}, err
	}
	w.add(e)
	return w.tell(), nil
}

// State is what the outcomes up to now say.
func (w *Watch) State() State { return *w.state.Load() }

// add takes in a line of the ledger.
func (w *Watch) add(e entry) {
	s := &w.counts
	for i, loss := range e.Losses {
		s.Rows++
		s.Misses += loss
		s.LogE = math.Log(w.evidence.Add(loss))
		s.Highest = math.Max(s.Highest, s.LogE)
		if s.Alarm == nil && s.LogE >= s.AlarmAt {
			s.Alarm = &Alarm{s.Rows, e.At}
		}
		if h, err := strconv.ParseUint(e.Hashes[i], 16, 64); err == nil {
			if w.known[h] {
				s.Repeats++
			}
			w.known[h] = true
		}
	}
	s.Outside += e.Outside
	s.Seen += e.Seen
}

// tell makes what was added known.
func (w *Watch) tell() State {
	s := w.counts
	if s.Rows > 0 {
		s.Risk = math.Min(s.Misses/float64(s.Rows), 1)
		s.AtLeast, s.AtMost = pacbayes.Anytime(s.Risk, s.Rows, s.Delta)
	}
	w.state.Store(&s)
	return s
}

// graded are the losses that tell how much a prediction misses by.
var graded = []pacbayes.Kind{pacbayes.ClippedSquare, pacbayes.Gaussian, pacbayes.ClippedAbsolute}

// Sentence says in words what the outcomes of a model say of its certificate. Numbers are rounded to the cautious side.
func (s State) Sentence(m *model.Model) string {
	if s.Rows == 0 {
		return fmt.Sprintf("No outcome yet. The certificate: a risk of at most %.4f.", cautious.RoundUp(s.Bound, 4))
	}
	missed := fmt.Sprintf("%.0f missed (%.2f %%)", s.Misses, 100*s.Risk)
	if slices.Contains(graded, m.Terms.Loss.Kind) {
		missed = fmt.Sprintf("a mean loss of %.4f", s.Risk)
	}
	rows := "outcomes"
	if s.Rows == 1 {
		rows = "outcome"
	}
	said := fmt.Sprintf("%d %s, %s; the certificate: a risk of at most %.4f. If all are from one source its risk is, with %s confidence whenever one looks, between %.4f and %.4f. Evidence against the certificate: ln E = %.2f, alarm at %.2f",
		s.Rows, rows, missed, cautious.RoundUp(s.Bound, 4), cautious.Complement(s.Delta), cautious.RoundDown(s.AtLeast, 4), cautious.RoundUp(s.AtMost, 4), s.LogE, s.AlarmAt)
	if s.Highest > s.LogE+0.005 {
		said += fmt.Sprintf(" (highest %.2f)", s.Highest)
	}
	return said + "." + s.notes()
}

// notes say what of the outcomes may not be what they are taken for.
func (s State) notes() (said string) {
	if s.Outside > 0 {
		said += fmt.Sprintf(" %d rows have an input outside the range of those that the model was made from.", s.Outside)
	}
	if s.Seen > 0 {
		said += fmt.Sprintf(" %d rows equal one that the model was made from.", s.Seen)
	}
	if s.Repeats > 0 {
		said += fmt.Sprintf(" %d rows equal an earlier one: if they are the same outcome told twice, they count once too often.", s.Repeats)
	}
	return said
}

// Sentence says what an alarm means.
func (a *Alarm) Sentence(s State) string {
	return fmt.Sprintf("ALARM at row %d (%s): the risk is above the certificate's bound of %.4f. Were it at most that, an alarm would ever come with probability at most %g. "+
		"Either the rows come from another source than the certified ones, or a condition of the certificate isn't met, or it failed by chance, of which it had at most %g.",
		a.Row, a.At.Format(time.RFC3339), cautious.RoundUp(s.Bound, 4), s.Delta, s.Delta)
}
