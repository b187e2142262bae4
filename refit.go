package krigo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/fit/ask"
	"github.com/krigo-gp/krigo/internal/fit/plan"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/model/fresh"
	"github.com/krigo-gp/krigo/pacbayes"
)

// How a certificate's model is fitted again, to see whether its options and rows make it.

// Refit fits the model again with the options of its fit.
// If this gives the same model, the lists count as checked also what only a refit can check.
// Otherwise differs says how the two models differ.
// Refit returns an error if the new model misses so often that the certificate's bound can't be its
// own.
func (r *Recertification) Refit(ctx context.Context,
	progress func(Event)) (differs string, err error) {
	again, differs, err := r.model.Refit(ctx, r.table, progress)
	if err != nil {
		return "", err
	}
	r.known.Differs = differs != ""
	if r.Refitted, r.known.Refit = differs == "", "fitting again gave another model, by another "+
		"kind of processor or version, or because the file isn't true: "+differs; r.Refitted {
		r.RefitSeconds = 0
	} else if a, c := again.Certificate, r.Certificate; a == nil || c.Valid {
		zeroOne := c.Route == pacbayes.Direct && c.Groups == 0 && r.model.Terms.Loss.IsZeroOne()
		if a == nil {
			return differs, fmt.Errorf("fitting again gives a model without a certificate (%s): "+
				"don't rely on this file", again.CertificateReason)
		}
		seen := fresh.Risk{ZeroOne: zeroOne, Mean: math.Min(a.EmpiricalRisk, 1),
			Units: cmp.Or(c.Groups, c.Rows), Delta: c.Delta}
		if e := seen.Beyond(c.Bound); e != nil {
			return differs, fmt.Errorf("fitting again gives a model whose risk is %.4f on the "+
				"certified rows and at least %.4f on further ones, where this file's bound is "+
				"%.4f: don't rely on this file", e.Risk, e.AtLeast, e.Certified)
		}
	}
	if differs != "" {
		far, err := r.model.apart(ctx, again, r.table)
		if err != nil {
			return differs, err
		}
		if !(far <= mostRefit) || !slices.EqualFunc(again.Ties, r.model.Ties, model.Tie.Near) {
			r.Matches = false
		}
		// a prior on the grid has a bound for every posterior
		if !r.Matches && r.model.Terms.Informed {
			return differs, fmt.Errorf("fitting again gives another model, whose predictions "+
				"differ by %.2g standard deviations of %s: don't rely on this file, unless "+
				"another version of krigo made it (then --no-refit takes its training on the "+
				"fitter's word)", far, cautious.Name(r.model.Target))
		}
	}
	r.list()
	return differs, nil
}

// mostRefit is how far predictions of a refit may be from the model's (see apart).
// Another kind of processor rounds otherwise, so that training ends a little elsewhere.
const mostRefit = 0.01

// apart returns the root mean square, over a table's rows, of the difference of two models'
// predictions, in standard deviations of the target.
func (m *Model) apart(ctx context.Context, other *Model, table *dataset.Table) (float64, error) {
	a, err := m.Predict(ctx, table, PredictOptions{})
	if err != nil {
		return 0, err
	}
	b, err := other.Predict(ctx, table, PredictOptions{})
	if err != nil {
		return 0, err
	}
	var squares float64
	for i, p := range a {
		d := p.Unit().Narrow(p.Mean-b[i].Mean) / m.Scaling.TargetScale
		squares += d * d
	}
	return math.Sqrt(squares / float64(len(a))), nil
}

// longest is how long a refit may take that nobody asked for.
const longest = 10 * time.Minute

// mostBrief is the work (see work) of a fit that takes about a minute on two cores.
// Boston's takes 4e9, and 3 s.
const mostBrief = 6e10

// work estimates how much a fit of the model takes:
// its kernels and starts, times its rows, times the square of the rows that one factorisation has,
// more with many inputs. It counts rows and kernels alone, because the seconds that a file states
// may be forged.
func (m *Model) work() float64 {
	o, err := ask.Fitted(&m.Model)
	if err != nil {
		return math.Inf(1)
	}
	q := m.Trained()
	factored := float64(q.Support.Rows)
	if _, nearest := q.Arrays(); nearest > 0 {
		factored = float64(nearest)
	}
	rows := float64(m.Counts[dataset.Prior])
	if !m.Terms.Fixed {
		rows += float64(m.Counts[dataset.Certified])
	}
	starts := float64(len(plan.Families(o, model.InputsOf(m.Inputs, m.Encoding))) * max(
		o.Run.Restarts, 1))
	return starts * rows * factored * (factored + 100*float64(len(m.Inputs)))
}

// RefitIfBrief calls Refit for a model whose rows and kernels need about a minute.
// If the refit failed, or was stopped because it took too long, the lists say so.
func (r *Recertification) RefitIfBrief(ctx context.Context, progress func(Event)) error {
	if !r.Matches || r.model.Fitted == nil || r.model.work() > mostBrief {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	differs, err := r.Refit(within, progress)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		r.known.Refit = fmt.Sprintf("fitting again was stopped after %v (with --refit, certify "+
			"goes on)", longest)
	case err != nil && differs == "":
		r.known.Refit = fmt.Sprintf("fitting again failed: %v", err)
		r.known.Differs = true
	default:
		return err
	}
	r.list()
	return nil
}
