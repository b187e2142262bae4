package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

// zipped writes lines to a compressed file.
func zipped(t *testing.T, path string, lines []string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintln(z, strings.Join(lines, "\n"))
	must.Do(t, z.Close())
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
}

// TestBenchmark: the record names the training rows by their numbers in the file. It distinguishes peers trained on the
// same rows, on other rows, and on all rows.
func TestBenchmark(t *testing.T) {
	const rows = 150
	folder := t.TempDir()
	table, folds := []string{"x1,x2,y"}, []string(nil)
	for i := range rows {
		x := float64(i) / 10
		table = append(table, fmt.Sprintf("%g,%g,%g", x, math.Mod(7*x, 3), math.Sin(x)))
		folds = append(folds, fmt.Sprint(i%10))
	}
	zipped(t, filepath.Join(folder, "waves.csv.gz"), table)
	zipped(t, filepath.Join(folder, "waves.fold.gz"), folds)
	var out bytes.Buffer
	env := Env{Data: folder, Out: filepath.Join(folder, "results"), Methods: []string{"default"}, Reps: 2, Stdout: &out}
	must.Do(t, benchmark(context.Background(), env))
	record := must.Get(readAll[scored](env.Out, "benchmark"))(t)
	learnt := record["waves/default/fold=1"].Learnt
	if len(learnt) != 95 || !slices.IsSorted(learnt) || len(slices.Compact(slices.Clone(learnt))) != 95 || learnt[0] < 0 ||
		learnt[94] >= rows ||
		slices.ContainsFunc(learnt, func(row int) bool { return row%10 == 1 }) {
		t.Errorf("learnt on %v", learnt)
	}
	var numbers string
	for _, row := range learnt {
		numbers += fmt.Sprintln(row)
	}
	same := fmt.Sprintf("rows %x", sha256.Sum256([]byte(numbers)))[:len("rows ")+12]
	var peers string
	for i, seen := range []string{"all", same, "rows 0123456789ab"} {
		peers += fmt.Sprintf(`{"set": "waves", "fold": 1, "peer": "peer", "seen": %q, "rows": %d, "rmse": 0.5, "nlpd": 0.7}`+
			"\n", seen, 90-i)
	}
	env.Beside = filepath.Join(folder, "peers.jsonl")
	must.Do(t, os.WriteFile(env.Beside, []byte(peers), 0o600))
	out.Reset()
	must.Do(t, benchmark(context.Background(), env))
	for _, want := range []string{"| default | 2 | 95 of 135 |", "| peer | 1 | 90 |", "| peer on the same rows | 1 | 89 |",
		"| peer on other rows | 1 | 88 |"} {
		must.Hold(t, strings.Contains(out.String(), want), "no %q in\n%s", want, out.String())
	}
}

// TestAdds: memory that is held for a while is counted, and an error is returned.
func TestAdds(t *testing.T) {
	failed := errors.New("failed")
	mib, err := adds(func() error {
		block := make([]byte, 64<<20)
		for i := range block {
			block[i] = byte(i)
		}
		time.Sleep(20 * heldEvery)
		runtime.KeepAlive(block)
		return failed
	})
	const returned = 1 // the process may give some back meanwhile
	must.Hold(t, mib >= 64-returned && mib <= 200 && err == failed, "%v MiB, %v", mib, err)
}
