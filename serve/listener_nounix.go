//go:build !unix

package serve

import "net"

// waiting cannot be asked here.
func waiting(*net.TCPListener) bool { return false }
