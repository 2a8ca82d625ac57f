package pixels

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/internal/compute"
)

// Package files imports this one, so that its tests cannot import it.
func init() {
	Register(Codec{Name: "png", Is: func(b []byte) bool { return bytes.HasPrefix(b, []byte("\x89PNG")) }, Decode: func(b []byte) (*Image, error) {
		from, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		grey := from.(*image.Gray)
		im := &Image{Height: grey.Rect.Dy(), Width: grey.Rect.Dx(), Channels: 1, Bytes: true}
		for _, v := range grey.Pix {
			im.Pix = append(im.Pix, OfByte(v))
		}
		return im, nil
	}})
}

func encode64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// drop writes an image of one grey, 4 × 4, to a file.
func drop(t *testing.T, path string, grey byte) []byte {
	t.Helper()
	im := image.NewGray(image.Rect(0, 0, 4, 4))
	for i := range im.Pix {
		im.Pix[i] = grey
	}
	im.SetGray(0, 0, color.Gray{Y: 255 - grey})
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Subfolders are classes or parts; what is no image is counted.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) { drop(t, filepath.Join(dir, name), 9) }
	for _, name := range []string{"a/cat/1.png", "a/cat/deep/2.PNG", "a/dog/1.png", "a/lone.png", "a/.hidden/3.png",
		"b/train/cat/1.png", "b/val/cat/2.png", "b/test/dog/3.png", "c/Train/x/1.png", "c/valid/x/2.png", "d/train/1.png", "d/plane/1.png"} {
		write(name)
	}
	if err := os.WriteFile(filepath.Join(dir, "a/cat/notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		folder string
		parted bool
		others int
		want   []File
	}{
		{"a", false, 1, []File{{"cat/1.png", "cat", false}, {"cat/deep/2.PNG", "cat", false}, {"dog/1.png", "dog", false}, {"lone.png", "", false}}},
		{"b", true, 0, []File{{"test/dog/3.png", "dog", true}, {"train/cat/1.png", "cat", false}, {"val/cat/2.png", "cat", false}}},
		{"c", true, 0, []File{{"Train/x/1.png", "x", false}, {"valid/x/2.png", "x", true}}},
		{"d", false, 0, []File{{"plane/1.png", "plane", false}, {"train/1.png", "train", false}}}, // a class that is called train
	} {
		got, err := Find(filepath.Join(dir, x.folder))
		if err != nil {
			t.Fatal(err)
		}
		if got.Parted != x.parted || got.Others != x.others || !slices.Equal(got.Files, x.want) {
			t.Errorf("%s: %+v", x.folder, got)
		}
	}
	if _, err := Find(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "cannot read the folder") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// A set in memory and one that decodes again give the same numbers, those of Encode.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"1.png", "2.png", "3.png"} {
		drop(t, filepath.Join(dir, name), byte(60*i))
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.png"), []byte("no"), 0o666); err != nil {
		t.Fatal(err)
	}
	pool := compute.NewPool(2)
	defer pool.Close()
	r := Reader{Folder: dir}
	names := []string{"1.png", "bad.png", "2.png", "3.png", "1.png"}
	l := Load(r, names, Format{Height: 4, Width: 4, Channels: 1}, pool)
	if !slices.Equal(l.Kept, []int{0, 2, 3, 4}) || len(l.Faults) != 1 || l.Faults[0].Image != 1 {
		t.Fatalf("kept %v, faults %v", l.Kept, l.Faults)
	}
	if l.Hashes[0] != l.Hashes[3] || l.Hashes[0] == l.Hashes[1] {
		t.Errorf("hashes %v", l.Hashes)
	}
	f := l.Set.Format()
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	again := &Set{reader: r, format: f, names: l.Set.names} // nothing kept
	var a, b, c [16]float32
	for i := range l.Set.Len() {
		l.Set.Read(i, a[:])
		again.Read(i, b[:])
		im, err := r.Read(l.Set.names[i])
		if err != nil {
			t.Fatal(err)
		}
		f.Encode(im, c[:])
		if a != b || a != c {
			t.Fatalf("image %d: %v in memory, %v decoded, %v encoded", i, a, b, c)
		}
	}
	if again.Err() != nil {
		t.Error(again.Err())
	}
	if err := os.Remove(filepath.Join(dir, "3.png")); err != nil {
		t.Fatal(err)
	}
	again.Read(2, b[:])
	if again.Err() == nil {
		t.Error("an image that is gone is no error")
	}
}

// A request must not read files; its images are in base64.
func TestInline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.png")
	b := drop(t, path, 7)
	r := Reader{Inline: true}
	for _, text := range []string{encode64(b), "data:image/png;base64," + encode64(b)} {
		if im, err := r.Read(text); err != nil || im.Height != 4 {
			t.Errorf("%v %v", im, err)
		}
	}
	for text, want := range map[string]string{
		path:                      "not in base64",
		"data:image/png,abc":      "not in base64",
		encode64([]byte("hello")): "no image that is known",
	} {
		if _, err := r.Read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}
