package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestSettingsFound: krigo finds settings by a quick look and by a fit, and finds none in a designed experiment.
func TestSettingsFound(t *testing.T) {
	var said bytes.Buffer
	must.Do(t, settingsFound(context.Background(), Env{Sets: []string{equalSettings, designs}, Reps: 1, Out: t.TempDir(),
		Stdout: &said}))
	for _, want := range []string{"| equal | 1 | 1 | 1 | 1 | ", "| designed | 1 | 0 | 1 | 0 | "} {
		must.Hold(t, strings.Contains(said.String(), want), "no %q in\n%s", want, said.String())
	}
}
