package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/drawing"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Titles of figures of labels.
const (
	reliability = "Reliability of probabilities"
	answers     = "Answers only when sure"
)

// labelled holds true and predicted labels of rows, as places in the classes.
type labelled struct {
	name         string // "102 test rows"
	classes      []string
	truth, label []int
	// probability of the predicted label, or a score that is larger for surer labels
	sure []float64
	by   string // what sure is
}

// labels returns the labels of a sample, whose y is 0 or 1, and whose mean is the probability of 1.
func (s *sample) labels(classes []string) labelled {
	l := labelled{name: s.name, classes: classes, by: "probability"}
	for i, p := range s.mean {
		l.truth = append(l.truth, int(s.y[i]))
		l.label = append(l.label, int(math.Round(p))) // as predict does
		l.sure = append(l.sure, max(p, 1-p))
	}
	return l
}

// right is 1 if row i has the right label, and otherwise 0.
func (l labelled) right(i int) float64 {
	if l.label[i] == l.truth[i] {
		return 1
	}
	return 0
}

// confusion counts rows by class and by predicted class.
func (l labelled) confusion() table {
	counts := pacbayes.Confusion(len(l.classes), l.truth, l.label)
	labels := lists.Of(l.classes, func(class string) string {
		return "label " + cautious.Name(class)
	})
	t := table{Name: "Confusion matrix of " + l.name,
		Head: slices.Concat([]string{"true class"}, labels, []string{"wrong"}),
		Says: "A line has the rows of a class. A column has the rows that get a label."}
	for j, class := range l.classes {
		all := 0
		cells := []string{cautious.Name(class)}
		for _, n := range counts[j] {
			all = all + n
			cells = append(cells, whole(n))
		}
		wrong := "–"
		if all > 0 {
			wrong = cautious.Percent(float64(all-counts[j][j]) / float64(all))
		}
		t.Cells = append(t.Cells, append(cells, wrong))
	}
	return t
}

// reliabilityBins is the number of bins, of equal width, between the least and the largest
// probability of a label.
const reliabilityBins = 10

// drawReliability compares the share of right labels with the probability that the model gives its
// labels.
func (r *maker) drawReliability(l labelled, fresh bool) error {
	least := min(1/float64(len(l.classes)), slices.Min(l.sure))
	end := func(bin int) float64 { return least + (1-least)*float64(bin)/reliabilityBins }
	var rows, sure, right [reliabilityBins]float64
	var all, believed, variance float64
	for i, p := range l.sure {
		b := min(max(int(reliabilityBins*(p-least)/(1-least)), 0), reliabilityBins-1)
		rows[b], sure[b], right[b] = rows[b]+1, sure[b]+p, right[b]+l.right(i)
		all = all + l.right(i)
		believed = believed + p
		variance = variance + p*(1-p)
	}
	chart := drawing.NewChart("probability of the label", "share of right labels")
	chart.X.Span(least, 1)
	chart.Y.Span(0, 1)
	chart.Dashed("as believed", []drawing.XY{{X: least, Y: least}, {X: 1, Y: 1}})
	var dots []drawing.XY
	var chance [][2]drawing.XY
	f := Figure{Title: reliability, Head: []string{"probability of the label", "rows", "on average",
		"right labels"}}
	for b, m := range rows {
		if m == 0 {
			continue
		}
		p := sure[b] / m
		at := right[b] / m
		wide := objective.Normal975 * math.Sqrt(p*(1-p)/m)
		chance = append(chance, [2]drawing.XY{{X: p, Y: max(0, p-wide)}, {X: p, Y: min(1, p+wide)}})
		dots = append(dots, drawing.XY{X: p, Y: at})
		f.Cells = append(f.Cells, []string{cautious.Percent(end(b)) + " to " + cautious.Percent(end(b+1)),
			whole(int(m)), cautious.Percent(p), cautious.Percent(at)})
	}
	chart.Segments("95 % by chance", drawing.Grey, chance)
	chart.Dots("these rows", drawing.Blue, dots)
	chart.Rug("rows", l.sure[:min(len(l.sure), 300)])
	n := float64(len(l.sure))
	says := fmt.Sprintf("expects %s of the labels of %s to be right, and %s are.",
		cautious.Percent(believed/n), l.name, cautious.Percent(all/n))
	// Chance does this in one of a thousand tables.
	if off := math.Abs(all - believed); fresh && off > 1.7*objective.Normal975*math.Sqrt(variance) {
		r.warn("The model %s Chance doesn't explain the difference. Probabilities are no "+
			"guarantee.", says)
	}
	f.Caption = "The model " + says + " Below the dashed line labels are surer than they should be."
	return r.draw(f, described{chart, "Share of right labels by the probability of the label. " +
		"The model " + says})
}

// leastAnswers is the number of answers at which drawAnswers begins, because shares among fewer
// answers jump.
const leastAnswers = 10

// drawAnswers draws the share of wrong labels if only the surest rows get an answer.
func (r *maker) drawAnswers(l labelled) error {
	order := lists.Order(l.sure, func(a, b float64) int { return cmp.Compare(b, a) })
	f := Figure{Title: answers, Head: []string{"rows answered", l.by + " at least",
		"wrong answers"}}
	var line []drawing.XY
	wrong := 0.
	most := 0.
	told := 1
	words := ""
	for k, i := range order {
		wrong += 1 - l.right(i)
		// rows of one probability are answered together
		if k+1 < len(order) && l.sure[order[k+1]] == l.sure[i] {
			continue
		}
		share := float64(k+1) / float64(len(order))
		error := wrong / float64(k+1)
		if k+1 >= leastAnswers || k+1 == len(order) {
			line = append(line, drawing.XY{X: share, Y: error})
			most = max(most, error)
		}
		if 10*(k+1) < told*len(order) {
			continue
		}
		told = 10*(k+1)/len(order) + 1
		f.Cells = append(f.Cells, []string{cautious.Percent(share), cautious.Digits(l.sure[i], 4),
			cautious.Percent(error)})
		if words == "" && share >= 0.5 {
			words = fmt.Sprintf("If the surest %s of %s get an answer, %s of the answers are "+
				"wrong.", cautious.Percent(share), l.name, cautious.Percent(error))
		}
	}
	step := len(line)/mostQuantiles + 1
	line = lists.Of(lists.Where(len(line), func(k int) bool {
		return k%step == 0 || k == len(line)-1
	}), func(k int) drawing.XY { return line[k] })
	chart := drawing.NewChart("share of rows that get an answer", "share of wrong answers")
	chart.X.Span(0, 1)
	chart.Y.Span(0, min(1, max(0.1, 1.05*most)))
	chart.Line("", drawing.Blue, line)
	f.Caption = words + " This is no guarantee. krigo certify --predictions --at-most-wrong " +
		"certifies a threshold."
	return r.draw(f, described{chart, words})
}
