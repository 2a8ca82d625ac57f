package fitpage

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/fit"
	"utvi/internal/advice"
	"utvi/internal/tabular"
	"utvi/table"
)

// A histogram of levels says how often central intervals hold: of levels that all lie
// in the middle half, half are in the interval of 25 %, all in that of 50 %.
func TestCoverage(t *testing.T) {
	pit := make([]float64, 1000)
	for i := 250; i < 750; i++ {
		pit[i] = 1.0 / 500
	}
	nominal, observed := coverage(pit)
	if len(nominal) != 51 || len(observed) != 51 {
		t.Fatalf("%d and %d points, want 51", len(nominal), len(observed))
	}
	for i, p := range nominal {
		if want := min(1, 2*p); math.Abs(p-float64(i)/50) > 1e-12 || math.Abs(observed[i]-want) > 1e-9 {
			t.Errorf("%v covers %v, want %v", p, observed[i], want)
		}
	}
}

func TestPages(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,u,kind,y\n")
	for i := range 300 {
		x := float64(i%100)/50 - 1
		fmt.Fprintf(&b, "%g,%d,%s,%g\n", x, i*7%13, []string{"low", "high"}[i%100/50], x*x+0.1*float64(i%7))
	}
	r, err := table.NewReader(strings.NewReader(b.String()), "t.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	quick := tabular.Config{Ensemble: 2, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 60, Batch: 64}
	for _, target := range []string{"kind", "y"} {
		result, err := fit.Run(t.Context(), f, fit.Config{Targets: []string{target}, Network: quick}, fit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		result.Warnings = []fit.Warning{advice.Plain("column u looks odd")}
		if target == "kind" {
			result.CrossValidation = result.Evaluation
		}
		if err := Save(dir, result); err != nil {
			t.Fatal(err)
		}
		e, err := result.Model.Evaluate(t.Context(), f.Rows(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := SaveEvaluation(filepath.Join(dir, "eval"), e, result.Model); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"report.html", "metrics.json", "fit.yaml", "figures/training.png", "figures/dependence.png", "eval/report.html", "eval/metrics.json"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		if err != nil || !strings.Contains(string(page), "Predicting "+target) {
			t.Errorf("the page of %s: %v", target, err)
		}
		for _, text := range map[string][]string{
			"kind": {"Column u looks odd.", "Cross-validation", ">precision<", ">high<", "accuracy of the most frequent class", "expected by chance"},
			"y":    {"Column u looks odd.", "R²", "RMSE of the mean", "its best score can differ"},
		}[target] {
			if !strings.Contains(string(page), text) {
				t.Errorf("the page of %s does not say %q", target, text)
			}
		}
		yaml, err := os.ReadFile(filepath.Join(dir, "fit.yaml"))
		if err != nil || !strings.Contains(string(yaml), "rate: 0 # 0.005") || !strings.Contains(string(yaml), "steps: 60\n") {
			t.Errorf("%s, %v", yaml, err)
		}
	}
}
