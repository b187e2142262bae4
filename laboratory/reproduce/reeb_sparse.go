package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// sparseResult is the result of a run. FITC holds the measures with the posterior of α = 1, because the paper's code
// evaluates every method with this posterior. Own holds the measures of VFE with its own posterior, α = 0.
type sparseResult struct {
	FITC measures  `json:"fitc"`
	Own  *measures `json:"own,omitempty"`
	// ZeroOne is the Gibbs test risk of the 0-1 loss, also if another loss was trained.
	ZeroOne     float64 `json:"zero_one"`
	Evaluations int     `json:"evaluations"`
	Stopped     string  `json:"stopped"`
}

// runSparseSetting trains a setting and measures it with the posterior of FITC, and for VFE also with its own.
func runSparseSetting(ctx context.Context, env Env, s reebSetting) (sparseResult, error) {
	g, err := s.train(ctx, env)
	if err != nil {
		return sparseResult{}, err
	}
	out := sparseResult{Evaluations: g.evaluations, Stopped: g.stopped}
	if out.FITC, out.ZeroOne, err = g.measure(method.FITCName); err != nil || s.Method != method.VFEName {
		return out, err
	}
	own, _, err := g.measure(method.VFEName)
	out.Own = &own
	return out, err
}

// paperTable2 and paperTable3 are Tables 2 and 3 of Reeb et al. 2018, App. G (M = 500): B, B_Pin, R_S train, R_S
// test, MSE, KL/N, σ_n².
var paperTable2 = map[string][]float64{
	"pol/ard=false/kl-pac":         {0.217, 0.252, 0.106, 0.115, 0.114, 0.041, 0.316},
	"pol/ard=false/sqrt-pac":       {0.221, 0.248, 0.126, 0.133, 0.124, 0.028, 0.626},
	"pol/ard=false/vfe":            {0.257, 0.312, 0.071, 0.081, 0.090, 0.114, 0.102},
	"pol/ard=false/fitc":           {0.359, 0.384, 0.149, 0.160, 0.092, 0.109, 0.000},
	"pol/ard=true/kl-pac":          {0.083, 0.172, 0.011, 0.015, 0.036, 0.035, 0.187},
	"pol/ard=true/sqrt-pac":        {0.094, 0.159, 0.029, 0.032, 0.044, 0.017, 0.825},
	"pol/ard=true/vfe":             {0.198, 0.324, 0.002, 0.006, 0.015, 0.190, 0.016},
	"pol/ard=true/fitc":            {0.247, 0.333, 0.029, 0.032, 0.027, 0.168, 0.000},
	"sarcos10k/ard=false/kl-pac":   {0.031, 0.083, 0.009, 0.010, 0.033, 0.010, 0.526},
	"sarcos10k/ard=false/sqrt-pac": {0.038, 0.066, 0.023, 0.023, 0.044, 0.003, 3.600},
	"sarcos10k/ard=false/vfe":      {0.097, 0.215, 0.002, 0.003, 0.017, 0.090, 0.019},
	"sarcos10k/ard=false/fitc":     {0.116, 0.211, 0.014, 0.015, 0.019, 0.076, 0.000},
	"sarcos10k/ard=true/kl-pac":    {0.031, 0.095, 0.005, 0.007, 0.029, 0.012, 0.389},
	"sarcos10k/ard=true/sqrt-pac":  {0.039, 0.079, 0.018, 0.018, 0.040, 0.003, 2.682},
	"sarcos10k/ard=true/vfe":       {0.092, 0.212, 0.002, 0.002, 0.016, 0.084, 0.017},
	"sarcos10k/ard=true/fitc":      {0.115, 0.215, 0.012, 0.012, 0.017, 0.079, 0.000},
	"kin40k/ard=false/kl-pac":      {0.154, 0.219, 0.045, 0.053, 0.059, 0.059, 0.262},
	"kin40k/ard=false/sqrt-pac":    {0.162, 0.207, 0.071, 0.079, 0.082, 0.036, 0.658},
	"kin40k/ard=false/vfe":         {0.238, 0.341, 0.014, 0.019, 0.030, 0.212, 0.040},
	"kin40k/ard=false/fitc":        {0.302, 0.359, 0.066, 0.068, 0.082, 0.171, 0.000},
	"kin40k/ard=true/kl-pac":       {0.115, 0.190, 0.028, 0.034, 0.049, 0.050, 0.254},
	"kin40k/ard=true/sqrt-pac":     {0.126, 0.175, 0.054, 0.059, 0.071, 0.027, 0.814},
	"kin40k/ard=true/vfe":          {0.212, 0.327, 0.007, 0.011, 0.024, 0.202, 0.031},
	"kin40k/ard=true/fitc":         {0.277, 0.347, 0.046, 0.048, 0.053, 0.179, 0.000},
}

// The paper prints no figures for FITC on kin40k in Table 3.
var paperTable3 = map[string][]float64{
	"pol/ard=true/kl-pac":          {0.199, 0.247, 0.077, 0.019, 0.027, 0.041, 0.216},
	"pol/ard=true/sqrt-pac":        {0.208, 0.245, 0.100, 0.031, 0.040, 0.025, 0.461},
	"pol/ard=true/vfe":             {0.288, 0.361, 0.041, 0.006, 0.015, 0.189, 0.016},
	"pol/ard=true/fitc":            {0.345, 0.390, 0.085, 0.030, 0.027, 0.169, 0.000},
	"sarcos10k/ard=false/kl-pac":   {0.116, 0.144, 0.073, 0.012, 0.032, 0.009, 0.213},
	"sarcos10k/ard=false/sqrt-pac": {0.119, 0.139, 0.086, 0.017, 0.039, 0.005, 0.611},
	"sarcos10k/ard=false/vfe":      {0.190, 0.259, 0.047, 0.003, 0.017, 0.090, 0.019},
	"sarcos10k/ard=false/fitc":     {0.227, 0.276, 0.079, 0.015, 0.019, 0.077, 0.000},
	"kin40k/ard=true/kl-pac":       {0.260, 0.290, 0.127, 0.039, 0.055, 0.051, 0.124},
	"kin40k/ard=true/sqrt-pac":     {0.262, 0.287, 0.142, 0.048, 0.061, 0.040, 0.232},
	"kin40k/ard=true/vfe":          {0.347, 0.396, 0.076, 0.011, 0.024, 0.202, 0.031},
}

var sparseMethods = []string{method.KLPACName, method.SqrtPACName, method.VFEName, method.FITCName}

func (s reebSetting) row() string { return fmt.Sprintf("%s/ard=%v/%s", s.Data, s.ARD, s.Method) }

func (e Env) m() int {
	if e.M > 0 {
		return e.M
	}
	return 500
}

// sets returns the data sets of the sparse experiments, or those that the environment names.
func (e Env) sets() []string {
	if len(e.Sets) > 0 {
		return e.Sets
	}
	return []string{"pol", "sarcos10k", "kin40k"}
}

// methods returns the methods of the sparse tables, or those that the environment names.
func (e Env) methods() []string {
	if len(e.Methods) > 0 {
		return e.Methods
	}
	return sparseMethods
}

func reebTable2(ctx context.Context, env Env) error {
	var settings []reebSetting
	for rep := range env.reps(10) {
		for _, data := range env.sets() {
			for _, ard := range []bool{true, false} {
				for _, method := range env.methods() {
					settings = append(settings, reebSetting{data, ard, method, env.m(), pacbayes.Band, 0.6, rep})
				}
			}
		}
	}
	return sparseTable(ctx, env, "reeb-table2", "Table 2: sparse GPs, 0-1 loss", settings, paperTable2)
}

func reebTable3(ctx context.Context, env Env) error {
	var settings []reebSetting
	for rep := range env.reps(10) {
		for _, data := range env.sets() {
			for _, method := range env.methods() {
				settings = append(settings, reebSetting{data, data != "sarcos10k", method, env.m(), pacbayes.Gaussian, 0.6, rep})
			}
		}
	}
	return sparseTable(ctx, env, "reeb-table3", "Table 3: sparse GPs, loss ℓexp", settings, paperTable3)
}

// sparseTable runs the settings one after another, since each keeps all cores busy, and prints their table. After
// each run it shows the table so far.
func sparseTable(ctx context.Context, env Env, name, title string, settings []reebSetting,
	paper map[string][]float64) error {
	results, err := runSparse(ctx, env, name, settings, func(results []sparseResult, done []bool) {
		if env.Partial != nil {
			printSparse(env.Partial, env, settings, results, done, paper)
		}
	})
	if err != nil {
		return err
	}
	w := env.Stdout
	fmt.Fprintf(w, "## Reeb et al. 2018, %s, M = %d\n\n", title, env.m())
	fmt.Fprintf(w, "Mean ± standard error, with the paper's figure (M = 500) in brackets. A fit has at most %d evaluations. "+
		"As in the\n"+
		"paper's code, every method is evaluated with the posterior of α = 1. *own* is VFE's posterior of α = 0. Columns are "+
		"scaled by\n"+
		"all rows, so every B is a *bound (heuristic: scaled with training statistics)*. sarcos10k is a sample of 10,000 rows "+
		"of sarcos,\n"+
		"so its figures aren't comparable with the paper's.\n\n", env.maxEvaluations())
	printSparse(w, env, settings, results, slices.Repeat([]bool{true}, len(settings)), paper)
	return nil
}

// printSparse prints the table of the settings that are done.
func printSparse(w io.Writer, env Env, settings []reebSetting, results []sparseResult, done []bool,
	paper map[string][]float64) {
	header(w, append(append([]string{"data", "ARD", "method", "runs"}, measureNames...), "0-1 risk test"))
	var order []string
	fitc, own, zero, first := map[string][]measures{}, map[string][]measures{}, map[string][]float64{},
		map[string]reebSetting{}
	for i, s := range settings {
		if !done[i] {
			continue
		}
		row := s.row()
		if len(fitc[row]) == 0 {
			order = append(order, row)
			first[row] = s
		}
		fitc[row] = append(fitc[row], results[i].FITC)
		zero[row] = append(zero[row], results[i].ZeroOne)
		if results[i].Own != nil {
			own[row] = append(own[row], *results[i].Own)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return slices.Index(env.sets(), first[a].Data) - slices.Index(env.sets(), first[b].Data)
	})
	for _, row := range order {
		s := first[row]
		print := func(method string, rs []measures, withPaper bool) {
			cells := []string{s.Data, map[bool]string{true: "yes", false: "no"}[s.ARD], method, fmt.Sprint(len(rs))}
			for j := range measureNames {
				mean, se := column(rs, j)
				cell := fmt.Sprintf("%.3f ± %.3f", mean, se)
				if math.IsNaN(se) {
					cell = fmt.Sprintf("%.3f", mean)
				}
				if p := paper[row]; p != nil && withPaper {
					cell += fmt.Sprintf(" (%.3f)", p[j])
				}
				cells = append(cells, cell)
			}
			z, _ := meanSE(zero[row])
			line(w, append(cells, fmt.Sprintf("%.3f", z)))
		}
		print(s.Method, fitc[row], true)
		if len(own[row]) > 0 {
			print(s.Method+" (own)", own[row], false)
		}
	}
	fmt.Fprintln(w)
}

func runSparse(ctx context.Context, env Env, name string, settings []reebSetting,
	partial func([]sparseResult, []bool)) ([]sparseResult, error) {
	if err := errors.Join(check("data set", env.sets(), slices.Sorted(maps.Keys(targets))),
		check("method", env.methods(), sparseMethods)); err != nil {
		return nil, err
	}
	tasks := make([]task[sparseResult], len(settings))
	for i, s := range settings {
		key := s.key()
		if env.Evaluations > 0 {
			key += fmt.Sprintf("/evaluations=%d", env.Evaluations)
		}
		tasks[i] = task[sparseResult]{key, func(ctx context.Context) (sparseResult,
			error) {
			return runSparseSetting(ctx, env, s)
		}}
	}
	env.OneAtATime = true
	return runAll(ctx, env, name, tasks, partial)
}
