// Package house holds tests of the repository as a whole.
package house

import (
	"bufio"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// The packages are those drawn in ARCHITECTURE.md, and each imports only packages that are
// drawn below it.
func TestImportsPointDown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range faults(drawn(string(text)), imports(t)) {
		t.Error(e)
	}
}

// drawn returns the packages in the order of the first indented block: each line that
// begins with four spaces and a word is one, deeper lines continue its description.
func drawn(design string) (order []string) {
	begun := false
	for lines := bufio.NewScanner(strings.NewReader(design)); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), "    ")
		if !ok && begun {
			return order
		}
		begun = begun || ok
		if ok && rest[0] != ' ' {
			order = append(order, strings.Fields(rest)[0])
		}
	}
	return order
}

// imports returns for each package of the module which of its packages it imports, on
// any system. Tests may import what they like.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil || name == "." || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name = filepath.ToSlash(name)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		used := all[name]
		for _, i := range file.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if p, ok := strings.CutPrefix(p, "utvi/"); ok && !slices.Contains(used, p) {
				used = append(used, p)
			}
		}
		all[name] = used
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func faults(order []string, imports map[string][]string) (all []string) {
	place := map[string]int{}
	for i, p := range order {
		if _, twice := place[p]; twice {
			all = append(all, p+" is drawn twice in ARCHITECTURE.md")
		}
		if _, ok := imports[p]; !ok {
			all = append(all, p+" is drawn in ARCHITECTURE.md, but there is no such package")
		}
		place[p] = i
	}
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		at, ok := place[p]
		if !ok {
			all = append(all, p+" is missing from the drawing in ARCHITECTURE.md: add a line")
			continue
		}
		for _, q := range imports[p] {
			if below, ok := place[q]; ok && below <= at {
				all = append(all, fmt.Sprintf("%s imports %s, which is drawn above it in ARCHITECTURE.md", p, q))
			}
		}
	}
	return all
}

// The check finds what it is for.
func TestFaults(t *testing.T) {
	const design = "# House\n\nText.\n\n    top      what it is:\n             more of it\n    middle   two\n    gone     three\n    bottom   four\n\n    other    is no package\n"
	order := drawn(design)
	if want := []string{"top", "middle", "gone", "bottom"}; !slices.Equal(order, want) {
		t.Fatalf("drawn are %v, want %v", order, want)
	}
	got := faults(order, map[string][]string{"top": {"middle", "bottom"}, "middle": {"bottom"}, "bottom": {"middle"}, "new": {"top"}})
	want := []string{
		"gone is drawn in ARCHITECTURE.md, but there is no such package",
		"bottom imports middle, which is drawn above it in ARCHITECTURE.md",
		"new is missing from the drawing in ARCHITECTURE.md: add a line",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
