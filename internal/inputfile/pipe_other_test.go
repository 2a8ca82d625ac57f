//go:build !unix

package inputfile

import "testing"

func makePipe(t *testing.T, path string) (string, bool) {
	t.Log("this system has no named pipes")
	return "", false
}
