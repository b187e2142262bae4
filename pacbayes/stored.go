package pacbayes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/lists"
)

// mostStored is the most rows that a stored certificate of labels may have.
// With more its bounds would take minutes.
const mostStored = 10_000_000

// Again computes a stored certificate again from the counts in it and the declared terms and costs,
// as Certify does. It takes from c what rows alone can tell:
// thresholds of scores, the means of some losses, and bounds that need each loss.
// If no rows can have these, the result has something else there.
// So c is to be refused if it differs.
func (t LabelTerms) Again(c *Labels, costs [][]float64) (*Labels, error) {
	l, err := c.rows(t.Positive)
	if err != nil {
		return nil, err
	}
	l.Costs = costs
	again, err := t.Certify(*l)
	if err != nil {
		return nil, err
	}
	again.Copies = min(max(c.Copies, 0), c.Rows-1)
	// The calibration's bound depends on every row's probability, which a certificate doesn't
	// state. The stored bound is accepted if it lies between the bounds that rows with this mean
	// can have.
	for i, s := range again.Statements {
		if s.About == CalibrationBias {
			least, most := betweenBets((1+s.Mean)/2, s.Rows, s.Delta,
				gamblers(t.Rules, s.Rows, s.Delta))
			again.Statements[i].Bound = math.Min(math.Max(c.statement(s.About).Bound, 2*least-1),
				2*most-1)
		}
	}
	// The rows that stand for the originals have scores 0 and 1, so thresholds are taken from c.
	if s := again.Selective; s != nil && c.Selective != nil && s.Answered > 0 {
		s.Threshold = c.Selective.Threshold
	}
	if d := again.Detection; d != nil && c.Detection != nil && d.Reason == "" {
		d.Threshold = c.Detection.Threshold
	}
	return again, nil
}

// edge keeps the mean of a bin off the bin's ends, to which rounding may move it.
const edge = 1e-11

// pool has rows of two kinds: with a right and with a wrong label, say.
type pool struct {
	right, wrong []int
	err          error
}

// poolOf returns a pool of n rows, numbered from 0.
func poolOf(n int, right func(i int) bool) *pool {
	return &pool{right: lists.Where(n, right), wrong: lists.Where(n, func(i int) bool {
		return !right(i)
	})}
}

// take takes rows out of the pool, for a field of the certificate.
// It keeps an error if the pool doesn't have them.
func (p *pool) take(field string, rows, wrong int, each func(i int)) {
	if wrong < 0 || wrong > len(p.wrong) || rows < wrong || rows-wrong > len(p.right) {
		p.err = cmp.Or(p.err, fmt.Errorf("%s: %d rows, %d of them wrong, don't fit the confusion "+
			"matrix", field, rows, wrong))
		return
	}
	for _, i := range slices.Concat(p.wrong[:wrong], p.right[:rows-wrong]) {
		each(i)
	}
	p.wrong = p.wrong[wrong:]
	p.right = p.right[rows-wrong:]
}

// counted returns an error if the counts of c don't add up. It takes no time that grows with a
// count.
func (c *Labels) counted() error {
	left := min(c.Rows, mostStored)
	for i, counts := range c.Confusion {
		for j, n := range counts {
			if n < 0 || n > left || len(counts) != len(c.Classes) ||
				len(c.Confusion) != len(counts) {
				return fmt.Errorf("confusion[%d][%d] is %d, in a matrix of %d classes", i, j, n,
					len(c.Classes))
			}
			left -= n
		}
	}
	if left != 0 {
		return fmt.Errorf("rows is %d, but the confusion matrix has %d", c.Rows,
			min(c.Rows, mostStored)-left)
	}
	for i, s := range c.Statements {
		if all := cmp.Or(c.Groups, c.Rows); s.Of == "" && s.Rows != all {
			return fmt.Errorf("statements[%d] is of %d rows, not of %d", i, s.Rows, all)
		}
	}
	return nil
}

// rows returns rows with the counts of c. Their scores are 0 or 1, and their probabilities are the
// means of their bins.
func (c *Labels) rows(positive string) (*Labelled, error) {
	l := &Labelled{Classes: c.Classes, stored: c}
	if err := c.counted(); err != nil {
		return nil, err
	}
	// Make as many rows of each class and predicted class as the confusion matrix counts.
	for i, counts := range c.Confusion {
		for j, n := range counts {
			l.Truth = append(l.Truth, slices.Repeat([]int{i}, n)...)
			l.Predicted = append(l.Predicted, slices.Repeat([]int{j}, n)...)
		}
	}
	n := len(l.Truth)
	if c.Groups > 0 {
		l.Groups = c.Groups
		l.Group = lists.To(n, func(i int) int { return i % c.Groups })
	}
	// Each field of the certificate takes rows from its own pool, since fields count the same rows.
	right := func(i int) bool { return l.Truth[i] == l.Predicted[i] }
	answered := poolOf(n, right)
	flagged := poolOf(n, func(i int) bool { return c.Classes[l.Truth[i]] == positive })
	kinds := poolOf(n, right)
	bins := poolOf(n, right)
	l.Score = make([]float64, n)
	l.Detected = make([]float64, n)
	l.Probabilities = slices.Repeat([][]float64{make([]float64, len(c.Classes))}, n)
	if s := c.Selective; s != nil {
		answered.take("selective", s.Answered, s.Wrong, func(i int) { l.Score[i] = 1 })
	}
	if d := c.Detection; d != nil && d.Reason == "" {
		flagged.take("detection", d.Positives-d.Missed+d.FalseAlarms, d.FalseAlarms,
			func(i int) { l.Detected[i] = 1 })
	}
	for _, s := range lists.If(c.Statements, func(s LabelStatement) bool {
		return s.About == EachSlice
	}) {
		slice := Slice{By: s.By, Name: s.Of}
		kinds.take("slice "+s.Of, s.Rows, s.Wrong, func(i int) { slice.In = append(slice.In, i) })
		l.Slices = append(l.Slices, slice)
	}
	// Rows of a bin all get the bin's mean probability, which leaves the bin's sum of Z as it was.
	for b, bin := range c.Bins {
		low := float64(b) / calibrationBins * (1 + edge)
		high := float64(b+1) / calibrationBins * (1 - edge)
		p := slices.Repeat([]float64{math.Min(math.Max(bin.Confidence, low), high)}, len(c.Classes))
		wrong := math.Round((1 - math.Min(math.Max(bin.Right, 0), 1)) * float64(bin.Rows))
		bins.take(fmt.Sprintf("bins[%d]", b), bin.Rows, int(wrong),
			func(i int) { l.Probabilities[i] = p })
	}
	// The slices, and the bins, must use up every row.
	if (l.Slices != nil && len(kinds.right)+len(kinds.wrong) > 0) ||
		(c.Bins != nil && len(bins.right)+len(bins.wrong) > 0) {
		kinds.err = cmp.Or(kinds.err,
			errors.New("slices or bins: they lack rows of the confusion matrix"))
	}
	return l, cmp.Or(answered.err, flagged.err, kinds.err, bins.err)
}
