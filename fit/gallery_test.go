package fit

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"utvi/internal/pixels"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/table"
	_ "utvi/table/images"
)

// shots is a table of grey images of 12 × 12 pixels, as bright as their number says, with lines
// of more of them. Some files are copies of others, some are damaged.
func shots(t *testing.T, n, copies int, damaged []int, line func(i int, name string) string) *table.Frame {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("shot,load,kind,part\n")
	for i := range n {
		im := image.NewRGBA(image.Rect(0, 0, 12, 12))
		for k := range 144 {
			v := byte(40*(i%5) + k*(i%(n-copies)+3)*7%61*40/61)
			im.SetRGBA(k%12, k/12, color.RGBA{v, v / 2, 255 - v, 255})
		}
		var file bytes.Buffer
		if err := png.Encode(&file, im); err != nil {
			t.Fatal(err)
		}
		data := file.Bytes()
		for _, d := range damaged {
			if d == i {
				data = []byte("no image")
			}
		}
		name := fmt.Sprintf("%d.png", i)
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		b.WriteString(line(i, name) + "\n")
	}
	r, err := table.NewReader(strings.NewReader(b.String()), filepath.Join(dir, "a.csv"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// shot is a line of such a table; the last images are for testing.
func shot(i int, name string) string {
	return fmt.Sprintf("%s,%g,%s,%s", name, float64(i%5)*2.5, []string{"dim", "dark", "grey", "light", "white"}[i%5], []string{"train", "test"}[i/50])
}

var quickImages = tabular.Config{Ensemble: 1, Steps: 40, Width: 2}

func hasWarning(all []Warning, want string) bool {
	for _, w := range all {
		if strings.Contains(w.String(), want) {
			return true
		}
	}
	return false
}

// A fit of images to numbers leaves out what cannot be read, says so, and shows the images that it
// is wrong about, in the target's unit.
func TestImagesOfNumbers(t *testing.T) {
	f := shots(t, 60, 5, []int{1, 2, 3, 51}, shot)
	var told []string
	columns := 0
	r, err := Run(t.Context(), f, Config{Targets: []string{"load"}, Ignore: []string{"kind"}, Network: quickImages, Images: ImageConfig{Column: "shot", Part: "part", Augment: "none", Size: []int{8}}},
		Options{Warn: func(w Warning) { told = append(told, w.String()) }, Schema: func(*schema.Schema) { columns++ }})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(told) != fmt.Sprint(r.Warnings) || columns != 1 {
		t.Errorf("told %q, the warnings are %q", told, r.Warnings)
	}
	for _, want := range []string{
		"images have 12 × 12 pixels; they are cut to their middle and resized to 8 × 8; set size for another size",
		"left out: 1 more images that cannot be read", "1.png", "3.png",
		"2 of 9 held-out images are also among those learned from, pixel by pixel; the scores may be too good",
	} {
		if !hasWarning(r.Warnings, want) {
			t.Errorf("%q is not among %q", want, r.Warnings)
		}
	}
	if hasWarning(r.Warnings, "51.png") || hasWarning(r.Warnings, "stand for classes") {
		t.Errorf("the warnings are %q", r.Warnings)
	}
	m := r.Model
	if m.Facts.Rows != 47 || m.Facts.SetAside != 4 || r.Evaluation.Rows != 9 || m.Inputs() != 3*64 || m.Histograms == nil || len(m.Sketch) == 0 || m.Memory != nil {
		t.Errorf("%+v, %d rows are scored by %d inputs", m.Facts, r.Evaluation.Rows, m.Inputs())
	}
	shown := r.Insight.Pictures
	var titles []string
	text := regexp.MustCompile(`^[0-9.e+-]+, predicted -?[0-9.e+-]+ ± [0-9.e+-]+$`)
	for _, s := range shown.Sheets {
		titles = append(titles, s.Title)
		for _, im := range s.Images {
			if !text.MatchString(im.Text) || len(im.Pix) != 3*64 {
				t.Errorf("%s shows %q of %d numbers", s.Title, im.Text, len(im.Pix))
			}
		}
	}
	if got := strings.Join(titles, " "); got != "Farthest off. Least certain. Most certain. Which pixels moved the prediction." || !strings.Contains(shown.Sheets[3].Caption, "Red pixels made the first target larger") {
		t.Errorf("the sheets are %s: %s", got, shown.Sheets[3].Caption)
	}
	var stds []string // from the least certain image to the most certain
	for _, im := range shown.Sheets[1].Images {
		stds = append(stds, im.Text[strings.Index(im.Text, "±"):])
	}
	most := shown.Sheets[2].Images
	for i := range most {
		stds = append(stds, most[len(most)-1-i].Text[strings.Index(most[len(most)-1-i].Text, "±"):])
	}
	if !slices.IsSortedFunc(stds, func(a, b string) int { return strings.Compare(b, a) }) || len(stds) != 9 {
		t.Errorf("from the least certain image to the most certain: %s", stds)
	}
	heat := shown.Sheets[3].Images[0].Heat
	largest := 0.0
	for _, v := range heat {
		largest = max(largest, math.Abs(float64(v)))
	}
	if len(heat) != 64 || largest != 1 {
		t.Errorf("%d pixels moved the prediction by up to %g", len(heat), largest)
	}
	same := shown.Shifts[0]
	if n := r.Evaluation.Targets[0].Numbers; shown.Images != 9 || math.Abs(same.RMSE[0]-n.RMSE.Value) > 1e-4*n.RMSE.Value || math.Abs(same.Std[0]-n.Sharpness) > 1e-3*n.Sharpness || math.Abs(same.Cover90[0]-n.Intervals[1].Coverage) > 1e-9 {
		t.Errorf("as they are, the images have %+v, but %+v", same, n)
	}
	for _, s := range shown.Shifts {
		if !(s.RMSE[0] > 0 && s.Std[0] > 0 && s.Cover90[0] >= 0 && s.Cover90[0] <= 1+1e-9) {
			t.Errorf("%+v", s)
		}
	}
}

// Classes with few images, and numbers that may be classes, are told of; a class that only the
// held-out images have is refused.
func TestImagesOfFewClasses(t *testing.T) {
	whole := func(i int, name string) string { return fmt.Sprintf("%s,%d,%s,train", name, i%5, "k") }
	f := shots(t, 60, 0, nil, whole)
	g := &gallery{parted: parted{frame: f}}
	c := Config{Targets: []string{"load"}, Images: ImageConfig{Column: "shot"}}
	for i := range 60 {
		g.train = append(g.train, i)
	}
	g, err := openGallery(g.parted, c, pool(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.columns(c)
	if err != nil {
		t.Fatal(err)
	}
	g.fewOfClass(s)
	if !hasWarning(g.warnings, "the target load has whole numbers from 0 to 4 and is predicted as a number; if they stand for classes, set task to classification") || len(g.warnings) != 1 {
		t.Errorf("%q", g.warnings)
	}
	c.Task = "classification"
	s, err = g.columns(c)
	if err != nil {
		t.Fatal(err)
	}
	g.warnings = nil
	g.fewOfClass(s)
	if len(g.warnings) != 5 || !hasWarning(g.warnings, "class 0 has 12 images to learn from; its probabilities will be rough") {
		t.Errorf("%q", g.warnings)
	}
	for n, want := range map[int]int{19: 1, 20: 0} {
		g.warnings = nil
		t0 := &s.Columns[1]
		t0.Counts = []int{n, 20, 20, 20, 20}
		g.fewOfClass(s)
		if len(g.warnings) != want {
			t.Errorf("%d images of a class: %q", n, g.warnings)
		}
	}
	if pictures(1) != "1 image" || pictures(2) != "2 images" {
		t.Error(pictures(1), pictures(2))
	}
}

// Tables whose images cannot be used are refused in one sentence.
func TestImagesRefused(t *testing.T) {
	all := make([]int, 20)
	for i := range all {
		all[i] = i
	}
	lone := func(i int, name string) string {
		return fmt.Sprintf("%s,%d,k%d,%s", name, i, i/10, []string{"train", "test"}[i/10])
	}
	train := func(i int, name string) string { return fmt.Sprintf("%s,%d,k%d,train", name, i, i%2) }
	for _, c := range []struct {
		f      *table.Frame
		target string
		images ImageConfig
		want   string
	}{
		{shots(t, 20, 0, all, train), "load", ImageConfig{Column: "shot"}, "a.csv: no image can be read, the first because "},
		{shots(t, 20, 0, nil, train), "load", ImageConfig{Column: "shoot"}, "a.csv has no column shoot, which is named as image"},
		{shots(t, 20, 0, nil, train), "load", ImageConfig{Column: "shot", Part: "parts"}, "a.csv has no column parts, which is named as part"},
		{shots(t, 20, 0, nil, train), "load", ImageConfig{Column: "shot", Part: "part"}, "a.csv: 20 images to learn from and 0 to test with; both are needed"},
		{shots(t, 20, 0, nil, lone), "kind", ImageConfig{Column: "shot", Part: "part"}, "a.csv: a class of the images held out is not among those to learn from; every class needs images of both"},
	} {
		_, err := Run(t.Context(), c.f, Config{Targets: []string{c.target}, Network: quickImages, Images: c.images}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", c.images, err, c.want)
		}
	}
	for _, c := range []struct {
		images ImageConfig
		want   string
	}{
		{ImageConfig{}, ""},
		{ImageConfig{Column: "a", Size: []int{8}}, ""},
		{ImageConfig{Column: "a", Size: []int{8, pixels.MostSide}, Augment: "shift"}, ""},
		{ImageConfig{Column: "a", Size: []int{8, 8, 8}}, "the size has 3 numbers; it is one side, or height and width"},
		{ImageConfig{Column: "a", Size: []int{8, 7}}, "the size is 7; it must be 8 to 1024 pixels"},
		{ImageConfig{Column: "a", Size: []int{pixels.MostSide + 1}}, "the size is 1025; it must be 8 to 1024 pixels"},
		{ImageConfig{Column: "a", Augment: "all"}, "all"},
		{ImageConfig{Part: "p"}, "there are settings for images, but no column names any"},
		{ImageConfig{Size: []int{8}}, "there are settings for images, but no column names any"},
		{ImageConfig{Stretch: true}, "there are settings for images, but no column names any"},
		{ImageConfig{Augment: "none"}, "there are settings for images, but no column names any"},
	} {
		err := Config{Targets: []string{"y"}, Images: c.images}.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.images, err, c.want)
		}
	}
}
