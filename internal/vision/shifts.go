package vision

import (
	"math"
	"slices"

	"utvi/rng"
)

// A Shift is a way in which images that people take later differ from those that were learned from.
type Shift struct {
	Name  string
	apply func(e *easel, dst, room []float32, key rng.Key)
}

// Shifts are those that a report tries, from none on. Lengths are shares of the shorter side, noise and
// contrast of the range from black to white.
var Shifts = []Shift{
	{"as they are", func(*easel, []float32, []float32, rng.Key) {}},
	{"blurred by 3 %", blurred(0.03)},
	{"blurred by 6 %", blurred(0.06)},
	{"noise of 10 %", grainy(0.1)},
	{"noise of 30 %", grainy(0.3)},
	{"turned by 15°", turned(15)},
	{"turned by 45°", turned(45)},
	{"half the contrast", contrasted(0.5)},
	{"twice the contrast", contrasted(2)},
	{"darker by 25 %", darker(0.25)},
}

func blurred(share float64) func(e *easel, dst, room []float32, key rng.Key) {
	return func(e *easel, dst, room []float32, _ rng.Key) {
		e.blur(dst, room, share*float64(min(e.height, e.width)))
	}
}

func grainy(share float64) func(e *easel, dst, room []float32, key rng.Key) {
	return func(e *easel, dst, _ []float32, key rng.Key) {
		for i := range dst {
			s := e.span(i % e.channels)
			dst[i] += float32(share * float64(s.most-s.least) * rng.Normal(key, uint64(i)))
		}
	}
}

func turned(degrees float64) func(e *easel, dst, room []float32, key rng.Key) {
	return func(e *easel, dst, room []float32, _ rng.Key) {
		copy(room, dst)
		turn := *e
		turn.Rotate = degrees
		turn.place(dst, room, func(which uint64, most float64) float64 {
			if which == drawTurn {
				return most
			}
			return 0
		})
	}
}

func contrasted(slope float64) func(e *easel, dst, room []float32, key rng.Key) {
	return func(e *easel, dst, _ []float32, _ rng.Key) {
		for i, v := range dst {
			s := e.span(i % e.channels)
			middle := (s.least + s.most) / 2
			dst[i] = middle + float32(slope)*(v-middle)
		}
	}
}

func darker(share float64) func(e *easel, dst, room []float32, key rng.Key) {
	return func(e *easel, dst, _ []float32, _ rng.Key) {
		for i := range dst {
			s := e.span(i % e.channels)
			dst[i] -= float32(share * float64(s.most-s.least))
		}
	}
}

// Apply returns copies of rows, as a network sees them, whose images are shifted; of says what these
// are.
func (s Shift) Apply(of *Data, x []float32) []float32 {
	e := newEasel(Augment{}, of.Images)
	width := of.width()
	out := slices.Clone(x)
	room := make([]float32, of.Images.Shape().Size())
	for i := range len(x) / width {
		row := of.Known.Pixels(out[i*width : (i+1)*width])
		s.apply(&e, row, room, rng.New(1).Sub(uint64(i), 0))
		for k, v := range row { // as a file would store it
			bound := e.span(k % e.channels)
			if e.spans != nil {
				row[k] = min(max(v, bound.least), bound.most)
			}
		}
	}
	return out
}

// A Showing is what a report shows of the images held out.
type Showing struct {
	Height, Width, Channels int

	Sheets []Sheet
	Shifts []ShiftScores // of each of Shifts
	Images int           // that were shifted
}

// A Sheet is images beside each other.
type Sheet struct {
	Title, Caption string
	Images         []Shown
}

// A Shown image has numbers from 0 to 1.
type Shown struct {
	Pix  []float32
	Text string

	// Heat says of each pixel how much it moved the prediction, from −1 to 1; nil: nobody asked.
	Heat []float32
}

// ShiftScores say how images that are shifted are predicted: classes by their accuracy, −ln p, calibration
// error and mean entropy; a number by its RMSE, the root of the mean predicted variance, and the share
// within 90 % intervals.
type ShiftScores struct {
	Name                        string
	Accuracy, NLL, ECE, Entropy float64
	RMSE, Std, Cover90          []float64 // of each number
}

// Root takes the roots of means of squares.
func (s *ShiftScores) Root() {
	for i := range s.RMSE {
		s.RMSE[i] = math.Sqrt(s.RMSE[i])
		s.Std[i] = math.Sqrt(s.Std[i])
	}
}
