package predict_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A program that predicts links no plotting, no fonts, no Parquet, no YAML; one that
// fits links YAML, for its settings.
func TestLight(t *testing.T) {
	for pkg, heavy := range map[string][]string{
		"utvi/predict": {"plot", "font", "parquet", "yaml", "html", "image", "net/http", "utvi/internal/report"},
		"utvi/fit":     {"plot", "font", "parquet", "image", "utvi/internal/report"},
	} {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Skipf("go list does not run here: %v", err)
		}
		for _, dep := range strings.Fields(string(out)) {
			for _, h := range heavy {
				if strings.Contains(dep, h) {
					t.Errorf("%s imports %s", pkg, dep)
				}
			}
		}
	}
}
