package serve_test

import (
	"encoding/json"
	"strings"
	"testing"

	"utvi/serve"
)

// max_unfamiliar, the name that max_ood had, still flags rows; the log says once what it is
// called now.
func TestOldNameOfMaxOOD(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	rows := named(40, 3)
	flags := func(name string) (all []bool) {
		a, code := r.predict("strength", map[string]any{"rows": rows, name: 0.6})
		if code != 200 {
			t.Fatalf("%s: %d", name, code)
		}
		for _, p := range a.Predictions {
			if want := *p.OOD > 0.6; p.Abstain != want {
				t.Errorf("%s 0.6: a row of ood %v has abstain %v", name, *p.OOD, p.Abstain)
			}
			all = append(all, p.Abstain)
		}
		return all
	}
	const note = "max_unfamiliar, which is called max_ood now"
	some := 0
	for _, flagged := range flags("max_ood") {
		if flagged {
			some++
		}
	}
	if some == 0 || some == len(rows) {
		t.Fatalf("%d of %d rows are flagged, which shows nothing", some, len(rows))
	}
	if strings.Contains(r.log.String(), note) {
		t.Error("the log speaks of a name that nobody used")
	}
	flags("max_unfamiliar")
	tensors := `{"inputs":[{"name":"inputs","datatype":"FP64","shape":[1,3],"data":[1,2,3]}],"parameters":{"max_unfamiliar":0.6}}`
	if code, _, text := r.send("POST", "/v2/models/net/infer", tensors); code != 400 || !strings.Contains(text, "only a tabular model") {
		t.Errorf("a network with the parameter max_unfamiliar: %d %s", code, text)
	}
	if n := strings.Count(r.log.String(), note); n != 1 {
		t.Errorf("the log has %d notes on the old name, want 1", n)
	}
	both, err := json.Marshal(map[string]any{"rows": rows[:1], "max_ood": 1, "max_unfamiliar": 2})
	if err != nil {
		t.Fatal(err)
	}
	if code, _, text := r.send("POST", "/predict/strength", string(both)); code != 422 || !strings.Contains(text, "give max_ood alone") {
		t.Errorf("both names: %d %s", code, text)
	}
}
