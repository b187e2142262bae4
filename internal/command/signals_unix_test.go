//go:build unix

package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

const mainArgs = "KRIGO_TEST_MAIN_ARGS"

// process starts a command in a process of its own, by Main.
func process(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	text := must.Get(json.Marshal(args))(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestSignals$")
	cmd.Env = append(os.Environ(), mainArgs+"="+string(text))
	var said bytes.Buffer
	cmd.Stderr = &said
	return cmd, &said
}

// TestSignals: a signal soon ends a command, even in a long step that doesn't check its context. The exit status is 128
// plus the signal's number, and no file is left half written.
func TestSignals(t *testing.T) {
	if text := os.Getenv(mainArgs); text != "" {
		var args []string
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			panic(err)
		}
		os.Exit(Main(args, os.Stdin, os.Stdout, os.Stderr))
	}
	if testing.Short() {
		t.Skip("runs other processes")
	}
	workplace(t)
	runs(t, "generate", "--rows", "5000", "--inputs", "4", "--out", "long.csv", "--quiet")
	runs(t, "generate", "--rows", "2000000", "--inputs", "4", "--features", "1", "--out", "longest.npy", "--quiet")
	runs(t, "generate", "--rows", "1000", "--inputs", "4", "--out", "short.csv", "--quiet")
	// a model that predicts slowly
	runs(t, "fit", "short.csv", "--target", "y", "--objective", "evidence", "--kernel", "rq", "--ard", "off", "--epochs",
		"2", "--restarts", "1", "--out", "m.krigo", "--quiet")
	// A step that ignored the signal would take longer: it factors the matrix of 5,000 rows a hundred times.
	const plenty = 15 * time.Second
	for _, c := range []struct {
		args string
		s    syscall.Signal
		says string
	}{
		{"fit long.csv --target y --objective evidence --kernel matern32 --ard on --restarts 50 --quiet --out f.krigo",
			syscall.SIGINT, "interrupted"},
		{"fit long.csv --target y --objective evidence --kernel matern32 --ard on --restarts 50 --quiet --out f.krigo",
			syscall.SIGTERM, "interrupted"},
		{"generate --rows 200000000 --inputs 4 --out g.npy --quiet", syscall.SIGINT, "interrupted"},
		{"predict m.krigo longest.npy --out p.npy", syscall.SIGTERM, "interrupted"},
	} {
		cmd, said := process(t, strings.Fields(c.args)...)
		must.Do(t, cmd.Start())
		time.Sleep(400 * time.Millisecond)
		begin := time.Now()
		cmd.Process.Signal(c.s)
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 128+int(c.s) || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: %v after %v: %v, %q", c.args, c.s, time.Since(begin), err, said)
		}
		if took := time.Since(begin); took > plenty {
			t.Errorf("%s: %v ended it after %v", c.args, c.s, took)
		}
		for _, pattern := range []string{".krigo-*", "f.krigo", "g.npy", "p.npy"} {
			if left, _ := filepath.Glob(pattern); left != nil {
				t.Errorf("%s: left %v", c.args, left)
			}
		}
	}
	// The second signal kills the command at once.
	cmd, said := process(t, "fit", "long.csv", "--target", "y", "--objective", "evidence", "--kernel", "matern32", "--ard",
		"on", "--restarts", "50", "--quiet", "--out", "f.krigo")
	must.Do(t, cmd.Start())
	time.Sleep(400 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGINT)
	time.Sleep(50 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	// On a busy machine the first signal may have ended the command already.
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !(status.Signaled() && status.Signal() == syscall.SIGINT) &&
		status.ExitStatus() != 130 {
		t.Errorf("two signals: %v, %q", cmd.ProcessState, said)
	}
	// After SIGTERM serve ends by itself, with exit status 0.
	cmd, said = process(t, "serve", "m.krigo", "--listen", "127.0.0.1:0", "--quiet")
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	fmt.Fscanln(out, new(string))
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve: %v: %s", err, said)
	}
}

// TestFullOutput: every command that prints results fails if they can't be written.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--kernel", "se", "--epsilon", "2", "--quiet",
		"--out", "m.krigo")
	for _, line := range []string{
		"fit homes.csv --target MEDV --kernel se --quiet", "fit homes.csv --target MEDV --dry-run",
		"declare homes.csv --target MEDV", "predict m.krigo homes.csv", "certify m.krigo homes.csv",
		"watch m.krigo homes.csv", "watch m.krigo", "evaluate homes.csv --target MEDV --params params.json",
		"compare homes.csv --target MEDV --objectives vfe,dtc --inducing 4 --epochs 3 --splits 2 --quiet",
		"generate --rows 10 --out g.csv --quiet", "report m.krigo homes.csv", "demo try --quiet", "inspect homes.csv",
		"version", "completion bash", "fit --help",
	} {
		for _, form := range []string{"", " --json"} {
			args := strings.Fields(line + form)
			if form != "" && (args[0] == "completion" || line == "fit --help") {
				continue
			}
			var said bytes.Buffer
			if status := Run(t.Context(), args, strings.NewReader(""), full, &said); status != 1 ||
				!strings.Contains(said.String(), "/dev/full") {
				t.Errorf("%s: status %d, %q", args, status, said.String())
			}
			os.Remove("g.csv") // generate replaces nothing
		}
	}
}

// TestImplied: krigo never overwrites or removes a file that krigo didn't write and the user didn't name.
func TestImplied(t *testing.T) {
	workplace(t)
	const mine = "my notes of a year\n"
	fit := []string{"fit", "homes.csv", "--target", "MEDV", "--objective", "vfe", "--inducing", "5", "--ard", "off",
		"--epochs", "5", "--quiet"}
	runs(t, append(fit, "--out", "m.krigo")...)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--kernel", "se", "--epsilon", "2", "--quiet",
		"--out", "w.krigo")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"homes.krigo", fit},
		{"homes.krigo.checkpoint", fit},
		{"n.krigo.checkpoint", append(fit[:len(fit):len(fit)], "--out", "n.krigo")},
		{"m.html", []string{"report", "m.krigo"}},
		{"demo.csv", []string{"demo", "--quiet"}},
		{"demo.krigo", []string{"demo", "--quiet"}},
		{"demo.html", []string{"demo", "--quiet"}},
		{"w.ledger", []string{"watch", "w.krigo", "homes.csv"}},
	} {
		for _, content := range []string{mine, "half a line, as notes may be"} {
			write(t, c.name, content)
			if o := call(t.Context(), c.args...); o.status == 0 || !strings.Contains(o.stderr, c.name) ||
				read(t, c.name) != content {
				t.Errorf("%s with a file %s of another making: %+v, and it holds %q", c.args, c.name, o, read(t, c.name))
			}
			os.Remove(c.name)
		}
		// krigo replaces files that it wrote itself.
		for range 2 {
			if o := call(t.Context(), c.args...); o.status != 0 {
				t.Errorf("%s again: %+v", c.args, o)
			}
		}
	}
	// krigo doesn't overwrite such a file even if the user gives its name.
	write(t, "named", mine)
	if o := call(t.Context(), append(fit, "--out", "named")...); o.status != 2 ||
		!strings.Contains(o.stderr, "named exists") || read(t, "named") != mine {
		t.Errorf("--out named: %+v, and it holds %q", o, read(t, "named"))
	}
}
