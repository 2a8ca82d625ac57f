package pixels

import (
	"slices"
	"strings"
	"testing"
)

func TestNormalisation(t *testing.T) {
	for _, x := range []struct {
		text     string
		channels int
		mean, sd []float64
		says     string
	}{
		{"", 1, []float64{0}, []float64{1}, ""},
		{"0.5:0.25", 3, []float64{0.5, 0.5, 0.5}, []float64{0.25, 0.25, 0.25}, ""},
		{"imagenet", 3, []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}, ""},
		{"imagenet", 1, nil, nil, "normalise has 3 numbers for 1 channels"},
		{"0.5", 1, nil, nil, `normalise is "0.5"; it is imagenet, or a mean`},
		{"a:b", 1, nil, nil, `normalise is "a:b"`},
	} {
		mean, sd, err := normalisation(x.text, x.channels)
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%q: %v, want %s", x.text, err, x.says)
			}
			continue
		}
		if err != nil || !slices.Equal(mean, x.mean) || !slices.Equal(sd, x.sd) {
			t.Errorf("%q: %v %v %v", x.text, mean, sd, err)
		}
	}
}

// The images are as large as the network takes them.
func TestTaken(t *testing.T) {
	for _, x := range []struct {
		in        [3]int
		size      []int
		normalise string
		want      [3]int
		says      string
	}{
		{[3]int{20, 30, 3}, nil, "", [3]int{20, 30, 3}, ""},
		{[3]int{1, 1, 784}, nil, "", [3]int{28, 28, 1}, ""},
		{[3]int{1, 1, 600}, []int{20, 30}, "", [3]int{20, 30, 1}, ""},
		{[3]int{1, 1, 600}, nil, "", [3]int{}, "takes 600 numbers in a row, which are no square image"},
		{[3]int{20, 30, 3}, []int{20}, "", [3]int{}, "takes images of 20 × 30 pixels; the size is [20]"},
		{[3]int{20, 30, 2}, nil, "", [3]int{}, "images of 2 channels"},
		{[3]int{1, 1, 784}, nil, "0:0", [3]int{}, "the scale of a channel"},
	} {
		f, err := Taken(x.in[0], x.in[1], x.in[2], x.size, x.normalise)
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v: %v, want %s", x.in, err, x.says)
			}
		} else if got := [3]int{f.Height, f.Width, f.Channels}; err != nil || got != x.want {
			t.Errorf("%v: %v %v", x.in, got, err)
		}
	}
}
