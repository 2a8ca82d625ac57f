package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/codec"
	"utvi/internal/safetensors"
	"utvi/nn"
	"utvi/vi"
)

// A checkpoint is a safetensors file with the parameters, AdamW's two moments, and the
// facts that must be equal in a run that continues it.

type facts struct {
	Format int    `json:"format"`
	Step   int    `json:"step"`
	Seed   uint64 `json:"seed"`
	Batch  int    `json:"batch"`
	Rows   int    `json:"rows"`
	Draws  int    `json:"draws,omitempty"`
	Prior  string `json:"prior,omitempty"` // how the prior is fitted

	Optimizer  string `json:"optimizer"` // without its rate, which is a function
	Likelihood string `json:"likelihood"`
	Layers     string `json:"layers"` // two networks may have the same tensors but other functions

	NLL     float64 `json:"nll,omitempty"`     // of the last step, for model.Facts
	Kernels string  `json:"kernels,omitempty"` // as in model.Facts
}

// differ describes the first setting in which two runs differ; "" if all are equal.
func (f facts) differ(g facts) string {
	for _, x := range []struct {
		name       string
		have, want any
	}{
		{"seed", f.Seed, g.Seed}, {"batch", f.Batch, g.Batch}, {"rows", f.Rows, g.Rows}, {"draws", f.Draws, g.Draws},
		{"prior", cmp.Or(f.Prior, "fixed"), cmp.Or(g.Prior, "fixed")}, {"likelihood", f.Likelihood, g.Likelihood}, {"optimiser", f.Optimizer, g.Optimizer},
	} {
		if x.have != x.want {
			return fmt.Sprintf("from a run with %s %v; this run has %v", x.name, x.have, x.want)
		}
	}
	return ""
}

const (
	checkpointFormat = 1
	factsKey         = "utvi.checkpoint"
)

func (t *Trainer) facts() facts {
	f := facts{Format: checkpointFormat, Step: t.step, Seed: t.config.Seed, Batch: t.config.Batch, Rows: t.config.Data.Rows(), Draws: t.config.Draws}
	if t.config.Prior != nil {
		f.Prior = t.config.Prior.String()
	}
	f.Likelihood, f.Optimizer = t.config.Likelihood.String(), t.config.Optimizer.String()
	f.Layers = t.layers(codec.Describe)
	f.NLL, f.Kernels = t.net.Facts.NLL, t.net.Facts.Kernels
	return f
}

func (t *Trainer) layers(describe func(nn.Layer) string) string {
	var all []string
	for _, l := range t.net.Config.Layers {
		all = append(all, l.Kind()+" "+describe(l))
	}
	return strings.Join(all, ", ")
}

// Save writes the checkpoint, if the configuration names one. It refuses to write
// parameters that are not finite, so that the last good checkpoint stays.
func (t *Trainer) Save() error {
	if t.config.Checkpoint == "" {
		return nil
	}
	if err := t.program.Sync(); err != nil {
		return fmt.Errorf("train: step %d: %w; the checkpoint was left as it is", t.step, err)
	}
	if err := t.program.State().Params.CheckFinite(); err != nil {
		return fmt.Errorf("train: step %d: %w; the checkpoint was left as it is", t.step, err)
	}
	meta, err := json.Marshal(t.facts())
	if err != nil {
		return err
	}
	f := &safetensors.File{Metadata: map[string]string{factsKey: string(meta)}}
	if t.config.Prior != nil {
		f.Metadata[priorsKey], err = t.priors()
		if err != nil {
			return err
		}
	}
	t.tensors(func(name string, shape []int, data []float32) error {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Shape: shape, F32: data})
		return nil
	})
	return atomicfile.Write(t.config.Checkpoint, func(w io.Writer) error { return f.Write(w) })
}

// tensors visits every tensor of a checkpoint.
func (t *Trainer) tensors(visit func(name string, shape []int, data []float32) error) error {
	state := t.program.State()
	sets := []struct {
		suffix string
		p      *vi.Params[float32]
	}{{"", state.Params}, {".adam1", state.First}, {".adam2", state.Second}}
	for _, s := range sets {
		for _, x := range s.p.Tensors {
			if err := visit(x.Name+".mean"+s.suffix, x.Shape, x.Mean); err != nil {
				return err
			}
			if x.Random {
				if err := visit(x.Name+".rho"+s.suffix, x.Shape, x.Rho); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// resume continues from the checkpoint if there is one.
func (t *Trainer) resume() error {
	path := t.config.Checkpoint
	if path == "" {
		return nil
	}
	f, err := safetensors.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return canCheckpoint(path)
	}
	if err != nil {
		return fmt.Errorf("train: checkpoint: %w; name another file, or remove it to start again", err)
	}
	if err := t.load(f); err != nil {
		return fmt.Errorf("train: checkpoint %s: %w", path, err)
	}
	t.net.Changed()
	return nil
}

// canCheckpoint reports, before hours of training and not after, that the checkpoint
// cannot be written.
func canCheckpoint(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("train: checkpoint %s: the folder %s does not exist", path, dir)
	}
	if err := atomicfile.Writable(dir); err != nil {
		return fmt.Errorf("train: checkpoint %s: %w", path, err)
	}
	return nil
}

// load continues from a checkpoint. Everything is checked before anything is changed.
func (t *Trainer) load(f *safetensors.File) error {
	var have facts
	if err := json.Unmarshal([]byte(f.Metadata[factsKey]), &have); err != nil {
		return errors.New("not a training checkpoint")
	}
	if err := t.continues(have); err != nil {
		return err
	}
	byName := make(map[string]safetensors.Tensor, len(f.Tensors))
	for _, x := range f.Tensors {
		byName[x.Name] = x
	}
	err := t.tensors(func(name string, shape []int, data []float32) error {
		if x, ok := byName[name]; !ok || len(x.F32) != len(data) {
			return fmt.Errorf("no tensor %s of shape %v; the checkpoint is from another network", name, shape)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var priors []float64
	if t.config.Prior != nil {
		priors, err = t.readPriors(f.Metadata[priorsKey])
		if err != nil {
			return err
		}
	}
	for i, std := range priors {
		t.program.State().Params.Tensors[i].Prior.Std = std
	}
	t.tensors(func(name string, _ []int, data []float32) error {
		copy(data, byName[name].F32)
		return nil
	})
	if err := t.program.Load(); err != nil {
		return err
	}
	t.step = have.Step
	if t.step > 0 {
		t.record(have.NLL)
		t.net.Facts.Kernels = have.Kernels
	}
	return nil
}

// continues reports why this training cannot continue from a checkpoint with the given facts.
func (t *Trainer) continues(have facts) error {
	want := t.facts()
	want.Step = have.Step
	switch {
	case have.Format != want.Format:
		return fmt.Errorf("format %d; this version reads format %d", have.Format, want.Format)
	case have.Layers != want.Layers && have.Layers != t.layers(codec.DescribeWithoutDefaults):
		return fmt.Errorf("from another network, %s; this network is %s", have.Layers, want.Layers)
	case have.differ(want) != "":
		return fmt.Errorf("%s; use the same settings or remove the file", have.differ(want))
	case have.Step < 0:
		return fmt.Errorf("impossible step %d", have.Step)
	case have.Step > t.config.Steps:
		return fmt.Errorf("from step %d, beyond the %d steps of this training; set more steps or remove the file", have.Step, t.config.Steps)
	}
	return nil
}
