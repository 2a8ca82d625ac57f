package engine

import (
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/product"
)

// A worker alone takes whole tiles that fit its caches, or all rows at once.
func TestOneWorkerRows(t *testing.T) {
	defer func(was int) { oneBlock = was }(oneBlock)
	for _, l2 := range []int{512 << 10, 2 << 20} {
		oneBlock = blockLimit(compute.Caches{L2: l2})
		for batch := 1; batch <= 3000; batch++ {
			for _, far := range []bool{false, true} {
				most := maxBlock
				if far && oneBlock > maxBlock {
					most = farBlock
				}
				rows := oneWorkerRows(batch, far)
				if batch <= oneBlock && rows == batch {
					continue
				}
				if batch <= oneBlock || rows > most || rows%(2*product.MR) != 0 || batch > most*(batch+rows-1)/rows {
					t.Fatalf("second-level cache of %d bytes, weights far: %v; %d rows are cut into blocks of %d", l2, far, batch, rows)
				}
			}
		}
	}
	if near, far := oneWorkerRows(1024, false), oneWorkerRows(1024, true); near != 96 || far != 264 {
		t.Errorf("1024 rows are cut into blocks of %d, or of %d where weights are far", near, far)
	}
}
