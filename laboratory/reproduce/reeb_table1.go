package main

import (
	"context"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

var (
	reebEpsilons = []float64{0.2, 0.4, 0.6, 0.8, 1.0}
	reebMethods  = []string{method.KLPACName, method.SqrtPACName, method.EvidenceName}
	paperNames   = map[string]string{method.KLPACName: "kl-PAC-GP", method.SqrtPACName: "sqrt-PAC-GP",
		method.EvidenceName: "full-GP"}
)

// figure is a mean and a standard error as printed.
type figure struct{ mean, se float64 }

// paperTable1 is Table 1 of Reeb et al. 2018, App. G.
var paperTable1 = map[string][]figure{
	"0.2/kl-pac": {{0.773, 0.003}, {0.798, 0.003}, {0.497, 0.005}, {0.536, 0.006}, {0.159, 0.018}, {0.126, 0.003},
		{0.304, 0.015}},
	"0.2/sqrt-pac": {{0.803, 0.016}, {0.834, 0.019}, {0.573, 0.039}, {0.599, 0.034}, {0.420, 0.129}, {0.087, 0.018},
		{1334.991, 1334.032}},
	"0.2/evidence": {{0.809, 0.004}, {0.851, 0.006}, {0.372, 0.012}, {0.501, 0.007}, {0.114, 0.015}, {0.405, 0.023},
		{0.066, 0.004}},
	"0.4/kl-pac": {{0.498, 0.004}, {0.507, 0.003}, {0.211, 0.005}, {0.243, 0.008}, {0.161, 0.018}, {0.120, 0.002},
		{0.328, 0.013}},
	"0.4/sqrt-pac": {{0.498, 0.004}, {0.507, 0.003}, {0.218, 0.004}, {0.250, 0.008}, {0.165, 0.019}, {0.111, 0.002},
		{0.371, 0.013}},
	"0.4/evidence": {{0.548, 0.005}, {0.576, 0.006}, {0.097, 0.008}, {0.217, 0.007}, {0.114, 0.015}, {0.405, 0.023},
		{0.066, 0.004}},
	"0.6/kl-pac": {{0.333, 0.004}, {0.376, 0.002}, {0.093, 0.003}, {0.115, 0.006}, {0.167, 0.019}, {0.104, 0.002},
		{0.424, 0.015}},
	"0.6/sqrt-pac": {{0.336, 0.003}, {0.373, 0.002}, {0.111, 0.003}, {0.133, 0.006}, {0.182, 0.020}, {0.082, 0.001},
		{0.625, 0.014}},
	"0.6/evidence": {{0.432, 0.009}, {0.503, 0.010}, {0.025, 0.003}, {0.096, 0.008}, {0.114, 0.015}, {0.405, 0.023},
		{0.066, 0.004}},
	"0.8/kl-pac": {{0.247, 0.003}, {0.313, 0.002}, {0.053, 0.002}, {0.069, 0.005}, {0.181, 0.019}, {0.080, 0.002},
		{0.666, 0.017}},
	"0.8/sqrt-pac": {{0.253, 0.003}, {0.308, 0.002}, {0.072, 0.002}, {0.089, 0.006}, {0.212, 0.022}, {0.055, 0.001},
		{1.163, 0.020}},
	"0.8/evidence": {{0.394, 0.011}, {0.486, 0.011}, {0.008, 0.001}, {0.046, 0.006}, {0.114, 0.015}, {0.405, 0.023},
		{0.066, 0.004}},
	"1/kl-pac": {{0.198, 0.002}, {0.278, 0.001}, {0.035, 0.002}, {0.047, 0.004}, {0.196, 0.020}, {0.062, 0.001},
		{1.025, 0.028}},
	"1/sqrt-pac": {{0.206, 0.002}, {0.271, 0.001}, {0.052, 0.001}, {0.066, 0.005}, {0.238, 0.023}, {0.040, 0.001},
		{1.987, 0.036}},
	"1/evidence": {{0.379, 0.013}, {0.481, 0.012}, {0.003, 0.000}, {0.026, 0.004}, {0.114, 0.015}, {0.405, 0.023},
		{0.066, 0.004}},
}

func row(eps float64, method string) string { return fmt.Sprintf("%g/%s", eps, method) }

// table1Runs runs Table 1 with the settings of the paper's code: scaling by all 506 rows, its splits, a squared
// exponential with one lengthscale, and one start with all parameters 1.
func table1Runs(ctx context.Context, env Env) (map[string][]measures, error) {
	return table1Grid(ctx, env, "reeb-table1", "paper", reebFullGP)
}

// table1Grid calls one for every split, ε and method of Table 1, and groups the measures by row.
func table1Grid(ctx context.Context, env Env, experiment, prefix string,
	one func(ctx context.Context, env Env, rep int, eps float64, method string) (measures, error)) (map[string][]measures,
	error) {
	var tasks []task[measures]
	var rows []string
	for rep := range env.reps(10) {
		for _, eps := range reebEpsilons {
			for _, method := range reebMethods {
				rows = append(rows, row(eps, method))
				tasks = append(tasks, task[measures]{fmt.Sprintf("%s/rep=%d/%s", prefix, rep, row(eps, method)),
					func(ctx context.Context) (measures, error) { return one(ctx, env, rep, eps, method) }})
			}
		}
	}
	results, err := runAll(ctx, env, experiment, tasks, nil)
	if err != nil {
		return nil, err
	}
	by := map[string][]measures{}
	for i, r := range results {
		by[rows[i]] = append(by[rows[i]], r)
	}
	return by, nil
}

// reebFullGP measures the posterior that a method trains.
func reebFullGP(ctx context.Context, env Env, rep int, eps float64, method string) (measures, error) {
	g, err := reebSetting{Data: "boston", Method: method, Loss: pacbayes.Band, Eps: eps, Rep: rep}.train(ctx, env)
	if err != nil {
		return measures{}, err
	}
	m, _, err := g.measure(method)
	return m, err
}

// defaultRuns runs the same methods as krigo fit does, with valid certificates.
func defaultRuns(ctx context.Context, env Env) (map[string][]measures, error) {
	return table1Grid(ctx, env, "reeb-table1-defaults", "defaults",
		func(ctx context.Context, _ Env, rep int, eps float64, method string) (measures, error) {
			m, err := krigo.Fit(ctx, data.Boston(), krigo.Options{Data: krigo.Data{Target: "MEDV", TestFraction: 0.2},
				Method: krigo.Method{Name: method}, Promise: krigo.Promise{Epsilon: eps}, Run: krigo.Run{Seed: uint64(rep)}})
			if err != nil {
				return measures{}, err
			}
			return measuresOf(m), nil
		})
}

func measuresOf(m *krigo.Model) measures {
	c := m.Certificate
	return measures{B: c.Bound, BPin: c.BoundSqrt, TrainRisk: c.EmpiricalRisk, TestRisk: m.Test.GibbsRisk, MSE: m.Test.MSE,
		KLPerRow: c.KL / float64(c.Rows), Noise: m.Posterior.Noise, Valid: c.Valid}
}

func reebTable1(ctx context.Context, env Env) error {
	runs, err := table1Runs(ctx, env)
	if err != nil {
		return err
	}
	w := env.Stdout
	fmt.Fprintf(w, "## Reeb et al. 2018, Table 1: boston, full GPs\n\n")
	fmt.Fprintf(w, "Mean ± standard error over %d splits, with the paper's figure in brackets. As in the paper's code, columns "+
		"are scaled by\n"+
		"all 506 rows. Every B is therefore a *bound (heuristic: scaled with training statistics)*, not a certificate.\n\n",
		len(runs["0.6/kl-pac"]))
	header(w, append([]string{"ε", "method"}, measureNames...))
	below := 0
	var far []string
	for _, eps := range reebEpsilons {
		for _, method := range reebMethods {
			rs := runs[row(eps, method)]
			cells := []string{fmt.Sprintf("%.1f", eps), paperNames[method]}
			for j, name := range measureNames {
				mean, se := column(rs, j)
				p := paperTable1[row(eps, method)][j]
				cells = append(cells, fmt.Sprintf("%.3f ± %.3f (%.3f ± %.3f)", mean, se, p.mean, p.se))
				// The paper's rounding is half a unit of its last digit.
				if math.Abs(mean-p.mean) > p.se+0.0005 {
					far = append(far, fmt.Sprintf("ε = %.1f %s %s: %.4f against %.3f ± %.3f", eps, paperNames[method], name, mean,
						p.mean, p.se))
				}
			}
			line(w, cells)
			for _, r := range rs {
				if r.B < r.TestRisk {
					below++
				}
			}
		}
	}
	fmt.Fprintf(w, "\nRuns where B is below the Gibbs test risk: %d.\n", below)
	fmt.Fprintf(w, "Means that differ from the paper's by more than one standard error: %d of %d.\n", len(far),
		len(reebEpsilons)*len(reebMethods)*len(measureNames))
	for _, f := range far {
		fmt.Fprintln(w, "- "+f)
	}

	defaults, err := defaultRuns(ctx, env)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n## The same with krigo's defaults\n\n")
	fmt.Fprintf(w, "These are certificates. Columns are scaled by prior rows. ε is in standard deviations of the prior rows, "+
		"which differ\n"+
		"between splits. krigo tries ARD and pays for the choice, puts the grid on ln l², and starts each family three "+
		"times.\nMSE is in units of the prior rows' variance.\n\n")
	header(w, append([]string{"ε", "method"}, append(measureNames, "valid")...))
	for _, eps := range reebEpsilons {
		for _, method := range reebMethods {
			rs := defaults[row(eps, method)]
			cells := []string{fmt.Sprintf("%.1f", eps), paperNames[method]}
			for j := range measureNames {
				mean, se := column(rs, j)
				cells = append(cells, fmt.Sprintf("%.3f ± %.3f", mean, se))
			}
			valid := 0
			for _, r := range rs {
				if r.Valid {
					valid++
				}
			}
			line(w, append(cells, fmt.Sprintf("%d of %d", valid, len(rs))))
		}
	}
	return nil
}
