package krigo_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/posterior"
)

// TestDeclared shows that a fit by a declaration is the declared fit, and that certify checks the declaration's hash,
// which is in the certificate. Other rows, another option or another text are refused.
func TestDeclared(t *testing.T) {
	must.Long(t)
	o := krigo.Options{
		Data:    krigo.Data{Target: "MEDV", TestFraction: 0.2},
		Kernel:  krigo.Kernel{Expression: "se,matern32"},
		Method:  krigo.Method{Name: "evidence"},
		Prior:   krigo.Prior{Kind: "informed"},
		Promise: krigo.Promise{Epsilon: 0.5, Curve: true},
		Run:     krigo.Run{Seed: 7, Restarts: 1},
	}
	text := must.Get(krigo.Declare(t.Context(), data.Boston(), o))(t)
	with := must.Get(krigo.Declared(text))(t)
	m := trained(t, data.Boston(), with)
	hash := fmt.Sprintf("%x", sha256.Sum256(text))
	if c := m.Certificate; c.Declaration != hash || !strings.Contains(strings.Join(c.Conditions, "\n"), "SHA-256 "+hash) {
		t.Errorf("%q, want %s", c.Declaration, hash)
	}
	if plain := fit(t, data.Boston(), o); plain.Certificate.MeanBound != m.Certificate.MeanBound ||
		plain.Certificate.Declaration != "" {
		t.Errorf("another fit than the same without a declaration: %v and %v", m.Certificate.MeanBound,
			plain.Certificate.MeanBound)
	} else if _, err := plain.Certify(t.Context(), data.Boston(), krigo.CertifyOptions{Declaration: text}); err == nil {
		t.Error("a fit that wasn't declared passes")
	}
	if _, differs, err := m.Refit(context.Background(), data.Boston(), nil); err != nil || differs != "" {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
	if r, err := m.Certify(t.Context(), data.Boston(), krigo.CertifyOptions{Declaration: text}); err != nil || !r.Declared {
		t.Errorf("%+v, %v", r, err)
	}
	must.Refuse(m.Certify(t.Context(), data.Boston(), krigo.CertifyOptions{
		Declaration: bytes.Replace(text, []byte("0.5"), []byte("0.6"), 1)}))(t, "another declaration", "another declaration")
	must.Fail(t, attempt(homes(), with), "rows aren't those", "other rows")
	other := with
	other.Promise.Epsilon = 0.6
	must.Fail(t, attempt(data.Boston(), other), "options aren't those", "another ε")
	other = with
	other.Run.Declared = strings.Repeat("0", 64)
	must.Fail(t, attempt(data.Boston(), other), "SHA-256", "another hash")
	forged := *m
	forged.Terms.Declaration = strings.Repeat("0", 64)
	if r, err := certify(&forged, data.Boston()); err == nil && r.Matches {
		t.Error("another hash in the terms is certified")
	}
	other = o
	other.Kernel.Expression = "matern12"
	of := *fit(t, data.Boston(), other)
	of.Fitted, of.Terms = m.Fitted, m.Terms
	d := must.Get(of.Labelled(data.Boston()))(t)
	of.Certificate = must.Get(of.Model.Certify(d))(t)
	must.Refuse(certify(&of, data.Boston()))(t, "the kernel or its mean", "another kernel than the declared one")
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
			_, err = krigo.Fit(context.Background(), data.Boston(), with)
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

// TestRefitOlder: a refit of an older version's model, which kept a setting that its method ignored, gives the same
// model. A model whose options have a field twice is refused.
func TestRefitOlder(t *testing.T) {
	must.Long(t)
	o := krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	}
	m, is := fit(t, data.Boston(), o), []byte(`"inducing_init":"kmeans"`)
	must.Need(t, bytes.Contains(m.Fitted, is), "%s", m.Fitted)
	for was, same := range map[string]bool{
		`"inducing_init":"random"`: true, `"inducing_init":"random","fix_inducing":true`: true,
		`"inducing_init":"random","inducing_init":"kmeans"`: false,
	} {
		older := *m
		older.Fitted = bytes.Replace(m.Fitted, is, []byte(was), 1)
		if _, differs, err := older.Refit(t.Context(), data.Boston(), nil); err != nil || same != (differs == "") {
			t.Errorf("%s: %q, %v", was, differs, err)
		}
	}
}

// TestRefitReadsAsFitted shows that a refit reads days as the fit did: numbers in the fit's table and texts in the
// table at hand may be the same days.
func TestRefitReadsAsFitted(t *testing.T) {
	numbers, texts := "when,y\n", "when,y\n"
	for i := range 60 {
		y := float64(i*37%60) / 10
		numbers += fmt.Sprintf("%d,%v\n", i, y)
		texts += fmt.Sprintf("%s,%v\n", time.Unix(int64(i)*86400, 0).UTC().Format(time.DateOnly), y)
	}
	reading := dataset.Reading{Dates: []dataset.Dates{{Column: "when"}}}
	read := func(text string) *dataset.Table {
		table := must.Get(files.CSV{From: strings.NewReader(text), Source: "d.csv", As: reading}.Read())(t)
		return table
	}
	m := fit(t, read(numbers), krigo.Options{
		Data:   krigo.Data{Target: "y"},
		Kernel: krigo.Kernel{Expression: "se"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	})
	if _, differs, err := m.Refit(t.Context(), read(texts), nil); err != nil || differs != "" {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
}

// TestDeliver: the sibling of a certified model uses all rows except test rows. It has the certified model's kernel and
// scaling and no certificate, and it says what the certified model promises. The sibling is the same after writing and
// reading its file.
func TestDeliver(t *testing.T) {
	must.Long(t)
	for name, c := range map[string]struct {
		o      krigo.Options
		solver string
	}{
		"evidence": {krigo.Options{
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed"},
		}, posterior.ByCholesky},
		"nearest": {krigo.Options{
			Method: krigo.Method{Name: "nearest", Epochs: 3},
			Prior:  krigo.Prior{Kind: "informed"},
		}, posterior.ByNearest},
		"vfe": {krigo.Options{
			Method: krigo.Method{Name: "vfe", Inducing: 20},
			Prior:  krigo.Prior{Kind: "informed"},
		}, posterior.ByCholesky},
		"kl-pac": {krigo.Options{
			Method:  krigo.Method{Name: "kl-pac"},
			Prior:   krigo.Prior{Kind: "informed"},
			Promise: krigo.Promise{Calibration: 0.1},
		}, posterior.ByCholesky},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Data.TestFraction, c.o.Run.Restarts, c.o.Run.Deliver = 0.2, 1, "all"
			m := fit(t, data.Boston(), c.o)
			all := must.Get(m.Deliver(context.Background(), data.Boston(), krigo.Options{}))(t)
			if want := (dataset.Counts{dataset.Test: 102, dataset.Prior: 404}); all.Counts != want ||
				m.Counts[dataset.Certified] < 50 {
				t.Errorf("rows by role: %v, of the certified one %v", all.Counts, m.Counts)
			}
			if s := all.Posterior.Support.Rows; name == "vfe" && s != 20 || name != "vfe" && s != 404 {
				t.Errorf("it stands on %d points", s)
			}
			if all.Posterior.Kind() != c.solver || all.Scaling.TargetScale != m.Scaling.TargetScale || all.Conformal != nil ||
				all.Test.Rows != 102 ||
				all.Posterior.Kernel.Spec(all.Posterior.Theta).Name != m.Trained().Kernel.Spec(m.Trained().Theta).Name {
				t.Errorf("%s, %+v", all.Posterior.Kind(), all.Test)
			}
			if !(all.Test.MSE < 1.02*m.Test.MSE) {
				t.Errorf("mean squared error %v with all rows, %v with %d", all.Test.MSE, m.Test.MSE, m.Counts[dataset.Prior])
			}
			if all.Certificate != nil || !strings.Contains(all.CertificateReason, "all 404 rows") ||
				!strings.Contains(all.CertificateReason, "what is certified are the predictions of its sibling") {
				t.Errorf("%+v, %s", all.Certificate, all.CertificateReason)
			}
			var none *krigo.NoCertificate
			if _, err := certify(all, data.Boston()); !errors.As(err, &none) {
				t.Errorf("certified: %v", err)
			}
			if f, err := all.CertifyFresh(t.Context(), data.Boston()); err != nil || f.Rows != 102 {
				t.Errorf("on its test rows: %+v, %v", f, err)
			}
			var file, again bytes.Buffer
			must.Do(t, all.Write(&file))
			read := must.Get(krigo.Read(bytes.NewReader(file.Bytes())))(t)
			if err := read.Write(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
				t.Errorf("the file of what was read is another: %v", err)
			}
		})
	}
}

// TestDeliverUncertified: the sibling of a model without a certificate doesn't mention a certificate.
func TestDeliverUncertified(t *testing.T) {
	for name, edit := range map[string]func(*krigo.Options){
		"a backtest":    func(o *krigo.Options) { o.Data.Split = "last" },
		"scaled by all": func(o *krigo.Options) { o.Data.Scaling = dataset.AllRows },
	} {
		o := cheap(krigo.Options{
			Data:   krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "se"},
			Run:    krigo.Run{Deliver: "all"},
		})
		edit(&o)
		m, err := krigo.Fit(context.Background(), data.Snelson(), o)
		if err != nil {
			t.Fatal(name, err)
		}
		all, err := m.Deliver(context.Background(), data.Snelson(), krigo.Options{})
		if err != nil || strings.Contains(all.CertificateReason, "what is certified") {
			t.Errorf("%s: %v, %v", name, all.CertificateReason, err)
		}
	}
}

// TestDeliverResumes: an interrupted training of the sibling goes on from the checkpoint of the whole fit, and ends
// as if it had never stopped.
func TestDeliverResumes(t *testing.T) {
	m := fit(t, half(), krigo.Options{
		Kernel: krigo.Kernel{Expression: "se"},
		Method: krigo.Method{Name: "evidence"},
		Prior:  krigo.Prior{Kind: "informed"},
		Run:    krigo.Run{Restarts: 1},
	})
	whole := must.Get(m.Deliver(context.Background(), half(), krigo.Options{}))(t)
	ctx, stop := context.WithCancel(context.Background())
	var last krigo.Checkpoint
	steps := 0
	_, err := m.Deliver(ctx, half(), krigo.Options{Run: krigo.Run{Save: func(c *krigo.Checkpoint) error {
		last = *c
		if steps++; steps == 5 {
			stop()
		}
		return nil
	}}})
	must.Need(t, errors.Is(err, context.Canceled), "%v", err)
	resumed := must.Get(m.Deliver(context.Background(), half(), krigo.Options{Run: krigo.Run{Resume: &last}}))(t)
	if !slices.Equal(resumed.Posterior.Weights(), whole.Posterior.Weights()) {
		t.Error("other weights than without the interruption")
	}
}

// TestDeliverRefuses: Deliver refuses other data, and models that are trained on their certified rows.
func TestDeliverRefuses(t *testing.T) {
	m := fit(t, data.Boston(), cheap(krigo.Options{Kernel: krigo.Kernel{Expression: "se"}}))
	if _, err := m.Deliver(context.Background(), homes(), krigo.Options{}); err == nil {
		t.Error("other data")
	}
	_, err := krigo.Fit(context.Background(), homes(), krigo.Options{
		Data:   krigo.Data{Target: "MEDV"},
		Method: krigo.Method{Name: "kl-pac"},
		Run:    krigo.Run{Deliver: "all"},
	})
	var usage *krigo.UsageError
	must.Hold(t, errors.As(err, &usage) && strings.Contains(err.Error(), "deliver all"),
		"a grid prior: %v", err)
}
