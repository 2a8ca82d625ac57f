package modelfile

import (
	"errors"
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
	_, err = io.ReadFull(f, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	if err != nil || head[8] != '{' {
		return fmt.Errorf("%s is not a utvi model file", path)
	}
	return nil
}
