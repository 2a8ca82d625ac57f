package nn

import "fmt"

// A Graph runs layers that read each other's outputs by name: signals that part, meet and are
// joined, several inputs and several outputs. Its steps run in their order, so that what a step
// reads stands before it:
//
//	nn.Graph{Steps: []nn.Step{
//		{Name: "features", Layer: nn.Dense{Out: 8}},
//		{Name: "gate", Layer: nn.Chain{nn.Dense{Out: 8}, sigmoid}, From: []string{"in"}},
//		{Name: "out", Layer: nn.Product{}, From: []string{"features", "gate"}},
//	}}
//
// A step that reads several signals finds them side by side in one row. Joins (Concat, Sum,
// Product, MatMul) know the shapes of these parts; any other layer takes them as one vector.
//
// Where signals meet again that come from one random signal, or from layers that share it,
// they are taken as independent of each other. Inside Correlated the covariance that they have
// is kept, to first order.
type Graph struct {
	// Inputs names the parts of the input, which lie side by side in a row. Without any, the
	// whole input has the name "in".
	Inputs []Input `json:"-"`
	Steps  []Step  `json:"-"`
	// Outputs names the signals that the graph gives, side by side in one row if there are
	// several. Without any, it is the output of the last step.
	Outputs []string `json:"-"`
}

// An Input is a part of the input of a Graph. The zero Shape stands for the shape of the signal
// that comes: the whole input if there is one, else what the graph around reads.
type Input struct {
	Name  string
	Shape Shape
}

// A Step is a layer of a Graph, and the signal that it makes.
type Step struct {
	Name  string   // of the signal, and the prefix of the layer's parameters
	Layer Layer    // what makes it
	From  []string // the signals that the layer reads; nil: that of the step before, or the only input
}

// A Part is one of the signals that a layer of a Graph reads; they lie side by side in its
// input.
type Part struct {
	Name  string
	Shape Shape
	Form  Form
}

// Kind is "graph", as model files and the names of parameters have it.
func (Graph) Kind() string { return "graph" }

// Bind32 binds the steps in order, each to the signals that it reads.
func (l Graph) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindGraph(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Graph) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindGraph(l, b) }

// Children returns the layers of the steps, in their order.
func (l Graph) Children() []Layer {
	layers := make([]Layer, len(l.Steps))
	for i, s := range l.Steps {
		layers[i] = s.Layer
	}
	return layers
}

// WithChildren returns the same graph with other layers.
func (l Graph) WithChildren(layers []Layer) Layer {
	steps := make([]Step, len(l.Steps))
	for i, s := range l.Steps {
		s.Layer = layers[i]
		steps[i] = s
	}
	l.Steps = steps
	return l
}

// AssumesIndependence reports whether the graph has signals that meet again, whose covariance
// it drops.
func (l Graph) AssumesIndependence() bool {
	for _, s := range l.Steps {
		if len(s.From) > 1 {
			return true
		}
	}
	return false
}

const wholeInput = "in"

// A wiring is a graph by numbers: its inputs, then its steps.
type wiring struct {
	names   []string
	inputs  int
	from    [][]int // signals that each step reads
	outputs []int
}

// wire looks up all names, and reports what does not fit.
func (l Graph) wire() (*wiring, error) {
	w := &wiring{}
	number := map[string]int{}
	add := func(name string) error {
		if err := checkName(name); err != nil {
			return err
		}
		if _, ok := number[name]; ok {
			return fmt.Errorf("two signals have the name %q; give each input and each step a name of its own", name)
		}
		number[name] = len(w.names)
		w.names = append(w.names, name)
		return nil
	}
	for _, in := range l.Inputs {
		if err := add(in.Name); err != nil {
			return nil, err
		}
	}
	if len(l.Inputs) == 0 {
		w.names = []string{wholeInput}
		number[wholeInput] = 0
	}
	w.inputs = len(w.names)
	if len(l.Steps) == 0 {
		return nil, fmt.Errorf("no steps; a graph needs at least 1")
	}
	for i, s := range l.Steps {
		if s.Layer == nil {
			return nil, fmt.Errorf("step %q has no layer; set nn.Step.Layer", s.Name)
		}
		from, err := l.reads(i, number)
		if err != nil {
			return nil, err
		}
		w.from = append(w.from, from)
		err = add(s.Name)
		if err != nil {
			return nil, err
		}
	}
	return w, w.finish(l, number)
}

// checkName reports a name that could not be part of the name of a parameter.
func checkName(name string) error {
	for _, r := range name {
		if r <= ' ' || r == '.' || r == '/' || r == '"' || r == '\\' || r == 0x7f {
			return fmt.Errorf("the signal %q has a name with %q; names have no spaces, dots, quotes and slashes", name, r)
		}
	}
	if name == "" {
		return fmt.Errorf("an input or a step has no name; every signal needs one")
	}
	return nil
}

// reads returns the signals that step i reads.
func (l Graph) reads(i int, number map[string]int) ([]int, error) {
	s := l.Steps[i]
	switch {
	case len(s.From) > 0:
	case i > 0:
		return []int{number[l.Steps[i-1].Name]}, nil
	case len(l.Inputs) < 2:
		return []int{0}, nil
	default:
		return nil, fmt.Errorf("step %q does not say which of the %d inputs it reads; set nn.Step.From", s.Name, len(l.Inputs))
	}
	from := make([]int, len(s.From))
	for k, name := range s.From {
		at, ok := number[name]
		if !ok {
			return nil, l.notYet(i, name)
		}
		from[k] = at
	}
	return from, nil
}

// notYet says why step i cannot read name.
func (l Graph) notYet(i int, name string) error {
	s := l.Steps[i]
	if s.Name == name {
		return fmt.Errorf("step %q reads itself; a signal can only go forward", name)
	}
	for _, later := range l.Steps[i+1:] {
		if later.Name == name {
			return fmt.Errorf("step %q reads %q, which is made after it; put the steps into the order in which they run (a cycle has none)", s.Name, name)
		}
	}
	return fmt.Errorf("step %q reads %q, which is neither an input nor a step of the graph", s.Name, name)
}

// finish looks up the outputs, and reports a signal that nobody reads.
func (w *wiring) finish(l Graph, number map[string]int) error {
	for _, name := range l.Outputs {
		at, ok := number[name]
		if !ok {
			return fmt.Errorf("the output %q is neither an input nor a step of the graph", name)
		}
		w.outputs = append(w.outputs, at)
	}
	if len(l.Outputs) == 0 {
		w.outputs = []int{len(w.names) - 1}
	}
	read := make([]bool, len(w.names))
	for _, from := range append(w.from, w.outputs) {
		for _, at := range from {
			read[at] = true
		}
	}
	for i, ok := range read {
		if !ok {
			return fmt.Errorf("nobody reads the signal %q; let a step read it, make it an output, or leave it out", w.names[i])
		}
	}
	return nil
}
