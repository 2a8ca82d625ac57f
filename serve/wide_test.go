package serve_test

import (
	"encoding/base64"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"utvi/model"
	"utvi/nn"
	"utvi/serve"
)

var wideNetwork = file("wide.safetensors", func(p string) error {
	n, err := model.New(model.Config{Input: nn.Vec(600), Layers: nn.Chain{nn.Dense{Out: 1}}, Seed: 4})
	if err != nil {
		return err
	}
	return n.Save(p)
})

// Where the inputs of rows, or the bytes of images, take more than their answers, they are still
// accounted for, also by those who send them piece by piece.
func TestLawOfInputs(t *testing.T) {
	s, err := serve.New(serve.Config{Models: []serve.Source{{Name: "wide", Path: wideNetwork()}, {Name: "pictures", Path: pictures()}},
		Limits: serve.Limits{Share: 1}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	const n = 20 // whose answers take less than one row
	row := "[" + strings.Repeat("1,", 599) + "1]"
	rows := "[" + strings.Repeat(row+",", n-1) + row + "]"
	plain := `{"rows":` + rows + `}`
	varied := `{"rows":` + rows + `,"variances":` + rows + `}`
	padded := base64.StdEncoding.EncodeToString(append(picture(1), make([]byte, 300_000)...))
	image := `{"rows":[{"file":"data:;base64,` + padded + `"}]}`
	a := serve.AccountOf(s, "wide")
	p := serve.AccountOf(s, "pictures")
	for _, c := range []struct {
		what, path, body string
		most             int64 // that is not enough
	}{
		{"rows", "/predict/wide", plain, a.Body(int64(len(plain))) + a.Rows(n, 0) - a.Rows(1, 0)/10},
		{"variances", "/predict/wide", varied, a.Body(int64(len(varied))) + a.Rows(n, 0) + a.Variances(n) - a.Variances(1)/10},
		{"an image", "/predict/pictures", image, p.Body(int64(len(image))) + int64(len(image)) + p.Rows(1, 0) + p.Answer(1) + int64(len(padded))},
	} {
		for _, left := range []int64{c.most, 1 << 27} {
			a.Only(left)
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest("POST", c.path, strings.NewReader(c.body)))
			want := 200
			if left == c.most {
				want = 429
			}
			if w.Code != want || a.Left() != left {
				t.Errorf("%s with %d bytes: %d %.200s, want %d; %d are left", c.what, left, w.Code, w.Body, want, a.Left())
			}
		}
	}
}
