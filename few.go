package krigo

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

func fewGroups(m *model.Model) *Few {
	if m.Group == "" || m.Counts[dataset.Certified] > 0 || m.Fitted == nil {
		return nil
	}
	o, err := asked(m)
	if err != nil {
		return nil
	}
	few := &Few{Groups: m.Groups[dataset.Prior]}
	few.Takes, few.Delta = o.enough(few.Groups)
	return few
}
