package fitting

import (
	"encoding/json"

	"github.com/krigo-gp/krigo/finding"
)

// Few says that a grouped model has no certificate because its groups are too few.
// It holds the number of groups, the number that a certificate with an informed prior takes, and
// the least δ up to 0.2 at which these groups would be enough, if there is one.
type Few struct {
	Groups int     `json:"groups"`
	Takes  int     `json:"takes"`
	Delta  float64 `json:"delta,omitempty"`
}

// Plan says what a fit would do, decided before anything is trained.
type Plan struct {
	// the options as a model file keeps them, with every default filled in
	Options json.RawMessage `json:"options"`
	Rows    string          `json:"rows_sha256"`
	Roles   Roles           `json:"rows"`
	Groups  *Roles          `json:"groups,omitempty"` // numbers of groups, if groups are counted
	// the kernels to try; Fit may try more after the best of them
	Kernels []string `json:"kernels"`
	Starts  int      `json:"starts"` // starting points of each kernel
	// the number of rows that training begins with:
	// the prior rows for an informed prior, else the certified rows
	Trains int    `json:"trains"`
	Method string `json:"optimizer"`        // the optimizer that trains on them
	Solver string `json:"solver,omitempty"` // solver of a full GP
	M      int    `json:"inducing"`         // 0: a full GP
	// Findings are what a person should know already. JSON also has their words.
	Findings finding.List `json:"-"`
}

// Roles counts rows, or groups, by role.
type Roles struct {
	Test        int `json:"test"`
	Calibration int `json:"calibration"`
	Prior       int `json:"prior"`
	Certified   int `json:"certified"`
}

// Declaration says what a fit is going to do with which rows.
// Its owner signs it, has it timestamped or publishes it.
// It then proves that the model is the declared model, and somebody else can vouch for the time of
// the declaration. It doesn't prove that nothing else was tried, because the rows and their targets
// must be known before it is written.
type Declaration struct {
	Version int   `json:"declaration"`
	Plan    *Plan `json:"plan"`
}
