package krigo

import (
	"context"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// quickRows are what Ties fits.
const quickRows = 700

// Ties looks for what ties the rows of a table together by a quick fit of one kernel, to some of the rows that a fit
// with these options has for prior rows: advice for the choice of Data.Group. A fit looks again by itself.
func Ties(ctx context.Context, table *dataset.Table, o Options) (found []model.Tie, err error) {
	defer matrix.Ended(&err)
	o.Kernel, o.Method, o.Run.Restarts = Kernel{Expression: "matern32", ARD: "on"}, method.Choice{Name: method.EvidenceName}, 1
	o.Prior.Kind = "informed"
	if o, err = o.resolve(table.Rows); err != nil {
		return nil, err
	}
	d, err := deal(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	s, err := d.priorStage()
	if err != nil {
		return nil, err
	}
	if s.n > quickRows { // which were dealt by chance
		first := make([]int, quickRows)
		for i := range first {
			first[i] = i
		}
		s.share = s.choose(first)
	}
	c, err := begin(d)
	if err != nil {
		return nil, err
	}
	p, err := s.decide(nil)
	if err != nil {
		return nil, err
	}
	p, t, err := p.optimum(ctx, c)
	if err != nil {
		return nil, err
	}
	q, _, err := p.posterior(ctx, c, t)
	if err != nil {
		return nil, err
	}
	return p.ties(ctx, q)
}
