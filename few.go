package krigo

import (
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
)

// Few says of a grouped model that is without a certificate as its groups are few, how many there are, how many a
// certificate takes that is asked for by an informed prior, and the least δ up to 0.2, if any, with which these do.
type Few struct {
	Groups int     `json:"groups"`
	Takes  int     `json:"takes"`
	Delta  float64 `json:"delta,omitempty"`
}

// FewGroups returns what Few says; nil of other models.
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
