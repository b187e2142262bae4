package command

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// fitFlags are the flags of fit, evaluate and compare, each of which has most of them.
type fitFlags struct {
	options krigo.Options

	// What options hold in other forms.
	epsilon, grid, scaling, inducing, alpha, posterior, bound, meanBound string
	noStandardise, dryRun, freshStart                                    bool
	dates                                                                []string
	duplicates                                                           string

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
	o := &f.options
	return slices.Concat(
		inGroup(groupData,
			cliFlag{name: "target", everyday: true, value: "COL", to: &o.Data.Target, columns: true,
				help: "column to predict (required)"},
			cliFlag{name: "inputs", value: "COLS", rule: "all others", to: &o.Data.Inputs, columns: true,
				help: "columns to predict from; * stands for any text and ? for a character, as in 'temp*'"},
			cliFlag{name: "ignore", everyday: true, value: "COLS", to: &o.Data.Ignore, columns: true,
				help: "columns that are no inputs, such as names of rows; * and ? as in --inputs"},
			cliFlag{name: "categorical", everyday: true, value: "COLS", to: &o.Data.Categorical, columns: true,
				help: "columns of categories, text or numbers: each becomes a column of 0 and 1 for every category of the prior " +
					"rows, and one for all others"},
			cliFlag{name: "missing", everyday: true, value: "HOW", def: dataset.Refuse, to: &o.Data.Missing,
				values: []string{dataset.Refuse, dataset.FillMean},
				help:   "missing inputs: refuse, or mean (over the prior rows; of categories they count among the others)"},
			cliFlag{name: "dates", everyday: true, value: "COLS", to: &f.dates, columns: true,
				help: "columns of dates or times, read as days; COL:dmy or COL:mdy where unclear; COL:day:week:year adds where " +
					"in the period"},
			cliFlag{name: "decimal", value: "C", def: ".", to: &o.Data.Reading.Decimal, values: []string{".", ","},
				help: "the decimal point of CSV files: . or ,"},
			cliFlag{name: "thousands", value: "C", rule: "none", to: &o.Data.Reading.Thousands,
				values: []string{",", ".", "'", " "},
				help:   "what groups digits by three in CSV files: , . ' or a space"},
			cliFlag{name: "na", value: "TEXTS", rule: "empty, NA, N/A, #N/A, NaN, null, ?", to: &o.Data.Reading.Missing,
				help: "further texts that stand for a missing value, as in '-,k.A.'"},
			cliFlag{name: "units", value: "TEXTS", to: &o.Data.Reading.Units,
				help: "texts before or after numbers that say nothing, as kg in \"12.5 kg\""},
			cliFlag{name: "duplicates", value: "HOW", def: "keep", to: &f.duplicates, values: []string{"keep", "drop", "group"},
				help: "rows that repeat others: keep; drop (equal in all cells); group (equal inputs and target count once in " +
					"the certificate)"},
			cliFlag{name: "group", everyday: true, value: "COL", to: &o.Data.Group, columns: true,
				help: "column, no input then, that groups rows, as those of a patient: whole groups get roles, and the " +
					"certificate is about groups"},
			cliFlag{name: "scaling", value: "HOW", def: dataset.PriorRows, to: &f.scaling,
				values: []string{dataset.PriorRows, dataset.Declared + ":", dataset.AllRows},
				help:   "what standardises the columns: prior-rows, declared:FILE, or all-rows (the bound is a heuristic then)"},
			cliFlag{name: "no-standardise", to: &f.noStandardise,
				help: "use the columns as they are: declared constants 0 and 1"},
			cliFlag{name: "split", value: "HOW", def: "random", to: &o.Data.Split, values: []string{"random", "last"},
				help: "roles of rows: random (by the seed and what rows hold), or last (a backtest on the last rows, no " +
					"certificate)"},
			cliFlag{name: "splits", value: "K", def: "5", to: &f.splits, of: "compare",
				help: "random splits, with the seeds --seed and up"},
			cliFlag{name: "test-fraction", everyday: true, value: "SHARE", to: &o.Data.TestFraction, of: "fit",
				help: "share of the rows set aside and scored at the end"},
			cliFlag{name: "test-fraction", everyday: true, value: "SHARE", rule: "0.2", to: &o.Data.TestFraction, of: "compare",
				help: "share of the rows that are scored"},
			cliFlag{name: "test", value: "FILE", to: &f.test, endings: tableEndings(), of: "fit",
				help: "score on the rows of this file instead"},
			cliFlag{name: "params", everyday: true, value: "FILE", to: &f.params, endings: []string{"json"}, of: "evaluate",
				help: "JSON file with the parameters (required)"},
		),
		inGroup(groupKernel,
			cliFlag{name: "kernel", everyday: true, value: "K", rule: "auto, or se", to: &o.Kernel.Expression,
				values: append(kernel.Names(), "auto"), of: "fit compare",
				help: strings.Join(kernel.Names(), ", ") + `; sums, products ("se+linear*rq"); lists "se,rq"; auto`},
			cliFlag{name: "ard", value: "HOW", rule: "on, or auto", to: &o.Kernel.ARD, values: []string{"on", "off", "auto"},
				of:   "fit compare",
				help: "one lengthscale an input: on, off, or auto (both are tried, and the choice is paid for with ln 2)"},
			cliFlag{name: "mean", value: "M", rule: "constant, or zero", to: &o.Kernel.Mean,
				values: []string{"zero", "constant", "linear"},
				help:   "prior mean: zero, constant or linear; a trained one is paid for like a kernel parameter"},
		),
		inGroup(groupMethod,
			cliFlag{name: "objective", everyday: true, value: "NAME", rule: "by prior and rows", to: &o.Method.Name,
				values: method.Names(), of: "fit compare",
				help: "what training minimises: " + methods()},
			cliFlag{name: "objective", everyday: true, value: "NAME", rule: method.KLPACName, to: &o.Method.Name,
				values: method.Names(), of: "evaluate",
				help: "what is evaluated: " + methods()},
			cliFlag{name: "objectives", everyday: true, value: "LIST", def: method.KLPACName + "," + method.EvidenceName,
				to: &f.objectives, values: method.Names(), of: "compare",
				help: "what the fits minimise: " + methods()},
			cliFlag{name: "inducing", everyday: true, value: "M", rule: "by objective and rows", to: &f.inducing,
				values: []string{"auto", "theory"},
				help:   "inducing inputs of a sparse GP; 0: the full GP; auto (Nyström error) or theory (a theorem) say how many"},
			cliFlag{name: "inducing-init", value: "HOW", def: "kmeans", to: &o.Method.InducingInit,
				values: []string{"kmeans", "greedy", "kdpp", "random"}, of: "fit compare",
				help: "where inducing inputs start: kmeans, greedy (conditional variance), kdpp, random"},
			cliFlag{name: "fix-inducing", to: &o.Method.FixInducing, of: "fit compare",
				help: "keep the inducing inputs where they start"},
			cliFlag{name: "alpha", value: "A", rule: "by objective", to: &f.alpha, values: []string{"learn", "cv"},
				help: "sparse kl-pac, sqrt-pac, pep: 0 (VFE) to 1 (FITC), or learn; renyi, where it stays: 0 (exact) to 1 (VFE), " +
					"or cv"},
			cliFlag{name: "alphas", value: "LIST", rule: "0,0.25,0.5,0.75,1", to: &o.Method.Alphas,
				values: []string{"0", "0.25", "0.5", "0.75", "1"}, of: "fit compare",
				help: "renyi: the α that --alpha cv chooses from by predictions for left-out thirds"},
			cliFlag{name: "anneal", value: "HOW", rule: "linear", to: &o.Method.Anneal,
				values: []string{"linear", "cosine", "geometric", "none"}, of: "fit compare",
				help: "renyi: how α falls from 0.99 to 0 (on batches in a fifth of the steps): linear, cosine, geometric; none: " +
					"--alpha stays"},
			cliFlag{name: "posterior", value: "P", def: "objective", to: &f.posterior,
				values: []string{"objective", "fitc", "free", "learnt"},
				help:   "of a sparse GP: the objective's, fitc (α = 1), free (kl-pac, sqrt-pac), or learnt (from an informed prior)"},
			cliFlag{name: "neighbours", value: "M", rule: "64", to: &o.Method.Neighbours,
				help: "nearest: rows that each is predicted from in training"},
			cliFlag{name: "term", value: "T", rule: "density", to: &o.Method.Term,
				values: []string{"density", "squared", "crps", "loss"},
				help:   "nearest: what a prediction costs: density (its logarithm), squared, crps, loss (what is certified)"},
			cliFlag{name: "form", value: "F", rule: "loo", to: &o.Method.Form, values: []string{"loo", "vecchia"},
				help: "nearest: neighbours among all other rows (loo), or those before it in a random order (vecchia)"},
			cliFlag{name: "hyperprior", value: "H", rule: "weak, or none", to: &o.Method.Hyperprior,
				values: []string{"none", "weak"}, of: "fit compare",
				help: "evidence, nearest: a weak prior density of lengthscales and noise, of which the mode is found"},
			cliFlag{name: "solver", value: "S", def: "auto", to: &o.Method.Solver,
				values: []string{"auto", posterior.ByCholesky, posterior.ByCG, posterior.ByNearest},
				help: "of a full GP: cholesky (to 20,000 rows); cg and nearest (batches, --fix-parameters), certified with " +
					"--prior informed alone"},
			cliFlag{name: "optimizer", value: "O", rule: "lbfgs; adam for svgp, batches, renyi above 2,000 rows",
				to: &o.Method.Optimizer, values: []string{"lbfgs", "mma", "adam", "sgd"}, of: "fit compare",
				help: "lbfgs, mma: all rows in a step; adam, sgd: batches (svgp, renyi, evidence, free)"},
			cliFlag{name: "epochs", value: "E", rule: "lbfgs, mma 1,000; adam, sgd 3,000 steps, batches nearest 500",
				to: &o.Method.Epochs, of: "fit compare",
				help: "passes over the rows at most; each evaluation of lbfgs and mma is one"},
			cliFlag{name: "batch", value: "B", rule: "1,000; nearest, batches nearest 256; renyi, evidence on uniform ones 1,024", to: &o.Method.Batch, of: "fit compare",
				help: "adam, sgd: rows of a batch"},
			cliFlag{name: "batches", value: "HOW", rule: "of these nearest", to: &o.Method.Batches,
				values: []string{"uniform", "nearest"}, of: "fit compare",
				help: "uniform (every row once an epoch), or of renyi and evidence nearest (a random row and those nearest to it)"},
			cliFlag{name: "learning-rate", value: "R", rule: "adam 0.02, nearest, batches nearest 0.05, free 0.001, sgd 0.1",
				to: &o.Method.LearningRate, of: "fit compare",
				help: "adam, sgd: learning rate of the first step, which falls to a hundredth"},
			cliFlag{name: "restarts", value: "N", rule: "3; sparse, cg, batches 1", to: &o.Run.Restarts, of: "fit compare",
				help: "starting points per kernel family"},
			cliFlag{name: "init", value: "FILE", to: &f.init, endings: []string{"json"}, of: "fit",
				help: "start from the parameters in this JSON file (not with an informed prior, which prior rows alone may shape)"},
			cliFlag{name: "fix-parameters", to: &o.Run.FixParameters, of: "fit compare",
				help: "evidence: no training, the full GP at the parameters of --init"},
		),
		inGroup(groupPrior,
			cliFlag{name: "prior", value: "P", rule: "informed; grid with --objective and flags of its own", to: &o.Prior.Kind,
				values: []string{"grid", "informed"}, of: "fit compare",
				help: "grid (data-blind; certified rows train the model) or informed (prior rows do)"},
			cliFlag{name: "prior-share", value: "SHARE", rule: "informed 0.7 to 0.875; grid a tenth, 20 to 1,000 rows",
				to: &o.Prior.Share, of: "fit compare",
				help: "share of the rows, test and calibration rows apart, that are prior rows"},
			cliFlag{name: "temper", value: "LIST", rule: "1", to: &o.Prior.Temper, of: "fit compare",
				help: "informed: factors of the prior's covariance, chosen among on the certified rows and paid for"},
			cliFlag{name: "grid", value: "L,DIGITS", def: "6,2", to: &f.grid,
				help: "log-parameters are decimals of so many digits in [−L, L]; L,mixed: 0 to 2 digits, few lengthscales, paid for"},
		),
		inGroup(groupPromise,
			cliFlag{name: "loss", value: "LOSS", def: string(pacbayes.Band), to: &o.Promise.Loss,
				values: lossNames(),
				help: "what is certified: band (|y−ŷ|>ε), clipped-square, gaussian, relative (>ε|y|), scaled (>ε sd of ŷ), " +
					"asymmetric, clipped-absolute"},
			cliFlag{name: "epsilon", everyday: true, value: "E", def: "0.6", to: &f.epsilon, of: "fit evaluate",
				help: "half-width ε of the loss; below:above for the asymmetric one, as in 0.4:0.8"},
			cliFlag{name: "epsilon", everyday: true, value: "LIST", def: "0.6", to: &f.epsilon, of: "compare",
				help: "half-widths ε of the loss; below:above for the asymmetric one, as in 0.4:0.8"},
			cliFlag{name: "epsilon-units", everyday: true, value: "UNIT", def: "sd", to: &o.Promise.Units,
				values: []string{"sd", "raw"},
				help:   "units of ε: sd (standard deviations of the target) or raw (the target's own)"},
			cliFlag{name: "delta", everyday: true, value: "P", def: "0.01", to: &o.Promise.Delta,
				help: "the certificate may fail with this probability, over the draw of the certified rows"},
			cliFlag{name: "bound", value: "NAME", rule: "kl; maurer if learnt from an informed prior", to: &f.bound,
				values: inequalities(),
				help:   "inequality of the certificate: kl, maurer, pinsker, split-kl, betting (fixed posteriors)"},
			cliFlag{name: "mean-bound", value: "ROUTE", rule: "direct where it can be, else twice", to: &f.meanBound,
				values: []string{string(pacbayes.Twice), string(pacbayes.Direct), string(pacbayes.Both)}, of: "fit compare",
				help: "bound on predictions: twice (a random draw's), direct (their own losses), both"},
			cliFlag{name: "promise", everyday: true, value: "SHARE", to: &o.Promise.Share,
				help: "also find the smallest band ±ε guaranteed for this share of predictions, as in 0.95; it takes half of δ"},
			cliFlag{name: "curve", to: &o.Promise.Curve, of: "fit",
				help: "bound every half-width at once, of a mean that is certified by its own misses, and the mean absolute error"},
			cliFlag{name: "slices", value: "COLS", to: &o.Promise.Slices, columns: true, of: "fit",
				help: "also bound the misses of kinds of rows, by columns or, as sd, by how sure the model is; they take half of δ"},
			cliFlag{name: "calibration-fraction", value: "SHARE", to: &o.Promise.Calibration, of: "fit compare",
				help: "rows for conformal intervals, which hold on average over draws of these and further rows from the same " +
					"source (exchangeable rows)"},
		),
		inGroup(groupRun,
			cliFlag{name: "seed", everyday: true, value: "S", def: "0", to: &o.Run.Seed,
				help: "deals the rows their roles and draws random starts; same seed, same result"},
			cliFlag{name: "out", everyday: true, value: "FILE", rule: "DATA's name with .krigo", to: &f.out,
				endings: []string{"krigo"}, of: "fit",
				help: "model file to write"},
			cliFlag{name: "budget", value: "TIME", to: &o.Run.Budget, of: "fit",
				help: "as 60s: of the kernels that are to be tried, begin none that would take training beyond this time"},
			cliFlag{name: "deliver", everyday: true, value: "WHICH", def: "certified", to: &o.Run.Deliver,
				values: []string{"certified", "all"}, of: "fit",
				help: "all: also a sibling trained on all rows, which predicts better and has no certificate, as OUT-all"},
			cliFlag{name: "out", everyday: true, value: "FILE", to: &f.out, endings: []string{"csv", "json", "html"},
				of:   "compare",
				help: "also write all measures to this file: CSV, JSON or HTML, as it ends in .csv, .json or .html"},
			cliFlag{name: "declared", value: "FILE", to: &f.declared, endings: []string{"json"}, of: "fit",
				help: "fit as a declaration says (krigo declare), whose hash the certificate carries; options are none beside"},
			cliFlag{name: "dry-run", everyday: true, to: &f.dryRun, of: "fit",
				help: "say what the fit would do, every default filled in, and train nothing"},
			cliFlag{name: "resume", value: "FILE", to: &f.resume, endings: []string{"checkpoint"}, of: "fit",
				help: "go on from this checkpoint, and save to it, in the place of OUT.checkpoint"},
			cliFlag{name: "fresh-start", to: &f.freshStart, of: "fit",
				help: "begin anew although an interrupted fit of the same data and options left a checkpoint"},
		),
	)
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
