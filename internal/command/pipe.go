package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/pipe"
)

func newPipe(*common) *cobra.Command {
	return &cobra.Command{
		Use:   "pipe",
		Short: "Serve one program through standard input and output",
		Long: `pipe reads requests from standard input and writes replies to standard output, as the packages for Python and R need
it. Requests and replies are frames of JSON and numbers, which docs/pipe.md describes. pipe ends with standard input.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pipe.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(),
				pipe.Options{Version: version(), Describe: func(m *krigo.Model) any {
					return fitJSON(m, "")
				},
					Parameters: parametersOf, Flags: optionsOf, Schema: func() any {
						return schema(cmd.Root())
					}})
		},
	}
}

// besidesOptions are the flags about files and output of a command. Requests don't have them.
var besidesOptions = []string{"out", "resume", "fresh-start", "dry-run", "verbose", "test", "help",
	"json", "quiet", "threads", "memory"}

// option describes a flag to programs that call krigo pipe.
// The packages for Python and R make their parameters from these options.
type option struct {
	Name    string   `json:"name"`
	Group   string   `json:"group,omitempty"`
	Tier    string   `json:"tier"`              // everyday or expert
	Type    string   `json:"type"`              // package pflag's name of the type
	Default string   `json:"default,omitempty"` // the default value
	Rule    string   `json:"rule,omitempty"`    // in words how krigo finds the default
	Values  []string `json:"values,omitempty"`  // some of the values that the flag takes
	Help    string   `json:"help"`
}

// schema returns the flags that programs may use, by command of root.
func schema(root *cobra.Command) map[string][]option {
	of := map[string][]option{}
	for _, cmd := range root.Commands() {
		if !slices.Contains([]string{"fit", "evaluate", "compare", "predict", "certify"},
			cmd.Name()) {
			continue
		}
		for _, f := range slices.Concat(shown(cmd, "all")...) {
			if slices.Contains(besidesOptions, f.name) {
				continue
			}
			o := option{Name: f.name, Group: f.group, Tier: "expert",
				Type: cmd.Flags().Lookup(f.name).Value.Type(), Default: f.def, Rule: f.rule,
				Values: f.values, Help: f.help}
			if f.everyday {
				o.Tier = everyday
			}
			of[cmd.Name()] = append(of[cmd.Name()], o)
		}
	}
	return of
}

// parametersOf returns the flags that a model was fitted with, without flags at their defaults.
func parametersOf(m *krigo.Model) map[string]any {
	var f fitFlags
	flags := pflag.NewFlagSet("fit", pflag.ContinueOnError)
	f.register(flags, "fit")
	if json.Unmarshal(m.Fitted, &f.options) != nil {
		return nil // an old version of krigo kept no options
	}
	if all := m.Joint; all != nil {
		f.options.Data.Target = m.Target
		f.options.Promise.Delta = all.Together.Delta
	}
	f.unparse()
	given := map[string]any{}
	flags.VisitAll(func(p *pflag.Flag) {
		list, _ := p.Value.(bound).Value.(pflag.SliceValue)
		switch text := p.Value.String(); {
		case text == p.DefValue, text == "":
		case list != nil:
			given[p.Name] = list.GetSlice()
		case p.Value.Type() == "string":
			given[p.Name] = text
		case text != "0" && text != "0s": // 0 also means the default
			given[p.Name] = json.RawMessage(text)
		}
	})
	return given
}

// optionsOf reads the flags of a request.
func optionsOf(command string, flags []string) (a pipe.Asked, err error) {
	var f fitFlags
	cmd := &cobra.Command{Use: command}
	f.register(cmd.Flags(), command)
	cmd.Flags().Usage = func() {}
	if err := whole(cmd.Flags(), flags); err != nil {
		return a, &krigo.UsageError{Err: err}
	}
	err = cmd.Flags().Parse(flags)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		err = errors.New("--help: docs/reference/settings.md has all flags")
	case err != nil:
		err = fmt.Errorf("%w%s (docs/reference/settings.md has all flags)", err,
			nearestFlag(cmd, err))
	}
	if err != nil {
		return a, &krigo.UsageError{Err: err}
	}
	// A request carries its data itself, so it can't name files.
	var files []string
	cmd.Flags().Visit(func(p *pflag.Flag) {
		if slices.Contains(besidesOptions, p.Name) {
			files = append(files, "--"+p.Name)
		}
	})
	if len(files) > 0 {
		return a, misused("%s: it is for krigo %s on the command line alone",
			strings.Join(files, ", "), command)
	}
	cmd.Flags().Visit(func(p *pflag.Flag) {
		// Empty text, or 0 where a rule decides the default, would count as a flag that wasn't
		// given.
		rule := p.Value.(bound).rule
		number := slices.Contains([]string{"int", "float64"}, p.Value.Type())
		if text := p.Value.String(); err == nil &&
			(text == "" || (text == "0" && number && rule != "")) {
			err = misused("--%s %q: leave it out for the default", p.Name, text)
		}
	})
	if err != nil {
		return a, err
	}
	a.Strict = f.strict
	a.Options, a.Complete, err = f.chosen()
	if err == nil && f.params != "" {
		a.Params, err = readParams(f.params)
	}
	return a, err
}

// whole refuses a text that isn't a flag with its value, since a flag without a value would take
// the next flag as its value.
func whole(known *pflag.FlagSet, flags []string) error {
	for _, text := range flags {
		name, dashed := strings.CutPrefix(text, "--")
		name, _, valued := strings.Cut(name, "=")
		if !dashed || name == "" {
			return fmt.Errorf("%q: want flags alone, as --name=value", text)
		}
		if f := known.Lookup(name); f != nil && f.NoOptDefVal == "" && !valued {
			return fmt.Errorf("--%s needs a value", name)
		}
	}
	return nil
}
