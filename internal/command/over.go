package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/ranks"
)

// spread are the commands that run on several ranks, the processes of an MPI job.
var spread = []string{"fit", "evaluate", "certify", "compare"}

// over returns a function that runs a command's work on all ranks of its job.
// Only the first rank prints, and only the first rank handles interruptions.
// It tells the other ranks.
func (c *common) over(work func(cmd *cobra.Command, args []string, r ranks.Ranks) error) func(
	*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := ranks.Start()
		if err != nil {
			return err
		}
		if r.Rank() > 0 {
			c.quiet = true
			cmd.Root().SetOut(io.Discard)
			cmd.Root().SetErr(io.Discard)
			cmd.SetContext(context.WithoutCancel(cmd.Context()))
		}
		err = Alike(r)
		if err == nil {
			err = work(cmd, args, r)
		}
		if err = r.Close(err); r.Rank() > 0 {
			// the first rank reports the error, and a launcher ends all ranks once a rank fails
			return nil
		}
		return err
	}
}

// Alike makes sure that all ranks compute the same to the last bit from the same numbers.
// Each rank decides by its own results, and all ranks have to make the same decisions.
func Alike(r ranks.Ranks) error {
	own := fmt.Sprintf("krigo %s with the instruction set %s", version(), linalg.Level)
	first, err := ranks.Bytes(r, 0, []byte(own))
	if err != nil {
		return err
	}
	if string(first) != own {
		err = fmt.Errorf("this rank runs %s, the first rank %s: install the same krigo, and set "+
			"KRIGO_CPU to an instruction set that all have", own, first)
	}
	return r.Agree(err)
}
