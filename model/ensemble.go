package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/safetensors"
)

// An Ensemble is a set of networks, usually trained from different seeds, that predict
// together (see Head).
type Ensemble struct {
	Members []*Model

	// Documents are JSON documents by name, such as the schema of a table or a
	// calibration, that other packages store in the same file. This package does not
	// read them.
	Documents map[string]json.RawMessage
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

func (e *Ensemble) Inputs() int  { return e.Members[0].Inputs() }
func (e *Ensemble) Outputs() int { return e.Members[0].Outputs() }

// ensembleDocument is the JSON of an ensemble. The tensors of member k have the
// prefix "member<k>/".
type ensembleDocument struct {
	Format  int           `json:"format"`
	Members []description `json:"members"`
}

func memberPrefix(k int) string { return fmt.Sprintf("member%d/", k) }

// Save writes all networks to one file.
func (e *Ensemble) Save(path string) error {
	f, err := e.file()
	if err != nil {
		return fmt.Errorf("cannot save the ensemble: %w", err)
	}
	return atomicfile.Write(path, f.Write)
}

// Write writes the contents of the file that Save makes.
func (e *Ensemble) Write(w io.Writer) error {
	f, err := e.file()
	if err != nil {
		return fmt.Errorf("cannot save the ensemble: %w", err)
	}
	return f.Write(w)
}

func (e *Ensemble) file() (*safetensors.File, error) {
	if _, err := NewEnsemble(e.Members...); err != nil {
		return nil, err
	}
	doc := ensembleDocument{Format: fileFormat}
	f := &safetensors.File{Metadata: map[string]string{}}
	for k, m := range e.Members {
		d, err := m.describe(f, memberPrefix(k))
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", k, err)
		}
		doc.Members = append(doc.Members, d)
	}
	for name, text := range e.Documents {
		if !json.Valid(text) {
			return nil, fmt.Errorf("the document %q is not JSON", name)
		}
		f.Metadata[documentKey+name] = string(text)
	}
	return f, addDocument(f, ensembleKey, doc)
}

// documentKey precedes the name of a document in the metadata of a file.
const documentKey = "utvi.document."

func documents(f *safetensors.File) (map[string]json.RawMessage, error) {
	var docs map[string]json.RawMessage
	for key, text := range f.Metadata {
		name, ok := strings.CutPrefix(key, documentKey)
		if !ok {
			continue
		}
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("the document %.60q is not JSON", name)
		}
		if docs == nil {
			docs = map[string]json.RawMessage{}
		}
		docs[name] = json.RawMessage(text)
	}
	return docs, nil
}

// LoadEnsemble reads a file that Ensemble.Save wrote. A file with one network becomes
// an ensemble of one.
func LoadEnsemble(path string, options ...Option) (*Ensemble, error) {
	f, err := safetensors.ReadFile(path)
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
	f, err := safetensors.Read(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return nil, fmt.Errorf("cannot read the model: %w", err)
	}
	e, err := decodeEnsemble(f, options)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model: %w", err)
	}
	return e, nil
}

func decodeEnsemble(f *safetensors.File, options []Option) (*Ensemble, error) {
	e, err := decodeMembers(f, options)
	if err == nil {
		e.Documents, err = documents(f)
	}
	return e, err
}

func decodeMembers(f *safetensors.File, options []Option) (*Ensemble, error) {
	if _, ok := f.Metadata[ensembleKey]; !ok {
		m, err := decode[float32](f, options)
		if err != nil {
			return nil, err
		}
		return NewEnsemble(m)
	}
	lib, err := library(options)
	if err != nil {
		return nil, err
	}
	var doc ensembleDocument
	if err := readDocument(f, ensembleKey, &doc); err != nil {
		return nil, err
	}
	w := newWeights(f)
	var members []*Model
	for k, d := range doc.Members {
		m, err := build[float32](d, w, memberPrefix(k), lib)
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
