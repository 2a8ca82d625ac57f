package serve_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"utvi/predict"
	"utvi/serve"
	"utvi/serve/oip"
)

// means are the numbers of an output.
func means(a *oip.ModelInferResponse, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	if len(a.RawOutputContents) > 0 {
		return floats(a.RawOutputContents[0]), nil
	}
	return a.Outputs[0].GetContents().GetFp64Contents(), nil
}

// The same numbers predict the same, whatever their datatype is, and whether they come as JSON, nested
// or flat, as the contents of a message or as bytes.
func TestDatatypes(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	c := dial(t, r)
	values := [][]int{{1, 2, 3}, {4, 5, 6}}
	whole := []int32{1, 2, 3, 4, 5, 6}
	var long []int64
	var small []uint32
	var large []uint64
	var single []float32
	var double []float64
	raws := map[string][]byte{}
	raw := func(kind string, b func(out []byte) []byte) { raws[kind] = b(raws[kind]) }
	for _, v := range whole {
		long = append(long, int64(v))
		small = append(small, uint32(v))
		large = append(large, uint64(v))
		single = append(single, float32(v))
		double = append(double, float64(v))
		for _, kind := range []string{"INT8", "UINT8"} {
			raw(kind, func(out []byte) []byte { return append(out, byte(v)) })
		}
		for _, kind := range []string{"INT16", "UINT16"} {
			raw(kind, func(out []byte) []byte { return binary.LittleEndian.AppendUint16(out, uint16(v)) })
		}
		for _, kind := range []string{"INT32", "UINT32"} {
			raw(kind, func(out []byte) []byte { return binary.LittleEndian.AppendUint32(out, uint32(v)) })
		}
		for _, kind := range []string{"INT64", "UINT64"} {
			raw(kind, func(out []byte) []byte { return binary.LittleEndian.AppendUint64(out, uint64(v)) })
		}
		raw("FP64", func(out []byte) []byte { return binary.LittleEndian.AppendUint64(out, math.Float64bits(float64(v))) })
		raw("FP32", func(out []byte) []byte { return binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v))) })
		raw("BF16", func(out []byte) []byte {
			return binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(float32(v))>>16))
		})
	}
	raws["FP16"] = []byte{0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44, 0, 0x45, 0, 0x46}
	contents := map[string]*oip.InferTensorContents{
		"FP64": {Fp64Contents: double}, "FP32": {Fp32Contents: single}, "INT64": {Int64Contents: long}, "UINT64": {Uint64Contents: large},
		"INT8": {IntContents: whole}, "INT16": {IntContents: whole}, "INT32": {IntContents: whole},
		"UINT8": {UintContents: small}, "UINT16": {UintContents: small}, "UINT32": {UintContents: small},
	}
	a, code := r.predict("net", map[string]any{"rows": values})
	if code != 200 {
		t.Fatal(code, a.Error)
	}
	var want []float64
	for _, p := range a.Predictions {
		want = append(want, p.Targets["y1"].Mean, p.Targets["y2"].Mean)
	}
	ask := func(kind string) *oip.ModelInferRequest {
		return &oip.ModelInferRequest{ModelName: "net", Outputs: []*oip.ModelInferRequest_InferRequestedOutputTensor{{Name: "mean"}},
			Inputs: []*oip.ModelInferRequest_InferInputTensor{{Name: "inputs", Datatype: kind, Shape: []int64{2, 3}}}}
	}
	for kind, b := range raws {
		q := ask(kind)
		q.RawInputContents = [][]byte{b}
		if got, err := means(c.ModelInfer(t.Context(), q)); !slices.Equal(got, want) {
			t.Errorf("%s as bytes: %v %v, want %v", kind, got, err, want)
		}
		for _, data := range []string{"[1,2,3,4,5,6]", "[[1,2,3],[4,5,6]]", "[1e0,2,3,4,5,6.0]"} {
			_, _, text := r.send("POST", "/v2/models/net/infer", `{"outputs":[{"name":"mean"}],"inputs":[{"name":"inputs","shape":[2,3],"datatype":"`+kind+`","data":`+data+`}]}`)
			var a struct{ Outputs []struct{ Data []float64 } }
			if err := json.Unmarshal([]byte(text), &a); err != nil || len(a.Outputs) != 1 || !slices.Equal(a.Outputs[0].Data, want) {
				t.Errorf("%s as %s: %s, want %v", kind, data, text, want)
			}
		}
	}
	for kind, x := range contents {
		q := ask(kind)
		q.Inputs[0].Contents = x
		if got, err := means(c.ModelInfer(t.Context(), q)); !slices.Equal(got, want) {
			t.Errorf("%s as contents: %v %v, want %v", kind, got, err, want)
		}
	}
	// Truths are names, and variances an input of their own.
	cell := func(kind, value string) string {
		_, _, text := r.send("POST", "/v2/models/strength/infer", `{"outputs":[{"name":"mean"}],"inputs":[{"name":"temperature","datatype":"FP64","shape":[1],"data":[140]},{"name":"temperature_std","datatype":"FP64","shape":[1],"data":[1]},{"name":"minutes","datatype":"FP64","shape":[1,1],"data":[30]},{"name":"resin","datatype":"`+kind+`","shape":[1],"data":[`+value+`]}]}`)
		return text
	}
	for _, v := range []string{"true", "false"} {
		if got, want := cell("BOOL", v), cell("BYTES", `"`+v+`"`); got != want || !strings.Contains(got, `"mean"`) {
			t.Errorf("%s is %s, as a text %s", v, got, want)
		}
	}
	varied, code := r.predict("net", map[string]any{"rows": values[:1], "variances": [][]float64{{0.5, 1, 2}}})
	_, _, text := r.send("POST", "/v2/models/net/infer", `{"outputs":[{"name":"var_inputs"}],"inputs":[{"name":"inputs","shape":[1,3],"datatype":"FP32","data":[1,2,3]},{"name":"variances","shape":[1,3],"datatype":"FP64","data":[0.5,1,2]}]}`)
	if code != 200 || !strings.Contains(text, fmt.Sprintf(`"data":[%v,%v]`, varied.Predictions[0].Targets["y1"].Variance.Inputs, varied.Predictions[0].Targets["y2"].Variance.Inputs)) || varied.Predictions[0].Targets["y1"].Variance.Inputs == 0 {
		t.Errorf("%v: %s", varied, text)
	}
}

// Quantiles come with tensors, too, asked for as a number or as a text.
func TestQuantilesOfTensors(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	rows := named(3, 2)
	want, err := predictor(t, strength(), predict.Options{Quantiles: []float64{0.05, 0.5}}).Rows(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, r)
	for _, raw := range []bool{true, false} {
		for _, p := range []*oip.InferParameter{{ParameterChoice: &oip.InferParameter_StringParam{StringParam: "0.05, 0.5"}}, {ParameterChoice: &oip.InferParameter_DoubleParam{DoubleParam: 0.5}}} {
			q := grpcRequest(rows, raw)
			q.Outputs = []*oip.ModelInferRequest_InferRequestedOutputTensor{{Name: "quantiles"}}
			q.Parameters = map[string]*oip.InferParameter{"quantiles": p}
			got, err := means(c.ModelInfer(t.Context(), q))
			var all []float64
			for _, w := range want {
				first := 0
				if p.GetStringParam() == "" {
					first = 1
				}
				all = append(all, w.Numbers[0].Quantiles[first:]...)
			}
			if !slices.Equal(got, all) {
				t.Errorf("%v: %v %v, want %v", p, got, err, all)
			}
		}
	}
	for _, p := range []*oip.InferParameter{{ParameterChoice: &oip.InferParameter_Int64Param{Int64Param: 1}}, {ParameterChoice: &oip.InferParameter_Uint64Param{Uint64Param: 1}}} {
		q := grpcRequest(rows, true)
		q.Parameters = map[string]*oip.InferParameter{"max_std": p}
		if a, err := c.ModelInfer(t.Context(), q); err != nil || len(a.Outputs) == 0 {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// Options that are malformed are refused in a sentence, those that are null are as if not there.
func TestMalformedOptions(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Rows: 10, Numbers: 200}}, serve.Listen{})
	levels := func(n int) string { return strings.TrimSuffix(strings.Repeat("0.5,", n), ",") }
	for _, x := range []struct {
		option string
		code   int
		text   string
	}{
		{`"interval":null,"quantiles":null,"density":null,"max_std":null`, 200, "mean"},
		{`"interval":"0.9"`, 400, "interval must be a number"},
		{`"max_std":[1]`, 400, "max_std must be a number"},
		{`"max_ood":true`, 400, "max_ood must be a number"},
		{`"max_ood":{}`, 400, "max_ood must be a number"},
		{`"max_ood":false`, 400, "max_ood must be a number"},
		{`"max_ood":1,"max_unfamiliar":1`, 422, "max_unfamiliar is the old name of max_ood"},
		{`"density":2.5`, 400, "density is 2.5; it must be a whole number"},
		{`"density":2e9`, 400, "it must be a whole number"},
		{`"density":-2`, 422, "density is -2; it must be a number of points from 2 to 1000"},
		{`"density":1001`, 422, "density is 1001"},
		{`"density":2`, 200, "density"},
		{`"quantiles":0.5`, 400, "quantiles must be a list of numbers"},
		{`"quantiles":["a"]`, 400, "a level of quantiles must be a number"},
		{`"quantiles":[` + levels(1001) + `]`, 422, "more than 1000 levels"},
		{`"quantiles":[` + levels(1000) + `]`, 413, "the answer would have about"},
		{`"quantiles":[` + levels(190) + `]`, 200, "quantiles"},
		{`"quantiles":[` + levels(191) + `]`, 413, "the answer would have about 201 numbers"},
		{strings.TrimSuffix(strings.Repeat(`"max_std":1,`, 31), ","), 200, "mean"},
		{strings.TrimSuffix(strings.Repeat(`"max_std":1,`, 32), ","), 400, "more than 32 fields"},
	} {
		code, _, text := r.send("POST", "/predict/strength", `{"rows":[`+goodRow+`],`+x.option+`}`)
		if code != x.code || !strings.Contains(text, x.text) {
			t.Errorf("%.60s: %d %.200s, want %d %s", x.option, code, text, x.code, x.text)
		}
	}
	for _, x := range []struct {
		body string
		code int
		text string
	}{
		{`{"rows":[[1,2,3]],"variances":[[1,2,3]],"variances":[]}`, 400, `\"variances\" occurs twice`},
		{`{"rows":[[1,2,3]],"variances":[3]}`, 400, "where a list of variances is expected"},
		{`{"rows":[],"variances":[` + strings.TrimSuffix(strings.Repeat("[1,2,3],", 11), ",") + `]}`, 413, "variances of more than 10 rows"},
		{`{"rows":[` + strings.TrimSuffix(strings.Repeat("[1,2,3],", 10), ",") + `]}`, 200, "mean"},
	} {
		code, _, text := r.send("POST", "/predict/net", x.body)
		if code != x.code || !strings.Contains(text, x.text) {
			t.Errorf("%.60s: %d %.200s, want %d %s", x.body, code, text, x.code, x.text)
		}
	}
	input := `{"name":"inputs","datatype":"FP32","shape":[1,3],"data":[1,2,3]}`
	for _, x := range []struct {
		parameters, inputs string
		code               int
		text               string
	}{
		{`"interval":"0.5","max_std":1`, input, 200, "mean"},
		{`"interval":[1]`, input, 400, "the parameter interval must be a number"},
		{`"interval":"half"`, input, 400, "the parameter interval must be a number"},
		{`"binary_data_output":1`, input, 400, "must be true or false"},
		{`"sequence_id":7`, input, 200, "mean"},
		{`"quantiles":"` + levels(1001) + `"`, input, 400, "more than 1000 levels"},
		{`"quantiles":0.5`, input, 200, "quantiles"},
		{``, input + "," + input, 400, "occurs twice"},
		{``, input + `,{"name":"variances","datatype":"FP32","shape":[2,3],"data":[1,2,3,4,5,6]}`, 400, "has 1 rows, tensor"},
		{``, strings.Replace(input, "inputs", "variances", 1), 400, `the input \"inputs\" is missing`},
		{``, strings.Replace(strings.Replace(input, "FP32", "BOOL", 1), "[1,2,3]", "[true,false,true]", 1), 400, "is of datatype BOOL; numbers are needed"},
		{``, strings.Replace(input, "[1,2,3]", "1", 1), 400, "must be a list"},
		{``, strings.Replace(input, "[1,2,3]", "[1,2,3,4]", 1), 400, "has 4 elements; its shape [1 3] needs 3"},
		{``, strings.Replace(strings.Replace(input, "FP32", "UINT64", 1), "[1,2,3]", "[1,2,3,4]", 1), 400, "has 4 elements"},
		{``, strings.Replace(strings.Replace(input, "FP32", "UINT64", 1), "[1,2,3]", "[1,2]", 1), 400, "has 2 elements"},
		{``, strings.Replace(strings.Replace(input, "FP32", "UINT64", 1), "[1,2,3]", "[1,2,-3]", 1), 400, "is -3; its datatype is UINT64"},
		{``, strings.Replace(input, "[1,3]", "[1,1,1,1,1,1,1,3]", 1), 200, "mean"},
		{``, strings.Replace(input, "[1,3]", "[1,1,1,1,1,1,1,1,3]", 1), 400, "more than 8 dimensions"},
		{``, strings.Replace(input, `"data"`, `"parameters":{"binary_data_size":1},"data"`, 1), 400, "both data and binary data"},
		{``, input + `,{"name":"a","datatype":"FP32","shape":[1],"data":[1]},{"name":"b","datatype":"FP32","shape":[1],"data":[1]}`, 400, "more than 2 inputs"},
	} {
		code, _, text := r.send("POST", "/v2/models/net/infer", `{"parameters":{`+x.parameters+`},"inputs":[`+x.inputs+`]}`)
		if code != x.code || !strings.Contains(text, x.text) {
			t.Errorf("%.60s %s: %d %.200s, want %d %s", x.parameters, x.inputs, code, text, x.code, x.text)
		}
	}
}

// Every request can be logged: who asked, what for, how it ended.
func TestRequestsAreLogged(t *testing.T) {
	r := start(t, serve.Config{LogRequests: true}, serve.Listen{})
	r.send("POST", "/predict/strength", `{"rows":[`+goodRow+","+goodRow+`]}`, "X-Request-Id", "mine-7")
	r.send("POST", "/predict/strength", `{"rows":3}`, "X-Request-Id", "not mine")
	r.send("POST", "/predict/nothing", `{}`, "X-Request-Id", strings.Repeat("x", 129))
	log := r.log.String()
	for _, want := range []string{"id=mine-7 method=POST path=/predict/strength status=200", "model=strength version=1 rows=2", "status=400", `must be a list`, "status=404", "from=127.0.0.1"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not logged:\n%s", want, log)
		}
	}
	if strings.Contains(log, "xxx") || strings.Count(log, "msg=request") != 3 {
		t.Error(log)
	}
}

// Configurations that cannot work are refused before anything listens.
func TestConfigurations(t *testing.T) {
	one := serve.Source{Name: "net", Path: network()}
	for want, c := range map[string]serve.Config{
		"no model is given":              {},
		"are both version 1 of model":    {Models: []serve.Source{one, one}},
		"it must be above 0":             {Models: []serve.Source{one}, Limits: serve.Limits{Rows: -1}},
		"the share of one client is 1.5": {Models: []serve.Source{one}, Limits: serve.Limits{Share: 1.5}},
		"the least is 2097152":           {Models: []serve.Source{one}, Limits: serve.Limits{Memory: 2<<20 - 1, Body: 1 << 10}},
		"all requests together only":     {Models: []serve.Source{one}, Limits: serve.Limits{Memory: 2 << 20, Body: 3<<19 + 1}},
	} {
		if _, err := serve.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, l := range []serve.Limits{{Share: 1}, {Memory: 2 << 20, Body: 3 << 19}} { // two connections take a quarter
		if _, err := serve.New(serve.Config{Models: []serve.Source{one}, Limits: l}); err != nil {
			t.Error(l, err)
		}
	}
	s, err := serve.New(serve.Config{Models: []serve.Source{one}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), serve.Listen{}); err == nil || !strings.Contains(err.Error(), "no address to answer at is given") {
		t.Error(err)
	}
}

// A file that is written again with the same bytes changes nothing, and a server that does not look
// at files keeps what it has.
func TestReloadOfTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.utvi")
	sound := read(t, network())
	replace(t, path, sound)
	config := serve.Config{Models: []serve.Source{{Name: "m", Path: path}}, Reload: 2 * time.Millisecond}
	r := start(t, config, serve.Listen{})
	config.Reload = -1
	still := start(t, config, serve.Listen{})
	replace(t, path, sound)
	wait := func(text string) {
		t.Helper()
		for end := time.Now().Add(serve.Patience); !strings.Contains(r.log.String(), text); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%q did not happen: %s", text, r.log)
			}
		}
	}
	wait("written again with the same contents")
	if n := metric(r, `utvi_model_reloads_total{model="m",version="1"}`); n != "0" {
		t.Errorf("%s reloads", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait("cannot be loaded")
	for _, s := range []*running{r, still} {
		if _, code := s.predict("m", map[string]any{"rows": [][]int{{1, 2, 3}}}); code != 200 {
			t.Error(code)
		}
	}
	if log := still.log.String(); strings.Contains(log, "cannot be loaded") {
		t.Error(log)
	}
}
