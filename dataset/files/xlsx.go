package files

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// XLSX (ECMA-376) is a zip file of XML. What a table needs of it is read here, row by row, each held against the memory
// there is: the readers that others have made take sheets whole, or link more packages than all else does.

func init() {
	Register(Format{Name: "XLSX", Endings: []string{".xlsx", ".xlsm"}, Text: true, whole: true, Read: readXLSX,
		Write: onlyRead("XLSX")})
}

// workbook is what the cells of its sheets refer to.
type workbook struct {
	source, point string // of decimals, as the reading has them
	parts         map[string]*zip.File
	texts         []string
	dates         []bool // which styles are those of dates
	from1904      bool
}

func readXLSX(f *os.File, t *dataset.Table) error {
	archive, _, err := openZip(f, t.Source, "XLSX")
	if err != nil {
		return err
	}
	as := t.Reading()
	w := &workbook{source: t.Source, point: cmp.Or(as.Decimal, "."), parts: map[string]*zip.File{}}
	for _, entry := range archive.File {
		w.parts[entry.Name] = entry
	}
	at, err := w.read()
	if err != nil {
		return err
	}
	var names []string // of the sheets that aren't empty
	for _, s := range at {
		rows, err := w.open(s.part, s.name)
		if err != nil {
			return err
		}
		_, err = rows.Read()
		rows.Close()
		if err == io.EOF {
			continue
		}
		names = append(names, s.name)
	}
	if t.Sheet, err = chosen(t, "sheet", names); err != nil {
		return err
	}
	rows, err := w.open(at[slices.IndexFunc(at, func(s part) bool { return s.name == t.Sheet })].part, t.Sheet)
	if err != nil {
		return err
	}
	defer rows.Close()
	rows.above = as.SkipRows
	return (&parser{rows: rows, records: rows.records, header: as.Header, table: t}).read()
}

// part is a sheet, and where it is in the archive.
type part struct{ name, part string }

// read reads what all sheets need, and where those are that are shown.
func (w *workbook) read() (sheets []part, err error) {
	var book struct {
		Properties struct {
			From1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string `xml:"name,attr"`
			State string `xml:"state,attr"`
			ID    string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	var links struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := errors.Join(w.decode("xl/workbook.xml", &book), w.decode("xl/_rels/workbook.xml.rels", &links)); err != nil {
		return nil, err
	}
	w.from1904 = book.Properties.From1904 == "1" || book.Properties.From1904 == "true"
	at := map[string]string{}
	for _, l := range links.All {
		target := strings.TrimPrefix(l.Target, "/")
		if target == l.Target {
			target = path.Join("xl", target)
		}
		switch path.Base(l.Type) {
		case "worksheet":
			at[l.ID] = target
		case "sharedStrings":
			err = w.readTexts(target)
		case "styles":
			err = w.readStyles(target)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, s := range book.Sheets {
		if at[s.ID] != "" && (s.State == "" || s.State == "visible") {
			sheets = append(sheets, part{s.Name, at[s.ID]})
		}
	}
	return sheets, nil
}

// stream opens a part of the archive.
func (w *workbook) stream(name string) (io.ReadCloser, error) {
	entry := w.parts[name]
	if entry == nil {
		return nil, fmt.Errorf("%s: not a whole XLSX file: %q isn't in it; write it again", w.source, spelling.Clip(name))
	}
	in, err := entry.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %q cannot be read: %w", w.source, spelling.Clip(name), err)
	}
	return in, nil
}

// decode reads a small part.
func (w *workbook) decode(name string, to any) error {
	in, err := w.stream(name)
	if err != nil {
		return err
	}
	defer in.Close()
	const times = 60 // what is made of a byte
	text, err := memory.ReadAll(in, w.source+": "+name, times)
	if err == nil {
		err = xml.Unmarshal(text, to)
	}
	var large *memory.Error
	if err != nil && !errors.As(err, &large) {
		err = fmt.Errorf("%s: %q is damaged (%w): write the file again", w.source, spelling.Clip(name), err)
	}
	return err
}

// readStyles finds the styles of dates: those that show years or days.
func (w *workbook) readStyles(name string) error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			ID int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := w.decode(name, &styles); err != nil {
		return err
	}
	codes := map[int]string{22: "d"}
	for _, span := range [][2]int{{14, 17}, {27, 31}, {36, 36}, {50, 54}, {57, 58}} { // that need no code
		for id := span[0]; id <= span[1]; id++ {
			codes[id] = "d"
		}
	}
	for _, f := range styles.Formats {
		codes[f.ID] = f.Code
	}
	for _, c := range styles.Cells {
		w.dates = append(w.dates, showsDate(codes[c.ID]))
	}
	return nil
}

// showsDate says whether a number's format has years, days or names of months outside of what it quotes.
func showsDate(code string) bool {
	end := byte(0)
	code = strings.ToLower(code)
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case end != 0:
			if c == end {
				end = 0
			}
		case c == '"':
			end = c
		case c == '[':
			end = ']'
		case c == '\\', c == '_', c == '*': // the next is to be shown as it is
			i++
		case c == 'y', c == 'd', strings.HasPrefix(code[i:], "mmm"):
			return true
		}
	}
	return false
}

// readTexts reads the texts to which cells refer.
func (w *workbook) readTexts(name string) error {
	in, err := w.open(name, "")
	if err != nil {
		return err
	}
	defer in.Close()
	const each = 100 // bytes of a text, by estimate, beside its own
	taken := 0.0
	for {
		in.records.next(in.xml.InputOffset())
		text, err := in.until("si")
		if err == io.EOF {
			return nil
		}
		if taken += each + float64(len(text)); err == nil {
			err = memory.Afford(w.source+": its texts", taken)
		}
		if err != nil {
			return readError(w.source, 0, err)
		}
		w.texts = append(w.texts, text)
	}
}

// sheet is a part with rows of cells.
type sheet struct {
	*workbook
	io.Closer
	name    string
	xml     *xml.Decoder
	records *records

	above, line, width int // rows to be skipped, the row, and cells of the first one
}

func (w *workbook) open(name, sheetName string) (*sheet, error) {
	in, err := w.stream(name)
	if err != nil {
		return nil, err
	}
	of := &records{from: in, source: w.source}
	return &sheet{workbook: w, Closer: in, name: sheetName, xml: xml.NewDecoder(of), records: of}, nil
}

func (s *sheet) Line() int          { return s.line }
func (s *sheet) InputOffset() int64 { return s.xml.InputOffset() }

// until returns the text up to the end of an element, without how it is pronounced.
func (s *sheet) until(end string) (string, error) {
	var text bytes.Buffer
	within, spoken := false, false
	for {
		token, err := s.xml.RawToken()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			within, spoken = name == "t" || name == "v", spoken || name == "rPh"
		case xml.CharData:
			if within && !spoken {
				text.Write(token)
			}
		case xml.EndElement:
			within, spoken = false, spoken && token.Name.Local != "rPh"
			if token.Name.Local == end {
				return text.String(), nil
			}
		}
	}
}

// Read returns the next row that isn't empty, as wide as the first at least.
func (s *sheet) Read() ([]string, error) {
	var record []string
	column := 0
	for {
		token, err := s.xml.RawToken()
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "row":
				s.line++
				if n, err := strconv.Atoi(attribute(token, "r")); err == nil {
					s.line = n
				}
				record, column = record[:0], 0
			case "c":
				if column, err = columnOf(attribute(token, "r"), column+1); err != nil {
					return nil, s.wrong(0, err)
				}
				cell, err := s.cell(token, column)
				if err != nil {
					return nil, err
				}
				if strings.TrimSpace(cell) == "" || s.line <= s.above {
					continue
				}
				if s.width > 0 && column > s.width {
					return nil, s.wrong(column, fmt.Errorf("%q stands beside the table, which ends with column %d: name its "+
						"column in the first row, or remove it", spelling.Clip(cell), s.width))
				}
				for len(record) < column {
					record = append(record, "")
				}
				record[column-1] = cell
			}
		case xml.EndElement:
			switch {
			case token.Name.Local == "sheetData":
				return nil, io.EOF
			case token.Name.Local == "row" && len(record) > 0:
				s.width = max(s.width, len(record))
				return append(record, make([]string, s.width-len(record))...), nil
			}
		}
	}
}

func (s *sheet) wrong(column int, err error) error {
	return &dataset.Error{File: s.source, Sheet: s.name, Line: s.line, Column: column, Err: err}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// columnOf is the number of the column of a cell such as AB12, or the next one.
func columnOf(cell string, next int) (column int, err error) {
	const most = 16384 // that a sheet can have
	letters := strings.TrimRight(cell, "0123456789")
	for _, c := range letters {
		if column = 26*column + int(c-'A') + 1; c < 'A' || c > 'Z' || column > most {
			return 0, fmt.Errorf("a cell at %q, where none can be", spelling.Clip(cell))
		}
	}
	if column == 0 {
		column = next
	}
	if column > most {
		return 0, fmt.Errorf("more than %d cells", most)
	}
	return column, nil
}

// cell reads a cell to its end, and writes it as CSV would have it.
func (s *sheet) cell(e xml.StartElement, column int) (string, error) {
	from := s.xml.InputOffset()
	text, err := s.until("c")
	if err != nil {
		return "", err
	}
	switch kind := attribute(e, "t"); kind {
	case "s":
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(s.texts) {
			return "", s.wrong(column, fmt.Errorf("text %q of %d: damaged; write the file again", spelling.Clip(text),
				len(s.texts)))
		}
		return s.texts[i], nil
	case "", "n":
		if text == "" && s.xml.InputOffset()-from > int64(len("<v></v></c>")) && kind == "" {
			return "", s.wrong(column, errors.New("a formula whose value isn't in the file: open it in a spreadsheet program, "+
				"and save it"))
		}
		style, _ := strconv.Atoi(attribute(e, "s"))
		v, err := strconv.ParseFloat(text, 64)
		if err == nil && style >= 0 && style < len(s.dates) && s.dates[style] && v >= 0 && v < 2958466 { // year 10000
			return s.date(v), nil
		}
		return strings.Replace(text, ".", s.point, 1), nil
	}
	return text, nil
}

// date writes days, since the end of 1899 or the begin of 1904, as a date, with the time if there is one.
func (w *workbook) date(days float64) string {
	begin := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case w.from1904:
		begin = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		days++ // as if 1900 had been a leap year
	}
	whole, part := math.Modf(days)
	at := begin.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(part*86400e3)) * time.Millisecond)
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02T15:04:05.999")
}
