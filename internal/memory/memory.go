// Package memory finds out how much memory a process may still use, and ends it in a sentence
// where a limit would end it without one.
package memory

import (
	"bufio"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available is the memory that is free for use, in bytes: what the system has left, or
// less where a control group (a container, a batch job) or the shell (ulimit -v) sets a limit.
// It is infinite where the system does not say.
func Available() float64 { return available(os.DirFS("/")) }

func available(root fs.FS) float64 {
	free := math.Inf(1)
	if kib, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		free = 1024 * kib
	}
	return max(min(free, allowed(root)), 0)
}

// allowed is what the shell and the control groups leave, infinite where they set no limit, and
// negative where more is in use than they allow.
func allowed(root fs.FS) float64 {
	free := math.Inf(1)
	if limit, ok := addressSpace(root); ok {
		if kib, ok := field(root, "proc/self/status", "VmSize:"); ok {
			free = limit - 1024*kib
		}
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		// 0::/user.slice in version 2, 4:memory:/docker/abc in version 1
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[0] == "0" && part[1] == "":
			free = min(free, version2.free(root, part[2]))
		case part[1] == "memory":
			free = min(free, version1.free(root, part[2]))
		}
	}
	return free
}

// Limited reports whether the shell limits the address space of this process (ulimit -v), which
// the Go runtime cannot exceed and cannot recover from.
func Limited() bool {
	_, ok := addressSpace(os.DirFS("/"))
	return ok
}

// addressSpace returns the process's limit of addresses, in bytes.
func addressSpace(root fs.FS) (float64, bool) {
	limits, _ := fs.ReadFile(root, "proc/self/limits")
	for line := range strings.Lines(string(limits)) {
		soft, ok := strings.CutPrefix(line, "Max address space")
		if !ok {
			continue
		}
		w := strings.Fields(soft)
		if len(w) == 0 {
			return 0, false
		}
		x, err := strconv.ParseFloat(w[0], 64)
		return x, err == nil // "unlimited" is no number
	}
	return 0, false
}

// A hierarchy is where a version of control groups keeps limits and use.
type hierarchy struct{ mount, limit, used, cache string }

var (
	version1 = hierarchy{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	version2 = hierarchy{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
)

// noLimit is less than what version 1 says where there is no limit, and more than any memory.
const noLimit = 1 << 60

// free is the least that a group and those above it leave. A container often sees its
// own group as the mount itself, under a path that only its host knows.
func (h hierarchy) free(root fs.FS, group string) float64 {
	free := math.Inf(1)
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		at := path.Join(h.mount, dir)
		limit, ok1 := number(root, path.Join(at, h.limit))
		used, ok2 := number(root, path.Join(at, h.used))
		if ok1 && ok2 && limit < noLimit {
			// The system drops cached files before it refuses memory.
			cache, _ := field(root, path.Join(at, "memory.stat"), h.cache)
			free = min(free, limit-max(used-cache, 0))
		}
		if dir == "/" {
			return free
		}
	}
}

// number reads the number in a file; "max" is not a number.
func number(root fs.FS, name string) (float64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return x, err == nil
}

// field reads the number after a word at the start of a line.
func field(root fs.FS, name, word string) (float64, bool) {
	f, err := root.Open(name)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if w := strings.Fields(lines.Text()); len(w) > 1 && w[0] == word {
			x, err := strconv.ParseFloat(w[1], 64)
			return x, err == nil
		}
	}
	return 0, false
}
