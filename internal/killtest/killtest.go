// Package killtest kills processes while they write a file, to see what they leave.
package killtest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const env = "UTVI_TEST_WRITE_UNTIL_KILLED"

// Serve belongs in TestMain. In a process that Writer started it writes versions 0 and
// 1 of a file in turn until it is killed. In any other process it does nothing.
func Serve(prepare func() (write func(path string, version int) error)) {
	path := os.Getenv(env)
	if path == "" {
		return
	}
	write := prepare()
	fmt.Println("ready")
	for i := 0; ; i++ {
		if err := write(path, i%2); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// Writer kills writers of path, each within life of its first writing, and has the file read
// after each: read returns the version it finds whole. Where too few are killed during their
// writing, as on a slow machine or an emulated one, they live longer. It takes eight seconds, or as
// long as a tenth of the kills needs to come during writing.
func Writer(t *testing.T, path string, life time.Duration, read func() (version int, err error)) {
	t.Helper()
	const budget, hang = 8 * time.Second, 5 * time.Minute
	kills := 200
	if testing.Short() {
		kills = 20
	}
	var seen [2]int
	done, midway := 0, 0
	for start := time.Now(); ; done++ {
		enough := done > 0 && midway >= max(1, done/10)
		took := time.Since(start)
		if enough && (done >= kills || took > budget) || took > hang {
			break
		}
		once(t, path, life)
		v, err := read()
		if err != nil {
			t.Fatalf("after %d kills: %v", done+1, err)
		}
		seen[v]++
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*"))
		for _, l := range left {
			os.Remove(l)
		}
		midway += len(left)
		if done%5 == 4 && midway <= done/10 {
			life *= 2
		}
	}
	t.Logf("%d kills, %d during writing; found the versions %d and %d times", done, midway, seen[0], seen[1])
	if midway < max(1, done/10) {
		t.Errorf("only %d of %d kills came during writing: this proves little", midway, done)
	}
}

func once(t *testing.T, path string, life time.Duration) {
	t.Helper()
	child := Command(env + "=" + path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	Start(t, child)
	_, err = bufio.NewReader(out).ReadString('\n')
	time.Sleep(rand.N(life))
	child.Process.Kill()
	child.Wait()
	if err != nil {
		t.Fatalf("the writer did not start: %v", err)
	}
}
