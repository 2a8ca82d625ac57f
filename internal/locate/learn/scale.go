package learn

import (
	"math"
	"slices"

	"utvi/internal/locate/net"
)

// A held row is what a network says of a window that it was not trained on.
type heldRow struct {
	widening float64
	z        [2]float64 // errors in terms of predicted standard deviations
	doubt    float64
	alone    bool
}

// Settle measures on held-out windows what belongs to a network: the scale of its standard
// deviations, and where its training ended.
func Settle(n *net.Net, trained, held *Windows) {
	n.Facts.Scale = net.Scale{}
	n.Facts.Begin = begin(trained)
	rows := predictions(n, held)
	var doubts []float64
	for k := range 2 {
		var group []heldRow
		for _, r := range rows {
			if r.alone == (k == 0) {
				group = append(group, r)
			}
		}
		n.Facts.Scale.At[k], n.Facts.Scale.Times[k] = scale(group)
	}
	for _, r := range rows {
		doubts = append(doubts, r.doubt)
	}
	slices.Sort(doubts)
	const tail = 0.002
	n.Facts.Doubt = doubts[min(int((1-tail)*float64(len(doubts))), len(doubts)-1)]
	for k := range net.Watched {
		var all []float32
		for i := range trained.Rows {
			all = append(all, net.Seen(trained.X[i*net.Inputs:][:net.Inputs])[k])
		}
		slices.Sort(all)
		const almost = net.Farthest - 0.01 // what is cut off there may be anything
		n.Facts.Low[k] = max(all[int(tail/2*float64(len(all)))], -almost)
		n.Facts.High[k] = min(all[int((1-tail/2)*float64(len(all)-1))], almost)
	}
}

// begin is the mean size of inputs and of targets among the first rows.
func begin(w *Windows) (b [2]float64) {
	rows := min(w.Rows, 1000)
	for _, x := range w.X[:rows*net.Inputs] {
		b[0] += math.Abs(float64(x)) / float64(rows*net.Inputs)
	}
	for _, y := range w.Y[:rows*targets] {
		b[1] += math.Abs(float64(y)) / float64(rows*targets)
	}
	return b
}

// predictions of the rows whose errors are known.
func predictions(n *net.Net, w *Windows) (all []heldRow) {
	c := n.NewCorrector()
	for from := 0; from < w.Rows; from += net.Rows {
		count := min(net.Rows, w.Rows-from)
		for i := range count {
			copy(c.Row(i), w.X[(from+i)*net.Inputs:][:net.Inputs])
		}
		c.Predict(count)
		for i := range count {
			y := w.Y[(from+i)*targets:][:targets]
			if y[knownAt] == 0 {
				continue
			}
			m, v := c.Mean[i*net.Said:], c.Vary[i*net.Said:]
			d := c.Doubt[i*net.Said:]
			r := heldRow{widening: net.Widening(v[net.OfX], v[net.OfY]), doubt: (d[net.OfX] + d[net.OfY]) / 2, alone: net.Alone(c.Row(i))}
			for k := range r.z {
				r.z[k] = math.Abs(float64(y[k])-m[k]) / math.Sqrt(v[k])
			}
			all = append(all, r)
		}
	}
	return all
}

// scale finds the factor by which 90 % of the intervals hold the truth, in parts of equal size.
func scale(rows []heldRow) (at, times []float64) {
	const most, least = 10, 400
	slices.SortStableFunc(rows, func(a, b heldRow) int {
		switch {
		case a.widening < b.widening:
			return -1
		case a.widening > b.widening:
			return 1
		}
		return 0
	})
	parts := min(most, len(rows)/least)
	for k := range parts {
		part := rows[k*len(rows)/parts : (k+1)*len(rows)/parts]
		var z []float64
		for _, r := range part {
			z = append(z, r.z[0], r.z[1])
		}
		slices.Sort(z)
		const ninety = 1.6448536269514722
		at = append(at, part[len(part)/2].widening)
		times = append(times, z[len(z)*9/10]/ninety)
	}
	return at, times
}
