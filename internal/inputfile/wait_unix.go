//go:build unix

package inputfile

import "syscall"

const doNotWait = syscall.O_NONBLOCK
