package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

func init() {
	campaigns = append(campaigns, campaign{"tables",
		"fit, predict, certify, report and evaluate on hostile tables with odd flags", tables})
}

// tables fits random tables with random flags, and uses each model for everything that models do. A try fails if a
// command panics, says nothing, prints text that no person should read, or leaves an incomplete file or a goroutine.
// It also fails if a prediction isn't finite, or if certify refuses the model that fit has just made.
func tables(r *run) error {
	r.workers = 1 // --memory and --threads hold for the whole process
	return r.each(func(try int64, rng *rand.Rand) (err error) {
		t := &trial{run: r, rng: rng, folder: filepath.Join(r.folder, strconv.FormatInt(try, 10))}
		if err := os.Mkdir(t.folder, 0o777); err != nil {
			return err
		}
		before := runtime.NumGoroutine()
		defer func() {
			if err == nil {
				err = t.left(before)
			}
			if err != nil {
				err = fmt.Errorf("%w\n  %s\n  of %.2000q", err, strings.Join(t.said, "\n  "), t.table)
			}
			os.RemoveAll(t.folder)
		}()
		return t.all()
	})
}

// trial is one table and the commands on it.
type trial struct {
	run    *run
	rng    *rand.Rand
	folder string
	table  []byte
	tame   bool     // the table has no extreme numbers
	said   []string // the commands so far
}

// left returns an error if goroutines outlive the commands that began them.
func (t *trial) left(before int) error {
	for patience := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		now := runtime.NumGoroutine()
		if now <= before {
			return nil
		}
		if time.Now().After(patience) {
			stacks := make([]byte, 1<<18)
			return fmt.Errorf("%d goroutines at the end, %d at the beginning:\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func (t *trial) path(name string) string { return filepath.Join(t.folder, name) }

// one returns true with probability 1/of.
func (t *trial) one(of int) bool { return t.rng.IntN(of) == 0 }

// pick returns one of its arguments at random.
func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// result holds the exit status and the output of a command.
type result struct {
	status      int
	out, errors string
}

// addresses matches addresses in memory, which a message shouldn't contain.
var addresses = regexp.MustCompile(`\b0x[0-9a-f]{6,}`)

var quotes = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// do runs a command, and returns an error if the way in which it ended is wrong for any command.
func (t *trial) do(stdin []byte, args ...string) (r result, err error) {
	if !slices.Contains(args, "--memory") { // the default is half of the machine's memory, which a try may well use
		args = append(slices.Clone(args), "--memory", "256MiB")
	}
	t.said = append(t.said, "krigo "+strings.Join(args, " "))
	files := t.files()
	var out, errs bytes.Buffer
	r.status = command.Run(t.run.ctx, args, bytes.NewReader(stdin), &out, &errs)
	r.out, r.errors = out.String(), errs.String()
	if t.run.ctx.Err() != nil {
		return r, nil // the campaign is over: messages of interrupted commands aren't checked
	}
	switch message := r.errors; {
	case r.status < 0 || r.status > 3:
		return r, fmt.Errorf("exit status %d", r.status)
	case r.status != 0 && !strings.Contains(message, "krigo: "):
		return r, fmt.Errorf("exit status %d without an error message", r.status)
	case r.status != 0 && len(message) > 1<<14:
		return r, fmt.Errorf("the message has %d bytes: %.500s", len(message), message)
	}
	said := quotes.ReplaceAllString(r.errors, "") // quoted text comes from the table
	for _, word := range []string{"runtime error", "goroutine ", "%!", "NaN", "out of memory", "nil pointer",
		"unsupported value"} {
		if strings.Contains(said, word) && !slices.ContainsFunc(args,
			func(arg string) bool { return strings.Contains(arg, word) }) {
			return r, fmt.Errorf("the message contains %q: %.1000s", word, r.errors)
		}
	}
	if address := addresses.FindString(said); address != "" && !strings.Contains(strings.Join(args, " "), address) {
		return r, fmt.Errorf("the message contains %q: %.1000s", address, r.errors)
	}
	for _, word := range []string{"%!", "NaN", "<nil>"} {
		if strings.Contains(r.out, word) {
			return r, fmt.Errorf("the output contains %q: %.3000s", word, r.out)
		}
	}
	for _, file := range t.files() {
		// if fit makes two models, the first stays when the second fails
		whole := strings.HasSuffix(file, ".checkpoint") || strings.Contains(r.errors, "is saved as "+t.path(file))
		if r.status != 0 && !slices.Contains(files, file) && !whole || strings.HasSuffix(file, ".tmp") {
			return r, fmt.Errorf("the command left %[2]s with exit status %[1]d", r.status, file)
		}
	}
	return r, nil
}

func (t *trial) files() (names []string) {
	entries, err := os.ReadDir(t.folder)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// all draws a table, fits a model to it, and uses the model if the fit makes a model.
func (t *trial) all() error {
	name, target := t.draw("data")
	args, stdin := []string{"fit", t.path(name), "--target=" + target, "--out", t.path("m.krigo"), "--json", "--quiet"},
		[]byte(nil)
	if strings.HasSuffix(name, ".csv") && t.one(10) {
		args[1], stdin = "-", t.table
	}
	args = append(args, t.flags()...)
	r, err := t.do(stdin, args...)
	if err != nil {
		return err
	}
	t.run.count([]string{"fitted", "refused", "wrong usage", "alarm"}[r.status])
	if r.status != 0 {
		return nil
	}
	if slices.Contains(args, "--dry-run") {
		return t.decoded(r, &struct{}{})
	}
	return t.ask(name, args, r)
}

// decoded decodes JSON that a command printed.
func (t *trial) decoded(r result, v any) error {
	if err := json.Unmarshal([]byte(r.out), v); err != nil {
		return fmt.Errorf("the output isn't JSON: %w: %.500s", err, r.out)
	}
	return nil
}

// ask uses a model for everything that models do.
func (t *trial) ask(data string, fit []string, r result) error {
	var fitted struct {
		Certificate   *struct{ Valid bool }
		Kernel        json.RawMessage
		NoiseVariance float64 `json:"noise_variance"`
	}
	if err := t.decoded(r, &fitted); err != nil {
		return err
	}
	if _, err := os.Stat(t.path("m.krigo")); err != nil {
		return fmt.Errorf("fit ended with status 0, but there is no model: %w", err)
	}
	model, again := t.path("m.krigo"), t.path(data)
	r, err := t.do(nil, "certify", model, again, "--json", "--quiet")
	if err != nil {
		return err
	}
	if fitted.Certificate != nil {
		t.run.count("certified")
		var c struct{ Matches bool }
		if r.status != 0 {
			return fmt.Errorf("certify refuses the model that fit made: %s", r.errors)
		}
		if err := t.decoded(r, &c); err != nil || !c.Matches {
			return fmt.Errorf("certify computes another certificate than fit: %.1000s", r.out)
		}
	}
	if r, err = t.do(nil, t.predicting(model, again)...); err != nil {
		return err
	}
	if r.status == 0 {
		if err := finite(r.out); err != nil {
			return err
		}
	}
	asked := t.said[len(t.said)-1]
	if r.status != 0 && !strings.Contains(asked, "--intervals") && !strings.Contains(asked, "--samples") &&
		!strings.Contains(r.errors, "overflows") {
		return fmt.Errorf("the model can't predict its own rows: %s", r.errors)
	}
	if t.one(3) { // rows of another table
		other, _ := t.draw("other")
		if r, err = t.do(nil, t.predicting(model, t.path(other))...); err != nil {
			return err
		}
		if r.status == 0 {
			if err := finite(r.out); err != nil {
				return err
			}
		}
		if _, err = t.do(nil, "certify", model, t.path(other), "--fresh", "--quiet"); err != nil {
			return err
		}
	}
	if t.one(4) {
		report := []string{"report", model, "--out", t.path("m.html"), "--quiet"}
		if t.one(2) {
			report = slices.Insert(report, 2, again)
		}
		if r, err = t.do(nil, report...); err != nil {
			return err
		}
		if r.status != 0 {
			return fmt.Errorf("report failed: %s", r.errors)
		}
	}
	if t.one(8) {
		if _, err = t.do(nil, "inspect", again, "--quiet"); err != nil {
			return err
		}
	}
	if t.one(4) {
		params, err := json.Marshal(map[string]any{"kernel": fitted.Kernel, "noise_variance": fitted.NoiseVariance})
		if err == nil {
			err = os.WriteFile(t.path("params.json"), params, 0o666)
		}
		if err != nil {
			return err
		}
		evaluate := []string{"evaluate", again, fit[2], "--params", t.path("params.json"), "--json", "--quiet", "--objective",
			pick(t.rng, method.Names()...)}
		if t.one(2) {
			evaluate = append(evaluate, "--inducing", "2")
		}
		if r, err = t.do(nil, evaluate...); err != nil {
			return err
		}
		t.run.count([]string{"evaluated", "not evaluated", "not evaluated", ""}[r.status])
	}
	return nil
}

// predicting returns the arguments of a krigo predict with random flags.
func (t *trial) predicting(model, table string) []string {
	args := []string{"predict", model, table, "--quiet"}
	if t.one(8) {
		args = append(args, "--intervals", pick(t.rng, "conformal", "normalised", "band", "conformal,band", "full",
			"jackknife"), "--level", pick(t.rng, "0.5", "0.9", "0.999999"))
	}
	if t.one(8) {
		args = append(args, "--samples", pick(t.rng, "1", "3"))
	}
	return args
}

// finite returns an error if a cell of a CSV text isn't a finite number.
// If a row's prediction would overflow, krigo leaves the cells of the row empty, and likewise draws
// that would overflow.
func finite(text string) error {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return fmt.Errorf("the predictions aren't CSV: %w", err)
	}
	for i, row := range rows[1:] {
		for j, cell := range row {
			if cell == "" && (row[0] == "" || strings.HasPrefix(rows[0][j], "sample")) {
				continue
			}
			if v, err := strconv.ParseFloat(cell, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d has the prediction %s = %q", i+1, rows[0][j], cell)
			}
		}
	}
	return nil
}

// flags returns random flags of a fit, with few epochs.
func (t *trial) flags() (args []string) {
	seldom := 4 // most fits get few flags
	if t.one(4) {
		seldom = 1
	}
	add := func(of int, flag string, values ...string) {
		if of == 1 || t.one(of*seldom) {
			args = append(args, flag)
			if len(values) > 0 {
				args[len(args)-1] += "=" + pick(t.rng, values...)
			}
		}
	}
	if names := method.Names(); t.one(2) {
		args = append(args, "--objective="+pick(t.rng, names...))
	}
	add(1, "--restarts", "1")
	add(1, "--epochs", "1", "2", "3", "5")
	add(1, "--seed", "0", "1", "2", "18446744073709551615")
	expressions := append(kernel.Names(), "se+linear", "rq*periodic", "se,rq", "matern12+white")
	add(2, "--kernel", expressions...)
	add(2, "--ard", "on", "off", "auto")
	add(2, "--mean", "zero", "constant", "linear")
	add(3, "--inducing", "0", "1", "2", "3", "5", "auto", "theory", "100")
	add(5, "--inducing-init", "kmeans", "greedy", "kdpp", "random")
	add(8, "--fix-inducing")
	add(6, "--alpha", "0", "0.5", "1", "learn", "cv")
	add(12, "--anneal", "linear", "cosine", "geometric", "none")
	add(12, "--anneal-share", "0.2", "1")
	add(8, "--posterior", "objective", "fitc", "free", "learnt")
	add(10, "--neighbours", "1", "2", "64", "100000")
	add(10, "--term", "density", "squared", "crps", "loss")
	add(10, "--form", "loo", "vecchia")
	add(8, "--hyperprior", "none", "weak")
	add(8, "--solver", "auto", "cholesky", "cg", "nearest")
	add(6, "--optimizer", "lbfgs", "mma", "adam", "sgd")
	add(6, "--batch", "1", "2", "5", "1000000")
	add(10, "--batches", "uniform", "nearest")
	add(10, "--learning-rate", "0.01", "1e-300", "10")
	add(3, "--prior", "grid", "informed")
	add(4, "--prior-share", "0.1", "0.5", "0.9", "0.001")
	add(10, "--temper", "1", "0.5,1,2", "1e-9")
	add(8, "--grid", "6,2", "1,0", "6,mixed", "3,5")
	add(3, "--loss", "band", "clipped-square", "gaussian", "relative", "scaled", "asymmetric", "clipped-absolute")
	add(3, "--epsilon", "0.6", "0.01", "3", "0.4:0.8", "1e-300", "1e300")
	add(6, "--epsilon-units", "sd", "raw")
	add(4, "--delta", "0.01", "0.5", "1e-9", "0.999")
	bounds := []string{}
	for _, q := range pacbayes.Inequalities() {
		bounds = append(bounds, string(q))
	}
	add(4, "--bound", bounds...)
	add(5, "--mean-bound", "twice", "direct", "both")
	add(6, "--promise", "0.5", "0.95", "0.999")
	add(6, "--curve")
	add(8, "--slices", "x", "sd", "x,distance", "y")
	add(6, "--calibration-fraction", "0.1", "0.3", "0.9")
	add(4, "--test-fraction", "0.1", "0.3", "0.9")
	add(6, "--split", "random", "last")
	add(6, "--scaling", "prior-rows", "all-rows")
	add(10, "--no-standardise")
	add(4, "--categorical", "k", "x", "y", "k,x")
	add(3, "--missing", "mean", "refuse")
	add(8, "--group", "k", "x", "y")
	add(16, "--deliver", "all")
	add(12, "--inputs", "x", "k,x", "x*", "*", "y")
	add(12, "--ignore", "k", "x", "*", "z*")
	add(16, "--dates", "x", "k")
	add(16, "--decimal", ",")
	add(16, "--thousands", ",", ".", " ")
	add(16, "--na", "red", "0", "-999")
	add(12, "--duplicates", "drop", "group")
	add(30, "--dry-run")
	add(30, "--memory", "64MiB", "1KiB")
	add(10, pick(t.rng, "--epsilon", "--delta", "--alpha", "--prior-share", "--temper", "--grid", "--inducing", "--batch",
		"--neighbours", "--learning-rate", "--promise", "--test-fraction", "--calibration-fraction", "--restarts", "--epochs",
		"--kernel", "--mean", "--slices", "--memory", "--threads", "--seed", "--init", "--resume", "--declared"),
		"-1", "0", "NaN", "inf", "1e400", "", ",", "1e-320", "9223372036854775807", "x", "../..", "\x00", "%d", "se+", "se*(",
		"data.csv")
	return args
}

// draw draws a table and writes it to a file whose name begins with name. It returns the file's name, and a column to
// predict.
func (t *trial) draw(name string) (file, target string) {
	t.tame = t.one(2)
	text, names := t.text()
	target = pick(t.rng, names...)
	if t.one(2) {
		target = names[len(names)-1]
	}
	if t.tame {
		target = names[len(names)-1]
	} else if t.one(30) {
		target = pick(t.rng, "", "no such", "-x", "y ")
	}
	file, t.table = name+".csv", text
	switch {
	case t.one(15):
		file += ".gz"
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(t.table)
		z.Close()
		t.table = b.Bytes()
		if t.one(2) {
			t.mutate()
		}
	case t.one(6):
		file, target = t.binary(name)
	case t.one(25):
		t.mutate()
	}
	if err := os.WriteFile(t.path(file), t.table, 0o666); err != nil {
		panic(err)
	}
	return file, target
}

// binary draws a table in a binary format, and mostly damages it.
func (t *trial) binary(name string) (file, target string) {
	file = name + pick(t.rng, ".npy", ".npz", ".parquet")
	names, rows := []string{"x", "k", "z", "y"}[:2+t.rng.IntN(3)], 1+t.rng.IntN(50)
	columns := make([]func(i int) float64, len(names))
	for j := range columns {
		columns[j] = t.numbers()
	}
	if err := files.WriteFile(t.path(file), names, rows, func(i int, values []float64) error {
		for j, column := range columns {
			if values[j] = column(i); values[j]-values[j] != 0 {
				values[j] = 0
			}
		}
		return nil
	}); err != nil {
		panic(err)
	}
	var err error
	if t.table, err = os.ReadFile(t.path(file)); err != nil {
		panic(err)
	}
	if !t.one(3) {
		t.mutate()
	}
	return file, names[len(names)-1]
}

// mutate damages the table's bytes.
func (t *trial) mutate() {
	rng := t.rng
	for range 1 + rng.IntN(4) {
		n := len(t.table)
		if n == 0 {
			return
		}
		at := rng.IntN(n)
		if t.one(3) { // headers and footers are at the ends
			at = pick(rng, min(at%64, n-1), n-1-min(at%200, n-1))
		}
		switch rng.IntN(6) {
		case 0:
			t.table[at] ^= 1 << rng.IntN(8)
		case 1:
			t.table[at] = byte(rng.IntN(256))
		case 2:
			for i := at; i < min(n, at+pick(rng, 1, 2, 4, 8)); i++ {
				t.table[i] = pick[byte](rng, 0, 0xff, 0x7f, 0x80)
			}
		case 3:
			t.table = t.table[:at]
		case 4:
			end := min(n, at+rng.IntN(40))
			t.table = slices.Insert(t.table, rng.IntN(n), bytes.Clone(t.table[at:end])...)
		case 5:
			t.table = slices.Delete(t.table, at, min(n, at+1+rng.IntN(20)))
		}
	}
}

// numbers draws a column. It returns a function from a row's index to the row's value.
func (t *trial) numbers() func(i int) float64 {
	rng := t.rng
	offset, scale := 0.0, 1.0
	if !t.tame && t.one(4) {
		offset = pick(rng, 1e3, -1e9, 1e15, 1e-9, 1e300)
	}
	if !t.tame && t.one(4) {
		scale = pick(rng, 1e-3, 1e6, 1e-300, 1e-320, 1e150, 1e300, 1e308)
	}
	kind, again := rng.IntN(12), rng.NormFloat64()
	if t.tame {
		kind = 2 + rng.IntN(10)
	}
	return func(i int) float64 {
		v := rng.NormFloat64()
		switch kind {
		case 0:
			v = again // constant
		case 1:
			v = again + 1e-12*v // nearly constant
		case 2:
			v = float64(i) // an ID
		case 3:
			v = float64(rng.IntN(3)) // duplicates
		case 4:
			v = float64(i / 5)
		case 5:
			v = math.Exp(10 * v)
		case 6:
			v = math.Sin(float64(i)/5) + v/10
		case 7:
			if v = 0; i%17 == 3 {
				v = 1
			}
		}
		return offset + scale*v
	}
}

var oddCells = []string{"", "NA", "nan", "NaN", "inf", "-Inf", "1e308", "-1e308", "1e-320", "1e309", "1e-400", "0",
	"-0", "+1", "1,5", "1_000", "red", "grün", "a b", "\"", "\"a,b\"", "\"line\nbreak\"", "\"\"\"\"",
	"0.1.2", "--1", "1e", "9007199254740993", "179769313486231580793728971405301e999", "\ufeff", "\u00a0", " 3 ", "%d%s%v",
	"<script>", "\\", "'", "null", "?", "#N/A", "TRUE", "日本", "\xff\xfe", "\x00"}

// text draws a CSV text, and the names of its columns.
func (t *trial) text() (text []byte, names []string) {
	rng := t.rng
	if t.one(200) {
		text = make([]byte, rng.IntN(300))
		for i := range text {
			text[i] = byte(rng.IntN(256))
		}
		return text, []string{"y"}
	}
	rows, cols := 12+rng.IntN(40), 1+rng.IntN(4)
	switch {
	case t.one(20):
		rows = rng.IntN(12)
	case t.one(40):
		cols = 5 + rng.IntN(60)
	case t.one(20):
		rows = 100 + rng.IntN(150)
	}
	for j := range cols {
		names = append(names, pick(rng, "x", "k", "z", "")+strings.Repeat("'", j))
	}
	names[0] = "x"
	if cols > 2 {
		names[1] = "k"
	}
	names = append(names, "y")
	if t.one(12) {
		names[rng.IntN(len(names))] = pick(rng, "x", "y", "größe", "名前", "a b", "=1+1", "%s", strings.Repeat("n", 300), "1",
			"", "\"q\"\"q\"", "<b>", "x\u0000", "\u202e", "mean", "\xff")
	}
	separator := ","
	if t.one(8) {
		separator = pick(rng, ";", "\t", " ", "|")
	}
	end := "\n"
	if t.one(8) {
		end = pick(rng, "\r\n", "\r", "\n\n")
	}
	var b bytes.Buffer
	if t.one(20) {
		b.WriteString("\ufeff")
	}
	if !t.one(15) {
		b.WriteString(strings.Join(names, separator) + end)
	}
	columns := make([]func(i int) float64, len(names))
	for j := range columns {
		columns[j] = t.numbers()
		if !t.tame && t.one(12) {
			columns[j] = nil // a column of text
		}
	}
	sum := t.tame || !t.one(4) // the target depends on the other columns
	odd := 0
	if !t.tame && t.one(3) {
		odd = pick(rng, 3, 20, 100, 1000)
	}
	var last []byte
	for i := range rows {
		begin := b.Len()
		total := 0.0
		for j, column := range columns {
			if j > 0 {
				b.WriteString(separator)
			}
			switch {
			case odd > 0 && t.one(odd):
				b.WriteString(pick(rng, oddCells...))
			case column == nil:
				b.WriteString(pick(rng, "red", "green", "blue", "3", "größe"))
			default:
				v := column(i)
				if j == len(columns)-1 && sum {
					v += total
				}
				total += v
				b.Write(strconv.AppendFloat(nil, v, 'g', pick(rng, -1, 3), 64))
			}
		}
		if odd > 0 && t.one(10*odd) {
			b.WriteString(pick(rng, separator, "\"", separator+"1", " "))
		}
		if t.one(30) && last != nil {
			b.Truncate(begin)
			b.Write(last) // repeat the row before
		}
		last = bytes.Clone(b.Bytes()[begin:])
		b.WriteString(end)
	}
	text = b.Bytes()
	if t.one(30) {
		text = bytes.TrimRight(text, "\r\n")
	}
	return text, names
}
