package sweep_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/sweep"
)

var anyKind = sweep.Kind{Name: "any", Paths: []string{"data", "more.files"}, Check: func(json.RawMessage) error { return nil }}

func expand(t *testing.T, yaml string) ([]sweep.Trial, string, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := sweep.LoadSpec(path)
	if err != nil {
		return nil, dir, err
	}
	trials, err := s.Trials([]sweep.Kind{anyKind})
	return trials, dir, err
}

func TestSpecExpands(t *testing.T) {
	for _, c := range []struct {
		yaml string
		want []string // name | group | spec | cost
	}{
		{"kind: any", []string{"any|study|{}|0"}},
		{"kind: any\nname: x\nbase: {b: 2, a: true, c: ~, d: 1e-3, e: '7', f: 2020-01-02}", []string{
			`any|x|{"a":true,"b":2,"c":null,"d":0.001,"e":"7","f":"2020-01-02"}|0`}},
		{"kind: any\nbase: {steps: 9}\ngrid:\n  rule: [ut(2), 'mc(3)']\n  steps: [10, 20]\nreplicates: 2", []string{
			`any_ut2_steps10_replicate0|rule=ut(2), steps=10|{"replicate":0,"rule":"ut(2)","steps":10}|10`,
			`any_ut2_steps10_replicate1|rule=ut(2), steps=10|{"replicate":1,"rule":"ut(2)","steps":10}|10`,
			`any_ut2_steps20_replicate0|rule=ut(2), steps=20|{"replicate":0,"rule":"ut(2)","steps":20}|20`,
			`any_ut2_steps20_replicate1|rule=ut(2), steps=20|{"replicate":1,"rule":"ut(2)","steps":20}|20`,
			`any_mc3_steps10_replicate0|rule=mc(3), steps=10|{"replicate":0,"rule":"mc(3)","steps":10}|10`,
			`any_mc3_steps10_replicate1|rule=mc(3), steps=10|{"replicate":1,"rule":"mc(3)","steps":10}|10`,
			`any_mc3_steps20_replicate0|rule=mc(3), steps=20|{"replicate":0,"rule":"mc(3)","steps":20}|20`,
			`any_mc3_steps20_replicate1|rule=mc(3), steps=20|{"replicate":1,"rule":"mc(3)","steps":20}|20`}},
		{"kind: any\nlist: [{a: 1, o.rate: 0.5}, {}]\nseeds: [7, 18446744073709551615]\ncost: o.rate", []string{
			`any_a1_rate0.5_seed7|a=1, o.rate=0.5|{"a":1,"o":{"rate":0.5},"seed":7}|0.5`,
			`any_a1_rate0.5_seed18446744073709551615|a=1, o.rate=0.5|{"a":1,"o":{"rate":0.5},"seed":18446744073709551615}|0.5`,
			`any_seed7|study|{"seed":7}|0`,
			`any_seed18446744073709551615|study|{"seed":18446744073709551615}|0`}},
		{"kind: any\ngrid: {w: [[50], [50, 20]]}\nseeds: 2", []string{
			`any_w50_seed1|w=[50]|{"seed":1,"w":[50]}|0`, `any_w50_seed2|w=[50]|{"seed":2,"w":[50]}|0`,
			`any_w50x20_seed1|w=[50,20]|{"seed":1,"w":[50,20]}|0`, `any_w50x20_seed2|w=[50,20]|{"seed":2,"w":[50,20]}|0`}},
		{"kind: any\ngrid: {data: [a.csv, /b/c.csv]}\nbase: {more: {files: [x, /y]}}", []string{
			`any_a.csv|data=a.csv|{"data":"DIR/a.csv","more":{"files":["DIR/x","/y"]}}|0`,
			`any_b-c.csv|data=/b/c.csv|{"data":"/b/c.csv","more":{"files":["DIR/x","/y"]}}|0`}},
	} {
		trials, dir, err := expand(t, c.yaml)
		if err != nil {
			t.Errorf("%s\n%v", c.yaml, err)
			continue
		}
		var got []string
		for _, x := range trials {
			got = append(got, strings.ReplaceAll(fmt.Sprintf("%s|%s|%s|%v", x.Name, x.Group, x.Spec, x.Cost), dir, "DIR"))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s\ngives\n%s\nnot\n%s", c.yaml, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Names stay valid and apart whatever the values are.
func TestSpecNames(t *testing.T) {
	trials, _, err := expand(t, "kind: any\ngrid:\n  a: ['ut(2)', 'ut{2}', '', '../x', 'é', '"+strings.Repeat("long", 50)+"', '"+strings.Repeat("long", 51)+"', null, {x: 1}]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.NewPlan("odd", trials...); err != nil {
		t.Error(err)
	}
	// A name that is cut ends in the hash of its trial.
	for _, x := range trials[5:7] {
		if id := x.ID(); len(x.Name) != 100 || !strings.HasPrefix(x.Name, "any_long") || x.Name[91] != '_' || !strings.HasSuffix(id, x.Name[92:]) {
			t.Errorf("%s is a trial of name %s", id, x.Name)
		}
	}
}

func TestSpecRefuses(t *testing.T) {
	for yaml, want := range map[string]string{
		"":                                           "it is empty",
		"- 1":                                        "line 1: expected names with values",
		"kind: [":                                    "it is not YAML: line 1: did not find expected node content",
		"grid: {a: [1]}":                             "it must name either a kind or an experiment",
		"kind: any\nexperiment: fc":                  "it must name either a kind or an experiment",
		"kind: other":                                `there is no kind "other"; the kinds are any`,
		"kind: any\nbases: {}":                       `line 2: unknown field "bases"; a spec has name, kind, base`,
		"kind: any\nkind: any":                       "line 2: kind is given twice",
		"kind: any\nbase: 3":                         "line 2: base must hold settings",
		"kind: any\ngrid: {a: 3}":                    "line 2: expected a list",
		"kind: any\ngrid: {a: []}":                   "line 2: expected a list with at least one value",
		"kind: any\nlist: {a: 1}":                    "line 2: list must hold settings",
		"kind: any\nseeds: 0":                        `line 2: "0" must be a whole number from 1`,
		"kind: any\nseeds: [1, -2]":                  "line 2: a seed must be a whole number",
		"kind: any\nseeds: [1, x]":                   "line 2: a seed must be a whole number",
		"kind: any\nreplicates: 3.5":                 `line 2: "3.5" must be a whole number`,
		"kind: any\nseeds: 2.5":                      `line 2: "2.5" must be a whole number`,
		"experiment: fc\nseed: 1.5":                  `line 2: "1.5" must be a whole number`,
		"experiment: fc\nsteps: 1.5":                 `line 2: "1.5" must be a whole number`,
		"kind: any\nseeds: [1, 2, 1]":                `trials 0 and 2, any_seed1, have the same settings: {"seed":1}; list each value once`,
		"kind: any\ngrid: {a: [x, 'x']}":             "trials 0 and 1, any_x, have the same settings",
		"kind: any\ngrid: {a: [10, 1e1]}":            "trials 0 and 1, any_a10, have the same settings",
		"kind: any\nreplicates: many":                `line 2: "many" must be a whole number`,
		"kind: any\nbase: {a: .inf}":                 "line 2: .inf cannot be stored in a plan as a number",
		"kind: any\nsteps: 3":                        "steps belongs to an experiment",
		"experiment: fc\ngrid: {}":                   "grid belongs to a kind",
		"kind: any\nbase: {a: 1}\ngrid: {a.b: [1]}":  "a.b cannot be set: a is a value",
		"kind: any\nseeds: 10000\nreplicates: 10000": "it describes more than 1000000 trials",
		"kind: any\nbase: {a: &a [1,1,1,1,1,1,1,1,1,1], b: &b " + bomb(5) + "}": "it holds more than 200000 values",
		"kind: any\nlist: [a: 1, a: 2]\ngrid: {a: [3]}":                         "trials 0 and 1, any_a2_a3, have the same settings",
	} {
		_, _, err := expand(t, yaml)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q gives %v, want %q", yaml, err, want)
		}
	}
}

// bomb is a list that grows tenfold with every level of aliases.
func bomb(levels int) string {
	s := "[*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]"
	for i := range levels {
		name := fmt.Sprintf("l%d", i)
		s = fmt.Sprintf("[&%s %s%s]", name, s, strings.Repeat(", *"+name, 9))
	}
	return s
}
