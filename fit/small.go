package fit

import (
	"fmt"
	"math"
	"sort"

	"github.com/krigo-gp/krigo/pacbayes"
)

// leastSaid is the largest bound that says anything, if no certified row misses. A model's few misses double it,
// and a constant prediction misses about half of the rows at the default ε.
const leastSaid = 0.2

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

// takes returns the smallest number of certified rows, or groups, whose bound may say anything, and their bound if none
// misses.
func (o Options) takes() (units int, bound float64) {
	least := o.terms(o.Promise.loss(pacbayes.Kind(o.Promise.Loss)), 1).LeastBound
	const from = pacbayes.MinRows + 1
	most := 2 * from
	for least(most) > leastSaid {
		most *= 2
	}
	units = from + sort.Search(most-from, func(i int) bool { return least(from+i) <= leastSaid })
	return units, least(units)
}

// small returns the share of prior rows of so many units, where that is left to krigo: 1, so that all train, if too few
// are left beside the certified ones; 0 for the rule of informedRows. Between the two the certified ones grow, and those
// that train stay as many.
func (o Options) small(units int) (share float64) {
	test, calibration, prior := o.counts(units)
	left := units - test - calibration
	takes, _ := o.takes()
	if left < o.spare*takes {
		return 1
	}
	trains := min(left-takes, max((o.spare-1)*takes, prior))
	if trains == prior {
		return 0
	}
	share = float64(trains) / float64(left)
	if math.Ceil(share*float64(left)) > float64(trains) { // by rounding
		share = math.Nextafter(share, 0)
	}
	return share
}

// unspared says why there is no certificate where all of so many units train.
func (o Options) unspared(units int) string {
	what := "rows"
	if o.Data.Group != "" {
		what = "groups"
	}
	test, calibration, _ := o.counts(units)
	left := units - test - calibration
	takes, bound := o.takes()
	if left >= byDefault*takes {
		return fmt.Sprintf("all %d %s train the model, as prior-share 1 says, so that none is left to certify it by",
			left, what)
	}
	return fmt.Sprintf("all %d %s train the model; a certificate takes %d %s from training, for a bound of %.3f even if "+
		"none of them misses (δ = %g), so that krigo issues one from %d %s on, or from %d if asked by --prior informed",
		left, what, takes, what, bound, o.Promise.Delta, byDefault*takes, what, onRequest*takes)
}

// settle decides what depends on the number of units: the share of prior rows, and the reason if none is certified.
func (d *dealt) settle(units int) error {
	o := &d.options
	if o.spare > 0 && !o.learns() {
		o.Prior.Share = o.small(units)
	}
	if !o.trainsAll() {
		return nil
	}
	d.reason = o.unspared(units)
	if o.Run.Deliver == "all" {
		return o.checkDelivered()
	}
	return nil
}
