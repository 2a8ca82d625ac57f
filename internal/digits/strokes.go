package digits

import "math"

type point struct{ x, y float64 }

// A stroke is a line through points of the unit square, y downwards.
type stroke []point

// line is the stroke through x, y, x, y, …
func line(xy ...float64) stroke {
	var s stroke
	for i := 0; i < len(xy); i += 2 {
		s = append(s, point{xy[i], xy[i+1]})
	}
	return s
}

// arc is part of an ellipse, angles in degrees clockwise from the right.
func arc(x, y, rx, ry, from, to float64) stroke {
	n := int(math.Abs(to-from)/24) + 1
	var s stroke
	for i := range n + 1 {
		sin, cos := math.Sincos((from + (to-from)*float64(i)/float64(n)) * math.Pi / 180)
		s = append(s, point{x + rx*cos, y + ry*sin})
	}
	return s
}

func join(parts ...stroke) stroke {
	var s stroke
	for _, p := range parts {
		s = append(s, p...)
	}
	return s
}

var digits = [10][]stroke{
	{arc(0.5, 0.5, 0.2, 0.33, -90, 270)},
	{line(0.39, 0.3, 0.52, 0.16, 0.52, 0.84)},
	{join(arc(0.5, 0.34, 0.19, 0.18, 190, 395), line(0.31, 0.83, 0.71, 0.83))},
	{arc(0.48, 0.33, 0.17, 0.17, 205, 450), arc(0.48, 0.67, 0.2, 0.17, 270, 515)},
	{line(0.56, 0.16, 0.28, 0.61, 0.74, 0.61), line(0.6, 0.4, 0.6, 0.85)},
	{line(0.68, 0.17, 0.37, 0.17, 0.35, 0.49), arc(0.48, 0.64, 0.2, 0.2, 230, 505)},
	{join(line(0.62, 0.16, 0.46, 0.28, 0.36, 0.45), arc(0.5, 0.66, 0.18, 0.18, 180, -180))},
	{line(0.3, 0.17, 0.71, 0.17, 0.56, 0.45, 0.45, 0.85)},
	{arc(0.5, 0.32, 0.155, 0.155, 90, 450), arc(0.5, 0.66, 0.19, 0.18, 270, 630)},
	{join(arc(0.5, 0.34, 0.18, 0.18, 0, 360), line(0.67, 0.55, 0.58, 0.84))},
}

var letters = []struct {
	name    byte
	strokes []stroke
}{
	{'A', []stroke{line(0.27, 0.84, 0.5, 0.16, 0.73, 0.84), line(0.36, 0.6, 0.64, 0.6)}},
	{'E', []stroke{line(0.7, 0.17, 0.33, 0.17, 0.33, 0.83, 0.7, 0.83), line(0.33, 0.5, 0.62, 0.5)}},
	{'F', []stroke{line(0.7, 0.17, 0.33, 0.17, 0.33, 0.84), line(0.33, 0.5, 0.62, 0.5)}},
	{'H', []stroke{line(0.3, 0.16, 0.3, 0.84), line(0.7, 0.16, 0.7, 0.84), line(0.3, 0.5, 0.7, 0.5)}},
	{'K', []stroke{line(0.32, 0.16, 0.32, 0.84), line(0.7, 0.16, 0.32, 0.54, 0.72, 0.84)}},
	{'M', []stroke{line(0.25, 0.84, 0.28, 0.16, 0.5, 0.6, 0.72, 0.16, 0.75, 0.84)}},
	{'N', []stroke{line(0.3, 0.84, 0.3, 0.16, 0.7, 0.84, 0.7, 0.16)}},
	{'T', []stroke{line(0.26, 0.17, 0.74, 0.17), line(0.5, 0.17, 0.5, 0.84)}},
	{'W', []stroke{line(0.22, 0.16, 0.36, 0.84, 0.5, 0.35, 0.64, 0.84, 0.78, 0.16)}},
	{'X', []stroke{line(0.29, 0.16, 0.71, 0.84), line(0.71, 0.16, 0.29, 0.84)}},
}

// garments are closed outlines: shirt, trousers, dress, bag and shoe.
var garments = []stroke{
	line(0.35, 0.15, 0.65, 0.15, 0.92, 0.35, 0.82, 0.47, 0.7, 0.4, 0.7, 0.86, 0.3, 0.86, 0.3, 0.4, 0.18, 0.47, 0.08, 0.35),
	line(0.3, 0.1, 0.7, 0.1, 0.75, 0.9, 0.57, 0.9, 0.5, 0.35, 0.43, 0.9, 0.25, 0.9),
	line(0.42, 0.1, 0.58, 0.1, 0.6, 0.4, 0.78, 0.9, 0.22, 0.9, 0.4, 0.4),
	line(0.15, 0.4, 0.35, 0.4, 0.38, 0.2, 0.62, 0.2, 0.65, 0.4, 0.85, 0.4, 0.9, 0.85, 0.1, 0.85),
	line(0.1, 0.45, 0.35, 0.4, 0.6, 0.55, 0.9, 0.62, 0.92, 0.75, 0.1, 0.75),
}
