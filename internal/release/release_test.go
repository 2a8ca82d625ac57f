package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The version is the changelog's, and orders before the release that it leads to.
func TestVersion(t *testing.T) {
	at := time.Date(2026, 11, 18, 9, 5, 7, 0, time.UTC)
	for changelog, want := range map[string]string{
		"# Changelog\n\n## Unreleased\n\n## 0.2.0 – 2026\n":  "0.3.0-dev.20261118090507",
		"# Changelog\n\n## 0.3.0 – 2026\n\n## 0.2.0\n":       "0.3.0",
		"# Changelog\n\n## Unreleased\n\n## 1.9.4\n\n## 1.0": "1.10.0-dev.20261118090507",
	} {
		if got, err := versionOf(changelog, at); got != want || err != nil {
			t.Errorf("%q: %s, %v, want %s", changelog, got, err, want)
		}
	}
	for _, changelog := range []string{"", "## Unreleased\n"} {
		if got, err := versionOf(changelog, at); err == nil {
			t.Errorf("%q: %s", changelog, got)
		}
	}
	c := commit{version: "0.3.0-dev.20261118090507"}
	if c.python() != "0.3.0.dev20261118090507" || c.debian() != "0.3.0~dev20261118090507" {
		t.Error(c.python(), c.debian())
	}
}

// Archives have the commit's time, root as the owner and each folder once.
func TestTar(t *testing.T) {
	at := time.Unix(1e9, 0)
	data, err := tarGz([]file{{name: "a/x", data: []byte("1"), executable: true}, {name: "a/y", data: []byte("22")}}, at, "p/")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(at) || h.Uid != 0 || h.Uname != "root" {
			t.Errorf("%s: %v, %d, %s", h.Name, h.ModTime, h.Uid, h.Uname)
		}
		if h.Name == "p/a/x" && h.Mode != 0o755 {
			t.Errorf("%o", h.Mode)
		}
	}
	if got := strings.Join(names, " "); got != "p/ p/a/ p/a/x p/a/y" {
		t.Error(got)
	}
}

// pyproject.toml says what pip has to know.
func TestProject(t *testing.T) {
	p, err := readProject("../../python/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(p.metadata(commit{version: "0.3.0"}, "read me"))
	for _, want := range []string{"\nVersion: 0.3.0\n", "\nRequires-Python: >=", "\nRequires-Dist: scikit-learn", `; extra == "pandas"`, "\n\nread me"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
}

// A package of Debian is an ar archive whose members begin at even places.
func TestAr(t *testing.T) {
	got := string(ar(time.Unix(5, 0), []file{{name: "odd", data: []byte("x")}, {name: "b", data: []byte("yz")}}))
	head := func(name, size string) string {
		return name + strings.Repeat(" ", 16-len(name)) + "5           0     0     100644  " + size + strings.Repeat(" ", 10-len(size)) + "`\n"
	}
	if want := "!<arch>\n" + head("odd", "1") + "x\n" + head("b", "2") + "yz"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An archive has every document that its README and its documents name.
func TestDocuments(t *testing.T) {
	t.Chdir("../..")
	all, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	for _, f := range all {
		if !strings.HasSuffix(f.name, ".md") || f.name == "CHANGELOG.md" || strings.HasPrefix(f.name, "docs/notes/") {
			continue
		}
		for _, found := range link.FindAllSubmatch(f.data, -1) {
			to := path.Join(path.Dir(f.name), string(found[1]))
			if strings.HasPrefix(to, "docs/") && !slices.ContainsFunc(names, func(n string) bool { return n == to || strings.HasPrefix(n, to+"/") }) {
				t.Errorf("%s names %s, which is not in the archive", f.name, to)
			}
		}
	}
}
