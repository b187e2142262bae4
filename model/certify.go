package model

import (
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Certify computes the certificate of the model's posterior on the certified rows of
// the data: from its stored parameters and weights and all certified rows, whatever
// training reported. It fails where the data aren't those the model was made from.
func (m *Model) Certify(d *dataset.Data) (*pacbayes.Certificate, error) {
	if err := m.certifiable(); err != nil {
		return nil, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	c, _, err := m.CertifyDealt(d, roles)
	return c, err
}

// CertifyDealt is Certify for the rows that the model was just made from, whose roles are at hand. The
// context is of the predictions by which it certifies.
func (m *Model) CertifyDealt(d *dataset.Data, roles dataset.Roles) (c *pacbayes.Certificate, x *Context, err error) {
	defer matrix.Ended(&err)
	if err := m.certifiable(); err != nil {
		return nil, nil, err
	}
	// What is certified is the posterior of kernel, support, weights and noise: none of it by a stored factor.
	certified := *m
	if certified.Posterior, err = m.Posterior.Until(d.Context()).Refactored(); err != nil {
		err = fmt.Errorf("%w: no certificate", err)
	} else {
		err = certified.check(d, roles)
	}
	if err := d.Ranks().Agree(err); err != nil {
		return nil, nil, err
	}
	m = &certified
	at, err := m.sample(d, d.RowsOf(roles, dataset.Certified), roles.Group)
	if err != nil {
		return nil, nil, err
	}
	t := m.Terms
	if at.Slices, err = m.slices(d, roles, at); err != nil {
		return nil, nil, err
	}
	if t.Repeats, err = m.repeats(d, roles); err != nil {
		return nil, nil, err
	}
	if t.Near, err = m.near(d, roles); err != nil {
		return nil, nil, err
	}
	t.Positional = m.Split == ByPosition
	if t.Fixed { // nothing was learnt on the certified rows after P
		if c, err = t.Certify(at.Sample, 0); err == nil {
			x, err = m.context(d, roles, at)
		}
		return c, x, err
	}
	kl, rounding := m.Posterior.KL(), m.Posterior.KLRounding()
	if m.Split == ByPosition && rounding < 0.01*(1+kl) {
		rounding = 0 // what those certificates were made by
	}
	if kl < 0 && kl+rounding >= 0 {
		kl = 0 // but for rounding
	}
	c, err = t.Certify(at.Sample, kl+rounding)
	return c, nil, err
}

// CertifyOwn certifies the model on the rows that it was just made from, and keeps what it finds.
func (m *Model) CertifyOwn(d *dataset.Data, roles dataset.Roles) (err error) {
	if m.Certificate, m.Context, err = m.CertifyDealt(d, roles); m.Context != nil {
		m.Range.Far = m.Context.far
	}
	return err
}

// certifiable says why a posterior has no certificate, whatever the rows.
func (m *Model) certifiable() error {
	if q := m.Posterior; q.Joint() != nil && !m.Terms.MeanAlone() {
		return fmt.Errorf("the posterior was solved by %s: its mean can be certified by its own misses, where it was "+
			"learnt on prior rows alone (--prior informed, mean-bound direct)", q.Kind())
	}
	return nil
}
