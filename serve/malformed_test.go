package serve_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"utvi/serve"
	"utvi/serve/oip"
)

// Whatever stands in a request where something else should is refused, and what stands there.
func TestMalformedRequests(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Rows: 10}}, serve.Listen{})
	const input = `{"name":"inputs","datatype":"FP32","shape":[1,3],"data":[1,2,3]}`
	infer := func(fields string) string { return `{` + fields + `"inputs":[` + input + `]}` }
	with := func(from, to string) string { return `{"inputs":[` + strings.Replace(input, from, to, 1) + `]}` }
	for _, x := range []struct {
		path, body string
		code       int
		text       string
	}{
		{"infer", infer(``), 200, "mean"},
		{"infer", infer(`"parameters":null,`), 200, "mean"},
		{"infer", infer(`"parameters":{"binary_data_output":false},`), 200, "mean"},
		{"infer", infer(`"parameters":{"sequence_start":true,"sequence_id":[{"a":[]}]},`), 200, "mean"},
		{"infer", infer(`"outputs":null,`), 200, "mean"},
		{"infer", infer(`"outputs":[{"name":"mean","parameters":{"binary_data":false,"other":3},"more":{}}],`), 200, "mean"},
		{"infer", infer(`"id":null,"more":[{"a":"\"]}"}],`), 200, "mean"},
		{"infer", with(`"data"`, `"parameters":{"other":1},"more":[],"data"`), 200, "mean"},
		{"infer", with(`"data"`, `"parameters":null,"data"`), 200, "mean"},

		{"infer", `{"inputs":null}`, 400, "no inputs"},
		{"infer", `{"inputs":3}`, 400, "not an inference request: inputs must be a list"},
		{"infer", `{"inputs":[3]}`, 400, "inputs must be a list of objects"},
		{"infer", `{"inputs":[` + input + `,3]}`, 400, "inputs must be a list of objects"},
		{"infer", infer(`"outputs":{},`), 400, "outputs must be a list"},
		{"infer", infer(`"outputs":["mean"],`), 400, "outputs must be a list of objects"},
		{"infer", infer(`"outputs":[{"name":3}],`), 400, "the name of an output must be a text"},
		{"infer", infer(`"outputs":[{"name":"mean","parameters":3}],`), 400, "parameters must be an object"},
		{"infer", infer(`"outputs":[{"name":"mean","parameters":{"binary_data":1}}],`), 400, `the parameter binary_data of output \"mean\" must be true or false`},
		{"infer", infer(`"outputs":[{"name":"mean","parameters":{"classification":1}}],`), 400, "the classification extension is not supported"},
		{"infer", infer(`"id":5,`), 400, "id must be a text"},
		{"infer", infer(`"id":"` + strings.Repeat("x", 100_000) + `",`), 400, "id has 100000 bytes; at most"},
		{"infer", infer(`"parameters":[1],`), 400, "parameters must be an object"},
		{"infer", infer(`"parameters":{"a":nul},`), 400, "at byte"},
		{"infer", infer(`"parameters":{"a":tru},`), 400, "at byte"},
		{"infer", infer(`"parameters":{"a":fals},`), 400, "at byte"},
		{"infer", infer(`"parameters":{"a":-},`), 400, "at byte"},
		{"infer", with("[1,2,3]", "null"), 400, "has no data"},
		{"infer", with(`"inputs"`, "3"), 400, "the name of a tensor must be a text"},
		{"infer", with(`"FP32"`, "null"), 400, "a datatype must be a text"},
		{"infer", with("[1,3]", `"x"`), 400, "a shape must be a list of whole numbers"},
		{"infer", with("[1,3]", `[1.5,3]`), 400, "a dimension is 1.5; it must be a whole number"},
		{"infer", with("[1,3]", `[x,3]`), 400, "at byte"},
		{"infer", with("[1,2,3]", `[1,-,3]`), 400, "a number"},
		{"infer", with("[1,2,3]", `[1,1e999,3]`), 400, "the number 1e999 is too large"},
		{"infer", with(`"data":[1,2,3]`, `"parameters":{"binary_data_size":"x"}`), 400, "has the binary_data_size -1; 0 bytes are left behind the JSON"},
		{"infer", with(`"data":[1,2,3]`, `"parameters":{"binary_data_size":0.5}`), 400, "has the binary_data_size 0.5"},
		{"infer", strings.Replace(with("FP32", "INT64"), "[1,2,3]", "[1,-,3]", 1), 400, "a number"},
		{"infer", strings.Replace(with("FP32", "UINT64"), "[1,2,3]", "[1,-,3]", 1), 400, "a number"},
		{"infer", strings.Replace(with("FP32", "UINT64"), "[1,2,3]", "[1,2.5,3]", 1), 400, "is 2.5; its datatype is UINT64"},

		{"net", `{"rows":[[1,2`, 400, "ends too early"},
		{"net", `{"rows":[[1,x,3]]}`, 400, "a number"},
		{"net", `{"rows":[[1,2,3,4]]}`, 422, "row 1 does not have 3 numbers"},
		{"net", `{"rows":[[1,2,3],[1,null,3]]}`, 422, "row 2, input 2: a finite number is needed"},
		{"net", `{"rows":[[1,2,1e999]]}`, 422, "the number 1e999 is too large"},
		{"net", `{"rows":["x"]}`, 400, "a row, an object or a list,"},
		{"strength", `{"rows":[[140,1,30,"birch"`, 400, "ends too early"},
		{"strength", `{"rows":[[140,1,30,"birch",5]]}`, 422, "row 1 does not have 4 values"},
		{"strength", `{"rows":[[140,1,nul,"birch"]]}`, 400, "a value"},
		{"strength", `{"rows":[[140,1,true,"birch"]]}`, 422, `\"true\" is text; a number is needed`},
		{"strength", `{"rows":[[140,1,false,"birch"]]}`, 422, `\"false\" is text; a number is needed`},
		{"strength", `{"rows":[[140,1,30,"bi\qrch"]]}`, 400, "an unknown escape in a text"},
		{"strength", `{"rows":[{"temperature":tru}]}`, 400, "a value"},
	} {
		path := "/predict/" + x.path
		if x.path == "infer" {
			path = "/v2/models/net/infer"
		}
		code, _, text := r.send("POST", path, x.body)
		if code != x.code || !strings.Contains(text, x.text) {
			t.Errorf("%s %.100s: %d %.200s, want %d %s", path, x.body, code, text, x.code, x.text)
		}
	}
	const table = `{"name":"minutes","datatype":"FP32","shape":[1,2],"data":[1,2]}`
	code, _, text := r.send("POST", "/v2/models/strength/infer", `{"inputs":[`+table+`]}`)
	if code != 400 || !strings.Contains(text, `tensor \"minutes\" has the shape [1 2]; a column has the shape [1] or [1, 1]`) {
		t.Errorf("%d %s", code, text)
	}
	// A request that ends anywhere is no request.
	whole := `{"id":"a\u00e4","parameters":{"interval":0.5,"x":true},"outputs":[{"name":"mean"}],"inputs":[` + input + `]}`
	for n := range len(whole) {
		if code, _, text := r.send("POST", "/v2/models/net/infer", whole[:n]); code != 400 {
			t.Errorf("the first %d bytes: %d %s", n, code, text)
		}
	}
	row := `{"interval":0.5,"rows":[` + goodRow + `,[140,1e0,30,"b\u0069rch"]]}`
	for n := range len(row) {
		if code, _, text := r.send("POST", "/predict/strength", row[:n]); code != 400 {
			t.Errorf("the first %d bytes: %d %s", n, code, text)
		}
	}
	if code, _, text := r.send("POST", "/predict/strength", row); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	if log := r.log.String(); strings.Contains(log, "internal error") {
		t.Error(log)
	}
}

// Messages whose tensors contradict themselves are refused.
func TestContradictoryMessages(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Rows: 10}}, serve.Listen{})
	c := dial(t, r)
	ask := func(name, datatype string, shape []int64, in *oip.InferTensorContents, raw ...[]byte) error {
		_, err := c.ModelInfer(t.Context(), &oip.ModelInferRequest{ModelName: "net", RawInputContents: raw,
			Inputs: []*oip.ModelInferRequest_InferInputTensor{{Name: name, Datatype: datatype, Shape: shape, Contents: in}}})
		return err
	}
	three := []int64{1, 3}
	floats := &oip.InferTensorContents{Fp32Contents: []float32{1, 2, 3}}
	if err := ask("inputs", "FP32", three, floats); err != nil {
		t.Error(err)
	}
	for i, x := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{ask("inputs", "FP32", three, floats, rawFloats([]float64{1, 2})[:12]), codes.InvalidArgument, `tensor "inputs" has contents and raw contents`},
		{ask("inputs", "FP32", []int64{1, 2}, floats), codes.InvalidArgument, `tensor "inputs" has 3 elements of datatype FP32; its shape [1 2] needs 2`},
		{ask("inputs", "FP64", three, floats), codes.InvalidArgument, "has 0 elements of datatype FP64"},
		{ask("inputs", "FP16", three, floats), codes.InvalidArgument, "needs raw contents"},
		{ask("inputs", "BOOL", three, &oip.InferTensorContents{BoolContents: []bool{true, false, true}}), codes.InvalidArgument, "is of datatype BOOL; numbers are needed"},
		{ask("inputs", "BOOL", three, &oip.InferTensorContents{BoolContents: []bool{true}}), codes.InvalidArgument, "has 1 elements of datatype BOOL"},
		{ask("inputs", "FP32", three, nil, []byte{1, 2, 3}), codes.InvalidArgument, "3 bytes"},
		{ask("inputs", "BYTES", three, nil, []byte{1, 2, 3}), codes.InvalidArgument, "too few for 3 texts"},
		{ask("x", "FP32", three, floats), codes.InvalidArgument, `no input "x"`},
	} {
		if s, _ := status.FromError(x.err); s.Code() != x.code || !strings.Contains(s.Message(), x.text) {
			t.Errorf("message %d: %v, want %v %s", i, x.err, x.code, fmt.Sprint(x.text))
		}
	}
	_, err := c.ModelMetadata(t.Context(), &oip.ModelMetadataRequest{Name: "nothing"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("the metadata of no model: %v", err)
	}
}
