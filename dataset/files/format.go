package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
)

// Format is a way to keep a table in a file.
type Format struct {
	Name    string   // by which people know it
	Endings []string // of its files' names, as in ".npy"
	Magic   string   // with which each of its files begins; empty where other files do so too

	// Read fills an empty table, whose Source names it in errors, from an open file: by its fields,
	// [dataset.Table.Append] and [dataset.Table.Set]. The file is closed afterwards, but for a table that keeps it as its
	// Disk.
	Read func(f *os.File, t *dataset.Table) error

	Text  bool // cells are written as a [dataset.Reading] says; else as programs write them
	whole bool // it is read by places in its file, and so in none that is packed

	// Write writes a table. It refuses numbers that are not finite, as [Fill.Each] does.
	Write func(w io.Writer, names []string, rows int, fill Fill) error
}

// formats are those that are registered.
var formats []Format

// unlinked are formats whose packages bring other modules along, so that only programs that
// import them have them.
var unlinked = []Format{
	importable("Parquet", ".parquet", "PAR1", "github.com/krigo-gp/krigo/dataset/parquet"),
	importable("Zstandard", ".zst", "\x28\xb5\x2f\xfd", "github.com/krigo-gp/krigo/dataset/zst"),
}

// importable is a format of which it is known that a package has it.
func importable(name, ending, magic, from string) Format {
	missing := fmt.Errorf("%s is a format of a package that this program doesn't import: import _ %q", name, from)
	return Format{
		Name: name, Endings: []string{ending}, Magic: magic,
		Read:  func(_ *os.File, t *dataset.Table) error { return fmt.Errorf("%s: %w", t.Source, missing) },
		Write: func(io.Writer, []string, int, Fill) error { return missing },
	}
}

// onlyRead is the Write of formats that have none.
func onlyRead(io.Writer, []string, int, Fill) error {
	return errors.New("that format is read, and not written: name a file that ends in .csv")
}

// Register makes a format one that [ReadFile], [ReadPart] and [WriteFile] know. It is called by
// init functions, before any table is read, and panics where the format can't be told
// from another.
func Register(f Format) {
	if f.Name == "" || len(f.Endings) == 0 || f.Read == nil || f.Write == nil {
		panic(fmt.Sprintf("files: format %q lacks a name, an ending, Read or Write", f.Name))
	}
	for _, other := range formats {
		for _, ending := range f.Endings {
			if slices.Contains(other.Endings, ending) {
				panic(fmt.Sprintf("files: formats %s and %s both end in %s", other.Name, f.Name, ending))
			}
		}
		if f.Magic != "" && other.Magic != "" &&
			(strings.HasPrefix(f.Magic, other.Magic) || strings.HasPrefix(other.Magic, f.Magic)) {
			panic(fmt.Sprintf("files: files of the formats %s and %s begin alike", other.Name, f.Name))
		}
	}
	formats = append(formats, f)
}

// Formats returns the formats that are registered.
func Formats() []Format { return slices.Clone(formats) }

// formatOf tells a file's format by how it starts, or else by its ending.
func formatOf(path, start string) (f Format, known bool) {
	all := slices.Concat(formats, unlinked)
	for _, f := range all {
		if f.Magic != "" && strings.HasPrefix(start, f.Magic) {
			return f, true
		}
	}
	for _, f := range all {
		if slices.Contains(f.Endings, strings.ToLower(filepath.Ext(path))) {
			return f, true
		}
	}
	return Format{}, false
}

// startOf reads as much of a file as tells its format.
func startOf(f io.ReaderAt) string {
	longest := 0
	for _, f := range slices.Concat(formats, unlinked) {
		longest = max(longest, len(f.Magic))
	}
	start := make([]byte, longest)
	n, _ := f.ReadAt(start, 0) // a pipe has no place 0: its ending tells
	return string(start[:n])
}
