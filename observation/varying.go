package observation

import (
	"errors"
	"math"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
)

// Varying is a noise that depends on the inputs x, in scaled units.
// The noise variance is s·a(x) with
//
//	ln a(x) = shift + Σ_j slopes_j x_j + Σ_k weights_k exp(−|x − centre_k|²/(2 length²))
//
// which stays between Low and High, its ends on the rows that it was learnt on.
// If Whole is set, a(x) is a factor of the whole variance of y instead, v(x) + s for the variance v
// of f: a rough kernel takes noise for a function.
// The noise variance is then what is left of this product besides v, which may be negative.
// If Later is set, training knew only s, so that the mean is as with the same noise for all rows.
type Varying struct {
	Whole   bool        `json:"whole,omitempty"`
	Later   bool        `json:"later,omitempty"`
	Shift   float64     `json:"shift"`
	Slopes  []float64   `json:"slopes,omitempty"`
	Centres [][]float64 `json:"centres,omitempty"`
	Length  float64     `json:"length,omitempty"`
	Weights []float64   `json:"weights,omitempty"`
	Low     float64     `json:"low"`
	High    float64     `json:"high"`
}

// Trains says whether rows train with the noise s·a(x), so that it changes the mean.
// A model whose noise is the same for all rows has nil.
func (v *Varying) Trains() bool { return v != nil && !v.Whole && !v.Later }

// Logs returns ln a before it is limited, at the rows of x.
func (v *Varying) Logs(x matrix.Dense) []float64 {
	logs := make([]float64, x.Rows)
	linalg.Parallel(x.Rows, func(i int) {
		row := x.Row(i)
		log := v.Shift
		for j, b := range v.Slopes {
			log += b * row[j]
		}
		for k, c := range v.Centres {
			var square float64
			for j, z := range c {
				square += (row[j] - z) * (row[j] - z)
			}
			log += v.Weights[k] * math.Exp(-square/(2*v.Length*v.Length))
		}
		logs[i] = log
	})
	return logs
}

// Factors returns a at the rows of x.
func (v *Varying) Factors(x matrix.Dense) []float64 {
	a := v.Logs(x)
	for i, log := range a {
		a[i] = math.Exp(max(v.Low, min(log, v.High)))
	}
	return a
}

// check returns an error if v isn't a function of d inputs.
// A model without such a function has nil.
func (v *Varying) check(d int) error {
	if v == nil {
		return nil
	}
	if v.Whole {
		d += 2
	}
	wrong := (v.Slopes != nil && len(v.Slopes) != d) || len(v.Weights) != len(v.Centres) ||
		!(v.Low <= v.High) || !(math.Abs(v.Low) <= MostVarying &&
		math.Abs(v.High) <= MostVarying) || (v.Centres != nil && !(v.Length > 0))
	for _, c := range v.Centres {
		wrong = wrong || len(c) != d
	}
	if wrong {
		return errors.New("the model file's noise isn't a function of its inputs")
	}
	return nil
}

// Beside returns the rows of x with two further columns, √d times the mean of f and ln of the
// variance of y, which matter as much as all inputs together.
func (v *Varying) Beside(x matrix.Dense, mean, variance []float64, s float64) matrix.Dense {
	u := x.Like(x.Rows, x.Cols+2)
	root := math.Sqrt(float64(x.Cols))
	for i := range x.Rows {
		copy(u.Row(i), x.Row(i))
		u.Set(i, x.Cols, root*mean[i])
		u.Set(i, x.Cols+1, root*math.Log(variance[i]+s))
	}
	return u
}

// MostVarying is the largest |ln a|: of Low and High.
const MostVarying = 20

// Of does what Factors does for rows that it reads block by block.
func (v *Varying) Of(rows Blocks) (a []float64, err error) {
	err = EachBlock(rows, func(_ int, x matrix.Dense) { a = append(a, v.Factors(x)...) })
	return a, err
}
