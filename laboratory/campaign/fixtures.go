package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/command"
)

// smallTable returns a CSV table of random rows, with inputs x and z and a target y.
func smallTable(rng *rand.Rand, rows int) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "x,z,y")
	for range rows {
		x, z := 4*rng.Float64(), 4*rng.Float64()
		fmt.Fprintf(&b, "%.6g,%.6g,%.6g\n", x, z, math.Sin(2*x)+0.5*z+0.2*rng.NormFloat64())
	}
	return b.Bytes()
}

// timeless returns the content of a model file, with 0 for the seconds of training.
func timeless(path string) ([]byte, error) {
	m, err := krigo.Load(path)
	if err != nil {
		return nil, err
	}
	m.Training.Seconds = 0
	var b bytes.Buffer
	err = m.Write(&b)
	return b.Bytes(), err
}

// krigoRun runs a krigo command in this process, with empty standard input.
func krigoRun(stdout io.Writer, args ...string) (status int, stderr string) {
	var said strings.Builder
	status = command.Run(context.Background(), args, strings.NewReader(""), stdout, &said)
	return status, said.String()
}

// temporaries returns an error that lists krigo's temporary files in a folder, or nil if the folder holds no such file.
func temporaries(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, ".krigo-*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("the command left temporary files: %v", left)
	}
	return err
}

// fileExists returns whether there is a file at path.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// differs shows the text around the first byte in which two contents differ.
func differs(got, want []byte) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(b []byte) []byte { return b[max(at-80, 0):min(at+80, len(b))] }
	return fmt.Sprintf(", from byte %d on: %q, want %q", at, around(got), around(want))
}

// npyTable returns random rows of x and z, as an NPY file.
func npyTable(rng *rand.Rand, rows int) []byte {
	var b bytes.Buffer
	err := files.WriteNPY(&b, []string{"x", "z"}, rows, func(_ int, values []float64) error {
		values[0], values[1] = 4*rng.Float64(), 4*rng.Float64()
		return nil
	})
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}
