package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"utvi/internal/memory"
)

// leastAddresses is what the smallest commands need beside the program itself. The runtime
// reserves addresses in large pieces, long before it uses them.
const leastAddresses = 512 << 20

// withinLimit prepares for limits of memory that the shell or a control group sets.
func withinLimit() error {
	if err := withinAddresses(); err != nil {
		return err
	}
	const least = 16 << 20 // of the program itself
	if c := memory.Ceiling(); c < least {
		return fmt.Errorf("a control group or ulimit -v leaves %.0f MiB of memory; at least %d MiB are needed", c/(1<<20), least>>20)
	}
	memory.Guard(outOfMemory)
	return nil
}

// outOfMemory ends the program before the system does so without a word. Files are written whole
// or not at all, and a fit continues from its checkpoint.
func outOfMemory(ceiling float64) {
	fmt.Fprintf(os.Stderr, "utvi: out of memory: more than the %.0f MiB are needed that a control group or ulimit -v leaves to it; allow more memory, or give it less to do\n", ceiling/(1<<20))
	os.Exit(1)
}

// withinAddresses prepares for a limit of the address space (ulimit -v). Beyond it the runtime cannot
// go on, and says so in a line; where it was then helps nobody, and it tells unless the
// environment forbids it from the start. So does the C library keep 64 MiB for each thread.
func withinAddresses() error {
	if !memory.Limited() {
		return nil
	}
	if _, told := os.LookupEnv("GOTRACEBACK"); !told {
		self, err := os.Executable()
		if err == nil {
			err = syscall.Exec(self, os.Args, append([]string{"MALLOC_ARENA_MAX=1"}, append(os.Environ(), "GOTRACEBACK=none")...))
		}
		if !errors.Is(err, errors.ErrUnsupported) && err != nil {
			return fmt.Errorf("cannot start again within ulimit -v: %w", err)
		}
	}
	free := memory.Available()
	if free < leastAddresses {
		return fmt.Errorf("the limit of addresses (ulimit -v) leaves %.0f MiB; at least %d MiB are needed. A control group limits memory without limiting addresses", free/(1<<20), leastAddresses>>20)
	}
	return nil
}
