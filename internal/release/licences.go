package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|notice|patents)([-._].*)?$`)

// licences are the texts under which the modules in a program may be passed on, and that of Go.
func licences(info *debug.BuildInfo) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("The program utvi contains the following modules.\n")
	root, err := goList("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	for _, part := range []string{"LICENSE", "PATENTS"} {
		text, err := os.ReadFile(filepath.Join(root, part))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), info.GoVersion, part, bytes.TrimSpace(text))
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		dir, err := goList("list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		if err := moduleLicences(&b, m.Path+" "+m.Version, dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// moduleLicences writes the texts in a module's folder and below it, each once: fonts and copied
// code have licences of their own.
func moduleLicences(b *bytes.Buffer, name, dir string) error {
	said := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !licenceName.MatchString(d.Name()) || strings.HasSuffix(d.Name(), ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || said[string(text)] {
			return err
		}
		said[string(text)] = true
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // some are of Windows
		rest, err := filepath.Rel(dir, path)
		fmt.Fprintf(b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, filepath.ToSlash(rest), bytes.TrimSpace(text))
		return err
	})
	if err == nil && len(said) == 0 {
		err = fmt.Errorf("%s has no text of a licence in %s", name, dir)
	}
	return err
}

func goList(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output()
	text := strings.TrimSpace(string(out))
	if err == nil && text == "" {
		err = errors.New("it printed nothing")
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return text, nil
}
