//go:build !linux || !(amd64 || arm64) || nocuda

package cuda

import "errors"

// LibraryVariable names another library than the driver's, for tests.
const LibraryVariable = "UTVI_LIBCUDA"

func open() error {
	return errors.New("this program was built without support for NVIDIA cards; build it for Linux, without the tag nocuda")
}

func call(int, ...uintptr) uintptr { panic("cuda: no driver") }
