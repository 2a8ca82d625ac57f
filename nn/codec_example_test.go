package nn_test

import (
	"fmt"
	"log"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
)

func ExampleMarshalLayer() {
	b, err := nn.MarshalLayer(nn.Chain{nn.Dense{Out: 128}, nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(b))
	// Output: {"kind":"chain","layers":[{"kind":"dense","out":128},{"kind":"apply","f":"leaky-relu(0.01)","rule":"ut(2)"}]}
}

func ExampleUnmarshalLayer() {
	l, err := nn.UnmarshalLayer([]byte(`{"kind":"apply","f":"tanh","rule":"gh(5)"}`), nn.Library{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(nn.Describe(l))
	// Output: f=tanh rule=gh(5)
}
