package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"utvi/internal/killtest"
	"utvi/model"
	"utvi/nn"
)

func TestMain(m *testing.M) {
	killtest.Serve(func() func(path string, version int) error {
		versions := []*model.Model{version(0), version(1)}
		return func(path string, i int) error { return versions[i].Save(path) }
	})
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

// A process killed at any moment of saving leaves one whole model or the other.
func TestKilledWhileSaving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := version(0).Save(path); err != nil {
		t.Fatal(err)
	}
	killtest.Writer(t, path, 6*time.Millisecond, func() (int, error) {
		m, err := model.Load(path)
		if err != nil {
			return 0, err
		}
		i := (m.Inputs() - 100) / 50
		for _, x := range m.Params.Theta {
			if x != float32(i) {
				return 0, fmt.Errorf("version %d has a weight %v", i, x)
			}
		}
		return i, nil
	})
}
