package locate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// filled has another value in every field.
func filled(t *testing.T, frame, salt int) Localisation {
	t.Helper()
	l := Localisation{}
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Float64:
			f.SetFloat(1/float64(3+i) + float64(salt))
		case reflect.Int:
			f.SetInt(int64(i + salt))
		case reflect.Bool:
			f.SetBool((salt+i)%2 == 0)
		default:
			t.Fatalf("field %s has a kind that the journal does not write", v.Type().Field(i).Name)
		}
	}
	l.Frame = frame
	return l
}

func parts(t *testing.T) (all []Part) {
	for i := range 5 {
		p := Part{Frame: 7 + i, Unlikely: i, Blank: i == 2}
		for k := range i {
			p.All = append(p.All, filled(t, p.Frame, k))
		}
		all = append(all, p)
	}
	return all
}

// A journal gives back what it was given, to the last bit; wherever it is cut off, its whole frames are
// there, and what is added then makes the same file as if nothing had happened.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	mark := []byte(`{"a":1}`)
	all := parts(t)
	// more opens the journal, compares what is in it, and adds the rest.
	more := func() (had int) {
		t.Helper()
		j, err := OpenJournal(path, mark, func(p *Part) error {
			want := all[had]
			if len(p.All) == 0 {
				want.All = p.All
			}
			if !reflect.DeepEqual(*p, want) {
				return fmt.Errorf("frame %d is %+v, want %+v", had, *p, want)
			}
			had++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range all[had:] {
			if err := j.Add(&all[had+i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		return had
	}
	more()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for cut := 0; cut <= len(whole); cut++ {
		if cut > 200 && cut < len(whole)-200 {
			cut += 9 // bytes of the middle are much alike
		}
		torn := bytes.Clone(whole[:cut])
		if cut%3 == 0 && cut > len(journalBegins) && cut < len(whole) {
			torn = append(torn, 0, 0, 0, 0, 0, 0, 0, 0, 0) // as after a loss of power
		}
		if err := os.WriteFile(path, torn, 0o666); err != nil {
			t.Fatal(err)
		}
		had := more()
		if had < last {
			t.Fatalf("%d bytes hold %d frames, fewer bytes %d", cut, had, last)
		}
		last = had
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, whole) {
			t.Fatalf("cut after %d bytes and continued, it has other bytes", cut)
		}
	}
	if last != len(all) {
		t.Errorf("the whole file holds %d frames", last)
	}
	if _, err := OpenJournal(path, []byte("{}"), nil); !errors.Is(err, ErrOther) {
		t.Errorf("another mark: %v", err)
	}
	n := 0
	count := func(*Part) error { n++; return nil }
	if got, err := ReadJournal(bytes.NewReader(whole), int64(len(whole)), count); err != nil || n != len(all) || !bytes.Equal(got, mark) {
		t.Errorf("%d parts, %q, %v", n, got, err)
	}
	whole[len(whole)/2] ^= 1
	if _, err := ReadJournal(bytes.NewReader(whole), int64(len(whole)), count); err == nil {
		t.Error("a bit that flipped is not seen")
	}
	if _, err := OpenJournal(path, mark, func(*Part) error { return errors.New("no more") }); err == nil {
		t.Error("an error of the taker is lost")
	}
	other := filepath.Join(t.TempDir(), "photo.png")
	if err := os.WriteFile(other, []byte("\x89PNG, which is somebody's"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(other, mark, count); err == nil {
		t.Error("another file is taken for a journal")
	}
}
