package experiment

import (
	"math"
	"testing"

	"utvi/rng"
)

// Means, variances and the independence of the pixels, against integrals of the
// blur, for an emitter that no symmetry leaves in place.
func TestEmitterMoments(t *testing.T) {
	const n = 40_000
	const x, y = 2.3, -0.6
	var image, mean, square [emitterPixels]float32
	var targets [emitterTargets]float32
	var neighbours float64
	at := func(i, j int) int { return i*emitterSide + j }
	for row := range uint64(n) {
		microscope.At(rng.New(3), row, x, y, image[:], targets[:])
		for p, v := range image {
			mean[p] += v / n
			square[p] += v * v / n
		}
		neighbours += float64(image[at(3, 5)]) * float64(image[at(3, 6)]) / n
	}
	phi := func(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
	share := func(i int, x float64) float64 { return phi((float64(i-3)-x)/1.05) - phi((float64(i-4)-x)/1.05) }
	var total float64
	for i := range emitterSide {
		for j := range emitterSide {
			want := 100 * share(i, y) * share(j, x)
			total += want
			if e := math.Abs(float64(mean[at(i, j)]) - want); e > 5*math.Sqrt(want/n)+1e-4 {
				t.Errorf("pixel (%d, %d) has mean %g, want %g", i, j, mean[at(i, j)], want)
			}
			v := float64(square[at(i, j)] - mean[at(i, j)]*mean[at(i, j)])
			if e := math.Abs(v - want); e > 5*math.Sqrt((want+2*want*want)/n)+1e-4 {
				t.Errorf("pixel (%d, %d) has variance %g, want %g", i, j, v, want)
			}
		}
	}
	a, b := float64(mean[at(3, 5)]), float64(mean[at(3, 6)])
	if cov := neighbours - a*b; math.Abs(cov) > 5*math.Sqrt(a*b*(1+a+b)/n) {
		t.Errorf("neighbouring pixels have covariance %g, want 0", cov)
	}
	if math.Abs(float64(targets[2])-total) > 1e-4 || targets[0] != x || math.Abs(float64(targets[1])-y) > 1e-6 {
		t.Errorf("targets %v, want %v, %v, %v", targets, x, y, total)
	}
}

func TestEmitterSets(t *testing.T) {
	large, small := newEmitters(rng.New(4), 20_000), newEmitters(rng.New(4), 50)
	for i, v := range small.x.Mean {
		if v != large.x.Mean[i] {
			t.Fatal("a small set is not the beginning of a large one")
		}
	}
	var m, v, cross float64
	for i := range large.x.Rows {
		_, y := large.row(i)
		m += float64(y[0]+y[1]) / 40_000
		v += float64(y[0]*y[0]+y[1]*y[1]) / 40_000
		cross += float64(y[0]*y[1]) / 20_000
	}
	if math.Abs(m) > 5*2/200. || math.Abs(v-4) > 5*4*math.Sqrt2/200 || math.Abs(cross) > 5*4/141. {
		t.Errorf("positions have mean %g, variance %g, covariance %g; want 0, 4, 0", m, v, cross)
	}
	each := 40
	s := newPixelEmitters(rng.New(5), each)
	for i := range s.x.Rows {
		_, y := s.row(i)
		if int(y[0]+4) != i/each%8 || int(y[1]+4) != i/each/8 {
			t.Fatalf("an emitter of pixel %d lies at (%g, %g)", i/each, y[0], y[1])
		}
	}
}

// Where an emitter lies within its pixel says nothing about the number of photons
// of any row.
func TestPixelEmittersAreIndependent(t *testing.T) {
	s := newPixelEmitters(rng.New(6), 60)
	n := s.x.Rows / 2
	place, photons := make([][2]float64, 2*n), make([]float64, 2*n)
	for i := range 2 * n {
		image, y := s.row(i)
		for k := range 2 {
			place[i][k] = float64(y[k]) - math.Floor(float64(y[k]))
		}
		var sum float64
		for _, v := range image {
			sum += float64(v)
		}
		photons[i] = (sum - float64(y[2])) / math.Sqrt(float64(y[2])) // standardised
	}
	for name, row := range map[string]func(i int) int{
		"the same row": func(i int) int { return i }, "the next row": func(i int) int { return i + 1 },
		"twice the row": func(i int) int { return 2 * i }, "twice the row, plus one": func(i int) int { return 2*i + 1 },
	} {
		for k, axis := range []string{"x", "y"} {
			var a, b []float64
			for i := range n {
				a, b = append(a, place[i][k]), append(b, photons[row(i)])
			}
			if r := correlation(a, b); math.Abs(r) > 4.5/math.Sqrt(float64(n)) {
				t.Errorf("%s and the photons of %s correlate by %.3f", axis, name, r)
			}
		}
	}
}

// The table of docs and textbooks: bounds at four places.
func TestEmitterBound(t *testing.T) {
	for _, c := range []struct{ x, y, exact, paper float64 }{
		{0, 0, 0.01189, 0.01103}, {2, 0, 0.01415, 0.01135}, {3.5, 0.5, 0.02373, 0.01615}, {3.5, 3.5, 0.04132, 0.02363},
	} {
		got, _ := emitterBound(c.x, c.y)
		if math.Abs(got-c.exact) > 5.1e-6 {
			t.Errorf("the bound on x at (%g, %g) is %.5f, want %.5f", c.x, c.y, got, c.exact)
		}
		_, swapped := emitterBound(c.y, c.x)
		if swapped != got {
			t.Errorf("mirrored at the diagonal the bound is %g, not %g", swapped, got)
		}
		if p := emitterBlur * emitterBlur / microscope.Mean(c.x, c.y); math.Abs(p-c.paper) > 5.1e-6 {
			t.Errorf("the paper's bound at (%g, %g) is %.5f, want %.5f", c.x, c.y, p, c.paper)
		}
	}
}

// Averages over pixels: symmetric, at least the value of the pixel's best place,
// and those of a fine random sample.
func TestBoundMaps(t *testing.T) {
	exact, paper := boundMaps()
	for _, c := range []struct{ i, j int }{{0, 2}, {3, 6}, {4, 4}, {7, 7}} {
		var e, p float64
		const n = 4000
		for k := range uint64(n) {
			x, y := float64(c.j-4)+rng.Uniform(rng.New(1), 2*k), float64(c.i-4)+rng.Uniform(rng.New(1), 2*k+1)
			bx, by := emitterBound(x, y)
			e += (bx + by) / 2 / n
			p += microscope.Mean(x, y) / n
		}
		at := c.i*8 + c.j
		if math.Abs(exact[at]/e-1) > 0.02 || math.Abs(paper[at]*p/1.05/1.05-1) > 0.02 {
			t.Errorf("pixel (%d, %d): bounds %g and %g, want %g and %g", c.i, c.j, exact[at], paper[at], e, 1.05*1.05/p)
		}
		for _, mirror := range []int{c.j*8 + c.i, (7-c.i)*8 + c.j, c.i*8 + 7 - c.j} {
			if math.Abs(exact[mirror]/exact[at]-1) > 1e-9 {
				t.Errorf("pixels %d and %d have bounds %g and %g, want the same", at, mirror, exact[at], exact[mirror])
			}
		}
	}
}

func BenchmarkEmitter(b *testing.B) {
	s := newEmitters(rng.New(1), 1)
	image, y := s.row(0)
	b.ReportAllocs()
	for i := range b.N {
		microscope.Row(rng.New(1), uint64(i), image, y)
	}
}
