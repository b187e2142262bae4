package fit

import (
	"encoding/json"

	"github.com/krigo-gp/krigo/dataset"
)

// Plan is what a fit would do, decided before anything is trained.
type Plan struct {
	Options json.RawMessage `json:"options"` // what was asked for, every default filled in, as a model file keeps it
	Rows    string          `json:"rows_sha256"`
	Roles   Roles           `json:"rows"`
	Groups  *Roles          `json:"groups,omitempty"`  // where groups are counted
	Kernels []string        `json:"kernels"`           // that are tried
	Starts  int             `json:"starts"`            // of each
	Trains  int             `json:"trains"`            // rows that training begins with: of an informed prior the prior rows, else the certified ones
	Method  string          `json:"optimizer"`         // by which they are trained
	Solver  string          `json:"solver,omitempty"`  // of a full GP
	M       int             `json:"inducing"`          // 0: a full GP
	Notices []string        `json:"notices,omitempty"` // what a person should know already
}

// Roles are numbers of rows, or groups, by role.
type Roles struct {
	Test        int `json:"test"`
	Calibration int `json:"calibration"`
	Prior       int `json:"prior"`
	Certified   int `json:"certified"`
}

func rolesOf(c dataset.Counts) Roles {
	return Roles{c[dataset.Test], c[dataset.Calibration], c[dataset.Prior], c[dataset.Certified]}
}

// Decide says what Fit would do with the table and options, and refuses what it would refuse before it trains.
func Decide(table *dataset.Table, o Options) (*Plan, error) {
	o, err := o.chooseObjective(table.Rows).withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := prepare(table, o)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Rows: p.units.Hash}
	if plan.Options, err = o.text(); err != nil {
		return nil, err
	}
	rows, groups := p.roles.Counts()
	plan.Roles = rolesOf(rows)
	if o.Group != "" {
		of := rolesOf(groups)
		plan.Groups = &of
	}
	if o.Prior == "informed" {
		o = o.learnsPrior()
		if err := p.take(dataset.Prior); err != nil {
			return nil, err
		}
	}
	families := p.families(o)
	if o, err = p.decide(o, families[0]); err != nil {
		return nil, err
	}
	for _, f := range families {
		plan.Kernels = append(plan.Kernels, f.name)
	}
	plan.Starts, plan.Trains, plan.Method, plan.M, plan.Notices = o.Restarts, p.n, o.Optimizer, p.inducing, p.notices
	if p.inducing == 0 {
		plan.Solver = p.solver
	}
	return plan, nil
}
