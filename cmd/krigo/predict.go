package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

func newPredict(c *common) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA",
		Short: "Mean, variance and interval for each row",
		Long: `Predict every row of a CSV or NPY file, which needs the model's input columns in any order;
other columns are ignored. In the target's own units:

  mean                 of the function and of the target
  latent_variance      of the function itself
  predictive_variance  of an observation: with observation noise
  lower95, upper95     central 95 % credible interval for an observation

The interval is the model's own belief; the guarantee is the certificate's (krigo certify).`,
		Args: exactly(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.json && filepath.Ext(out) == ".npy" {
				return &krigo.UsageError{Err: fmt.Errorf("--json and --out %s exclude each other: name a .json file", out)}
			}
			m, err := krigo.Load(args[0])
			if err != nil {
				return err
			}
			table, err := dataset.ReadFile(args[1])
			if err != nil {
				return err
			}
			defer table.Close()
			ps, err := krigo.Predict(m, table)
			if err != nil {
				return err
			}
			names := slices.Clone(krigo.PredictionNames)
			fill := func(i int, values []float64) error {
				ps[i].Fill(values)
				return nil
			}
			write := func(w io.Writer) error {
				if c.json {
					return json.NewEncoder(w).Encode(map[string]any{"target": m.Target, "predictions": ps})
				}
				return dataset.Write(w, names, len(ps), fill)
			}
			switch {
			case out == "":
				return write(cmd.OutOrStdout())
			case c.json:
				return dataset.WriteFileAtomic(out, write)
			}
			return dataset.WriteFile(out, names, len(ps), fill)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this file instead of standard output: CSV, gzip of it or NPY, as it ends in .csv, .gz or .npy")
	return cmd
}
