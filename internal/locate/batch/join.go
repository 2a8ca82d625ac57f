package batch

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/inputfile"
	"utvi/internal/locate"
	"utvi/internal/locate/list"
	"utvi/internal/locate/page"
	"utvi/internal/sweep"
)

// A Joined is a table of one stack.
type Joined struct {
	File  string
	Page  string
	Facts locate.Facts
}

// piece is a trial of a stack that is done.
type piece struct {
	spec  Spec
	found found
	trial sweep.Trial
}

// Join puts what trials of kind "locate" have found together: for each stack whose trials are all done a
// table in a folder, and a page. left counts the other stacks.
func Join(dir, to string, all []sweep.TrialStatus) (joined []Joined, left int, err error) {
	var order []string
	of := map[string][]piece{}
	missing := map[string]bool{}
	for _, x := range all {
		if x.Trial.Kind != kind {
			continue
		}
		s, err := read(x.Trial.Spec)
		if err != nil {
			return nil, 0, fmt.Errorf("trial %d, %s: %w", x.Trial.Index, x.Trial.Name, err)
		}
		if s.Into == "" {
			s.Into = x.Trial.Name
		}
		if of[s.Into] == nil {
			order = append(order, s.Into)
		}
		p := piece{spec: s, trial: x.Trial}
		if x.State != sweep.Done {
			missing[s.Into] = true
		} else if err := x.Result.Decode(&p.found); err != nil {
			return nil, 0, err
		}
		of[s.Into] = append(of[s.Into], p)
	}
	for _, into := range order {
		if missing[into] {
			left++
			continue
		}
		j, err := join(dir, to, of[into])
		if err != nil {
			return joined, left, err
		}
		joined = append(joined, j)
	}
	return joined, left, nil
}

// join writes the table and the page of a stack; each whole or not at all.
func join(dir, to string, pieces []piece) (Joined, error) {
	first := &pieces[0]
	h := first.found.Header
	stem := filepath.Join(to, first.spec.Into+".locs")
	j := Joined{File: stem + first.spec.ending(), Page: stem + ".html"}
	j.Facts.Sigma = first.found.Width
	j.Facts.Seen = first.found.Seen
	j.Facts.Noise = first.found.Noise
	summary := page.New(h, first.found.First, first.found.Of)
	err := atomicfile.Write(j.File, func(w io.Writer) error {
		table, err := list.NewWriter(w, first.spec.Format, h)
		if err != nil {
			return err
		}
		for i := range pieces {
			p := &pieces[i]
			if p.spec.From != j.Facts.Frames {
				return fmt.Errorf("%s begins at frame %d of the run, and %d stand before it; make the plan again", p.trial.Name, p.spec.From+1, j.Facts.Frames)
			}
			err := p.read(dir, func(part *locate.Part) error {
				j.Facts.Count(part)
				summary.Add(part.All)
				return table.Write(part.All)
			})
			if err != nil {
				return err
			}
		}
		if j.Facts.Frames != first.found.Of {
			return fmt.Errorf("%s: %d of %d frames are there; make the plan again", first.spec.Into, j.Facts.Frames, first.found.Of)
		}
		return table.Close()
	})
	if err == nil && first.spec.Format == list.Picasso {
		err = atomicfile.Write(stem+".yaml", func(w io.Writer) error {
			_, err := io.WriteString(w, list.PicassoYAML(h))
			return err
		})
	}
	if err == nil {
		err = summary.Page(j.Facts).Save(j.Page)
	}
	return j, err
}

// read gives the parts that a trial has found, once it is sure that they are those.
func (p *piece) read(dir string, take func(*locate.Part) error) error {
	path := filepath.Join(dir, p.trial.ID()+journalEnding)
	again := fmt.Sprintf("remove %s and run the plan again", sweep.ResultPath(dir, p.trial))
	sum, err := sumOf(path)
	if err != nil {
		return fmt.Errorf("%w; %s", err, again)
	}
	if sum != p.found.Sum {
		return fmt.Errorf("%s is not what its trial wrote; %s", path, again)
	}
	f, size, err := inputfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = locate.ReadJournal(f, size, take)
	return err
}

// Trials are those that find what is in a stack, at most so many frames each. The stack's name in a
// folder of tables is one that no other has taken.
func Trials(s Spec, most int, taken map[string]bool) ([]sweep.Trial, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Frames < 1 {
		return nil, errors.New("a stack without frames")
	}
	s.Into = nameOf(s.Stack, taken)
	pieces := (s.Frames + most - 1) / most
	digits := len(fmt.Sprint(max(pieces-1, 1)))
	var trials []sweep.Trial
	for k := range pieces {
		s.From = k * most
		s.Part = min(most, s.Frames-s.From)
		trials = append(trials, sweep.NewTrial(kind, fmt.Sprintf("%s_%0*d", s.Into, digits, k), s.Into, float64(s.Part), s))
	}
	return trials, nil
}

// Name is a stack's without folder and ending.
func Name(path string) string {
	base := filepath.Base(filepath.Clean(path))
	return strings.TrimSuffix(strings.TrimSuffix(base, filepath.Ext(base)), ".ome")
}

// nameOf is the name of a stack as names of trials may be, and as no other is.
func nameOf(path string, taken map[string]bool) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, Name(path))
	const most = 80
	name = name[:min(len(name), most)]
	if name == "" || strings.IndexByte("-_.", name[0]) >= 0 {
		name = "stack" + name
	}
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	taken[free] = true
	return free
}
