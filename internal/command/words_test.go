package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestFreshContradicts: certify --fresh says, in words and as JSON, that fresh rows contradict the model's own
// certificate, or that they equal rows that the model was made from.
func TestFreshContradicts(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--epsilon", "1", "--ard", "off", "--restarts",
		"1", "--quiet")
	lines := strings.Split(strings.TrimSpace(read(t, "fresh.csv")), "\n")
	names := strings.Split(lines[0], ",")
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		for j, name := range names {
			if name == "MEDV" {
				cells[j] = "900"
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	write(t, "elsewhere.csv", strings.Join(lines, "\n")+"\n")
	text := runs(t, "certify", "homes.krigo", "elsewhere.csv", "--fresh")
	// All 24 rows miss, so the lower limit p of the risk solves p²⁴ = δ: p = 0.8254.
	for _, want := range []string{"THIS CONTRADICTS the model's own certificate",
		"is at least 0.8254; the certificate says at most 0.", "another source", "rely on what they show"} {
		must.Hold(t, strings.Contains(flat(text), want), "nothing says %q in %s", want, text)
	}
	var f krigo.Fresh
	must.Do(t, json.Unmarshal([]byte(runs(t, "certify", "homes.krigo", "elsewhere.csv", "--fresh", "--json")), &f))
	must.Hold(t, f.Contradicts != nil && f.Contradicts.Mean != nil &&
		f.Contradicts.Promise == nil &&
		fmt.Sprintf("%.6f", f.Contradicts.Mean.AtLeast) == "0.825404", "%+v", f)
	if text := runs(t, "certify", "homes.krigo", "fresh.csv", "--fresh"); strings.Contains(text, "CONTRADICTS") ||
		strings.Contains(text, "equal") {
		t.Error(text)
	}
	known := strings.SplitAfter(read(t, "homes.csv"), "\n")
	write(t, "known.csv", known[0]+strings.Join(known[5:15], ""))
	if text := runs(t, "certify", "homes.krigo", "known.csv", "--fresh"); !strings.Contains(flat(text),
		"Each of these rows equals a row that the model was made from. If they are the same observations, the bound says "+
			"nothing.") {
		t.Error(text)
	}
}

// TestDirectSpeaksOfNoDraw: if the bound is the mean's own, no text mentions a random draw.
func TestDirectSpeaksOfNoDraw(t *testing.T) {
	workplace(t)
	for _, args := range []string{
		"fit homes.csv --target MEDV --prior informed --epsilon 1 --ard off --restarts 1 --test-fraction 0.2",
		"certify homes.krigo homes.csv",
		"certify homes.krigo homes.csv --json",
		"certify homes.krigo homes.csv --fresh",
		"certify homes.krigo fresh.csv --fresh",
	} {
		if text := runs(t, append(strings.Fields(args), "--quiet")...); strings.Contains(text, "random draw") {
			t.Errorf("%s:\n%s", args, text)
		}
	}
	runs(t, "report", "homes.krigo", "homes.csv")
	must.Hold(t, !strings.Contains(read(t, "homes.html"), "random draw"),
		"the report speaks of a random draw")
}

// TestConditionsOfIntervals: texts about conformal intervals name their condition, and say what credible intervals are.
func TestConditionsOfIntervals(t *testing.T) {
	workplace(t)
	fit := runs(t, "fit", "snelson.csv", "--target", "y", "--calibration-fraction", "0.2", "--test-fraction", "0.2",
		"--restarts", "1", "--quiet", "--verbose")
	m := must.Get(krigo.Load("snelson.krigo"))(t)
	for name, text := range map[string]string{"fit": fit, "predict": runs(t, "predict", "--help"),
		"fit --help": runs(t, "fit", "--help", "all")} {
		words := strings.Join(strings.Fields(text), " ")
		must.Hold(t,
			strings.Contains(words, "further rows from the same source (exchangeable rows)") &&
				(name == "fit --help" || strings.Contains(words, "the model's own belief")),
			"%s: %s", name, text)
	}
	if want := fmt.Sprintf("conformal ±%s, normalised ±%s sd hold 95 %% of",
		cautious.Width(m.Conformal.HalfWidth*m.Scaling.TargetScale),
		cautious.Width(m.Conformal.Normalised)); !strings.Contains(flat(fit), want) {
		t.Errorf("no %q in %s", want, fit)
	}
}

// TestRefit: if a fit replaces another certified model of the same data, the output and the new file say so. Repeating
// the same fit adds no such finding, but keeps an earlier finding.
func TestRefit(t *testing.T) {
	workplace(t)
	found := func(more ...string) finding.List {
		t.Helper()
		var d fitDocument
		must.Do(t, json.Unmarshal([]byte(runs(t, append([]string{"fit", "homes.csv", "--target", "MEDV", "--prior", "informed",
			"--ard", "off", "--restarts", "1", "--test-fraction", "0.2", "--json", "--quiet"}, more...)...)), &d))
		m, err := krigo.Load(d.Model)
		if err != nil || !slices.Equal(m.Findings.Words(), d.Notices) || !reflect.DeepEqual(m.Findings.Tell(), d.Findings) {
			t.Errorf("%q in the file, %q printed, %v", m.Findings, d.Notices, err)
		}
		return m.Findings
	}
	for _, c := range []struct {
		more string
		want bool
	}{
		{"--seed 1", false},
		{"--seed 1", false},
		{"--seed 2", true},
		{"--seed 2", true},
		{"--seed 2 --epsilon 1", true},
		{"--seed 3 --out other.krigo", false},
		{"--seed 4 --scaling all-rows --objective kl-pac --out other.krigo", false}, // this model has no certificate
		{"--seed 5 --out other.krigo", false},                                       // replaces no certified model
	} {
		if found := found(strings.Fields(c.more)...); (found.Of(finding.Replaces) != nil) != c.want {
			t.Errorf("%s: %q", c.more, found)
		}
	}
	// A fit that replaces a model of other data doesn't mention it.
	if text := runs(t, "fit", "snelson.csv", "--target", "y", "--restarts", "1", "--out", "other.krigo",
		"--quiet"); strings.Contains(text, finding.New(finding.Replaces).String()) {
		t.Error(text)
	}
}

// TestComparedWidths: compare doesn't round a half-width down.
func TestComparedWidths(t *testing.T) {
	workplace(t)
	o := call(context.Background(), strings.Fields("compare snelson.csv --target y --objectives vfe --epsilon 0.1234121 "+
		"--inducing 4 --epochs 5 --splits 1 --out c.html")...)
	must.Hold(t, o.status == 0 && strings.Contains(o.stdout, " 0.124 ") &&
		strings.Contains(o.stderr, "ε 0.124,") &&
		strings.Contains(read(t, "c.html"), "<td>0.124</td>"), "%+v\n%s", o, read(t, "c.html"))
}

// TestDryRun: fit --dry-run prints the plan and writes nothing.
func TestDryRun(t *testing.T) {
	workplace(t)
	text := runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--dry-run")
	for _, want := range []string{"Rows      0 for testing, 0 for calibration, 52 prior, 21 certified",
		"Trains    on 52 rows, full GP, solved by cholesky, by lbfgs, starts of each kernel: 1, of matern32*matern12 " +
			"(ARD), matern32 (ARD), matern52 (ARD), rq (ARD), se (ARD)", `"method":{"name":"evidence"`} {
		must.Hold(t, strings.Contains(flat(text), flat(want)), "nothing says %q in %s", want, text)
	}
	if _, err := os.Stat("homes.krigo"); err == nil {
		t.Error("a model was written")
	}
}
