package krigo

import (
	"context"
	"encoding/json"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
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
	Trains int    `json:"trains"`
	Method string `json:"optimizer"`        // by which they are trained
	Solver string `json:"solver,omitempty"` // of a full GP
	M      int    `json:"inducing"`         // 0: a full GP
	// Findings are what a person should know already; JSON has their words too.
	Findings finding.List `json:"-"`
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
func Decide(ctx context.Context, table *dataset.Table, o Options) (told *Plan, err error) {
	defer matrix.Ended(&err)
	o, err = o.resolve(table.Rows)
	if err != nil {
		return nil, err
	}
	certified, _, p, err := open(table.Within(ctx), o)
	if err != nil {
		return nil, err
	}
	d := certified.dealt
	counts, groups := d.roles.Counts()
	told = &Plan{Rows: d.units.Hash, Options: d.text, Roles: rolesOf(counts), Starts: p.restarts, Trains: p.n,
		Method: p.choice.Optimizer, M: p.choice.Inducing, Findings: p.findings}
	if o.Data.Group != "" {
		of := rolesOf(groups)
		told.Groups = &of
	}
	for _, f := range p.families {
		told.Kernels = append(told.Kernels, f.name)
	}
	if d.reason != "" {
		told.Findings.Add(finding.NoCertificate, d.reason)
	}
	if !p.sparse() {
		told.Solver = p.choice.Solver
	}
	return told, nil
}

// open deals a table's rows and decides the first stage of a fit. It refuses a checkpoint of another fit.
func open(table *dataset.Table, o Options) (certified share, c *checkpoints, first *plan, err error) {
	d, err := deal(table, o)
	if err != nil {
		return certified, nil, nil, err
	}
	if certified, err = d.take(dataset.Certified); err != nil {
		return certified, nil, nil, err
	}
	if c, err = begin(d); err != nil {
		return certified, nil, nil, err
	}
	if !o.informed() {
		first, err = d.gridStage(certified).decide(d.findings)
		return certified, c, first, err
	}
	s, err := d.priorStage()
	if err != nil {
		return certified, nil, nil, err
	}
	if first, err = s.decide(d.findings); err == nil {
		err = o.checkPredictor(first.choice.Solver)
	}
	if err == nil && o.learns() { // before the prior is trained
		_, err = d.posteriorStage(certified, nil, first.choice.Inducing).planned(false, nil)
	}
	return certified, c, first, err
}
