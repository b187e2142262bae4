package krigo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/ties"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// What ties rows together is looked for among the prior rows, which is free: no certified row is seen.

// ties returns what ties the rows together that trained a posterior. Where rows are grouped it is the group alone. It
// looks at full GPs: one with inducing inputs keeps no residual of its rows.
func (p *plan) ties(ctx context.Context, q *posterior.Posterior) (found []model.Tie, err error) {
	if p.data.Ranks().Size() > 1 || q.Inducing() > 0 || q.Support.Rows != p.n || p.options.Data.Split == "last" {
		return nil, nil
	}
	var of []ties.Candidate
	if p.roles.Group != nil {
		of = []ties.Candidate{{Kind: ties.Column, Names: []string{p.options.Data.Group}, Of: p.groups(), Named: true}}
	} else if of, err = ties.Candidates(p.data, p.rows.Numbers, q.Support, p.y); err != nil {
		return nil, err
	}
	var widths []float64
	if p.loss.Kind == pacbayes.Band {
		widths = []float64{p.loss.Below}
	}
	all, err := ties.Measure(ctx, posterior.Given{Kernel: q.Kernel, Theta: q.Theta, Mean: q.Mean, Beta: q.Beta, X: q.Support,
		Y: p.y, Noise: q.Noise}, of, widths, p.options.Run.Seed)
	if err != nil {
		return nil, err
	}
	if p.roles.Group == nil {
		all = ties.Found(all)
	}
	for _, t := range all {
		said := model.Tie{Kind: string(t.Kind), Columns: t.Names, Size: t.Size, Label: t.Label, Units: t.Units, Rows: t.Rows, Alike: t.Alike,
			Apart: t.Apart}
		if widths != nil {
			said.Known, said.New = &t.Same[0], &t.New[0]
		}
		if !slices.ContainsFunc([]float64{t.Alike, t.Apart}, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			found = append(found, said)
		}
	}
	return found, nil
}

// groups numbers the groups of the rows that are trained on, from 0.
func (p *plan) groups() (of []int) {
	numbers := map[int]int{}
	for _, row := range p.rows.Numbers {
		g := p.roles.Group[row]
		if _, known := numbers[g]; !known {
			numbers[g] = len(numbers)
		}
		of = append(of, numbers[g])
	}
	return of
}

// speakOf says for which rows a model's promise is. A grouped model that has too few groups for a certificate gets an
// estimate in its place.
func (p *plan) speakOf(m *model.Model, found []model.Tie) {
	if m.Group == "" {
		m.SetTies(found, p.options.Promise.Population == "same")
		return
	}
	if m.Certificate == nil && len(found) == 1 && found[0].New != nil {
		m.CertificateReason += fmt.Sprintf("; leaving each of %d groups out in turn, about %.0f %% of its rows are predicted "+
			"to within ±%s, which isn't certified", found[0].Units, 100**found[0].New, cautious.Width(m.Terms.EpsilonRaw))
	}
}
