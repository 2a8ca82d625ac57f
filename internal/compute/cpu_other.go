//go:build !amd64

package compute

const hasVector = false
