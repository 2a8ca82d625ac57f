//go:build !unix

package inputfile

const doNotWait = 0
