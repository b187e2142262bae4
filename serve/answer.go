package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Within every stall a client has to send stepBytes of a body, or take as much of an answer.
// A slow client would otherwise hold the server's memory for long.
const (
	stepBytes = 64 << 10
	stall     = 5 * time.Second
	longBody  = 4 << 10 // a body with more bytes waits for its turn to be parsed
)

// writeJSON answers v as JSON with a status.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encode(w, v)
}

// encode writes v as JSON. It ignores an error of w, which means that the client has left.
func encode(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	var number *json.UnsupportedValueError
	if err := e.Encode(v); errors.As(err, &number) {
		// never, since predictions are finite; an empty answer would be worse than status 500
		panic(err)
	}
}

// failure is the body of every answer with an error.
type failure struct {
	Error string `json:"error"`
}

// fail answers an error as JSON. A client may try again a second after a 503.
func fail(w http.ResponseWriter, status int, err error) {
	if status == 503 {
		w.Header().Set("Retry-After", "1")
	}
	// An error may quote the request, and so be as long as the request.
	writeJSON(w, status, failure{strings.ToValidUTF8(clipTo(err.Error(), 4096), "")})
}

// An answer in CSV has at most mostNotices notices, each of at most noticeBytes bytes of text, since
// clients take headers of some kilobytes.
const (
	mostNotices = 10
	noticeBytes = 400
)

// inASCII returns a text as a header may have it. Other characters are escaped as in Go.
func inASCII(text string) string {
	quoted := strconv.QuoteToASCII(clipTo(text, noticeBytes))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// clip returns the first 40 bytes of a text from a request, for a message.
func clip(text []byte) string { return clipTo(string(text[:min(len(text), 41)]), 40) }

// clipTo returns text, or its first bytes up to most and an ellipsis.
func clipTo(text string, most int) string {
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// steady is a ResponseWriter that writes in steps of stepBytes.
// The client has to take each step within stall, and the whole answer before latest.
type steady struct {
	http.ResponseWriter
	latest time.Time
}

// newSteady returns a writer that gives up if the client stops reading, or if the answer takes
// longer than within.
func newSteady(w http.ResponseWriter, within time.Duration) http.ResponseWriter {
	return &steady{w, time.Now().Add(within)}
}

// Write writes b in steps of stepBytes, with a deadline for each step. A slow client keeps its
// connection, and one that has stopped reading doesn't.
func (s *steady) Write(b []byte) (written int, err error) {
	line := http.NewResponseController(s.ResponseWriter)
	for len(b) > 0 && err == nil {
		deadline := time.Now().Add(stall)
		if s.latest.Before(deadline) {
			deadline = s.latest
		}
		line.SetWriteDeadline(deadline)
		var n int
		n, err = s.ResponseWriter.Write(b[:min(stepBytes, len(b))])
		written += n
		b = b[n:]
	}
	return written, err
}
