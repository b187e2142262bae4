package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// Population says which rows the certificate is about, for people and for programs.
type Population struct {
	Of string `json:"of"`           // rows or groups
	By string `json:"by,omitempty"` // the column, or the blocks, that make the groups
	// what ties rows, or, without a certificate, the rows of a group
	Ties []Tie  `json:"ties,omitempty"`
	Says string `json:"says"` // the population in words
}

// Population returns which rows a promise of the model is about, as far as krigo knows.
func (m *Model) Population() Population {
	p := Population{Of: "rows", By: m.Group, Ties: m.Ties, Says: "rows from the same source"}
	if m.Group != "" {
		p.Of = "groups"
		p.Says = fmt.Sprintf("groups from the same source (grouped by %s, on average over "+
			"groups%s)", cautious.Name(m.Group), m.period())
	}
	if m.ByUnits() {
		return p
	}
	known := lists.Of(m.Ties, Tie.Unit)
	p.Says += spelling.If(known != nil,
		" whose %s occurred in the fitted table", strings.Join(known, " and "))
	return p
}

// ByUnits says whether the groups are units that may tie rows together.
// Groups of equal rows are only copies.
func (m *Model) ByUnits() bool { return m.Group != "" && m.Group != dataset.EqualRows }

// period returns the words that limit a promise to the period of the certified groups, if a column
// of dates makes the groups, else "".
func (m *Model) period() string {
	by := strings.FieldsFunc(m.Group, func(r rune) bool { return r == ':' || r == ',' })
	return spelling.If(slices.ContainsFunc(m.Reading.Dates, func(d dataset.Dates) bool {
		return slices.Contains(by, d.Column)
	}), "; of the same period, not later ones")
}

// Told returns a line for each tie. It names no share of predictions for new units, since estimates
// of that share from known units were off by up to .4. It returns nothing if ByUnits is true.
func (m *Model) Told() (lines []string) {
	for _, t := range m.Ties {
		if m.ByUnits() {
			break
		}
		lines = append(lines, fmt.Sprintf("Rows of the same %s predict one another, and "+
			"predictions for a new %[1]s %s more often. %s.", t.Unit(),
			spelling.Either(t.alike(), "may miss", "miss"), t.flag()))
	}
	return lines
}

// ToldElsewhere returns what Told returns, without the lines that the certificate's reason has.
func (m *Model) ToldElsewhere() []string {
	return lists.If(m.Told(), func(line string) bool {
		return !strings.Contains(m.CertificateReason, line)
	})
}

// Undecided returns why nothing is certified until somebody says which units the promise is about;
// "" if nobody has to.
func (m *Model) Undecided() string {
	for i, t := range m.Ties {
		if t.Splits() && !m.ByUnits() && m.Counts[dataset.Certified] > 0 {
			of := *m
			of.Ties = m.Ties[i : i+1]
			return "say which rows the promise is about. " + of.Told()[0] +
				" With --population same, the promise is about further rows of the same " +
				t.Unit() + " alone"
		}
	}
	return ""
}

// Ignores says whether a certificate ignores a tie that these options, with this population, make
// krigo ask about.
func (m *Model) Ignores(population string) bool {
	return m.Certificate != nil && m.Group == "" && population == "" && m.Undecided() != ""
}

// SetTies stores what ties rows together. same says that the promise is only about known units.
// If same is false and Undecided gives a reason, SetTies removes the certificate for that reason.
func (m *Model) SetTies(ties []Tie, same bool) {
	if m.Ties = ties; same {
		return
	}
	if why := m.Undecided(); why != "" && m.Certificate != nil {
		m.Certificate = nil
		m.Conformal = nil
		m.Sets = nil
		m.Context = nil
		m.CertificateReason = why
	}
}
