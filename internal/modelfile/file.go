package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/safetensors"
	"utvi/internal/strictjson"
)

// A File is a model file in memory.
type File struct{ safetensors.File }

// Keys of the metadata.
const (
	networkKey  = "utvi.model"
	ensembleKey = "utvi.ensemble"
	documentKey = "utvi.document." // and the document's name
)

// networkFormat is the version of the descriptions of networks.
const networkFormat = 1

// What a tensor's name ends with: its means, ρ of its standard deviations, and the means of its prior.
const (
	MeanSuffix   = ".mean"
	RhoSuffix    = ".rho"
	CenterSuffix = ".center"
	SpreadSuffix = ".spread"
)

// Prefix stands before the names of the tensors of member k of an ensemble.
func Prefix(k int) string { return "member" + strconv.Itoa(k) + "/" }

// A Network is what a file holds about one network, apart from its tensors; Facts describe its training.
type Network[Facts any] struct {
	Input  [3]int                `json:"input"` // height, width, channels
	Layers json.RawMessage       `json:"network"`
	Seed   uint64                `json:"seed"`
	Init   [2]float64            `json:"init"`   // smallest and largest starting ρ; zeros: the default
	Priors map[string][2]float64 `json:"priors"` // mean and standard deviation of every random tensor
	Facts  Facts                 `json:"facts"`

	Likelihood json.RawMessage `json:"likelihood,omitempty"`
	Unused     json.RawMessage `json:"normalization,omitempty"` // in old files; never used
}

type single[Facts any] struct {
	Format int `json:"format"`
	Network[Facts]
}

type ensemble[Facts any] struct {
	Format  int              `json:"format"`
	Members []Network[Facts] `json:"members"`
}

// Open reads a file.
func Open(path string) (*File, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err // which names the path
	}
	return &File{*f}, nil
}

// Read reads a file of size bytes.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f, err := safetensors.Read(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return nil, err
	}
	return &File{*f}, nil
}

// Save writes the file, as a whole or not at all.
func (f *File) Save(path string) error { return atomicfile.Write(path, f.Write) }

// IsEnsemble reports whether the file has members, not one network.
func (f *File) IsEnsemble() bool {
	_, ok := f.Metadata[ensembleKey]
	return ok
}

// OneNetwork returns the description of the network in a file that has no members.
func OneNetwork[Facts any](f *File) (Network[Facts], error) {
	var doc single[Facts]
	err := f.describe(networkKey, &doc)
	return doc.Network, err
}

// Members returns the descriptions of the networks in a file of an ensemble.
func Members[Facts any](f *File) ([]Network[Facts], error) {
	var doc ensemble[Facts]
	err := f.describe(ensembleKey, &doc)
	return doc.Members, err
}

// SetNetwork makes n the one network of the file.
func SetNetwork[Facts any](f *File, n Network[Facts]) error {
	return f.set(networkKey, single[Facts]{networkFormat, n})
}

// SetMembers makes the networks those of the file.
func SetMembers[Facts any](f *File, all []Network[Facts]) error {
	return f.set(ensembleKey, ensemble[Facts]{networkFormat, all})
}

// describe reads the description of networks.
func (f *File) describe(key string, doc any) error {
	text, ok := f.Metadata[key]
	if !ok {
		return errors.New("not a utvi model file")
	}
	if !f.HasChecksum {
		return errors.New("the file has no checksum, so another program wrote it")
	}
	const what = "the description of the network cannot be read"
	have, err := format([]byte(text))
	if err != nil {
		return fmt.Errorf(what+": %.100s", err)
	}
	if have != networkFormat {
		return fmt.Errorf("the file has format %d; this version reads format %d", have, networkFormat)
	}
	if err := strictjson.Unmarshal([]byte(text), doc); err != nil {
		return fmt.Errorf(what+": %w", err)
	}
	return nil
}

// format reads the version alone, because a later version may have another form.
func format(text []byte) (int, error) {
	var version struct{ Format int }
	err := json.Unmarshal(text, &version)
	return version.Format, err
}

func (f *File) set(key string, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	f.put(key, text)
	return nil
}

func (f *File) put(key string, text []byte) {
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[key] = string(text)
}

// Documents returns the documents beside the networks.
func (f *File) Documents() (Documents, error) {
	var docs Documents
	for key, text := range f.Metadata {
		name, ok := strings.CutPrefix(key, documentKey)
		if !ok {
			continue
		}
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("the document %.60q is not JSON", name)
		}
		if docs == nil {
			docs = Documents{}
		}
		docs[name] = json.RawMessage(text)
	}
	return docs, nil
}

// SetDocuments puts documents beside the networks.
func (f *File) SetDocuments(docs Documents) error {
	for name, text := range docs {
		if !json.Valid(text) {
			return fmt.Errorf("the document %q is not JSON", name)
		}
		f.put(documentKey+name, text)
	}
	return nil
}
