package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// unrun lists the snippets that can't run, by their first lines, with the reasons.
var unrun = map[string]string{}

// script runs all Python or R snippets of a page in their order, as one script. It returns what each of them prints.
func (p *place) script(interpreter []string, kind string, snippets []*part) (map[*part]string, error) {
	between := map[string]string{"python": `print("\x01")`, "r": `cat("\001\n")`}[kind]
	var b strings.Builder
	for _, s := range snippets {
		b.WriteString(s.text + between + "\n")
	}
	path := filepath.Join(p.folder, "script."+kind)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return nil, err
	}
	out, err := p.output(p.program(interpreter[0], append(interpreter[1:], path)...), 0)
	if err != nil {
		return nil, err
	}
	outputs := map[*part]string{}
	for i, text := range strings.Split(out, "\x01\n")[:len(snippets)] {
		outputs[snippets[i]] = text
	}
	return outputs, nil
}

// golang compiles a snippet of Go as a program and runs it.
func (p *place) golang(root, snippet string, packages map[string]string) (string, error) {
	text, err := program(snippet, packages)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "snippet-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	source := filepath.Join(folder, "main.go")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	built := filepath.Join(folder, "snippet.exe")
	build := exec.Command("go", "build", "-o", built, source)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return p.output(p.program(built), 0)
}

// program makes a program of statements. It gives them a context ctx and the imports that they need, and it ends with
// any error that they assign to err.
func program(snippet string, packages map[string]string) (string, error) {
	const head = "package main\n"
	const before = "func main() {\nctx := context.Background()\n_ = ctx\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "snippet.go", head+before+snippet+"}\n", 0)
	if err != nil {
		return "", err
	}
	offset := func(at token.Pos) int { return fset.Position(at).Offset - len(head+before) }
	var body strings.Builder
	done := 0
	for _, statement := range f.Decls[0].(*ast.FuncDecl).Body.List {
		assigned, ok := statement.(*ast.AssignStmt)
		if !ok || !slices.ContainsFunc(assigned.Lhs, func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			return ok && id.Name == "err"
		}) {
			continue
		}
		end := offset(assigned.End())
		body.WriteString(snippet[done:end] + "\nif err != nil {\npanic(err)\n}\n")
		done = end
	}
	body.WriteString(snippet[done:])
	imports := "import \"context\"\n"
	imported := map[string]bool{"context": true}
	for _, id := range f.Unresolved {
		if path := packages[id.Name]; path != "" && !imported[id.Name] {
			imported[id.Name] = true
			imports += fmt.Sprintf("import %q\n", path)
		}
	}
	return head + imports + before + body.String() + "}\n", nil
}

// listPackages returns the import paths of the module's packages and of Go's own, by name.
func listPackages(root string) (map[string]string, error) {
	list := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "std", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains("/"+path+"/", "/internal/") {
			all[name] = path
		}
	}
	return all, nil
}
