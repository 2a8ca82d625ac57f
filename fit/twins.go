package fit

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"utvi/internal/advice"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

// twins finds input columns that say the same as an earlier one in every row. They harm no
// prediction, but the importance of the column is shared among them.
func (s survey) twins() (all []Warning) {
	seed, first := maphash.MakeSeed(), map[uint64]schema.Span{}
	for _, span := range s.schema.Spans() {
		var h maphash.Hash
		h.SetSeed(seed)
		for i := range s.data.X.Rows {
			hashInputs(&h, s.data, i, span)
		}
		was, found := first[h.Sum64()]
		switch {
		case !found:
			first[h.Sum64()] = span
		case was.Column.Type == span.Column.Type:
			all = append(all, advice.New("columns %s and %s are the same in every row; %v, or they share their importance", was.Column.Name, span.Column.Name, advice.Set("Ignore", span.Column.Name)))
		}
	}
	return few(all, "%d more columns are the same as others")
}

// coarse reports whether rows repeat because inputs have few values, and not because they
// were copied: a training row in four, or fewer, has inputs that no row before has, and rows
// with the same inputs have other targets.
func coarse(d *tabular.Data) bool {
	seed := maphash.MakeSeed()
	seen := map[uint64]int{}
	differ := false
	width := d.Outputs()
	for i := range d.X.Rows {
		var h maphash.Hash
		h.SetSeed(seed)
		hashInputs(&h, d, i, schema.Span{To: d.X.Width})
		first, found := seen[h.Sum64()]
		if !found {
			seen[h.Sum64()] = i
		} else if !slices.Equal(d.Y[first*width:][:width], d.Y[i*width:][:width]) {
			differ = true
		}
	}
	return differ && 4*len(seen) <= d.X.Rows
}

func hashInputs(h *maphash.Hash, d *tabular.Data, row int, span schema.Span) {
	var b [4]byte
	for _, v := range d.X.Mean[row*d.X.Width+span.From : row*d.X.Width+span.To] {
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
		h.Write(b[:])
	}
}
