package command

import (
	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/ranks"
)

func newEvaluate(c *common) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:     "evaluate DATA --target COL --params PARAMS.json",
		Short:   "Compute an objective, its gradient and its certificate at given parameters",
		Example: `  krigo evaluate houses.csv --target price --params params.json`,
		Long: `PARAMS.json has the parameters in scaled units:

  {"kernel": {"name": "se", "variance": 1.2, "lengthscales": [0.5, 2]},
      "noise_variance": 0.1, "mean": {"constant": 0}}

A single lengthscale stands for all inputs. rq adds "shape", and periodic adds "period". Sums and products are
{"name": "sum", "parts": [...]}. A sparse GP has "inducing": [[...], ...]. A free-form posterior of kl-pac, sqrt-pac or
svgp has "posterior": {"mean": [...], "chol": [[...], ...]}: its mean at the inducing inputs, and the lower Cholesky
factor of its covariance there. Rows get their roles and their scaling as in a fit.

Training would minimise the value. Gradients are with respect to ln l, ln σ_s² and ln σ_n². For a sparse GP, bounds of
the log evidence from both sides show how far it is from the exact GP. The certificate is at the parameters rounded to
the grid.`,
		Args: exactly(1),
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			if f.params == "" {
				return misused("--params is missing: name the JSON file with the parameters")
			}
			p, err := readParams(f.params)
			if err != nil {
				return err
			}
			table, o, err := f.read(args[0], cmd.InOrStdin(), r)
			if err != nil {
				return err
			}
			defer table.Close()
			e, err := krigo.Evaluate(cmd.Context(), table, p, o)
			if err != nil {
				return err
			}
			if c.json {
				return printJSON(cmd.OutOrStdout(), e)
			}
			return say(cmd.OutOrStdout(), "evaluation", e)
		}),
	}
	f.register(cmd.Flags(), "evaluate")
	return cmd
}
