package command

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/must"
)

const childArgs = "KRIGO_TEST_CHILD_ARGS"

// TestKilled kills a fit at several moments, by a signal that no handler can catch, and runs the same command again.
// The model is the same as from an uninterrupted fit, bit for bit.
func TestKilled(t *testing.T) {
	if text := os.Getenv(childArgs); text != "" {
		var args []string
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			panic(err)
		}
		CheckpointEvery = 0 // write a checkpoint after every step
		os.Exit(Run(context.Background(), args, nil, io.Discard, os.Stderr))
	}
	if testing.Short() {
		t.Skip("runs other processes")
	}
	data := must.Get(filepath.Abs("testdata/snelson.csv"))(t)
	for name, flags := range map[string][]string{
		"full":      {"--objective", "kl-pac"},
		"sparse":    {"--objective", "kl-pac", "--inducing", "12"},
		"all":       {"--deliver", "all"},
		"all, test": {"--deliver", "all", "--test", data},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "m.krigo")
			args := slices.Concat([]string{"fit", data, "--target", "y", "--quiet", "--out", out}, flags)
			checkpoint := out + ".checkpoint"
			if flags[0] == "--deliver" { // the sibling is the last file that the fit writes
				out = siblingName(out)
			}
			if status := Run(context.Background(), args, nil, io.Discard, io.Discard); status != 0 {
				t.Fatal("the uninterrupted fit failed")
			}
			want := must.Get(krigo.Load(out))(t)
			os.Remove(out)

			killed, between := 0, false // between: the last kill may have come before the checkpoint was removed
			for wait := 2 * time.Millisecond; wait < 2*time.Second; wait *= 2 {
				child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
				text, _ := json.Marshal(args)
				child.Env = append(os.Environ(), childArgs+"="+string(text))
				must.Do(t, child.Start())
				done := make(chan error, 1)
				go func() { done <- child.Wait() }()
				for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
					if _, err := os.Stat(checkpoint); err == nil {
						break
					}
				}
				between = false
				select {
				case err := <-done: // the fit ended before it could be killed
					must.Need(t, err == nil, "%v", err)
				case <-time.After(wait):
					child.Process.Kill()
					<-done
					killed++
					between = true
				}
				if _, err := os.Stat(out); err == nil {
					break
				}
			}
			must.Need(t, killed != 0, "no fit was killed")
			if _, err := os.Stat(out); err != nil {
				between = false
				if status := Run(context.Background(), args, nil, io.Discard, os.Stderr); status != 0 {
					t.Fatal("the resumed fit failed")
				}
			}
			got := must.Get(krigo.Load(out))(t)
			must.Hold(t, slices.Equal(got.Posterior.Weights(), want.Posterior.Weights()) &&
				slices.Equal(got.Posterior.Theta, want.Posterior.Theta) &&
				got.Posterior.KL() == want.Posterior.KL() &&
				(got.Certificate == nil || got.Certificate.Bound == want.Certificate.Bound),
				"killed %d times and resumed: certificate %+v, uninterrupted %+v", killed,
				got.Certificate, want.Certificate)
			for _, left := range []string{checkpoint, checkpoint + ".lock"} {
				if _, err := os.Stat(left); err == nil && !between {
					t.Errorf("%s is still there", left)
				}
			}
		})
	}
}
