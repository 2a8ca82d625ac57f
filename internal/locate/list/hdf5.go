package list

import "encoding/binary"

// A column of a compound in an HDF5 file.
type column struct {
	name string
	kind columnKind
}

type columnKind uint8

const (
	unsigned32 columnKind = iota
	float32Kind
)

const columnSize = 4 // bytes of either kind

// Sizes and addresses of what stands before the rows: superblock, object header of the root group, its
// B-tree, its heap, its one node, and the object header of the dataset.
const (
	superblockSize  = 96
	rootHeaderSize  = 16 + 8 + 16
	groupInternalK  = 16
	groupLeafK      = 4
	treeSize        = 24 + (4*groupInternalK+1)*8
	heapSize        = 32
	heapDataSize    = 32
	nodeSize        = 8 + 2*groupLeafK*40
	rootHeaderAt    = superblockSize
	treeAt          = rootHeaderAt + rootHeaderSize
	heapAt          = treeAt + treeSize
	heapDataAt      = heapAt + heapSize
	nodeAt          = heapDataAt + heapDataSize
	datasetHeaderAt = nodeAt + nodeSize
	undefined       = 1<<64 - 1
	nameAt          = 8 // in the heap
)

// An hdf5 is the beginning of a file.
type hdf5 struct{ b []byte }

func (h *hdf5) text(s string)  { h.b = append(h.b, s...) }
func (h *hdf5) u8(all ...byte) { h.b = append(h.b, all...) }
func (h *hdf5) u16(x uint16)   { h.b = binary.LittleEndian.AppendUint16(h.b, x) }
func (h *hdf5) u32(x uint32)   { h.b = binary.LittleEndian.AppendUint32(h.b, x) }
func (h *hdf5) u64(x uint64)   { h.b = binary.LittleEndian.AppendUint64(h.b, x) }

// to pads with zeros up to an address.
func (h *hdf5) to(at int) { h.b = append(h.b, make([]byte, at-len(h.b))...) }

func (h *hdf5) align() { h.to((len(h.b) + 7) / 8 * 8) }

// hdf5Header is all of a file that stands before its rows: superblock of version 0, a root group with
// a symbol table, and in it one dataset, a contiguous list of compounds. It is what every version of
// the HDF5 library reads. (HDF5 file format specification, version 1.1.)
func hdf5Header(dataset string, columns []column, rows int64) []byte {
	d := datasetHeader(columns, rows, 0)
	data := (datasetHeaderAt + len(d) + 7) / 8 * 8
	size := rows * int64(len(columns)*columnSize)
	h := &hdf5{}
	h.superblock(uint64(data) + uint64(size))
	h.rootHeader()
	h.to(treeAt)
	h.text("TREE")
	h.u8(0, 0) // of a group; a leaf
	h.u16(1)
	h.u64(undefined)
	h.u64(undefined)
	h.u64(0) // key: the name before all
	h.u64(nodeAt)
	h.u64(nameAt)
	h.to(heapAt)
	h.text("HEAP")
	h.u8(0, 0, 0, 0)
	h.u64(heapDataSize)
	const noFree = 1
	h.u64(noFree)
	h.u64(heapDataAt)
	h.to(heapDataAt + nameAt)
	h.text(dataset)
	h.to(nodeAt)
	h.text("SNOD")
	h.u8(1, 0)
	h.u16(1)
	h.entry(nameAt, datasetHeaderAt, 0)
	h.to(datasetHeaderAt)
	h.b = append(h.b, datasetHeader(columns, rows, uint64(data))...)
	h.to(data)
	return h.b
}

func (h *hdf5) superblock(end uint64) {
	h.text("\x89HDF\r\n\x1a\n")
	h.u8(0, 0, 0, 0, 0, 8, 8, 0) // versions; bytes of an address and of a length
	h.u16(groupLeafK)
	h.u16(groupInternalK)
	h.u32(0)
	h.u64(0)
	h.u64(undefined)
	h.u64(end)
	h.u64(undefined)
	const cachedGroup = 1
	h.entry(0, rootHeaderAt, cachedGroup)
}

// entry is one of a symbol table.
func (h *hdf5) entry(name, header uint64, cached uint32) {
	h.u64(name)
	h.u64(header)
	h.u32(cached)
	h.u32(0)
	if cached == 0 {
		h.u64(0)
		h.u64(0)
		return
	}
	h.u64(treeAt)
	h.u64(heapAt)
}

func (h *hdf5) rootHeader() {
	h.objectHeader(1, 8+16)
	h.message(symbolTable, 16)
	h.u64(treeAt)
	h.u64(heapAt)
}

// Kinds of messages in object headers.
const (
	dataspace   = 0x01
	datatype    = 0x03
	fillValue   = 0x05
	dataLayout  = 0x08
	symbolTable = 0x11
)

func (h *hdf5) objectHeader(messages uint16, size int) {
	h.u8(1, 0)
	h.u16(messages)
	h.u32(1) // reference
	h.u32(uint32(size))
	h.u32(0)
}

func (h *hdf5) message(kind uint16, size int) {
	h.u16(kind)
	h.u16(uint16(size))
	h.u8(0, 0, 0, 0)
}

func datasetHeader(columns []column, rows int64, data uint64) []byte {
	m := &hdf5{}
	m.message(dataspace, 16)
	m.u8(1, 1, 0, 0, 0, 0, 0, 0) // version, one dimension
	m.u64(uint64(rows))
	t := compound(columns)
	m.message(datatype, len(t))
	m.b = append(m.b, t...)
	m.message(fillValue, 8)
	m.u8(2, 2, 0, 0, 0, 0, 0, 0) // version, allocated late, written on allocation, not defined
	m.message(dataLayout, 24)
	m.u8(3, 1) // version, contiguous
	if rows == 0 {
		data = undefined
	}
	m.u64(data)
	m.u64(uint64(rows) * uint64(len(columns)*columnSize))
	m.align()
	h := &hdf5{}
	const messages = 4
	h.objectHeader(messages, len(m.b))
	return append(h.b, m.b...)
}

// compound is a datatype message, padded to eight bytes.
func compound(columns []column) []byte {
	t := &hdf5{}
	const class = 1<<4 | 6 // version 1, compound
	t.u8(class)
	t.u16(uint16(len(columns)))
	t.u8(0)
	t.u32(uint32(len(columns) * columnSize))
	for i, c := range columns {
		begin := len(t.b)
		t.text(c.name)
		t.to(begin + (len(c.name)/8+1)*8)
		t.u32(uint32(i * columnSize))
		t.to(len(t.b) + 4 + 4 + 4 + 16) // a scalar: no dimensions
		switch c.kind {
		case unsigned32:
			t.u8(1<<4, 0, 0, 0)
			t.u32(columnSize)
			t.u16(0)
			t.u16(32)
		case float32Kind:
			t.u8(1<<4|1, 0x20, 31, 0) // little-endian, the leading one implied, the sign's bit
			t.u32(columnSize)
			t.u16(0)
			t.u16(32)
			t.u8(23, 8, 0, 23) // exponent and mantissa: first bit, bits
			t.u32(127)
		}
	}
	t.align()
	return t.b
}
