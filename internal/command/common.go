package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// common is what the subcommands share: where to print, and how.
type common struct {
	json    bool
	quiet   bool
	threads int
	memory  string
}

// limitMemory sets what may be taken, and has the collector of what isn't used any more work harder before the process
// takes twice as much.
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

// nearestFlag says which of the command's flags an unknown one may have been meant to be.
func nearestFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // "target" of -target
	return spelling.DidYouMean(name, flags)
}

// exactly is cobra.ExactArgs with krigo's exit status.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(n)(cmd, args); err != nil {
			return &krigo.UsageError{Err: fmt.Errorf("%w (usage: %s)", err, cmd.UseLine())}
		}
		return nil
	}
}

// writable makes sure, before long work, that out can be written: its folder is there and takes files, it is no
// folder itself, none of the files that are read, and no file that somebody else wrote.
func writable(out string, o own, inputs ...string) error {
	if folder, err := os.Stat(filepath.Dir(out)); err != nil || !folder.IsDir() {
		return fmt.Errorf("--out %s: its folder doesn't exist", out)
	}
	at, err := os.Stat(out)
	if err != nil {
		return outable(out)
	}
	if at.IsDir() {
		return fmt.Errorf("--out %s: it is a folder, name a file", out)
	}
	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(in, at) {
			return fmt.Errorf("--out %s: it is the file %s that is read, which would be lost: name another", out, input)
		}
	}
	if at.Mode().IsRegular() {
		if err := replaceable(out, o, "name another by --out"); err != nil {
			return err
		}
	}
	return outable(out)
}

// outable begins to write, and leaves nothing.
func outable(out string) error {
	if err := disk.Try(out); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
