package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"utvi/internal/advice"
)

func TestAsFlag(t *testing.T) {
	for _, c := range []struct{ field, value, want string }{
		{"Group", "", "use --group"},
		{"Decimal", "comma", "use --decimal comma"},
		{"InputStd", "x=1", "use --input-std x=1"},
		{"Ignore", "net price", "use --ignore 'net price'"},
		{"Categorical", "it's", `use --categorical 'it'\''s'`},
	} {
		if got := asFlag(advice.Set(c.field, c.value)); got != c.want {
			t.Errorf("%s %q is spelt %q, want %q", c.field, c.value, got, c.want)
		}
	}
}

// Every setting that the library proposes is a flag of fit, or of import if its importer does;
// those of the text of a table are flags of every command that reads one.
func TestAdviceHasFlags(t *testing.T) {
	proposed := proposedSettings(t)
	if len(proposed) < 5 {
		t.Fatalf("the library proposes %v only: the search finds nothing", proposed)
	}
	for field, where := range proposed {
		cmd := fitCommand()
		if strings.Contains(filepath.ToSlash(where), "onnx/importer/") {
			cmd = importCommand()
		}
		if name := advice.Set(field, "").Name("-"); cmd.Flags().Lookup(name) == nil {
			t.Errorf("%s: advice proposes %s, but %s has no flag --%s", where, field, cmd.Name(), name)
		}
	}
	for _, field := range []string{"Header", "Decimal"} {
		if proposed[field] == "" {
			t.Errorf("no advice proposes %s", field)
		}
		if name := advice.Set(field, "").Name("-"); predictCommand().Flags().Lookup(name) == nil {
			t.Errorf("predict has no flag --%s", name)
		}
	}
}

// proposedSettings are the fields of all calls of advice.Set in the repository, each with one
// of its places.
func proposedSettings(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if field := settingOf(n); field != "" {
				found[field] = files.Position(n.Pos()).String()
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// settingOf is the field that a node proposes, if it is a call of advice.Set.
func settingOf(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return ""
	}
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fn.Sel.Name != "Set" {
		return ""
	}
	if of, ok := fn.X.(*ast.Ident); !ok || of.Name != "advice" {
		return ""
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "a setting that is not a constant"
	}
	field, err := strconv.Unquote(text.Value)
	if err != nil {
		return text.Value
	}
	return field
}
