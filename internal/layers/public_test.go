package layers

import (
	"encoding/json"
	"fmt"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
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
	must.Need(t, len(packages) >= 10, "%d packages", len(packages))
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

var output = regexp.MustCompile(`\n\t// Output:\n((?:\t// .*\n)+)}\n`)

// TestPrograms: the comment of every public package opens with a whole program, which is formatted and compiles. If the
// program states its output, it runs and prints that. Packages for tests (kerneltest) need no program.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("the same programs whatever the processor's level")
	}
	packages, l := public(t)
	folder := t.TempDir()
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	// The programs become packages of this module that are in none of its folders. One program calls all these
	// packages, so that there is only one program to link.
	overlay := map[string]string{}
	add := func(name, text string) {
		file := filepath.Join(folder, name+".go")
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		overlay[filepath.Join(root, "internal", "layers", "programs", name, "main.go")] = file
	}
	head, calls := "package main\nimport \"os\"\n", ""
	prints := map[string]string{}
	for _, p := range packages {
		if strings.HasSuffix(p.Name(), "test") {
			continue
		}
		text := programOf(t, l.packages[p.Path()])
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("the program in the comment of %s isn't formatted, or isn't Go: %v", p.Path(), err)
			continue
		}
		if found := output.FindStringSubmatch(text); found != nil {
			prints[p.Name()] = strings.ReplaceAll(found[1], "\t// ", "")
		}
		text = strings.Replace(text, "package main", "package program", 1)
		add("of"+p.Name(), strings.Replace(text, "\nfunc main()", "\nfunc Main()", 1))
		head += fmt.Sprintf("import of%s %q\n", p.Name(), module+"/internal/layers/programs/of"+p.Name())
		calls += fmt.Sprintf("case %q: of%[1]s.Main()\n", p.Name())
	}
	must.Need(t, len(prints) >= len(packages)/2,
		"%d of %d programs state their output", len(prints), len(packages))
	add("main", head+"func main() {\nswitch os.Args[1] {\n"+calls+"}\n}\n")
	replace := must.Get(json.Marshal(map[string]any{"Replace": overlay}))(t)
	must.Do(t, os.WriteFile(filepath.Join(folder, "overlay.json"), replace, 0o600))
	run := func(in, name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = in
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	program := filepath.Join(folder, "programs.exe")
	run(root, "go", "build", "-overlay", filepath.Join(folder, "overlay.json"), "-o", program,
		"./internal/layers/programs/main")
	for name, want := range prints {
		if got := run(t.TempDir(), program, name); got != want {
			t.Errorf("the program of package %s prints\n%sand says that it prints\n%s", name, got, want)
		}
	}
}

// programOf returns the program in the comment of a package, after its first paragraph and the program's.
func programOf(t *testing.T, p listed) string {
	for _, name := range p.GoFiles {
		f := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil,
			parser.ParseComments|parser.PackageClauseOnly))(t)
		if f.Doc == nil {
			continue
		}
		if blocks := new(comment.Parser).Parse(f.Doc.Text()).Content; len(blocks) > 2 {
			if code, ok := blocks[2].(*comment.Code); ok && strings.HasPrefix(code.Text, "package main\n") {
				return code.Text
			}
		}
	}
	t.Errorf("the comment of %s doesn't open with a program", p.ImportPath)
	return ""
}
