package krigo_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestDeclared shows that a fit by a declaration is the declared fit, and that certify checks the declaration's hash,
// which is in the certificate. Other rows, another option or another text are refused.
func TestDeclared(t *testing.T) {
	must.Long(t)
	boston := pick(data.Boston(), every(0, 2, 506))
	o := krigo.Options{
		Data:    krigo.Data{Target: "MEDV", TestFraction: 0.2},
		Kernel:  krigo.Kernel{Expression: "se,matern32"},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Epsilon: 0.5, Curve: true},
		Run:     krigo.Run{Seed: 7, Restarts: 1},
	}
	text := must.Get(krigo.Declare(t.Context(), boston, o))(t)
	with := must.Get(krigo.Declared(text))(t)
	m := trained(t, boston, with)
	hash := fmt.Sprintf("%x", sha256.Sum256(text))
	if c := m.Certificate; c.Declaration != hash || !strings.Contains(strings.Join(c.Conditions, "\n"), "SHA-256 "+hash) {
		t.Errorf("%q, want %s", c.Declaration, hash)
	}
	if plain := fit(t, boston, o); plain.Certificate.MeanBound != m.Certificate.MeanBound ||
		plain.Certificate.Declaration != "" {
		t.Errorf("another fit than the same without a declaration: %v and %v", m.Certificate.MeanBound,
			plain.Certificate.MeanBound)
	} else if _, err := plain.Certify(t.Context(), boston, krigo.CertifyOptions{Declaration: text}); err == nil {
		t.Error("a fit that wasn't declared passes")
	}
	if _, differs, err := m.Refit(context.Background(), boston, nil); err != nil || differs != "" {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
	if r, err := m.Certify(t.Context(), boston, krigo.CertifyOptions{Declaration: text}); err != nil || !r.Declared {
		t.Errorf("%+v, %v", r, err)
	}
	must.Refuse(m.Certify(t.Context(), boston, krigo.CertifyOptions{
		Declaration: bytes.Replace(text, []byte("0.5"), []byte("0.6"), 1)}))(t, "another declaration", "another declaration")
	must.Fail(t, attempt(homes(), with), "rows aren't those", "other rows")
	other := with
	other.Promise.Epsilon = 0.6
	must.Fail(t, attempt(boston, other), "options aren't those", "another ε")
	other = with
	other.Run.Declared = strings.Repeat("0", 64)
	must.Fail(t, attempt(boston, other), "SHA-256", "another hash")
	forged := *m
	forged.Terms.Declaration = strings.Repeat("0", 64)
	if r, err := certify(&forged, boston); err == nil && r.Matches {
		t.Error("another hash in the terms is certified")
	}
	other = o
	other.Kernel.Expression = "matern12"
	of := *fit(t, boston, other)
	of.Fitted, of.Terms = m.Fitted, m.Terms
	d := must.Get(of.Labelled(boston))(t)
	of.Certificate = must.Get(of.Model.Certify(d))(t)
	must.Refuse(certify(&of, boston))(t, "the kernel or its mean", "another kernel than the declared one")
	// Every field of a declaration must be true, even a field that a fit doesn't use, and no field may occur twice.
	for what, text := range map[string][]byte{
		"other numbers of rows": bytes.Replace(text, []byte(`"certified": `), []byte(`"certified": 1`), 1),
		"other kernels":         bytes.Replace(text, []byte(`"se (ARD)"`), []byte(`"rq (ARD)"`), 1),
		"a key of its own": bytes.Replace(text, []byte(`"declaration": 1,`),
			[]byte(`"declaration": 1, "reviewed": true,`), 1),
		"a plan before it": bytes.Replace(text, []byte(`"declaration": 1,`),
			[]byte(`"declaration": 1, "plan": {"starts": 1000},`), 1),
	} {
		with, err := krigo.Declared(text)
		if err == nil {
			_, err = krigo.Fit(context.Background(), boston, with)
		}
		must.Fail(t, err, "says otherwise", what)
	}
	for _, text := range []string{"", "{}", `{"declaration": 2, "plan": {}}`, `{"declaration": 1}`,
		`{"declaration": 1, "plan": {"options": {"promise": {"nonsense": 1}}}}`} {
		if _, err := krigo.Declared([]byte(text)); err == nil {
			t.Errorf("%q is taken for a declaration", text)
		}
	}
}

// TestOlderDeclaration: older versions took settings of methods that ignored them, and wrote findings into a
// declaration. A fit follows such declarations, and refuses one with a false finding.
func TestOlderDeclaration(t *testing.T) {
	must.Long(t)
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV", Transform: "none"},
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	ignored, sparse := o, o
	sparse.Method = krigo.Method{Name: "vfe", InducingBy: "auto", Epochs: 3}
	notice := func(words string) string {
		return `"inducing": ` + words[:strings.Index(words, " ")] + `, "notices": ["` + words + `"]`
	}
	plan, err := krigo.Decide(t.Context(), data.Boston(), sparse)
	must.Need(t, err == nil && len(plan.Findings) == 1, "%+v, %v", plan, err)
	words := plan.Findings.Words()[0]
	for name, c := range map[string]struct {
		o                   krigo.Options
		is, was, wantsError string
	}{
		"a setting that was ignored": {ignored, `"inducing_init": "kmeans"`, `"inducing_init": "random"`, ""},
		"a setting twice": {ignored, `"inducing_init": "kmeans"`,
			`"inducing_init": "random", "inducing_init": "kmeans"`, "options aren't those"},
		"a notice":       {sparse, fmt.Sprintf(`"inducing": %d`, plan.M), notice(words), ""},
		"another notice": {sparse, fmt.Sprintf(`"inducing": %d`, plan.M), notice(words + "!"), "says otherwise"},
		"one too many":   {ignored, `"inducing": 0`, `"inducing": 0, "notices": ["reviewed"]`, "says otherwise"},
		"none of them":   {sparse, "", "", ""},
	} {
		text := must.Get(krigo.Declare(t.Context(), data.Boston(), c.o))(t)
		must.Need(t, bytes.Contains(text, []byte(c.is)), "%s: no %s in %s", name, c.is, text)
		with, err := krigo.Declared(bytes.Replace(text, []byte(c.is), []byte(c.was), 1))
		var m *krigo.Model
		if err == nil {
			m, err = krigo.Fit(t.Context(), data.Boston(), with)
		}
		if err == nil {
			_, err = m.Certify(t.Context(), data.Boston(), krigo.CertifyOptions{Declaration: with.Run.Declaration})
		}
		must.Hold(t, (c.wantsError != "" || err == nil) &&
			(c.wantsError == "" || (err != nil && strings.Contains(err.Error(), c.wantsError))),
			"%s: %v, want %q", name, err, c.wantsError)
	}
}
