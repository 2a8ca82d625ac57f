package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

func (k *kernel) compile(ptx []byte) error {
	d := k.device
	text, name := append(bytes.Clone(ptx), 0), append([]byte(k.Name), 0)
	var module uintptr
	l := newBuildLog()
	k.log = l // so it lies on the heap, which does not move: the driver has addresses within it
	defer func() { k.log = nil }()
	err := d.do(fnModuleLoad, uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&text[0])),
		uintptr(len(l.options)), uintptr(unsafe.Pointer(&l.options)), uintptr(unsafe.Pointer(&l.values)))
	runtime.KeepAlive(text)
	runtime.KeepAlive(l)
	if err != nil {
		if why := said(&l.errors); why != nil {
			err = fmt.Errorf("%w (%s)", err, why[0])
		}
		return err
	}
	d.remarks.add(k.Name, said(&l.remarks))
	if err := d.do(fnModuleFunction, uintptr(unsafe.Pointer(&k.handle)), module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
		return err
	}
	runtime.KeepAlive(name)
	if k.most == 0 {
		return nil
	}
	return d.do(fnFuncAttribute, k.handle, 8, uintptr(k.most)) // 8: the most that a launch may ask for
}

// A buildLog is where the driver writes what it has to say of a text that it compiles.
type buildLog struct {
	options         [4]uint32 // the place for remarks, its size, the place for errors, its size
	values          [4]uintptr
	remarks, errors [1 << 12]byte
}

func newBuildLog() *buildLog {
	l := new(buildLog)
	l.options = [...]uint32{3, 4, 5, 6}
	l.values = [...]uintptr{uintptr(unsafe.Pointer(&l.remarks)), uintptr(len(l.remarks)), uintptr(unsafe.Pointer(&l.errors)), uintptr(len(l.errors))}
	return l
}

// said returns the lines of a log that are not empty.
func said(log *[1 << 12]byte) (lines []string) {
	text, _, _ := bytes.Cut(log[:], []byte{0})
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// remarks are those of all kernels that were compiled.
type remarks struct {
	mu  sync.Mutex
	all []string
}

func (r *remarks) add(kernel string, lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range lines {
		r.all = append(r.all, kernel+": "+line)
	}
}

// Remarks returns what the driver said of kernels that it compiled in this process: where products
// must wait for one another, for example. Of a kernel that it has kept from before it says nothing.
func (d *Device) Remarks() []string {
	d.remarks.mu.Lock()
	defer d.remarks.mu.Unlock()
	return slices.Sorted(slices.Values(d.remarks.all))
}
