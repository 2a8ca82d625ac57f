package compute

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestSixteenRegisters sees that no kernel uses a vector register beyond the
// sixteenth: avo hands them out freely, but only AVX-512 has them.
func TestSixteenRegisters(t *testing.T) {
	files, _ := filepath.Glob("*_amd64.s")
	if len(files) == 0 {
		t.Fatal("no assembly")
	}
	beyond := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+)\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if r := beyond.Find(text); r != nil {
			t.Errorf("%s uses %s", file, r)
		}
	}
}
