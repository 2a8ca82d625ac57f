package modelpage

import (
	"io/fs"
	"strings"
	"testing"
)

// Every module of the page is in the plain script once, behind those that it imports.
func TestBundle(t *testing.T) {
	text, err := bundle("main.js")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := fs.Glob(Files, "*.js")
	if err != nil || len(modules) < 8 {
		t.Fatal(modules, err)
	}
	for _, name := range append(modules, "svg.js", "text.js") {
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
}

// What would end a script or a text is escaped in a model's name.
func TestQuote(t *testing.T) {
	if got := quote(`a"</script>`); strings.ContainsAny(got[1:len(got)-1], "<>") || !strings.Contains(got, `\"`) {
		t.Error(got)
	}
}

func TestFolder(t *testing.T) {
	all, err := Folder("m", []byte("model"))
	if programGz == nil {
		if err == nil || !strings.Contains(err.Error(), "go build -tags page") {
			t.Errorf("a build without the program says %v", err)
		}
		return
	}
	if err != nil || len(all) != 9 || strings.Contains(string(all["index.html"]), "module") {
		t.Errorf("%d files, %v", len(all), err)
	}
}
