package files

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// XLSX (ECMA-376) is a zip file of XML. This file reads what a table needs, row by row, within the
// memory limit. The usual library would link 33 more packages.

func init() {
	Register(Format{Name: "XLSX", Endings: []string{".xlsx", ".xlsm"}, Text: true, whole: true,
		Read: readXLSX, Write: onlyRead})
}

// sheet reads the rows of a sheet, and what its cells refer to.
type sheet struct {
	source, name, point string // point is the decimal mark of the reading
	archive             *zip.Reader
	texts               []text
	dates               []bool // which styles show dates
	from1904            bool

	xml   *xml.Decoder
	of    *records
	above int // number of rows to skip
	line  int // number of the row
	width int // width of the first row
	// refuse says that the cells of a column can't be read
	refuse func(column int, err error)
}

// readXLSX reads the table of one sheet: the only sheet, or the sheet that the reading names.
func readXLSX(f *os.File, t *dataset.Table) error {
	archive, _, err := openZip(f, t.Source, "XLSX")
	if err != nil {
		return err
	}
	as := t.Reading()
	s := &sheet{source: t.Source, point: cmp.Or(as.Decimal, "."), above: as.SkipRows,
		archive: archive}
	at, names, err := s.refer()
	if err != nil {
		return err
	}
	if len(names) > 1 && as.Sheet == "" {
		if names, err = s.filled(at, names); err != nil {
			return err
		}
	}
	if s.name, err = chosen(t, "sheet", names); err != nil {
		return err
	}
	t.Sheet = s.name
	end, err := s.open(at[s.name])
	if err != nil {
		return err
	}
	defer end.Close()
	s.refuse = t.Refuse
	return (&parser{rows: s, records: s.of, header: as.Header, table: t}).read()
}

// text is a cell's text. Parts of the text with their own formatting are in Runs.
type text struct {
	Whole []string `xml:"t"`
	Runs  []string `xml:"r>t"`
}

// String returns the whole text, without its formatting.
func (t text) String() string { return strings.Join(append(t.Whole, t.Runs...), "") }

// refer reads the texts and styles that cells refer to.
// It returns the names of the visible sheets, and where their parts are.
func (s *sheet) refer() (at map[string]string, names []string, err error) {
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
		Relationship []struct {
			Id, Type, Target string `xml:",attr"`
		}
	}
	var texts struct {
		All []text `xml:"si"`
	}
	// The workbook lists sheets by the IDs of relationships, and the relationships say which part
	// of the archive each is (ECMA-376, Part 2).
	if err := errors.Join(s.decode("xl/workbook.xml", &book),
		s.decode("xl/_rels/workbook.xml.rels", &links)); err != nil {
		return nil, nil, err
	}
	s.from1904 = book.Properties.From1904 == "1" || book.Properties.From1904 == "true"
	sheets := map[string]string{} // by the ID of a relationship
	for _, l := range links.Relationship {
		// A target without a slash at its beginning is relative to the workbook's folder.
		target := strings.TrimPrefix(l.Target, "/")
		if target == l.Target {
			target = path.Join("xl", target)
		}
		switch path.Base(l.Type) {
		case "sharedStrings":
			err = s.decode(target, &texts)
			s.texts = texts.All
		case "styles":
			err = s.readStyles(target)
		case "worksheet":
			sheets[l.Id] = target
		}
		if err != nil {
			return nil, nil, err
		}
	}
	at = map[string]string{}
	for _, b := range book.Sheets {
		// Hidden sheets aren't offered.
		if target := sheets[b.ID]; target != "" && (b.State == "" || b.State == "visible") {
			at[b.Name] = target
			names = append(names, b.Name)
		}
	}
	return at, names, nil
}

// filled returns those sheets that have cells. New workbooks used to have three sheets,
// and many files have a table in one of them.
func (s *sheet) filled(at map[string]string, names []string) (filled []string, err error) {
	for _, name := range names {
		in, err := s.open(at[name])
		if err != nil {
			return nil, err
		}
		for {
			token, err := s.xml.Token()
			if err != nil {
				break // reading the sheet explains an error
			}
			e, begins := token.(xml.StartElement)
			if begins && slices.Contains([]string{"v", "is", "f"}, e.Name.Local) {
				filled = append(filled, name)
				break
			}
		}
		in.Close()
	}
	return filled, nil
}

// open begins to read a part of the file.
func (s *sheet) open(name string) (io.Closer, error) {
	in, err := s.archive.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: not a whole XLSX file: %q isn't in it; write it again",
			s.source, spelling.Clip(name))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %q cannot be read: %w", s.source, spelling.Clip(name), err)
	}
	const each = 40 // bytes of memory per byte
	s.of = &records{from: in, source: s.source, each: each}
	s.xml = xml.NewDecoder(s.of)
	return in, nil
}

// decode reads a whole part.
func (s *sheet) decode(name string, to any) error {
	in, err := s.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := s.xml.Decode(to); err != nil {
		return readError(s.source, 0, err)
	}
	return nil
}

// beside matches the parts of a number's format that don't format the number, such as quoted text.
var beside = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|[\\_*].`)

// readStyles finds the styles of dates: those that show years, days or names of months.
func (s *sheet) readStyles(name string) error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			ID int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := s.decode(name, &styles); err != nil {
		return err
	}
	dates := map[int]bool{}
	for _, id := range []int{14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53,
		54, 57, 58} {
		dates[id] = true
	}
	for _, f := range styles.Formats {
		code := strings.ToLower(beside.ReplaceAllString(f.Code, ""))
		dates[f.ID] = strings.ContainsAny(code, "yd") || strings.Contains(code, "mmm")
	}
	s.dates = lists.To(len(styles.Cells), func(i int) bool { return dates[styles.Cells[i].ID] })
	return nil
}

// cell is a cell of a row.
type cell struct {
	At      string    `xml:"r,attr"`
	Kind    string    `xml:"t,attr"`
	Style   int       `xml:"s,attr"`
	Value   string    `xml:"v"`
	Inline  text      `xml:"is"`
	Formula *struct{} `xml:"f"`
}

func (s *sheet) Line() int          { return s.line }
func (s *sheet) InputOffset() int64 { return s.xml.InputOffset() }

// Read returns the next row that isn't empty, with as many cells as the first row.
func (s *sheet) Read() ([]string, error) {
	for {
		s.of.next(s.xml.InputOffset())
		token, err := s.xml.Token()
		if err != nil {
			return nil, err
		}
		e, begins := token.(xml.StartElement)
		if !begins || e.Name.Local != "row" {
			continue
		}
		var row struct {
			Number int    `xml:"r,attr"`
			Cells  []cell `xml:"c"`
		}
		if err := s.xml.DecodeElement(&row, &e); err != nil {
			return nil, err
		}
		// A row may lack its number, and then follows the row before.
		if s.line = cmp.Or(row.Number, s.line+1); s.line <= s.above {
			continue
		}
		record := make([]string, 0, s.width)
		column := 0
		for _, c := range row.Cells {
			said := ""
			if column, err = columnOf(c.At, column+1); err == nil {
				said, err = s.say(c)
			}
			if err != nil {
				err = &dataset.Error{File: s.source, Sheet: s.name, Line: s.line,
					Column: column, Err: err}
			}
			switch {
			case errors.Is(err, errFormula) && s.width > 0 && column <= s.width:
				s.refuse(column-1, err)
				record = append(record, make([]string, max(column-len(record), 0))...)
			case err != nil:
				return nil, err
			}
			// A file may leave out empty cells. Fill the gap up to this cell's column.
			if said != "" {
				record = append(record, make([]string, max(column-len(record), 0))...)
				record[column-1] = said
			}
		}
		if len(record) > 0 {
			s.width = cmp.Or(s.width, len(record))
			return append(record, make([]string, max(0, s.width-len(record)))...), nil
		}
	}
}

// columnOf returns the column number of a cell such as AB12.
// If the file doesn't give a place, it returns next.
func columnOf(at string, next int) (column int, err error) {
	const most = 16384 // the most columns that a sheet can have
	for _, c := range strings.TrimRight(at, "0123456789") {
		if column = 26*column + int(c-'A') + 1; c < 'A' || c > 'Z' || column > most {
			return 0, fmt.Errorf("a cell at %q: damaged; write the file again", spelling.Clip(at))
		}
	}
	return cmp.Or(column, next), nil
}

// errFormula is the error of a cell that doesn't show anything yet.
var errFormula = errors.New("a formula whose value isn't in the file: open it in a " +
	"spreadsheet program and save it")

// say returns what a cell shows, in the form that CSV has.
func (s *sheet) say(c cell) (string, error) {
	switch value := strings.TrimSpace(c.Value); c.Kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(s.texts) {
			return "", fmt.Errorf("text %q of %d: damaged; write the file again",
				spelling.Clip(value), len(s.texts))
		}
		return strings.TrimSpace(s.texts[i].String()), nil
	case "inlineStr":
		return strings.TrimSpace(c.Inline.String()), nil
	case "", "n":
		v, err := strconv.ParseFloat(value, 64)
		switch {
		case value == "" && c.Formula != nil:
			return "", errFormula
		case err == nil && c.Style >= 0 && c.Style < len(s.dates) && s.dates[c.Style] && v >= 0 &&
			v < 2958466:
			// year 10000
			return s.date(v), nil
		}
		return strings.Replace(value, ".", s.point, 1), nil
	default:
		return value, nil
	}
}

// date returns a number of days since the end of 1899, or since the beginning of 1904, as a date,
// with the time if there is one.
func (s *sheet) date(days float64) string {
	begin := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case s.from1904:
		begin = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		days++ // as if 1900 had been a leap year
	}
	whole, part := math.Modf(days)
	at := begin.AddDate(0, 0,
		int(whole)).Add(time.Duration(math.Round(part*86400e3)) * time.Millisecond)
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02T15:04:05.999")
}
