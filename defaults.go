package krigo

import (
	"cmp"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// informedRows is how many of n rows an informed prior is learnt on where no share is given: a rule,
// which costs nothing. Seven in ten, about which the mean's certificate is flat; of more than 3,333
// rows all but 1,000, up to seven in eight, since with so many certified rows the bound follows the
// misses, which more prior rows make fewer; of less than 70 rows all but those that a certificate
// takes, and at least a quarter (docs/theory/certificate.md). Where no method is named, small has its say first.
func informedRows(n int) int {
	of := func(share float64) int { return int(math.Ceil(share * float64(n))) }
	rows := min(of(0.875), max(of(0.7), n-1000))
	return max(min(rows, n-pacbayes.MinRows-1), of(0.25))
}

// counts says how many of so many rows are for testing, for calibration and for the prior.
func (o Options) counts(rows int) (test, calibration, prior int) {
	of := func(share float64, rows int) int { return int(math.Ceil(share * float64(rows))) }
	test, calibration = of(o.Data.TestFraction, rows), of(o.Promise.Calibration, rows)
	switch left := rows - test - calibration; {
	case o.Prior.Share > 0:
		prior = of(o.Prior.Share, left)
	case o.informed():
		prior = informedRows(left)
	case o.Data.Scaling == dataset.PriorRows:
		prior = dataset.DefaultPriorRows(left)
	}
	return test, calibration, prior
}

// A certificate takes at most one row in byDefault; one in onRequest if something asks for a certificate.
const (
	byDefault = 5
	onRequest = 2
)

// spares returns the number of rows that must be there for each certified one; 0 if a share of prior rows is given.
// ε, δ and the loss describe a certificate and don't ask for one: every entrance has defaults for them.
func (o Options) spares() int {
	p := o.Promise
	switch {
	case o.Prior.Share > 0:
		return 0
	case o.Prior.Kind != "" || o.Data.Split == "last" || o.Run.Deliver == "all" ||
		p.Share > 0 || p.Curve || len(p.Slices) > 0 || p.Bound != "" || p.MeanBound != "":
		return onRequest
	}
	return byDefault
}

// speaksOfGrid says whether an option is given that is about the grid's prior, or about a posterior learnt for a bound.
// Parameters to start from are such, since they may have been learnt on any rows.
func (o Options) speaksOfGrid() bool {
	m := o.Method
	return o.Run.Init != nil || o.Prior.Grid != (pacbayes.Grid{}) || o.Prior.Mixed || m.Alpha != nil || m.Learns() ||
		m.Free() || m.Posterior == "fitc"
}

// chooseMethod makes the choice of who names no method: an informed prior by the evidence,
// of more rows than a full GP is trained on by default by the conditional density of nearest neighbours, of kernels
// that are tried. The mean of such a prior has the tightest certificate there is; its test error is that of training on
// seven rows in ten to seven in eight (docs/theory/certificate.md). Who speaks of the grid's prior gets kl-pac.
func (o Options) chooseMethod(rows int) Options {
	if o.Method.Name == "" && (o.Run.FixParameters || o.Method.Solver == posterior.ByCG ||
		o.Method.Solver == posterior.ByNearest) {
		o.Method.Name = method.EvidenceName // which alone has them
	}
	if o.Method.Name != "" || o.Prior.Kind != "" && !o.informed() || o.Prior.Kind == "" && o.speaksOfGrid() {
		return o
	}
	with := o
	with.spare = o.spares()
	with.Prior.Kind, with.Method.Name = "informed", method.EvidenceName
	_, _, prior := with.counts(rows)
	switch {
	case o.Method.Inducing > 0 || o.Method.ByRule():
		with.Method.Name = method.VFEName
		return with
	case prior > defaultFull && !o.Method.Full():
		with.Method.Name = method.NearestName
	}
	// Choices among prior rows are free.
	with.Kernel.Expression = cmp.Or(with.Kernel.Expression, autoKernel)
	with.Kernel.ARD = cmp.Or(with.Kernel.ARD, "on")
	with.Kernel.Mean = cmp.Or(with.Kernel.Mean, "constant")
	if with.Method.Name == method.EvidenceName && with.Method.Solver != posterior.ByCG && !with.Method.OnBatches() &&
		with.Method.Batch == 0 {
		with.Method.Hyperprior = cmp.Or(with.Method.Hyperprior, "weak")
	}
	return with
}

// withDefaults fills the zero fields.
func (o Options) withDefaults() Options {
	o.Method.Name = cmp.Or(o.Method.Name, method.KLPACName)
	o.Method = o.Method.WithDefaults()
	o.open = o.Promise.Epsilon == 0 && o.Promise.Share == 0
	for _, of := range []any{&o.Data, &o.Kernel, &o.Prior, &o.Promise} {
		settings.Defaults(of)
	}
	o.Prior.Grid = cmp.Or(o.Prior.Grid, pacbayes.DefaultGrid())
	if o.informed() && len(o.Prior.Temper) == 0 {
		o.Prior.Temper = []float64{1}
	}
	if o.informed() && !o.learns() {
		o.Promise.MeanBound = cmp.Or(o.Promise.MeanBound, pacbayes.Direct) // a third of the bound by way of a random draw
	}
	o.Promise.MeanBound = cmp.Or(o.Promise.MeanBound, pacbayes.Twice)
	if o.learns() {
		o.Promise.Bound = cmp.Or(o.Promise.Bound, pacbayes.MaurerBound) // never above kl; the grid prior's stays the paper's
	}
	o.Promise.Bound = cmp.Or(o.Promise.Bound, pacbayes.KLBound)
	return o
}

// resolve chooses a method for so many rows where none is named, and fills in all defaults.
func (o Options) resolve(rows int) (Options, error) {
	o = o.chooseMethod(rows).withDefaults()
	return o, o.check(false)
}

// Validate reports all that is wrong with options, whatever the table. Where they name no method, which follows from
// the number of rows then, it reports what is wrong with a thousand unless they suit fewer, or many more.
func (o Options) Validate() error {
	var first error
	for _, rows := range []int{1000, 0, 1e6} {
		_, err := o.resolve(rows)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// A full GP is trained on at most maxFull rows, where its three matrices take 10 GB;
// above defaultFull, where a step takes seconds, only if asked for. A sparse one has
// defaultInducing inducing inputs, or half the rows where that is less.
const (
	maxFull         = 20000
	defaultFull     = 2000
	defaultInducing = 500
	maxAuto         = 2000 // inducing inputs that auto may choose
)
