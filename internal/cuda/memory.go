package cuda

import "unsafe"

// A Ptr is an address in the memory of a card.
type Ptr uint64

// Add returns the address n bytes further.
func (p Ptr) Add(n int) Ptr { return p + Ptr(n) }

// Alloc allocates memory on the card. Its contents are not defined.
func (d *Device) Alloc(bytes int) (Ptr, error) {
	var p Ptr
	err := d.do(fnAlloc, uintptr(unsafe.Pointer(&p)), uintptr(max(1, bytes)))
	return p, err
}

// Release frees memory on the card. Work that uses it must have ended.
func (d *Device) Release(p Ptr) {
	if p != 0 {
		d.do(fnFree, uintptr(p))
	}
}

// Pinned allocates memory of the host that the card reads and writes directly, for n
// values. FreePinned frees it.
func Pinned[T any](d *Device, n int) ([]T, error) {
	var p *T
	var zero T
	if err := d.do(fnAllocHost, uintptr(unsafe.Pointer(&p)), uintptr(max(1, n))*unsafe.Sizeof(zero)); err != nil {
		return nil, err
	}
	s := unsafe.Slice(p, n)
	clear(s)
	return s, nil
}

// FreePinned frees memory of Pinned.
func FreePinned[T any](d *Device, s []T) {
	if len(s) > 0 {
		d.do(fnFreeHost, uintptr(unsafe.Pointer(&s[0])))
	}
}

// Upload copies values to the card. The source may be changed after Upload returns,
// unless it is pinned: then it must stay until the stream has passed the copy.
func Upload[T any](s *Stream, to Ptr, from []T) error {
	if len(from) == 0 {
		return nil
	}
	s.memory = unsafe.Pointer(&from[0])
	s.args[0] = uintptr(to)
	s.args[1] = uintptr(s.memory)
	s.args[2] = uintptr(len(from)) * unsafe.Sizeof(from[0])
	s.args[3] = s.handle
	return s.do(fnUpload, 4)
}

// Download copies values from the card. They are there after Sync.
func Download[T any](s *Stream, to []T, from Ptr) error {
	if len(to) == 0 {
		return nil
	}
	s.memory = unsafe.Pointer(&to[0])
	s.args[0] = uintptr(s.memory)
	s.args[1] = uintptr(from)
	s.args[2] = uintptr(len(to)) * unsafe.Sizeof(to[0])
	s.args[3] = s.handle
	return s.do(fnDownload, 4)
}

// Zero sets bytes of the card's memory to 0.
func (s *Stream) Zero(p Ptr, bytes int) error {
	return s.device.do(fnSet, uintptr(p), 0, uintptr(bytes), s.handle)
}
