package provenance

import (
	"encoding/json"
	"runtime/debug"
	"testing"
)

func TestSBOM(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "utvi", Version: "(devel)"},
		Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:AQID"},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}},
		},
	}
	b, err := json.Marshal(sbom(info))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,` +
		`"metadata":{"component":{"type":"application","bom-ref":"pkg:golang/utvi@(devel)","name":"utvi","version":"(devel)","purl":"pkg:golang/utvi@(devel)","properties":[{"name":"go:build:vcs.revision","value":"abc"}]}},` +
		`"components":[{"type":"library","bom-ref":"pkg:golang/example.com/a@v1.2.3","name":"example.com/a","version":"v1.2.3","purl":"pkg:golang/example.com/a@v1.2.3","hashes":[{"alg":"SHA-256","content":"010203"}]},` +
		`{"type":"library","bom-ref":"pkg:golang/example.com/c@v2.0.0","name":"example.com/c","version":"v2.0.0","purl":"pkg:golang/example.com/c@v2.0.0"},` +
		`{"type":"library","bom-ref":"pkg:golang/std@1.26.8","name":"std","version":"1.26.8","purl":"pkg:golang/std@1.26.8"}]}`
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}
