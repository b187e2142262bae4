package must

import (
	"errors"
	"math"
	"os"
	"runtime"
	"testing"
)

// said is a test that records how it failed.
type said struct {
	testing.TB
	failed, ended bool
}

func (s *said) Helper()               {}
func (s *said) Errorf(string, ...any) { s.failed = true }
func (s *said) Fatal(...any)          { s.ended = true; runtime.Goexit() }
func (s *said) Fatalf(string, ...any) { s.Fatal() }
func (s *said) Skip(...any)           { s.Fatal() }

// TestMust: each check fails if something is wrong, and only then. Some checks also end the test.
func TestMust(t *testing.T) {
	some := errors.New("no such file")
	for name, c := range map[string]struct {
		do            func(t testing.TB)
		failed, ended bool
	}{
		"Do":           {func(t testing.TB) { Do(t, nil) }, false, false},
		"Do wrong":     {func(t testing.TB) { Do(t, some) }, false, true},
		"Long":         {func(t testing.TB) { Long(t) }, false, testing.Short()},
		"Get":          {func(t testing.TB) { Hold(t, Get(3, nil)(t) == 3, "not 3") }, false, false},
		"Get wrong":    {func(t testing.TB) { Get(os.ReadFile("no file"))(t) }, false, true},
		"Hold wrong":   {func(t testing.TB) { Hold(t, false, "") }, true, false},
		"Need":         {func(t testing.TB) { Need(t, true, "") }, false, false},
		"Need wrong":   {func(t testing.TB) { Need(t, false, "") }, false, true},
		"Be":           {func(t testing.TB) { Be(t, 1, 1) }, false, false},
		"Be wrong":     {func(t testing.TB) { Be(t, 1, 2) }, true, false},
		"Near":         {func(t testing.TB) { Near(t, 1, 1.5, 0.5) }, false, false},
		"Near wrong":   {func(t testing.TB) { Near(t, math.NaN(), 1, 9) }, true, false},
		"Fail":         {func(t testing.TB) { Fail(t, some, "such") }, false, false},
		"Fail wrong":   {func(t testing.TB) { Fail(t, nil, "") }, true, false},
		"Refuse":       {func(t testing.TB) { Refuse(1, some)(t, "no such") }, false, false},
		"Refuse wrong": {func(t testing.TB) { Refuse(1, some)(t, "other words") }, true, false},
	} {
		s, done := &said{}, make(chan struct{})
		go func() { defer close(done); c.do(s) }()
		<-done
		if s.failed != c.failed || s.ended != c.ended {
			t.Errorf("%s: failed %v, ended %v", name, s.failed, s.ended)
		}
	}
}
