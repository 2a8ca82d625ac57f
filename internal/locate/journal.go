package locate

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// A Journal is a file of what was found, frame by frame, to the last bit. A run that was stopped, by
// whatever, goes on behind its last whole frame; pieces of a stack that were found apart become one table.
//
// Behind the first line it is a list of records: length, bytes, checksum. The first record is the
// mark of the run, each other one a Part.
type Journal struct {
	f *os.File
	b []byte
}

const journalBegins = "utvi locate journal 1\n"

// ErrOther says that a journal is of another run: another stack, other settings, another family of kernels.
var ErrOther = errors.New("another stack or other settings")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenJournal opens the journal of a run with this mark, or begins one. take is given the parts that
// it holds, one after the other; their memory is used again. What follows the last whole one is cut off.
func OpenJournal(path string, mark []byte, take func(*Part) error) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	j, err := continueJournal(f, mark, take)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

func continueJournal(f *os.File, mark []byte, take func(*Part) error) (*Journal, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	have, whole, err := readJournal(f, info.Size(), func(have []byte) error {
		if !bytes.Equal(have, mark) {
			return fmt.Errorf("it holds %w", ErrOther)
		}
		return nil
	}, take)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(whole); err != nil {
		return nil, err
	}
	if _, err := f.Seek(whole, io.SeekStart); err != nil {
		return nil, err
	}
	j := &Journal{f: f}
	if have != nil {
		return j, nil
	}
	j.b = append(j.b, journalBegins...)
	begin := len(j.b)
	j.b = append(append(j.b, 0, 0, 0, 0), mark...)
	return j, j.record(begin)
}

// ReadJournal reads a journal of a size whose every part is whole, and returns its mark.
func ReadJournal(r io.Reader, size int64, take func(*Part) error) (mark []byte, err error) {
	mark, whole, err := readJournal(r, size, func([]byte) error { return nil }, take)
	if err == nil && whole != size {
		err = errors.New("the journal is damaged, or it was not finished")
	}
	return mark, err
}

// readJournal reads whole records. mark is nil if there is none; whole is where the last record ends.
func readJournal(r io.Reader, size int64, check func(mark []byte) error, take func(*Part) error) (mark []byte, whole int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	begin := make([]byte, len(journalBegins))
	if n, err := io.ReadFull(in, begin); err != nil || string(begin) != journalBegins {
		if n > 0 && !bytes.HasPrefix([]byte(journalBegins), begin[:n]) {
			return nil, 0, errors.New("it is not what a run of locate has left")
		}
		return nil, 0, nil
	}
	at := int64(len(begin))
	var b []byte
	var p Part
	for {
		b, err = nextRecord(in, b, size-at)
		if err != nil {
			return nil, 0, err
		}
		if b == nil {
			return mark, whole, nil
		}
		at += int64(len(b)) + recordAround
		if mark == nil {
			mark = bytes.Clone(b)
			if err := check(mark); err != nil {
				return mark, 0, err
			}
			whole = at
			continue
		}
		if err := p.decode(b); err != nil {
			return mark, 0, err
		}
		if err := take(&p); err != nil {
			return mark, 0, err
		}
		whole = at
	}
}

// recordAround is what stands around the bytes of a record: their number and their checksum.
const recordAround = 8

// nextRecord reads a record into b; nil: no whole one follows in what is left of the file.
func nextRecord(in io.Reader, b []byte, left int64) ([]byte, error) {
	var four [4]byte
	if _, err := io.ReadFull(in, four[:]); err != nil {
		return nil, atEnd(err)
	}
	n := int64(binary.LittleEndian.Uint32(four[:]))
	if n > left-recordAround {
		return nil, nil
	}
	if int64(cap(b)) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, atEnd(err)
	}
	if _, err := io.ReadFull(in, four[:]); err != nil {
		return nil, atEnd(err)
	}
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(four[:]) {
		return nil, nil
	}
	return b, nil
}

// atEnd is the error of a reading that is not merely the end.
func atEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// Add adds the next part; it outlives this process.
func (j *Journal) Add(p *Part) error {
	j.b = p.encode(append(j.b[:0], 0, 0, 0, 0))
	return j.record(0)
}

// Close ends the journal; the file stays.
func (j *Journal) Close() error { return j.f.Close() }

// record writes what is in memory, which ends with a record from a place on, as yet without its length
// and its checksum.
func (j *Journal) record(at int) error {
	body := j.b[at+4:]
	binary.LittleEndian.PutUint32(j.b[at:], uint32(len(body)))
	j.b = binary.LittleEndian.AppendUint32(j.b, crc32.Checksum(body, castagnoli))
	_, err := j.f.Write(j.b)
	return err
}

// numbers of a localisation, in the order of the journal.
func numbers(l *Localisation) [localisationNumbers]*float64 {
	return [...]*float64{&l.X, &l.Y, &l.Photons, &l.Background, &l.BackStd, &l.Misfit, &l.SX, &l.SY, &l.Cov, &l.Photon, &l.Ground, &l.Bound,
		&l.Probability, &l.JointX, &l.JointY, &l.Doubt}
}

const (
	localisationNumbers = 16
	localisationSize    = 8*localisationNumbers + 4 + 1
	partSize            = 8 + 4 + 4 + 1
)

func (p *Part) encode(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(p.Frame))
	b = le.AppendUint32(b, uint32(len(p.All)))
	b = le.AppendUint32(b, uint32(p.Unlikely))
	b = append(b, bits(p.Blank, false))
	for i := range p.All {
		l := &p.All[i]
		for _, x := range numbers(l) {
			b = le.AppendUint64(b, math.Float64bits(*x))
		}
		b = le.AppendUint32(b, uint32(l.Near))
		b = append(b, bits(l.Outside, l.Saturated))
	}
	return b
}

func bits(a, b bool) (x byte) {
	if a {
		x |= 1
	}
	if b {
		x |= 2
	}
	return x
}

func (p *Part) decode(b []byte) error {
	le := binary.LittleEndian
	if len(b) < partSize || len(b) != partSize+localisationSize*int(le.Uint32(b[8:])) {
		return errors.New("the journal is damaged")
	}
	p.Frame = int(le.Uint64(b))
	n := int(le.Uint32(b[8:]))
	p.Unlikely = int(le.Uint32(b[12:]))
	p.Blank = b[16] != 0
	b = b[partSize:]
	p.All = p.All[:0]
	for range n {
		l := Localisation{Frame: p.Frame}
		for i, x := range numbers(&l) {
			*x = math.Float64frombits(le.Uint64(b[8*i:]))
		}
		b = b[8*localisationNumbers:]
		l.Near = int(le.Uint32(b))
		l.Outside = b[4]&1 != 0
		l.Saturated = b[4]&2 != 0
		b = b[5:]
		p.All = append(p.All, l)
	}
	return nil
}
