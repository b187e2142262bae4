package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// BlockPrefix begins the name of a grouping by blocks, for example block:lon,lat:0.5.
const BlockPrefix = "block:"

// blocks cut columns of numbers into intervals.
// Rows in the same interval of every column are a group. For example, a group may be the places in
// the same square of a map, or the days of a week.
// One interval begins at 0, so that every table has the same blocks.
type blocks struct {
	columns []string
	sizes   []float64 // length of the intervals of each column
	auto    bool      // the sizes aren't chosen yet
}

// spans are units of time, in days. A size without a unit is also in days if its column holds
// dates.
var spans = []struct {
	unit string
	days float64
}{{"min", 1. / 1440}, {"h", 1. / 24}, {"d", 1}, {"w", 7}}

// parseBlocks reads block:COLUMNS:SIZE. SIZE is a number for all columns, or a number for each
// column, or auto.
func parseBlocks(text string) (b blocks, err error) {
	wrong := func(format string, args ...any) (blocks, error) {
		return b, fmt.Errorf("group %q: %s; want block:COLUMNS:SIZE, as in block:lon,lat:0.5, "+
			"block:day:7d or block:lon,lat:auto", spelling.Clip(text), fmt.Sprintf(format, args...))
	}
	rest := strings.TrimPrefix(text, BlockPrefix)
	// The size follows the last colon, because names of columns may contain colons.
	at := strings.LastIndexByte(rest, ':')
	if at < 0 {
		return wrong("it has no size")
	}
	// The columns are a record of CSV, so that a name with a comma may be quoted.
	if b.columns, err = csv.NewReader(strings.NewReader(rest[:at])).Read(); err != nil {
		return wrong("it names no columns")
	}
	for i, name := range b.columns {
		if slices.Contains(b.columns[:i], name) {
			return wrong("column %q is listed twice", spelling.Clip(name))
		}
	}
	if b.auto = rest[at+1:] == "auto"; b.auto {
		return b, nil
	}
	// A single size is for all columns.
	sizes := strings.Split(rest[at+1:], ",")
	if len(sizes) == 1 {
		sizes = slices.Repeat(sizes, len(b.columns))
	}
	if len(sizes) != len(b.columns) {
		return wrong("it has %d sizes for %d columns", len(sizes), len(b.columns))
	}
	for _, size := range sizes {
		number := size
		days := 1.
		for _, s := range spans {
			if before, found := strings.CutSuffix(size, s.unit); found {
				number = before
				days = s.days
				break
			}
		}
		v, err := strconv.ParseFloat(number, 64)
		if v *= days; err != nil || !(v > 0) || math.IsInf(v, 0) {
			return wrong("the size %q isn't a positive number, alone or with min, h, d or w",
				spelling.Clip(size))
		}
		b.sizes = append(b.sizes, v)
	}
	return b, nil
}

// String returns b in the form that parseBlocks reads.
func (b blocks) String() string {
	var columns strings.Builder
	w := csv.NewWriter(&columns)
	_ = w.Write(b.columns) // a Builder never returns an error
	w.Flush()
	sizes := lists.Of(b.sizes, func(size float64) string {
		return strconv.FormatFloat(size, 'g', -1, 64)
	})
	if !slices.ContainsFunc(sizes, func(size string) bool { return size != sizes[0] }) {
		sizes = sizes[:1]
	}
	return BlockPrefix + strings.TrimSuffix(columns.String(), "\n") + ":" + strings.Join(sizes, ",")
}

// name returns the name of the block in which a row with these cells lies.
func (b blocks) name(cells []float64) string {
	return strings.Join(lists.To(len(cells), func(k int) string {
		return strconv.FormatFloat(math.Floor(cells[k]/b.sizes[k])+0, 'f', -1, 64)
	}), ",")
}

// manyBlocks holds how many blocks the candidates for auto make at least.
// If a third of them is certified and no row of this third is missed, the share of misses is
// bounded by 9 % (150 blocks), 4.5 % (300) or 1.4 % (1,000).
var manyBlocks = []int{150, 300, 1000}

// Blocks returns the name of a grouping by blocks, with sizes that it chooses if the name says
// auto. It returns any other name as it is. The candidates are the largest sizes that make at least
// 150, 300 and 1,000 blocks. Blocks takes the smallest candidate beyond which targets hardly depend
// on one another (see apart), or else the largest.
// It looks only at rows that are prior rows under every candidate.
// So the choice doesn't use certified rows, and δ needn't pay for the choice.
// roles returns the roles of the rows under a grouping, or nil if the grouping has too few groups.
func (t *Table) Blocks(group, target string, roles func(group string) []Role) (string, error) {
	b, columns, err := t.blocks(group)
	if err != nil || !b.auto {
		return group, err
	}
	if t.Ranks().Size() > 1 {
		return "", errors.New("group: the size auto is for a single process: name a size of the " +
			"blocks")
	}
	all, err := t.sizes(b, columns)
	if err != nil {
		return "", err
	}
	at, err := t.column(target, "to predict")
	if err != nil {
		return "", err
	}
	taken := all[len(all)-1]
	others := make([]bool, t.Rows)
	all = slices.DeleteFunc(all, func(b blocks) bool {
		of := roles(b.String())
		for row, role := range of {
			others[row] = others[row] || role != Prior
		}
		return of == nil
	})
	var sample [][]float64 // cells of the block columns, and then the target
	rng := rand.New(rand.NewPCG(0, 0x626c6f636b730000))
	if err := t.Each(append(columns, at), func(row int, cells []float64) error {
		if !others[row] && rng.Float64() < 4000/float64(t.Rows) {
			sample = append(sample, slices.Clone(cells))
		}
		return nil
	}); err != nil {
		return "", err
	}
	for _, b := range slices.Backward(all) {
		if taken = b; b.apart(sample) > 0.8 {
			break
		}
	}
	return taken.String(), nil
}

// apart returns how much the targets (the last cells) of two rows differ if the rows lie about a
// block apart. It is a mean square, divided by the mean square of all pairs of rows.
func (b blocks) apart(rows [][]float64) float64 {
	var near, pairs, all, n float64
	for i, p := range rows {
		for _, q := range rows[:i] {
			far := 0.
			for k, size := range b.sizes {
				far = max(far, math.Abs(p[k]-q[k])/size)
			}
			differ := p[len(p)-1] - q[len(q)-1]
			all = all + differ*differ
			n = n + 1
			if 0.75 <= far && far < 1.25 {
				near = near + differ*differ
				pairs = pairs + 1
			}
		}
	}
	return near / pairs / (all / n)
}

// sizes returns, for each number in manyBlocks, the largest sizes that make at least this many
// blocks. Every column's range is cut into the same number of intervals, and blocks have on average
// at least two rows.
func (t *Table) sizes(b blocks, columns []int) (all []blocks, err error) {
	low := slices.Repeat([]float64{math.Inf(1)}, len(columns))
	high := slices.Repeat([]float64{math.Inf(-1)}, len(columns))
	if err := t.Each(columns, func(_ int, cells []float64) error {
		for k, v := range cells {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	most := 0
	example := BlockPrefix + "lon,lat:0.5" // the largest blocks that are most
	// Try more and more intervals per column, a tenth more each time, until there are enough blocks
	// for every candidate.
	for cuts := 2.; len(all) < len(manyBlocks) &&
		cuts < float64(t.Rows); cuts = math.Ceil(1.1 * cuts) {
		b.sizes = nil
		for k := range columns {
			// The size is a part of the grouping's name, and two digits keep it short.
			size, err := strconv.ParseFloat(strconv.FormatFloat((high[k]-low[k])/cuts, 'g', 2, 64),
				64)
			if err != nil || !(size > 0) {
				return nil, fmt.Errorf("%s: column %q is constant, so it can't be cut into blocks",
					t.Source, spelling.Clip(b.columns[k]))
			}
			b.sizes = append(b.sizes, size)
		}
		seen := map[string]bool{}
		if err := t.Each(columns, func(_ int, cells []float64) error {
			seen[b.name(cells)] = true
			return nil
		}); err != nil {
			return nil, err
		}
		if len(seen) > most && 2*len(seen) <= t.Rows {
			most = len(seen)
			example = b.String()
		}
		if len(seen) >= manyBlocks[len(all)] && 2*len(seen) <= t.Rows {
			all = append(all, b)
		}
	}
	if all == nil {
		return nil, fmt.Errorf("%s: columns %s make at most %d blocks of two rows on average, and "+
			"auto takes %d: name a size in place of auto, as in %s", t.Source,
			spelling.Quoted(b.columns, 5), most, manyBlocks[0], spelling.Flag("group", example))
	}
	return all, nil
}

// blocks parses the name of a grouping by blocks, and returns the columns of the table that it
// cuts. columns is nil if the table has a column of that name, or if the name doesn't begin with
// block:.
func (t *Table) blocks(group string) (b blocks, columns []int, err error) {
	if _, own := t.Column(group); own || !strings.HasPrefix(group, BlockPrefix) {
		return b, nil, nil
	}
	if b, err = parseBlocks(group); err != nil {
		return b, nil, err
	}
	for _, name := range b.columns {
		at, err := t.column(name, "to cut into blocks")
		if err != nil {
			return b, nil, err
		}
		if t.Texts(at) != nil {
			return b, nil, fmt.Errorf("%s: column %q holds text: only numbers and dates are cut "+
				"into blocks (%s)", t.Source, spelling.Clip(name), spelling.Flag("dates", name))
		}
		columns = append(columns, at)
	}
	return b, columns, t.check(uses(columns)...)
}
