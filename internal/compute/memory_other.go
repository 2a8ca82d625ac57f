//go:build !linux

package compute

func adviseHuge([]byte) {}
