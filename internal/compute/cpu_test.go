package compute

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// families are those that this architecture can have.
func families() []string {
	switch runtime.GOARCH {
	case "amd64":
		return []string{"go", "avx2", "avx512"}
	case "arm64":
		return []string{"go", "neon"}
	}
	return []string{"go"}
}

// use switches to a family and tells whether this machine has it.
func use(family string) bool {
	vector, wide = family != "go", family == "avx512"
	return (!vector || hasVector) && (!wide || hasWide)
}

// eachFamily runs f over every kernel family, and skips those this machine cannot run.
func eachFamily(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(was, wasWide bool) { vector, wide = was, wasWide }(vector, wide)
	for _, family := range families() {
		has := use(family)
		t.Run(family, func(t *testing.T) {
			if !has {
				t.Skipf("not run: this CPU has no %s, or GODEBUG denies it", family)
			}
			f(t)
		})
	}
}

// TestFamilies sees that the best family runs: a machine that has the instructions of a
// family whose kernels are missing must not pass by testing the others only.
func TestFamilies(t *testing.T) {
	eachFamily(t, func(t *testing.T) { t.Log("this family is tested") })
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
