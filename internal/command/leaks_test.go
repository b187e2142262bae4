package command

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestNoGoroutineIsLeft: no command leaves a goroutine behind, whether it ends well, fails, or is interrupted.
func TestNoGoroutineIsLeft(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--kernel", "se", "--epsilon", "2", "--quiet",
		"--out", "m.krigo")
	before := runtime.NumGoroutine()
	for _, line := range []string{
		"fit homes.csv --target MEDV --objective vfe --inducing 5 --ard off --quiet",
		"fit homes.csv --target MEDV --kernel se,rq --deliver all --quiet",
		"fit homes.csv --target MEDV --objective svgp --inducing 5 --epochs 3 --quiet",
		"fit homes.csv --target MEDV --objective evidence --solver cg --ard off --restarts 1 --quiet",
		"fit homes.csv --target NONE",
		"fit none.csv --target y",
		"fit homes.csv --target MEDV --resume none",
		"fit homes.csv --target MEDV --dry-run",
		"inspect homes.csv",
		"declare homes.csv --target MEDV",
		"declare homes.csv --target NONE",
		"predict m.krigo homes.csv --intervals conformal",
		"predict m.krigo homes.csv --samples 3 --out p.csv",
		"predict m.krigo homes.csv --out none/p.csv",
		"predict m.krigo snelson.csv",
		"predict m.krigo -",
		"certify m.krigo homes.csv",
		"certify m.krigo homes.csv --refit --quiet",
		"certify m.krigo snelson.csv",
		"certify m.krigo homes.csv --fresh --anytime",
		"watch m.krigo homes.csv",
		"watch m.krigo",
		"watch m.krigo snelson.csv",
		"watch m.krigo -",
		"evaluate homes.csv --target MEDV --params params.json",
		"evaluate homes.csv --target MEDV --params none.json",
		"compare homes.csv --target MEDV --objectives vfe,dtc --inducing 4 --epochs 3 --splits 2 --quiet",
		"compare homes.csv --target MEDV --objectives none",
		"generate --rows 100 --inputs 2 --out g.npy --quiet",
		"generate --rows 100 --inputs 2 --out none/g.npy --quiet",
		"report m.krigo homes.csv",
		"report homes.csv",
		"serve none.krigo",
		"serve m.krigo --listen nowhere:x",
		"demo try --quiet",
		"version",
		"man pages",
		"none",
	} {
		args := strings.Fields(line)
		for _, interrupted := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			if interrupted {
				cancel()
			}
			var out, said bytes.Buffer
			status := Run(ctx, args, strings.NewReader(""), &out, &said)
			cancel()
			must.Hold(t, status >= 0 && status <= 3, "%s: status %d", line, status)
			// Goroutines that are about to end get up to 20 s.
			for wait := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(wait); {
				time.Sleep(time.Millisecond)
			}
			if n := runtime.NumGoroutine(); n > before {
				stacks := make([]byte, 1<<16)
				t.Fatalf("krigo %s, interrupted %v: %d goroutines, %d before\n%s", line, interrupted, n, before,
					stacks[:runtime.Stack(stacks, true)])
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int)
	go func() {
		ended <- Run(ctx, []string{"serve", "m.krigo", "--listen", "127.0.0.1:0", "--quiet"}, nil, io.Discard, io.Discard)
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	if status := <-ended; status != 0 {
		t.Errorf("serve: status %d", status)
	}
	for wait := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(wait); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("serve: %d goroutines, %d before", n, before)
	}
}
