package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"utvi/gauss"
	"utvi/predict"
)

// Statuses of HTTP.
const (
	ok       = 200
	notFound = 404
	invalid  = 422
)

// A Local answers what the page of a model asks, without a server: the model is at hand.
type Local struct {
	m     *predict.Model
	name  string
	words Words
}

// NewLocal returns what answers for a model of a name.
func NewLocal(m *predict.Model, name string) *Local { return &Local{m, name, NewWords(m)} }

// Ask answers as a server does: with a status of HTTP and JSON.
func (l *Local) Ask(path string, body []byte) (status int, text []byte) {
	var err error
	switch {
	case path == "models":
		text, err = json.Marshal(map[string]any{"models": []Description{l.describe()}})
	case strings.HasPrefix(path, "models/"):
		text, err = json.Marshal(l.describe())
	case strings.HasPrefix(path, "predict/"):
		text, err = l.predict(body)
	default:
		return notFound, failure(fmt.Errorf("there is nothing at %.80q", path))
	}
	if err != nil {
		return invalid, failure(err)
	}
	return ok, text
}

func failure(err error) []byte {
	text, _ := json.Marshal(map[string]string{"error": err.Error()}) // a text always can be
	return text
}

func (l *Local) describe() Description {
	d := Describe(l.m)
	d.Name = l.name
	d.Version = "1"
	d.Versions = []string{"1"}
	return d
}

// A question is the body of a request for predictions.
type question struct {
	Rows      []json.RawMessage `json:"rows"`
	Interval  float64           `json:"interval"`
	Quantiles []float64         `json:"quantiles"`
	Density   int               `json:"density"`
}

func (l *Local) predict(body []byte) ([]byte, error) {
	var ask question
	if err := json.Unmarshal(body, &ask); err != nil {
		return nil, fmt.Errorf("the question is malformed: %w", err)
	}
	if ask.Density == 1 || ask.Density < 0 || ask.Density > 1000 {
		return nil, fmt.Errorf("density is %d; it must be a number of points from 2 to 1000", ask.Density)
	}
	x, err := l.read(ask.Rows)
	if err != nil {
		return nil, err
	}
	p, err := l.m.NewPredictor(predict.Options{Interval: ask.Interval, Quantiles: ask.Quantiles})
	if err != nil {
		return nil, err
	}
	a := New(l.words, p, ask.Quantiles, ask.Density)
	out := []byte(`{"predictions":[`)
	err = p.Each(context.Background(), x, func(b *predict.Batch, first int) error {
		for i := range b.Len() {
			if first+i > 0 {
				out = append(out, ',')
			}
			out = a.Row(out, b, i)
		}
		return nil
	})
	return append(out, "]}"...), err
}

// read makes inputs of rows: objects of a table, lists of numbers of a network.
func (l *Local) read(rows []json.RawMessage) (x gauss.Batch[float32], err error) {
	if l.m.Schema == nil {
		return l.readNumbers(rows)
	}
	build := l.m.NewRowBuilder()
	for _, row := range rows {
		err := l.readRow(build, row)
		if err != nil {
			return x, err
		}
	}
	return build.Batch()
}

func (l *Local) readNumbers(rows []json.RawMessage) (x gauss.Batch[float32], err error) {
	x.Width = l.m.Inputs()
	for i, row := range rows {
		var numbers []float32
		if json.Unmarshal(row, &numbers) != nil || len(numbers) != x.Width {
			return x, fmt.Errorf("row %d does not have %d numbers, one for each input of the network", i+1, x.Width)
		}
		x.Mean = append(x.Mean, numbers...)
		x.Rows++
	}
	return x, nil
}

func (l *Local) readRow(build *predict.RowBuilder, row []byte) error {
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(row))
	d.UseNumber() // cells keep their digits
	if d.Decode(&values) != nil {
		return fmt.Errorf("row %d is not an object of named values", build.Rows()+1)
	}
	for name, v := range values {
		at := build.Column([]byte(name))
		if at < 0 {
			return build.ErrUnknown([]byte(name))
		}
		switch v := v.(type) {
		case nil:
			build.Missing(at)
		case string:
			build.Parse(at, []byte(v))
		case json.Number:
			build.Parse(at, []byte(v))
		case bool:
			build.Parse(at, fmt.Append(nil, v))
		default:
			return errors.New("a row has a list or an object where a number, a text, true, false or null is needed")
		}
	}
	return build.End()
}
