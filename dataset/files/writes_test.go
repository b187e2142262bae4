package files

import "testing"

// TestWritesCSV: a file of another format is known by its ending.
func TestWritesCSV(t *testing.T) {
	for path, want := range map[string]bool{"": true, "p": true, "p.csv": true, "p.txt": true,
		"p.csv.gz": true, "p.out": true, "p.npy": false, "p.NPZ": false, "p.parquet": false,
		"p.xlsx": false, "p.zip": false} {
		if got := WritesCSV(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
