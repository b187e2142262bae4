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
	"github.com/krigo-gp/krigo/ranks"
)

// textTimes its own size is what JSON may become.
const textTimes = 16

// standardInput stands for it in the place of a table's file.
const standardInput = "-"

// checkInput makes sure that one table at most comes from standard input, and that one process reads it.
func checkInput(cmd *cobra.Command, args []string) error {
	tables := 0
	for _, arg := range args {
		if arg == standardInput {
			tables++
		}
	}
	if test := cmd.Flags().Lookup("test"); test != nil && test.Value.String() == standardInput {
		tables++
	}
	switch {
	case tables > 1:
		return misused("standard input (-) can be read once: name a file for the other table")
	case tables == 1 && ranks.Launched():
		return misused("standard input (-) reaches one rank alone: name a file that all ranks can read")
	}
	return nil
}

// readTable reads a table whose cells are written so from a file, of which a rank has its part, or as CSV from standard
// input. A command that isn't spread over ranks has none.
func readTable(path string, in io.Reader, r ranks.Ranks, of dataset.Reading) (*dataset.Table, error) {
	switch {
	case path == standardInput:
		return files.CSV{From: in, Source: "standard input", As: of}.Read()
	case r == nil:
		return files.ReadFile(path, of)
	}
	return files.ReadPart(path, r, of)
}

// interruptible reads until a context ends: a terminal, or a pipe that stays silent, would be waited for.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

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

// columnNames returns the names of a table's columns, or none where they can't be had at once.
func columnNames(path string) []string {
	const atOnce = 1 << 20 // bytes
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe would be emptied, or waited for
		return nil
	}
	if info.Size() <= atOnce || filepath.Ext(path) == ".npy" { // whose rows stay on disk
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
	table, err := files.CSV{From: bytes.NewReader(head[:bytes.LastIndexByte(head, '\n')+1]), Source: path}.Read()
	if err != nil {
		return nil // of another format, whose names stand at its end
	}
	return table.Names
}
