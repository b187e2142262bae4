//go:build mpi

package ranks

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// TestMPI makes the calls of TestCalls between processes.
func TestMPI(t *testing.T) {
	if Launched() {
		r, err := Start()
		if err == nil {
			err = r.Close(check(r))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	for size := 2; size <= 4; size++ {
		run := exec.Command("mpirun", "--oversubscribe", "--bind-to", "none", "-n", strconv.Itoa(size), os.Args[0],
			"-test.run=^TestMPI$")
		run.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%d ranks: %v\n%s", size, err, out)
		}
	}
}
