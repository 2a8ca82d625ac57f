package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"utvi/internal/answer"
	"utvi/internal/inputfile"
	"utvi/model"
	"utvi/predict"
)

// A served model is a name and a version, and the file's model as it is now.
type served struct {
	Source
	now  atomic.Pointer[loaded]
	seen stamp // of the file that was tried last
	figures
}

// use makes requests that come from now on use l.
func (m *served) use(l *loaded) {
	l.queue.seen = m.executed
	m.now.Store(l)
}

// A loaded model does not change: a request keeps the one it began with.
type loaded struct {
	*predict.Model
	usual  *predict.Predictor // of requests without options
	queue  *queue
	digest string // of the file
	since  time.Time

	rowBytes    int64 // memory that a row needs until it is predicted
	answerBytes int64 // memory that the answer for a row has as JSON, at most
	words       answer.Words
	picture     int // the column of images; −1: there is none

	told     sync.Once // its description
	text     []byte
	textFail error
}

// description is what GET /models says about a model, as JSON. It is written once: it may
// be long, and many may ask for it.
func (all *models) description(m *served) ([]byte, error) {
	l := m.now.Load()
	l.told.Do(func() {
		d := answer.Describe(l.Model)
		d.Name = m.Name
		d.Version = m.Version
		d.Versions = all.versions(m.Name)
		d.Digest = l.digest
		d.Since = l.since
		l.text, l.textFail = json.Marshal(d)
	})
	return l.text, l.textFail
}

// measure sets what rows take. Lists of numbers grow by doubling: for a moment there are
// the old one and the new one.
func (l *loaded) measure() {
	l.rowBytes = int64(8*3*l.Inputs()) + 32
	l.answerBytes = 100
	l.picture = -1
	if l.Schema != nil {
		l.picture = l.Schema.Picture()
	}
	for _, t := range l.words.Targets {
		l.answerBytes += int64(len(t)) + 120 + 7*answer.NumberBytes
	}
	for i := range l.words.Classes {
		l.answerBytes += int64(len(l.words.Fields[i])) + answer.NumberBytes
	}
	longest := 0
	for _, c := range l.words.Classes {
		longest = max(longest, len(c))
	}
	l.answerBytes += int64(longest)
}

// block is how many rows of a table are built at a time, cellBytes what a cell takes then.
const block, cellBytes = 256, 96

// blockBytes is what some rows take while they are built.
func (l *loaded) blockBytes(rows int) int64 {
	if l.Schema == nil {
		return 0
	}
	return int64(min(rows, block)) * int64(len(l.Schema.Columns)) * cellBytes
}

// load reads the file of a model.
func load(s Source, options []model.Option, broken func(error)) (*loaded, error) {
	text, err := inputfile.Read(s.Path, 4) // the file, its tensors, and the weights as kernels read them
	if err != nil {
		return nil, err
	}
	m, err := predict.Open(bytes.NewReader(text), int64(len(text)), options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	p, err := m.NewPredictor(predict.Options{})
	if err != nil { // such as a calibration that has too few rows for 90 %
		p, err = m.NewPredictor(predict.Options{Interval: -1})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	sum := sha256.Sum256(text)
	q := newQueue(p, len(m.Targets())+len(m.Classes()))
	q.fail = broken
	l := &loaded{Model: m, usual: p, queue: q, digest: hex.EncodeToString(sum[:]), since: time.Now(), words: answer.NewWords(m)}
	l.measure()
	return l, nil
}

// models are all that is served, by name; the newest version is first.
type models struct {
	names  []string
	byName map[string][]*served
}

func newModels(sources []Source, options []model.Option, broken func(error)) (*models, error) {
	all := &models{byName: map[string][]*served{}}
	for _, s := range sources {
		if s.Version == "" {
			s.Version = "1"
		}
		if err := s.check(); err != nil {
			return nil, err
		}
		for _, other := range all.byName[s.Name] {
			if other.Version == s.Version {
				return nil, fmt.Errorf("%s and %s are both version %s of model %s; name them, as in %s@2=%s", other.Path, s.Path, s.Version, s.Name, s.Name, s.Path)
			}
		}
		m := &served{Source: s, seen: stampOf(s.Path)}
		l, err := load(s, options, broken)
		if err != nil {
			return nil, err
		}
		m.use(l)
		if all.byName[s.Name] == nil {
			all.names = append(all.names, s.Name)
		}
		all.byName[s.Name] = append(all.byName[s.Name], m)
	}
	for _, versions := range all.byName {
		slices.SortFunc(versions, func(a, b *served) int {
			if newer(a.Version, b.Version) {
				return -1
			}
			return 1
		})
	}
	return all, nil
}

// find returns a model; the version "" is the newest.
func (all *models) find(name, version string) (*served, error) {
	versions := all.byName[name]
	if versions == nil {
		return nil, failf(notFound, "there is no model %.60q; the models are %s", name, strings.Join(all.names, ", "))
	}
	if version == "" {
		return versions[0], nil
	}
	for _, m := range versions {
		if m.Version == version {
			return m, nil
		}
	}
	return nil, failf(notFound, "model %s has no version %.60q; it has %s", name, version, strings.Join(all.versions(name), ", "))
}

func (all *models) versions(name string) (list []string) {
	for _, m := range all.byName[name] {
		list = append(list, m.Version)
	}
	return list
}

// each calls f for every version of every model.
func (all *models) each(f func(m *served)) {
	for _, name := range all.names {
		for _, m := range all.byName[name] {
			f(m)
		}
	}
}
