package gpu

import (
	"utvi/internal/call"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// softmaxScratch is how many float64 of scratch a logit needs.
const softmaxScratch = 13

// joint translates a softmax.
func (l *layer) joint(n *nn.Node[float32], x nn.Joint) error {
	rule := x.Rule
	if rule == nil {
		rule = moment.DefaultJoint(x.Map, l.in)
	}
	if x.Map.Name != "softmax" {
		return unsupported(n, "the map %s is Go code; softmax runs", x.Map.Name)
	}
	if rule.String() != moment.JointOwn().String() {
		return l.softmaxPoints(n, rule)
	}
	l.kind, l.scratch = opSoftmax, softmaxScratch*l.in
	for _, order := range []int{5, 15} {
		xi, w := moment.PointsAt(moment.GaussHermite(order), 0, 1, rng.Key{})
		for i := range xi {
			l.points = append(l.points, xi[i], w[i])
		}
	}
	return nil
}

// mostJoint bounds the numbers of a joint rule's points.
const mostJoint = 1 << 22

// softmaxPoints translates a softmax by the points of a rule.
func (l *layer) softmaxPoints(n *nn.Node[float32], rule moment.JointRule) error {
	d := l.in
	l.kind = opSoftmaxPoints
	l.count = rule.Points(d)
	l.groups = rule.Groups(d)
	l.scratch = (6+l.groups)*d + 2*d*d
	if rule.Draws() {
		l.f.Rule = bySamples
		return nil
	}
	if l.count > mostJoint/(d+1) {
		return unsupported(n, "the rule %v has %d points of %d numbers; own, the closed form of softmax, would run", rule, l.count, d+1)
	}
	l.points = jointPoints(rule, d)
	return nil
}

// jointPoints lists the points of a rule, each followed by its weight.
func jointPoints(rule moment.JointRule, d int) (all []float64) {
	z := make([]float64, d)
	for p := range rule.Points(d) {
		w := rule.Node(d, p, z)
		all = append(append(all, z...), w)
	}
	return all
}

// conditionalScratch is how many float64 of scratch the photon count at the means needs.
const conditionalScratch = 3

// conditional translates the photon count of an emitter.
func (l *layer) conditional(n *nn.Node[float32], x nn.Conditional) error {
	_, numbers, err := call.Parse(x.Location.Name)
	if err != nil || x.Location.Family != localization.Family {
		return unsupported(n, "its location %s is Go code; photon-node runs", x.Location.Name)
	}
	l.kind, l.points = opConditional, numbers
	l.table = []int32{int32(x.Target), int32(x.Given[0]), int32(x.Given[1])}
	l.scratch = conditionalScratch // also of a joint rule, whose inputs may be fixed
	if !x.Joint {
		return nil
	}
	const d = 3
	rule := x.Rule
	if rule == nil {
		rule = moment.JointSized()
	}
	if rule.Draws() || rule.Groups(d) != 1 {
		return unsupported(n, "the joint rule %v; fifth, joint-ut(1) or joint-gh(3) would run", rule)
	}
	l.points, l.count = append(l.points, jointPoints(rule, d)...), rule.Points(d)
	return nil
}
