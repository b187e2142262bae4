package krigo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/fresh"
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
	// Log says where the declaration stands in a log, if Certify was given one.
	Log *Standing `json:"declaration_log,omitempty"`
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

// ShiftTo computes what the certificate says about a source at this distance.
func (r *Recertification) ShiftTo(rho float64) (err error) {
	if c := r.Certificate; !c.Valid {
		return faults.Usage("shift: it is of a certificate, not of a %s", c.Label)
	}
	r.Shift, err = fresh.ShiftOf(rho, r.Certificate.MeanBound)
	return err
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
	// Log, if not nil, is the text of a log of declarations (see AppendLog). Certify says what it
	// proves about the model's declaration. It fails if the log's chain is broken, or doesn't have
	// the declaration up to the line whose SHA-256 is Head. Head "" is the last line's.
	Log  []byte
	Head string
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
	var standing *Standing
	if o.Log != nil {
		standing, err = fitting.Find(o.Log, fitting.Logged{Declaration: m.Terms.Declaration,
			Rows: m.All, Target: m.Target}, o.Head)
		if err != nil {
			return nil, fmt.Errorf("log of declarations: %w", err)
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
		return m.recertify(ctx, table, d, o.Declaration != nil, standing)
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
	return &Recertification{Certificate: c, Valid: c.Valid, Declared: o.Declaration != nil,
		Log: standing}, nil
}

// recertify recomputes the declared certificate from a view of the table.
func (m *Model) recertify(ctx context.Context, table *dataset.Table, d *dataset.Data,
	declared bool, standing *Standing) (*Recertification, error) {
	v, err := m.Verify(d)
	r := &Recertification{model: m, table: table, RefitSeconds: m.Training.Seconds,
		Declared: declared, Log: standing}
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
	r.Certificate = v.Certificate
	r.Valid = v.Certificate.Valid
	r.Matches = v.Differs == ""
	r.Differs = v.Differs
	r.Notice = strings.Join(v.Findings.Words(), "; ")
	r.Context = v.Context
	r.Findings = v.Findings.Tell()
	if r.Matches {
		r.list()
	}
	return r, nil
}

// NoCertificate says why a model has no certificate.
type NoCertificate struct{ Reason string }

func (e *NoCertificate) Error() string { return "the model has no certificate: " + e.Reason }
