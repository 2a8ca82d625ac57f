package sweep

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// label is what a setting adds to the name of a trial: ut2 for rule=ut(2),
// steps400 for steps=400.
func label(s setting) string {
	name := plain(s.name[strings.LastIndexByte(s.name, '.')+1:])
	switch v := s.value.(type) {
	case string:
		return plain(v)
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, plain(text(x)))
		}
		return name + strings.Join(parts, "x")
	}
	return name + plain(text(s.value))
}

// text writes a value as a person would.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// plain keeps characters that names of trials may have, removes brackets and turns
// others into hyphens.
func plain(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-':
			return c
		case strings.ContainsRune(`()[]{}"`, c):
			return -1
		}
		return '-'
	}, s)
	return strings.Trim(s, "-.")
}

// shorten cuts a name to the length that a trial's name may have.
func shorten(name string, t Trial) string {
	const most = 100
	if !isName(name) && name != "" && !isName(name[:1]) {
		name = "trial_" + name
	}
	if len(name) > most {
		name = name[:most-9] + "_" + hashOf(t)
	}
	return name
}

// hashOf is the end of the trial's ID.
func hashOf(t Trial) string {
	id := t.ID()
	return id[len(id)-8:]
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = copyOf(x)
		}
		return m
	case []any:
		s := make([]any, len(v))
		for i, x := range v {
			s[i] = copyOf(x)
		}
		return s
	}
	return v
}

// resolve makes the path of a setting that names a file absolute.
func resolve(m map[string]any, name, folder string) {
	outer, inner, dotted := strings.Cut(name, ".")
	if dotted {
		if sub, ok := m[outer].(map[string]any); ok {
			resolve(sub, inner, folder)
		}
		return
	}
	switch v := m[name].(type) {
	case string:
		m[name] = absolute(v, folder)
	case []any:
		for i, x := range v {
			if s, ok := x.(string); ok {
				v[i] = absolute(s, folder)
			}
		}
	}
}

func absolute(path, folder string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// costOf is the number in a setting, 0 if it holds no number.
func costOf(m map[string]any, name string) float64 {
	outer, inner, dotted := strings.Cut(name, ".")
	if dotted {
		sub, _ := m[outer].(map[string]any)
		return costOf(sub, inner)
	}
	switch v := m[name].(type) {
	case int64:
		return max(0, float64(v))
	case float64:
		return max(0, v)
	}
	return 0
}
