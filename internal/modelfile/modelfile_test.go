package modelfile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"utvi/internal/safetensors"
)

type facts struct {
	Rows int `json:"rows"`
}

type tabular = Tabular[float64, string, []int, facts]

// What is put into a file comes out of it, and the texts are those of the format.
func TestRoundTrip(t *testing.T) {
	f := &File{File: safetensors.File{Tensors: []safetensors.Tensor{{Name: Prefix(1) + "0.dense.bias" + MeanSuffix, Shape: []int{2}, F32: []float32{1, 2}}}}}
	networks := []Network[facts]{
		{Input: [3]int{1, 1, 2}, Layers: json.RawMessage(`{"kind":"chain"}`), Seed: 3, Priors: map[string][2]float64{"a": {0, 1}}, Facts: facts{7}},
		{Input: [3]int{1, 1, 2}, Layers: json.RawMessage(`{}`), Priors: map[string][2]float64{}, Likelihood: json.RawMessage(`1`)},
	}
	docs := Documents{"other": json.RawMessage(`[1]`)}
	all := []Document{
		&tabular{Targets: 2, Shapes: []float64{1, 2}, Usual: []int{4}, Report: facts{5}},
		&Table{Schema: json.RawMessage(`{"a":1}`), Facts: json.RawMessage(`2`), Sketch: []uint64{3, 4}},
		&Calibration[facts]{{1}, {2}},
		&Histograms[int]{5, 6},
	}
	for _, d := range all {
		if err := docs.Put(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := SetMembers(f, networks); err != nil {
		t.Fatal(err)
	}
	if err := f.SetDocuments(docs); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || !again.IsEnsemble() {
		t.Fatal(err)
	}
	if got, err := Members[facts](again); err != nil || !reflect.DeepEqual(got, networks) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err := again.Documents()
	if err != nil || !reflect.DeepEqual(got, docs) {
		t.Errorf("%s, %v", got, err)
	}
	for _, want := range all {
		d := reflect.New(reflect.TypeOf(want).Elem()).Interface().(Document)
		if found, err := got.Get(d); err != nil || !found || !reflect.DeepEqual(d, want) {
			t.Errorf("%+v came back as %+v, %v", want, d, err)
		}
	}
	for key, want := range map[string]string{
		"utvi.document.tabular":     `{"format":1,"targets":2,"shapes":[1,2],"usual":[4],"report":{"rows":5}}`,
		"utvi.document.table":       `{"format":1,"schema":{"a":1},"facts":2,"sketch":[3,4]}`,
		"utvi.document.calibration": `[{"rows":1},{"rows":2}]`,
		"utvi.document.histograms":  `[5,6]`,
		"utvi.ensemble":             `{"format":1,"members":[{"input":[1,1,2],"network":{"kind":"chain"},"seed":3,"init":[0,0],"priors":{"a":[0,1]},"facts":{"rows":7}},{"input":[1,1,2],"network":{},"seed":0,"init":[0,0],"priors":{},"facts":{"rows":0},"likelihood":1}]}`,
	} {
		if got := again.Metadata[key]; got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}

// A document of another version or with unknown fields is refused; an absent one is not found.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":2,"new":1}`:    "the description of the table has format 2; this version reads 1",
		`{"format":1,"new":1}`:    "the description of the table cannot be read: unknown field",
		`{"format":"1"}`:          "the description of the table cannot be read: ",
		`{"format":1,"sketch":1}`: "the description of the table cannot be read: sketch is a number; it must be a list",
	} {
		if _, err := (Documents{"table": json.RawMessage(text)}).Get(&Table{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if found, err := (Documents{}).Get(&Table{}); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	for want, f := range map[string]*File{
		"not a utvi model file":      {},
		"the file has no checksum":   {File: safetensors.File{Metadata: map[string]string{networkKey: `{}`}}},
		"has format 0; this version": {File: safetensors.File{HasChecksum: true, Metadata: map[string]string{networkKey: `{}`}}},
		"cannot be read: ":           {File: safetensors.File{HasChecksum: true, Metadata: map[string]string{networkKey: `{"format":1,"x":1}`}}},
	} {
		if _, err := OneNetwork[facts](f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (&File{}).SetDocuments(Documents{"x": json.RawMessage(`{`)}); err == nil || !strings.Contains(err.Error(), `the document "x" is not JSON`) {
		t.Error(err)
	}
}
