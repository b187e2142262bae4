package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

// settled holds what krigo says about a table of settings, and what of it holds on new settings.
type settled struct {
	Inspect string `json:"inspect,omitempty"` // units that a quick look found
	Fitted  bool   `json:"fitted,omitempty"`
	Fit     string `json:"fit,omitempty"`  // units that the fit found
	Asks    bool   `json:"asks,omitempty"` // the fit certifies nothing until somebody says for which settings
	// Promised is the certified share of predictions within a width, with --population same if the fit asks. Kept is
	// the share on new settings.
	Promised float64 `json:"promised,omitempty"`
	Kept     float64 `json:"kept,omitempty"`
	Outside  float64 `json:"outside,omitempty"` // share of rows of new settings that are outside
	Own      float64 `json:"own,omitempty"`     // share of the table's rows that are outside
}

// broken says whether the promise says nothing of settings, and new settings break it.
func (s settled) broken() bool { return s.Fit == "" && s.Kept > 0 && s.Promised > s.Kept }

// settingsFound counts tables in which krigo finds settings that have an effect of their own though no column names
// them, and false alarms in tables whose rows repeat settings but are independent.
func settingsFound(ctx context.Context, env Env) error {
	if err := check("kind of tables", env.Sets, settingKinds); err != nil {
		return err
	}
	header(env.Stdout, []string{"tables", "number", "found by inspect", "fitted", "found by fit", "asks", "promised", "kept",
		"broken without a word", "outside: new", "outside: known"})
	var all []string
	for _, kind := range settingKinds {
		if env.Sets != nil && !strings.Contains(strings.Join(env.Sets, ","), kind) {
			continue
		}
		number := env.reps(map[bool]int{true: designedTables, false: settingTables}[kind == designs])
		var tasks []task[settled]
		for i := range number {
			tasks = append(tasks, task[settled]{fmt.Sprintf("%s-%d", kind, i), func(ctx context.Context) (settled, error) {
				return settle(ctx, settingsOf(kind, i), i < settingFits)
			}})
		}
		results, err := runAll(ctx, env, "settings", tasks, nil)
		if err != nil {
			return err
		}
		var seen, fits, found, asks, broken, certified int
		var promised, kept, outside, own float64
		for i, r := range results {
			seen += one(r.Inspect != "")
			fits += one(r.Fitted)
			found += one(r.Fit != "")
			asks += one(r.Asks)
			broken += one(r.broken())
			if r.Promised > 0 {
				certified++
				promised += r.Promised
				kept += r.Kept
				outside += r.Outside
				own += r.Own
			}
			false := kind == chanceRepeats || kind == designs
			if false != (r.Inspect == "") || r.Fitted && false != (r.Fit == "") {
				all = append(all, fmt.Sprintf("%s-%d: inspect found %q, fit found %q", kind, i, r.Inspect, r.Fit))
			}
		}
		share := func(sum float64) string { return fmt.Sprintf("%.3f", sum/float64(max(1, certified))) }
		line(env.Stdout, []string{kind, fmt.Sprint(number), fmt.Sprint(seen), fmt.Sprint(fits), fmt.Sprint(found),
			fmt.Sprint(asks), share(promised), share(kept), fmt.Sprint(broken), share(outside), share(own)})
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", strings.Join(all, "\n"))
	return nil
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// settle looks at a table as inspect does, and may fit it as krigo fit does without flags.
func settle(ctx context.Context, t tieTable, fits bool) (r settled, err error) {
	table, err := t.table(t.rows)
	if err != nil {
		return r, err
	}
	o := krigo.Options{Data: krigo.Data{Target: "y"}}
	if t.kind == textSettings {
		o.Data.Categorical = texts
	}
	found, err := krigo.Ties(ctx, table, o)
	if err != nil {
		return r, err
	}
	r.Inspect = strings.Join(unitsOf(found), "; ")
	if !fits {
		return r, nil
	}
	m, err := krigo.Fit(ctx, table, o)
	if err != nil {
		return r, err
	}
	r.Fitted, r.Fit = true, strings.Join(unitsOf(m.Ties), "; ")
	if m.Certificate == nil && len(m.Ties) > 0 {
		r.Asks, o.Promise.Population = true, "same"
		if m, err = krigo.Fit(ctx, table, o); err != nil {
			return r, err
		}
	}
	if m.Certificate == nil {
		return r, nil
	}
	r.Promised = 1 - m.Certificate.MeanBound
	if t.held == nil {
		return r, nil
	}
	r.Kept, r.Outside, err = keeps(ctx, m, t, t.held)
	if err == nil {
		_, r.Own, err = keeps(ctx, m, t, t.rows)
	}
	return r, err
}

// keeps returns the shares of rows that are within the certificate's width, and of rows that are outside.
func keeps(ctx context.Context, m *krigo.Model, t tieTable, rows [][]string) (kept, outside float64, err error) {
	table, err := t.table(rows)
	if err != nil {
		return 0, 0, err
	}
	ps, err := m.Predict(ctx, table, krigo.PredictOptions{})
	if err != nil {
		return 0, 0, err
	}
	for i, p := range ps {
		y, err := strconv.ParseFloat(rows[i][len(rows[i])-1], 64)
		if err != nil {
			return 0, 0, err
		}
		if math.Abs(p.Mean-y) <= m.Certificate.EpsilonRaw {
			kept += 1 / float64(len(rows))
		}
		if p.Outside > 0 {
			outside += 1 / float64(len(rows))
		}
	}
	return kept, outside, nil
}

// table returns rows as a table in memory.
func (t tieTable) table(rows [][]string) (*dataset.Table, error) {
	of := &dataset.Table{Source: t.name, Names: t.names}
	for _, row := range rows {
		if err := of.Append(row); err != nil {
			return nil, err
		}
	}
	return of, dataset.Reading{}.Apply(of)
}
