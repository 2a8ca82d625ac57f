package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"utvi/internal/inputfile"
)

// ReadFile reads the file at path.
func ReadFile(path string) (*File, error) {
	r, size, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := readFitting(r, size)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return f, nil
}

// readFitting refuses what would need more memory than is free: the tensors, and the parameters
// that are made of them.
func readFitting(r io.Reader, size int64) (*File, error) {
	if err := inputfile.Fits(size, 3); err != nil {
		return nil, err
	}
	return Read(r, size)
}

// Read reads a file of size bytes from r. Everything the header says is checked
// against size before memory is taken for it, so what is taken stays in
// proportion to size. An error is one sentence that says what is wrong.
func Read(r io.Reader, size int64) (*File, error) {
	head, err := readHead(r, size)
	if err != nil {
		return nil, err
	}
	header := head[lengthBytes:]
	announced, err := isAnnounced(header)
	if err != nil {
		return nil, err
	}
	meta, entries, err := parseHeader(header)
	if err != nil {
		return nil, notSafetensors(err)
	}
	if _, ok := meta[checksumKey]; ok != announced {
		return nil, errors.New("altered: the checksum is not where it was written")
	}
	delete(meta, checksumKey)
	held := uint64(size) - uint64(len(head))
	if err := checkLayout(entries, held); err != nil {
		return nil, err
	}

	verify := func() error { return nil }
	if announced {
		r, verify = checked(r, head)
	}
	tensors, err := readData(r, entries, min(held, chunkBytes))
	if err != nil {
		return nil, err
	}
	if err := verify(); err != nil {
		return nil, err
	}
	return &File{Metadata: meta, Tensors: tensors, HasChecksum: announced}, nil
}

// checked returns a reader to read the data with, and what to ask afterwards.
// It overwrites the digits in head.
func checked(r io.Reader, head []byte) (io.Reader, func() error) {
	place := head[lengthBytes+len(announce):]
	place = place[:min(digits, len(place))] // a forged header may have fewer
	stored := string(place)
	copy(place, strings.Repeat("0", digits))
	sum := sha256.New()
	sum.Write(head)
	return io.TeeReader(r, sum), func() error {
		if stored != hex.EncodeToString(sum.Sum(nil)) {
			return errors.New("altered: checksum does not match")
		}
		return nil
	}
}

// readHead returns the header with the length before it.
func readHead(r io.Reader, size int64) ([]byte, error) {
	if size < lengthBytes {
		return nil, fmt.Errorf("truncated: the header's length takes %d bytes, the file holds %d", lengthBytes, size)
	}
	var length [lengthBytes]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, readError(err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	switch rest := uint64(size - lengthBytes); {
	case n > maxHeader:
		return nil, notSafetensors(fmt.Errorf("a header of %d bytes is over the limit of %d", n, maxHeader))
	case n > rest:
		return nil, fmt.Errorf("truncated: the header takes %d bytes, the file holds %d", n, rest)
	case n < 2:
		return nil, notSafetensors(fmt.Errorf("a header of %d bytes is too short", n))
	}
	head := make([]byte, lengthBytes+n)
	copy(head, length[:])
	if _, err := io.ReadFull(r, head[lengthBytes:]); err != nil {
		return nil, readError(err)
	}
	return head, nil
}

// isAnnounced reports whether a checksum follows. A damaged announcement would
// pass for a foreign file, so one that differs in few bytes is refused.
func isAnnounced(header []byte) (bool, error) {
	if len(header) < len(announce) {
		return false, nil
	}
	differ := 0
	for i := range len(announce) {
		if header[i] != announce[i] {
			differ++
		}
	}
	if 0 < differ && differ <= 4 {
		return false, errors.New("altered: the beginning of the header is damaged")
	}
	return differ == 0, nil
}

// checkLayout holds the tensors against the bytes of data in the file.
func checkLayout(entries []namedEntry, held uint64) error {
	total, err := layout(entries)
	switch {
	case err != nil:
		return notSafetensors(err)
	case total > held:
		return fmt.Errorf("truncated: header says %d bytes of tensors, the file holds %d", total, held)
	case total < held:
		return fmt.Errorf("trailing bytes: header says %d bytes of tensors, the file holds %d", total, held)
	case total > math.MaxInt:
		return fmt.Errorf("too large for this machine: %d bytes of tensors", total)
	}
	return nil
}

func readData(r io.Reader, entries []namedEntry, chunk uint64) ([]Tensor, error) {
	buf := make([]byte, max(8, chunk)) // at least one element
	tensors := make([]Tensor, len(entries))
	for i, e := range entries {
		tensors[i] = Tensor{Name: e.name, Shape: e.Shape}
		n := (e.Offsets[1] - e.Offsets[0]) / dtypeSize[e.Dtype]
		if err := tensors[i].decode(r, buf, e.Dtype, int(n)); err != nil {
			return nil, readError(err)
		}
	}
	return tensors, nil
}

// readError names the case of a reader that holds less than was promised.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("truncated: the file ended while it was read")
	}
	return fmt.Errorf("reading failed: %w", err)
}

func notSafetensors(err error) error {
	if _, ok := errors.AsType[otherType](err); ok {
		return fmt.Errorf("written by another program: %w", err)
	}
	return fmt.Errorf("not a safetensors file: %w", err)
}
