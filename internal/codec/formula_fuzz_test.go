package codec_test

import (
	"encoding/json"
	"testing"

	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/nn"
	"utvi/vi"
)

// FuzzFormulaInFile: whatever a file holds in the place of a function, reading it ends
// in an error or in a layer that can be bound, run and written again.
func FuzzFormulaInFile(f *testing.F) {
	for _, s := range []string{"tanh", "x/(1+x^2)", "a*tanh(b*x); a = 1; b = learned 0.5", "a*x; a = [1, 2, 3]",
		"max(x, a); a = learned per unit 0.1", "2x", "((((", "x^1e9", "abs(sin(100*x))", "\x00", "elu(1)", "leaky-relu(NaN)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := json.Marshal(text)
		if err != nil {
			return
		}
		l, err := codec.Unmarshal([]byte(`{"kind":"apply","f":`+string(name)+`,"rule":"ut(2)"}`), codec.Library{})
		if err != nil {
			return
		}
		data, err := codec.Marshal(l)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		if _, err := codec.Unmarshal(data, codec.Library{}); err != nil {
			t.Fatalf("%q, written %s, is not read: %v", text, data, err)
		}
		b := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: nn.Vec(3), Form: nn.Independent, Name: "layer", Train: true}
		u, err := nn.Bind(l, b)
		if err != nil {
			return // as many values as units, for one
		}
		b.Params.Alloc()
		b.Params.AllocGrads()
		r := u.NewRunner(2, true)
		p := &nn.Pass[float32]{In: gauss.New[float32](2, 3), Out: gauss.New[float32](2, 3), DIn: gauss.New[float32](2, 3),
			DOut: gauss.New[float32](2, 3), Tape: make([]float32, 2*u.TapeWidth())}
		r.Forward(p)
		r.Backward(p)
		for i := range u.GradTiles() {
			r.Gradient(i, []nn.Block[float32]{{Rows: 2, Tape: p.Tape}})
		}
	})
}
