package files

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

func init() {
	// The format has no Magic, because spreadsheets and NPZ files begin in the same way.
	Register(Format{Name: "zip of CSV", Endings: []string{".zip"}, Text: true, whole: true,
		Read: readZip, Write: onlyRead})
}

// openZip reads the directory of a zip file. format names the expected format in errors.
func openZip(f *os.File, source, format string) (*zip.Reader, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: cannot be read: %w", source, err)
	}
	directory := &metered{ReaderAt: disk.Of(f), what: source + ": the archive's directory"}
	archive, err := zip.NewReader(directory, info.Size())
	directory.opened = true
	var large *memory.Error
	if err != nil && !errors.As(err, &large) {
		err = fmt.Errorf("%s: not a whole %s file (%w): write it again", source, format, err)
	}
	return archive, info.Size(), err
}

// metered counts the bytes that opening an archive reads for its directory. It limits them
// until opened is set. what names the directory in errors.
type metered struct {
	io.ReaderAt
	what   string
	opened bool
	bytes  int64
}

// ReadAt returns a *memory.Error once the directory would take more memory than is allowed.
func (m *metered) ReadAt(p []byte, at int64) (int, error) {
	const times = 8 // memory for an entry's 46 bytes or more, in multiples of these
	if m.bytes += int64(len(p)); !m.opened && m.bytes > blockSize {
		if err := memory.Afford(m.what, times*float64(m.bytes)); err != nil {
			return 0, err
		}
	}
	return m.ReaderAt.ReadAt(p, at)
}

// readZip reads the text table of an archive.
// If the archive has several files, the reading must name the file with the table.
func readZip(f *os.File, t *dataset.Table) error {
	archive, _, err := openZip(f, t.Source, "zip")
	if err != nil {
		return err
	}
	entries := map[string]*zip.File{}
	var tables, others []string
	for _, entry := range archive.File {
		// Leave out folders, hidden files and what macOS adds.
		if name := entry.Name; !entry.FileInfo().IsDir() &&
			!strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(name, "__MACOSX/") {
			entries[name] = entry
			others = append(others, name)
			if format, known := formatOf(name, ""); known && format.Text && !format.whole {
				tables = append(tables, name)
			}
		}
	}
	// If no name has the ending of a text format, any file may be the table.
	if len(tables) == 0 {
		tables = others
	}
	name, err := chosen(t, "file", tables)
	if err != nil {
		return err
	}
	in, err := entries[name].Open()
	if err != nil {
		return fmt.Errorf("%s: %q cannot be read: %w", t.Source, spelling.Clip(name), err)
	}
	defer in.Close()
	return CSV{From: in}.fill(t)
}

// chosen returns the name of the thing, such as a sheet, that holds the table:
// the only thing in the file, or the thing that the reading names.
func chosen(t *dataset.Table, thing string, names []string) (string, error) {
	wanted := t.Reading().Sheet
	switch {
	case len(names) == 1:
		return names[0], nil
	case slices.Contains(names, wanted):
		return wanted, nil
	case len(names) == 0:
		return "", fmt.Errorf("%s: no %s with a table is in it", t.Source, thing)
	case wanted != "":
		return "", fmt.Errorf("%s: no %s %q with a table %s; there are %s", t.Source, thing,
			spelling.Clip(wanted), spelling.DidYouMean(wanted, names), spelling.Quoted(names, 20))
	}
	return "", fmt.Errorf("%s: more than one %s may hold the table, %s: say which, as --sheet %s",
		t.Source, thing, spelling.Quoted(names, 20), spelling.Shell(names[0]))
}
