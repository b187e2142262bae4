package krigo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/fit"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Recertification is Certify's result.
type Recertification struct {
	Certificate *pacbayes.Certificate `json:"certificate"`
	// Context has the figures beside the certificate, with the curves of simple predictors.
	// It is nil for another ε.
	Context *model.Context `json:"-"`
	// Matches says that Certify recomputed the model's certificate, and the figures beside it, with
	// the same result.
	Matches bool `json:"matches"`
	// Valid says that the certificate is a guarantee, if the claims of OnWord are true.
	Valid bool `json:"valid"`
	// IndependentlyChecked says that the certificate was recomputed from the data, the model and
	// its options. Then only one thing rests on the fitter's word:
	// that the options were chosen beforehand. No program can check this.
	IndependentlyChecked bool          `json:"independently_checked"`
	Checked              []model.Claim `json:"checked,omitempty"`
	OnWord               []model.Claim `json:"on_the_fitters_word,omitempty"`
	// Differs says what in the model differs. It is "" if all was recomputed, or if another ε was
	// asked for.
	Differs string `json:"-"`
	// Notice has the words of Findings, which say that rows may depend on their order.
	Notice   string         `json:"notice,omitempty"`
	Findings []finding.Told `json:"findings,omitempty"`
	// Refitted says that fitting again gave the same bits (see Refit).
	// If it is false, RefitSeconds is the time that training took, as the file says.
	Refitted     bool    `json:"refitted,omitempty"`
	RefitSeconds float64 `json:"refit_seconds,omitempty"`
	// Declared says that Certify was given the declaration of the fit (see CertifyOptions).
	Declared bool `json:"declared,omitempty"`
	// Shift is the bound for another source, if ShiftTo was called.
	Shift *Shift `json:"shift,omitempty"`

	model *Model
	table *dataset.Table
	known model.Known
}

// list sorts the model's claims into checked claims and claims that are the fitter's word.
func (r *Recertification) list() {
	r.known.Refitted = r.Refitted
	r.known.Declared = r.Declared
	r.Checked, r.OnWord = r.model.Claims(r.known)
	r.IndependentlyChecked = r.Matches && !slices.ContainsFunc(r.OnWord,
		func(c model.Claim) bool { return c.Rests && !c.Beforehand })
}

// Headline says in words whether the certificate was reproduced.
// It is "" if another ε was asked for.
func (r *Recertification) Headline() string {
	switch {
	case r.IndependentlyChecked:
		return fmt.Sprintf("Reproduced: the model, its data and its options give this %s, number "+
			"for number. That the options were chosen before the certified rows were seen is the "+
			"fitter's word.", r.Certificate.Label)
	case r.known.Differs && !r.Matches:
		return fmt.Sprintf("Recomputed, but not reproduced: fitting again with the same options "+
			"gives another model. This %s is about the model in the file.", r.Certificate.Label)
	case r.Matches:
		return fmt.Sprintf("Recomputed, but not reproduced: the numbers of this %s rest on parts "+
			"of the file that only the fitter vouches for.", r.Certificate.Label)
	}
	return ""
}

// Shift bounds the mean's loss on rows of another source.
// The relative entropy KL(other ‖ this) of the other source to this source is at most Rho nats a
// row (see pacbayes.Shifted).
type Shift struct {
	Rho       float64 `json:"rho"`
	MeanBound float64 `json:"mean_bound"`
}

// ShiftTo computes what the certificate says about a source at this distance.
func (r *Recertification) ShiftTo(rho float64) (err error) {
	if c := r.Certificate; !c.Valid {
		return faults.Usage("shift: it is of a certificate, not of a %s", c.Label)
	}
	r.Shift, err = shift(rho, r.Certificate.MeanBound)
	return err
}

// ShiftTo computes what the fresh rows say about a source at this distance.
func (f *Fresh) ShiftTo(rho float64) (err error) {
	f.Shift, err = shift(rho, f.MeanBound)
	return err
}

func shift(rho, bound float64) (*Shift, error) {
	if !(rho >= 0) {
		return nil, faults.Usage("shift %v: want a relative entropy in nats, 0 or more, such "+
			"as 0.01", rho)
	}
	return &Shift{rho, pacbayes.Shifted(bound, rho)}, nil
}

// CertifyOptions say what Certify computes beside the declared certificate.
type CertifyOptions struct {
	// Epsilon, if not 0, replaces the declared half-width, in standard deviations of the target.
	// The number is then a heuristic, because the half-width was chosen after the rows were seen.
	// If the certificate has a curve, the number is a bound, because the curve bounds every
	// half-width.
	Epsilon float64
	// Declaration, if not nil, is the declaration of the fit (see Declare).
	// Certify fails if the model was fitted with another declaration, or if the declaration differs
	// from what Declare writes.
	Declaration []byte
}

// Certify recomputes a model's certificate from the model's parameters and the data of its fit.
// It also recomputes the figures beside it: observation noise, conformal intervals, test figures,
// ranges. It returns a *NoCertificate error for a model without a certificate.
func (m *Model) Certify(ctx context.Context, table *dataset.Table,
	o CertifyOptions) (found *Recertification, err error) {
	defer matrix.Ended(&err)
	if m.Joint != nil {
		return nil, faults.Usage("certify: the label's certificate is of the models of all " +
			"classes: Targets.Certify checks them")
	}
	epsilon := o.Epsilon
	if table, err = m.Kinds.Spread(table.Within(ctx)); err != nil {
		return nil, err
	}
	if o.Declaration != nil {
		if err := fit.CheckFollows(ctx, &m.Model, table, o.Declaration); err != nil {
			return nil, fmt.Errorf("declaration: %w", err)
		}
	}
	d, err := m.Labelled(table)
	if err != nil {
		return nil, err
	}
	if m.Certificate == nil && (m.Undecided() != "" || epsilon == 0 ||
		epsilon == m.Terms.Loss.Below || m.Counts[dataset.Certified] == 0 ||
		m.Posterior.Joint() != nil) {
		return nil, &NoCertificate{m.CertificateReason}
	}
	if epsilon == 0 || epsilon == m.Terms.Loss.Below {
		v, err := m.Verify(d)
		r := &Recertification{model: m, table: table, RefitSeconds: m.Training.Seconds,
			Declared: o.Declaration != nil}
		r.known = model.Known{Refit: "the file keeps no options to fit it again with"}
		if m.Fitted != nil {
			r.known.Refit = fmt.Sprintf("only fitting again shows it (certify with --refit; "+
				"training took %.1f s, by the file)", m.Training.Seconds)
		}
		if err == nil {
			err = conduct.CheckAsked(&m.Model, table.Names)
		}
		if err == nil {
			r.known.Derived, err = conduct.CheckDerived(&m.Model, d)
		}
		if err == nil && v.Differs == "" {
			r.known.Ties, err = conduct.CheckTies(ctx, &m.Model, d)
		}
		if err != nil {
			return nil, err
		}
		r.Certificate, r.Valid, r.Matches, r.Differs, r.Notice = v.Certificate, v.Certificate.Valid,
			v.Differs == "", v.Differs, strings.Join(v.Findings.Words(), "; ")
		r.Context = v.Context
		r.Findings = v.Findings.Tell()
		if r.Matches {
			r.list()
		}
		return r, nil
	}
	if m.Terms.Loss.Kind == pacbayes.ClippedAbsolute {
		return nil, faults.Usage("epsilon: the loss clipped-absolute has no ε: it counts " +
			"errors as shares of the target")
	}
	if m.Terms.Curve { // a value of the curve is a certificate, if the model is genuine
		v, err := m.Verify(d)
		if err == nil {
			err = conduct.CheckAsked(&m.Model, table.Names)
		}
		if err == nil && v.Differs != "" {
			err = fmt.Errorf("the model isn't what its data make it: %s: no certificate", v.Differs)
		}
		if err == nil {
			_, err = conduct.CheckTies(ctx, &m.Model, d)
		}
		if err != nil {
			return nil, err
		}
	}
	other := m.Model
	other.Terms.OtherEpsilon = true
	other.Terms.EpsilonRaw *= epsilon / m.Terms.Loss.Below
	other.Terms.Loss.Above *= epsilon / m.Terms.Loss.Below
	other.Terms.Loss.Below = epsilon
	if err := other.Terms.Loss.Validate(); err != nil {
		return nil, faults.AsUsage(err)
	}
	c, err := other.Certify(d)
	if err != nil {
		return nil, err
	}
	return &Recertification{Certificate: c, Valid: c.Valid, Declared: o.Declaration != nil}, nil
}

// NoCertificate says why a model has no certificate.
type NoCertificate struct{ Reason string }

func (e *NoCertificate) Error() string { return "the model has no certificate: " + e.Reason }

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

// excess returns nil unless the risk on n fresh rows contradicts a bound.
func excess(zeroOne bool, risk float64, n int, delta, certified float64) *Excess {
	if least := pacbayes.HoldOutLimit(zeroOne, risk, n, delta); least > certified {
		return &Excess{certified, risk, least}
	}
	return nil
}

// units returns the number of units that the bounds count: groups if there are groups, else rows.
func (f *Fresh) units() int { return cmp.Or(f.Groups, f.Rows) }

// contradiction compares fresh rows with the model's certificate.
func (f *Fresh) contradiction(m *Model, d *dataset.Data, rows,
	group []int) (*Contradiction, error) {
	c := m.Certificate
	if c == nil || !c.Valid {
		return nil, nil
	}
	x := Contradiction{Mean: excess(m.Terms.Loss.IsZeroOne() && f.Groups == 0, f.MeanRisk,
		f.units(), f.Delta, c.MeanBound)}
	if p := c.Promise; p != nil && p.HalfWidth > 0 {
		band := *m
		band.Terms.Loss = pacbayes.Loss{Kind: bandOf(p), Below: p.HalfWidth}
		s, err := band.Score(d, rows, group)
		if err != nil {
			return nil, err
		}
		x.Promise = excess(f.Groups == 0, s.MeanRisk, f.units(), f.Delta, p.Bound)
	}
	if x == (Contradiction{}) {
		return nil, nil
	}
	return &x, nil
}

// bandOf returns the loss that gives the unit of a promise's band.
func bandOf(p *pacbayes.Promise) pacbayes.Kind {
	switch {
	case p.Relative:
		return pacbayes.Relative
	case p.Scaled:
		return pacbayes.Scaled
	}
	return pacbayes.Band
}

// CertifyFresh bounds the model's risk from rows that the model never saw.
// table holds fresh rows alone, or is the table of the fit, and then its test rows count.
// Rows that equal a row of the model's data are counted, not refused, because a second draw may
// give the same row. With discrete data every row may equal an older row.
func (m *Model) CertifyFresh(ctx context.Context, table *dataset.Table) (found *Fresh, err error) {
	defer matrix.Ended(&err)
	d, err := m.Labelled(table.Within(ctx))
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
	f := &Fresh{Rows: s.Rows, Groups: s.Groups, Limits: s.Limits, Dropped: table.Found.Dropped,
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
