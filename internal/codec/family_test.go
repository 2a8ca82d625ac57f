package codec_test

import (
	"fmt"
	"testing"

	"utvi/internal/call"
	"utvi/internal/codec"
	"utvi/moment"
	"utvi/nn"
)

// gain is a family of maps as a program would write one: y = a·x + b in both units.
func gain(numbers []float64) (*moment.Map, error) {
	if len(numbers) != 2 {
		return nil, fmt.Errorf("a gain takes two numbers, not %d", len(numbers))
	}
	return &moment.Map{Name: call.Format("gain", numbers...), Family: "gain", In: 2, Out: 2, F: func(x, y []float64) {
		y[0] = numbers[0]*x[0] + numbers[1]
		y[1] = numbers[0]*x[1] + numbers[1]
	}}, nil
}

// A map of a family is written by its name alone, and made from it again.
func TestFamiliesOfMaps(t *testing.T) {
	var lib codec.Library
	if err := lib.AddMaps("gain", gain); err != nil {
		t.Fatal(err)
	}
	wants(t, lib.AddMaps("gain", gain), `two map makers have the name "gain"`)
	m, err := gain([]float64{2, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	text, err := codec.Marshal(nn.Joint{Map: m})
	if want := `{"kind":"joint","map":"gain(2,0.5)","rule":"fifth"}`; err != nil || string(text) != want {
		t.Fatalf("%s, %v; want %s", text, err, want)
	}
	l, err := codec.Unmarshal(text, lib)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := codec.Marshal(l); string(again) != string(text) {
		t.Errorf("%s, then %s (%v)", text, again, err)
	}
	for text, want := range map[string]string{
		`{"kind":"joint","map":"gain"}`:         "a gain takes two numbers, not 0",
		`{"kind":"joint","map":"gain(2,0.50)"}`: `the map "gain(2,0.50)" must be written "gain(2,0.5)"`,
	} {
		_, err := codec.Unmarshal([]byte(text), lib)
		wants(t, err, want)
	}
	m.Name = "loss(2,0.5)"
	_, err = codec.Marshal(nn.Joint{Map: m})
	wants(t, err, `a map has the name "loss(2,0.5)" and the family "gain"; its name must be its family with numbers behind, such as gain(2,0.5)`)
}
