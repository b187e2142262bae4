package fit

import (
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/fitting"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/ranks"
)

// Simplest returns the measures of the simple models on the rows that tested m: rows of the table that
// m was fitted to, or a table of test rows.
func Simplest(m *model.Model, table, tests *dataset.Table) (of [2]map[string]float64, err error) {
	d, err := m.Labelled(table)
	if err != nil {
		return of, err
	}
	roles, err := m.RolesOf(d)
	if err == nil && m.Test == nil {
		err = model.ErrUnscored
	}
	if err != nil {
		return of, err
	}
	test := d
	on := d.RowsOf(roles, dataset.Test)
	if tests != nil {
		if test, _, err = m.Later(tests); err != nil {
			return of, err
		}
		on = test.All()
	}
	rows := slices.Concat(d.RowsOf(roles, dataset.Prior), d.RowsOf(roles, dataset.Certified))
	of[0], of[1], err = m.Baselines(d, rows, test, on)
	return of, err
}

// Collect gives every rank the measures of the other ranks.
func Collect(r ranks.Ranks, measured []map[string]float64) error {
	// v holds, for each name in fitting.MeasureNames, a number and whether there is one.
	names := fitting.MeasureNames()
	v := make([]float64, 2*len(measured)*len(names))
	for i, of := range measured {
		for j, name := range names {
			if x, ok := of[name]; ok {
				at := v[2*(i*len(names)+j):]
				at[0] = x
				at[1] = 1
			}
		}
	}
	err := r.Sum(v)
	for i := range measured {
		measured[i] = map[string]float64{}
		for j, name := range names {
			if at := v[2*(i*len(names)+j):]; at[1] > 0 {
				measured[i][name] = at[0]
			}
		}
	}
	return err
}

// Measures returns a model's measures by their names in fitting.MeasureNames. Without a valid
// certificate the bounds are missing, or heuristic if that is because all rows scaled the columns.
func Measures(m *model.Model) map[string]float64 {
	v := map[string]float64{"gibbs_risk": m.Test.GibbsRisk, "mean_risk": m.Test.MeanRisk,
		"mse": m.Test.MSE, "nlpd": m.Test.NLPD,
		"coverage95": m.Test.Coverage95, "noise_variance": m.Posterior.Noise,
		"seconds": m.Training.Seconds}
	if c := m.Certificate; c != nil {
		v["empirical_risk"] = c.EmpiricalRisk
		v["kl_per_row"] = c.KL / float64(c.Rows)
		if c.Valid { // a heuristic number must not be called a bound
			v["bound"] = c.Bound
			v["mean_bound"] = c.MeanBound
		} else if c.Scaling == "all-rows" {
			v["heuristic_bound"] = c.Bound
			v["heuristic_mean_bound"] = c.MeanBound
		}
	}
	return v
}
