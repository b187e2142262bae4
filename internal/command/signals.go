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

// patience is for how long a command that was interrupted may go on with the step that it is in.
const patience = 700 * time.Millisecond

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
