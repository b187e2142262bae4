package krigo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// Declaration says what a fit is going to do with which rows. Its owner signs it, has it timestamped or publishes it.
// It then proves that the model is the one declared, at a time that somebody else can vouch for. It doesn't prove that
// nothing else was tried: the rows have to be known, with their targets, before it is written.
type Declaration struct {
	Version int   `json:"declaration"`
	Plan    *Plan `json:"plan"`
}

const declarationVersion = 1

// Declare says what a fit with these options would do with a table, as the text of a declaration.
func Declare(ctx context.Context, table *dataset.Table, o Options) ([]byte, error) {
	d, err := planned(ctx, table, o)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", " ")
	return append(text, '\n'), err
}

func planned(ctx context.Context, table *dataset.Table, o Options) (Declaration, error) {
	o.Run.Declared, o.Run.Declaration = "", nil
	plan, err := Decide(ctx, table, o)
	return Declaration{declarationVersion, plan}, err
}

// Declared are the options that a declaration has, whose certificate will carry the declaration's hash; Fit refuses
// them for other rows.
func Declared(declaration []byte) (o Options, err error) {
	d, err := readDeclaration(declaration)
	if err != nil {
		return o, err
	}
	if o, err = decode(d.Plan.Options); err != nil {
		return o, fmt.Errorf("the declaration's options can't be read: %w", err)
	}
	o.Method = o.Method.FromFile()
	o.Run.Declared, o.Run.Declaration = hashOf(declaration), declaration
	return o, nil
}

func readDeclaration(text []byte) (d Declaration, err error) {
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("this isn't a declaration: %w", err)
	}
	if d.Version != declarationVersion || d.Plan == nil {
		return d, errors.New("this isn't a declaration that this krigo knows: krigo declare writes them")
	}
	return d, nil
}

// withNotices is the text of a declaration as older versions wrote it: with the words of its plan's findings.
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

// checkFollows makes sure that a declaration is the one by which a model was fitted, from the data that it was made
// from.
func checkFollows(ctx context.Context, m *model.Model, table *dataset.Table, declaration []byte) error {
	switch hash := hashOf(declaration); {
	case m.Terms.Declaration == "":
		return errors.New("the model was fitted without a declaration")
	case hash != m.Terms.Declaration:
		return fmt.Errorf("the model was fitted by another declaration: the SHA-256 of that is %s, of this one %s",
			m.Terms.Declaration, hash)
	}
	o, err := asked(m)
	if err != nil {
		return err
	}
	return checkDeclared(ctx, table, o, declaration)
}

// checkDeclared makes sure that a declaration says what a fit with these options would do with a table: all that people
// read in it, and once.
func checkDeclared(ctx context.Context, table *dataset.Table, o Options, declaration []byte) error {
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
	said, same := compact(declaration), bytes.Equal(translated(d.Plan.Options), compact(own.Plan.Options))
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
	switch {
	case d.Plan.Rows != own.Plan.Rows:
		return errors.New("the rows aren't those that the declaration is about")
	case !same:
		return errors.New("the options aren't those of the declaration")
	case !bytes.Equal(said, says) && !bytes.Equal(said, older):
		return errors.New("the declaration says otherwise than krigo declare does of these rows and options: it was " +
			"altered, or written by another version")
	}
	return nil
}
