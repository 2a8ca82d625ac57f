package vision

import (
	"cmp"
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/widths"
	"utvi/model"
)

// PixelHead returns a head for images whose pixels have so many numbers in all, and how many images
// it takes at a time.
func PixelHead(e *model.Ensemble, pool *compute.Pool) (head *model.Head, rows int, err error) {
	const numbers = 1 << 20 // of a call, each of which takes some forty bytes
	rows = min(chunk, max(1, numbers/e.Outputs()))
	head, err = e.NewHeadOn(pool, rows, nil)
	return head, rows, err
}

// scorePixels scores the numbers or classes of pixels, once their own correction is found.
func (r *run) scorePixels(e *model.Ensemble, pool *compute.Pool, of sample) (scored, error) {
	head, rows, err := PixelHead(e, pool)
	if err != nil {
		return scored{}, err
	}
	var s scored
	targets := r.data.Targets
	var classes []calibrate.Row[int, dist.Categorical]
	var numbers []Pixel
	step := r.data.pixelStep(of.x.Rows)
	for lo := 0; lo < of.x.Rows; lo += rows {
		out := head.Predict(of.x.Slice(lo, min(of.x.Rows, lo+rows)))
		for i := lo * targets; i < (lo+out.Rows)*targets; i++ {
			if i%step != 0 {
				continue
			}
			at := i - lo*targets
			if k := r.data.Classes; k > 0 {
				classes = append(classes, calibrate.Row[int, dist.Categorical]{
					Target: int(of.y[i]), Prediction: probabilities(out.Mean[at*k : (at+1)*k]), Weight: 1})
				continue
			}
			numbers = append(numbers, Pixel{math.Log(float64(out.Var[at])), float64(of.y[i] - out.Mean[at])})
		}
	}
	if r.data.Classes > 0 {
		s.judge(s.temper(classes))
		return s, nil
	}
	s.curve = FitCurve(numbers)
	s.judgeNumbers(numbers)
	return s, nil
}

// pixelStep is such that every so manieth pixel is scored: enough of them.
func (d *Data) pixelStep(images int) int {
	most := 1 << 21
	if d.Classes > 0 {
		most = 1 << 17 // each has a list of probabilities
	}
	step := 1 + images*d.Targets/most
	for d.Targets%step == 0 && step > 1 { // else the same pixels of every image
		step++
	}
	return step
}

// A Pixel is the logarithm of the variance that is predicted for one, and its error.
type Pixel struct{ LogVar, Err float64 }

// FitCurve finds what variances are multiplied by so that nine of ten pixels lie within 1.645
// standard deviations, among those with small variances as among those with large ones. It is nil if
// there are too few pixels.
func FitCurve(all []Pixel) *widths.Curve {
	const parts, fewest = 16, 400
	all = slices.DeleteFunc(slices.Clone(all), func(p Pixel) bool { return p.LogVar-p.LogVar != 0 || p.Err-p.Err != 0 })
	slices.SortFunc(all, func(a, b Pixel) int { return cmp.Compare(a.LogVar, b.LogVar) })
	c := &widths.Curve{}
	for k := range parts {
		part := all[k*len(all)/parts : (k+1)*len(all)/parts]
		if len(part) < fewest/parts {
			return nil
		}
		var at float64
		ratio := make([]float64, len(part))
		for i, p := range part {
			at += p.LogVar / float64(len(part))
			ratio[i] = math.Abs(p.Err) * math.Exp(-p.LogVar/2)
		}
		slices.Sort(ratio)
		const most = 20 // of the logarithm
		factor := 2 * math.Log(max(ratio[len(ratio)*9/10], 1e-9)/normal90)
		if n := len(c.At); n > 0 && at <= c.At[n-1]+1e-9 {
			continue
		}
		c.At = append(c.At, at)
		c.Log = append(c.Log, min(max(factor, -most), most))
	}
	if len(c.At) < 2 {
		return nil
	}
	return c
}

// normal90 is within how many standard deviations nine of ten draws of a Normal lie.
const normal90 = 1.6448536269514722

// judgeNumbers scores corrected predictions as Normals.
func (s *scored) judgeNumbers(all []Pixel) {
	var sum, square float64
	for _, p := range all {
		v := p.LogVar
		if s.curve != nil {
			v += s.curve.LogFactor(0, v)
		}
		l := 0.5 * (math.Log(2*math.Pi) + v + p.Err*p.Err*math.Exp(-v))
		sum += l
		square += l * l
	}
	n := float64(len(all))
	s.nll = sum / n
	s.se = math.Sqrt(max(0, square/n-s.nll*s.nll) / n)
	if math.IsNaN(s.nll) {
		s.nll = math.Inf(1)
	}
}
