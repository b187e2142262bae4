package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// TestValidity compares a few sets of each kind of rows with their true risks, and tries their mistakes.
func TestValidity(t *testing.T) {
	ctx, total := context.Background(), tallies{}
	for _, tr := range trials {
		sets := 1
		if tr.mistake != nil && tr.controls {
			sets = 6
		}
		for number := range sets {
			must.Do(t, tr.try(ctx, number, total))
		}
	}
	fails := map[*mistake]*[2]tally{byPosition: {}, rowByRow: {}} // with the mistake, and without
	for _, d := range []*design{byTarget, byInput, discrete, inGroups, inPlaces, bySize, inBlocks} {
		for i, key := range []string{"control/" + d.name + ": " + d.mistake.wrong, "valid/" + d.name + ": " +
			d.mistake.right} {
			c := total[key]
			must.Hold(t, c.Sets == 6, "%s: %d sets, want 6", key, c.Sets)
			f := &fails[d.mistake][i]
			f.Sets += c.Sets
			f.Fails[0] += c.Fails[0]
		}
	}
	for k, f := range fails {
		if f[0].passes(0) || !f[1].passes(0) {
			t.Errorf("%s: %d certificates of %d fail; %s: %d", k.wrong, f[0].Fails[0], f[0].Sets, k.right, f[1].Fails[0])
		}
	}
	for key, c := range total {
		if !strings.HasPrefix(key, "control/") && !c.passes(0) {
			t.Errorf("%s fails in %d of %d sets", key, c.Fails[0], c.Sets)
		}
	}
	total.print(io.Discard, trials)
}

// TestTrialCertificate: the bound that is compared with the truth is the bound that krigo prints, also for groups.
func TestTrialCertificate(t *testing.T) {
	for _, d := range []*design{byTarget, bySize} {
		rng := rand.New(rand.NewPCG(1, 2))
		of := truth{source: d.sources[0], f: d.sources[0].f(rng)}
		o := krigo.Options{Data: krigo.Data{Target: "y", Transform: "none"}, Prior: krigo.Prior{Kind: "informed"},
			Method: krigo.Method{Epochs: trialEvaluations}}
		if d.size != nil {
			o.Data.Group = groupColumn
		}
		table := of.table(d.draw(of, rng), o.Data.Group)
		m := must.Get(krigo.Fit(context.Background(), table, o))(t)
		p := must.Get(of.predict(m, m.Posterior, table))(t)
		if c, err := m.Terms.Certify(p.certified, m.Posterior.KL()); err != nil || c.Difference(m.Certificate) != "" {
			t.Errorf("%s: %v, krigo's certificate differs: %s", d.name, err, c.Difference(m.Certificate))
		}
	}
}

// TestGroupRisk compares the risk of a further group with the mean over many groups.
func TestGroupRisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []*design{inPlaces, bySize} {
		for _, s := range d.sources {
			of := truth{source: s, f: s.f(rng)}
			many := *d
			many.units = rowsOf(40000)
			loss := pacbayes.Loss{Kind: pacbayes.Band, Below: 0.8}
			mean := 0.
			var losses, sizes [40000]float64
			for _, r := range many.draw(of, rng) {
				losses[int(r.group)] += loss.Point(r.y, 0, 0)
				sizes[int(r.group)]++
			}
			for g := range losses {
				mean += losses[g] / sizes[g] / float64(len(losses))
			}
			zeros := make([]float64, of.points())
			want := of.risk(loss, dataset.Scaling{TargetScale: 1}, zeros, zeros)
			must.Near(t, mean, want, 4*0.5/math.Sqrt(float64(len(losses))), fmt.Sprintf("%s, %s", d.name, s.name))
		}
	}
}

// TestTallies shows that failures in 20 of 400 sets (5 %), or in a few more, count as chance, and failures in 40 sets
// don't.
func TestTallies(t *testing.T) {
	for fails, passes := range map[int]bool{0: true, 20: true, 28: true, 40: false} {
		if c := (tally{Sets: 400, Fails: [2]int{fails}}); c.passes(0) != passes {
			t.Errorf("%d failures of %d: passes is %v", fails, c.Sets, !passes)
		}
	}
}

func TestChosenTrials(t *testing.T) {
	chosen, err := chosenTrials(Env{Sets: []string{"groups", "discrete"}, Methods: []string{"kl-pac"}})
	must.Hold(t, err == nil && len(chosen) == 2 && chosen[0].String() == "discrete: kl-pac" &&
		chosen[1].String() == "groups: kl-pac", "chosen: %v, %v", chosen, err)
	must.Refuse(chosenTrials(Env{Sets: []string{"sorted"}}))(t, "sorted by input", "an unknown kind of sets")
	must.Refuse(chosenTrials(Env{Methods: []string{"kl"}}))(t, "", "an unknown method is taken")
}
