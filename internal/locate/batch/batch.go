// Package batch makes the frames of stacks trials of a plan, and one table of what these have found.
package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"utvi/internal/inputfile"
	"utvi/internal/locate"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/list"
	"utvi/internal/locate/net"
	"utvi/internal/strictjson"
	"utvi/internal/sweep"
)

const kind = "locate"

// Kinds are the kinds of this package.
func Kinds() []sweep.Kind {
	return []sweep.Kind{{Name: kind, Paths: []string{"stack", "net", "maps.offset", "maps.gain", "maps.variance"}, Check: func(spec json.RawMessage) error { _, err := read(spec); return err }, Run: run}}
}

// A Spec is a trial of kind "locate": some frames of a stack, found as in a run of the whole stack, and
// kept beside the result.
type Spec struct {
	Stack       string        `json:"stack"`                 // file or folder
	Bytes       int64         `json:"stack_bytes,omitempty"` // of its files; 0: any
	First       int           `json:"first,omitempty"`       // frame of the stack, from 0
	Frames      int           `json:"frames,omitempty"`      // of the stack; 0: to its end
	From        int           `json:"from,omitempty"`        // of these, the first of the trial
	Part        int           `json:"part,omitempty"`        // frames of the trial; 0: all that follow
	Camera      camera.Camera `json:"camera"`
	Maps        camera.Maps   `json:"maps,omitzero"`
	Pixel       float64       `json:"pixel"` // nm
	Sigma       float64       `json:"sigma,omitempty"`
	Threshold   float64       `json:"threshold"`
	Probability float64       `json:"probability"`
	Net         string        `json:"net,omitempty"`     // file; "": the one in the program; none: none
	NetSum      string        `json:"net_sum,omitempty"` // SHA-256 of the network; "": any
	Format      list.Format   `json:"format,omitempty"`  // of the table
	Into        string        `json:"into,omitempty"`    // its name; "": the trial's
}

// Defaults are those of the flags of locate.
func Defaults() Spec {
	return Spec{Camera: camera.Camera{Gain: 1, QE: 1}, Pixel: 100, Threshold: 4, Probability: 0.5, Format: list.ThunderSTORM}
}

func read(spec json.RawMessage) (Spec, error) {
	s := Defaults()
	if err := strictjson.Unmarshal(spec, &s); err != nil {
		return s, err
	}
	return s, s.Check()
}

// Check says what cannot be, by the names of settings, which are those of flags.
func (s *Spec) Check() error {
	switch {
	case s.Stack == "":
		return errors.New("the setting stack is missing; name a stack of frames")
	case s.First < 0 || s.Frames < 0 || s.From < 0 || s.Part < 0:
		return errors.New("first, frames, from and part must be at least 0")
	case !(s.Pixel > 0 && s.Pixel < 1e6):
		return fmt.Errorf("pixel is %g; it must be the size of a pixel in nm, above 0", s.Pixel)
	case s.Sigma != 0 && !(s.Sigma >= 0.5 && s.Sigma <= 3.3):
		return fmt.Errorf("sigma is %g; it must be 0.5 to 3.3 pixels", s.Sigma)
	case !(s.Threshold >= 2 && s.Threshold <= 100):
		return fmt.Errorf("threshold is %g; it must be 2 to 100 standard deviations", s.Threshold)
	case !(s.Probability >= 0 && s.Probability <= 1):
		return fmt.Errorf("probability is %g; it must be 0 to 1", s.Probability)
	case s.ending() == "":
		return fmt.Errorf("there is no format %q; choose from thunderstorm, picasso, decode, parquet", s.Format)
	}
	return s.Camera.Check()
}

// ending is that of tables in the format.
func (s *Spec) ending() string {
	return map[list.Format]string{list.ThunderSTORM: ".csv", list.Picasso: ".hdf5", list.DECODE: ".decode.csv", list.Parquet: ".parquet"}[s.Format]
}

// openNet opens the network that a file names.
func openNet(path string) (*net.Net, error) {
	switch {
	case filepath.Base(path) == "none": // in a spec, behind the spec's folder
		return nil, nil
	case path == "":
		return net.Default()
	}
	return net.Open(path)
}

// prepare opens the stack and learns from it.
func (s *Spec) prepare(ctx context.Context, workers int) (*locate.Locator, *frames.Stack, error) {
	stack, err := frames.Open(s.Stack)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case s.Bytes != 0 && stack.Bytes != s.Bytes:
		return nil, nil, fmt.Errorf("%s has %d bytes and had %d when the plan was made; make the plan again", s.Stack, stack.Bytes, s.Bytes)
	case s.Frames == 0 && stack.Damage != nil:
		return nil, nil, stack.Damage
	case s.First+max(s.Frames, 1) > stack.Frames:
		return nil, nil, fmt.Errorf("%s has %d frames, too few for frames %d to %d", s.Stack, stack.Frames, s.First+1, s.First+s.Frames)
	}
	n, err := openNet(s.Net)
	if err != nil {
		return nil, nil, err
	}
	if n != nil && s.NetSum != "" && n.Sum != s.NetSum {
		return nil, nil, errors.New("the network is another one than that which the plan was made for; make the plan again")
	}
	l, err := locate.Prepare(ctx, stack, locate.Config{Camera: s.Camera, Maps: s.Maps, Sigma: s.Sigma, Threshold: s.Threshold,
		First: s.First, Frames: s.Frames, Workers: workers, Net: n, Least: s.Probability})
	return l, stack, err
}

// A found is the data of a result: the sum of the journal beside it, and what is known of the stack.
type found struct {
	Sum    string      `json:"sum"` // SHA-256
	Frames int         `json:"frames"`
	Header list.Header `json:"header"`
	First  int         `json:"first"`
	Of     int         `json:"of"` // frames of the whole run
	Width  float64     `json:"width"`
	Seen   float64     `json:"seen"`
	Noise  float64     `json:"noise"`
}

// ending of the journals beside results.
const journalEnding = ".locs"

func run(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	s, err := read(j.Spec)
	if err != nil {
		return sweep.Outcome{}, err
	}
	l, stack, err := s.prepare(ctx, j.Workers)
	if err != nil {
		return sweep.Outcome{}, err
	}
	first, all := l.Range()
	if s.From >= all {
		return sweep.Outcome{}, fmt.Errorf("from is %d, but there are only %d frames", s.From, all)
	}
	to := all
	if s.Part > 0 {
		to = min(s.From+s.Part, all)
	}
	path := j.Stem + journalEnding
	at := s.From
	take := func(p *locate.Part) error {
		if p.Frame != first+at || at == to {
			return fmt.Errorf("%s is damaged; remove it", path)
		}
		at++
		l.Facts.Count(p)
		return nil
	}
	journal, err := locate.OpenJournal(path, l.Mark(), take)
	if errors.Is(err, locate.ErrOther) { // such as one from a machine with other kernels
		if err := os.Remove(path); err != nil {
			return sweep.Outcome{}, err
		}
		journal, err = locate.OpenJournal(path, l.Mark(), take)
	}
	if err != nil {
		return sweep.Outcome{}, err
	}
	tell := func(int) { j.Tell(l.Facts.Frames, to-s.From, math.NaN()) }
	tell(0)
	err = l.Run(ctx, at, to, journal.Add, tell)
	if err := errors.Join(err, journal.Close()); err != nil {
		return sweep.Outcome{}, err
	}
	f := found{Frames: to - s.From, First: first, Of: all, Width: l.Facts.Sigma, Seen: l.Facts.Seen, Noise: l.Facts.Noise,
		Header: list.Header{Pixel: s.Pixel, Sigma: l.Facts.Sigma, Width: stack.Width, Height: stack.Height, Frames: first + all}}
	f.Sum, err = sumOf(path)
	return sweep.Outcome{Data: f, Metrics: map[string]float64{
		"frames": float64(f.Frames), "localisations": float64(l.Facts.Found), "width": f.Width, "noise": f.Noise}}, err
}

func sumOf(path string) (string, error) {
	f, _, err := inputfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
