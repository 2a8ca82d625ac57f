//go:build !amd64 && !arm64

package cpu

const hasVector, hasWide = false, false
