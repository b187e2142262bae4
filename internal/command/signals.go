package command

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// patience is how long an interrupted command may go on with its current step.
const patience = 700 * time.Millisecond

// interruption is the signal that ended a command.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string { return "interrupted" }

// interrupted says whether a signal ended ctx, and returns the exit status for that:
// 128 plus the signal's number, as shells do.
func interrupted(ctx context.Context) (status int, yes bool) {
	var i *interruption
	if !errors.As(context.Cause(ctx), &i) {
		return 0, false
	}
	number, _ := i.signal.(syscall.Signal)
	return 128 + int(number), true
}

// parting holds the last message about a command that doesn't end by itself in time after a signal.
// The command's context holds the parting.
type parting struct {
	mu       sync.Mutex
	words    func() string
	patience time.Duration // 0: no limit
}

// partingKey is the key under which a command's context holds its parting.
type partingKey struct{}

// partWith sets the last words of a command, and how long Main waits if patience isn't 0.
// The function words must not wait until the current step ends.
func partWith(ctx context.Context, patience time.Duration, words func() string) {
	p, _ := ctx.Value(partingKey{}).(*parting)
	if p == nil { // the command doesn't run in Main
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = words
	if p.patience > 0 {
		p.patience = cmp.Or(patience, p.patience)
	}
}

// are returns the last words and the patience that partWith set. The words are "interrupted" by
// default.
func (p *parting) are() (words func() string, patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words == nil {
		return func() string { return "interrupted" }, p.patience
	}
	return p.words, p.patience
}
