//go:build unix

package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/krigo-gp/krigo/internal/must"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(folder))(t)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestModes: a new file has the permissions that the umask leaves, and a replaced file keeps its permissions.
func TestModes(t *testing.T) {
	for _, umask := range []int{0o022, 0o027, 0o077, 0o000} {
		path := filepath.Join(t.TempDir(), "f")
		old := syscall.Umask(umask)
		err := Write(path, text("a"))
		kept := filepath.Join(t.TempDir(), "kept")
		err = errors.Join(err, os.WriteFile(kept, nil, 0o600), os.Chmod(kept, 0o664), Write(kept, text("b")))
		syscall.Umask(old)
		must.Do(t, err)
		for path, want := range map[string]os.FileMode{path: 0o666 &^ os.FileMode(umask), kept: 0o664} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("umask %o: %s has %v, want %v", umask, filepath.Base(path), info.Mode(), want)
			}
		}
	}
}

// TestLinks: a symbolic link stays a link, and Write writes the file that it points to, even if that file is new.
func TestLinks(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := errors.Join(os.Mkdir(at("sub"), 0o777), os.Symlink("sub", at("linked")),
		os.Symlink(filepath.Join("..", "target"), at("sub/link")),
		os.Symlink(filepath.Join("linked", "link"), at("outer")), os.Symlink("loop", at("loop"))); err != nil {
		t.Skip(err)
	}
	for _, content := range []string{"first", "second"} {
		must.Do(t, Write(at("outer"), text(content)))
		holds(t, at("target"), content)
	}
	for _, link := range []string{"outer", "sub/link"} {
		if info, err := os.Lstat(at(link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", link)
		}
	}
	must.Fail(t, Write(at("loop"), text("x")), "loop", "a circle of links")
}

// TestStandardOutput: Write appends to a file that is already open, and doesn't replace it.
func TestStandardOutput(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files of processes have no paths")
	}
	path := filepath.Join(t.TempDir(), "f")
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	io.WriteString(f, "before ")
	link := filepath.Join(t.TempDir(), "stdout")
	if err := os.Symlink("/proc/self/fd/"+fileNumber(f), link); err != nil {
		t.Skip(err)
	}
	must.Do(t, Write(link, text("after")))
	holds(t, path, "before after")
}

func fileNumber(f *os.File) string {
	n, digits := int(f.Fd()), ""
	for ; n > 0 || digits == ""; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits
}

// TestStale: Write removes temporary files of processes that ended. It leaves files that a process is writing, and
// young files of other machines.
func TestStale(t *testing.T) {
	if !locks {
		t.Skip("files have no locks")
	}
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	mine := before + host()
	for _, name := range []string{mine + "dead" + after, before + "elsewhere-young" + after, before + "elsewhere-old" +
		after, ".krigo-notes", "x" + after} {
		must.Do(t, os.WriteFile(at(name), []byte("half"), 0o666))
	}
	must.Do(t, os.Chtimes(at(before+"elsewhere-old"+after), time.Time{}, time.Now().Add(-2*abandoned)))
	var during []string
	err := Write(at("out"), func(w io.Writer) error {
		// A second writer starts, as another process would, while the first is still writing.
		if err := Write(at("other"), text("other")); err != nil {
			return err
		}
		during = names(t, folder)
		_, err := io.WriteString(w, "out")
		return err
	})
	must.Do(t, err)
	holds(t, at("out"), "out")
	holds(t, at("other"), "other")
	// the file other, the three files that stay, and the first writer's temporary file
	if n := len(during); n != 5 || slices.Contains(during, mine+"dead"+after) {
		t.Errorf("in the middle: %v", during)
	}
	want := []string{".krigo-elsewhere-young.tmp", ".krigo-notes", "other", "out", "x.tmp"}
	if got := names(t, folder); !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
}

// TestOtherClock: how old another machine's file is, says the clock that stamps files. This machine's may be an hour
// ahead.
func TestOtherClock(t *testing.T) {
	if !locks {
		t.Skip("files have no locks")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, before+"elsewhere"+after)
	must.Do(t, os.WriteFile(path, []byte("half"), 0o666))
	stamped := time.Now().Add(-2 * abandoned)
	must.Do(t, os.Chtimes(path, time.Time{}, stamped))
	sweep(folder, stamped.Add(abandoned/2))
	holds(t, path, "half")
	sweep(folder, stamped.Add(2*abandoned))
	must.Be(t, len(names(t, folder)), 0)
}

// TestFaults: for every operation that fails, the path has the old file or the new file, and the error names the path.
func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, old := range []bool{false, true} {
		for at, failed := 0, true; failed; at++ {
			folder := t.TempDir()
			path := filepath.Join(folder, "f")
			if old {
				must.Do(t, os.WriteFile(path, []byte("old"), 0o644))
			}
			n := 0
			failed = false
			var name string
			end := Inject(func(op Op) (int, error) {
				n++
				if n-1 == at {
					failed, name = true, op.Name
					return op.Bytes / 2, broken
				}
				return 0, nil
			})
			err := Write(path, text("new"))
			end()
			if !failed {
				must.Hold(t, err == nil && at >= 6, "%d operations, %v", at, err)
				holds(t, path, "new")
				break
			}
			must.Hold(t, errors.Is(err, broken) && strings.Contains(err.Error(), path),
				"%s fails: %v", name, err)
			switch {
			case name == "sync folder": // the new file is already in place
				holds(t, path, "new")
			case old:
				holds(t, path, "old")
			}
			if got := names(t, folder); len(got) > 1 || len(got) == 1 && got[0] != "f" || !old && name != "sync folder" &&
				len(got) > 0 {
				t.Errorf("%s fails: left %v", name, got)
			}
		}
	}
}

// TestPanic: if writing panics, the old file stays and the temporary file is removed.
func TestPanic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, Write(path, text("old")))
	func() {
		defer func() {
			must.Hold(t, recover() != nil, "the panic is gone")
		}()
		Write(path, func(io.Writer) error { panic("broken") })
	}()
	holds(t, path, "old")
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left %v", got)
	}
}

// TestScratch: numbers in a scratch file are 0 at first and keep what is written. No file is left, in the middle or
// after an error, and a full disk is an error that says what the space is for.
func TestScratch(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	const n = 300_000 // more than a block of zeros
	s := must.Get(NewScratch(n))(t)
	must.Hold(t, len(s.Numbers) == n && s.Numbers[0] == 0 && s.Numbers[n-1] == 0,
		"the numbers aren't 0")
	for i := range s.Numbers {
		s.Numbers[i] = float64(i)
	}
	must.Hold(t, s.Numbers[n-1] == n-1 && len(names(t, folder)) == 0,
		"%v, left %v", s.Numbers[n-1], names(t, folder))
	s.Release()
	end := Inject(func(op Op) (int, error) {
		if op.Name == "write" {
			return 0, syscall.ENOSPC
		}
		return 0, nil
	})
	defer end()
	_, err := NewScratch(n)
	must.Hold(t, errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), folder) &&
		strings.Contains(err.Error(), "TMPDIR"), "%v", err)
	must.Be(t, len(names(t, folder)), 0)
	t.Setenv("TMPDIR", filepath.Join(folder, "missing"))
	_, err = NewScratch(n)
	must.Hold(t, errors.Is(err, os.ErrNotExist) && strings.Contains(err.Error(), "TMPDIR"),
		"%v", err)
}
