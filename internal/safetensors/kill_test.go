package safetensors

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"utvi/internal/atomicfile"
)

const killedEnv = "UTVI_TEST_WRITE_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedEnv); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(m.Run())
}

// version differs from the other version in every value, and in size.
func version(i int) *File {
	x := make([]float32, 50_000+30_000*i)
	for k := range x {
		x[k] = float32(i)
	}
	return &File{Tensors: []Tensor{{Name: "x", Shape: []int{len(x)}, F32: x}}}
}

func writeUntilKilled(path string) {
	versions := []*File{version(0), version(1)}
	fmt.Println("ready")
	for i := 0; ; i++ {
		if err := atomicfile.Write(path, versions[i%2].Write); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// A writer killed at any moment leaves one whole version or the other.
func TestKilledWriter(t *testing.T) {
	kills, budget := 200, 8*time.Second
	if testing.Short() {
		kills = 20
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := atomicfile.Write(path, version(0).Write); err != nil {
		t.Fatal(err)
	}
	var seen [2]int
	done, midway := 0, 0
	for start := time.Now(); done < kills && time.Since(start) < budget; done++ {
		killOnce(t, path)
		f, err := ReadFile(path)
		if err != nil {
			t.Fatalf("after %d kills: %v", done+1, err)
		}
		seen[checkVersion(t, f)]++
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".model.tmp-*"))
		for _, l := range left {
			os.Remove(l)
		}
		midway += len(left)
	}
	t.Logf("%d kills, %d amid writing; found the versions %d and %d times", done, midway, seen[0], seen[1])
	if midway < done/10 {
		t.Errorf("only %d of %d kills came amid writing: this proves little", midway, done)
	}
}

func killOnce(t *testing.T, path string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killedEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	time.Sleep(rand.N(15 * time.Millisecond))
	child.Process.Kill()
	child.Wait()
	if err != nil {
		t.Fatalf("the writer did not start: %v", err)
	}
}

func checkVersion(t *testing.T, f *File) int {
	t.Helper()
	for i := range 2 {
		if f.HasChecksum && slices.Equal(f.Tensors[0].F32, version(i).Tensors[0].F32) {
			return i
		}
	}
	t.Fatal("the file is neither version")
	return 0
}
