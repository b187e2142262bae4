package krigo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/faults"
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

// Err returns nil once the fit is over.
func (w *work) Err() error {
	if w.over.Load() {
		return nil
	}
	return w.Context.Err()
}

// during returns the context of a fit. It ends reading rows, training and certifying.
func during(ctx context.Context, predicting func(done, of int)) (context.Context, func()) {
	if predicting != nil {
		ctx = model.Telling(ctx, predicting)
	}
	w := &work{Context: ctx}
	return w, func() { w.over.Store(true) }
}

func fit(ctx context.Context, table *dataset.Table, o Asked) (m *model.Model, err error) {
	defer matrix.Ended(&err)
	if o, err = o.resolveFor(table); err != nil {
		return nil, err
	}
	begun := time.Now()
	if text := o.Run.Declaration; text != nil {
		if err := checkDeclared(ctx, table, o, text); err != nil {
			return nil, err
		}
	}
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
	var runs []run
	if o.informed() {
		m, runs, err = first.fitInformed(ctx, c, certified)
	} else {
		m, runs, err = first.fit(ctx, c)
	}
	if err == nil {
		err = certified.score(m)
	}
	if err == nil {
		err = ctx.Err() // ctx may have ended while the certificate was made
	}
	if err != nil {
		return nil, err
	}
	m.Curves = c.curves()
	count(&m.Training, runs, begun)
	return m, nil
}

func rolesOf(c dataset.Counts) Roles {
	return Roles{Test: c[dataset.Test], Calibration: c[dataset.Calibration],
		Prior: c[dataset.Prior], Certified: c[dataset.Certified]}
}

func decide(ctx context.Context, table *dataset.Table, o Asked) (told *Plan, err error) {
	defer matrix.Ended(&err)
	if o, err = o.resolveFor(table); err != nil {
		return nil, err
	}
	certified, _, p, err := open(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	d := certified.dealt
	counts, groups := d.roles.Counts()
	told = &Plan{Rows: d.units.Hash, Options: d.text, Roles: rolesOf(counts), Starts: p.restarts,
		Trains: p.n, Method: p.choice.Optimizer, M: p.choice.Inducing, Findings: p.findings,
		Kernels: lists.Of(p.families, func(f family) string { return f.name })}
	if o.Data.Group != "" {
		of := rolesOf(groups)
		told.Groups = &of
	}
	if d.reason != "" {
		told.Findings.Add(finding.NoCertificate, d.reason)
	}
	if !p.sparse() {
		told.Solver = p.choice.Solver
	}
	return told, nil
}

// open assigns a table's rows their roles and decides the first stage of a fit.
// It refuses a checkpoint of another fit.
func open(table *dataset.Table, o Asked) (certified share, c *checkpoints, first *plan,
	err error) {
	d, err := deal(table, o)
	if err == nil {
		d, err = d.seeing(d.data.Context())
	}
	if err != nil {
		return certified, nil, nil, err
	}
	if certified, err = d.take(dataset.Certified); err != nil {
		return certified, nil, nil, err
	}
	if c, err = begin(d); err != nil {
		return certified, nil, nil, err
	}
	// the certified rows choose the prior and train the posterior
	if o := d.options; !o.informed() {
		first, err = d.gridStage(certified).decide(d.findings)
		return certified, c, first, err
	}
	s, err := d.priorStage()
	if err != nil {
		return certified, nil, nil, err
	}
	if first, err = s.decide(d.findings); err == nil {
		err = o.checkPredictor(first.choice.Solver)
	}
	if err == nil && o.learns() { // refuse the second stage before the prior is trained
		_, err = d.posteriorStage(certified, nil, first.choice.Inducing).planned(false, nil)
	}
	return certified, c, first, err
}

const declarationVersion = 1

func declare(ctx context.Context, table *dataset.Table, o Asked) ([]byte, error) {
	d, err := planned(ctx, table, o)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", " ")
	return append(text, '\n'), err
}

func planned(ctx context.Context, table *dataset.Table, o Asked) (Declaration, error) {
	o.Run.Declared = ""
	o.Run.Declaration = nil
	plan, err := decide(ctx, table, o)
	return Declaration{Version: declarationVersion, Plan: plan}, err
}

func readDeclared(declaration []byte) (o Options, err error) {
	d, err := readDeclaration(declaration)
	if err != nil {
		return o, err
	}
	if o, err = decode(d.Plan.Options); err != nil {
		return o, fmt.Errorf("the declaration's options can't be read: %w", err)
	}
	o.Method = o.Method.FromFile()
	o.Run.Declared = hashOf(declaration)
	o.Run.Declaration = declaration
	return o, nil
}

func readDeclaration(text []byte) (d Declaration, err error) {
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
func (d Declaration) withNotices(words []string) ([]byte, error) {
	type plan struct {
		Plan
		Notices []string `json:"notices,omitempty"`
	}
	return json.Marshal(struct {
		Version int  `json:"declaration"`
		Plan    plan `json:"plan"`
	}{d.Version, plan{*d.Plan, words}})
}

func hashOf(declaration []byte) string { return fmt.Sprintf("%x", sha256.Sum256(declaration)) }

// checkFollows checks that a model was fitted by this declaration, from the data of the
// declaration.
func checkFollows(ctx context.Context, m *model.Model, table *dataset.Table,
	declaration []byte) error {
	switch hash := hashOf(declaration); {
	case m.Terms.Declaration == "":
		return errors.New("the model was fitted without a declaration")
	case hash != m.Terms.Declaration:
		return fmt.Errorf("the model was fitted by another declaration: the SHA-256 of that is "+
			"%s, of this one %s", m.Terms.Declaration, hash)
	}
	o, err := asked(m)
	if err != nil {
		return err
	}
	return checkDeclared(ctx, table, o, declaration)
}

// checkDeclared checks that a declaration says what a fit with these options would do with a table.
// It compares everything that people read in the declaration, and refuses a field that stands there
// twice.
func checkDeclared(ctx context.Context, table *dataset.Table, o Asked,
	declaration []byte) error {
	d, err := readDeclaration(declaration)
	if err != nil {
		return err
	}
	if hash := hashOf(declaration); o.Run.Declared != hash {
		return fmt.Errorf("the SHA-256 of the declaration is %s, not %s", hash, o.Run.Declared)
	}
	own, err := planned(ctx, table, o)
	if err != nil {
		return err
	}
	said := compact(declaration)
	same := bytes.Equal(translated(d.Plan.Options), compact(own.Plan.Options))
	if same {
		own.Plan.Options = d.Plan.Options
	}
	says, err := json.Marshal(own)
	if err != nil {
		return err
	}
	older, err := own.withNotices(own.Plan.Findings.Words())
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
