package gpu

import (
	"fmt"
	"math"
	"testing"

	"utvi/internal/cuda"
	"utvi/rng"
)

// Products of matrices on Hopper, with all layouts and with tiles that are cut at the
// edges, are as exact as sums in float32.
func TestHopperProducts(t *testing.T) {
	e, err := Open("cuda")
	if err != nil {
		t.Skipf("not run: %v; set %s to the library of internal/cuda/emulator to run it on the processor", err, cuda.LibraryVariable)
	}
	k := e.load()
	if k.hopper == nil {
		t.Skip("not run: the card has no tensor cores of compute capability 9.0")
	}
	m, err := newMemory(e.device)
	if err != nil {
		t.Fatal(err)
	}
	defer m.release()
	w := &weights{memory: m, recorder: &recorder{}, kernels: k}
	for _, kind := range []string{"forward", "backward", "gradients"} {
		sizes := [][3]int{{70, 130, 100}, {200, 30, 33}}
		if e.Card() != "emulated card" {
			sizes = append(sizes, [3]int{1024, 512, 512}, [3]int{1024, 2048, 2048}, [3]int{1000, 2040, 784}, [3]int{2048, 2048, 1024})
		}
		for _, s := range sizes {
			t.Run(fmt.Sprint(kind, s), func(t *testing.T) { checkProduct(t, w, kind, s[0], s[1], s[2]) })
		}
	}
	t.Run("not finite", func(t *testing.T) {
		const n = 40
		a := normals(n*n, 1)
		a[0], a[n] = math.Float32frombits(0x7fffffff), float32(math.Inf(1)) // what cards call NaN
		for i, x := range multiplyOnHopper(t, w, "forward", false, a, normals(n*n, 2), n, n, n) {
			if finite := !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0); finite != (i/n > 1) {
				t.Fatalf("row %d, column %d of the product is %v; only rows 0 and 1 of the factor are not finite", i/n, i%n, x)
			}
		}
	})
	// Rows of very different sizes, and numbers near the ends of float32, are as exact.
	t.Run("ranges", func(t *testing.T) {
		const rows, cols, depth = 70, 40, 100
		a, b := normals(rows*depth, 1), normals(cols*depth, 2)
		for i := range a {
			a[i] = float32(math.Ldexp(float64(a[i]), i/depth*3-120))
		}
		got := multiplyOnHopper(t, w, "backward", true, a, b, rows, cols, depth)
		for i, x := range got {
			var want, squares float64
			for k := range depth {
				p := float64(a[i/cols*depth+k]) * float64(b[i%cols*depth+k])
				want, squares = want+p, squares+p*p
			}
			if d := math.Abs(float64(x) - want); !(d <= 1e-6*math.Sqrt(squares)+1e-43) {
				t.Fatalf("row %d, column %d of the product is %v, not %v", i/cols, i%cols, x, want)
			}
		}
	})
}

// turned returns the sides of an operand in memory; where it is turned, the depth runs
// along its rows.
func turned(r, c int, yes bool) (int, int) {
	if yes {
		return c, r
	}
	return r, c
}

// multiplyOnHopper multiplies matrices as a kind of product does; apart says that the rows of a
// have scales of their own.
func multiplyOnHopper(t *testing.T, w *weights, kind string, apart bool, a, b []float32, rows, cols, depth int) []float32 {
	t.Helper()
	h := w.kernels.hopper
	ar, ac := turned(rows, depth, kind == "gradients")
	br, bc := turned(cols, depth, kind != "backward")
	cut := func(x []float32, r, c int, apart bool) planes {
		p := w.newPlanes(r, c)
		args := many[cutArgs]{One: cutArgs{A: place(w.memory, x, 4), Rows: int32(r), Cols: int32(c)}}
		args.One.Cuts.add(p, cutFirst)
		if apart {
			args.One.Cuts.Apart = 1
		}
		if err := launch(w, h.cut, w.cutGrid(r, c, 4), cutThreads, &args); err != nil {
			t.Fatal(err)
		}
		return p
	}
	out, blocks := w.floats(rows*cols), int32(tiles(depth, blockSide))
	pa, pb := cut(a, ar, ac, apart), cut(b, br, bc, false)
	if kind == "gradients" {
		multiplyParts(t, w, pa, pb, out, rows, cols, int(blocks))
	} else {
		p := planesProduct{A: pa, B: pb, Out: out, Pitch: int64(cols), Cols: int32(cols), Depth: blocks}
		count := tiles(rows, wideSide) * tiles(cols, wideSide)
		args := many[planesArgs]{One: planesArgs{Products: place(w.memory, []planesProduct{p}, sizePlanesProduct), Count: int32(count), Rows: int32(rows)}}
		if w.err != nil {
			t.Fatal(w.err)
		}
		if err := launch(w, pick(kind == "forward", h.forward, h.backward), w.wideGrid(count), wideThreads, &args); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]float32, rows*cols)
	if err := cuda.Download(w.stream, got, out); err != nil {
		t.Fatal(err)
	}
	if err := w.stream.Sync(); err != nil {
		t.Fatal(err)
	}
	return got
}

// multiplyParts multiplies as gradients do, without cutting the depth.
func multiplyParts(t *testing.T, w *weights, a, b planes, out cuda.Ptr, rows, cols, depth int) {
	t.Helper()
	var all []gradientPart
	workers := []int32{0}
	for i := range tiles(rows, wideSide) {
		for j := range tiles(cols, wideSide) {
			p := gradientPart{APlane: a.Plane, BPlane: b.Plane, AAcross: a.Across, BAcross: b.Across, Down: a.Down, Out: out.Add(4 * (i*cols + j) * wideSide),
				Pitch: int32(cols), Rows: int32(rows - i*wideSide), Cols: int32(cols - j*wideSide), Depth: int32(depth), To: int32(depth)}
			p.A[0], p.AScales[0] = a.from(i)
			p.B[0], p.BScales[0] = b.from(j)
			all, workers = append(all, p), append(workers, int32(len(all)+1))
		}
	}
	args := many[wideGradientArgs]{One: wideGradientArgs{Parts: place(w.memory, all, sizeGradientPart), Workers: place(w.memory, workers, 4)}}
	if w.err != nil {
		t.Fatal(w.err)
	}
	if err := launch(w, w.kernels.hopper.gradients, cuda.Grid{X: len(all)}, wideThreads, &args); err != nil {
		t.Fatal(err)
	}
}

// checkProduct compares some of the results with sums in float64.
func checkProduct(t *testing.T, w *weights, kind string, rows, cols, depth int) {
	a, b := normals(rows*depth, 1), normals(cols*depth, 2)
	_, ac := turned(rows, depth, kind == "gradients")
	_, bc := turned(cols, depth, kind != "backward")
	got := multiplyOnHopper(t, w, kind, false, a, b, rows, cols, depth)
	var worst, plain float64
	for i := 0; i < rows*cols; i += max(1, rows*cols/20000) {
		r, c := i/cols, i%cols
		var want, squares float64
		var f float32
		for k := range depth {
			y, x := turned(r, k, kind == "gradients")
			v, u := turned(c, k, kind != "backward")
			p := float64(a[y*ac+x]) * float64(b[v*bc+u])
			want = want + p
			squares = squares + p*p
			f = float32(p + float64(f))
		}
		size := math.Sqrt(squares)
		if d := math.Abs(float64(got[i])-want) / size; !(d <= worst) {
			worst = d
		}
		plain = max(plain, math.Abs(float64(f)-want)/size)
	}
	t.Logf("largest error %.2e, of sums in float32 %.2e", worst, plain)
	if !(worst <= 2*plain) { // what engine/gpu/README.md promises; two halves are 2⁻²³ off, which counts where few numbers are summed
		t.Errorf("the largest error is %.2e, more than twice that of sums in float32, %.2e", worst, plain)
	}
}

func normals(n int, seed uint64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.Normal(rng.New(seed), uint64(i)))
	}
	return x
}
