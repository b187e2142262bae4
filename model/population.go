package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
)

// Population says which rows the certificate is about.
type Population struct {
	Of   string `json:"of"`             // rows or groups
	By   string `json:"by,omitempty"`   // groups: the column, or the blocks
	Ties []Tie  `json:"ties,omitempty"` // what ties rows together; groups without a certificate: that they do
	Says string `json:"says"`           // in words
}

// Population says which rows a promise of the model is about, as far as is known.
func (m *Model) Population() Population {
	p := Population{Of: "rows", By: m.Group, Ties: m.Ties, Says: "rows of this kind"}
	if m.Group != "" {
		p.Of = "groups"
		p.Says = fmt.Sprintf("groups of rows of this kind (by %s, on average over groups%s)", cautious.Name(m.Group),
			m.period())
	}
	if m.ByUnits() {
		return p
	}
	var known []string
	for _, t := range m.Ties {
		known = append(known, t.Unit())
	}
	if known != nil {
		p.Says += " with the same " + strings.Join(known, " and the same ") + " as one of these"
	}
	return p
}

// ByUnits says whether rows are grouped by what may tie them together: groups of equal rows are copies alone.
func (m *Model) ByUnits() bool { return m.Group != "" && m.Group != dataset.EqualRows }

// period says that groups by dates are of the same period as the certified ones.
func (m *Model) period() string {
	by := strings.FieldsFunc(m.Group, func(r rune) bool { return r == ':' || r == ',' })
	for _, d := range m.Reading.Dates {
		if slices.Contains(by, d.Column) {
			return "; of the same period, not later ones"
		}
	}
	return ""
}

// Told says of each tie what is expected of a new unit, a line each; nothing of groups.
func (m *Model) Told() (lines []string) {
	for _, t := range m.Ties {
		if m.ByUnits() {
			break
		}
		said := fmt.Sprintf("Rows of one %s predict one another", t.Unit())
		if t.Known != nil && t.New != nil {
			said += fmt.Sprintf(": about %.0f %% of predictions lie within ±%s of %s where other rows of it are known, about "+
				"%.0f %% for a new one", 100**t.Known, cautious.Width(m.Terms.EpsilonRaw), cautious.Name(m.Target), 100**t.New)
		} else {
			said += fmt.Sprintf(": for a new one errors are about %.1f times as large", t.Apart)
		}
		lines = append(lines, said+" (an estimate from the prior rows, not certified); "+t.flag()+".")
	}
	return lines
}

// Undecided is why nothing is certified where a promise has to say which units it is about; "" where it need not.
func (m *Model) Undecided() string {
	for i, t := range m.Ties {
		if t.Splits() && !m.ByUnits() && m.Counts[dataset.Certified] > 0 {
			of := *m
			of.Ties = m.Ties[i : i+1]
			return "it isn't said for which rows the promise is. " + strings.TrimSuffix(of.Told()[0], ".") +
				"; --population same promises for further rows of the same " + t.Unit() + " alone"
		}
	}
	return ""
}

// SetTies keeps what ties rows together. same says that the promise is for units that are known.
func (m *Model) SetTies(ties []Tie, same bool) {
	if m.Ties = ties; same {
		return
	}
	if why := m.Undecided(); why != "" && m.Certificate != nil {
		m.Certificate, m.Conformal, m.Context, m.CertificateReason = nil, nil, nil, why
	}
}
