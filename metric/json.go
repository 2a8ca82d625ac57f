package metric

import (
	"encoding/json"
	"math"
)

// In JSON, a number that is not known or not finite is null: the standard error of one
// row, the width of intervals without bounds.

type scoreJSON struct {
	Value float64  `json:"value"`
	SE    *float64 `json:"se"`
}

// MarshalJSON writes null for a standard error that is not known.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(scoreJSON{s.Value, finite(s.SE)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Score) UnmarshalJSON(text []byte) error {
	var j scoreJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*s = Score{j.Value, number(j.SE, math.NaN())}
	return nil
}

type coverageJSON struct {
	Level     float64  `json:"level"`
	Coverage  float64  `json:"coverage"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	Width     *float64 `json:"width"`
	Unbounded int      `json:"unbounded,omitempty"`
	Groups    int      `json:"groups,omitempty"`
}

// MarshalJSON writes null for an infinite width.
func (s CoverageScore) MarshalJSON() ([]byte, error) {
	return json.Marshal(coverageJSON{s.Level, s.Coverage, s.Low, s.High, finite(s.Width), s.Unbounded, s.Groups})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *CoverageScore) UnmarshalJSON(text []byte) error {
	var j coverageJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*s = CoverageScore{j.Level, j.Coverage, j.Low, j.High, number(j.Width, math.Inf(1)), j.Unbounded, j.Groups}
	return nil
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func number(x *float64, none float64) float64 {
	if x == nil {
		return none
	}
	return *x
}
