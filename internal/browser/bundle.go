package browser

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	imported = regexp.MustCompile(`(?m)^import (.+) from "\./(.+)"$`)
	exported = regexp.MustCompile(`(?m)^export (async function|function|const|class) (\w+)`)
)

// bundle is a module and all that it imports as one plain script: each becomes a function whose
// result is what it exports. The page's modules write imports and exports in one line each, and
// never import in a circle.
func (p Page) bundle(name string) (string, error) {
	var out strings.Builder
	out.WriteString("\"use strict\"\n;(() => {\nconst modules = {}\n")
	err := p.add(&out, map[string]bool{}, name)
	out.WriteString("})()\n")
	return out.String(), err
}

func (p Page) add(out *strings.Builder, done map[string]bool, name string) error {
	if done[name] {
		return nil
	}
	done[name] = true
	code, err := p.file(name)
	if err != nil {
		return err
	}
	text := string(code)
	for _, m := range imported.FindAllStringSubmatch(text, -1) {
		err := p.add(out, done, m[2])
		if err != nil {
			return err
		}
	}
	text = imported.ReplaceAllStringFunc(text, func(line string) string {
		m := imported.FindStringSubmatch(line)
		names := strings.ReplaceAll(strings.TrimPrefix(m[1], "* as "), " as ", ": ")
		return fmt.Sprintf("const %s = modules[%q]", names, m[2])
	})
	var names []string
	for _, m := range exported.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	text = exported.ReplaceAllString(text, "$1 $2")
	if strings.Contains(text, "\nexport ") || strings.Contains(text, "\nimport ") {
		return fmt.Errorf("browser: %s exports or imports in a way that a plain script cannot", name)
	}
	fmt.Fprintf(out, "modules[%q] = (() => {\n%s\nreturn { %s }\n})()\n", name, text, strings.Join(names, ", "))
	return nil
}
