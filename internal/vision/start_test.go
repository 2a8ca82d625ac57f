package vision

import (
	"context"
	"strings"
	"testing"

	"utvi/internal/advice"
	"utvi/internal/tabular"
)

// A training that starts from a network knows what that has learned, after a few steps; a last layer of
// other classes, or of numbers, is learned anew.
func TestFrom(t *testing.T) {
	d := barData(300)
	c := short()
	c.Augment = "none"
	c.Network.Steps = 150
	c.Network.Ensemble = 1
	learned, err := Fit(context.Background(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var said string
	few := Config{Seed: 5, Augment: "none", Network: tabular.Config{Steps: 8, Ensemble: 1, Batch: 32}, From: learned.Members.Members[0], Note: func(s advice.Sentence) { said = s.String() }}
	r, err := Fit(context.Background(), few, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if said != "" || r.Report.Score < learned.Report.Score-0.1 || r.Report.Members[0].Width != 0 {
		t.Errorf("%s: the score is %v, was %v", said, r.Report.Score, learned.Report.Score)
	}
	if a, b := len(r.Members.Members[0].Params.Tensors), len(learned.Members.Members[0].Params.Tensors); a != b {
		t.Errorf("%d tensors, were %d", a, b)
	}
	more := d
	more.Classes = 3
	more.Y = nil
	for i := range 300 {
		more.Y = append(more.Y, float32(i%2+i/2%2*(i%2)))
	}
	if _, err := Fit(context.Background(), few, more, "", nil); err != nil || !strings.Contains(said, "is learned anew: its outputs are not these classes") {
		t.Errorf("%s, %v", said, err)
	}
	few.Network.Batch = 16
	numbers := d
	numbers.Classes = 0
	if _, err := Fit(context.Background(), few, numbers, "", nil); err != nil || !strings.Contains(said, "is learned anew: numbers need error bars") {
		t.Errorf("%s, %v", said, err)
	}
	known := d
	known.Known = Known{Behind: 1, X: make([]float32, 300)}
	if _, err := Fit(context.Background(), few, known, "", nil); err != nil || !strings.Contains(said, "other columns are to be heard, too") {
		t.Errorf("%s, %v", said, err)
	}
	few.Network.Width = 3
	if _, err := Fit(context.Background(), few, d, "", nil); err == nil || !strings.Contains(err.Error(), "the network to start from has its own") {
		t.Error(err)
	}
	few.Network.Width = 0
	if _, err := Fit(context.Background(), few, blobData(200), "", nil); err == nil || !strings.Contains(err.Error(), "the images are 8×8×1") {
		t.Error(err)
	}
	mirrored := d
	mirrored.Y = nil
	for _, y := range d.Y {
		mirrored.Y = append(mirrored.Y, 1-y)
	}
	if _, err := Fit(context.Background(), few, mirrored, "", nil); err != nil || !strings.Contains(said, "no better than chance") {
		t.Errorf("%s, %v", said, err)
	}
}
