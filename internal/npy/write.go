package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// WriteHeader writes the header of an array, whose numbers follow; kind is as NumPy writes it, such as
// <f4.
func WriteHeader(w io.Writer, kind string, shape []int) error {
	var sides []string
	for _, n := range shape {
		sides = append(sides, fmt.Sprint(n))
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }", kind, strings.Join(sides, ", "))
	const fixed, unit = 10, 64 // the numbers begin at a multiple of it
	room := unit - (fixed+len(text)+1)%unit
	text += strings.Repeat(" ", room%unit) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte(Magic+"\x01\x00"), uint16(len(text)))
	_, err := w.Write(append(head, text...))
	return err
}
