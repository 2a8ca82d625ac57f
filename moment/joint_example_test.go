package moment_test

import (
	"fmt"
	"log"

	"utvi/fn"
	"utvi/moment"
	"utvi/rng"
)

// product couples its two inputs: of independent N(2, 1) and N(3, 4) it has the
// mean 6 and the variance 1·9 + 4·4 + 1·4 = 29.
var product = &moment.Map{Name: "product", In: 2, Out: 1, F: func(x, y []float64) { y[0] = x[0] * x[1] }}

func showJoint(r moment.JointRule) {
	mean, cov, err := moment.JointAt(product, r, []float64{2, 3}, []float64{1, 4}, rng.New(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %.1f, %.1f\n", r, mean[0], cov[0])
}

// A map of one's own is a literal, too.
func ExampleMap() {
	showJoint(moment.DefaultJoint(product, 2))
	// Output: fifth: 6.0, 29.0
}

func ExampleDefaultJoint() {
	fmt.Println(moment.DefaultJoint(fn.Softmax(), 10), moment.DefaultJoint(product, 2))
	// Output: own fifth
}

// Points on the axes do not see what two inputs do together, the last 4 of 29.
func ExampleJointUT() {
	showJoint(moment.JointUT(2))
	// Output: joint-ut(2): 6.0, 25.0
}

func ExampleJointUTGauss() {
	showJoint(moment.JointUTGauss())
	// Output: joint-ut(3-d): 6.0, 25.0
}

func ExampleJointAxes() {
	showJoint(moment.JointAxes(3))
	// Output: axes(3): 6.0, 25.0
}

func ExampleJointFifth() {
	showJoint(moment.JointFifth())
	// Output: fifth: 6.0, 29.0
}

func ExampleJointGH() {
	showJoint(moment.JointGH(3))
	// Output: joint-gh(3): 6.0, 29.0
}

func ExampleJointMC() {
	showJoint(moment.JointMC(100_000))
	// Output: joint-mc(100000): 6.0, 29.2
}

// Softmax brings an approximation of its own; a tile carries row after row.
func ExampleJointOwn() {
	t := moment.NewJointTile(fn.Softmax(), moment.JointOwn(), 3)
	mean, variance := make([]float64, 3), make([]float64, 3)
	t.Push([]float64{1, 0, 0}, []float64{1, 1, 1}, mean, variance)
	fmt.Printf("%.3f, variance %.3f\n", mean[0], variance[0])
	// Output: 0.519, variance 0.059
}

func ExampleParseJoint() {
	r, err := moment.ParseJoint("joint-ut(3-d)")
	fmt.Println(r, err)
	// Output: joint-ut(3-d) <nil>
}
