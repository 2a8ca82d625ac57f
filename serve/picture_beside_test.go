package serve_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/fit"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/serve"
	"utvi/table"
)

var agedPictures = file("aged.utvi", func(p string) error {
	dir := filepath.Join(folder, "aged")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	list := "age,file,class\n"
	for i := range 60 {
		name := fmt.Sprint(i, ".png")
		list += fmt.Sprintf("%d,%s,%d\n", i*7%10, name, i*7%10/5)
		if err := os.WriteFile(filepath.Join(dir, name), picture(i), 0o666); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, "list.csv")
	if err := os.WriteFile(file, []byte(list), 0o666); err != nil {
		return err
	}
	f, err := fit.ReadTable(file, table.Options{})
	if err != nil {
		return err
	}
	r, err := fit.Run(context.Background(), f, fit.Config{Targets: []string{"class"}, Task: "classification", Network: tabular.Config{Ensemble: 1, Steps: 60, Width: 2},
		Images: fit.ImageConfig{Column: "file", Augment: "none"}}, fit.Options{})
	if err != nil {
		return err
	}
	return r.Model.Save(p)
})

// The columns beside an image stand in the address of a body that is an image, or in JSON, and both give
// the same.
func TestPictureBeside(t *testing.T) {
	s := start(t, serve.Config{Models: []serve.Source{{Name: "aged", Path: agedPictures()}}}, serve.Listen{})
	post := func(address, kind string, body []byte) (int, string) {
		t.Helper()
		r, err := http.Post(s.http+"/predict/aged"+address, kind, bytes.NewReader(body))
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
	m, err := predict.OpenFile(agedPictures())
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(picture(4))
	for _, age := range []int{1, 8} {
		want, err := p.Row(context.Background(), map[string]any{"file": text, "age": age})
		if err != nil {
			t.Fatal(err)
		}
		for kind, body := range map[string][]byte{"image/png": picture(4), "application/json": fmt.Appendf(nil, `{"rows":[{"file":"%s","age":%d}]}`, text, age)} {
			address := ""
			if kind == "image/png" {
				address = fmt.Sprint("?age=", age)
			}
			code, answer := post(address, kind, body)
			var got struct {
				Predictions []struct {
					Targets map[string]struct{ Probabilities map[string]float64 }
				}
			}
			if err := json.Unmarshal([]byte(answer), &got); err != nil || code != 200 {
				t.Fatalf("%s: %d %s", kind, code, answer)
			}
			if p := got.Predictions[0].Targets["class"].Probabilities["0"]; p != want.Class.Probabilities[0] || (p > 0.5) != (age < 5) {
				t.Errorf("%s, age %d: the probability is %v, want %v", kind, age, p, want.Class.Probabilities[0])
			}
		}
	}
	if code, _, answer := s.send("GET", "/models/aged", ""); code != 200 || !strings.Contains(strings.ReplaceAll(answer, " ", ""), `"shape":[12,12,1]`) {
		t.Errorf("the shape of the image: %d %s", code, answer)
	}
	for address, says := range map[string]string{
		"":             "row 1 lacks the column age",
		"?age=old":     `"old" is text; a number is needed`,
		"?age=1&age=2": "each other column of the model once",
		"?size=2":      `the address has "size"`,
		"?file=x":      `the address has "file"`,
	} {
		if code, answer := post(address, "image/png", picture(4)); code < 400 || code > 422 || !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), says) {
			t.Errorf("%s: %d %s, want %s", address, code, answer, says)
		}
	}
}
