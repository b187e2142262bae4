package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/cpu"
)

// TestCertifyElsewhere: certify accepts models on processors of other kinds, whose results differ in the last digits.
// Rows have noise or no noise.
func TestCertifyElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("runs other processes")
	}
	t.Chdir(t.TempDir())
	for _, noise := range []float64{0, 0.1} {
		rng := rand.New(rand.NewPCG(1, 2))
		var rows strings.Builder
		rows.WriteString("x,y\n")
		for range 200 {
			x := 6*rng.Float64() - 3
			fmt.Fprintf(&rows, "%g,%g\n", x, math.Sin(2*x)+0.3*x+noise*rng.NormFloat64())
		}
		write(t, "rows.csv", rows.String())
		sparse := "--prior informed --objective vfe --inducing 12 --epochs 60"
		for name, flags := range map[string]string{
			"sparse":   sparse,
			"learnt":   sparse + " --posterior learnt",
			"free":     sparse + " --posterior free --optimizer lbfgs",
			"evidence": "--objective evidence --prior informed",
			"kl-pac":   "--objective kl-pac --inducing 12 --epochs 60",
		} {
			if noise == 0 && name == "evidence" {
				continue // with a noise variance of 1e-8 too few digits are exact
			}
			model := name + ".krigo"
			runs(t, append(strings.Fields("fit rows.csv --target y --ard off --restarts 1 --quiet --promise 0.8 --out "+model),
				strings.Fields(flags)...)...)
			for _, level := range cpu.Available() {
				child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
				text, _ := json.Marshal([]string{"certify", model, "rows.csv"})
				child.Env = append(os.Environ(), childArgs+"="+string(text), cpu.EnvVar+"="+level.String())
				if out, err := child.CombinedOutput(); err != nil {
					t.Errorf("noise %v, %s by %s: %v: %s", noise, name, level, err, out)
				}
			}
		}
	}
	if status := Run(context.Background(), []string{"certify", "kl-pac.krigo", "rows.csv"}, nil, io.Discard,
		io.Discard); status != 0 {
		t.Error("by its own")
	}
}
