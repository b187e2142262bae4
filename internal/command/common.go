package command

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// common has the flags of all subcommands.
type common struct {
	json    bool
	quiet   bool
	threads int
	memory  string
}

// limitMemory sets the limit of --memory. It also makes Go's garbage collector work harder before
// the process takes twice as much.
func (c *common) limitMemory(cmd *cobra.Command) (err error) {
	var bytes int64
	if cmd.Flags().Changed("memory") {
		if bytes, err = memory.Parse(c.memory); err != nil {
			return fmt.Errorf("--memory %w", err)
		}
	}
	memory.SetLimit(bytes)
	if os.Getenv("GOMEMLIMIT") == "" {
		limit := memory.Limit()
		debug.SetMemoryLimit(limit + min(limit, math.MaxInt64-limit)/8*7)
	}
	return nil
}

// nearestFlag returns a guess which flag of the command was meant, if err is about an unknown flag.
func nearestFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	// -target has the name "target" here
	name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	return spelling.DidYouMean(name, flags)
}

// wrongValue words pflag's error about the text after a flag:
// it names the flag and says what the flag takes.
func wrongValue(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := wrong.GetFlag()
	// a setting has its own words
	if rest, ours := strings.CutPrefix(wrong.Unwrap().Error(), flag.Name+" "); ours {
		return fmt.Errorf("--%s %s", flag.Name, rest)
	}
	want := map[string]string{"bool": "true or false", "float64": "a number",
		"int": "a whole number", "int64": "a whole number", "uint64": "a whole number of 0 or more",
		"duration":     "a time such as 90s or 2h",
		"float64Slice": "numbers with commas between them"}[flag.Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %q: want %s", flag.Name, wrong.GetValue(), want)
}

// misused returns an error about how the command was called.
func misused(format string, args ...any) error {
	return &krigo.UsageError{Err: fmt.Errorf(format, args...)}
}

// exactly refuses any number of arguments but n.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }

// between refuses fewer arguments than least, and more than most.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > most:
			return misused("%q is one argument too many (usage: %s)", args[most], cmd.UseLine())
		case len(args) < least:
			return misused("an argument is missing (usage: %s)", cmd.UseLine())
		}
		return nil
	}
}
