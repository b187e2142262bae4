package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// inspectDocument is what inspect --json prints.
type inspectDocument struct {
	Rows    int                   `json:"rows"`
	Dropped int                   `json:"dropped,omitempty"` // rows that repeat others, with --duplicates drop
	Columns []dataset.ColumnFacts `json:"columns"`
	Command string                `json:"command"` // that fits
}

// ofReading are the flags of fit that say how a table is read.
var ofReading = []string{"target", "dates", "decimal", "thousands", "na", "units", "duplicates"}

func newInspect(c *common) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "inspect DATA",
		Short: "What krigo sees in a table, and how to fit it",
		Long: `Look at every column of a table: what it holds, what is missing, and what is to be said of it before a fit
can use it: dates, categories, names of rows, decimal commas, units. It ends with the command that says so.
Nothing is guessed: what is unclear is asked.`,
		Example: `  krigo inspect houses.csv
  krigo inspect houses.csv --target price --decimal ,`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var o krigo.Options
			o.Data.Reading = f.options.Data.Reading
			if err := f.reading(&o); err != nil {
				return &krigo.UsageError{Err: err}
			}
			table, err := readTable(args[0], cmd.InOrStdin(), nil, o.Data.Reading)
			if err != nil {
				return err
			}
			defer table.Close()
			target := f.options.Data.Target
			if target != "" {
				if _, err := table.Leave(nil, nil, target, ""); err != nil {
					return err
				}
			}
			facts, err := table.Describe()
			if err != nil {
				return err
			}
			words := []string{"fit", args[0], "--target"}
			if target == "" {
				words = append(words, "COL")
			} else {
				words = append(words, target)
			}
			for _, name := range ofReading[1:] {
				if p := cmd.Flags().Lookup(name); p.Changed {
					words = append(words, "--"+name, strings.Trim(p.Value.String(), "[]"))
				}
			}
			var said []dataset.ColumnFacts
			for _, fact := range facts {
				if fact.Name == target {
					fact.Advice = slices.DeleteFunc(slices.Clone(fact.Advice), func(a dataset.Advice) bool { return a.Flag == "ignore" || a.Flag == "categorical" })
					fact.Missing = 0
				}
				said = append(said, fact)
			}
			d := inspectDocument{table.Rows, table.Dropped(), facts, suggestion(words, said, false)}
			if c.json {
				return printJSON(cmd.OutOrStdout(), d)
			}
			return printInspection(cmd.OutOrStdout(), args[0], d)
		},
	}
	for _, entry := range f.table() {
		if slices.Contains(ofReading, entry.name) {
			entry.bind(cmd.Flags())
		}
	}
	return cmd
}

func printInspection(w io.Writer, path string, d inspectDocument) error {
	fmt.Fprintf(w, "%s: %d rows, %d columns\n", path, d.Rows, len(d.Columns))
	if d.Dropped > 0 {
		fmt.Fprintf(w, "%d rows that repeat others are left out\n", d.Dropped)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\ncolumn\tkind\tmissing\tdistinct\tvalues\t")
	for _, f := range d.Columns {
		values := fmt.Sprintf("%.6g to %.6g", f.Low, f.High)
		switch {
		case f.Kind == "empty":
			values = ""
		case f.Kind == "constant":
			values = fmt.Sprintf("%.6g", f.Low)
		case f.Examples != nil:
			var quotes []string
			for _, text := range f.Examples {
				quotes = append(quotes, fmt.Sprintf("%.30q", text))
			}
			values = strings.Join(quotes, ", ")
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t\n", f.Name, f.Kind, f.Missing, f.Distinct, values)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, f := range d.Columns {
		if f.Why == "" {
			continue
		}
		fmt.Fprintf(w, "%s: %s", f.Name, f.Why)
		if f.First != "" && f.Unfit {
			fmt.Fprintf(w, " (first in %s)", f.First)
		}
		if len(f.Advice) > 0 {
			fmt.Fprintf(w, "; say %s", f.Flags())
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", d.Command)
	return err
}

// once are flags of one value, where others are lists.
var once = []string{"decimal", "thousands"}

// suggestion is a command line with what is to be said of columns added to it.
func suggestion(words []string, columns []dataset.ColumnFacts, missing bool) string {
	var flags []string // in the order in which they come up
	values := map[string][]string{}
	for _, f := range columns {
		missing = missing || f.Missing > 0 && f.Kind != "empty" || slices.ContainsFunc(f.Advice, func(a dataset.Advice) bool { return a.Flag == "na" })
		if f.Either {
			continue
		}
		for _, a := range f.Advice {
			if slices.Contains(once, a.Flag) && slices.Contains(words, "--"+a.Flag) {
				continue
			}
			if !slices.Contains(flags, a.Flag) {
				flags = append(flags, a.Flag)
			}
			if !slices.Contains(values[a.Flag], a.Value) {
				values[a.Flag] = append(values[a.Flag], a.Value)
			}
		}
	}
	var b strings.Builder
	b.WriteString("krigo")
	for _, word := range words {
		b.WriteString(" " + dataset.Shell(word))
	}
	for _, flag := range flags {
		of := values[flag]
		if slices.Contains(once, flag) {
			of = of[:1]
		}
		for i, value := range of {
			if strings.ContainsAny(value, `,"`) && !slices.Contains(once, flag) { // lists are read as CSV
				of[i] = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
			}
		}
		b.WriteString(" --" + flag + " " + dataset.Shell(strings.Join(of, ",")))
	}
	if missing && !slices.Contains(words, "--missing") {
		b.WriteString(" --missing mean")
	}
	return b.String()
}

// suggest adds to an error about columns the command line that was given with what is to be said of them.
func suggest(err error, args []string) string {
	var columns *dataset.ColumnsError
	if !errors.As(err, &columns) || len(args) == 0 || !slices.Contains([]string{"fit", "declare", "compare", "evaluate"}, args[0]) {
		return ""
	}
	if len(columns.Columns) == 0 && len(columns.Gaps) == 0 {
		return ""
	}
	say := "\nTry:  "
	for _, f := range columns.Columns {
		if f.Either {
			say = "\nSay which, and add it to:  "
		}
		if len(f.Advice) == 0 {
			return ""
		}
	}
	return say + suggestion(args, columns.Columns, len(columns.Gaps) > 0)
}
