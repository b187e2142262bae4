package report

import (
	"context"
	"fmt"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/pacbayes"
)

// mostConfused is the largest number of classes that have a confusion matrix on the page.
const mostConfused = 40

// ofLabels makes the page of a certificate of labels that any classifier predicted.
// data may be nil.
func ofLabels(ctx context.Context, p *krigo.CertifiedLabels, data *dataset.Table) (*maker, error) {
	r := &maker{ctx: ctx, content: content{Title: "labels of " + cautious.Name(p.Target),
		Valid: p.Certificate.Valid, Sentence: p.Sentence, Conditions: p.Certificate.Conditions,
		Standing: "bounds recomputed from the file's counts; krigo certify, " +
			"or a report with the certified rows, recomputes the counts"}}
	s := r.begin("glance", "At a glance")
	if data == nil {
		s.Missing = "No data were given: figures need rows. Name a table: krigo report " +
			"LABELS.json DATA."
	} else if err := r.takeLabels(s, p, data); err != nil {
		return nil, err
	}
	s.Foot = []fact{{"Data", fmt.Sprintf("%s: %s; hash of the rows %.16s…", cautious.Name(p.Source),
		count(p.Certificate.Rows, "certified row"), p.Hash)}, {"Certificate", r.Standing}}
	return r, nil
}

// takeLabels shows the labels of a table: a table of wrong labels beside the bounds, which class is
// taken for which, and figures of probabilities or scores. If they are the certified rows, it
// recomputes the certificate.
func (r *maker) takeLabels(s *section, p *krigo.CertifiedLabels, data *dataset.Table) error {
	l, _, same, err := p.Again(r.ctx, data)
	if err != nil {
		return err
	}
	if same {
		if err := p.Reproduce(r.ctx, data); err != nil {
			return err
		}
		r.Standing = fmt.Sprintf("recomputed from the certified rows (%s) for this page",
			data.Source)
	}
	of := labelled{name: count(len(l.Truth), "row") + " of " + data.Source, classes: l.Classes,
		truth: l.Truth, label: l.Predicted, sure: l.Score, by: cautious.Name(p.Score)}
	s.Tables = []table{of.beside(p.Certificate.Statements, l.Slices)}
	if len(l.Classes) <= mostConfused {
		s.Tables = append(s.Tables, of.confusion())
	}
	if l.Probabilities != nil {
		r.Belief = "probabilities"
		of.by = "probability"
		r.guard(reliability, func() error { return r.drawReliability(of, true) })
	}
	if l.Score != nil {
		r.guard(answers, func() error { return r.drawAnswers(of) })
	}
	return nil
}

// beside returns a table of the bounds on wrong labels, each with the share of wrong labels among
// the rows of l that the bound is about. Bounds about no row are left out.
func (l labelled) beside(bounds []pacbayes.LabelStatement, kinds []pacbayes.Slice) table {
	t := table{Name: "Wrong labels of " + l.name, Head: []string{"statement", "of", "at most",
		"wrong here", "rows"}, Says: "Only the column “at most” is guaranteed, for further rows " +
		"of the certified rows' source."}
	for _, s := range bounds {
		all := 0
		right := 0.
		for i := range l.truth {
			if s.About == pacbayes.ErrorRate ||
				(s.About == pacbayes.EachClass && l.classes[l.truth[i]] == s.Of) ||
				(s.About == pacbayes.EachPrediction && l.classes[l.label[i]] == s.Of) {
				all = all + 1
				right = right + l.right(i)
			}
		}
		for _, k := range kinds {
			if s.About == pacbayes.EachSlice && k.Name == s.Of {
				for _, i := range k.In {
					all = all + 1
					right = right + l.right(i)
				}
			}
		}
		if all > 0 {
			t.Cells = append(t.Cells,
				[]string{s.About, cautious.Name(s.Of), cautious.Percent(cautious.RoundUp(s.Bound, 3)),
					cautious.Percent(1 - right/float64(all)), whole(all)})
		}
	}
	return t
}
