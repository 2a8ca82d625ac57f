package predict_test

import (
	"encoding/json"
	"fmt"
	"log"
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
		n := y.Numbers[0]
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"mean": n.Mean, "std": n.Std, "lo": n.Lo, "hi": n.Hi,
			"variance": n.Variance, "unfamiliar": y.Unfamiliar, "abstain": y.Abstain,
		})
	}
}

// A server that predicts single rows. All requests share the predictor.
func Example_http() {
	p, err := strength().NewPredictor(predict.Options{Interval: 0.9, MaxUnfamiliar: 1.5})
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
