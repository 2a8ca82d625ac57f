// Package kernel holds what is computed over slices: named functions, point rules, the arithmetic
// between products, random Normals, the optimiser. Each has vector code in assembly where the CPU
// has it and a twin in Go, which defines it, for everywhere else.
package kernel

// An Op names a function that has a vector kernel, so that a kernel, a GPU or
// an exporter can recognise it. The zero Op is user code.
type Op uint8

// The functions known by name. Those with a parameter take it as a.
const (
	OpUser          Op = iota
	OpIdentity         // x
	OpLeakyReLU        // x > 0: x; else a·x  (ReLU: a = 0, abs: a = −1)
	OpELU              // x > 0: x; else a·(eˣ−1)
	OpGELU             // x·Φ(x)
	OpSiLU             // x·sigmoid(x)
	OpSoftplus         // ln(1+eˣ)
	OpSigmoid          // 1/(1+e⁻ˣ)
	OpTanh             // tanh x
	OpErf              // erf x
	OpNormalCDF        // Φ(x)
	OpExp              // eˣ
	OpSin              // sin x
	OpCos              // cos x
	OpSquare           // x²
	OpNormalInverse    // Φ⁻¹(sigmoid(x))
	NumOps
)
