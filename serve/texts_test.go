package serve

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// A text means what it means to other readers of JSON, wherever its escapes stand.
func TestTexts(t *testing.T) {
	parts := []string{"a", "birch", " ", "é", "木", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\u6728`, `\ud83d\ude00`, `\ud83d`, `\t`, "😀"}
	random := rand.New(rand.NewPCG(29, 1))
	for range 2000 {
		text := `"`
		for range random.IntN(6) {
			text += parts[random.IntN(len(parts))]
		}
		text += `"`
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(text, err)
		}
		s := &scanner{s: []byte(text)}
		s.next()
		got, err := s.text()
		if err == nil {
			err = s.end()
		}
		if err != nil || string(got) != want {
			t.Errorf("%s is read as %q, want %q (%v)", text, got, want, err)
		}
	}
}

// The room of a stream holds what its client may send before anything else is accounted.
func TestWindowHoldsTheHeader(t *testing.T) {
	if windowMemory < window+2*mostHeader {
		t.Errorf("a stream has %d bytes for a window of %d and a header of %d, as it came and decoded", windowMemory, window, mostHeader)
	}
}
