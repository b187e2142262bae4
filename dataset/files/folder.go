package files

import (
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// part is a file of a folder that holds a table.
type part struct {
	path         string
	keys, values []string // columns that folders named KEY=VALUE give to all of its rows
	first        int      // its first row
}

// readFolder reads the files of a folder as one table, in the order of their names, as Spark and
// DuckDB write it. A folder in it that is named KEY=VALUE adds a column KEY. Files and folders
// whose names begin with _ or . aren't of the table.
func readFolder(folder string, as dataset.Reading) (*dataset.Table, error) {
	parts, err := partsOf(folder)
	if err != nil {
		return nil, err
	}
	t := as.Plain().New(folder)
	for k := range parts {
		p := &parts[k]
		if p.first = t.Rows; !slices.Equal(p.keys, parts[0].keys) {
			return nil, fmt.Errorf("%s: its folders name the columns %s, and those of %s name %s: "+
				"name the same columns in each", p.path, spelling.Quoted(p.keys, 20),
				parts[0].path, spelling.Quoted(parts[0].keys, 20))
		}
		if err := p.read(t); err != nil {
			return nil, err
		}
	}
	t.Source = folder
	if err := addKeys(t, parts); err != nil {
		return nil, err
	}
	return t, as.Apply(t)
}

// partsOf returns the files of a folder that hold a table.
func partsOf(folder string) (parts []part, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		inside, _ := filepath.Rel(folder, path)
		hidden := inside != "." && strings.ContainsAny(entry.Name()[:1], "_.")
		switch format, known := formatOf(path, ""); {
		case err != nil:
			return fmt.Errorf("%s: cannot be read: %w", folder, err)
		case hidden && entry.IsDir():
			return filepath.SkipDir
		case hidden || entry.IsDir() || !known || !format.Parts:
			return nil
		}
		p := part{path: path}
		for name := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(inside)), "/") {
			if key, value, found := strings.Cut(name, "="); found {
				if text, err := url.PathUnescape(value); err == nil {
					value = text
				}
				p.keys = append(p.keys, key)
				p.values = append(p.values, value)
			}
		}
		parts = append(parts, p)
		return nil
	})
	if err == nil && parts == nil {
		err = fmt.Errorf("%s: a folder without Parquet files: name a file, or a folder of Parquet "+
			"files that are one table", folder)
	}
	return parts, err
}

// read adds the rows of a file to a table.
func (p *part) read(t *dataset.Table) error {
	f, err := disk.Open(p.path)
	if err != nil {
		return fmt.Errorf("%s: cannot be opened: %w", p.path, err)
	}
	defer f.Close()
	format, _ := formatOf(p.path, "")
	t.Source = p.path
	return format.Read(f.OS(), t)
}

// addKeys adds the columns that the names of folders give, if the files don't have them already.
func addKeys(t *dataset.Table, parts []part) error {
	const none = "__HIVE_DEFAULT_PARTITION__" // stands for a missing value
	wide := len(t.Names) + len(parts[0].keys)
	if err := memory.Afford(t.Source, 2*8*float64(t.Rows)*float64(wide)); err != nil {
		return err
	}
	for k, key := range parts[0].keys {
		if _, known := t.Column(key); known {
			continue
		}
		t.Widen(key)
		for i, p := range parts {
			end := t.Rows
			if i+1 < len(parts) {
				end = parts[i+1].first
			}
			for row := p.first; row < end && p.values[k] != none; row++ {
				t.Set(row, len(t.Names)-1, p.values[k])
			}
		}
	}
	return nil
}
