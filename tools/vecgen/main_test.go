package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestCommittedAssemblyIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("generates everything")
	}
	for _, c := range []struct{ set, single, pkg, asm, stubs string }{
		{"elementary", "false", "linalg", "vec_amd64.s", "vec_amd64.go"},
		{"covariance", "false", "radial", "radial_amd64.s", "stubs_amd64.go"},
		{"covariance", "true", "radial", "single_amd64.s", "single_stubs_amd64.go"},
	} {
		dir := t.TempDir()
		command := exec.Command("go", "run", ".", "-set", c.set, "-single="+c.single, "-pkg", c.pkg, "-out",
			filepath.Join(dir, c.asm), "-stubs", filepath.Join(dir, c.stubs))
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, name := range []string{c.asm, c.stubs} {
			want, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", "..", "internal", c.pkg, name))
			if err != nil {
				t.Fatal(err)
			}
			// Skip the first line, which names the command and its files.
			_, want, _ = bytes.Cut(want, []byte("\n"))
			_, got, _ = bytes.Cut(got, []byte("\n"))
			if !bytes.Equal(got, want) {
				t.Errorf("%s/%s isn't what go generate writes", c.pkg, name)
			}
		}
	}
}
