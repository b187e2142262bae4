// Package layers tests the code's structure: for example, files of a package must not use each other in a circle. It
// also tests the words of Markdown pages.
package layers

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

const module = "github.com/krigo-gp/krigo"

type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
	DepOnly                       bool
}

// TestLayers shows that no files of a package use each other in a circle. A file uses another if it names a type,
// field, function, method, variable or constant that the other declares.
func TestLayers(t *testing.T) {
	if testing.Short() {
		t.Skip("the same files whatever the processor's level")
	}
	for _, folder := range []string{"", "laboratory", "tools"} { // modules
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			layers(t, filepath.Join("..", "..", folder))
		})
	}
}

// listing holds what the go tool knows about a module's packages, and about the packages that they import.
type listing struct {
	packages map[string]listed
	fset     *token.FileSet
	imports  types.Importer
}

func list(folder string) (l listing, err error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,GoFiles,Export,DepOnly", "./...")
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		return l, err
	}
	l = listing{packages: map[string]listed{}, fset: token.NewFileSet()}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return l, err
		}
		l.packages[p.ImportPath] = p
	}
	l.imports = importer.ForCompiler(l.fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(l.packages[path].Export) })
	return l, nil
}

func layers(t *testing.T, folder string) {
	l := must.Get(list(folder))(t)
	packages, fset, imports := l.packages, l.fset, l.imports
	for path, p := range packages {
		if p.DepOnly {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f := must.Get(parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t)
			files = append(files, f)
		}
		names := must.Get(named(fset, path, files, imports))(t)
		circle := circleOf(names)
		for i := range len(circle) - 1 {
			t.Errorf("a circle in %s: %s names %s of %s", path, circle[i], names[circle[i]][circle[i+1]], circle[i+1])
		}
		if circle == nil && folder == filepath.Join("..", "..") {
			chain := chainOf(names)
			must.Hold(t, len(chain) <= mostInAChain, "%s has a chain of %d files, more than %d: %v", path, len(chain),
				mostInAChain, chain)
		}
	}
}

// named returns, for each file, the other files that it uses, and for each of these a name that it uses.
func named(fset *token.FileSet, path string, files []*ast.File, imports types.Importer) (map[string]map[string]string,
	error) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(path, fset, files, &info)
	if err != nil {
		return nil, err
	}
	fileOf := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	names := map[string]map[string]string{}
	for id, o := range info.Uses {
		_, method := o.(*types.Func)
		v, ok := o.(*types.Var)
		if o.Pkg() != pkg || !method && !(ok && v.IsField()) && o.Parent() != pkg.Scope() {
			continue // declared in another package, or local
		}
		from, to := fileOf(id.Pos()), fileOf(o.Pos())
		if names[from] == nil {
			names[from] = map[string]string{}
		}
		names[from][to] = max(names[from][to], o.Name()) // the last in the alphabet, so that the order doesn't matter
	}
	return names, nil
}

// circleOf returns files that use each other in a circle, with the first file again at the end. It returns nil if
// there is no circle.
func circleOf(names map[string]map[string]string) []string {
	done := map[string]bool{}
	var visit func(way []string) []string
	visit = func(way []string) []string {
		last := way[len(way)-1]
		if i := slices.Index(way, last); i < len(way)-1 {
			return way[i:]
		}
		for _, next := range slices.Sorted(maps.Keys(names[last])) {
			if next != last && !done[next] {
				if circle := visit(append(way, next)); circle != nil {
					return circle
				}
			}
		}
		done[last] = true
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(names)) {
		if circle := visit([]string{file}); circle != nil {
			return circle
		}
	}
	return nil
}
