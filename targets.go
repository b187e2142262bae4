package krigo

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/fit"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Targets are the models of a fit of several targets, and what is certified of all targets
// together. If a file has the model of one target, Targets has this model, and nothing is certified
// together.
type Targets struct{ model.Several }

// Model returns the model of target i, with the methods of this package.
func (t *Targets) Model(i int) *Model { return &Model{*t.Models[i]} }

// LoadTargets reads a file of models of several targets, or of one. Its errors name the file.
func LoadTargets(path string) (*Targets, error) { return ofTargets(model.LoadSeveral(path)) }

// ReadTargets reads models of several targets, or of one, from r to its end.
func ReadTargets(r io.Reader) (*Targets, error) { return ofTargets(model.ReadSeveral(r)) }

// ofTargets returns models of package model with the methods of this package.
func ofTargets(s *model.Several, err error) (*Targets, error) {
	if err != nil {
		return nil, err
	}
	return &Targets{*s}, nil
}

// SplitTargets returns the columns that a text names as targets, with commas between.
// A name with a comma stands in quotes, as in a CSV file, unless the whole text is the name of a
// column.
func SplitTargets(text string, columns []string) ([]string, error) {
	if slices.Contains(columns, text) || !strings.Contains(text, ",") {
		return []string{text}, nil
	}
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	names, err := r.Read()
	if err != nil {
		return nil, faults.Usage("target %q: want names of columns with commas between, and "+
			"quotes around a name with a comma", text)
	}
	return names, nil
}

// FitTargets fits a model of each target, with the same inputs.
// Each model trains on the rows that have its target.
// Every row has the same role for all targets.
// A target with the same value in every row gets no model.
// δ is shared equally by the certificates of all targets and one certificate of all targets
// together, so that all of them hold together with probability 1−δ.
func FitTargets(ctx context.Context, table *dataset.Table, targets []string,
	o Options) (made *Targets, err error) {
	defer matrix.Ended(&err)
	if table, err = o.Data.Kinds.Spread(table); err != nil {
		return nil, err
	}
	each, shared, err := o.ForTargets(table, targets)
	if err != nil {
		return nil, err
	}
	made = &Targets{model.Several{Together: shared}}
	for _, o := range each {
		if tell := o.Run.Progress; tell != nil {
			o.Run.Progress = func(e Event) {
				e.Family = o.Data.Target + ": " + e.Family
				tell(e)
			}
		}
		m, err := Fit(ctx, table, o)
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", spelling.Clip(o.Data.Target), err)
		}
		for _, name := range targets {
			if slices.Contains(o.Data.Ignore, name) && !slices.Contains(o.Data.Beside, name) {
				m.Findings.Add(finding.ConstantTarget, name)
			}
		}
		made.Models = append(made.Models, &m.Model)
	}
	if len(each) > 1 {
		made.Together, err = made.CertifyTogether(table.Within(ctx))
	}
	return made, err
}

// varied returns the targets whose values aren't all the same. The parts of δ don't depend on it.
func varied(table *dataset.Table, targets []string) (kept []string) {
	for _, name := range targets {
		j, known := table.Column(name)
		differ := !known
		first := math.NaN()
		err := table.Each([]int{max(j, 0)}, func(_ int, cells []float64) error {
			if first != first {
				first = cells[0]
			}
			differ = differ || (cells[0] == cells[0] && cells[0] != first)
			return nil
		})
		if differ || err != nil || first != first {
			kept = append(kept, name)
		}
	}
	return kept
}

// Certify recomputes the certificates of all models from the table that they were made from, and
// what is certified of all targets together. It returns an error if anything differs, and nil in
// place of a model without a certificate.
func (t *Targets) Certify(ctx context.Context, table *dataset.Table) ([]*Recertification, error) {
	found := make([]*Recertification, len(t.Models))
	for i, m := range t.Models {
		if m.Certificate == nil {
			continue
		}
		one, err := t.Model(i).Certify(ctx, table, CertifyOptions{})
		if err == nil && one.Differs != "" {
			err = fmt.Errorf("the model isn't what its data make it: %s; don't rely on this file",
				one.Differs)
		}
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", spelling.Clip(m.Target), err)
		}
		found[i] = one
	}
	return found, t.CheckTogether(ctx, table)
}

// CheckTogether computes anew what is certified of all targets together, from the table that the
// models were made from. It returns an error if the file says otherwise.
func (t *Targets) CheckTogether(ctx context.Context, table *dataset.Table) (err error) {
	defer matrix.Ended(&err)
	again, err := t.CertifyTogether(table.Within(ctx))
	if err != nil {
		return err
	}
	said := t.Together
	differs := "its reason"
	// differs names the first difference, and is empty if nothing differs.
	switch a, b := again.Certificate, said.Certificate; {
	case (a == nil) != (b == nil):
		differs = "whether there is one"
	case a != nil:
		if differs = b.Difference(a); differs == "" && !slices.Equal(again.Units, said.Units) {
			differs = "its units"
		}
	case again.Reason == said.Reason:
		differs = ""
	}
	if differs == "" {
		differs = again.Sets.Difference(said.Sets)
	}
	if differs != "" {
		return fmt.Errorf("what is certified of all targets together isn't what the models and "+
			"their data make it: %s; don't rely on this file", differs)
	}
	return nil
}

// Sentence says in words what holds for all targets together.
// The sentences of the models' certificates hold with it, at the confidence that the first
// paragraph states.
func (t *Targets) Sentence() string { return say.Targets(&t.Several) }

// Label returns the model of a file of one target, or a model that stands for the label of more
// than two classes (see model.Several.Label).
// It can certify fresh rows and be watched, and PredictLabels predicts.
func (t *Targets) Label() (*Model, error) { return wrap(t.Several.Label()) }

// Classes returns the classes of a target that has more than two, or nil.
func (t *Targets) Classes() []string {
	if k := t.Models[0].Kinds; k != nil && len(t.Models) > 1 {
		return k.Labels
	}
	return nil
}

// errOther is the error for a target that a file of models doesn't have.
var errOther = errors.New("no such target")

// Extract returns the model of a target as a model of its own.
// Its certificate keeps its part of δ, and checking it takes the columns of all targets, by which
// the rows got their roles.
func (t *Targets) Extract(target string) (*Model, error) {
	var names []string
	for i, m := range t.Models {
		if m.Target == target {
			return t.Model(i), nil
		}
		names = append(names, m.Target)
	}
	return nil, fmt.Errorf("%w: %q%s; the file has "+
		"%s", errOther, spelling.Clip(target), spelling.DidYouMean(target, names),
		spelling.Quoted(names, 20))
}

// ForTargets returns the options of the fit of each target, and how the certificates share δ.
func (o Options) ForTargets(table *dataset.Table,
	targets []string) (each []Options, shared model.Together, err error) {
	if err := faults.AsUsage(faults.First(
		faults.If(len(targets) < 2, "several targets: name at least two"),
		faults.If(table.Ranks().Size() > 1, "several targets: their fit runs on one rank"),
		faults.If(o.Run.Declared != "" || o.Run.Deliver == "all",
			"several targets: there is no declaration of their fit, and --deliver all trains "+
				"no sibling of it: fit each target alone"),
		faults.If(o.Run.Resume != nil, "several targets: their fit keeps no checkpoint"),
	)); err != nil {
		return nil, shared, err
	}
	o.Run.Save = nil
	parts := len(targets)
	if kept := varied(table, targets); len(kept) > 0 && o.Data.Kinds == nil {
		o.Data.Ignore = slices.Concat(o.Data.Ignore, lists.If(targets, func(name string) bool {
			return !slices.Contains(kept, name)
		}))
		targets = kept
	}
	if o.Data.Beside = targets; len(targets) == 1 {
		o.Data.Beside = nil
	}
	o.Data.Target = targets[0]
	resolved, err := o.asked().Resolve(table.Rows)
	if err != nil {
		return nil, shared, err
	}
	terms := resolved.Terms(ask.Loss(resolved.Promise, pacbayes.Kind(resolved.Promise.Loss)), 1)
	terms.Backtest = resolved.Data.Split == "last"
	shared = model.Together{Delta: terms.Delta, Parts: parts}
	if model.Apart(terms) == "" {
		shared.Parts++
		if o.Data.Kinds != nil {
			shared.Parts = 1 // the label was asked for, so all of δ goes to it
		}
	}
	for _, name := range targets {
		own := o
		own.Data.Target = name
		own.Promise.Delta = shared.Delta / float64(shared.Parts)
		each = append(each, own)
	}
	return each, shared, nil
}

// Check refuses what Fit would refuse of the table and the options before it makes a plan.
func Check(ctx context.Context, table *dataset.Table, o Options) error {
	each := []Options{o}
	if o.Data.Beside != nil {
		var err error
		if each, _, err = o.ForTargets(table, o.Data.Beside); err != nil {
			return err
		}
	}
	for _, o := range each {
		if err := fit.Check(ctx, table, o.asked()); err != nil {
			return err
		}
	}
	return nil
}
