package model_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"utvi/model"
	"utvi/nn"
)

const killedEnv = "UTVI_TEST_SAVE_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedEnv); path != "" {
		saveUntilKilled(path)
	}
	os.Exit(m.Run())
}

// version is a network all of whose weights are i; the two differ in size too.
func version(i int) *model.Model {
	m, err := model.New(model.Config{Input: nn.Vec(100 + 50*i), Layers: nn.Chain{nn.Dense{Out: 200}}})
	if err != nil {
		panic(err)
	}
	for k := range m.Params.Theta {
		m.Params.Theta[k] = float32(i)
	}
	return m
}

func saveUntilKilled(path string) {
	versions := []*model.Model{version(0), version(1)}
	fmt.Println("ready")
	for i := 0; ; i++ {
		if err := versions[i%2].Save(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// A process killed at any moment of saving leaves one whole model or the other.
func TestKilledWhileSaving(t *testing.T) {
	kills, budget := 200, 8*time.Second
	if testing.Short() {
		kills = 20
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := version(0).Save(path); err != nil {
		t.Fatal(err)
	}
	var seen [2]int
	done, midway := 0, 0
	for start := time.Now(); done < kills && time.Since(start) < budget; done++ {
		killOnce(t, path)
		m, err := model.Load(path)
		if err != nil {
			t.Fatalf("after %d kills: %v", done+1, err)
		}
		seen[whole(t, m)]++
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".model.tmp-*"))
		for _, l := range left {
			os.Remove(l)
		}
		midway += len(left)
	}
	t.Logf("%d kills, %d amid saving; found the versions %d and %d times", done, midway, seen[0], seen[1])
	if midway < done/10 {
		t.Errorf("only %d of %d kills came amid saving: this proves little", midway, done)
	}
}

func whole(t *testing.T, m *model.Model) int {
	t.Helper()
	i := (m.Inputs() - 100) / 50
	for _, x := range m.Params.Theta {
		if x != float32(i) {
			t.Fatalf("version %d has a weight %v", i, x)
		}
	}
	return i
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
	time.Sleep(rand.N(6 * time.Millisecond))
	child.Process.Kill()
	child.Wait()
	if err != nil {
		t.Fatalf("the writer did not start: %v", err)
	}
}
