package cpu

import (
	"os"
	"strings"
)

// Every 64-bit ARM processor has NEON; hence GODEBUG=cpu.asimd=off, as for other
// instructions, is left to us.
var hasVector = !strings.Contains(os.Getenv("GODEBUG"), "cpu.asimd=off")

const hasWide = false
