// Command evidence is krigo's side of the benchmark that bench/evidence.py drives. It times the exact negative log
// evidence and its gradient. The kernel is squared-exponential with a lengthscale for each input, and the mean is
// zero. bench/README.md describes the protocol. GOMAXPROCS sets the number of threads.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
)

type report struct {
	Contender string    `json:"contender"`
	Version   string    `json:"version"`
	Value     float64   `json:"value"`
	Gradient  []float64 `json:"gradient"`
	Seconds   []float64 `json:"seconds"`
	Baseline  int       `json:"baseline_kib"`
	Peak      int       `json:"peak_kib"`
}

func main() {
	data := flag.String("data", "", "CSV `file` with a header, the inputs, and the target as the last column")
	repeat := flag.Int("repeat", 0, "how many evaluations to time")
	logVariance := flag.Float64("log-variance", 0, "ln σ_s²")
	logNoise := flag.Float64("log-noise-variance", 0, "ln σ_n²")
	var logLengths []float64
	flag.Func("log-lengthscales", "ln l_1,ln l_2,…", func(text string) (err error) {
		logLengths, err = numbers(text)
		return err
	})
	flag.Parse()

	r, err := measure(*data, *repeat, logLengths, *logVariance, *logNoise)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func measure(path string, repeat int, logLengths []float64, logVariance, logNoise float64) (*report, error) {
	dim := len(logLengths)
	var at []float64 // krigo's parameters are ln l_i², ln σ_s², ln σ_n²
	for _, l := range logLengths {
		at = append(at, 2*l)
	}
	at = append(at, logVariance, logNoise)
	r := &report{Contender: "krigo", Version: version(), Gradient: make([]float64, len(at)), Seconds: []float64{}}

	// The first evaluation makes the runtime allocate what it keeps, which then counts as baseline.
	if _, err := problem(madeUpData(64, dim)).Evaluate(at, r.Gradient); err != nil {
		return nil, err
	}
	var err error
	if r.Baseline, err = memoryKiB("VmRSS"); err != nil {
		return nil, err
	}

	x, y, err := readData(path, dim)
	if err != nil {
		return nil, err
	}
	p := problem(x, y)
	if r.Value, err = p.Evaluate(at, r.Gradient); err != nil {
		return nil, err
	}
	for range repeat {
		start := time.Now()
		r.Value, err = p.Evaluate(at, r.Gradient)
		r.Seconds = append(r.Seconds, time.Since(start).Seconds())
		if err != nil {
			return nil, err
		}
	}
	for i := range dim {
		r.Gradient[i] *= 2 // d/d ln l = 2 d/d ln l²
	}
	r.Peak, err = memoryKiB("VmHWM")
	return r, err
}

func problem(x linalg.Matrix, y []float64) *objective.Problem {
	return &objective.Problem{
		Kernel:    kernel.SE(x.Cols, true),
		Mean:      kernel.ZeroMean{},
		X:         x,
		Y:         y,
		Objective: &objective.Evidence{},
	}
}

func madeUpData(rows, dim int) (x linalg.Matrix, y []float64) {
	rng := rand.New(rand.NewPCG(0, 0))
	x, y = linalg.New(rows, dim), make([]float64, rows)
	for i := range rows {
		row := x.Row(i)
		for j := range row {
			row[j] = rng.Float64()
		}
		y[i] = linalg.Sum(row)
	}
	return x, y
}

func readData(path string, dim int) (x linalg.Matrix, y []float64, err error) {
	table, err := files.ReadFile(path, dataset.Reading{})
	if err != nil {
		return x, nil, err
	}
	d, err := table.Regression(table.Names[len(table.Names)-1])
	if err != nil {
		return x, nil, err
	}
	if d.Cols != dim {
		return x, nil, fmt.Errorf("%s: %d inputs, but %d lengthscales", path, d.Cols, dim)
	}
	values, y, err := d.Select(d.All())
	return linalg.Of(d.Rows, d.Cols, values), y, err
}

func numbers(text string) ([]float64, error) {
	var values []float64
	for field := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// version returns the program's version, with the versions of Go and Gonum, which decide the speed too.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	with := runtime.Version()
	for _, m := range info.Deps {
		if m.Path == "gonum.org/v1/gonum" {
			with += ", gonum " + m.Version
		}
	}
	return fmt.Sprintf("%s (%s)", info.Main.Version, with)
}

// memoryKiB returns a memory figure of this process, in KiB. Field VmRSS is the memory that it holds now, and VmHWM
// the most that it has held.
func memoryKiB(field string) (int, error) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(value, "kB")))
		}
	}
	return 0, fmt.Errorf("no %s in /proc/self/status", field)
}
