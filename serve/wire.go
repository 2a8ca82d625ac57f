package serve

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// What decoded parts of a message take beside their bytes, about: a struct with its
// pointer in a list that grows, a text in one, an entry of a map.
const (
	decodedMessage = 256
	decodedText    = 64
	decodedEntry   = 512
	decodedNumber  = 16 // in a list that grows
)

// decodedSize is how much memory a message takes when it is decoded, at most. It follows
// the bytes and builds nothing. Bytes that are no message have the size until there:
// decoding ends there, too.
func decodedSize(b []byte, d protoreflect.MessageDescriptor) int64 {
	size := int64(decodedMessage)
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return size
		}
		b = b[n:]
		n = protowire.ConsumeFieldValue(number, kind, b)
		if n < 0 {
			return size
		}
		size += fieldSize(b[:n], kind, d.Fields().ByNumber(number))
		b = b[n:]
	}
	return size
}

// fieldSize is the memory of one occurrence of a field.
func fieldSize(value []byte, kind protowire.Type, f protoreflect.FieldDescriptor) int64 {
	if f == nil {
		return 2 * int64(len(value)+8) // unknown fields are kept as they are, in a list that grows
	}
	if kind != protowire.BytesType {
		return decodedNumber
	}
	inner, _ := protowire.ConsumeBytes(value)
	switch f.Kind() {
	case protoreflect.MessageKind:
		size := decodedSize(inner, f.Message())
		if f.IsMap() {
			size += decodedEntry
		}
		return size
	case protoreflect.StringKind, protoreflect.BytesKind:
		return int64(len(inner))*9/8 + decodedText // the allocator rounds up
	}
	return packedSize(inner, f.Kind())
}

// packedSize is the memory of numbers that are written one after the other: those of fixed
// width as they are, others as many as there are last bytes of them. The list may grow.
func packedSize(b []byte, kind protoreflect.Kind) int64 {
	switch kind {
	case protoreflect.DoubleKind, protoreflect.FloatKind, protoreflect.BoolKind:
		return 2*int64(len(b)) + decodedNumber
	}
	count := 0
	for _, c := range b {
		if c < 0x80 {
			count++
		}
	}
	return decodedNumber * int64(count+1)
}
