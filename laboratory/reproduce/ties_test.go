package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/model"
)

// TestTies: krigo finds a label that ties rows. Promises for its groups are compared with held-out groups, and a peer's
// verdicts on the same tables stand beside krigo's.
func TestTies(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(data, "groups"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(data, "groups", "sets.csv"),
		[]byte("set,rows,target,group,groups\nmade,0,y,label,0\n"), 0o600))
	made := simulatedTies(tiedTables, 1)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	must.Get(w.Write(made.csv(append(made.rows, []string{"0", "0", "0", "L01", "1", "NA"}))))(t)
	must.Do(t, w.Close())
	must.Do(t, os.WriteFile(filepath.Join(data, "groups", "made.csv.gz"), packed.Bytes(), 0o600))
	beside := filepath.Join(out, "peer.jsonl")
	must.Do(t, os.WriteFile(beside, []byte(`{"table":"tied-0","peer":"other","alarm":true}
{"table":"independent-0","peer":"other","alarm":null}
`), 0o600))
	var said bytes.Buffer
	must.Do(t, tiesFound(context.Background(), Env{Data: data, Sets: []string{tiedSets, freeTables, tiedTables}, Reps: 1,
		Beside: beside, Out: out, Stdout: &said}))
	for _, want := range []string{"| made-2 | ", " --group label | by inspect | groups | estimate | ",
		"| groups | 3 | 3 | 3 | 0 of 0 |",
		"| independent | 1 | 0 | – | 0 of 0 |", "| tied | 1 | 1 | 1 | 1 of 1 |"} {
		must.Hold(t, strings.Contains(said.String(), want), "no %q in\n%s", want, said.String())
	}
	written := must.Get(readCells(filepath.Join(out, "ties", "made-0.csv")))(t)
	must.Hold(t, len(written) >= 2 && len(written) <= len(made.rows) &&
		strings.Join(written[0], " ") == strings.Join(made.names, " "),
		"%d lines of a table with groups held out, of %d; columns %v", len(written), len(made.rows),
		written[0])
}

// TestTiesPromise checks what counts as a promise about new groups.
func TestTiesPromise(t *testing.T) {
	share, ties := 0.4, []model.Tie{{Kind: "column", Columns: []string{"a"}}}
	ties[0].New = &share
	for reason, c := range map[string]struct {
		of   string
		ties []model.Tie
		want tied
	}{
		"few; leaving each of 18 groups out in turn, about 57 % of its rows are predicted to within ±5.212, which isn't": {
			"groups", nil, tied{About: "groups", Promised: 0.57, Width: 5.212}},
		"predictions for a new a miss more often": {"rows", ties, tied{About: nothingPromised}},
	} {
		var r tied
		must.Do(t, r.promise(fittedTies{Reason: reason, Population: model.Population{Of: c.of, Ties: c.ties}}))
		must.Hold(t, !r.Certain && r.About == c.want.About && r.Promised == c.want.Promised &&
			r.Width == c.want.Width, "%s: %+v", reason, r)
	}
	var r tied
	must.Do(t, r.promise(fittedTies{Reason: "few rows"}))
	must.Be(t, r.About, nothingPromised, "where fit says nothing")
	for kept, short := range map[float64]bool{0.5: false, 0.41: false, 0.39: true} {
		must.Be(t, tied{Promised: 0.5, Kept: kept, SE: 0.05}.short(), short, "short")
	}
}
