package serve_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	answers "utvi/internal/answer"
	"utvi/predict"
	"utvi/serve"
)

// A page with the model inside gets the answers that a server gives, to the last bit.
func TestLocalAnswers(t *testing.T) {
	const row = `{"temperature":140.5,"temperature_std":1,"minutes":"30","resin":"birch"}`
	sameAnswers(t, "../internal/golden/testdata/strength.utvi",
		`{"rows":[`+row+`,{"resin":"dogwood","minutes":1e2,"temperature_std":5,"temperature":900}],"interval":0.8,"quantiles":[0.1,0.5],"density":7}`,
		`{"rows":[`+row+`]}`,
		`{"rows":[{"temperature":140.5}]}`,
		`{"rows":[{"heat":1}]}`,
		`{"rows":[{"temperature":"hot","temperature_std":1,"minutes":30,"resin":"birch"}]}`,
		`{"rows":[`+row+`],"interval":1.5}`,
		`{"rows":[`+row+`],"density":1}`)
	sameAnswers(t, "../internal/golden/testdata/resin.utvi", `{"rows":[{"temperature":140,"temperature_std":1,"minutes":30,"strength":41}]}`)
	sameAnswers(t, "../internal/golden/testdata/single.utvi")
}

// sameAnswers compares what a server and a page with the model inside answer to questions.
func sameAnswers(t *testing.T, path string, bodies ...string) {
	t.Helper()
	s, err := serve.New(serve.Config{Models: []serve.Source{{Name: "m", Path: path}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := predict.Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	local := answers.NewLocal(m, "m")
	_, list := local.Ask("models", nil)
	if !strings.HasPrefix(string(list), `{"models":[{"name":"m","version":"1","versions":["1"],"kind":"table"`) {
		t.Errorf("models are %.90s", list)
	}
	for _, body := range bodies {
		r := httptest.NewRequest(http.MethodPost, "/predict/m", strings.NewReader(body))
		r.Host = "localhost"
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		status, got := local.Ask("predict/m", []byte(body))
		_, want, _ := strings.Cut(w.Body.String(), `"predictions":`)
		_, have, _ := strings.Cut(string(got), `"predictions":`)
		if w.Code != status || strings.TrimSpace(want) != have {
			t.Errorf("%s:\n%d %s\nthe server says\n%d %s", body, status, got, w.Code, w.Body)
		}
	}
}
