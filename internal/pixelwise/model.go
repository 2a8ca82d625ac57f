package pixelwise

import (
	"errors"
	"fmt"

	"utvi/internal/calibrate"
	"utvi/internal/modelfile"
	"utvi/internal/pixels"
	"utvi/internal/tabular"
	"utvi/internal/widths"
	"utvi/model"
)

// A Model is networks that predict each pixel, and all that turns files into their inputs and their
// outputs into files.
type Model struct {
	Description
	Networks *model.Ensemble
}

// A Description is what the model's file says beside the networks.
type Description struct {
	Column string        `json:"column"` // with the images
	Target string        `json:"target"` // with the images of targets
	Input  pixels.Format `json:"input"`
	Output pixels.Format `json:"output"`

	// Levels are the colours of classes; nil: targets are numbers.
	Levels Levels `json:"levels,omitempty"`

	Curve       *widths.Curve          `json:"curve,omitempty"`       // of numbers: corrects variances
	Temperature *calibrate.Temperature `json:"temperature,omitempty"` // of classes

	Config      Config         `json:"config"`
	Rows        int            `json:"rows"` // images learned from
	Report      tabular.Report `json:"report"`
	Held        *Scores        `json:"held,omitempty"` // of the images held out
	Interrupted bool           `json:"interrupted,omitempty"`
}

// Classes is how many classes there are, 0 if targets are numbers.
func (m *Description) Classes() int { return len(m.Levels) }

// Size is the number of outputs of an image: numbers, or probabilities.
func (m *Description) Size() int {
	if k := m.Classes(); k > 0 {
		return m.Output.Height * m.Output.Width * k
	}
	return m.Output.Size()
}

// ErrOther is the error about a file whose model does not predict pixels.
var ErrOther = errors.New("the model does not predict pixels")

// Load reads what Save wrote.
func Load(path string, options ...model.Option) (*Model, error) {
	if err := modelfile.Check(path); err != nil {
		return nil, err
	}
	e, err := model.LoadEnsemble(path, options...)
	if err != nil {
		return nil, err
	}
	m, err := FromEnsemble(e)
	if err != nil && !errors.Is(err, ErrOther) {
		err = fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return m, err
}

// FromEnsemble returns the model of networks that were read; ErrOther if they are of another kind.
func FromEnsemble(e *model.Ensemble) (*Model, error) {
	var doc modelfile.Pixelwise[Description]
	found, err := e.Documents.Get(&doc)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrOther
	}
	m := &Model{Description: doc.Model, Networks: e}
	return m, m.check()
}

// check reports a description that does not fit the networks.
func (m *Model) check() error {
	in := &m.Input
	out := &m.Output
	if err := errors.Join(in.Check(), out.Check(), m.Curve.Check()); err != nil {
		return err
	}
	if in.Height != out.Height || in.Width != out.Width || in.Size() != m.Networks.Inputs() {
		return errors.New("the size of the images is not that of the networks")
	}
	if t := m.Temperature; t != nil && !(t.T > 0 && t.T < 1e6) {
		return errors.New("the temperature of the pixels is not a number above 0")
	}
	for _, l := range m.Levels {
		if len(l) != out.Channels {
			return errors.New("the colours of the classes have other channels than the targets")
		}
	}
	head, err := m.Networks.NewHead(1)
	if err != nil {
		return err
	}
	if n, _ := head.Targets(); n != m.Size() || len(m.Levels) == 1 || len(m.Levels) > MostClasses {
		return fmt.Errorf("the networks predict %d numbers of an image; its pixels have %d", n, m.Size())
	}
	return nil
}

// Save writes the model to a file, whole or not at all.
func (m *Model) Save(path string) error {
	e := &model.Ensemble{Members: m.Networks.Members, Documents: modelfile.Documents{}}
	doc := modelfile.Pixelwise[Description]{Model: m.Description}
	if err := e.Documents.Put(&doc); err != nil {
		return err
	}
	return e.Save(path)
}
