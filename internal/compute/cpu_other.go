//go:build !amd64 && !arm64

package compute

const hasVector, hasWide = false, false
