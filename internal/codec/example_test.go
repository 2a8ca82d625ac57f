package codec_test

import (
	"fmt"
	"log"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/moment"
	"utvi/nn"
)

func ExampleMarshal() {
	b, err := codec.Marshal(nn.Chain{nn.Dense{Out: 128}, nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(b))
	// Output: {"kind":"chain","layers":[{"kind":"dense","out":128},{"kind":"apply","f":"leaky-relu(0.01)","rule":"ut(2)"}]}
}

func ExampleUnmarshal() {
	l, err := codec.Unmarshal([]byte(`{"kind":"apply","f":"tanh","rule":"gh(5)"}`), codec.Library{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(codec.Describe(l))
	// Output: f=tanh rule=gh(5)
}
