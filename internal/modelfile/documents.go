package modelfile

import (
	"encoding/json"
	"fmt"

	"utvi/internal/strictjson"
)

// Documents are JSON documents by name. Those of this package are read by Get and written by Put.
type Documents map[string]json.RawMessage

// A Document is one that this package declares: a pointer to a Tabular, a Table, a Calibration,
// Histograms … Its type parameters are the types of values that other packages own.
type Document interface {
	name() string
	what() string // it is, in words
	format() *int // its version; nil if it has none
	newest() int  // version
}

// Get reads the document into d; found is false if there is none.
func (docs Documents) Get(d Document) (found bool, err error) {
	text, ok := docs[d.name()]
	if !ok {
		return false, nil
	}
	if d.format() != nil {
		have, err := format(text)
		if err != nil {
			return true, fmt.Errorf("%s cannot be read: %.100s", d.what(), err)
		}
		if have != d.newest() {
			return true, fmt.Errorf("%s has format %d; this version reads %d", d.what(), have, d.newest())
		}
	}
	if err := strictjson.Unmarshal(text, d); err != nil {
		return true, fmt.Errorf("%s cannot be read: %w", d.what(), err)
	}
	return true, nil
}

// Put writes a document, with its version.
func (docs Documents) Put(d Document) error {
	if f := d.format(); f != nil {
		*f = d.newest()
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	docs[d.name()] = text
	return nil
}

// A Tabular says how the outputs of networks become distributions of targets.
type Tabular[Shape, Warp, Usual, Report any] struct {
	Format  int     `json:"format"`
	Targets int     `json:"targets"`           // that are numbers
	Classes int     `json:"classes,omitempty"` // of the one target; 0: targets are numbers
	Shapes  []Shape `json:"shapes,omitempty"`  // of residuals, one for each number
	Warps   []Warp  `json:"warps,omitempty"`   // transforms of targets
	Usual   Usual   `json:"usual"`             // what training rows are like
	Report  Report  `json:"report"`            // which networks were chosen, and why
}

func (*Tabular[S, W, U, R]) name() string   { return "tabular" }
func (*Tabular[S, W, U, R]) what() string   { return "the description of the tabular model" }
func (d *Tabular[S, W, U, R]) format() *int { return &d.Format }
func (*Tabular[S, W, U, R]) newest() int    { return 1 }

// A Table says what the columns of the table are, and how the model was made.
type Table struct {
	Format int             `json:"format"`
	Schema json.RawMessage `json:"schema"`           // as package table writes it
	Facts  json.RawMessage `json:"facts"`            // as package fit writes them
	Sketch []uint64        `json:"sketch,omitempty"` // the smallest hashes of the training rows, ascending
}

func (*Table) name() string   { return "table" }
func (*Table) what() string   { return "the description of the table" }
func (d *Table) format() *int { return &d.Format }
func (*Table) newest() int    { return 1 }

// A Calibration is the correction of each target.
type Calibration[Correction any] []Correction

func (*Calibration[C]) name() string { return "calibration" }
func (*Calibration[C]) what() string { return "the calibration" }
func (*Calibration[C]) format() *int { return nil }
func (*Calibration[C]) newest() int  { return 0 }

// A Memory is made-up rows that stand for those that the model learned from.
type Memory struct {
	Format  int       `json:"format"`
	Rows    float64   `json:"rows"`              // that it stands for
	Columns []string  `json:"columns"`           // of its table
	Cells   string    `json:"cells"`             // the table, as CSV without names
	Weights []float32 `json:"weights,omitempty"` // how many rows each stands for; nil: one
}

func (*Memory) name() string   { return "memory" }
func (*Memory) what() string   { return "the memory of training rows" }
func (d *Memory) format() *int { return &d.Format }
func (*Memory) newest() int    { return 1 }

// A Pixelwise says what networks that predict every pixel of an image read and write.
type Pixelwise[Description any] struct {
	Format int         `json:"format"`
	Model  Description `json:"model"`
}

func (*Pixelwise[D]) name() string   { return "pixelwise" }
func (*Pixelwise[D]) what() string   { return "the description of the pixels" }
func (d *Pixelwise[D]) format() *int { return &d.Format }
func (*Pixelwise[D]) newest() int    { return 1 }

// Histograms count the values of columns among the training rows.
type Histograms[Histogram any] []Histogram

func (*Histograms[H]) name() string { return "histograms" }
func (*Histograms[H]) what() string { return "the document of histograms" }
func (*Histograms[H]) format() *int { return nil }
func (*Histograms[H]) newest() int  { return 0 }
