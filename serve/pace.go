package serve

import (
	"io"
	"time"
)

// Go gives a goroutine its processor for 10 ms, and looks for requests that have arrived only if a
// processor has nothing else to run. So a few tables of thousands of rows, which take a processor
// for long, would make everyone else wait tens of milliseconds at each step of a request.
// All long work is therefore done in pieces of pieceTime, with pauses.
const (
	pieceTime = 500 * time.Microsecond
	pauseTime = 20 * time.Microsecond
)

// pace pauses long work. It counts from the first call of rest.
type pace struct{ since time.Time }

// rest pauses if the work has taken pieceTime since the last pause.
func (p *pace) rest() {
	now := time.Now()
	if !p.since.IsZero() && now.Sub(p.since) < pieceTime {
		return
	}
	if !p.since.IsZero() {
		time.Sleep(pauseTime)
		now = time.Now()
	}
	p.since = now
}

// paced reads or writes a request's text with pauses. Parsing and encoding a long text then leaves
// the processor to other requests every pieceTime.
type paced struct {
	pace
	from io.Reader
	to   io.Writer
}

// pacedBytes is the largest part that a read returns, which takes about pieceTime to parse.
const pacedBytes = 8 << 10

// Read returns at most pacedBytes, and pauses before it if a pause is due.
func (p *paced) Read(b []byte) (int, error) {
	p.rest()
	return p.from.Read(b[:min(len(b), pacedBytes)])
}

// Write pauses if a pause is due, and then writes all of b.
func (p *paced) Write(b []byte) (int, error) {
	p.rest()
	return p.to.Write(b)
}
