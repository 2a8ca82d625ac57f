package predict

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/table"
)

// Rows predicts rows of named values, one for each column of Model.Columns: a number of
// any Go type, a json.Number, a string (read as a field of a table is), a bool, a
// time.Time, or nil if it is missing. Columns of the table that are not needed may be
// present. A name that the table does not have is an error.
func (p *Predictor) Rows(ctx context.Context, rows []map[string]any) ([]Prediction, error) {
	if p.m.Schema == nil {
		return nil, fmt.Errorf("the model is a network without named columns; give it %d numbers a row", p.m.Inputs())
	}
	return p.chunks(ctx, len(rows), func(b *table.Builder, i int) error { return p.m.addNamed(b, i, rows[i]) })
}

// Row predicts one row, as Rows does.
func (p *Predictor) Row(ctx context.Context, row map[string]any) (Prediction, error) {
	all, err := p.Rows(ctx, []map[string]any{row})
	if err != nil {
		return Prediction{}, err
	}
	return all[0], nil
}

// Numbers predicts rows of numbers: the values of Model.Columns, or the inputs of a
// network.
// NaN stands for a missing value of a table.
func (p *Predictor) Numbers(ctx context.Context, rows [][]float64) ([]Prediction, error) {
	if p.m.Schema != nil {
		return p.chunks(ctx, len(rows), func(b *table.Builder, i int) error { return p.m.addNumbers(b, i, rows[i]) })
	}
	width := p.m.Inputs()
	x := gauss.Batch[float32]{Rows: len(rows), Width: width, Mean: make([]float32, 0, len(rows)*width)}
	for i, row := range rows {
		if len(row) != width {
			return nil, fmt.Errorf("row %d has %d numbers; the network has %d inputs", i+1, len(row), width)
		}
		for _, v := range row {
			x.Mean = append(x.Mean, float32(v))
		}
	}
	return p.Inputs(ctx, x)
}

// some predicts rows, at a time as many as a session can hold.
func (p *Predictor) some(ctx context.Context, rows int, predict func(s *session, lo, hi int) error) error {
	s := p.m.session(rows)
	defer s.release()
	s.batch.p, s.batch.s = p, s
	for lo := 0; lo < rows; lo += p.m.most(s.tier) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := predict(s, lo, min(rows, lo+p.m.most(s.tier))); err != nil {
			return err
		}
	}
	return nil
}

// chunks predicts rows that add puts into a table.
func (p *Predictor) chunks(ctx context.Context, rows int, add func(b *table.Builder, row int) error) ([]Prediction, error) {
	out := make([]Prediction, 0, rows)
	build := table.NewBuilder(p.m.header)
	err := p.some(ctx, rows, func(s *session, lo, hi int) error {
		for i := lo; i < hi; i++ {
			if err := add(build, i); err != nil {
				return err
			}
		}
		c, err := build.Chunk()
		if err != nil {
			return err
		}
		if err := s.encode(p.m.encoder, c); err != nil {
			return err
		}
		out = s.batch.appendTo(out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (b *Batch) appendTo(out []Prediction) []Prediction {
	for row := range b.Len() {
		out = append(out, b.Prediction(row))
	}
	return out
}

// addNamed adds a row of named values.
func (m *Model) addNamed(b *table.Builder, i int, row map[string]any) error {
	found := 0
	for k, name := range m.header.Columns {
		v, ok := row[name]
		if ok {
			found++
		}
		switch c := &m.Schema.Columns[k]; {
		case c.Role != schema.Input && c.Role != schema.Std:
			b.Missing() // it is not used
		case !ok && !m.Schema.Impute:
			return m.errLacks(i, name)
		case !ok:
			b.Missing()
		default:
			if err := add(b, v); err != nil {
				return fmt.Errorf("row %d, column %s: %w", i+1, name, err)
			}
		}
	}
	if found == len(row) {
		return nil
	}
	var unknown []string
	for name := range row {
		if !slices.Contains(m.header.Columns, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return m.errUnknown(i, unknown[0])
}

// addNumbers adds a row of numbers.
func (m *Model) addNumbers(b *table.Builder, i int, row []float64) error {
	if len(row) != len(m.columns) {
		return fmt.Errorf("row %d has %d numbers; the model needs %d: %s", i+1, len(row), len(m.columns), list(m.columns))
	}
	at := 0
	for _, c := range m.Schema.Columns {
		if c.Role != schema.Input && c.Role != schema.Std {
			b.Missing()
			continue
		}
		b.Number(row[at])
		at++
	}
	return nil
}

func list(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s … (%d in all)", strings.Join(names[:most], ", "), len(names))
	}
	return strings.Join(names, ", ")
}

var errValue = errors.New("a value must be a number, a text, a bool, a time or nil")

// add adds a value as the reader of tables would have read it.
func add(b *table.Builder, v any) error {
	switch v := v.(type) {
	case nil:
		b.Missing()
	case float64:
		b.Number(v)
	case string:
		b.Parse(v)
	case int:
		b.Integer(int64(v))
	case bool:
		b.Parse(strconv.FormatBool(v))
	case json.Number:
		b.Parse(string(v))
	case time.Time:
		b.Text(date(v))
	default:
		return addKind(b, reflect.ValueOf(v))
	}
	return nil
}

// addKind adds a value of any other type by its kind.
func addKind(b *table.Builder, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		b.Number(v.Float())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.Integer(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			b.Text(strconv.FormatUint(v.Uint(), 10))
			return nil
		}
		b.Integer(int64(v.Uint()))
	case reflect.String:
		b.Parse(v.String())
	case reflect.Bool:
		b.Parse(strconv.FormatBool(v.Bool()))
	case reflect.Pointer:
		if v.IsNil() {
			b.Missing()
			return nil
		}
		return add(b, v.Elem().Interface())
	default:
		return fmt.Errorf("the value is of type %v; %w", v.Type(), errValue)
	}
	return nil
}

// date is a time as tables write it: a day, or a day and a time.
func date(t time.Time) string {
	if t.Equal(t.Truncate(24*time.Hour)) && t.Location() == time.UTC {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}
