package main

import (
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed readme.md
var readme []byte

// documents are what people read who have no clone: how to begin, and all of docs.
func documents() ([]file, error) {
	all := []file{{name: "README.md", data: readme}}
	for _, name := range []string{"LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: name, data: text})
	}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() || strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, file{name: filepath.ToSlash(path), data: text})
		return err
	})
	return all, err
}
