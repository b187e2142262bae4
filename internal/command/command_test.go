package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// outcome holds a command's exit status and what it printed.
type outcome struct {
	status         int
	stdout, stderr string
}

func call(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	status := Run(ctx, args, nil, &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// runs calls a command, fails the test unless the command succeeds, and returns the standard output.
func runs(t *testing.T, args ...string) string {
	t.Helper()
	o := call(context.Background(), args...)
	must.Need(t, o.status == 0,
		"krigo %s: status %d\n%s", strings.Join(args, " "), o.status, o.stderr)
	return o.stdout
}

// flat returns text in one line, so that texts wrapped to different widths are equal.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// workplace makes a new folder with the files of testdata, and changes to the folder.
func workplace(t *testing.T) {
	t.Helper()
	fixtures, err := filepath.Glob("testdata/*.*")
	must.Need(t, err == nil && len(fixtures) > 0, "no fixtures: %v", err)
	contents := map[string][]byte{}
	for _, f := range fixtures {
		if contents[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	for name, raw := range contents {
		write(t, name, string(raw))
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw := must.Get(os.ReadFile(name))(t)
	return string(raw)
}

// listed lists the current folder, hidden files too.
func listed(t *testing.T) []string {
	t.Helper()
	entries := must.Get(os.ReadDir("."))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestBadInput: after any wrong input the exit status is 1 (failed) or 2 (wrong usage), the message names the mistake,
// and the command prints and writes nothing else.
func TestBadInput(t *testing.T) {
	workplace(t)
	homes := read(t, "homes.csv")
	lines := strings.SplitAfter(homes, "\n")
	with := func(row int, line string) string { // row 1 is the first row below the header
		l := slices.Clone(lines)
		l[row] = line + "\n"
		return strings.Join(l, "")
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, homes)
	z.Close()
	// Tables to which a person has joined the columns of predictions.
	const predicted = "mean,latent_variance,predictive_variance,lower95,upper95,outside"
	write(t, "joined.csv", "id,"+predicted+"\n1,2,3,4,5,6,0\n")
	write(t, "noted.csv", predicted+",note\n2,3,4,5,6,0,7\n")
	write(t, "empty.csv", "")
	write(t, "header.csv", "RM,MEDV\n")
	write(t, "cut.csv.gz", zipped.String()[:zipped.Len()/2])
	write(t, "binary.csv", "PK\x03\x04\x00\x00\xff\xfe\x00")
	write(t, "one.csv", "RM,MEDV\n1,2\n")
	write(t, "few.csv", strings.Join(lines[:22], ""))
	write(t, "ragged.csv", with(9, "6,1,2"))
	write(t, "text.csv", with(4, "6,1,near,20"))
	write(t, "blank.csv", with(5, "6,,3,20"))
	write(t, "nan.csv", with(6, "6,NaN,3,20"))
	write(t, "inf.csv", with(7, "6,1,3,-Inf"))
	write(t, "constant.csv", "RM,MEDV\n"+strings.Repeat("1,7\n2,7\n", 30))
	write(t, "alone.csv", "MEDV\n1\n2\n")
	write(t, "twice.csv", "RM,RM,MEDV\n1,2,3\n")
	write(t, "unknown.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1]}, "noise": 0.1}`)
	write(t, "nokernel.json", `{"noise_variance": 0.1}`)
	write(t, "lengths.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1, 2]}, "noise_variance": 0.1}`)
	write(t, "negative.json", `{"kernel": {"name": "se", "variance": -1, "lengthscales": [1]}, "noise_variance": 0.1}`)
	write(t, "broken.json", `{"kernel": `)
	write(t, "twice.json",
		`{"kernel": {"name": "se", "variance": 1.2, "lengthscales": [1.5, 2, 3]}, "noise_variance": 0.4, "noise_variance": `+
			`4}`)
	write(t, "two.json", `{} {}`)
	write(t, "inducing.json",
		`{"kernel": {"name": "se", "variance": 1, "lengthscales": [1]}, "noise_variance": 0.1, "inducing": [[1, 2]]}`)
	write(t, "scaling.json", `{"inputs": {"RM": {"mean": 6, "scale": 1}}, "target": {"mean": 20, "scale": 0}}`)
	write(t, "old.checkpoint", `{"version": 1, "fingerprint": "other", "runs": {}}`)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--ard", "off", "--restarts", "1", "--out",
		"good.krigo")
	model := read(t, "good.krigo")
	write(t, "short.krigo", model[:len(model)/2])
	write(t, "flipped.krigo", model[:len(model)/2]+string(model[len(model)/2]^1)+model[len(model)/2+1:])
	write(t, "narrow.csv", "RM,LSTAT\n6,5\n")
	write(t, "altered.csv", with(1, "6,5,4,20"))

	npy := func(name string, values ...float64) string {
		must.Do(t, files.WriteFile(name, []string{"RM", "MEDV"}, len(values)/2, func(i int, row []float64) error {
			copy(row, values[2*i:])
			return nil
		}))
		return read(t, name)
	}
	raw := npy("few.npy", 6, 20, 7, 30)
	write(t, "cut.npy", raw[:len(raw)-4])
	write(t, "long.npy", raw+"more")
	write(t, "header.npy", raw[:20])
	write(t, "not.npy", homes)
	write(t, "big.npy", strings.Replace(raw, "<f8", ">f8", 1))
	write(t, "text.npy", strings.Replace(raw, "'<f8'", "'<U2'", 1))
	write(t, "fortran.npy", "\x93NUMPY\x01\x00\x3c\x00{'descr':'<f8','fortran_order':True,'shape':(2,2)}            \n"+
		strings.Repeat("\x00", 32))
	write(t, "nan.npy", raw[:len(raw)-8]+"\x00\x00\x00\x00\x00\x00\xf8\x7f")

	fit := func(file string, more ...string) []string {
		return append([]string{"fit", file, "--target", "MEDV"}, more...)
	}
	homesWith := func(more ...string) []string { return fit("homes.csv", more...) }
	evaluate := func(params string) []string {
		return []string{"evaluate", "homes.csv", "--target", "MEDV", "--params", params}
	}
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		// Data.
		{fit("missing.csv"), 1, []string{"missing.csv", "no such file"}},
		{fit("."), 1, []string{"."}},
		{fit("empty.csv"), 1, []string{"empty.csv", "empty"}},
		{fit("header.csv"), 1, []string{"header.csv", "no rows"}},
		{fit("cut.csv.gz"), 1, []string{"cut.csv.gz", "cut short"}},
		{fit("binary.csv"), 1, []string{"binary.csv", "not a text file"}},
		{fit("one.csv"), 1, []string{"one.csv", "at least 2"}},
		{fit("few.csv", "--prior", "grid"), 1, []string{"few.csv", "21 rows", "20 for the scaling"}},
		{fit("ragged.csv"), 1, []string{"ragged.csv", "line 10", "expected 4 fields, got 3"}},
		{fit("text.csv"), 1, []string{"text.csv", "line 5 (row 4)", `column 3 ("DIS")`, `"near" is not a number`}},
		{fit("blank.csv", "--strict"), 1, []string{"blank.csv", "line 6 (row 5)", `"LSTAT"`, "the value is missing"}},
		{fit("nan.csv", "--strict"), 1, []string{"nan.csv", "line 7 (row 6)", `"LSTAT"`, "missing"}},
		{fit("inf.csv"), 1, []string{"inf.csv", "line 8 (row 7)", `"MEDV"`, "not finite"}},
		{fit("constant.csv"), 1, []string{"constant.csv", `"MEDV"`, "nothing to learn"}},
		{fit("alone.csv"), 1, []string{"alone.csv", "only column"}},
		{fit("twice.csv"), 1, []string{"twice.csv", "both named"}},
		{[]string{"fit", "homes.csv", "--target", "MEDW"}, 1, []string{"homes.csv", `"MEDW"`, `did you mean "MEDV"?`}},
		{fit("few.npy", "--prior", "grid"), 1, []string{"few.npy", "2 rows", "20 for the scaling"}},
		{fit("cut.npy"), 1, []string{"cut.npy", "cut short", "within row 2"}},
		{fit("long.npy"), 1, []string{"long.npy", "4 bytes follow the last of 2 rows"}},
		{fit("header.npy"), 1, []string{"header.npy", "cut short"}},
		{fit("not.npy"), 1, []string{"not.npy", "not an NPY file"}},
		{fit("big.npy"), 1, []string{"big.npy", `column 1 ("RM")`, `">f8"`}},
		{fit("text.npy"), 1, []string{"text.npy", `column 1 ("RM")`, `"<U2"`}},
		{fit("fortran.npy"), 1, []string{"fortran.npy", "Fortran order"}},
		{fit("nan.npy"), 1, []string{"nan.npy", "row 2", `column 2 ("MEDV")`, "the value is missing"}},
		{[]string{"fit", "few.npy", "--target", "RN"}, 1, []string{"few.npy", `"RN"`, `did you mean "RM"?`}},

		// Flags.
		{[]string{"fit", "homes.csv"}, 2, []string{"--target"}},
		{[]string{"fit", "--target", "MEDV"}, 2, []string{"arg", "DATA"}},
		{fit("homes.csv", "another.csv"), 2, []string{"arg", "DATA"}},
		{homesWith("--epsilon", "0"), 2, []string{"--epsilon", `"0"`}},
		{homesWith("--epsilon", "-1"), 2, []string{"--epsilon", `"-1"`}},
		{homesWith("--epsilon", "abc"), 2, []string{"--epsilon", `"abc"`}},
		{homesWith("--epsilon", "NaN"), 2, []string{"--epsilon", "NaN"}},
		{homesWith("--epsilon", "inf"), 2, []string{"epsilon"}},
		{homesWith("--epsilon", "0.4:0.8"), 2, []string{"epsilon", "asymmetric"}},
		{homesWith("--epsilon", "0.4:0.8:1", "--loss", "asymmetric"), 2, []string{"--epsilon"}},
		{homesWith("--loss", "asymmetric"), 2, []string{"epsilon", "above"}},
		{homesWith("--epsilon-units", "cm"), 2, []string{"epsilon-units", `"cm"`}},
		{homesWith("--promise", "0"), 2, []string{"--promise 0: want a share"}},
		{homesWith("--delta", "0"), 2, []string{"--delta 0"}},
		{homesWith("--delta", "1"), 2, []string{"--delta 1"}},
		{homesWith("--delta", "2"), 2, []string{"--delta 2"}},
		{homesWith("more.csv"), 2, []string{`"more.csv" is one argument too many (usage: krigo fit DATA --target COL`}},
		{[]string{"predict", "m.krigo"}, 2, []string{"an argument is missing (usage: krigo predict MODEL DATA"}},
		{homesWith("--delta", "x"), 2, []string{"--delta", `"x"`}},
		{homesWith("--objective", "elbo"), 2, []string{`objective: "elbo" is called "vfe" or "svgp" here`}},
		{homesWith("--objective", "none"), 2, []string{`objective "none"`, "kl-pac"}},
		{homesWith("--kernel", "rbf"), 2, []string{`"rbf" is called "se" here`}},
		{homesWith("--objective", "renyi", "--alpha", "-0.5"), 2, []string{"want 0 ≤ α ≤ 1"}},
		{homesWith("--objective", "renyi", "--alpha", "cv", "--alphas", "0,2"), 2, []string{"alphas", "from 0 to 1"}},
		{homesWith("--objective", "renyi", "--alphas", "0,1"), 2, []string{"alphas", "alpha cv"}},
		{homesWith("--objective", "vfe", "--inducing", "0"), 2, []string{"vfe", "full GP"}},
		{homesWith("--objective", "pep", "--alpha", "0"), 2, []string{"alpha", "0 < α ≤ 1"}},
		{homesWith("--inducing-init", "best"), 2, []string{"inducing-init", `"best"`}},
		{homesWith("--posterior", "exact"), 2, []string{"--posterior", `"exact"`, "free"}},
		{homesWith("--posterior", "free", "--inducing", "0"), 2, []string{"posterior free", "full GP"}},
		{homesWith("--delta", "x"), 2, []string{`--delta "x": want a number`}},
		{homesWith("--seed", "-1"), 2, []string{`--seed "-1": want a whole number of 0 or more`}},
		{homesWith("--temper", "1,a"), 2, []string{`--temper "1,a": want numbers with commas between them`}},
		{homesWith("--inducing", "few"), 2, []string{`--inducing "few": want a whole number, or auto`}},
		{homesWith("--deliver", "some"), 2, []string{`deliver "some": want one of certified, all`}},
		{homesWith("--posterior", "free", "--objective", "vfe"), 2,
			[]string{"posterior free is a setting of kl-pac and sqrt-pac", "kl-pac"}},
		{homesWith("--batch", "100", "--objective", "kl-pac"), 2, []string{"batch", "svgp",
			"batch is a setting of evidence, nearest, svgp and renyi, and of posterior free"}},
		{homesWith("--objective", "svgp", "--optimizer", "lbfgs", "--batch", "100"), 2, []string{"are for adam and sgd"}},
		{homesWith("--objective", "svgp", "--optimizer", "sga"), 2, []string{"optimizer", `"sga"`}},
		{homesWith("--objective", "svgp", "--batch", "x"), 2, []string{"--batch", `"x"`}},
		{homesWith("--prior", "uniform"), 2, []string{`prior "uniform"`, "informed"}},
		{homesWith("--prior", "informed", "--temper", "0.1,x"), 2, []string{"temper", "x"}},
		{homesWith("--objective", "kl-pac", "--mean-bound", "direct"), 2, []string{"mean-bound direct", "informed prior"}},
		{homesWith("--bound", "hoeffding"), 2, []string{`bound "hoeffding"`, "split-kl"}},
		{homesWith("--promise", "95"), 2, []string{"promise 95", "0.95"}},
		{homesWith("--grid", "6,mixed", "--objective", "vfe"), 2, []string{"grid", "vfe"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "conformal", "--level", "0.99"}, 1,
			[]string{"level 0.99: 21 rows", "takes at least 99"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "conformal", "--level", "95"}, 2,
			[]string{"--level 95"}},
		{[]string{"predict", "good.krigo", "new.csv", "--intervals", "full", "--data", "homes.csv", "--out", "homes.csv"}, 1,
			[]string{"would be lost"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--fresh", "--declaration", "nosuch.json"}, 2,
			[]string{"--declaration with --fresh"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--fresh", "--declared", "nosuch.jsonl"}, 2,
			[]string{"--declared or --declaration with --fresh"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--head", "00"}, 2, []string{"--head is for --declared"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--declared", "nosuch.jsonl"}, 1, []string{"--declared nosuch.jsonl"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--declared", "homes.csv"}, 1,
			[]string{"log of declarations: line 1 isn't", "isn't a log of declarations"}},
		{[]string{"declare", "homes.csv", "--target", "MEDV", "--log", "homes.csv"}, 1, []string{"--log: homes.csv: line 1"}},
		{[]string{"declare", "homes.csv", "--target", "MEDV", "--budget", "1s"}, 2, []string{"--budget", "is for fit"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "full"}, 2, []string{"add --data FILE"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "band", "--data", "homes.csv"}, 2,
			[]string{"--data goes with"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "band", "--by", "RM"}, 2, []string{"--by RM"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "full", "--data", "homes.csv", "--by", "ROOMS"}, 2,
			[]string{`"ROOMS" is no input`, "LSTAT"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "full", "--data", "new.csv"}, 1, []string{"MEDV"}},
		{[]string{"predict", "good.krigo", "homes.csv", "--intervals", "exact"}, 2, []string{`intervals "exact"`, "band"}},
		{homesWith("--kernel", "cosine"), 2, []string{`unknown kernel "cosine"`, "matern32"}},
		{homesWith("--kernel", "se+martern32"), 2, []string{`unknown kernel "martern32"`, `did you mean "matern32"?`}},
		{homesWith("--objective", "klpac"), 2, []string{`objective "klpac"`, `did you mean "kl-pac"?`}},
		{homesWith("--inducin", "5"), 2, []string{"unknown flag: --inducin", `did you mean "inducing"?`}},
		{[]string{"fit", "homes.csv", "-target", "MEDV"}, 2, []string{`did you mean "target"?`}},
		{homesWith("--loss", "hinge"), 2, []string{`unknown loss "hinge"`, "band"}},
		{homesWith("--ard", "maybe"), 2, []string{`ard "maybe"`}},
		{homesWith("--mean", "median"), 2, []string{`mean "median"`}},
		{homesWith("--missing", "median"), 2, []string{`missing "median"`, "refuse, mean"}},
		{homesWith("--categorical", "fuel"), 1, []string{"homes.csv", `no column "fuel" to be categorical`}},
		{homesWith("--categorical", "MEDV"), 1, []string{"homes.csv", `the target "MEDV" can't be categorical`}},
		{homesWith("--categorical", "RM", "--no-standardise"), 2,
			[]string{"categorical", "learnt from prior rows", "not declared"}},
		{homesWith("--missing", "mean", "--scaling", "all-rows"), 2, []string{"missing mean", "not all-rows"}},
		{homesWith("--categorical", "RM", "--scaling", "declared:scaling.json"), 2,
			[]string{"--scaling declared:scaling.json with --categorical"}},
		{fit("text.csv", "--missing", "mean"), 1, []string{"text.csv", "line 5 (row 4)",
			`"near" is not a number; correct it, or, if it stands for a missing value, say --na near`}},
		{fit("blank.csv", "--categorical", "LSTAT", "--strict"), 1, []string{"blank.csv", "line 6 (row 5)", `"LSTAT"`, "--missing mean"}},
		{homesWith("--scaling", "robust"), 2, []string{`scaling "robust"`}},
		{homesWith("--scaling", "all-rows", "--no-standardise"), 2, []string{"--no-standardise and --scaling"}},
		{homesWith("--scaling", "declared:missing.json"), 1, []string{"missing.json"}},
		{homesWith("--scaling", "declared:scaling.json"), 1, []string{"scaling.json", `"LSTAT"`, "must be positive"}},
		{homesWith("--solver", "qr"), 2, []string{`solver "qr"`, "cg"}},
		{homesWith("--objective", "kl-pac", "--solver", "cg"), 2, []string{"solver cg",
			"solver cg is a setting of evidence and renyi"}},
		{homesWith("--objective", "evidence", "--fix-parameters"), 2, []string{"fix-parameters", "init"}},
		{homesWith("--objective", "evidence", "--solver", "nearest"), 2, []string{"solver nearest", "fix-parameters"}},
		{homesWith("--grid", "6"), 2, []string{"--grid", `"6"`}},
		{homesWith("--grid", "0,2"), 2, []string{"--grid", "positive"}},
		{homesWith("--inducing", "-3"), 2, []string{"--inducing -3: want 1 or more"}},
		{homesWith("--inducing", "many"), 2, []string{"--inducing", `"many"`}},
		{homesWith("--inducing", "5000"), 2, []string{"inducing 5000", "rows to train on"}},
		{homesWith("--test-fraction", "1"), 2, []string{"test-fraction 1"}},
		{homesWith("--test-fraction", "-0.1"), 2, []string{"test-fraction -0.1"}},
		{homesWith("--test-fraction", "1.5"), 2, []string{"test-fraction 1.5"}},
		{homesWith("--test-fraction", "0.98"), 1, []string{"73 rows", "72 for testing"}},
		{homesWith("--test-fraction", "0.1", "--test", "fresh.csv"), 2, []string{"exclude each other"}},
		{homesWith("--loss", "clipped-absolute", "--epsilon", "0.3"), 2, []string{"--epsilon", "no ε"}},
		{homesWith("--calibration-fraction", "0.1"), 1, []string{"calibration-fraction 0.1", "8 of the 73 rows", "need 19"}},
		{homesWith("--out", "homes.csv"), 1, []string{"--out homes.csv", "would be lost"}},
		{homesWith("--out", "new.csv"), 2, []string{"new.csv exists and isn't a model of krigo",
			"--out"}},
		{[]string{"predict", "good.krigo", "new.csv", "--out", "homes.csv"}, 2,
			[]string{"homes.csv exists and isn't a table that krigo predict wrote"}},
		{[]string{"predict", "good.krigo", "new.csv", "--out", "joined.csv"}, 2,
			[]string{"joined.csv exists and isn't a table that krigo predict wrote"}},
		{[]string{"predict", "good.krigo", "new.csv", "--out", "noted.csv"}, 2,
			[]string{"noted.csv exists and isn't a table that krigo predict wrote"}},
		{[]string{"report", "good.krigo", "--out", "homes.csv"}, 2,
			[]string{"homes.csv exists and isn't a report of krigo"}},
		{[]string{"compare", "homes.csv", "--target", "MEDV", "--out", "new.csv"}, 2,
			[]string{"new.csv exists and isn't a comparison of krigo"}},
		{[]string{"certify", "--predictions", "homes.csv", "--target", "MEDV", "--prediction", "RM", "--epsilon", "1",
			"--out", "new.csv"}, 2, []string{"new.csv exists and isn't a certificate of krigo"}},
		{[]string{"generate", "--rows", "9", "--out", "new.csv"}, 2, []string{"new.csv exists and isn't empty"}},
		{homesWith("--dates", "Rm"), 1, []string{`no column "Rm" to be named by --dates`, `did you mean "RM"?`}},
		{[]string{"inspect", "homes.csv", "--dates", "Rm:dmy"}, 1,
			[]string{`no column "Rm" to be named by --dates`, `did you mean "RM"?`}},
		{[]string{"inspect", "homes.csv", "--duplicates", "Drop"}, 2, []string{`--duplicates "Drop"`, `did you mean "drop"?`}},
		{homesWith("--prior-share", "Inf"), 2, []string{"krigo: prior-share +Inf: want a share in (0, 1)"}},
		{homesWith("--out", "."), 1, []string{"--out .", "folder"}},
		{[]string{"compare", "homes.csv", "--target", "MEDV", "--objective", "vfe"}, 2,
			[]string{"--objective", "--objectives"}},
		{[]string{"compare", "homes.csv", "--target", "MEDV", "--out", "nowhere/x.csv"}, 1, []string{"nowhere"}},
		{[]string{"predict", "good.krigo", "new.csv", "--out", "new.csv"}, 1, []string{"--out new.csv", "would be lost"}},
		{[]string{"predict", "good.krigo", "new.csv", "--intervals", "band,band"}, 2, []string{"band is listed twice"}},
		{[]string{"report", "good.krigo", "homes.csv", "--out", "good.krigo"}, 1,
			[]string{"--out good.krigo", "would be lost"}},
		{homesWith("--test", "missing.csv"), 1, []string{"missing.csv"}},
		{homesWith("--test", "narrow.csv"), 1, []string{"narrow.csv"}},
		{homesWith("--restarts", "-1"), 2, []string{"restarts -1"}},
		{homesWith("--restarts", "x"), 2, []string{"--restarts", `"x"`}},
		{homesWith("--seed", "-1"), 2, []string{"--seed", `"-1"`}},
		{homesWith("--threads", "-1"), 2, []string{"--threads -1"}},
		{homesWith("--learn"), 2, []string{"--learn"}},
		{homesWith("--init", "missing.json"), 1, []string{"missing.json"}},
		{homesWith("--init", "broken.json"), 1, []string{"broken.json"}},
		{homesWith("--init", "unknown.json"), 1, []string{"unknown.json", `"noise"`}},
		{homesWith("--init", "nokernel.json"), 2, []string{"unknown kernel"}},
		{homesWith("--init", "lengths.json"), 2, []string{"2 lengthscales"}},
		{homesWith("--init", "negative.json"), 2, []string{`"variance" must be a positive number`}},
		{homesWith("--resume", "missing.checkpoint"), 1, []string{"missing.checkpoint"}},
		{homesWith("--resume", "broken.json"), 1, []string{"broken.json"}},
		{evaluate("twice.json"), 1, []string{"twice.json: line 1", `"noise_variance" stands twice`}},
		{homesWith("--resume", "homes.csv"), 1, []string{"homes.csv"}},
		{homesWith("--resume", "old.checkpoint"), 1, []string{"other data or other options"}},
		{homesWith("--ard", "off", "--restarts", "1", "--out", "nowhere/m.krigo"), 1, []string{"nowhere"}},

		// evaluate.
		{[]string{"evaluate", "homes.csv", "--target", "MEDV"}, 2, []string{"--params"}},
		{evaluate("missing.json"), 1, []string{"missing.json"}},
		{evaluate("broken.json"), 1, []string{"broken.json"}},
		{evaluate("two.json"), 1, []string{"two.json", "more text after"}},
		{evaluate("unknown.json"), 1, []string{"unknown.json", `"noise"`}},
		{evaluate("nokernel.json"), 2, []string{"params", "unknown kernel"}},
		{evaluate("lengths.json"), 2, []string{"params", "2 lengthscales: give one for all inputs or 3"}},
		{evaluate("negative.json"), 2, []string{"params", `"variance" must be a positive number`}},
		{evaluate("inducing.json"), 2, []string{"params", "inducing[0]"}},

		// certify and predict.
		{[]string{"certify", "missing.krigo", "homes.csv"}, 1, []string{"missing.krigo"}},
		{[]string{"certify", "homes.csv", "homes.csv"}, 1, []string{"homes.csv", "isn't a krigo model"}},
		{[]string{"certify", "short.krigo", "homes.csv"}, 1, []string{"short.krigo", "cut short"}},
		{[]string{"certify", "flipped.krigo", "homes.csv"}, 1, []string{"flipped.krigo", "checksum"}},
		{[]string{"certify", "good.krigo", "altered.csv"}, 1,
			[]string{"altered.csv", "aren't the rows that the model was made from"}},
		{[]string{"certify", "good.krigo", "fresh.csv"}, 1, []string{"fresh.csv", "24 rows", "73"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--fresh"}, 1, []string{"homes.csv", "no test rows"}},
		{[]string{"certify", "good.krigo", "fresh.csv", "--fresh", "--epsilon", "0.1"}, 2,
			[]string{"--fresh with --epsilon"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--epsilon", "0"}, 2, []string{"--epsilon 0"}},
		{[]string{"certify", "good.krigo", "homes.csv", "--epsilon", "-1"}, 2, []string{"--epsilon -1"}},
		{[]string{"certify", "good.krigo"}, 2, []string{"arg", "MODEL DATA"}},
		{[]string{"predict", "missing.krigo", "new.csv"}, 1, []string{"missing.krigo"}},
		{[]string{"predict", "short.krigo", "new.csv"}, 1, []string{"short.krigo"}},
		{[]string{"predict", "good.krigo", "narrow.csv"}, 1, []string{"narrow.csv", `"DIS"`}},
		{[]string{"predict", "good.krigo", "missing.csv", "--out", "p.csv"}, 1, []string{"missing.csv"}},
		{[]string{"predict", "good.krigo", "new.csv", "--out", "nowhere/p.csv"}, 1, []string{"nowhere"}},
		{[]string{"predict"}, 2, []string{"arg"}},
		{[]string{"predict", "good.krigo", "new.csv", "--samples", "-2"}, 2, []string{"--samples -2"}},
		{[]string{"predict", "good.krigo", "nan.npy"}, 1, []string{"nan.npy", `"LSTAT"`}},
		{[]string{"predict", "good.krigo", "new.csv", "--json", "--out", "p.npy"}, 2, []string{"--json", "p.npy"}},
		{[]string{"certify", "good.krigo", "few.npy"}, 1, []string{"few.npy", `"LSTAT"`}},

		// generate.
		{[]string{"generate"}, 2, []string{"--out"}},
		{[]string{"generate", "more", "--out", "d.npy"}, 2, []string{"arg"}},
		{[]string{"generate", "--rows", "0", "--out", "d.npy"}, 2, []string{"0 rows"}},
		{[]string{"generate", "--lengthscales", "1,2,3", "--out", "d.npy"}, 2, []string{"3 lengthscales for 2 inputs"}},
		{[]string{"generate", "--lengthscales", "1,x", "--out", "d.npy"}, 2, []string{"--lengthscales", "1,x"}},
		{[]string{"generate", "--noise-variance", "-1", "--out", "d.npy"}, 2, []string{"noise variance -1"}},
		{[]string{"generate", "--out", "nowhere/d.npy"}, 1, []string{"nowhere"}},

		// report.
		{[]string{"report"}, 2, []string{"arg", "MODEL [DATA]"}},
		{[]string{"report", "good.krigo", "homes.csv", "more"}, 2, []string{"arg"}},
		{[]string{"report", "short.krigo"}, 1, []string{"short.krigo"}},
		{[]string{"report", "good.krigo", "missing.csv"}, 1, []string{"missing.csv"}},
		{[]string{"report", "good.krigo", "narrow.csv"}, 1, []string{"narrow.csv", `"MEDV"`}},
		{[]string{"report", "good.krigo", "--out", "nowhere/r.html"}, 1, []string{"nowhere"}},

		// about.
		{[]string{"version", "more"}, 2, []string{"arg"}},
		{[]string{"man"}, 2, []string{"arg", "FOLDER"}},
		{[]string{"man", "homes.csv"}, 1, []string{"homes.csv"}},
		{[]string{"demo", "a", "b"}, 2, []string{"arg"}},
		{[]string{"demo", "homes.csv"}, 1, []string{"homes.csv"}},

		// serve.
		{[]string{"serve"}, 2, []string{"arg"}},
		{[]string{"serve", "missing.krigo"}, 1, []string{"missing.krigo"}},
		{[]string{"serve", "short.krigo"}, 1, []string{"short.krigo", "cut short"}},
		{[]string{"serve", "good.krigo", "--listen", ":0"}, 2, []string{"--listen :0", "--token-file"}},
		{[]string{"serve", "good.krigo", "--listen", "127.0.0.1:http:"}, 2, []string{"--listen"}},
		{[]string{"serve", "good.krigo", "--listen", "127.0.0.1:99999"}, 1, []string{"--listen"}},
		{[]string{"serve", "good.krigo", "--token-file", "missing"}, 1, []string{"--token-file", "missing"}},
		{[]string{"serve", "good.krigo", "--token-file", "empty.csv"}, 1, []string{"--token-file", "empty"}},
		{[]string{"serve", "good.krigo", "--tls-cert", "c.pem"}, 2, []string{"--tls-key"}},
		{[]string{"serve", "good.krigo", "--tls-cert", "c.pem", "--tls-key", "k.pem"}, 1, []string{"c.pem"}},
		{[]string{"serve", "good.krigo", "--max-rows", "0"}, 2, []string{"--max-rows"}},
		{[]string{"serve", "good.krigo", "--timeout", "-1s"}, 2, []string{"--timeout"}},

		// The command itself.
		{[]string{"fitt", "homes.csv"}, 2, []string{`"fitt"`}},
		{[]string{"--loud"}, 2, []string{"--loud"}},
	} {
		before := listed(t)
		o := call(context.Background(), append(c.args, "--quiet")...)
		name := strings.Join(c.args, " ")
		must.Hold(t, o.status == c.status,
			"%s: status %d, want %d: %s", name, o.status, c.status, o.stderr)
		for _, want := range c.want {
			must.Hold(t, strings.Contains(o.stderr, want),
				"%s: %q doesn't say %q", name, o.stderr, want)
		}
		must.Hold(t, o.stdout == "", "%s: printed %q", name, o.stdout)
		if !strings.HasPrefix(o.stderr, "krigo: ") || strings.Contains(o.stderr, "goroutine") {
			t.Errorf("%s: %q", name, o.stderr)
		}
		if after := listed(t); !slices.Equal(after, before) {
			t.Fatalf("%s: left %v", name, after)
		}
	}
}

// TestSmallChoices: commands accept inputs that look odd but are valid.
func TestSmallChoices(t *testing.T) {
	workplace(t)
	all := strings.TrimSpace(runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--json", "--restarts",
		"0", "--threads", "1"))
	runtime.GOMAXPROCS(runtime.NumCPU())
	var d fitDocument
	must.Do(t, json.Unmarshal([]byte(all), &d))
	if d.Training.Starts != 8 || d.Model != "homes.krigo" { // 0 restarts means the default: one start for each kernel, a line and steps
		t.Errorf("%d starts, model %q", d.Training.Starts, d.Model)
	}
	if got := listed(t); !slices.Contains(got, "homes.krigo") ||
		slices.ContainsFunc(got, func(s string) bool {
			return strings.Contains(s, "checkpoint") || strings.HasPrefix(s, ".")
		}) {
		t.Errorf("left %v", got)
	}
	help := call(context.Background())
	if help.status != 0 || !strings.Contains(help.stdout, "krigo fit houses.csv") || help.stderr != "" {
		t.Errorf("no arguments: %+v", help)
	}
	if version := runs(t, "--version"); !strings.HasPrefix(version, "krigo ") {
		t.Errorf("%q", version)
	}
}

func TestModelName(t *testing.T) {
	for data, want := range map[string]string{"homes.csv": "homes.krigo", "a/b.csv.gz": "b.krigo", "x.tsv": "x.krigo",
		"x": "x.krigo", "x.v2.csv": "x.v2.krigo", "x.gz": "x.krigo", "a/x.npy": "x.krigo"} {
		if got := modelName(data); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

// TestProgressGoesToStandardError: progress is printed on standard error, and results on standard output.
func TestProgressGoesToStandardError(t *testing.T) {
	workplace(t)
	o := call(context.Background(), "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--json", "--restarts",
		"1")
	if o.status != 0 || !json.Valid([]byte(o.stdout)) ||
		!strings.Contains(o.stderr, "kernel 1 of 6, matern32*matern12 (ARD): iteration") ||
		!strings.Contains(o.stderr, "kernel 6 of 6, additive+matern32 (ARD): iteration") || strings.Contains(o.stderr, "\x1b") {
		t.Errorf("%+v", o)
	}
	if o := call(context.Background(), "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--restarts", "1",
		"--quiet"); o.status != 0 || o.stderr != "" {
		t.Errorf("--quiet: %q", o.stderr)
	}
}

// Numbers in snapshots have two digits: the rest may depend on the processor.
var (
	decimals = regexp.MustCompile(`-?\d+(\.\d+(e[-+]\d+)?|e[-+]\d+)`)
	counts   = regexp.MustCompile(`\d+ iterations, \d+ evaluations, [\d.]+ s|"(iterations|evaluations)": \d+|"seconds": ` +
		`[\d.e-]+`)
)

func round(text string) string {
	text = counts.ReplaceAllStringFunc(text,
		func(s string) string { return regexp.MustCompile(`[\d.]+`).ReplaceAllString(s, "N") })
	return decimals.ReplaceAllStringFunc(text, func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf("%.2g", v)
	})
}

// TestSnapshots compares what commands print, for people and for programs, with files in testdata/snapshots. With
// UPDATE_SNAPSHOTS=1 it writes these files again. Then look at the differences yourself.
func TestSnapshots(t *testing.T) {
	here := must.Get(filepath.Abs("testdata/snapshots"))(t)
	workplace(t)
	homes := strings.SplitAfter(read(t, "homes.csv"), "\n")
	write(t, "few.csv", strings.Join(homes[:36], ""))
	var positive strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(read(t, "snelson.csv")), "\n") {
		if x, y, _ := strings.Cut(line, ","); i > 0 {
			v := must.Get(strconv.ParseFloat(y, 64))(t)
			line = fmt.Sprintf("%s,%.4f", x, 10+v)
		}
		fmt.Fprintln(&positive, line)
	}
	write(t, "positive.csv", positive.String())
	write(t, "line.csv", "x\n0.5\n4\n")
	for _, c := range []struct{ name, args string }{
		{"fit-few", "fit homes.csv --target MEDV --ard off --out few.krigo"},
		{"fit-few-dry", "fit homes.csv --target MEDV --ard off --dry-run"},
		{"fit", "fit homes.csv --target MEDV --prior informed --epsilon 1 --ard off"},
		{"fit-verbose", "fit homes.csv --target MEDV --prior informed --epsilon 1 --ard off --verbose"},
		{"fit-json", "fit homes.csv --target MEDV --objective kl-pac --epsilon 1 --ard off --test-fraction 0.2 --json " +
			"--out split.krigo"},
		{"fit-test", "fit homes.csv --target MEDV --objective evidence --kernel matern32+constant --ard off --mean " +
			"constant --restarts 1 --test fresh.csv --out other.krigo"},
		{"fit-none", "fit few.csv --target MEDV --prior grid --restarts 1 --ard off"},
		{"fit-none-json", "fit few.csv --target MEDV --prior grid --restarts 1 --ard off --json"},
		{"fit-band", "fit snelson.csv --target y --objective kl-pac --epsilon 1 --restarts 1"},
		{"fit-all-rows", "fit snelson.csv --target y --objective kl-pac --epsilon 1 --scaling all-rows --restarts 1 --out " +
			"all.krigo"},
		{"fit-asymmetric", "fit snelson.csv --target y --objective kl-pac --loss asymmetric --epsilon 1:1.5 --restarts 1 " +
			"--out asymmetric.krigo"},
		{"fit-gaussian", "fit snelson.csv --target y --objective kl-pac --loss gaussian --epsilon 1.5 --restarts 1 --out " +
			"gaussian.krigo"},
		{"fit-relative", "fit positive.csv --target y --objective kl-pac --loss relative --epsilon 0.15 --restarts 1 --out " +
			"relative.krigo"},
		{"fit-informed", "fit snelson.csv --target y --epsilon 1 --prior informed --objective evidence --promise 0.6 " +
			"--calibration-fraction 0.15 --test-fraction 0.2 --restarts 1 --out informed.krigo"},
		{"fit-informed-relative", "fit positive.csv --target y --loss relative --epsilon 0.1 --prior informed " +
			"--prior-share 0.4 --objective evidence --promise 0.7 --restarts 1 --out share.krigo"},
		{"fit-no-promise", "fit snelson.csv --target y --epsilon 1 --prior informed --mean-bound both --bound betting " +
			"--promise 0.99 --restarts 1 --out both.krigo"},
		{"certify-informed", "certify informed.krigo snelson.csv"},
		{"predict-intervals", "predict informed.krigo line.csv --intervals conformal,normalised,band"},
		{"certify", "certify homes.krigo homes.csv"},
		{"certify-json", "certify homes.krigo homes.csv --json"},
		{"certify-epsilon", "certify homes.krigo homes.csv --epsilon 1.2"},
		{"certify-epsilon-json", "certify homes.krigo homes.csv --epsilon 1.2 --json"},
		{"certify-fresh", "certify homes.krigo fresh.csv --fresh"},
		{"certify-fresh-json", "certify split.krigo homes.csv --fresh --json"},
		{"evaluate", "evaluate homes.csv --target MEDV --params params.json"},
		{"evaluate-json", "evaluate homes.csv --target MEDV --params params.json --objective evidence --json"},
		{"evaluate-bounds", "evaluate snelson.csv --target y --params bounds.json --objective renyi --alpha 0.5 " +
			"--no-standardise"},
		{"predict", "predict homes.krigo new.csv"},
		{"predict-json", "predict homes.krigo new.csv --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := "$ krigo " + c.args + "\n" + round(runs(t, append(strings.Fields(c.args), "--quiet")...))
			path := filepath.Join(here, c.name+".txt")
			if os.Getenv("UPDATE_SNAPSHOTS") == "1" {
				must.Do(t, os.MkdirAll(here, 0o755))
				must.Do(t, os.WriteFile(path, []byte(got), 0o644))
				return
			}
			if want := read(t, path); got != want {
				t.Errorf("differs from %s (UPDATE_SNAPSHOTS=1 rewrites it):\n%s\nwant\n%s", filepath.Base(path), got, want)
			}
		})
	}
}

// keysOf lists the paths of a JSON document. All entries of an array have the same path.
func keysOf(t *testing.T, text string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	keys := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, w := range v {
				keys[strings.TrimPrefix(path+"."+k, ".")] = true
				walk(path+"."+k, w)
			}
		case []any:
			for _, w := range v {
				walk(path, w)
			}
		}
	}
	walk("", v)
	return slices.Sorted(maps.Keys(keys))
}

func under(parent string, keys ...string) (out []string) {
	if parent != "" {
		out = []string{parent}
		parent += "."
	}
	for _, k := range keys {
		out = append(out, parent+k)
	}
	return out
}

var certificateKeys = []string{"bound", "bound_sqrt", "empirical_risk", "kl", "grid_penalty", "choices_penalty",
	"delta", "rows",
	"loss", "epsilon", "epsilon_raw", "mean_bound", "prior", "prior_rows", "scaling", "valid", "label", "conditions"}

// TestJSONKeys pins the names that programs read (docs/reference/json.md).
func TestJSONKeys(t *testing.T) {
	workplace(t)
	write(t, "rq.json", `{"kernel": {"name": "sum", "parts": [{"name": "rq", "variance": 1, "lengthscales": [2], "shape": 1},
		{"name": "periodic", "variance": 1, "lengthscales": [2], "period": 2}]}, "noise_variance": 1, "mean": {"constant": 0, "linear": [0, 0, 0]}}`)
	common := slices.Concat(under("", "objective", "rows", "inputs", "inducing", "noise_variance", "observation_noise",
		"model"), under("population", "of", "says"),
		under("kernel", "name", "variance", "lengthscales"),
		under("training", "objective_value", "iterations", "evaluations", "starts", "seconds", "stopped"))
	certificate := under("certificate", certificateKeys...)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"fit homes.csv --target MEDV --objective kl-pac --ard off --restarts 1 --test-fraction 0.2", slices.Concat(common,
			certificate, under("", "solver"), under("test", "rows", "mse", "rmse_raw", "nlpd", "gibbs_risk", "mean_risk",
				"coverage95", "coverage", "coverage.level", "coverage.share", "pit"))},
		{"fit homes.csv --target MEDV --objective kl-pac --ard off --restarts 1 --test-fraction 0.6 --mean constant",
			slices.Concat(common, under("", "solver", "certificate", "certificate_reason"), under("mean", "constant"),
				under("test", "rows", "mse", "rmse_raw", "nlpd", "gibbs_risk", "mean_risk", "coverage95", "coverage",
					"coverage.level", "coverage.share", "pit"))},
		{"fit homes.csv --target MEDV --objective kl-pac --ard off --restarts 1 --loss asymmetric --epsilon 0.5:1 --mean " +
			"linear --out m.krigo", slices.Concat(common, certificate,
			under("", "solver", "certificate.epsilon_above", "test"), under("mean", "constant", "linear"))},
		{"fit homes.csv --target MEDV --ard off --objective evidence --solver cg --out cg.krigo", slices.Concat(common,
			under("", "solver", "certificate", "certificate_reason", "test", "training.objective_value_standard_error"))},
		{"predict cg.krigo new.csv", slices.Concat(under("", "target", "solver"), under("predictions", "mean",
			"latent_variance", "predictive_variance", "lower95", "upper95", "outside", "latent_sd", "predictive_sd"))},
		{"evaluate homes.csv --target MEDV --params params.json --objective evidence --solver cg", slices.Concat(
			under("", "certificate", "certificate_reason", "objective", "value", "value_standard_error"),
			under("gradient", "log_variance", "log_lengthscales", "log_noise_variance"),
			under("gradient_standard_error", "log_variance", "log_lengthscales", "log_noise_variance"))},
		{"predict m.krigo new.csv --samples 2", slices.Concat(under("", "target", "samples"), under("predictions", "mean",
			"latent_variance", "predictive_variance", "lower95", "upper95", "outside", "latent_sd", "predictive_sd"))},
		{"certify m.krigo homes.csv", slices.Concat(certificate,
			under("", "certificate.epsilon_above", "matches", "valid", "independently_checked", "refitted"),
			under("checked", "what", "fields", "by", "bound_rests_on_it"),
			under("on_the_fitters_word", "what", "fields", "by", "bound_rests_on_it"))},
		{"certify m.krigo fresh.csv --fresh", under("", "rows", "delta", "loss", "epsilon", "epsilon_above", "epsilon_raw",
			"gibbs_risk", "bound", "mean_risk", "mean_bound")},
		{"evaluate homes.csv --target MEDV --params params.json", slices.Concat(certificate, under("", "objective", "value"),
			under("gradient", "log_variance", "log_lengthscales", "log_noise_variance"))},
		{"evaluate homes.csv --target MEDV --params rq.json --mean linear",
			slices.Concat(certificate, under("", "objective", "value"),
				under("gradient", "log_noise_variance"), under("gradient.mean", "constant", "linear"),
				under("gradient.parts", "log_variance", "log_lengthscales", "log_shape", "log_period"))},
		{"predict m.krigo new.csv", slices.Concat(under("", "target"), under("predictions", "mean", "latent_variance",
			"predictive_variance", "lower95", "upper95", "outside", "latent_sd", "predictive_sd"))},
	} {
		got := keysOf(t, runs(t, append(strings.Fields(c.args), "--json", "--quiet")...))
		got = slices.DeleteFunc(got, func(k string) bool { return k == "notices" || strings.HasPrefix(k, "findings") })
		want := slices.Clone(c.want)
		slices.Sort(want)
		must.Hold(t, slices.Equal(got, want), "%s:\n%v\nwant\n%v", c.args, got, want)
	}
	// rows counts prior and certified rows, certificate.rows counts certified rows
	var d fitDocument
	must.Do(t, json.Unmarshal([]byte(runs(t, "fit", "homes.csv", "--target", "MEDV", "--objective", "kl-pac", "--ard",
		"off", "--restarts", "1", "--test-fraction", "0.2", "--json", "--quiet")), &d))
	must.Hold(t, d.Rows == 58 && d.Certificate.Rows == 38 && d.Certificate.PriorRows == 20 &&
		d.Test.Rows == 15 && d.Inputs == 3 && d.Inducing == 0, "%+v", d)
}

// TestGenerate draws a table and writes it as NPY and as CSV. The commands print the same for both files.
func TestGenerate(t *testing.T) {
	workplace(t)
	draw := strings.Fields("generate --rows 400 --inputs 3 --seed 5 --features 50 --quiet --out")
	if out := runs(t, append(draw, "d.npy")...); !strings.Contains(out, "400 rows × 3 inputs") ||
		!strings.Contains(out, "lengthscales [") {
		t.Errorf("%q", out)
	}
	first := read(t, "d.npy")
	runs(t, append(draw, "again.npy")...)
	must.Hold(t, read(t, "again.npy") == first, "the same seed, other bytes")
	want := under("", "rows", "inputs", "variance", "lengthscales", "noise_variance", "features", "seed", "file")
	if got := keysOf(t, runs(t, append(draw, "d.csv.gz", "--json")...)); !slices.Equal(slices.Sorted(slices.Values(got)),
		slices.Sorted(slices.Values(want))) {
		t.Errorf("%v", got)
	}
	for _, c := range []string{
		"fit DATA --target y --inducing 8 --ard off --test-fraction 0.1 --out DATA.krigo",
		"certify DATA.krigo DATA",
		"certify DATA.krigo DATA --fresh",
		"evaluate DATA --target y --params p.json",
		"evaluate DATA --target y --params p.json --json",
		"predict DATA.krigo DATA",
		"compare DATA --target y --objectives vfe --inducing 3 --ard off --splits 2",
	} {
		write(t, "p.json", `{"kernel": {"name": "se", "variance": 1, "lengthscales": [2]}, "noise_variance": `+
			`0.1, "inducing": [[0, 0, 0], [1, 0, 1]]}`)
		var printed []string
		for _, data := range []string{"d.npy", "d.csv.gz"} {
			out := runs(t, append(strings.Fields(strings.ReplaceAll(c, "DATA", data)), "--quiet")...)
			out = strings.ReplaceAll(out, data, "DATA")
			out = regexp.MustCompile(`evaluations, [\d.]+ s| *\S+ ± \S+\n`).ReplaceAllString(out, "") // seconds
			printed = append(printed, out)
		}
		must.Hold(t, printed[0] == printed[1],
			"%s: from NPY\n%s\nfrom CSV\n%s", c, printed[0], printed[1])
	}
	runs(t, "predict", "d.npy.krigo", "d.npy", "--out", "p.npy")
	runs(t, "predict", "d.npy.krigo", "d.npy", "--out", "p.csv")
	runs(t, "fit", "p.npy", "--target", "mean", "--inducing", "2", "--ard", "off", "--quiet")
	a, b := runs(t, "predict", "p.krigo", "p.npy"), runs(t, "predict", "p.krigo", "p.csv")
	must.Hold(t, a == b, "predictions as NPY aren't those as CSV")
}

// TestPredictOut: predict gives the same numbers in a file, on standard output and as JSON.
func TestPredictOut(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--ard", "off", "--restarts", "1", "--quiet")
	want := runs(t, "predict", "homes.krigo", "new.csv")
	if out := runs(t, "predict", "homes.krigo", "new.csv", "--out", "p.csv"); out != "" || read(t, "p.csv") != want {
		t.Errorf("printed %q, wrote %q", out, read(t, "p.csv"))
	}
	var d struct{ Predictions []model.Prediction }
	must.Do(t, json.Unmarshal([]byte(runs(t, "predict", "homes.krigo", "new.csv", "--json")), &d))
	lines := strings.Split(strings.TrimSpace(want), "\n")
	must.Need(t, len(lines) == 4 && len(d.Predictions) == 3,
		"%d lines, %d predictions", len(lines), len(d.Predictions))
	for i, p := range d.Predictions {
		fields := strings.Split(lines[i+1], ",")
		for j, v := range []float64{p.Mean, p.LatentVariance, p.PredictiveVariance, p.Lower95, p.Upper95} {
			if got, err := strconv.ParseFloat(fields[j], 64); err != nil || got != v {
				t.Errorf("row %d, field %d: %v as text, %v in JSON (%v)", i, j, fields[j], v, err)
			}
		}
	}
}

// TestPredictSamples shows that predict --samples adds a column for each draw. Draws have the predicted mean and
// variance, and the same seed gives the same draws.
func TestPredictSamples(t *testing.T) {
	must.Long(t)
	workplace(t)
	for _, solver := range []string{"cholesky", "cg"} {
		runs(t, "fit", "homes.csv", "--target", "MEDV", "--objective", "evidence", "--solver", solver, "--ard", "off",
			"--quiet")
		out := runs(t, "predict", "homes.krigo", "new.csv", "--samples", "300", "--seed", "7", "--quiet")
		if again := runs(t, "predict", "homes.krigo", "new.csv", "--samples", "300", "--seed", "7", "--quiet"); again != out {
			t.Errorf("%s: other samples from the same seed", solver)
		}
		if other := runs(t, "predict", "homes.krigo", "new.csv", "--samples", "300", "--seed", "8", "--quiet"); other == out {
			t.Errorf("%s: the same samples from another seed", solver)
		}
		var d predictDocument
		must.Do(t, json.Unmarshal([]byte(runs(t, "predict", "homes.krigo", "new.csv", "--samples", "300", "--seed", "7",
			"--json", "--quiet")), &d))
		lines := strings.Split(strings.TrimSpace(out), "\n")
		names := strings.Split(lines[0], ",")
		if len(names) != 308 || names[8] != "sample1" || names[307] != "sample300" || len(lines) != 4 {
			t.Fatalf("%s: %d columns, %d lines", solver, len(names), len(lines))
		}
		for i, p := range d.Predictions {
			fields := strings.Split(lines[i+1], ",")
			var sum, squares float64
			for j, v := range d.Samples[i] {
				if got, err := strconv.ParseFloat(fields[8+j], 64); err != nil || got != v {
					t.Errorf("row %d, sample %d: %v as text, %v in JSON", i, j, fields[8+j], v)
				}
				sum += v / 300
				squares += (v - p.Mean) * (v - p.Mean) / 300
			}
			must.Hold(t, math.Abs(sum-p.Mean) <= 5*math.Sqrt(p.LatentVariance/300) &&
				math.Abs(squares/p.LatentVariance-1) <= 5*math.Sqrt(2./300),
				"%s, row %d: samples of mean %v and variance %v, predicted %v and %v", solver, i,
				sum, squares, p.Mean, p.LatentVariance)
		}
	}
}

// TestPredictExplain shows that the contributions are in the last columns, and sum to the prediction. predict may
// overwrite a file with contributions.
func TestPredictExplain(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--quiet")
	args := strings.Fields("predict homes.krigo new.csv --explain --samples 1 --quiet")
	lines := strings.Split(strings.TrimSpace(runs(t, args...)), "\n")
	_, names, _ := strings.Cut(lines[0], ",sample1,")
	must.Be(t, names, "explain_base,contribution_RM,contribution_LSTAT,contribution_DIS,explain_remainder")
	var d predictDocument
	must.Do(t, json.Unmarshal([]byte(runs(t, append(args, "--json")...)), &d))
	for i, p := range d.Predictions {
		sum := 0.
		for _, field := range strings.Split(lines[i+1], ",")[9:] {
			sum += must.Get(strconv.ParseFloat(field, 64))(t)
		}
		must.Near(t, sum, p.Mean, 1e-10, "row", i)
		must.Near(t, linalg.Sum(d.Explanation.Contributions[i]), sum-d.Explanation.Base-d.Explanation.Remainder[i], 1e-10)
	}
	for range 2 {
		runs(t, append(args, "--out", "p.csv")...)
	}
}

// stopAfter is a command's standard error. It cancels the command when n runs of training have ended.
type stopAfter struct {
	bytes.Buffer
	n      int
	cancel func()
}

func (s *stopAfter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(": iteration ")) {
		if s.n--; s.n == 0 {
			s.cancel()
		}
	}
	return s.Buffer.Write(p)
}

// content returns the bytes of a model file after setting the seconds of training to 0.
func content(t *testing.T, path string) string {
	t.Helper()
	m := must.Get(krigo.Load(path))(t)
	m.Training.Seconds = 0
	must.Do(t, m.Save("compared.krigo"))
	defer os.Remove("compared.krigo")
	return read(t, "compared.krigo")
}

// TestInterrupt: an interrupted fit leaves a checkpoint. The same command then says that it continues from the
// checkpoint, and writes the same model file as an uninterrupted fit.
func TestInterrupt(t *testing.T) {
	workplace(t)
	args := []string{"fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--restarts", "2"}
	runs(t, append(args, "--out", "whole.krigo", "--quiet")...)
	const checkpoint = "homes.krigo.checkpoint"
	for _, c := range []struct {
		again, says string
		runs        int
	}{
		{"", "go on from " + checkpoint, 1},
		{"", "go on from " + checkpoint, 2},
		{"--fresh-start", checkpoint + " is of this fit; begin anew", 3},
		{"--resume kept", "go on from kept", 1},
	} {
		before := listed(t)
		interrupt := func(n int, args ...string) outcome {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stdout bytes.Buffer
			stderr := &stopAfter{n: n, cancel: cancel}
			if n == 0 {
				cancel()
			}
			status := Run(ctx, args, nil, &stdout, stderr)
			return outcome{status, stdout.String(), stderr.String()}
		}
		left := func(want ...string) {
			t.Helper()
			if got := slices.DeleteFunc(listed(t), func(s string) bool { return slices.Contains(before, s) }); !slices.Equal(got,
				want) {
				t.Errorf("%+v: left %v, want %v", c, got, want)
			}
		}
		if o := interrupt(c.runs, args...); o.status != 1 || o.stdout != "" ||
			!strings.Contains(o.stderr, "give the same command again, and it goes on from "+checkpoint) {
			t.Fatalf("%+v: %+v", c, o)
		}
		left(checkpoint)
		again, at := slices.Concat(args, strings.Fields(c.again)), checkpoint
		if c.again == "--resume kept" { // a renamed checkpoint: the fit then saves to the new name
			at = "kept"
			must.Do(t, os.Rename(checkpoint, at))
		}
		for _, n := range []int{0, 1} { // a fit that is interrupted early keeps the checkpoint
			if o := interrupt(n, again...); o.status != 1 || !strings.Contains(o.stderr, "it goes on from "+at) {
				t.Errorf("%+v, interrupted after %d: %+v", c, n, o)
			}
			left(at)
		}
		if o := call(t.Context(), again...); o.status != 0 || !strings.Contains(o.stderr, c.says) ||
			content(t, "homes.krigo") != content(t, "whole.krigo") {
			t.Errorf("%+v, again: %+v", c, o)
		}
		left("homes.krigo")
		os.Remove("homes.krigo")
	}
	// A fit without a checkpoint that is interrupted before its first step leaves no file.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := listed(t)
	if o := call(ctx, args...); o.status != 1 || !strings.Contains(o.stderr, "begins anew") || o.stdout != "" ||
		!slices.Equal(before, listed(t)) {
		t.Errorf("interrupted at once: %+v, left %v", o, listed(t))
	}
}

// TestOtherCheckpoint: a fit neither uses nor replaces another fit's checkpoint, and its error says so.
func TestOtherCheckpoint(t *testing.T) {
	workplace(t)
	args := []string{"fit", "homes.csv", "--target", "MEDV", "--objective", "vfe", "--inducing", "5", "--ard", "off",
		"--epochs", "3"}
	ctx, cancel := context.WithCancel(t.Context())
	Run(ctx, args, nil, io.Discard, &stopAfter{n: 1, cancel: cancel})
	cancel()
	const checkpoint = "homes.krigo.checkpoint"
	kept := read(t, checkpoint)
	old := strings.Replace(kept, `"version":3`, `"version":2`, 1)
	for _, c := range []struct{ flags, content, says string }{
		{"--seed 1", kept, "run.seed is not given there and 1 here"},
		{"--seed 1 --fresh-start", kept, "run.seed is not given there and 1 here"},
		{"--kernel matern32", kept, `kernel.expression is "se" there and "matern32" here`},
		{"--duplicates drop", kept, "data.reading.distinct is not given there and true here"},
		{"--seed 1 --resume " + checkpoint, kept, "run.seed"},
		{"", old, "another version of krigo"},
		{"", kept[:len(kept)/2], "can't be read"},
	} {
		write(t, checkpoint, c.content)
		if o := call(t.Context(), append(args, strings.Fields(c.flags)...)...); o.status != 1 || !strings.Contains(o.stderr,
			c.says) || !strings.Contains(o.stderr, checkpoint) || read(t, checkpoint) != c.content ||
			slices.Contains(listed(t), "homes.krigo") {
			t.Errorf("%+v: %+v, %v", c, o, listed(t))
		}
	}
	// The checkpoint doesn't prevent a fit with another output.
	runs(t, append(args, "--seed", "1", "--out", "other.krigo", "--quiet")...)
}

// TestOneFitAtATime: while a fit runs, a second fit with the same output is refused. Files that a killed fit left don't
// prevent a new fit.
func TestOneFitAtATime(t *testing.T) {
	workplace(t)
	args := []string{"fit", "homes.csv", "--target", "MEDV", "--objective", "vfe", "--inducing", "5", "--ard", "off",
		"--epochs", "3", "--quiet"}
	const lock = "homes.krigo.checkpoint.lock"
	release := must.Get(disk.Claim(lock))(t)
	if o := call(t.Context(), args...); o.status != 1 || !strings.Contains(o.stderr, "another fit is under way") ||
		slices.Contains(listed(t), "homes.krigo") {
		t.Errorf("beside another: %+v", o)
	}
	release()
	write(t, lock, "")
	runs(t, args...)
	if left := listed(t); slices.Contains(left, lock) || !slices.Contains(left, "homes.krigo") {
		t.Errorf("after one that was killed: %v", left)
	}
}

// TestFullDisk: a fit that can't write its checkpoint warns once, and makes the same model.
func TestFullDisk(t *testing.T) {
	workplace(t)
	args := []string{"fit", "homes.csv", "--target", "MEDV", "--objective", "vfe", "--inducing", "5", "--ard", "off",
		"--epochs", "5", "--quiet"}
	runs(t, append(args, "--out", "whole.krigo")...)
	every := CheckpointEvery
	CheckpointEvery = 0
	defer func() { CheckpointEvery = every }()
	end := disk.Inject(func(op disk.Op) (int, error) {
		if op.Name == "rename" && strings.HasSuffix(op.Path, ".checkpoint") {
			return 0, syscall.ENOSPC
		}
		return 0, nil
	})
	o := call(t.Context(), args...)
	end()
	if o.status != 0 || strings.Count(o.stderr, "warning: the checkpoint can't be written: homes.krigo.checkpoint") != 1 ||
		content(t, "homes.krigo") != content(t, "whole.krigo") {
		t.Errorf("%+v", o)
	}

	// A model for which its folder has no room isn't lost either.
	t.Setenv("TMPDIR", t.TempDir())
	end = disk.Inject(func(op disk.Op) (int, error) {
		if op.Name == "rename" && filepath.Base(op.Path) == "full.krigo" && !strings.HasPrefix(op.Path, os.TempDir()) {
			return 0, syscall.ENOSPC
		}
		return 0, nil
	})
	o = call(t.Context(), append(args, "--out", "full.krigo")...)
	end()
	_, rescue, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(o.stderr), " instead"), "the model is in ")
	if o.status != 1 || !strings.Contains(o.stderr, "no space left") || content(t, rescue) != content(t, "whole.krigo") {
		t.Errorf("%+v", o)
	}
}

// TestCertifyRefusesWrongBound: certify refuses a model file with a bound that is too small, and names the file, even
// if the file's checksum is right.
func TestCertifyRefusesWrongBound(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--ard", "off", "--restarts", "1", "--quiet")
	m := must.Get(krigo.Load("homes.krigo"))(t)
	m.Certificate.Bound /= 2
	must.Do(t, m.Save("boastful.krigo"))
	if o := call(context.Background(), "certify", "boastful.krigo", "homes.csv"); o.status != 1 || o.stdout != "" ||
		!strings.Contains(o.stderr, "boastful.krigo") || !strings.Contains(o.stderr, "don't rely on this file") {
		t.Errorf("%+v", o)
	}
}

// TestCertifyCore: certify --core writes what core.py needs, also of a table with decimal commas and dates, and certify
// says the same as without it.
func TestCertifyCore(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED: core.py needs python3, which isn't here")
	}
	core := must.Get(filepath.Abs("../../verify/core.py"))(t)
	t.Chdir(t.TempDir())
	text := "when;a;y\n"
	for i := range 120 {
		text += fmt.Sprintf("2024-%02d-%02d;%s;%s\n", 1+i/28, 1+i%28,
			strings.ReplaceAll(fmt.Sprintf("%.2f", float64(i*37%127)/10), ".", ","),
			strings.ReplaceAll(fmt.Sprintf("%.3f", math.Sin(float64(i*37%127)/10)), ".", ","))
	}
	text += "2024-06-01;-0,0;0,1\n" + "2024-06-02;1,5;0,9\n" + "2024-06-02;1,5;0,9\n" // krigo's hash knows the sign of 0
	write(t, "rows.csv", text)
	runs(t, "fit", "rows.csv", "--target", "y", "--prior", "informed", "--kernel", "se", "--ard", "off", "--restarts", "1", "--quiet", "--decimal", ",")
	said := runs(t, "certify", "rows.krigo", "rows.csv", "--no-refit")
	must.Be(t, runs(t, "certify", "rows.krigo", "rows.csv", "--no-refit", "--core", "core"), said)
	for table, says := range map[string]bool{"core/rows.csv": true, "rows.csv": false} {
		out, err := exec.Command(python, core, "rows.krigo", table, "core/predictions.csv").CombinedOutput()
		must.Hold(t, (err == nil) == says, "%s: %v, %s", table, err, out)
		must.Hold(t, says == strings.Contains(string(out), "\n1 rows equal others"), "%s", out)
	}
	o := call(context.Background(), "certify", "rows.krigo", "rows.csv", "--core", "core", "--epsilon", "1")
	must.Hold(t, o.status == 2 && strings.Contains(o.stderr, "--core is for"), "%+v", o)
}

// TestDeclarationLog: declare prints the hash of what it writes, and the head of the log that it adds to. certify says
// what the log proves about the model's declaration, and refuses a log that was changed or doesn't have it.
func TestDeclarationLog(t *testing.T) {
	workplace(t)
	var heads []string
	for i, seed := range []string{"1", "2", "3"} {
		o := call(t.Context(), "declare", "homes.csv", "--target", "MEDV", "--objective", "kl-pac", "--ard", "off",
			"--restarts", "1", "--seed", seed, "--log", "log.jsonl")
		lines := strings.SplitAfter(read(t, "log.jsonl"), "\n")
		heads = append(heads, fmt.Sprintf("%x", sha256.Sum256([]byte(lines[i]))))
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(o.stdout)))
		must.Be(t, o.stderr, "declaration: SHA-256 "+hash+"\nlog.jsonl: line "+fmt.Sprint(i+1)+"; its head is SHA-256 "+
			heads[i]+"\n")
		must.Hold(t, strings.Contains(lines[i], `"declaration_sha256":"`+hash+`"`), "%s", lines[i])
		write(t, seed+".json", o.stdout)
	}
	o := call(t.Context(), "declare", "homes.csv", "--target", "MEDV", "--quiet")
	must.Hold(t, o.status == 0 && o.stderr == "", "%+v", o)
	runs(t, "fit", "homes.csv", "--declared", "2.json", "--out", "m.krigo", "--quiet")
	certify := []string{"certify", "m.krigo", "homes.csv", "--quiet", "--no-refit", "--declared"}
	said := flat(runs(t, append(certify, "log.jsonl", "--declaration", "2.json")...))
	for _, want := range []string{"It proves: this declaration stands at line 2 of 3 in an unbroken chain whose head is " +
		heads[2], "existed before it", "It doesn't prove: when the declaration was written (2",
		"2 other declarations of this target, 2 of them of the same rows and columns"} {
		must.Hold(t, strings.Contains(said, want), "%s doesn't say %s", said, want)
	}
	var d struct {
		Log struct {
			Line, Lines, Others int
			Head                string `json:"head_sha256"`
			Later               int    `json:"later_lines"`
		} `json:"declaration_log"`
	}
	must.Do(t, json.Unmarshal([]byte(runs(t, append(certify, "log.jsonl", "--head", heads[1], "--json")...)), &d))
	must.Hold(t, d.Log.Line == 2 && d.Log.Lines == 2 && d.Log.Later == 1 && d.Log.Others == 2 && d.Log.Head == heads[1],
		"%+v", d)
	lines := strings.SplitAfter(read(t, "log.jsonl"), "\n")
	write(t, "changed.jsonl", strings.Replace(lines[0], "MEDV", "RM", 1)+lines[1]+lines[2])
	write(t, "removed.jsonl", lines[0]+lines[2])
	write(t, "cut.jsonl", lines[0]+lines[1])
	write(t, "one.jsonl", lines[0])
	write(t, "none.jsonl", "")
	for _, c := range [][]string{
		{"line 2 doesn't follow", "changed.jsonl"}, {"line 2 doesn't follow", "removed.jsonl"},
		{"lines were removed", "cut.jsonl", "--head", heads[2]}, {"none of its 1 lines", "one.jsonl"},
		{"none of its 0 lines", "none.jsonl"}, {"another declaration", "log.jsonl", "--declaration", "1.json"},
		{"behind line 1", "log.jsonl", "--head", heads[0]},
	} {
		o := call(t.Context(), append(certify, c[1:]...)...)
		must.Hold(t, o.status == 1 && o.stdout == "" && strings.Contains(o.stderr, c[0]), "%s: %+v", c, o)
	}
}

// TestCompareFiles: a comparison has the same figures as text, CSV, JSON and HTML, and progress has a line for every
// fit.
func TestCompareFiles(t *testing.T) {
	workplace(t)
	compare := strings.Fields("compare snelson.csv --target y --objectives vfe,dtc --inducing 4 --epochs 10 --splits 2 " +
		"--out")
	o := call(context.Background(), append(compare, "c.json")...)
	if o.status != 0 || strings.Count(o.stderr, " fits done: ") != 4 || !strings.Contains(o.stderr, "4 of 4 fits done") {
		t.Fatalf("%+v", o)
	}
	var rows []krigo.Comparison
	if err := json.Unmarshal([]byte(read(t, "c.json")), &rows); err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	runs(t, append(compare, "c.csv", "--quiet")...)
	runs(t, append(compare, "c.html", "--quiet")...)
	mse, difference := rows[1].Measures["mse"], rows[1].Differences["mse"]
	if text := difference.Text(true); !strings.Contains(o.stdout, text) || !strings.Contains(read(t, "c.html"), text) {
		t.Errorf("no %s in\n%s\n%s", text, o.stdout, read(t, "c.html"))
	}
	csv := strings.Split(read(t, "c.csv"), "\n")
	column := slices.Index(strings.Split(csv[0], ","), "mse")
	cells := strings.Split(csv[2], ",")
	if strings.Join(cells[column:column+4], " ") != fmt.Sprint(mse.Mean, mse.SE, difference.Mean, difference.SE) {
		t.Errorf("%s\n%s, want %+v, %+v", csv[0], csv[2], mse, difference)
	}
}

// TestCompareRefuses: before the first fit, compare refuses options that no fit can have and outputs that can't be
// written, with one message.
func TestCompareRefuses(t *testing.T) {
	workplace(t)
	for _, c := range []struct {
		flags  []string
		status int
		want   string
	}{
		{[]string{"--objectives", ""}, 2, "--objectives"},
		{[]string{"--objectives", "vfe,"}, 2, "--objectives"},
		{[]string{"--objectives", "vfe, vfe"}, 2, "vfe twice"},
		{[]string{"--epsilon", "0.5,0.50"}, 2, "0.5 twice"},
		{[]string{"--group", "nope"}, -1, "nope"},
		{[]string{"--inducing", "4", "--objectives", "evidence"}, -1, "inducing is a setting of kl-pac"},
		{[]string{"--inducing", "5000", "--objectives", "vfe,fitc"}, -1, "5000"},
		{[]string{"--calibration-fraction", "0.9"}, -1, ""},
		{[]string{"--prior-share", "0.999"}, -1, ""},
		{[]string{"--out", "x.pdf"}, 2, "--out x.pdf: a comparison is written as CSV, JSON or HTML"},
		{[]string{"--out", "csv"}, 2, "--out csv"},
	} {
		o := call(context.Background(), append(strings.Fields("compare snelson.csv --target y --splits 2"), c.flags...)...)
		must.Hold(t, o.status != 0 && (c.status <= 0 || o.status == c.status) && o.stdout == "" &&
			strings.Contains(o.stderr, c.want) && !strings.Contains(o.stderr, "fits done") &&
			strings.Count(o.stderr, "\n") <= 1, "%q: %+v", c.flags, o)
	}
	if runtime.GOOS == "linux" {
		for _, command := range []string{"compare snelson.csv --target y --out /proc/x.csv",
			"fit snelson.csv --target y --out /proc/x.krigo"} {
			if o := call(context.Background(), strings.Fields(command)...); o.status != 1 || !strings.Contains(o.stderr,
				"--out /proc/x.") || !strings.Contains(o.stderr, "cannot be written") || strings.Count(o.stderr, "\n") > 1 {
				t.Errorf("%s: %+v", command, o)
			}
		}
	}
}

// TestCompareWithout: compare names the settings that an objective lacks.
func TestCompareWithout(t *testing.T) {
	workplace(t)
	o := call(t.Context(), strings.Fields("compare snelson.csv --target y --splits 1 --objectives svgp,pep "+
		"--inducing 5 --batch 50 --epochs 2 --quiet")...)
	must.Be(t, o.stderr, "pep has no --batch: krigo compares it without\n")
}

// TestOneSplit: with one split, every output has means but no standard errors. Names of objectives may have spaces
// around them.
func TestOneSplit(t *testing.T) {
	workplace(t)
	compare := append(strings.Fields("compare snelson.csv --target y --inducing 4 --epochs 3 --splits 1 --epsilon "+
		"0.5,1e9 --objectives"), " vfe , dtc")
	o := call(context.Background(), append(compare, "--out", "c.html")...)
	page := read(t, "c.html")
	must.Hold(t, o.status == 0 && !strings.Contains(o.stdout+page, "±") &&
		!strings.Contains(o.stdout+page, "over 1 ") &&
		strings.Contains(o.stdout, "One split: there are no standard errors.") &&
		strings.Contains(page, "One random split: there are no standard errors."),
		"%+v\n%s", o, page)
	must.Hold(t,
		strings.Contains(o.stdout, "Choosing the best row is a choice that they don't pay for."),
		"%v", o.stdout)
	if last := o.stderr[strings.LastIndex(o.stderr, "4 of 4 fits done"):]; strings.Contains(last, "left") {
		t.Error(last)
	}
	for _, part := range strings.Split(o.stdout, "\n\n")[:2] { // all lines have one width, even with long numbers
		lines := strings.Split(strings.TrimSpace(part), "\n")
		for _, line := range lines {
			must.Hold(t, utf8.RuneCountInString(line) == utf8.RuneCountInString(lines[0]),
				"%q\n%q", lines[0], line)
		}
	}
	runs(t, append(compare, "--out", "c.csv", "--quiet")...)
	csv := strings.Split(read(t, "c.csv"), "\n")
	at := slices.Index(strings.Split(csv[0], ","), "mse_se")
	if cells := strings.Split(csv[3], ","); cells[at] != "" || cells[at-1] == "" || cells[at+1] == "" || cells[at+2] != "" {
		t.Errorf("%s\n%s", csv[0], csv[3])
	}
}

// TestDemo: demo writes data, a model that certify accepts, and a report of the model.
func TestDemo(t *testing.T) {
	workplace(t)
	if out := runs(t, "demo", "try", "--quiet"); !strings.Contains(out, "With 99 % confidence") ||
		!strings.Contains(out, filepath.Join("try", "demo.html")) {
		t.Errorf("%s", out)
	}
	if out := runs(t, "certify", "try/demo.krigo", "try/demo.csv"); !strings.HasPrefix(out, "Reproduced: ") {
		t.Errorf("%s", out)
	}
	if page := read(t, "try/demo.html"); !strings.Contains(page, "40 test rows") || !strings.Contains(page, "</html>") {
		t.Error("the report isn't whole")
	}
}

// TestAbout: krigo prints its version, writes man pages with a fixed date, and writes completions.
func TestAbout(t *testing.T) {
	workplace(t)
	if out := runs(t, "version"); !strings.HasPrefix(out, "krigo ") ||
		!strings.Contains(out, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("%q", out)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	runs(t, "man", "pages/man1")
	if page := read(t, "pages/man1/krigo-fit.1"); !strings.Contains(page, "Jan 1970") ||
		!strings.Contains(page, `epsilon\-units`) && !strings.Contains(page, "epsilon-units") {
		t.Errorf("%.300s", page)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := runs(t, "completion", shell); len(out) < 1000 {
			t.Errorf("%s: %q", shell, out)
		}
	}
	if out := runs(t, "__complete", "fit", "x.csv", "--objective", "kl"); !strings.HasPrefix(out, "kl-pac\n") {
		t.Errorf("%q", out)
	}
}

// TestRefitOrNot: certify says what it didn't check, and fits again unless it is told not to.
func TestRefitOrNot(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--objective", "evidence", "--prior", "informed", "--ard", "off",
		"--restarts", "1", "--quiet", "--out", "m.krigo")
	for args, want := range map[string]string{
		"":                  "Reproduced: ",
		"--refit":           "Reproduced: ",
		"--no-refit":        "Recomputed, but not reproduced: ",
		"--json":            `"refitted": true`,
		"--no-refit --json": `"independently_checked": false`,
	} {
		if out := runs(t, append(strings.Fields("certify m.krigo homes.csv --quiet"),
			strings.Fields(args)...)...); !strings.Contains(out, want) {
			t.Errorf("%s: %s; want %s", args, out, want)
		}
	}
	for args, want := range map[string]string{"--refit --no-refit": "leave one of the two out",
		"--accept-file-order": "there is nothing to accept"} {
		if o := call(context.Background(), append(strings.Fields("certify m.krigo homes.csv"),
			strings.Fields(args)...)...); o.status == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %d, %s", args, o.status, o.stderr)
		}
	}
}
