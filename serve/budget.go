package serve

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// client is where a request comes from: an IPv4 address, or an IPv6 network of 64 bits, since one
// person may have a whole network.
type client struct{ netip.Prefix }

// clientAt returns the client of a remote address.
// All requests without such an address, for example over a Unix socket, are one client.
func clientAt(remote string) client {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return client{}
	}
	a := at.Addr().Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	network, err := a.Prefix(bits)
	if err != nil {
		return client{}
	}
	return client{network}
}

// clientOf returns the client that a request counts for.
func clientOf(r *http.Request) client { return clientAt(r.RemoteAddr) }

// pocket is the number of bytes that a request may hold without the budget, so that single rows
// never wait for memory.
const pocket = 16 << 10

// patience is how long a request waits for memory.
const patience = 5 * time.Second

var (
	errFull = errors.New("the memory for requests is full, or your requests hold all that one " +
		"client may: try again in a " +
		"moment")
	errHuge = errors.New("the request would take more memory than a request may have: send its " +
		"rows in several requests")
)

// budget counts the bytes that all requests hold beyond their pockets.
// A client may hold at most as many bytes as are then still free.
// So one client alone has at most half of the budget, two clients have two thirds together, and
// there is always room for another client.
type budget struct {
	size     int64
	patience time.Duration // how long a request waits for memory

	mu      sync.Mutex
	used    int64
	by      map[client]int64
	waiting int
	freed   chan struct{} // closed when memory is given back
}

// newBudget returns a budget of size bytes.
func newBudget(size int64) *budget {
	return &budget{size: size, patience: patience, by: map[client]int64{},
		freed: make(chan struct{})}
}

// hold is the part of the budget that one request holds.
type hold struct {
	of     client
	budget *budget
	bytes  int64
}

// hold returns an empty hold of a client. The caller closes it when the request ends.
func (b *budget) hold(of client) *hold { return &hold{of: of, budget: b} }

// resize changes the hold to the given number of bytes.
// It waits up to the budget's patience for more bytes, and never waits to give bytes back.
// Its errors are errHuge, errFull and ctx's.
func (h *hold) resize(ctx context.Context, bytes int64) error {
	b := h.budget
	bytes = max(0, bytes-pocket)
	if bytes > b.size/2 {
		return errHuge
	}
	var late <-chan time.Time
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		more := bytes - h.bytes
		// the rule of budget: a client has at most what is free after it
		if more <= 0 || b.by[h.of]+more <= b.size-b.used-more {
			h.add(more)
			return nil
		}
		if late == nil {
			timer := time.NewTimer(b.patience)
			defer timer.Stop()
			late = timer.C
		}
		// The lock is given up during the wait, so the rule is checked again after it.
		freed := b.freed
		b.waiting++
		b.mu.Unlock()
		var err error
		select {
		case <-freed:
		case <-late:
			err = errFull
		case <-ctx.Done():
			err = ctx.Err()
		}
		b.mu.Lock()
		b.waiting--
		if err != nil {
			return err
		}
	}
}

// add takes more bytes from the budget. A negative number gives bytes back.
// The budget must be locked.
func (h *hold) add(more int64) {
	b := h.budget
	h.bytes += more
	b.used += more
	if b.by[h.of] += more; b.by[h.of] == 0 {
		delete(b.by, h.of)
	}
	if more < 0 && b.waiting > 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
}

// close gives all bytes of the hold back.
func (h *hold) close() {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.add(-h.bytes)
}
