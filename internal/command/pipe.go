package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
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
			return pipe.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(),
				pipe.Options{Version: version(), Describe: func(m *krigo.Model) any { return fitJSON(m, "") }, Flags: optionsOf})
		},
	}
}

// besidesOptions are the flags of fit that are about its files, of which a request has none.
var besidesOptions = []string{"out", "resume", "fresh-start", "declared", "dry-run", "test"}

// optionsOf are the options that flags of fit make of a table in memory, which is read as they say.
func optionsOf(flags []string, table *dataset.Table) (o krigo.Options, err error) {
	var f fitFlags
	cmd := &cobra.Command{Use: "fit"}
	f.register(cmd.Flags(), "fit")
	cmd.Flags().Usage = func() {}
	if err := whole(cmd.Flags(), flags); err != nil {
		return o, &krigo.UsageError{Err: err}
	}
	err = cmd.Flags().Parse(flags)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		err = errors.New("--help: docs/command-line.md has all flags")
	case err != nil:
		err = fmt.Errorf("%w%s (docs/command-line.md has all flags)", err, nearestFlag(cmd, err))
	}
	if err != nil {
		return o, &krigo.UsageError{Err: err}
	}
	var files []string
	cmd.Flags().Visit(func(p *pflag.Flag) {
		if slices.Contains(besidesOptions, p.Name) {
			files = append(files, "--"+p.Name)
		}
	})
	if len(files) > 0 {
		return o, &krigo.UsageError{Err: fmt.Errorf("%s: it is for krigo fit on the command line alone",
			strings.Join(files, ", "))}
	}
	if o, err = f.parsed(); err != nil {
		return o, err
	}
	if err := o.Data.Reading.Apply(table); err != nil {
		return o, err
	}
	if err := f.scaled(&o.Data, table); err != nil {
		return o, err
	}
	if f.init != "" {
		o.Run.Init, err = readParams(f.init)
	}
	return o, err
}

// whole says which text isn't a flag with its value. One without would take the next flag for it.
func whole(known *pflag.FlagSet, flags []string) error {
	for _, text := range flags {
		name, dashed := strings.CutPrefix(text, "--")
		name, _, valued := strings.Cut(name, "=")
		if !dashed || name == "" {
			return fmt.Errorf("%q: want flags alone, as --name=value", text)
		}
		if f := known.Lookup(name); f != nil && f.NoOptDefVal == "" && !valued {
			return fmt.Errorf("--%s takes a value, and has none", name)
		}
	}
	return nil
}
