package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"

	"utvi/internal/memory"
)

// leastAddresses is what the smallest commands need beside the program itself. The runtime
// reserves addresses in large pieces, long before it uses them.
const leastAddresses = 768 << 20

// withinLimit prepares for a limit of the address space (ulimit -v). Beyond it the runtime cannot
// go on, and says so in a line; where it was then helps nobody, and it tells unless the
// environment forbids it from the start.
func withinLimit() error {
	if !memory.Limited() {
		return nil
	}
	free := memory.Available()
	if free < leastAddresses {
		return fmt.Errorf("the limit of addresses (ulimit -v) leaves %.0f MiB; at least %d MiB are needed. A control group limits memory without limiting addresses", free/(1<<20), leastAddresses>>20)
	}
	if _, told := os.LookupEnv("GOTRACEBACK"); !told {
		self, err := os.Executable()
		if err == nil {
			err = syscall.Exec(self, os.Args, append(os.Environ(), "GOTRACEBACK=none"))
		}
		if !errors.Is(err, errors.ErrUnsupported) && err != nil {
			return fmt.Errorf("cannot start again within ulimit -v: %w", err)
		}
	}
	debug.SetMemoryLimit(int64(0.8 * free)) // garbage goes sooner
	return nil
}
