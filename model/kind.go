package model

import (
	"fmt"

	"github.com/krigo-gp/krigo/method"
)

// TrainsForBound says whether training minimised a bound on the risk of the posterior Q.
// Then σ_n² only shapes Q.
func (m *Model) TrainsForBound() bool {
	kind, _ := method.Find(m.Objective)
	return kind.Bound != "" || (m.Terms.Informed && !m.Terms.Fixed)
}

// drawn says whether the target has classes, and the certificate is about the label that a random
// draw of f gives: its sign. Otherwise the certificate is about the more probable label.
func (m *Model) drawn() bool { return m.Classes != nil && !m.Terms.MeanAlone() }

// certifiable returns an error if the posterior can't have a certificate on any rows.
func (m *Model) certifiable() error {
	if q := m.Posterior; q.Joint() != nil && !m.Terms.MeanAlone() {
		return fmt.Errorf("the posterior was solved by %s: only its mean can be certified, by "+
			"its own misses, and only if the posterior was learnt on prior rows alone (--prior "+
			"informed, mean-bound direct)", q.Kind())
	}
	return nil
}
