package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// NPY is NumPy's format for one array (NEP 1):
// magic, version, length of the header, the header as a Python dictionary, and the array's bytes.
// A table is an array of records with named fields, or a matrix in C order.

// npyMagic begins every NPY file.
const npyMagic = "\x93NUMPY"

func init() {
	Register(Format{Name: "NPY", Endings: []string{".npy"}, Magic: npyMagic, Read: openNPY,
		Write: WriteNPY})
}

// maxNPYHeader limits the length of a header. The header of 100,000 columns has 3 MB.
const maxNPYHeader = 1 << 26

// npy is an open NPY file of Rows records of equal size. Several goroutines may read it.
type npy struct {
	source string
	rows   int
	start  int64   // place of the first record
	size   int     // bytes of a record
	fields []field // one per column
	named  bool    // the file has names for the fields

	file   disk.File
	mapped []byte // the whole file; nil if files can't be mapped
}

// field says where a column's number stands in a record: offset counts bytes from its beginning.
type field struct {
	name   string
	offset int
	number
}

// number is a type of numbers with NPY's name, without the byte order.
type number string

// le is the byte order of the numbers.
var le = binary.LittleEndian

// numbers holds each type's number of bytes, and how a number is read from them.
var numbers = map[number]struct {
	size  int
	value func(b []byte) float64
}{
	"f8": {8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }},
	"f4": {4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }},
	"i8": {8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }},
	"u8": {8, func(b []byte) float64 { return float64(le.Uint64(b)) }},
	"i4": {4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }},
	"u4": {4, func(b []byte) float64 { return float64(le.Uint32(b)) }},
	"i2": {2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }},
	"u2": {2, func(b []byte) float64 { return float64(le.Uint16(b)) }},
	"i1": {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"u1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"b1": {1, func(b []byte) float64 { return float64(b[0]) }},
}

// size returns the bytes of a number, or 0 for an unknown type.
func (t number) size() int { return numbers[t].size }

// decode reads one number from each record. It writes them to every step-th place of out.
func (t number) decode(records []byte, size int, out []float64, step int) {
	value := numbers[t].value
	usual := t == "f8" // takes no call
	for k := 0; len(records) > 0; k += step {
		if usual {
			out[k] = math.Float64frombits(le.Uint64(records))
		} else {
			out[k] = value(records)
		}
		records = records[min(size, len(records)):]
	}
}

// openNPY makes a table from an open NPY file, and keeps the file open.
func openNPY(f *os.File, t *dataset.Table) error {
	n, err := npyOf(f, t.Source)
	if err != nil {
		return err
	}
	const block = 4096
	// Rows are read in blocks, which take memory as bytes and as numbers.
	if err := memory.Afford(t.Source+": a block of its rows",
		float64(min(n.rows, block))*float64(n.size+2*8*len(n.fields))); err != nil {
		disk.Unmap(n.mapped)
		return err
	}
	t.Rows = n.rows
	t.Disk = n
	t.Names = lists.Of(n.fields, func(f field) string { return f.name })
	return nil
}

// npyOf reads the header of an open NPY file, and maps the file into memory if the system can.
func npyOf(f *os.File, source string) (*npy, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", source, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: an NPY table is read from a regular file, not from a pipe or "+
			"folder", source)
	}
	n, err := readHeader(io.NewSectionReader(disk.Of(f), 0, info.Size()), info.Size(),
		source, false)
	if err != nil {
		return nil, err
	}
	n.file = disk.Of(f)
	if n.mapped, err = n.file.Map(info.Size(), false); err != nil {
		n.mapped = nil // read when needed instead
	}
	return n, nil
}

// fail returns an error that names the file.
func (n *npy) fail(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{n.source}, args...)...)
}

// readHeader reads and checks the header of an NPY file of length bytes.
// If column is set, it accepts an array of one dimension.
func readHeader(r io.Reader, length int64, source string, column bool) (*npy, error) {
	n := &npy{source: source}
	text, err := n.header(r, length)
	if err != nil {
		return nil, err
	}
	// The header is one dictionary, as Python writes it, and nothing else.
	p := python{text: text}
	header, ok := p.value(0).(map[string]any)
	if p.space(); !ok || p.failed || p.text != "" {
		return nil, n.fail("the NPY header isn't a dictionary as numpy.save writes it; write the " +
			"file again")
	}
	if err := n.layout(header, length, column); err != nil {
		return nil, err
	}
	if len(n.fields) == 0 {
		return nil, n.fail("the table has no columns")
	}
	if n.rows == 0 {
		return nil, n.fail("the table has no rows")
	}
	// The file must hold exactly the records that the header promises.
	content := length - n.start
	switch whole := content / int64(n.size); {
	case int64(n.rows) > whole:
		return nil, n.fail("cut short: %d rows of %d bytes are promised, but the file ends "+
			"within row %d; write it again", n.rows, n.size, whole+1)
	case content != int64(n.rows)*int64(n.size):
		return nil, n.fail("%d bytes follow the last of %d rows: not one NPY table; write it again",
			content-int64(n.rows)*int64(n.size), n.rows)
	}
	return n, nil
}

// header reads the text of a header as UTF-8. The first record starts after it.
func (n *npy) header(r io.Reader, length int64) (string, error) {
	short := n.fail("cut short: the file ends within the NPY header; write it again")
	prefix := make([]byte, len(npyMagic)+2+4)
	got, err := io.ReadFull(r, prefix[:len(npyMagic)+2+2])
	switch {
	case !bytes.HasPrefix(prefix[:got], []byte(npyMagic)):
		return "", n.fail("not an NPY file (it doesn't begin with \\x93NUMPY): save the table by " +
			"numpy.save, or name a CSV file .csv")
	case err != nil:
		return "", short
	}
	version := prefix[len(npyMagic)]
	size := 0
	start := len(prefix) - 2
	switch version {
	case 1:
		size = int(binary.LittleEndian.Uint16(prefix[start-2:]))
	case 2, 3:
		if _, err := io.ReadFull(r, prefix[start:]); err != nil {
			return "", short
		}
		size = int(binary.LittleEndian.Uint32(prefix[start-2:]))
		start += 2
	default:
		return "", n.fail("NPY format version %d.%d; versions 1 to 3 are read", version,
			prefix[len(npyMagic)+1])
	}
	if size > maxNPYHeader || int64(start+size) > length {
		return "", n.fail("cut short: an NPY header of %d bytes doesn't fit a file of %d; write "+
			"it again", size, length)
	}
	const times = 50 // memory of the parsed header, in multiples of its text
	if err := memory.Afford(n.source+": the NPY header", times*float64(size)); err != nil {
		return "", err
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", short
	}
	n.start = int64(start + size)
	if version == 3 {
		return string(text), nil
	}
	var b strings.Builder // b holds Latin-1 as UTF-8
	for _, c := range text {
		b.WriteRune(rune(c))
	}
	return b.String(), nil
}

// layout reads rows and columns from a header.
func (n *npy) layout(header map[string]any, length int64, column bool) error {
	fortran, okOrder := header["fortran_order"].(bool)
	shape, okShape := header["shape"].([]any)
	if !okOrder || !okShape || header["descr"] == nil {
		return n.fail("the NPY header lacks descr, fortran_order or shape; write the file again")
	}
	dims := make([]int, len(shape))
	for i, v := range shape {
		var ok bool
		if dims[i], ok = v.(int); !ok || dims[i] < 0 {
			return n.fail("the NPY header's shape isn't one of whole numbers; write the file again")
		}
	}
	// descr is a list of fields for an array of records, and a type's name for a matrix.
	switch descr := header["descr"].(type) {
	case []any:
		if len(dims) != 1 {
			return n.fail("an array of records of shape %v: a table has one dimension; save it "+
				"by numpy.ravel", dims)
		}
		n.named = true
		n.rows = dims[0]
		return n.records(descr)
	case string:
		if column && len(dims) == 1 {
			dims = append(dims, 1)
		}
		if len(dims) != 2 {
			return n.fail("an array of shape %v: a table is a matrix, rows × columns, or an "+
				"array of records with named fields", dims)
		}
		// A matrix with a single row or column is the same in both orders.
		if fortran && dims[0] > 1 && dims[1] > 1 {
			return n.fail("a matrix in Fortran order: save numpy.ascontiguousarray of it")
		}
		n.rows = dims[0]
		return n.matrix(descr, dims[1], length)
	}
	return n.fail("the NPY header's descr is neither a type nor a list of fields; write the " +
		"file again")
}

// matrix makes columns of one type.
func (n *npy) matrix(descr string, cols int, length int64) error {
	kind, err := n.number(descr, "the matrix")
	if err != nil {
		return err
	}
	if int64(cols) > length/int64(kind.size()) {
		return n.fail("cut short: a row of %d numbers doesn't fit a file of %d bytes; write "+
			"it again", cols, length)
	}
	const each = 200 // estimated bytes per column
	if err := memory.Afford(fmt.Sprintf("%s: a table of %d columns", n.source, cols),
		each*float64(cols)); err != nil {
		return err
	}
	for j := range cols {
		n.fields = append(n.fields, field{"c" + strconv.Itoa(j+1), j * kind.size(), kind})
	}
	n.size = cols * kind.size()
	return nil
}

// records reads the columns from a list of (name, type) pairs.
// A pair without a name is padding between fields.
func (n *npy) records(descr []any) error {
	for k, entry := range descr {
		pair, _ := entry.([]any)
		if len(pair) < 2 {
			return n.fail("field %d of the records isn't a pair of name and type; write the "+
				"file again", k+1)
		}
		if titled, ok := pair[0].([]any); ok && len(titled) == 2 {
			pair[0] = titled[1] // a titled name is (title, name)
		}
		name, ok1 := pair[0].(string)
		descr, ok2 := pair[1].(string)
		switch {
		case !ok1:
			return n.fail("field %d of the records isn't a pair of name and type; write the "+
				"file again", k+1)
		case !ok2 || len(pair) > 2:
			return n.fail("column %q holds records or arrays, not numbers: give every number a "+
				"field of its own", spelling.Clip(name))
		case name == "" && strings.HasPrefix(descr, "|V"):
			padding, err := strconv.Atoi(descr[2:])
			if err != nil || padding < 0 || padding > maxNPYHeader {
				return n.fail("field %d of the records has the type %q; write the file again", k+1,
					spelling.Clip(descr))
			}
			n.size += padding
			continue
		case name == "" || !utf8.ValidString(name):
			return n.fail("field %d of the records has no name that is text: give it one", k+1)
		}
		kind, err := n.number(descr, fmt.Sprintf("column %d (%q)", len(n.fields)+1,
			spelling.Clip(name)))
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{name, n.size, kind})
		n.size += kind.size()
	}
	return nil
}

// number reads a type such as "<f8".
func (n *npy) number(descr, what string) (number, error) {
	if len(descr) > 1 {
		kind := number(descr[1:])
		size := number(descr[1:]).size()
		switch {
		case size > 0 && (descr[0] == '<' || (descr[0] == '|' && size == 1)):
			return kind, nil
		case size > 0 && descr[0] == '>':
			return "", n.fail("%s has the type %q, most significant byte first: save it as %q",
				what, descr, "<"+descr[1:])
		}
	}
	return "", fmt.Errorf("%s: %s has the type %q, which isn't one of numbers that are read "+
		"(<f8, <f4, whole numbers): save it as <f8", n.source, what, spelling.Clip(descr))
}

// Read copies the given columns of the rows first to first+count−1 to out, row by row.
func (n *npy) Read(first, count int, columns []int, out []float64) (err error) {
	begin := n.start + int64(first)*int64(n.size)
	var records []byte
	if n.mapped == nil {
		records = make([]byte, count*n.size)
		if _, err := n.file.ReadAt(records, begin); err != nil {
			return n.fail("rows %d to %d can't be read: %w", first+1, first+count, err)
		}
	} else {
		records = n.mapped[begin : begin+int64(count)*int64(n.size)]
		// Mapped memory disappears if somebody shortens the file, or if the disk fails.
		// This is an error of the data, not of the program.
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if p := recover(); p != nil {
				fault, ok := p.(interface {
					error
					Addr() uintptr
				})
				if !ok {
					panic(p)
				}
				err = n.fail("rows %d to %d can't be read: the file was changed, or its disk "+
					"fails (%w)", first+1, first+count, fault)
			}
		}()
	}
	for k, j := range columns {
		f := n.fields[j]
		f.decode(records[f.offset:], n.size, out[k:], len(columns))
	}
	return nil
}

// Close unmaps and closes the file. No row can be read afterwards.
func (n *npy) Close() error {
	err := disk.Unmap(n.mapped)
	n.mapped = nil
	return errors.Join(err, n.file.Close())
}

// WriteNPY writes a table as NPY: an array of records, with a field of type <f8 per column.
func WriteNPY(w io.Writer, names []string, rows int, fill Fill) error {
	var text strings.Builder
	version := byte(1)
	text.WriteString("{'descr': [")
	seen := make(map[string]bool, len(names))
	for j, name := range names {
		if seen[name] || name == "" || !utf8.ValidString(name) {
			return fmt.Errorf("write NPY: column %d is named %q: names must be distinct text", j+1,
				name)
		}
		seen[name] = true
		fmt.Fprintf(&text, "(%s, '<f8'), ", pythonString(name))
	}
	fmt.Fprintf(&text, "], 'fortran_order': False, 'shape': (%d,), }", rows)
	if text.Len() > math.MaxUint16-64 {
		version = 2
	}
	for _, c := range text.String() {
		if c >= utf8.RuneSelf {
			version = 3 // UTF-8; earlier versions are Latin-1
		}
	}
	prefix := append([]byte(npyMagic), version, 0, 0, 0)
	if version > 1 {
		prefix = append(prefix, 0, 0)
	}
	for (len(prefix)+text.Len()+1)%64 != 0 { // aligns records to cache lines
		text.WriteByte(' ')
	}
	text.WriteByte('\n')
	if version == 1 {
		binary.LittleEndian.PutUint16(prefix[len(npyMagic)+2:], uint16(text.Len()))
	} else {
		binary.LittleEndian.PutUint32(prefix[len(npyMagic)+2:], uint32(text.Len()))
	}
	if _, err := io.WriteString(w, string(prefix)+text.String()); err != nil {
		return err
	}
	return writeRows(w, names, rows, fill, func(record []byte, values []float64) []byte {
		for _, v := range values {
			record = binary.LittleEndian.AppendUint64(record, math.Float64bits(v))
		}
		return record
	})
}
