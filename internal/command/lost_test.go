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
		a := rng.Float64()
		b := rng.NormFloat64()
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

// TestLostCertified: a fit names the certified row that it can't predict by its line of the file.
func TestLostCertified(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "full.csv", strings.Join(linearRows(1, 150), "\n")+"\n1e300,0,1\n")
	refused := 0
	for seed := range 10 { // the row certifies at some of them
		o := call(t.Context(), "fit", "full.csv", "--target", "y", "--kernel", "linear", "--seed", fmt.Sprint(seed), "--quiet")
		if strings.Contains(o.stderr, "overflows") {
			must.Hold(t, strings.Contains(o.stderr, "full.csv: line 152: the prediction overflows"), "%s", o.stderr)
			refused++
		}
	}
	must.Hold(t, refused > 0, "no row was refused")
}

// TestLostAnswers: rows whose predictions overflow lose their intervals and draws, of every kind, and no other row does.
func TestLostAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "full.csv", strings.Join(linearRows(3, 150), "\n"))
	runs(t, "fit", "full.csv", "--target", "y", "--kernel", "linear", "--quiet")
	rows := linearRows(4, 12)
	predict := func(file string, further ...string) string {
		return runs(t, append([]string{"predict", "full.krigo", file, "--quiet", "--intervals",
			"conformal,normalised,band,full,jackknife", "--data", "full.csv", "--samples", "3"}, further...)...)
	}
	for _, at := range [][]int{{1}, {12}, {1, 5, 12}} {
		bad := slices.Clone(rows)
		left := []string{}
		for i, row := range rows {
			if slices.Contains(at, i) {
				bad[i] = "1e300,0,1"
			} else {
				left = append(left, row)
			}
		}
		write(t, "bad.csv", strings.Join(bad, "\n"))
		write(t, "left.csv", strings.Join(left, "\n"))
		want := strings.Split(predict("left.csv"), "\n")
		for i, row := range strings.Split(predict("bad.csv"), "\n") {
			if slices.Contains(at, i) {
				must.Be(t, row, ",,,,,1"+strings.Repeat(",", 2+10+3))
			} else {
				must.Be(t, row, want[0])
				want = want[1:]
			}
		}
		var d struct {
			Predictions []any
			Intervals   map[string][]any
			Samples     []any
		}
		must.Do(t, json.Unmarshal([]byte(predict("bad.csv", "--json")), &d))
		must.Be(t, len(d.Intervals), 5)
		for i := range rows[1:] {
			lost := slices.Contains(at, i+1)
			must.Hold(t, (d.Predictions[i] == nil) == lost && (d.Samples[i] == nil) == lost, "%+v", d)
			for kind, of := range d.Intervals {
				must.Hold(t, (of[i] == nil) == lost, "%s: %+v", kind, of)
			}
		}
	}
}

// TestUndrawn: predict says which rows have a prediction and no draws.
func TestUndrawn(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "full.csv", strings.Join(linearRows(3, 150), "\n"))
	runs(t, "fit", "full.csv", "--target", "y", "--kernel", "matern12", "--objective", "evidence", "--solver", "cg",
		"--prior", "informed", "--quiet")
	rows := linearRows(4, 12)
	rows[5] = "1e308,0,1"
	write(t, "far.csv", strings.Join(rows, "\n"))
	o := call(t.Context(), "predict", "full.krigo", "far.csv", "--samples", "2")
	must.Hold(t, o.status == 0 && strings.Contains(strings.Split(o.stdout, "\n")[5], ",,") &&
		strings.Contains(o.stderr, "1 of 12 rows have a prediction and no draws, the first in line 6"), "%+v", o)
}

// TestGapsLater: fresh rows, outcomes and test rows are read as predict reads rows: cells that can't be read, and gaps, are
// filled, named and counted, unless the model refuses them.
func TestGapsLater(t *testing.T) {
	t.Chdir(t.TempDir())
	dated := func(seed uint64, n int) []string {
		rows := linearRows(seed, n)
		for i := range rows {
			if rows[i] = fmt.Sprintf("2024-01-%02d,%s", 1+i%28, rows[i]); i == 0 {
				rows[i] = "day,a,b,y"
			}
		}
		return rows
	}
	write(t, "full.csv", strings.Join(dated(5, 150), "\n"))
	bad := dated(6, 30)
	bad[2] = "2024-01-03,0.5,0.1," // has no target, and is left out
	bad[4] = "soon,0.5,0.1,1.1"
	bad[6] = "2024-01-07,,0.1,1.1"
	bad[8] = "2024-01-09,red,0.1,1.1"
	bad[10] = "2019,0.5,0.1,1.1"
	write(t, "bad.csv", strings.Join(bad, "\n"))
	notices := []string{
		"a misses 1 of 29 cells (the first in line 7", "a: 1 of 29 cells can't be read as numbers or dates (the first in line 9",
		"day: 2 of 29 cells can't be read as numbers or dates (the first in line 5"}
	named := func(said string) {
		t.Helper()
		for _, notice := range notices {
			must.Hold(t, strings.Contains(said, notice), "%s", said)
		}
	}
	named(strings.Join(strings.Fields(runs(t, "fit", "full.csv", "--target", "y", "--kernel", "linear", "--test", "bad.csv",
		"--quiet")), " "))
	var d struct {
		Rows     int
		MeanRisk float64 `json:"mean_risk"`
		Notices  []string
	}
	must.Do(t, json.Unmarshal([]byte(runs(t, "certify", "full.krigo", "bad.csv", "--fresh", "--json")), &d))
	must.Hold(t, d.Rows == 29, "%+v", d)
	named(strings.Join(d.Notices, "\n"))
	said := flat(runs(t, "certify", "full.krigo", "bad.csv", "--fresh"))
	must.Hold(t, strings.Contains(said, "How the model fills cells was fixed before it saw these rows"), "%s", said)

	left := slices.Delete(slices.Clone(bad), 2, 3) // an outcome has its target
	write(t, "left.csv", strings.Join(left, "\n"))
	for i := range notices {
		notices[i] = strings.NewReplacer("line 5", "line 4", "line 7", "line 6", "line 9", "line 8").Replace(notices[i])
	}
	o := call(t.Context(), "watch", "full.krigo", "left.csv", "--json")
	must.Hold(t, o.status == 0, "%+v", o)
	named(o.stderr)
	var w struct{ Rows, Outside, Misses int }
	must.Do(t, json.Unmarshal([]byte(o.stdout), &w))
	must.Hold(t, w.Rows == 29 && w.Outside >= 4 && float64(w.Misses) == d.MeanRisk*29, "%s %+v", o.stdout, d)
	o = call(t.Context(), "watch", "full.krigo", "left.csv", "--check")
	must.Hold(t, o.status == 0, "%+v", o)

	// A row from standard input is filled, too, whatever comes with it. A row without a prediction counts, and is named.
	for i, row := range []string{"soon,0.5,0.1,1.1", "2024-01-07,red,0.1,1.1", "2024-01-08,1e300,0.1,1.1"} {
		o = fed("day,a,b,y\n"+row+"\n", "watch", "full.krigo", "-", "--ledger", "in.ledger", "--json")
		must.Do(t, json.Unmarshal([]byte(o.stdout), &w))
		must.Hold(t, o.status == 0 && w.Rows == i+1 && w.Outside == i+1 && w.Misses == i/2 && strings.Contains(o.stderr,
			[]string{`line 2: "soon"`, `line 2: "red"`, "no prediction, the first in line 2: the prediction overflows"}[i]), "%+v", o)
	}
	// Seconds among other dates are the dates that they are among seconds.
	write(t, "whole.csv", "day,a,b\n2024-01-16,0.5,0.1\n2024-01-17,0.5,0.1\n")
	write(t, "seconds.csv", "day,a,b\n1705363200,0.5,0.1\n2024-01-17,0.5,0.1\n")
	must.Be(t, runs(t, "predict", "full.krigo", "seconds.csv"), runs(t, "predict", "full.krigo", "whole.csv"))

	runs(t, "fit", "full.csv", "--target", "y", "--kernel", "linear", "--missing", "refuse", "--quiet", "--out", "no.krigo")
	for _, args := range [][]string{{"certify", "no.krigo", "left.csv", "--fresh"}, {"watch", "no.krigo", "left.csv"}} {
		o := call(t.Context(), args...)
		must.Hold(t, o.status == 1 && strings.Contains(o.stderr, `left.csv: line 4 (row 3), column 1 ("day"): "soon" is not a date`),
			"%+v", o)
	}
}
