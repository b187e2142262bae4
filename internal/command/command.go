// Package command is the command line of krigo.
// Each subcommand has a file, and the logic is in other packages.
// Package main only calls it, so that other programs, such as the campaigns, can run commands in
// their own process.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	_ "github.com/krigo-gp/krigo/dataset/parquet" // formats of tables
	_ "github.com/krigo-gp/krigo/dataset/zst"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
	exitAlarm  = 3
)

// Run runs one command and returns its exit status. args follow the program's name.
// Run ends early when ctx does.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		// only for completion: cobra never forgets these functions, and a process may run many
		// commands
		for _, cmd := range root.Commands() {
			complete(cmd)
		}
	}
	root.SetArgs(args)
	root.SetIn(interruptible{ctx, stdin})
	results := &printed{w: stdout}
	root.SetOut(results)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = results.failed
	}
	if err == nil {
		return 0
	}
	advisable(cmd, err)
	ended := ctx.Err() != nil && errors.Is(err, ctx.Err())
	tip := suggest(err, args) // it settles the error's advice
	words := spelling.Either(ended, "interrupted", err.Error()+tip)
	fmt.Fprintln(root.ErrOrStderr(), "krigo: "+
		strings.Join(lists.Of(strings.Split(words, "\n"), spelling.Escaped), "\n"))
	var usage *krigo.UsageError
	// cobra has no type for this error
	if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
		return exitUsage
	}
	var alarm *alarmed
	if errors.As(err, &alarm) {
		return exitAlarm
	}
	if status, yes := interrupted(ctx); yes {
		return status
	}
	return exitFailed
}

// newRoot returns the command krigo with all its subcommands. What it checks before each of them
// holds for all: the processor's instruction set, ranks, threads, memory and standard input.
func newRoot() *cobra.Command {
	var c common
	root := &cobra.Command{
		Use: "krigo",
		Short: "krigo fits Gaussian-process models to tables, and certifies how often their " +
			"predictions miss",
		Example: `  krigo inspect houses.csv --target price  # what it holds, and how to fit it
  krigo fit houses.csv --target price      # train, certify, save houses.krigo
  krigo predict houses.krigo new.csv       # a mean and an interval for each row
  krigo certify houses.krigo houses.csv    # recompute the guarantee`,
		Long: `Progress goes to standard error, results to standard output.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 an alarm of watch, 130 interrupted (143 by SIGTERM).`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := linalg.LevelError(); err != nil {
				return &krigo.UsageError{Err: err}
			}
			if ranks.Launched() && !slices.Contains(spread, cmd.Name()) {
				return misused("%s runs on one rank, and several ranks would do the same work: "+
					"start it without mpirun", cmd.CommandPath())
			}
			if c.threads < 0 {
				return misused("--threads %d: want a positive number, or 0 for all", c.threads)
			}
			if c.threads > 0 {
				runtime.GOMAXPROCS(min(c.threads, runtime.NumCPU()))
			}
			if err := c.limitMemory(cmd); err != nil {
				return &krigo.UsageError{Err: err}
			}
			return checkInput(cmd, args)
		},
	}
	root.PersistentFlags().SortFlags = false
	bind(root.PersistentFlags(), c.flags()...)
	root.AddCommand(newInspect(&c), newFit(&c), newDeclare(&c), newExtract(&c), newPredict(&c),
		newCertify(&c), newWatch(&c), newEvaluate(&c), newCompare(&c), newGenerate(&c),
		newServe(&c), newPipe(&c), newReport(&c), newDemo(&c), newVersion(&c), newMan())
	for _, cmd := range root.Commands() {
		cmd.Flags().SortFlags = false // help shows flags in the order of their table
	}
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misused("%w%s (see %s --help)", wrongValue(err), nearestFlag(cmd, err),
			cmd.CommandPath())
	})
	return root
}
