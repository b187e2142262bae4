package main

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
			if !c.quiet {
				env.Progress = func(done, total int, what string) {
					fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d: %s\n", done, total, what)
				}
				env.Partial = cmd.ErrOrStderr()
			}
			return e.Run(cmd.Context(), env)
		}),
	}
	cmd.Flags().BoolVar(&list, "list", false, "list what can be reproduced")
	cmd.Flags().IntVar(&env.Reps, "reps", 0, "repetitions (default: the paper's)")
	cmd.Flags().IntVar(&env.M, "m", 0, "inducing inputs (default: the paper's)")
	cmd.Flags().IntVar(&env.Epochs, "epochs", 0, "passes over the rows of the renyi tables on real data (default: the paper's)")
	cmd.Flags().IntVar(&env.Rows, "rows", 0, "most rows to train on of the renyi2020 experiments (default: 1,000)")
	cmd.Flags().IntVar(&env.Evaluations, "evaluations", 0, "most evaluations a fit (default: the paper's)")
	cmd.Flags().StringVar(&env.Data, "data", "", "folder of the data sets that aren't built in, as NAME.csv.gz")
	cmd.Flags().StringSliceVar(&env.Sets, "sets", nil, "data sets to run (default: the paper's); kinds of sets of validity: "+strings.Join(reproduce.ValiditySets(), ", "))
	cmd.Flags().StringSliceVar(&env.Methods, "methods", nil, "methods of the sparse tables to run: kl-pac, sqrt-pac, vfe, fitc; of the renyi tables: renyi, egp, evidence, sgp, pep; of certificates: those it lists; of validity: "+strings.Join(reproduce.ValidityMethods(), ", ")+" (default: all)")
	cmd.Flags().StringVar(&env.Out, "out", "results", "folder of results and drawings")
	return cmd
}
