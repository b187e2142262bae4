package ask

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/pacbayes"
)

// leastSaid is the largest bound that says anything if no certified row misses.
// A model's few misses double the bound, and a constant prediction misses about half of the rows at
// the default ε.
const leastSaid = 0.2

// mostFew is the largest number of certified groups, up to which two groups in five are certified,
// by a rule that knows the number of groups alone.
// The excess of the bound falls with the root of the number of certified groups, and a model of
// groups hardly needs the further groups (docs/theory/certificate.md).
// Of more groups, informedRows decides.
const mostFew = 80

// takes returns the smallest number of certified units (rows, or groups) with a bound that can say
// anything, and the bound for this number if no unit misses.
// If betting bounds the mean of the units, kl's bound finds their number, because it is lower than
// betting's if no unit misses.
func (o Asked) takes() (units int, bound float64) {
	bounds := func() func(n int) float64 {
		return o.Terms(Loss(o.Promise, pacbayes.Kind(o.Promise.Loss)), 1).LeastBound
	}
	own := bounds()
	if o.Promise.Bound == pacbayes.BettingBound {
		o.Promise.Bound = pacbayes.KLBound
	}
	if o.Data.Kinds != nil { // as many rows are certified as if each class had a part of δ
		o.Promise.Delta /= float64(len(o.Data.Kinds.Labels) + 1)
	}
	least := bounds()
	const from = pacbayes.MinRows + 1
	most := 2 * from
	for least(most) > leastSaid {
		most *= 2
	}
	units = from + sort.Search(most-from, func(i int) bool { return least(from+i) <= leastSaid })
	return units, own(units)
}

// Small returns the share of prior rows if krigo decides it.
// The share is 1, so that all units train, if the certified units would leave too few prior units.
// It is 0 if the rule of informedRows decides.
// In between, the number of units that train stays the same and the number of certified units
// grows. Of few groups, two in five are certified.
func (o Asked) Small(units int) (share float64) {
	test, calibration, prior := o.Counts(units)
	left := units - test - calibration
	takes, _ := o.takes()
	if left < o.Spare*takes {
		return 1
	}
	trains := prior
	if o.Data.Group != "" {
		trains = min(prior, left-min(2*left/5, mostFew))
	}
	trains = min(left-takes, max((o.Spare-1)*takes, trains))
	if trains == prior {
		return 0
	}
	share = float64(trains) / float64(left)
	if math.Ceil(share*float64(left)) > float64(trains) { // rounding added a unit
		share = math.Nextafter(share, 0)
	}
	return share
}

// EveryWidth says whether a fit with the given number of units gets a curve, because the user asked
// for neither ε nor a share. It does if the options allow a curve, and if the curve says something
// at the default ε when no certified row misses.
func (o Asked) EveryWidth(units int) bool {
	test, calibration, prior := o.Counts(units)
	o.Promise.Curve = true
	t := o.Terms(Loss(o.Promise, pacbayes.Kind(o.Promise.Loss)), 1)
	certified := units - test - calibration - prior
	return o.open && o.Data.Group == "" && o.Data.Split != "last" &&
		o.Data.Scaling != dataset.AllRows && certified >= pacbayes.MinRows &&
		t.CheckRoute() == nil && t.LeastBound(certified) <= leastSaid
}

// Unspared says why there is no certificate if all units train.
func (o Asked) Unspared(units int) string {
	what := spelling.Either(o.Data.Group != "", "groups", "rows")
	test, calibration, _ := o.Counts(units)
	left := units - test - calibration
	takes, bound := o.takes()
	if left >= byDefault*takes {
		return fmt.Sprintf("all %d %s train the model, as prior-share 1 says, so that none is "+
			"left to certify it by", left, what)
	}
	said := fmt.Sprintf("all %d %s train the model; a certificate takes %d %s from training, for "+
		"a bound of %.3f even if none of them misses (δ = %g), so that krigo issues one from %d "+
		"%s on, or from %d if asked by --prior informed", left, what, takes, what, bound,
		o.Promise.Delta, byDefault*takes, what, onRequest*takes)
	switch _, delta := o.Enough(left); {
	case o.Data.Group == "" || delta == o.Promise.Delta:
	case delta > 0:
		said += fmt.Sprintf(", or of these %d by --prior informed --delta %g", left, delta)
	default:
		said += fmt.Sprintf("; %d are too few at any --delta up to %g", left, mostDelta)
	}
	return said
}

// mostDelta is the largest δ that krigo suggests to certify few groups.
const mostDelta = 0.2

// Enough returns how many units a certificate takes if it is asked for, and the least δ at which
// left units are enough. The δ is 0 if even mostDelta doesn't do.
func (o Asked) Enough(left int) (units int, delta float64) {
	for _, delta := range []float64{o.Promise.Delta, 0.02, 0.05, 0.1, mostDelta} {
		if delta < o.Promise.Delta {
			continue
		}
		o.Promise.Delta = delta
		takes, _ := o.takes()
		units = cmp.Or(units, onRequest*takes)
		if left >= onRequest*takes {
			return units, delta
		}
	}
	return units, 0
}

// Asks returns what Enough returns if a fit certifies none of left units unless it is asked to, or
// not even then. Otherwise it returns 0. It takes the options before krigo decided the share of
// prior units.
func (o Asked) Asks(left int) (units int, delta float64) {
	o.Promise.Curve = o.Promise.Curve && !o.open // groups get no curve that nobody asked for
	if units, delta = o.Enough(left); onRequest*left < o.Spare*units {
		return units, delta
	}
	return 0, 0
}
