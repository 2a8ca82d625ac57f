package serve_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"utvi/serve"
	"utvi/serve/oip"
)

// What clients of Triton ask for beyond the protocol is answered by REST and by gRPC, and
// the rest is refused with a sentence.
func TestTriton(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	for range 3 {
		r.predict("strength", map[string]any{"rows": named(2, 1)})
	}
	r.send("POST", "/predict/strength", "{")
	g := oip.NewGRPCInferenceServiceClient(connection(t, r))
	var stats struct {
		Model_stats []struct {
			Name, Version                                    string
			Last_inference, Inference_count, Execution_count uint64
			Inference_stats                                  struct{ Success, Fail struct{ Count, Ns uint64 } }
		}
	}
	for path, want := range map[string]int{"/v2/models/stats": 3, "/v2/models/strength/stats": 1, "/v2/models/strength/versions/1/stats": 1} {
		_, _, text := r.send("GET", path, "")
		if err := json.Unmarshal([]byte(text), &stats); err != nil || len(stats.Model_stats) != want {
			t.Fatalf("%s: %s %v", path, text, err)
		}
		s := stats.Model_stats[0]
		if s.Name != "strength" || s.Version != "1" || s.Inference_count != 6 || s.Execution_count != 3 || s.Last_inference == 0 ||
			s.Inference_stats.Success.Count != 3 || s.Inference_stats.Success.Ns == 0 || s.Inference_stats.Fail.Count != 1 || s.Inference_stats.Fail.Ns == 0 {
			t.Errorf("%s: %s", path, text)
		}
	}
	a, err := g.ModelStatistics(t.Context(), &oip.ModelStatisticsRequest{Name: "net"})
	if err != nil || len(a.ModelStats) != 1 || a.ModelStats[0].Name != "net" || a.ModelStats[0].InferenceCount != 0 || a.ModelStats[0].LastInference != 0 {
		t.Error(a, err)
	}
	if _, err := g.ModelStatistics(t.Context(), &oip.ModelStatisticsRequest{Name: "x"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	_, _, text := r.send("POST", "/v2/repository/index", "{}")
	index, err := g.RepositoryIndex(t.Context(), &oip.RepositoryIndexRequest{})
	if err != nil || len(index.Models) != 3 || index.Models[2].Name != "net" || index.Models[2].State != "READY" || strings.Count(text, `"state":"READY"`) != 3 {
		t.Error(text, index, err)
	}
	_, _, text = r.send("GET", "/v2/models/net/config", "")
	config, err := g.ModelConfig(t.Context(), &oip.ModelConfigRequest{Name: "net"})
	if err != nil || config.Config.Input[0].DataType != oip.DataType_TYPE_FP32 || !slices.Equal(config.Config.Input[0].Dims, []int64{-1, 3}) || config.Config.Output[0].Name != "mean" ||
		!strings.Contains(text, `"input":[{"data_type":"TYPE_FP32","dims":[-1,3],"name":"inputs"}]`) {
		t.Error(text, config, err)
	}
	for _, kind := range []string{"TYPE_STRING", "TYPE_BOOL", "TYPE_FP64"} {
		if _, _, text := r.send("GET", "/v2/models/strength/config", ""); !strings.Contains(text, kind) || strings.Contains(text, "INVALID") {
			t.Errorf("%s is not in %s", kind, text)
		}
	}
	for _, path := range []string{"/v2/repository/models/net/load", "/v2/systemsharedmemory/status", "/v2/cudasharedmemory/status", "/v2/trace/setting", "/v2/models/net/trace/setting", "/v2/logging"} {
		for _, method := range []string{"GET", "POST"} {
			if code, _, text := r.send(method, path, ""); code != 501 || !strings.Contains(text, "not something that this server does") {
				t.Errorf("%s %s: %d %s", method, path, code, text)
			}
		}
	}
	if err := connection(t, r).Invoke(t.Context(), "/inference.GRPCInferenceService/RepositoryModelLoad", &oip.ServerLiveRequest{}, &oip.ServerLiveResponse{}); status.Code(err) != codes.Unimplemented {
		t.Error(err)
	}
}

// A request cannot ask twice for one thing, and what is refused is not echoed whole.
func TestAskedTwice(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	const path = "/v2/models/net/infer"
	tensor := `{"name":"inputs","datatype":"%s","shape":%s,"data":%s}`
	good := fmt.Sprintf(tensor, "FP32", "[1,3]", "[1,2,3]")
	for body, want := range map[string]string{
		`{"inputs":[` + good + `],"outputs":[{"name":"mean"},{"name":"std"},{"name":"mean"}]}`:            `the output \"mean\" is asked for twice`,
		`{"inputs":[` + good + `,` + good + `]}`:                                                          `the input \"inputs\" occurs twice`,
		`{"inputs":[` + good + `],"inputs":[` + good + `]}`:                                               `the field \"inputs\" occurs twice`,
		`{"id":"` + strings.Repeat("a", 2000) + `","inputs":[` + good + `]}`:                              "id has 2000 bytes",
		`{"inputs":[` + fmt.Sprintf(tensor, "FP32", "[1"+strings.Repeat(",1", 100_000)+"]", "[1]") + `]}`: "more than 8 dimensions",
		`{"inputs":[` + fmt.Sprintf(tensor, "UINT64", "[1,3]", "[1,2,18446744073709551616]") + `]}`:       "is 18446744073709551616; its datatype is UINT64",
		`{"inputs":[` + fmt.Sprintf(tensor, "UINT64", "[1,3]", "[1,2,-1]") + `]}`:                         "is -1; its datatype is UINT64",
		`{"inputs":[` + fmt.Sprintf(tensor, "FP32", "[1,3]", "[1,2,3,4]") + `]}`:                          "needs 3",
	} {
		code, _, text := r.send("POST", path, body)
		if code != 400 || !strings.Contains(text, want) || len(text) > 400 {
			t.Errorf("%.80s: %d %.200s, want %s", body, code, text, want)
		}
	}
	for _, last := range []string{"18446744073709551615", "9223372036854775808", "1e3"} {
		code, _, text := r.send("POST", path, `{"inputs":[`+fmt.Sprintf(tensor, "UINT64", "[1,3]", "[1,2,"+last+"]")+`]}`)
		_, _, same := r.send("POST", path, `{"inputs":[`+fmt.Sprintf(tensor, "FP64", "[1,3]", "[1,2,"+last+"]")+`]}`)
		if code != 200 || text != same {
			t.Errorf("%s as UINT64: %d %s, as FP64 %s", last, code, text, same)
		}
	}
	m := grpcRequest(named(1, 1), true)
	m.Outputs = append(m.Outputs, &oip.ModelInferRequest_InferRequestedOutputTensor{Name: "std"}, &oip.ModelInferRequest_InferRequestedOutputTensor{Name: "std"})
	if _, err := dial(t, r).ModelInfer(t.Context(), m); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "asked for twice") {
		t.Error(err)
	}
	m = grpcRequest(named(1, 1), true)
	m.Inputs[0].Shape = make([]int64, 100_000)
	if _, err := dial(t, r).ModelInfer(t.Context(), m); status.Code(err) != codes.InvalidArgument || len(err.Error()) > 300 {
		t.Errorf("%.300v", err)
	}
	if _, err := dial(t, r).ModelReady(t.Context(), &oip.ModelReadyRequest{Name: strings.Repeat("a", 20_000)}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a question of 20,000 bytes: %v", err)
	}
	if _, err := dial(t, r).ModelInfer(t.Context(), grpcRequest(named(100, 1), true)); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(serve.Patience); metric(r, "utvi_requests_memory_bytes") != "0"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) { // the network has taken the answer long ago
			t.Fatalf("memory of requests that are over: %s", metric(r, "utvi_requests_memory_bytes"))
		}
	}
}

// Every column has the histogram of its own values.
func TestHistograms(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	_, _, text := r.send("GET", "/models/strength", "")
	var d struct {
		Columns []struct {
			Name, Type string
			Min, Max   float64
			Levels     []string
			Histogram  *struct {
				From, To float64
				Counts   []int
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil || len(d.Columns) != 4 {
		t.Fatal(text, err)
	}
	for _, c := range d.Columns {
		if c.Histogram == nil {
			t.Errorf("%s has no histogram", c.Name)
			continue
		}
		sum := 0
		for _, n := range c.Histogram.Counts {
			sum += n
		}
		width := c.Max - c.Min
		switch {
		case sum == 0:
			t.Errorf("%s: no values", c.Name)
		case c.Type == "categorical" && len(c.Histogram.Counts) != len(c.Levels)+1 && len(c.Histogram.Counts) != len(c.Levels):
			t.Errorf("%s: %d counts of %d levels", c.Name, len(c.Histogram.Counts), len(c.Levels))
		case c.Type == "numeric" && (c.Histogram.From > c.Min || c.Histogram.To < c.Max || c.Histogram.To-c.Histogram.From > 1.5*width+1):
			t.Errorf("%s lies between %g and %g, its histogram between %g and %g", c.Name, c.Min, c.Max, c.Histogram.From, c.Histogram.To)
		}
	}
}
