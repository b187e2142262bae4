package foreign

import (
	"math"

	"github.com/krigo-gp/krigo/pacbayes"
)

// The loss "log" costs little for small misses, and 1 from 4 ε on. "unbounded" isn't a valid loss, because it exceeds
// 1.
func init() {
	pacbayes.RegisterLoss("log", func(miss float64) float64 { return min(math.Log1p(math.Abs(miss))/math.Log(5), 1) })
	pacbayes.RegisterLoss("unbounded", math.Abs)
}
