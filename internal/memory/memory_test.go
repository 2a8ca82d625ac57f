package memory

import (
	"math"
	"testing"
	"testing/fstest"
)

const (
	meminfo   = "MemTotal:       16000000 kB\nMemFree:          1000 kB\nMemAvailable:    8000 kB\n"
	unlimited = "9223372036854771712\n" // of version 1
)

func TestAvailable(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"nothing is said": {nil, math.Inf(1)},
		"no groups":       {map[string]string{"proc/meminfo": meminfo}, 8192000},
		"ulimit -v": {map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units\nMax address space         3000000              unlimited            bytes\n",
			"proc/self/status": "Name:\tutvi\nVmSize:\t    1000 kB\n",
		}, 1976000},
		"no ulimit": {map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/limits": "Max address space         unlimited            unlimited            bytes\n",
			"proc/self/status": "VmSize:\t    1000 kB\n",
		}, 8192000},
		"version 2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/app\n",
			"sys/fs/cgroup/app/memory.max": "1000000\n", "sys/fs/cgroup/app/memory.current": "700000\n",
			"sys/fs/cgroup/app/memory.stat": "anon 5\nfile 300000\ninactive_file 200000\n",
		}, 500000},
		"version 2, no limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/app\n",
			"sys/fs/cgroup/app/memory.max": "max\n", "sys/fs/cgroup/app/memory.current": "700000\n",
		}, 8192000},
		"version 2, the limit of a group above": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/c/memory.max": "max\n", "sys/fs/cgroup/a/b/c/memory.current": "1\n",
			"sys/fs/cgroup/a/memory.max": "2000\n", "sys/fs/cgroup/a/memory.current": "500\n",
		}, 1500},
		"version 2, in a container whose group is the mount": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../kubepods/pod1\n",
			"sys/fs/cgroup/memory.max": "3000\n", "sys/fs/cgroup/memory.current": "1000\n",
		}, 2000},
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "4000000\n",
			"sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": "1500000\n",
			"sys/fs/cgroup/memory/docker/abc/memory.stat":           "cache 9\ntotal_inactive_file 500000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":            unlimited,
			"sys/fs/cgroup/memory/memory.usage_in_bytes":            "5\n",
		}, 3000000},
		"version 1, in a container": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "600000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "100000\n",
		}, 500000},
		"version 1, no limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": unlimited,
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "100000\n",
		}, 8192000},
		"more in use than allowed": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "1200\n",
		}, 0},
		"nonsense": {map[string]string{
			"proc/meminfo": "MemAvailable: much\n", "proc/self/cgroup": "x\n0::\n:::\n", "sys/fs/cgroup/memory.max": "\n",
		}, math.Inf(1)},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := available(root); got != c.want {
			t.Errorf("%s: %g bytes, want %g", name, got, c.want)
		}
	}
}

func TestAvailableHere(t *testing.T) {
	if b := Available(); !(b > 1<<20) {
		t.Errorf("%g bytes are available to this test", b)
	}
}
