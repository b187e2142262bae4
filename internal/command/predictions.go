package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/ranks"
)

// predictedFlags are the flags of certify for predictions without a model.
type predictedFlags struct {
	file, prediction, target, group, loss, bound, out string
	above, delta                                      float64
}

// names are the flags that have no use with a model.
var predictedNames = []string{"target", "prediction", "group", "loss", "epsilon-above", "delta", "bound", "out"}

func (f *predictedFlags) bind(cmd *cobra.Command) {
	bind(cmd.Flags(),
		cliFlag{name: "predictions", value: "FILE", to: &f.file, endings: tableEndings(),
			help: "certify the predictions in this table, which stand beside what they predict"},
		cliFlag{name: "target", value: "COL", to: &f.target, help: "with --predictions: the column that was predicted"},
		cliFlag{name: "prediction", value: "COL", def: "prediction", to: &f.prediction,
			help: "with --predictions: the column with the predictions"},
		cliFlag{name: "group", value: "COL", to: &f.group,
			help: "with --predictions: column that groups rows: the certificate is about groups"},
		cliFlag{name: "loss", value: "LOSS", def: string(pacbayes.Band), to: &f.loss, values: texts(pacbayes.Losses()),
			help: "with --predictions: what is certified, as in fit"},
		cliFlag{name: "epsilon-above", value: "E", to: &f.above,
			help: "with --predictions: the asymmetric loss's width above"},
		cliFlag{name: "delta", value: "P", def: "0.01", to: &f.delta,
			help: "with --predictions: the certificate may fail with this probability"},
		cliFlag{name: "bound", value: "NAME", rule: "kl", to: &f.bound, values: texts(pacbayes.Inequalities()),
			help: "with --predictions: inequality of the certificate, as in fit"},
		cliFlag{name: "out", value: "FILE", to: &f.out, endings: []string{"json"},
			help: "with --predictions: also write the certificate to this file, as JSON"},
	)
}

// alone refuses flags that don't go together.
func (f *predictedFlags) alone(cmd *cobra.Command, others bool) error {
	if f.file == "" {
		for _, name := range predictedNames {
			if cmd.Flags().Changed(name) {
				return misused("--%s is for --predictions; a model has its own", name)
			}
		}
		return nil
	}
	if !(f.delta > 0 && f.delta < 1) { // 0 is the option's default
		return misused("--delta %v: want a probability between 0 and 1, such as 0.01", f.delta)
	}
	if others {
		return misused("--fresh, --refit, --no-refit, --accept-file-order and --shift are for " +
			"models, not for --predictions")
	}
	return nil
}

// certify certifies the predictions, prints the certificate, and writes it to --out if that is set.
func (f *predictedFlags) certify(cmd *cobra.Command, c *common, epsilon float64, job ranks.Ranks) error {
	if job.Size() > 1 {
		return misused("--predictions are certified on one rank")
	}
	if f.out != "" {
		if err := writable(f.out, ownCertificate, f.file); err != nil {
			return err
		}
	}
	table, err := readTable(f.file, cmd.InOrStdin(), nil, dataset.Reading{}.Naming(f.group))
	if err != nil {
		return err
	}
	defer table.Close()
	p, err := krigo.CertifyPredictions(cmd.Context(), table, f.prediction,
		krigo.Options{Data: krigo.Data{Target: f.target, Group: f.group},
			Promise: krigo.Promise{Loss: f.loss, Epsilon: epsilon, EpsilonAbove: f.above, Delta: f.delta,
				Bound: pacbayes.Inequality(f.bound)}})
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := disk.Write(f.out, func(w io.Writer) error { return printJSON(w, p) }); err != nil {
			return err
		}
	}
	return c.answer(cmd, p, func(w io.Writer) {
		fmt.Fprintln(w, paragraphs(p.Sentence)+"\n")
		fmt.Fprintf(w, "  hold-out bound %.4f from %s: empirical risk %.4f\nConditions\n",
			cautious.RoundUp(p.Certificate.Bound, 4), counted(p.Certificate.Rows, p.Certificate.Groups, "certified"),
			p.Certificate.EmpiricalRisk)
		for _, s := range p.Certificate.Conditions {
			fmt.Fprintln(w, "  - "+s)
		}
	})
}
