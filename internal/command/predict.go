package command

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/answer"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/lists"
)

// predictDocument is what predict --json prints.
type predictDocument struct {
	answer.Answer
	// columns of the data, as text, row by row
	Kept map[string][]string `json:"kept,omitempty"`
}

// predictFlags are the flags of predict.
type predictFlags struct {
	out           string
	kinds, keep   []string
	level         float64
	data, by      string
	exactVariance bool
	explain       bool
	samples       int
	seed          uint64
	tables        tableFlags
}

// check refuses flags that don't go together, and a file that predict must not overwrite.
func (f *predictFlags) check(json bool, inputs []string) error {
	few := slices.ContainsFunc(f.kinds, func(kind string) bool {
		return slices.Contains(krigo.FewRowKinds(), kind)
	})
	ending := filepath.Ext(f.out)
	binary := !files.WritesCSV(f.out) && ending != ".json"
	switch {
	case f.samples < 0:
		return misused("--samples %d: want a number of draws", f.samples)
	case !(f.level > 0 && f.level < 1):
		return misused("--level %v: want a share of targets between 0 and 1, such as 0.9", f.level)
	case few && f.data == "":
		return misused("--intervals full and jackknife need the data that the model was made " +
			"from: add --data FILE")
	case !few && f.data != "":
		return misused("--data goes with --intervals full or jackknife, which need the data that " +
			"the model was made from")
	case f.by != "" && !few:
		return misused("--by %s is for --intervals full and jackknife", f.by)
	case json && binary:
		return misused("--json and --out %s exclude each other: name a .json file", f.out)
	case (json && ending == ".gz") || (!json && ending == ".json"):
		return misused("--out %s: a .json file holds what --json writes, uncompressed", f.out)
	case len(f.keep) > 0 && binary:
		return misused("--keep and --out %s: columns are kept as text, in CSV and JSON", f.out)
	}
	for i, kind := range f.kinds {
		if slices.Contains(f.kinds[:i], kind) {
			return misused("--intervals: %s is listed twice", kind)
		}
	}
	if f.out != "" {
		return writable(f.out, ownPredictions(f.keep), append(slices.Clone(inputs), f.data)...)
	}
	return nil
}

// run predicts the rows of the table args[1] with the model args[0].
func (f *predictFlags) run(cmd *cobra.Command, c *common, args []string) error {
	if err := f.check(c.json, args); err != nil {
		return err
	}
	all, err := krigo.LoadTargets(args[0])
	if err != nil {
		return err
	}
	m := all.Model(0)
	table, err := f.tables.read(cmd, c, args[1], nil, m.Reading.Every())
	if err != nil {
		return err
	}
	defer table.Close()
	// kept has the columns of --keep, which stand before the predictions.
	kept, err := f.kept(table)
	switch {
	case err != nil:
		return err
	case all.Classes() != nil:
		return f.predictClasses(cmd, c, all, table, kept)
	case len(all.Models) > 1:
		return f.predictTargets(cmd, c, all, table, kept)
	}
	d := predictDocument{}
	if d.Answer, err = f.answer(cmd, c, m, table); err != nil {
		return err
	}
	f.tell(cmd, d.Notices)
	// Labels are text. Files of numbers leave them out, and JSON has them in each prediction.
	if (m.Classes != nil || m.Ordinal != nil) && !c.json &&
		files.WritesCSV(f.out) {
		kept = kept.Labelled(func(row int) string { return d.Predictions[row].Label }, d.Sets)
	}
	columns := columnsOf(d.Answer)
	return f.write(cmd.OutOrStdout(), written{&d, &d.Kept, c.json, columns.Names, table.Rows,
		columns.Fill}, kept)
}

// setLevel returns the level of sets of labels, or 0 if --intervals doesn't ask for any.
func (f *predictFlags) setLevel() (float64, error) {
	switch {
	case len(f.kinds) == 0:
		return 0, nil
	case !slices.Equal(f.kinds, []string{"conformal"}) ||
		!files.WritesCSV(f.out):
		return 0, misused("--intervals %s: a target of classes has conformal sets of labels "+
			"alone, in CSV and JSON", strings.Join(f.kinds, ","))
	}
	return f.level, nil
}

// kept returns the columns of --keep, or nil.
func (f *predictFlags) kept(table *dataset.Table) (*dataset.Kept, error) {
	if len(f.keep) == 0 {
		return nil, nil
	}
	kept, err := table.Keep(f.keep)
	if err != nil {
		return nil, fmt.Errorf("--keep: %w", err)
	}
	return kept, nil
}

// tell prints what a person should know about the rows and the intervals.
// These are warnings, and no progress, which --quiet turns off.
func (f *predictFlags) tell(cmd *cobra.Command, found []string) {
	for _, one := range found {
		fmt.Fprintln(cmd.ErrOrStderr(), one)
	}
	if slices.Contains(f.kinds, "band") {
		fmt.Fprintln(cmd.ErrOrStderr(), finding.New(finding.BandUnchecked))
	}
}

// answer returns what a model says about the rows of a table.
func (f *predictFlags) answer(cmd *cobra.Command, c *common, m *krigo.Model,
	table *dataset.Table) (d answer.Answer, err error) {
	if by := m.Posterior.Local(); by != "" && !c.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "each row is predicted by the exact GP on %s, not on "+
			"all %d\n", by, m.Posterior.Support.Rows)
	}
	progress := newProgress(cmd.ErrOrStderr(), c.quiet)
	defer progress.end()
	asked := answer.Asked{ExactVariance: f.exactVariance, Findings: true, Samples: f.samples,
		Seed: f.seed, Explain: f.explain,
		Progress: func(iteration int, residual float64) {
			progress.event(krigo.Event{Solver: m.Posterior.Kind(), Iteration: iteration,
				Residual: residual})
		}}
	if m.Classes != nil {
		asked.Sets, err = f.setLevel()
	} else {
		asked.Intervals = f.intervals()
	}
	if err == nil && f.data != "" {
		if asked.Data, err = readTable(f.data, cmd.InOrStdin(), nil, m.Reading); err == nil {
			defer asked.Data.Close()
		}
	}
	if err != nil {
		return d, err
	}
	return asked.Of(progress.telling(cmd.Context()), m, table)
}

// intervals returns the intervals of --intervals.
func (f *predictFlags) intervals() []krigo.IntervalOptions {
	return lists.Of(f.kinds, func(kind string) krigo.IntervalOptions {
		o := krigo.IntervalOptions{Kind: kind, Level: f.level}
		if slices.Contains(krigo.FewRowKinds(), kind) {
			o.By = f.by
		}
		return o
	})
}

// columnsOf returns an answer as a table.
func columnsOf(d answer.Answer) answer.Table {
	if d.Classes != nil {
		return d.Probabilities()
	}
	return d.Table()
}

// written is what predict writes: a document as JSON, or the same as a table.
type written struct {
	document any
	columns  *map[string][]string // the document's kept columns
	json     bool
	names    []string // columns of the table
	rows     int
	fill     func(i int, values []float64) error
}

// write writes predictions as JSON or as a table, to the file or output that the flags name.
func (f *predictFlags) write(w io.Writer, d written, kept *dataset.Kept) error {
	// files.WriteFile knows formats by their ending, but no kept columns and no JSON.
	write := func(w io.Writer) (err error) {
		switch {
		case d.json:
			if kept != nil {
				if *d.columns, err = kept.Columns(d.rows); err != nil {
					return err
				}
			}
			return json.NewEncoder(w).Encode(d.document)
		case kept != nil && slices.Contains([]string{".gz", ".zst"}, filepath.Ext(f.out)):
			z, err := compressed(w, filepath.Ext(f.out))
			if err != nil {
				return err
			}
			return errors.Join(files.Beside(kept)(z, d.names, d.rows, d.fill), z.Close())
		case kept != nil:
			return files.Beside(kept)(w, d.names, d.rows, d.fill)
		}
		return files.Write(w, d.names, d.rows, d.fill)
	}
	switch {
	case f.out == "":
		return write(w)
	case d.json, kept != nil:
		return disk.Write(f.out, write)
	}
	return files.WriteFile(f.out, d.names, d.rows, d.fill)
}

// compressed returns a writer that compresses what it writes to w, as a file of this ending has it.
func compressed(w io.Writer, ending string) (io.WriteCloser, error) {
	if ending == ".zst" {
		return zstd.NewWriter(w)
	}
	return gzip.NewWriter(w), nil
}

// predictTargets predicts the rows of a table with models of several targets.
// The columns of a target's predictions end in _TARGET.
func (f *predictFlags) predictTargets(cmd *cobra.Command, c *common, all *krigo.Targets,
	table *dataset.Table, kept *dataset.Kept) error {
	var d targetsPredicted
	var columns answer.Table
	shared := map[string]int{} // how many targets a text is about
	for i, m := range all.Models {
		one, err := f.answer(cmd, c, all.Model(i), table)
		if err != nil {
			return fmt.Errorf("target %s: %w", m.Target, err)
		}
		for _, text := range one.Findings.Words() {
			shared[text]++
		}
		columns.Beside(m.Target, columnsOf(one))
		d.Targets = append(d.Targets, one)
	}
	var said []string
	for i, one := range d.Targets {
		for _, text := range one.Findings.Words() {
			switch {
			case shared[text] < len(d.Targets):
				said = append(said, cautious.Name(one.Target)+": "+text)
			case i == 0: // it is about all targets
				said = append(said, text)
			}
		}
	}
	f.tell(cmd, said)
	return f.write(cmd.OutOrStdout(), written{&d, &d.Kept, c.json, columns.Names,
		table.Rows, columns.Fill}, kept)
}

// classesPredicted is what predict --json prints of more than two classes.
type classesPredicted struct {
	krigo.Labels
	Notices []string            `json:"notices,omitempty"`
	Kept    map[string][]string `json:"kept,omitempty"`
}

// predictClasses predicts the rows of a table with models of more than two classes:
// a label, and a probability of each class.
func (f *predictFlags) predictClasses(cmd *cobra.Command, c *common, all *krigo.Targets,
	table *dataset.Table, kept *dataset.Kept) error {
	if f.samples > 0 || f.explain {
		return misused("--samples, --explain: a target of more than two classes has no draws and " +
			"explanations")
	}
	var d classesPredicted
	level, err := f.setLevel()
	var found finding.List
	if err == nil {
		d.Labels, found, err = answer.Labels(cmd.Context(), all, table, level)
	}
	if err != nil {
		return err
	}
	d.Notices = found.Words()
	f.tell(cmd, d.Notices)
	names, fill, labelled := d.Table(kept)
	if !c.json && files.WritesCSV(f.out) {
		kept = labelled
	}
	return f.write(cmd.OutOrStdout(), written{&d, &d.Kept, c.json, names, len(d.Predictions), fill},
		kept)
}

// targetsPredicted is what predict --json prints of several targets.
type targetsPredicted struct {
	Targets []answer.Answer     `json:"targets"`
	Kept    map[string][]string `json:"kept,omitempty"`
}

func newPredict(c *common) *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA",
		Short: "Predict the mean, the variance and an interval for each row",
		Example: `  krigo predict houses.krigo new.csv
  krigo predict houses.krigo new.csv --keep id --out predictions.csv
  krigo predict houses.krigo new.csv --intervals conformal,band`,
		Long: `DATA is a file of any kind that fit reads, or - for standard input. It needs the model's input columns, in any order.
predict ignores other columns. Results are in the target's own units:

  mean                 of the function and of the target
  latent_variance      of the function itself
  predictive_variance  of an observation, with observation noise
  lower95, upper95     central 95 % interval for an observation
  outside              how many inputs lie outside the range of the model's rows; 1 if none does, but the row is farther
                       from the training rows than nearly all others
  latent_sd            the root of latent_variance, also if the variance is outside the range of numbers
  predictive_sd        the root of predictive_variance, likewise

This interval is the model's own belief, and isn't certified. Its standard deviations are times a factor with which it
holds about 95 % of the certified rows (conformal.stretch of krigo fit --json). --intervals adds other intervals, in columns KIND_lower
and KIND_upper. Each kind has its own guarantee:

  conformal    holds 95 % of further targets, or the share --level, on average over draws of the certified rows (or,
               after --calibration-fraction, the calibration rows) and further rows from the same source
               (exchangeable rows), whatever the model. Certified rows serve if the mean is certified by its own
               misses, as by default. For classes, the column labels has the labels that can't be excluded, and
               holds the share of the rows of each class
  normalised   the same, and wider where the model is less sure
  full         the same, from all rows (--data), if they are few: the parameters are those of the prior rows, and every
               other row helps to predict and to say how far predictions miss
  jackknife    likewise, at least 2P − 1 for the share P, and about P in practice
  band         the certificate's: with its confidence, over the draw of the certified rows, at least its share of all
               further targets lie within. predict takes the band from the model file; krigo certify checks it

--samples K draws K functions from the posterior, jointly for all rows, and adds their values as sample1 … sampleK.
These are draws of the function itself, without observation noise.

--explain says how much each column moves a prediction away from explain_base, the prediction at the mean row. The
columns contribution_COL are integrated gradients. They sum to mean − explain_base − explain_remainder.

Models of --solver cg have variances given each row's nearest training rows. These are never too small, and fit's
notices say how good they are. --exact-variance solves for each row's variance, in minutes for some hundred rows. Models
of --solver nearest predict each row from the training rows nearest to it, and say so on standard error.`,
		Args: exactly(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, args) },
	}
	bind(cmd.Flags(),
		cliFlag{name: "intervals", value: "LIST", to: &f.kinds,
			values: slices.Concat(krigo.IntervalKinds(),
				krigo.FewRowKinds()),
			help: "further intervals: " +
				strings.Join(slices.Concat(krigo.IntervalKinds(), krigo.FewRowKinds()), ", ")},
		cliFlag{name: "keep", value: "COLS", to: &f.keep, columns: true,
			help: "columns of DATA that stand before the predictions, such as names of rows"},
		cliFlag{name: "data", value: "DATA", to: &f.data, endings: tableEndings(),
			help: "the data that the model was made from, for intervals full and jackknife"},
		cliFlag{name: "by", value: "COL", to: &f.by,
			help: "column whose values each get their own intervals full and jackknife"},
		cliFlag{name: "level", value: "P", def: "0.95", to: &f.level,
			help: "share of targets that intervals are to hold, but for the band, which is the " +
				"certificate's"},
		cliFlag{name: "exact-variance", to: &f.exactVariance,
			help: "models of --solver cg: solve for each row's variance"},
		cliFlag{name: "explain", to: &f.explain,
			help: "add what each column contributes to each prediction, a column each"},
		cliFlag{name: "samples", value: "K", rule: "none", to: &f.samples,
			help: "joint draws of the function from the posterior, a column each"},
		cliFlag{name: "seed", value: "S", def: "0", to: &f.seed,
			help: "seed of the draws; same seed, same draws"}, cliFlag{name: "out", value: "FILE",
			rule: "standard output", to: &f.out, endings: append(tableEndings(), "json"),
			help: "CSV, gzip or zst of it, NPY, NPZ or Parquet, as it ends in .csv, .gz, .zst, " +
				".npy, .npz or .parquet; with --json " +
				".json"},
	)
	f.tables.bind(cmd)
	return cmd
}
