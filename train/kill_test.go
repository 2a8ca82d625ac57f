package train_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"utvi/internal/killtest"
	"utvi/moment"
	"utvi/rng"
	"utvi/train"
)

// killed is the configuration of the run that TestKill cuts down.
func killed(checkpoint string) train.Config {
	c := config()
	c.Steps = 600
	c.Checkpoint = checkpoint
	c.CheckpointEvery = 3
	return c
}

// TestMain lets the test binary be the run that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("UTVI_TRAIN_CHILD"); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(path string) error {
	tr, err := train.New(network(moment.UT(2)), killed(path))
	if err != nil {
		return err
	}
	return tr.Run(context.Background())
}

// A run killed again and again (signal 9) ends with the bits of one that was
// left alone.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	kills := 0
	for i := uint64(0); ; i++ {
		cmd := killtest.Command("UTVI_TRAIN_CHILD=" + path)
		cmd.Stderr = os.Stderr
		killtest.Start(t, cmd)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		life := time.Duration(20+130*rng.Uniform(rng.New(4), i)) * time.Millisecond
		if i >= 12 {
			life = time.Minute // often enough: let it end
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(life):
			cmd.Process.Kill()
			<-done
			kills++
			continue
		}
		break
	}
	if kills == 0 {
		t.Error("every run ended before it was killed: this proves nothing")
	}
	// The finished checkpoint continues to nothing: it holds the end.
	got := network(moment.UT(2))
	if _, err := train.New(got, killed(path)); err != nil {
		t.Fatal(err)
	}
	want := network(moment.UT(2))
	run(t, want, killed(filepath.Join(t.TempDir(), "other.ckpt")))
	if !same(got.Params.Theta, want.Params.Theta) {
		t.Errorf("after %d kills the bits differ", kills)
	}
	t.Logf("%d kills", kills)
}
