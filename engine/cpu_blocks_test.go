package engine

import (
	"testing"

	"utvi/internal/compute"
)

// Blocks fit the scratch, and give every worker as much to do.
func TestBlockRows(t *testing.T) {
	defer func(was int) { oneBlock = was }(oneBlock)
	for _, l2 := range []int{512 << 10, 1 << 20} {
		oneBlock = blockLimit(compute.Caches{L2: l2})
		testBlockRows(t)
	}
}

func testBlockRows(t *testing.T) {
	for batch := 1; batch <= 3000; batch++ {
		for _, workers := range []int{1, 2, 3, 4, 16, 64} {
			rows := blockRows(batch, workers)
			switch {
			case batch <= minBlock || workers == 1 && batch <= oneBlock:
				if rows != batch {
					t.Fatalf("one worker takes %d rows in blocks of %d", batch, rows)
				}
				continue
			case rows < minBlock || rows > maxBlock || rows >= batch:
				t.Fatalf("batch %d, %d workers: blocks of %d rows", batch, workers, rows)
			case workers == 1 && rows%(2*compute.MR) != 0:
				t.Fatalf("batch %d: blocks of %d rows are not whole tiles", batch, rows)
			}
			share := max(minBlock, (batch+workers-1)/workers)
			if longest := longestShare(batch, rows, workers); longest > share+share/16+4 {
				t.Fatalf("batch %d, %d workers: blocks of %d rows give one %d rows, the others %d", batch, workers, rows, longest, share)
			}
		}
	}
	for workers, want := range map[int]int{1: 96, 2: 64, 4: 64, 8: 64, 16: 64} {
		if rows := blockRows(1024, workers); rows != want {
			t.Errorf("1024 rows for %d workers are cut into blocks of %d", workers, rows)
		}
	}
}

// The longest share is what workers take who begin the next block when they are done.
func TestLongestShare(t *testing.T) {
	for batch := 1; batch < 500; batch += 7 {
		for _, size := range []int{1, 8, 24, 96} {
			for _, workers := range []int{1, 2, 5, 16} {
				taken := make([]int, workers)
				longest := 0
				for lo := 0; lo < batch; lo += size {
					first := 0
					for w := range taken {
						if taken[w] < taken[first] {
							first = w
						}
					}
					taken[first] += min(size, batch-lo)
					longest = max(longest, taken[first])
				}
				if got := longestShare(batch, size, workers); got != longest {
					t.Fatalf("%d rows in blocks of %d, %d workers: one takes %d, not %d", batch, size, workers, longest, got)
				}
			}
		}
	}
}
