package live

import "time"

// A Training is a line of the page: a candidate, a member of an ensemble, a trial.
type Training struct {
	Name  string  `json:"name"`
	Group string  `json:"group"` // lines of one group stand together
	Label string  `json:"label"`
	Part  float64 `json:"part"`            // that is done, from 0 to 1
	Score *Number `json:"score,omitempty"` // nil: none yet
	Curve []Point `json:"curve,omitempty"`
	State State   `json:"state"`
	Note  string  `json:"note,omitempty"` // such as why it failed
}

// A Point of a curve: what held-out or training rows score after some steps. nil: not
// scored.
type Point struct {
	Step  int     `json:"step"`
	Train *Number `json:"train,omitempty"`
	Held  *Number `json:"held,omitempty"`
}

// State says how a training stands.
type State string

const (
	Running State = "running"
	Waiting State = "waiting"
	Done    State = "done"
	Failed  State = "failed"
)

// snapshot is all that the page shows.
type snapshot struct {
	Title    string  `json:"title"`
	Subtitle string  `json:"subtitle"`
	Score    string  `json:"score"` // what scores are
	Stop     string  `json:"stop"`  // what the button says
	Stage    string  `json:"stage"`
	Part     float64 `json:"part"`
	Seconds  float64 `json:"seconds"`        // since the beginning
	Left     *Number `json:"left,omitempty"` // seconds; nil: not known
	Stopping bool    `json:"stopping"`
	End      *End    `json:"end,omitempty"`

	Look      *look       `json:"look,omitempty"`
	Trainings []*Training `json:"trainings"`
}

// End says how the work ended.
type End struct {
	Good bool   `json:"good"`
	Text string `json:"text"`
}

// Progress is how far all of the work has come.
type Progress struct {
	Stage string
	Part  float64       // that is done, from 0 to 1
	Left  time.Duration // below 0: not known
}
