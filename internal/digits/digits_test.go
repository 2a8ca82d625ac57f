package digits_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/internal/digits"
	"utvi/rng"
)

// drawers are all kinds of images; digits have classes.
var drawers = map[string]func(key rng.Key, row uint64, pixels []float32) int{
	"digit":   digits.Digit,
	"letter":  func(k rng.Key, row uint64, x []float32) int { return int(digits.Letter(k, row, x)) },
	"garment": func(k rng.Key, row uint64, x []float32) int { digits.Garment(k, row, x); return 0 },
	"static":  func(k rng.Key, row uint64, x []float32) int { digits.NoiseImage(k, row, x); return 0 },
}

// An image depends on key and row alone, whatever lay in its memory, is not
// repeated, stays within [0, 1], and has some ink and some paper.
func TestImages(t *testing.T) {
	for name, draw := range drawers {
		var last []float32
		for row := range uint64(200) {
			a, b := make([]float32, digits.Pixels), make([]float32, digits.Pixels)
			for i := range b {
				b[i] = 7
			}
			if draw(rng.New(3), row, a) != draw(rng.New(3), row, b) || !slices.Equal(a, b) {
				t.Fatalf("%s %d is not a function of key and row", name, row)
			}
			if slices.Equal(a, last) {
				t.Fatalf("%s %d repeats the one before", name, row)
			}
			last = a
			ink := 0.0
			for _, v := range a {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("%s %d has a pixel of %v", name, row, v)
				}
				ink += float64(v) / digits.Pixels
			}
			if ink < 0.01 || ink > 0.9 {
				t.Errorf("%s %d is %.3f ink", name, row, ink)
			}
		}
	}
}

func TestDigitsAreBalanced(t *testing.T) {
	var count [10]int
	x := make([]float32, digits.Pixels)
	for row := range uint64(2000) {
		count[digits.Digit(rng.New(1), row, x)]++
	}
	for d, n := range count {
		if n < 130 || n > 270 { // 200 ± 5σ
			t.Errorf("%d of 2000 digits are %d", n, d)
		}
	}
}

func BenchmarkDigit(b *testing.B) {
	x := make([]float32, digits.Pixels)
	for i := range b.N {
		digits.Digit(rng.New(1), uint64(i), x)
	}
}

// With UTVI_SHEET set to a file name, a contact sheet is written there.
func TestContactSheet(t *testing.T) {
	path := os.Getenv("UTVI_SHEET")
	if path == "" {
		t.Skip("UTVI_SHEET names no file")
	}
	const cols, rows = 24, 4
	sheet := image.NewGray(image.Rect(0, 0, cols*digits.Side, len(drawers)*rows*digits.Side))
	x := make([]float32, digits.Pixels)
	for k, name := range []string{"digit", "letter", "garment", "static"} {
		for i := range cols * rows {
			drawers[name](rng.New(1), uint64(i), x)
			for j, v := range x {
				sheet.SetGray(i%cols*digits.Side+j%digits.Side, (k*rows+i/cols)*digits.Side+j/digits.Side, color.Gray{uint8(255 - 255*v)})
			}
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, sheet); err != nil {
		t.Fatal(err)
	}
}

func ExampleDigits() {
	source := digits.Digits(60000)
	x, y := gauss.New[float32](3, source.Inputs()), make([]float32, 3)
	source.Begin(rng.New(1), 1, 3)
	source.Fill(0, 3, x, y)
	fmt.Println(source.Rows(), "images of", source.Inputs(), "pixels:", y, "…")
	// Output: 60000 images of 784 pixels: [4 1 4] …
}
