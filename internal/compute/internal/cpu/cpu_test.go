package cpu

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestFamilies sees that the best family runs: a machine that has the instructions of a
// family whose kernels are missing must not pass by testing the others only.
func TestFamilies(t *testing.T) {
	for _, family := range Families() {
		t.Logf("%s: %v", family, Has(family))
	}
	if strings.Contains(os.Getenv("GODEBUG"), "cpu.") {
		t.Skip("GODEBUG chooses the family")
	}
	if runtime.GOARCH == "arm64" && Family() != "neon" {
		t.Errorf("the CPU can run the kernels of neon, but those of %s are used", Family())
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("what the CPU has is not known here")
	}
	has := map[string]bool{}
	for _, f := range strings.Fields(string(info)) {
		has[f] = true
	}
	want := "go"
	switch {
	case !has["avx2"] || !has["fma"]:
	case has["bmi2"] && has["avx512f"] && has["avx512dq"] && has["avx512bw"] && has["avx512vl"]:
		want = "avx512"
	default:
		want = "avx2"
	}
	if Family() != want {
		t.Errorf("the CPU can run the kernels of %s, but those of %s are used", want, Family())
	}
}
