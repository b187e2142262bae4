// Package fresh bounds a model's risk from rows that it never saw, and says whether such rows
// contradict its certificate.
//
// This program certifies a model by rows that were left out of its fit:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo"
//		"github.com/krigo-gp/krigo/data"
//		"github.com/krigo-gp/krigo/model/fresh"
//	)
//
//	func main() {
//		ctx := context.Background()
//		m, err := krigo.Fit(ctx, data.Snelson(),
//			krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.2}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		f, err := fresh.Certify(ctx, &m.Model, data.Snelson())
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(f.Rows, "rows, contradiction:", f.Contradicts != nil)
//		// Output:
//		// 40 rows, contradiction: false
//	}
//
// The bounds hold for any kind of training, since the rows had no part in it.
package fresh

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Shift bounds the mean's loss on rows of another source.
// The relative entropy KL(other ‖ this) of the other source to this source is at most Rho nats a
// row (see pacbayes.Shifted).
type Shift struct {
	Rho       float64 `json:"rho"`
	MeanBound float64 `json:"mean_bound"`
}

// ShiftTo computes what the fresh rows say about a source at this distance.
func (f *Fresh) ShiftTo(rho float64) (err error) {
	f.Shift, err = ShiftOf(rho, f.MeanBound)
	return err
}

// ShiftOf returns the bound for a source at a relative entropy of rho nats from the source that the
// given bound is about. It refuses a negative rho.
func ShiftOf(rho, bound float64) (*Shift, error) {
	if !(rho >= 0) {
		return nil, faults.Usage("shift %v: want a relative entropy in nats, 0 or more, such "+
			"as 0.01", rho)
	}
	return &Shift{rho, pacbayes.Shifted(bound, rho)}, nil
}

// Fresh is a bound from rows that the model never saw. It holds for any kind of training.
type Fresh struct {
	Rows   int `json:"rows"`
	Groups int `json:"groups,omitempty"` // number of groups, if risks are risks of groups
	// Repeats counts rows that equal another fresh row, or a row of the model's data.
	Repeats int `json:"repeats,omitempty"`
	// Seen counts fresh rows that equal a row of the model's data.
	// The bounds hold only if they are other observations.
	Seen int `json:"seen,omitempty"`
	// groups that occur in the model's data, and so aren't new
	SeenGroups int `json:"seen_groups,omitempty"`
	// Dropped counts further rows that equal a fresh row in every cell, if the model's reading
	// leaves such rows out.
	Dropped int `json:"dropped,omitempty"`
	// Untargeted counts further rows without a target.
	Untargeted int `json:"without_target,omitempty"`
	// rows that only the losses count, because their predictions or errors overflow: without a
	// prediction a row has the loss 1
	Unscored int `json:"unscored,omitempty"`
	// which of these rows is the first, and which inputs the model filled though its own rows have no
	// such gaps
	Notices []string `json:"notices,omitempty"`
	filled  bool
	// rows whose targets are known as limits alone
	Limits int `json:"limits,omitempty"`
	// each of the two bounds fails with probability at most Delta
	Delta float64       `json:"delta"`
	Loss  pacbayes.Kind `json:"loss"`
	// ε and its two forms are as in Certificate
	Epsilon      float64 `json:"epsilon"`
	EpsilonAbove float64 `json:"epsilon_above,omitempty"` //
	EpsilonRaw   float64 `json:"epsilon_raw"`             //
	// mean loss of a random draw on the fresh rows
	GibbsRisk float64 `json:"gibbs_risk"`
	// bound on the Gibbs risk: kl⁻¹(risk, ln(1/δ)/n)
	Bound    float64 `json:"bound"`
	MeanRisk float64 `json:"mean_risk"` // mean loss of the posterior mean
	// exact binomial for 0/1 losses, else kl⁻¹
	MeanBound float64 `json:"mean_bound"`

	// AtAnyTime sets Anytime, and ShiftTo sets Shift.
	Anytime *Anytime `json:"anytime,omitempty"`
	Shift   *Shift   `json:"shift,omitempty"`

	// Contradicts says what in the model's certificate these rows contradict.
	// It is nil if they contradict nothing.
	Contradicts *Contradiction `json:"contradicts,omitempty"`

	// complete returns the risk on groups that are known to be complete.
	// It is nil if rows are counted.
	complete func() (risk float64, groups int, err error)
}

// Anytime bounds the mean's loss from both sides, by the first n fresh rows, for every n at once.
// With probability at least 1 − δ the loss is within the bounds for all n, however many rows come
// and whenever one looks (see pacbayes.Anytime).
// If groups are counted, only complete groups count, since more rows would change the loss of an
// unfinished group.
type Anytime struct {
	Groups  int     `json:"groups,omitempty"` // complete groups
	AtLeast float64 `json:"at_least"`
	AtMost  float64 `json:"at_most"`
}

// AtAnyTime adds the bounds that hold at every number of rows.
// A group is complete once a row of another group follows its rows in the table.
// AtAnyTime refuses a table in which further rows of a complete group follow.
func (f *Fresh) AtAnyTime() (err error) {
	risk := f.MeanRisk
	n := f.Rows
	groups := 0
	if f.complete != nil {
		if risk, groups, err = f.complete(); err != nil {
			return err
		}
		n = groups
	}
	least, most := pacbayes.Anytime(math.Min(risk, 1), n, f.Delta)
	f.Anytime = &Anytime{groups, least, most}
	return nil
}

// completeRows returns the rows of complete groups, in the order of the rows.
func completeRows(d *dataset.Data, rows, group []int) ([]int, error) {
	last := 0 // first row of the last group
	begun := map[int]bool{}
	for k, row := range rows {
		switch g := group[row]; {
		case k > 0 && g == group[rows[k-1]]:
		case begun[g]:
			return nil, fmt.Errorf("%s: %s: its group goes on after another one began, so that "+
				"nothing shows which groups are complete: bring the rows of each group together, "+
				"and add groups at the end, for limits at any time", d.Source, d.Where(row))
		default:
			begun[g] = true
			last = k
		}
	}
	if last == 0 {
		return nil, fmt.Errorf("%s: its one group isn't known to be complete, which it is when "+
			"the rows of another one follow: no limits at any time", d.Source)
	}
	return rows[:last], nil
}

// Contradiction is evidence against a certificate.
// Fresh rows give lower limits of risks, and a limit lies above the certificate's upper bound.
// If all rows had one source, a limit and the certificate would each fail with probability at most
// δ. So a false contradiction has probability at most 2δ.
type Contradiction struct {
	Mean    *Excess `json:"mean,omitempty"`    // the mean's loss
	Promise *Excess `json:"promise,omitempty"` // the share of predictions outside the promised band
}

// Excess says that fresh rows show a larger risk than was certified.
type Excess struct {
	Certified float64 `json:"certified"` // the certificate's upper bound
	Risk      float64 `json:"risk"`      // risk on the fresh rows
	// AtLeast is a lower limit of the risk on further rows like these, with confidence 1−δ.
	// The limit is exact binomial for 0/1 losses, and by kl for graded losses.
	AtLeast float64 `json:"at_least"`
}

// Risk is the mean loss of some units (rows, or groups) that had no part in training.
type Risk struct {
	ZeroOne bool // every loss is 0 or 1
	Mean    float64
	Units   int
	Delta   float64
}

// Beyond returns nil unless the risk contradicts a certified bound.
func (r Risk) Beyond(certified float64) *Excess {
	least := pacbayes.HoldOutLimit(r.ZeroOne, r.Mean, r.Units, r.Delta)
	if least > certified {
		return &Excess{Certified: certified, Risk: r.Mean, AtLeast: least}
	}
	return nil
}

// units returns the number of units that the bounds count: groups if there are groups, else rows.
func (f *Fresh) units() int { return cmp.Or(f.Groups, f.Rows) }

// contradiction compares fresh rows with the model's certificate.
func (f *Fresh) contradiction(m *model.Model, d *dataset.Data, rows,
	group []int) (*Contradiction, error) {
	c := m.Certificate
	if c == nil || !c.Valid {
		return nil, nil
	}
	mean := Risk{ZeroOne: m.Terms.Loss.IsZeroOne() && f.Groups == 0, Mean: f.MeanRisk,
		Units: f.units(), Delta: f.Delta}
	x := Contradiction{Mean: mean.Beyond(c.MeanBound)}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		band := *m
		band.Terms.Loss = pacbayes.Loss{Kind: say.BandOf(p), Below: p.HalfWidth}
		s, err := band.Score(d, rows, group)
		if err != nil {
			return nil, err
		}
		share := Risk{ZeroOne: f.Groups == 0, Mean: s.MeanRisk, Units: f.units(), Delta: f.Delta}
		x.Promise = share.Beyond(p.Bound)
	}
	if x == (Contradiction{}) {
		return nil, nil
	}
	return &x, nil
}

// Certify bounds the model's risk from rows that the model never saw.
// table holds fresh rows alone, or is the table of the fit, and then its test rows count.
// Rows that equal a row of the model's data are counted, not refused, because a second draw may
// give the same row. With discrete data every row may equal an older row.
func Certify(ctx context.Context, m *model.Model, table *dataset.Table) (found *Fresh, err error) {
	defer matrix.Ended(&err)
	d, gaps, err := m.Later(table.Within(ctx))
	if err != nil {
		return nil, err
	}
	if d.Rows == 0 {
		return nil, fmt.Errorf("%s: no rows: give some that the model never saw", table.Source)
	}
	rows := d.All()
	made, err := m.MadeFrom(d)
	if err != nil {
		return nil, err
	}
	if made {
		roles, err := m.RolesOf(d)
		if err != nil {
			return nil, err
		}
		if rows = d.RowsOf(roles, dataset.Test); m.Counts[dataset.Test] == 0 {
			return nil, fmt.Errorf("%s is the data the model was made from, and no test rows "+
				"were set aside: give rows it never saw", table.Source)
		}
	}
	group, err := d.Groups()
	if err != nil {
		return nil, err
	}
	s, err := m.Score(d, rows, group)
	if err != nil {
		return nil, err
	}
	copies, err := m.Copies(d, rows)
	if err != nil {
		return nil, err
	}
	l := m.Terms.Loss
	f := &Fresh{Rows: s.Rows, Groups: s.Groups, Limits: s.Limits, Unscored: s.Unscored,
		filled:  gaps != nil,
		Notices: append(gaps, s.Found...).Words(), Dropped: table.Found.Dropped,
		Untargeted: d.Table().Found.Untargeted, Repeats: copies.Repeats, Seen: copies.Seen,
		SeenGroups: copies.Groups, Delta: m.Terms.Delta, Loss: l.Kind, Epsilon: l.Below,
		EpsilonRaw: m.Terms.EpsilonRaw, GibbsRisk: s.GibbsRisk, MeanRisk: s.MeanRisk}
	if l.Kind == pacbayes.Asymmetric {
		f.EpsilonAbove = l.Above
	}
	n := f.units()
	// the Gibbs risk needs no quadrature
	known := !l.Kind.ByQuadrature() && (m.Scaling.Transform == nil || l.IsZeroOne())
	if f.Bound = 1; known {
		f.Bound = pacbayes.TestBound(s.GibbsRisk, n, f.Delta)
	}
	f.MeanBound = pacbayes.HoldOutBound(m.Terms.Loss.IsZeroOne() && f.Groups == 0,
		s.MeanRisk, n, f.Delta)
	if group != nil {
		f.complete = func() (risk float64, groups int, err error) {
			if !made { // then the table has all rows of the fit
				if rows, err = completeRows(d, rows, group); err != nil {
					return 0, 0, err
				}
			}
			s, err := m.Score(d, rows, group)
			if err != nil {
				return 0, 0, err
			}
			return s.MeanRisk, s.Groups, nil
		}
	}
	f.Contradicts, err = f.contradiction(m, d, rows, group)
	return f, err
}

// Sentence returns in words what fresh rows show about the predictions of m, the conditions of
// that, and what in m's own certificate the fresh rows contradict.
func (f *Fresh) Sentence(m *model.Model) string {
	// the rows' source, without the ties among m's own rows
	about := (&model.Model{Origin: model.Origin{Group: m.Group}}).Population().Says
	said := say.Confidence(f.Delta, "fresh", m.Group) +
		say.Bound(m, &pacbayes.Certificate{Bound: f.Bound, MeanBound: f.MeanBound, Route: m.Terms.Route,
			Group: m.Group,
			Loss:  f.Loss, Epsilon: f.Epsilon, EpsilonAbove: f.EpsilonAbove,
			EpsilonRaw: f.EpsilonRaw}, about)
	switch {
	case f.Seen == f.Rows:
		said += "\nEach of these rows equals a row that the model was made from. If they are the " +
			"same observations, the bound says nothing."
	case 2*f.Seen > f.Rows:
		said += fmt.Sprintf("\n%d of these %d rows equal a row that the model was made from. If "+
			"they are the same observations, the bound says nothing.", f.Seen, f.Rows)
	case f.Seen > 0:
		said += fmt.Sprintf("\n%d of these %d rows equal a row that the model was made from, and "+
			"%d more equal another of these rows. The bound holds only if they are independent "+
			"draws, not the same observations.", f.Seen, f.Rows, f.Repeats-f.Seen)
	case f.Repeats > 0:
		said += fmt.Sprintf("\n%d of these %d rows equal another row. The bound holds only if "+
			"they are independent draws, not copies.", f.Repeats, f.Rows)
	}
	said += strings.Join(append([]string{""}, f.Notices...), "\n") +
		spelling.If(f.filled, "\nHow the model fills cells was fixed before it saw these rows, so the "+
			"bound counts rows with filled cells, too.") + say.Limits(f.Limits, f.Rows) +
		spelling.If(f.Dropped > 0,
			"\n%d more rows were left out, because they equal one of these rows in every cell. "+
				"The fit left such rows out, too.", f.Dropped) +
		spelling.If(f.Untargeted > 0,
			"\n%d more rows were left out, because they have no %s.", f.Untargeted,
			cautious.Name(m.Target)) +
		spelling.If(m.Terms.Copies, say.CopiesOnly) +
		spelling.If(f.SeenGroups > 0,
			"\nThe model was made from %d of these %d groups (by %s). Rows of known groups say "+
				"nothing about further groups.", f.SeenGroups, f.Groups, cautious.Name(m.Group))
	if a := f.Anytime; a != nil {
		what := "rows"
		n := f.Rows
		complete := ""
		if a.Groups > 0 {
			what = "complete groups"
			n = a.Groups
			complete = " krigo takes a group for complete once rows of another group follow. A " +
				"complete group may get no more rows."
		}
		said += fmt.Sprintf("\nAt any time: by these %d %s, the expected loss of predictions on "+
			"further %s lies between %.4f and %.4f. With %s confidence such limits hold after "+
			"every number of fresh %s at once, so you may add %[2]s and "+
			"look again.%[8]s", n, what, about, cautious.RoundDown(a.AtLeast, 4),
			cautious.RoundUp(a.AtMost, 4), cautious.Complement(f.Delta), what, complete)
	}
	if f.Shift != nil {
		said += "\n" + f.Shift.Sentence()
	}
	x := f.Contradicts
	if x == nil {
		return said
	}
	sure := cautious.Complement(f.Delta)
	said += "\nTHIS CONTRADICTS the model's own certificate."
	if x.Mean != nil {
		said += fmt.Sprintf("\nWith %s confidence, the expected loss of predictions on further "+
			"rows like these is at least %.4f; the certificate says at most %.4f.",
			sure, cautious.RoundDown(x.Mean.AtLeast, 4), cautious.RoundUp(x.Mean.Certified, 4))
	}
	if x.Promise != nil {
		said += fmt.Sprintf("\nWith %s confidence, at least %.2f %% of predictions on further "+
			"rows like these lie farther off than %s; the promise says at most %.2f %%.",
			sure, 100*cautious.RoundDown(x.Promise.AtLeast, 4), say.Promised(m, m.Certificate.Promise),
			100*math.Min(cautious.RoundUp(x.Promise.Certified, 4), 1-m.Certificate.Promise.Share))
	}
	return said + fmt.Sprintf("\nEither these rows come from another source than the certified "+
		"rows, or a condition of the certificate isn't met, or one of these statements failed by "+
		"chance (probability at most %g each).\nFor rows like these, rely on what they show, not "+
		"on the certificate.", f.Delta)
}

// Sentence returns in words what a bound becomes on another source, and the condition of that.
// It continues the sentence of a certificate or of fresh rows, and has the same confidence.
func (s *Shift) Sentence() string {
	return fmt.Sprintf("With the same confidence, the expected loss of predictions on rows of "+
		"another source is at most %.4f, if KL(other source ‖ this source) is at most %g nats a "+
		"row. The rows here can't show whether it is.", cautious.RoundUp(s.MeanBound, 4), s.Rho)
}
