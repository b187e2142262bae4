package krigo

import (
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// A posterior computed on another kind of processor is this close to the stored one, in standard deviations of the
// target: 5e-6 was seen, with no noise in the targets. Above followsAtMost no rounding explains the difference; between
// the two, nothing is said.
const (
	follows       = 1e-5
	followsAtMost = 1e-3
)

// checkDerived computes an informed prior's weights and covariance again, from its parameters, inducing inputs and
// noise variance and from the prior rows, if its method computes them in closed form. It refuses others. derived says
// that they agree.
func checkDerived(m *model.Model, d *dataset.Data) (derived bool, err error) {
	q := m.Trained()
	if !m.Terms.Informed || q.Inducing() == 0 || m.Posterior.Support.Rows > 0 || m.Fitted == nil {
		return false, nil
	}
	o, err := asked(m)
	if err != nil {
		return false, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return false, err
	}
	rows := d.ScaledOf(roles, dataset.Prior, m.Scaling)
	again, err := priorMethod(o.Method).Follows(method.Task{Kernel: q.Kernel, Mean: q.Mean, Rows: rows, M: q.Support.Rows,
		Ranks: d.Ranks()}, q)
	if again == nil || err != nil {
		return false, err
	}
	off := 0.0
	for _, role := range []dataset.Role{dataset.Prior, dataset.Certified} {
		at, err := gather(d.ScaledOf(roles, role, m.Scaling))
		if err != nil {
			return false, err
		}
		mean, covariance := again.Apart(q, at.X)
		off = math.Max(off, math.Max(mean, covariance))
	}
	if !(off <= followsAtMost) {
		return false, fmt.Errorf("the prior's weights aren't those that its parameters, inducing inputs, noise variance "+
			"and prior rows make: they are off by %.3g: no certificate", off)
	}
	return off <= follows, nil
}
