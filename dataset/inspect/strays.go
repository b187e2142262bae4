package inspect

import (
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/lists"
)

// strays are rows of a file that seem to be no rows of the table:
// a repeated header, totals or remarks at the end.
type strays struct {
	rows  []int
	found finding.Finding
}

// straysOf finds strays. It doesn't look at rows on disk or on other ranks.
func straysOf(t *dataset.Table) (all []strays) {
	if t.Disk != nil || t.Ranks().Size() > 1 || t.Rows == 0 ||
		len(t.Values) != t.Rows*len(t.Names) {
		return nil
	}
	cols := len(t.Names)
	such := func(is func(cells []float64) bool) []int {
		return lists.Where(t.Rows, func(i int) bool { return is(t.Values[i*cols : (i+1)*cols]) })
	}
	// codes of cells that equal their column's name
	header := lists.To(cols, func(j int) float64 {
		return float64(slices.Index(t.Texts(j), t.Names[j]))
	})
	if !slices.Contains(header, -1) {
		repeated := such(func(cells []float64) bool { return slices.Equal(cells, header) })
		if repeated != nil {
			all = append(all, strays{repeated,
				finding.New(finding.HeaderAgain, lists.Of(repeated, t.Where))})
		}
	}
	if t.Lines != nil && unitRow(t) {
		all = append(all, strays{[]int{0}, finding.New(finding.HeaderGoesOn, t.Where(0))})
	}
	blank := such(func(cells []float64) bool {
		return !slices.ContainsFunc(cells, func(v float64) bool { return v == v })
	})
	if blank != nil {
		all = append(all, strays{blank, finding.New(finding.BlankRows, len(blank),
			t.Where(blank[0]))})
	}
	for row, least := t.Rows-1, t.Rows-3; row >= max(1, least); row-- {
		if slices.Contains(blank, row) {
			least--
			continue
		}
		found := footer(t, row)
		if found == nil {
			break
		}
		all = append(all, strays{[]int{row}, *found})
	}
	return all
}

// unitRow says whether the first row has texts only, and some of them in a column that otherwise
// holds numbers: units, or further names.
func unitRow(t *dataset.Table) bool {
	numbers := false
	reading := t.Reading()
	for j, v := range t.Values[:len(t.Names)] {
		texts := t.Texts(j)
		isNumber := func(text string) bool {
			_, err := reading.Parse(text)
			return err == nil
		}
		if v == v && (texts == nil || isNumber(texts[int(v)])) {
			return false
		}
		numbers = numbers || (v == v && len(texts) > 1 && !gapLike(texts[int(v)]) &&
			len(lists.If(texts, isNumber)) == len(texts)-1)
	}
	return numbers
}

// strayRows returns the rows of all strays.
func strayRows(t *dataset.Table) map[int]bool {
	rows := map[int]bool{}
	for _, s := range straysOf(t) {
		for _, row := range s.rows {
			rows[row] = true
		}
	}
	return rows
}

// Strays reports which rows seem to be no rows of the table:
// a repeated header, totals or remarks at the end.
func Strays(t *dataset.Table) finding.List {
	return lists.Of(straysOf(t), func(s strays) finding.Finding { return s.found })
}

// summaries are words at the beginning of a line of totals.
var summaries = []string{"total", "totals", "subtotal", "sum", "sums", "summe", "gesamt",
	"gesamtsumme", "insgesamt", "somme", "totale", "totaal", "suma", "mean", "average", "avg",
	"mittelwert", "durchschnitt", "moyenne", "media", "promedio", "gemiddelde", "grand",
	"count", "anzahl"}

// footer returns why a row near the end seems to be no row of the table, or nil.
// Such a row has a text that begins with # or with a word such as "total", has a text where the
// rows above have numbers or dates, or holds the sums of the numbers above it.
func footer(t *dataset.Table, row int) *finding.Finding {
	reading := t.Reading()
	found := func(kind finding.Kind, about ...any) *finding.Finding {
		f := finding.New(kind, append([]any{t.Where(row)}, about...)...)
		return &f
	}
	for j, v := range t.Values[row*len(t.Names) : (row+1)*len(t.Names)] {
		if v != v || t.Texts(j) == nil {
			continue
		}
		text := t.Texts(j)[int(v)]
		// A number in a column of text is no remark.
		if _, err := reading.Parse(text); err == nil {
			continue
		}
		words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
			return c == ' ' || c == ':' || c == '('
		})
		switch {
		case strings.HasPrefix(text, "#") && alone(t, row, j), len(words) > 0 &&
			slices.Contains(summaries, words[0]) && alone(t, row, j):
			return found(finding.TotalRow, text)
		case !gapLike(text) && speaks(text) && alone(t, row, j) && others(t, row, j):
			return found(finding.RemarkRow, text)
		}
		break
	}
	// Only the first text of the row is looked at. If it tells nothing, the numbers decide.
	if sums(t, row) {
		return found(finding.SumsRow)
	}
	return nil
}

// alone says whether no row above has the same text in column j.
func alone(t *dataset.Table, row, j int) bool {
	v := t.Values[row*len(t.Names)+j]
	return lists.Where(row, func(i int) bool { return t.Values[i*len(t.Names)+j] == v }) == nil
}

// others says whether column j holds numbers or dates above a row: at least ten cells there aren't
// missing, and each begins with a digit, a sign or a point.
func others(t *dataset.Table, row, j int) bool {
	cells := 0
	for i := range row {
		v := t.Values[i*len(t.Names)+j]
		if v != v {
			continue
		}
		if text := t.Texts(j)[int(v)]; !strings.ContainsAny(text[:1], "0123456789+-.") {
			return false
		}
		cells++
	}
	return cells >= 10
}

// sums says whether most numbers of a row are sums of the numbers above, and no number occurs above
// in its column.
func sums(t *dataset.Table, row int) bool {
	const few, rounded = 10, 1e-3
	if row < few {
		return false
	}
	cols := len(t.Names)
	last := t.Values[row*cols : (row+1)*cols]
	// The cells just above rule out most columns.
	larger := func(j, from, to int) bool {
		for i := from; i < to; i++ {
			if math.Abs(t.Values[i*cols+j]) >= math.Abs(last[j]) {
				return false
			}
		}
		return true
	}
	numbers := 0
	var may []int
	for j, v := range last {
		if t.Texts(j) != nil || v != v {
			continue
		}
		if numbers++; larger(j, row-few, row) {
			may = append(may, j)
		}
	}
	if len(may) < 2 || len(may)*2 <= numbers {
		return false
	}
	sums := 0
	for _, j := range may {
		sum := 0.0
		size := 0.0
		for i := range row {
			if v := t.Values[i*cols+j]; v == v {
				sum = sum + v
				size = size + math.Abs(v)
			}
		}
		if math.Abs(last[j]-sum) <= rounded*size && larger(j, 0, row) {
			sums++
		}
	}
	return sums >= 2 && sums*2 > numbers
}
