package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// scores has a figure for each measure.
type scores map[string]float64

// line is a line of progress, with the time at which it came.
type line struct {
	text string
	at   time.Duration
}

// child is what a command printed, and what it took.
type child struct {
	out    []byte
	lines  []line
	wall   time.Duration
	cpu    float64 // seconds
	memory float64 // MiB, the peak
}

// start runs a command to its end. The system counts what a process took, and not what other processes took.
func start(cmd *exec.Cmd) (child, error) {
	// The system begins a child's peak memory with its parent's peak. The board therefore resets its own peak (Linux).
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	var c child
	var out bytes.Buffer
	cmd.Stdout = &out
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return c, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return c, err
	}
	for s := bufio.NewScanner(pipe); s.Scan(); {
		c.lines = append(c.lines, line{s.Text(), time.Since(begin)})
	}
	_, _ = io.Copy(io.Discard, pipe) // a line too long for the scanner must not block the command
	err = cmd.Wait()
	c.wall = time.Since(begin)
	c.out = out.Bytes()
	c.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = float64(usage.Maxrss) / 1024
	}
	return c, err
}

// trial is one run of one job.
type trial struct {
	krigo  string
	job    job
	dir    string
	cpu    float64
	memory float64
	claims []claim
}

// krigoRuns runs krigo in the trial's folder. words are further arguments, quoted for the shell.
func (t *trial) krigoRuns(words string, args ...string) ([]byte, error) {
	limit := t.job.limit
	if limit == 0 {
		limit = 1800
	}
	script := fmt.Sprintf(`ulimit -t %d; exec "$0" %s "$@"`, limit, words)
	cmd := exec.Command("sh", append([]string{"-c", script, t.krigo}, args...)...)
	cmd.Dir = t.dir
	c, err := start(cmd)
	t.cpu += c.cpu
	t.memory = max(t.memory, c.memory)
	t.claims = append(t.claims, claims(c.lines, c.wall)...)
	if err == nil {
		return c.out, nil
	}
	if c.cpu > float64(limit)-1 {
		return nil, fmt.Errorf("ended after %d CPU seconds", limit)
	}
	if n := len(c.lines); n > 0 {
		return nil, errors.New(c.lines[n-1].text)
	}
	return nil, err
}

// reference takes about .3 CPU seconds with plain Go: it factors a matrix and evaluates logarithms. CPU seconds of krigo
// are divided by its CPU seconds, so that another machine, or a busy machine, gives about the same ratio.
func reference() float64 {
	const n = 1000
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j] = math.Exp(-math.Abs(float64(i-j)) / 50)
		}
		a[i*n+i] += .1
	}
	var logs float64
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j]
			for k := range j {
				sum -= a[i*n+k] * a[j*n+k]
			}
			if i == j {
				a[i*n+i] = math.Sqrt(sum)
				logs += math.Log(a[i*n+i])
				continue
			}
			a[i*n+j] = sum / a[j*n+j]
		}
	}
	return logs
}

// unit returns the CPU seconds that reference takes now, in a process of its own: the mean of two, because one varies
// by a tenth on a busy machine.
func unit() (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	a, err := start(exec.Command(self, "--reference"))
	if err != nil {
		return 0, err
	}
	b, err := start(exec.Command(self, "--reference"))
	return (a.cpu + b.cpu) / 2, err
}

// measured fits and predicts, and returns the figures of one run. An error about krigo is an answer that is lost.
func measured(krigo string, j job, run int) (scores, error) {
	s, err := j.split(run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.name, err)
	}
	dir, err := os.MkdirTemp("", "board")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := s.write(dir); err != nil {
		return nil, err
	}
	before, err := unit()
	if err != nil {
		return nil, err
	}
	t := &trial{krigo: krigo, job: j, dir: dir}
	found, lost := t.score(s, run)
	after, err := unit()
	if err != nil {
		return nil, err
	}
	if lost != nil {
		return nil, &noAnswer{lost}
	}
	found["cpu_seconds"] = t.cpu
	found["cpu"] = t.cpu / ((before + after) / 2)
	found["memory_mib"] = t.memory
	for _, c := range t.claims {
		found["claims"]++
		if c.holds() {
			found["claims_true"]++
		}
	}
	return found, nil
}

// noAnswer is why krigo gave no answer.
type noAnswer struct{ why error }

func (n *noAnswer) Error() string { return n.why.Error() }

// score returns the figures of predictions.
func (t *trial) score(s split, run int) (scores, error) {
	words := "fit train.csv --target " + t.job.target
	if t.job.inspect {
		out, err := t.krigoRuns("", "inspect", "train.csv", "--target", t.job.target, "--quiet")
		if err != nil {
			return nil, fmt.Errorf("inspect: %w", err)
		}
		words = suggested(string(out))
		if words == "" {
			return nil, errors.New("inspect prints no command")
		}
	}
	args := append([]string{"--json", "--out", "m.krigo"}, t.job.flags...)
	if t.job.seeded {
		args = append(args, "--seed", strconv.Itoa(run))
	}
	if t.job.all {
		args = append(args, "--deliver", "all")
	}
	if len(s.test) > 0 {
		args = append(args, "--test", "test.csv")
	}
	out, err := t.krigoRuns(words, args...)
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	var f fitted
	if err := json.Unmarshal(out, &f); err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	deviation := sd(numbers(s.train, t.job.target))
	if len(s.test) == 0 {
		return scores{"rmse": f.Context.RMSE / deviation, "coverage": f.Context.Coverage}, nil
	}
	model := "m.krigo"
	if t.job.all {
		model = "m-all.krigo"
		if f.Delivered == nil {
			return nil, errors.New("fit: no sibling")
		}
		f = *f.Delivered
	}
	out, err = t.krigoRuns("", "predict", model, "test.csv", "--quiet")
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	predicted, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	if len(predicted) != len(s.test) {
		return nil, fmt.Errorf("predict: %d of %d rows", len(predicted)-1, len(s.test)-1)
	}
	if t.job.kind == "class" {
		if column(predicted, "label") == nil {
			return nil, errors.New("predict: no labels")
		}
		return classScores(f, predicted, column(s.test, t.job.target)), nil
	}
	return numberScores(f, predicted, numbers(s.test, t.job.target), deviation, t.job.kind), nil
}

// suggested returns the arguments of the last krigo fit command that krigo inspect printed.
func suggested(text string) (words string) {
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "krigo fit ") {
			words = strings.TrimPrefix(l, "krigo ")
		}
	}
	return words
}

// fitted is what the board reads of the JSON that krigo fit prints.
type fitted struct {
	Certificate *struct {
		MeanBound float64 `json:"mean_bound"`
		HalfWidth float64 `json:"epsilon_raw"`
		Curve     struct {
			Points []struct {
				HalfWidth float64 `json:"half_width_raw"`
				Bound     float64 `json:"bound"`
			} `json:"points"`
		} `json:"curve"`
	} `json:"certificate"`
	Context struct {
		RMSE     float64 `json:"rmse"`
		Coverage float64 `json:"coverage95"`
	} `json:"context"`
	Test struct {
		MSE  float64 `json:"mse"` // in krigo's units; one unit is RMSE / √MSE
		RMSE float64 `json:"rmse_raw"`
		NLPD float64 `json:"nlpd"` // in krigo's units; of counts, of the count itself
	} `json:"test"`
	Delivered *fitted  `json:"delivered"`
	Targets   []fitted `json:"targets"` // of classes: one, which has their certificate
}

// promise returns the certified half-width that test rows check, and the share of rows that it promises. It is the widest
// that promises at most 90 %.
func (f fitted) promise() (width, share float64) {
	c := f.Certificate
	if c == nil {
		return 0, 0
	}
	width = c.HalfWidth
	share = 1 - c.MeanBound
	for _, p := range c.Curve.Points {
		if s := 1 - p.Bound; s <= .9 && (s > share || share > .9) {
			width = p.HalfWidth
			share = s
		}
	}
	return width, share
}

func numberScores(f fitted, predicted [][]string, y []float64, deviation float64, kind string) scores {
	mean := numbers(predicted, "mean")
	lower := numbers(predicted, "lower95")
	upper := numbers(predicted, "upper95")
	width, share := f.promise()
	n := float64(len(y))
	found := scores{"nlpd": f.Test.NLPD}
	if kind == "number" {
		found["nlpd"] += math.Log(f.Test.RMSE / math.Sqrt(f.Test.MSE) / deviation)
	}
	var squares, within, kept float64
	for i, v := range y {
		squares += (mean[i] - v) * (mean[i] - v)
		if lower[i] <= v && v <= upper[i] {
			within++
		}
		if math.Abs(mean[i]-v) <= width {
			kept++
		}
	}
	found["rmse"] = math.Sqrt(squares/n) / deviation
	found["coverage"] = within / n
	if share > 0 {
		found["promised"] = share
		found["kept"] = kept / n
	}
	return found
}

func classScores(f fitted, predicted [][]string, labels []string) scores {
	if len(f.Targets) == 1 {
		f = f.Targets[0]
	}
	_, share := f.promise()
	found := scores{"error": 0, "nlpd": 0}
	n := float64(len(labels))
	chosen := column(predicted, "label")
	for i, label := range labels {
		if chosen[i] != label {
			found["error"] += 1 / n
		}
		p := 1e-15
		if of := column(predicted, "probability_"+label); of != nil {
			p = max(p, parsed(of[i]))
		}
		found["nlpd"] -= math.Log(p) / n
	}
	if share > 0 {
		found["promised"] = share
		found["kept"] = 1 - found["error"]
	}
	return found
}

// claim is a line of progress that names a time, beside the time that it took in truth.
type claim struct{ said, truth time.Duration }

// holds says whether a claim is within a factor of two of the truth.
func (c claim) holds() bool { return c.said <= 2*c.truth && c.truth <= 2*c.said }

var left = regexp.MustCompile(`(?:about|at most) ([0-9hms.]+) left`)

// claims returns the claims of a command that took wall. It leaves out claims of less than two seconds that were less.
func claims(lines []line, wall time.Duration) []claim {
	var list []claim
	for _, l := range lines {
		m := left.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		said, err := time.ParseDuration(m[1])
		truth := wall - l.at
		if err == nil && (said >= 2*time.Second || truth >= 2*time.Second) {
			list = append(list, claim{said, truth})
		}
	}
	return list
}
