package command

import (
	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/pipe"
)

func newPipe(*common) *cobra.Command {
	return &cobra.Command{
		Use:   "pipe",
		Short: "Serve one program through standard input and output",
		Long: `Read requests from standard input and write replies to standard output, as the Python package does:
frames of JSON and numbers, which docs/pipe.md describes. It ends with standard input.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pipe.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), pipe.Options{Version: version(), Describe: func(m *krigo.Model) any { return fitJSON(m, "") }})
		},
	}
}
