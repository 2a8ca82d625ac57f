package serve_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"utvi/serve"
)

// The metadata of a model list the inputs that it needs, no targets, and all that it answers.
func TestSignatures(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	for model, want := range map[string]string{
		"strength": "temperature FP64 [-1], temperature_std FP64 [-1], minutes FP64 [-1], resin BYTES [-1] → mean FP64 [-1 1], std FP64 [-1 1], lo FP64 [-1 1], hi FP64 [-1 1], " +
			"var_weights FP64 [-1 1], var_inputs FP64 [-1 1], var_noise FP64 [-1 1], ood FP64 [-1], abstain BOOL [-1]",
		"net": "inputs FP32 [-1 3] → mean FP64 [-1 2], std FP64 [-1 2], lo FP64 [-1 2], hi FP64 [-1 2], " +
			"var_weights FP64 [-1 2], var_inputs FP64 [-1 2], var_noise FP64 [-1 2], abstain BOOL [-1]",
	} {
		code, _, text := r.send("GET", "/v2/models/"+model, "")
		var got struct {
			Inputs, Outputs []struct {
				Name, Datatype string
				Shape          []int
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || code != 200 {
			t.Fatalf("%d %s %v", code, text, err)
		}
		told := ""
		for i, in := range got.Inputs {
			if i > 0 {
				told += ", "
			}
			told += fmt.Sprint(in.Name, " ", in.Datatype, " ", in.Shape)
		}
		told += " → "
		for i, out := range got.Outputs {
			if i > 0 {
				told += ", "
			}
			told += fmt.Sprint(out.Name, " ", out.Datatype, " ", out.Shape)
		}
		if told != want {
			t.Errorf("%s:\n got %s\nwant %s", model, told, want)
		}
	}
}
