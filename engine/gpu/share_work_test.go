package gpu

import (
	"slices"
	"testing"
)

// All tiles are shared out completely, in few pieces, and evenly.
func TestShare(t *testing.T) {
	type shape struct{ count, length int }
	for _, c := range []struct {
		name                  string
		shapes                []shape
		workers, most         int
		parts, slack, useless int // bounds: of the parts of a tile, of a worker beyond its share, of workers without work
	}{
		{"three layers of 512", []shape{{8, 32}, {16, 64}, {16, 32}, {16, 64}, {16, 32}}, 132, 16, 4, 3, 4},
		{"two layers of 2048", []shape{{224, 32}, {256, 64}, {256, 32}}, 132, 4, 1, 16, 0},
		{"two parts at most", []shape{{8, 32}, {16, 64}}, 132, 2, 2, 32, 132},
		{"no parts", []shape{{8, 32}, {16, 64}}, 132, 1, 1, 64, 132},
		{"short ones", []shape{{6, 1}, {6, 2}, {2, 5}}, 132, 16, 3, 5, 132},
		{"one worker", []shape{{3, 7}, {2, 14}}, 1, 16, 1, 0, 0},
	} {
		var lengths []int
		total := 0
		for _, s := range c.shapes {
			lengths = append(lengths, slices.Repeat([]int{s.length}, s.count)...)
			total += s.count * s.length
		}
		all := share(lengths, c.workers, c.most)
		load := make([]int, c.workers)
		for i, n := range lengths {
			part, at := 0, 0
			for len(all) > 0 && all[0].tile == i {
				p := all[0]
				if p.part != part || p.from != at || p.to <= at || p.worker < 0 || p.worker >= c.workers {
					t.Fatalf("%s: piece %+v of tile %d follows part %d, which ends at %d", c.name, p, i, part-1, at)
				}
				load[p.worker] += p.to - p.from
				part = part + 1
				at = p.to
				all = all[1:]
			}
			if at != n || part > c.parts {
				t.Fatalf("%s: tile %d has %d parts and ends at %d of %d", c.name, i, part, at, n)
			}
		}
		if len(all) != 0 {
			t.Fatalf("%s: pieces are left: %+v", c.name, all)
		}
		idle := 0
		for _, n := range load {
			if n == 0 {
				idle++
			}
		}
		if most := slices.Max(load); most > tiles(total, c.workers)+c.slack || idle > c.useless {
			t.Errorf("%s: a worker has %d blocks, %d workers have none; %d blocks are shared by %d workers", c.name, most, idle, total, c.workers)
		}
	}
}
