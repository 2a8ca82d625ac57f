package model

import (
	"fmt"
	"io"

	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/internal/modelfile"
	"utvi/internal/safetensors"
	"utvi/nn"
	"utvi/vi"
)

// maxInputs bounds the inputs of a row, so that products of sizes do not overflow, and a small
// file cannot ask for much memory.
const maxInputs = 1 << 24

// A description is what a file holds about one network, apart from its weights; package modelfile
// describes the format.
type description = modelfile.Network[Facts]

// Facts describe the training of a network. Trainers write them; predictions do not
// depend on them.
type Facts struct {
	Rows       int               `json:"rows,omitempty"`       // in an epoch
	Steps      int               `json:"steps,omitempty"`      // of training
	Likelihood string            `json:"likelihood,omitempty"` // how the moments were scored
	NLL        float64           `json:"nll,omitempty"`        // at the end, nats per row; 0: not known
	Kernels    string            `json:"kernels,omitempty"`    // the kernel families that ran the steps, such as "avx2, avx512"
	Data       string            `json:"data,omitempty"`       // a description
	Date       string            `json:"date,omitempty"`       // set by the user, if at all, so that files are reproducible
	More       map[string]string `json:"more,omitempty"`
}

// Save writes the network to a file. The file is replaced as a whole or not at all.
// The same network always gives the same bytes.
func (n *Net[T]) Save(path string) error {
	f, err := n.file()
	if err != nil {
		return err
	}
	return f.Save(path)
}

// Write writes the contents of the file that Save makes.
func (n *Net[T]) Write(w io.Writer) error {
	f, err := n.file()
	if err != nil {
		return err
	}
	return f.Write(w)
}

func (n *Net[T]) file() (*modelfile.File, error) {
	f := &modelfile.File{}
	d, err := n.describe(f, "")
	if err == nil {
		err = modelfile.SetNetwork(f, d)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot save the model: %w", err)
	}
	return f, nil
}

// describe adds the network's tensors to f, with prefix before their names, and
// returns the rest of the description.
func (n *Net[T]) describe(f *modelfile.File, prefix string) (description, error) {
	c := n.Config
	d := description{
		Input: [3]int{c.Input.H, c.Input.W, c.Input.C}, Seed: c.Seed, Init: [2]float64{c.Init.RhoMin, c.Init.RhoMax},
		Priors: map[string][2]float64{}, Facts: n.Facts,
	}
	if err := n.Params.CheckFinite(); err != nil {
		return d, err
	}
	var err error
	if n.Likelihood != nil {
		d.Likelihood, err = codec.MarshalLikelihood(n.Likelihood)
		if err != nil {
			return d, err
		}
	}
	d.Layers, err = codec.Marshal(c.Layers)
	if err != nil {
		return d, err
	}
	for _, t := range n.Params.Tensors {
		f.Tensors = append(f.Tensors, asTensor(prefix+t.Name+modelfile.MeanSuffix, t.Shape, t.Mean))
		if t.Random {
			f.Tensors = append(f.Tensors, asTensor(prefix+t.Name+modelfile.RhoSuffix, t.Shape, t.Rho))
			if t.Center != nil {
				f.Tensors = append(f.Tensors, asTensor(prefix+t.Name+modelfile.CenterSuffix, t.Shape, t.Center))
			}
			if t.Spread != nil {
				f.Tensors = append(f.Tensors, asTensor(prefix+t.Name+modelfile.SpreadSuffix, t.Shape, t.Spread))
			}
			d.Priors[t.Name] = [2]float64{t.Prior.Mean, t.Prior.Std}
			if err := checkPrior(t.Name, d.Priors[t.Name]); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

func asTensor[T gauss.Float](name string, shape []int, data []T) safetensors.Tensor {
	t := safetensors.Tensor{Name: name, Shape: shape}
	switch data := any(data).(type) {
	case []float32:
		t.F32 = data
	case []float64:
		t.F64 = data
	}
	return t
}

func checkPrior(name string, p [2]float64) error {
	if err := (vi.Prior{Mean: p[0], Std: p[1]}).Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkInput reports an input shape that a network cannot have.
func checkInput(s nn.Shape) error {
	size := 1
	for _, d := range []int{s.H, s.W, s.C} {
		if d < 1 {
			return fmt.Errorf("the input shape is %v; height, width and channels must be at least 1", s)
		}
		if d > maxInputs/size {
			return fmt.Errorf("the input shape is %v; a row may have at most %d inputs", s, maxInputs)
		}
		size *= d
	}
	return nil
}
