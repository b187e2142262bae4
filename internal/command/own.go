package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/model"
)

// own tells whether krigo wrote a file: from the file's first bytes or, for a table, from its
// columns.
type own struct {
	what  string // what the file is, for messages: "a model of krigo"
	begin *regexp.Regexp
	// matches the columns' names, each after a line break; nil: the file holds no table
	columns *regexp.Regexp
}

var (
	ownModel      = begins("a model of krigo", "^"+regexp.QuoteMeta(model.Magic))
	ownCheckpoint = begins("a checkpoint of krigo", `^\s*\{\s*"version":\s*\d+,\s*"fingerprint":`)
	ownReport     = begins("a report of krigo", `^<!doctype html>[^\x00]{0,400}<title>krigo: `)
	ownComparison = begins("a comparison of krigo",
		`^objective,epsilon,splits,|^\[\s*\{\s*"objective":|^<!doctype html>[^\x00]{0,400}<title>krigo: objectives compared<`)
	ownCertificate = begins("a certificate of krigo",
		`^\{\s*"source":\s*"([^"\\]|\\.)*",\s*("kind":\s*"classes"|"target":\s*"([^"\\]|\\.)*",\s*"prediction":)`)
	noneOwn = begins("empty", `^$`)
)

// begins returns a kind of file that the regular expression recognises by its first bytes.
func begins(what, expression string) own { return own{what, regexp.MustCompile(expression), nil} }

// ownPredictions recognises tables of predictions, which stand behind the kept columns.
// A table with other columns may belong to a person who joined predictions to a table.
func ownPredictions(kept []string) own {
	begin := "^"
	for _, name := range kept {
		begin += "\n" + regexp.QuoteMeta(name)
	}
	columns := begin + "(\nlabel)?" // of an ordered target
	for i, name := range krigo.PredictionNames() {
		if i >= 5 { // earlier versions wrote fewer columns
			columns += "(\n" + name + ")?"
			continue
		}
		columns += "\n" + name
	}
	// The columns' names end in the names of several targets, or in classes.
	several := "\nmean_[^\n]+\nlatent_variance_[^\x00]+\npredictive_sd_[^\x00]+$|"
	labels := "\nlabel(\nlabels)?\nprobability_[^\x00]*\nprobability_[^\x00]*(\nlatent_sd)?\noutside(\nsample[0-9]+)*$|"
	return own{"a table that krigo predict wrote with the same --keep",
		regexp.MustCompile(`^\{("targets":\[\{)?"target":"([^"\\]|\\.)*",("classes":\[("([^"\\]|\\.)*",?)*\],)?` +
			`("solver":"[a-z]*",)?"predictions":\[`),
		regexp.MustCompile(begin + several + begin + labels + columns +
			"(\n[a-z]+_lower\n[a-z]+_upper)*(\nsample[0-9]+)*" +
			"(\nprobability_-?[0-9]+)*(\nexplain_base(\ncontribution_[^\x00]*)+\nexplain_remainder)?$")}
}

// wrote says whether krigo wrote the file at path. begin is the beginning of the file.
func (o own) wrote(path string, begin []byte) bool {
	if o.begin.Match(begin) || o.columns == nil {
		return o.begin.Match(begin)
	}
	table, err := files.ReadFile(path, dataset.Reading{})
	if err != nil {
		return false
	}
	defer table.Close()
	return o.columns.MatchString("\n" + strings.Join(table.Names, "\n"))
}

// replaceable refuses an existing file, unless krigo wrote it or it is empty.
// instead says how to name another file.
func replaceable(path string, o own, instead string) error {
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer f.Close()
		var info fs.FileInfo
		// reading a pipe would wait
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is no file")
		}
	}
	var begin bytes.Buffer
	if err == nil {
		_, err = io.CopyN(&begin, f, 1<<16)
	}
	switch {
	case err != nil && err != io.EOF:
		return fmt.Errorf("%s exists, but krigo can't read it: %w; move it away, or %s", path,
			err, instead)
	case begin.Len() > 0 && !o.wrote(path, begin.Bytes()):
		return misused("%s exists and isn't %s, so krigo doesn't overwrite it; move it away, or %s",
			path, o.what, instead)
	}
	return nil
}

// writable makes sure, before long work, that out can be written.
// The folder must exist and take files. out must not be a folder, an input, or a file that another
// program wrote.
func writable(out string, o own, inputs ...string) error {
	if folder, err := os.Stat(filepath.Dir(out)); err != nil || !folder.IsDir() {
		return fmt.Errorf("--out %s: its folder doesn't exist", out)
	}
	at, err := os.Stat(out)
	if err != nil {
		return outable(out)
	}
	if at.IsDir() {
		return fmt.Errorf("--out %s: it is a folder, name a file", out)
	}
	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(in, at) {
			return fmt.Errorf("--out %s: the command reads %s, so the file would be lost: name "+
				"another", out, input)
		}
	}
	if at.Mode().IsRegular() {
		if err := replaceable(out, o, "name another by --out"); err != nil {
			return err
		}
	}
	return outable(out)
}

// outable tries to write to out, and leaves nothing behind.
func outable(out string) error {
	if err := disk.Try(out); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	return nil
}
