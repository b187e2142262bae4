package ask

import (
	"cmp"
	"math"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
)

// DefaultsVersion is raised by every change that alters what a default fit makes.
// Version 1 lasted up to 079cd76c (on boston the certified rows' RMSE was 2.671), version 2 began
// by b5c9a9b7 (2.926), and version 3 by cc0962a9 (3.651).
// Since version 4 the order of columns doesn't change which rows are certified, so that fits have
// other prior rows. Since version 6 the model of few rows averages kernels. Since version
// 7 certified rows change the standard deviations of predictions. Since version 8 their noise may
// depend on the inputs. Version 9 certifies fewer of 551 to 1,142 rows, and its tables of widths are
// narrower. Version 10 trains nearest otherwise where two inputs are places or rows have groups.
// Since version 11 the evidence knows that noise of rows of a group is correlated.
// Command board of the laboratory fails if defaults change and the version doesn't.
const DefaultsVersion = 11

// InformedRows returns how many of n rows train an informed prior if no share is given.
// The rule looks at no data, so it costs nothing.
// It takes seven rows in ten, near which the mean's certificate hardly changes, and of 550 to 1,143
// rows all but 165, up to eight in ten and to 800: errors fall by about as much as fewer certified
// rows widen the table of widths (laboratory/results/withheld.json).
// Above 3,333 rows it takes all but 1,000, up to seven in eight:
// the bound then follows the number of misses, and more prior rows make misses rarer.
// It leaves at most mostCertified rows. Below 70 rows it takes all but the rows that a certificate
// needs, and at least a quarter (docs/theory/certificate.md).
// If no method is named, Small decides first.
func InformedRows(n int) int {
	of := func(share float64) int { return int(math.Ceil(share * float64(n))) }
	rows := max(min(of(0.8), n-165, 800), min(of(0.875), max(of(0.7), n-1000)), n-mostCertified)
	return max(min(rows, n-pacbayes.MinRows-1), of(0.25))
}

// mostCertified is the largest number of certified rows that a default leaves.
// If 5 % of them are missed, the bound is 5.23 % (δ = 0.01).
// Ten times as many rows take ten times as long to predict, for a bound of 5.07 %.
const mostCertified = 50_000

// ExactSites is the largest number of rows that a default takes for a full GP whose noise has
// sites. Expectation propagation factors a matrix of all of them 8 to 30 times.
const ExactSites = 4000

// Counts returns the numbers of test, calibration and prior rows for a table with the given number
// of rows.
func (o Asked) Counts(rows int) (test, calibration, prior int) {
	of := func(share float64, rows int) int { return int(math.Ceil(share * float64(rows))) }
	test = of(o.Data.TestFraction, rows)
	calibration = of(o.Promise.Calibration, rows)
	switch left := rows - test - calibration; {
	case o.Prior.Share > 0:
		prior = of(o.Prior.Share, left)
	case o.Informed():
		if prior = InformedRows(left); o.Sited() != nil {
			prior = min(prior, ExactSites) // more rows don't always predict better (protein)
		}
	case o.Data.Scaling == dataset.PriorRows:
		prior = dataset.DefaultPriorRows(left)
	}
	return test, calibration, prior
}

// If no option asks for a certificate, a certificate takes at most one row in byDefault from
// training. If an option asks for a certificate, the certificate takes at most one row in onRequest
// from training.
const (
	byDefault = 5
	onRequest = 2
)

// spares returns how many rows must be there for each certified row, and 0 if the share of prior
// rows is given. ε, δ and the loss describe a certificate and don't ask for a certificate, because
// all three have defaults.
func (o Asked) spares() int {
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

// speaksOfGrid says whether an option is about the prior on the grid, or about a posterior that is
// trained for a bound. Parameters to start from are such an option, since they may have been learnt
// on any rows.
func (o Asked) speaksOfGrid() bool {
	m := o.Method
	return o.Run.Init != nil || o.Prior.Grid != (pacbayes.Grid{}) || o.Prior.Mixed ||
		m.Alpha != nil || m.Learns() || m.Free() || m.Posterior == "fitc"
}

// chooseMethod chooses a method if the user names none.
// The default is an informed prior, trained by the evidence, or above the limit for full GPs by the
// conditional density of nearest neighbours, with several kernels to try.
// The mean of such a prior has the tightest certificate of all routes.
// Its test error is the error of training on seven rows in ten to seven in eight
// (docs/theory/certificate.md). If an option is about the prior on the grid, the method is kl-pac.
func (o Asked) chooseMethod(rows int) Asked {
	if o.Method.Name == "" && (o.Run.FixParameters || o.Method.Solver == posterior.ByCG ||
		o.Method.Solver == posterior.ByNearest) {
		o.Method.Name = method.EvidenceName // only the evidence has these options
	}
	if o.Method.Name != "" || (o.Prior.Kind != "" && !o.Informed()) ||
		(o.Prior.Kind == "" && o.speaksOfGrid()) {
		return o
	}
	with := o
	with.Spare = o.spares()
	with.Prior.Kind = "informed"
	with.Method.Name = method.EvidenceName
	_, _, prior := with.Counts(rows)
	switch {
	case o.Method.Inducing > 0 || o.Method.ByRule():
		with.Method.Name = method.VFEName
		return with
	case prior > DefaultFull && !o.Method.Full() && o.Sited() == nil:
		with.Method.Name = method.NearestName
	}
	// Choices among prior rows are free.
	with.Kernel.Expression = cmp.Or(with.Kernel.Expression, AutoKernel)
	with.Kernel.ARD = cmp.Or(with.Kernel.ARD, "on")
	with.Kernel.Mean = cmp.Or(with.Kernel.Mean, "constant")
	if with.Method.Name == method.EvidenceName && with.Method.Solver != posterior.ByCG &&
		!with.Method.OnBatches() && with.Method.Batch == 0 {
		with.Method.Hyperprior = cmp.Or(with.Method.Hyperprior, "weak")
	}
	return with
}

// defaultNats is the default ε of log-density. On seven tables at most one row in 19 was beyond the
// cap. With 3 nats bounds are up to 0.2 nats lower, with 10 up to 0.34 higher.
const defaultNats = 5

// WithDefaults fills in the zero fields.
func (o Asked) WithDefaults() Asked {
	o.Method.Name = cmp.Or(o.Method.Name, method.KLPACName)
	o.Method = o.Method.WithDefaults()
	o = o.forSited()
	o.open = o.Promise.Epsilon == 0 && o.Promise.Share == 0
	if pacbayes.Kind(o.Promise.Loss) == pacbayes.LogDensity {
		o.Promise.Epsilon = cmp.Or(o.Promise.Epsilon, defaultNats)
	}
	for _, of := range []any{&o.Data, &o.Kernel, &o.Prior, &o.Promise} {
		settings.Defaults(of)
	}
	o.Prior.Grid = cmp.Or(o.Prior.Grid, pacbayes.DefaultGrid())
	if o.Informed() && len(o.Prior.Temper) == 0 {
		o.Prior.Temper = []float64{1}
	}
	if o.Informed() && !o.Learns() {
		// a third of a random draw's bound
		o.Promise.MeanBound = cmp.Or(o.Promise.MeanBound, pacbayes.Direct)
	}
	o.Promise.MeanBound = cmp.Or(o.Promise.MeanBound, pacbayes.Twice)
	if o.Learns() {
		// never above kl, which is the paper's
		o.Promise.Bound = cmp.Or(o.Promise.Bound, pacbayes.MaurerBound)
	}
	kind := pacbayes.Kind(o.Promise.Loss)
	if o.Informed() && (o.Data.Group != "" || !(pacbayes.Loss{Kind: kind}).IsZeroOne()) {
		// graded losses, and groups' mean losses, vary less than 0 and 1
		o.Promise.Bound = cmp.Or(o.Promise.Bound, pacbayes.BettingBound)
	}
	o.Promise.Bound = cmp.Or(o.Promise.Bound, pacbayes.KLBound)
	return o
}

// Resolve chooses a method for the given number of rows if the user names no method, and fills in
// all defaults.
func (o Asked) Resolve(rows int) (Asked, error) {
	o = o.chooseMethod(rows).WithDefaults()
	return o, o.Check(false)
}

// ResolveFor does what resolve does, for a target that may have classes.
func (o Asked) ResolveFor(table *dataset.Table) (Asked, error) {
	if table == nil {
		return o, faults.Usage("table: it is nil; read one, for example with files.ReadFile")
	}
	o, err := o.classed(table)
	if err != nil {
		return o, err
	}
	return o.Resolve(table.Rows)
}

// Solver auto factors up to autoFull rows, for which the three matrices of a full GP take 10 GB.
// If a user asks for more, the memory decides (see afford).
// Above defaultFull rows a step takes seconds, so a full GP must be asked for.
// A sparse GP has defaultInducing inducing inputs, or half the rows if these are fewer.
const (
	AutoFull        = 20000
	DefaultFull     = 3000
	DefaultInducing = 500
	MaxAuto         = 2000 // the most inducing inputs that auto may choose
)
