package modelfile

import (
	"fmt"
	"io"

	"utvi/internal/inputfile"
)

// Check reports a file that cannot be a model of any kind, such as a table. A model
// begins with eight bytes, the length of a header in JSON.
func Check(path string) error {
	f, _, err := inputfile.Open(path)
	if err != nil {
		return nil // which reading it will report
	}
	defer f.Close()
	var head [9]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || head[8] != '{' {
		return fmt.Errorf("%s is not a utvi model file", path)
	}
	return nil
}
