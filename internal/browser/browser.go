// Package browser makes folders of pages that need no server: a browser opens them from the disk,
// and they ask a program of Go that lies beside them as WebAssembly.
package browser

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"utvi/internal/pagestyle"
)

// errNoProgram is that of a plain build.
var errNoProgram = errors.New("this utvi was built without the program that such a page runs; build it with: go generate ./internal/browser && go build -tags page ./cmd/utvi")

// HasProgram reports whether this build has the program inside.
func HasProgram() bool { return programGz != nil }

// A Page is what a folder is made of.
type Page struct {
	Files   fs.FS // index.html, main.js and what it imports, page.css; what is missing comes from pagestyle
	Scripts []Script
}

// A Script is a plain script that runs before the page's own.
type Script struct {
	Name string
	Text []byte
}

const module = `<script type="module" src="main.js"></script>`

// Folder returns the files of a page. All scripts are plain ones, because browsers load neither
// modules nor other files from a disk. Scripts find the promise utviReady: it ends when the
// program runs and its functions are there.
func (p Page) Folder() (map[string][]byte, error) {
	if !HasProgram() {
		return nil, errNoProgram
	}
	page, err := fs.ReadFile(p.Files, "index.html")
	if err != nil {
		return nil, err
	}
	bundle, err := p.bundle("main.js")
	if err != nil {
		return nil, err
	}
	all := []Script{
		{"wasm_exec.js", []byte(exec)},
		{"program.js", Constant("utviProgram", programGz)},
		{"run.js", []byte(run)},
	}
	all = append(all, p.Scripts...)
	all = append(all, Script{"page.js", []byte(bundle)})
	out := map[string][]byte{}
	var tags []string
	for _, s := range all {
		out[s.Name] = s.Text
		tags = append(tags, fmt.Sprintf("<script src=%q></script>", s.Name))
	}
	index := strings.Replace(string(page), module, strings.Join(tags, "\n"), 1)
	if index == string(page) {
		return nil, errors.New("browser: index.html has no main.js")
	}
	out["index.html"] = []byte(index)
	for _, css := range []string{"style.css", "app.css", "page.css"} {
		out[css], err = p.file(css)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// run unpacks and starts the program.
const run = `"use strict"
globalThis.utviBytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
globalThis.utviReady = (async () => {
  const packed = new Blob([utviBytes(utviProgram)]).stream().pipeThrough(new DecompressionStream("gzip"))
  const go = new Go()
  const { instance } = await WebAssembly.instantiate(await new Response(packed).arrayBuffer(), go.importObject)
  go.run(instance)
})()
`

// Constant is a script that sets a name to bytes in base64.
func Constant(name string, b []byte) []byte {
	return []byte("globalThis." + name + ` = "` + base64.StdEncoding.EncodeToString(b) + "\"\n")
}

// Text is a script that sets a name to a text.
func Text(name, text string) []byte {
	quoted, _ := json.Marshal(text) // a text always can be, and HTML is escaped
	return []byte("globalThis." + name + " = " + string(quoted) + "\n")
}

// file is one of the page or of the style.
func (p Page) file(name string) ([]byte, error) {
	text, err := fs.ReadFile(p.Files, name)
	if err != nil {
		text, err = fs.ReadFile(pagestyle.Files, name)
	}
	return text, err
}
