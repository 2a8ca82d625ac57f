package serve_test

import (
	"encoding/json"
	"strings"
	"testing"

	"utvi/serve"
)

// The document lists every path with its methods: a request for each is answered by its
// handler, never by "there is nothing at". References within the document lead somewhere.
func TestOpenAPI(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	_, _, text := r.send("GET", "/openapi.json", "")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ Responses map[string]any }
		Components map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.OpenAPI != "3.1.0" || len(doc.Paths) != 17 {
		t.Fatalf("%v: %d paths", err, len(doc.Paths))
	}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			at := strings.NewReplacer("{name}", "net", "{version}", "1").Replace(path)
			code, _, got := r.send(strings.ToUpper(method), at, "{}")
			if strings.Contains(got, "nothing at") || code == 405 {
				t.Errorf("%s %s: %d %s", method, at, code, got)
			}
			if want := map[string]int{"get": 200, "post": 400}[method]; code != want || o.Responses["200"] == nil {
				t.Errorf("%s %s: %d %s", method, at, code, got)
			}
		}
	}
	var refs func(v any)
	refs = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				part := strings.Split(ref, "/")
				if len(part) != 4 || doc.Components[part[2]][part[3]] == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, x := range v {
				refs(x)
			}
		case []any:
			for _, x := range v {
				refs(x)
			}
		}
	}
	var all any
	json.Unmarshal([]byte(text), &all)
	refs(all)
}

// The answers have the fields that the document describes, and no others.
func TestOpenAPIAnswers(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	_, _, text := r.send("GET", "/openapi.json", "")
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	check := func(schema string, v map[string]any) {
		t.Helper()
		s := doc.Components.Schemas[schema]
		for name := range v {
			if s.Properties[name] == nil {
				t.Errorf("%s has the field %s, which the document lacks", schema, name)
			}
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				t.Errorf("%s lacks the field %s: %v", schema, name, v)
			}
		}
	}
	get := func(method, path, body string) map[string]any {
		_, _, text := r.send(method, path, body)
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, m := range get("GET", "/models", "")["models"].([]any) {
		m := m.(map[string]any)
		check("Model", m)
		columns, _ := m["columns"].([]any)
		for _, c := range append(columns, m["targets"].([]any)...) {
			check("Column", c.(map[string]any))
		}
	}
	a := get("POST", "/predict/strength", `{"rows":[`+goodRow+`],"quantiles":[0.5],"density":3}`)
	check("Answer", a)
	p := a["predictions"].([]any)[0].(map[string]any)
	check("Prediction", p)
	check("Number", p["targets"].(map[string]any)["strength"].(map[string]any))
	row := strings.Replace(goodRow, `"resin":"birch"`, `"strength":40`, 1)
	p = get("POST", "/predict/resin", `{"rows":[`+row+`]}`)["predictions"].([]any)[0].(map[string]any)
	check("Class", p["targets"].(map[string]any)["resin"].(map[string]any))
	check("Error", get("POST", "/predict/resin", `{}`))
	check("ModelMetadata", get("GET", "/v2/models/strength", ""))
	check("ServerMetadata", get("GET", "/v2", ""))
	check("InferResponse", get("POST", "/v2/models/net/infer", `{"id":"1","inputs":[{"name":"inputs","datatype":"FP32","shape":[1,3],"data":[1,2,3]}]}`))
}
