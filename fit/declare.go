package fit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// Declaration is what is going to be done with which rows, written before anything is trained: for its owner to sign, have
// timestamped or publish, which shows what a model file can't: that nothing else was tried, or that it was declared too.
type Declaration struct {
	Version int   `json:"declaration"`
	Plan    *Plan `json:"plan"`
}

const declarationVersion = 1

// Declare says what a fit with these options would do with a table, as the text of a declaration.
func Declare(table *dataset.Table, o Options) ([]byte, error) {
	o.Run.Declared, o.Run.Declaration = "", nil
	plan, err := Decide(table, o)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(Declaration{declarationVersion, plan}, "", " ")
	return append(text, '\n'), err
}

// Declared are the options that a declaration has, whose certificate will carry the declaration's hash; Fit refuses them for other rows.
func Declared(declaration []byte) (o Options, err error) {
	d, err := readDeclaration(declaration)
	if err != nil {
		return o, err
	}
	decoder := json.NewDecoder(bytes.NewReader(d.Plan.Options))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return o, fmt.Errorf("the declaration's options can't be read: %w", err)
	}
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

func hashOf(declaration []byte) string { return fmt.Sprintf("%x", sha256.Sum256(declaration)) }

// checkDeclared makes sure that a fit is the declared one, where one was declared.
func (d *dealt) checkDeclared() error {
	if d.options.Run.Declaration == nil {
		return nil
	}
	return sameAsDeclared(d.options.Run.Declaration, d.options, d.units.Hash)
}

// CheckDeclaration makes sure that a declaration is the one by which a model was fitted.
func CheckDeclaration(m *model.Model, declaration []byte) error {
	switch hash := hashOf(declaration); {
	case m.Terms.Declaration == "":
		return errors.New("the model was fitted without a declaration")
	case hash != m.Terms.Declaration:
		return fmt.Errorf("the model was fitted by another declaration: the SHA-256 of that is %s, of this one %s", m.Terms.Declaration, hash)
	}
	o, err := asked(m)
	if err != nil {
		return err
	}
	return sameAsDeclared(declaration, o, m.All)
}

// sameAsDeclared reports rows, of which the digest is given, or options that aren't the declared ones.
func sameAsDeclared(declaration []byte, o Options, rows string) error {
	d, err := readDeclaration(declaration)
	if err != nil {
		return err
	}
	hash := hashOf(declaration)
	if o.Run.Declared != hash {
		return fmt.Errorf("the SHA-256 of the declaration is %s, not %s", hash, o.Run.Declared)
	}
	if d.Plan.Rows != rows {
		return errors.New("the rows aren't those that the declaration is about")
	}
	o.Run.Declared = ""
	text, err := o.text()
	if err != nil {
		return err
	}
	var declared bytes.Buffer
	if err := json.Compact(&declared, d.Plan.Options); err != nil {
		return err
	}
	if !bytes.Equal(declared.Bytes(), text) {
		return errors.New("the options aren't those of the declaration")
	}
	return nil
}
