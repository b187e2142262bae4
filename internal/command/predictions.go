package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// predictedFlags are the flags of certify for predictions without a model.
type predictedFlags struct {
	file, prediction, target, group, loss, bound, out string
	above, delta                                      float64

	// of labels
	classes                                      bool
	probabilities, score, costs, positive, slice string
	statements                                   []string
	wrong, recall                                float64
}

// names are the flags that have no use with a model.
var predictedNames = append([]string{"target", "prediction", "group", "loss", "epsilon-above",
	"delta", "bound", "out"}, labelNames...)

// labelNames are the flags that are for labels alone.
// measureNames are the flags that are for numbers alone.
var (
	labelNames = []string{"classes", "probabilities", "score", "statements", "at-most-wrong",
		"recall", "positive",
		"costs", "slice-by"}
	measureNames = []string{"epsilon", "epsilon-above", "loss", "bound"}
)

// bind gives certify the flags that are for --predictions.
func (f *predictedFlags) bind(cmd *cobra.Command) {
	bind(cmd.Flags(),
		cliFlag{name: "predictions", everyday: true, value: "FILE", to: &f.file,
			endings: tableEndings(),
			help:    "certify the predictions in this table, which stand beside what they predict"},
		cliFlag{name: "target", everyday: true, value: "COL", to: &f.target,
			help: "with --predictions: the column that was predicted"}, cliFlag{name: "prediction",
			everyday: true, value: "COL", def: "prediction", to: &f.prediction,
			help: "with --predictions: the column with the predictions"},
		cliFlag{name: "group", everyday: true, value: "COL", to: &f.group,
			help: "with --predictions: column that groups rows: the certificate is about groups"},
		cliFlag{name: "loss", value: "LOSS", def: string(pacbayes.Band), to: &f.loss,
			values: texts(pacbayes.Losses()),
			help:   "with --predictions: what is certified, as in fit"},
		cliFlag{name: "epsilon-above", value: "E", to: &f.above,
			help: "with --predictions: the asymmetric loss's width above"},
		cliFlag{name: "delta", everyday: true, value: "P", def: "0.01", to: &f.delta,
			help: "with --predictions: the certificate may fail with this probability"},
		cliFlag{name: "bound", value: "NAME", rule: "kl", to: &f.bound,
			values: texts(pacbayes.Inequalities()),
			help:   "with --predictions: inequality of the certificate, as in fit"},
		cliFlag{name: "out", everyday: true, value: "FILE", to: &f.out, endings: []string{"json"},
			help: "with --predictions: also write the certificate to this file, as JSON"},
		cliFlag{name: "classes", everyday: true, to: &f.classes,
			help: "with --predictions: the numbers in the target are labels; text always is"},
		cliFlag{name: "probabilities", value: "PREFIX", to: &f.probabilities,
			help: "of labels: columns of probabilities are called PREFIX and a class; the label " +
				"is the most " +
				"probable class"},
		cliFlag{name: "score", value: "COL", to: &f.score,
			help: "of labels: column with larger numbers for surer labels, for --at-most-wrong " +
				"or --recall"},
		cliFlag{name: "statements", value: "LIST", rule: "error", to: &f.statements,
			help: "of labels: what holds together: error, classes, predicted, brier, log-loss, " +
				"calibration, top-K, " +
				"costs, slices"},
		cliFlag{name: "at-most-wrong", value: "A", to: &f.wrong,
			help: "of labels: choose rows to answer, so that at most this share of answers " +
				"is wrong"},
		cliFlag{name: "recall", value: "R", to: &f.recall,
			help: "of labels: choose rows to flag, so that at least this share of the class " +
				"--positive is flagged"},
		cliFlag{name: "positive", value: "CLASS", to: &f.positive,
			help: "of labels: the class that --recall is about"},
		cliFlag{name: "costs", value: "FILE", to: &f.costs, endings: tableEndings(),
			help: "of labels: table of costs, with a row for each true class, named in its first " +
				"column, and a " +
				"column for each label"},
		cliFlag{name: "slice-by", value: "COL", to: &f.slice,
			help: "of labels: bound the error of each value of this column"},
	)
}

// alone refuses flags that don't go together.
func (f *predictedFlags) alone(cmd *cobra.Command, others bool) error {
	if f.file == "" {
		if name := changed(cmd, predictedNames); name != "" {
			return misused("--%s is for --predictions; a model has its own", name)
		}
		return nil
	}
	if !(f.delta > 0 && f.delta < 0.5) { // 0 is the option's default
		return misused("--delta %v: want a probability between 0 and 0.5, such as 0.01", f.delta)
	}
	if others {
		return misused("--fresh, --refit, --no-refit, --accept-file-order and --shift are for " +
			"models, not for --predictions")
	}
	return nil
}

// certify certifies the predictions, prints the certificate, and writes it to --out if that is set.
func (f *predictedFlags) certify(cmd *cobra.Command, c *common, epsilon float64, job ranks.Ranks,
	as dataset.Reading) error {
	if job.Size() > 1 {
		return misused("--predictions are certified on one rank")
	}
	if f.out != "" {
		if err := writable(f.out, ownCertificate, f.file); err != nil {
			return err
		}
	}
	labels := changed(cmd, labelNames) != ""
	names := []string{f.group}
	if labels { // 007 and 7 are two labels, and one number
		names = append(names, f.target, f.prediction, f.slice)
	}
	table, err := readTable(f.file, cmd.InOrStdin(), nil, as.Naming(names...))
	if err != nil {
		return err
	}
	defer table.Close()
	if !labels && table.IsText(f.target) && f.file != "-" {
		again, err := readTable(f.file, nil, nil, as.Naming(f.group, f.target, f.prediction))
		if err != nil {
			return err
		}
		defer again.Close()
		table = again
	}
	if labels || table.IsText(f.target) {
		return f.certifyLabels(cmd, c, table)
	}
	if classes, err := table.Classes(f.prediction); table.IsText(f.prediction) &&
		len(classes) > 0 && err == nil {
		return misused("the target %s has numbers, and the predictions %s are text: if the "+
			"numbers are labels, say --classes", spelling.Quote(f.target),
			spelling.Quote(f.prediction))
	}
	p, err := krigo.CertifyPredictions(cmd.Context(), table, f.prediction,
		krigo.Options{Data: krigo.Data{Target: f.target, Group: f.group},
			Promise: krigo.Promise{Loss: f.loss, Epsilon: epsilon, EpsilonAbove: f.above,
				Delta: f.delta,
				Bound: pacbayes.Inequality(f.bound)}})
	if err != nil {
		return err
	}
	return f.answer(cmd, c, p, "predictions")
}

// changed returns the first of these flags that was set, or "".
func changed(cmd *cobra.Command, names []string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// answer writes the certificate p to --out, if that is set, and to standard output.
func (f *predictedFlags) answer(cmd *cobra.Command, c *common, p any, name string) error {
	if f.out != "" {
		if err := disk.Write(f.out, func(w io.Writer) error {
			return printJSON(w, p)
		}); err != nil {
			return err
		}
	}
	return c.answer(cmd, p, name, p)
}

// certifyLabels certifies labels, prints the certificate, and writes it to --out if that is set.
func (f *predictedFlags) certifyLabels(cmd *cobra.Command, c *common, table *dataset.Table) error {
	if name := changed(cmd, measureNames); name != "" {
		return misused("--%s is for predictions that are numbers, and the target %s has labels",
			name, spelling.Quote(f.target))
	}
	for name, share := range map[string]float64{"at-most-wrong": f.wrong, "recall": f.recall} {
		if share == 0 && cmd.Flags().Changed(name) { // 0 is the option's default
			return misused("--%s 0: want a share between 0 and 1", name)
		}
	}
	o := krigo.LabelOptions{Target: f.target, Prediction: f.prediction, Score: f.score,
		Probabilities: f.probabilities, SliceBy: f.slice, Group: f.group,
		LabelTerms: pacbayes.LabelTerms{Delta: f.delta, Statements: f.statements,
			AtMostWrong: f.wrong, Recall: f.recall, Positive: f.positive}}
	if f.probabilities != "" && !cmd.Flags().Changed("prediction") {
		o.Prediction = ""
	}
	if f.costs != "" {
		costs, err := readTable(f.costs, cmd.InOrStdin(), nil, dataset.Reading{})
		if err != nil {
			return err
		}
		defer costs.Close()
		if o.Costs, err = krigo.ReadCosts(costs); err != nil {
			return err
		}
	}
	p, err := krigo.CertifyLabels(cmd.Context(), table, o)
	if err != nil {
		return err
	}
	return f.answer(cmd, c, p, "labels")
}
