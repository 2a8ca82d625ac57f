package serve

import (
	"utvi/gauss"
	"utvi/predict"
)

// A question is the body of POST /predict/NAME.
type question struct {
	options
	x gauss.Batch[float32]
}

// A reader reads a question for a model.
type reader struct {
	question
	s      *scanner
	l      *loaded
	limits Limits
	mem    *lease

	rows, variances bool // they were there
}

// readQuestion reads a body for a model. mem is asked for the memory of rows.
func readQuestion(body []byte, l *loaded, limits Limits, mem *lease) (question, error) {
	r := &reader{s: &scanner{s: body}, l: l, limits: limits, mem: mem}
	if r.s.next() != '{' {
		return r.question, failf(malformed, `the body must be a JSON object with the field "rows", a list of rows`)
	}
	seen := 0
	err := r.s.object(func(name string) error {
		seen++
		if seen > mostFields {
			return failf(malformed, "the body has more than %d fields", mostFields)
		}
		return r.field(name)
	})
	if err == nil {
		err = r.s.end()
	}
	switch {
	case err != nil:
		return r.question, err
	case !r.rows:
		return r.question, failf(malformed, `the body lacks the field "rows", a list of rows`)
	case r.variances && len(r.x.Var) != len(r.x.Mean):
		return r.question, failf(invalid, "there are %d numbers in the rows and %d variances", len(r.x.Mean), len(r.x.Var))
	}
	return r.question, nil
}

// mostFields is more than the fields that there are.
const mostFields = 32

// field reads the value of a field.
func (r *reader) field(name string) error {
	switch name {
	case "rows":
		if r.rows {
			return failf(malformed, `the field "rows" occurs twice`)
		}
		r.rows = true
		return r.readRows()
	case "variances":
		if r.variances {
			return failf(malformed, `the field "variances" occurs twice`)
		}
		r.variances = true
		return r.readVariances()
	}
	return r.read(r.s, name)
}

// readRows reads a list of rows, each an object or a list.
func (r *reader) readRows() error {
	s := r.s
	l := r.l
	x := &r.x
	if s.ended() {
		return s.unexpected("a list of rows")
	}
	if s.next() != '[' {
		return failf(malformed, `"rows" must be a list of rows`)
	}
	var build *predict.RowBuilder
	if l.Schema != nil {
		if err := r.mem.take(int64(len(s.s))); err != nil { // texts are copied
			return err
		}
		build = l.NewRowBuilder()
	} else {
		x.Width = l.Inputs()
	}
	err := s.list(func(n int) error {
		if n == r.limits.Rows {
			return failf(tooLarge, "the request has more than %d rows, which is the most that the server allows", n)
		}
		room := l.rowBytes
		if n < block {
			room += l.blockBytes(1)
		}
		if err := r.mem.take(room); err != nil {
			return err
		}
		if build != nil {
			return r.readBuilt(build)
		}
		return r.readPlain(n)
	})
	if err != nil || build == nil {
		return err
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

// readBuilt reads a row of a table.
func (r *reader) readBuilt(build *predict.RowBuilder) error {
	switch r.s.next() {
	case '{':
		return r.readObject(build)
	case '[':
		return r.readList(build)
	}
	return r.s.unexpected("a row, an object or a list,")
}

// readPlain reads a row of a network.
func (r *reader) readPlain(n int) error {
	var err error
	switch r.s.next() {
	case '{':
		return failf(invalid, "row %d is an object; the model is a network without named columns: give it a list of %d numbers", n+1, r.l.Inputs())
	case '[':
		r.x.Mean, err = readNumbers(r.s, n, r.l.Inputs(), r.x.Mean)
		r.x.Rows++
		return err
	}
	return r.s.unexpected("a row, an object or a list,")
}

// readObject reads a row of named values.
func (r *reader) readObject(build *predict.RowBuilder) error {
	s := r.s
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
		if err := r.readValue(build, at); err != nil {
			return err
		}
	}
}

// readList reads a row of values in the order of the model's columns.
func (r *reader) readList(build *predict.RowBuilder) error {
	s := r.s
	l := r.l
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
		if err := r.readValue(build, build.Needed(n)); err != nil {
			return err
		}
	}
}

// readValue reads a value of a column: a number, a text, true, false or null.
func (r *reader) readValue(build *predict.RowBuilder, at int) error {
	s := r.s
	switch c := s.next(); {
	case c == '"':
		text, err := s.text()
		build.Parse(at, text)
		if err != nil {
			return err
		}
		return r.l.takeImage(at, text, r.mem)
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
func (r *reader) readVariances() error {
	if r.l.Schema != nil {
		return failf(invalid, "variances belong to networks; a table has columns of standard deviations")
	}
	return r.s.list(func(n int) error {
		if n == r.limits.Rows {
			return failf(tooLarge, "there are variances of more than %d rows, which is the most that the server allows", n)
		}
		if err := r.mem.take(r.l.rowBytes); err != nil {
			return err
		}
		if r.s.next() != '[' {
			return r.s.unexpected("a list of variances")
		}
		var err error
		r.x.Var, err = readNumbers(r.s, n, r.l.Inputs(), r.x.Var)
		return err
	})
}
