package train_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

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

// child makes a step for every byte that it is sent, and answers each with a byte.
func child(path string) error {
	tr, err := train.New(network(moment.UT(2)), killed(path))
	if err != nil {
		return err
	}
	signal := make([]byte, 1)
	for _, err := range tr.Steps(context.Background()) {
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(signal); err != nil {
			return err
		}
		if _, err := os.Stdin.Read(signal); err != nil {
			return err
		}
	}
	return nil
}

// A run killed again and again (signal 9) ends with the bits of one that was
// left alone. How far it gets before does not depend on the pace of the machine: it may make so
// many steps, and is killed somewhere among them.
func TestKill(t *testing.T) {
	const kills, allowed = 12, 40
	path := filepath.Join(t.TempDir(), "run.ckpt")
	for i := range kills {
		killAmong(t, path, allowed, 1+int(rng.Uniform(rng.New(4), uint64(i))*(allowed-1)))
	}
	last := killtest.Command("UTVI_TRAIN_CHILD=" + path)
	last.Stderr = os.Stderr
	last.Stdin = bytes.NewReader(make([]byte, killed(path).Steps))
	killtest.Start(t, last)
	if err := last.Wait(); err != nil {
		t.Fatal(err)
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
}

// killAmong starts the run, allows it some steps and kills it when it has made a few of them.
func killAmong(t *testing.T, path string, allowed, few int) {
	t.Helper()
	cmd := killtest.Command("UTVI_TRAIN_CHILD=" + path)
	cmd.Stderr = os.Stderr
	cmd.Stdin = bytes.NewReader(make([]byte, allowed))
	made, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	killtest.Start(t, cmd)
	_, err = io.ReadFull(made, make([]byte, few))
	cmd.Process.Kill()
	cmd.Wait()
	if err != nil {
		t.Fatalf("the run ended before its step %d: %v", few, err)
	}
}
