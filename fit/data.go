package fit

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
			err = Usage("scaling: constants for %d inputs declared, %s has %d", len(p.scaling.InputScale), d.Source, d.Cols)
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

// Gather reads rows, those of all ranks in their order: inputs and, where there is one, the target.
func Gather(rows *dataset.Scaled) (m objective.Memory, err error) {
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

// fingerprint identifies the rows, those for testing too, and the options that a checkpoint belongs
// to: all of them, but that more evaluations of L-BFGS and MMA only go on.
func (p *prepared) fingerprint(o Options) (string, error) {
	if !o.onBatches() && o.Objective != method.RenyiName {
		o.Epochs = 0
	}
	asked, err := o.text()
	if err != nil {
		return "", err
	}
	of := fmt.Sprintf("rows=%s inputs=%q options=%s", p.units.Hash, p.data.Inputs, asked)
	if p.test != nil {
		units, err := p.test.Units()
		if err != nil {
			return "", err
		}
		of += " test=" + units.Hash
	}
	return of, nil
}
