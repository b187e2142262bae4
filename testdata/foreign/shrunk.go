package foreign

import (
	"context"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/train"
)

// Shrunk trains a full GP by the evidence, minus ½ S times the sum of the squared log-parameters of its kernel. S is
// a setting that only this method has. The settings of its minimiser are settings that other methods have too. The help
// of krigo's own settings is the comment above their fields. The help of another module's settings is a tag.
type Shrunk struct {
	method.Steps
	Shrink float64 `set:"shrink" value:"S" range:"0:1000" default:"1" for:"training" help:"shrunk: draws log-parameters to 0"`
}

// Bind implements method.Method.
func (m Shrunk) Bind(t method.Task) method.Problem {
	return &shrunk{method.Evidence{}.Bind(t), m, len(t.Kernel.Params())}
}

func init() {
	method.Register(method.Kind{Name: "shrunk", Help: "the evidence, shrunk", Size: method.FullOnly, Method: Shrunk{}})
}

type shrunk struct {
	method.Problem
	method Shrunk
	theta  int // the number of the kernel's parameters
}

func (p *shrunk) Evaluate(x, gradient []float64) (float64, error) {
	v, err := p.Problem.Evaluate(x, gradient)
	for i, theta := range x[:p.theta] {
		v += p.method.Shrink * theta * theta / 2
		if gradient != nil {
			gradient[i] += p.method.Shrink * theta
		}
	}
	return v, err
}

func (p *shrunk) Minimize(ctx context.Context, run method.Run, x []float64) (*train.Result, error) {
	return p.method.Descent().Minimize(ctx, run.In(p.Box(x)), p, x)
}
