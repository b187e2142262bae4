package main

import "github.com/spf13/cobra"

func newReproduce(c *common) *cobra.Command {
	return &cobra.Command{Use: "reproduce NAME", Args: exactly(1), RunE: func(*cobra.Command, []string) error { return nil }}
}
