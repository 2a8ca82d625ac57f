package main

import (
	"math"
	"path/filepath"

	"utvi/examples/internal/show"
	"utvi/gauss"
	"utvi/internal/report"
	"utvi/model"
)

// figure draws how often classes came true that were given a probability, and what becomes of one
// prediction when each letter of the string is changed.
func figure(o show.Options, net *model.Model, p, y []float32) error {
	changed, err := eachLetterChanged(net, "CATTATACAGACGCGCAATC")
	if err != nil {
		return err
	}
	return report.Save(filepath.Join(o.Folder, "sequence.png"), report.Grid{Charts: []report.Chart{reliability(p, y), changed}})
}

// reliability sorts the probabilities of all classes into ten bins.
func reliability(p, y []float32) report.Chart {
	const bins = 10
	var sum, came [bins]float64
	var count [bins]int
	for i, v := range p {
		bin := min(int(v*bins), bins-1)
		sum[bin] += float64(v)
		count[bin]++
		if int(y[i/classes]) == i%classes {
			came[bin]++
		}
	}
	var probability, frequency []float64
	var rows []int
	for bin, n := range count {
		if n > 0 {
			probability = append(probability, sum[bin]/float64(n))
			frequency = append(frequency, came[bin]/float64(n))
			rows = append(rows, n)
		}
	}
	return report.Reliability(probability, frequency, rows)
}

// eachLetterChanged is the probability that TATA comes first, for a string with one letter after the other
// changed to each of the others, and its error bar.
func eachLetterChanged(net *model.Model, text string) (report.Chart, error) {
	const others = letters - 1
	var x []float32
	for at := range text {
		for _, letter := range []byte(alphabet) {
			if letter != text[at] {
				other := []byte(text)
				other[at] = letter
				x = append(x, encoded(other)...)
			}
		}
	}
	x = append(x, encoded([]byte(text))...)
	n := len(text)*others + 1
	head, err := (&model.Ensemble{Members: []*model.Model{net}}).NewHead(n)
	if err != nil {
		return report.Chart{}, err
	}
	p := head.Predict(gauss.Fixed(tokens*letters, x))
	marks := report.Trace{Name: "one letter changed, ± σ", Colour: report.Series(0), Style: report.Marks}
	var names []string
	for at := range text {
		names = append(names, text[at:at+1])
		for k := range others {
			i := (at*others + k) * classes
			mean := float64(p.Mean[i])
			sd := math.Sqrt(float64(p.Weights[i]))
			marks.X = append(marks.X, float64(at)+0.25*float64(k-1))
			marks.Y = append(marks.Y, mean)
			marks.Lo = append(marks.Lo, max(0, mean-sd))
			marks.Hi = append(marks.Hi, min(1, mean+sd))
		}
	}
	whole := report.Level{Name: "as it is", Colour: report.Ink, Y: float64(p.Mean[(n-1)*classes]), Dashed: true}
	return report.Chart{
		Title:  "Which letters matter",
		X:      report.Axis{Label: "letter that is changed", Names: names},
		Y:      report.Axis{Label: "probability: TATA, then GCGC", Min: 0, Max: 1},
		Traces: []report.Trace{marks},
		Levels: []report.Level{whole},
	}, nil
}
