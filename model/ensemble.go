package model

import (
	"errors"
	"fmt"
	"io"

	"utvi/internal/modelfile"
)

// An Ensemble adds to networks, usually trained from different seeds, that they predict together
// (see Head) and lie in one file.
type Ensemble struct {
	Members []*Model

	// Documents are what other packages store in the same file, such as the schema of a
	// table or a calibration. This package does not read them.
	Documents modelfile.Documents
}

// NewEnsemble returns an ensemble of networks that have equal inputs and outputs.
func NewEnsemble(members ...*Model) (*Ensemble, error) {
	if len(members) == 0 {
		return nil, errors.New("ensemble: no networks; at least 1 is needed")
	}
	first := members[0]
	for i, m := range members {
		if m == nil {
			return nil, fmt.Errorf("ensemble: network %d is nil", i)
		}
		if m.Inputs() != first.Inputs() || m.Outputs() != first.Outputs() {
			return nil, fmt.Errorf("ensemble: network 0 turns %d inputs into %d outputs, network %d %d into %d",
				first.Inputs(), first.Outputs(), i, m.Inputs(), m.Outputs())
		}
	}
	return &Ensemble{Members: members}, nil
}

// Inputs returns how many numbers a row of the networks has.
func (e *Ensemble) Inputs() int { return e.Members[0].Inputs() }

// Outputs returns how many outputs a network has.
func (e *Ensemble) Outputs() int { return e.Members[0].Outputs() }

// Save writes all networks to one file.
func (e *Ensemble) Save(path string) error {
	f, err := e.file()
	if err != nil {
		return fmt.Errorf("cannot save the ensemble: %w", err)
	}
	return f.Save(path)
}

// Write writes the contents of the file that Save makes.
func (e *Ensemble) Write(w io.Writer) error {
	f, err := e.file()
	if err != nil {
		return fmt.Errorf("cannot save the ensemble: %w", err)
	}
	return f.Write(w)
}

func (e *Ensemble) file() (*modelfile.File, error) {
	if _, err := NewEnsemble(e.Members...); err != nil {
		return nil, err
	}
	f := &modelfile.File{}
	var all []description
	for k, m := range e.Members {
		d, err := m.describe(f, modelfile.Prefix(k))
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", k, err)
		}
		all = append(all, d)
	}
	if err := modelfile.SetMembers(f, all); err != nil {
		return nil, err
	}
	return f, f.SetDocuments(e.Documents)
}

// LoadEnsemble reads a file that Ensemble.Save wrote. A file with one network becomes
// an ensemble of one.
func LoadEnsemble(path string, options ...Option) (*Ensemble, error) {
	f, err := modelfile.Open(path)
	if err != nil {
		return nil, err // which names the path
	}
	e, err := decodeEnsemble(f, options)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return e, nil
}

// ReadEnsemble is LoadEnsemble for a file of size bytes that r reads.
func ReadEnsemble(r io.ReaderAt, size int64, options ...Option) (*Ensemble, error) {
	f, err := modelfile.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("cannot read the model: %w", err)
	}
	e, err := decodeEnsemble(f, options)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model: %w", err)
	}
	return e, nil
}

func decodeEnsemble(f *modelfile.File, options []Option) (*Ensemble, error) {
	e, err := decodeMembers(f, options)
	if err != nil {
		return nil, err
	}
	e.Documents, err = f.Documents()
	return e, err
}

func decodeMembers(f *modelfile.File, options []Option) (*Ensemble, error) {
	if !f.IsEnsemble() {
		m, err := decode[float32](f, options)
		if err != nil {
			return nil, err
		}
		return NewEnsemble(m)
	}
	lib, err := collect(options)
	if err != nil {
		return nil, err
	}
	all, err := modelfile.Members[Facts](f)
	if err != nil {
		return nil, err
	}
	w := newWeights(f)
	var members []*Model
	for k, d := range all {
		m, err := build[float32](d, w, modelfile.Prefix(k), lib)
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", k, err)
		}
		members = append(members, m)
	}
	if err := w.allUsed(); err != nil {
		return nil, err
	}
	return NewEnsemble(members...)
}
