package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// most is the largest number of parameters of an exported function. A function that needs more takes a struct.
const most = 4

// public returns the packages of the product that another module can import.
func public(t *testing.T) (all []*types.Package, l listing) {
	l = must.Get(list(filepath.Join("..", "..")))(t)
	for _, path := range slices.Sorted(maps.Keys(l.packages)) {
		if p := l.packages[path]; !p.DepOnly && p.Name != "main" && p.Export != "" && !strings.Contains(path, "/internal/") {
			pkg := must.Get(l.imports.Import(path))(t)
			all = append(all, pkg)
		}
	}
	return all, l
}

// TestPublic shows that exported functions and methods take few parameters, that only errors are exported variables,
// which any program could change, and that no signature names a type of an internal package.
func TestPublic(t *testing.T) {
	packages, _ := public(t)
	must.End(t, len(packages) < 10, "%d packages", len(packages))
	for _, pkg := range packages {
		function := func(name string, f *types.Signature) {
			if n := f.Params().Len(); n > most {
				t.Errorf("%s takes %d parameters, more than %d: make a struct of some", name, n, most)
			}
			if text := types.TypeString(f, nil); strings.Contains(text, module+"/internal/") &&
				!strings.Contains(name, "Bundle") {
				t.Errorf("%s spells an internal type: %s", name, text)
			}
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			full := pkg.Name() + "." + name
			if !o.Exported() {
				continue
			}
			switch o := o.(type) {
			case *types.Func:
				function(full, o.Signature())
			case *types.Var:
				if o.Type().String() != "error" {
					t.Errorf("%s is a variable that anybody can change: make it a function or a type", full)
				}
			case *types.TypeName:
				named, ok := o.Type().(*types.Named)
				if !ok || o.IsAlias() {
					continue
				}
				methods := slices.Collect(named.Methods())
				if of, ok := named.Underlying().(*types.Interface); ok {
					methods = slices.Collect(of.ExplicitMethods())
				}
				for _, m := range methods {
					if m.Exported() {
						function(full+"."+m.Name(), m.Signature())
					}
				}
				if of, ok := named.Underlying().(*types.Struct); ok {
					for f := range of.Fields() {
						if text := f.Type().String(); f.Exported() && strings.Contains(text, module+"/internal/") {
							t.Errorf("%s.%s spells an internal type: %s", full, f.Name(), text)
						}
					}
				}
			}
		}
	}
}

var snippet = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestSnippets shows that Go code in README and docs compiles, given a context ctx and the imports that it needs.
func TestSnippets(t *testing.T) {
	packages, l := public(t)
	paths := map[string]string{}
	for _, p := range l.packages {
		if !strings.Contains(p.ImportPath, "internal") && (p.DepOnly && !strings.Contains(p.ImportPath, ".")) {
			paths[path.Base(p.ImportPath)] = p.ImportPath
		}
	}
	for _, p := range packages {
		paths[p.Name()] = p.Path()
	}
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found := must.Get(filepath.Glob(filepath.Join("..", "..", pattern)))(t)
		files = append(files, found...)
	}
	checked := 0
	for _, name := range files {
		text := must.Get(os.ReadFile(name))(t)
		for i, s := range snippet.FindAllSubmatch(text, -1) {
			checked++
			if err := compiles(l, paths, string(s[1])); err != nil {
				t.Errorf("%s, snippet %d: %v", name, i+1, err)
			}
		}
	}
	must.Not(t, checked == 0, "no snippet was found")
	for _, wrong := range []string{"krigo.NotThere()", "var x int = krigo.Options{}", "x :="} {
		must.Not(t, compiles(l, paths, wrong) == nil, "%q compiles", wrong)
	}
}

// compiles type-checks statements as the body of a function with a parameter ctx.
func compiles(l listing, paths map[string]string, body string) error {
	body = "func _(ctx context.Context) {\n" + body + "\n}\n"
	f, err := parser.ParseFile(l.fset, "snippet.go", "package p\n"+body, 0)
	if err != nil {
		return err
	}
	head := "package p\nimport \"context\"\n"
	imported := map[string]bool{"context": true}
	for _, id := range f.Unresolved {
		if of := paths[id.Name]; of != "" && !imported[id.Name] {
			imported[id.Name] = true
			head += fmt.Sprintf("import %q\n", of)
		}
	}
	if f, err = parser.ParseFile(l.fset, "snippet.go", head+body, 0); err != nil {
		return err
	}
	var first error
	config := types.Config{Importer: l.imports, Error: func(err error) {
		if e := err.(types.Error); first == nil && !e.Soft { // a soft error is an unused variable
			first = err
		}
	}}
	config.Check("p", l.fset, []*ast.File{f}, nil)
	return first
}
