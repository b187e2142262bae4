package command

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
)

func newGenerate(c *common) *cobra.Command {
	var draw files.Draw
	var out string
	cmd := &cobra.Command{
		Use:   "generate --out FILE",
		Short: "Write a table drawn from a Gaussian process",
		Example: `  krigo generate --rows 2000000 --inputs 11 --seed 1 --out draw.npy
  krigo generate --rows 1000 --lengthscales 0.5,2,2 --inputs 3 --out draw.csv.gz`,
		Long: `The Gaussian process has an SE kernel with one lengthscale an input, and random Fourier features approximate it. The
inputs x1, x2, … are standard normal. The target y is the function with noise added. krigo writes rows as it draws
them, so memory doesn't grow with their number. The same seed gives the same bytes.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return misused("--out is missing: name the file to write, .npy, .csv or .csv.gz")
			}
			if err := draw.Validate(); err != nil {
				return &krigo.UsageError{Err: err}
			}
			if err := writable(out, noneOwn); err != nil {
				return err
			}
			lengthscales, err := draw.Write(cmd.Context(), out,
				generateProgress(cmd.ErrOrStderr(), c.quiet, draw.Rows))
			if err != nil {
				return err
			}
			d := generateDocument{draw.Rows, draw.Inputs, draw.Variance, lengthscales,
				draw.NoiseVariance, draw.Features, draw.Seed, out}
			return c.answer(cmd, d, "generate", d)
		},
	}
	bind(cmd.Flags(),
		cliFlag{name: "rows", value: "N", def: "1000", to: &draw.Rows, help: "rows to draw"},
		cliFlag{name: "inputs", value: "D", def: "2", to: &draw.Inputs, help: "inputs of each"},
		cliFlag{name: "variance", value: "V", def: "1", to: &draw.Variance,
			help: "variance of the function"}, cliFlag{name: "lengthscales", value: "LIST",
			rule: "drawn between √D/2 and 4√D", to: &draw.Lengthscales,
			help: "one lengthscale an input, or one for all"},
		cliFlag{name: "noise-variance", value: "V", def: "0.1", to: &draw.NoiseVariance,
			help: "variance of the noise"}, cliFlag{name: "features", value: "K", def: "500",
			to: &draw.Features, help: "random Fourier features that the function is made of"},
		cliFlag{name: "seed", value: "S", def: "0", to: &draw.Seed,
			help: "seed of the draw; same seed, same bytes"},
		cliFlag{name: "out", value: "FILE", to: &out, endings: []string{"npy", "csv", "gz"},
			help: "file to write: NPY, CSV or gzip of CSV, as it ends in .npy, .csv or .gz " +
				"(required)"},
	)
	return cmd
}

// generateDocument is what generate --json prints.
type generateDocument struct {
	Rows          int       `json:"rows"`
	Inputs        int       `json:"inputs"`
	Variance      float64   `json:"variance"`
	Lengthscales  []float64 `json:"lengthscales"`
	NoiseVariance float64   `json:"noise_variance"`
	Features      int       `json:"features"`
	Seed          uint64    `json:"seed"`
	File          string    `json:"file"`
}

// generateProgress prints every few seconds how many rows are drawn.
func generateProgress(w io.Writer, quiet bool, rows int) func(done int) {
	if quiet {
		return nil
	}
	last := time.Now()
	return func(done int) {
		if time.Since(last) > 2*time.Second {
			last = time.Now()
			fmt.Fprintf(w, "%d of %d rows\n", done, rows)
		}
	}
}
