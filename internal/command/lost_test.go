package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// linearRows returns rows of y = 2a + b with noise, under a header.
func linearRows(seed uint64, n int) []string {
	rng := rand.New(rand.NewPCG(seed, 12))
	rows := []string{"a,b,y"}
	for range n {
		a, b := rng.Float64(), rng.NormFloat64()
		rows = append(rows, fmt.Sprintf("%.4f,%.4f,%.4f", a, b, 2*a+b+0.1*rng.NormFloat64()))
	}
	return rows
}

// TestLostTestRows: a test row whose prediction or error overflows takes neither the fit nor the other rows' figures. It is
// named, and counts as a miss, also among fresh rows.
func TestLostTestRows(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "full.csv", strings.Join(linearRows(1, 150), "\n"))
	rows := linearRows(2, 40)
	write(t, "fresh.csv", strings.Join(rows, "\n"))
	fitted := func(test string) (f *model.Test, notices []string) {
		var d struct {
			Test    *model.Test
			Notices []string
		}
		must.Do(t, json.Unmarshal([]byte(runs(t, "fit", "full.csv", "--target", "y", "--kernel", "linear", "--test", test,
			"--quiet", "--json")), &d))
		runs(t, "certify", "full.krigo", "full.csv")
		return d.Test, d.Notices
	}
	missed := func(f *model.Test) int { return int(f.MeanRisk*float64(f.Rows) + 0.5) }
	for name, wrong := range map[string]string{
		"1e300,0,1":   "the prediction overflows: its inputs are too far from the training data",
		"0.5,0,1e308": "the target is so far from the prediction that the error overflows",
	} {
		for _, at := range [][]int{{1}, {40}, {3, 4, 20}} {
			bad := slices.Clone(rows)
			left := []string{}
			for i, row := range rows {
				if slices.Contains(at, i) {
					bad[i] = name
				} else {
					left = append(left, row)
				}
			}
			write(t, "bad.csv", strings.Join(bad, "\n"))
			write(t, "left.csv", strings.Join(left, "\n"))
			f, notices := fitted("bad.csv")
			want, _ := fitted("left.csv")
			notice := fmt.Sprintf("%d of 40 test rows can't be scored, the first in line %d of bad.csv: %s", len(at), at[0]+1, wrong)
			must.Hold(t, strings.Contains(strings.Join(notices, "\n"), notice), "%q", notices)
			must.Hold(t, f.Rows == 40 && f.Unscored == len(at) && missed(f) == missed(want)+len(at), "%+v %+v", f, want)
			must.Near(t, f.MSE, want.MSE, 1e-12)
			must.Near(t, f.NLPD, want.NLPD, 1e-12)
			must.Near(t, f.Coverage95, want.Coverage95, 1e-12)
			must.Near(t, *f.Conformal, *want.Conformal, 1e-12)
			said := runs(t, "certify", "full.krigo", "bad.csv", "--fresh", "--json")
			var d struct {
				Rows, Unscored int
				MeanRisk       float64 `json:"mean_risk"`
				Notices        []string
			}
			must.Do(t, json.Unmarshal([]byte(said), &d))
			must.Hold(t, d.Rows == 40 && d.Unscored == len(at) && d.MeanRisk == f.MeanRisk && d.Notices[0] == notice+
				"; of all test figures only the loss counts these rows", "%s", said)
		}
	}
	// If no row is left, the fit is kept without test figures, and there is no bound.
	write(t, "bad.csv", "a,b,y\n1e300,0,1\n1e300,1,1\n")
	f, notices := fitted("bad.csv")
	must.Hold(t, f == nil && strings.Contains(notices[0], "2 of 2 test rows can't be scored"), "%+v %q", f, notices)
	o := call(t.Context(), "certify", "full.krigo", "bad.csv", "--fresh")
	must.Hold(t, o.status == 1 && strings.Contains(o.stderr, "no row has test figures: 2 of 2 test rows"), "%+v", o)
}
