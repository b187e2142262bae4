package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"weak"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Ledger is a file of outcomes of one model or several, with a line of JSON for each batch of rows
// that came together.
// Lines are only ever added, and are on disk before krigo acknowledges them.
// A machine that stops may leave an incomplete last line, which was never acknowledged.
// Open removes it. One process at a time writes a ledger.
//
// Several goroutines may use a ledger at once.
type Ledger struct {
	*journal
	mu sync.Mutex
	// by the models' checksums, while a caller holds the Watch
	watches map[string]weak.Pointer[Watch]
}

// Open opens a ledger for writing, or creates it, and removes an incomplete last line.
func Open(path string) (*Ledger, error) { return ledgerOf(opened(path)) }

// Read opens a ledger for reading only, also while another process writes it.
func Read(path string) (*Ledger, error) { return ledgerOf(read(path)) }

// ledgerOf returns the ledger of a journal, or the error with which the journal couldn't be opened.
func ledgerOf(j *journal, err error) (*Ledger, error) {
	if err != nil {
		return nil, err
	}
	return &Ledger{journal: j, watches: map[string]weak.Pointer[Watch]{}}, nil
}

// Watch holds what the outcomes of one model say about its certificate.
// Several goroutines may use it at once.
type Watch struct {
	claim    Claim
	kinds    []*Watch // what the outcomes of each kind of rows say; they have no ledger
	ledger   *Ledger
	turn     chan struct{} // holds one token; who takes it may add outcomes
	evidence *pacbayes.Evidence
	known    map[uint64]bool              // hashes of the rows that have come
	keys     map[string][sha256.Size]byte // digests of the rows that came under each key
	counts   State                        // without the risk and its limits, which tell computes
	state    atomic.Pointer[State]
}

// Watchable returns why a model can't be watched, or nil if it can.
func Watchable(m *model.Model) error {
	c := m.Certificate
	switch {
	case c == nil:
		return fmt.Errorf("the model can't be watched: it has no certificate: %s",
			m.CertificateReason)
	case m.Terms.Backtest:
		return errors.New("the model can't be watched: it has a backtest, which promises " +
			"nothing, not a certificate")
	case !c.Valid:
		return fmt.Errorf("the model can't be watched: it has no certificate but a %s", c.Label)
	case c.Group != "":
		return fmt.Errorf("the model can't be watched: its certificate is about groups by %s, "+
			"and single rows are only parts of groups; check whole groups with krigo certify "+
			"--fresh", c.Group)
	case !(c.MeanBound > 0 && c.MeanBound < 1):
		return errors.New("the certificate's bound on predictions is 1: no outcome can " +
			"contradict it")
	case m.Checksum() == "":
		return errors.New("save the model first: a ledger knows a model by the checksum of " +
			"its file")
	}
	return nil
}

// newWatch returns the watch of a claim before any outcome. δ is shared equally among the alarms of
// the claim and of its kinds. Each of them rings at ln E ≥ ln(1/δ) of its part (Ville's
// inequality).
func newWatch(c Claim, l *Ledger) *Watch {
	delta := c.Delta / float64(c.Alarms())
	w := &Watch{claim: c, ledger: l, turn: make(chan struct{}, 1),
		evidence: pacbayes.NewEvidence(c.Bound), known: map[uint64]bool{},
		keys: map[string][sha256.Size]byte{}, counts: State{Of: c.Of, Bound: c.Bound, Delta: delta,
			BoundDelta: cmp.Or(c.Part, c.Delta),
			AtMost:     1,
			AlarmAt:    -math.Log(delta)}}
	for _, kind := range c.Kinds {
		kind.Delta = delta
		w.kinds = append(w.kinds, newWatch(kind, nil))
	}
	w.turn <- struct{}{}
	return w
}

// Observe predicts the given rows of d, whose targets have become known, and adds the outcomes in
// the order of rows.
// When it returns without an error, the outcomes are on disk.
// It is an error if ctx ends while Observe waits its turn.
func (w *Watch) Observe(ctx context.Context, d *dataset.Data, rows []int) (State, error) {
	s, _, err := w.ObserveOnce(ctx, "", d, rows)
	return s, err
}

// ObserveOnce does what Observe does, for rows that may be given twice, for example by a client
// that got no answer. If the ledger already holds the model's rows under this key, it adds nothing,
// and added is false. If the ledger holds other rows under the key, the error is a *KeyError.
// The empty key means no key. A key that isn't UTF-8 text is an error, since the ledger would store
// another text.
func (w *Watch) ObserveOnce(ctx context.Context, key string, d *dataset.Data,
	rows []int) (s State, added bool, err error) {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return State{}, false, ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	if !utf8.ValidString(key) {
		return State{}, false, fmt.Errorf("the key %q isn't UTF-8 text", key)
	}
	o, err := w.claim.Outcomes(d, rows)
	if err != nil {
		return State{}, false, err
	}
	defer func() { s.Found = o.Found }()
	e := entry{Format: format, Model: w.claim.Name, Of: o.Of,
		At: time.Now().UTC().Truncate(time.Millisecond), Losses: o.Losses, Outside: o.Outside,
		Seen: o.Seen, Key: key, Hashes: lists.Of(o.Hashes, func(h uint64) string {
			return strconv.FormatUint(h, 16)
		})}
	if before, known := w.keys[key]; known && before != digest(e.Hashes) {
		return State{}, false, &KeyError{key}
	} else if known {
		return w.State(), false, nil
	}
	if err := w.ledger.append(e); err != nil {
		return State{}, false, err
	}
	if err := w.add(e); err != nil {
		return State{}, false, err
	}
	return w.tell(), true, nil
}

// digest returns the digest of rows in their order, from their hashes.
func digest(hashes []string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(hashes, " ")))
}

// State returns what the outcomes up to now say.
func (w *Watch) State() State { return *w.state.Load() }

// add takes in a line of the ledger.
func (w *Watch) add(e entry) error {
	if e.Carried != nil {
		return w.resume(e.Carried)
	}
	if len(w.claim.Kinds) > 0 && len(e.Of) != len(e.Losses) {
		return errors.New("it doesn't have the kind of each of its rows: the file was altered")
	}
	// Every kind sees the whole line, and takes in only its own rows.
	for _, kind := range w.kinds {
		if err := kind.add(e); err != nil {
			return err
		}
	}
	s := &w.counts
	for i, loss := range e.Losses {
		if w.claim.Of != "" && w.claim.Of != e.Of[i] {
			continue
		}
		s.Rows++
		s.Misses += loss
		// LogE is the log of an e-process under "the risk is at most the bound". The alarm stays
		// once it has rung, even if the evidence falls later.
		s.LogE = math.Log(w.evidence.Add(loss))
		s.Highest = math.Max(s.Highest, s.LogE)
		if s.Alarm == nil && s.LogE >= s.AlarmAt {
			s.Alarm = &Alarm{s.Rows, e.At}
		}
		if h, err := strconv.ParseUint(e.Hashes[i], 16, 64); err == nil && w.claim.Apart {
			if w.known[h] {
				s.Repeats++
			}
			w.known[h] = true
		}
	}
	// The counts of rows outside the range or seen before, and keys, are kept once, for all kinds.
	if w.claim.Of != "" {
		return nil
	}
	s.Outside += e.Outside
	s.Seen += e.Seen
	if e.Key != "" {
		w.keys[e.Key] = digest(e.Hashes)
	}
	return nil
}

// carried returns the state that the model's first line holds after a rotation. Hashes are sorted,
// so that equal states give equal bytes.
func (w *Watch) carried() *carried {
	c := &carried{State: w.counts, Staked: w.evidence.Staked(), Keys: map[string][]byte{}}
	for _, h := range slices.Sorted(maps.Keys(w.known)) {
		c.Rows = binary.LittleEndian.AppendUint64(c.Rows, h)
	}
	for key, rows := range w.keys {
		c.Keys[key] = rows[:]
	}
	c.Kinds = lists.Of(w.kinds, (*Watch).carried)
	return c
}

// resume continues from the state in which a rotation left the model.
func (w *Watch) resume(c *carried) error {
	s := c.State
	sane := w.counts.Rows == 0 && s.Of == w.counts.Of && len(c.Kinds) == len(w.kinds) &&
		0 <= s.Misses && s.Misses <= float64(s.Rows) && s.LogE <= s.Highest &&
		!math.IsInf(s.LogE, 0) && s.Bound == w.counts.Bound && s.Delta == w.counts.Delta &&
		s.AlarmAt == w.counts.AlarmAt && (s.Alarm != nil) == (s.Highest >= s.AlarmAt) &&
		len(c.Rows)%8 == 0 && len(c.Rows)/8 <= s.Rows
	if !sane || (s.Rows > 0 && !w.evidence.Resume(s.Rows, c.Staked)) {
		return errors.New("the state that it carries over can't be this model's: the file was " +
			"altered")
	}
	for k, kind := range w.kinds {
		if err := kind.resume(c.Kinds[k]); err != nil {
			return err
		}
	}
	s.BoundDelta = w.counts.BoundDelta // ledgers of earlier versions lack it
	w.counts = s
	for row := range slices.Chunk(c.Rows, 8) {
		w.known[binary.LittleEndian.Uint64(row)] = true
	}
	for key, rows := range c.Keys {
		if len(rows) != sha256.Size {
			return errors.New("the state that it carries over has a key without rows: the file " +
				"was altered")
		}
		w.keys[key] = [sha256.Size]byte(rows)
	}
	return nil
}

// tell publishes the state with what was added, and returns it.
func (w *Watch) tell() State {
	s := w.counts
	if s.Rows > 0 {
		s.Risk = math.Min(s.Misses/float64(s.Rows), 1)
		s.AtLeast, s.AtMost = pacbayes.Anytime(s.Risk, s.Rows, s.Delta)
	}
	s.Kinds = lists.Of(w.kinds, (*Watch).tell)
	w.state.Store(&s)
	return s
}

// Others returns what the ledger holds of other models than c is about, in the order of their first
// lines. The ledger doesn't have the bounds of these models, so Others compares their outcomes with
// c's bound. After a rotation the comparison starts again, because carried stakes are against the
// other model's bound.
func (l *Ledger) Others(c Claim) (all []Other, err error) {
	places := map[string]int{}
	against := []*pacbayes.Evidence{}
	err = l.each(func(e entry) error {
		if e.Model == c.Name {
			return nil
		}
		i, known := places[e.Model]
		if !known {
			i = len(all)
			places[e.Model], all, against = i, append(all, Other{Checksum: e.Model}),
				append(against, pacbayes.NewEvidence(c.Bound))
		}
		o := &all[i]
		// A rotation's line has totals in place of the lines before it.
		if carried := e.Carried; carried != nil {
			o.Rows = carried.State.Rows
			o.Alarm = carried.State.Alarm != nil
		}
		for _, loss := range e.Losses {
			o.Alarm = math.Log(against[i].Add(loss)) >= -math.Log(c.Delta) || o.Alarm
		}
		o.Rows += len(e.Losses)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the ledger %s: %w", l.path, err)
	}
	return all, nil
}

// Watch returns the watch of a model, as the outcomes in the ledger leave it.
// Models with equal files share one watch.
func (l *Ledger) Watch(m *model.Model) (*Watch, error) {
	if err := Watchable(m); err != nil {
		return nil, err
	}
	return l.WatchClaim(ClaimOf(m))
}

// WatchClaim returns the watch of a claim, as the outcomes in the ledger leave it.
// Claims of one name share one watch.
func (l *Ledger) WatchClaim(c Claim) (*Watch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.watches[c.Name].Value(); w != nil {
		return w, nil
	}
	w := newWatch(c, l)
	err := l.each(func(e entry) error {
		if e.Model != c.Name {
			return nil
		}
		return w.add(e)
	})
	if err != nil {
		return nil, fmt.Errorf("the ledger %s: %w", l.path, err)
	}
	w.tell()
	l.watches[c.Name] = weak.Make(w)
	return w, nil
}
