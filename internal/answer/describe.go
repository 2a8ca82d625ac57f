package answer

import (
	"encoding/json"
	"math"
	"time"

	"utvi/internal/schema"
	"utvi/predict"
)

// A Description is what a server says about a model: all that a page needs to ask
// for predictions.
type Description struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Versions []string `json:"versions"` // the newest first
	Kind     string   `json:"kind"`     // table or network
	Task     string   `json:"task"`     // regression or classification

	Columns []Column `json:"columns,omitempty"` // of a table
	Input   *Input   `json:"input,omitempty"`   // of a network, and of a table of images
	Targets []Column `json:"targets"`
	Missing bool     `json:"missing"` // values of a table may be missing

	Networks   int             `json:"networks"`
	Rows       int             `json:"rows,omitempty"` // trained with
	Calibrated bool            `json:"calibrated"`
	Scores     json.RawMessage `json:"scores,omitempty"` // on held-out rows, before any calibration

	Digest string    `json:"digest"` // SHA-256 of the file
	Since  time.Time `json:"since"`  // when it was loaded
}

// A Column is a column of a table, or a target.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"` // numeric, categorical, time or image

	// Numbers: the range of the training rows, of times in seconds since 1970. Typical is
	// the mean (of a skewed input the median; a whole number if all are; of times as the
	// table writes them), or the most frequent level.
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Mean    *float64 `json:"mean,omitempty"`
	SD      *float64 `json:"sd,omitempty"`
	Whole   bool     `json:"whole,omitempty"`
	Typical any      `json:"typical,omitempty"`

	Layout string `json:"layout,omitempty"` // of times, as Go writes it: 2006-01-02

	Levels []string `json:"levels,omitempty"` // the most frequent first; of a target, in order
	More   int      `json:"more,omitempty"`   // known levels that are not listed
	Other  bool     `json:"other,omitempty"`  // other levels are accepted

	Std    float64 `json:"std,omitempty"`    // standard deviation of every value
	StdOf  string  `json:"std_of,omitempty"` // the column whose standard deviations these are
	StdIn  string  `json:"std_in,omitempty"` // the column that holds the standard deviations
	Counts *Counts `json:"histogram,omitempty"`
}

// Counts are a histogram of the training rows: of equal bins between From and To, or of
// the levels, then of all others.
type Counts struct {
	From   *float64 `json:"from,omitempty"`
	To     *float64 `json:"to,omitempty"`
	Counts []int    `json:"counts"`
}

// An Input is what a row of a network has: size numbers, the rows of an image one
// after the other.
type Input struct {
	Size  int    `json:"size"`
	Shape [3]int `json:"shape"` // height, width, channels
}

// Describe describes a model. Its name, version, digest and age are the caller's to say.
func Describe(l *predict.Model) Description {
	d := Description{Kind: "network", Task: "regression", Networks: len(l.Networks.Members), Calibrated: l.Calibration != nil}
	if l.Classes() != nil {
		d.Task = "classification"
	}
	if l.Schema == nil {
		in := l.Networks.Members[0].Config.Input
		d.Input = &Input{in.Size(), [3]int{in.H, in.W, in.C}}
		for _, name := range l.Targets() {
			c := Column{Name: name, Type: "numeric"}
			if l.Classes() != nil {
				c.Type, c.Levels = "categorical", l.Classes()
			}
			d.Targets = append(d.Targets, c)
		}
		return d
	}
	d.Kind = "table"
	if at := l.Schema.Picture(); at >= 0 {
		f := l.Schema.Columns[at].Image
		d.Input = &Input{f.Size(), [3]int{f.Height, f.Width, f.Channels}}
	}
	d.Missing = l.Schema.Impute
	d.Rows = l.Schema.Rows
	var facts struct{ Held json.RawMessage }
	if json.Unmarshal(l.Facts, &facts) == nil {
		d.Scores = facts.Held
	}
	stdOf := map[string]string{}
	for _, c := range l.Schema.Columns {
		if c.Role == schema.Input && c.StdFrom != "" {
			stdOf[c.StdFrom] = c.Name
		}
	}
	for i := range l.Schema.Columns {
		c := describeColumn(&l.Schema.Columns[i], l.Histograms)
		switch l.Schema.Columns[i].Role {
		case schema.Std:
			c.StdOf = stdOf[c.Name]
			d.Columns = append(d.Columns, c)
		case schema.Input:
			d.Columns = append(d.Columns, c)
		case schema.Target:
			c.Other = false
			d.Targets = append(d.Targets, c)
		}
	}
	return d
}

// mostLevels is how many levels of an input are listed, the most frequent ones.
const mostLevels = 1000

func describeColumn(c *schema.Column, all []schema.Histogram) Column {
	out := Column{Name: c.Name, Type: string(c.Type), Layout: c.Layout, Std: c.Std, StdIn: c.StdFrom}
	var h *schema.Histogram
	for i := range all {
		if all[i].Column == c.Name {
			h = &all[i]
			out.Counts = &Counts{Counts: h.Counts}
		}
	}
	if c.Type == schema.Picture {
		return out
	}
	if c.Type == schema.Categorical {
		out.Levels, out.Other = c.Levels, true
		if n := len(c.Levels); c.Role == schema.Input && n > mostLevels {
			out.Levels, out.More = c.Levels[:mostLevels], n-mostLevels
			if h != nil {
				short := append(make([]int, 0, mostLevels+1), h.Counts[:mostLevels]...)
				rest := 0
				for _, k := range h.Counts[mostLevels:] {
					rest += k
				}
				out.Counts.Counts = append(short, rest)
			}
		}
		if len(c.Levels) > 0 {
			out.Typical = c.Levels[0]
		}
		return out
	}
	out.Min = &c.Min
	out.Max = &c.Max
	out.Mean = &c.Mean
	out.SD = &c.SD
	typical := c.Mean
	if c.Role == schema.Input && c.Type == schema.Numeric {
		typical = c.Middle()
	}
	if h != nil {
		out.Counts.From, out.Counts.To = &h.From, &h.To
		out.Whole = h.Whole
		if h.Whole {
			typical = math.Round(typical)
		}
	}
	out.Typical = typical
	if c.Type == schema.Times {
		out.Typical = c.WriteTime(typical)
	}
	return out
}
