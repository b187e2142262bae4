package dataset

import (
	"errors"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// The names of a DataFrame's index, which is an input only if it is asked for.
const (
	IndexName   = "(index)"           // that an unnamed first column gets
	pandasIndex = "__index_level_0__" // that pandas writes to Parquet files
)

// IsIndex says whether a column of this name is a DataFrame's index.
func IsIndex(name string) bool { return name == IndexName || name == pandasIndex }

// Leave returns the columns that are no inputs: those that none of the patterns of inputs names, where there are any,
// and those that one of the ignored does. A pattern is a name, or has * for any text and ? for a character. The target,
// and a column that rows are grouped by, are inputs in no case.
func (t *Table) Leave(inputs, ignored []string, target, group string) (left []string, err error) {
	known := func(pattern, flag string) error {
		if !slices.ContainsFunc(t.Names, func(name string) bool { return matches(pattern, name) }) {
			if _, err := t.column(pattern, "to be named by --"+flag); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := t.column(target, "for the target"); err != nil {
		return nil, err
	}
	if err := t.Dated(); err != nil {
		return nil, err
	}
	for _, pattern := range inputs {
		if err := known(pattern, "inputs"); err != nil {
			return nil, err
		}
	}
	for _, pattern := range ignored {
		if err := known(pattern, "ignore"); err != nil {
			return nil, err
		}
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q is to be ignored too: name another", t.Source, spelling.Clip(target))
		}
	}
	left = slices.DeleteFunc(Left(t.Names, inputs, ignored, target, group),
		func(name string) bool { return name == target })
	for _, pattern := range inputs {
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q can't be an input too", t.Source, spelling.Clip(target))
		}
	}
	if len(inputs) > 0 && len(left)+1 >= len(t.Names) {
		return nil, errors.New(t.Source + ": no inputs are left: name others with --inputs, or ignore fewer")
	}
	return left, nil
}

// Left returns which of these columns are no inputs by the patterns, whether or not there are columns that they name.
// Those of the own, as the target and the column that rows are grouped by, never are.
func Left(names, inputs, ignored []string, own ...string) (left []string) {
	named := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
	}
	for _, name := range names {
		switch {
		case slices.Contains(own, name), named(ignored, name), len(inputs) > 0 && !named(inputs, name),
			len(inputs) == 0 && IsIndex(name):
			left = append(left, name)
		}
	}
	return left
}

// matches says whether a name is that of a pattern, which may be the name itself whatever characters it has.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	p, n := []rune(pattern), []rune(name)
	star, from := -1, 0 // the last star, and what it began with
	i, k := 0, 0
	for k < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, k
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[k]):
			i++
			k++
		case star >= 0:
			from++
			i, k = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
