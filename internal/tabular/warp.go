package tabular

import (
	"context"
	"math"
	"slices"

	"utvi/dist"
)

const (
	warpGain = 0.1  // nats per row that a transform must promise, to be tried
	warpSlip = 0.02 // nats per row of held-out rows that it must gain, to be used
)

// proposeWarps returns a transform for each target that is never negative and skewed: the
// one of the Box–Cox family under which the targets look most like a Normal. It is nil if
// no target has one.
func proposeWarps(d Data) []*dist.Warp {
	if d.Classes > 0 || d.Zero == nil {
		return nil
	}
	all := make([]*dist.Warp, d.Outputs())
	least := warpGain
	if d.tiny() && d.kernels() {
		least = 0
	}
	rows := d.some(usualRows)
	for t := range all {
		u := make([]float64, 0, len(rows))
		for _, i := range rows {
			u = append(u, float64(d.Y[i*len(all)+t])-d.Zero[t])
		}
		all[t] = proposeWarp(u, d.Zero[t], least)
	}
	if !slices.ContainsFunc(all, func(w *dist.Warp) bool { return w != nil }) {
		return nil
	}
	return all
}

// A transform must promise so many nats.
func proposeWarp(u []float64, zero, least float64) *dist.Warp {
	// Encoded targets are float32: none cannot be told from 0, and below round they lose
	// their digits.
	none, round := math.Abs(zero)*0x1p-23, math.Abs(zero)*0x1p-17
	slices.Sort(u)
	if u[0] < -none {
		return nil
	}
	first, _ := slices.BinarySearch(u, none) // above 0
	if 2*first > len(u) {
		return nil
	}
	// Zeros lie on the straight part, below the small values; without zeros it begins where
	// no value is.
	low := u[first+(len(u)-first)/20]
	if first == 0 {
		low = u[0] / 10
	}
	low, top := max(low, round), u[len(u)-1]
	if !(top > 10*low) {
		return nil
	}
	_, sd := warpMoments(&dist.Warp{Lambda: 1, Low: low, Top: top, SD: 1}, u)
	var best *dist.Warp
	most := least
	for _, lambda := range []float64{0, 0.25, 0.5} {
		w := &dist.Warp{Lambda: lambda, Low: low, Top: top, SD: 1, Positive: true}
		var slope float64
		for _, x := range u {
			_, s := w.Forward(x)
			slope += s / float64(len(u))
		}
		mean, own := warpMoments(w, u)
		if gain := slope - math.Log(own) + math.Log(sd); gain > most {
			w.Mean = mean
			w.SD = own
			w.Origin = zero
			best, most = w, gain
		}
	}
	return best
}

// warpMoments are mean and standard deviation of what numbers become.
func warpMoments(w *dist.Warp, u []float64) (mean, sd float64) {
	n := float64(len(u))
	for _, u := range u {
		z, _ := w.Forward(u)
		mean += z / n
	}
	for _, u := range u {
		z, _ := w.Forward(u)
		sd += float64((z-mean)*(z-mean)) / n
	}
	return mean, math.Sqrt(sd)
}

// warped returns the data with transformed targets. Their slopes are part of the score, so
// that scores stay comparable.
func (d Data) warped(warps []*dist.Warp) Data {
	k := d.Outputs()
	y := slices.Clone(d.Y)
	d.slopes = make([]float32, len(y))
	for i := range y {
		if w := warps[i%k]; w != nil {
			z, slope := w.Forward(float64(y[i]))
			y[i], d.slopes[i] = float32(z), float32(slope)
		}
	}
	d.Y = y
	return d
}

// decideWarps tries the proposed transforms, and keeps them if held-out rows are more
// probable.
func (r *run) decideWarps(ctx context.Context, folds []fold) error {
	warps := proposeWarps(r.data)
	if warps == nil {
		return nil
	}
	tried := r.judges()
	plain := view{folds, tried, ""}
	bent := view{make([]fold, len(folds)), tried, warpedName}
	for i, f := range folds {
		bent.folds[i] = fold{train: f.train.warped(warps), held: f.held.warped(warps), by: make([][]*result, len(f.by))}
	}
	if err := r.tryViews(ctx, plain, bent); err != nil || ctx.Err() != nil {
		return err
	}
	if bent.score() > plain.score()+warpSlip {
		r.warps, r.data = warps, r.data.warped(warps)
		copy(folds, bent.folds)
	}
	return nil
}

// judges are the candidates by which views of the targets are judged: the first, and in tiny tables those that need
// no training, which are often better there.
func (r *run) judges() []Candidate {
	if !r.data.tiny() {
		return r.candidate[:1]
	}
	return r.candidate
}

// warpedName begins the names of files of trainings with transformed targets.
const warpedName = "transformed-"

// Warp returns the transform of a target, nil if there is none: what networks predict in
// place of the target (see dist.Warped).
func (f *Fitted) Warp(target int) *dist.Warp { return warpOf(f.Warps, target) }

func warpOf(warps []*dist.Warp, target int) *dist.Warp {
	if warps == nil {
		return nil
	}
	return warps[target]
}
