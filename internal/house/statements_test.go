package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One statement a line: no assignment of three or more values at once, and no assignment in
// the header of an if. A loop's header may count several variables.
func TestOneStatementALine(t *testing.T) {
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		for _, fault := range crowdedLines(set, file) {
			t.Error(fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func crowdedLines(set *token.FileSet, file *ast.File) (faults []string) {
	add := func(n ast.Node, what string) {
		p := set.Position(n.Pos())
		faults = append(faults, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, what))
	}
	headers := map[ast.Stmt]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.ForStmt:
			headers[s.Init] = true
			headers[s.Post] = true
		case *ast.IfStmt:
			a, ok := s.Init.(*ast.AssignStmt)
			if ok && a.Tok != token.DEFINE {
				add(s, "an assignment in the header of an if; give it a line of its own")
			}
		case *ast.AssignStmt:
			if len(s.Lhs) > 2 && len(s.Rhs) == len(s.Lhs) && !headers[s] {
				add(s, fmt.Sprintf("%d values are assigned at once; give each a line", len(s.Lhs)))
			}
		}
		return true
	})
	return faults
}

// The check finds what it is for, and nothing else.
func TestCrowdedLines(t *testing.T) {
	const source = `package p
func f() (err error) {
	a, b := 1, 2
	a, b = b, a
	c, d, e := 1, 2, 3
	for i, j, k := 0, 0, 0; i < 3; i, j, k = i+1, j+1, k+1 {
	}
	if err = f(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	x, y, z := g()
	return nil
}
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"p.go:5: 3 values are assigned at once; give each a line",
		"p.go:8: an assignment in the header of an if; give it a line of its own",
	}
	if got := crowdedLines(set, file); !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
