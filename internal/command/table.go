package command

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// fitFlags are the flags of fit, evaluate and compare.
// Each of these commands has most of these flags.
type fitFlags struct {
	options krigo.Options

	// The values of flags that options hold in other forms.
	epsilon, grid, scaling, posterior, duplicates string
	strict                                        bool
	noStandardise, dryRun, freshStart, verbose    bool
	dates                                         []string

	test, init, resume, out, params, declared string
	objectives                                []string
	splits                                    int

	several bool // the command takes several targets
	flags   *pflag.FlagSet
}

// order has the flags of each group in the order in which help shows them.
// Other settings of methods follow the group Method.
var order = map[string]string{
	"Data": "target inputs ignore categorical missing strict missing-target dates decimal " +
		"thousands na below above units skip-rows header sheet duplicates group " +
		strings.Join(observation.Options(), " ") + " scaling target-transform target-estimate no-standardise split splits " +
		"test-fraction test params",
	"Kernel": "kernel ard mean noise monotone",
	"Method": "objective objectives restarts init fix-parameters",
	"Prior":  "prior prior-share temper grid",
	"Promise": "loss epsilon epsilon-units delta bound mean-bound promise curve slices " +
		"population calibration-fraction", "Run": "seed out budget deliver declared dry-run " +
		"verbose resume fresh-start",
}

// register adds a command's flags to a flag set.
func (f *fitFlags) register(flags *pflag.FlagSet, command string) {
	f.flags = flags
	for _, entry := range f.table() {
		if entry.of == "" || slices.Contains(strings.Fields(entry.of), command) {
			entry.bind(flags)
		}
	}
}

// table returns all flags of fit, evaluate and compare.
func (f *fitFlags) table() (sorted []cliFlag) {
	all := slices.Concat(f.own(), ofTables(&f.options.Data.Reading), f.ofOptions())
	for _, group := range groups {
		for name := range strings.FieldsSeq(order[group]) {
			for _, flag := range all {
				if flag.name == name {
					sorted = append(sorted, inGroup(group, flag)...)
				}
			}
		}
		if group == "Method" {
			sorted = append(sorted, inGroup(group, f.ofMethods()...)...)
		}
	}
	return sorted
}

// commands are the commands that take a setting, by what the setting is for.
var commands = map[string]string{"training": "fit compare", "fit": "fit"}

// flagOf returns the flag of a setting. The flag sets the variable that to points to.
func flagOf(s settings.Setting, to any) cliFlag {
	flag := cliFlag{name: s.Name, value: s.Value, rule: s.Rule, help: s.Help, values: s.Values,
		everyday: s.Everyday, columns: strings.HasPrefix(s.Value, "COL"),
		of: commands[s.For], to: to}
	if flag.rule == "" {
		flag.def = s.Default
	}
	return flag
}

// ofOptions returns a flag for every option with tags.
// Some get their values from registers, and some need parsing.
func (f *fitFlags) ofOptions() (all []cliFlag) {
	o := &f.options
	for _, of := range []any{&o.Data, &o.Kernel, &o.Prior, &o.Promise, &o.Run} {
		for _, s := range settings.Of(of) {
			flag := flagOf(s, s.Pointer(of))
			switch s.Name {
			case "kernel":
				// Kernels of categories need a column, so that their names alone are no values.
				alone := slices.DeleteFunc(kernel.Names(), func(name string) bool {
					return kernel.Check(name) != nil
				})
				flag.values = append(slices.Clip(alone), "auto")
				flag.help = strings.Replace(flag.help, "names of package kernel",
					strings.Join(alone, ", "), 1)
			case "loss":
				flag.values = texts(pacbayes.Losses())
			case "bound":
				flag.values = texts(pacbayes.Inequalities())
			case "epsilon": // the value may be below:above, which needs parsing
				flag.to = &f.epsilon
				flag.of = "fit evaluate"
			case "scaling": // the value may be declared:FILE
				flag.to = &f.scaling
				flag.values = []string{dataset.PriorRows, dataset.Declared + ":", dataset.AllRows}
			}
			all = append(all, flag)
		}
	}
	return all
}

// ofMethods returns a flag for every setting of every method.
func (f *fitFlags) ofMethods() []cliFlag {
	methods := lists.Of(method.Kinds(), func(k method.Kind) any { return k.Method })
	return lists.Of(settings.Merge(methods...), func(s settings.Setting) cliFlag {
		flag := flagOf(s, s.Pointer(&f.options.Method))
		flag.late = true
		if flag.to == nil {
			flag.to = &setting{s, &f.options.Method}
		}
		if s.Name == "posterior" { // an informed prior has another value
			flag.to = &f.posterior
			flag.values = append(flag.values, "learnt")
			flag.help += ", or learnt (from an informed prior)"
		}
		return flag
	})
}

// ofTables returns the flags of every command that reads a table:
// what may differ from file to file of the same source.
func ofTables(r *dataset.Reading) []cliFlag {
	return []cliFlag{
		{name: "decimal", value: "C", def: ".", to: &r.Decimal, values: []string{".", ","},
			help: "the decimal point of CSV files: . or ,"},
		{name: "thousands", value: "C", rule: "none", to: &r.Thousands,
			values: []string{",", ".", "'", " "},
			help:   "what groups digits by three in CSV files: , . ' or a space"},
		{name: "skip-rows", value: "N", to: &r.SkipRows, help: "lines of text, or rows of a " +
			"sheet, above the table"}, {name: "header", value: "HOW", def: "auto", to: &r.Header,
			values: []string{"auto", "yes", "no", "unique", "two"}, help: "the first row names " +
				"the columns: yes, unique (numbers repeated names), two (rows), no (c1, c2, " +
				"...), auto (if not numbers)"},
		{name: "sheet", value: "NAME", to: &r.Sheet,
			help: "the sheet of a workbook, or file of a zip archive, if there are several"},
	}
}

// tableFlags are the flags of a command that reads tables for a model, which was fitted with a way
// of reading of its own.
type tableFlags struct {
	asked dataset.Reading
	flags *pflag.FlagSet
}

// bind makes a command take the flags. By default a table is read as the model's table was.
func (f *tableFlags) bind(cmd *cobra.Command) {
	f.flags = cmd.Flags()
	for _, flag := range ofTables(&f.asked) {
		flag.def = ""
		flag.rule = "as in the fit"
		flag.bind(f.flags)
	}
}

// over returns the reading of a model with what the flags say instead.
func (f *tableFlags) over(of dataset.Reading) dataset.Reading {
	asked := ofTables(&f.asked)
	for k, to := range ofTables(&of) {
		if f.flags.Changed(to.name) {
			reflect.ValueOf(to.to).Elem().Set(reflect.ValueOf(asked[k].to).Elem())
		}
	}
	return of.Defaults()
}

// read reads a table of a model. It says which lines it skips without being asked in this call.
func (f *tableFlags) read(cmd *cobra.Command, c *common, path string, r ranks.Ranks,
	of dataset.Reading) (*dataset.Table, error) {
	table, err := readTable(path, cmd.InOrStdin(), r, f.over(of))
	if err == nil && table.Found.Skipped > 0 && !c.quiet && !f.flags.Changed("skip-rows") {
		fmt.Fprintln(cmd.ErrOrStderr(), finding.New(finding.Skipped, table.Found.Skipped))
	}
	return table, err
}

// own returns the flags that have no tag. These are flags that aren't options, that set several
// fields, or that differ between commands.
func (f *fitFlags) own() []cliFlag {
	o := &f.options
	return []cliFlag{
		// How the table is read and scaled.
		{name: "missing-target", value: "HOW", def: "drop", to: &o.Data.Reading.MissingTarget,
			values: []string{"drop", dataset.Refuse},
			help:   "rows without a target: drop (leave them out, and count them), or refuse"},
		{name: "dates", everyday: true, value: "COLS", to: &f.dates, columns: true,
			help: "columns of dates or times, read as days; COL:dmy or COL:mdy if unclear; " +
				"COL:day:week:year adds the place " +
				"in each period"},
		{name: "strict", to: &f.strict, of: "fit compare",
			help: "let the table decide nothing: gaps and columns of text are errors"},
		{name: "na", value: "TEXTS", rule: "empty, NA, N/A, #N/A, NaN, null, ?",
			to: &o.Data.Reading.Missing,
			help: "further texts or numbers for missing values: '-,k.A.'; COL=-999, COL=>9 in " +
				"one column"},
		{name: "below", value: "HOW", rule: "text", to: &o.Data.Reading.Below,
			values: []string{"half"},
			help: "how to read cells below a limit of detection, such as <0.1: as half of " +
				"the limit"},
		{name: "above", value: "HOW", rule: "text", to: &o.Data.Reading.Above,
			values: []string{"limit"},
			help:   "how to read cells above a limit of detection, such as >2000: as the limit"},
		{name: "units", value: "TEXTS", to: &o.Data.Reading.Units,
			help: "texts before or after numbers to leave out, such as kg in \"12.5 kg\""},
		{name: "duplicates", value: "HOW", def: "keep", to: &f.duplicates,
			values: []string{"keep", "drop", "group"},
			help: "rows that repeat others: keep; drop (equal in all cells); group (equal inputs " +
				"and target count once in " +
				"the certificate)"},
		{name: "no-standardise", to: &f.noStandardise,
			help: "use the columns as they are: declared constants 0 and 1"},
		// What is fitted, and scored on which rows. A name may be listed twice, for different
		// commands (of).
		{name: "splits", value: "K", def: "5", to: &f.splits, of: "compare",
			help: "random splits, with the seeds --seed and up"},
		{name: "test-fraction", everyday: true, value: "SHARE", rule: "0.2",
			to: &o.Data.TestFraction, of: "compare",
			help: "share of the rows that are scored"},
		{name: "test", value: "FILE", to: &f.test, endings: tableEndings(), of: "fit",
			help: "score on the rows of this file instead"},
		{name: "params", everyday: true, value: "FILE", to: &f.params, endings: []string{"json"},
			of:   "evaluate",
			help: "JSON file with the parameters (required)"},
		{name: "objective", everyday: true, value: "NAME", rule: "by prior and rows",
			to:     &o.Method.Name,
			values: method.Names(), of: "fit compare", help: "what training minimises: " +
				methods()},
		{name: "objective", everyday: true, value: "NAME", rule: method.KLPACName,
			to:     &o.Method.Name,
			values: method.Names(), of: "evaluate", help: "what is evaluated: " + methods()},
		{name: "objectives", everyday: true, value: "LIST", def: method.KLPACName + "," +
			method.EvidenceName,
			to: &f.objectives, values: method.Names(), of: "compare",
			help: "what the fits minimise: " + methods()},
		{name: "init", value: "FILE", to: &f.init, endings: []string{"json"}, of: "fit",
			help: "start from the parameters in this JSON file (not with an informed prior, " +
				"which prior rows alone may shape)"},
		{name: "grid", value: "L,DIGITS", def: "6,2", to: &f.grid,
			help: "log-parameters in [−L, L] with DIGITS decimals; L,mixed: 0 to 2 digits, few " +
				"lengthscales, which the " +
				"bound pays for"},
		{name: "epsilon", everyday: true, value: "LIST", def: "0.6", to: &f.epsilon, of: "compare",
			help: "half-widths ε of the loss; below:above for the asymmetric loss, as in 0.4:0.8"},
		// Files, and what fit does beside fitting.
		{name: "out", everyday: true, value: "FILE", rule: "DATA's name with .krigo", to: &f.out,
			endings: []string{"krigo"}, of: "fit", help: "model file to write"},
		{name: "out", everyday: true, value: "FILE", to: &f.out,
			endings: []string{"csv", "json", "html"}, of: "compare",
			help: "also write all measures to this file: CSV, JSON or HTML, as it ends in .csv, " +
				".json or .html"},
		{name: "declared", value: "FILE", to: &f.declared, endings: []string{"json"}, of: "fit",
			help: "take every option from this declaration (krigo declare) and no other; the " +
				"certificate carries its hash"},
		{name: "dry-run", everyday: true, to: &f.dryRun, of: "fit",
			help: "say what the fit would do, every default filled in, and train nothing"},
		{name: "verbose", everyday: true, to: &f.verbose, of: "fit",
			help: "also print the bounds of simpler models, all conditions, the kernel and all " +
				"notices"},
		{name: "resume", value: "FILE", to: &f.resume, endings: []string{"checkpoint"}, of: "fit",
			help: "continue from this checkpoint, and save to it instead of OUT.checkpoint"},
		{name: "fresh-start", to: &f.freshStart, of: "fit",
			help: "begin anew, although an interrupted fit of the same data and options left a " +
				"checkpoint"},
	}
}

// methods lists the methods with what they minimise. Methods that are always sparse come last.
func methods() string {
	var any, sparse []string
	for _, k := range method.Kinds() {
		text := k.Name
		text += spelling.If(k.Help != "", " (%s)", k.Help)
		if k.Size == method.SparseOnly {
			sparse = append(sparse, text)
		} else {
			any = append(any, text)
		}
	}
	return strings.Join(any, ", ") + "; sparse: " + strings.Join(sparse, ", ")
}

// flags returns the flags of every command.
func (c *common) flags() []cliFlag {
	return inGroup("Run",
		cliFlag{name: "json", everyday: true, to: &c.json,
			help: "print one JSON document instead of text"},
		cliFlag{name: "quiet", to: &c.quiet, help: "no progress on standard error"},
		cliFlag{name: "threads", value: "T", rule: "all", to: &c.threads,
			help: "processor cores to use; results don't depend on it"},
		cliFlag{name: "memory", value: "SIZE", rule: "half of the machine's", to: &c.memory,
			help: "memory that a table, a model, or the matrices of a fit may take, such as 4GiB " +
				"or 500MB"},
	)
}

// texts returns a list of names as strings.
func texts[T ~string](list []T) []string {
	return lists.Of(list, func(name T) string { return string(name) })
}

// tableEndings returns the endings of files that hold tables, without the dot.
func tableEndings() (all []string) {
	for _, format := range files.Formats() {
		for _, ending := range format.Endings {
			all = append(all, strings.TrimPrefix(ending, "."))
		}
	}
	return all
}
