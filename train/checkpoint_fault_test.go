package train_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"utvi/internal/atomicfile"
	"utvi/internal/inputfile"
	"utvi/model"
	"utvi/moment"
	"utvi/train"
)

// A disk that fails at any call of a checkpoint's write stops the training with one sentence, and
// the training continues from the last whole checkpoint to the bits of an undisturbed one.
func TestDiskFailsUnderACheckpoint(t *testing.T) {
	defer func() { atomicfile.Fault = nil }()
	c := config()
	c.Steps = 4
	c.CheckpointEvery = 1
	c.Checkpoint = filepath.Join(t.TempDir(), "undisturbed.ckpt")
	want := network(moment.UT(2))
	run(t, want, c)

	for failing := 0; ; failing++ {
		c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
		calls := 0
		atomicfile.Fault = func(string) error {
			calls++
			if calls-1 == failing {
				return syscall.ENOSPC
			}
			return nil
		}
		err := advance(network(moment.UT(2)), c)
		atomicfile.Fault = nil
		if calls <= failing {
			if err != nil {
				t.Errorf("nothing failed, but %v", err)
			}
			if failing < 10 {
				t.Errorf("only %d calls could fail", failing)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.Checkpoint) {
			t.Errorf("call %d fails: the error is %v", failing, err)
		}
		again := network(moment.UT(2))
		if err := advance(again, c); err != nil {
			t.Fatalf("call %d failed; the training does not continue: %v", failing, err)
		}
		if !same(again.Params.Theta, want.Params.Theta) {
			t.Fatalf("call %d failed; the parameters have other bits", failing)
		}
	}
}

// advance trains to the end, or to the first error.
func advance(m *model.Model, c train.Config) error {
	tr, err := train.New(m, c)
	if err != nil {
		return err
	}
	defer tr.Close()
	return tr.Run(context.Background())
}

// A checkpoint that cannot be read to its end continues nothing, says so in one sentence, and
// stays: once the disk reads again, the training continues to the bits of an undisturbed one.
func TestCheckpointCannotBeRead(t *testing.T) {
	defer func() { inputfile.Fault = nil }()
	c := config()
	c.Steps = 4
	want := network(moment.UT(2))
	run(t, want, c)
	c.CheckpointEvery = 2
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tr, err := train.New(network(moment.UT(2)), c)
	if err != nil {
		t.Fatal(err)
	}
	for s := range tr.Steps(ctx) {
		if s.Step == 3 {
			stop()
		}
	}
	tr.Close()
	for _, reason := range []error{syscall.EIO, io.EOF} {
		for failing := 0; ; failing++ {
			calls := 0
			inputfile.Fault = func(_ string, n int) (int, error) {
				calls++
				if calls-1 < failing {
					return n, nil
				}
				return 0, reason
			}
			err := advance(network(moment.UT(2)), c)
			inputfile.Fault = nil
			if calls <= failing {
				break
			}
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.Checkpoint) {
				t.Errorf("read %d ends with %v: the error is %v", failing, reason, err)
			}
			if err == nil {
				return
			}
		}
	}
	again := network(moment.UT(2))
	if err := advance(again, c); err != nil || !same(again.Params.Theta, want.Params.Theta) {
		t.Errorf("the training does not continue as it was: %v", err)
	}
}
