package serve_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"utvi/predict"
	"utvi/serve"
	"utvi/serve/oip"
)

// columns returns the values of the tutorial's table by column.
func columns(rows []map[string]any) (temperature, std, minutes []float64, resin []string) {
	for _, r := range rows {
		temperature, std = append(temperature, r["temperature"].(float64)), append(std, r["temperature_std"].(float64))
		minutes, resin = append(minutes, r["minutes"].(float64)), append(resin, r["resin"].(string))
	}
	return
}

func rawFloats(all []float64) (out []byte) {
	for _, v := range all {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

func rawTexts(all []string) (out []byte) {
	for _, s := range all {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...)
	}
	return out
}

func floats(raw []byte) (out []float64) {
	for ; len(raw) >= 8; raw = raw[8:] {
		out = append(out, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	}
	return out
}

// check compares the tensors of an answer with predictions.
func check(t *testing.T, what string, got map[string][]float64, want []predict.Prediction) {
	t.Helper()
	for name, get := range map[string]func(n predict.NumberPrediction) float64{
		"mean": func(n predict.NumberPrediction) float64 { return n.Mean }, "std": func(n predict.NumberPrediction) float64 { return n.Std },
		"lo": func(n predict.NumberPrediction) float64 { return n.Lo }, "hi": func(n predict.NumberPrediction) float64 { return n.Hi },
		"var_weights": func(n predict.NumberPrediction) float64 { return n.Variance.Weights },
		"var_inputs":  func(n predict.NumberPrediction) float64 { return n.Variance.Inputs },
		"var_noise":   func(n predict.NumberPrediction) float64 { return n.Variance.Noise },
	} {
		if len(got[name]) != len(want) {
			t.Errorf("%s: %s has %d numbers for %d rows", what, name, len(got[name]), len(want))
			continue
		}
		for i, v := range got[name] {
			if w := get(want[i].Numbers[0]); v != w {
				t.Errorf("%s: %s of row %d is %v, want %v", what, name, i, v, w)
				break
			}
		}
	}
}

// The protocol over REST, as JSON and with binary tensors, which Triton's client sends
// without any Content-Type.
func TestREST(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	rows := named(300, 5)
	want, err := predictor(t, strength(), predict.Options{}).Rows(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	temperature, std, minutes, resin := columns(rows)
	n := len(rows)
	input := func(name, kind string, data any, parameters map[string]any) map[string]any {
		m := map[string]any{"name": name, "datatype": kind, "shape": []int{n, 1}}
		if data != nil {
			m["data"] = data
		}
		if parameters != nil {
			m["parameters"] = parameters
		}
		return m
	}
	body, _ := json.Marshal(map[string]any{"id": "17", "inputs": []any{input("resin", "BYTES", resin, nil), input("minutes", "INT64", minutes, nil),
		input("temperature_std", "FP64", std, nil), input("temperature", "FP64", temperature, nil)}})
	code, _, text := r.send("POST", "/v2/models/strength/infer", string(body))
	var a struct {
		ID           string `json:"id"`
		ModelName    string `json:"model_name"`
		ModelVersion string `json:"model_version"`
		Outputs      []struct {
			Name, Datatype string
			Shape          []int
			Parameters     struct {
				Size int `json:"binary_data_size"`
			}
			Data []any
		}
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || code != 200 || a.ID != "17" || a.ModelName != "strength" || a.ModelVersion != "1" {
		t.Fatalf("%d %.500s: %v", code, text, err)
	}
	got := map[string][]float64{}
	for _, o := range a.Outputs {
		if o.Shape[0] != n {
			t.Errorf("%s has the shape %v", o.Name, o.Shape)
		}
		for _, v := range o.Data {
			if f, ok := v.(float64); ok {
				got[o.Name] = append(got[o.Name], f)
			}
		}
	}
	check(t, "JSON", got, want)

	raw := [][]byte{rawTexts(resin), rawFloats(minutes), rawFloats(std), rawFloats(temperature)}
	size := func(i int) map[string]any { return map[string]any{"binary_data_size": len(raw[i])} }
	head, _ := json.Marshal(map[string]any{"parameters": map[string]any{"binary_data_output": true}, "inputs": []any{input("resin", "BYTES", nil, size(0)),
		input("minutes", "FP64", nil, size(1)), input("temperature_std", "FP64", nil, size(2)), input("temperature", "FP64", nil, size(3))}})
	body = head
	for _, b := range raw {
		body = append(body, b...)
	}
	code, header, text := r.send("POST", "/v2/models/strength/versions/1/infer", string(body), "Inference-Header-Content-Length", strconv.Itoa(len(head)))
	end, err := strconv.Atoi(header.Get("Inference-Header-Content-Length"))
	if err != nil || code != 200 {
		t.Fatalf("%d %v %.300s", code, header, text)
	}
	a.Outputs = nil
	if err := json.Unmarshal([]byte(text[:end]), &a); err != nil {
		t.Fatal(err)
	}
	got = map[string][]float64{}
	rest := []byte(text[end:])
	for _, o := range a.Outputs {
		if o.Datatype == "FP64" {
			got[o.Name] = floats(rest[:o.Parameters.Size])
		} else if o.Name != "abstain" || o.Parameters.Size != n {
			t.Errorf("output %+v", o)
		}
		rest = rest[o.Parameters.Size:]
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
	check(t, "binary", got, want)
}

// Chosen outputs come in the order asked for, some as bytes.
func TestOutputs(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	in := `"inputs":[{"name":"inputs","datatype":"FP32","shape":[2,3],"data":[[1,2,3],[4,5,6]]}]`
	_, _, text := r.send("POST", "/v2/models/net/infer", `{`+in+`,"outputs":[{"name":"std"},{"name":"mean"}]}`)
	if !strings.Contains(text, `"outputs":[{"name":"std","datatype":"FP64","shape":[2,2],"data":[`) || strings.Count(text, `"name":`) != 2 {
		t.Error(text)
	}
	_, h, text := r.send("POST", "/v2/models/net/infer", `{`+in+`,"outputs":[{"name":"mean","parameters":{"binary_data":true}},{"name":"abstain"}],"parameters":{"max_std":1e-9}}`)
	if n, _ := strconv.Atoi(h.Get("Inference-Header-Content-Length")); n == 0 || len(text)-n != 32 || !strings.Contains(text, `"data":[true,true]`) {
		t.Error(text)
	}
	_, _, text = r.send("POST", "/v2/models/resin/infer", `{"inputs":[{"name":"temperature","datatype":"FP64","shape":[1],"data":[140]},{"name":"temperature_std","datatype":"FP64","shape":[1],"data":[1]},{"name":"minutes","datatype":"UINT8","shape":[1],"data":[30]},{"name":"strength","datatype":"FP64","shape":[1],"data":[40]}]}`)
	if !strings.Contains(text, `"name":"class","datatype":"BYTES","shape":[1],"data":["`) || !strings.Contains(text, `"name":"probabilities","datatype":"FP64","shape":[1,3]`) || !strings.Contains(text, `"classes":"[\"amber\",\"birch\",\"cedar\"]"`) {
		t.Error(text)
	}
}

func dial(t testing.TB, r *running) oip.GRPCInferenceServiceClient {
	t.Helper()
	c, err := grpc.NewClient(r.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return oip.NewGRPCInferenceServiceClient(c)
}

func grpcRequest(rows []map[string]any, raw bool) *oip.ModelInferRequest {
	temperature, std, minutes, resin := columns(rows)
	n := int64(len(rows))
	in := func(name, kind string, c *oip.InferTensorContents) *oip.ModelInferRequest_InferInputTensor {
		if raw {
			c = nil
		}
		return &oip.ModelInferRequest_InferInputTensor{Name: name, Datatype: kind, Shape: []int64{n}, Contents: c}
	}
	var texts [][]byte
	for _, s := range resin {
		texts = append(texts, []byte(s))
	}
	q := &oip.ModelInferRequest{ModelName: "strength", Id: "x", Inputs: []*oip.ModelInferRequest_InferInputTensor{
		in("temperature", "FP64", &oip.InferTensorContents{Fp64Contents: temperature}), in("temperature_std", "FP64", &oip.InferTensorContents{Fp64Contents: std}),
		in("minutes", "FP64", &oip.InferTensorContents{Fp64Contents: minutes}), in("resin", "BYTES", &oip.InferTensorContents{BytesContents: texts})}}
	if raw {
		q.RawInputContents = [][]byte{rawFloats(temperature), rawFloats(std), rawFloats(minutes), rawTexts(resin)}
	}
	return q
}

// The protocol over gRPC, with typed and with raw contents.
func TestGRPC(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	c := dial(t, r)
	rows := named(300, 5)
	want, err := predictor(t, strength(), predict.Options{}).Rows(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []bool{false, true} {
		a, err := c.ModelInfer(t.Context(), grpcRequest(rows, raw))
		if err != nil || a.Id != "x" || a.ModelName != "strength" || a.ModelVersion != "1" {
			t.Fatal(a, err)
		}
		got := map[string][]float64{}
		for i, o := range a.Outputs {
			got[o.Name] = o.GetContents().GetFp64Contents()
			if raw {
				got[o.Name] = floats(a.RawOutputContents[i])
			}
		}
		check(t, fmt.Sprintf("raw %v", raw), got, want)
	}
	if a, err := c.ServerLive(t.Context(), &oip.ServerLiveRequest{}); err != nil || !a.Live {
		t.Error(a, err)
	}
	if a, err := c.ServerReady(t.Context(), &oip.ServerReadyRequest{}); err != nil || !a.Ready {
		t.Error(a, err)
	}
	if a, err := c.ModelReady(t.Context(), &oip.ModelReadyRequest{Name: "net", Version: "1"}); err != nil || !a.Ready {
		t.Error(a, err)
	}
	if a, err := c.ServerMetadata(t.Context(), &oip.ServerMetadataRequest{}); err != nil || a.Name != "utvi" || len(a.Extensions) != 3 {
		t.Error(a, err)
	}
	a, err := c.ModelMetadata(t.Context(), &oip.ModelMetadataRequest{Name: "strength"})
	if err != nil || len(a.Inputs) != 4 || a.Inputs[3].Datatype != "BYTES" || len(a.Outputs) != 9 || a.Platform != "utvi" {
		t.Error(a, err)
	}
}

// Wrong requests of gRPC get the right code and one sentence.
func TestGRPCFaults(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Rows: 500}}, serve.Listen{})
	c := dial(t, r)
	good := func() *oip.ModelInferRequest { return grpcRequest(named(2, 1), true) }
	for name, f := range map[string]struct {
		change func(q *oip.ModelInferRequest)
		code   codes.Code
		text   string
	}{
		"model":    {func(q *oip.ModelInferRequest) { q.ModelName = "x" }, codes.NotFound, "there is no model"},
		"version":  {func(q *oip.ModelInferRequest) { q.ModelVersion = "7" }, codes.NotFound, "has no version"},
		"name":     {func(q *oip.ModelInferRequest) { q.Inputs[0].Name = "heat" }, codes.InvalidArgument, `no input "heat"`},
		"twice":    {func(q *oip.ModelInferRequest) { q.Inputs[0].Name = "minutes" }, codes.InvalidArgument, "occurs twice"},
		"lacks":    {func(q *oip.ModelInferRequest) { q.Inputs, q.RawInputContents = q.Inputs[1:], q.RawInputContents[1:] }, codes.InvalidArgument, "lacks the column temperature"},
		"empty":    {func(q *oip.ModelInferRequest) { q.Inputs, q.RawInputContents = nil, nil }, codes.InvalidArgument, "no inputs"},
		"nil":      {func(q *oip.ModelInferRequest) { q.Inputs[0], q.RawInputContents = nil, nil }, codes.InvalidArgument, "unknown datatype"},
		"shape":    {func(q *oip.ModelInferRequest) { q.Inputs[0].Shape = []int64{3} }, codes.InvalidArgument, "needs 24"},
		"negative": {func(q *oip.ModelInferRequest) { q.Inputs[0].Shape = []int64{-1} }, codes.InvalidArgument, "negative"},
		"huge":     {func(q *oip.ModelInferRequest) { q.Inputs[0].Shape = []int64{1 << 40, 1 << 40} }, codes.ResourceExhausted, "too large"},
		"rows":     {func(q *oip.ModelInferRequest) { q.Inputs[0].Shape = []int64{501} }, codes.ResourceExhausted, "allows 500"},
		"range": {func(q *oip.ModelInferRequest) {
			q.Inputs, q.RawInputContents = grpcRequest(named(2, 1), false).Inputs, nil
			q.Inputs[0].Datatype, q.Inputs[0].Contents = "INT8", &oip.InferTensorContents{IntContents: []int32{1, 140}}
		}, codes.InvalidArgument, "element 2 of tensor \"temperature\" is 140; its datatype is INT8"},
		"raw":   {func(q *oip.ModelInferRequest) { q.RawInputContents = q.RawInputContents[1:] }, codes.InvalidArgument, "4 inputs and 3 raw"},
		"texts": {func(q *oip.ModelInferRequest) { q.RawInputContents[3][0] = 99 }, codes.InvalidArgument, "ends within"},
		"NaN":   {func(q *oip.ModelInferRequest) { q.RawInputContents[0] = rawFloats([]float64{1, math.NaN()}) }, codes.InvalidArgument, "missing"},
		"Inf":   {func(q *oip.ModelInferRequest) { q.RawInputContents[0] = rawFloats([]float64{1, math.Inf(1)}) }, codes.InvalidArgument, "not a finite number"},
		"output": {func(q *oip.ModelInferRequest) {
			q.Outputs = []*oip.ModelInferRequest_InferRequestedOutputTensor{{Name: "mode"}}
		}, codes.InvalidArgument, "no output"},
		"parameter": {func(q *oip.ModelInferRequest) {
			q.Parameters = map[string]*oip.InferParameter{"interval": {ParameterChoice: &oip.InferParameter_DoubleParam{DoubleParam: 2}}}
		}, codes.InvalidArgument, "between 0 and 1"},
		"message": {func(q *oip.ModelInferRequest) { q.Id = strings.Repeat("x", 5<<20) }, codes.ResourceExhausted, "larger than max"},
	} {
		q := good()
		f.change(q)
		_, err := c.ModelInfer(t.Context(), q)
		if s, _ := status.FromError(err); s.Code() != f.code || !strings.Contains(s.Message(), f.text) || strings.Contains(s.Message(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.ModelInfer(t.Context(), good()); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}
