package serve

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// A ListenError is about an address that the server cannot answer at.
type ListenError struct {
	Protocol string // HTTP or gRPC
	Address  string
	Err      error
}

// Error names the address once: the errors of package net repeat it.
func (e *ListenError) Error() string {
	err := e.Err
	if x, ok := errors.AsType[*net.OpError](err); ok {
		err = x.Err
	}
	if x, ok := errors.AsType[*os.SyscallError](err); ok {
		err = x.Err
	}
	text := err.Error()
	if x, ok := errors.AsType[*net.AddrError](err); ok {
		text = x.Err
	}
	return fmt.Sprintf("cannot answer %s at %s: %s", e.Protocol, e.Address, text)
}

// Unwrap returns why, as the system has it.
func (e *ListenError) Unwrap() error { return e.Err }

func address(a net.Addr) string {
	if a == nil {
		return "none"
	}
	return a.String()
}

// page is what to open in a browser on this machine.
func page(a net.Addr, secure bool) string {
	at, ok := a.(*net.TCPAddr)
	if !ok {
		return "none"
	}
	host, scheme := at.IP.String(), "http"
	if at.IP.IsUnspecified() { // all addresses of the machine
		host = "localhost"
	}
	if secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(at.Port)) + "/"
}
