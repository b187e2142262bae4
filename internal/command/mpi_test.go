//go:build mpi

package command

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestRank runs this program as one rank of the tests below.
func TestRank(t *testing.T) {
	text := os.Getenv(childArgs)
	if text == "" || os.Getenv("OMPI_COMM_WORLD_RANK") == "" {
		t.Skip("no rank")
	}
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		panic(err)
	}
	if file := os.Getenv("KRIGO_TEST_PIDS"); file != "" {
		os.WriteFile(file+os.Getenv("OMPI_COMM_WORLD_RANK"), []byte(strconv.Itoa(os.Getpid())), 0o644)
	}
	CheckpointEvery = 0
	os.Exit(Run(context.Background(), args, nil, os.Stdout, os.Stderr))
}

// mpirun returns a command that runs krigo on a number of ranks.
func mpirun(size int, args ...string) (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	cmd = exec.Command("mpirun", "--oversubscribe", "--bind-to", "none", "-n", strconv.Itoa(size), os.Args[0],
		"-test.run=^TestRank$")
	text, _ := json.Marshal(args)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", childArgs+"="+
		string(text))
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd, out, errs
}

// over runs a command on a number of ranks and decodes what it prints.
func over(t *testing.T, size int, into any, args ...string) {
	t.Helper()
	cmd, out, errs := mpirun(size, append(args, "--json", "--threads", "1")...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%d ranks: %v\n%s", size, err, errs)
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("%d ranks: %v\n%s", size, err, out)
	}
}

// waves writes a table of n rows for the tests of ranks.
func waves(t *testing.T, path string, n int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	must.Do(t, files.WriteFile(path, []string{"a", "b", "y"}, n, func(i int, v []float64) error {
		v[0], v[1] = 6*rng.Float64(), rng.NormFloat64()
		v[2] = math.Sin(v[0]) + 0.3*v[1] + 0.2*rng.NormFloat64()
		return nil
	}))
}

// TestMPIAgrees: 1, 2, 3 and 4 processes give the same objective and gradient to 1e-10, and the same certificate to
// 1e-9. The results are the same if each process has its own file, of another size.
func TestMPIAgrees(t *testing.T) {
	folder := t.TempDir()
	data, params := filepath.Join(folder, "waves.npy"), filepath.Join(folder, "params.json")
	waves(t, data, 5000, 1)
	whole := must.Get(files.ReadFile(data, dataset.Reading{}))(t)
	begin := 0
	for rank, rows := range []int{1500, 3400, 100} {
		must.Do(t, files.WriteFile(filepath.Join(folder, fmt.Sprintf("part%d.npy", rank)), whole.Names, rows,
			func(i int, v []float64) error {
				d, err := whole.Regression("y")
				if err != nil {
					return err
				}
				return d.Read([]int{begin + i}, v[:2], v[2:])
			}))
		begin += rows
	}
	var inducing [][]float64
	for i := range 20 {
		inducing = append(inducing, []float64{-1.5 + 0.16*float64(i), math.Sin(float64(i))})
	}
	text, _ := json.Marshal(map[string]any{"kernel": map[string]any{"name": "se", "variance": 1.3,
		"lengthscales": []float64{0.5, 2}}, "noise_variance": 0.2, "inducing": inducing})
	must.Do(t, os.WriteFile(params, text, 0o644))
	for _, objective := range []string{"kl-pac", "vfe", "svgp"} {
		var one krigo.Evaluation
		args := func(data string) []string {
			return []string{"evaluate", data, "--target", "y", "--params", params, "--objective", objective}
		}
		over(t, 1, &one, args(data)...)
		want := numbers(&one)
		for size := 2; size <= 5; size++ {
			table, ranks := data, size
			if size == 5 {
				table, ranks = filepath.Join(folder, "part%d.npy"), 3
			}
			var e krigo.Evaluation
			over(t, ranks, &e, args(table)...)
			got := numbers(&e)
			largest := 0.
			for _, v := range want[1:] {
				largest = max(largest, math.Abs(v))
			}
			for i, v := range got {
				scale := largest // the largest entry of a gradient
				if i == 0 {
					scale = math.Abs(want[0])
				}
				if !(math.Abs(v-want[i]) <= 1e-10*scale) {
					t.Errorf("%s, %d ranks: number %d is %v, of one %v", objective, ranks, i, v, want[i])
				}
			}
			if e.Certificate == nil || !e.Certificate.Equal(one.Certificate) {
				t.Errorf("%s, %d ranks: %+v\none: %+v", objective, ranks, e.Certificate, one.Certificate)
			}
		}
	}
}

// numbers returns the value and the gradient.
func numbers(e *krigo.Evaluation) []float64 {
	v := []float64{e.Value, *e.Gradient.LogVariance, *e.Gradient.LogNoiseVariance}
	v = append(v, e.Gradient.LogLengthscales...)
	return append(v, slices.Concat(e.Gradient.Inducing...)...)
}

// TestMPIFails: an error on one rank soon ends the job, with a message that names the error.
func TestMPIFails(t *testing.T) {
	folder := t.TempDir()
	for rank := range 3 {
		waves(t, filepath.Join(folder, fmt.Sprintf("bad-%d.npy", rank)), 40+10*rank, uint64(rank))
	}
	raw := must.Get(os.ReadFile(filepath.Join(folder, "bad-1.npy")))(t)
	binary.LittleEndian.PutUint64(raw[len(raw)-8:], math.Float64bits(math.Inf(1)))
	must.Do(t, os.WriteFile(filepath.Join(folder, "bad-1.npy"), raw, 0o644))
	cmd, out, errs := mpirun(3, "fit", filepath.Join(folder, "bad-%d.npy"), "--target", "y", "--inducing", "3", "--out",
		filepath.Join(folder, "m.krigo"))
	host, _ := os.Hostname()
	want := fmt.Sprintf(`krigo: rank 1 of 3 (on %s): %s: row 50, column 3 ("y"): +Inf is not finite`, host,
		filepath.Join(folder, "bad-1.npy"))
	if err := cmd.Run(); err == nil || strings.Count(errs.String(), want) != 1 || out.Len() > 0 {
		t.Errorf("%v\n%s\n%s\nwant once: %s", err, errs, out, want)
	}
}

// TestMPIDies: a rank is killed, or stopped as if its host were gone, in the middle of a fit. The job ends by itself
// and names the rank. A fit resumed from the job's checkpoint gives the same model as an uninterrupted fit: to the last
// bit on as many ranks, and up to rounding on more ranks.
func TestMPIDies(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "waves.npy")
	waves(t, data, 4000, 3)
	fit := func(out string, more ...string) []string {
		return append([]string{"fit", data, "--target", "y", "--objective", "kl-pac", "--inducing", "30", "--ard", "off",
			"--epochs", "60", "--out", filepath.Join(folder, out)}, more...)
	}
	load := func(out string) *krigo.Model {
		t.Helper()
		m := must.Get(krigo.Load(filepath.Join(folder, out)))(t)
		return m
	}
	var printed map[string]any
	over(t, 3, &printed, fit("whole.krigo")...)
	want := load("whole.krigo")
	for name, c := range map[string]struct {
		signal syscall.Signal
		says   string
	}{
		"killed":  {syscall.SIGKILL, "rank 1 "},
		"stopped": {syscall.SIGSTOP, "nothing has been heard of rank 1"},
	} {
		t.Run(name, func(t *testing.T) {
			pids, checkpoint := filepath.Join(folder, name), filepath.Join(folder, name+".krigo.checkpoint")
			cmd, _, errs := mpirun(3, fit(name+".krigo", "--threads", "1")...)
			cmd.Env = append(cmd.Env, "KRIGO_TEST_PIDS="+pids)
			must.Do(t, cmd.Start())
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if _, err := os.Stat(checkpoint); err == nil {
					break
				}
				if time.Now().After(deadline) {
					cmd.Process.Kill()
					t.Fatal("no checkpoint in a minute", errs)
				}
			}
			text := must.Get(os.ReadFile(pids + "1"))(t)
			pid, _ := strconv.Atoi(string(text))
			begin := time.Now()
			syscall.Kill(pid, c.signal)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			var err error
			select {
			case err = <-ended:
			case <-time.After(time.Minute):
				t.Error("the job goes on a minute after one of its ranks")
				cmd.Process.Kill()
				err = <-ended
			}
			syscall.Kill(pid, syscall.SIGKILL)
			if _, err := os.Stat(filepath.Join(folder, name+".krigo")); err == nil {
				t.Fatal("the fit was done before the signal came")
			}
			must.Hold(t, err != nil && strings.Contains(errs.String(), c.says),
				"%v, without %q:\n%s", err, c.says, errs)
			t.Logf("the job ended after %.1f s", time.Since(begin).Seconds())
			copied := must.Get(os.ReadFile(checkpoint))(t)
			for _, size := range []int{3, 4, 1} {
				must.Do(t, os.WriteFile(checkpoint, copied, 0o644))
				over(t, size, &printed, fit(name+".krigo", "--resume", checkpoint)...)
				got := load(name + ".krigo")
				off := math.Abs(got.Certificate.Bound - want.Certificate.Bound)
				if size == 3 && (off != 0 || !slices.Equal(got.Posterior.Weights(), want.Posterior.Weights())) || !(off < 1e-3) {
					t.Errorf("resumed on %d ranks: bound %v, uninterrupted on 3 %v", size, got.Certificate.Bound,
						want.Certificate.Bound)
				}
			}
		})
	}
}

// TestMPICompare: compare runs whole fits on different ranks, and the first rank prints the table.
func TestMPICompare(t *testing.T) {
	var one, two []krigo.Comparison
	args := []string{"compare", "testdata/snelson.csv", "--target", "y", "--inducing", "4", "--ard", "off", "--epochs",
		"5", "--splits", "3"}
	for size, into := range map[int]*[]krigo.Comparison{1: &one, 2: &two} {
		over(t, size, into, append(args, "--objectives", "kl-pac,vfe")...)
		for _, row := range *into {
			delete(row.Measures, "seconds")
			delete(row.Differences, "seconds")
		}
	}
	must.Hold(t, fmt.Sprint(one) == fmt.Sprint(two), "one rank %v\ntwo %v", one, two)
}
