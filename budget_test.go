package krigo_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
)

// TestBudget: a budget that is spent after the first kernel ends the choice there. The model says so and names the
// kernels that were tried, so that a refit gives the same bits without a clock. A long budget changes nothing.
func TestBudget(t *testing.T) {
	o := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Kernel: krigo.Kernel{Expression: "se,matern32+linear,rq"},
		Method: krigo.Method{Name: "evidence"}, Prior: krigo.Prior{Kind: "informed"},
		Run: krigo.Run{Restarts: 1, Budget: time.Nanosecond}}
	m := fit(t, half(), o)
	var fitted krigo.Options
	if err := json.Unmarshal(m.Fitted, &fitted); err != nil || fitted.Kernel.Expression != "se" {
		t.Errorf("fitted %q, %v", fitted.Kernel.Expression, err)
	}
	// se with one lengthscale, and with one per input
	if want := (finding.List{finding.New(finding.BudgetSpent, time.Nanosecond, 1, 3, "matern32+linear")}); m.Training.
		Starts != 2 || !reflect.DeepEqual(m.Findings.Of(finding.BudgetSpent), want) {
		t.Errorf("%d starts; %q", m.Training.Starts, m.Findings)
	}
	if _, differs, err := m.Refit(context.Background(), half(), nil); differs != "" || err != nil {
		t.Errorf("fitted again: %s, %v", differs, err)
	}
	// a product of kernels, from one of many starts
	auto := krigo.Options{Data: krigo.Data{Target: "MEDV"}, Run: krigo.Run{Budget: time.Nanosecond}}
	of := auto
	of.Data.Target = "y"
	// of 420 prior rows, 300 compare kernels
	for _, c := range []struct {
		table *dataset.Table
		o     krigo.Options
	}{{half(), auto}, {bumps(t, 600), of}} {
		m := trained(t, c.table, c.o)
		if _, differs, err := m.Refit(context.Background(), c.table, nil); differs != "" || err != nil {
			t.Errorf("by default, fitted again: %s, %v", differs, err)
		}
	}
	o.Run.Budget = time.Hour
	m = fit(t, half(), o)
	if err := json.Unmarshal(m.Fitted, &fitted); err != nil || fitted.Kernel.Expression != o.Kernel.Expression ||
		m.Training.Starts != 6 {
		t.Errorf("an hour: fitted %q with %d starts, %v", fitted.Kernel.Expression, m.Training.Starts, err)
	}
	for want, change := range map[string]func(o *krigo.Options){
		"budget -1s":               func(o *krigo.Options) { o.Run.Budget = -time.Second },
		"on prior rows":            func(o *krigo.Options) { o.Prior.Kind = "grid" },
		"kernel: se twice":         func(o *krigo.Options) { o.Kernel.Expression = "se,rq,se" },
		"a kernel name is missing": func(o *krigo.Options) { o.Kernel.Expression = "se," },
	} {
		o := o
		change(&o)
		must.Fail(t, attempt(half(), o), want)
	}
}

// TestBudgetForAll: a budget also counts the training on all rows that follows a sample, and the kernels that are tried
// after all others. A refit tries the same kernels without a clock.
func TestBudgetForAll(t *testing.T) {
	must.Long(t)
	table := bumps(t, 600) // of 420 prior rows, 300 compare kernels, so that what follows takes about as long as a kernel
	for _, c := range []struct{ kernels, slow string }{{"se,rq", "se"}, {"auto", "additive"}} {
		o := krigo.Options{Data: krigo.Data{Target: "y"}, Kernel: krigo.Kernel{Expression: c.kernels},
			Run: krigo.Run{Budget: 2 * time.Second}}
		slept := false
		o.Run.Progress = func(e krigo.Event) {
			if !slept && strings.HasPrefix(e.Family, c.slow) {
				slept = true
				time.Sleep(1300 * time.Millisecond)
			}
		}
		m := trained(t, table, o)
		must.Hold(t, len(m.Findings.Of(finding.BudgetSpent)) == 1, "%s: %q", c.slow, m.Findings)
		_, differs, err := m.Refit(t.Context(), table, nil)
		must.Hold(t, differs == "" && err == nil, "%s, fitted again: %s, %v", c.slow, differs, err)
	}
}
