package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// watch looks at the files of all models now and then, until ctx is cancelled, and loads
// those that changed. Requests in progress keep the model that they began with.
func (s *Server) watch(ctx context.Context) {
	if s.Reload < 0 {
		return
	}
	tick := time.NewTicker(s.Reload)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.models.each(s.refresh)
		}
	}
}

// A stamp tells whether a file has changed.
type stamp struct {
	info os.FileInfo
	err  string // why there is no file
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if err != nil {
		return stamp{err: fmt.Sprintf("cannot read %s: %v", path, err)}
	}
	return stamp{info: info}
}

func (a stamp) same(b stamp) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil && a.err == b.err
	}
	return os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// load loads the file that was seen. One that was not there is not looked for again: what stands
// there by now has another stamp, and its own turn.
func (a stamp) load(m Source, s *Server) (*loaded, error) {
	if a.info == nil {
		return nil, errors.New(a.err)
	}
	return load(m, s.Options, s.broken)
}

// refresh loads a model whose file changed. If it cannot be loaded, the model before it
// stays. A file is tried once: it is whole or damaged until it changes again.
func (s *Server) refresh(m *served) {
	now := stampOf(m.Path)
	if now.same(m.seen) {
		return
	}
	m.seen = now
	log := s.Log.With("model", m.Name, "version", m.Version, "path", m.Path)
	l, err := now.load(m.Source, s)
	switch {
	case err != nil:
		m.failures.Add(1)
		log.Error("the changed file cannot be loaded; the model before it stays", "error", err)
	case l.digest == m.now.Load().digest:
		log.Info("the file was written again with the same contents")
	default:
		m.reloads.Add(1)
		m.use(l)
		log.Info("the changed file was loaded", "digest", l.digest)
		if s.limited.Load() {
			s.LimitHeap() // the model may be larger
		}
	}
}
