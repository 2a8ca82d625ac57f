package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// wheel is the Python package with the program inside.
func wheel(c commit, b program) (file, error) {
	about, err := readProject("python/pyproject.toml")
	if err != nil {
		return file{}, err
	}
	files := []file{{name: "utvi/_bin/" + b.binary(), data: b.data, executable: true}}
	sources, err := filepath.Glob("python/src/utvi/*")
	if err != nil {
		return file{}, err
	}
	for _, path := range sources {
		if ext := filepath.Ext(path); ext != ".py" && ext != ".typed" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return file{}, err
		}
		files = append(files, file{name: "utvi/" + filepath.Base(path), data: data})
	}
	readme, err := os.ReadFile("python/README.md")
	if err != nil {
		return file{}, err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return file{}, err
	}
	info := "utvi-" + c.python() + ".dist-info/"
	files = append(files,
		file{name: info + "METADATA", data: about.metadata(c, string(readme))},
		file{name: info + "WHEEL", data: wheelTags(b.platform)},
		file{name: info + "entry_points.txt", data: []byte("[console_scripts]\nutvi = utvi._binary:main\n")},
		file{name: info + "licenses/LICENSE", data: licence},
		file{name: info + "licenses/THIRD-PARTY-LICENSES.txt", data: b.licences},
		file{name: info + "sboms/utvi.cdx.json", data: b.bill})
	files = append(sorted(files), record(info+"RECORD", files))
	data, err := zipped(files, c.time, "")
	return file{name: fmt.Sprintf("utvi-%s-py3-none-%s.whl", c.python(), b.wheel), data: data}, err
}

// wheelTags says what the wheel runs on: each of the tags in its name.
func wheelTags(p platform) []byte {
	var b bytes.Buffer
	b.WriteString("Wheel-Version: 1.0\nGenerator: utvi\nRoot-Is-Purelib: false\n")
	for tag := range strings.SplitSeq(p.wheel, ".") {
		fmt.Fprintf(&b, "Tag: py3-none-%s\n", tag)
	}
	return b.Bytes()
}

// record lists the files of a wheel with their checksums; its own stand open.
func record(name string, files []file) file {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", name)
	return file{name: name, data: b.Bytes()}
}

// A project is what pyproject.toml says of the Python package.
type project struct {
	description  string
	python       string
	dependencies []string
	extras       []extra
}

type extra struct {
	name         string
	dependencies []string
}

// readProject reads the lines of the tables [project] and [project.optional-dependencies] that
// hold one text or one list of texts, which TOML writes as JSON does.
func readProject(path string) (project, error) {
	var p project
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	table := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[]")
			continue
		}
		key, value, ok := strings.Cut(line, " = ")
		if !ok {
			continue
		}
		if err := p.take(table, key, []byte(value)); err != nil {
			return p, fmt.Errorf("%s: %s: %w", path, key, err)
		}
	}
	if p.description == "" || p.python == "" || p.dependencies == nil {
		return p, fmt.Errorf("%s lacks description, requires-python or dependencies", path)
	}
	return p, nil
}

func (p *project) take(table, key string, value []byte) error {
	if table == "project.optional-dependencies" {
		x := extra{name: key}
		err := json.Unmarshal(value, &x.dependencies)
		p.extras = append(p.extras, x)
		return err
	}
	if table != "project" {
		return nil
	}
	switch key {
	case "description":
		return json.Unmarshal(value, &p.description)
	case "requires-python":
		return json.Unmarshal(value, &p.python)
	case "dependencies":
		return json.Unmarshal(value, &p.dependencies)
	}
	return nil
}

// metadata is what package indexes and pip read.
func (p project) metadata(c commit, readme string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: utvi\nVersion: %s\nSummary: %s\n", c.python(), p.description)
	b.WriteString("License-Expression: MIT\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY-LICENSES.txt\n")
	b.WriteString("Classifier: Intended Audience :: Science/Research\nClassifier: Programming Language :: Python :: 3\nClassifier: Typing :: Typed\n")
	fmt.Fprintf(&b, "Requires-Python: %s\n", p.python)
	for _, d := range p.dependencies {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", d)
	}
	for _, x := range p.extras {
		fmt.Fprintf(&b, "Provides-Extra: %s\n", x.name)
		for _, d := range x.dependencies {
			fmt.Fprintf(&b, "Requires-Dist: %s; extra == \"%s\"\n", d, x.name)
		}
	}
	fmt.Fprintf(&b, "Description-Content-Type: text/markdown\n\n%s", readme)
	return b.Bytes()
}
