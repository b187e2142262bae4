package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// listStale prints the results that are older than the last change of what they measure.
func (s *store) listStale(out io.Writer) error {
	stale := 0
	for _, name := range s.names() {
		r := s.results[name]
		for _, what := range r.Measures {
			m := s.measures[what]
			if !s.older(r, what) {
				continue
			}
			fmt.Fprintf(out, "%s (%s, %s): %s changed by %s, %s: %s\n", name, r.Commit, r.Date, what,
				m.Commit, m.Date, m.What)
			stale++
			break
		}
	}
	_, err := fmt.Fprintf(out, "%d of %d results are older than what they measure\n", stale, len(s.results))
	return err
}

// older reports whether a result is older than the last change of what it measures. For defaults their version decides,
// else the history of commits. If the history doesn't have a commit, the dates decide.
func (s *store) older(r *result, what string) bool {
	m := s.measures[what]
	if what == "default" && r.Defaults > 0 {
		return r.Defaults < m.Version
	}
	_, err := s.git("merge-base", "--is-ancestor", m.Commit, r.Commit)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.ExitCode() == 1: // both are known
		return true
	}
	return r.Date < m.Date
}
