package serve

import (
	"context"
	"slices"
	"sync"
)

// fair holds items that wait, in a line for each client.
// The clients take turns, however many items a client has.
type fair[T comparable] struct{ lines []*line[T] }

// line holds the items of one client that wait, the next item first.
type line[T comparable] struct {
	of      client
	waiting []T
}

// add puts an item at the end of its client's line. A new client's line comes last.
func (f *fair[T]) add(of client, item T) {
	for _, l := range f.lines {
		if l.of == of {
			l.waiting = append(l.waiting, item)
			return
		}
	}
	f.lines = append(f.lines, &line[T]{of, []T{item}})
}

// next removes and returns the next item of the client whose turn it is. An item must be waiting.
func (f *fair[T]) next() (item T) {
	l := f.lines[0]
	if item, l.waiting = l.waiting[0], l.waiting[1:]; len(l.waiting) == 0 {
		f.lines = f.lines[1:]
	}
	return item
}

// passed ends a client's turn. If the client has further items, they wait behind all other clients.
func (f *fair[T]) passed(of client) {
	if len(f.lines) > 0 && f.lines[0].of == of {
		f.lines = append(f.lines[1:], f.lines[0])
	}
}

// remove removes an item that won't be served, and says whether it was waiting.
func (f *fair[T]) remove(of client, item T) bool {
	for i, l := range f.lines {
		if l.of != of {
			continue
		}
		at := slices.Index(l.waiting, item)
		if at < 0 {
			return false
		}
		l.waiting = slices.Delete(l.waiting, at, at+1)
		if len(l.waiting) == 0 {
			f.lines = slices.Delete(f.lines, i, i+1)
		}
		return true
	}
	return false
}

// turns limits how many requests do heavy work at the same time: as many as free says at the start.
// Clients take turns.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting fair[chan struct{}]
}

// begin waits for a turn, which the caller ends with end. Its error is ctx's.
func (t *turns) begin(ctx context.Context, of client) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	called := make(chan struct{})
	t.waiting.add(of, called)
	t.mu.Unlock()
	select {
	case <-called:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	left := t.waiting.remove(of, called)
	t.mu.Unlock()
	if !left { // the turn came meanwhile, and goes to the next in the queue
		t.end()
	}
	return ctx.Err()
}

// take calls do: in a turn if the work is long, else at once.
func (t *turns) take(ctx context.Context, of client, long bool, do func()) error {
	if long {
		if err := t.begin(ctx, of); err != nil {
			return err
		}
		defer t.end()
	}
	do()
	return nil
}

// end ends a turn, and calls the next client that waits.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting.lines) == 0 {
		t.free++
		return
	}
	of := t.waiting.lines[0].of
	close(t.waiting.next())
	t.waiting.passed(of)
}
