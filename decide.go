package krigo

import (
	"encoding/json"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/matrix"
)

// Plan is what a fit would do, decided before anything is trained.
type Plan struct {
	Options json.RawMessage `json:"options"` // what was asked for, every default filled in, as a model file keeps it
	Rows    string          `json:"rows_sha256"`
	Roles   Roles           `json:"rows"`
	Groups  *Roles          `json:"groups,omitempty"` // where groups are counted
	Kernels []string        `json:"kernels"`          // that are tried
	Starts  int             `json:"starts"`           // of each
	// rows that training begins with: of an informed prior the prior rows, else the certified ones
	Trains  int      `json:"trains"`
	Method  string   `json:"optimizer"`         // by which they are trained
	Solver  string   `json:"solver,omitempty"`  // of a full GP
	M       int      `json:"inducing"`          // 0: a full GP
	Notices []string `json:"notices,omitempty"` // what a person should know already
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
func Decide(table *dataset.Table, o Options) (told *Plan, err error) {
	defer matrix.Ended(&err)
	o, err = o.resolve(table.Rows)
	if err != nil {
		return nil, err
	}
	d, err := deal(table, o)
	if err != nil {
		return nil, err
	}
	rows, err := d.take(dataset.Certified)
	if err != nil {
		return nil, err
	}
	told = &Plan{Rows: d.units.Hash, Options: d.text}
	counts, groups := d.roles.Counts()
	told.Roles = rolesOf(counts)
	if o.Data.Group != "" {
		of := rolesOf(groups)
		told.Groups = &of
	}
	if _, err := begin(d); err != nil {
		return nil, err
	}
	var p *plan
	if o.informed() {
		p, err = decidePrior(rows)
	} else {
		p, err = decide(rows, o, o.Kernel.families(d.data.Cols), d.notices)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range p.families {
		told.Kernels = append(told.Kernels, f.name)
	}
	told.Starts, told.Trains, told.Method, told.M, told.Notices = p.restarts, p.n, p.choice.Optimizer, p.choice.Inducing,
		p.notices
	if d.reason != "" {
		told.Notices = append(told.Notices, "no certificate: "+d.reason)
	}
	if !p.sparse() {
		told.Solver = p.choice.Solver
	}
	return told, nil
}
