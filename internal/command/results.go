package command

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
)

//go:embed results.tmpl
var resultWords string

// results are the results of commands in words, a template for each.
var results = template.Must(template.New("").Funcs(template.FuncMap{
	"number": cautious.Number,
	"width":  cautious.Width,
	"up": func(decimals int, bound float64) string {
		return fmt.Sprintf("%.*f", decimals, cautious.RoundUp(bound, decimals))
	},
	"sure":  cautious.Complement,
	"share": func(level float64) string { return cautious.Complement(1 - level) },
	// form formats a number, also if it is behind a pointer
	"form":       func(format string, v float64) string { return fmt.Sprintf(format, v) },
	"percent":    func(share float64) string { return fmt.Sprintf("%.1f", 100*share) },
	"times":      func(a, b float64) float64 { return a * b },
	"name":       cautious.Name,
	"printable":  spelling.Printable,
	"shell":      spelling.Shell,
	"list":       func(texts []string) string { return strings.Join(texts, ", ") },
	"lines":      func(texts []string) string { return strings.Join(texts, "\n") },
	"paragraphs": paragraphs,
	"counted":    counted,
	"confusion":  confusion,
	"json":       indented,
	"behind":     behind,
}).Parse(resultWords))

// answer writes a result to standard output: with --json as JSON, else in the words of this name,
// which are wrapped.
func (c *common) answer(cmd *cobra.Command, result any, name string, words any) error {
	if c.json {
		return printJSON(cmd.OutOrStdout(), result)
	}
	return say(folded(cmd.OutOrStdout()), name, words)
}

// printJSON writes v as indented JSON. It leaves <, > and & as they are.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// say writes the result of this name in words.
func say(w io.Writer, name string, result any) error {
	return results.ExecuteTemplate(w, name, result)
}

// said returns the result of this name in words.
func said(name string, result any) string {
	var b strings.Builder
	if err := say(&b, name, result); err != nil {
		panic(err) // a strings.Builder takes everything, so that the template is wrong
	}
	return b.String()
}

// indented returns v as JSON.
func indented(v any) (string, error) {
	var b strings.Builder
	err := printJSON(&b, v)
	return b.String(), err
}
