package serve

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"
)

// readBody reads a request's body within a time. The parameter most limits the bytes of the body.
// readBody takes memory from the budget h as bytes arrive, so that a client who only announces a
// long body holds none.
func readBody(ctx context.Context, w http.ResponseWriter, r *http.Request, h *hold, most int64,
	within time.Duration) (body []byte, err error) {
	line := http.NewResponseController(w)
	latest := time.Now().Add(within)
	reading(ctx, true)
	defer func() {
		reading(ctx, false)
		if err != nil {
			w.Header().Set("Connection", "close") // the rest of the body isn't read
			return
		}
		// From now on the server reads only to see whether the client is still there.
		line.SetReadDeadline(time.Time{})
	}()
	if r.ContentLength > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	in := http.MaxBytesReader(w, r.Body, most)
	body = make([]byte, 0, 4096)
	for step := 0; ; {
		if len(body) == cap(body) {
			size := min(2*int64(cap(body)), most+1)
			if r.ContentLength > 0 {
				size = min(size, r.ContentLength+1) // one byte more, to see the end
			}
			if err := h.resize(ctx, size); err != nil {
				return nil, err
			}
			body = slices.Grow(body, int(size)-len(body))
		}
		if len(body) >= pocket && len(body) >= step {
			step = len(body) + stepBytes
			deadline := time.Now().Add(stall)
			if latest.Before(deadline) {
				deadline = latest
			}
			line.SetReadDeadline(deadline)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
