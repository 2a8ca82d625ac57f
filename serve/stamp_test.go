package serve

import (
	"os"
	"path/filepath"
	"testing"
)

// What was missing when it was looked at is not loaded when it comes a moment later: it would be
// tried again at the next look.
func TestMissingFilesAreNotLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	seen := stampOf(path)
	if err := os.WriteFile(path, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := seen.load(Source{Path: path}, nil)
	if err == nil || err.Error() != seen.err {
		t.Errorf("%v, want %s", err, seen.err)
	}
	if stampOf(path).same(seen) {
		t.Error("the file that came is not seen")
	}
}
