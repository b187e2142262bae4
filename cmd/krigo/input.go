package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/krigo-gp/krigo/dataset"
)

// columnNames returns the names of a table's columns, or none where they can't be had at once.
func columnNames(path string) []string {
	const atOnce = 1 << 20 // bytes
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe would be emptied, or waited for
		return nil
	}
	if info.Size() <= atOnce || filepath.Ext(path) == ".npy" { // whose rows stay on disk
		table, err := dataset.ReadFile(path)
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
	table, err := dataset.Read(bytes.NewReader(head[:bytes.LastIndexByte(head, '\n')+1]), path)
	if err != nil {
		return nil // of another format, whose names stand at its end
	}
	return table.Names
}
