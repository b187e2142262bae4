package watch

import (
	"math/rand/v2"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestKindsShareDelta: if all rows and each kind miss as often as their bounds allow, there is ever an alarm in at most
// the share δ of the runs.
func TestKindsShareDelta(t *testing.T) {
	const runs, rows, delta = 1000, 400, 0.2
	c := Claim{Bound: 0.2, Delta: delta, Kinds: []Claim{{Of: "a", Bound: 0.1}, {Of: "b", Bound: 0.3}}}
	rng := rand.New(rand.NewPCG(1, 2))
	alarmed, missed := 0, 0
	for range runs {
		w := newWatch(c, nil)
		e := entry{Of: make([]string, rows), Losses: make([]float64, rows), Hashes: make([]string, rows)}
		for i := range rows {
			kind := c.Kinds[rng.IntN(2)]
			if e.Of[i] = kind.Of; rng.Float64() < kind.Bound {
				e.Losses[i] = 1
				missed++
			}
		}
		must.Do(t, w.add(e))
		if s := w.tell(); s.Alarms() != nil {
			alarmed++
		}
	}
	must.Hold(t, alarmed != 0 && alarmed <= delta*runs,
		"%d alarms in %d runs, %d misses", alarmed, runs, missed)
}
