package frames

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	little = binary.ByteOrder(binary.LittleEndian)
	bigEnd = binary.ByteOrder(binary.BigEndian)
)

func flavours() map[string]flavour {
	return map[string]flavour{
		"plain":                   {order: little, kind: 'u', bytes: 2, rowsPerStrip: 100},
		"big-endian":              {order: bigEnd, kind: 'u', bytes: 2, rowsPerStrip: 3},
		"BigTIFF":                 {order: little, big: true, kind: 'u', bytes: 2, rowsPerStrip: 4},
		"BigTIFF, big-endian":     {order: bigEnd, big: true, kind: 'u', bytes: 4, rowsPerStrip: 4},
		"bytes":                   {order: little, kind: 'u', bytes: 1, rowsPerStrip: 2},
		"signed":                  {order: bigEnd, kind: 'i', bytes: 2, rowsPerStrip: 2},
		"float32":                 {order: little, kind: 'f', bytes: 4, rowsPerStrip: 5},
		"float64":                 {order: bigEnd, kind: 'f', bytes: 8, rowsPerStrip: 5},
		"tiles":                   {order: little, kind: 'u', bytes: 2, tileW: 16, tileH: 16},
		"PackBits":                {order: little, kind: 'u', bytes: 2, compression: packBits, rowsPerStrip: 3},
		"LZW, predictor 2":        {order: little, kind: 'u', bytes: 2, compression: lzwPacked, predictor: 2, rowsPerStrip: 3},
		"deflate, predictor 2":    {order: bigEnd, kind: 'u', bytes: 4, compression: deflated, predictor: 2, rowsPerStrip: 3},
		"deflate, predictor 3":    {order: little, kind: 'f', bytes: 4, compression: oldDeflated, predictor: 3, rowsPerStrip: 3},
		"predictor 3, big-endian": {order: bigEnd, kind: 'f', bytes: 4, compression: deflated, predictor: 3, tileW: 16, tileH: 16},
		"no compression tag":      {order: bigEnd, kind: 'u', bytes: 2, rowsPerStrip: 256, noCompressionTag: true},
		"no strip sizes":          {order: little, kind: 'u', bytes: 2, rowsPerStrip: 4, noCounts: true},
		"ImageJ": {order: bigEnd, kind: 'u', bytes: 2, rowsPerStrip: 256, noCompressionTag: true, shared: 3,
			description: "ImageJ=1.53t\nimages=3\nframes=3\n"},
	}
}

// TestFlavours: whatever the way of writing, the same pixels are read, in any order of frames.
func TestFlavours(t *testing.T) {
	for name, v := range flavours() {
		v.width, v.height = 19, 11
		v.num = 3
		path := write(t, "stack.tif", v.file(t))
		s, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Frames != 3 || s.Width != 19 || s.Height != 11 || s.Damage != nil {
			t.Errorf("%s: %d frames of %d×%d, damage %v", name, s.Frames, s.Width, s.Height, s.Damage)
			continue
		}
		r := s.NewReader()
		frame := make([]float32, 19*11)
		for _, f := range []int{2, 0, 1} {
			if err := r.Read(f, frame); err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			for i, x := range frame {
				if float64(x) != v.value(f, i) {
					t.Errorf("%s: pixel %d of frame %d is %v, want %v", name, i, f, x, v.value(f, i))
					break
				}
			}
		}
		r.Close()
	}
}

func write(t testing.TB, name string, b []byte) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is wrong with a file is said in one sentence; the whole frames of a cut file are read.
func TestBadFiles(t *testing.T) {
	v := flavours()["plain"]
	v.width, v.height = 19, 11
	v.num = 3
	whole := v.file(t)
	loop := bytes.Clone(whole)
	copy(loop[len(loop)-4:], loop[4:8])
	jpeg := v
	jpeg.compression = 7
	for _, c := range []struct {
		name, says string
		b          []byte
	}{
		{"empty.tif", "the file is empty", nil},
		{"text.tif", "it is not a TIFF file", []byte("frame,x,y\n1,2,3\n")},
		{"order.tif", "the byte order may be wrong", append([]byte("MM"), whole[2:]...)},
		{"cut.tif", "the file is truncated", whole[:30]},
		{"loop.tif", "comes back to page", loop},
		{"jpeg.tif", "compression, number 7", jpeg.file(t)},
		{"stack.nd2", "files of Nikon's NIS-Elements are not read", []byte("\xda\xce\xbe\x0a,,,,,")},
		{"stack.npy", "not a NumPy array", []byte("zzzzzzzzzzzzzzzz")},
		{"stack.raw", "which says Width, Height, Frames", []byte("zzzz")},
	} {
		_, err := Open(write(t, c.name, c.b))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", c.name, err, c.says)
		}
	}
	cut, err := Open(write(t, "cut.tif", whole[:len(whole)-20]))
	if err != nil || cut.Frames != 2 || cut.Damage == nil || !strings.Contains(cut.Damage.Error(), "--frames 1-2 reads these") {
		t.Errorf("a file cut in its last frame: %+v, %v", cut, err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.tif")); err == nil {
		t.Error("no file, no error")
	}
}

// TestSeries: files follow each other in the order of their numbers, split files are found.
func TestSeries(t *testing.T) {
	v := flavours()["plain"]
	v.width, v.height = 5, 4
	v.num = 1
	dir := t.TempDir()
	for i := range 12 {
		one := v
		one.description = strings.Repeat("x", i)
		b := one.file(t)
		b[8] = byte(i) // first pixel: 8 bytes of header, then the strip
		b[9] = 0
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("img%d.tif", i)), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil || s.Frames != 12 {
		t.Fatal(s, err)
	}
	r := s.NewReader()
	defer r.Close()
	frame := make([]float32, 20)
	for i := range 12 {
		if err := r.Read(i, frame); err != nil || frame[0] != float32(i) {
			t.Fatalf("frame %d begins with %v, %v", i, frame[0], err)
		}
	}
	v.num = 2
	for _, name := range []string{"a.ome.tif", "a_1.ome.tif", "a_2.ome.tif", "a_4.ome.tif"} {
		if err := os.WriteFile(filepath.Join(dir, name), v.file(t), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err = Open(filepath.Join(dir, "a.ome.tif"))
	if err != nil || s.Frames != 6 {
		t.Errorf("a split stack: %+v, %v", s, err)
	}
	if path, i := s.Name(3); filepath.Base(path) != "a_1.ome.tif" || i != 1 {
		t.Errorf("frame 3 is %d of %s", i, path)
	}
}

// TestOthers: .raw with .yaml, .npy, and what Writer writes.
func TestOthers(t *testing.T) {
	v := flavour{order: bigEnd, kind: 'u', bytes: 2, width: 7, height: 5, num: 2, rowsPerStrip: 5}
	var pixels []byte
	for f := range v.num {
		pixels = append(pixels, v.chunks(t, f)[0]...)
	}
	raw := write(t, "m.raw", pixels)
	header := "Byte Order: '>'\nData Type: uint16\nFrames: 2\nHeight: 5\nWidth: 7\n"
	if err := os.WriteFile(strings.TrimSuffix(raw, ".raw")+".yaml", []byte(header), 0o666); err != nil {
		t.Fatal(err)
	}
	npy := "\x93NUMPY\x01\x00\x46\x00{'descr': '>u2', 'fortran_order': False, 'shape': (2, 5, 7), }"
	npy += strings.Repeat(" ", 80-len(npy)) + string(pixels)
	for _, path := range []string{raw, write(t, "m.npy", []byte(npy))} {
		compare(t, path, v)
	}
	for _, big := range []bool{false, true} {
		var b bytes.Buffer
		w := NewWriter(&b, v.width, v.height, v.num)
		if big {
			w.big = true
			w.at = 16
		}
		for f := range v.num {
			frame := make([]uint16, 35)
			for i := range frame {
				frame[i] = uint16(v.value(f, i))
			}
			if err := w.Write(frame); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, write(t, "w.tif", b.Bytes()), v)
	}
}

func compare(t *testing.T, path string, v flavour) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	r := s.NewReader()
	defer r.Close()
	frame := make([]float32, s.Width*s.Height)
	for f := range s.Frames {
		if err := r.Read(f, frame); err != nil {
			t.Fatal(err)
		}
		for i, x := range frame {
			if float64(x) != v.value(f, i) {
				t.Errorf("%s: pixel %d of frame %d is %v, want %v", filepath.Base(path), i, f, x, v.value(f, i))
				return
			}
		}
	}
	if s.Frames != v.num {
		t.Errorf("%s: %d frames", path, s.Frames)
	}
}

// Reading a plain frame allocates nothing.
func TestNoAllocation(t *testing.T) {
	v := flavours()["plain"]
	v.width, v.height = 19, 11
	v.num = 3
	s, err := Open(write(t, "stack.tif", v.file(t)))
	if err != nil {
		t.Fatal(err)
	}
	r := s.NewReader()
	defer r.Close()
	frame := make([]float32, 19*11)
	if n := testing.AllocsPerRun(100, func() { r.Read(1, frame) }); n > 0 {
		t.Errorf("%v allocations to read a frame", n)
	}
}

// FuzzTIFF: no file makes the reader panic, or reads what is not there.
func FuzzTIFF(f *testing.F) {
	for _, v := range flavours() {
		v.width, v.height = 9, 5
		v.num = 2
		f.Add(v.file(f))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := openTIFF(bytes.NewReader(b), int64(len(b)), ".tif")
		if err != nil {
			return
		}
		w, h := l.size()
		if w*h > 1<<16 {
			return
		}
		frame := make([]float32, w*h)
		for i := range min(l.frames(), 4) {
			_ = l.read(bytes.NewReader(b), i, frame, &scratch{})
		}
	})
}
