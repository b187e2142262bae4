package krigo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/ties"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// krigo looks among the prior rows for what ties rows together.
// The look costs no part of δ, since it sees no certified row.

// tiesOf returns what ties the rows together that trained a posterior.
// If rows are grouped, only the group is a candidate, unless the groups are of equal rows.
// tiesOf looks only at full GPs, since a GP with inducing inputs keeps no residuals of its rows.
func (s share) tiesOf(ctx context.Context, q *posterior.Posterior) ([]model.Tie, error) {
	if s.data.Ranks().Size() > 1 || q.Inducing() > 0 || q.Support.Rows != s.n ||
		s.options.Data.Split == "last" || s.options.Data.Censored != "" ||
		s.options.sited() != nil {
		return nil, nil
	}
	return s.ties(ctx, posterior.Given{Kernel: q.Kernel, Theta: q.Theta, Mean: q.Mean, Beta: q.Beta,
		X: q.Support, Y: s.y, Noise: q.Noise})
}

// ties returns the ties that a GP on the share's rows shows.
func (s share) ties(ctx context.Context, g posterior.Given) (found []model.Tie, err error) {
	var of []ties.Candidate
	grouped := s.roles.Group != nil && s.options.Data.Group != dataset.EqualRows
	if grouped {
		of = []ties.Candidate{{Kind: ties.Column, Names: []string{s.options.Data.Group},
			Of: s.groups(), Named: true}}
	} else if of, err = ties.Candidates(s.data, s.rows.Numbers, g.X, g.Y); err != nil {
		return nil, err
	}
	others := s.options.Data.others() // they aren't known of further rows
	of = slices.DeleteFunc(of, func(c ties.Candidate) bool {
		return slices.ContainsFunc(c.Names, func(name string) bool {
			return slices.Contains(others, name)
		})
	})
	look := ties.Look{Given: g, Seed: s.options.Run.Seed, Fit: quickly}
	if s.loss.Kind == pacbayes.Band {
		look.Widths = []float64{s.loss.Below}
	}
	all, err := look.Measure(ctx, of)
	if err != nil {
		return nil, err
	}
	if !grouped {
		all = ties.Found(all)
	}
	for _, t := range all {
		said := model.Tie{Kind: string(t.Kind), Columns: t.Names, Size: t.Size, Units: t.Units,
			Rows: t.Rows, Alike: t.Alike, Apart: t.Apart}
		if look.Widths != nil {
			said.Known = &t.Same[0]
			said.New = &t.New[0]
			said.Low = &t.Middle[0][0]
			said.High = &t.Middle[0][1]
		}
		if !slices.ContainsFunc([]float64{t.Alike, t.Apart}, func(v float64) bool {
			return math.IsNaN(v) || math.IsInf(v, 0)
		}) {
			found = append(found, said)
		}
	}
	return found, nil
}

// groups numbers the groups of the rows to train on, from 0.
func (s share) groups() []int {
	of, _ := lists.Numbered(lists.Of(s.rows.Numbers, func(row int) int {
		return s.roles.Group[row]
	}))
	return of
}

// speakOf says for which rows a model's promise holds.
// A grouped model with too few groups for a certificate gets an estimate instead.
func (p *plan) speakOf(m *model.Model, found []model.Tie) {
	if !m.ByUnits() {
		m.SetTies(found, p.options.Promise.Population == "same")
		return
	}
	if m.Certificate == nil && len(found) == 1 && found[0].New != nil {
		t := found[0]
		m.Ties = found
		m.CertificateReason += fmt.Sprintf("; leaving each of %d groups out in turn, about %.0f "+
			"%% of its rows are predicted to within ±%s, in half of the groups between %.0f and "+
			"%.0f %%, which isn't certified", t.Units, 100**t.New,
			cautious.Width(m.Terms.EpsilonRaw), 100**t.Low, 100**t.High)
	}
}

// checkTies measures again what ties the prior rows together, since a certificate that doesn't know
// of ties promises more than one that does. again is false if the model doesn't keep the posterior
// that this needs.
func checkTies(ctx context.Context, m *model.Model, data *dataset.Data) (again bool, err error) {
	if m.Fitted == nil || m.ByUnits() || !m.Terms.Fixed {
		return false, nil
	}
	o, err := asked(m)
	if err != nil {
		return false, err
	}
	roles, err := m.RolesOf(data)
	if err != nil {
		return false, err
	}
	d := &dealt{options: o, data: data, roles: roles, scaling: m.Scaling, loss: m.Terms.Loss}
	rows, err := d.take(dataset.Prior)
	if err != nil {
		return false, err
	}
	found, err := rows.tiesOf(ctx, m.Trained())
	if err != nil {
		return false, err
	}
	said := func(of []model.Tie) string {
		if of == nil {
			return "nothing"
		}
		return strings.Join(lists.Of(of, model.Tie.Unit), ", ")
	}
	if !slices.EqualFunc(found, m.Ties, model.Tie.Near) {
		return false, fmt.Errorf("the file says that rows are tied together by %s, but its prior "+
			"rows show %s, with other figures if that is the same. So the promise isn't about "+
			"the rows that the file says: no certificate", said(m.Ties), said(found))
	}
	return true, nil
}
