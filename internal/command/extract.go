package command

import (
	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
)

func newExtract(*common) *cobra.Command {
	var target, out string
	cmd := &cobra.Command{
		Use:     "extract MODEL --target COL --out FILE",
		Short:   "Write the model of one target of a fit of several",
		Example: `  krigo extract houses.krigo --target price --out price.krigo`,
		Long: `A fit of several targets (krigo fit DATA --target a,b) writes one file with a model of each target. fit, predict,
certify and serve take this file. All other commands take the model of one target, which extract writes as a file of its
own. Its certificate keeps its part of δ. To certify it, the data need the columns of all targets, by which the rows got
their roles.`,
		Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if target == "" || out == "" {
				return misused("--target and --out are needed: name a target, and the file " +
					"to write")
			}
			all, err := krigo.LoadTargets(args[0])
			if err != nil {
				return err
			}
			m, err := all.Extract(target)
			if err == nil {
				err = writable(out, ownModel, args[0])
			}
			if err != nil {
				return err
			}
			return m.Save(out)
		},
	}
	bind(cmd.Flags(),
		cliFlag{name: "target", value: "COL", to: &target, help: "the target whose model to write"},
		cliFlag{name: "out", value: "FILE", to: &out, endings: []string{"krigo"},
			help: "the file to write"},
	)
	return cmd
}
