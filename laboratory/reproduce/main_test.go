package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestUsage: a command that can't run is refused in words. Help and the list name every experiment.
func TestUsage(t *testing.T) {
	for args, words := range map[string]string{
		"reeb-tabel1":             `did you mean "reeb-table1"?`,
		"":                        "want the name of one experiment",
		"reeb-table1 --reps -1":   "--reps -1",
		"reeb-table1 --unheard 1": "unheard",
	} {
		var said strings.Builder
		if status := run(context.Background(), strings.Fields(args), io.Discard, &said); status != 2 ||
			!strings.Contains(said.String(), words) {
			t.Errorf("%q: status %d, %q", args, status, said.String())
		}
	}
	for _, flag := range []string{"--list", "--help"} {
		var said strings.Builder
		must.Be(t, run(context.Background(), []string{flag}, &said, io.Discard), 0, fmt.Sprintf("%s: status", flag))
		for _, e := range experiments {
			must.Hold(t, strings.Contains(said.String(), e.Name),
				"%s doesn't name %s", flag, e.Name)
		}
	}
}

// TestManual: the commands in the documents and in the results' files name existing experiments and flags. The commands
// take seconds to days, some of them on data outside the tree. Other tests run them on less.
func TestManual(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*/*.md")
	must.Need(t, err == nil && len(documents) >= 11, "%d documents, %v", len(documents), err)
	documents = append(documents, must.Get(filepath.Glob("../results/*.json"))(t)...)
	documents = append(documents, must.Get(filepath.Glob("../results/*.md"))(t)...)
	commands := 0
	for _, path := range append(documents, "../../CONTRIBUTING.md", "../bench/regression/README.md") {
		text := must.Get(os.ReadFile(path))(t)
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		for _, found := range regexp.MustCompile("(?m)(?:^    |[`\"]|; )go run \\./reproduce "+
			"([^`#;\n]+)").FindAllStringSubmatch(joined, -1) {
			commands++
			line := strings.NewReplacer("[", "", "]", "", `\"`, "", `",`, "", `"`, "").Replace(found[1])
			if _, err := parse(append(strings.Fields(line), "--list"), &Env{Stdout: io.Discard}); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(path), line, err)
			}
			if name := strings.Fields(line)[0]; !strings.HasPrefix(name, "-") && name != "NAME" {
				if _, err := find(name); err != nil {
					t.Errorf("%s: %v", filepath.Base(path), err)
				}
			}
		}
	}
	must.Hold(t, commands >= 40, "only %d commands were found", commands)
}
