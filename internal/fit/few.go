package fit

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/model"
)

// FewGroups returns the number of the model's groups, and the number that a certificate would take,
// if the fit had groups and certified none. Otherwise it returns nil.
func FewGroups(m *model.Model) *fitting.Few {
	if m.Group == "" || m.Counts[dataset.Certified] > 0 || m.Fitted == nil {
		return nil
	}
	o, err := ask.Fitted(m)
	if err != nil {
		return nil
	}
	few := &fitting.Few{Groups: m.Groups[dataset.Prior]}
	few.Takes, few.Delta = o.Enough(few.Groups)
	return few
}
