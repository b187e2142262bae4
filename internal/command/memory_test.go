package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/memory"
)

// TestMemory: every command refuses to read what takes more memory than --memory allows, names it, and says what to do.
func TestMemory(t *testing.T) {
	defer memory.SetLimit(0)
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	bomb, small, large := at("bomb.csv.gz"), at("small.csv"), at("large.json")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("x,y\n" + strings.Repeat("1,2\n", 1<<22)))
	z.Close()
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 1500 {
		rows.WriteString(strings.Repeat("1", 1+i%9) + "," + strings.Repeat("2", 1+i%7) + "\n")
	}
	for path, text := range map[string][]byte{bomb: packed.Bytes(), small: []byte(rows.String()),
		large: bytes.Repeat([]byte(" "), 3<<20)} {
		must.Do(t, os.WriteFile(path, text, 0o666))
	}
	model := at("small.krigo")
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		status := Run(context.Background(), args, bytes.NewReader(packed.Bytes()), &out, &errs)
		return status, errs.String()
	}
	if status, said := run("fit", small, "--target", "y", "--out", model, "--quiet", "--objective", "vfe", "--inducing",
		"5", "--epochs", "3", "--memory", "1GiB"); status != 0 {
		t.Fatal(said)
	}
	for _, test := range []struct {
		says string
		args []string
	}{
		{bomb, []string{"fit", bomb, "--target", "y"}},
		{"standard input", []string{"fit", "-", "--target", "y", "--out", at("m.krigo")}},
		{bomb, []string{"predict", model, bomb}},
		{"standard input", []string{"predict", model, "-"}},
		{bomb, []string{"certify", model, bomb}},
		{bomb, []string{"report", model, bomb}},
		{"1000000 inputs", []string{"generate", "--inputs", "1000000", "--out", at("g.npy")}},
		{"full GP", []string{"fit", small, "--target", "y", "--inducing", "0", "--objective", "evidence"}},
		{"1000000000 samples", []string{"predict", model, small, "--samples", "1000000000"}},
		{large, []string{"fit", small, "--target", "y", "--init", large}},
		{large, []string{"fit", small, "--target", "y", "--resume", large}},
		{large, []string{"fit", small, "--declared", large}},
	} {
		status, said := run(append(test.args, "--quiet", "--memory", "16MiB")...)
		must.Hold(t, status == exitFailed && strings.Contains(said, test.says) &&
			strings.Contains(said, "16 MiB may be used: raise --memory"),
			"%q: status %d: %s", test.args, status, said)
	}
	if status, said := run("report", model, "--out", at("r.html"), "--memory", "1KiB"); status != exitFailed ||
		!strings.Contains(said, model) {
		t.Errorf("a model: status %d: %s", status, said)
	}
	for _, size := range []string{"-1", "half", "0", "1e99"} {
		if status, said := run("fit", small, "--target", "y", "--memory="+size); status != exitUsage ||
			!strings.Contains(said, "--memory") {
			t.Errorf("%s: status %d: %s", size, status, said)
		}
	}
}
