package oip

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

// The generated files belong to oip.proto as it is.
func TestGenerated(t *testing.T) {
	text, err := os.ReadFile("oip.proto")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != source {
		t.Errorf("oip.proto changed: run go generate and set source to %s", got)
	}
}
