//go:build linux && (amd64 || arm64) && !nocuda

package kernels

import _ "embed"

// Embedded says whether the program has the PTX: where package cuda can call a driver.
const Embedded = true

//go:embed base.ptx
var base []byte

//go:embed formula.ptx
var formula []byte

//go:embed tensor.ptx
var tensor []byte

//go:embed fused.ptx
var fused []byte

//go:embed chain.ptx
var chain []byte

//go:embed crowd.ptx
var crowd []byte

//go:embed quartet.ptx
var quartet []byte

//go:embed hopper.ptx
var hopper []byte

//go:embed sensed.ptx
var sensed []byte
