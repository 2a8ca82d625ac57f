package predict_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"

	"utvi/predict"
)

// handler predicts the row in a request's body, an object of named values.
func handler(p *predict.Predictor) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var row map[string]any
		body := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		body.UseNumber()
		if err := body.Decode(&row); err != nil {
			http.Error(w, "the body must be a JSON object: "+err.Error(), http.StatusBadRequest)
			return
		}
		y, err := p.Row(r.Context(), row)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		text, err := json.Marshal(answer(y))
		if err != nil { // before anything is written: an empty body is no answer
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(text)
	}
}

// answer is what the server says of a row. A model predicts a class or numbers.
func answer(y predict.Prediction) map[string]any {
	out := map[string]any{"abstain": y.Abstain}
	if !math.IsNaN(y.OOD) { // which JSON cannot hold
		out["ood"] = y.OOD
	}
	if c := y.Class; c != nil {
		out[c.Target] = map[string]any{"class": c.Class, "probabilities": c.Probabilities}
	}
	for _, n := range y.Numbers {
		out[n.Target] = map[string]any{"mean": n.Mean, "std": n.Std, "lo": n.Lo, "hi": n.Hi, "variance": n.Variance}
	}
	return out
}

// A server that predicts single rows. All requests share the predictor.
func Example_http() {
	p, err := strength().NewPredictor(predict.Options{Interval: 0.9, MaxOOD: 1.5})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(handler(p))
	defer server.Close()
	for _, body := range []string{
		`{"temperature": 140, "temperature_std": 1, "minutes": 30, "resin": "birch"}`,
		`{"temperature": 140, "temperature_std": 1, "minutes": "long", "resin": "birch"}`,
	} {
		answer, err := http.Post(server.URL, "application/json", strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		fmt.Println(answer.Status)
	}
	// Output:
	// 200 OK
	// 422 Unprocessable Entity
}
