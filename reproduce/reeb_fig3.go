package reproduce

import (
	"context"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/pacbayes"
)

// reebFig3 draws the measures against M: ARD on pol and kin40k, one lengthscale on sarcos.
func reebFig3(ctx context.Context, env Env) error {
	ms := []int{100, 200, 300, 400, 500}
	if env.M > 0 {
		ms = []int{env.M}
	}
	var settings []reebSetting
	for rep := range env.reps(10) {
		for _, data := range env.sets() {
			for _, m := range ms {
				for _, by := range []string{method.KLPACName, method.VFEName, method.FITCName} {
					settings = append(settings, reebSetting{data, data != "sarcos10k", by, m, pacbayes.Band, 0.6, rep})
				}
			}
		}
	}
	// The same runs as Table 2's at M = 500 are taken from there.
	results, err := runSparse(ctx, env, "reeb-table2", settings, nil)
	if err != nil {
		return err
	}
	for _, data := range env.sets() {
		var plots []*plot.Plot
		for _, panel := range []struct {
			title   string
			measure int
		}{{data + ": upper bound B", 0}, {"Gibbs risk, train", 2}, {"Gibbs risk, test", 3}, {"MSE, test", 4}, {"KL/N", 5}} {
			p := plot.New()
			p.Title.Text, p.X.Label.Text, p.Y.Min = panel.title, "M", 0
			for c, by := range []string{method.KLPACName, method.VFEName, method.FITCName} {
				var line plotter.XYs
				for _, m := range ms {
					var rs []measures
					for i, s := range settings {
						if s.Data == data && s.M == m && s.Method == by {
							rs = append(rs, results[i].FITC)
						}
					}
					mean, _ := column(rs, panel.measure)
					line = append(line, plotter.XY{X: float64(m), Y: mean})
				}
				if err := addCurve(p, map[bool]string{true: by}[len(plots) == 0], palette[c], line); err != nil {
					return err
				}
			}
			plots = append(plots, p)
		}
		if err := save(env, "reeb-fig3-"+data, 34*vg.Centimeter, 7*vg.Centimeter, plots...); err != nil {
			return err
		}
	}
	return nil
}
