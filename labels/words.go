package labels

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/model/say"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Options say where a table has labels, and what CertifyLabels certifies about them.
type Options struct {
	Target string `json:"target"`
	// column of predicted labels; "": the most probable class
	Prediction string `json:"prediction,omitempty"`
	// column with larger numbers for surer labels
	Score string `json:"score,omitempty"`
	// columns of probabilities are called this and a class
	Probabilities string `json:"probabilities,omitempty"`
	// column whose values are the kinds of rows
	SliceBy string `json:"slice_by,omitempty"`
	Group   string `json:"group,omitempty"` // column that groups rows
	Costs   *Costs `json:"costs,omitempty"` // what wrong labels cost
	pacbayes.LabelTerms
}

// Costs is the cost of each pair of a true and a predicted label.
type Costs struct {
	Classes []string    `json:"classes"`
	Costs   [][]float64 `json:"costs"` // by true, and within by predicted class
}

// Certified is a certificate of labels that were predicted elsewhere, by any classifier.
type Certified struct {
	Source  string `json:"source"`
	Kind    string `json:"kind"` // classes
	Version int    `json:"version"`
	Options
	Hash        string           `json:"rows_sha256"` // docs/reference/format.md says of what
	Certificate *pacbayes.Labels `json:"certificate"`
	Sentence    string           `json:"sentence"`

	file any // what the file says that the certificate came from
}

// said returns what the certificate promises, in words.
// Each line is a paragraph or an item of a list.
func (p *Certified) said() string {
	c := p.Certificate
	var promises []string
	for i, s := range c.Statements {
		if s.Of == "" {
			promises = append(promises, p.mean(s))
			continue
		}
		if i == 0 || c.Statements[i-1].About != s.About {
			promises = append(promises, p.kinds(s.About))
		}
		promises[len(promises)-1] += "\n    " + ofKind(s)
	}
	if c.Selective != nil {
		promises = append(promises, p.answers(c.Selective))
	}
	if c.Detection != nil {
		promises = append(promises, p.detects(c.Detection))
	}
	lead := say.Confidence(c.Delta, "certified", p.Group)
	lead += spelling.If(len(promises) > 1, "all of these hold together:\n  ")
	said := lead + strings.Join(promises, "\n  ")
	return said + spelling.If(c.Copies > 0,
		"\nNotice: %d of the %d certified rows equal an earlier row in every cell of the "+
			"table. If they are copies, the certificate doesn't hold: certify one of each.",
		c.Copies, c.Rows)
}

// declared writes a share that the user asked for, which isn't rounded.
func declared(v float64) string { return cautious.Digits(100*v, 12) + " %" }

// mean returns a statement about all rows in words.
func (p *Certified) mean(s pacbayes.LabelStatement) string {
	about := ""
	bound := cautious.PercentUp(s.Bound)
	here := cautious.Percent(s.Mean)
	number := func() {
		bound, here = fmt.Sprintf("%.4g", cautious.RoundUp(s.Bound/10, 5)*10), fmt.Sprintf("%.4g", s.Mean)
	}
	k, top := pacbayes.Top(s.About)
	switch {
	case s.About == pacbayes.ErrorRate:
		about = "at most %s of further rows get a wrong label"
	case top:
		about = "at most %s of further rows are of a class that isn't among the " + fmt.Sprint(k) +
			" most probable classes"
	case s.About == pacbayes.CalibrationBias:
		about = "the expected calibration error (ten bins of the label's probability) is at most %s"
	case s.About == pacbayes.Brier:
		number()
		about = "the mean Brier score (0 to 1) is at most %s"
	case s.About == pacbayes.LogLoss:
		number()
		about = fmt.Sprintf("the mean log loss is at most %%s, if probabilities below %v count as that",
			pacbayes.LeastProbability)
	default:
		bound = cautious.Up(s.Bound, 4)
		here = cautious.Number(s.Mean)
		about = "the mean cost of a further row is at most %s"
	}
	unit := "rows"
	if p.Group != "" {
		unit = "groups"
		about = strings.Replace(about, "of further rows", "of the rows of a further group, on average over groups,", 1)
	}
	return fmt.Sprintf(about+". It is %s on the %d certified %s.", bound, here, s.Rows, unit)
}

// kinds returns the head of a list of statements about kinds of rows.
func (p *Certified) kinds(about string) string {
	switch about {
	case pacbayes.EachClass:
		return "of further rows of each class, at most this share gets a wrong label:"
	case pacbayes.EachPrediction:
		return "of further rows that get this label, at most this share gets it wrongly:"
	}
	return fmt.Sprintf("of further rows with this %s, at most this share gets a wrong label:", cautious.Name(p.SliceBy))
}

func ofKind(s pacbayes.LabelStatement) string {
	if s.Reason != "" {
		return fmt.Sprintf("%s: nothing is guaranteed, %s", spelling.Quote(s.Of), s.Reason)
	}
	return fmt.Sprintf("%s: %s (%d of %d certified rows)", spelling.Quote(s.Of), cautious.PercentUp(s.Bound), s.Wrong, s.Rows)
}

// scored names the number that is compared with a threshold.
func (p *Certified) scored(class string) string {
	if p.Score != "" {
		return cautious.Name(p.Score)
	}
	return "the probability of " + class
}

func (p *Certified) answers(s *pacbayes.Selective) string {
	wanted := declared(s.AtMostWrong)
	if s.Reason != "" {
		return fmt.Sprintf("no threshold is guaranteed to leave at most %s wrong answers: %s.", wanted, s.Reason)
	}
	return fmt.Sprintf("at least %s of further rows get an answer, and at most %s of these answers are wrong. "+
		"A row gets its label as an answer if %s is at least %v. Of the %d certified rows, %d get an answer, and %d "+
		"of these are wrong (up to %d may be).", cautious.Percent(cautious.RoundDown(s.AnswersOf, 3)), wanted,
		p.scored("the label"), s.Threshold, p.Certificate.Rows, s.Answered, s.Wrong, s.Allowed)
}

func (p *Certified) detects(d *pacbayes.Detection) string {
	class := spelling.Quote(d.Positive)
	wanted := declared(d.Recall)
	if d.Reason != "" {
		return fmt.Sprintf("no threshold is guaranteed to detect %s of the rows of class %s: %s.", wanted, class,
			d.Reason)
	}
	others := spelling.Either(cautious.RoundUp(d.FalseAlarmsBound, 3) >= 1,
		"perhaps all other rows, as no smaller share is guaranteed",
		"at most "+cautious.PercentUp(d.FalseAlarmsBound)+" of the other rows")
	return fmt.Sprintf("at least %s of further rows of class %s are flagged, and %s. A row is flagged if %s is at "+
		"least %v. %d of the %d certified rows of the class aren't flagged, and %d of the %d others are.", wanted,
		class, others, p.scored(class), d.Threshold, d.Missed, d.Positives, d.FalseAlarms, d.Others)
}
