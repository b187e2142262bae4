package command

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/serve"
	"github.com/krigo-gp/krigo/watch"
)

// manual returns the text of files of the documentation.
func manual(t *testing.T, files ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range files {
		raw := must.Get(os.ReadFile(filepath.Join("..", "..", name)))(t)
		all.Write(raw)
	}
	return all.String()
}

// TestFlagsAreDocumented: the documentation has every command and every flag, and names no flag that krigo lacks.
func TestFlagsAreDocumented(t *testing.T) {
	text := manual(t, "docs/reference/command-line.md", "docs/reference/settings.md", "docs/reference/json.md",
		"docs/reference/tables.md", "docs/reference/http.md", "docs/theory/training.md")
	named := map[string]bool{}
	for _, flag := range regexp.MustCompile(`--[a-z][a-z0-9-]*`).FindAllString(text, -1) {
		named[flag] = false
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.HasParent() && !strings.Contains(text, "\n## "+cmd.Name()) {
			t.Errorf("%s has no section in docs/reference/command-line.md", cmd.CommandPath())
		}
		see := func(f *pflag.Flag) {
			if _, ok := named["--"+f.Name]; !ok {
				t.Errorf("%s --%s isn't documented", cmd.CommandPath(), f.Name)
			}
			named["--"+f.Name] = true
		}
		cmd.LocalFlags().VisitAll(see)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root := newRoot()
	walk(root)
	for flag, there := range named {
		if !there && flag != "--help" && flag != "--data-binary" { // a flag of curl
			t.Errorf("the documentation names %s, which no command has", flag)
		}
	}
}

// TestFieldsAreDocumented: the documentation names every field that --json prints and that the server answers.
func TestFieldsAreDocumented(t *testing.T) {
	text := manual(t, "docs/reference/json.md", "docs/reference/command-line.md", "docs/reference/tables.md",
		"docs/reference/http.md")
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				f := of.Field(i)
				if !f.IsExported() {
					continue
				}
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != "" && name != "-" && !regexp.MustCompile("[\"`]"+name+"[\"`]").MatchString(text) {
					t.Errorf("%v: %q isn't documented", of, name)
				}
				walk(f.Type)
			}
		}
	}
	for _, v := range []any{inspectDocument{}, fitDocument{}, predictDocument{}, generateDocument{}, versionDocument{},
		krigo.Evaluation{}, krigo.Params{}, krigo.Comparison{},
		krigo.Recertification{}, krigo.Fresh{}, model.Test{}, serve.Answer{}, serve.Joint{}, serve.Description{},
		serve.Observed{}, watch.State{}} {
		walk(reflect.TypeOf(v))
	}
	for _, name := range krigo.MeasureNames() {
		must.Hold(t, strings.Contains(text, "`"+name+"`"), "the measure %s isn't documented", name)
	}
}
