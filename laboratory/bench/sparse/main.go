// Command sparse is krigo's side of the benchmarks that bench/sparse.py and bench/renyi.py drive. It times a sparse
// objective and its gradient in all parameters and inducing inputs. The kernel is squared-exponential with a
// lengthscale for each input, and the mean is zero. bench/README.md describes the protocol. GOMAXPROCS sets the
// number of threads.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

type report struct {
	Contender string    `json:"contender"`
	Version   string    `json:"version"`
	Value     float64   `json:"value"`
	Gradient  []float64 `json:"gradient"`
	Inducing  []float64 `json:"inducing"`
	Seconds   []float64 `json:"seconds"`
	Baseline  int       `json:"baseline_kib"`
	Peak      int       `json:"peak_kib"`
}

// X has inputs columns. The parameters are one ln l_i for each column, ln σ_s² and ln σ_n².
const (
	inputs     = 8
	parameters = inputs + 2
)

// task holds the objective to evaluate, its rows, and the point at which it is evaluated.
type task struct {
	objective string
	keep      int64
	at        []float64 // ln l_1 …, ln σ_s², ln σ_n²
	x, z      linalg.Matrix
	y         []float64
}

func main() {
	data := flag.String("data", "", "`file` of the parameters, X, y and Z")
	rows := flag.Int("rows", 0, "rows of X")
	inducing := flag.Int("inducing", 0, "rows of Z")
	repeat := flag.Int("repeat", 0, "how many evaluations to time")
	name := flag.String("objective", "vfe", "vfe, fitc, pac or renyi (α = ½)")
	keep := flag.Int64("keep", 1<<30, "bytes of V that may be kept")
	profile := flag.String("cpuprofile", "", "`file` for a profile of the timed evaluations")
	flag.Parse()

	r, err := measure(*data, *rows, *inducing, *repeat, *name, *keep, *profile)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sparse:", err)
		os.Exit(1)
	}
}

func measure(path string, rows, inducing, repeat int, name string, keep int64, profile string) (*report, error) {
	// The first evaluation makes the runtime allocate what it keeps, which then counts as baseline.
	if _, _, err := madeUp(name, keep).prepare(); err != nil {
		return nil, err
	}
	t, err := read(path, rows, inducing)
	if err != nil {
		return nil, err
	}
	t.objective, t.keep = name, keep
	r := &report{Contender: "krigo", Version: version(), Seconds: []float64{}}
	if r.Baseline, err = memoryKiB("VmRSS"); err != nil {
		return nil, err
	}
	evaluate, gradient, err := t.prepare()
	if err != nil {
		return nil, err
	}
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	if repeat == 0 {
		r.Value, err = evaluate()
	}
	for range repeat {
		start := time.Now()
		r.Value, err = evaluate()
		r.Seconds = append(r.Seconds, time.Since(start).Seconds())
	}
	if err != nil {
		return nil, err
	}
	r.Gradient, r.Inducing = gradient[:parameters], gradient[parameters:]
	for i := range inputs {
		r.Gradient[i] *= 2 // d/d ln l = 2 d/d ln l²
	}
	r.Peak, err = memoryKiB("VmHWM")
	return r, err
}

// prepare evaluates once, to warm up. It returns the function to time, and the slice to which that function writes
// its gradient.
func (t *task) prepare() (evaluate func() (float64, error), gradient []float64, err error) {
	rows := objective.Memory{X: t.x, Y: t.y}
	p := &objective.SparseProblem{
		Kernel: kernel.SE(inputs, true),
		Mean:   kernel.ZeroMean{},
		Rows:   rows,
		M:      t.z.Rows,
		Keep:   t.keep,
	}
	r := &objective.RenyiProblem{Kernel: p.Kernel, Mean: p.Mean, Rows: rows, M: p.M, Alpha: 0.5}
	value, jitter := p.Evaluate, &p.Jitter
	switch t.objective {
	case "renyi":
		value, jitter = r.Evaluate, &r.Jitter
	case "vfe":
		p.Objective = objective.VFE()
	case "fitc":
		p.Objective = objective.FITC()
	case "pac":
		p.Objective = &objective.SparsePAC{
			Alpha:   1,
			Loss:    pacbayes.Loss{Kind: pacbayes.Band, Below: 0.6},
			Bound:   pacbayes.KLBound,
			Penalty: pacbayes.KLBound.Penalty(0, t.x.Rows, 0.01),
		}
	default:
		return nil, nil, fmt.Errorf("unknown objective %q", t.objective)
	}
	at := make([]float64, p.Dim()) // krigo's parameters are ln l_i², ln σ_s², ln σ_n², Z
	for i, v := range t.at {
		at[i] = v
		if i < inputs {
			at[i] = 2 * v
		}
	}
	copy(at[parameters:], t.z.Data)
	gradient = make([]float64, len(at))
	evaluate = func() (float64, error) { return value(at, gradient) }
	if _, err := evaluate(); err != nil {
		return nil, nil, err
	}
	if *jitter != 0 { // the other libraries add no jitter
		return nil, nil, fmt.Errorf("K_ZZ needs a jitter of %v: choose other parameters", *jitter)
	}
	return evaluate, gradient, nil
}

func madeUp(name string, keep int64) *task {
	rng := rand.New(rand.NewPCG(0, 0))
	t := &task{objective: name, keep: keep, at: make([]float64, parameters), x: linalg.New(64, inputs),
		z: linalg.New(16, inputs), y: make([]float64, 64)}
	for _, v := range [][]float64{t.x.Data, t.z.Data, t.y} {
		for i := range v {
			v[i] = rng.Float64()
		}
	}
	return t
}

// read reads a task's parameters, X, y and Z from a file of little-endian float64.
func read(path string, rows, inducing int) (*task, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &task{at: make([]float64, parameters), x: linalg.New(rows, inputs), y: make([]float64, rows),
		z: linalg.New(inducing, inputs)}
	in := bufio.NewReader(file)
	for _, v := range [][]float64{t.at, t.x.Data, t.y, t.z.Data} {
		if err := binary.Read(in, binary.LittleEndian, v); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return t, nil
}

// version returns the program's version, and Go's.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	return fmt.Sprintf("%s (%s)", info.Main.Version, runtime.Version())
}

// memoryKiB returns a memory figure of this process, in KiB. Field VmRSS is the memory that it holds now, and VmHWM
// the most that it has held.
func memoryKiB(field string) (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		}
	}
	return 0, fmt.Errorf("no %s in /proc/self/status", field)
}
