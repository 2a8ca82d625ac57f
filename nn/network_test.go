package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

// A whole convolutional classifier with a coupled output.
func TestConvolutionalClassifier(t *testing.T) {
	act := nn.Apply{F: fn.Tanh()}
	l := nn.Chain{
		nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same}, act, nn.MaxPool2D{Size: [2]int{2, 2}},
		nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Stride: 2}, nn.LayerNorm{}, act, nn.Flatten{},
		nn.Residual{Branch: nn.Chain{act}}, nn.Dropout{P: 0.2}, nn.Dense{Out: 4}, nn.Joint{Map: fn.Softmax()},
	}
	nntest.Layer(t, l, nn.Shape{H: 8, W: 8, C: 2}, nntest.Options{Entries: 6})
}

// The paper's localisation network, whole: position chain and photon node.
func TestLocalisationNetwork(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.Exact()}
	for _, joint := range []bool{false, true} {
		l := nn.Chain{
			nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, act, nn.Dense{Out: 12}, act, nn.Dense{Out: 3},
			nn.Scale{}, nn.Apply{F: fn.NormalInverse()},
			nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: joint},
		}
		nntest.Layer(t, l, nn.Shape{H: 6, W: 6, C: 1}, nntest.Options{Entries: 6})
	}
}
