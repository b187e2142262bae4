package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/model"
)

// quickKernel is the number of rows above which a fit tries only one kernel.
const quickKernel = 1000

// tied holds what krigo says about a table, and how well its promise is kept.
type tied struct {
	Advised string   `json:"advised"`           // flags beside the target
	Ties    []string `json:"ties,omitempty"`    // ties that inspect found
	Fit     []string `json:"fit,omitempty"`     // ties that the fit found, if no group was given
	Why     string   `json:"why,omitempty"`     // why the fit didn't look for ties
	About   string   `json:"about,omitempty"`   // the rows that the promise is about
	Certain bool     `json:"certain,omitempty"` // the promise is certified; otherwise it is an estimate
	// Promised is the share of predictions that should lie within Width. Kept is the share for held-out groups. SE is
	// Kept's standard error over the choice of groups.
	Promised float64 `json:"promised,omitempty"`
	Width    float64 `json:"width,omitempty"`
	Kept     float64 `json:"kept,omitempty"`
	SE       float64 `json:"se,omitempty"`
	Groups   int     `json:"groups,omitempty"`
}

// finds says whether inspect names the group that ties the rows.
func (t tied) finds(group string) bool { return slices.Contains(t.Ties, group) }

// named says which command names the group.
func (t tied) named(group string) string {
	switch {
	case t.finds(group):
		return "by inspect"
	case slices.Contains(t.Fit, group):
		return "by fit"
	}
	return "no"
}

// short says whether the share kept is lower than chance allows.
func (t tied) short() bool { return t.Kept < t.Promised-2*t.SE }

// tiesFound looks for ties in tables whose ties are known. It compares promises for new groups with groups that were
// held out. It writes the tables into the folder of runs, for peers.
func tiesFound(ctx context.Context, env Env) error {
	if err := check("kind of tables", env.Sets, tieKinds); err != nil {
		return err
	}
	peers, err := env.peersOfTies()
	if err != nil {
		return err
	}
	tables, err := env.tieTables()
	if err != nil {
		return err
	}
	folder := filepath.Join(env.Out, "ties")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var tasks []task[tied]
	groups := map[string]string{}
	for _, t := range tables {
		groups[t.name] = cmp.Or(t.group, map[string]string{freeTables: label}[t.kind])
		if err := t.write(filepath.Join(folder, t.name+".csv")); err != nil {
			return err
		}
		tasks = append(tasks, task[tied]{t.name, func(ctx context.Context) (tied, error) { return t.look(ctx) }})
	}
	text, err := json.Marshal(groups)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "groups.json"), text, 0o644); err != nil {
		return err
	}
	results, err := runAll(ctx, env, "ties", tasks, nil)
	if err != nil {
		return err
	}
	showPromises(env, tables, results)
	showAlarms(env, tables, results, peers)
	return nil
}

// look follows inspect's advice, and predicts the held-out groups.
func (t tieTable) look(ctx context.Context) (r tied, err error) {
	var seen struct {
		Ties    []model.Tie
		Untied  string `json:"ties_reason"`
		Command string
	}
	train := t.csv(t.rows)
	if err := krigoJSON(ctx, train, &seen, "inspect", "-", "--target", t.target(), "--json"); err != nil {
		return r, fmt.Errorf("%s: %w", t.name, err)
	}
	words := strings.Fields(seen.Command) // krigo fit - --target Y …; names here have no blanks
	r.Advised, r.Why = strings.Join(words[5:], " "), seen.Untied
	r.Ties = unitsOf(seen.Ties)
	if t.held == nil {
		return r, nil
	}
	folder, err := os.MkdirTemp("", "ties")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "m.krigo")
	args := append(words[1:], "--quiet", "--json", "--out", path)
	if len(t.rows) > quickKernel {
		args = append(args, "--kernel", "matern32", "--restarts", "1")
	}
	var fitted fittedTies
	if err := krigoJSON(ctx, train, &fitted, args...); err != nil {
		return r, fmt.Errorf("%s: %w", t.name, err)
	}
	if err := r.promise(fitted); err != nil || r.About == nothingPromised {
		return r, err
	}
	return r, t.keep(ctx, path, &r)
}

// unitsOf names what ties rows.
func unitsOf(ties []model.Tie) (names []string) {
	for _, t := range ties {
		names = append(names, t.Unit())
	}
	return names
}

// fittedTies is what fit says of its promise.
type fittedTies struct {
	Certificate *struct {
		MeanBound float64 `json:"mean_bound"`
		Epsilon   float64 `json:"epsilon_raw"`
	}
	Reason     string `json:"certificate_reason"`
	Population model.Population
}

// expected matches what fit says about a new group if nothing is certified: a share and a width.
var expected = regexp.MustCompile(`about (\d+) % of its rows are predicted to within ±([^ ,]+)`)

const nothingPromised = "nothing is promised"

// promise takes what fit says about new groups: a certificate for groups, a certificate for rows without ties, or an
// estimate.
func (t *tied) promise(f fittedTies) (err error) {
	t.About, t.Fit = f.Population.Of, unitsOf(f.Population.Ties)
	c, share := f.Certificate, (*float64)(nil)
	if len(t.Fit) > 0 {
		share = f.Population.Ties[0].New
		if t.About != "groups" {
			t.About = "new " + t.Fit[0]
		}
	}
	if c != nil {
		t.Certain, t.Promised, t.Width = share == nil, 1-c.MeanBound, c.Epsilon
	} else {
		found := expected.FindStringSubmatch(f.Reason)
		if found == nil { // too few rows to certify, and no ties
			t.About = nothingPromised
			return nil
		}
		if t.Promised, err = strconv.ParseFloat(found[1], 64); err != nil {
			return err
		}
		t.Promised /= 100
		t.Width, err = strconv.ParseFloat(found[2], 64)
	}
	if share != nil {
		t.Promised = *share
	}
	return err
}

// keep predicts the held-out groups. Kept is the mean over groups of their shares within the width.
func (t tieTable) keep(ctx context.Context, path string, r *tied) error {
	var out, said bytes.Buffer
	if status := command.Run(ctx, []string{"predict", path, "-", "--quiet"}, bytes.NewReader(t.csv(t.held)), &out,
		&said); status != 0 {
		return fmt.Errorf("%s: predict: %s", t.name, said.String())
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		return err
	}
	mean, group := slices.Index(rows[0], "mean"), slices.Index(t.names, t.group)
	within, all := map[string]float64{}, map[string]float64{}
	for i, row := range rows[1:] {
		g := t.held[i][group]
		p, err1 := strconv.ParseFloat(row[mean], 64)
		y, err2 := strconv.ParseFloat(t.held[i][len(t.names)-1], 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%s: row %d has a cell that isn't a number", t.name, i+1)
		}
		all[g]++
		if math.Abs(p-y) <= r.Width {
			within[g]++
		}
	}
	var shares []float64
	for g, n := range all {
		shares = append(shares, within[g]/n)
	}
	slices.Sort(shares) // gives the same sums in any order of the map
	r.Kept, r.SE = meanSE(shares)
	r.Groups = len(shares)
	r.SE *= math.Sqrt(1 + float64(r.Groups)/float64(t.trainGroups)) // the estimate has a standard error too
	return nil
}

// krigoJSON runs a krigo command on a table, and decodes what it prints.
func krigoJSON(ctx context.Context, table []byte, into any, args ...string) error {
	var out, said bytes.Buffer
	if status := command.Run(ctx, args, bytes.NewReader(table), &out, &said); status != 0 {
		return fmt.Errorf("krigo %s: %s", strings.Join(args, " "), strings.TrimSpace(said.String()))
	}
	return json.Unmarshal(out.Bytes(), into)
}

// showPromises prints the promises for new groups beside the shares kept.
func showPromises(env Env, tables []tieTable, results []tied) {
	if env.Sets != nil && !slices.Contains(env.Sets, tiedSets) {
		return
	}
	fmt.Fprint(env.Stdout, "## Promises for held-out groups, and whether they hold\n\n")
	header(env.Stdout, []string{"set", "rows", "groups", "held out", "advised", "group named", "about", "", "within ±",
		"promised", "kept", "chance", ""})
	short := 0
	for i, t := range tables {
		if t.kind != tiedSets {
			continue
		}
		r := results[i]
		kept := ""
		if r.About == nothingPromised {
			line(env.Stdout, []string{t.name, fmt.Sprint(len(t.rows)), fmt.Sprint(t.trainGroups), "", r.Advised,
				r.named(t.group), r.About, "", "", "", "", "", ""})
			continue
		}
		if r.short() {
			kept = "not kept"
			short++
		}
		line(env.Stdout, []string{t.name, fmt.Sprint(len(t.rows)), fmt.Sprint(t.trainGroups), fmt.Sprint(r.Groups),
			r.Advised,
			r.named(t.group), r.About,
			map[bool]string{true: "certified", false: "estimate"}[r.Certain], fmt.Sprintf("%.4g", r.Width),
			fmt.Sprintf("%.3f", r.Promised), fmt.Sprintf("%.3f", r.Kept), fmt.Sprintf("%.3f", r.SE), kept})
	}
	fmt.Fprintf(env.Stdout, "\nnot kept (the share kept is below the promise by more than two standard errors over groups): %d\n\n",
		short)
}

// tieAlarm is a peer's verdict on a table.
type tieAlarm struct {
	Table string `json:"table"`
	Peer  string `json:"peer"`
	Alarm *bool  `json:"alarm"` // nil: too few rows for the peer
}

// showAlarms counts false and missed alarms of krigo, and of peers on the same tables.
func showAlarms(env Env, tables []tieTable, results []tied, peers []tieAlarm) {
	says := map[string]map[string]*bool{}
	var names []string
	for _, p := range peers {
		if says[p.Peer] == nil {
			names, says[p.Peer] = append(names, p.Peer), map[string]*bool{}
		}
		says[p.Peer][p.Table] = p.Alarm
	}
	fmt.Fprint(env.Stdout, "## Alarms: tables in which a method finds tied rows\n\n")
	header(env.Stdout, append([]string{"tables", "number", "krigo: any tie", "krigo: the group named"}, names...))
	for _, kind := range tieKinds {
		var n, alarms, named int
		heard := make([]int, len(names))
		asked := make([]int, len(names))
		for i, t := range tables {
			if t.kind != kind {
				continue
			}
			n++
			if len(results[i].Ties) > 0 {
				alarms++
			}
			if results[i].finds(t.group) {
				named++
			}
			for k, name := range names {
				if alarm := says[name][t.name]; alarm != nil {
					asked[k]++
					if *alarm {
						heard[k]++
					}
				}
			}
		}
		if n == 0 {
			continue
		}
		cells := []string{kind, fmt.Sprint(n), fmt.Sprint(alarms), "–"}
		if kind == tiedSets || kind == tiedTables {
			cells[3] = fmt.Sprint(named)
		}
		for k := range names {
			cells = append(cells, fmt.Sprintf("%d of %d", heard[k], asked[k]))
		}
		line(env.Stdout, cells)
	}
	fmt.Fprintln(env.Stdout)
	for i, t := range tables {
		r := results[i]
		switch {
		case r.Why != "":
			fmt.Fprintf(env.Stdout, "%s: krigo didn't look for ties: %s\n", t.name, r.Why)
		case t.group == "" && len(r.Ties) > 0:
			fmt.Fprintf(env.Stdout, "%s: false alarm: %s\n", t.name, strings.Join(r.Ties, ", "))
		case t.group != "" && !r.finds(t.group):
			fmt.Fprintf(env.Stdout, "%s: krigo missed %s; inspect found %s; fit found %s\n", t.name, t.group,
				cmp.Or(strings.Join(r.Ties, ", "), "nothing"), cmp.Or(strings.Join(r.Fit, ", "), "nothing"))
		}
	}
}

// peersOfTies reads the peers' verdicts on the same tables, a line of JSON each.
func (e Env) peersOfTies() (all []tieAlarm, err error) {
	if e.Beside == "" {
		return nil, nil
	}
	text, err := os.ReadFile(e.Beside)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var a tieAlarm
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			return nil, fmt.Errorf("%s: line %d can't be read: %w", e.Beside, n+1, err)
		}
		all = append(all, a)
	}
	return all, nil
}
