package modelpage

import (
	"strings"
	"testing"

	"utvi/internal/browser"
)

func TestFolder(t *testing.T) {
	all, err := Folder("m", []byte("model"))
	if !browser.HasProgram() {
		if err == nil || !strings.Contains(err.Error(), "go build -tags page") {
			t.Errorf("a build without the program says %v", err)
		}
		return
	}
	if err != nil || len(all) != 10 || strings.Contains(string(all["index.html"]), "module") {
		t.Errorf("%d files, %v", len(all), err)
	}
}
