package compute

import (
	"testing"
	"unsafe"
)

func testMake[T Float](t *testing.T) {
	size := int(unsafe.Sizeof(T(0)))
	for _, n := range []int{0, 1, 1000, sharedFrom/size - 1, sharedFrom / size, 3*sharedFrom/size + 1, hugeFrom/size - 1, hugeFrom / size, hugePage / size, 3*hugePage/size + 5} {
		x := Make[T](n)
		if len(x) != n || cap(x) > n && n*size >= sharedFrom {
			t.Fatalf("%d numbers have length %d and room for %d", n, len(x), cap(x))
		}
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("number %d of %d is %v", i, n, x[i])
			}
			x[i] = 1
		}
		if n*size >= hugeFrom && uintptr(unsafe.Pointer(&x[0]))%hugePage != 0 {
			t.Errorf("%d numbers begin inside a large page", n)
		}
		if n*size >= sharedFrom && uintptr(unsafe.Pointer(&x[0]))%64 != 0 {
			t.Errorf("%d numbers begin inside a cache line", n)
		}
	}
}

func TestMake(t *testing.T) {
	testMake[float32](t)
	testMake[float64](t)
}
