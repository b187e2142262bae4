package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model"
)

// inspectDocument is what inspect --json prints.
type inspectDocument struct {
	Rows int `json:"rows"`
	// number of rows left out because they repeat another row
	Dropped int      `json:"dropped,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // remarks on the table as a whole
	// Findings are the remarks as values.
	Findings []finding.Told        `json:"findings,omitempty"`
	Columns  []inspect.ColumnFacts `json:"columns"`
	// what the user has to settle first. Without it there may be no command that runs.
	First []string `json:"first,omitempty"`
	// Ties are what ties rows together, from a quick fit of prior rows.
	// Untied says why inspect didn't look for ties.
	Ties    []model.Tie `json:"ties,omitempty"`
	Untied  string      `json:"ties_reason,omitempty"`
	Command string      `json:"command"` // the fit command; "" if no command runs yet

	tie *model.Tie // for which --group is advised
	// Uncertified says why a fit with the advised --group would certify nothing.
	Uncertified []string `json:"-"`
}

// slowInspect is the time after which inspect says what it does. Tests change it.
var slowInspect = time.Second

// ofReading are the flags of fit that say how a table is read.
var ofReading = []string{"target", "missing-target", "dates", "decimal", "thousands", "na", "below",
	"above", "units", "skip-rows", "header", "sheet", "duplicates"}

func newInspect(c *common) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "inspect DATA",
		Short: "Show what a table holds, and which command fits it",
		Example: `  krigo inspect houses.csv
  krigo inspect houses.csv --target price --decimal ,`,
		Long: `inspect looks at every column: what it holds, what is missing, and what fit has to know before it can use the column,
for example dates, categories, names of rows, decimal commas and units. It also names lines that seem to be no rows of
the table, such as totals. The last line that it prints is the command that fits the table.

inspect guesses nothing. If something is unclear, it asks. It prints a command only if the command runs.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var o krigo.Options
			o.Data.Reading = f.options.Data.Reading
			if err := f.reading(&o); err != nil {
				return &krigo.UsageError{Err: err}
			}
			progress := newProgress(cmd.ErrOrStderr(), c.quiet)
			stop := progress.late(slowInspect, "reading "+spelling.Printable(args[0]))
			table, err := readTable(args[0], cmd.InOrStdin(), nil, o.Data.Reading)
			stop()
			// so that the next line is due when slowInspect is over
			progress.last = progress.last.Add(slowInspect - progress.every())
			if err != nil {
				return err
			}
			defer table.Close()
			if err := table.Dated(); err != nil {
				return err
			}
			target := f.options.Data.Target
			targets, err := krigo.SplitTargets(target, table.Names)
			if err != nil {
				return err
			}
			for _, name := range targets {
				if _, err := table.Leave(nil, nil, name); name != "" && err != nil {
					return err
				}
			}
			facts, err := inspect.Describe(table)
			if err != nil {
				return err
			}
			judged := inspect.Judge(table, facts, targets...)
			// What is wrong with a column depends on its use: a target can't be left out or be
			// categories.
			for k := range facts {
				if slices.Contains(targets, facts[k].Name) {
					facts[k] = facts[k].AsTarget(table)
				}
			}
			d := inspectDocument{Rows: table.Rows, Dropped: table.Found.Dropped, Columns: facts}
			found := slices.Concat(inspect.Remarks(table, facts), judged)
			d.Remarks, d.Findings = found.Words(), found.Tell()
			d.First = unsettled(facts, targets, len(inspect.Strays(table))+
				len(found.Of(finding.TotalRows)) > 0)
			for _, f := range slices.Concat(found.Of(finding.Leak), found.Of(finding.Derived),
				found.Of(finding.Copies)) {
				if f.Kind == finding.Copies || len(facts) > 2 { // other inputs are left
					d.First = append(d.First, question(f))
				}
			}
			asked := inspected(cmd.Flags(), args[0], target)
			d.Command = shellLine(suggestion(asked, facts, ""))
			if !c.json {
				if err := say(folded(cmd.OutOrStdout()), "inspection", inspectWords{d, args[0],
					factsTable(facts)}); err != nil {
					return err
				}
			}
			if target != "" {
				err = d.tried(cmd.Context(), table, asked, progress.event)
				progress.end()
				if err != nil {
					return err
				}
			}
			return c.answer(cmd, d, "inspected", d)
		},
	}
	f.flags = cmd.Flags()
	// inspect takes the flags of fit that say how a table is read.
	for _, entry := range f.table() {
		if slices.Contains(ofReading, entry.name) {
			entry.bind(f.flags)
		}
	}
	return cmd
}

// tried fits nothing, but reads the table as the fit of these words would, and sets the command to
// these words with the decisions of the table.
// If such a fit would refuse the table, there is no command.
// Otherwise tried looks for what ties rows together. This takes a model.
func (d *inspectDocument) tried(ctx context.Context, table *dataset.Table, asked []string,
	tell func(krigo.Event)) error {
	reads := suggestion(asked, lists.Of(d.Columns, inspect.ColumnFacts.Reads), "")
	f := fitFlags{several: true}
	flags := pflag.NewFlagSet("fit", pflag.ContinueOnError)
	f.register(flags, "fit")
	if err := flags.Parse(reads[2:]); err != nil {
		return err
	}
	path := reads[1]
	if len(reads) > len(asked) && path == standardInput {
		d.Untied = "standard input can't be read again"
		return nil
	}
	o, complete, err := f.chosen()
	if err == nil && len(reads) > len(asked) {
		table, err = readTable(path, nil, nil, o.Data.Reading.Naming(names(o.Data)...))
		if err == nil {
			defer table.Close()
		}
	}
	before := o.Data.Reading
	if err == nil {
		table, o, err = f.settled(table, o, complete)
	}
	if err == nil {
		err = krigo.Check(ctx, table, o)
	}
	if err != nil {
		d.Command = ""
		if d.First == nil {
			d.First = []string{strings.ReplaceAll(err.Error(), "\n", " ")}
		}
		return ctx.Err()
	}
	decided := []inspect.ColumnFacts{{Advice: slices.Concat(
		lists.Of(o.Data.Ignore, adviceOf("ignore")),
		lists.Of(o.Data.Categorical, adviceOf("categorical")),
		lists.Of(o.Data.Reading.Missing[len(before.Missing):], adviceOf("na")),
		lists.Of(lists.Of(o.Data.Reading.Dates[len(before.Dates):], func(d dataset.Dates) string {
			return dataset.Dates{Column: d.Column}.String()
		}), adviceOf("dates")))}}
	d.Command = shellLine(suggestion(reads, decided, o.Data.Missing))
	if o.Data.Beside != nil {
		d.Untied = "inspect one target for that"
		return nil
	}
	o.Run.Progress = tell
	if d.Ties, err = krigo.Ties(ctx, table, o); err != nil && ctx.Err() == nil {
		d.Untied = err.Error()
		return nil
	}
	// A group column is no input, and a fit may refuse so few groups.
	if tie, group := d.grouping(table, o.Data.Target); group != "" {
		o.Data.Group = group
		o.Data.Categorical = lists.If(o.Data.Categorical, func(name string) bool {
			return name != group
		})
		if plan, err := krigo.Decide(ctx, table, o); err == nil {
			d.tie = &tie
			d.Uncertified = plan.Findings.Of(finding.NoCertificate).Words()
			d.Command += " " + spelling.Flag("group", group)
		}
	}
	return err
}

// adviceOf returns a function that makes advice of a column's name.
func adviceOf(flag string) func(name string) inspect.Advice {
	return func(name string) inspect.Advice { return inspect.Advice{Flag: flag, Value: name} }
}

// grouping returns the tie that costs a new unit most, and the value of --group for this tie.
// A column that a tie names has to be one that may name units.
// If two ties cost the same whole number of rows in 100, it prefers the tie with the more similar
// errors.
func (d *inspectDocument) grouping(table *dataset.Table,
	target string) (tie model.Tie, group string) {
	for _, t := range d.Ties {
		by := t.Group()
		if t.Kind == "column" && !inspect.IsGroup(table, t.Columns[0], target) {
			continue
		}
		more := cmp.Compare(math.Round(100*t.Lost()), math.Round(100*tie.Lost()))
		if by != "" && (group == "" || more > 0 || (more == 0 && t.Alike > tie.Alike)) {
			tie = t
			group = by
		}
	}
	return tie, group
}

// inspected returns the command that fits a table, with the flags of this inspection.
func inspected(flags *pflag.FlagSet, path, target string) []string {
	words := []string{"fit", noFlag(path), "--target", cmp.Or(target, "COL")}
	for _, name := range ofReading[1:] {
		if p := flags.Lookup(name); p.Changed {
			words = append(words, "--"+name, strings.Trim(p.Value.String(), "[]"))
		}
	}
	return words
}

// noFlag returns path, changed if it looks like a flag.
func noFlag(path string) string {
	if strings.HasPrefix(path, "-") && path != standardInput {
		return "./" + path
	}
	return path
}

// unsettled returns what the user has to settle before a table can be fitted.
func unsettled(facts []inspect.ColumnFacts, targets []string, strays bool) (first []string) {
	if strays {
		first = append(first, "the rows that seem to be none")
	}
	inputs := 0
	for _, f := range facts {
		left := f.Kind == "index" || slices.ContainsFunc(f.Advice, func(a inspect.Advice) bool {
			return a.Flag == "ignore"
		})
		if !slices.Contains(targets, f.Name) && !left {
			inputs++
		}
		if f.Either || f.Then != "" {
			first = append(first, "column "+spelling.Printable(f.Name))
		}
	}
	if inputs == 0 || (targets[0] == "" && inputs == 1) {
		first = append(first, "what to predict from: no column is left")
	}
	return first
}

// question returns what a person has to say about a finding.
func question(f finding.Finding) string {
	if f.Kind == finding.Copies {
		return "whether the rows that repeat others are copies (--duplicates drop)"
	}
	return fmt.Sprintf("whether %s is known before the target (if not, say %s)",
		spelling.Printable(f.Subject[0]), spelling.Flag("ignore", f.Subject[0]))
}

// inspectWords is what the template of inspect's text about columns gets.
type inspectWords struct {
	inspectDocument
	Path, Table string
}

// Tie returns the tie for which --group is advised, or nil.
func (d inspectDocument) Tie() *model.Tie { return d.tie }

// factsTable returns a table of what columns hold.
func factsTable(facts []inspect.ColumnFacts) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\tkind\tmissing\tdistinct\tvalues\t")
	for _, f := range facts {
		values := cautious.Digits(f.Low, 6) + " to " + cautious.Digits(f.High, 6)
		switch {
		case f.Kind == "empty", f.Kind == "refused":
			values = ""
		case f.Kind == "constant":
			values = cautious.Digits(f.Low, 6)
		case f.Examples != nil:
			quotes := lists.Of(f.Examples, func(text string) string {
				return fmt.Sprintf("%.30q", text)
			})
			values = strings.Join(quotes, ", ")
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t\n", spelling.Printable(f.Name), f.Kind, f.Missing,
			f.Distinct, values)
	}
	t.Flush() // a strings.Builder takes everything
	return b.String()
}

// suggestion returns the words of a command line: words, and the flags that the columns' advice
// adds, and --missing unless missing is "".
func suggestion(words []string, columns []inspect.ColumnFacts, missing string) []string {
	var flags []string // flags in the order in which advice first names them
	values := map[string][]string{}
	said := map[inspect.Advice]bool{}
	for _, f := range columns {
		if f.Either {
			continue
		}
		for _, a := range f.Advice {
			if spelling.Once(a.Flag) && slices.Contains(words, "--"+a.Flag) {
				continue
			}
			if !slices.Contains(flags, a.Flag) {
				flags = append(flags, a.Flag)
			}
			if !said[a] {
				said[a], values[a.Flag] = true, append(values[a.Flag], a.Value)
			}
		}
	}
	all := slices.Clone(words)
	for _, flag := range flags {
		all = append(all, "--"+flag, spelling.Value(flag, values[flag]...))
	}
	if missing != "" && !slices.Contains(words, "--missing") {
		all = append(all, "--missing", missing)
	}
	return all
}

// shellLine returns a command of krigo as a shell takes it.
func shellLine(words []string) string {
	return "krigo " + strings.Join(lists.Of(words, spelling.Shell), " ")
}

// advisable takes from an error about columns the advice that names a flag which the command
// doesn't have.
func advisable(cmd *cobra.Command, err error) {
	var columns *inspect.ColumnsError
	if errors.As(err, &columns) {
		for i, f := range columns.Columns {
			columns.Columns[i].Advice = lists.If(f.Advice, func(a inspect.Advice) bool {
				return cmd.Flag(a.Flag) != nil
			})
		}
	}
}

// suggest returns what to add to an error about columns:
// the given command line with the flags that help.
func suggest(err error, args []string) string {
	var columns *inspect.ColumnsError
	if !errors.As(err, &columns) || len(args) == 0 ||
		!slices.Contains([]string{"fit", "declare", "compare", "evaluate"}, args[0]) ||
		len(columns.Columns)+len(columns.Gaps) == 0 {
		return ""
	}
	// the suggestion appends flags, and arguments after -- aren't flags
	if end := slices.Index(args, "--"); end >= 0 {
		args = slices.Clone(args)
		for i := end + 1; i < len(args); i++ {
			args[i] = noFlag(args[i])
		}
		args = slices.Delete(args, end, end+1)
	}
	say := "\nTry:  "
	// The flags below and above don't go with a target of limits. Inputs of limits are left out then.
	censored := strings.Contains(strings.Join(args, " ")+columns.Error(), "--censored ")
	limited := func(a inspect.Advice) bool { return a.Flag == "below" || a.Flag == "above" }
	for i, f := range columns.Columns {
		if censored && slices.ContainsFunc(f.Advice, limited) {
			columns.Columns[i].Advice = []inspect.Advice{{Flag: "ignore", Value: f.Name}}
		}
		if f.Either {
			say = "\nSay which, and add it to:  "
		}
		if len(f.Advice) == 0 {
			return ""
		}
	}
	for _, f := range columns.Columns {
		if f.Then != "" || columns.Strays != nil {
			say = "\nSettle that, and then:  "
		}
	}
	missing := spelling.If(len(columns.Gaps) > 0 ||
		slices.ContainsFunc(columns.Columns, inspect.ColumnFacts.Gapped), dataset.FillMean)
	return say + shellLine(suggestion(args, columns.Columns, missing))
}
