package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/model"
)

// own tells from how a file begins whether krigo wrote it.
type own struct {
	what  string // as in "a model"
	begin *regexp.Regexp
}

var (
	ownModel      = own{"a model of krigo", regexp.MustCompile("^" + regexp.QuoteMeta(model.Magic))}
	ownCheckpoint = own{"a checkpoint of krigo", regexp.MustCompile(`^\s*\{\s*"version":\s*\d+,\s*"fingerprint":`)}
	ownReport     = own{"a report of krigo", regexp.MustCompile(`^<!doctype html>[^\x00]{0,400}<title>krigo: `)}
)

// demoData is the table that demo writes.
func demoData(content []byte) own {
	return own{"what demo writes", regexp.MustCompile("^" + regexp.QuoteMeta(string(content)) + "$")}
}

// implied refuses a file that would be replaced though nobody named it, unless krigo wrote it: instead says how to name another.
func implied(path string, o own, instead string) error {
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer f.Close()
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() { // nor may a pipe be waited for
			err = errors.New("it is no file")
		}
	}
	var begin bytes.Buffer
	if err == nil {
		_, err = io.CopyN(&begin, f, 1<<16)
	}
	switch {
	case err != nil && err != io.EOF:
		return fmt.Errorf("%s is there, and can't be read: %w; move it away, or %s", path, err, instead)
	case !o.begin.Match(begin.Bytes()):
		return &krigo.UsageError{Err: fmt.Errorf("%s is there, and isn't %s: it would be lost; move it away, or %s", path, o.what, instead)}
	}
	return nil
}
