package krigo

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// Few says that a grouped model has no certificate because its groups are too few.
// It holds the number of groups, the number that a certificate with an informed prior takes, and
// the least δ up to 0.2 at which these groups would be enough, if there is one.
type Few struct {
	Groups int     `json:"groups"`
	Takes  int     `json:"takes"`
	Delta  float64 `json:"delta,omitempty"`
}

// FewGroups returns a model's Few, or nil if too few groups aren't the reason.
func FewGroups(m *model.Model) *Few {
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
