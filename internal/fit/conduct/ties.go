package conduct

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/deal"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/internal/fit/search"
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
func tiesOf(ctx context.Context, s deal.Share, q *posterior.Posterior) ([]model.Tie, error) {
	if s.Data.Ranks().Size() > 1 || q.Inducing() > 0 || q.Support.Rows != s.N ||
		s.Options.Data.Split == "last" || s.Options.Data.Censored != "" ||
		s.Options.Sited() != nil {
		return nil, nil
	}
	return Ties(ctx, s, ties.Look{Given: posterior.Given{Kernel: q.Kernel, Theta: q.Theta,
		Mean: q.Mean, Beta: q.Beta, X: q.Support, Y: s.Y, Noise: q.Noise}, Fit: search.Quickly})
}

// Ties measures which rows of the share are tied together, by the errors of look's GP when a row,
// and when its whole unit, is left out. If the fit has groups, it measures these alone, and else it
// returns the candidates that ties.Found keeps.
func Ties(ctx context.Context, s deal.Share, look ties.Look) (found []model.Tie, err error) {
	var of []ties.Candidate
	grouped := s.Roles.Group != nil && s.Options.Data.Group != dataset.EqualRows
	if grouped {
		of = []ties.Candidate{{Kind: ties.Column, Names: []string{s.Options.Data.Group},
			Of: groups(s), Named: true}}
	} else if of, err = ties.Candidates(s.Data, s.Rows.Numbers, look.X, look.Y); err != nil {
		return nil, err
	}
	others := s.Options.Data.Others() // they aren't known of further rows
	of = slices.DeleteFunc(of, func(c ties.Candidate) bool {
		return slices.ContainsFunc(c.Names, func(name string) bool {
			return slices.Contains(others, name)
		})
	})
	look.Seed = s.Options.Run.Seed
	if s.Loss.Kind == pacbayes.Band {
		look.Widths = []float64{s.Loss.Below}
	}
	all, err := look.Measure(ctx, of)
	if err != nil {
		return nil, err
	}
	if !grouped {
		all = ties.Found(all)
	}
	// a tie without finite figures can't be written to a file
	for _, t := range all {
		said := model.Tie{Kind: string(t.Kind), Columns: t.Names, Size: t.Size, Units: t.Units,
			Rows: t.Rows, Alike: t.Alike, Apart: t.Apart}
		said.Takes, said.Delta = s.Options.Asks(t.Units)
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
func groups(s deal.Share) []int {
	of, _ := lists.Numbered(lists.Of(s.Rows.Numbers, func(row int) int {
		return s.Roles.Group[row]
	}))
	return of
}

// speakOf says for which rows a model's promise holds.
// A grouped model with too few groups for a certificate gets an estimate instead.
func speakOf(p *plan.Plan, m *model.Model, found []model.Tie) {
	if !m.ByUnits() {
		m.SetTies(found, p.Options.Promise.Population == "same")
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

// CheckTies measures again what ties the prior rows together, since a certificate that doesn't know
// of ties promises more than one that does. again is false if the model doesn't keep the posterior
// that this needs.
func CheckTies(ctx context.Context, m *model.Model, data *dataset.Data) (again bool, err error) {
	if m.Fitted == nil || m.ByUnits() || !m.Terms.Fixed {
		return false, nil
	}
	o, err := ask.Fitted(m)
	if err != nil {
		return false, err
	}
	roles, err := m.RolesOf(data)
	if err != nil {
		return false, err
	}
	// The share of prior rows, as the fit had it.
	d := &deal.Dealt{Options: o, Data: data, Roles: roles, Scaling: m.Scaling, Loss: m.Terms.Loss}
	rows, err := d.Take(dataset.Prior)
	if err != nil {
		return false, err
	}
	found, err := tiesOf(ctx, rows, m.Trained())
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
