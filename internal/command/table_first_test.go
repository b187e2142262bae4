package command

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// stopping is a writer that ends a command as soon as this text is written.
type stopping struct {
	bytes.Buffer
	at  string
	end func()
}

func (s *stopping) Write(text []byte) (int, error) {
	defer func() {
		if strings.Contains(s.String(), s.at) {
			s.end()
		}
	}()
	return s.Buffer.Write(text)
}

// TestColumnsFirst: inspect says what the columns hold before it looks for what ties rows together. An interruption then
// leaves whole lines, and no command.
func TestColumnsFirst(t *testing.T) {
	workplace(t)
	netTables(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	stdout := &stopping{at: "\ny ", end: func() { cancel(&interruption{}) }}
	var stderr bytes.Buffer
	status := Run(ctx, []string{"inspect", "groups.csv", "--target", "y"}, nil, stdout, &stderr)
	must.Hold(t, status >= 128 && strings.Contains(stderr.String(), "interrupted"), "status %d: %s", status, &stderr)
	must.Hold(t, strings.HasSuffix(stdout.String(), "\n") && !strings.Contains(stdout.String(), "krigo fit"), "%s", stdout)
	whole := runs(t, "inspect", "groups.csv", "--target", "y")
	must.Hold(t, strings.HasPrefix(whole, stdout.String()) && strings.Contains(whole, "\nkrigo fit groups.csv"), "%s", whole)
}
