package killtest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// emulator is the variable that names the program which runs the tests of another
// processor, such as qemu-aarch64-static: there a test cannot start itself directly.
const emulator = "UTVI_TEST_EXEC"

// Command is the running test program, to be started once more with an environment
// of the given variables besides the present ones.
func Command(env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	if e := os.Getenv(emulator); e != "" {
		c = exec.Command(e, os.Args[0])
	}
	c.Env = append(os.Environ(), env...)
	return c
}

// Start starts a Command. It skips the test where the system cannot run the program
// without its emulator.
func Start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	err := c.Start()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skipf("%v: set %s to the emulator that runs this program", err, emulator)
	}
	if err != nil {
		t.Fatal(err)
	}
}
