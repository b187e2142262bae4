package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	broken := errors.New("broken")
	if err := Write(path, put("half", broken)); !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Fatalf("left behind: %v", files)
	}
	must.Do(t, Write(path, put("whole", nil)))
	must.Do(t, os.Chmod(path, 0o600))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, put("half", broken)); !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "whole" {
		t.Errorf("after a failure the file holds %q", text)
	}
	must.Do(t, Write(link, put("new", nil)))
	info, err := os.Lstat(path)
	if text, _ := os.ReadFile(path); err != nil || string(text) != "new" || info.Mode() != 0o600 {
		t.Errorf("through a link: %q, %v, %v", text, info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("left behind: %v", files)
	}
	if err := Write(os.DevNull, put("gone", nil)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s was replaced", os.DevNull)
	}
	must.Fail(t, Write(filepath.Join(dir, "no", "f"), put("", nil)), "", "wrote into a folder that is not there")
}
