package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// An output is the standard output. It remembers the first error, so that a command which
// prints line by line does not succeed when its lines are lost.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if err != nil {
		err = fmt.Errorf("cannot write to standard output: %w", err)
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}
