// Command reproduce runs the experiments behind the papers' tables and figures, and prints the paper's figures beside
// ours:
//
//	cd laboratory
//	go run ./reproduce --list
//	go run ./reproduce reeb-table1
//
// Every finished run is kept in the folder of runs. An interrupted command goes on where it stopped, and never
// repeats a finished run. Under mpirun, a build with -tags mpi spreads the runs over ranks.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/ranks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs a command on all ranks of its job, and returns its exit status. Only the first rank prints.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	env := Env{Stdout: stdout, Partial: stderr, Progress: func(done, total int, what string) {
		fmt.Fprintf(stderr, "%d of %d: %s\n", done, total, what)
	}}
	e, err := parse(args, &env)
	if err == nil && e == nil {
		return 0
	}
	if err == nil {
		err = spread(ctx, *e, env)
	}
	var usage *krigo.UsageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "reproduce: interrupted; the same command goes on, and loses at most a minute of the last run")
		return 130
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "reproduce:", err)
		return 2
	}
	fmt.Fprintln(stderr, "reproduce:", err)
	return 1
}

// spread runs an experiment on all ranks.
func spread(ctx context.Context, e Experiment, env Env) error {
	r, err := ranks.Start()
	if err != nil {
		return err
	}
	if r.Rank() > 0 {
		env.Stdout, env.Partial, env.Progress = io.Discard, nil, nil
		ctx = context.WithoutCancel(ctx) // the first rank tells the others when to stop
	}
	env.Ranks = r
	if err = command.Alike(r); err == nil {
		err = e.Run(ctx, env)
	}
	if err = r.Close(err); r.Rank() > 0 {
		return nil // the first rank returns the error; a launcher ends all ranks as soon as one fails
	}
	return err
}

// parse fills env from args and returns the experiment that they name. It returns nil if they ask for help or the
// list.
func parse(args []string, env *Env) (*Experiment, error) {
	flags := pflag.NewFlagSet("reproduce", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(env.Stdout)
	flags.Usage = func() {
		fmt.Fprintf(env.Stdout, "Usage:\n  reproduce NAME [flags]\n\nExperiments:\n%s\nFlags:\n%s\n", list(),
			flags.FlagUsages())
		fmt.Fprintf(env.Stdout, "--methods of validity: %s\n--sets of validity: %s\n", strings.Join(validityMethods(), ", "),
			strings.Join(validitySets(), ", "))
	}
	listed := flags.Bool("list", false, "list what can be reproduced")
	quiet := flags.Bool("quiet", false, "no progress on standard error")
	flags.IntVar(&env.Reps, "reps", 0, "number of repetitions; 0: as in the paper")
	flags.IntVar(&env.M, "m", 0, "number of inducing inputs; 0: as in the paper")
	flags.IntVar(&env.Epochs, "epochs", 0, "passes over the rows in the renyi tables on real data; 0: as in the paper")
	flags.IntVar(&env.Rows, "rows", 0, "largest number of training rows in the renyi2020 experiments; 0: 1,000")
	flags.IntVar(&env.Evaluations, "evaluations", 0, "largest number of evaluations per fit; 0: as in the paper")
	flags.StringVar(&env.Data, "data", "", "folder of the data sets that aren't built in, with files NAME.csv.gz")
	flags.StringSliceVar(&env.Sets, "sets", nil,
		"data sets to run; for validity, kinds of sets (see below); for ties, groups, uci, independent or tied; "+
			"default: as in the paper")
	flags.StringSliceVar(&env.Methods, "methods", nil,
		"methods to run: kl-pac, sqrt-pac, vfe, fitc in the sparse tables; renyi, egp, evidence, sgp, pep in the renyi "+
			"tables,\nand renyi-nearest and egp-nearest in renyi-table2; for certificates and validity, the methods that they list; "+
			"default: all")
	flags.StringVar(&env.Beside, "beside", "",
		"file of peers' scores: bench/regression writes it for benchmark and small, bench/ties.py for ties")
	flags.StringVar(&env.Out, "out", "runs", "folder of runs and drawings")
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil, nil
	case err != nil:
		return nil, &krigo.UsageError{Err: err}
	case *listed:
		fmt.Fprint(env.Stdout, list())
		return nil, nil
	case flags.NArg() != 1:
		return nil, &krigo.UsageError{Err: fmt.Errorf("want the name of one experiment, not %d names; --list lists experiments",
			flags.NArg())}
	case env.Reps < 0:
		return nil, &krigo.UsageError{Err: fmt.Errorf("--reps %d: want a positive number, or 0 for as many as in the paper", env.Reps)}
	}
	if *quiet {
		env.Progress, env.Partial = nil, nil
	}
	e, err := find(flags.Arg(0))
	return &e, err
}

// list returns a line for each experiment.
func list() string {
	var b strings.Builder
	for _, e := range experiments {
		fmt.Fprintf(&b, "  %-16s %s\n", e.Name, e.Title)
	}
	return b.String()
}
