package fitpage

import (
	"testing"

	"utvi/fit"
	"utvi/internal/tabular"
	"utvi/predict"
)

// Members that stop after one look stand on an axis that begins at 0, and candidates are told apart by
// their numbers.
func TestTrainingCharts(t *testing.T) {
	curve := []tabular.Point{{Step: 156, Train: 1, Held: 1.2}}
	r := tabular.Report{Trials: []tabular.Trial{{Curve: curve}, {Candidate: tabular.Candidate{KL: 1}, Curve: curve}},
		Members: []tabular.Member{{Curve: curve, Steps: 156}}}
	charts := trainingCharts(&fit.Model{Model: &predict.Model{Net: &tabular.Fitted{Report: r}}})
	if x := charts[1].X; x.Min != 0 || x.Max < 156 {
		t.Errorf("the members' axis runs from %v to %v", x.Min, x.Max)
	}
	if a, b := charts[0].Traces[0].Name, charts[0].Traces[1].Name; a != "1" || b != "2" {
		t.Errorf("candidates are called %q and %q", a, b)
	}
}
