package list

import (
	"math"
	"slices"
)

// A Chain is localisations of one blink, the numbers of rows in the order of frames.
type Chain []int

// Chains links localisations of successive frames that are of one molecule: within radius of the place
// where it was last, with at most so many dark frames between. The nearest two go together first;
// of one frame at most one localisation joins a chain.
func Chains(all []Localisation, radius float64, dark int) []Chain {
	order := byFrame(all)
	var chains []Chain
	var open []int // chains that may go on
	for first := 0; first < len(order); {
		frame := all[order[first]].Frame
		end := first
		for end < len(order) && all[order[end]].Frame == frame {
			end++
		}
		open = slices.DeleteFunc(open, func(c int) bool {
			chain := chains[c]
			return frame-all[chain[len(chain)-1]].Frame > dark+1
		})
		taken := joinFrame(all, chains, open, order[first:end], radius)
		for k, row := range order[first:end] {
			if !taken[k] {
				open = append(open, len(chains))
				chains = append(chains, Chain{row})
			}
		}
		first = end
	}
	return chains
}

func byFrame(all []Localisation) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return all[a].Frame - all[b].Frame })
	return order
}

// A cellKey is a square of the size of a radius.
type cellKey struct{ x, y int }

// joinFrame adds rows of one frame to open chains, and says which ones.
func joinFrame(all []Localisation, chains []Chain, open, rows []int, radius float64) []bool {
	taken := make([]bool, len(rows))
	if len(open) == 0 {
		return taken
	}
	key := func(l *Localisation) cellKey {
		return cellKey{int(math.Floor(l.X / radius)), int(math.Floor(l.Y / radius))}
	}
	cells := map[cellKey][]int{}
	for _, c := range open {
		l := &all[chains[c][len(chains[c])-1]]
		cells[key(l)] = append(cells[key(l)], c)
	}
	type pair struct {
		d2         float64
		row, chain int
	}
	var pairs []pair
	for k, row := range rows {
		l := &all[row]
		at := key(l)
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				for _, c := range cells[cellKey{at.x + dx, at.y + dy}] {
					o := &all[chains[c][len(chains[c])-1]]
					d2 := (l.X-o.X)*(l.X-o.X) + (l.Y-o.Y)*(l.Y-o.Y)
					if d2 <= radius*radius {
						pairs = append(pairs, pair{d2, k, c})
					}
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		switch {
		case a.d2 < b.d2:
			return -1
		case a.d2 > b.d2:
			return 1
		case a.row != b.row:
			return a.row - b.row
		}
		return a.chain - b.chain
	})
	used := map[int]bool{}
	for _, p := range pairs {
		if !taken[p.row] && !used[p.chain] {
			taken[p.row] = true
			used[p.chain] = true
			chains[p.chain] = append(chains[p.chain], rows[p.row])
		}
	}
	return taken
}

// Link makes one localisation of each chain: places are means with weights 1/σ², photons are added.
// What all rows of a chain have in common, such as a wrong width, does not average out: the error
// bars are those of independent errors.
func Link(all []Localisation, radius float64, dark int) []Localisation {
	var linked []Localisation
	for _, chain := range Chains(all, radius, dark) {
		linked = append(linked, together(all, chain))
	}
	return linked
}

func together(all []Localisation, chain Chain) Localisation {
	l := all[chain[0]]
	if len(chain) == 1 {
		return l
	}
	var x, y, wx, wy, photons, photonVar, misfit, back, off float64
	rho, ground := 0.0, 0.0
	for _, row := range chain {
		m := &all[row]
		ax, ay := 1/(m.SX*m.SX), 1/(m.SY*m.SY)
		x += ax * m.X
		y += ay * m.Y
		wx += ax
		wy += ay
		photons += m.Photons
		photonVar += m.Photon * m.Photon
		misfit += m.Misfit
		back += m.Background
		ground += m.Ground * m.Ground
		rho += m.Cov / (m.SX * m.SY)
		off = max(off, 1-m.Probability)
		l.Saturated = l.Saturated || m.Saturated
		l.Outside = l.Outside || m.Outside
		l.Doubt = max(l.Doubt, m.Doubt)
	}
	n := float64(len(chain))
	l.X = x / wx
	l.Y = y / wy
	l.SX = 1 / math.Sqrt(wx)
	l.SY = 1 / math.Sqrt(wy)
	l.Cov = rho / n * l.SX * l.SY
	l.Photons = photons
	l.Photon = math.Sqrt(photonVar)
	l.Misfit = misfit / n
	l.Background = back / n
	l.Ground = math.Sqrt(ground) / n
	l.Probability = 1 - off
	l.Bound /= math.Sqrt(n)
	l.JointX /= math.Sqrt(n)
	l.JointY /= math.Sqrt(n)
	return l
}

// Merge puts tables one after the other; the frames of each follow those of the one before, if they
// were recorded one after the other, or keep their numbers.
func Merge(tables [][]Localisation, follow bool) []Localisation {
	var all []Localisation
	first := 0
	for _, t := range tables {
		last := 0
		for _, l := range t {
			last = max(last, l.Frame+1)
			l.Frame += first
			all = append(all, l)
		}
		if follow {
			first += last
		}
	}
	return all
}
