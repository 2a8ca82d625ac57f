package engine

import (
	"testing"

	"utvi/internal/compute"
)

// Blocks fit the scratch, are whole tiles, and give every worker as much to do.
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
			if workers == 1 && batch <= oneBlock {
				if rows != batch {
					t.Fatalf("one worker takes %d rows in blocks of %d", batch, rows)
				}
				continue
			}
			if rows < 1 || rows > maxBlock || rows != batch && rows%compute.MR != 0 {
				t.Fatalf("batch %d, %d workers: blocks of %d rows", batch, workers, rows)
			}
			if blocks := (batch + rows - 1) / rows; rows > minBlock && blocks > (batch+workers*maxBlock-1)/(workers*maxBlock)*max(2, workers) {
				t.Fatalf("batch %d, %d workers: %d blocks", batch, workers, blocks)
			}
		}
	}
	if rows := blockRows(1024, 16); rows != 66 {
		t.Errorf("1024 rows for 16 workers are cut into blocks of %d", rows)
	}
}
