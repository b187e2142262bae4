package files

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// csvFormat is the format of plain text: CSV or JSON lines, which Read tells apart by the text.
var csvFormat = Format{
	Name: "CSV", Endings: []string{".csv", ".txt", ".tsv"}, Text: true,
	Read:  func(f *os.File, t *dataset.Table) error { return CSV{From: disk.Of(f)}.fill(t) },
	Write: Write,
}

func init() {
	Register(csvFormat)
	Register(Format{Name: "JSON lines", Endings: []string{".jsonl", ".ndjson"}, Text: true,
		Read: csvFormat.Read, Write: onlyRead})
	RegisterPacked(Format{Name: "gzip of CSV", Endings: []string{".gz"}, Magic: "\x1f\x8b"},
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

// unpack maps the first bytes of packed text to a function that unpacks it.
var unpack = map[string]func(io.Reader) (io.Reader, error){}

// RegisterPacked registers a format of packed CSV or JSON lines, with its name, endings and Magic.
// krigo knows the format by its first bytes, also in standard input.
func RegisterPacked(f Format, reader func(io.Reader) (io.Reader, error),
	writer func(io.Writer) (io.WriteCloser, error)) {
	f.Text = true
	f.Read = csvFormat.Read
	unpack[f.Magic] = reader
	f.Write = func(w io.Writer, names []string, rows int, fill Fill) error {
		z, err := writer(w)
		if err == nil {
			err = Write(z, names, rows, fill)
		}
		if err != nil {
			return err
		}
		return z.Close()
	}
	Register(f)
}

var errNotText = errors.New("not a text file")

// CSV is the text of a table to be read: CSV as in RFC 4180, JSON lines, a JSON array of objects,
// or one of these packed ([RegisterPacked]).
//
// Commas separate fields. If the first line has no comma, semicolons or tabs may separate them.
// If it has no such separator, bars or any number of spaces and tabs may separate the fields:
// the first two lines must then have equally many fields, and with spaces one field must be a
// number. The first line is a header unless all its fields are numbers or missing values, or unless
// As says otherwise. Without a header the columns are named x1, x2, … and the last y.
// A cell that is empty, NA, N/A, #N/A, NaN, null or ?, in any case, is a missing value.
// Other cells are numbers or text.
//
// UTF-16 with a byte order mark is read too. A spreadsheet's first line "sep=;" isn't a row.
// If lines end with a separator, the nameless and empty last column isn't a column. Lines that
// begin with # aren't rows if some stand above the header.
//
// A first column without a name is called (index), as in the file of a pandas DataFrame, and fits
// leave it out. The same goes for names of rows, for which R writes no name in the header.
// A text whose table or line takes more memory than it may is an error (package memory).
type CSV struct {
	From   io.Reader
	Source string          // the name in errors
	As     dataset.Reading // how cells are written
	// Columns, if not empty, names the only columns that will be used.
	// If the file has a header, cells of all other columns become missing values, so that their
	// texts take no memory.
	Columns []string
	// Bare says that the caller has measured the text as plain CSV.
	// The text isn't packed or JSON, and neither bars nor spaces separate its fields.
	Bare bool
}

// Read reads the text to its end.
func (c CSV) Read() (*dataset.Table, error) {
	if err := c.As.Check(); err != nil {
		return nil, err
	}
	t := c.As.New(c.Source)
	err := c.fill(t)
	if err == nil {
		err = c.As.Apply(t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// fill fills an empty table.
func (c CSV) fill(t *dataset.Table) error {
	p, _, err := c.open(t, func(in *bufio.Reader) ([]byte, error) { return in.Peek(blockSize) })
	if err != nil {
		return err
	}
	p.wanted = c.Columns
	return p.read()
}

// open begins to read into an empty table. start returns the first part of the text, which shows
// the kind of text.
func (c CSV) open(t *dataset.Table, start func(*bufio.Reader) ([]byte, error)) (
	*parser, *bufio.Reader, error) {
	source := t.Source
	as := t.Reading()
	of := &records{from: c.From, source: source}
	in := bufio.NewReaderSize(&oneEnd{Reader: of}, blockSize)
	// through puts a decoder before the text. Then bytes of the file say nothing of the text's
	// memory.
	through := func(r io.Reader) {
		of.compressed = true
		of = &records{from: r, source: source}
		in = bufio.NewReaderSize(&oneEnd{Reader: of}, blockSize)
	}
	for magic, reader := range unpack {
		if begin, _ := in.Peek(len(magic)); string(begin) == magic && !c.Bare {
			r, err := reader(in)
			if err != nil {
				return nil, nil, readError(source, 0, err)
			}
			through(r)
			break
		}
	}
	if mark, _ := in.Peek(2); string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff" {
		through(transform.NewReader(in,
			utf16.UTF16(utf16.LittleEndian, utf16.ExpectBOM).NewDecoder()))
	}
	// A byte order mark of UTF-8 belongs to no cell.
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3)
		of.skip(3)
	}
	if err := skip(in, of, as.SkipRows); err != nil {
		return nil, nil, err
	}
	head, err := start(in)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nil, readError(source, 0, err)
	}
	if !isText(head) {
		binary := func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' }
		convert := spelling.If(!bytes.ContainsFunc(head, binary), ofWindows, spelling.Shell(source))
		return nil, nil, fmt.Errorf("%s: %w (the first %d bytes are not UTF-8 text): save the "+
			"table as CSV in UTF-8, plain or gzip%s", source, errNotText, len(head), convert)
	}
	p := &parser{records: of, table: t, header: as.Header}
	if !c.Bare && isJSON(head) {
		p.header = "yes"
		p.rows = newObjects(objects{in: in, source: source, point: cmp.Or(as.Decimal, "."),
			end: as.SkipRows, refuse: func(j int, err error) { p.table.Refuse(j, err) }}, head)
		return p, in, nil
	}
	if !c.Bare && as.SkipRows == 0 {
		t.Found.Remarks = remarks(head, as.Decimal == ",")
		if err := skip(in, of, t.Found.Remarks); err != nil {
			return nil, nil, err
		}
		for range t.Found.Remarks {
			_, head, _ = bytes.Cut(head, []byte("\n"))
		}
	}
	p.comma = separator(head, as.Decimal == ",")
	if !c.Bare {
		p.comma = further(head, as, p.comma, source)
	}
	p.comma = cmp.Or(p.comma, ',')
	rows := newCommas(in, p.comma, source, as.SkipRows+t.Found.Remarks)
	rows.remarks = &t.Found.Remarks
	p.rows = rows
	return p, in, nil
}

// skip leaves out lines at the beginning of a text.
func skip(in *bufio.Reader, of *records, lines int) error {
	for skipped := 0; skipped < lines; {
		// A line longer than the buffer comes in several parts, and only the last part ends a line.
		part, err := in.ReadSlice('\n')
		of.skip(len(part))
		switch err {
		case nil:
			skipped++
		case bufio.ErrBufferFull:
		case io.EOF:
			return fmt.Errorf("%s: the file ends within the %d lines that are to be skipped",
				of.source, lines)
		default:
			return readError(of.source, 0, err)
		}
	}
	return nil
}

// ofWindows says how to convert a text that isn't UTF-8.
const ofWindows = ", as by iconv -f WINDOWS-1252 -t UTF-8 %s if it is of Windows"

// isText reports whether the first block of a file is UTF-8 without NUL bytes.
// UTF-16, spreadsheets and archives aren't.
func isText(head []byte) bool {
	if len(head) == blockSize { // the block may cut the last rune
		for i := len(head) - 1; i >= len(head)-utf8.UTFMax; i-- {
			if utf8.RuneStart(head[i]) {
				head = head[:i]
				break
			}
		}
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}

// rows are the rows of a table that is being read.
type rows interface {
	Read() ([]string, error) // after a row with a [dataset.Error] no row can be read
	Line() int               // line on which the last row read begins
	InputOffset() int64      // bytes up to the end of the last row read
}

// parser turns rows of cells into a table. After a bad row it goes on, to count the bad rows, but
// it keeps only the first.
type parser struct {
	rows  rows
	comma byte // between the cells of text; 0: the rows aren't text with marks
	// whether the first row names the columns, as Header of [dataset.Reading] says it
	header  string
	records *records
	table   *dataset.Table
	first   error // the first bad row
	more    int   // number of bad rows after the first
	skipped int   // number of rows after the first bad row
	ends    int   // number of last columns without a name, which have no cells
	indexed bool  // the header lacks the name of the first column, which names rows

	upper []string // cells of the first of two rows that name the columns
	// the number of cells of the last row, the line from which on rows have as many, and the number
	// of these rows
	width, from, run int

	wanted  []string // columns to read; nil: all
	ignored []int    // positions of the other columns

	// For a stream, which ends with the first bad row.
	// passOn makes a table of the rows so far, enough says whether there are enough rows for a
	// table, and before counts the rows of earlier tables.
	passOn func() error
	enough func() bool
	before int
}

// read reads all rows into the table, or, for a stream, passes tables of enough rows on. The first
// row may name the columns (see begin).
func (p *parser) read() error {
	for {
		p.records.next(p.rows.InputOffset())
		record, err := p.rows.Read()
		if err != nil {
			return p.end(err)
		}
		if len(record) == 1 && len(p.table.Names) != 1 && strings.TrimSpace(record[0]) == "" {
			continue // a line of spaces
		}
		if p.table.Names == nil {
			if record, err = p.begin(record); err != nil {
				return err
			}
			if record == nil {
				continue
			}
		}
		if err := p.row(record); err != nil {
			return err
		}
		if p.passOn != nil && p.first != nil {
			return p.finish()
		}
		if p.passOn != nil && p.enough() {
			if err := p.passOn(); err != nil {
				return err
			}
		}
	}
}

// end returns the error of a table that ends with err.
func (p *parser) end(err error) error {
	var bad *dataset.Error
	var large *memory.Error
	switch {
	case errors.As(err, &large):
		return err
	case err == io.EOF:
		return p.finish()
	case errors.As(err, &bad):
		p.first = cmp.Or[error](p.first, bad)
		return p.finish()
	}
	if p.passOn != nil {
		if err := p.passOn(); err != nil {
			return err
		}
	}
	// this error explains the bad rows
	return readError(p.table.Source, p.before+len(p.table.Lines)+p.skipped, err)
}

// begin names the columns by the first record. It returns the record's cells if the record is a
// row, and nil if it isn't.
func (p *parser) begin(record []string) ([]string, error) {
	t := p.table
	of, found := strings.CutPrefix(strings.ToLower(record[0]), "sep=")
	if found && len(record) == 1 && of != "" {
		return nil, fmt.Errorf("%s: cells are separated by %q: separate them by commas, "+
			"semicolons or tabs", t.Source, spelling.Clip(of))
	}
	if found && len(record) < 3 {
		return nil, nil // a line that spreadsheets write
	}
	t.Found.Skipped = t.Reading().SkipRows
	if p.header == "two" && p.upper == nil {
		p.upper = slices.Clone(record)
		return nil, nil
	}
	for j, name := range p.upper[:min(len(p.upper), len(record))] {
		record[j] = name + " " + record[j]
	}
	t.Found.Headless = p.header == "no" || (p.header == "" && isData(t.Reading(), record))
	// Most cells have a name, or else the row may be a title.
	if ends := blankAfter(record, 0); !t.Found.Headless && 2*ends < len(record) {
		p.ends = ends
		record = record[:len(record)-ends]
	}
	var err error
	if t.Names, err = p.names(record); err != nil || t.Found.Headless {
		return record, err
	}
	p.ignore()
	return nil, nil
}

// blank says whether a cell has no text.
func blank(cell string) bool { return strings.TrimSpace(cell) == "" }

// blankAfter counts the blank cells at the end of a record, after its first cells.
func blankAfter(record []string, first int) (number int) {
	for j := len(record) - 1; j >= first && blank(record[j]); j-- {
		number++
	}
	return number
}

// finish returns an error about the whole table, if there is one.
func (p *parser) finish() error {
	if p.passOn != nil {
		if err := p.passOn(); err != nil {
			return err
		}
	}
	switch {
	case p.first != nil:
		// Most rows have as many cells as each other, but not as the first: notes stand above.
		notes := p.run > len(p.table.Lines) && p.width > 1
		return fmt.Errorf("%w%s%s%s", p.first,
			spelling.If(p.more > 0, " (and %d more problems)", p.more),
			spelling.If(notes && p.width != len(p.table.Names), "; if the table begins in %s %d, "+
				"say --skip-rows %d", spelling.Either(p.table.Sheet == "", "line", "row"), p.from,
				p.from-1),
			spelling.If(!notes && len(p.table.Names) == 1, "; if the first lines are notes, pass "+
				"over them by --skip-rows"))
	case p.table.Names == nil:
		return fmt.Errorf("%s: the file is empty: a table was expected", p.table.Source)
	case p.before+len(p.table.Lines) == 0:
		return fmt.Errorf("%s: a header but no rows: add data below it", p.table.Source)
	case p.indexed:
		return p.unique()
	}
	return nil
}

// unique returns an error if names of rows, for which the header has no column, aren't unique.
// Then the header lacks a name for another reason, such as decimal commas between commas.
func (p *parser) unique() error {
	t := p.table
	rows := map[float64]int{}
	for i := 0; p.passOn == nil && i < t.Rows; i++ {
		v := t.Values[i*len(t.Names)]
		if first, twice := rows[v]; twice || v != v {
			return &dataset.Error{File: t.Source, Line: t.Lines[i], Err: fmt.Errorf("each row has "+
				"a field more than the header, and the first can't be the row's name, since %q "+
				"stands in line %d too: name all columns, or quote fields that hold a %q",
				t.CellText(0, v), t.Lines[first], p.comma)}
		}
		rows[v] = i
	}
	return nil
}

// names makes the column names of a table, whose first record is given.
func (p *parser) names(record []string) ([]string, error) {
	const each = 200 // estimated bytes of memory per name, also where columns are looked up
	if err := memory.Afford(fmt.Sprintf("%s: a table of %d columns", p.table.Source, len(record)),
		each*float64(len(record))); err != nil {
		return nil, err
	}
	names := make([]string, len(record))
	taken := map[string]bool{}
	for j, name := range record {
		switch {
		case p.header == "no":
			name = "c" + strconv.Itoa(j+1)
		case p.table.Found.Headless && j == len(record)-1:
			name = "y"
		case p.table.Found.Headless:
			name = "x" + strconv.Itoa(j+1)
		}
		name = strings.TrimSpace(name)
		switch {
		case name == "" && j == 0 && len(record) > 1:
			name = dataset.IndexName
		case name == "" && p.header == "unique":
			name = "c" + strconv.Itoa(j+1)
		case name == "":
			hint := p.unnamed(j, record) // title reads on, and the record changes
			return nil, &dataset.Error{File: p.table.Source, Sheet: p.table.Sheet,
				Line: p.rows.Line(), Column: j + 1,
				Err: fmt.Errorf("column %d has no name: give it one in the header, or remove it%s",
					j+1, cmp.Or(p.title(record), hint))}
		}
		names[j] = name
		for k := 1; p.header == "unique" && taken[names[j]]; k++ {
			names[j] = name + "." + strconv.Itoa(k)
		}
		taken[names[j]] = true
	}
	return names, nil
}

// unnamed says which flags name a column j that has no name in the header.
func (p *parser) unnamed(j int, header []string) (hint string) {
	return fmt.Sprintf(", or have it named c%d by --header unique", j+1) +
		spelling.If(slices.ContainsFunc(header, p.number),
			"; if the first row names no columns, say --header no")
}

// number says whether a cell is a number.
func (p *parser) number(cell string) bool { return isData(p.table.Reading(), []string{cell}) }

// title says which flag passes over the first row, if it seems to be a title: few of its cells have
// a text, and a row soon after it has a text in all.
func (p *parser) title(first []string) (hint string) {
	few := 2*len(lists.If(first, blank)) >= len(first)
	for range 10 {
		record, err := p.rows.Read()
		if err != nil || !few {
			return ""
		}
		if len(record) > 1 && !slices.ContainsFunc(record, blank) &&
			!slices.ContainsFunc(record, p.number) {
			return fmt.Sprintf("; if the table begins in line %d, say --skip-rows %d",
				p.rows.Line(), p.rows.Line()-1)
		}
	}
	return ""
}

// ignore finds the positions of columns that aren't wanted.
func (p *parser) ignore() {
	if p.wanted == nil {
		return
	}
	wanted := make(map[string]bool, len(p.wanted))
	for _, name := range p.wanted {
		wanted[name] = true
	}
	p.ignored = lists.Where(len(p.table.Names), func(j int) bool {
		return !wanted[p.table.Names[j]]
	})
}

// row adds one row to the table. It stores the first bad row's error in p.first and returns nil, so
// that read goes on and finish can count the bad rows. The error that it returns ends the reading.
func (p *parser) row(record []string) error {
	t := p.table
	line := p.rows.Line()
	if p.run++; len(record) != p.width {
		p.width = len(record)
		p.from = line
		p.run = 1
	}
	if p.first != nil { // the table won't be used
		if p.skipped++; len(record) != len(t.Names) {
			p.more++
		}
		return nil
	}
	if p.ends > 0 && p.header == "unique" && p.before+len(t.Lines) == 0 {
		p.fill(record)
	}
	more := len(record) - len(t.Names)
	if p.comma != 0 && more <= max(p.ends, 1) && blankAfter(record, len(t.Names)) == more {
		record = record[:len(t.Names)] // the row ends with separators
	}
	if p.before+len(t.Lines) == 0 && len(record) == len(t.Names)+1 && p.comma != 0 {
		p.name(record)
	}
	t.Lines = append(t.Lines, line)
	if len(record) != len(t.Names) || (len(record) == 1 && len(t.Lines) == 1) {
		if p.first = p.misfit(record); p.first != nil {
			return nil
		}
	}
	if p.comma != 0 {
		p.utf8(record)
	}
	// The cells of columns that aren't wanted are emptied, so that they take no memory.
	for _, j := range p.ignored {
		record[j] = ""
	}
	return t.Append(record)
}

// fill names the last columns without a name if the first row has cells in them.
func (p *parser) fill(record []string) {
	t := p.table
	most := len(t.Names) + p.ends
	more := len(record) - len(t.Names)
	if more < 1 || more > p.ends || blankAfter(record, len(t.Names)) == more {
		return
	}
	for p.ends = 0; len(t.Names) < most; {
		t.Names = append(t.Names, "c"+strconv.Itoa(len(t.Names)+1))
	}
	p.ignore()
}

// utf8 refuses columns whose cells aren't UTF-8. Two texts could become one otherwise.
func (p *parser) utf8(record []string) {
	for j, cell := range record {
		if utf8.ValidString(cell) {
			continue
		}
		p.table.Refuse(j, &dataset.Error{File: p.table.Source, Line: p.rows.Line(),
			Row: p.before + len(p.table.Lines), Column: j + 1, Name: p.table.Names[j],
			Err: fmt.Errorf("%q isn't UTF-8 text: save the table as CSV in UTF-8"+ofWindows,
				spelling.Clip(cell), spelling.Shell(p.table.Source))})
		record[j] = ""
	}
}

// name names the first column if the first row has a cell more than the header: that of names of
// rows, as R writes them. One of the other cells must be a number.
func (p *parser) name(record []string) {
	as := p.table.Reading()
	p.indexed = p.ends == 0 && !p.table.Found.Headless &&
		slices.ContainsFunc(record[1:], func(cell string) bool {
			_, err := as.Parse(strings.TrimSpace(cell))
			return err == nil
		})
	if p.indexed {
		p.table.Names = slices.Insert(p.table.Names, 0, dataset.IndexName)
		p.ignore()
	}
}

// misfit returns the error of a row that doesn't have a cell for each column, or of the first row
// of a table with one column if it seems to hold several. It returns nil if nothing is wrong.
func (p *parser) misfit(record []string) error {
	t := p.table
	at := &dataset.Error{File: t.Source, Sheet: t.Sheet, Line: p.rows.Line(),
		Row: p.before + len(t.Lines)}
	if p.indexed && len(t.Lines) == 2 && len(record)+1 == len(t.Names) {
		// No row but the first has a name: the first has a field too many.
		at.Line = t.Lines[0]
		at.Row = 1
		at.Err = p.wrongFields(len(record), len(t.Names))
		t.Names = t.Names[1:]
		p.indexed = false
		return at
	}
	marks := func(text string) int { return strings.Count(text, ",") + strings.Count(text, ";") }
	switch {
	case len(record) == len(t.Names) && p.comma != 0 && marks(record[0]) > 0 &&
		marks(record[0]) == marks(t.Names[0]):
		at.Err = fmt.Errorf("lines stand in quotes as a whole, as %q: remove the quotes around "+
			"lines, and write a quote for two in them", spelling.Clip(record[0]))
	case len(record) == len(t.Names):
		return nil
	case p.ends > 0 && len(record) > len(t.Names) && len(record) <= len(t.Names)+p.ends:
		j := slices.IndexFunc(record[len(t.Names):], func(cell string) bool { return !blank(cell) }) +
			len(t.Names)
		at.Err = fmt.Errorf("column %d has no name, and holds %q: give it one in the header, or "+
			"remove it", j+1, spelling.Clip(record[j]))
	case t.Sheet != "": // a sheet's rows are as wide as its first row
		beside := slices.IndexFunc(record[len(t.Names):], func(cell string) bool {
			return cell != ""
		}) + len(t.Names)
		at.Row = 0
		at.Column = beside + 1
		at.Err = fmt.Errorf("%q stands beside the table, whose first row ends in column %d",
			spelling.Clip(record[beside]), len(t.Names))
	default:
		at.Err = p.wrongFields(len(t.Names), len(record))
	}
	return at
}

// wrongFields returns the error of a row with another number of fields than expected.
func (p *parser) wrongFields(expected, got int) error {
	return fmt.Errorf("expected %d fields, got %d: add or remove fields, or quote those that "+
		"hold a %q", expected, got, p.comma)
}

// records passes CSV text on until a record would take more memory than it may.
// csv.Reader holds each record in memory, and a quoted cell can spread a record over many lines.
type records struct {
	from       io.Reader
	source     string
	compressed bool    // the file's bytes aren't the text's bytes
	each       float64 // bytes of memory per byte of text; 0: the number for CSV
	passed     int64   // bytes passed on
	after      int64   // number of the passed bytes that belong to whole records
	needed     float64 // bytes of memory for the rest
}

// skip leaves out bytes that belong to no record.
func (r *records) skip(bytes int) {
	r.passed -= int64(bytes)
	r.next(0)
}

// next notes that whole records take the first `after` bytes, so that the next record begins there.
func (r *records) next(after int64) {
	r.after = after
	r.needed = float64(r.passed - after)
}

// Read passes text on. It returns an error before a record needs more memory than the limit.
// It doesn't limit records of compressed text.
func (r *records) Read(p []byte) (int, error) {
	// Memory is needed for the line and the record, each with room to grow.
	// A field needs its beginning and end, its place in the text, and itself.
	const field = 100
	each := cmp.Or(r.each, 6)
	if r.compressed {
		return r.from.Read(p)
	}
	if r.needed > float64(memory.Limit()) {
		return 0, memory.Afford(fmt.Sprintf("%s: a line that doesn't end in %d bytes from "+
			"byte %d on", r.source, r.passed-r.after, r.after), r.needed)
	}
	n, err := r.from.Read(p)
	r.passed += int64(n)
	separators := 0
	for _, c := range []byte(",;\t| ") {
		separators = max(separators, bytes.Count(p[:n], []byte{c}))
	}
	r.needed += each*float64(n) + field*float64(separators)
	return n, err
}

// isData reports whether a first record is data:
// all fields are numbers or missing, and not all are missing.
// Numbers in a programming language's notation count as numbers here.
// As column names they would cost a row, and as data they are refused with their place.
func isData(r dataset.Reading, record []string) bool {
	numbers := 0
	for _, field := range record {
		field = strings.TrimSpace(field)
		if r.IsMissing(field) {
			continue
		}
		_, program := strconv.ParseFloat(field, 64)
		if _, err := r.Parse(field); err != nil && program != nil &&
			!errors.Is(program, strconv.ErrRange) {
			return false
		}
		numbers++
	}
	return numbers > 0
}

// readError words an error of the underlying reader. rows is the number of rows read before it.
func readError(source string, rows int, err error) error {
	var corrupt flate.CorruptInputError
	var large *memory.Error
	switch {
	case errors.As(err, &large):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is cut short: the gzip stream ends early, after row %d; fetch it "+
			"again: %w", source, rows, err)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader),
		errors.Is(err, zip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("%s is damaged; fetch it again: %w", source, err)
	}
	return fmt.Errorf("%s: cannot be read after row %d: %w", source, rows, err)
}
