package files

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/inspect"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/ranks"
)

// TestParts: ranks share the rows of a table of any format. What they compute together is what one rank computes
// alone, to the last bit.
func TestParts(t *testing.T) {
	const n = 211
	values := make([]float64, 3*n)
	for i := range values {
		values[i] = float64(i*7919%100003) + 1e9
	}
	copy(values[3*200:], values[3*7:3*8]) // makes a row repeat
	copy(values[3*20:], values[3*7:3*8])
	values[3*31] = 1e10 // a slip, which doesn't scale its column
	names := []string{"a", "b", "y"}
	for _, ending := range []string{".npy", ".csv"} {
		folder := t.TempDir()
		path := filepath.Join(folder, "rows"+ending)
		must.Do(t, WriteFile(path, names, n, rowsOf(values)))
		begin := 0
		for rank, rows := range []int{1, 150, 60} {
			must.Do(t, WriteFile(filepath.Join(folder, fmt.Sprintf("part%d%s", rank, ending)), names, rows,
				rowsOf(values[3*begin:])))
			begin += rows
		}
		type findings struct {
			scaling dataset.Scaling
			found   finding.List
			hash    string
			total   int
		}
		find := func(path string, r ranks.Ranks) (f findings, own []int, err error) {
			table, err := ReadPart(path, r, dataset.Reading{})
			if err != nil {
				return f, nil, err
			}
			defer table.Close()
			d, err := table.Regression("y")
			if err != nil {
				return f, nil, err
			}
			dealt, _ := dataset.DealByPosition(d.Rows, 5, dataset.Counts{20, 0, 50})
			roles := dataset.Roles{Of: dealt}
			f.total = d.Rows
			if f.scaling, err = dataset.ScalingOf(d, d.All(), dataset.PriorRows); err != nil {
				return f, nil, err
			}
			units, err := d.Units()
			if err != nil {
				return f, nil, err
			}
			if f.found, err = inspect.Findings(d, units); err != nil {
				return f, nil, err
			}
			if f.hash, err = d.Hash(d.RowsOf(roles, dataset.Certified)); err != nil {
				return f, nil, err
			}
			own = d.All()
			x, y, err := d.Select(own)
			if err != nil {
				return f, nil, err
			}
			for k, i := range own {
				if !slices.Equal(append(slices.Clone(x[2*k:2*k+2]), y[k]), values[3*i:3*i+3]) {
					return f, nil, fmt.Errorf("row %d is %v %v", i, x[2*k:2*k+2], y[k])
				}
			}
			if len(own) < n {
				other := []int{(own[len(own)-1] + 1) % n}
				if _, err := d.Targets(other); err == nil || !strings.Contains(err.Error(), "another rank") {
					return f, nil, fmt.Errorf("row %d, which another rank has, was read (%v)", other[0], err)
				}
				if got := d.Own(slices.Sorted(slices.Values([]int{own[0], other[0]}))); !slices.Equal(got, own[:1]) {
					return f, nil, fmt.Errorf("own rows %v", got)
				}
			}
			return f, own, nil
		}
		want, _, err := find(path, ranks.Alone{})
		if err != nil || want.scaling.InputScale[0] > 1e5 || !reflect.DeepEqual(want.found, finding.List{finding.New(finding.Repeats, 2, 211, 21)}) {
			t.Fatal(err, want)
		}
		for _, c := range []struct {
			path string
			size int
		}{{path, 2}, {path, 5}, {filepath.Join(folder, "part%d"+ending), 3}} {
			seen := make([]int, n)
			var mu sync.Mutex
			var wait sync.WaitGroup
			for _, r := range ranks.Threads(c.size) {
				wait.Go(func() {
					got, own, err := find(c.path, r)
					err = r.Close(err)
					mu.Lock()
					defer mu.Unlock()
					must.Hold(t, err == nil && fmt.Sprint(got) == fmt.Sprint(want),
						"%s, rank %d of %d: %v\n%+v\nalone %+v", c.path, r.Rank(), c.size, err, got,
						want)
					for _, i := range own {
						seen[i]++
					}
				})
			}
			wait.Wait()
			for i, times := range seen {
				must.Need(t, times == 1, "%s: row %d belongs to %d ranks", c.path, i, times)
			}
		}
		// A row is named by its place in its file.
		of := ranks.Threads(2)
		var wait sync.WaitGroup
		for _, r := range of {
			wait.Go(func() {
				table, err := ReadPart(path, r, dataset.Reading{})
				if err == nil {
					want := map[string]string{".npy": "row 151", ".csv": "line 152"}[ending]
					if r.Rank() == 1 && table.Where(150) != want {
						err = fmt.Errorf("row 150 is %s, want %s", table.Where(150), want)
					}
					table.Close()
				}
				if err = r.Close(err); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	}
}

// TestPartsAlike: with a file for each rank, krigo refuses readings that one file can't decide for all rows.
func TestPartsAlike(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "part0.csv"), []byte("when,y\n13/02/2024,1\n13/02/2024,1\n"),
		0o600))
	for _, c := range []struct {
		of   dataset.Reading
		want string
	}{
		{dataset.Reading{Distinct: true}, "can't be left out"},
		{dataset.Reading{Dates: []dataset.Dates{{Column: "when"}}}, "when:dmy"},
	} {
		_, err := ReadPart(filepath.Join(folder, "part%d.csv"), ranks.Alone{}, c.of)
		wantError(t, err, c.want)
	}
	of := dataset.Reading{Dates: []dataset.Dates{{Column: "when", Form: "dmy"}}}
	if _, err := ReadPart(filepath.Join(folder, "part%d.csv"), ranks.Alone{}, of); err != nil {
		t.Error(err)
	}
}
