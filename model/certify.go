package model

import (
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// Certify computes the certificate of the model's posterior on the certified rows of
// the data: from its stored parameters and weights and all certified rows, whatever
// training reported. It fails where the data aren't those the model was made from.
func (m *Model) Certify(d *dataset.Data) (*pacbayes.Certificate, error) {
	if m.Posterior.Kind() != posterior.ByCholesky {
		return nil, fmt.Errorf("the posterior was solved by %s: what that estimates certifies nothing", m.Posterior.Kind())
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	return m.certify(d, roles)
}

// certify is Certify for rows whose roles are known.
func (m *Model) certify(d *dataset.Data, roles dataset.Roles) (*pacbayes.Certificate, error) {
	// What is certified is the posterior of kernel, support, weights and noise: none of it by a stored factor.
	certified := *m
	var err error
	if certified.Posterior, err = m.Posterior.Refactored(); err != nil {
		err = fmt.Errorf("%w: no certificate", err)
	} else {
		err = certified.check(d, roles)
	}
	if err := d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	m = &certified
	at, err := m.sample(d, d.RowsOf(roles, dataset.Certified), roles.Group)
	if err != nil {
		return nil, err
	}
	t := m.Terms
	if t.Repeats, err = m.repeats(d, roles); err != nil {
		return nil, err
	}
	t.Positional = m.Split == ByPosition
	kl, rounding := m.Posterior.KL(), m.Posterior.KLRounding()
	if m.Split == ByPosition && rounding < 0.01*(1+kl) {
		rounding = 0 // what those certificates were made by
	}
	if kl < 0 && kl+rounding >= 0 {
		kl = 0 // but for rounding
	}
	return t.CertifySample(at, kl+rounding)
}
