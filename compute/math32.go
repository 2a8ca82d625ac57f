package compute

// Exp sets dst[i] = e^x[i], within 2 ulp.
func Exp(dst, x []float32) { run(OpExp, 0, x, dst, nil) }

// Log sets dst[i] = ln x[i], within 2 ulp. ln 0 = −Inf; NaN below zero.
func Log(dst, x []float32) { run(opLog, 0, x, dst, nil) }

// Sqrt sets dst[i] = √x[i], correctly rounded.
func Sqrt(dst, x []float32) { run(opSqrt, 0, x, dst, nil) }

// Erf sets dst[i] = erf x[i], within 1e-6 relative.
func Erf(dst, x []float32) { run(OpErf, 0, x, dst, nil) }

// NormalCDF sets dst[i] = Φ(x[i]), within 1e-6 relative down to the smallest
// normal float32 (x = −12.9) and within 1.4e-45 below.
func NormalCDF(dst, x []float32) { run(OpNormalCDF, 0, x, dst, nil) }

// NormalPDF sets dst[i] = φ(x[i]), with the bound of NormalCDF.
func NormalPDF(dst, x []float32) { run(opNormalPDF, 0, x, dst, nil) }

// NormalQuantile sets dst[i] = Φ⁻¹(x[i]), within 1e-6 relative. It is ∓Inf at
// 0 and 1, NaN outside.
func NormalQuantile(dst, x []float32) { run(opNormalQuantile, 0, x, dst, nil) }

// Tanh sets dst[i] = tanh x[i], within 1e-6 relative.
func Tanh(dst, x []float32) { run(OpTanh, 0, x, dst, nil) }

// Sigmoid sets dst[i] = 1/(1+e^−x[i]), within 1e-6 relative.
func Sigmoid(dst, x []float32) { run(OpSigmoid, 0, x, dst, nil) }

// Softplus sets dst[i] = ln(1+e^x[i]), within 1e-6 relative.
func Softplus(dst, x []float32) { run(OpSoftplus, 0, x, dst, nil) }
