package files

import (
	"compress/gzip"
	"fmt"
	"io"
)

// Compression packs text: of CSV and JSON lines, in files and from standard input.
type Compression struct {
	Name, Ending, Magic string // as of a [Format]; its files alone begin so
	Reader              func(io.Reader) (io.Reader, error)
	Writer              func(io.Writer) (io.WriteCloser, error)
}

// compressions are those that are registered.
var compressions []Compression

func init() {
	RegisterCompression(Compression{
		Name: "gzip", Ending: ".gz", Magic: "\x1f\x8b",
		Reader: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		Writer: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	})
}

// RegisterCompression has text read and written that is packed so, as [Register] does of a format.
func RegisterCompression(c Compression) {
	Register(Format{
		Name: c.Name + " of CSV", Endings: []string{c.Ending}, Magic: c.Magic, Text: true,
		Read: csvFormat.Read,
		Write: func(w io.Writer, names []string, rows int, fill Fill) error {
			z, err := c.Writer(w)
			if err == nil {
				err = Write(z, names, rows, fill)
			}
			if err != nil {
				return err
			}
			return z.Close()
		},
	})
	compressions = append(compressions, c)
}

// onlyRead is the Write of a format that has none.
func onlyRead(name string) func(io.Writer, []string, int, Fill) error {
	return func(io.Writer, []string, int, Fill) error {
		return fmt.Errorf("%s is read, and not written: name a file that ends in .csv", name)
	}
}
