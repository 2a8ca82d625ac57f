package kubernetes

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata anew")

var plan = []byte("{\"format\": 1, \"name\": \"a: \\\"b\\\" {{c}}\", \"trials\": [\n  {\"index\":0,\"name\":\"a\",\"kind\":\"fc\",\"spec\":{}}\n]}\n")

var cases = map[string]Config{
	"small.yaml": {
		Name: "Rule study", Image: "utvi:1", Trials: 12, Parallel: 4, Retries: 3, Claim: "results",
		CPU: "2", Memory: "2Gi", Plan: plan, Namespace: "lab",
	},
	"large.yaml": {
		Name: strings.Repeat("long name ", 20), Image: "example/utvi@sha256:" + strings.Repeat("0", 64), Trials: 10_001, Parallel: 100_000,
		Claim: "r.1", CPU: "500m", Memory: "1.5G", PlanPath: Results + "/plan.json",
	},
}

// The manifests that the real types read (in strict) are those written here.
func TestManifests(t *testing.T) {
	for name, c := range cases {
		var b bytes.Buffer
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s is not what is written now; look at the difference, then go test -update\n%s", path, b.Bytes())
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"no trials to submit":       func(c *Config) { c.Trials = 0 },
		`the image is "a b"`:        func(c *Config) { c.Image = "a b" },
		`the image is ""`:           func(c *Config) { c.Image = "" },
		`results is "A"`:            func(c *Config) { c.Claim = "A" },
		`--cpu is "two"`:            func(c *Config) { c.CPU = "two" },
		`--memory is "1 Gi"`:        func(c *Config) { c.Memory = "1 Gi" },
		`the namespace is "x\nkind`: func(c *Config) { c.Namespace = "x\nkind: Pod" },
		"0 trials at a time":        func(c *Config) { c.Parallel = 0 },
		"too many for a ConfigMap":  func(c *Config) { c.Plan = make([]byte, 2_000_000) },
	} {
		c := cases["small.yaml"]
		spoil(&c)
		var b bytes.Buffer
		if err := c.Write(&b); err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("want %q in %v", want, err)
		}
	}
}
