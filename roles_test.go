package krigo_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/pacbayes"
)

// bits returns the model as its file has it, without times, the name of the table, and findings about the order of
// rows.
func bits(t *testing.T, m *krigo.Model) string {
	t.Helper()
	same := *m
	same.Source = ""
	same.Findings = slices.DeleteFunc(slices.Clone(m.Findings), func(f finding.Finding) bool {
		// The order decides which row is the first of equal rows, and which rows are neighbours.
		return slices.Contains([]finding.Kind{finding.Repeats, finding.RowsInOrder, finding.GroupsInOrder,
			finding.RowsSortedBy, finding.GroupsSortedBy}, f.Kind)
	})
	return file(t, &same)
}

// TestColumnsInAnyOrder: the columns in another order, and with other names, give rows the same roles and the same
// certificate, and predictions that agree up to rounding. It holds for categories, groups and several targets
// too.
func TestColumnsInAnyOrder(t *testing.T) {
	names := []string{"place", "u", "kind", "v", "twin", "y", "z"}
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([][]string, 240)
	for i := range rows {
		u, v := r.NormFloat64(), r.NormFloat64()
		kind := string("abc"[i%3])
		number := func(v float64) string { return fmt.Sprintf("%.4f", v) }
		y := math.Sin(2*u) + 0.5*v + 0.1*r.NormFloat64()
		rows[i] = []string{fmt.Sprint("p", i%120), number(u), kind, number(v), number(v), number(y), number(y + u)}
	}
	table := func(order []int, rename string) *dataset.Table {
		var b strings.Builder
		line := func(row []string, end string) {
			for k, at := range order {
				if k > 0 {
					b.WriteByte(',')
				}
				b.WriteString(row[at])
				if end != "" && (row[at] == "u" || row[at] == "v") {
					b.WriteString(end)
				}
			}
			b.WriteByte('\n')
		}
		line(names, rename)
		for _, row := range rows {
			line(row, "")
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		must.Need(t, os.WriteFile(path, []byte(b.String()), 0o600) == nil, "can't write %s", path)
		return must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	}
	fits := map[string]krigo.Data{
		"rows":    {Target: "y", Ignore: []string{"place", "z", "kind"}},
		"coded":   {Target: "y", Ignore: []string{"place", "z"}, Categorical: []string{"kind"}},
		"grouped": {Target: "y", Ignore: []string{"z", "kind"}, Group: "place"},
		"beside":  {Target: "y", Ignore: []string{"place", "kind"}, Beside: []string{"y", "z"}},
	}
	for name, of := range fits {
		options := krigo.Options{Data: of, Kernel: krigo.Kernel{Expression: "se"}}
		fit := func(table *dataset.Table) *krigo.Model {
			if of.Beside == nil {
				return must.Get(krigo.Fit(t.Context(), table, options))(t)
			}
			one := options
			one.Data.Beside = nil
			return &krigo.Model{Model: *must.Get(krigo.FitTargets(t.Context(), table, of.Beside, one))(t).Models[0]}
		}
		want := fit(table([]int{0, 1, 2, 3, 4, 5, 6}, ""))
		moved := table([]int{6, 4, 3, 5, 0, 2, 1}, "_new")
		got := fit(moved)
		must.Hold(t, want.Certificate != nil, "%s: %s", name, want.CertificateReason)
		must.Hold(t, got.All == want.All && got.Hash == want.Hash &&
			slices.Equal(got.Rows, want.Rows), "%s: other rows are certified", name)
		must.Hold(t, got.Certificate.Bound == want.Certificate.Bound,
			"%s: bound %v, want %v", name, got.Certificate.Bound, want.Certificate.Bound)
		a := must.Get(got.Predict(t.Context(), moved, krigo.PredictOptions{}))(t)
		b := must.Get(want.Predict(t.Context(), table([]int{2, 1, 0, 4, 5, 3, 6}, ""), krigo.PredictOptions{}))(t)
		for i := range a {
			must.Hold(t, math.Abs(a[i].Mean-b[i].Mean) <= 1e-6,
				"%s: row %d is predicted %v, and %v", name, i, a[i].Mean, b[i].Mean)
		}
		again := must.Get(krigo.Read(bytes.NewReader([]byte(file(t, got)))))(t)
		reproduced(t, again, moved, name)
	}
}

// TestRowsInAnyOrder: the same rows in another order have the same roles and give the same model to the last bit, in
// memory and from disk. Over ranks, whose sums are taken in another order, the model is the same up to rounding.
// certify accepts the rows in any order.
func TestRowsInAnyOrder(t *testing.T) {
	must.Long(t)
	const n = 200
	path := waves(t, "waves.npy", n)
	whole := must.Get(files.ReadFile(path, dataset.Reading{}))(t)
	defer whole.Close()
	values := make([]float64, 3*n)
	d := must.Get(whole.Regression("y"))(t)
	x, y, err := d.Select(d.All())
	must.Need(t, err == nil, "%v", err)
	for i := range n {
		copy(values[3*i:], []float64{x[2*i], x[2*i+1], y[i]})
	}
	copy(values[3*100:], values[:3]) // a third copy of the first row
	byY := func(a, b int) int { return cmp.Compare(values[3*a+2], values[3*b+2]) }
	orders := map[string][]int{"as they stand": every(0, 1, n), "sorted by the target": every(0, 1, n),
		"at random": rand.New(rand.NewPCG(3, 4)).Perm(n)}
	slices.SortFunc(orders["sorted by the target"], byY)
	tables := map[string]*dataset.Table{}
	paths := map[string]string{}
	folder := t.TempDir()
	for name, order := range orders {
		table := &dataset.Table{Source: "waves", Names: []string{"a", "b", "y"}, Rows: n}
		for _, i := range order {
			table.Values = append(table.Values, values[3*i:3*i+3]...)
		}
		tables[name] = table
		paths[name] = filepath.Join(folder, name+".npy")
		must.Do(t, files.WriteFile(paths[name], table.Names, n, func(i int, v []float64) error {
			copy(v, table.Values[3*i:])
			return nil
		}))
	}
	for name, o := range map[string]krigo.Options{
		"default": {
			Data:    krigo.Data{TestFraction: 0.1},
			Promise: krigo.Promise{Share: 0.8, Calibration: 0.1},
			Run:     krigo.Run{Restarts: 1},
		},
		"dtc": {
			Method: krigo.Method{Name: "dtc", Inducing: 9, Epochs: 20},
		},
		"evidence, all rows": cheap(krigo.Options{
			Data:   krigo.Data{Scaling: "all-rows"},
			Method: krigo.Method{Name: "evidence"},
		}),
		"vfe, k-means": {
			Method: krigo.Method{Name: "vfe", Inducing: 12, Epochs: 30},
		},
		"fitc, greedy": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "fitc", Inducing: 10, InducingInit: "greedy", Epochs: 20},
		},
		"pep, k-DPP": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "pep", Inducing: 10, InducingInit: "kdpp", Epochs: 20},
		},
		"kl-pac, free": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{
				Name:         "kl-pac",
				Inducing:     8,
				InducingInit: "random",
				Posterior:    "free",
				Epochs:       10,
			},
		},
		"svgp": {
			Method: krigo.Method{Name: "svgp", Inducing: 8, Batch: 40, Epochs: 4},
		},
		"renyi": {
			Method: krigo.Method{
				Name:      "renyi",
				Inducing:  8,
				Optimizer: "adam",
				Batch:     64,
				Epochs:    2,
			},
		},
		"learnt": {
			Kernel: krigo.Kernel{ARD: "off"},
			Method: krigo.Method{Name: "vfe", Inducing: 8, Epochs: 15},
			Prior:  krigo.Prior{Kind: "informed", Learn: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o.Data.Target = "y"
			want := trained(t, tables["as they stand"], o)
			for order, table := range tables {
				disk := must.Get(files.ReadFile(paths[order], dataset.Reading{}))(t)
				if bits(t, trained(t, table, o)) != bits(t, want) || bits(t, trained(t, disk, o)) != bits(t, want) {
					t.Errorf("%s: another model", order)
				}
				reproduced(t, want, table, order)
				disk.Close()
				spread, errs := together(t, paths[order], 3, func(table *dataset.Table) (*krigo.Model, error) {
					return krigo.Fit(context.Background(), table, o)
				})
				must.Do(t, errors.Join(errs...))
				must.Hold(t, spread.All == want.All && spread.Hash == want.Hash &&
					spread.Counts == want.Counts && slices.Equal(spread.Rows, want.Rows),
					"%s, 3 ranks: other roles", order)
				a, errA := want.Predict(t.Context(), tables["as they stand"], krigo.PredictOptions{})
				b, errB := spread.Predict(t.Context(), tables["as they stand"], krigo.PredictOptions{})
				must.Do(t, errors.Join(errA, errB))
				for i := range a {
					if math.Abs(a[i].Mean-b[i].Mean) > 1e-5*want.Scaling.TargetScale {
						t.Fatalf("%s, 3 ranks: row %d is predicted %v, of one %v", order, i, b[i].Mean, a[i].Mean)
					}
				}
				if r := math.Abs(spread.Certificate.EmpiricalRisk - want.Certificate.EmpiricalRisk); r > 1e-6 {
					t.Errorf("%s, 3 ranks: risk %v, of one %v", order, spread.Certificate.EmpiricalRisk,
						want.Certificate.EmpiricalRisk)
				}
			}
		})
	}
}

// sites returns rows of n groups. A group has one to five rows, which share an offset.
func sites(groups int) *dataset.Table {
	rng := rand.New(rand.NewPCG(5, 6))
	t := &dataset.Table{Source: "sites.csv", Names: []string{"site", "x", "y"}}
	for g := range groups {
		offset := rng.NormFloat64()
		for range 1 + g%5 {
			x := rng.Float64()
			t.Append([]string{fmt.Sprintf("s%d", g), fmt.Sprint(x),
				fmt.Sprint(math.Sin(6*x) + 0.5*offset + 0.1*rng.NormFloat64())})
		}
	}
	return t
}

// wealth returns what 64 gamblers own, on average, after bets on these losses against the mean m.
func wealth(losses []float64, m, delta float64) (sum float64) {
	least := math.Sqrt(math.Sqrt(math.Log(1/delta) / float64(len(losses))))
	for k := range 64 {
		stake := math.Pow(least+(1-least)*math.Sin((float64(k)+0.5)*math.Pi/128), 2)
		own := 1. / 64
		for _, loss := range losses {
			own *= 1 - stake + stake*(1-loss)/(1-m)
		}
		sum += own
	}
	return sum
}

// TestGroups: a whole group has one role. The certificate counts groups: it bounds the mean of the groups' misses by
// betting, with the number of groups.
func TestGroups(t *testing.T) {
	table := sites(120)
	o := krigo.Options{
		Data:    krigo.Data{Target: "y", Group: "site", TestFraction: 0.1},
		Promise: krigo.Promise{Epsilon: 1.5, Share: 0.5},
		Run:     krigo.Run{Restarts: 1},
	}
	m := trained(t, table, o)
	c := m.Certificate
	must.Need(t, c != nil && c.Group == "site" && slices.Equal(m.Inputs, []string{"x"}) &&
		c.Groups == m.Groups[dataset.Certified] && m.Groups.Sum() == 120 &&
		c.Rows == m.Counts[dataset.Certified] && c.Rows > c.Groups,
		"%+v, %v of %v", c, m.Groups, m.Inputs)
	roleOf := map[float64]dataset.Role{}
	misses, sizes := map[float64]float64{}, map[float64]float64{}
	ps := predict(t, m, table)
	for role := dataset.Test; role <= dataset.Certified; role++ {
		for _, i := range rowsOf(t, m, table, role) {
			site := table.Values[3*i]
			if before, ok := roleOf[site]; ok && before != role {
				t.Fatalf("site %v is %s and %s", site, before, role)
			}
			roleOf[site] = role
			if role == dataset.Certified {
				sizes[site]++
				if math.Abs(ps[i].Mean-table.Values[3*i+2]) > c.EpsilonRaw {
					misses[site]++
				}
			}
		}
	}
	var risk float64
	var losses []float64
	for site, n := range sizes {
		losses = append(losses, misses[site]/n)
		risk += misses[site] / n / float64(len(sizes))
	}
	near(t, "risk", c.EmpiricalRisk, risk, 1e-12)
	// Half of δ is the promise's.
	must.Hold(t, c.Inequality == pacbayes.BettingBound && m.Terms.Rules == 2 &&
		wealth(losses, c.MeanBound-1e-6, 0.005) <= 200 && wealth(losses, c.MeanBound, 0.005) >= 200,
		"%s, rules %d, bound %v", c.Inequality, m.Terms.Rules, c.MeanBound)
	if s := m.Sentence(c); !strings.Contains(s, "over the draw of the certified groups") ||
		!strings.Contains(s, "further groups from the same source (grouped by site, on average over groups)") {
		t.Error(s)
	}
	reproduced(t, m, table)
	// Fresh rows are counted by groups, too.
	f, err := m.CertifyFresh(t.Context(), table)
	must.Hold(t, err == nil && f.Groups == m.Groups[dataset.Test] &&
		f.Rows == m.Counts[dataset.Test], "%+v, %v", f, err)
	for want, change := range map[string]func(o *krigo.Options){
		"no column \"sites\"": func(o *krigo.Options) {
			o.Data.Group, o.Data.Categorical = "sites", []string{"site"}
		},
		"that column is the target":              func(o *krigo.Options) { o.Data.Group = "y" },
		"both --group and --split last":          func(o *krigo.Options) { o.Data.Split = "last" },
		"could change places":                    func(o *krigo.Options) { o.Promise.Calibration = 0.2 },
		"that column is the target, or an input": func(o *krigo.Options) { o.Data.Categorical = []string{"site"} },
	} {
		o := o
		change(&o)
		must.Fail(t, attempt(table, o), want)
	}
	named := sites(60)
	named.Text[0][3], named.Text[0][40] = "Site A", "site  a"
	want := finding.List{finding.New(finding.AlikeGroups, []string{"Site A", "site  a"})}
	if m := trained(t, named, o); !reflect.DeepEqual(m.Findings.Of(finding.AlikeGroups), want) {
		t.Errorf("%q", m.Findings)
	}
	numbered := sites(60)
	numbered.Text = nil
	numbered.Values[0] = 1 << 53
	must.Fail(t, attempt(numbered, o), "2^53 or more")
	few := trained(t, sites(24), krigo.Options{
		Data:  krigo.Data{Target: "y", Group: "site"},
		Prior: krigo.Prior{Kind: "informed", Share: 0.5},
		Run:   krigo.Run{Restarts: 1},
	})
	if few.Certificate != nil || !strings.Contains(few.CertificateReason, "fewer than 20 certified groups") {
		t.Errorf("%+v, %s", few.Certificate, few.CertificateReason)
	}
}

// TestBlocksOfTime: if groups are blocks of dates, the certificate's sentence says that it is about rows of the same
// period, not about later rows. If blocks are short for the kernel, neighbouring blocks predict one another, and the
// fit says so. Long blocks get no such finding. The group block:day:auto becomes a group with a size.
func TestBlocksOfTime(t *testing.T) {
	text := "day,y\n"
	for i := range 320 {
		text += fmt.Sprintf("%s,%v\n", time.Unix(int64(i)*86400, 0).UTC().Format(time.DateOnly), math.Sin(float64(i)/3)+math.Sin(float64(i*i))/9)
	}
	table := must.Get(files.CSV{From: strings.NewReader(text), Source: "d.csv",
		As: dataset.Reading{Dates: []dataset.Dates{{Column: "day"}}}}.Read())(t)
	for group, short := range map[string]bool{"block:day:2": true, "block:day:7": false, "block:day:auto": true} {
		m := fit(t, table, krigo.Options{
			Data:   krigo.Data{Target: "y", Group: group},
			Kernel: krigo.Kernel{Expression: "se"},
			Method: krigo.Method{Name: "evidence"},
			Prior:  krigo.Prior{Kind: "informed"},
			Run:    krigo.Run{Restarts: 1},
		})
		if found := m.Findings.Of(finding.NearBlocks); (len(found) == 1) != short {
			t.Errorf("%s: %q, kernel %v", group, found.Words(), m.Posterior.Theta)
		}
		if c := m.Certificate; c == nil || !strings.Contains(m.Sentence(c), "of the same period, not later ones)") ||
			!strings.Contains(strings.Join(c.Conditions, " "), "--split last") || strings.Contains(m.Group, "auto") {
			t.Errorf("%s: %+v", m.Group, c)
		}
		reproduced(t, m, table)
	}
}

// TestBacktest: the certified rows are the last rows except test rows, and nothing is called a certificate.
func TestBacktest(t *testing.T) {
	m := trained(t, homes(), krigo.Options{
		Data: krigo.Data{Split: "last", TestFraction: 0.1},
		Run:  krigo.Run{Restarts: 1},
	})
	n, tests := m.Counts[dataset.Certified], m.Counts[dataset.Test]
	if rows := rowsOf(t, m, homes(), dataset.Certified); !slices.Equal(rows, every(85-tests-n, 1, 85-tests)) {
		t.Errorf("certified rows %v", rows)
	}
	c := m.Certificate
	must.Hold(t, !c.Valid && strings.HasPrefix(c.Label, "backtest") &&
		strings.HasPrefix(c.Conditions[0], "NOT MET") &&
		strings.HasPrefix(m.Sentence(c), fmt.Sprintf("This is a backtest, not a certificate. Of the predictions on the last %d rows, which the model "+
			"didn't see, ", n)),
		"%+v", c)
	reproduced(t, m, homes())
	for name, o := range map[string]krigo.Options{
		"kl-pac":  {Method: krigo.Method{Name: "kl-pac"}},
		"learnt":  {Prior: krigo.Prior{Kind: "informed", Learn: true}},
		"promise": {Promise: krigo.Promise{Share: 0.9}},
		"twice":   {Promise: krigo.Promise{MeanBound: "twice"}},
	} {
		o.Data.Target, o.Data.Split = "MEDV", "last"
		must.Fail(t, attempt(homes(), o), "a backtest is of a mean that didn't see the last rows", name)
	}
	_, err := krigo.Compare(context.Background(), homes(),
		krigo.Options{Data: krigo.Data{Target: "MEDV", Split: "last"}},
		krigo.CompareOptions{Objectives: []string{"evidence"}, Epsilons: []float64{1}, Splits: 2})
	must.Hold(t, err != nil, "two splits that are the same")
	back := every(0, 1, 85)
	slices.Reverse(back)
	if r, err := certify(m, pick(homes(), back)); err == nil {
		t.Errorf("other rows are the last: %+v", r)
	}
}

// TestOutside: predictions unlike all rows of the fit are counted, by input.
func TestOutside(t *testing.T) {
	m := trained(t, homes(), cheap(krigo.Options{}))
	inside := pick(homes(), []int{3, 3, 3})
	inside.Values[4] = m.Range.Max[0] // the first input of the second row
	far := pick(homes(), []int{3, 3})
	far.Values[0], far.Values[1] = math.Nextafter(m.Range.Max[0], 1e9), m.Range.Min[1]-1
	far.Values[4] = m.Range.Min[0] - 1e-9
	for table, want := range map[*dataset.Table][]int{inside: {0, 0, 0}, far: {2, 1}} {
		ps := predict(t, m, table)
		var got []int
		for _, p := range ps {
			got = append(got, p.Outside)
		}
		must.Hold(t, slices.Equal(got, want), "outside %v, want %v", got, want)
	}
}

// TestResumeHoldsAllRows: a checkpoint belongs to all rows, also to rows that the objective never saw, and to every
// option.
func TestResumeHoldsAllRows(t *testing.T) {
	base := cheap(krigo.Options{
		Data:   krigo.Data{Target: "MEDV", TestFraction: 0.1},
		Method: krigo.Method{Name: "fitc", Inducing: 6},
	})
	var saved *krigo.Checkpoint
	o := base
	o.Run.Save = func(c *krigo.Checkpoint) error {
		raw, err := json.Marshal(c)
		saved = new(krigo.Checkpoint)
		return errors.Join(err, json.Unmarshal(raw, saved))
	}
	m := trained(t, homes(), o)
	resume := func(table *dataset.Table, change func(o *krigo.Options)) error {
		o := base
		o.Run.Resume = saved
		change(&o)
		_, err := krigo.Fit(context.Background(), table, o)
		return err
	}
	must.Do(t, resume(homes(), func(*krigo.Options) {}))
	for name, change := range map[string]func(o *krigo.Options){
		"posterior": func(o *krigo.Options) { o.Method.Posterior = "fitc" },
		"promise":   func(o *krigo.Options) { o.Promise.Share = 0.9 },
		"loss":      func(o *krigo.Options) { o.Promise.Loss = "gaussian" },
		"delta":     func(o *krigo.Options) { o.Promise.Delta = 0.05 },
		"group":     func(o *krigo.Options) { o.Data.Group = "DIS" },
	} {
		if err := resume(homes(), change); !errors.Is(err, krigo.ErrOtherCheckpoint) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for _, role := range []dataset.Role{dataset.Test, dataset.Prior, dataset.Certified} {
		table := homes()
		table.Values[4*rowsOf(t, m, table, role)[0]+3] += 1e-9
		if err := resume(table, func(*krigo.Options) {}); !errors.Is(err, krigo.ErrOtherCheckpoint) {
			t.Errorf("another target of a %s row: %v", role, err)
		}
	}
	// In the default mode the objective sees only prior rows.
	base = cheap(krigo.Options{Data: krigo.Data{Target: "MEDV"}})
	o = base
	o.Run.Save = func(c *krigo.Checkpoint) error { saved = c; return nil }
	m = trained(t, homes(), o)
	table := homes()
	table.Values[4*rowsOf(t, m, table, dataset.Prior)[0]+3]++
	if err := resume(table, func(*krigo.Options) {}); !errors.Is(err, krigo.ErrOtherCheckpoint) {
		t.Errorf("another target of a prior row of the default: %v", err)
	}
}

// TestNeighboursMissAlike: if rows miss like their neighbours, a finding says so, with the number. Independent rows get no such
// finding, in any order.
func TestNeighboursMissAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for name, c := range map[string]struct {
		carry float64 // share of the noise that the next row keeps
		sort  int     // column that sorts the rows; −1: none
		want  finding.Kind
	}{
		"drift":                {0.95, -1, finding.RowsInOrder},
		"drift, with its time": {0.95, 0, finding.RowsSortedBy},
		"independent":          {0, -1, ""},
		"sorted by the target": {0, 2, ""},
	} {
		const n = 400
		rows := make([][]float64, n)
		drift := 0.
		for i := range rows {
			drift = c.carry*drift + math.Sqrt(1-c.carry*c.carry)*rng.NormFloat64()
			at := rng.Float64()
			if c.sort == 0 {
				at = float64(i)
			}
			x := rng.Float64()
			rows[i] = []float64{at, x, math.Sin(6*x) + drift}
		}
		if c.sort == 2 {
			slices.SortFunc(rows, func(a, b []float64) int { return cmp.Compare(a[2], b[2]) })
		}
		table := &dataset.Table{Source: "drift", Names: []string{"t", "x", "y"}, Rows: n, Values: slices.Concat(rows...)}
		// This kernel can't follow the drift in time.
		m := trained(t, table, cheap(krigo.Options{
			Data:   krigo.Data{Target: "y"},
			Kernel: krigo.Kernel{Expression: "linear"},
		}))
		for _, kind := range []finding.Kind{finding.RowsInOrder, finding.RowsSortedBy} {
			if of := m.Findings.Of(kind); (of != nil) != (c.want == kind) ||
				kind == finding.RowsSortedBy && of != nil && !slices.Equal(of[0].Subject, []string{"t", "y"}) {
				t.Errorf("%s: %q", name, m.Findings)
			}
		}
	}
}

// TestFittedIsStored: a model says which options fitted it.
func TestFittedIsStored(t *testing.T) {
	m := trained(t, homes(), cheap(krigo.Options{Kernel: krigo.Kernel{Expression: "matern52"}}))
	var o krigo.Options
	if err := json.Unmarshal(m.Fitted, &o); err != nil || o.Kernel.Expression != "matern52" ||
		o.Method.Name != "evidence" || o.Promise.Epsilon != 0.6 || !reflect.DeepEqual(o.Prior.Temper, []float64{1}) {
		t.Errorf("%v: %s", err, m.Fitted)
	}
}

// TestOldRoles: in old models the order of the file decided the certified rows. Such a certificate is valid if the
// person who certifies vouches for the order, and every statement says so. A file with an old version number and a
// new header is refused.
func TestOldRoles(t *testing.T) {
	m := must.Get(krigo.Load("model/testdata/v1.krigo"))(t)
	if c := m.Certificate; c.Valid || !strings.Contains(c.Label, "order of the rows in the file") ||
		!strings.HasPrefix(m.Sentence(c), "Not a certificate") ||
		!strings.Contains(strings.Join(c.Conditions, "\n"), "NOT MET: the order") {
		t.Errorf("%+v, %s", c, m.Sentence(c))
	}
	if r, err := certify(m, pick(data.Snelson(), every(0, 1, 60))); err != nil || !r.Matches || r.Valid ||
		r.IndependentlyChecked {
		t.Errorf("%+v, %v", r, err)
	}
	m = must.Get(m.AcceptFileOrder())(t)
	if r, err := certify(m, pick(data.Snelson(), every(0, 1, 60))); err != nil || !r.Matches || !r.Valid ||
		!strings.Contains(r.Certificate.Label, "if the order") || !strings.Contains(m.Sentence(r.Certificate),
		"The bound holds only if that order has nothing to do with what the rows hold") {
		t.Errorf("%+v, %v", r, err)
	}
	raw := must.Get(os.ReadFile("model/testdata/v5.krigo"))(t)
	raw[versionAt] = 3
	h, arrays := opened(raw)
	forge := func() error {
		head, err := json.Marshal(h)
		if err == nil {
			_, err = krigo.Read(bytes.NewReader(closed(raw, head, arrays)))
		}
		return err
	}
	must.Fail(t, forge(), "isn't of that version", "another version")
	delete(h, "split")
	if err := forge(); err == nil {
		t.Error("a header of version 5 without its split passes for one of version 3")
	}
	if _, err := fit(t, homes(), cheap(krigo.Options{})).AcceptFileOrder(); err == nil {
		t.Error("there was nothing to accept")
	}
}

const (
	versionAt = 8  // bytes of magic before it
	headerAt  = 16 // bytes of magic, version and length before it
)

// opened takes a model file apart into header and arrays.
func opened(raw []byte) (header map[string]any, arrays []byte) {
	end := headerAt + int(binary.LittleEndian.Uint32(raw[versionAt+4:]))
	return parsed(raw[headerAt:end]).(map[string]any), raw[end : len(raw)-sha256.Size]
}

// closed puts header and arrays together under a checksum that fits.
func closed(raw, header, arrays []byte) []byte {
	out := slices.Clone(raw[:headerAt])
	binary.LittleEndian.PutUint32(out[versionAt+4:], uint32(len(header)))
	out = slices.Concat(out, header, arrays)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func parsed(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // the seed needs all its digits
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// TestNewGroups: a model for new groups knows how much the groups differ, though the rows of a group tell one another's
// targets.
func TestNewGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	table := &dataset.Table{Source: "plants.csv", Names: []string{"plant", "height", "day", "y"}}
	for g := range 60 {
		height := rng.NormFloat64()
		level := rng.NormFloat64()
		for day := range 8 {
			table.Append([]string{fmt.Sprintf("p%d", g), fmt.Sprint(height), fmt.Sprint(day),
				fmt.Sprint(math.Sin(float64(day)) + level + 0.1*rng.NormFloat64())})
		}
	}
	m := trained(t, table, krigo.Options{Data: krigo.Data{Target: "y", Group: "plant", TestFraction: 0.5}})
	test := m.Test
	must.Hold(t, test.Groups == 30 && test.Coverage95 > 0.9 && test.NLPD < 2, "%+v", test)
	_, differs, err := m.Refit(t.Context(), table, nil)
	must.Hold(t, differs == "" && err == nil, "fitted again: %s, %v", differs, err)
}
