package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/ranks"
)

// Main calls Run for a process. The first SIGINT or SIGTERM asks the command to end.
// If the command is in the middle of a step, such as a factorization, Main ends the process after a
// moment. A second signal ends the process at once.
// Files are whole at any time.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p := &parting{patience: patience}
	if ranks.Launched() { // the first rank tells the other ranks, and all end together
		p.patience = 0
	}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(context.WithValue(ctx, partingKey{}, p), args, stdin,
			stdout, stderr)
	}()
	select {
	case status := <-ended:
		return status
	case s := <-signals:
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		cancel(&interruption{s})
	}
	words, patience := p.are()
	if patience == 0 {
		return <-ended
	}
	select {
	case status := <-ended:
		return status
	case <-time.After(patience):
	}
	disk.End()
	fmt.Fprintln(stderr, "krigo: "+words())
	status, _ := interrupted(ctx)
	return status
}
