package main

import (
	"context"
)

// Experiment is one table or figure.
type Experiment struct {
	Name  string
	Title string
	Run   func(ctx context.Context, env Env) error
}

// experiments lists everything that can be reproduced.
var experiments = []Experiment{
	{"reeb-table1", "Reeb et al. 2018, Table 1: full GPs on boston, and the same with krigo's defaults", reebTable1},
	{"reeb-table2", "Reeb et al. 2018, Table 2: sparse GPs on pol, sarcos, kin40k", reebTable2},
	{"reeb-table3", "Reeb et al. 2018, Table 3: the same with the loss ℓexp", reebTable3},
	{"reeb-fig2", "Reeb et al. 2018, Fig. 2: a drawing of Table 1", reebFig2},
	{"reeb-fig1", "Reeb et al. 2018, Fig. 1: predictive distributions of kl-PAC-SGP on snelson for three ε", reebFig1},
	{"reeb-fig3", "Reeb et al. 2018, Fig. 3: sparse GPs against the number of inducing inputs", reebFig3},
	{"reeb-fig6", "Reeb et al. 2018, Fig. 6: predictive distributions of kl-PAC-SGP, FITC and VFE", reebFig6},
	{"reeb-fig7", "Reeb et al. 2018, Fig. 7: local minima of FITC and kl-PAC-SGP", reebFig7},
	{"reeb-fig8", "Reeb et al. 2018, Fig. 8: the bound against the grid's resolution", reebFig8},
	{"reeb-fig4", "Reeb et al. 2018, Fig. 4: the inverse binary kl", reebFig4},
	{"reeb-fig5", "Reeb et al. 2018, Fig. 5: the bounded losses", reebFig5},
	{"renyi-fig1", "Yue & Kontar, Optimize to Generalize, Fig. 1: loss surfaces, and how often annealing escapes",
		renyiFig1},
	{"renyi-table1", "Yue & Kontar, Optimize to Generalize, Table 1: test functions", renyiTable1},
	{"renyi-table2", "Yue & Kontar, Optimize to Generalize, Table 2: engineering data", renyiTable2},
	{"renyi-table3", "Yue & Kontar, Optimize to Generalize, Table 3: the number of inducing inputs", renyiTable3},
	{"renyi-table4", "Yue & Kontar, Optimize to Generalize, Table 4: minutes of training", renyiTable4},
	{"renyi2020-table1", "Yue & Kontar, The Rényi Gaussian Process, Table 1: a fixed α on engineering data",
		renyi2020Table1},
	{"renyi2020-fig1", "Yue & Kontar, The Rényi Gaussian Process, Fig. 1: box plots on test functions", renyi2020Fig1},
	{"renyi2020-fig2", "Yue & Kontar, The Rényi Gaussian Process, Fig. 2: RMSE against α", renyi2020Fig2},
	{"certificates", "krigo's own: certificates by informed and grid priors on boston, sarcos10k, pol, kin40k",
		certificates},
	{"validity", "krigo's own: how often bounds fail on simulated training sets whose true risk is known", validity},
	{"targets", "krigo's own: how often certificates of several targets are false on simulated sets", severalTargets},
	{"choices", "krigo's own: how often the default's certificates are false where it chooses among kernels on " +
		"few rows",
		choices("choices", choicesOfKernel)},
	{"noises", "krigo's own: how often scaled promises are false under a noise that depends on the inputs",
		choices("noises", choicesOfNoise)},
	{"limits", "krigo's own: how often certificates of rows with limits of detection are false on simulated sets",
		limitsOfDetection},
	{"labels", "krigo's own: how often certificates of labels are false on simulated sets", classes},
	{"counts", "krigo's own: how often certificates of counts with an exposure and of levels are false on simulated sets",
		counts},
	{"widths", "krigo's own: promises with one width, beside promises whose width follows the model's standard deviation", widths},
	{"ties", "krigo's own: promises for new groups and whether they hold, false and missed ties, beside peers (bench/ties.py)",
		tiesFound},
	{"settings", "krigo's own: settings that no column names found by their inputs, false alarms, and promises on new settings",
		settingsFound},
	{"watch", "krigo's own: how often, and how soon, watch raises an alarm at known risks", watching},
	{"benchmark", "krigo's own: public regression sets on fixed folds, beside peers (bench/regression)", benchmark},
	{"small", "krigo's own: errors with 10 to 120 rows, beside peers on the same rows (bench/regression)", small},
	{"boston-curve", "krigo's own: a certificate for every width on boston, the picture of docs/theory/certificate.md",
		bostonCurve},
	{"snelson-band", "krigo's own: a certified fit of Snelson's data, the picture of the README", snelsonBand},
}

// find returns the experiment of that name.
func find(name string) (Experiment, error) {
	var names []string
	for _, e := range experiments {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, check("experiment", []string{name}, names)
}
