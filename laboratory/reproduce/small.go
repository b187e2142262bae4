package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

var (
	smallSets = []string{"boston", "snelson", "autompg", "stock"}
	// smallSizes are numbers of training rows. krigo certifies from 105 rows on.
	smallSizes = []int{10, 15, 20, 21, 22, 25, 30, 40, 60, 80, 100, 104, 105, 120}
)

// few holds the errors of a fit to a few rows, on a split's test rows.
type few struct {
	Rows    int     `json:"rows"`
	Learnt  int     `json:"learnt_rows"`
	RMSE    float64 `json:"rmse"`            // in units of the standard deviation of all training targets of the split
	LeftOut float64 `json:"left_out"`        // leave-one-out RMSE, in the unit of RMSE; 0: not computed
	Bound   float64 `json:"bound,omitempty"` // bound on the risk of the mean; 0: no certificate
}

// small fits growing numbers of the first rows of random splits by the defaults. It prints the errors beside those of
// peers on the same rows.
func small(ctx context.Context, env Env) error {
	if err := check("data set", env.Sets, smallSets); err != nil {
		return err
	}
	sets, splits := env.Sets, env.reps(20)
	if sets == nil {
		sets = smallSets
	}
	peers, err := env.peersOfFew(splits)
	if err != nil {
		return err
	}
	var tasks []task[[]few]
	for _, set := range sets {
		for split := range splits {
			tasks = append(tasks, task[[]few]{fmt.Sprintf("%s/%d", set, split),
				func(ctx context.Context) ([]few, error) { return env.fitFew(ctx, set, split) }})
		}
	}
	results, err := runAll(ctx, env, "small", tasks, nil)
	if err != nil {
		return err
	}
	header(env.Stdout, []string{"set", "rows", "learnt on", "RMSE, sd", "change from fewer rows", "leave-one-out RMSE",
		"bound on the mean", "scikit-learn", "BoTorch"})
	for s, set := range sets {
		of := results[s*splits : (s+1)*splits]
		for i, size := range smallSizes {
			column := func(f func(few) float64) (v []float64) {
				for _, fits := range of {
					v = append(v, f(fits[i]))
				}
				return v
			}
			rmse := column(func(f few) float64 { return f.RMSE })
			cells := []string{set, fmt.Sprint(size), fmt.Sprint(of[0][i].Learnt), ofSplits(rmse, "%.3f ± %.3f"), "", "", ""}
			if i > 0 {
				more := slices.Clone(rmse)
				for k := range more {
					more[k] -= of[k][i-1].RMSE
				}
				cells[4] = ofSplits(more, "%+.3f ± %.3f")
			}
			if left, _ := meanSE(column(func(f few) float64 { return f.LeftOut })); left > 0 {
				cells[5] = fmt.Sprintf("%.3f", left)
			}
			if bound, _ := meanSE(column(func(f few) float64 { return f.Bound })); bound > 0 {
				cells[6] = fmt.Sprintf("%.3f", bound)
			}
			for _, name := range []string{"sklearn", "botorch"} {
				cells = append(cells, ofSplits(peers[[3]string{set, name, fmt.Sprint(size)}], "%.3f ± %.3f"))
			}
			line(env.Stdout, cells)
		}
	}
	return nil
}

// ofSplits prints a mean and its standard error, or nothing without values.
func ofSplits(v []float64, format string) string {
	if len(v) == 0 {
		return ""
	}
	mean, se := meanSE(v)
	return fmt.Sprintf(format, mean, se)
}

// fitFew fits the first rows of a split. The order of the rows is the same as in bench/regression/peers.py.
func (e Env) fitFew(ctx context.Context, set string, split int) (fits []few, err error) {
	table, err := e.table(set)
	if err != nil {
		return nil, err
	}
	target, k := table.Names[len(table.Names)-1], len(table.Names)
	take := func(rows []int) *dataset.Table {
		part := &dataset.Table{Source: table.Source, Names: table.Names, Rows: len(rows)}
		for _, i := range rows {
			part.Values = append(part.Values, table.Values[i*k:(i+1)*k]...)
		}
		return part
	}
	order := shuffled(table.Rows, uint64(split))
	test, rows := take(order[:table.Rows/5]), order[table.Rows/5:]
	_, sd := moments(take(rows))
	for _, n := range smallSizes {
		m, err := krigo.Fit(ctx, take(rows[:n]), krigo.Options{Data: krigo.Data{Target: target}})
		if err != nil {
			return nil, err
		}
		ps, err := m.Predict(ctx, test, krigo.PredictOptions{})
		if err != nil {
			return nil, err
		}
		f := few{Rows: n, Learnt: m.Counts[dataset.Prior], LeftOut: m.Training.LeaveOneOut / sd}
		for i, p := range ps {
			miss := (test.Values[(i+1)*k-1] - p.Mean) / sd
			f.RMSE += miss * miss / float64(test.Rows)
		}
		f.RMSE = math.Sqrt(f.RMSE)
		if c := m.Certificate; c != nil {
			f.Bound = c.MeanBound
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// shuffled returns row numbers sorted by the splitmix64 hash of seed·2³² + row.
func shuffled(rows int, seed uint64) []int {
	order, hashes := make([]int, rows), make([]uint64, rows)
	for i := range order {
		z := seed<<32 + uint64(i) + 0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		order[i], hashes[i] = i, z^z>>31
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	return order
}

// peersOfFew reads peers' scores on the first rows of splits: the RMSE by set, peer and number of rows.
func (e Env) peersOfFew(splits int) (map[[3]string][]float64, error) {
	of := map[[3]string][]float64{}
	if e.Beside == "" {
		return of, nil
	}
	file, err := os.Open(e.Beside)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		var p struct {
			few
			Set, Peer, Seen, Error string
			Split                  *int
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s: line %d can't be read: %w", e.Beside, n, err)
		}
		if p.Error == "" && p.Split != nil && *p.Split < splits &&
			p.Seen == fmt.Sprintf("first %d by seed %d", p.Rows, *p.Split) {
			key := [3]string{p.Set, p.Peer, fmt.Sprint(p.Rows)}
			of[key] = append(of[key], p.RMSE)
		}
	}
	return of, lines.Err()
}
