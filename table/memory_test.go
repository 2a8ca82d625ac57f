package table

import (
	"runtime"
	"testing"

	"utvi/internal/compute"
)

// A table far larger than what may be held is read in bounded memory.
func TestBoundedMemory(t *testing.T) {
	pool := compute.NewPool(2)
	defer pool.Close()
	csv := numbersCSV(2000, 20, "%.3f")
	size := 200 << 20
	if testing.Short() {
		size = 80 << 20
	}
	r, err := NewReader(newAgain(csv, size), "a.csv", Options{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	rows := 0
	chunks := 0
	most := uint64(0)
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	err = Each(r, func(c *Chunk) error {
		rows += c.Rows()
		if chunks++; chunks%20 == 0 {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc-min(before, m.HeapAlloc))
		}
		return nil
	})
	if err != nil || rows < size/200 {
		t.Fatal(rows, err)
	}
	if t.Logf("%d rows, at most %d MB", rows, most>>20); most > 64<<20 {
		t.Errorf("%d MB of %d were held", most>>20, size>>20)
	}
}
