//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"os"

	"github.com/ebitengine/purego"
)

// LibraryVariable names another library than the driver's, for tests.
const LibraryVariable = "UTVI_LIBCUDA"

func open() error {
	name := os.Getenv(LibraryVariable)
	if name == "" {
		name = "libcuda.so.1"
	}
	lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("no NVIDIA driver was found: %s cannot be loaded", name)
	}
	for i, name := range names {
		addresses[i], err = purego.Dlsym(lib, name)
		if err != nil && i != fnLaunchWith { // newer than the oldest driver
			return fmt.Errorf("the NVIDIA driver has no function %s; version 11.4 of CUDA or later is needed", name)
		}
	}
	return nil
}

//go:uintptrescapes
func call(fn int, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(addresses[fn], args...)
	return uintptr(uint32(r))
}
