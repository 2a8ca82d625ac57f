//go:build unix

package serve

import (
	"net"

	"golang.org/x/sys/unix"
)

// waiting reports whether a connection waits to be accepted.
func waiting(l *net.TCPListener) (yes bool) {
	control(l, func(fd int) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		yes = n > 0 && err == nil
	})
	return yes
}

func control(l *net.TCPListener, f func(fd int)) {
	raw, err := l.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { f(int(fd)) })
}
