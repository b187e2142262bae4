package command

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// fitFlags are the flags of fit, evaluate and compare, each of which has most of them.
type fitFlags struct {
	options krigo.Options

	// What options hold in other forms.
	epsilon, grid, scaling, posterior, bound, meanBound, duplicates string
	noStandardise, dryRun, freshStart                               bool
	dates                                                           []string

	test, init, resume, out, params, declared string
	objectives                                []string
	splits                                    int

	flags *pflag.FlagSet
}

// register makes one of the commands take its flags.
func (f *fitFlags) register(flags *pflag.FlagSet, command string) {
	f.flags = flags
	for _, entry := range f.table() {
		if entry.of == "" || slices.Contains(strings.Fields(entry.of), command) {
			entry.bind(flags)
		}
	}
}

// table has all flags of fit, evaluate and compare.
func (f *fitFlags) table() []cliFlag {
	return slices.Concat(
		inGroup(groupData, f.ofData()...),
		inGroup(groupKernel, f.ofKernel()...),
		inGroup(groupMethod, f.ofMethod()...),
		inGroup(groupPrior, f.ofPrior()...),
		inGroup(groupPromise, f.ofPromise()...),
		inGroup(groupRun, f.ofRun()...),
	)
}

func (f *fitFlags) ofData() []cliFlag {
	o := &f.options
	return []cliFlag{
		{name: "target", everyday: true, value: "COL", to: &o.Data.Target, columns: true,
			help: "column to predict (required)"},
		{name: "inputs", value: "COLS", rule: "all others", to: &o.Data.Inputs, columns: true,
			help: "columns to predict from; * stands for any text and ? for a character, as in 'temp*'"},
		{name: "ignore", everyday: true, value: "COLS", to: &o.Data.Ignore, columns: true,
			help: "columns that are no inputs, such as names of rows; * and ? as in --inputs"},
		{name: "categorical", everyday: true, value: "COLS", to: &o.Data.Categorical, columns: true,
			help: "columns of categories, text or numbers: each becomes a column of 0 and 1 for every category of the prior " +
				"rows, and one for all others"},
		{name: "missing", everyday: true, value: "HOW", def: dataset.Refuse, to: &o.Data.Missing,
			values: []string{dataset.Refuse, dataset.FillMean},
			help:   "missing inputs: refuse, or mean (over the prior rows; of categories they count among the others)"},
		{name: "dates", everyday: true, value: "COLS", to: &f.dates, columns: true,
			help: "columns of dates or times, read as days; COL:dmy or COL:mdy where unclear; COL:day:week:year adds where " +
				"in the period"},
		{name: "decimal", value: "C", def: ".", to: &o.Data.Reading.Decimal, values: []string{".", ","},
			help: "the decimal point of CSV files: . or ,"},
		{name: "thousands", value: "C", rule: "none", to: &o.Data.Reading.Thousands,
			values: []string{",", ".", "'", " "},
			help:   "what groups digits by three in CSV files: , . ' or a space"},
		{name: "na", value: "TEXTS", rule: "empty, NA, N/A, #N/A, NaN, null, ?", to: &o.Data.Reading.Missing,
			help: "further texts that stand for a missing value, as in '-,k.A.'"},
		{name: "units", value: "TEXTS", to: &o.Data.Reading.Units,
			help: "texts before or after numbers that say nothing, as kg in \"12.5 kg\""},
		{name: "duplicates", value: "HOW", def: "keep", to: &f.duplicates, values: []string{"keep", "drop", "group"},
			help: "rows that repeat others: keep; drop (equal in all cells); group (equal inputs and target count once in " +
				"the certificate)"},
		{name: "group", everyday: true, value: "COL", to: &o.Data.Group, columns: true,
			help: "column, no input then, that groups rows, as those of a patient: whole groups get roles, and the " +
				"certificate is about groups"},
		{name: "scaling", value: "HOW", def: dataset.PriorRows, to: &f.scaling,
			values: []string{dataset.PriorRows, dataset.Declared + ":", dataset.AllRows},
			help:   "what standardises the columns: prior-rows, declared:FILE, or all-rows (the bound is a heuristic then)"},
		{name: "no-standardise", to: &f.noStandardise,
			help: "use the columns as they are: declared constants 0 and 1"},
		{name: "split", value: "HOW", def: "random", to: &o.Data.Split, values: []string{"random", "last"},
			help: "roles of rows: random (by the seed and what rows hold), or last (a backtest on the last rows, no " +
				"certificate)"},
		{name: "splits", value: "K", def: "5", to: &f.splits, of: "compare",
			help: "random splits, with the seeds --seed and up"},
		{name: "test-fraction", everyday: true, value: "SHARE", to: &o.Data.TestFraction, of: "fit",
			help: "share of the rows set aside and scored at the end"},
		{name: "test-fraction", everyday: true, value: "SHARE", rule: "0.2", to: &o.Data.TestFraction, of: "compare",
			help: "share of the rows that are scored"},
		{name: "test", value: "FILE", to: &f.test, endings: tableEndings(), of: "fit",
			help: "score on the rows of this file instead"},
		{name: "params", everyday: true, value: "FILE", to: &f.params, endings: []string{"json"}, of: "evaluate",
			help: "JSON file with the parameters (required)"},
	}
}

func (f *fitFlags) ofKernel() []cliFlag {
	o := &f.options
	return []cliFlag{
		{name: "kernel", everyday: true, value: "K", rule: "auto, or se", to: &o.Kernel.Expression,
			values: append(kernel.Names(), "auto"), of: "fit compare",
			help: strings.Join(kernel.Names(), ", ") + `; sums, products ("se+linear*rq"); lists "se,rq"; auto`},
		{name: "ard", value: "HOW", rule: "on, or auto", to: &o.Kernel.ARD, values: []string{"on", "off", "auto"},
			of:   "fit compare",
			help: "one lengthscale an input: on, off, or auto (both are tried, and the choice is paid for with ln 2)"},
		{name: "mean", value: "M", rule: "constant, or zero", to: &o.Kernel.Mean,
			values: []string{"zero", "constant", "linear"},
			help:   "prior mean: zero, constant or linear; a trained one is paid for like a kernel parameter"},
	}
}

// ofMethod has a flag for every setting that a method has, and some more.
func (f *fitFlags) ofMethod() []cliFlag {
	o := &f.options
	all := []cliFlag{
		{name: "objective", everyday: true, value: "NAME", rule: "by prior and rows", to: &o.Method.Name,
			values: method.Names(), of: "fit compare",
			help: "what training minimises: " + methods()},
		{name: "objective", everyday: true, value: "NAME", rule: method.KLPACName, to: &o.Method.Name,
			values: method.Names(), of: "evaluate",
			help: "what is evaluated: " + methods()},
		{name: "objectives", everyday: true, value: "LIST", def: method.KLPACName + "," + method.EvidenceName,
			to: &f.objectives, values: method.Names(), of: "compare",
			help: "what the fits minimise: " + methods()},
		{name: "restarts", value: "N", rule: "3; sparse, cg, batches 1", to: &o.Run.Restarts, of: "fit compare",
			help: "starting points per kernel family"},
		{name: "init", value: "FILE", to: &f.init, endings: []string{"json"}, of: "fit",
			help: "start from the parameters in this JSON file (not with an informed prior, which prior rows alone may shape)"},
		{name: "fix-parameters", to: &o.Run.FixParameters, of: "fit compare",
			help: "evidence: no training, the full GP at the parameters of --init"},
	}
	var methods []any
	for _, k := range method.Kinds() {
		methods = append(methods, k.Method)
	}
	for _, s := range settings.Merge(methods...) {
		flag := cliFlag{name: s.Name, value: s.Value, rule: s.Rule, help: s.Help, values: s.Values, everyday: s.Everyday,
			late: true, to: s.Pointer(&o.Method)}
		if flag.to == nil {
			flag.to = &setting{s, &o.Method}
		}
		if flag.rule == "" {
			flag.def = s.Default
		}
		if s.Training {
			flag.of = "fit compare"
		}
		if s.Name == "posterior" { // which may be another prior's
			flag.to, flag.values = &f.posterior, append(flag.values, "learnt")
			flag.help += ", or learnt (from an informed prior)"
		}
		all = append(all, flag)
	}
	return all
}

func (f *fitFlags) ofPrior() []cliFlag {
	o := &f.options
	return []cliFlag{
		{name: "prior", value: "P", rule: "informed; grid with --objective and flags of its own", to: &o.Prior.Kind,
			values: []string{"grid", "informed"}, of: "fit compare",
			help: "grid (data-blind; certified rows train the model) or informed (prior rows do)"},
		{name: "prior-share", value: "SHARE", rule: "informed 0.7 to 0.875; grid a tenth, 20 to 1,000 rows",
			to: &o.Prior.Share, of: "fit compare",
			help: "share of the rows, test and calibration rows apart, that are prior rows"},
		{name: "temper", value: "LIST", rule: "1", to: &o.Prior.Temper, of: "fit compare",
			help: "informed: factors of the prior's covariance, chosen among on the certified rows and paid for"},
		{name: "grid", value: "L,DIGITS", def: "6,2", to: &f.grid,
			help: "log-parameters are decimals of so many digits in [−L, L]; L,mixed: 0 to 2 digits, few lengthscales, paid " +
				"for"},
	}
}

func (f *fitFlags) ofPromise() []cliFlag {
	o := &f.options
	return []cliFlag{
		{name: "loss", value: "LOSS", def: string(pacbayes.Band), to: &o.Promise.Loss,
			values: lossNames(),
			help: "what is certified: band (|y−ŷ|>ε), clipped-square, gaussian, relative (>ε|y|), scaled (>ε sd of ŷ), " +
				"asymmetric, clipped-absolute"},
		{name: "epsilon", everyday: true, value: "E", def: "0.6", to: &f.epsilon, of: "fit evaluate",
			help: "half-width ε of the loss; below:above for the asymmetric one, as in 0.4:0.8"},
		{name: "epsilon", everyday: true, value: "LIST", def: "0.6", to: &f.epsilon, of: "compare",
			help: "half-widths ε of the loss; below:above for the asymmetric one, as in 0.4:0.8"},
		{name: "epsilon-units", everyday: true, value: "UNIT", def: "sd", to: &o.Promise.Units,
			values: []string{"sd", "raw"},
			help:   "units of ε: sd (standard deviations of the target) or raw (the target's own)"},
		{name: "delta", everyday: true, value: "P", def: "0.01", to: &o.Promise.Delta,
			help: "the certificate may fail with this probability, over the draw of the certified rows"},
		{name: "bound", value: "NAME", rule: "kl; maurer if learnt from an informed prior", to: &f.bound,
			values: inequalities(),
			help:   "inequality of the certificate: kl, maurer, pinsker, split-kl, betting (fixed posteriors)"},
		{name: "mean-bound", value: "ROUTE", rule: "direct where it can be, else twice", to: &f.meanBound,
			values: []string{string(pacbayes.Twice), string(pacbayes.Direct), string(pacbayes.Both)}, of: "fit compare",
			help: "bound on predictions: twice (a random draw's), direct (their own losses), both"},
		{name: "promise", everyday: true, value: "SHARE", to: &o.Promise.Share,
			help: "also find the smallest band ±ε guaranteed for this share of predictions, as in 0.95; it takes half of δ"},
		{name: "curve", to: &o.Promise.Curve, of: "fit",
			help: "bound every half-width at once, of a mean that is certified by its own misses, and the mean absolute error"},
		{name: "slices", value: "COLS", to: &o.Promise.Slices, columns: true, of: "fit",
			help: "also bound the misses of kinds of rows, by columns or, as sd, by how sure the model is; they take half of δ"},
		{name: "calibration-fraction", value: "SHARE", to: &o.Promise.Calibration, of: "fit compare",
			help: "rows for conformal intervals, which hold on average over draws of these and further rows from the same " +
				"source (exchangeable rows)"},
	}
}

func (f *fitFlags) ofRun() []cliFlag {
	o := &f.options
	return []cliFlag{
		{name: "seed", everyday: true, value: "S", def: "0", to: &o.Run.Seed,
			help: "deals the rows their roles and draws random starts; same seed, same result"},
		{name: "out", everyday: true, value: "FILE", rule: "DATA's name with .krigo", to: &f.out,
			endings: []string{"krigo"}, of: "fit",
			help: "model file to write"},
		{name: "budget", value: "TIME", to: &o.Run.Budget, of: "fit",
			help: "as 60s: of the kernels that are to be tried, begin none that would take training beyond this time"},
		{name: "deliver", everyday: true, value: "WHICH", def: "certified", to: &o.Run.Deliver,
			values: []string{"certified", "all"}, of: "fit",
			help: "all: also a sibling trained on all rows, which predicts better and has no certificate, as OUT-all"},
		{name: "out", everyday: true, value: "FILE", to: &f.out, endings: []string{"csv", "json", "html"},
			of:   "compare",
			help: "also write all measures to this file: CSV, JSON or HTML, as it ends in .csv, .json or .html"},
		{name: "declared", value: "FILE", to: &f.declared, endings: []string{"json"}, of: "fit",
			help: "fit as a declaration says (krigo declare), whose hash the certificate carries; options are none beside"},
		{name: "dry-run", everyday: true, to: &f.dryRun, of: "fit",
			help: "say what the fit would do, every default filled in, and train nothing"},
		{name: "resume", value: "FILE", to: &f.resume, endings: []string{"checkpoint"}, of: "fit",
			help: "go on from this checkpoint, and save to it, in the place of OUT.checkpoint"},
		{name: "fresh-start", to: &f.freshStart, of: "fit",
			help: "begin anew although an interrupted fit of the same data and options left a checkpoint"},
	}
}

// methods lists the methods, with what they minimise; those that are always sparse come last.
func methods() string {
	var any, sparse []string
	for _, k := range method.Kinds() {
		text := k.Name
		if k.Help != "" {
			text += " (" + k.Help + ")"
		}
		if k.Size == method.SparseOnly {
			sparse = append(sparse, text)
		} else {
			any = append(any, text)
		}
	}
	return strings.Join(any, ", ") + "; sparse: " + strings.Join(sparse, ", ")
}

// flags are those of every command.
func (c *common) flags() []cliFlag {
	return inGroup(groupRun,
		cliFlag{name: "json", everyday: true, to: &c.json,
			help: "print one JSON document instead of text"},
		cliFlag{name: "quiet", to: &c.quiet,
			help: "no progress on standard error"},
		cliFlag{name: "threads", value: "T", rule: "all", to: &c.threads,
			help: "processor cores to use; results don't depend on it"},
		cliFlag{name: "memory", value: "SIZE", rule: "half of the machine's", to: &c.memory,
			help: "memory that a table, a model, or the matrices of a fit may take, as 4GiB or 500MB"},
	)
}

func lossNames() (names []string) {
	for _, kind := range pacbayes.Losses() {
		names = append(names, string(kind))
	}
	return names
}

func inequalities() (names []string) {
	for _, q := range pacbayes.Inequalities() {
		names = append(names, string(q))
	}
	return names
}

// tableEndings are those of files that hold tables, without their points.
func tableEndings() (all []string) {
	for _, format := range files.Formats() {
		for _, ending := range format.Endings {
			all = append(all, strings.TrimPrefix(ending, "."))
		}
	}
	return all
}
