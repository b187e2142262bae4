package command

import (
	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/ranks"
)

// ofTheFit are flags of the fit alone.
var ofTheFit = []string{"out", "resume", "fresh-start", "dry-run", "test", "declared", "budget"}

func newDeclare(c *common) *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "declare DATA --target COL",
		Short: "Write down what a fit will do, before it is done",
		Long: `Write a declaration to standard output: the plan of krigo fit with the same flags, every default filled in,
and the SHA-256 of the rows. Nothing is trained. Sign it, have it timestamped or publish it, and fit with
--declared FILE: the certificate carries the declaration's SHA-256, and krigo certify --declaration FILE
checks that the model is the declared one. It proves that the model is the one declared, at a time that somebody
else can vouch for. It doesn't prove that nothing else was tried: a declaration needs the rows with their targets,
so other seeds and options could be tried before the best was declared.`,
		Example: `  krigo declare houses.csv --target price --epsilon 20000 --epsilon-units raw > declaration.json
  krigo fit houses.csv --declared declaration.json`,
		Args: exactly(1),
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			for _, name := range ofTheFit {
				if cmd.Flags().Changed(name) {
					return misused("--%s: it is the fit's, not a declaration's", name)
				}
			}
			table, o, err := f.read(args[0], cmd.InOrStdin(), r)
			if err != nil {
				return err
			}
			defer table.Close()
			text, err := krigo.Declare(cmd.Context(), table, o)
			if err == nil && r.Rank() == 0 {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		}),
	}
	f.register(cmd.Flags(), "fit")
	for _, name := range ofTheFit {
		cmd.Flags().MarkHidden(name)
	}
	return cmd
}
