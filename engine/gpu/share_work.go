package gpu

import "slices"

// A piece is a stretch of a tile's depth, in blocks, that one worker multiplies: part number
// so of the tile.
type piece struct{ worker, tile, part, from, to int }

// pieceCost is how many blocks of the depth could be multiplied while a piece begins and
// ends; leastPiece is the length of the shortest ones.
const pieceCost, leastPiece = 2, 3

// share cuts tiles of some lengths into pieces so that all workers have about as much to do,
// and a tile has few pieces. Where each worker has many tiles, none is cut. The pieces are in
// the order of the tiles.
func share(lengths []int, workers, most int) []piece {
	total, longest := 0, 0
	for _, n := range lengths {
		total, longest = total+n, max(longest, n)
	}
	if most == 1 || total >= 3*workers*longest {
		return deal(lengths, workers)
	}
	for each := max(tiles(total, workers), leastPiece) + pieceCost; ; each++ {
		if all, ok := fill(lengths, workers, most, each); ok {
			return all
		}
	}
}

// fill fills one worker behind the other up to the same amount, and reports whether that is
// enough for all tiles.
func fill(lengths []int, workers, most, each int) (all []piece, ok bool) {
	worker, used := 0, 0
	for i, n := range lengths {
		part := 0
		for from := 0; from < n; part++ {
			if used > 0 && used+pieceCost+min(leastPiece, n-from) > each {
				worker, used = worker+1, 0
			}
			to := min(n, from+each-used-pieceCost)
			if left := n - to; left > 0 && left < leastPiece {
				to = max(from+1, n-leastPiece)
			}
			if worker == workers || part == most {
				return nil, false
			}
			all = append(all, piece{worker, i, part, from, to})
			used, from = used+pieceCost+to-from, to
		}
	}
	return all, true
}

// deal gives whole tiles to workers, the longest first, each to the worker that has least to do.
func deal(lengths []int, workers int) (all []piece) {
	load := make([]int, min(workers, len(lengths)))
	for i, n := range lengths {
		all = append(all, piece{tile: i, to: n})
	}
	slices.SortStableFunc(all, func(a, b piece) int { return b.to - a.to })
	for i := range all {
		worker := 0
		for j := range load {
			if load[j] < load[worker] {
				worker = j
			}
		}
		all[i].worker = worker
		load[worker] += pieceCost + all[i].to
	}
	slices.SortFunc(all, func(a, b piece) int { return a.tile - b.tile })
	return all
}
