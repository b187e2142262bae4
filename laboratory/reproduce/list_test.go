package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
)

func TestExperiments(t *testing.T) {
	for _, e := range experiments {
		found, err := find(e.Name)
		must.Hold(t, err == nil && found.Title == e.Title && e.Run != nil, "%s: %v", e.Name, err)
	}
	if _, err := find("reeb-table9"); err == nil || !strings.Contains(err.Error(), "reeb-table9") ||
		!strings.Contains(err.Error(), `did you mean "reeb-table1"?`) {
		t.Errorf("unknown: %v", err)
	}
	// The printed table has a row for every ε and method, with every measure.
	for _, eps := range reebEpsilons {
		for _, method := range reebMethods {
			if p := paperTable1[row(eps, method)]; len(p) != len(measureNames) || len(p) != len(measures{}.values()) {
				t.Errorf("%s: %d figures", row(eps, method), len(p))
			}
		}
	}
}

// TestFigures draws the figures that need no training.
func TestFigures(t *testing.T) {
	for _, name := range []string{"reeb-fig4", "reeb-fig5"} {
		e := must.Get(find(name))(t)
		var out bytes.Buffer
		env := Env{Out: t.TempDir(), Stdout: &out}
		must.Do(t, e.Run(context.Background(), env))
		path := filepath.Join(env.Out, name+".png")
		file := must.Get(os.Open(path))(t)
		defer file.Close()
		picture, err := png.Decode(file)
		if err != nil || picture.Bounds().Dx() < 400 || !strings.Contains(out.String(), path) {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}

// TestUnknownNames: an experiment refuses unknown names before it runs, and suggests the nearest name.
func TestUnknownNames(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "bike.csv.gz"), nil, 0o600))
	for _, c := range []struct {
		name, want string
		env        Env
		file       bool // the file is missing
	}{
		{"reeb-table2", "kin40k", Env{Sets: []string{"kin4k"}}, false},
		{"reeb-table3", "sqrt-pac", Env{Methods: []string{"sqrtpac"}}, false},
		{"certificates", "boston", Env{Sets: []string{"bostn"}}, false},
		{"certificates", "direct 0.5", Env{Methods: []string{"direct"}}, false},
		{"validity", "groups", Env{Sets: []string{"group"}}, false},
		{"validity", "kl-pac", Env{Methods: []string{"klpac"}}, false},
		{"renyi-table2", "renyi", Env{Methods: []string{"reny"}}, false},
		{"renyi-table2", "bike", Env{Sets: []string{"bikes"}, Data: folder}, true},
		{"renyi-table1", "gramacy-lee", Env{Sets: []string{"gramacy"}}, true},
	} {
		e := must.Get(find(c.name))(t)
		c.env.Out = t.TempDir()
		err := e.Run(context.Background(), c.env)
		var usage *krigo.UsageError
		must.Hold(t, err != nil && errors.As(err, &usage) != c.file &&
			strings.Count(err.Error(), fmt.Sprintf("did you mean %q?", c.want)) == 1,
			"%s: %v", c.name, err)
	}
}

// TestSeveralTargets: the simulation has a line for each promise.
func TestSeveralTargets(t *testing.T) {
	var out bytes.Buffer
	must.Do(t, severalTargets(context.Background(), Env{Reps: 2, Stdout: &out}))
	for _, of := range targetsDesigns {
		must.Hold(t, strings.Contains(out.String(), "| "+of.name+" | 2 | "),
			"no %s in\n%s", of.name, out.String())
	}
}

// TestWatching: the simulation gives, for each risk, the number of runs with an alarm.
func TestWatching(t *testing.T) {
	var out bytes.Buffer
	must.Do(t, watching(context.Background(), Env{Reps: 3, Stdout: &out}))
	for _, want := range []string{"| the bound, for ever | 0.05 | 3 | 0 | – | – |",
		"| 2 times the bound | 0.05 | 3 | 3 | ", "then twice the bound | 0.05 | 3 | 3 | "} {
		must.Hold(t, strings.Contains(out.String(), want), "no %q in\n%s", want, out.String())
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	must.Fail(t, watching(stopped, Env{Reps: 3, Stdout: &out}), "", "it wasn't stopped")
}
