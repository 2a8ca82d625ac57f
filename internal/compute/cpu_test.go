package compute

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// eachFamily runs f over every kernel family this machine can run.
func eachFamily(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(was bool) { vector = was }(vector)
	vector = false
	t.Run("go", f)
	if hasVector {
		vector = true
		t.Run("avx2", f)
	}
}

// A machine with AVX2 and FMA whose vector kernels are missing must not pass
// by testing the Go twins only.
func TestVectorPresent(t *testing.T) {
	if runtime.GOARCH != "amd64" || strings.Contains(os.Getenv("GODEBUG"), "cpu.") {
		t.Skip("vector kernels are not expected")
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	flags := strings.Fields(string(info))
	has := func(flag string) bool {
		for _, f := range flags {
			if f == flag {
				return true
			}
		}
		return false
	}
	if has("avx2") && has("fma") && Family() != "avx2" {
		t.Error("the CPU has AVX2 and FMA but the vector kernels are not used")
	}
}
