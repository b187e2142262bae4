// Package fit is the road of a fit:
//
//	ask      what a fit is asked for
//	deal     a table whose rows have their roles, and the rows of one role to train on
//	plan     how to train on them
//	search   the best run
//	conduct  its posterior, on the grid and certified: the model
//
// With a prior on the grid, certified rows train. With an informed prior, prior rows train.
// If a posterior is learnt afterwards, a second plan trains on the certified rows.
// Package krigo has the doors of this package.
package fit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/conduct"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/fit/search"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
)

// This file has Fit, Decide (says what a fit would do) and Declare (says what a fit must do).
// All three call open first.

// work is the context of a fit. Once the fit is over, it reports no error, even if the fit's
// context ends. The model keeps matrices of the fit, which carry this context and must stay usable.
type work struct {
	context.Context
	over atomic.Bool
}

// Err returns the context's error while the fit runs, and nil once it is over. The finished model
// keeps matrices that carry this context, and the end of the context after the fit must not stop
// its predictions.
func (w *work) Err() error {
	if w.over.Load() {
		return nil
	}
	return w.Context.Err()
}

// during returns the context of a fit, and the function to call when the fit is over. If the
// context ends before that call, reading rows, training and certifying end too.
func during(ctx context.Context, predicting func(done, of int)) (context.Context, func()) {
	if predicting != nil {
		ctx = model.Telling(ctx, predicting)
	}
	w := &work{Context: ctx}
	return w, func() { w.over.Store(true) }
}

// Fit fits a model to the table as the options say, and certifies it. A declaration among the
// options is checked against the table before anything is trained.
func Fit(ctx context.Context, table *dataset.Table, o ask.Asked) (m *model.Model, err error) {
	defer matrix.Ended(&err)
	if o, err = o.ResolveFor(table); err != nil {
		return nil, err
	}
	begun := time.Now()
	if text := o.Run.Declaration; text != nil {
		if err := checkDeclared(ctx, table, o, text); err != nil {
			return nil, err
		}
	}
	// Only the first rank tells people about progress, and saves checkpoints.
	if table.Ranks().Rank() > 0 {
		o.Run.Progress = nil
		o.Run.Predicting = nil
		o.Run.Save = nil
	}
	ctx, over := during(ctx, o.Run.Predicting)
	defer over()
	certified, c, first, err := open(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	var runs []search.Run
	if o.Informed() {
		m, runs, err = conduct.FitInformed(ctx, first, c, certified)
	} else {
		m, runs, err = conduct.Fit(ctx, first, c)
	}
	if err == nil {
		err = conduct.Score(certified.Dealt, m)
	}
	if err == nil {
		err = ctx.Err() // ctx may have ended while the certificate was made
	}
	if err != nil {
		return nil, err
	}
	m.Curves = c.Curves()
	search.Count(&m.Training, runs, begun)
	return m, nil
}

// rolesOf returns the numbers of rows, or groups, by role, as a plan lists them.
func rolesOf(c dataset.Counts) fitting.Roles {
	return fitting.Roles{Test: c[dataset.Test], Calibration: c[dataset.Calibration],
		Prior: c[dataset.Prior], Certified: c[dataset.Certified]}
}

// Decide returns the plan that Fit would follow for this table and these options: roles, kernels,
// solver, and the number of starts. It stops before the search for parameters.
func Decide(ctx context.Context, table *dataset.Table,
	o ask.Asked) (told *fitting.Plan, err error) {
	defer matrix.Ended(&err)
	if o, err = o.ResolveFor(table); err != nil {
		return nil, err
	}
	certified, _, p, err := open(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	d := certified.Dealt
	counts, groups := d.Roles.Counts()
	told = &fitting.Plan{Rows: d.Units.Hash, Options: d.Text, Roles: rolesOf(counts),
		Starts: p.Restarts, Trains: p.N, Method: p.Choice.Optimizer, M: p.Choice.Inducing,
		Findings: p.Findings, Kernels: lists.Of(p.Families, func(f plan.Family) string {
			return f.Name
		})}
	if o.Data.Group != "" {
		told.Groups = new(rolesOf(groups))
	}
	if d.Reason != "" {
		told.Findings.Add(finding.NoCertificate, d.Reason)
	}
	if !p.Sparse() {
		told.Solver = p.Choice.Solver
	}
	return told, nil
}

// Check deals a table's rows their roles, and scales those that train and those that certify.
func Check(ctx context.Context, table *dataset.Table, o ask.Asked) error {
	o, err := o.ResolveFor(table)
	if err != nil {
		return err
	}
	d, err := deal.Silently(table.Within(ctx), o)
	for _, role := range []dataset.Role{dataset.Prior, dataset.Certified} {
		if err == nil {
			_, err = d.Take(role)
		}
	}
	return err
}

// open assigns a table's rows their roles and decides the first stage of a fit.
// It refuses a checkpoint of another fit.
func open(table *dataset.Table,
	o ask.Asked) (certified deal.Share, c *deal.Checkpoints, first *plan.Plan, err error) {
	d, err := deal.Deal(table, o)
	if err == nil {
		d, err = search.Seeing(d.Data.Context(), d)
	}
	if err != nil {
		return certified, nil, nil, err
	}
	if certified, err = d.Take(dataset.Certified); err != nil {
		return certified, nil, nil, err
	}
	if c, err = deal.Begin(d); err != nil {
		return certified, nil, nil, err
	}
	// the certified rows choose the prior and train the posterior
	if o := d.Options; !o.Informed() {
		first, err = plan.GridStage(d, certified).Decide(d.Findings)
		return certified, c, first, err
	}
	s, err := plan.PriorStage(d)
	if err != nil {
		return certified, nil, nil, err
	}
	if first, err = s.Decide(d.Findings); err == nil {
		err = o.CheckPredictor(first.Choice.Solver)
	}
	if err == nil && o.Learns() { // refuse the second stage before the prior is trained
		_, err = plan.PosteriorStage(d, certified, nil, first.Choice.Inducing).Planned(false, nil)
	}
	return certified, c, first, err
}

const declarationVersion = 1

// Declare returns the declaration of a fit as indented JSON: the plan of Decide, with the hash of
// the rows and all options.
func Declare(ctx context.Context, table *dataset.Table, o ask.Asked) ([]byte, error) {
	d, err := planned(ctx, table, o)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", " ")
	return append(text, '\n'), err
}

// planned returns the declaration of a fit. Its options leave out any declaration, since a
// declaration can't contain its own hash.
func planned(ctx context.Context, table *dataset.Table, o ask.Asked) (fitting.Declaration, error) {
	o.Run.Declared = ""
	o.Run.Declaration = nil
	plan, err := Decide(ctx, table, o)
	return fitting.Declaration{Version: declarationVersion, Plan: plan}, err
}

// ReadDeclared returns the options of a declaration. The options carry the declaration and its
// SHA-256, so that Fit can check what it does against them.
func ReadDeclared(declaration []byte) (o ask.Options, err error) {
	d, err := readDeclaration(declaration)
	if err != nil {
		return o, err
	}
	if o, err = ask.Decode(d.Plan.Options); err != nil {
		return o, fmt.Errorf("the declaration's options can't be read: %w", err)
	}
	o.Method = o.Method.FromFile()
	o.Run.Declared = fitting.SHA256(declaration)
	o.Run.Declaration = declaration
	return o, nil
}

// readDeclaration parses a declaration, and refuses other versions and texts that aren't
// declarations.
func readDeclaration(text []byte) (d fitting.Declaration, err error) {
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("this isn't a declaration: %w", err)
	}
	if d.Version != declarationVersion || d.Plan == nil {
		return d, errors.New("this isn't a declaration that this krigo knows: krigo declare " +
			"writes them")
	}
	return d, nil
}

// withNotices returns the text of a declaration as older versions wrote it, with the words of its
// plan's findings.
func withNotices(d fitting.Declaration, words []string) ([]byte, error) {
	type plan struct {
		fitting.Plan
		Notices []string `json:"notices,omitempty"`
	}
	return json.Marshal(struct {
		Version int  `json:"declaration"`
		Plan    plan `json:"plan"`
	}{d.Version, plan{*d.Plan, words}})
}

// CheckFollows checks that a model was fitted by this declaration, from the data of the
// declaration.
func CheckFollows(ctx context.Context, m *model.Model, table *dataset.Table,
	declaration []byte) error {
	switch hash := fitting.SHA256(declaration); {
	case m.Terms.Declaration == "":
		return errors.New("the model was fitted without a declaration")
	case hash != m.Terms.Declaration:
		return fmt.Errorf("the model was fitted by another declaration: the SHA-256 of that is "+
			"%s, of this one %s", m.Terms.Declaration, hash)
	}
	o, err := ask.Fitted(m)
	if err != nil {
		return err
	}
	return checkDeclared(ctx, table, o, declaration)
}

// checkDeclared returns an error unless the declaration says what a fit with options o would do
// with the table. It compares the whole text, so that a field that was altered, or that stands
// there twice, is found.
func checkDeclared(ctx context.Context, table *dataset.Table, o ask.Asked,
	declaration []byte) error {
	d, err := readDeclaration(declaration)
	if err != nil {
		return err
	}
	if hash := fitting.SHA256(declaration); o.Run.Declared != hash {
		return fmt.Errorf("the SHA-256 of the declaration is %s, not %s", hash, o.Run.Declared)
	}
	own, err := planned(ctx, table, o)
	if err != nil {
		return err
	}
	// Options are compared in the present version's words, since a declaration may be older.
	said := ask.Compact(declaration)
	same := bytes.Equal(ask.Translated(d.Plan.Options), ask.Compact(own.Plan.Options))
	if same {
		own.Plan.Options = d.Plan.Options
	}
	says, err := json.Marshal(own)
	if err != nil {
		return err
	}
	// Older versions wrote findings as sentences, so that text counts as the same, too.
	older, err := withNotices(own, own.Plan.Findings.Words())
	if err != nil {
		return err
	}
	return faults.First(
		faults.If(d.Plan.Rows != own.Plan.Rows,
			"the rows aren't those that the declaration is about"),
		faults.If(!same, "the options aren't those of the declaration"),
		faults.If(!bytes.Equal(said, says) && !bytes.Equal(said, older),
			"the declaration says otherwise than krigo declare does of these rows and "+
				"options: it was altered, or written by another version"),
	)
}
