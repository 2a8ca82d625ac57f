package provenance

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"strings"
)

// WriteSBOM writes the modules of this program as a CycloneDX 1.6 document: what the linker put
// into the file, with the checksums that go.sum has for them.
func WriteSBOM(w io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without a list of its modules; build it with go build, inside the module")
	}
	return WriteBill(w, info)
}

// WriteBill writes the modules of any program, as its file tells them (debug/buildinfo).
func WriteBill(w io.Writer, info *debug.BuildInfo) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sbom(info))
}

type bill struct {
	Format     string      `json:"bomFormat"`
	Version    string      `json:"specVersion"`
	Number     int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func sbom(info *debug.BuildInfo) bill {
	main := moduleOf(&info.Main, "application")
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
	}
	b := bill{Format: "CycloneDX", Version: "1.6", Number: 1, Metadata: metadata{main}, Components: []component{}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, moduleOf(m, "library"))
	}
	std := component{Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	std.PURL = "pkg:golang/std@" + std.Version
	std.Ref = std.PURL
	b.Components = append(b.Components, std)
	return b
}

func moduleOf(m *debug.Module, kind string) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path}
	if m.Version != "" {
		c.PURL += "@" + m.Version
	}
	c.Ref = c.PURL
	// h1: a SHA-256 over the sorted list of the module's files and their sums, as go.sum has it.
	sum, ok := strings.CutPrefix(m.Sum, "h1:")
	if !ok {
		return c
	}
	if b, err := base64.StdEncoding.DecodeString(sum); err == nil {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(b)}}
	}
	return c
}
