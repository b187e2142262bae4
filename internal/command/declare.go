package command

import (
	"crypto/sha256"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/ranks"
)

// ofTheFit are flags of fit that a declaration doesn't have.
var ofTheFit = []string{"out", "resume", "fresh-start", "dry-run", "verbose", "test",
	"declared", "budget"}

func newDeclare(c *common) *cobra.Command {
	var f fitFlags
	var log string
	cmd := &cobra.Command{
		Use:   "declare DATA --target COL",
		Short: "Write down what a fit will do, before it does it",
		Example: `  krigo declare houses.csv --target price --epsilon 0.5 > declaration.json
  krigo declare houses.csv --target price --log log.jsonl > declaration.json
  krigo fit houses.csv --declared declaration.json`,
		Long: `declare writes a declaration to standard output: the plan of krigo fit with the same flags, with every default filled
in, and the SHA-256 of the rows. It trains nothing. Sign the declaration, have it timestamped or publish it, and then
fit with --declared FILE. The certificate carries the declaration's SHA-256, which declare prints to standard error, and
krigo certify --declaration FILE checks that the model is the declared one.

With --log FILE, declare also adds a line to a log, in which every line has the SHA-256 of the line before it. The
SHA-256 of the last line is the head of the log, which declare prints. Whoever published the head can date every
declaration of the log, and krigo certify --declared FILE says what the log proves. The log also has times, which only
this machine's clock told.

A declaration proves that the model is the declared one, at a time that somebody else can vouch for. It doesn't prove
that nothing else was tried: whoever has the rows with their targets can try other seeds and options, and declare the
best of them.`,
		Args: exactly(1),
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			// These flags stay known, so that the error can say that they are for fit.
			for _, name := range ofTheFit {
				if cmd.Flags().Changed(name) {
					return misused("--%s is for fit; a declaration doesn't have it", name)
				}
			}
			table, o, err := f.read(args[0], cmd.InOrStdin(), r)
			if err != nil {
				return err
			}
			defer table.Close()
			text, err := krigo.Declare(cmd.Context(), table, o)
			if err != nil || r.Rank() > 0 {
				return err
			}
			said := fmt.Sprintf("declaration: SHA-256 %x", sha256.Sum256(text))
			if log != "" {
				line, head, err := krigo.AppendLog(log, text)
				if err != nil {
					return fmt.Errorf("--log: %w", err)
				}
				said += fmt.Sprintf("\n%s: line %d; its head is SHA-256 %s", log, line, head)
			}
			if _, err = cmd.OutOrStdout().Write(text); err == nil && !c.quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), said)
			}
			return err
		}),
	}
	f.register(cmd.Flags(), "fit")
	bind(cmd.Flags(), inGroup("Run", cliFlag{name: "log", everyday: true, value: "FILE", to: &log,
		endings: []string{"jsonl"},
		help:    "also add the declaration's SHA-256 to this log, whose head can be published"})...)
	for _, name := range ofTheFit {
		cmd.Flags().MarkHidden(name)
	}
	return cmd
}
