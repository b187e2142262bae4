package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// pairing says which peers a contender is compared with: those on the rows that it learns from.
type pairing struct{ name, rows, says string }

var pairings = []pairing{
	{"default", " on the same rows", "the default beside the best GP peer on the same rows"},
	{"all", "", "the sibling on all rows beside the best GP peer on all rows"},
}

// showBeside prints, for each set, a contender's scores divided by the best GP peer's, on the folds that all of them
// have. The best peer is picked afterwards, once by its mean RMSE on these folds and once by its mean NLPD.
func showBeside(w io.Writer, sets []string, scores map[string]map[string][]scored) {
	for _, pair := range pairings {
		var lines [][]string
		for _, set := range sets {
			var peers []string
			for name := range scores[set] {
				gp := !strings.HasPrefix(name, "lightgbm") &&
					!slices.ContainsFunc(contenders, func(c contender) bool { return c.name == name })
				if peer, on, _ := strings.Cut(name, " "); gp && (on == strings.TrimSpace(pair.rows)) {
					peers = append(peers, peer)
				}
			}
			slices.Sort(peers)
			own := byFold(scores[set][pair.name])
			var theirs []map[int]scored
			for _, peer := range peers {
				theirs = append(theirs, byFold(scores[set][peer+pair.rows]))
			}
			var folds []int
			for fold := range benchmarkReps {
				_, all := own[fold]
				for _, of := range theirs {
					_, has := of[fold]
					all = all && has
				}
				if all && len(theirs) > 0 {
					folds = append(folds, fold)
				}
			}
			if len(folds) > 0 {
				lines = append(lines, append([]string{set, fmt.Sprint(len(folds))}, against(own, theirs, peers, folds)...))
			}
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s, on the folds that all of them have\n\n", pair.says)
		header(w, []string{"set", "folds", "RMSE / best peer's RMSE", "best peer", "NLPD − best peer's NLPD",
			"best peer"})
		for _, cells := range lines {
			line(w, cells)
		}
	}
}

func byFold(scores []scored) map[int]scored {
	of := map[int]scored{}
	for _, s := range scores {
		of[s.fold] = s
	}
	return of
}

// against compares scores with the best peer's.
func against(own map[int]scored, theirs []map[int]scored, peers []string, folds []int) []string {
	column := func(of map[int]scored, f func(scored) float64) (v []float64) {
		for _, fold := range folds {
			v = append(v, f(of[fold]))
		}
		return v
	}
	best := func(f func(scored) float64) (at int, mean float64) {
		for i, of := range theirs {
			if m, _ := meanSE(column(of, f)); i == 0 || m < mean {
				at, mean = i, m
			}
		}
		return at, mean
	}
	difference := func(at int, f func(scored) float64) (mean, se float64) {
		v := column(own, f)
		for i, u := range column(theirs[at], f) {
			v[i] -= u
		}
		return meanSE(v)
	}
	rmse, nlpd := func(s scored) float64 { return s.RMSE }, func(s scored) float64 { return s.NLPD }
	at, unit := best(rmse)
	more, se := difference(at, rmse)
	cells := []string{fmt.Sprintf("%.3f ± %.3f", 1+more/unit, se/unit), peers[at]}
	at, _ = best(nlpd)
	more, se = difference(at, nlpd)
	return append(cells, fmt.Sprintf("%+.3f ± %.3f", more, se), peers[at])
}
