package serve

import (
	"context"
	"slices"
	"sync"
)

// fair is what waits, by client: the clients are served in turn, however much one of them has waiting.
type fair[T comparable] struct{ lines []*line[T] }

// line is what one client has waiting, the next first.
type line[T comparable] struct {
	of      client
	waiting []T
}

func (f *fair[T]) add(of client, item T) {
	for _, l := range f.lines {
		if l.of == of {
			l.waiting = append(l.waiting, item)
			return
		}
	}
	f.lines = append(f.lines, &line[T]{of, []T{item}})
}

// next takes the next item of the client whose turn it is. There must be one.
func (f *fair[T]) next() (item T) {
	l := f.lines[0]
	if item, l.waiting = l.waiting[0], l.waiting[1:]; len(l.waiting) == 0 {
		f.lines = f.lines[1:]
	}
	return item
}

// passed ends a client's turn, if it has anything left waiting.
func (f *fair[T]) passed(of client) {
	if len(f.lines) > 0 && f.lines[0].of == of {
		f.lines = append(f.lines[1:], f.lines[0])
	}
}

// remove takes an item that will not be served, and says whether it was there.
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

// turns lets so many at a time do what takes much memory and all of a core, and the clients one after another.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting fair[chan struct{}]
}

// begin waits for a turn, which end ends.
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
	if !left { // it was called meanwhile
		t.end()
	}
	return ctx.Err()
}

// take does what takes a turn if it is long, and else at once.
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
