package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	metadataKey = "__metadata__"
	checksumKey = "checksum"

	// announce is how the header of a file with a checksum begins; the digits
	// follow. Their place being fixed, nothing in the file can imitate it.
	announce = `{"` + metadataKey + `":{"` + checksumKey + `":"sha256:`
	digits   = 2 * sha256.Size

	lengthBytes = 8         // the header's length
	headerAlign = 8         // so that the data of a mapped file is aligned
	maxHeader   = 100 << 20 // the format's own limit
)

// Write writes the file. The data is converted twice, first for the checksum,
// which stands before it: w need not seek and memory stays small.
func (f *File) Write(w io.Writer) error {
	head, err := f.header()
	if err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(head)
	if err := f.writeData(sum); err != nil {
		return err
	}
	hex.Encode(head[lengthBytes+len(announce):], sum.Sum(nil))
	if _, err := w.Write(head); err != nil {
		return err
	}
	return f.writeData(w)
}

// header returns the length and the header, with zeros for the checksum.
func (f *File) header() ([]byte, error) {
	b := make([]byte, lengthBytes)
	b = append(b, announce+strings.Repeat("0", digits)+`"`...)
	for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
		v := f.Metadata[k]
		if k == checksumKey {
			return nil, fmt.Errorf("the metadata key %q is reserved", k)
		}
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, fmt.Errorf("metadata %q is not valid UTF-8", k)
		}
		b = append(appendJSON(append(b, ','), k), ':')
		b = appendJSON(b, v)
	}
	b = append(b, '}')

	seen := map[string]bool{metadataKey: true}
	end := uint64(0)
	for i := range f.Tensors {
		t := &f.Tensors[i]
		if !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("tensor name %q is not valid UTF-8", t.Name)
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("tensor name %q is taken", t.Name)
		}
		seen[t.Name] = true
		dtype, n, err := t.dtype()
		if err != nil {
			return nil, fmt.Errorf("tensor %.60q %w", t.Name, err)
		}
		size, err := byteSize(dtype, t.Shape)
		if err != nil {
			return nil, fmt.Errorf("tensor %.60q %w", t.Name, err)
		}
		if size != uint64(n)*dtypeSize[dtype] {
			return nil, fmt.Errorf("tensor %.60q holds %d values, which is not its shape %v", t.Name, n, t.Shape)
		}
		b = append(appendJSON(append(b, ','), t.Name), ':')
		b = appendJSON(b, entry{dtype, append([]int{}, t.Shape...), [2]uint64{end, end + size}})
		end += size
	}
	b = append(b, '}')
	for len(b)%headerAlign != 0 { // lengthBytes is a multiple itself
		b = append(b, ' ')
	}
	length := len(b) - lengthBytes
	if length > maxHeader {
		return nil, fmt.Errorf("the header takes %d bytes, over the limit of %d", length, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(length))
	return b, nil
}

// appendJSON appends v, which is of a type that cannot fail.
func appendJSON(b []byte, v any) []byte {
	j, err := json.Marshal(v)
	if err != nil {
		panic("safetensors: " + err.Error())
	}
	return append(b, j...)
}

func (f *File) writeData(w io.Writer) error {
	buf := make([]byte, chunkBytes)
	for i := range f.Tensors {
		if err := f.Tensors[i].encode(w, buf); err != nil {
			return err
		}
	}
	return nil
}
