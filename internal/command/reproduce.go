package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/ranks"
	"github.com/krigo-gp/krigo/reproduce"
)

func newReproduce(c *common) *cobra.Command {
	var env reproduce.Env
	var list bool
	long := `Run the experiment behind a table or figure of the papers, the paper's figure beside
ours. Every finished run is kept in the results folder: an interrupted command goes on
where it stopped, and finished runs are never repeated.

`
	for _, e := range reproduce.Experiments {
		long += fmt.Sprintf("  %-14s %s\n", e.Name, e.Title)
	}
	long += "\n--methods takes, of the sparse tables, kl-pac, sqrt-pac, vfe, fitc; of the renyi tables renyi, egp, evidence,\nsgp, pep, of renyi-table2 also renyi-nearest, egp-nearest; of certificates those it lists; of validity " +
		strings.Join(reproduce.ValidityMethods(), ", ") + ".\n--sets takes, of validity, " + strings.Join(reproduce.ValiditySets(), ", ") + "."
	cmd := &cobra.Command{
		Use:   "reproduce NAME",
		Short: "A table or figure of the papers, their figure beside ours",
		Long:  long,
		Args: func(cmd *cobra.Command, args []string) error {
			if list {
				return nil
			}
			return exactly(1)(cmd, args)
		},
		RunE: c.over(func(cmd *cobra.Command, args []string, r ranks.Ranks) error {
			if list {
				for _, e := range reproduce.Experiments {
					fmt.Fprintf(cmd.OutOrStdout(), "%-14s %s\n", e.Name, e.Title)
				}
				return nil
			}
			e, err := reproduce.Find(args[0])
			if err != nil {
				return err
			}
			if env.Reps < 0 {
				return &krigo.UsageError{Err: fmt.Errorf("--reps %d: want a positive number, or 0 for the paper's", env.Reps)}
			}
			env.Stdout, env.Ranks = cmd.OutOrStdout(), r
			partWith(cmd.Context(), 0, func() string { return "interrupted; the same command goes on from the last run's last minute" })
			if !c.quiet {
				env.Progress = func(done, total int, what string) {
					fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d: %s\n", done, total, what)
				}
				env.Partial = cmd.ErrOrStderr()
			}
			return e.Run(cmd.Context(), env)
		}),
	}
	const papers = "the paper's"
	bind(cmd.Flags(),
		cliFlag{name: "list", to: &list,
			help: "list what can be reproduced"},
		cliFlag{name: "reps", value: "N", rule: papers, to: &env.Reps,
			help: "repetitions"},
		cliFlag{name: "m", value: "M", rule: papers, to: &env.M,
			help: "inducing inputs"},
		cliFlag{name: "epochs", value: "E", rule: papers, to: &env.Epochs,
			help: "passes over the rows of the renyi tables on real data"},
		cliFlag{name: "rows", value: "N", rule: "1,000", to: &env.Rows,
			help: "most rows to train on of the renyi2020 experiments"},
		cliFlag{name: "evaluations", value: "N", rule: papers, to: &env.Evaluations,
			help: "most evaluations a fit"},
		cliFlag{name: "data", value: "FOLDER", to: &env.Data,
			help: "folder of the data sets that aren't built in, as NAME.csv.gz"},
		cliFlag{name: "sets", value: "LIST", rule: papers, to: &env.Sets,
			help: "data sets to run, or kinds of sets of validity (above)"},
		cliFlag{name: "methods", value: "LIST", rule: "all", to: &env.Methods,
			help: "methods to run, of those that an experiment has (above)"},
		cliFlag{name: "beside", value: "FILE", to: &env.Beside, endings: []string{"jsonl"},
			help: "of benchmark and small: what peers scored, as bench/regression writes it"},
		cliFlag{name: "out", value: "FOLDER", def: "results", to: &env.Out,
			help: "folder of results and drawings"},
	)
	return cmd
}
