package pixelwise

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"utvi/internal/npy"
)

// A Writer writes predictions into a folder: images beside each other, and all of them as arrays.
type Writer struct {
	model  *Model
	dir    string
	arrays []*array
	list   *csv.Writer
	file   *os.File
	taken  map[string]bool
}

// NewWriter begins to write the predictions of some images into a folder, which exists and is empty.
func (m *Model) NewWriter(dir string, images int) (*Writer, error) {
	w := &Writer{model: m, dir: dir, taken: map[string]bool{}}
	f := &m.Output
	shape := []int{images, f.Height, f.Width}
	var err error
	w.file, err = os.Create(filepath.Join(dir, "images.csv"))
	if err != nil {
		return nil, err
	}
	w.list = csv.NewWriter(w.file)
	head := []string{"file", "written", "mean_std", "most_std"}
	if m.Classes() > 0 {
		head = []string{"file", "written", "mean_doubt", "most_doubt"}
		w.add("class", "|u1", shape)
		w.add("probabilities", "<f4", append(shape, m.Classes()))
	} else {
		if f.Channels > 1 {
			shape = append(shape, f.Channels)
		}
		for _, name := range []string{"mean", "std", "std_weights"} {
			w.add(name, "<f4", shape)
		}
	}
	for _, a := range w.arrays {
		if a.err != nil {
			w.Close()
			return nil, a.err
		}
	}
	return w, w.list.Write(head)
}

// An array is a .npy file under way.
type array struct {
	file *os.File
	to   *bufio.Writer
	err  error
}

func (w *Writer) add(name, kind string, shape []int) {
	a := &array{}
	a.file, a.err = os.Create(filepath.Join(w.dir, name+".npy"))
	if a.err == nil {
		a.to = bufio.NewWriter(a.file)
		a.err = npy.WriteHeader(a.to, kind, shape)
	}
	w.arrays = append(w.arrays, a)
}

func (a *array) floats(v []float32) error { return binary.Write(a.to, binary.LittleEndian, v) }

// Write writes the prediction of an image. Of one that cannot be read, arrays have no numbers.
func (w *Writer) Write(got *Prediction) error {
	if got.Err != nil {
		return w.missing(got.Name)
	}
	name := w.name(got.Name)
	if w.model.Classes() > 0 {
		return w.classes(name, got)
	}
	for i, v := range [][]float32{got.Mean, got.Std, got.Weights} {
		if err := w.arrays[i].floats(v); err != nil {
			return err
		}
	}
	if err := w.save(name+"_mean.png", w.shown(got.Mean)); err != nil {
		return err
	}
	if err := w.save(name+"_std.png", w.deep(got.Std)); err != nil {
		return err
	}
	return w.line(got.Name, name+"_mean.png", got.Std)
}

// line lists an image, with the mean and the largest of the numbers that say how unsure it is.
func (w *Writer) line(name, file string, unsure []float32) error {
	var sum float64
	most := float32(0)
	for _, v := range unsure {
		sum += float64(v)
		most = max(most, v)
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	return w.list.Write([]string{name, file, text(sum / float64(len(unsure))), text(float64(most))})
}

func (w *Writer) missing(name string) error {
	n := w.model.Size()
	none := make([]float32, n)
	for i := range none {
		none[i] = float32(math.NaN())
	}
	arrays := w.arrays
	if k := w.model.Classes(); k > 0 {
		if _, err := arrays[0].to.Write(make([]byte, n/k)); err != nil {
			return err
		}
		arrays = arrays[1:]
	}
	for _, a := range arrays {
		if err := a.floats(none); err != nil {
			return err
		}
	}
	return w.list.Write([]string{name, "", "", ""})
}

// classes writes the most probable classes, in the colours of the targets, and 1 − their probability.
func (w *Writer) classes(name string, got *Prediction) error {
	k := w.model.Classes()
	f := &w.model.Output
	n := f.Height * f.Width
	best := make([]byte, n)
	doubt := make([]float32, n)
	colours := make([]float32, 0, n*f.Channels)
	for i := range best {
		row := got.P[i*k : (i+1)*k]
		for c, v := range row {
			if v > row[best[i]] {
				best[i] = byte(c)
			}
		}
		doubt[i] = 1 - row[best[i]]
		colours = append(colours, w.model.Levels[best[i]]...)
	}
	if _, err := w.arrays[0].to.Write(best); err != nil {
		return err
	}
	if err := w.arrays[1].floats(got.P); err != nil {
		return err
	}
	if err := w.save(name+"_class.png", w.shown(colours)); err != nil {
		return err
	}
	grey := image.NewGray16(image.Rect(0, 0, f.Width, f.Height))
	for i, v := range doubt {
		grey.SetGray16(i%f.Width, i/f.Width, color.Gray16{Y: word(v)})
	}
	if err := w.save(name+"_doubt.png", grey); err != nil {
		return err
	}
	return w.line(got.Name, name+"_class.png", doubt)
}

func word(v float32) uint16 { return uint16(min(max(v, 0), 1)*65535 + 0.5) }

// shown is numbers from 0 to 1 as an image of eight bits.
func (w *Writer) shown(v []float32) image.Image {
	f := &w.model.Output
	if f.Channels == 1 {
		im := image.NewGray(image.Rect(0, 0, f.Width, f.Height))
		for i, x := range v {
			im.Pix[i] = toByte(x)
		}
		return im
	}
	im := image.NewNRGBA(image.Rect(0, 0, f.Width, f.Height))
	for i := range f.Height * f.Width {
		im.SetNRGBA(i%f.Width, i/f.Width, color.NRGBA{toByte(v[3*i]), toByte(v[3*i+1]), toByte(v[3*i+2]), 255})
	}
	return im
}

// deep is numbers from 0 to 1 as an image of sixteen bits.
func (w *Writer) deep(v []float32) image.Image {
	f := &w.model.Output
	if f.Channels == 1 {
		im := image.NewGray16(image.Rect(0, 0, f.Width, f.Height))
		for i, x := range v {
			im.SetGray16(i%f.Width, i/f.Width, color.Gray16{Y: word(x)})
		}
		return im
	}
	im := image.NewNRGBA64(image.Rect(0, 0, f.Width, f.Height))
	for i := range f.Height * f.Width {
		im.SetNRGBA64(i%f.Width, i/f.Width, color.NRGBA64{word(v[3*i]), word(v[3*i+1]), word(v[3*i+2]), 65535})
	}
	return im
}

var element = regexp.MustCompile(`^(.*)\.npy\[([0-9]+).*\]$`)

// name is what the images written for a file are called: as the file, within the folder, each once.
func (w *Writer) name(file string) string {
	stem := strings.TrimSuffix(file, path.Ext(file))
	if m := element.FindStringSubmatch(file); m != nil {
		stem = m[1] + "-" + m[2]
	}
	stem = filepath.ToSlash(filepath.Clean(stem))
	if !filepath.IsLocal(stem) {
		stem = path.Base(stem)
	}
	name := stem
	for i := 2; w.taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", stem, i)
	}
	w.taken[name] = true
	return name
}

func (w *Writer) save(name string, im image.Image) error {
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		return err
	}
	f, err := os.Create(full)
	if err != nil {
		return err
	}
	err = png.Encode(f, im)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Close ends the arrays and the list.
func (w *Writer) Close() error {
	w.list.Flush()
	err := w.list.Error()
	if e := w.file.Close(); err == nil {
		err = e
	}
	for _, a := range w.arrays {
		if a.file == nil {
			continue
		}
		if e := a.to.Flush(); err == nil {
			err = e
		}
		if e := a.file.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Kinds are the files that a prediction of numbers, or of classes, becomes.
func (m *Model) Kinds() string {
	if m.Classes() > 0 {
		return "NAME_class.png, NAME_doubt.png, class.npy, probabilities.npy, images.csv"
	}
	return "NAME_mean.png, NAME_std.png, mean.npy, std.npy, std_weights.npy, images.csv"
}
