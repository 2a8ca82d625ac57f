// Package provenance records which program made a result, and on what machine.
package provenance

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"utvi/internal/compute"
)

// A Record is stored beside results.
type Record struct {
	Version string `json:"version"` // with the revision, where the build knows it
	Go      string `json:"go"`
	System  string `json:"system"`
	Kernels string `json:"kernels"`
	CPU     string `json:"cpu,omitempty"`
	Cores   int    `json:"cores"`
	Card    string `json:"card,omitempty"` // that ran networks; the processor did the rest
}

// Here is the record of this process.
func Here() Record {
	return Record{
		Version: Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernels: compute.Family(), CPU: cpu(), Cores: runtime.NumCPU(),
	}
}

// Machine describes the machine in one line.
func (r Record) Machine() string {
	text := fmt.Sprintf("%s, %d cores, %s, %s kernels", cmp.Or(r.CPU, "unknown processor"), r.Cores, r.System, r.Kernels)
	if r.Card != "" {
		text = r.Card + " and " + text
	}
	return text
}

// Short is a version without the revision that it contains.
func Short(version string) string {
	v, revision, ok := strings.Cut(version, " ")
	if ok && len(revision) >= 12 && strings.Contains(v, revision[:12]) {
		return v
	}
	return version
}

// stamp is the version and the revision of a release; the linker sets it (internal/release).
var stamp string

// Version is the module's version, with the revision where the build knows it.
func Version() string {
	if stamp != "" {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			if !strings.Contains(v, s.Value[:min(12, len(s.Value))]) { // the version may contain it already
				v += " " + s.Value
			}
		case s.Key == "vcs.modified" && s.Value == "true":
			v += " modified"
		}
	}
	return v
}

// cpu is the processor's name, if the system knows it.
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
