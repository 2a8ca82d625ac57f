// Package cuda calls the driver of NVIDIA cards without cgo: it loads libcuda, which
// comes with the driver, when a card is first asked for. Kernels come as PTX, which the
// driver compiles for the card.
//
// A context of the driver belongs to a thread, so every call binds its goroutine to a
// thread for as long as it takes. Goroutines may share a Device; a Stream belongs to one
// goroutine at a time.
package cuda

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// The functions of the driver, in the order of names.
const (
	fnInit = iota
	fnDriverVersion
	fnDeviceCount
	fnDeviceGet
	fnDeviceName
	fnDeviceMemory
	fnDeviceAttribute
	fnRetain
	fnRelease
	fnSetCurrent
	fnMemInfo
	fnModuleLoad
	fnModuleUnload
	fnModuleFunction
	fnFuncAttribute
	fnAlloc
	fnFree
	fnAllocHost
	fnFreeHost
	fnUpload
	fnDownload
	fnSet
	fnStreamCreate
	fnStreamDestroy
	fnStreamSync
	fnLaunch
	fnLaunchTogether
	fnLaunchWith
	fnBeginCapture
	fnEndCapture
	fnInstantiate
	fnGraphDestroy
	fnExecDestroy
	fnGraphLaunch
	fnEventCreate
	fnEventDestroy
	fnEventRecord
	fnEventSync
	fnEventElapsed
	fnErrorString
	functions
)

var names = [functions]string{
	"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuMemGetInfo_v2",
	"cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction", "cuFuncSetAttribute",
	"cuMemAlloc_v2", "cuMemFree_v2", "cuMemAllocHost_v2", "cuMemFreeHost", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemsetD8Async",
	"cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize", "cuLaunchKernel", "cuLaunchCooperativeKernel", "cuLaunchKernelEx",
	"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphDestroy", "cuGraphExecDestroy", "cuGraphLaunch",
	"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime", "cuGetErrorString",
}

// addresses are those of the functions, after load.
var addresses [functions]uintptr

// version is that of CUDA which the driver supports, after load.
var version int32

// load loads the driver once and starts it.
var load = sync.OnceValue(func() error {
	if err := open(); err != nil {
		return err
	}
	if err := check(fnInit, 0); err != nil {
		return fmt.Errorf("the NVIDIA driver does not start: %w", err)
	}
	if err := check(fnDriverVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return err
	}
	if version < 11040 { // graphs with flags
		return fmt.Errorf("the NVIDIA driver supports CUDA %d.%d; version 11.4 or later is needed", version/1000, version%1000/10)
	}
	return nil
})

// check calls a function and turns its result into an error.
//
//go:uintptrescapes
func check(fn int, args ...uintptr) error {
	if r := call(fn, args...); r != 0 {
		return fault(r)
	}
	return nil
}

// An Info describes a card.
type Info struct {
	Number       int
	Name         string
	Memory       uint64 // bytes
	Major, Minor int    // compute capability
	Processors   int    // streaming multiprocessors
	Shared       int    // bytes of shared memory that a block can have
	Together     bool   // all blocks of a kernel can run at once and wait for one another
	Behind       bool   // a kernel can start while the one before it ends
	Clusters     bool   // blocks can reach into one another's shared memory
}

// Oldest is the oldest compute capability that the kernels run on.
const OldestMajor, OldestMinor = 7, 5

// Devices returns the cards of this machine.
func Devices() ([]Info, error) {
	if err := load(); err != nil {
		return nil, err
	}
	var n int32
	if err := check(fnDeviceCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, fmt.Errorf("the cards cannot be counted: %w", err)
	}
	var all []Info
	for i := range int(n) {
		info, _, err := describe(i)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

func describe(number int) (info Info, handle int32, err error) {
	info.Number = number
	if err := check(fnDeviceGet, uintptr(unsafe.Pointer(&handle)), uintptr(number)); err != nil {
		return info, 0, fmt.Errorf("card %d: %w", number, err)
	}
	name := make([]byte, 128)
	var major, minor, processors, shared, together int32
	for _, q := range []func() error{
		func() error {
			return check(fnDeviceName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(handle))
		},
		func() error { return check(fnDeviceMemory, uintptr(unsafe.Pointer(&info.Memory)), uintptr(handle)) },
		func() error { return check(fnDeviceAttribute, uintptr(unsafe.Pointer(&major)), 75, uintptr(handle)) },
		func() error { return check(fnDeviceAttribute, uintptr(unsafe.Pointer(&minor)), 76, uintptr(handle)) },
		func() error {
			return check(fnDeviceAttribute, uintptr(unsafe.Pointer(&processors)), 16, uintptr(handle))
		},
		func() error { return check(fnDeviceAttribute, uintptr(unsafe.Pointer(&shared)), 97, uintptr(handle)) },
		func() error { return check(fnDeviceAttribute, uintptr(unsafe.Pointer(&together)), 95, uintptr(handle)) },
	} {
		if err := q(); err != nil {
			return info, 0, fmt.Errorf("card %d cannot be described: %w", number, err)
		}
	}
	info.Name = cString(name)
	info.Major = int(major)
	info.Minor = int(minor)
	info.Processors = int(processors)
	info.Shared = int(shared)
	info.Together = together != 0
	info.Behind = major >= 9 && version >= 12030 && addresses[fnLaunchWith] != 0 // such launches can be recorded from 12.3 on
	info.Clusters = major >= 9 && addresses[fnLaunchWith] != 0
	return info, handle, nil
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// A Device is a card that is ready to be used.
type Device struct {
	Info
	handle  int32
	context uintptr
	current []uintptr // arguments that make the context current
	remarks remarks
}

// Open makes a card ready. Numbers count from 0.
func Open(number int) (*Device, error) {
	all, err := Devices()
	if err != nil {
		return nil, err
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("the NVIDIA driver finds no card")
	case number < 0 || number >= len(all):
		return nil, fmt.Errorf("card %d does not exist; this machine has cards 0 to %d", number, len(all)-1)
	}
	d := &Device{}
	d.Info, d.handle, err = describe(number)
	if err != nil {
		return nil, err
	}
	if d.Major*10+d.Minor < OldestMajor*10+OldestMinor {
		return nil, fmt.Errorf("card %d (%s) has compute capability %d.%d; %d.%d or later is needed", number, d.Name, d.Major, d.Minor, OldestMajor, OldestMinor)
	}
	if err := check(fnRetain, uintptr(unsafe.Pointer(&d.context)), uintptr(d.handle)); err != nil {
		return nil, fmt.Errorf("card %d (%s): %w", number, d.Name, err)
	}
	d.current = []uintptr{d.context}
	return d, nil
}

// do calls a function with the context of the card.
//
//go:uintptrescapes
func (d *Device) do(fn int, args ...uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := call(fnSetCurrent, d.current...); r != 0 {
		return fault(r)
	}
	if r := call(fn, args...); r != 0 {
		return fault(r)
	}
	return nil
}

// Free returns how many bytes of memory are free.
func (d *Device) Free() (uint64, error) {
	var free, total uint64
	err := d.do(fnMemInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	return free, err
}
