package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/kernel"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/objective"
	"github.com/krigo-gp/krigo/pacbayes"
)

// benchmark fits public regression sets on fixed folds, and prints their scores beside those of other libraries.
func benchmark(ctx context.Context, env Env) error {
	env.OneAtATime = true
	sets, err := env.folded()
	if err != nil {
		return err
	}
	var names []string
	for _, c := range contenders {
		names = append(names, c.name)
	}
	if err := errors.Join(check("data set", env.Sets, sets), check("method", env.Methods, names)); err != nil {
		return err
	}
	peers, err := env.peers()
	if err != nil {
		return err
	}
	if env.Sets != nil {
		sets = env.Sets
	}
	type cell struct {
		set, name string
		fold      int
	}
	var tasks []task[scored]
	var cells []cell
	for fold := range env.reps(benchmarkReps) {
		for _, set := range sets {
			for _, c := range contenders {
				if env.Methods == nil || slices.Contains(env.Methods, c.name) {
					cells = append(cells, cell{set, c.name, fold})
					tasks = append(tasks, task[scored]{fmt.Sprintf("%s/%s/fold=%d", set, c.name, fold),
						func(ctx context.Context) (scored, error) { return env.score(ctx, c.o, set, fold) }})
				}
			}
		}
	}
	results, err := runAll(ctx, env, "benchmark", tasks, nil)
	if err != nil {
		return err
	}
	scores := map[string]map[string][]scored{}
	for _, set := range sets {
		of := map[string][]scored{}
		learnt := map[string]bool{} // names of sets of rows
		for i, c := range cells {
			if c.set == set {
				results[i].fold = c.fold
				of[c.name] = append(of[c.name], results[i])
				learnt[seen(c.fold, results[i].Learnt)] = true
			}
		}
		for _, p := range peers[set] {
			name := p.Peer
			switch {
			case learnt[fmt.Sprintf("%d %s", *p.Fold, p.Seen)]:
				name += " on the same rows"
			case p.Seen != "all":
				name += " on other rows"
			}
			p.fold = *p.Fold
			of[name] = append(of[name], p.scored)
		}
		scores[set] = of
		fmt.Fprintf(env.Stdout, "\n%s\n\n", set)
		env.showScores(of)
	}
	showBeside(env.Stdout, sets, scores)
	return nil
}

// showScores prints a table of means over folds, with the smallest RMSE first.
func (e Env) showScores(of map[string][]scored) {
	mean := func(scores []scored, f func(scored) float64) float64 {
		var v []float64
		for _, s := range scores {
			v = append(v, f(s))
		}
		m, _ := meanSE(v)
		return m
	}
	rmse := func(s scored) float64 { return s.RMSE }
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(mean(of[a], rmse), mean(of[b], rmse)), cmp.Compare(a, b))
	})
	header(e.Stdout, []string{"method", "folds", "rows learnt on", "RMSE, sd", "NLPD", "95 % intervals hold", "CRPS",
		"bound on the mean", "misses on test rows", "seconds", "MiB added"})
	for _, name := range names {
		s := of[name]
		bound, misses := "-", "-"
		if b := mean(s, func(s scored) float64 { return s.Bound }); b > 0 {
			bound, misses = fmt.Sprintf("%.4f", b), fmt.Sprintf("%.4f", mean(s, func(s scored) float64 { return s.MeanRisk }))
		}
		learnt := fmt.Sprintf("%.0f", mean(s, func(s scored) float64 { return float64(s.Rows) }))
		if l := mean(s, func(s scored) float64 { return float64(len(s.Learnt)) }); l > 0 {
			learnt = fmt.Sprintf("%.0f of %s", l, learnt)
		}
		line(e.Stdout, []string{name, fmt.Sprint(len(s)), learnt, fmt.Sprintf("%.4f", mean(s, rmse)),
			fmt.Sprintf("%.4f", mean(s, func(s scored) float64 { return s.NLPD })),
			fmt.Sprintf("%.3f", mean(s, func(s scored) float64 { return s.Coverage95 })),
			fmt.Sprintf("%.4f", mean(s, func(s scored) float64 { return s.CRPS })), bound, misses,
			fmt.Sprintf("%.1f", mean(s, func(s scored) float64 { return s.Seconds })),
			fmt.Sprintf("%.0f", mean(s, func(s scored) float64 { return s.AddedMiB }))})
	}
}

// folded lists the sets of the data folder that have folds.
func (e Env) folded() (sets []string, err error) {
	if e.Data == "" {
		return nil, errors.New("this experiment needs sets with folds, NAME.csv.gz and NAME.fold.gz: give their folder " +
			"by --data")
	}
	files, err := filepath.Glob(filepath.Join(e.Data, "*.fold.gz"))
	for _, file := range files {
		sets = append(sets, strings.TrimSuffix(filepath.Base(file), ".fold.gz"))
	}
	if err == nil && len(sets) == 0 {
		err = fmt.Errorf("%s: found no NAME.fold.gz; it holds for each row the number, from 0, of the fold in which it is a test row",
			e.Data)
	}
	return sets, err
}

// fold cuts a set into training and test rows. numbers are the training rows' numbers in the set's file.
func (e Env) fold(set string, number int) (train, test *dataset.Table, numbers []int, err error) {
	table, err := e.table(set)
	if err != nil {
		return nil, nil, nil, err
	}
	file, err := os.Open(filepath.Join(e.Data, set+".fold.gz"))
	if err != nil {
		return nil, nil, nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	train, test = &dataset.Table{Source: table.Source, Names: table.Names},
		&dataset.Table{Source: table.Source, Names: table.Names}
	lines, k := bufio.NewScanner(text), len(table.Names)
	for i := range table.Rows {
		if !lines.Scan() {
			return nil, nil, nil, fmt.Errorf("%s: the file has %d numbers for %d rows", file.Name(), i, table.Rows)
		}
		to := train
		if strings.TrimSpace(lines.Text()) == fmt.Sprint(number) {
			to = test
		} else {
			numbers = append(numbers, i)
		}
		to.Values = append(to.Values, table.Values[i*k:(i+1)*k]...)
		to.Rows++
	}
	return train, test, numbers, lines.Err()
}

// score fits the training rows of a fold and scores the predictions of its test rows.
func (e Env) score(ctx context.Context, o krigo.Options, set string, fold int) (s scored, err error) {
	train, test, numbers, err := e.fold(set, fold)
	if err != nil {
		return s, err
	}
	o.Data.Target = train.Names[len(train.Names)-1]
	begin := time.Now()
	var m *krigo.Model
	var predictions []model.Prediction
	added, err := adds(func() (err error) {
		if m, err = krigo.Fit(ctx, train, o); err == nil && o.Run.Deliver == "all" {
			m, err = m.Deliver(ctx, train, o)
		}
		if err == nil {
			predictions, err = m.Predict(ctx, test, krigo.PredictOptions{})
		}
		return err
	})
	if err != nil {
		return s, err
	}
	s = scored{Rows: train.Rows, TestRows: test.Rows, Seconds: time.Since(begin).Seconds(), AddedMiB: added,
		Kernel: kernelOf(m)}
	if s.Learnt, err = learntOn(m, train); err != nil {
		return s, err
	}
	for i, row := range s.Learnt {
		s.Learnt[i] = numbers[row]
	}
	if c := m.Certificate; c != nil && c.Valid {
		s.Bound = c.MeanBound
	}
	_, sd := moments(train)
	k := len(test.Names)
	within := m.Terms.Loss.Below * m.Scaling.TargetScale
	at := pacbayes.Sample{Rows: test.Rows}
	for i, p := range predictions {
		y, spread := test.Values[(i+1)*k-1]/sd, p.PredictiveSD/sd
		at.Y, at.Mean, at.Variance = append(at.Y, y), append(at.Mean, p.Mean/sd), append(at.Variance, spread*spread)
	}
	if s.CRPS, _, err = (objective.CRPS{}).Expect(at, 0, 1/float64(test.Rows), pacbayes.Derivatives{}); err != nil {
		return s, err
	}
	d, err := m.Labelled(test)
	if err != nil {
		return s, err
	}
	own, err := m.Score(d, d.All(), nil) // by the model's own distribution, which needn't be normal
	if err != nil {
		return s, err
	}
	s.RMSE, s.Coverage95, s.NLPD = own.RMSERaw/sd, own.Coverage95, own.NLPD+math.Log(m.Scaling.TargetScale/sd)
	s.MeanRisk, err = at.PointRisk(pacbayes.Loss{Kind: pacbayes.Band, Below: within / sd})
	return s, err
}

// learntOn returns the rows of a table that trained a model's parameters, in ascending order.
func learntOn(m *krigo.Model, t *dataset.Table) ([]int, error) {
	d, err := t.Regression(t.Names[len(t.Names)-1])
	if err != nil {
		return nil, err
	}
	roles, err := m.RolesOf(d)
	role := dataset.Certified
	if m.Terms.Informed {
		role = dataset.Prior
	}
	return slices.Sorted(slices.Values(roles.Rows(role))), err
}

// moments returns the target's mean and standard deviation.
func moments(t *dataset.Table) (mean, sd float64) {
	k, n := len(t.Names), float64(t.Rows)
	for i := range t.Rows {
		mean += t.Values[(i+1)*k-1] / n
	}
	for i := range t.Rows {
		d := t.Values[(i+1)*k-1] - mean
		sd += d * d / n
	}
	return mean, math.Sqrt(sd)
}

// kernelOf names the kernel of a trained model.
func kernelOf(m *krigo.Model) string {
	var name func(s kernel.Spec) string
	name = func(s kernel.Spec) string {
		text := s.Name
		if len(s.Lengthscales) > 1 {
			text += " (ARD)"
		}
		for i, p := range s.Parts {
			if i > 0 {
				text += ","
			}
			text += " " + name(p)
		}
		return text
	}
	q := m.Trained()
	return name(q.Kernel.Spec(q.Theta))
}

// seen names a fold and the training rows used, as bench/regression does.
func seen(fold int, rows []int) string {
	hash := sha256.New()
	for _, row := range rows {
		fmt.Fprintln(hash, row)
	}
	return fmt.Sprintf("%d rows %x", fold, hash.Sum(nil)[:6])
}

// peer holds the scores of another library: a line that bench/regression writes.
type peer struct {
	scored
	Set, Peer, Seen, Error string
	Fold                   *int
}

// peers reads the scores of other libraries, by set.
func (e Env) peers() (map[string][]peer, error) {
	of := map[string][]peer{}
	if e.Beside == "" {
		return of, nil
	}
	file, err := os.Open(e.Beside)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var p peer
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s: line %d can't be read: %w", e.Beside, n, err)
		}
		if p.Error == "" && p.Fold != nil && *p.Fold < e.reps(benchmarkReps) {
			of[p.Set] = append(of[p.Set], p)
		}
	}
	return of, lines.Err()
}
