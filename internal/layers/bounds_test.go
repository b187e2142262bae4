package layers

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// The bounds of the product's code, which is all Go but tests, generated files and what stands beside the product.
const (
	mostColumns  = 100  // of a line, with a tab of 4
	mostLong     = 0.02 // share of longer lines
	mostTuples   = 4.   // assignments a, b = x, y per 1,000 lines
	mostBranches = 25   // cyclomatic complexity of a function
	mostInAChain = 10   // files of a package, where each uses the next
)

var beside = []string{"laboratory", "tools", "testdata", "docs", "data", "python", "r", "verify", ".git"}

// counts holds what is bounded.
type counts struct {
	lines, long, tuples int
	mixed, branching    []string
}

// TestBounds shows that the product's lines and functions are as plain as the bounds say.
func TestBounds(t *testing.T) {
	var c counts
	root := filepath.Join("..", "..")
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := must.Get(filepath.Rel(root, path))(t)
		switch {
		case d.IsDir() && slices.Contains(beside, name):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(text, []byte("DO NOT EDIT.\n")) {
			err = c.add(filepath.ToSlash(name), text)
		}
		return err
	}))
	must.Need(t, c.lines > 50_000, "%d lines", c.lines)
	long := float64(c.long) / float64(c.lines)
	must.Hold(t, long <= mostLong, "%.1f %% of lines are longer than %d columns", 100*long, mostColumns)
	tuples := 1000 * float64(c.tuples) / float64(c.lines)
	must.Hold(t, tuples <= mostTuples, "%.1f assignments a, b = x, y per 1,000 lines", tuples)
	must.Hold(t, len(c.mixed) == 0, "&& inside || without parentheses: %v", c.mixed)
	must.Hold(t, len(c.branching) == 0, "more than %d branches: %v", mostBranches, c.branching)
}

// add counts what is in a file.
func (c *counts) add(name string, text []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); c.lines++ {
		if line := strings.ReplaceAll(in.Text(), "\t", "    "); len([]rune(line)) > mostColumns {
			c.long++
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if branches(n) > mostBranches {
				c.branching = append(c.branching, name+" "+n.Name.Name)
			}
		case *ast.BinaryExpr:
			if n.Op == token.LOR && (conjunction(n.X) || conjunction(n.Y)) {
				c.mixed = append(c.mixed, set.Position(n.Pos()).String())
			}
		case *ast.AssignStmt:
			if len(n.Lhs) > 1 && len(n.Lhs) == len(n.Rhs) {
				c.tuples++
			}
		}
		return true
	})
	return nil
}

// conjunction says whether e is a && b without parentheses.
func conjunction(e ast.Expr) bool {
	b, is := e.(*ast.BinaryExpr)
	return is && b.Op == token.LAND
}

// branches returns a function's cyclomatic complexity.
func branches(f *ast.FuncDecl) int {
	all := 1
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			all++
		case *ast.CaseClause:
			if n.List != nil {
				all++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				all++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				all++
			}
		}
		return true
	})
	return all
}

// TestCounts shows what the bounds count.
func TestCounts(t *testing.T) {
	var c counts
	must.Do(t, c.add("x.go", []byte("package x\n\nfunc f(a, b, c bool) {\n\ta, b = b, a\n\tif a || b && c {\n\t}\n"+
		"\tif a || (b && c) {\n\t}\n\ta, _ = g()\n}\n\n// "+strings.Repeat("ä", 97)+"\n\n// "+strings.Repeat("ä", 98)+"\n")))
	must.Hold(t, c.lines == 14 && c.long == 1 && c.tuples == 1 && len(c.mixed) == 1, "%+v", c)
	must.Hold(t, len(c.branching) == 0, "%v", c.branching)
	many := "package x\n\nfunc f(a bool) {\n" + strings.Repeat("\tif a {\n\t}\n", 25) + "}\n"
	must.Do(t, c.add("y.go", []byte(many)))
	must.Hold(t, len(c.branching) == 1, "%v", c.branching)
}

// chainOf returns the files of the longest chain of uses. The files have no circles.
func chainOf(names map[string]map[string]string) (longest []string) {
	known := map[string][]string{}
	var below func(file string) []string
	below = func(file string) []string {
		if chain, is := known[file]; is {
			return chain
		}
		var best []string
		for next := range names[file] {
			if next != file && len(below(next)) > len(best) {
				best = below(next)
			}
		}
		known[file] = append([]string{file}, best...)
		return known[file]
	}
	for file := range names {
		if chain := below(file); len(chain) > len(longest) {
			longest = chain
		}
	}
	return longest
}
