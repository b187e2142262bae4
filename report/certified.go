package report

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/pacbayes"
)

// mostConfused is the largest number of classes that have a confusion matrix on the page.
const mostConfused = 40

// ofLabels makes the page of a certificate of labels that any classifier predicted. data may be nil.
func ofLabels(ctx context.Context, p *krigo.CertifiedLabels, data *dataset.Table) (*maker, error) {
	c := p.Certificate
	r := &maker{ctx: ctx, content: content{Title: "labels of " + cautious.Name(p.Target), Valid: c.Valid,
		Sentence: p.Sentence, Conditions: c.Conditions, Standing: "as the file has it; verify.py, or a report with the " +
			"certified rows, recomputes it"}}
	s := r.begin("glance", "At a glance")
	var l *pacbayes.Labelled
	if data == nil {
		s.Missing = "No data were given: figures need rows. Name a table: krigo report LABELS.json DATA."
	} else {
		var err error
		if l, err = r.takeLabels(p, data); err != nil {
			return nil, err
		}
		of := labelled{name: count(len(l.Truth), "row") + " of " + data.Source, classes: l.Classes, truth: l.Truth,
			label: l.Predicted, sure: l.Score, by: cautious.Name(p.Score)}
		if s.Tables = []table{of.confusion()}; len(l.Classes) > mostConfused {
			s.Tables, s.Note = nil, "There are too many classes for a confusion matrix."
		}
		if l.Probabilities != nil {
			r.Belief, of.by = "probabilities", "probability"
			r.guard(reliability, func() error { return r.drawReliability(of, true) })
		}
		if l.Score != nil {
			r.guard(answers, func() error { return r.drawAnswers(of) })
		}
	}
	s.Tables = append(s.Tables, statements(p, l))
	s.Foot = []fact{{"Data", fmt.Sprintf("%s: %s; hash of the rows %.16s…", p.Source, count(c.Rows, "certified row"),
		p.Hash)}, {"Certificate", r.Standing}}
	return r, nil
}

// takeLabels reads labels, and recomputes the certificate if they are the certified rows.
func (r *maker) takeLabels(p *krigo.CertifiedLabels, data *dataset.Table) (*pacbayes.Labelled, error) {
	l, _, same, err := p.Again(r.ctx, data)
	if err != nil || !same {
		return l, err
	}
	again, err := krigo.CertifyLabels(r.ctx, data, p.LabelOptions)
	if err != nil {
		return nil, err
	}
	if again.Sentence != p.Sentence || !reflect.DeepEqual(again.Certificate, p.Certificate) {
		return nil, fmt.Errorf("the certificate isn't what the rows of %s make it: don't rely on it", data.Source)
	}
	r.Standing = fmt.Sprintf("recomputed from the certified rows (%s) for this page", data.Source)
	return l, nil
}

// statements lists the bounds, beside what the certified rows and the rows l show. l may be nil.
func statements(p *krigo.CertifiedLabels, l *pacbayes.Labelled) table {
	t := table{Name: "What is certified", Head: []string{"statement", "of", "at most", "on certified rows", "certified rows"},
		Says: "Only the column “at most” is guaranteed, for all of its lines together."}
	if l != nil {
		t.Head = append(t.Head, "wrong on the rows shown", "rows shown")
	}
	for _, s := range p.Certificate.Statements {
		share := s.About == pacbayes.ErrorRate || s.Of != ""
		line := []string{s.About, cautious.Name(s.Of), cautious.Width(s.Bound), cautious.Number(s.Mean), whole(s.Rows)}
		if share {
			line[2], line[3] = percent(cautious.RoundUp(s.Bound, 3)), percent(s.Mean)
		}
		if s.Reason != "" {
			line[2] = "nothing: " + s.Reason
		}
		if l != nil {
			in := meant(l, s)
			wrong := lists.Where(len(in), func(k int) bool { return l.Predicted[in[k]] != l.Truth[in[k]] })
			if line = append(line, "–", whole(len(in))); share && len(in) > 0 {
				line[5] = percent(float64(len(wrong)) / float64(len(in)))
			}
		}
		t.Cells = append(t.Cells, line)
	}
	return t
}

// meant returns the rows that a statement is about.
func meant(l *pacbayes.Labelled, s pacbayes.LabelStatement) []int {
	of := func(places []int) []int {
		return lists.Where(len(places), func(i int) bool { return l.Classes[places[i]] == s.Of })
	}
	switch s.About {
	case pacbayes.EachClass:
		return of(l.Truth)
	case pacbayes.EachPrediction:
		return of(l.Predicted)
	case pacbayes.EachSlice:
		if k := slices.IndexFunc(l.Slices, func(k pacbayes.Slice) bool { return k.Name == s.Of }); k >= 0 {
			return l.Slices[k].In
		}
		return nil
	}
	return linalg.UpTo(len(l.Truth))
}
