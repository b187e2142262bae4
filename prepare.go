package krigo

import (
	"context"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// prepared is a data set dealt, scaled and ready to train on.
type prepared struct {
	data      *dataset.Data
	roles     dataset.Roles
	units     *dataset.Units
	n         int // rows to train on, of all ranks
	scaling   dataset.Scaling
	loss      pacbayes.Loss // half-widths in scaled units
	epsRaw    float64
	print     string           // of the data and options: a checkpoint's fingerprint
	rows      *dataset.Scaled  // to train on, of this rank
	y, scale  []float64        // of these: scaled targets, and |y_raw| for losses relative to it
	all       objective.Memory // of all ranks, scaled, for a full GP alone
	notices   []string
	priorRows int
	test      *dataset.Data // rows of a test table, if there is one

	inducing int           // M; 0: the full GP
	z        linalg.Matrix // inducing inputs that training starts from
	alpha    float64       // of D = αλ + σ_n² in a sparse GP's training

	solver   string                   // of a full GP
	ctx      context.Context          // of the fit, for what solvers compute
	progress func(iterative.Progress) // of single solves

	freeNoise float64 // σ_n² of the collapsed posterior that a free-form one began as
	held      bool    // θ and β stay where they are
}

func prepare(table *dataset.Table, o Options) (*prepared, error) {
	p := &prepared{}
	if err := o.checkSpread(table.Ranks()); err != nil {
		return nil, err
	}
	if err := p.view(table, o); err != nil {
		return nil, err
	}
	d := p.data
	var err error
	if p.notices, err = d.Notices(); err != nil {
		return nil, err
	}
	if o.Test != nil {
		if p.test, err = d.Encoding.Select(o.Test, d.Inputs, o.Target); err != nil {
			return nil, err
		}
		if o.Group != "" {
			if grouped, err := p.test.GroupBy(o.Group); err == nil {
				p.test = grouped
			} else {
				p.notices = append(p.notices, fmt.Sprintf("test figures count rows, not groups: %v", err))
			}
		}
	}
	switch o.Scaling {
	case dataset.PriorRows:
		p.scaling, err = dataset.ScalingOf(d, d.RowsOf(p.roles, dataset.Prior), o.Scaling)
	case dataset.AllRows:
		p.scaling, err = dataset.ScalingOf(d, append(d.RowsOf(p.roles, dataset.Prior), d.RowsOf(p.roles, dataset.Certified)...), o.Scaling)
	default:
		p.scaling = *o.Declared
		p.scaling.Source = dataset.Declared
		if len(p.scaling.InputScale) != d.Cols {
			err = usage("scaling: constants for %d inputs declared, %s has %d", len(p.scaling.InputScale), d.Source, d.Cols)
		}
	}
	if err != nil {
		return nil, err
	}
	p.setLoss(o)
	if p.print, err = p.fingerprint(o); err != nil {
		return nil, err
	}
	return p, p.take(dataset.Certified)
}

// view chooses inputs and target, and deals the rows their roles: before it where an encoding
// has to be learnt from the prior rows.
func (p *prepared) view(table *dataset.Table, o Options) (err error) {
	var ignored []string
	group := func(d *dataset.Data) (*dataset.Data, error) { return d, nil }
	if o.Group != "" {
		ignored = []string{o.Group}
		group = func(d *dataset.Data) (*dataset.Data, error) { return d.GroupBy(o.Group) }
	}
	if o.encodes() {
		if p.data, err = table.Encode(o.Target, ignored, o.Categorical, o.Missing, func(d *dataset.Data) ([]int, error) {
			if d, err = group(d); err != nil {
				return nil, err
			}
			err = p.deal(d, o)
			return d.RowsOf(p.roles, dataset.Prior), err
		}); err == nil {
			p.data, err = group(p.data)
		}
		return err
	}
	if p.data, err = table.Regression(o.Target, ignored...); err != nil {
		return err
	}
	if p.data, err = group(p.data); err != nil {
		return err
	}
	return p.deal(p.data, o)
}

// deal deals the rows their roles.
func (p *prepared) deal(d *dataset.Data, o Options) (err error) {
	p.roles, p.units, err = o.split().Deal(d, o.Seed, func(units int) (test, calibration, prior int, err error) {
		test, calibration, prior = o.counts(units)
		return test, calibration, prior, o.checkCounts(d.Source, units, test, calibration, prior)
	})
	p.priorRows = p.roles.Count(dataset.Prior)
	return err
}

// checkCounts reports too few rows, or groups, for what is asked.
func (o Options) checkCounts(source string, units, test, calibration, prior int) error {
	what := "rows"
	if o.Group != "" {
		what = "groups"
	}
	rows := units - test - calibration
	if rows < 2 {
		return fmt.Errorf("%s: %d %s less %d for testing and %d for calibration leave %d to train on: set aside fewer", source, units, what, test, calibration, max(rows, 0))
	}
	if o.CalibrationFraction > 0 && calibration < model.LeastCalibration {
		return fmt.Errorf("calibration-fraction %v: that is %d of the %d rows of %s, and conformal intervals need %d", o.CalibrationFraction, calibration, units, source, model.LeastCalibration)
	}
	if left := rows - prior; left < 2 {
		purpose, instead := "the scaling", "declare the scaling's constants"
		if calibration > 0 || o.PriorShare > 0 || o.Prior == "informed" {
			purpose, instead = fmt.Sprintf("the prior and %d for calibration", calibration), "set aside fewer"
		}
		return fmt.Errorf("%s: %d %s less %d for testing and %d for %s leave %d to train on: use more %s, or %s",
			source, units, what, test, prior, purpose, max(left, 0), what, instead)
	}
	return nil
}

// split is how rows are dealt their roles.
func (o Options) split() model.Split {
	if o.Split == "last" {
		return model.ByLast
	}
	return model.ByContent
}

// take makes the rows with a role those to train on.
func (p *prepared) take(role dataset.Role) (err error) {
	d := p.data
	p.rows, p.n = d.ScaledOf(p.roles, role, p.scaling), p.roles.Count(role)
	if p.y, err = d.Targets(p.rows.Numbers); err != nil {
		return err
	}
	p.scale = model.TargetScale(p.loss, p.scaling, p.y)
	p.scaling.Target(p.y, p.y)
	// A row that can't be scaled is found now, not when training comes to it, and the first of the file.
	const block = 4096
	inFile := d.Scaled(slices.Sorted(slices.Values(p.rows.Numbers)), p.scaling)
	x, y := make([]float64, block*d.Cols), make([]float64, block)
	for i := 0; i < len(p.y); i += block {
		n := min(block, len(p.y)-i)
		if err := inFile.Block(i, n, x[:n*d.Cols], y[:n]); err != nil {
			return err
		}
	}
	return nil
}

// gather reads rows, those of all ranks in their order: inputs and, where there is one, the target.
func gather(rows *dataset.Scaled) (m objective.Memory, err error) {
	own, d := rows.Dims()
	r := rows.Data.Ranks()
	first, n, err := ranks.Place(r, own)
	if err != nil {
		return m, err
	}
	m = objective.Memory{X: linalg.New(n, d), Y: make([]float64, n)}
	part := m
	if rows.Places != nil {
		part = objective.Memory{X: linalg.New(own, d), Y: make([]float64, own)}
		first = 0
	}
	y := part.Y[first : first+own]
	if rows.Data.Target == "" {
		y = nil
	}
	if err := rows.Block(0, own, part.X.Data[first*d:(first+own)*d], y); err != nil {
		return m, err
	}
	for i, k := range rows.Places {
		copy(m.X.Row(k), part.X.Row(i))
		m.Y[k] = part.Y[i]
	}
	return m, r.Sum(m.X.Data, m.Y)
}

// setMethod decides between the full and a sparse GP.
func (p *prepared) setMethod(o Options) error {
	n := p.n
	if o.sparseOnly() || o.Inducing > 0 || o.asksInducing() || (n > defaultFull && !o.Full && o.Objective != "evidence") {
		p.inducing = o.Inducing
		if p.inducing == 0 {
			p.inducing = min(defaultInducing, (n+1)/2)
			if o.asksInducing() {
				p.inducing = min(maxAuto, (n+1)/2)
			}
		}
	}
	if p.inducing > n {
		return usage("inducing %d: there are only %d rows to train on", p.inducing, n)
	}
	if err := p.chooseSolver(o); err != nil {
		return err
	}
	if p.data.Ranks().Size() > 1 && p.inducing == 0 && p.solver == posterior.ByCholesky && o.pac() {
		return usage("a bound of a full GP isn't trained over ranks: use inducing inputs, or one rank")
	}
	if o.Objective == "renyi" && n > method.MaxRenyi && (o.evaluating && !o.estimatesRenyi() || o.Optimizer != "" && !o.onBatches()) {
		return fmt.Errorf("%s: %d rows: the α-ELBO of all of them at once takes up to %d; train on batches (optimizer adam or sgd), or use fewer rows; evaluate can estimate it with solver cg", p.data.Source, n, method.MaxRenyi)
	}
	if p.inducing == 0 || o.estimatesRenyi() {
		var err error
		if p.all, err = gather(p.rows); err != nil {
			return err
		}
	}
	switch o.Objective {
	case "kl-pac", "sqrt-pac", "fitc":
		p.alpha = 1
	case "pep":
		p.alpha = 0.5
	}
	if o.Alpha != nil {
		p.alpha = *o.Alpha
	}
	return nil
}

// alphaAt is the α of the parameters x of a collapsed objective.
func (p *prepared) alphaAt(o Options, x []float64) float64 {
	if o.LearnAlpha && p.inducing > 0 {
		return x[len(x)-1]
	}
	return p.alpha
}

// setLoss turns the half-widths of the options into scaled units.
func (p *prepared) setLoss(o Options) {
	p.loss = o.loss(pacbayes.Kind(o.Loss))
	p.epsRaw = p.loss.Below
	if p.loss.Kind == pacbayes.Relative || p.loss.Kind == pacbayes.ClippedAbsolute {
		return // no unit
	}
	if s := p.scaling.TargetScale; o.EpsilonUnits == "raw" {
		p.loss.Below /= s
		p.loss.Above /= s
	} else {
		p.epsRaw *= s
	}
}
