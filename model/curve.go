package model

import (
	"errors"
	"fmt"
	"slices"
)

// Curve holds the course of the training objective from one starting point:
// all iterations, or some of a long run.
type Curve struct {
	Family     string    `json:"family"` // kernel family
	Start      int       `json:"start"`
	Iterations []int     `json:"iterations"`
	Values     []float64 `json:"values"`

	// Every is the least number of iterations between two points, except before the last point.
	// It is 0 if every iteration has a point.
	Every int `json:"every,omitempty"`
}

// curvePoints is the number of points at which a curve is thinned. A drawing shows fewer points.
const curvePoints = 200

// Check returns an error if a file holds a curve that can't be drawn.
func (c *Curve) Check() error {
	switch {
	case c == nil:
		return errors.New("it is null")
	case len(c.Iterations) != len(c.Values):
		return fmt.Errorf("it has %d iterations, but %d values", len(c.Iterations), len(c.Values))
	case c.Every < 0 || c.Every > 1<<40:
		return fmt.Errorf("its field every is %d", c.Every)
	}
	return nil
}

// Clone returns a copy that shares nothing with c.
func (c *Curve) Clone() *Curve {
	d := *c
	d.Iterations, d.Values = slices.Clone(c.Iterations), slices.Clone(c.Values)
	return &d
}

// Add adds a point if its value is finite. Iterations must not decrease.
// A point replaces an earlier point of the same iteration.
func (c *Curve) Add(iteration int, value float64) {
	if value-value != 0 {
		return
	}
	// The last point is always the newest. Later points replace it if it is too close to the point
	// before it.
	n := len(c.Iterations)
	if (n > 0 && c.Iterations[n-1] >= iteration) ||
		(n > 1 && c.Iterations[n-1]-c.Iterations[n-2] < c.Every) {
		n--
	}
	c.Iterations = append(c.Iterations[:n], iteration)
	c.Values = append(c.Values[:n], value)
	if n++; n < curvePoints {
		return
	}
	c.Every = max(1, c.Every) * 2
	kept := 0
	for i := range n {
		if i == n-1 || kept == 0 || c.Iterations[i]-c.Iterations[kept-1] >= c.Every {
			c.Iterations[kept], c.Values[kept] = c.Iterations[i], c.Values[i]
			kept++
		}
	}
	c.Iterations = c.Iterations[:kept]
	c.Values = c.Values[:kept]
}
