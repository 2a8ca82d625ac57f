package importer

import (
	"fmt"
	"slices"
	"strings"

	"utvi/nn"
)

// A wiring is the layers that some values need, each behind those that it reads.
type wiring struct {
	layers  []*layer
	readers map[*layer]int // how many layers and outputs read each
}

func newWiring(outs []*value) *wiring {
	w := &wiring{readers: map[*layer]int{}}
	seen := map[*layer]bool{}
	type visit struct {
		l    *layer
		next int // of what it reads
	}
	for _, v := range outs {
		w.readers[v.layer]++
		for stack := []visit{{l: v.layer}}; len(stack) > 0; {
			top := &stack[len(stack)-1]
			if top.next == 0 && seen[top.l] {
				stack = stack[:len(stack)-1]
				continue
			}
			seen[top.l] = true
			if top.next < len(top.l.from) {
				from := top.l.from[top.next].layer
				top.next++
				w.readers[from]++
				stack = append(stack, visit{l: from})
				continue
			}
			w.layers = append(w.layers, top.l)
			stack = stack[:len(stack)-1]
		}
	}
	return w
}

// residuals makes one layer of every sum of two roads that part at one value and that nothing else
// reads. The road with more layers is the branch.
func (w *wiring) residuals() {
	gone := map[*layer]bool{}
	for _, l := range w.layers {
		s, ok := l.Layer.(nn.Sum)
		if !ok || s.By != nil || len(l.from) != 2 || l.from[0].layer.shape != l.from[1].layer.shape {
			continue
		}
		from, branch := w.road(l.from[0])
		other, skip := w.road(l.from[1])
		if from.layer != other.layer || len(branch)+len(skip) == 0 {
			continue
		}
		if len(skip) > len(branch) {
			branch, skip = skip, branch
		}
		r := nn.Residual{Branch: chain(branch)}
		if len(skip) > 0 {
			r.Skip = chain(skip)
		}
		l.Layer = r
		l.inside = slices.Concat(branch, skip)
		l.from = []*value{from}
		w.readers[from.layer]--
		for _, l := range l.inside {
			gone[l] = true
		}
	}
	w.layers = slices.DeleteFunc(w.layers, func(l *layer) bool { return gone[l] })
}

// road walks back from v as long as there is one way, and returns where it ends and the layers on it,
// in the order in which they run.
func (w *wiring) road(v *value) (from *value, layers []*layer) {
	for !v.layer.input() && len(v.layer.from) == 1 && w.readers[v.layer] == 1 {
		layers = append(layers, v.layer)
		v = v.layer.from[0]
	}
	slices.Reverse(layers)
	return v, layers
}

// chain is the layers one after the other.
func chain(layers []*layer) (c nn.Chain) {
	for _, l := range layers {
		c = append(c, l.Layer)
	}
	return c
}

// chain is the whole network as a chain: what comes before signals part, a graph of what is between,
// and what is behind where they meet. Often there is no graph.
func (w *wiring) chain(inputs, outs []*value) []*layer {
	rest := slices.DeleteFunc(slices.Clone(w.layers), (*layer).input)
	var first, last []*layer
	start := inputs[0].layer
	for len(inputs) == 1 && len(rest) > 0 && w.readers[start] == 1 && len(rest[0].from) == 1 && rest[0].from[0].layer == start {
		start = rest[0]
		first = append(first, start)
		rest = rest[1:]
	}
	for len(outs) == 1 && len(rest) > 0 {
		l := rest[len(rest)-1]
		if len(l.from) != 1 || l.from[0].layer == start || w.readers[l.from[0].layer] > 1 {
			break
		}
		last = append(last, l)
		rest = rest[:len(rest)-1]
	}
	slices.Reverse(last)
	if len(rest) > 0 {
		first = append(first, w.graph(rest, start, inputs, outs))
	}
	return append(first, last...)
}

// graph is some layers as one; start is what comes in, unless the graph has several inputs.
func (w *wiring) graph(layers []*layer, start *layer, inputs, outs []*value) *layer {
	g := nn.Graph{}
	n := &names{used: map[string]bool{}, of: map[*layer]string{}}
	if len(inputs) == 1 {
		n.of[start] = "in"
		n.used["in"] = true
	} else {
		for _, in := range inputs {
			g.Inputs = append(g.Inputs, nn.Input{Name: n.name(in.layer, "input"), Shape: in.layer.shape})
		}
	}
	all := &layer{}
	for _, steps := range w.steps(layers, outs) {
		end := steps[len(steps)-1]
		var from []string
		for _, v := range steps[0].from {
			from = append(from, n.of[v.layer])
		}
		step := nn.Step{Layer: steps[0].Layer, From: from, Name: n.name(end, end.Kind())}
		if len(steps) > 1 {
			step.Layer = chain(steps)
		}
		g.Steps = append(g.Steps, step)
		all.inside = append(all.inside, steps...)
	}
	if len(outs) > 1 {
		for _, v := range outs {
			g.Outputs = append(g.Outputs, n.of[v.layer])
		}
	}
	all.Layer = g
	return all
}

// steps are layers that run one after the other without another reader, together.
func (w *wiring) steps(layers []*layer, outs []*value) (all [][]*layer) {
	at := map[*layer]int{} // the step that ends with a layer
	for _, l := range layers {
		if len(l.from) == 1 && w.readers[l.from[0].layer] == 1 {
			if k, ok := at[l.from[0].layer]; ok {
				delete(at, l.from[0].layer)
				all[k] = append(all[k], l)
				at[l] = k
				continue
			}
		}
		at[l] = len(all)
		all = append(all, []*layer{l})
	}
	return all
}

// names are those of the signals of a graph.
type names struct {
	used map[string]bool
	of   map[*layer]string
}

// name is a name for a signal, after the node that made it.
func (n *names) name(l *layer, otherwise string) string {
	wanted := strings.Map(func(r rune) rune {
		switch {
		case r <= ' ' || r == '.' || r == '/' || r == '"' || r == '\\' || r == 0x7f:
			return '_'
		}
		return r
	}, strings.TrimLeft(l.node, "/"))
	if wanted == "" {
		wanted = otherwise
	}
	name := wanted
	for i := 2; n.used[name]; i++ {
		name = fmt.Sprintf("%s_%d", wanted, i)
	}
	n.used[name] = true
	n.of[l] = name
	return name
}
