//go:build !amd64

package compute

const hasVector, hasWide = false, false
