// Package labels certifies the labels of any classifier, from a table of labels and predictions.
//
// This program bounds how often a classifier is wrong:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/dataset"
//		"github.com/krigo-gp/krigo/labels"
//	)
//
//	func main() {
//		t := dataset.Reading{}.New("labels")
//		t.Names = []string{"truth", "predicted"}
//		for i := range 200 {
//			truth := []string{"iris", "rose"}[i%2]
//			predicted := truth
//			if i%20 == 0 {
//				predicted = "rose"
//			}
//			if err := t.Append([]string{truth, predicted}); err != nil {
//				log.Fatal(err)
//			}
//		}
//		p, err := labels.Certify(context.Background(), t,
//			labels.Options{Target: "truth", Prediction: "predicted"})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(p.Sentence)
//	}
//
// The classifier must never have seen these rows, nor been chosen by them.
package labels

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/pacbayes"
)

// mostSlices is the most values of a column whose values are kinds of rows.
const mostSlices = 50

// Certify certifies labels in a table, which any classifier predicted, beside the true
// labels. It holds for further rows of the same source if the classifier never saw these rows and
// wasn't chosen by them. The caller vouches for this.
func Certify(ctx context.Context, table *dataset.Table,
	o Options) (*Certified, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	o.Rules = o.NewestRules(o.Group != "")
	return certifyLabels(ctx, table, o)
}

// certifyLabels certifies labels by complete options.
func certifyLabels(ctx context.Context, table *dataset.Table,
	o Options) (*Certified, error) {
	r := &labelReader{o: o, table: table.Within(ctx)}
	l, err := r.read()
	if err != nil {
		return nil, err
	}
	p := &Certified{Source: table.Source, Kind: "classes", Version: 1, Options: o,
		Hash: hashed(r.rows(l))}
	if p.Certificate, err = o.Certify(*l); err != nil {
		return nil, err
	}
	if p.Certificate.Copies, err = r.copies(); err != nil {
		return nil, err
	}
	p.Sentence = p.said()
	return p, nil
}

// copies counts the rows that equal an earlier row in every cell, if the table has more than labels
// in few kinds. It returns an error if the table consists of copies of itself.
// Rows of a group may be copies.
func (r *labelReader) copies() (int, error) {
	if r.o.Group != "" {
		return 0, nil
	}
	times := map[[sha256.Size]byte]int{}
	err := r.table.Each(linalg.UpTo(len(r.table.Names)), func(_ int, cells []float64) error {
		var row []byte
		for _, v := range cells {
			row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v+0))
		}
		times[sha256.Sum256(row)]++
		return nil
	})
	copied := 0
	rows := 0
	for _, n := range times {
		rows += n
		copied = divisor(copied, n)
	}
	// Of independent rows, each different row comes a multiple of k times with a probability of at
	// most about 1/k. A probability below a millionth for all of them is no chance.
	if copied > 1 && float64(len(times)-1)*math.Log(float64(copied)) > 6*math.Ln10 {
		return 0, fmt.Errorf("%s: its %d rows are %d copies of %d rows; independent rows don't "+
			"repeat like this: leave one copy of each, or name what the copies have in common "+
			"by group", r.table.Source, rows, copied, rows/copied)
	}
	labels := []string{r.o.Target, r.o.Prediction, r.o.SliceBy}
	if !slices.ContainsFunc(r.table.Names, func(name string) bool {
		return !slices.Contains(labels, name)
	}) {
		return 0, err
	}
	return rows - len(times), err
}

func divisor(a, b int) int {
	if b == 0 {
		return a
	}
	return divisor(b, a%b)
}

// complete fills in defaults, and refuses options that can't be combined.
func (o *Options) complete() error {
	o.Statements = slices.Clone(o.Statements)
	add := func(statement string, wanted bool) {
		if wanted && !slices.Contains(o.Statements, statement) {
			o.Statements = append(o.Statements, statement)
		}
	}
	add(pacbayes.MeanCost, o.Costs != nil)
	add(pacbayes.EachSlice, o.SliceBy != "")
	add(pacbayes.ErrorRate, len(o.Statements) == 0 && o.AtMostWrong == 0 && o.Recall == 0)
	o.Delta = cmp.Or(o.Delta, 0.01)
	if err := o.Check(); err != nil {
		return faults.AsUsage(err)
	}
	has := func(statement string) bool { return slices.Contains(o.Statements, statement) }
	probable, needs := lists.Find(o.Statements, pacbayes.Probabilistic)
	counted, single := lists.Find([]string{pacbayes.EachClass, pacbayes.EachPrediction,
		pacbayes.EachSlice, pacbayes.CalibrationBias}, has)
	threshold := o.AtMostWrong > 0 || o.Recall > 0
	return faults.AsUsage(faults.First(
		faults.If(o.Target == "", "target: name the column with the true labels"),
		faults.If(o.Prediction == "" && o.Probabilities == "",
			"prediction: name the column with the predicted labels, or give probabilities"),
		faults.If(o.Prediction == o.Target,
			"prediction: %s is the target", spelling.Quote(o.Target)),
		faults.If(o.Score != "" && o.Probabilities != "",
			"score with probabilities: the score is the label's probability; leave one of "+
				"the two out"),
		faults.If(needs && o.Probabilities == "",
			"statement %s needs the probability of every class: give probabilities", probable),
		faults.If(has(pacbayes.MeanCost) && o.Costs == nil,
			"statement %s needs costs", pacbayes.MeanCost),
		faults.If(has(pacbayes.EachSlice) && o.SliceBy == "",
			"statement %s needs slice-by, a column whose values are the kinds of rows",
			pacbayes.EachSlice),
		faults.If(threshold && o.Score == "" && o.Probabilities == "",
			"at-most-wrong and recall need a score, or probabilities"),
		faults.If(o.Score != "" && !threshold, "score is for at-most-wrong and recall"),
		faults.If(o.Score != "" && o.AtMostWrong > 0 && o.Recall > 0,
			"score is either how sure the label is (at-most-wrong) or how probable the class "+
				"%s is (recall): give probabilities, or certify one of the two",
			spelling.Quote(o.Positive)),
		faults.If((o.Recall > 0) != (o.Positive != ""),
			"recall and positive go together: the share of a class that is to be detected, "+
				"and the class"),
		faults.If(o.Group != "" && threshold,
			"group with at-most-wrong or recall: a threshold is chosen by counts of "+
				"independent rows, and rows of a group depend on one another; keep one row of "+
				"each group"),
		faults.If(o.Group != "" && single,
			"group with statement %s: its rows are counted one by one, and rows of a group "+
				"depend on one another; keep one row of each group", counted),
	))
}

// labelReader reads labels and scores from a table.
type labelReader struct {
	o      Options
	table  *dataset.Table
	groups []string // the group of each row; nil: rows aren't grouped
	// classes are the classes of the certificate that further rows are compared with; nil:
	// rows are to be certified.
	classes []string
	unknown int // classes without a column of probabilities, the last ones
}

// column returns the cells of a column as numbers. A column of text has places in its texts.
func (r *labelReader) column(flag, name string) (cells []float64, j int, err error) {
	j, ok := r.table.Column(name)
	if !ok {
		return nil, 0, faults.Usage("%s %q: %s has no such column; its columns are %s", flag, name,
			r.table.Source, spelling.Quoted(r.table.Names, 10))
	}
	err = r.table.Each([]int{j}, func(i int, x []float64) error {
		if x[0] != x[0] {
			return r.wrong(i, j, flag, "the cell is missing")
		}
		cells = append(cells, x[0])
		return nil
	})
	return cells, j, err
}

func (r *labelReader) wrong(row, j int, flag, format string, args ...any) error {
	return r.table.CellError(row, j, fmt.Errorf("column %s (%s): "+format,
		slices.Concat([]any{spelling.Quote(r.table.Names[j]), flag}, args)...))
}

// numbers returns the cells of a column of numbers.
func (r *labelReader) numbers(flag, name string) ([]float64, error) {
	cells, j, err := r.column(flag, name)
	if err == nil && r.table.Texts(j) != nil {
		for i, v := range cells {
			if text := r.table.Texts(j)[int(v)]; !isNumber(text) {
				return nil, r.wrong(i, j, flag, "%s isn't a number", spelling.Quote(text))
			}
		}
	}
	return cells, err
}

func isNumber(text string) bool {
	v, err := (&dataset.Reading{}).Parse(text)
	return err == nil && v-v == 0
}

// labels returns the cells of a column as text.
func (r *labelReader) labels(flag, name string) ([]string, error) {
	cells, j, err := r.column(flag, name)
	texts := lists.Of(cells, func(v float64) string { return r.table.CellText(j, v) })
	for i, text := range texts {
		if long := dataset.CheckName(text); long != nil {
			return nil, r.table.CellError(i, j, long)
		}
	}
	return texts, err
}

// read reads what the options name.
func (r *labelReader) read() (*pacbayes.Labelled, error) {
	o := r.o
	truth, err := r.labels("target", o.Target)
	if err != nil {
		return nil, err
	}
	var predicted []string
	if o.Prediction != "" {
		if predicted, err = r.labels("prediction", o.Prediction); err != nil {
			return nil, err
		}
	}
	l := &pacbayes.Labelled{Classes: sortedClasses(truth, predicted, r.classes)}
	if o.Costs != nil {
		l.Classes = sortedClasses(l.Classes, o.Costs.Classes)
	}
	if o.Probabilities != "" {
		if err := r.probabilities(l); err != nil {
			return nil, err
		}
	}
	if l.Truth, err = r.places(l, "target", o.Target, truth); err != nil {
		return nil, err
	}
	l.Predicted = lists.Of(l.Probabilities, func(p []float64) int {
		return slices.Index(p, slices.Max(p))
	})
	if predicted != nil {
		if l.Predicted, err = r.places(l, "prediction", o.Prediction, predicted); err != nil {
			return nil, err
		}
		if r.classes == nil && len(l.Classes) > 1 && !slices.ContainsFunc(predicted,
			func(p string) bool { return slices.Contains(truth, p) }) {
			return nil, faults.Usage("prediction %q: none of its labels (%s) is a label of the "+
				"target (%s)", o.Prediction, spelling.Quoted(sortedClasses(predicted), 5),
				spelling.Quoted(sortedClasses(truth), 5))
		}
	}
	if err := faults.First(
		faults.Of(spelling.Twins(l.Classes),
			"%s: target %s: the labels %w", r.table.Source, spelling.Quote(o.Target)),
		faults.UsageIf(len(l.Classes) > 1000,
			"target %q: it has %d different labels, of at most 1000; is it a label?", o.Target,
			len(l.Classes)),
		faults.UsageIf(o.Positive != "" && !slices.Contains(l.Classes, o.Positive),
			"positive %q: no such class; the classes are %s", o.Positive,
			spelling.Quoted(l.Classes, 10)),
	); err != nil {
		return nil, err
	}
	if err := r.scores(l); err != nil {
		return nil, err
	}
	return l, r.rest(l)
}

// scores sets the scores by which rows are answered, or flagged.
func (r *labelReader) scores(l *pacbayes.Labelled) (err error) {
	if r.o.Score != "" {
		l.Score, err = r.numbers("score", r.o.Score)
		l.Detected = l.Score
		return err
	}
	positive := slices.Index(l.Classes, r.o.Positive)
	for i, p := range l.Probabilities {
		l.Score = append(l.Score, p[l.Predicted[i]])
		if positive >= 0 {
			l.Detected = append(l.Detected, p[positive])
		}
	}
	return nil
}

// rest sets costs, kinds of rows and groups.
func (r *labelReader) rest(l *pacbayes.Labelled) error {
	if c := r.o.Costs; c != nil {
		var err error
		if l.Costs, err = c.of(l.Classes); err != nil {
			return err
		}
	}
	if r.o.SliceBy != "" {
		kinds, err := r.labels("slice-by", r.o.SliceBy)
		if err != nil {
			return err
		}
		names := sortedClasses(kinds)
		if err := spelling.Twins(names); err != nil {
			return fmt.Errorf("%s: slice-by %s: the values %w", r.table.Source,
				spelling.Quote(r.o.SliceBy), err)
		}
		if len(names) > mostSlices {
			return faults.Usage("slice-by %q: it has %d different values, of at most %d", r.o.SliceBy,
				len(names), mostSlices)
		}
		l.Slices = lists.Of(names, func(name string) pacbayes.Slice {
			in := lists.Where(len(kinds), func(i int) bool { return kinds[i] == name })
			return pacbayes.Slice{By: r.o.SliceBy, Name: name, In: in}
		})
	}
	if r.o.Group != "" {
		var err error
		if r.groups, err = r.labels("group", r.o.Group); err != nil {
			return err
		}
		l.Group, l.Groups = lists.Numbered(r.groups)
	}
	return nil
}

// ReadCosts reads costs from a table with a row for each true class, which the first column names,
// and a column for each predicted class.
func ReadCosts(table *dataset.Table) (*Costs, error) {
	r := &labelReader{table: table}
	truth, err := r.labels("costs", table.Names[0])
	if err != nil {
		return nil, err
	}
	c := &Costs{Classes: truth, Costs: make([][]float64, len(truth))}
	for _, class := range truth {
		cells, err := r.numbers("costs", class)
		if err != nil {
			return nil, err
		}
		for i, v := range cells {
			c.Costs[i] = append(c.Costs[i], v)
		}
	}
	if len(table.Names) != len(truth)+1 {
		return nil, faults.Usage("costs: %s has %d rows and %d columns of labels; want one of each for "+
			"every class", table.Source, len(truth), len(table.Names)-1)
	}
	return c, nil
}

// of returns the costs by the places of classes, or an error if c isn't a cost of every pair of
// classes.
func (c *Costs) of(classes []string) ([][]float64, error) {
	most := 0.
	for _, row := range c.Costs {
		for _, v := range row {
			if most = math.Max(most, v); !(v >= 0 && v <= math.MaxFloat64) {
				return nil, faults.Usage("costs: %v isn't a cost; costs are 0 or larger", v)
			}
		}
		if len(row) != len(c.Classes) {
			return nil, faults.Usage("costs: a row has %d costs, for %d classes", len(row), len(c.Classes))
		}
	}
	if len(c.Costs) != len(c.Classes) || most == 0 {
		return nil, faults.Usage("costs: want a cost of each true and each predicted class, and not all 0")
	}
	for _, class := range classes {
		if !slices.Contains(c.Classes, class) {
			return nil, faults.Usage("costs: the class %s has no costs", spelling.Quote(class))
		}
	}
	return lists.Of(classes, func(truth string) []float64 {
		row := c.Costs[slices.Index(c.Classes, truth)]
		return lists.Of(classes, func(label string) float64 {
			return row[slices.Index(c.Classes, label)]
		})
	}), nil
}

// probabilities reads the columns of probabilities, whose names say the classes.
func (r *labelReader) probabilities(l *pacbayes.Labelled) error {
	// probabilities in a file are rounded, and so is their sum: .333 + .333 + .333
	const most = 1e-3 + 1e-9
	var columns []int
	var classes []string
	for j, name := range r.table.Names {
		if class, is := strings.CutPrefix(name, r.o.Probabilities); is && class != "" &&
			name != r.o.Target && name != r.o.Prediction {
			columns = append(columns, j)
			classes = append(classes, class)
		}
	}
	if len(columns) < 2 {
		return faults.Usage("probabilities %q: want two columns or more whose names are this and a "+
			"class; %s has the columns %s", r.o.Probabilities, r.table.Source,
			spelling.Quoted(r.table.Names, 10))
	}
	given := sortedClasses(classes)
	var unknown []string
	for _, class := range l.Classes {
		switch {
		case slices.Contains(given, class):
		case r.classes != nil:
			unknown = append(unknown, class)
		default:
			return faults.Usage("probabilities %q: the class %s has no column; columns are of the "+
				"classes %s", r.o.Probabilities, spelling.Quote(class), spelling.Quoted(given, 10))
		}
	}
	l.Classes = slices.Concat(given, unknown)
	r.unknown = len(unknown)
	for k, j := range columns {
		cells, err := r.numbers("probabilities", r.table.Names[j])
		if err != nil {
			return err
		}
		at := slices.Index(given, classes[k])
		for i, p := range cells {
			if !(0 <= p && p <= 1) {
				return r.wrong(i, j, "probabilities", "%v isn't a probability", p)
			}
			if k == 0 {
				l.Probabilities = append(l.Probabilities, make([]float64, len(l.Classes)))
			}
			l.Probabilities[i][at] = p
		}
	}
	for i, p := range l.Probabilities {
		sum := 0.
		for _, v := range p {
			sum += v
		}
		if math.Abs(sum-1) > most {
			return r.wrong(i, columns[0], "probabilities", "the row's probabilities add up to "+
				"%.6g, not to 1", sum)
		}
	}
	return nil
}

// places returns the places of labels among the classes.
func (r *labelReader) places(l *pacbayes.Labelled, flag, column string,
	labels []string) ([]int, error) {
	known := map[string]int{}
	for j, class := range l.Classes {
		known[class] = j
	}
	if i := slices.IndexFunc(labels,
		func(label string) bool { _, ok := known[label]; return !ok }); i >= 0 {
		j, _ := r.table.Column(column)
		return nil, r.wrong(i, j, flag, "unknown label %s", spelling.Quote(labels[i]))
	}
	return lists.Of(labels, func(label string) int { return known[label] }), nil
}

// sortedClasses returns different labels in order:
// numbers by their value if all labels are numbers, else text.
func sortedClasses(lists ...[]string) []string {
	all := slices.Clone(slices.Concat(lists...))
	slices.Sort(all)
	all = slices.Compact(all)
	if !slices.ContainsFunc(all, func(s string) bool { return !isNumber(s) }) {
		value := func(s string) float64 { v, _ := (&dataset.Reading{}).Parse(s); return v }
		slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
	}
	return all
}

// rows returns all of each row that the certificate is computed from.
func (r *labelReader) rows(l *pacbayes.Labelled) [][]byte {
	kinds := make([]string, len(l.Truth))
	for _, s := range l.Slices {
		for _, i := range s.In {
			kinds[i] = s.Name
		}
	}
	return lists.To(len(l.Truth), func(i int) []byte {
		var b []byte
		texts := []string{l.Classes[l.Truth[i]], l.Classes[l.Predicted[i]], kinds[i]}
		if r.groups != nil {
			texts = append(texts, r.groups[i])
		}
		for _, text := range texts {
			b = append(binary.LittleEndian.AppendUint64(b, uint64(len(text))), text...)
		}
		numbers := []float64(nil)
		if l.Probabilities != nil {
			numbers = l.Probabilities[i][:len(l.Classes)-r.unknown]
		} else if l.Score != nil {
			numbers = l.Score[i : i+1]
		}
		for _, v := range numbers {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0))
		}
		return b
	})
}

// hashed identifies rows, in any order, by all that the certificate is computed from.
func hashed(rows [][]byte) string {
	slices.SortFunc(rows, slices.Compare)
	sum := sha256.New()
	for _, row := range rows {
		sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(row))))
		sum.Write(row)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
