// Command theory prints as JSON the bounds that the theorems of Yue & Kontar ("The Rényi Gaussian Process") give at
// given parameters of a Rényi or VFE GP. docs/theory/method.md has the formulas. Run it so:
//
//	cd laboratory
//	go run ./theory DATA.csv --target COL --params PARAMS.json --alpha 0.5
//
// PARAMS.json is a file of parameters as krigo evaluate takes it. Inputs and target are standardised by all rows,
// unless --no-standardise is given.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/strict"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "theory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := pflag.NewFlagSet("theory", pflag.ContinueOnError)
	var q question
	flags.StringVar(&q.target, "target", "", "name of the target's column")
	params := flags.String("params", "", "JSON file with the parameters, in scaled units")
	truth := flags.String("truth", "",
		"JSON file with the parameters of the GP from which the targets were drawn, for Theorem 5")
	flags.StringVar(&q.method, "objective", "renyi", "renyi or vfe")
	alpha := flags.Float64("alpha", 0.5, "the α of renyi")
	flags.Float64Var(&q.delta, "delta", 0.01, "each bound may fail with this probability")
	raw := flags.Bool("no-standardise", false, "don't standardise inputs and target")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || q.target == "" || *params == "" {
		return errors.New("give the table, --target and --params")
	}
	q.alpha = alpha
	q.scaling = func(d *dataset.Data) (dataset.Scaling, error) {
		if *raw {
			return dataset.Identity(d.Cols), nil
		}
		return dataset.ScalingOf(d, d.All(), dataset.AllRows)
	}
	for _, file := range []struct {
		path string
		to   **krigo.Params
	}{{*params, &q.params}, {*truth, &q.truth}} {
		if file.path == "" {
			continue
		}
		*file.to = new(krigo.Params)
		if err := strict.ReadJSON(file.path, *file.to); err != nil {
			return err
		}
		if !((*file.to).NoiseVariance > 0) {
			return fmt.Errorf("%s: noise_variance must be positive", file.path)
		}
	}
	var err error
	if q.table, err = files.ReadFile(flags.Arg(0), dataset.Reading{}); err != nil {
		return err
	}
	defer q.table.Close()
	t, err := q.theory(ctx)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(t)
}
