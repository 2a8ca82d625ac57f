package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"utvi/serve"
)

const goodRow = `{"temperature":140,"temperature_std":1,"minutes":30,"resin":"birch"}`

// Wrong requests get the right status and one sentence, and disturb nothing.
func TestFaults(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Rows: 50, Numbers: 5000}}, serve.Listen{})
	row := func(from, to string) string { return `{"rows":[` + strings.Replace(goodRow, from, to, 1) + `]}` }
	tensor := `{"name":"inputs","datatype":"FP32","shape":[1,3],"data":[1,2,3]}`
	infer := func(from, to string) string {
		return `{"inputs":[` + strings.Replace(tensor, from, to, 1) + `]}`
	}
	const p, v = "/predict/strength", "/v2/models/net/infer"
	for _, f := range []struct {
		method, path, body string
		code               int
		text               string
		header             []string
	}{
		{"POST", "/predict/nothing", row("", ""), 404, `no model \"nothing\"; the models are strength, resin, net`, nil},
		{"POST", p + "/versions/9", row("", ""), 404, "has no version", nil},
		{"POST", p, "", 400, "must be a JSON object", nil},
		{"POST", p, "[1]", 400, "must be a JSON object", nil},
		{"POST", p, "{}", 400, `lacks the field \"rows\"`, nil},
		{"POST", p, `{"rows":`, 400, "at byte 9: it ends too early, where a list of rows is expected", nil},
		{"POST", p, `{"rows":3}`, 400, "must be a list", nil},
		{"POST", p, `{"rows":[{"res`, 400, "it ends too early, within a text", nil},
		{"POST", p, `{"rows":[` + goodRow, 400, "it ends too early, where ',' or ']' is expected", nil},
		{"POST", p, `{"rows":[` + goodRow + `]}x`, 400, "stands where the end is expected", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"rows":[]}`, 400, "occurs twice", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"levels":[]}`, 400, "levels", nil},
		{"POST", p, `{"rows":[3]}`, 400, "a row", nil},
		{"POST", p, row("30", `"long"`), 422, `row 1, column minutes: \"long\" is text; a number is needed`, nil},
		{"POST", p, row("30", `null`), 422, "missing", nil},
		{"POST", p, row("30", `NaN`), 400, "stands where a value is expected", nil},
		{"POST", p, row("30", `1e999`), 422, "minutes", nil},
		{"POST", p, row("30", `[1]`), 422, "row 1 has a list or an object", nil},
		{"POST", p, row("minutes", "temperature"), 422, `row 1 has the column \"temperature\" twice`, nil},
		{"POST", p, row("minutes", "hours"), 422, `unknown column \"hours\"`, nil},
		{"POST", p, row(`"minutes":30,`, ""), 422, "row 1 lacks the column minutes; the model needs temperature, temperature_std, minutes, resin", nil},
		{"POST", p, row(":1,", ":-1,"), 422, "standard deviation is -1", nil},
		{"POST", p, row("birch", "\xff"), 422, "not text in UTF-8", nil},
		{"POST", p, `{"rows":[[140,1,30]]}`, 422, "does not have 4 values", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"interval":1}`, 422, "between 0 and 1", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"quantiles":[0]}`, 422, "between 0 and 1", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"density":1}`, 422, "density is 1", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"min_probability":0.5}`, 422, "numbers, which have no probability", nil},
		{"POST", p, `{"rows":[` + goodRow + `],"variances":[[1]]}`, 422, "variances belong to networks", nil},
		{"POST", p, `{"rows":[` + strings.Repeat(goodRow+",", 50) + goodRow + `]}`, 413, "more than 50 rows", nil},
		{"POST", p, `{"rows":[` + strings.Repeat(goodRow+",", 9) + goodRow + `],"density":1000}`, 413, "allows 5000", nil},
		{"POST", "/predict/net", `{"rows":[{"x":1}]}`, 422, "network without named columns", nil},
		{"POST", "/predict/net", `{"rows":[[1,2]]}`, 422, "3 numbers", nil},
		{"POST", "/predict/net", `{"rows":[[1,2,1e300]]}`, 422, "row 1, input 3: a finite number", nil},
		{"POST", "/predict/net", `{"rows":[[1,2,3]],"variances":[[1,2,-3]]}`, 422, "variance is -3", nil},
		{"POST", "/predict/net", `{"rows":[[1,2,3]],"variances":[]}`, 422, "3 numbers in the rows and 0 variances", nil},
		{"POST", "/predict/resin", `{"rows":[],"density":9}`, 422, "no density", nil},
		{"POST", p, row("", ""), 415, "compressed", []string{"Content-Encoding", "gzip"}},
		{"GET", p, "", 405, "takes POST", nil},
		{"DELETE", "/models", "", 405, "takes GET", nil},
		{"GET", "/../../etc/passwd", "", 404, "nothing at", nil},
		{"GET", "/v2/models/x", "", 404, "no model", nil},
		{"POST", v, "{", 400, "it ends too early", nil},
		{"POST", v, "[]", 400, "not an inference request", nil},
		{"POST", v, "{}", 400, "no inputs; the model needs inputs (3 numbers a row)", nil},
		{"POST", v, infer("inputs", "x"), 400, `no input \"x\"`, nil},
		{"POST", v, infer("FP32", "FP8"), 400, `unknown datatype \"FP8\"`, nil},
		{"POST", v, infer("FP32", "BYTES"), 400, "not of its datatype", nil},
		{"POST", v, strings.Replace(infer("FP32", "INT8"), "[1,2,3]", "[1,128,3]", 1), 400, `element 2 of tensor \"inputs\" is 128; its datatype is INT8`, nil},
		{"POST", v, strings.Replace(infer("FP32", "UINT8"), "[1,2,3]", "[1,2,-3]", 1), 400, `is -3; its datatype is UINT8`, nil},
		{"POST", v, strings.Replace(infer("FP32", "INT64"), "[1,2,3]", "[1,2.5,3]", 1), 400, `is 2.5; its datatype is INT64`, nil},
		{"POST", v, strings.Replace(infer("FP32", "INT64"), "[1,2,3]", "[9223372036854775808,2,3]", 1), 400, `is 9223372036854775808; its datatype is INT64`, nil},
		{"POST", v, infer("FP32", "INT8"), 200, "mean", nil},
		{"POST", v, strings.Replace(infer("FP32", "INT8"), "[1,2,3]", "[1,2,3.5]", 1), 400, "element 3", nil},
		{"POST", v, infer("[1,3]", "[]"), 400, "no shape", nil},
		{"POST", v, infer("[1,3]", "[2,3]"), 400, "needs 6", nil},
		{"POST", v, infer("[1,3]", "[3]"), 400, "3 rows of the network have 9 numbers", nil},
		{"POST", v, infer("[1,3]", "[99,3]"), 413, "allows 50", nil},
		{"POST", v, infer(`,"data":[1,2,3]`, ``), 400, "no data", nil},
		{"POST", v, infer("[1,2,3]", "[1,null,3]"), 400, "not a finite number", nil},
		{"POST", v, infer(`"data":[1,2,3]`, `"parameters":{"binary_data_size":12}`), 400, "0 bytes are left", nil},
		{"POST", v, infer("", "") + "123", 400, "3 bytes behind the JSON", []string{"Inference-Header-Content-Length", fmt.Sprint(len(infer("", "")))}},
		{"POST", v, infer("", ""), 400, "at most the", []string{"Inference-Header-Content-Length", "9999"}},
		{"POST", v, infer("", ""), 400, "Inference-Header-Content-Length", []string{"Inference-Header-Content-Length", "-1"}},
		{"POST", v, strings.Replace(infer("", ""), "{", `{"outputs":[{"name":"z"}],`, 1), 400, `no output \"z\"; it has mean, std, lo`, nil},
		{"POST", v, strings.Replace(infer("", ""), "{", `{"parameters":{"intervall":0.5},`, 1), 400, "intervall", nil},
		{"POST", v, strings.Replace(infer("", ""), "{", `{"parameters":{"quantiles":"a"},`, 1), 400, "quantiles", nil},
	} {
		code, h, text := r.send(f.method, f.path, f.body, f.header...)
		if code != f.code || !strings.Contains(text, f.text) {
			t.Errorf("%s %s %.200s: %d %s, want %d … %s", f.method, f.path, f.body, code, text, f.code, f.text)
		}
		var e struct{ Error string }
		if err := json.Unmarshal([]byte(text), &e); code != 200 && (err != nil || e.Error == "" || strings.Contains(e.Error, "\n")) {
			t.Errorf("%s %.100s: the error is not one sentence: %s", f.path, f.body, text)
		}
		if h.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", f.path)
		}
		if code, _, text := r.send("POST", p, row("", "")); code != 200 {
			t.Fatalf("after %s %.100s: %d %s", f.path, f.body, code, text)
		}
	}
	if log := r.log.String(); strings.Contains(log, "internal error") {
		t.Error(log)
	}
}

// Bodies of 100 MB are refused at once, announced or not.
func TestLargeBodies(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	const size = 100 << 20
	for _, chunked := range []bool{false, true} {
		q, err := http.NewRequest("POST", r.http+"/predict/strength", io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		if !chunked {
			q.ContentLength = size
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil { // the server may close the connection while the client still sends
			if !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "broken pipe") {
				t.Error(err)
			}
			continue
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != 413 || !strings.Contains(string(text), "longer than 16777216 bytes") {
			t.Errorf("chunked %v: %d %s", chunked, a.StatusCode, text)
		}
	}
	if code, _, text := r.send("POST", "/predict/strength", `{"rows":[`+goodRow+`]}`); code != 200 {
		t.Error(code, text)
	}
	if text := metric(r, "utvi_requests_memory_bytes"); text != "0" {
		t.Errorf("memory of requests: %s", text)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// metric returns the value of a metric.
func metric(r *running, name string) string {
	r.t.Helper()
	_, _, text := r.send("GET", "/metrics", "")
	for _, line := range strings.Split(text, "\n") {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			return v
		}
	}
	return ""
}

// Clients that send a byte now and then are dropped, and others are served meanwhile.
func TestSlowClients(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Time: 500 * time.Millisecond}}, serve.Listen{})
	address := strings.TrimPrefix(r.http, "http://")
	var all []net.Conn
	for range 50 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /predict/strength HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n{\"rows\":")
		all = append(all, c)
	}
	// A machine that does much else may not serve the first within the server's half second.
	for end := time.Now().Add(serve.Patience); ; {
		code, _, text := r.send("POST", "/predict/strength", `{"rows":[`+goodRow+`]}`)
		if code == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatal(code, text)
		}
	}
	for _, c := range all {
		c.SetReadDeadline(time.Now().Add(serve.Patience))
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, "408") {
			t.Errorf("%q, %v", line, err)
		}
	}
	for end := time.Now().Add(serve.Patience); metric(r, "utvi_requests_active") != "0"; {
		if time.Now().After(end) {
			t.Fatalf("active requests: %s", metric(r, "utvi_requests_active"))
		}
	}
}
