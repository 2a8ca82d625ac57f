package schema

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/internal/pixels"
	"utvi/table"
	_ "utvi/table/images"
)

// boundTo is a table and how a schema reads it.
func boundTo(t *testing.T, s *Schema, text string) (*Encoder, *table.Chunk) {
	t.Helper()
	f := load(t, text)
	e, err := s.Bind(f.Header())
	if err != nil {
		t.Fatal(err)
	}
	return e, chunk(f)
}

func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}

func TestBatchesOfAnotherShape(t *testing.T) {
	s := infer(t, "x,k,y\n1,a,1\n2,b,2\n", Spec{Targets: []string{"y"}})
	e, c := boundTo(t, s, "x,k,y\n1,a,1\n2,b,2\n")
	const wrong = "schema: the batch does not have the chunk's rows and the encoder's width"
	wantPanic(t, wrong, func() { _ = e.Inputs(c, gauss.New[float32](1, 4)) })
	wantPanic(t, wrong, func() { _ = e.Inputs(c, gauss.New[float32](2, 3)) })
	wantPanic(t, "schema: y does not have the chunk's rows of targets", func() { _ = e.Targets(c, make([]float32, 1)) })
}

// Rows that cannot be read are set aside, whatever else the chunk holds: their inputs are 0, and the
// first of them says why.
func TestRowsSetAside(t *testing.T) {
	s := infer(t, "x,x_std,k,y\n1,1,a,1\n3,1,b,2\n", Spec{Targets: []string{"y"}})
	e, c := boundTo(t, s, "x,x_std,k\n3,2,a\n1,-1,b\n1,1,?\n1,0,b\n")
	if n, why := e.SetAside(); n != 0 || why != "" {
		t.Errorf("%d rows are set aside (%s) before any is read", n, why)
	}
	x := gauss.New[float32](4, 4)
	for i := range x.Mean {
		x.Mean[i], x.Var[i] = 9, 9
	}
	aside := []bool{true, false, false, true}
	e.InputsAside(c, x, aside)
	if want := []float32{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 1, 0}; !slices.Equal(x.Mean, want) {
		t.Errorf("inputs are\n%v, want\n%v", x.Mean, want)
	}
	if want := []float32{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(x.Var, want) {
		t.Errorf("variances are\n%v, want\n%v", x.Var, want)
	}
	if want := []bool{false, true, true, false}; !slices.Equal(aside, want) {
		t.Errorf("set aside are %v, want %v", aside, want)
	}
	const want = "a.csv line 3, column x_std: the standard deviation is -1; a finite number ≥ 0 is needed"
	if n, why := e.SetAside(); n != 2 || why != want {
		t.Errorf("%d rows are set aside (%s), want 2 (%s)", n, why, want)
	}
	x.Var = nil // variances are left out
	e.InputsAside(c, x, aside)
	if n, _ := e.SetAside(); n != 3 || !slices.Equal(aside, []bool{false, false, true, false}) {
		t.Errorf("without variances %v, after %d", aside, n)
	}
}

// Rows that come from no file are set aside without being remembered.
func TestRowsOfNoFileAside(t *testing.T) {
	s := infer(t, "x,k,y\n1,a,1\n3,b,2\n", Spec{Targets: []string{"y"}})
	b := table.NewBuilder(&table.Header{Columns: []string{"x", "k"}, Named: true})
	b.Missing()
	b.Text("new")
	c, err := b.Chunk()
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Bind(c.Header())
	if err != nil {
		t.Fatal(err)
	}
	aside := make([]bool, 1)
	e.InputsAside(c, gauss.New[float32](1, 4), aside)
	if n, why := e.SetAside(); !aside[0] || n != 0 || why != "" || e.Notes() != nil {
		t.Errorf("%v, %d rows (%s), notes %q", aside, n, why, e.Notes())
	}
}

// Targets and weights that cannot be used are refused in the row where they stand.
func TestOddTargetsAndWeights(t *testing.T) {
	s := infer(t, "x,w,y\n1,1,1\n3,2,2\n", Spec{Targets: []string{"y"}, Weight: "w"})
	for text, want := range map[string]string{
		"x,w,y\n1,1,1\n1,1,1e300\n": "a.csv line 3, column y: 1e+300 is too far from the training range, 1 to 2",
		"x,w,y\n1,1,1\n1,1,-inf\n":  "a.csv line 3, column y: -Inf is not a finite number",
		"x,w,y\n1,1,1\n1,-1,1\n":    "a.csv line 3, column w: the weight is -1; a finite number ≥ 0 is needed",
		"x,w,y\n1,1,1\n1,inf,1\n":   "a.csv line 3, column w: the weight is +Inf; a finite number ≥ 0 is needed",
		"x,w,y\n1,1,1\n1,?,1\n":     "a.csv line 3, column w: \"?\" stands for a missing weight; a finite number ≥ 0 is needed",
	} {
		_, err := s.Encode(load(t, text).Rows(nil))
		wantError(t, text, err, want)
	}
	_, err := s.Encode(load(t, "x,w,y\n1,1,1\n").Rows([]int{}))
	wantError(t, "no rows", err, "a.csv: no rows to encode")
	e, c := boundTo(t, s, "x,y\n1,\n1,2\n")
	w := make([]float32, 2)
	if err := e.Weights(c, w); err != nil || !slices.Equal(w, []float32{1, 1}) || e.HasWeights() {
		t.Errorf("without a column of weights they are %v, %v", w, err)
	}
	if e.Complete(c, 0) || !e.Complete(c, 1) {
		t.Error("a row without its target is complete, or one with it is not")
	}
}

// An image is read beside its table; one that cannot be read is remarked on, and its inputs are no
// numbers.
func TestImagesOfATable(t *testing.T) {
	dir := t.TempDir()
	var file bytes.Buffer
	im := image.NewGray(image.Rect(0, 0, 2, 1))
	im.SetGray(1, 0, color.Gray{255})
	if err := png.Encode(&file, im); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.png"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	format := &pixels.Format{Height: 1, Width: 2, Channels: 1, Mean: []float64{0.5}, SD: []float64{0.25}}
	r, err := table.NewReader(strings.NewReader("im,k,y\na.png,u,1\nb.png,v,2\n,u,3\n"), filepath.Join(dir, "a.csv"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Infer(f.Rows(nil), Spec{Targets: []string{"y"}, Image: "im", Format: format})
	if err != nil {
		t.Fatal(err)
	}
	if c := &s.Columns[0]; c.Type != Picture || c.Image != format || s.Columns[1].Type != Categorical {
		t.Fatalf("the columns are %+v", s.Columns)
	}
	if all, err := s.Histograms(f.Rows(nil)); err != nil || len(all) != 2 || !s.Pictures() {
		t.Errorf("%d columns have histograms, %v", len(all), err)
	}
	e, err := s.Bind(f.Header())
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.Fixed(5, make([]float32, 15))
	aside := make([]bool, 3)
	e.InputsAside(chunk(f), x, aside)
	if want := []float32{-2, 2, 1, 0, 0}; !slices.Equal(x.Mean[:5], want) {
		t.Errorf("the inputs of an image are %v, want %v", x.Mean[:5], want)
	}
	if !slices.Equal(x.Mean[5:], make([]float32, 10)) || !slices.Equal(aside, []bool{false, true, true}) {
		t.Errorf("an image that is not there becomes %v; set aside %v", x.Mean[5:10], aside)
	}
	if n := e.Notes(); len(n) != 1 || !strings.Contains(n[0], "b.png") {
		t.Errorf("the notes are %q", n)
	}
	if rows, why := e.SetAside(); rows != 2 || !strings.HasSuffix(why, "b.png: no such file or directory") || e.Unreadable() != why {
		t.Errorf("%d rows are set aside because %q; unreadable is %q", rows, why, e.Unreadable())
	}
	if err := e.Inputs(chunk(f), x); err == nil || !strings.HasSuffix(err.Error(), "a.csv line 4, column im: no image is named") || !math.IsNaN(float64(x.Mean[5])) {
		t.Errorf("without setting aside: %v, %v", err, x.Mean[5])
	}
	// Rows that no file holds have images in their cells, and are told at once.
	b := table.NewBuilder(&table.Header{Columns: []string{"im", "k"}, Named: true})
	b.Text("a.png")
	b.Text("u")
	c, err := b.Chunk()
	if err != nil {
		t.Fatal(err)
	}
	e, err = s.Bind(c.Header())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Inputs(c, gauss.Fixed(5, make([]float32, 5))); err == nil || !strings.Contains(err.Error(), "column im: ") {
		t.Errorf("a path among rows of no file: %v", err)
	}
}

// Where a table's images lie.
func TestFoldersOfImages(t *testing.T) {
	for _, c := range []struct {
		head   table.Header
		folder string
		inline bool
	}{
		{table.Header{File: "some/a.csv"}, "some", false},
		{table.Header{File: "some/a.csv", Folder: "other"}, "other", false},
		{table.Header{}, ".", true},
	} {
		if r := Images(&c.head); r.Folder != c.folder || r.Inline != c.inline {
			t.Errorf("of %+v: %+v", c.head, r)
		}
	}
}
