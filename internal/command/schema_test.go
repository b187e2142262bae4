package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
)

// pythonName returns the name of a flag's parameter in the Python package.
func pythonName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// pythonHelp returns the help of a flag. It replaces other flags in the text by their parameters.
func pythonHelp(o option) string {
	text := o.Help
	if def := cmp.Or(o.Default, o.Rule); def != "" {
		text += " (default " + def + ")"
	}
	return regexp.MustCompile(`--([a-z-]+)`).ReplaceAllStringFunc(text, func(flag string) string {
		return pythonName(strings.TrimPrefix(flag, "--"))
	})
}

// wrapped breaks a text into lines of at most 110 characters below an indent.
func wrapped(text, indent string) (lines string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if len([]rune(line+word)) > 110 {
			lines, line = lines+indent+strings.TrimSpace(line)+"\n", ""
		}
		line += word + " "
	}
	return lines + indent + strings.TrimSpace(line) + "\n"
}

// python returns the module of the Python package that has the estimator's parameters.
func python(options []option) string {
	var arguments, sets string
	sections := map[string]string{}
	for _, o := range options {
		name, kind, def := pythonName(o.Name), "Value", "None"
		switch {
		case o.Type == "bool":
			kind, def = "bool", "False"
		case name == "categorical":
			def = `"auto"` // "auto" chooses by the columns' types, which files don't have
		}
		arguments += fmt.Sprintf("        %s: %s = %s,\n", name, kind, def)
		sets += fmt.Sprintf("        self.%s = %[1]s\n", name)
		sections[o.Tier] += "        " + name + " :\n" + wrapped(pythonHelp(o), "            ")
	}
	return fmt.Sprintf(`"""The estimator's parameters. UPDATE_SNAPSHOTS=1 go test ./internal/command -run TestSchema writes this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._base import Estimator
from ._errors import told
from ._options import Value


class Parameters(Estimator):
    """Every parameter is the flag of the same name of krigo fit."""

    @told
    def __init__(
        self,
        *,
%s        verbose: bool = False,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        r"""Each parameter is the flag of the same name of krigo fit, and None is its default.

        Parameters
        ----------
%s        verbose :
            show a line about how training goes
        progress :
            a function that is told {"stage", "family", "start", "starts", "iteration", "of", "stopped", "rows",
            "of_rows"}; once the model is trained, how many of the rows are predicted

        Other Parameters
        ----------------
%s        """
%s        self.verbose = verbose
        self.progress = progress
`, arguments, sections["everyday"], sections["expert"], sets)
}

// TestSchema: the Python estimator has a parameter for each flag of the program.
func TestSchema(t *testing.T) {
	of := schema(newRoot())
	must.Need(t, len(of) == 5 && len(of["fit"]) >= 50 && len(of["predict"]) >= 5,
		"%d commands", len(of))
	path := filepath.Join("..", "..", "python", "krigo", "_parameters.py")
	old, _ := os.ReadFile(path) // "" if it isn't written yet
	if want := python(of["fit"]); want != string(old) {
		if os.Getenv("UPDATE_SNAPSHOTS") == "" {
			t.Error("python/krigo/_parameters.py isn't what the table of flags makes it: UPDATE_SNAPSHOTS=1 go test " +
				"./internal/command -run TestSchema")
		} else {
			must.Do(t, os.WriteFile(path, []byte(want), 0o644))
		}
	}
}

// TestParametersComeBack: a model stores the flags of its fit, and parsing them gives the options of the fit.
func TestParametersComeBack(t *testing.T) {
	for _, flags := range [][]string{
		{},
		{"--objective=kl-pac", "--inducing=20", "--kernel=se,matern32", "--ard=off", "--grid=6,mixed", "--seed=3",
			"--alpha=0.5", "--epochs=15", "--posterior=free", "--bound=maurer",
			"--mean-bound=twice", "--restarts=2", "--learning-rate=0.5"},
		{"--epsilon=3", "--epsilon-units=raw", "--promise=0.9", "--delta=0.05", "--prior-share=0.6", "--ignore=a,\"b,c\"",
			"--curve", "--slices=sd,x", "--duplicates=drop", "--dates=when:dmy:day:year", "--na=k.A.,-", "--deliver=all"},
		{"--loss=asymmetric", "--epsilon=0.4:0.8", "--categorical=zone", "--calibration-fraction=0.1", "--prior=informed",
			"--temper=1,0.3", "--posterior=learnt", "--missing=mean", "--decimal=,", "--thousands=.", "--units=kg"},
		{"--objective=renyi", "--alpha=cv", "--alphas=0,0.5", "--anneal=none", "--batches=uniform", "--inducing=auto",
			"--duplicates=group", "--grid=5,3", "--scaling=all-rows", "--fix-inducing"},
		{"--objective=nearest", "--neighbours=30", "--term=crps", "--form=vecchia", "--hyperprior=none", "--inducing=0",
			"--init={\"kernel\": {\"name\": \"se\", \"variance\": 1.2, \"lengthscales\": [0.5]}, \"noise_variance\": 0.1}"},
		{"--loss=clipped-absolute", "--solver=cg", "--optimizer=adam", "--batch=64", "--test-fraction=0.2", "--group=who"},
	} {
		want, err := optionsOf("fit", append(flags, "--target=y"))
		if err != nil {
			t.Fatal(flags, err)
		}
		var m krigo.Model
		if m.Fitted, err = json.Marshal(want.Options); err != nil {
			t.Fatal(err)
		}
		again := []string{}
		for name, set := range parametersOf(&m) {
			text := must.Get(json.Marshal(set))(t)
			var list []string
			var word string
			if json.Unmarshal(text, &list) == nil {
				for i, item := range list {
					if strings.Contains(item, ",") {
						list[i] = `"` + item + `"`
					}
				}
				word = strings.Join(list, ",")
			} else if json.Unmarshal(text, &word) != nil {
				word = string(text)
			}
			again = append(again, "--"+name+"="+word)
		}
		got, err := optionsOf("fit", again)
		if err != nil || !reflect.DeepEqual(got.Options, want.Options) {
			a, _ := json.Marshal(got.Options)
			t.Errorf("%s came back as %s: %v\n%s\n%s", flags, again, err, a, m.Fitted)
		}
	}
}
