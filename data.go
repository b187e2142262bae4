package krigo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// dealt is a scaled table whose rows have their roles, and what is known about it before training.
// It doesn't change once it is made.
type dealt struct {
	options Asked // with every default filled in
	text    json.RawMessage
	data    *dataset.Data
	roles   dataset.Roles
	units   *dataset.Units
	order   []int // model.Model.HashOrder
	// units by role when the roles were dealt, with the rows that lack the target
	dealt    dataset.Counts
	scaling  dataset.Scaling
	loss     pacbayes.Loss // half-widths in scaled units
	test     *dataset.Data // rows of a test table, or nil
	findings finding.List
	reason   string // why there is no certificate, if all rows train
	// the inputs along which predictions are monotone, without their ends
	monotone posterior.Monotone
	varying  *model.Varying // a noise that depends on the inputs, once it is learnt
	// levels of an ordinal target, and the thresholds once they are learnt
	ordinal *objective.Ordinal
}

// deal assigns a table's rows their roles, by options with every default, and scales the rows.
func deal(table *dataset.Table, o Asked) (*dealt, error) {
	if err := o.checkSpread(table.Ranks()); err != nil {
		return nil, err
	}
	o.Data.Reading = table.Reading()
	table, err := o.Data.Kinds.Spread(table)
	if err != nil {
		return nil, err
	}
	table, err = table.Limited(o.Data.Target, o.Data.Censored)
	if err != nil {
		return nil, err
	}
	if o.Data.Group, err = table.Blocks(o.Data.Group, o.Data.Target,
		func(group string) []dataset.Role {
			d := &dealt{options: o}
			d.options.Data.Group = group
			if d.view(table) != nil || d.reason != "" {
				return nil
			}
			return d.roles.Of
		}); err != nil {
		return nil, err
	}
	d := &dealt{options: o}
	if err := d.view(table); err != nil {
		return nil, err
	}
	d.data = d.data.Ordered(d.order)
	if d.text, err = d.options.text(); err != nil {
		return nil, err
	}
	if err := o.Kernel.checkColumns(d.inputs()); err != nil {
		return nil, err
	}
	if d.monotone, err = o.Kernel.monotone(d.inputs()); err != nil {
		return nil, err
	}
	if err := model.CheckSlices(d.data, o.Promise.Slices); err != nil {
		return nil, faults.AsUsage(err)
	}
	if d.findings, err = inspect.Findings(d.data, d.units); err != nil {
		return nil, err
	}
	if o.Data.Test != nil {
		if err := d.viewTest(o.Data.Test); err != nil {
			return nil, err
		}
	}
	if c := o.Data.Classes; c != nil {
		d.findings.Add(finding.Classes, o.Data.Target, c[0], c[1], c[1])
	}
	if o.Data.Offset != "" {
		d.findings.Add(finding.Offset, o.Data.Offset)
	}
	for _, v := range []*dataset.Data{d.data, d.test} {
		if v != nil && v.Table().Found.Untargeted > 0 {
			n := v.Table().Found.Untargeted
			d.findings.Add(finding.Untargeted, n, v.Rows+n, v.Source, v.Target)
		}
	}
	if err := d.scale(); err != nil {
		return nil, err
	}
	if n := d.roles.Count(dataset.Certified); len(o.Promise.Slices) > 0 && n >= pacbayes.MinRows {
		largest, err := model.LargestSlice(d.data, d.data.RowsOf(d.roles, dataset.Prior),
			o.Promise.Slices)
		if err != nil {
			return nil, err
		}
		if least := math.Ceil(pacbayes.MinRows / largest); float64(n) < least {
			return nil, faults.Usage("slices %s: of %d certified rows, as the prior rows are, no kind "+
				"would have the %d that a bound takes, and half of δ would buy nothing: certify "+
				"at least %.0f rows, or leave --slices out", strings.Join(o.Promise.Slices, ","), n,
				pacbayes.MinRows, least)
		}
	}
	loss, epsilon := o.Promise.scaled(d.scaling)
	d.loss = loss
	if math.IsInf(epsilon, 0) ||
		(d.loss.Validate() != nil && o.Promise.loss(d.loss.Kind).Validate() == nil) {
		return nil, faults.Usage("epsilon %g %s: with a target of standard deviation %s it is %s in "+
			"these, and %s in the target's units: choose another, or another unit of the target",
			o.Promise.Epsilon, o.Promise.Units, cautious.Number(d.scaling.TargetScale),
			cautious.Number(d.loss.Below), cautious.Number(epsilon))
	}
	return d, nil
}

// view chooses inputs and target, and assigns the rows their roles.
// If prior rows have to teach an encoding, the roles come first.
func (d *dealt) view(table *dataset.Table) (err error) {
	o := d.options.Data
	if table, err = table.Classed(o.Target, o.Classes); err != nil {
		return err
	}
	ignored, err := table.Leave(o.Inputs, o.Ignore, o.Target, o.Own()[1:]...)
	if err != nil {
		return err
	}
	group := func(v *dataset.Data) (_ *dataset.Data, err error) {
		if v, err = v.Beyond(o.Offset, o.Exposure, o.NoiseColumn); err == nil && o.Group != "" {
			v, err = v.GroupBy(o.Group)
		}
		return v, err
	}
	if o.encodes() {
		if d.data, err = table.Encode(o.Target, ignored, dataset.Coding{Categorical: o.Categorical,
			Missing: o.Missing}, func(v *dataset.Data) ([]int, error) {
			if v, err = group(v); err != nil {
				return nil, err
			}
			err = d.deal(v)
			return v.RowsOf(d.roles, dataset.Prior), err
		}); err == nil {
			d.data, err = group(d.data)
		}
		return inspect.Explain(err)
	}
	if d.data, err = table.Regression(o.Target, ignored...); err != nil {
		return inspect.Explain(err)
	}
	if d.data, err = group(d.data); err != nil {
		return err
	}
	return d.deal(d.data)
}

// inputs says what the inputs are, for kernels on columns.
func (d *dealt) inputs() []kernel.Input { return model.InputsOf(d.data.Inputs, d.data.Encoding) }

// deal assigns the rows of a view their roles.
func (d *dealt) deal(v *dataset.Data) (err error) {
	o := &d.options
	if d.order, err = model.HashOrder(v, o.Data.Beside); err != nil {
		return err
	}
	v = v.Ordered(d.order)
	d.roles, d.units, err = o.Data.split().Deal(v, o.Data.Beside, o.Run.Seed,
		func(units int) (test, calibration, prior int, err error) {
			if err := d.settle(units); err != nil {
				return 0, 0, 0, err
			}
			test, calibration, prior = o.counts(units)
			d.dealt = dataset.Counts{test, calibration, prior, units - test - calibration - prior}
			return test, calibration, prior,
				o.checkCounts(v.Source, units, test, calibration, prior)
		})
	return err
}

// viewTest views a test table in the same way as the data.
func (d *dealt) viewTest(table *dataset.Table) (err error) {
	o := d.options.Data
	if table, err = o.Kinds.Spread(table); err == nil {
		table, err = table.Classed(o.Target, o.Classes)
	}
	if err != nil {
		return err
	}
	if table, err = table.Within(d.data.Context()).Limited(o.Target, o.Censored); err == nil {
		d.test, err = d.data.Encoding.Select(table, d.data.Inputs, o.Target)
	}
	if err == nil {
		d.test, err = d.test.Beyond(o.Offset, o.Exposure, o.NoiseColumn)
	}
	if err == nil {
		var sides []float64
		if sides, err = d.test.Sides(d.test.All()); err == nil && slices.ContainsFunc(sides,
			func(side float64) bool { return side != 0 }) {
			err = faults.Usage("censored: test rows whose targets are limits have no errors: leave them "+
				"out of %s", table.Source)
		}
	}
	if err != nil || o.Group == "" {
		return err
	}
	if grouped, err := d.test.GroupBy(o.Group); err == nil {
		d.test = grouped
	} else {
		d.findings.Add(finding.UngroupedTests, err)
	}
	return nil
}

// scale computes the constants of the scaling.
func (d *dealt) scale() (err error) {
	o := d.options.Data
	prior := d.data.RowsOf(d.roles, dataset.Prior)
	if o.Classes != nil {
		y, err := d.data.SortedTargets(prior)
		if n := len(y); err != nil || (n > 0 && y[0] == y[n-1]) {
			return cmp.Or(err, fmt.Errorf("%s: all %d prior rows have the label %s of %s: "+
				"nothing to learn; use more prior rows", d.data.Source, n,
				spelling.Quote(o.Classes[int(y[0])]), cautious.Name(o.Target)))
		}
	}
	switch o.Scaling {
	case dataset.PriorRows:
		d.scaling, err = dataset.ScalingOf(d.data, prior, o.Scaling)
	case dataset.AllRows:
		d.scaling, err = dataset.ScalingOf(d.data,
			append(prior, d.data.RowsOf(d.roles, dataset.Certified)...), o.Scaling)
	default:
		d.scaling = *o.Declared
		d.scaling.Source = dataset.Declared
		if len(d.scaling.InputScale) != d.data.Cols {
			err = faults.Usage("scaling: constants for %d inputs declared, %s has %d",
				len(d.scaling.InputScale), d.data.Source, d.data.Cols)
		}
	}
	if err == nil && d.options.Kernel.Noise == objective.OrdinalName {
		d.ordinal, err = d.levels(prior)
	}
	if noise := d.options.sited(); noise != nil && err == nil {
		if d.scaling.AsIs = !d.options.labels(); !d.scaling.AsIs {
			d.scaling.TargetMean, d.scaling.TargetScale = model.LabelScale(d.options.drawn())
		}
		err = model.CheckTargets(d.data, d.data.All(), noise)
	}
	return err
}

// levels returns an ordinal noise with the levels of the prior rows' targets.
func (d *dealt) levels(prior []int) (*objective.Ordinal, error) {
	y, err := d.data.SortedTargets(prior)
	o := objective.Ordinal{Levels: slices.Compact(y)}
	if o = o.With(make([]float64, o.Steps())); err == nil && !o.Valid() {
		err = fmt.Errorf("%s: noise ordinal takes 2 to %d levels, and %d prior rows have %d "+
			"different values of %s: take another noise", d.data.Source, objective.MostLevels,
			len(y), len(o.Levels), cautious.Name(d.data.Target))
	}
	return &o, err
}

// scaled returns the loss with half-widths in scaled units, and ε in the target's own units.
func (p Promise) scaled(s dataset.Scaling) (loss pacbayes.Loss, epsRaw float64) {
	loss = p.loss(pacbayes.Kind(p.Loss))
	epsRaw = loss.Below
	if loss.Unitless() {
		return loss, epsRaw // a relative ε has no unit
	}
	if p.Units == "raw" {
		loss.Below /= s.TargetScale
		loss.Above /= s.TargetScale
		return loss, epsRaw
	}
	return loss, epsRaw * s.TargetScale
}

// share is the rows of one role, scaled, to train on.
type share struct {
	*dealt
	rows *dataset.Scaled // rows of this rank
	n    int             // number of rows on all ranks
	// squares of the rows' standard errors, scaled; nil without a column of them
	known []float64
	// for the rows of this rank: scaled targets, and |y_raw| for losses relative to it
	y, scale []float64
}

// take returns the share of a role.
func (d *dealt) take(role dataset.Role) (s share, err error) {
	s = share{dealt: d, rows: d.data.ScaledOf(d.roles, role, d.scaling), n: d.roles.Count(role)}
	if s.y, err = d.data.Targets(s.rows.Numbers); err != nil {
		return s, err
	}
	whole, err := d.data.Whole(s.rows.Numbers, s.y)
	if err != nil {
		return s, err
	}
	s.scale = model.TargetScale(d.loss, d.scaling, whole)
	if s.known, err = s.rows.KnownNoise(); err != nil {
		return s, err
	}
	d.scaling.Target(s.y, s.y)
	// If a row can't be scaled, the error comes now and not during training, and names the first
	// such row of the file.
	const block = 4096
	inFile := d.data.Scaled(slices.Sorted(slices.Values(s.rows.Numbers)), d.scaling)
	x := make([]float64, block*d.data.Cols)
	y := make([]float64, block)
	for i := 0; i < len(s.y); i += block {
		n := min(block, len(s.y)-i)
		if err := inFile.Block(i, n, x[:n*d.data.Cols], y[:n]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// choose returns the share of some rows, given by their positions in s.
func (s share) choose(rows []int) share {
	numbers := make([]int, len(rows))
	y := make([]float64, len(rows))
	for i, row := range slices.Sorted(slices.Values(rows)) {
		numbers[i], y[i] = s.rows.Numbers[row], s.y[row]
	}
	return share{dealt: s.dealt, rows: s.data.Scaled(numbers, s.scaling), n: len(rows),
		y: y, scale: nil, known: posterior.RowNoise{Known: s.known}.Pick(
			slices.Sorted(slices.Values(rows))).Known}
}

// gather reads the rows of all ranks into memory, or into a file if they take much memory
// (matrix.Large), in their order: the inputs, and the target if there is one.
func gather(rows *dataset.Scaled) (m objective.Memory, err error) {
	defer matrix.Ended(&err)
	own, d := rows.Dims()
	r := rows.Data.Ranks()
	first, n, err := ranks.Place(r, own)
	if err != nil {
		return m, err
	}
	m = objective.Memory{X: matrix.Large(n, d), Y: make([]float64, n)}
	if m.PerRow.Known, err = rows.KnownNoise(); err != nil { // one rank has all rows (checkSpread)
		return m, err
	}
	if rows.Data.Exposure != "" {
		m.Shift = make([]float64, n)
		if err := rows.Expose(m.Shift); err != nil {
			return m, err
		}
	}
	if r.Size() == 1 { // the other ranks would wait for a rank that ended alone
		m.X = m.X.Until(rows.Context())
	}
	part := m
	if rows.Places != nil {
		part = objective.Memory{X: matrix.Large(own, d), Y: make([]float64, own)}
		defer part.X.Release()
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
	// alone: a sum of several slices copies them into memory
	if err := r.Sum(m.X.Data); err != nil {
		return m, err
	}
	return m, r.Sum(m.Y)
}

// gatherValues returns the values of the rows of all ranks, in their order.
// own are the values of this rank's rows.
// It returns nil if there are no values.
func gatherValues(rows *dataset.Scaled, own []float64) ([]float64, error) {
	r := rows.Data.Ranks()
	if own == nil || r.Size() == 1 {
		return own, nil
	}
	first, n, err := ranks.Place(r, len(own))
	if err != nil {
		return nil, err
	}
	all := make([]float64, n)
	for i, v := range own {
		if rows.Places != nil {
			all[rows.Places[i]] = v
		} else {
			all[first+i] = v
		}
	}
	return all, r.Sum(all)
}

// settle decides what depends on the number of units (groups if there are any, else rows):
// the share of prior rows, and, if no row is certified, the reason.
func (d *dealt) settle(units int) error {
	o := &d.options
	if o.spare > 0 && !o.learns() {
		o.Prior.Share = o.small(units)
	}
	if !o.trainsAll() {
		o.Promise.Curve = o.Promise.Curve || o.everyWidth(units)
		return nil
	}
	d.reason = o.unspared(units)
	if o.Run.Deliver == "all" {
		return o.checkDelivered()
	}
	return nil
}
