package modelpage

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"utvi/internal/pagestyle"
)

// errNoProgram is that of a plain build.
var errNoProgram = errors.New("this utvi was built without the program that such a page runs; build it with: go generate ./internal/modelpage && go build -tags page ./cmd/utvi")

// Folder returns the files of a page that needs no server: opened from a disk, it predicts with the
// model inside. All scripts are plain ones, because browsers load neither modules nor other files
// from a disk.
func Folder(name string, model []byte) (map[string][]byte, error) {
	if programGz == nil {
		return nil, errNoProgram
	}
	page, err := fs.ReadFile(Files, "index.html")
	if err != nil {
		return nil, err
	}
	const module = `<script type="module" src="main.js"></script>`
	index := strings.Replace(string(page), module, scripts, 1)
	if index == string(page) {
		return nil, errors.New("modelpage: index.html has no main.js")
	}
	bundle, err := bundle("main.js")
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{
		"index.html":   []byte(index),
		"page.js":      []byte(bundle),
		"wasm_exec.js": []byte(exec),
		"program.js":   constant("utviProgram", programGz),
		"model.js":     append(constant("utviModel", model), "globalThis.utviName = "+quote(name)+"\n"...),
		"start.js":     []byte(start),
	}
	for _, css := range []string{"style.css", "app.css", "page.css"} {
		out[css], err = file(css)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

const scripts = `<script src="wasm_exec.js"></script>
<script src="program.js"></script>
<script src="model.js"></script>
<script src="start.js"></script>
<script src="page.js"></script>`

// start unpacks and runs the program; questions wait until it has the model.
const start = `"use strict"
{
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
  const ready = (async () => {
    const packed = new Blob([bytes(utviProgram)]).stream().pipeThrough(new DecompressionStream("gzip"))
    const go = new Go()
    const { instance } = await WebAssembly.instantiate(await new Response(packed).arrayBuffer(), go.importObject)
    go.run(instance)
    const [error, answer] = utviOpen(bytes(utviModel), utviName)
    if (error) throw new Error(error)
    return answer
  })()
  globalThis.utviInside = async (path, body) => {
    const answer = await ready
    await new Promise(resolve => setTimeout(resolve)) // let the browser draw
    return answer(path, body)
  }
}
`

// constant is a script that sets a name to bytes in base64.
func constant(name string, b []byte) []byte {
	return []byte("globalThis." + name + ` = "` + base64.StdEncoding.EncodeToString(b) + "\"\n")
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a text always can be, and HTML is escaped
	return string(text)
}

// file is one of the page or of the style.
func file(name string) ([]byte, error) {
	text, err := fs.ReadFile(Files, name)
	if err != nil {
		text, err = fs.ReadFile(pagestyle.Files, name)
	}
	return text, err
}

var (
	imported = regexp.MustCompile(`(?m)^import (.+) from "\./(.+)"$`)
	exported = regexp.MustCompile(`(?m)^export (async function|function|const|class) (\w+)`)
)

// bundle is a module and all that it imports as one plain script: each becomes a function whose
// result is what it exports. The page's modules write imports and exports in one line each, and
// never import in a circle.
func bundle(name string) (string, error) {
	var out strings.Builder
	out.WriteString("\"use strict\"\n;(() => {\nconst modules = {}\n")
	err := add(&out, map[string]bool{}, name)
	out.WriteString("})()\n")
	return out.String(), err
}

func add(out *strings.Builder, done map[string]bool, name string) error {
	if done[name] {
		return nil
	}
	done[name] = true
	code, err := file(name)
	if err != nil {
		return err
	}
	text := string(code)
	for _, m := range imported.FindAllStringSubmatch(text, -1) {
		err := add(out, done, m[2])
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
		return fmt.Errorf("modelpage: %s exports or imports in a way that a plain script cannot", name)
	}
	fmt.Fprintf(out, "modules[%q] = (() => {\n%s\nreturn { %s }\n})()\n", name, text, strings.Join(names, ", "))
	return nil
}
