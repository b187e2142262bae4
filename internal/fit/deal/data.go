// Package deal assigns a table's rows their roles and scales them, and keeps a fit's checkpoint.
// A Dealt is the table, and a Share has the rows of one role. Neither changes once it is made.
package deal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/observation"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
	"github.com/krigo-gp/krigo/posterior"
	"github.com/krigo-gp/krigo/ranks"
)

// Dealt is a scaled table whose rows have their roles, and what is known about it before training.
// It doesn't change once it is made.
type Dealt struct {
	Options ask.Asked // with every default filled in
	Text    json.RawMessage
	Data    *dataset.Data
	Roles   dataset.Roles
	Units   *dataset.Units
	Order   []int // model.Model.HashOrder
	// units by role when the roles were dealt, with the rows that lack the target
	Dealt    dataset.Counts
	Scaling  dataset.Scaling
	Loss     pacbayes.Loss // half-widths in scaled units
	Test     *dataset.Data // rows of a test table, or nil
	Findings finding.List
	Reason   string // why there is no certificate, if all rows train
	// the inputs along which predictions are monotone, without their ends
	Monotone posterior.Monotone
	Varying  *observation.Varying // a noise that depends on the inputs, once it is learnt
	// levels of an ordinal target, and the thresholds once they are learnt
	Ordinal *objective.Ordinal
}

// Deal assigns a table's rows their roles, by options with every default, and scales the rows.
func Deal(table *dataset.Table, o ask.Asked) (*Dealt, error) { return dealt(table, o, true) }

// Silently does the same, but looks for less of what a person should know. This saves half of the
// time.
func Silently(table *dataset.Table, o ask.Asked) (*Dealt, error) { return dealt(table, o, false) }

func dealt(table *dataset.Table, o ask.Asked, tells bool) (*Dealt, error) {
	if err := o.CheckSpread(table.Ranks()); err != nil {
		return nil, err
	}
	o.Data.Reading = table.Reading()
	table, err := o.Observed().Numbered(table, o.Data.Target)
	if err != nil {
		return nil, err
	}
	// A group "block:…:auto" needs the roles that a size of blocks would give, so each size is
	// dealt on trial.
	if o.Data.Group, err = table.Blocks(o.Data.Group, o.Data.Target,
		func(group string) []dataset.Role {
			d := &Dealt{Options: o}
			d.Options.Data.Group = group
			if d.view(table) != nil || d.Reason != "" {
				return nil
			}
			return d.Roles.Of
		}); err != nil {
		return nil, err
	}
	d := &Dealt{Options: o}
	if err := d.view(table); err != nil {
		return nil, err
	}
	// Hashes don't depend on the order of columns in the file.
	d.Data = d.Data.Ordered(d.Order)
	if d.Text, err = d.Options.Text(); err != nil {
		return nil, err
	}
	if err := ask.CheckColumns(o.Kernel, d.Inputs()); err != nil {
		return nil, err
	}
	if d.Monotone, err = ask.Monotone(o.Kernel, d.Inputs()); err != nil {
		return nil, err
	}
	if err := model.CheckSlices(d.Data, o.Promise.Slices); err != nil {
		return nil, faults.AsUsage(err)
	}
	d.Findings = slices.Clone(o.Data.Settled)
	if tells {
		found, err := inspect.Findings(d.Data, d.Units)
		if err != nil {
			return nil, err
		}
		d.Findings = append(d.Findings, found...)
	}
	if err := d.scale(); err != nil {
		return nil, err
	}
	if o.Data.Test != nil {
		if err := d.viewTest(o.Data.Test); err != nil {
			return nil, err
		}
	}
	if tells {
		if err := d.tellTarget(); err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{d.checkSlices, d.setLoss} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// tellTarget finds what a person should know about the target.
func (d *Dealt) tellTarget() error {
	o := d.Options.Data
	if c := o.Classes; c != nil {
		d.Findings.Add(finding.Classes, o.Target, c[0], c[1], c[1])
	}
	if o.Offset != "" {
		d.Findings.Add(finding.Offset, o.Offset)
	}
	for _, v := range []*dataset.Data{d.Data, d.Test} {
		if v != nil && v.Table().Found.Untargeted > 0 {
			n := v.Table().Found.Untargeted
			d.Findings.Add(finding.Untargeted, n, v.Rows+n, v.Source, v.Target,
				spelling.Either(v == d.Test, "aren't scored",
					"were left out, so that the promise is about rows with a target"))
		}
	}
	found, err := inspect.Leaks(d.Data, d.Data.RowsOf(d.Roles, dataset.Prior),
		o.Classes == nil && d.Options.Kernel.Noise == "")
	d.Findings = append(d.Findings, found...)
	return err
}

// checkSlices refuses kinds of rows if no kind would have enough certified rows for a bound.
func (d *Dealt) checkSlices() error {
	kinds := d.Options.Promise.Slices
	n := d.Roles.Count(dataset.Certified)
	if len(kinds) == 0 || n < pacbayes.MinRows {
		return nil
	}
	largest, err := model.LargestSlice(d.Data, d.Data.RowsOf(d.Roles, dataset.Prior), kinds)
	if err != nil {
		return err
	}
	least := math.Ceil(pacbayes.MinRows / largest)
	return faults.UsageIf(float64(n) < least, "slices %s: of %d certified rows, as the prior rows "+
		"are, no kind would have the %d that a bound takes, and half of δ would buy nothing: "+
		"certify at least %.0f rows, or leave --slices out", strings.Join(kinds, ","), n,
		pacbayes.MinRows, least)
}

// setLoss sets the loss in scaled units, and refuses an ε that has no number there.
func (d *Dealt) setLoss() error {
	o := d.Options.Promise
	loss, epsilon := Scaled(o, d.Scaling)
	d.Loss = loss
	return faults.UsageIf(math.IsInf(epsilon, 0) ||
		(loss.Validate() != nil && ask.Loss(o, loss.Kind).Validate() == nil),
		"epsilon %g %s: with a target of standard deviation %s it is %s in these, and %s in the "+
			"target's units: choose another, or another unit of the target", o.Epsilon, o.Units,
		cautious.Number(d.Scaling.TargetScale), cautious.Number(loss.Below),
		cautious.Number(epsilon))
}

// view chooses inputs, target and groups, and deals the rows their roles. If categories or fills of
// gaps are learnt, the roles come first, because only prior rows may teach them.
func (d *Dealt) view(table *dataset.Table) (err error) {
	o := d.Options.Data
	ignored, err := table.Leave(o.Inputs, o.Ignore, o.Target, o.Own()[1:]...)
	if err != nil {
		return err
	}
	group := func(v *dataset.Data) (_ *dataset.Data, err error) {
		if v, err = o.Beyond(v); err == nil && o.Group != "" {
			v, err = v.GroupBy(o.Group)
		}
		return v, err
	}
	if ask.Encodes(o) {
		if d.Data, err = table.Encode(o.Target, ignored, dataset.Coding{Categorical: o.Categorical,
			Missing: o.Missing, Counting: d.Options.Counting}, func(v *dataset.Data) ([]int, error) {
			if v, err = group(v); err != nil {
				return nil, err
			}
			err = d.deal(v)
			return v.RowsOf(d.Roles, dataset.Prior), err
		}); err == nil {
			d.Data, err = group(d.Data)
		}
		return inspect.Explain(err)
	}
	if d.Data, err = table.Regression(o.Target, ignored...); err != nil {
		return inspect.Explain(err)
	}
	if d.Data, err = group(d.Data); err != nil {
		return err
	}
	return d.deal(d.Data)
}

// Inputs says what the inputs are, for kernels on columns.
func (d *Dealt) Inputs() []kernel.Input { return model.InputsOf(d.Data.Inputs, d.Data.Encoding) }

// deal assigns the rows of a view their roles.
func (d *Dealt) deal(v *dataset.Data) (err error) {
	o := &d.Options
	if d.Order, err = model.HashOrder(v, o.Data.Beside); err != nil {
		return err
	}
	v = v.Ordered(d.Order)
	d.Roles, d.Units, err = ask.Split(o.Data).Deal(v, o.Data.Beside, o.Run.Seed,
		func(units int) (test, calibration, prior int, err error) {
			if err := d.settle(units); err != nil {
				return 0, 0, 0, err
			}
			test, calibration, prior = o.Counts(units)
			d.Dealt = dataset.Counts{test, calibration, prior, units - test - calibration - prior}
			return test, calibration, prior,
				o.CheckCounts(v.Source, units, test, calibration, prior)
		})
	return err
}

// viewTest views a test table in the same way as the data. Gaps are filled as in rows to predict.
func (d *Dealt) viewTest(table *dataset.Table) (err error) {
	o := d.Options.Data
	table, err = d.Options.Observed().Numbered(table.Within(d.Data.Context()), o.Target)
	if err == nil {
		filling := d.Data.Encoding.Filling(d.Data.Inputs, d.Scaling.InputMean,
			o.Refuses || d.Scaling.Source == dataset.Declared)
		d.Test, err = filling.Select(table, d.Data.Inputs, o.Target)
	}
	if err == nil {
		d.Test, err = o.Beyond(d.Test)
	}
	if err == nil {
		var sides []float64
		// A limit of detection has no error to score.
		if sides, err = d.Test.Sides(d.Test.All()); err == nil && slices.ContainsFunc(sides,
			func(side float64) bool { return side != 0 }) {
			err = faults.Usage("censored: test rows whose targets are limits have no errors: "+
				"leave them out of %s", table.Source)
		}
	}
	if err != nil || o.Group == "" {
		return err
	}
	// A test table may lack the group's column. Its figures are then averages over rows.
	if grouped, err := d.Test.GroupBy(o.Group); err == nil {
		d.Test = grouped
	} else {
		d.Findings.Add(finding.UngroupedTests, err)
	}
	return nil
}

// scale computes the means and standard deviations that scale inputs and target: from prior rows,
// from prior and certified rows, or as declared. If the noise takes sites, labels get the scale of
// labels, and other targets stay as they are (Scaling.AsIs).
func (d *Dealt) scale() (err error) {
	o := d.Options.Data
	prior := d.Data.RowsOf(d.Roles, dataset.Prior)
	if o.Classes != nil {
		y, err := d.Data.SortedTargets(prior)
		if n := len(y); err != nil || (n > 0 && y[0] == y[n-1]) {
			return cmp.Or(err, fmt.Errorf("%s: all %d prior rows have the label %s of %s: "+
				"nothing to learn; use more prior rows", d.Data.Source, n,
				spelling.Quote(o.Classes[int(y[0])]), cautious.Name(o.Target)))
		}
	}
	rule := dataset.Scaling{Source: o.Scaling, Without: !d.Options.Counting}
	switch o.Scaling {
	case dataset.PriorRows:
		d.Scaling, err = rule.Again(d.Data, prior)
	case dataset.AllRows:
		d.Scaling, err = rule.Again(d.Data,
			append(prior, d.Data.RowsOf(d.Roles, dataset.Certified)...))
	default:
		d.Scaling = *o.Declared
		d.Scaling.Source = dataset.Declared
		if len(d.Scaling.InputScale) != d.Data.Cols {
			err = faults.Usage("scaling: constants for %d inputs declared, %s has %d",
				len(d.Scaling.InputScale), d.Data.Source, d.Data.Cols)
		}
	}
	if err == nil && d.Options.Kernel.Noise == objective.OrdinalName {
		d.Ordinal, err = d.levels(prior)
	}
	if noise := d.Options.Sited(); noise != nil && err == nil {
		if d.Scaling.AsIs = !d.Options.Labels(); !d.Scaling.AsIs {
			d.Scaling.TargetMean, d.Scaling.TargetScale = observation.LabelScale(d.Options.Drawn())
		}
		of := observation.Observation{Noise: d.Options.Kernel.Noise}
		err = of.CheckTargets(d.Data, d.Data.All())
	}
	return err
}

// levels returns an ordinal noise with the levels of the prior rows' targets.
func (d *Dealt) levels(prior []int) (*objective.Ordinal, error) {
	y, err := d.Data.SortedTargets(prior)
	o := objective.Ordinal{Levels: slices.Compact(y)}
	if o = o.With(make([]float64, o.Steps())); err == nil && !o.Valid() {
		err = fmt.Errorf("%s: noise ordinal takes 2 to %d levels, and %d prior rows have %d "+
			"different values of %s: take another noise", d.Data.Source, objective.MostLevels,
			len(y), len(o.Levels), cautious.Name(d.Data.Target))
	}
	return &o, err
}

// Scaled returns the loss with half-widths in scaled units, and ε in the target's own units.
func Scaled(p fitting.Promise, s dataset.Scaling) (loss pacbayes.Loss, epsRaw float64) {
	loss = ask.Loss(p, pacbayes.Kind(p.Loss))
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

// Share is the rows of one role, scaled, to train on.
type Share struct {
	*Dealt
	Rows *dataset.Scaled // rows of this rank
	N    int             // number of rows on all ranks
	// squares of the rows' standard errors, scaled; nil without a column of them
	Known []float64
	// for the rows of this rank: scaled targets, and |y_raw| for losses relative to it
	Y, Scale []float64
}

// Take returns the rows of a role as a Share to train on: their scaled inputs and targets, for the
// rows of this rank, with the number of rows of all ranks.
func (d *Dealt) Take(role dataset.Role) (s Share, err error) {
	s = Share{Dealt: d, Rows: d.Data.ScaledOf(d.Roles, role, d.Scaling), N: d.Roles.Count(role)}
	if s.Y, err = d.Data.Targets(s.Rows.Numbers); err != nil {
		return s, err
	}
	sizes, err := d.Data.Sizes(s.Rows.Numbers, s.Y)
	if err != nil {
		return s, err
	}
	s.Scale = model.TargetScale(d.Loss, d.Scaling, sizes)
	if s.Known, err = s.Rows.KnownNoise(); err != nil {
		return s, err
	}
	d.Scaling.Target(s.Y, s.Y)
	// If a row can't be scaled, the error comes now and not during training, and names the first
	// such row of the file.
	const cells = 1 << 16 // stay in the cache
	block := max(1, cells/max(1, d.Data.Cols))
	inFile := d.Data.Scaled(slices.Sorted(slices.Values(s.Rows.Numbers)), d.Scaling)
	x := make([]float64, block*d.Data.Cols)
	y := make([]float64, block)
	for first, end := range lists.Blocks(len(s.Y), block) {
		n := end - first
		if err := inFile.Block(first, n, x[:n*d.Data.Cols], y[:n]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Choose returns the share of some rows, given by their positions in s.
func (s Share) Choose(rows []int) Share {
	numbers := make([]int, len(rows))
	y := make([]float64, len(rows))
	for i, row := range slices.Sorted(slices.Values(rows)) {
		numbers[i] = s.Rows.Numbers[row]
		y[i] = s.Y[row]
	}
	return Share{Dealt: s.Dealt, Rows: s.Data.Scaled(numbers, s.Scaling), N: len(rows),
		Y: y, Scale: nil, Known: posterior.RowNoise{Known: s.Known}.Pick(
			slices.Sorted(slices.Values(rows))).Known}
}

// Gather reads the rows of all ranks into memory, or into a file if they take much memory
// (matrix.Large), in their order: the inputs, and the target if there is one.
func Gather(rows *dataset.Scaled) (m objective.Memory, err error) {
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
	if m.Shift, err = rows.Data.Shifts(rows.Numbers); err != nil {
		return m, err
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

// GatherValues returns the values of the rows of all ranks, in their order.
// own are the values of this rank's rows.
// It returns nil if there are no values.
func GatherValues(rows *dataset.Scaled, own []float64) ([]float64, error) {
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
func (d *Dealt) settle(units int) error {
	o := &d.Options
	if o.Spare > 0 && !o.Learns() {
		o.Prior.Share = o.Small(units)
	}
	if !o.TrainsAll() {
		o.Promise.Curve = o.Promise.Curve || o.EveryWidth(units)
		return nil
	}
	d.Reason = o.Unspared(units)
	if o.Run.Deliver == "all" {
		return o.CheckDelivered()
	}
	return nil
}
