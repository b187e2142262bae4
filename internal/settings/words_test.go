package settings

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/krigo-gp/krigo/internal/must"
)

// module is the path of krigo's module.
const module = "github.com/krigo-gp/krigo"

// TestWords shows that words.json holds the comments of all settings. No blank field has tags, because go doc hides
// blank fields. With UPDATE_SNAPSHOTS=1 the test writes words.json.
func TestWords(t *testing.T) {
	all := map[string]map[string]word{}
	root := filepath.Join("..", "..")
	must.Do(t, filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "testdata":
			return filepath.SkipDir
		case filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if strings.Contains(string(text), "`set:\"") || strings.Contains(string(text), "\" set:\"") {
			folder := filepath.ToSlash(must.Get(filepath.Rel(root, filepath.Dir(file)))(t))
			for _, w := range collect(all, path.Join(module, folder), string(text)) {
				t.Errorf("%s: %s", file, w)
			}
		}
		return err
	}))
	must.Need(t, len(all) >= 10, "settings of %d structs", len(all))
	text, err := json.MarshalIndent(all, "", "\t")
	must.Do(t, err)
	text = append(text, '\n')
	if string(text) != string(wordsJSON) {
		must.Hold(t, os.Getenv("UPDATE_SNAPSHOTS") != "",
			"words.json isn't what the comments say: go generate ./internal/settings")
		must.Do(t, os.WriteFile("words.json", text, 0o644))
	}
}

// collect adds the words of a file's structs to all, and returns what is wrong with the structs.
func collect(all map[string]map[string]word, pkg, text string) (wrong []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		return []string{err.Error()}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.TypeSpec)
		if !is {
			return true
		}
		of, is := spec.Type.(*ast.StructType)
		if !is {
			return false
		}
		name := pkg + "." + spec.Name.Name
		for _, f := range of.Fields.List {
			if f.Tag == nil || len(f.Names) == 0 {
				continue
			}
			_, set := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Lookup("set")
			field := f.Names[0].Name
			switch {
			case field == "_":
				wrong = append(wrong, name+": a blank field has tags, which go doc hides")
			case set && f.Doc == nil && f.Comment == nil:
				wrong = append(wrong, fmt.Sprintf("%s.%s has no comment", name, field))
			case set && f.Doc != nil:
				if all[name] == nil {
					all[name] = map[string]word{}
				}
				all[name][field] = wordOf(f.Doc.Text())
			}
		}
		return false
	})
	return wrong
}

// wordOf returns what the first paragraph of a comment says of a setting.
func wordOf(comment string) (w word) {
	paragraph, _, _ := strings.Cut(comment, "\n\n")
	to := &w.Help
	for _, line := range strings.Split(strings.TrimSpace(paragraph), "\n") {
		if rule, is := strings.CutPrefix(line, "Default: "); is {
			to, line = &w.Rule, rule
		} else if want, is := strings.CutPrefix(line, "Takes "); is {
			to, line = &w.Want, want
		}
		*to = strings.TrimPrefix(*to+" "+line, " ")
	}
	for _, text := range []*string{&w.Help, &w.Rule, &w.Want} {
		*text = strings.TrimSuffix(*text, ".")
	}
	letters := []rune(w.Help)
	if len(letters) > 1 && !unicode.IsUpper(letters[1]) {
		letters[0] = unicode.ToLower(letters[0])
	}
	w.Help = string(letters)
	return w
}

// TestWordOf shows what becomes of a comment.
func TestWordOf(t *testing.T) {
	for comment, want := range map[string]word{
		"Rows of a table.\n":                             {Help: "rows of a table"},
		"ARD: one of\ntwo ways.\n\nARD is a way.\n":      {Help: "ARD: one of two ways"},
		"a: one. Two.\nDefault: a, or\nb.\n":             {Help: "a: one. Two", Rule: "a, or b"},
		"A share.\nTakes a number, such as 0.5.\n":       {Help: "a share", Want: "a number, such as 0.5"},
		"At x.\nDefault: 3.\nTakes 1 to 9.\n\nTakes y\n": {Help: "at x", Rule: "3", Want: "1 to 9"},
	} {
		must.Hold(t, wordOf(comment) == want, "%q: %+v", comment, wordOf(comment))
	}
	all := map[string]map[string]word{}
	wrong := collect(all, "p", "package p\ntype T struct {\n_ struct{} `help:\"x\"`\nA int `set:\"a\"`\n"+
		"B int `set:\"b\"` // behind\n// Above.\nC int `set:\"c\"` // behind\n}\n")
	if len(wrong) != 2 || !strings.Contains(wrong[0], "blank") || !strings.Contains(wrong[1], "p.T.A has no comment") ||
		len(all["p.T"]) != 1 || all["p.T"]["C"] != (word{Help: "above"}) {
		t.Errorf("%q, %+v", wrong, all)
	}
}
