package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/ranks"
)

// patience is for how long a command that was interrupted may go on with the step that it is in.
const patience = 700 * time.Millisecond

// Main is Run for a process. The first SIGINT or SIGTERM asks the command to end, and ends the process if it is still
// in the middle of a step, as a factorization, after a moment; the second kills at once. Whenever that is, files are
// whole.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p := &parting{patience: patience}
	if ranks.Launched() { // the first rank tells the others, which then end together
		p.patience = 0
	}
	ended := make(chan int, 1)
	go func() { ended <- Run(context.WithValue(ctx, partingKey{}, p), args, stdin, stdout, stderr) }()
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

// interruption is the signal that ended a command.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string { return "interrupted" }

// interrupted says whether a signal ended a context, and what exit status that is: 128 and the signal's number, as
// shells have it.
func interrupted(ctx context.Context) (status int, yes bool) {
	var i *interruption
	if !errors.As(context.Cause(ctx), &i) {
		return 0, false
	}
	number, _ := i.signal.(syscall.Signal)
	return 128 + int(number), true
}

// parting is what is said of a command that didn't end by itself in time after a signal. Its context has it.
type parting struct {
	mu       sync.Mutex
	words    func() string
	patience time.Duration // 0: any
}

type partingKey struct{}

// partWith sets what is said, which must not depend on the step that is under way, and how long is waited for it where
// that isn't 0.
func partWith(ctx context.Context, patience time.Duration, words func() string) {
	p, _ := ctx.Value(partingKey{}).(*parting)
	if p == nil { // not in a process of its own
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = words
	if p.patience > 0 {
		p.patience = cmp.Or(patience, p.patience)
	}
}

func (p *parting) are() (words func() string, patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words == nil {
		return func() string { return "interrupted" }, p.patience
	}
	return p.words, p.patience
}
