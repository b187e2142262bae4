package method

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
)

// TestChoiceWords: a field of Choice has the comment, the name and the type of a method's setting.
func TestChoiceWords(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), "choice.go", nil, parser.ParseComments))(t)
	said := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.TypeSpec); is && spec.Name.Name == "Choice" {
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				said[f.Names[0].Name] = f.Doc.Text() + f.Comment.Text()
			}
		}
		return true
	})
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Choice]()) {
		must.Hold(t, said[f.Name] != "", "%s has no comment", f.Name)
	}
	fields := reflect.TypeFor[Choice]()
	for _, s := range described() {
		f, has := fields.FieldByName(s.Field)
		if !has {
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		words := strings.TrimSuffix(strings.Join(strings.Fields(said[f.Name]), " "), ".")
		must.Hold(t, strings.EqualFold(words, s.Help) && key == s.Key(),
			"%s is %s and says %q, but the setting %s says %q", f.Name, key, words, s.Key(), s.Help)
	}
}
