package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/method"
)

// settingsHead is the page's text above the settings.
const settingsHead = `# The settings of a fit

Each setting is a flag of ` + "`krigo fit`" + `, and this page is made from the program's own table of flags.
The groups are the groups of ` + "`krigo fit --help all`" + `.
[The command line](command-line.md#fit) has the rules that combine them.

- **Default** is a value, or the rule that decides it.
- **Methods** are the values of ` + "`--objective`" + ` that have the setting, if some don't.
- **JSON** is the field in the ` + "`options`" + ` that ` + "`fit --dry-run --json`" + ` prints and a model file keeps.
- In **Python and R** the parameter is the flag's name with underscores, such as ` + "`test_fraction`" + `,
  unless the setting is for the command line only.
`

// elsewhere holds the option that a flag sets, if the flag doesn't point to the option's field.
var elsewhere = map[string]string{"epsilon": "promise.epsilon", "grid": "prior.grid", "scaling": "data.scaling",
	"posterior": "method.posterior", "duplicates": "data.reading.distinct", "dates": "data.reading.dates",
	"no-standardise": "data.declared", "init": "run.init"}

// fieldAt returns the path in JSON of the field of v, or of a struct in v, to which at points, or "".
func fieldAt(v reflect.Value, at any, path string) string {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "-" || !v.Type().Field(i).IsExported() {
			continue
		}
		f, in := v.Field(i), strings.Trim(path+"."+name, ".") // an embedded struct has no name
		if f.Addr().UnsafePointer() == reflect.ValueOf(at).UnsafePointer() && f.Kind() != reflect.Struct {
			return in
		}
		if f.Kind() == reflect.Struct {
			if found := fieldAt(f, at, in); found != "" {
				return found
			}
		}
	}
	return ""
}

// ranges returns which numbers a setting takes, in the words of its error for a number out of range.
func ranges(s *settings.Setting) string {
	for _, number := range []string{"-99999999", "99999999"} {
		if s == nil || s.Base().Kind() == reflect.String || settings.Parse(reflect.New(s.Type).Interface(), number) != nil {
			return ""
		}
		if err := s.Parse(reflect.New(s.Type).Interface(), number); err != nil {
			_, want, _ := strings.Cut(err.Error(), ": want ")
			return want
		}
	}
	return ""
}

// settingsPage returns the page of docs with all flags of fit.
func settingsPage() string {
	var flags fitFlags
	all := flags.table()
	words := method.Names()
	for _, f := range all {
		words = append(words, f.values...)
	}
	var tagged []settings.Setting
	for _, of := range []any{&flags.options.Data, &flags.options.Kernel, &flags.options.Prior, &flags.options.Promise,
		&flags.options.Run} {
		tagged = append(tagged, settings.Of(of)...)
	}
	var methods []any
	for _, k := range method.Kinds() {
		methods = append(methods, k.Method)
	}
	tagged = append(tagged, settings.Merge(methods...)...)
	parameters := schema(newRoot())["fit"]
	fit, _, _ := newRoot().Find([]string{"fit"})
	var b strings.Builder
	b.WriteString(settingsHead)
	for _, group := range groups[1:] {
		fmt.Fprintf(&b, "\n## %s\n", group)
		for _, f := range flagsOf(fit, group) {
			if f.name == "help" {
				continue
			}
			of := all[max(0, slices.IndexFunc(all, func(g cliFlag) bool {
				return g.name == f.name && (g.of == "" || slices.Contains(strings.Fields(g.of), "fit"))
			}))]
			fmt.Fprintf(&b, "\n### `%s`\n\n", strings.TrimSpace("--"+f.name+" "+f.value))
			b.WriteString(wrapped(sentence(f.help, words), ""))
			var facts []string
			if def := cmp.Or(f.def, f.rule); def != "" {
				facts = append(facts, "Default: "+escaped(def, words))
			}
			if missing := slices.DeleteFunc(slices.Clone(f.values), func(v string) bool {
				return strings.Contains(f.help, strings.TrimSuffix(v, ":"))
			}); len(missing) > 0 {
				facts = append(facts, "Values: "+escaped(strings.Join(f.values, ", "), words))
			}
			if want := ranges(settings.Named(tagged, f.name)); want != "" {
				facts = append(facts, "Takes "+escaped(want, words))
			}
			if have := having(f.name); len(have) > 0 && len(have) < len(method.Kinds()) {
				facts = append(facts, "Methods: "+strings.Join(have, ", "))
			}
			if path := fieldOf(&flags, of); of.name == f.name && path != "" {
				facts = append(facts, "JSON: `"+path+"`")
			}
			if !slices.ContainsFunc(parameters, func(o option) bool { return o.Name == f.name }) {
				facts = append(facts, "*Command line only*")
			}
			if len(facts) > 0 {
				fmt.Fprintf(&b, "\n%s", wrapped(strings.Join(facts, ". ")+".", ""))
			}
		}
	}
	return b.String()
}

// fieldOf returns the path in JSON of the option that a flag sets.
func fieldOf(flags *fitFlags, f cliFlag) string {
	if s, ok := f.to.(*setting); ok {
		return "method." + s.Key()
	}
	return cmp.Or(elsewhere[f.name], fieldAt(reflect.ValueOf(&flags.options).Elem(), f.to, ""))
}

// having returns the methods that have a setting.
func having(name string) (have []string) {
	for _, k := range method.Kinds() {
		if settings.Named(settings.Of(k.Method), name) != nil {
			have = append(have, k.Name)
		}
	}
	if !slices.Contains(have, method.KLPACName) && settings.Named(settings.Of(method.Free{}), name) != nil {
		have = append(have, "kl-pac and sqrt-pac with `--posterior free`")
	}
	return have
}

// sentence returns a line of help as a sentence in Markdown. The sentence begins with a capital letter, unless its
// first word is one of the names in words.
func sentence(help string, words []string) string {
	first := regexp.MustCompile(`^([a-z0-9-]+)(?:[:;,]| \()`).FindStringSubmatch(help)
	if r, n := utf8.DecodeRuneInString(help); first == nil || !slices.Contains(words, first[1]) {
		help = string(unicode.ToUpper(r)) + help[n:]
	}
	return strings.TrimSuffix(escaped(help, words), ".") + "."
}

// escaped returns text as Markdown, with flags as code, and a value that follows.
func escaped(text string, words []string) string {
	text = strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "]", `\]`).Replace(text)
	return regexp.MustCompile(`(--[a-z-]+)( [a-z]+)?`).ReplaceAllStringFunc(text, func(said string) string {
		if flag, value, _ := strings.Cut(said, " "); value != "" && !slices.Contains(words, value) {
			return "`" + flag + "` " + value
		}
		return "`" + said + "`"
	})
}

// TestSettings: docs/reference/settings.md has what the table of flags says.
func TestSettings(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "settings.md")
	old, _ := os.ReadFile(path) // "" if it isn't written yet
	if want := settingsPage(); want != string(old) {
		must.Hold(t, os.Getenv("UPDATE_SNAPSHOTS") != "",
			"docs/reference/settings.md isn't what the table of flags "+
				"makes it: UPDATE_SNAPSHOTS=1 go test ./internal/command -run TestSettings")
		must.Do(t, os.WriteFile(path, []byte(want), 0o644))
	}
}
