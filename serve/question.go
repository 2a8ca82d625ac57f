package serve

import (
	"utvi/gauss"
	"utvi/internal/strictjson"
	"utvi/predict"
)

// A question is the body of POST /predict/NAME.
type question struct {
	options
	x gauss.Batch[float32]
}

// readQuestion reads a body for a model. mem is asked for the memory of rows.
func readQuestion(body []byte, l *loaded, limits Limits, mem *lease) (q question, err error) {
	s := &scanner{s: body}
	if s.next() != '{' {
		return q, failf(malformed, `the body must be a JSON object with the field "rows", a list of rows`)
	}
	s.i++
	var rest []byte // the options
	var rows, variances bool
	for n := 0; ; n++ {
		ok, err := s.more(n, '}')
		if err != nil {
			return q, err
		}
		if !ok {
			break
		}
		from := s.i
		key, err := s.key()
		if err != nil {
			return q, err
		}
		switch string(key) {
		case "rows":
			if rows {
				return q, failf(malformed, `the field "rows" occurs twice`)
			}
			rows = true
			err = readRows(s, l, limits, mem, &q.x)
		case "variances":
			if variances {
				return q, failf(malformed, `the field "variances" occurs twice`)
			}
			variances = true
			err = readVariances(s, l, limits, mem, &q.x)
		default:
			_, err = s.skip(0)
			if err == nil {
				rest = append(append(rest, ','), s.s[from:s.i]...)
			}
		}
		if err != nil {
			return q, err
		}
	}
	if err := s.end(); err != nil {
		return q, err
	}
	if !rows {
		return q, failf(malformed, `the body lacks the field "rows", a list of rows`)
	}
	if variances && len(q.x.Var) != len(q.x.Mean) {
		return q, failf(invalid, "there are %d numbers in the rows and %d variances", len(q.x.Mean), len(q.x.Var))
	}
	if rest == nil {
		return q, nil
	}
	rest[0] = '{'
	if err := strictjson.Unmarshal(append(rest, '}'), &q.options); err != nil {
		return q, failf(malformed, "the options are malformed: %v", err)
	}
	return q, nil
}

// readRows reads a list of rows, each an object or a list.
func readRows(s *scanner, l *loaded, limits Limits, mem *lease, x *gauss.Batch[float32]) error {
	if s.ended() {
		return s.unexpected("a list of rows")
	}
	if s.next() != '[' {
		return failf(malformed, `"rows" must be a list of rows`)
	}
	s.i++
	var build *predict.RowBuilder
	if l.Schema != nil {
		build = l.NewRowBuilder()
	} else {
		x.Width = l.Inputs()
	}
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if n == limits.Rows {
			return failf(tooLarge, "the request has more than %d rows, which is the most that the server allows", n)
		}
		if err := mem.take(l.rowBytes); err != nil {
			return err
		}
		switch c := s.next(); {
		case c == '{' && build != nil:
			err = readObject(s, build)
		case c == '{':
			err = failf(invalid, "row %d is an object; the model is a network without named columns: give it a list of %d numbers", n+1, l.Inputs())
		case c == '[' && build != nil:
			err = readList(s, l, build)
		case c == '[':
			x.Mean, err = readNumbers(s, n, l.Inputs(), x.Mean)
		default:
			err = s.unexpected("a row, an object or a list,")
		}
		if err != nil {
			return err
		}
		if build == nil {
			x.Rows++
		}
	}
	if build == nil {
		return nil
	}
	got, err := build.Batch()
	x.Rows = got.Rows
	x.Width = got.Width
	x.Mean = got.Mean
	if got.Var != nil {
		x.Var = got.Var
	}
	return as(invalid, err)
}

// readObject reads a row of named values.
func readObject(s *scanner, build *predict.RowBuilder) error {
	s.i++
	for n := 0; ; n++ {
		ok, err := s.more(n, '}')
		if err != nil {
			return err
		}
		if !ok {
			return as(invalid, build.End())
		}
		name, err := s.key()
		if err != nil {
			return err
		}
		at := build.Column(name)
		if at < 0 {
			return as(invalid, build.ErrUnknown(name))
		}
		if build.Has(at) {
			return failf(invalid, "row %d has the column %.80q twice", build.Rows()+1, name)
		}
		if err := readValue(s, build, at); err != nil {
			return err
		}
	}
}

// readList reads a row of values in the order of the model's columns.
func readList(s *scanner, l *loaded, build *predict.RowBuilder) error {
	s.i++
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if err != nil {
			return err
		}
		if want := len(l.Columns()); ok && n == want || !ok && n < want {
			return failf(invalid, "row %d does not have %d values, one for each column that the model needs", build.Rows()+1, want)
		}
		if !ok {
			return as(invalid, build.End())
		}
		if err := readValue(s, build, build.Needed(n)); err != nil {
			return err
		}
	}
}

// readValue reads a value of a column: a number, a text, true, false or null.
func readValue(s *scanner, build *predict.RowBuilder, at int) error {
	switch c := s.next(); {
	case c == '"':
		text, err := s.text()
		build.Parse(at, text)
		return err
	case c == '-' || c-'0' <= 9:
		text, err := s.number()
		build.Parse(at, text)
		return err
	case c == 't':
		build.Parse(at, []byte("true"))
		return s.word("true")
	case c == 'f':
		build.Parse(at, []byte("false"))
		return s.word("false")
	case c == 'n':
		build.Missing(at)
		return s.word("null")
	case c == '{' || c == '[':
		return failf(invalid, "row %d has a list or an object where a number, a text, true, false or null is needed", build.Rows()+1)
	}
	return s.unexpected("a value")
}

// readNumbers reads a list of numbers for a network.
func readNumbers(s *scanner, row, want int, out []float32) ([]float32, error) {
	s.i++
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if err != nil {
			return out, err
		}
		if ok && n == want || !ok && n < want {
			return out, failf(invalid, "row %d does not have %d numbers, one for each input of the network", row+1, want)
		}
		if !ok {
			return out, nil
		}
		v, ok, err := s.float()
		if err != nil {
			return out, err
		}
		f := float32(v)
		if !ok || f-f != 0 {
			return out, failf(invalid, "row %d, input %d: a finite number is needed", row+1, n+1)
		}
		out = append(out, f)
	}
}

// readVariances reads the variances of a network's inputs.
func readVariances(s *scanner, l *loaded, limits Limits, mem *lease, x *gauss.Batch[float32]) error {
	if l.Schema != nil {
		return failf(invalid, "variances belong to networks; a table has columns of standard deviations")
	}
	if err := s.take('['); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if err != nil || !ok {
			return err
		}
		if n == limits.Rows {
			return failf(tooLarge, "there are variances of more than %d rows, which is the most that the server allows", n)
		}
		if err := mem.take(l.rowBytes); err != nil {
			return err
		}
		if s.next() != '[' {
			return s.unexpected("a list of variances")
		}
		x.Var, err = readNumbers(s, n, l.Inputs(), x.Var)
		if err != nil {
			return err
		}
	}
}
