package serve

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A Source is a model file with the name and the version it is served under.
type Source struct {
	Name    string
	Version string // "": 1
	Path    string
}

// ParseSource reads PATH, NAME=PATH or NAME@VERSION=PATH. Without a name, it is the
// file's name without its extension.
func ParseSource(text string) (Source, error) {
	name, path, named := strings.Cut(text, "=")
	if !named {
		path = text
		base := filepath.Base(path)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	s := Source{Path: path}
	s.Name, s.Version, _ = strings.Cut(name, "@")
	if s.Version == "" {
		s.Version = "1"
	}
	return s, s.check()
}

func (s Source) check() error {
	const right = "use letters, digits, dots, dashes and underscores, as in price@2=price.utvi"
	switch {
	case s.Path == "":
		return fmt.Errorf("model %s has no file", s.Name)
	case !plain(s.Name):
		return fmt.Errorf("a model cannot be named %.60q; %s", s.Name, right)
	case !plain(s.Version):
		return fmt.Errorf("the version of model %s cannot be %.60q; %s", s.Name, s.Version, right)
	}
	return nil
}

// plain reports whether a text can stand in a URL as it is.
func plain(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return s != "" && s != "." && s != ".." && len(s) <= 100
}

// newer reports whether version a is above b: as numbers if both are, else as text.
func newer(a, b string) bool {
	x, y := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if digits(a) && digits(b) {
		if len(x) != len(y) {
			return len(x) > len(y)
		}
		return x > y
	}
	return a > b
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
