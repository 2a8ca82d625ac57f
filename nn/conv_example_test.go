package nn_test

import (
	"encoding/json"
	"fmt"

	"utvi/nn"
	"utvi/vi"
)

// outOf is the shape a layer makes of an image.
func outOf(l nn.Layer, in nn.Shape) nn.Shape {
	u, err := nn.Bind(l, &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in})
	if err != nil {
		panic(err)
	}
	return u.Out()
}

func ExampleConv2D() {
	image := nn.Shape{H: 8, W: 8, C: 1}
	fmt.Println(outOf(nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, image))
	fmt.Println(outOf(nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}, Stride: 2, Padding: nn.Same}, image))
	// Output:
	// 6×6×8
	// 4×4×8
}

func ExampleConv2D_json() {
	text, _ := json.Marshal(nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}, Padding: nn.Same})
	fmt.Println(string(text))
	// Output: {"out":8,"kernel":[3,3],"padding":"same"}
}

func ExampleConv1D() {
	fmt.Println(outOf(nn.Conv1D{Out: 4, Kernel: 5}, nn.Shape{H: 1, W: 100, C: 2}))
	// Output: 1×96×4
}

func ExampleConv2D_groups() {
	image := nn.Shape{H: 8, W: 8, C: 4}
	fmt.Println(outOf(nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}, Groups: 4, Dilation: [2]int{2, 2}, Padding: nn.Same}, image))
	fmt.Println(outOf(nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}, Strides: [2]int{2, 1}, Padding: nn.Same}, image))
	// Output:
	// 8×8×8
	// 4×8×8
}

func ExampleConvTranspose2D() {
	fmt.Println(outOf(nn.ConvTranspose2D{Out: 8, Kernel: [2]int{4, 4}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, nn.Shape{H: 14, W: 14, C: 32}))
	// Output: 28×28×8
}

func ExampleConvTranspose1D() {
	fmt.Println(outOf(nn.ConvTranspose1D{Out: 1, Kernel: 3, Stride: 2, OutputPad: 1}, nn.Shape{H: 1, W: 10, C: 8}))
	// Output: 1×22×1
}

func ExampleResize() {
	image := nn.Shape{H: 14, W: 14, C: 8}
	fmt.Println(outOf(nn.Resize{Scale: 2}, image))
	fmt.Println(outOf(nn.Resize{Size: [2]int{20, 30}, Bilinear: true}, image))
	// Output:
	// 28×28×8
	// 20×30×8
}

func ExamplePad2D() {
	fmt.Println(outOf(nn.Pad2D{Pad: [4]int{1, 1, 1, 1}, Border: nn.Reflect}, nn.Shape{H: 14, W: 14, C: 8}))
	// Output: 16×16×8
}

func ExampleGlobalAvgPool() {
	fmt.Println(outOf(nn.GlobalAvgPool{}, nn.Shape{H: 14, W: 14, C: 8}))
	// Output: 8
}

func ExampleGlobalMaxPool() {
	fmt.Println(outOf(nn.GlobalMaxPool{}, nn.Shape{H: 14, W: 14, C: 8}))
	// Output: 8
}

func ExampleGroupNorm() {
	fmt.Println(outOf(nn.GroupNorm{Groups: 4}, nn.Shape{H: 14, W: 14, C: 8}))
	// Output: 14×14×8
}

func ExampleInstanceNorm() {
	fmt.Println(outOf(nn.InstanceNorm{}, nn.Shape{H: 14, W: 14, C: 8}))
	// Output: 14×14×8
}

func ExampleRMSNorm() {
	fmt.Println(outOf(nn.RMSNorm{}, nn.Vec(64)))
	// Output: 64
}

func ExampleAvgPool2D() {
	fmt.Println(outOf(nn.AvgPool2D{Size: [2]int{2, 2}}, nn.Shape{H: 7, W: 6, C: 8}))
	// Output: 3×3×8
}

func ExampleMaxPool2D() {
	fmt.Println(outOf(nn.MaxPool2D{Size: [2]int{3, 3}, Stride: 2}, nn.Shape{H: 7, W: 7, C: 8}))
	// Output: 3×3×8
}

func ExampleFlatten() {
	fmt.Println(outOf(nn.Flatten{}, nn.Shape{H: 6, W: 6, C: 8}))
	// Output: 288
}
