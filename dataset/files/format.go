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
	"github.com/krigo-gp/krigo/internal/lists"
)

// Format is a kind of file that holds a table.
type Format struct {
	Name    string   // the name in messages
	Endings []string // how names of such files end, for example ".npy"
	// first bytes of every such file; empty if files of other formats can begin with the same bytes
	Magic string

	// Read fills an empty table from an open file, through the table's fields,
	// [dataset.Table.Append] and [dataset.Table.Set]. The table's Source names the file in errors.
	// The file is closed afterwards, unless the table keeps it as its Disk.
	Read func(f *os.File, t *dataset.Table) error

	// a [dataset.Reading] says how cells are written;
	// otherwise cells are written as programs write them
	Text bool
	// a folder of such files is one table, since Read adds rows to those of a table
	Parts bool
	whole bool // reading jumps to places in the file, so the file can't be packed

	// Write writes a table. It refuses infinite numbers, as [Fill.Each] does.
	Write func(w io.Writer, names []string, rows int, fill Fill) error
}

// formats are the registered formats.
var formats []Format

// unlinked are formats of packages that need other modules.
// Only programs that import such a package have its format.
var unlinked = []Format{
	importable("Parquet", ".parquet", "PAR1", "github.com/krigo-gp/krigo/dataset/parquet"),
	importable("Zstandard", ".zst", "\x28\xb5\x2f\xfd", "github.com/krigo-gp/krigo/dataset/zst"),
}

// importable returns a format whose errors name the package that has it.
func importable(name, ending, magic, from string) Format {
	missing := fmt.Errorf("%s is a format of a package that this program doesn't import: "+
		"import _ %q", name, from)
	return Format{
		Name: name, Endings: []string{ending}, Magic: magic,
		Read: func(_ *os.File, t *dataset.Table) error {
			return fmt.Errorf("%s: %w", t.Source, missing)
		}, Write: func(io.Writer, []string, int, Fill) error { return missing },
	}
}

// onlyRead is the Write of formats that can't be written.
func onlyRead(io.Writer, []string, int, Fill) error {
	return errors.New("that format is read, and not written: name a file that ends in .csv")
}

// Register makes a format known to [ReadFile], [ReadPart] and [WriteFile].
// Call it from an init function, before any table is read.
// Register panics if the format can't be told from another format.
func Register(f Format) {
	if f.Name == "" || len(f.Endings) == 0 || f.Read == nil || f.Write == nil {
		panic(fmt.Sprintf("files: format %q lacks a name, an ending, Read or Write", f.Name))
	}
	for _, other := range formats {
		for _, ending := range f.Endings {
			if slices.Contains(other.Endings, ending) {
				panic(fmt.Sprintf("files: formats %s and %s both end in %s", other.Name,
					f.Name, ending))
			}
		}
		if f.Magic != "" && other.Magic != "" &&
			(strings.HasPrefix(f.Magic, other.Magic) || strings.HasPrefix(other.Magic, f.Magic)) {
			panic(fmt.Sprintf("files: files of the formats %s and %s begin alike",
				other.Name, f.Name))
		}
	}
	formats = append(formats, f)
}

// Formats returns the registered formats.
func Formats() []Format { return slices.Clone(formats) }

// formatOf finds a file's format by the start of the file, or by the ending of its path.
func formatOf(path, start string) (f Format, known bool) {
	all := slices.Concat(formats, unlinked)
	ending := strings.ToLower(filepath.Ext(path))
	f, known = lists.Find(all, func(f Format) bool {
		return f.Magic != "" && strings.HasPrefix(start, f.Magic)
	})
	if !known {
		f, known = lists.Find(all, func(f Format) bool {
			return slices.Contains(f.Endings, ending)
		})
	}
	return f, known
}

// startOf reads the part of a file that shows its format.
func startOf(f io.ReaderAt) string {
	longest := 0
	for _, f := range slices.Concat(formats, unlinked) {
		longest = max(longest, len(f.Magic))
	}
	start := make([]byte, longest)
	// a pipe can't be read at a place, so the ending of its name decides the format
	n, _ := f.ReadAt(start, 0)
	return string(start[:n])
}
