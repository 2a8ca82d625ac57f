package onnx

import (
	"encoding/json"
	"slices"
)

// A Signature keeps what the inputs and outputs of an imported graph were called and how they lay, so
// that the network can be written as a graph that fits in its place.
type Signature struct {
	Inputs  []Port `json:"inputs"`
	Outputs []Port `json:"outputs"`
}

// A Port is an input or an output.
type Port struct {
	Name  string `json:"name"`
	Dims  []int  `json:"dims"`            // behind those of the rows
	First bool   `json:"first,omitempty"` // the channels come first
}

// SignatureFact is the name by which the facts of a network hold a Signature.
const SignatureFact = "inputs and outputs"

// MetadataOfFacts stands before the names of facts in the metadata of graphs that networks are
// written as.
const MetadataOfFacts = "utvi.more."

// Text is the signature as facts hold it.
func (s *Signature) Text() string {
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// ParseSignature reads what Text wrote; nil if it is none, or one whose names cannot stand beside
// those of others.
func ParseSignature(text string, reserved ...string) *Signature {
	s := &Signature{}
	if json.Unmarshal([]byte(text), s) != nil || len(s.Inputs) == 0 || len(s.Outputs) == 0 {
		return nil
	}
	seen := slices.Clone(reserved)
	for _, p := range slices.Concat(s.Inputs, s.Outputs) {
		if p.Name == "" || slices.Contains(seen, p.Name) || slices.Contains(seen, p.Variance()) || len(p.Dims) > 8 {
			return nil
		}
		for _, d := range p.Dims {
			if d < 1 || d > 1<<24 {
				return nil
			}
		}
		seen = append(seen, p.Name, p.Variance())
	}
	return s
}

// Variance is the name of the variances of what the port holds.
func (p Port) Variance() string { return p.Name + "_variance" }

// Size is how many numbers a row has.
func (p Port) Size() int {
	n := 1
	for _, d := range p.Dims {
		n *= d
	}
	return n
}

// Shape are the dimensions, with those of the rows.
func (p Port) Shape() []Dim {
	all := []Dim{{Name: "N"}}
	for _, d := range p.Dims {
		all = append(all, Dim{Size: int64(d)})
	}
	return all
}

// Sizes is the number of elements of all inputs, or of all outputs, in a row.
func Sizes(ports []Port) (n int) {
	for _, p := range ports {
		n += p.Size()
	}
	return n
}
