package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/ranks"
)

// textTimes is how many times its size a JSON text may take in memory.
const textTimes = 16

// standardInput stands for standard input, instead of the name of a table's file.
const standardInput = "-"

// checkInput refuses two tables from standard input, and standard input on several ranks.
func checkInput(cmd *cobra.Command, args []string) error {
	tables := len(lists.If(args, func(arg string) bool { return arg == standardInput }))
	if test := cmd.Flags().Lookup("test"); test != nil && test.Value.String() == standardInput {
		tables++
	}
	switch {
	case tables > 1:
		return misused("standard input (-) can be read once: name a file for the other table")
	case tables == 1 && ranks.Launched():
		return misused("standard input (-) reaches one rank alone: name a file that all ranks " +
			"can read")
	}
	return nil
}

// readTable reads a table from a file, or as CSV from standard input.
// Each rank of r gets its part of the file. r is nil for a command that runs on one rank.
// of says how cells are written.
func readTable(path string, in io.Reader, r ranks.Ranks,
	of dataset.Reading) (*dataset.Table, error) {
	switch {
	case path == standardInput:
		return files.CSV{From: in, Source: "standard input", As: of}.Read()
	case r == nil:
		return files.ReadFile(path, of)
	}
	return files.ReadPart(path, r, of)
}

// interruptible reads until its context ends.
// Without it, a command would wait for a silent terminal or pipe.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

// Read returns an error if the context ends first. The read that hangs then keeps p, so that the
// caller must not use p again.
func (r interruptible) Read(p []byte) (int, error) {
	done := make(chan struct{})
	var got int
	var failed error
	go func() {
		got, failed = r.in.Read(p)
		close(done)
	}()
	select {
	case <-done:
		return got, failed
	case <-r.ctx.Done():
		return 0, errors.New("interrupted")
	}
}

// columnNames returns the names of a table's columns for completion, or nil if reading them would
// take long.
func columnNames(path string) []string {
	const atOnce = 1 << 20 // bytes
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // reading would empty a pipe, or wait for it
		return nil
	}
	if info.Size() <= atOnce || filepath.Ext(path) == ".npy" { // the rows of NPY files stay on disk
		table, err := files.ReadFile(path, dataset.Reading{})
		if err != nil {
			return nil
		}
		defer table.Close()
		return table.Names
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, atOnce))
	if err != nil {
		return nil
	}
	table, err := files.CSV{From: bytes.NewReader(head[:bytes.LastIndexByte(head, '\n')+1]),
		Source: path}.Read()
	if err != nil {
		return nil // a format that has its names at the end
	}
	return table.Names
}
