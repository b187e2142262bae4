package model

import (
	"fmt"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/pacbayes"
)

// Certify computes the certificate of the model's posterior on the certified rows of d.
// It uses the stored parameters and weights and all certified rows, and nothing that training
// reported. It fails if the model wasn't made from d.
func (m *Model) Certify(d *dataset.Data) (*pacbayes.Certificate, error) {
	if err := m.certifiable(); err != nil {
		return nil, err
	}
	again, roles, at, err := m.remade(d)
	if err != nil {
		return nil, err
	}
	c, _, err := again.certify(d, roles, at)
	return c, err
}

// remade returns what refactored does, and the roles of the rows of d that the model was made from.
func (m *Model) remade(d *dataset.Data) (again *Model, roles dataset.Roles, at *scored, err error) {
	if roles, err = m.RolesOf(d); err == nil {
		again, at, err = m.refactored(d, roles)
	}
	return again, roles, at, err
}

// refactored returns the model that is certified, with its predictions of the certified rows.
// The certificate is of the posterior that kernel, support, weights and noise give, without any
// stored factor.
func (m *Model) refactored(d *dataset.Data,
	roles dataset.Roles) (again *Model, at *scored, err error) {
	defer matrix.Ended(&err)
	if err := m.certifiable(); err != nil {
		return nil, nil, err
	}
	certified := *m
	if certified.Posterior, err = m.Posterior.Until(d.Context()).Refactored(); err != nil {
		err = fmt.Errorf("%w: no certificate", err)
	} else {
		err = certified.check(d, roles)
	}
	if err := d.Ranks().Agree(err); err != nil {
		return nil, nil, err
	}
	predicted, err := certified.sample(d, d.RowsOf(roles, dataset.Certified), roles.Group)
	return &certified, &predicted, err
}

// certify computes the certificate of a model that refactored returned.
// The context describes the certified predictions.
func (m *Model) certify(d *dataset.Data, roles dataset.Roles,
	at *scored) (c *pacbayes.Certificate, x *Context, err error) {
	defer matrix.Ended(&err)
	t := m.Terms
	if at.Slices, err = m.slices(d, roles, *at); err != nil {
		return nil, nil, err
	}
	if t.Repeats, err = m.repeats(d, roles); err != nil {
		return nil, nil, err
	}
	if t.Near, err = m.near(d, roles); err != nil {
		return nil, nil, err
	}
	t.Positional, t.Limits = m.Split == ByPosition, at.limits()
	if t.Fixed { // nothing was learnt on the certified rows after the prior P
		if c, err = t.Certify(at.Sample, 0); err == nil {
			at.curve = c.Curve
			x, err = m.context(d, roles, *at)
		}
		return c, x, err
	}
	kl := m.Posterior.KL()
	rounding := m.Posterior.KLRounding()
	if m.Split == ByPosition && rounding < 0.01*(1+kl) {
		rounding = 0 // old certificates didn't add the rounding
	}
	if kl < 0 && kl+rounding >= 0 {
		kl = 0 // only rounding can make kl negative
	}
	c, err = t.Certify(m.ofDraws(*at), kl+rounding)
	return c, nil, err
}

// CertifyOwn calibrates and certifies the model on the rows that it was just made from.
// It sets Conformal, Sets, Certificate, Context and Range.Far, and returns what InOrder finds.
// It predicts the certified rows once.
func (m *Model) CertifyOwn(d *dataset.Data, roles dataset.Roles) (found finding.List, err error) {
	again, at, err := m.refactored(d, roles)
	if err != nil {
		return nil, err
	}
	if m.Conformal, err = m.calibrated(d, roles, at); err != nil {
		return nil, err
	}
	if m.Sets, err = m.sets(d, at); err != nil {
		return nil, err
	}
	if found, err = m.inOrder(d, roles, at.mean); err != nil {
		return nil, err
	}
	if m.Certificate, m.Context, err = again.certify(d, roles, at); m.Context != nil {
		m.Range.Far = m.Context.far
	}
	return found, err
}
