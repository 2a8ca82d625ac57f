package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"utvi/gauss"
	"utvi/internal/strictjson"
	"utvi/predict"
)

// question is the body of POST /predict/NAME.
type question struct {
	Rows      json.RawMessage `json:"rows"`
	Variances json.RawMessage `json:"variances"`
	options
}

// predict answers POST /predict/NAME.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) error {
	m, err := s.models.find(r.PathValue("name"), r.PathValue("version"))
	if err != nil {
		return err
	}
	body, err := s.body(w, r)
	if err != nil {
		return err
	}
	l := m.now.Load()
	var ask question
	if err := strictjson.Unmarshal(body, &ask); err != nil {
		return failf(malformed, "the body is not what is expected: %v", err)
	}
	x, err := readRows(l, &ask)
	if err != nil {
		return err
	}
	if err := ask.fits(x.Rows, l, s.Limits); err != nil {
		return err
	}
	p, err := ask.predictor(l)
	if err != nil {
		return err
	}
	a := newAnswerer(l, p, &ask.options)
	jobs, err := l.queue.predict(r.Context(), x, p, func(b *predict.Batch, at int, j *job) {
		for i := range j.x.Rows {
			if i > 0 {
				j.out = append(j.out, ',')
			}
			j.out = a.row(j.out, b, at+i)
		}
	})
	if err != nil {
		return err
	}
	out := append([]byte(nil), `{"model":`...)
	out = append(out, quote(m.Name)...)
	out = append(out, `,"version":`...)
	out = append(out, quote(m.Version)...)
	if level, ok := ask.interval(p); ok && a.classes == nil {
		out = append(out, `,"interval":`...)
		out = strconv.AppendFloat(out, level, 'g', -1, 64)
	}
	out = append(out, `,"predictions":[`...)
	for i, j := range jobs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, j.out...)
	}
	out = append(out, "]}\n"...)
	return writeBytes(w, out)
}

func readRows(l *loaded, ask *question) (x gauss.Batch[float32], err error) {
	text := bytes.TrimSpace(ask.Rows)
	switch {
	case len(text) == 0 || text[0] != '[':
		return x, failf(malformed, `the body must be an object with the field "rows", a list of rows`)
	case l.Schema != nil && bytes.HasPrefix(bytes.TrimSpace(text[1:]), []byte("{")):
		var rows []map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&rows); err != nil {
			return x, failf(malformed, "rows: %v", err)
		}
		x, err = l.Encode(rows)
		return x, as(invalid, err)
	}
	var rows [][]*float64
	if err := json.Unmarshal(text, &rows); err != nil {
		return x, failf(malformed, "rows: %v", err)
	}
	numbers := make([][]float64, len(rows))
	for i, row := range rows {
		for _, v := range row {
			if v == nil {
				numbers[i] = append(numbers[i], math.NaN())
			} else {
				numbers[i] = append(numbers[i], *v)
			}
		}
	}
	x, err = l.EncodeNumbers(numbers)
	return x, as(invalid, err)
}
