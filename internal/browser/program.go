//go:build page

package browser

import _ "embed"

// program is program.wasm and wasm_exec.js, which go generate makes.
//
//go:embed program.gz
var programGz []byte

//go:embed wasm_exec.js
var exec string
