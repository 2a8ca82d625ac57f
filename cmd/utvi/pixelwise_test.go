package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/rng"
)

// ramp draws a bright half on noise, its clean image, and the classes of its pixels.
func ramp(i int) (noisy, clean, classes *image.Gray) {
	all := [3]*image.Gray{}
	for k := range all {
		all[k] = image.NewGray(image.Rect(0, 0, 10, 9))
	}
	key := rng.New(4).Sub(uint64(i), 1)
	edge := 2 + int(6*rng.Uniform(key, 99))
	for at := range all[0].Pix {
		bright := at%10 >= edge
		level := map[bool]float64{true: 180, false: 70}[bright]
		all[0].Pix[at] = byte(level + 20*max(-3, min(3, rng.Normal(key, uint64(at)))))
		all[1].Pix[at] = byte(level) + byte(i%20) // more greys than classes may have
		all[2].Pix[at] = map[bool]byte{true: 200, false: 3}[bright]
	}
	return all[0], all[1], all[2]
}

// Pairs of a table and of arrays are learned, predicted into a folder, scored and calibrated, with the
// same numbers by both roads.
func TestTargetImages(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const n = 80
	var list strings.Builder
	list.WriteString("noisy,clean,classes\n")
	arrays := map[string][]byte{}
	for i := range n {
		noisy, clean, classes := ramp(i)
		for name, im := range map[string]*image.Gray{"noisy": noisy, "clean": clean, "classes": classes} {
			if err := writeImage(at(fmt.Sprintf("%s/%d.png", name, i)), im); err != nil {
				t.Fatal(err)
			}
			arrays[name] = append(arrays[name], im.Pix...)
		}
		fmt.Fprintf(&list, "noisy/%d.png,clean/%d.png,classes/%d.png\n", i, i, i)
	}
	for name, text := range map[string]string{"list.csv": list.String(), "bad.csv": list.String() + "noisy/1.png,gone.png,gone.png\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range arrays {
		writeNpy(t, at(name+".npy"), fmt.Sprintf("%d, 9, 10", n), v)
	}
	quick := []string{"--steps", "40", "--ensemble", "1", "--width", "4", "--augment", "mirror"}
	fit := func(args ...string) string {
		t.Helper()
		code, out, notes := utvi(t, append(append([]string{"fit"}, args...), quick...)...)
		if code != 0 {
			t.Fatalf("%v: %d, %s%s", args, code, out, notes)
		}
		return out + notes
	}
	if out := fit(at("bad.csv"), "--image", "noisy", "--target-image", "clean", "--out", at("a.utvi")); !strings.Contains(out, "gone.png") || !strings.Contains(out, "90 % intervals cover") {
		t.Errorf("of numbers: %s", out)
	}
	if len(readFile(t, at("a-report/report.html"))) < 5000 {
		t.Error("the report is almost empty")
	}
	if out := fit(at("noisy.npy"), "--target-image", at("classes.npy"), "--rate", "0.02", "--out", at("b.utvi"), "--report", "none"); !strings.Contains(out, "one of 2 classes: 3 200") || !strings.Contains(out, "IoU of 200") {
		t.Errorf("of classes: %s", out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"predict", at("a.utvi"), at("list.csv"), "-o", at("p1")}, "NAME_mean.png"},
		{[]string{"predict", at("a.utvi"), at("noisy.npy"), "-o", at("p2")}, "std_weights.npy"},
		{[]string{"predict", at("b.utvi"), at("noisy"), "-o", at("p3")}, "NAME_class.png"},
		{[]string{"eval", at("a.utvi"), at("list.csv"), "--report", at("scored")}, "fifths of std"},
		{[]string{"eval", at("a.utvi"), at("noisy.npy"), "--targets", at("clean.npy"), "--json"}, "cover90"},
		{[]string{"eval", at("b.utvi"), at("noisy.npy"), "--targets", at("classes.npy")}, "IoU of 3"},
		{[]string{"calibrate", at("a.utvi"), at("list.csv")}, "Stored in"},
		{[]string{"inspect", at("a.utvi")}, "each pixel is a number"},
	} {
		code, out, notes := utvi(t, c.args...)
		if code != 0 || !strings.Contains(out+notes, c.want) {
			t.Errorf("%v: %d, %s%s", c.args, code, out, notes)
		}
	}
	if page := string(readFile(t, at("scored/report.html"))); !strings.Contains(page, "data:image/png;base64,") || !strings.Contains(page, "others scored") {
		t.Error("the page of an evaluation shows no images")
	}
	if !bytes.Equal(readFile(t, at("p1/mean.npy")), readFile(t, at("p2/mean.npy"))) {
		t.Error("files and an array are predicted differently")
	}
	im, err := png.Decode(bytes.NewReader(readFile(t, at("p3/7_class.png"))))
	if err != nil {
		t.Fatal(err)
	}
	_, _, want := ramp(7)
	right := 0
	for k, v := range want.Pix {
		if im.At(k%10, k/10).(color.Gray).Y == v {
			right++
		}
	}
	if right < 75 {
		t.Errorf("%d of 90 pixels have their class", right)
	}
}

// What cannot be learned or written is refused in a sentence.
func TestTargetImagesRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var list strings.Builder
	list.WriteString("a,b,other\n")
	for i := range 30 {
		noisy, _, _ := ramp(i)
		if err := writeImage(at(fmt.Sprintf("%d.png", i)), noisy); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%d.png,%d.png,large.png\n", i, i)
	}
	if err := writeImage(at("large.png"), barImage(1, true)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("list.csv"), []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	writeNpy(t, at("x.npy"), "4, 9, 10", make([]byte, 360))
	writeNpy(t, at("y.npy"), "3, 9, 10", make([]byte, 270))
	for _, c := range []struct{ args, want string }{
		{"list.csv --target-image b", "--image and --target-image name two columns"},
		{"list.csv --image a --target-image b --target c", "--target belongs to models of classes and numbers"},
		{"list.csv --image a --target-image c", "list.csv has no column c"},
		{"list.csv --image a --target-image other", "0.png has 9 × 10 pixels, its target large.png 12 × 14"},
		{"list.csv --image a --target-image b --task classification", "have more than 64 colours, so that they are no classes"},
		{". --target-image b", "--target-image needs a table"},
		{"x.npy --target-image y.npy", "x.npy has 4 images, y.npy has 3"},
		{"x.npy --target-image x.npy", "x.npy has 4 pairs of images; at least"},
	} {
		out, err := inFolder(dir, append([]string{"fit", "--out", "m.utvi"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(out, c.want) || strings.Contains(out, "goroutine") {
			t.Errorf("%s: %v, %s; want %s", c.args, err, out, c.want)
		}
		if _, err := os.Stat(at("m.utvi")); err == nil {
			t.Errorf("%s wrote a model", c.args)
		}
	}
}
