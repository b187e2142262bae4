package main

import (
	"bytes"
	"os"
	"testing"
)

// TestTables shows that the files in this folder are the files that the command writes.
func TestTables(t *testing.T) {
	for name, text := range tables() {
		if there, err := os.ReadFile(name); err != nil || !bytes.Equal(there, text) {
			t.Errorf("%s isn't what go run ./docs/data writes: %v", name, err)
		}
	}
}
