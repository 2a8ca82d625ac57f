package serve

import (
	"net"

	"golang.org/x/sys/unix"
)

// refuseNew makes the kernel drop the packets that ask for new connections, and no others:
// what it has completed can be accepted, and after that nothing is lost when the listener
// is closed. Those who ask again a second later are refused.
func refuseNew(l *net.TCPListener) {
	const flags, syn = 13, 2 // of the header of TCP
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1<<32 - 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
	control(l, func(fd int) {
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program) // without it a moment's connections may be reset
	})
}
