package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

var smooth = nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}

// two is a join of two parts of the input.
func two(join nn.Layer, a, b nn.Shape) nn.Graph {
	return nn.Graph{
		Inputs: []nn.Input{{Name: "a", Shape: a}, {Name: "b", Shape: b}},
		Steps:  []nn.Step{{Name: "y", Layer: join, From: []string{"a", "b"}}},
	}
}

// suites runs the suite of a layer alone, and within Correlated with several outputs and one.
func suites(t *testing.T, l nn.Layer, in nn.Shape, o nntest.Options) {
	t.Run("apart", func(t *testing.T) { nntest.Layer(t, l, in, o) })
	o.Draws = 0
	t.Run("correlated", func(t *testing.T) {
		nntest.Layer(t, correlated(smooth, l, nn.Dense{Out: 3}), in, o)
		nntest.Layer(t, correlated(l), in, o)
	})
	t.Run("one output", func(t *testing.T) { nntest.Layer(t, correlated(l, nn.Dense{Out: 1}), in, o) })
}

func TestJoins(t *testing.T) {
	image := nn.Shape{H: 2, W: 3, C: 2}
	vector, column := nn.Vec(2), nn.Shape{H: 1, W: 3, C: 1}
	for name, c := range map[string]struct {
		join nn.Layer
		a, b nn.Shape
	}{
		"sum":              {nn.Sum{}, image, image},
		"difference":       {nn.Sum{By: []float64{1, -2}}, image, vector},
		"sum, both spread": {nn.Sum{}, vector, column},
		"product":          {nn.Product{}, image, image},
		"squeeze":          {nn.Product{}, image, vector},
		"product, spread":  {nn.Product{}, column, vector},
		"channels":         {nn.Concat{}, image, nn.Shape{H: 2, W: 3, C: 3}},
		"width":            {nn.Concat{Axis: nn.Width}, image, nn.Shape{H: 2, W: 1, C: 2}},
		"height":           {nn.Concat{Axis: nn.Height}, image, nn.Shape{H: 1, W: 3, C: 2}},
		"side by side":     {nn.Dense{Out: 3}, image, vector},
	} {
		t.Run(name, func(t *testing.T) {
			suites(t, two(c.join, c.a, c.b), nn.Vec(c.a.Size()+c.b.Size()), nntest.Options{Draws: 5_000, Entries: 8})
		})
	}
}

func TestRearranged(t *testing.T) {
	in := nn.Shape{H: 2, W: 3, C: 4}
	for name, l := range map[string]nn.Layer{
		"slice":     nn.Slice{From: 1, To: 3},
		"rows":      nn.Slice{Axis: nn.Height, From: 1, To: 2},
		"columns":   nn.Slice{Axis: nn.Width, To: 2},
		"transpose": nn.Transpose{},
		"permute":   nn.Transpose{Order: [3]nn.Axis{nn.Channels, nn.Height, nn.Width}},
		"reshape":   nn.Reshape{H: 3, C: 2},
	} {
		t.Run(name, func(t *testing.T) { suites(t, l, in, nntest.Options{Draws: 5_000, Entries: 8}) })
	}
}

// gated is a network whose signals part, meet and are read again and again.
func gated() nn.Graph {
	return nn.Graph{
		Inputs: []nn.Input{{Name: "image", Shape: nn.Shape{H: 3, W: 2, C: 2}}, {Name: "numbers", Shape: nn.Vec(2)}},
		Steps: []nn.Step{
			{Name: "seen", Layer: nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Padding: nn.Same}, smooth}, From: []string{"image"}},
			{Name: "gate", Layer: nn.Chain{nn.Dense{Out: 3}, smooth}, From: []string{"numbers"}},
			{Name: "gated", Layer: nn.Product{}, From: []string{"seen", "gate"}},
			{Name: "both", Layer: nn.Chain{nn.Concat{}, nn.Conv2D{Out: 2, Kernel: [2]int{1, 1}}}, From: []string{"gated", "image", "seen"}},
			{Name: "twice", Layer: nn.Sum{}, From: []string{"both", "both", "image"}},
			{Name: "end", Layer: nn.Dense{Out: 2}, From: []string{"twice", "gate"}},
		},
		Outputs: []string{"end", "gate", "numbers"},
	}
}

func TestGraphSuite(t *testing.T) {
	suites(t, gated(), nn.Vec(14), nntest.Options{Entries: 8})
	t.Run("one output, read again", func(t *testing.T) {
		g := nn.Graph{Steps: []nn.Step{
			{Name: "a", Layer: nn.Dense{Out: 3}},
			{Name: "b", Layer: nn.Chain{smooth, nn.Dense{Out: 3}}},
			{Name: "c", Layer: nn.Sum{}, From: []string{"a", "b", "in"}},
		}}
		suites(t, g, nn.Vec(3), nntest.Options{})
		g.Outputs = []string{"c"}
		g.Steps = append(g.Steps, nn.Step{Name: "d", Layer: nn.Product{}, From: []string{"c", "in"}})
		g.Outputs = []string{"c", "d"}
		suites(t, g, nn.Vec(3), nntest.Options{})
	})
	t.Run("within a graph", func(t *testing.T) {
		inner := nn.Graph{Inputs: []nn.Input{{Name: "x"}, {Name: "y"}}, Steps: []nn.Step{
			{Name: "x2", Layer: nn.Dense{Out: 2}, From: []string{"x"}},
			{Name: "z", Layer: nn.Product{}, From: []string{"x2", "y"}},
		}}
		suites(t, two(inner, nn.Vec(3), nn.Shape{H: 2, W: 1, C: 2}), nn.Vec(7), nntest.Options{})
	})
}

// What is read twice has a covariance with itself: within Correlated x + x has the variance
// 4v, and x·y of roads that share an input keeps what they share.
func TestGraphAgainstDrawn(t *testing.T) {
	mean, variance := waves(6, 0.01)
	beatsIndependence(t, nn.Chain{nn.Graph{Steps: []nn.Step{
		{Name: "a", Layer: nn.Dense{Out: 8}},
		{Name: "b", Layer: nn.Chain{smooth, nn.Dense{Out: 8}, smooth}},
		{Name: "c", Layer: nn.Product{}, From: []string{"a", "b"}},
		{Name: "d", Layer: nn.Sum{}, From: []string{"a", "c", "a"}},
		{Name: "e", Layer: nn.Dense{Out: 3}, From: []string{"d"}},
	}}}, nn.Vec(6), 0.03, 0.03, mean, variance)
}

func TestGraphRefuses(t *testing.T) {
	step := func(name string, l nn.Layer, from ...string) nn.Step {
		return nn.Step{Name: name, Layer: l, From: from}
	}
	d := nn.Dense{Out: 3}
	a, c := nn.Input{Name: "a", Shape: nn.Vec(2)}, nn.Input{Name: "c", Shape: nn.Vec(2)}
	for want, g := range map[string]nn.Graph{
		"no steps; a graph needs at least 1": {},
		`step "x" reads itself`:              {Steps: []nn.Step{step("x", d, "x")}},
		`step "x" reads "y", which is made after it; put the steps into the order in which they run (a cycle has none)`: {Steps: []nn.Step{step("x", d, "y"), step("y", d, "x")}},
		`step "x" reads "z", which is neither an input nor a step of the graph`:                                         {Steps: []nn.Step{step("x", d, "z")}},
		`two signals have the name "x"`:                               {Steps: []nn.Step{step("x", d), step("x", d)}},
		`two signals have the name "in"`:                              {Steps: []nn.Step{step("in", d)}},
		`nobody reads the signal "x"`:                                 {Steps: []nn.Step{step("x", d), step("y", d, "in")}},
		`nobody reads the signal "c"`:                                 {Inputs: []nn.Input{a, c}, Steps: []nn.Step{step("x", d, "a")}},
		`the output "z" is neither an input nor a step`:               {Steps: []nn.Step{step("x", d)}, Outputs: []string{"z"}},
		`step "x" does not say which of the 2 inputs it reads`:        {Inputs: []nn.Input{a, c}, Steps: []nn.Step{step("x", d)}},
		`the inputs take 2 of the 4 units of a row`:                   {Inputs: []nn.Input{a}, Steps: []nn.Step{step("x", d)}},
		`the inputs up to "b" take more than the 4 units of a row`:    {Inputs: []nn.Input{a, {Name: "b", Shape: nn.Vec(3)}}, Steps: []nn.Step{step("x", d, "a", "b")}},
		`the input "b" has no shape`:                                  {Inputs: []nn.Input{a, {Name: "b"}}, Steps: []nn.Step{step("x", d, "a", "b")}},
		`step "x" has no layer`:                                       {Steps: []nn.Step{step("x", nil)}},
		`an input or a step has no name`:                              {Steps: []nn.Step{step("", d)}},
		`has a name with '.'; names have no spaces`:                   {Steps: []nn.Step{step("a.b", d)}},
		`step s: the shapes of x (3) and in (4) do not meet; each of`: {Steps: []nn.Step{step("x", d), step("s", nn.Sum{}, "x", "in")}},
		`step s: the shapes of x (3) and in (1×2×2) do not meet; they`: {Inputs: []nn.Input{{Name: "in", Shape: nn.Shape{H: 1, W: 2, C: 2}}},
			Steps: []nn.Step{step("x", d), step("s", nn.Concat{}, "x", "in")}},
		`step s: it reads one signal; a sum needs several`:                                        {Steps: []nn.Step{step("s", nn.Sum{})}},
		`step s: 1 factors for 2 signals`:                                                         {Steps: []nn.Step{step("s", nn.Sum{By: []float64{1}}, "in", "in")}},
		`step s: it reads 3 signals; a product has two`:                                           {Steps: []nn.Step{step("s", nn.Product{}, "in", "in", "in")}},
		`step s: layer layer.s.1.product (input 3): it reads one signal; a product needs several`: {Steps: []nn.Step{step("s", nn.Chain{d, nn.Product{}}, "in", "in")}},
		`step s: it multiplies x by itself`:                                                       {Steps: []nn.Step{step("x", d), step("s", nn.Product{}, "x", "x")}},
		`step s: the axis is "depth"; it must be "height", "width" or "channels"`:                 {Steps: []nn.Step{step("s", nn.Slice{Axis: "depth"})}},
		`step s: the slice goes from 1 to 5; in the input 4 it must lie within 0 and 4`:           {Steps: []nn.Step{step("s", nn.Slice{From: 1, To: 5})}},
		`names a side twice`:                      {Steps: []nn.Step{step("s", nn.Transpose{Order: [3]nn.Axis{nn.Width, nn.Width, nn.Height}})}},
		`does not fit the 4 units of the input 4`: {Steps: []nn.Step{step("s", nn.Reshape{H: 3, W: 1, C: 1})}},
		`needs more units than the 4`:             {Steps: []nn.Step{step("s", nn.Reshape{H: 3, W: 2, C: 1})}},
		`two sides are 0`:                         {Steps: []nn.Step{step("s", nn.Reshape{H: 3})}},
	} {
		nntest.Refuses(t, g, nn.Vec(4), want)
	}
	noSense := nn.Graph{Steps: []nn.Step{step("x", d), step("s", nn.Joint{Map: fn.Softmax()})}}
	nntest.Refuses(t, correlated(noSense), nn.Vec(4), "step s: the step cannot carry correlations")
}
