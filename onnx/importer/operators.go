package importer

import (
	"errors"
	"maps"
	"slices"
)

// An operator says what becomes of the nodes of one ONNX operator.
type operator struct {
	// value computes a node of which some input depends on the input of the graph, or that has
	// no inputs. Nil: the operator is taken for constants only, such as sizes.
	value func(c *call) (*value, error)

	// values is value for an operator of several outputs, in their order.
	values func(c *call) ([]*value, error)

	// constant computes a node whose inputs are all constants; ok is false if it cannot, and
	// value is asked. Nil: it never can.
	constant func(a attributes, in []*constant) (out *constant, ok bool, err error)

	// elementwise operators change no dimensions.
	elementwise bool

	// padded operators take an image that Pad surrounded with zeros.
	padded bool
}

// operators are all that are taken. A new one is a line here, and a function in a file of its own;
// an elementwise one that is a formula is a line in functions or binaries.
var operators map[string]operator

func init() { // which the map itself cannot: the functions look at it
	operators = map[string]operator{
		"Gemm":   {value: gemm},
		"MatMul": {value: matmul},
		"Conv":   {value: convolution, padded: true},

		"ConvTranspose": {value: transposedConvolution},
		"Resize":        {value: resize},
		"Upsample":      {value: resize},

		"BatchNormalization": {value: batchNorm},
		"LayerNormalization": {value: layerNorm},

		"InstanceNormalization": {value: groupNorm},
		"GroupNormalization":    {value: groupNorm},

		"Softmax":    {value: softmax},
		"LogSoftmax": {value: softmax},

		"MaxPool":           {value: maxPool},
		"AveragePool":       {value: avgPool, padded: true},
		"GlobalAveragePool": {value: globalPool},
		"GlobalMaxPool":     {value: globalPool},
		"ReduceMean":        {value: reduce},
		"ReduceMax":         {value: reduce},
		"ReduceMin":         {value: reduceMin},
		"ReduceSum":         {value: reduce, constant: foldReduceSum},
		"ReduceSumSquare":   {value: sumOf("square($x)", "$x")},
		"ReduceL1":          {value: sumOf("abs($x)", "$x")},
		"ReduceL2":          {value: sumOf("square($x)", "sqrt($x)")},
		"ReduceLogSum":      {value: sumOf("$x", "log($x)")},
		"ReduceLogSumExp":   {value: sumOf("exp($x)", "log($x)")},
		"LSTM":              {values: recurrent},
		"GRU":               {values: recurrent},
		"RNN":               {values: recurrent},

		"DepthToSpace": {value: depthToSpace},
		"SpaceToDepth": {value: depthToSpace},

		"Pad":       {value: pad},
		"Flatten":   {value: flatten},
		"Reshape":   {value: reshape, constant: foldReshape},
		"Squeeze":   {value: squeeze, constant: foldSqueeze},
		"Unsqueeze": {value: squeeze, constant: foldSqueeze},
		"Transpose": {value: transpose, constant: foldTranspose},
		"Shape":     {value: shapeOf, padded: true},
		"Identity":  {value: identity, constant: foldIdentity, elementwise: true, padded: true},
		"Dropout":   {value: identity, constant: foldIdentity, padded: true},
		"Cast":      {value: cast, constant: foldCast, padded: true},

		"Constant":        {value: constantNode},
		"ConstantOfShape": {value: constantOfShape},
		"Concat":          {value: concat, constant: foldConcat},
		"Split":           {values: split},
		"Gather":          {value: gather, constant: foldGather},
		"Slice":           {value: slice, constant: foldSlice},
		"Expand":          {value: expand, constant: foldExpand},
		"Range":           {constant: foldRange},
		"Trilu":           {constant: foldTrilu},
		"Tile":            {value: tile},
		"Floor":           {constant: foldUnary(floor)},
		"Mod":             {constant: foldMod},

		"Sum":   {value: sum, elementwise: true},
		"Add":   {value: add, constant: foldBinary(plus), elementwise: true},
		"Sub":   {value: binary("($x - $y)"), constant: foldBinary(minus), elementwise: true},
		"Mul":   {value: mul, constant: foldBinary(times), elementwise: true},
		"Div":   {value: binary("($x/$y)"), constant: foldBinary(divided), elementwise: true},
		"Pow":   {value: power, constant: foldBinary(powered)},
		"Clip":  {value: clip, elementwise: true},
		"PRelu": {value: binary("where($x > 0, $x, $x*$y)")},
		"Where": {value: where, constant: foldWhere},
		"Not":   {value: truth(function("(1 - $x)", nil)), constant: foldUnary(negation)},
		"Log":   {value: logarithm, elementwise: true},
		"Gelu":  {value: gelu, elementwise: true},

		"Neg":        {value: function("(-$x)", nil), constant: foldUnary(negative), elementwise: true},
		"Sqrt":       {value: function("sqrt($x)", nil), constant: foldUnary(root), elementwise: true},
		"Exp":        {value: function("exp($x)", nil), constant: foldUnary(exponential), elementwise: true},
		"Reciprocal": {value: function("(1/$x)", nil), constant: foldUnary(inverse), elementwise: true},
	}
	for name, f := range functions {
		operators[name] = operator{value: function(f.text, f.standard), elementwise: true}
	}
	for name, text := range comparisons {
		operators[name] = operator{value: truth(binary(text)), constant: foldBinary(truths[name]), elementwise: true}
	}
	for name, text := range choices {
		operators[name] = operator{value: several(text), elementwise: true}
	}
}

// Operators are the names of the operators that can be imported, sorted.
func Operators() []string {
	all := maps.Clone(operators)
	maps.DeleteFunc(all, func(_ string, o operator) bool { return o.value == nil && o.values == nil })
	return slices.Sorted(maps.Keys(all))
}

func errNotTaken() error {
	return errors.New("the operator is not taken; utvi import --help lists those that are")
}
