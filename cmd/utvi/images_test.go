package main

import (
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"utvi/rng"
)

// barImage draws a bar, across or down, on noise, 14 wide and 12 high.
func barImage(i int, down bool) image.Image {
	im := image.NewGray(image.Rect(0, 0, 14, 12))
	key := rng.New(4).Sub(uint64(i), 0)
	at := int(rng.Uniform(key, 0) * 11)
	for y := range 12 {
		for x := range 14 {
			v := 90 * rng.Uniform(key, uint64(y*14+x)+1)
			if along := map[bool]int{true: x, false: y}[down]; along == at || along == at+1 {
				v += 120
			}
			im.SetGray(x, y, color.Gray{Y: byte(v)})
		}
	}
	return im
}

func writeImage(path string, im image.Image) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return png.Encode(f, im)
}

// inFolder runs the command in a folder, and returns all that it writes.
func inFolder(dir string, args ...string) (string, error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// bars is a folder with images, a table of them, and a model, made once.
var bars = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(binary), "bars")
	var list strings.Builder
	list.WriteString("picture,kind\n")
	for i := range 240 {
		down := i%2 == 1
		class := map[bool]string{true: "down", false: "across"}[down]
		name := fmt.Sprintf("%s/%d.png", class, i)
		if err := writeImage(filepath.Join(dir, "photos", name), barImage(i, down)); err != nil {
			return "", err
		}
		fmt.Fprintf(&list, "photos/%s,%s\n", name, class)
	}
	for path, text := range map[string]string{"list.csv": list.String(), "photos/down/bad.png": "not an image"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	if out, err := inFolder(dir, "fit", "photos", "--steps", "80", "--ensemble", "2", "--width", "4", "--augment", "none"); err != nil {
		return "", fmt.Errorf("%v: %s", err, out)
	}
	return dir, nil
})

// A folder is fitted; what cannot be read is named; the model predicts folders, files and tables, and
// all roads give the same numbers.
func TestImages(t *testing.T) {
	dir, err := bars()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"photos-report/report.html", "photos-report/fit.yaml", "photos-report/figures/confusion.png"} {
		if len(readFile(t, in(name))) < 100 {
			t.Errorf("%s is almost empty", name)
		}
	}
	page := string(readFile(t, in("photos-report/report.html")))
	for _, want := range []string{"Least certain.", "data:image/png;base64,", "turned by 45°", "Which pixels moved"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not show %s", want)
		}
	}
	model := in("photos.utvi")
	code, out, notes := utvi(t, "predict", model, in("photos"))
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != 0 || err != nil || len(rows) != 242 {
		t.Fatalf("%d, %d rows, %v: %s", code, len(rows), err, notes)
	}
	if got := strings.Join(rows[0], " "); got != "file class p_across p_down entropy class_var_weights class_doubt ood" {
		t.Errorf("the columns are %s", got)
	}
	if !strings.Contains(notes, "bad.png: it is no image that is known; known are png, jpeg") || !strings.Contains(notes, "1 of 241 rows is not predicted, because an image or another cell cannot be read") {
		t.Errorf("an image that cannot be read: %s", notes)
	}
	right := 0
	byFile := map[string][]string{}
	for _, row := range rows[1:] {
		byFile[row[0]] = row
		if strings.HasPrefix(row[0], row[1]+"/") {
			right++
		}
	}
	if bad := byFile["down/bad.png"]; bad == nil || strings.Join(bad[1:], "") != "" {
		t.Errorf("the image that cannot be read is predicted as %v", bad)
	}
	if code, _, notes := utvi(t, "predict", model, in("photos"), "--strict"); code == 0 || !strings.Contains(notes, "bad.png: it is no image that is known") {
		t.Errorf("--strict goes on behind an image that cannot be read: %d %s", code, notes)
	}
	if right < 220 {
		t.Errorf("%d of 240 images are told apart", right)
	}
	doubt, err := strconv.ParseFloat(rows[1][6], 64)
	if err != nil || !(doubt > 0 && doubt < 1) {
		t.Errorf("the doubt is %q", rows[1][6])
	}
	table := filepath.Join(dir, "new.csv")
	if err := os.WriteFile(table, []byte("file,id\nphotos/across/0.png,7\n"+in("photos/down/1.png")+",8\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, notes = utvi(t, "predict", model, table, "--keep", "id")
	if want := fmt.Sprintf("7,%s\n8,%s\n", strings.Join(byFile["across/0.png"][1:], ","), strings.Join(byFile["down/1.png"][1:], ",")); code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("%d, the table's rows are %q, want %q: %s", code, out, want, notes)
	}
	code, out, notes = utvi(t, "predict", model, in("photos/across/0.png"))
	if want := "0.png," + strings.Join(byFile["across/0.png"][1:], ",") + "\n"; code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("%d, one file is %q, want %q: %s", code, out, want, notes)
	}
}

// The other commands take the model, too.
func TestImageModel(t *testing.T) {
	dir, err := bars()
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "photos.utvi")
	if err := os.WriteFile(model, readFile(t, filepath.Join(dir, "photos.utvi")), 0o666); err != nil {
		t.Fatal(err)
	}
	photos := filepath.Join(dir, "photos")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"eval", model, photos}, "rows                 240"},
		{[]string{"eval", model, photos}, "trained with about"},
		{[]string{"inspect", model}, "12 × 14 pixels of 1"},
		{[]string{"inspect", model, "--networks"}, "conv2d"},
		{[]string{"export", model, "-o", filepath.Join(filepath.Dir(model), "photos.onnx")}, "operators"},
		{[]string{"calibrate", model, photos, "--method", "temperature,conformal"}, "Stored in"},
		{[]string{"verify", model, "--data", photos, "--networks", "20", "--rows", "4"}, "Standard deviation due to the weights"},
	} {
		code, out, notes := utvi(t, x.args...)
		if code != 0 || !strings.Contains(out+notes, x.want) {
			t.Errorf("%v: %d, want %s: %s%s", x.args[0], code, x.want, out, notes)
		}
	}
}

// A table names images from its own folder on; other columns are left alone.
func TestImageTable(t *testing.T) {
	dir, err := bars()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "kind.utvi")
	code, text, notes := utvi(t, "fit", filepath.Join(dir, "list.csv"), "--image", "picture", "--target", "kind", "--size", "8", "--steps", "10", "--ensemble", "1", "--width", "2", "--augment", "shift", "--out", out)
	if code != 0 || !strings.Contains(text, "8 × 8 pixels of 1") || !strings.Contains(notes, "images have 12 × 14 pixels; they are cut to their middle and resized to 8 × 8; use --size for another size") {
		t.Fatalf("%d: %s%s", code, text, notes)
	}
	code, text, notes = utvi(t, "predict", out, filepath.Join(dir, "photos/down/1.png"))
	if code != 0 || !strings.HasPrefix(text, "picture,kind,p_across") {
		t.Errorf("%d: %s%s", code, text, notes)
	}
}

// The part for testing is held out; images that it shares with the other part are told of.
func TestImageParts(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		down := i%2 == 1
		part := map[bool]string{true: "test", false: "train"}[i >= 30]
		path := filepath.Join(dir, "photos", part, map[bool]string{true: "b", false: "a"}[down], strconv.Itoa(i)+".png")
		if err := writeImage(path, barImage(i%38, down)); err != nil { // 38 and 39 repeat 0 and 1
			t.Fatal(err)
		}
	}
	code, text, notes := utvi(t, "fit", filepath.Join(dir, "photos"), "--steps", "10", "--ensemble", "1", "--width", "2", "--augment", "none", "--out", filepath.Join(dir, "m.utvi"), "--report", "none")
	if code != 0 || !strings.Contains(text, "30 rows") || !strings.Contains(text, "Scores on 10 held-out rows") {
		t.Fatalf("%d: %s%s", code, text, notes)
	}
	for _, want := range []string{"2 of 10 held-out images are also among those learned from", "class a has 15 images to learn from"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no word of %q: %s", want, notes)
		}
	}
}

// What cannot be fitted is refused in a sentence, and nothing is written.
func TestImagesRefused(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one/cat/1.png", "one/cat/2.png", "flat/1.png", "few/a/1.png", "few/b/2.png"} {
		if err := writeImage(filepath.Join(dir, name), barImage(1, true)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		if err := writeImage(filepath.Join(dir, "two", []string{"a", "b"}[i%2], strconv.Itoa(i)+".png"), barImage(i, true)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"none/notes.txt": "x", "list.csv": "file,kind\nmissing.png,a\n" + strings.Repeat("gone.png,b\n", 30)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct{ args, want string }{
		{"fit none", "cannot read none: it is a folder without images (PNG, JPEG, GIF, BMP, WebP or TIFF)"},
		{"fit flat", "flat has images, but no subfolders with images: put the images of each class into a subfolder"},
		{"fit one", "one has images of one class only, cat: at least 2 are needed"},
		{"fit few", "few has too few rows: 2; at least"},
		{"fit flat/1.png", "flat/1.png is one image; name a folder"},
		{"fit one --target kind", "one is a folder, whose images and classes are found by themselves"},
		{"fit one --size 5", "the size is 5; it must be 8 to 1024 pixels"},
		{"fit one --size big", "--size takes a number of pixels"},
		{"fit one --augment all", "choose from none, shift, photo"},
		{"fit one --normalise 0:1", "normalise says what a network to start from takes, but there is none"},
		{"fit two --from gone.onnx", "gone.onnx: no such file"},
		{"fit two --from two/a/0.png", "cannot read two/a/0.png: not a safetensors file"},
		{"fit one --folds 5", "--folds is for small tables"},
		{"fit list.csv --image file --target kind", "list.csv: no image can be read, the first because cannot read missing.png: no such file"},
		{"fit list.csv --image path --target kind", "list.csv has no column path, which is named as image"},
		{"fit list.csv --target kind --augment none", "there are settings for images, but no column names any"},
	} {
		cmd := append(strings.Fields(x.args), "--out", "m.utvi")
		out, err := inFolder(dir, cmd...)
		if err == nil || !strings.Contains(out, x.want) || strings.Contains(out, "goroutine") {
			t.Errorf("%s: %v, %q, want %s", x.args, err, out, x.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "m.utvi")); err == nil {
			t.Errorf("%s wrote a model", x.args)
		}
	}
}
