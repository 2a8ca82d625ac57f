package laplace

import (
	"errors"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// Jacobians computes how a network's outputs vary with the means of its weights, for blocks of rows. It
// must be used by one goroutine at a time. It sees the weights as they were when it was made.
type Jacobians[T gauss.Float] struct {
	net    *model.Net[T]
	unit   nn.Unit[T]
	runner nn.Runner[T]
	tape   []T
	out    gauss.Batch[T]
	k      int

	rows    *Rows     // that are being filled
	first   int       // of the block, among them
	outputs []float64 // means of the linearised outputs of the block
}

// block is how many rows go through a network at a time.
const block = 64

// NewJacobians binds a network to tell its Jacobians. Outputs are those of its nn.Correlated; a network
// without one is taken as if all layers up to the last with weights carried correlations.
func NewJacobians[T gauss.Float](n *model.Net[T]) (*Jacobians[T], error) {
	j := &Jacobians[T]{net: n}
	network := n.Network()
	layers, ok := network.Layers.(nn.Chain)
	if !ok {
		return nil, errors.New("laplace: the network must be a chain of layers")
	}
	network.Layers = nn.Correlate(layers)
	b := &nn.Binder[T]{Train: true, Weigher: j, Observe: j.observe}
	u, err := engine.Bind(network, b)
	if err != nil {
		return nil, err
	}
	for node := range b.Graph().All() {
		if _, ok := node.Layer.(nn.Correlated); ok && node.To == nn.Covariant {
			if j.k > 0 {
				return nil, errors.New("laplace: the network has two layers of the kind correlated; one is needed")
			}
			j.k = node.Out.Size()
		}
	}
	if j.k == 0 {
		return nil, errors.New("laplace: no layer of the network that carries correlations has Normal weights; a covariance of weights needs some")
	}
	engine.Prepare(u)
	j.unit = u
	j.runner = u.NewRunner(block, true)
	j.tape = make([]T, block*u.TapeWidth())
	j.out = gauss.New[T](block, u.Out().Size())
	j.outputs = make([]float64, block*j.k)
	return j, nil
}

// Outputs is the number of outputs of a row.
func (j *Jacobians[T]) Outputs() int { return j.k }

func (j *Jacobians[T]) observe(n *nn.Node[T], out gauss.Batch[T]) {
	if _, ok := n.Layer.(nn.Correlated); ok {
		compute.Convert(j.outputs[:out.Rows*out.Width], out.Mean[:out.Rows*out.Width])
	}
}

// Rows returns the Jacobians of the rows of x, which has no variances: inputs are numbers here.
func (j *Jacobians[T]) Rows(x gauss.Batch[T]) (*Rows, error) {
	if x.Width != j.net.Inputs() {
		return nil, errors.New("laplace: the rows have another width than the network's inputs")
	}
	j.rows = &Rows{N: x.Rows, K: j.k, Mean: make([]float64, x.Rows*j.k)}
	for lo := 0; lo < x.Rows; lo += block {
		j.run(x.Slice(lo, min(x.Rows, lo+block)), lo)
	}
	rows := j.rows
	j.rows = nil
	return rows, nil
}

func (j *Jacobians[T]) run(x gauss.Batch[T], first int) {
	j.first = first
	x.Var, x.Cov = nil, nil
	out := j.out.Slice(0, x.Rows)
	if j.unit.Form() == nn.Fixed {
		out.Var = nil
	}
	j.runner.Forward(&nn.Pass[T]{In: x, Out: out, Tape: j.tape[:x.Rows*j.unit.TapeWidth()]})
	copy(j.rows.Mean[first*j.k:], j.outputs[:x.Rows*j.k])
}

// factors returns those of the layer that the tensor belongs to, and whether they are new.
func (j *Jacobians[T]) factors(t *vi.Tensor[T]) (f *Factors, fresh bool) {
	for i := range j.rows.Layers {
		if j.rows.Layers[i].Name == t.Name {
			return &j.rows.Layers[i], false
		}
	}
	j.rows.Layers = append(j.rows.Layers, Factors{Name: t.Name})
	return &j.rows.Layers[len(j.rows.Layers)-1], true
}

// trained appends the variances of a tensor's weights.
func trained[T gauss.Float](to []float64, t *vi.Tensor[T]) []float64 {
	for _, rho := range t.Rho {
		s := special.Softplus(float64(rho)) / t.Prior.Std
		to = append(to, s*s)
	}
	return to
}

// Product implements nn.Weigher.
func (j *Jacobians[T]) Product(s *nn.Sense[T], weight, bias *vi.Tensor[T], m []T) {
	f, fresh := j.factors(weight)
	in, out := len(m)/s.Rows, len(s.Out)/(s.Rows*s.K)
	if fresh {
		f.In, f.Out = in, out
		f.trained = trained(f.trained, weight)
		if bias != nil {
			f.In++
			f.trained = trained(f.trained, bias)
		}
		f.A, f.M = make([]float64, j.rows.N*j.k*out), make([]float64, j.rows.N*f.In)
	}
	compute.Convert(f.A[j.first*j.k*out:][:len(s.Out)], s.Out)
	sd := weight.Prior.Std
	for r := range s.Rows {
		to := f.M[(j.first+r)*f.In:][:f.In]
		for i, x := range m[r*in:][:in] {
			to[i] = sd * float64(x)
		}
		if bias != nil {
			to[in] = bias.Prior.Std
		}
	}
}

// Levels implements nn.Weigher.
func (j *Jacobians[T]) Levels(s *nn.Sense[T], table *vi.Tensor[T], level []int, from int) {
	f, fresh := j.factors(table)
	width, all := table.Shape[1], len(s.Out)/(s.Rows*s.K)
	if fresh {
		f.In, f.Out = table.Shape[0], width
		f.trained = trained(nil, table)
		f.A, f.Level = make([]float64, j.rows.N*j.k*width), make([]int, j.rows.N)
	}
	copy(f.Level[j.first:], level)
	sd := table.Prior.Std
	for i := range s.Rows * s.K {
		to := f.A[(j.first*j.k+i)*width:][:width]
		for c, a := range s.Out[i*all+from:][:width] {
			to[c] = sd * float64(a)
		}
	}
}

// Direct implements nn.Weigher.
func (j *Jacobians[T]) Direct(s *nn.Sense[T], t *vi.Tensor[T], r, k int, x []T) {
	f, fresh := j.factors(t)
	if fresh {
		f.Out = len(x)
		f.trained = trained(nil, t)
		f.A = make([]float64, j.rows.N*j.k*f.Out)
	}
	sd := t.Prior.Std
	to := f.A[((j.first+r)*j.k+k)*f.Out:][:f.Out]
	for i, v := range x {
		to[i] = sd * float64(v)
	}
}
