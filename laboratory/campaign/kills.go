package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/watch"
)

func init() {
	campaigns = append(campaigns, campaign{"kills",
		"fits and watches are killed at random moments and go on: nothing is lost, and the model equals the model of an " +
			"uninterrupted fit", kills})
	if text := os.Getenv(childArgs); text != "" {
		var args []string
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			panic(err)
		}
		command.CheckpointEvery = 0 // a checkpoint after every step
		os.Exit(command.Main(args, os.Stdin, os.Stdout, os.Stderr))
	}
}

// childArgs is an environment variable. If it is set, this program runs krigo with the arguments that the variable
// holds.
const childArgs = "KRIGO_CAMPAIGN_CHILD_ARGS"

// killedFits returns the flags of the fits to kill. They cover every method, solver, optimiser and prior, and every
// stage after training.
func killedFits() []string {
	fits := []string{
		"--objective kl-pac --optimizer mma --epochs 40 --restarts 1 --ard off",
		"--objective kl-pac --inducing 6 --posterior free --ard off",
		"--objective kl-pac --inducing 6 --posterior free --epochs 10 --batch 20 --ard off",
		"--objective sqrt-pac --inducing 6 --grid 6,mixed --ard on",
		"--objective evidence --solver cg --restarts 1 --ard off",
		"--objective evidence --optimizer adam --batch 20 --epochs 8 --ard off",
		"--objective evidence --optimizer sgd --batch 20 --batches nearest --epochs 5 --ard on",
		"--objective vfe --inducing 6 --optimizer mma --ard off",
		"--objective svgp --inducing 6 --optimizer sgd --batch 20 --epochs 10 --learning-rate 0.05 --ard off",
		"--objective renyi --inducing 4 --alpha cv --alphas 0,0.6 --optimizer lbfgs --epochs 40 --ard off",
		"--objective renyi --inducing 5 --solver nearest --optimizer adam --batch 20 --epochs 4 --ard off",
		"--objective renyi --inducing 5 --solver cg --ard off",
		"", // the defaults: fit tries kernels, and the prior is informed
		"--prior informed --objective vfe --inducing 6 --posterior learnt",
		"--prior informed --objective evidence --mean-bound both --temper 1,0.3",
		"--prior informed --objective nearest",
		"--deliver all",
		"--deliver all --prior informed --objective vfe --inducing 6",
		"--prior informed --kernel se,matern32 --objective evidence --test-fraction 0.2 --deliver all",
		"--kernel auto --objective evidence --solver cholesky --restarts 2",
	}
	for _, kind := range method.Kinds() {
		flags := "--objective " + kind.Name
		if kind.Size != method.FullOnly {
			flags += " --inducing 6"
		}
		fits = append(fits, flags+" --restarts 2", flags+" --ard off --restarts 1")
		if kind.Size == method.AnySize {
			fits = append(fits, "--objective "+kind.Name+" --ard off")
		}
	}
	return fits
}

// uninterrupted holds, by flags, the files and the time of fits that nobody killed.
type uninterrupted struct {
	sync.Mutex
	of map[string]wholeFit
}

type wholeFit struct {
	files map[string][]byte // model files, without their times
	took  time.Duration
}

const watchedRows = 40

func kills(r *run) error {
	data := filepath.Join(r.folder, "data.csv")
	if err := os.WriteFile(data, smallTable(r.rng(-1), 60), 0o666); err != nil {
		return err
	}
	// The watches need a model and outcomes.
	watched, outcomes := filepath.Join(r.folder, "watched.krigo"), filepath.Join(r.folder, "outcomes.csv")
	if err := os.WriteFile(outcomes, smallTable(r.rng(-2), watchedRows), 0o666); err != nil {
		return err
	}
	if status, said := krigoRun(&bytes.Buffer{}, "fit", data, "--target", "y", "--kernel", "se", "--prior", "informed",
		"--epsilon", "1", "--quiet", "--out", watched); status != 0 {
		return fmt.Errorf("fitting the model to watch: %s", said)
	}
	many := filepath.Join(r.folder, "many.csv") // enough rows for three lines of a ledger
	if err := os.WriteFile(many, smallTable(r.rng(-3), 25_000), 0o666); err != nil {
		return err
	}
	whole := filepath.Join(r.folder, "whole.ledger")
	if status, said := krigoRun(&bytes.Buffer{}, "watch", watched, many, "--ledger", whole); status != 0 && status != 3 {
		return fmt.Errorf("watch without kills: exit status %d: %s", status, said)
	}
	want, err := ledgerState(watched, whole)
	if err != nil {
		return err
	}
	known := &uninterrupted{of: map[string]wholeFit{}}
	fits := killedFits()
	return r.each(func(try int64, rng *rand.Rand) error {
		folder := filepath.Join(r.folder, strconv.FormatInt(try, 10))
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		switch which := int(try) % (len(fits) + 6); {
		case which < len(fits):
			return killFit(r, rng, known, folder, data, fits[which])
		case which < len(fits)+2:
			return killKeyed(r, rng, folder, watched, many, want)
		case which < len(fits)+4:
			return killRotate(r, rng, folder, watched, whole, want)
		}
		return killWatch(r, rng, folder, watched, outcomes)
	})
}

// left returns the model files in a folder by name, without their times.
func left(folder string) (map[string][]byte, error) {
	models := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.krigo"))
	for _, path := range paths {
		if err == nil {
			models[filepath.Base(path)], err = timeless(path)
		}
	}
	return models, err
}

// child returns the command that runs krigo in a process of its own, and the buffer of its standard error.
func child(args []string) (*exec.Cmd, *bytes.Buffer) {
	text, _ := json.Marshal(args)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childArgs+"="+string(text))
	var said bytes.Buffer
	cmd.Stderr = &said
	return cmd, &said
}

// deadlySignals holds the signals to end a process with. SIGKILL stands there twice, to be drawn twice as often.
var deadlySignals = []os.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}

// toEnd sends a child a random deadly signal after a while, unless it has ended before. killed says whether the
// signal ended it.
func toEnd(r *run, rng *rand.Rand, cmd *exec.Cmd, after time.Duration, said *bytes.Buffer) (killed bool, err error) {
	s := deadlySignals[rng.IntN(len(deadlySignals))]
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return false, err
	case <-time.After(after):
	}
	if err := cmd.Process.Signal(s); errors.Is(err, os.ErrProcessDone) { // the process has just ended
		return false, <-done
	}
	// krigo should end at once after a signal. The limit is wide, because the machine may have other work.
	select {
	case err = <-done:
	case <-time.After(15 * time.Second):
		cmd.Process.Kill()
		<-done
		return true, fmt.Errorf("the process didn't end within 15 s of signal %v", s)
	}
	if err == nil { // the child was done before the signal reached it
		return false, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return true, err
	}
	r.count(fmt.Sprintf("ended by %v", s))
	switch want, status := 128+int(s.(syscall.Signal)), exit.ExitCode(); {
	case s == syscall.SIGKILL:
	case status == -1 && exit.Sys().(syscall.WaitStatus).Signal() == s: // the signal came before krigo handled signals
	case status != want:
		return true, fmt.Errorf("after signal %v the exit status is %d, want %d: %s", s, status, want, said)
	case !strings.Contains(said.String(), "interrupted"):
		return true, fmt.Errorf("after signal %v: %q", s, said)
	}
	return true, nil
}

// killFit kills a fit again and again. It gives the same command each time, until the fit comes to its end.
func killFit(r *run, rng *rand.Rand, known *uninterrupted, folder, data, flags string) error {
	args := append([]string{"fit", data, "--target", "y", "--quiet", "--out", filepath.Join(folder, "m.krigo")},
		strings.Fields(flags)...)
	checkpoint := filepath.Join(folder, "m.krigo.checkpoint")
	fail := func(err error) error { return fmt.Errorf("krigo %s: %w", strings.Join(args, " "), err) }
	known.Lock()
	want, found := known.of[flags]
	if !found { // run the fit once, in a process that nobody kills
		begin := time.Now()
		cmd, said := child(args)
		err := cmd.Run()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		} else {
			want.took = time.Since(begin)
			want.files, err = left(folder)
		}
		if err == nil && fileExists(checkpoint) {
			err = errors.New("a finished fit left its checkpoint")
		}
		if err != nil {
			known.Unlock()
			return fail(err)
		}
		known.of[flags] = want
		for name := range want.files {
			os.Remove(filepath.Join(folder, name))
		}
	}
	known.Unlock()
	const most = 8 // number of times that one fit is killed
	for kill := 0; ; kill++ {
		after := time.Duration(rng.Float64() * 1.1 * float64(want.took))
		if kill == most {
			after = r.limit
		}
		cmd, said := child(args)
		if err := cmd.Start(); err != nil {
			return err
		}
		killed, err := toEnd(r, rng, cmd, after, said)
		if err != nil {
			return fail(err)
		}
		// A model file that exists must be whole at any time.
		got, err := left(folder)
		if err != nil {
			return fail(err)
		}
		for name, content := range got {
			if !bytes.Equal(content, want.files[name]) {
				return fail(fmt.Errorf("after %d kills, %s differs from the uninterrupted fit's%s", kill, name,
					differs(content, want.files[name])))
			}
		}
		if !killed {
			if len(got) != len(want.files) {
				return fail(fmt.Errorf("%d models, want %d", len(got), len(want.files)))
			}
			break
		}
		r.count("kills")
		if fileExists(checkpoint) {
			r.count("resumed")
		}
	}
	for _, path := range []string{checkpoint, checkpoint + ".lock"} {
		if fileExists(path) {
			return fail(fmt.Errorf("the fit left %s", path))
		}
	}
	if err := temporaries(folder); err != nil {
		return fail(err)
	}
	return nil
}

// killWatch kills a watch that reads outcomes line by line. It starts the watch again with the rows that the ledger
// lacks.
func killWatch(r *run, rng *rand.Rand, folder, model, outcomes string) error {
	ledger := filepath.Join(folder, "watch.ledger")
	text, err := os.ReadFile(outcomes)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	head, rows := lines[0], lines[1:]
	told := 0 // the number of rows that a printed line or the ledger acknowledges
	for kill := 0; told < len(rows) && kill < 12; kill++ {
		cmd, said := child([]string{"watch", model, "-", "--ledger", ledger, "--json", "--quiet"})
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			return err
		}
		feeding := make(chan struct{})
		go func() {
			defer close(feeding)
			fmt.Fprint(in, head)
			for _, row := range rows[told:] {
				if _, err := fmt.Fprint(in, strings.TrimSuffix(row, "\n")+"\n"); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
			if kill == 11 {
				in.Close()
			}
		}()
		after := time.Duration(20+rng.IntN(100)) * time.Millisecond
		if kill == 11 {
			after = r.limit
		}
		killed, err := toEndWatch(r, rng, cmd, after, &bytes.Buffer{})
		in.Close()
		<-feeding
		if err != nil {
			return fmt.Errorf("watch: %w: %s", err, said)
		}
		if killed {
			r.count("kills")
			r.count("watches killed")
		}
		for d := json.NewDecoder(&out); d.More(); {
			var s watch.State
			if err := d.Decode(&s); err != nil { // an incomplete line acknowledges nothing
				break
			}
			told = max(told, s.Rows)
		}
		state, err := ledgerState(model, ledger)
		if err != nil {
			return err
		}
		if state.Rows < told {
			return fmt.Errorf("watch acknowledged %d rows, but the ledger has %d", told, state.Rows)
		}
		told = state.Rows // the ledger may also have rows that no printed line acknowledged
	}
	if told != len(rows) {
		return fmt.Errorf("watch took only %d of %d rows", told, len(rows))
	}
	// The evidence must equal the evidence of the same rows without kills.
	var out bytes.Buffer
	whole := filepath.Join(folder, "whole.ledger")
	if status, said := krigoRun(&out, "watch", model, outcomes, "--ledger", whole, "--json"); status != 0 && status != 3 {
		return fmt.Errorf("watch without kills: exit status %d: %s", status, said)
	}
	want, err := ledgerState(model, whole)
	if err != nil {
		return err
	}
	got, err := ledgerState(model, ledger)
	if err != nil {
		return err
	}
	if got.LogE != want.LogE || got.Misses != want.Misses || got.Rows != want.Rows {
		return fmt.Errorf("watch: the state is %+v after kills, %+v without", got, want)
	}
	return temporaries(folder)
}

// killKeyed kills a watch of a file again and again. It gives the whole file each time, with the same key, until the
// watch comes to its end.
func killKeyed(r *run, rng *rand.Rand, folder, model, outcomes string, want watch.State) error {
	ledger := filepath.Join(folder, "keyed.ledger")
	for kill, killed := 0, true; killed; kill++ {
		cmd, said := child([]string{"watch", model, outcomes, "--ledger", ledger, "--key", "july", "--quiet"})
		if err := cmd.Start(); err != nil {
			return err
		}
		after := time.Duration(5+rng.IntN(70)) * time.Millisecond
		if kill == 11 {
			after = r.limit
		}
		var err error
		if killed, err = toEndWatch(r, rng, cmd, after, said); err != nil {
			return fmt.Errorf("watch with a key: %w: %s", err, said)
		}
		if killed {
			r.count("kills")
			r.count("watches killed")
		}
	}
	got, err := ledgerState(model, ledger)
	if err != nil {
		return err
	}
	if got.LogE != want.LogE || got.Misses != want.Misses || got.Rows != want.Rows || got.Repeats != want.Repeats {
		return fmt.Errorf("watch with a key: the state is %+v after kills, %+v without", got, want)
	}
	return temporaries(folder)
}

// killRotate kills rotations of a ledger. After each, the ledger is the old one or the new one, and has the same state.
func killRotate(r *run, rng *rand.Rand, folder, model, whole string, want watch.State) error {
	ledger := filepath.Join(folder, "rotated.ledger")
	text, err := os.ReadFile(whole)
	if err != nil {
		return err
	}
	for range 12 {
		if err := os.WriteFile(ledger, text, 0o666); err != nil {
			return err
		}
		cmd, said := child([]string{"watch", model, "--ledger", ledger, "--rotate", "--quiet"})
		if err := cmd.Start(); err != nil {
			return err
		}
		killed, err := toEndWatch(r, rng, cmd, time.Duration(5+rng.IntN(200))*time.Millisecond, said)
		if err != nil {
			return fmt.Errorf("watch --rotate: %w: %s", err, said)
		}
		if killed {
			r.count("rotations killed")
		}
		got, err := ledgerState(model, ledger)
		if err != nil {
			return fmt.Errorf("after a rotation that was killed: %w", err)
		}
		if got.LogE != want.LogE || got.Misses != want.Misses || got.Rows != want.Rows || got.Repeats != want.Repeats {
			return fmt.Errorf("a rotation that was killed: the state is %+v, before it %+v", got, want)
		}
		for archive := 1; fileExists(fmt.Sprintf("%s.%d", ledger, archive)); archive++ {
			if err := os.Remove(fmt.Sprintf("%s.%d", ledger, archive)); err != nil {
				return err
			}
		}
	}
	return nil
}

// toEndWatch does what toEnd does, for a watch. An interrupted watch ends without an error, and an alarm has exit
// status 3.
func toEndWatch(r *run, rng *rand.Rand, cmd *exec.Cmd, after time.Duration, said *bytes.Buffer) (killed bool,
	err error) {
	killed, err = toEnd(r, rng, cmd, after, said)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3 {
		return killed, nil
	}
	return killed, err
}

// ledgerState returns the state of a model's watch from the ledger at path. It is zero if there is no ledger.
func ledgerState(model, path string) (watch.State, error) {
	if !fileExists(path) {
		return watch.State{}, nil
	}
	m, err := krigo.Load(model)
	if err != nil {
		return watch.State{}, err
	}
	l, err := watch.Read(path)
	if err != nil {
		return watch.State{}, err
	}
	w, err := l.Watch(&m.Model)
	if err != nil {
		return watch.State{}, err
	}
	return w.State(), nil
}
