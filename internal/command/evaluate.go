package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
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
			return printEvaluation(cmd.OutOrStdout(), e)
		}),
	}
	f.register(cmd.Flags(), "evaluate")
	return cmd
}

func printEvaluation(w io.Writer, e *krigo.Evaluation) error {
	fmt.Fprintf(w, "%s %.12g", e.Objective, e.Value)
	if e.StandardError != nil {
		fmt.Fprintf(w, " ± %.2g (an estimate and its standard error)", *e.StandardError)
	}
	fmt.Fprintln(w)
	if e.Jitter > 0 {
		fmt.Fprintf(w, "with %.2g added to the diagonal of the inducing inputs' covariance "+
			"matrix\n", e.Jitter)
	}
	fmt.Fprintln(w, "gradient")
	if err := printJSON(w, e.Gradient); err != nil {
		return err
	}
	if e.GradientError != nil {
		fmt.Fprintln(w, "its standard errors")
		if err := printJSON(w, e.GradientError); err != nil {
			return err
		}
	}
	if b := e.EvidenceBounds; b != nil {
		fmt.Fprintln(w, "log evidence, from above to below")
		for _, bound := range []struct {
			name  string
			value *float64
		}{{"upper bound", b.Upper}, {"by the norm of K − Q", b.UpperNorm}, {"evidence", b.Evidence},
			{"α-ELBO", b.AlphaELBO},
			{"α-ELBO at vfe's q(U)", b.AlphaAtVariational}, {"Jensen's there", b.Jensen},
			{"vfe", b.Variational}} {
			if bound.value != nil {
				fmt.Fprintf(w, "  %-22s %.12g\n", bound.name, *bound.value)
			}
		}
	}
	if e.Certificate == nil {
		fmt.Fprintf(w, "No certificate: %s.\n", e.CertificateReason)
	} else {
		sure := ""
		if c := e.Certificate; c.Valid {
			what := spelling.Either(c.Groups > 0, "groups", "rows")
			sure = fmt.Sprintf(", with %s confidence (over the draw of the certified %s)",
				cautious.Complement(c.Delta), what)
		}
		fmt.Fprintf(w, "%s at the rounded parameters: %.6f%s\n", e.Certificate.Label,
			cautious.RoundUp(e.Certificate.Bound, 6), sure)
	}
	return nil
}
