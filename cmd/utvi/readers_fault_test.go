package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"utvi/internal/inputfile"
	"utvi/model"
	"utvi/nn"
)

// A badDisk makes reads from files go wrong, from the read with a number on.
type badDisk struct {
	mu    sync.Mutex
	reads map[string]int // so far
	path  string         // the file that is read wrongly
	from  int
	n     int // bytes of each read that still come
	err   error
}

func (d *badDisk) fault(path string, n int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads[path]++
	if path != d.path || d.reads[path] <= d.from {
		return n, nil
	}
	return min(n, d.n), d.err
}

// with runs a command in this process, on the disk.
func (d *badDisk) with(t *testing.T, args []string) (code int, stdout, stderr string) {
	t.Helper()
	d.reads = map[string]int{}
	inputfile.Fault = d.fault
	defer func() { inputfile.Fault = nil }()
	var out, errs bytes.Buffer
	code = run(t.Context(), newRoot(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// entries are the names and sizes of all that is in a folder.
func entries(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all = append(all, fmt.Sprint(path, " ", info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readable makes files of every kind that commands read, and returns commands that read them
// and write a file.
func readable(t *testing.T, dir string) [][]string {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	for k, draw := range []func(w io.Writer, m image.Image) error{png.Encode, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }} {
		for i := range 12 {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			for j := range m.Pix {
				m.Pix[j] = color.GrayModel.Convert(color.Gray{uint8(100*(i%2) + 7*(j+i)%60)}).(color.Gray).Y
			}
			var b bytes.Buffer
			if err := draw(&b, m); err != nil {
				t.Fatal(err)
			}
			write(t, at(fmt.Sprintf("photos/%s/%d.%s", []string{"dark", "light"}[i%2], i, []string{"png", "jpg"}[k])), b.String())
		}
	}
	cells := "a,b,y\n"
	for i := range 80 {
		cells += fmt.Sprintf("%d,%.3f,%.3f\n", i%9, math.Sin(float64(i)), float64(i%9)+math.Sin(float64(i)))
	}
	write(t, at("rows.csv"), cells)
	write(t, at("new.csv"), strings.ReplaceAll(cells, ",0.", ",0.1"))
	write(t, at("study.yaml"), smallSpec)
	net, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := net.Save(at("net.safetensors")); err != nil {
		t.Fatal(err)
	}
	write(t, at("list.csv"), "a,b\n1,2\n3,4\n5,0.5\n")
	for _, args := range []string{
		"fit rows.csv --target y --out m.utvi --ensemble 1 --steps 30 --width 8 --depth 1 --report none",
		"fit photos --out p.utvi --ensemble 1 --steps 10 --width 2 --report none --augment none",
		"predict m.utvi rows.csv --keep a,b,y -o rows.parquet",
		"locate simulate --frames 3 --width 32 --height 32 -o f.tif",
		"export net.safetensors -o net.onnx",
	} {
		var list []string
		for _, a := range strings.Fields(args) {
			if strings.Contains(a, ".") || a == "photos" {
				a = at(a)
			}
			list = append(list, a)
		}
		var out, errs bytes.Buffer
		if code := run(t.Context(), newRoot(), list, &out, &errs); code != 0 {
			t.Fatalf("%s: %s%s", args, out.String(), errs.String())
		}
	}
	return [][]string{
		{"predict", at("m.utvi"), at("rows.csv"), "-o", "out.csv"},
		{"predict", at("m.utvi"), at("rows.parquet"), "-o", "out.csv"},
		{"predict", at("p.utvi"), at("photos"), "-o", "out.csv"},
		{"eval", at("m.utvi"), at("rows.csv")},
		{"update", at("m.utvi"), at("new.csv"), "-o", "out.utvi"},
		{"suggest", at("m.utvi"), at("list.csv"), "--draws", "16", "-o", "out.csv"},
		{"locate", at("f.tif"), "--net", "none", "--fresh", "-o", "out.csv"},
		{"import", at("net.onnx"), "--output", "mean", "-o", "out.safetensors"},
		{"sweep", "plan", at("study.yaml"), "-o", "out.json"},
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Whatever file of a command cannot be read to its end, the command says so in one sentence
// with the file's name, and writes nothing. Reads that bring less than was asked for change
// nothing.
func TestReadersFaults(t *testing.T) {
	dir := t.TempDir()
	for _, args := range readable(t, dir) {
		name := args[0] + " " + filepath.Base(args[min(2, len(args)-1)])
		last := &args[len(args)-1]
		out := filepath.Join(t.TempDir(), *last)
		if strings.HasPrefix(*last, "out.") {
			*last = out
		}
		sound := &badDisk{}
		code, said, errs := sound.with(t, args)
		if code != 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		want, _ := os.ReadFile(out)
		clean := strings.Count(errs, "\n")
		for path, reads := range sound.reads {
			if strings.Contains(path, "photos") && !slices.Contains([]string{"0.png", "1.jpg"}, filepath.Base(path)) {
				continue
			}
			for _, from := range slices.Compact([]int{0, reads / 2, reads - 1}) {
				for _, d := range []*badDisk{{path: path, from: from, err: syscall.EIO}, {path: path, from: from, n: 3, err: syscall.EINTR}, {path: path, from: from, err: io.EOF}} {
					os.Remove(out)
					before := entries(t, dir)
					code, _, errs := d.with(t, args)
					what := fmt.Sprintf("%s: read %d of %d from %s ends with %v", name, from+1, reads, filepath.Base(path), d.err)
					row := strings.Contains(path, "photos") && strings.Contains(errs, "1 of 24 rows is not predicted")
					if d.err == io.EOF && code == 0 && strings.HasSuffix(path, ".csv") { // rows end where the file does
						continue
					}
					reason := d.err == io.EOF || strings.Contains(errs, d.err.Error())
					if (code == 1) == row || !reason || !strings.Contains(errs, path) || strings.Count(errs, "\n") > clean+1 && !row || strings.Contains(errs, "internal error") {
						t.Errorf("%s: exit %d, %s", what, code, errs)
					}
					if _, err := os.Stat(out); (err == nil) != row || !slices.Equal(before, entries(t, dir)) {
						t.Errorf("%s: something was written", what)
					}
				}
			}
			os.Remove(out)
			d := &badDisk{path: path, n: 100}
			code, again, errs := d.with(t, args)
			if got, _ := os.ReadFile(out); code != 0 || !bytes.Equal(got, want) || again != said {
				t.Errorf("%s: by 100 bytes, %s is read as another file, exit %d, %s", name, filepath.Base(path), code, errs)
			}
		}
		t.Logf("%s: %d files", name, len(sound.reads))
	}
}
