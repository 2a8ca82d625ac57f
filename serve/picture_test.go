package serve_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/fit"
	photos "utvi/internal/folder"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/serve"
	"utvi/table"
	_ "utvi/table/images"
)

// picture is a PNG of one of two classes: a dark or a bright square.
func picture(i int) []byte {
	im := image.NewGray(image.Rect(0, 0, 12, 12))
	for k := range im.Pix {
		im.Pix[k] = byte(100*(i%2) + (k*37+i*11)%90)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var pictures = file("pictures.utvi", func(p string) error {
	dir := filepath.Join(folder, "pictures")
	for i := range 60 {
		class := filepath.Join(dir, []string{"dark", "bright"}[i%2])
		if err := os.MkdirAll(class, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprint(i, ".png")), picture(i), 0o666); err != nil {
			return err
		}
	}
	s, err := photos.Open(dir, photos.Names{})
	if err != nil {
		return err
	}
	f, err := table.Load(s)
	if err != nil {
		return err
	}
	quick := tabular.Config{Ensemble: 1, Steps: 30, Width: 2}
	r, err := fit.Run(context.Background(), f, fit.Config{Targets: []string{photos.Class}, Network: quick,
		Images: fit.ImageConfig{Column: photos.File, Augment: "none"}}, fit.Options{})
	if err != nil {
		return err
	}
	return r.Model.Save(p)
})

// An image is a body of its own, or a text in base64, and both give what the file gives. A request
// never reads files of the server.
func TestPictures(t *testing.T) {
	s := start(t, serve.Config{Models: []serve.Source{{Name: "pictures", Path: pictures()}, {Name: "resin", Path: resin()}}}, serve.Listen{})
	post := func(model, kind string, body []byte) (int, string) {
		t.Helper()
		r, err := http.Post(s.http+"/predict/"+model, kind, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	m, err := predict.OpenFile(pictures())
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(picture(4))
	want, err := p.Row(context.Background(), map[string]any{photos.File: text})
	if err != nil {
		t.Fatal(err)
	}
	row := func(text string) []byte { return []byte(`{"rows":[{"file":` + quoted(text) + `}]}`) }
	for kind, body := range map[string][]byte{
		"image/png":                picture(4),
		"application/json":         row(text),
		"application/json; data":   row("data:image/png;base64," + text),
		"application/json; a list": []byte(`{"rows":[["` + text + `"]]}`),
	} {
		code, answer := post("pictures", kind, body)
		var got struct {
			Predictions []struct {
				Targets map[string]struct{ Probabilities map[string]float64 }
			}
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || code != 200 || len(got.Predictions) != 1 {
			t.Errorf("%s: %d %s", kind, code, answer)
			continue
		}
		if p := got.Predictions[0].Targets["class"].Probabilities["bright"]; p != want.Class.Probabilities[0] {
			t.Errorf("%s: the probability is %v, want %v", kind, p, want.Class.Probabilities[0])
		}
	}
	for _, x := range []struct {
		model, kind string
		body        []byte
		code        int
		says        string
	}{
		{"pictures", "application/json", row(pictures()), 422, "not in base64"},
		{"pictures", "application/json", row(base64.StdEncoding.EncodeToString(wide())), 413, "an image of 7000 × 7000 pixels needs 1176000000 bytes of memory"},
		{"pictures", "image/png", wide(), 413, "an image of 7000 × 7000 pixels needs 1176000000 bytes of memory"},
		{"pictures", "image/webp", lossless(), 413, "save one in WebP as PNG"},
		{"pictures", "application/json", row(base64.StdEncoding.EncodeToString(lossless())), 413, "save one in WebP as PNG"},
		{"pictures", "image/png", []byte("no"), 422, "no image that is known"},
		{"resin", "image/png", picture(1), 415, "the body is an image, but the model predicts from other columns"},
	} {
		code, answer := post(x.model, x.kind, x.body)
		if code != x.code || !strings.Contains(answer, x.says) {
			t.Errorf("%s %.40q: %d %s, want %d %s", x.kind, x.body, code, answer, x.code, x.says)
		}
	}
}

// lossless is a small WebP whose decoder takes 178 MB.
func lossless() []byte {
	return []byte("RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f\x03\xc0\x00\x00\x00")
}

// Images are read one after another: many small ones take the memory of one. Other columns hold no
// images, whatever stands in them.
func TestManyPictures(t *testing.T) {
	s := start(t, serve.Config{Models: []serve.Source{{Name: "pictures", Path: pictures()}}, Limits: serve.Limits{Memory: 8 << 20, Body: 1 << 20}}, serve.Listen{})
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 100, 100))); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes()) // 240 kB while it is read
	rows := strings.Repeat(`["`+text+`"],`, 200)
	if code, _, answer := s.send("POST", "/predict/pictures", `{"rows":[`+strings.TrimSuffix(rows, ",")+`]}`); code != 200 {
		t.Errorf("%d %.300s", code, answer)
	}
	datum := strings.TrimSuffix(strings.Repeat(`"`+text+`",`, 200), ",")
	v2 := `{"inputs":[{"name":"file","datatype":"BYTES","shape":[200],"data":[` + datum + `]}]}`
	if code, _, answer := s.send("POST", "/v2/models/pictures/infer", v2); code != 200 {
		t.Errorf("%d %.300s", code, answer)
	}
	large := base64.StdEncoding.EncodeToString(wide())
	if code, _, answer := s.send("POST", "/v2/models/pictures/infer", `{"inputs":[{"name":"file","datatype":"BYTES","shape":[1],"data":["`+large+`"]}]}`); code != 413 {
		t.Errorf("%d %.300s", code, answer)
	}
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// wide is a small file of a large image.
func wide() []byte {
	var b bytes.Buffer
	im := image.NewPaletted(image.Rect(0, 0, 7000, 7000), color.Palette{color.Black})
	if err := png.Encode(&b, im); err != nil {
		panic(err)
	}
	return b.Bytes()
}
