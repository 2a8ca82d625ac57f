package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/moment"
)

// A Direction says which way a recurrent layer goes through time.
type Direction string

const (
	// Forward goes from the first time to the last. An empty Direction means Forward.
	Forward Direction = "forward"
	// Reverse goes from the last time to the first; the output at a time is still that of
	// this time.
	Reverse Direction = "reverse"
	// Bidirectional goes both ways with weights of their own: at each time, the units of the
	// way forward are followed by those of the way back.
	Bidirectional Direction = "bidirectional"
)

// A recurrentCell is what a recurrent layer does at each time, as a list of steps over slots of
// Units values. Recurrent layers differ in their cells alone.
type recurrentCell struct {
	name      string // in messages
	units     int
	direction Direction
	last      bool
	fixed     bool
	noBias    bool
	start     []float64
	rule      moment.Rule

	gates     int // of the input
	slots     int
	states    []int // slots that the next time reads; the first one is the output
	functions []*moment.Func
	matrices  []recurrentMatrix // that multiply slots
	steps     []recurrentStep
}

// A recurrentMatrix has the weights from one slot to some gates.
type recurrentMatrix struct {
	name  string // of its tensors
	gates int
}

// A stepKind is what a step computes.
type stepKind int

const (
	stepMultiply stepKind = iota // to, …: a slot times a matrix; the first joined gates add those of the input
	stepTake                     // to: a gate of the input
	stepApply                    // to, …: a function of from, …
	stepProducts                 // to: the sum of the terms' products and, with adds, of add
	stepMix                      // to: z∘x + (1−z)∘y, of the terms (z, x) and (z, y)
)

// A recurrentStep reads and writes slots.
type recurrentStep struct {
	kind     stepKind
	matrix   int
	input    int // the first gate of the input that is read
	joined   int // how many gates of the input are added
	from     operand
	to, n    int
	function int
	terms    []recurrentTerm
	add      operand
	adds     bool
}

type recurrentTerm struct{ x, y operand }

// An operand is a slot at the time itself or, with before, at the time before.
type operand struct {
	slot   int
	before bool
}

func at(slot int) operand     { return operand{slot: slot} }
func before(slot int) operand { return operand{slot, true} }

// check returns what is wrong with the options of a layer.
func (c *recurrentCell) check(in Shape) error {
	switch {
	case c.units < 1:
		return fmt.Errorf("%d units; %s needs at least 1", c.units, c.name)
	case in.H != 1:
		return fmt.Errorf("the input %v has height %d; %s needs a series: nn.Shape{H: 1, W: times, C: features}", in, in.H, c.name)
	case c.units > maxWeights/c.gates/max(in.C, c.units):
		return fmt.Errorf("%d units of %d features have too many weights; a layer may have at most %d", c.units, in.C, maxWeights)
	}
	switch c.direction {
	case "", Forward, Reverse, Bidirectional:
	default:
		return fmt.Errorf("the direction is %q; it must be %q, %q or %q", c.direction, Forward, Reverse, Bidirectional)
	}
	if n := c.ways() * len(c.states) * c.units; c.start != nil && len(c.start) != n {
		return fmt.Errorf("the start has %d numbers; it needs %d: %d for each of %d units in each direction", len(c.start), n, len(c.states), c.units)
	}
	return nil
}

// ways is the number of directions.
func (c *recurrentCell) ways() int {
	if c.direction == Bidirectional {
		return 2
	}
	return 1
}

// checkRule returns what is wrong with the rule of a function.
func checkRule(rule moment.Rule, f *moment.Func, sense bool) error {
	if f.F == nil {
		return fmt.Errorf("the function F has no F; set moment.Func.F")
	}
	if err := rule.Check(f); err != nil {
		return err
	}
	switch {
	case rule.Learns():
		return fmt.Errorf("the rule %v learns its spread; a recurrent layer needs a rule without parameters", rule)
	case f.Formula != nil && len(f.Formula.Inputs) > 0:
		return fmt.Errorf("the formula %s has parameters; a recurrent layer needs a function of x alone", f.Formula.Text)
	case sense:
		return moment.CheckSlope(rule, f)
	}
	return nil
}

func bindRecurrent[T gauss.Float](c recurrentCell, b *Binder[T]) (Unit[T], error) {
	if err := c.check(b.In); err != nil {
		return nil, err
	}
	if c.direction != Bidirectional {
		return bindDirection(&c, b, c.direction == Reverse, c.start)
	}
	ahead, err := bindDirection(&c, b, false, c.start[:len(c.start)/2])
	if err != nil {
		return nil, err
	}
	name := b.Name
	b.Name += ".reverse"
	defer func() { b.Name = name }()
	back, err := bindDirection(&c, b, true, c.start[len(c.start)/2:])
	if err != nil {
		return nil, err
	}
	return &bidirectional[T]{units: units[T]{ahead, back}, in: b.In, form: b.Form.apart()}, nil
}

// recurrent is a recurrent layer in one direction.
type recurrent[T gauss.Float] struct {
	*recurrentCell
	form, inForm Form
	shape        Shape // of the input
	reverse      bool
	start        []float64 // nil means zeros
	rules        []moment.Rule
	draws        bool // a rule looks at random points
	index        uint32
	sense        bool // correlations are carried
	k            int  // quantities that are followed

	input projection[T]
	state []projection[T] // one for each matrix
}

func bindDirection[T gauss.Float](c *recurrentCell, b *Binder[T], reverse bool, start []float64) (Unit[T], error) {
	u := &recurrent[T]{recurrentCell: c, shape: b.In, inForm: b.Form.apart(), reverse: reverse, start: start, index: b.Index()}
	u.form = u.inForm.orRandom(!c.fixed && !b.Fixed)
	u.sense = b.Sense && u.form != Fixed
	for _, f := range c.functions {
		rule := c.rule
		if rule == nil {
			rule = moment.Default(f)
		}
		if err := checkRule(rule, f, u.sense); err != nil {
			return nil, err
		}
		u.rules = append(u.rules, rule)
		u.draws = u.draws || moment.Draws(rule)
	}
	var err error
	u.input, err = bindProjection(c, b, u.inForm, b.In.C, c.gates, false)
	if err != nil {
		return nil, err
	}
	name := b.Name
	defer func() { b.Name = name }()
	for _, m := range c.matrices {
		b.Name = name + "." + m.name
		p, err := bindProjection(c, b, u.form, c.units, m.gates, true)
		if err != nil {
			return nil, err
		}
		u.state = append(u.state, p)
	}
	return u, nil
}

func (u *recurrent[T]) Out() Shape {
	if u.last {
		return Vec(u.units)
	}
	return Shape{1, u.shape.W, u.units}
}

func (u *recurrent[T]) Form() Form { return u.form }

// total sums over the products with weights, in the order of their tapes and tiles.
func (u *recurrent[T]) total(f func(p *projection[T]) int) int {
	n := f(&u.input)
	for i := range u.state {
		n += f(&u.state[i])
	}
	return n
}

func (u *recurrent[T]) TapeWidth() int    { return u.total((*projection[T]).tapeWidth) }
func (u *recurrent[T]) GradTiles() int    { return u.total((*projection[T]).gradTiles) }
func (u *recurrent[T]) PrepareTiles() int { return u.total((*projection[T]).prepareTiles) }

// place is where in time step i is.
func (u *recurrent[T]) place(i int) int {
	if u.reverse {
		return u.shape.W - 1 - i
	}
	return i
}
