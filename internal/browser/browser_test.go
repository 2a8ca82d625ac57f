package browser

import (
	"strings"
	"testing"
	"testing/fstest"
)

func files(all map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range all {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// Every module is in the plain script once, behind those that it imports.
func TestBundle(t *testing.T) {
	p := Page{Files: files(map[string]string{
		"main.js":    "import { draw } from \"./draw.js\"\nimport * as numbers from \"./numbers.js\"\ndraw(numbers.two)\n",
		"draw.js":    "import { two } from \"./numbers.js\"\nimport { svg } from \"./svg.js\"\nexport function draw(n) { return svg(\"g\", { n, two }) }\n",
		"numbers.js": "export const two = 2\n",
	})}
	text, err := p.bundle("main.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.js", "draw.js", "numbers.js", "svg.js"} {
		at := strings.Index(text, `modules["`+name+`"] = (`)
		if at < 0 || strings.Count(text, `modules["`+name+`"] = (`) != 1 {
			t.Errorf("%s is not in the script once", name)
		}
		if use := strings.Index(text, `= modules["`+name+`"]`); name != "main.js" && use < at {
			t.Errorf("%s is used before it is there", name)
		}
	}
	for _, not := range []string{"\nimport ", "\nexport "} {
		if strings.Contains(text, not) {
			t.Errorf("the script has %q", not)
		}
	}
	p.Files = files(map[string]string{"main.js": "let a = 1\nexport default a\n"})
	_, err = p.bundle("main.js")
	if err == nil {
		t.Error("a default export passes")
	}
}

// What would end a script or a text is escaped.
func TestText(t *testing.T) {
	if got := string(Text("name", `a"</script>`)); strings.ContainsAny(got, "<>") || !strings.Contains(got, `\"`) {
		t.Error(got)
	}
}
