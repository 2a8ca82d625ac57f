package cpu

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The caches are those that Linux reports, where it does.
func TestCaches(t *testing.T) {
	got := map[string]int{"1": Cache.L1, "2": Cache.L2, "3": Cache.L3}
	t.Log(Cache)
	if runtime.GOARCH != "amd64" {
		t.Skip("what is usual is taken: there is nothing to compare")
	}
	compared := 0
	for i := range 8 {
		read := func(name string) string {
			b, _ := os.ReadFile("/sys/devices/system/cpu/cpu0/cache/index" + strconv.Itoa(i) + "/" + name)
			return strings.TrimSpace(string(b))
		}
		level := read("level")
		kind := read("type")
		size := read("size")
		n, err := strconv.Atoi(strings.TrimSuffix(size, "K"))
		if err != nil || kind == "Instruction" || got[level] == 0 {
			continue
		}
		compared++
		if got[level] != n<<10 {
			t.Errorf("level %s has %d bytes, the system says %s", level, got[level], size)
		}
	}
	if compared == 0 {
		t.Skip("the system says nothing of its caches")
	}
}

func TestUsualCaches(t *testing.T) {
	for _, c := range []Caches{{}, {-1, 1 << 30, 3}, {48 << 10, 2 << 20, 0}} {
		if u := c.orUsual(); u.L1 < 8<<10 || u.L2 < u.L1 || u.L3 < u.L2 {
			t.Errorf("%v becomes %v", c, u)
		}
	}
	if c := (Caches{48 << 10, 2 << 20, 105 << 20}); c.orUsual() != c {
		t.Errorf("%v becomes %v", c, c.orUsual())
	}
}
