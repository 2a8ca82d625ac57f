//go:build !page

package browser

// A plain build has no program for browsers inside: it is built from this very source, so that it
// cannot be part of it.
var (
	programGz []byte
	exec      string
)
